package catalog

import (
	"sync/atomic"

	"github.com/pandodb/pando/types"
)

// Ids of temporary tables have the second highest bit set, so that their data follow those of all other tables, and one deletion of a
// span removes what a crash has left.
const (
	temporaryFirst uint64 = 1 << 62
	temporaryEnd   uint64 = 1 << 63
)

// IsTemporary reports whether a physical id is one of a temporary table.
func IsTemporary(physID uint64) bool { return physID >= temporaryFirst && physID < temporaryEnd }

// TemporaryIDs returns the first id that a temporary table can have, and the one after the last.
func TemporaryIDs() (first, end uint64) { return temporaryFirst, temporaryEnd }

// NextTemporaryID returns an id that no temporary table ever had.
func (c *Catalog) NextTemporaryID() (uint64, error) {
	id, err := c.ids.next()
	return temporaryFirst | id, err
}

// Temporary is the state of a temporary table: one that a single session knows, whose descriptor is not stored and to which no other table
// refers. It counts the bytes of the table's keys and values. Only the goroutine of the session uses it.
type Temporary struct {
	// Max bounds the bytes; the session sets it before each statement.
	Max     int64
	bytes   int64
	node    *atomic.Int64
	written bool
	// Rolled is set by a rollback: bytes may still include rows that it has undone.
	Rolled bool
}

// Grow adds n, which may be negative, to the bytes of a temporary table. If they grow beyond Max, it fails with 1114.
func (t *Table) Grow(n int) error {
	m := t.Temporary
	m.written = true
	m.add(int64(n))
	if n > 0 && m.bytes > m.Max {
		return types.Errorf(types.ErRecordFileFull, t.Name)
	}
	return nil
}

// Written reports whether anything was ever written to the table.
func (m *Temporary) Written() bool { return m.written }

// Bytes returns the counted bytes of keys and values.
func (m *Temporary) Bytes() int64 { return m.bytes }

// Recount replaces the counted bytes by measured ones.
func (m *Temporary) Recount(bytes int64) {
	m.add(bytes - m.bytes)
	m.Rolled = false
}

func (m *Temporary) add(n int64) {
	m.bytes += n
	m.node.Add(n)
}

// MakeTemporary makes t, which is not published yet, a temporary table with an empty key space. node counts the bytes of all temporary tables.
func (t *Table) MakeTemporary(id uint64, limit int64, node *atomic.Int64) {
	t.ID = id
	t.SetData(id)
	t.ReadableFrom = 0 // only the session reads it, and every snapshot of the session may
	t.Temporary = &Temporary{Max: limit, node: node}
}

// ShowTemporary makes t the current version of a temporary table for its session, which has no use of an older one.
func (t *Table) ShowTemporary() {
	t.Version = t.gate.state.Load()>>stateShift + 1
	t.gate.state.Store(t.Version << stateShift)
}

// Vanish makes plans of a dropped temporary table stale and takes its bytes out of the count.
func (t *Table) Vanish() {
	t.gate.gone()
	t.Temporary.Recount(0)
}

// With returns the schema as a session with these temporary tables sees it: each hides the table of the same name. The map must not change.
func (s *Snapshot) With(temporary map[TableName]*Table) *Snapshot {
	return &Snapshot{version: s.version, databases: s.databases, temporary: temporary}
}

// Public returns the schema without temporary tables, by which the names in views are resolved.
func (s *Snapshot) Public() *Snapshot {
	if s.temporary == nil {
		return s
	}
	return &Snapshot{version: s.version, databases: s.databases}
}

// Private reports whether s has temporary tables.
func (s *Snapshot) Private() bool { return s.temporary != nil }

// Temporary returns the temporary table of that name, or nil.
func (s *Snapshot) Temporary(db, name string) *Table { return s.temporary[TableName{db, name}] }
