package catalog

import (
	"sync/atomic"

	"github.com/pandodb/pando/types"
)

// Ids of temporary tables have their highest bit but one set, so that their data lie together behind those of all other tables and
// what a crash has left of them goes in one piece.
const (
	temporaryFirst uint64 = 1 << 62
	temporaryEnd   uint64 = 1 << 63
)

// IsTemporary reports whether a physical id is one of a temporary table.
func IsTemporary(physID uint64) bool { return physID >= temporaryFirst && physID < temporaryEnd }

// TemporaryIDs returns the first id that a temporary table can have, and the one behind the last.
func TemporaryIDs() (first, end uint64) { return temporaryFirst, temporaryEnd }

// NextTemporaryID returns an id that no temporary table ever had.
func (c *Catalog) NextTemporaryID() (uint64, error) {
	id, err := c.ids.next()
	return temporaryFirst | id, err
}

// Temporary is set for a temporary table: one that a single session knows, which no storage holds and no other table refers to. It
// counts the bytes of the table's keys and values. Only the session uses it.
type Temporary struct {
	// Max bounds the bytes; the session sets it before each statement.
	Max     int64
	bytes   int64
	node    *atomic.Int64
	written bool
	// Rolled is set when rows were taken back that are counted still.
	Rolled bool
}

// Grow counts n bytes more, or fewer when it is negative. It fails with 1114 above Max.
func (t *Table) Grow(n int) error {
	m := t.Temporary
	m.written = true
	m.add(int64(n))
	if n > 0 && m.bytes > m.Max {
		return types.Errorf(types.ErRecordFileFull, t.Name)
	}
	return nil
}

// Written reports whether there was ever a row.
func (m *Temporary) Written() bool { return m.written }

// Bytes returns what is counted.
func (m *Temporary) Bytes() int64 { return m.bytes }

// Recount replaces what is counted by what there is.
func (m *Temporary) Recount(bytes int64) {
	m.add(bytes - m.bytes)
	m.Rolled = false
}

func (m *Temporary) add(n int64) {
	m.bytes += n
	m.node.Add(n)
}

// MakeTemporary makes t, which nobody knows yet, a temporary table with an empty key space. node counts the bytes of all.
func (t *Table) MakeTemporary(id uint64, limit int64, node *atomic.Int64) {
	t.ID = id
	t.SetData(id)
	t.ReadableFrom = 0 // only transactions of its session read it, and all that it holds is theirs
	t.Temporary = &Temporary{Max: limit, node: node}
}

// ShowTemporary makes a temporary table the current version of itself to its session, which has ended all uses of an older one.
func (t *Table) ShowTemporary() {
	t.Version = t.gate.state.Load()>>stateShift + 1
	t.gate.state.Store(t.Version << stateShift)
}

// Vanish ends a temporary table: plans of it are stale. Its bytes count no more.
func (t *Table) Vanish() {
	t.gate.gone()
	t.Temporary.Recount(0)
}

// With returns the schema as a session with these temporary tables sees it: each hides the table of its name. The map must not change.
func (s *Snapshot) With(temporary map[TableName]*Table) *Snapshot {
	return &Snapshot{version: s.version, databases: s.databases, temporary: temporary}
}

// Public returns the schema without temporary tables, as it is inside of views.
func (s *Snapshot) Public() *Snapshot {
	if s.temporary == nil {
		return s
	}
	return &Snapshot{version: s.version, databases: s.databases}
}

// Private reports whether the session has temporary tables.
func (s *Snapshot) Private() bool { return s.temporary != nil }

// Temporary returns the temporary table of that name, or nil.
func (s *Snapshot) Temporary(db, name string) *Table { return s.temporary[TableName{db, name}] }
