package catalog

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
)

// Catalog owns the schema of one node: the current Snapshot, the descriptors in
// storage and the registry of their users. It is safe for concurrent use.
type Catalog struct {
	txns    *txn.Manager
	uses    *Uses
	current atomic.Pointer[Snapshot]
	ids     idAllocator
	// compiler makes the computers of generated columns; see ComputeWith.
	compiler func(*Table) Computer

	// mu serialises publishing: current and the gates of its tables change under
	// it. Descriptors are committed before it is taken. Under it only Gate.mu is
	// taken, and under that Use.mu.
	mu sync.Mutex
}

// Open loads every descriptor. An unknown encoding or a damaged descriptor is an
// error that names the object: a node must not run with half a schema.
func Open(m *txn.Manager) (*Catalog, error) {
	c := &Catalog{txns: m, uses: &Uses{}, ids: idAllocator{txns: m}}
	snap, err := load(m, &c.uses.stops)
	if err != nil {
		return nil, err
	}
	c.current.Store(snap)
	return c, nil
}

// Current returns the newest schema. It costs one atomic load.
func (c *Catalog) Current() *Snapshot { return c.current.Load() }

// Uses returns the registry in which every session registers.
func (c *Catalog) Uses() *Uses { return c.uses }

// NextID returns an id that no database, table or physical table ever had.
func (c *Catalog) NextID() (uint64, error) { return c.ids.next() }

// Change is a set of schema changes that become durable and visible together.
// The caller (package ddl) holds the DDL locks of every object in it.
type Change struct {
	PutDatabases  []*Database
	DropDatabases []*Database
	// PutTables holds new tables and new versions of old ones, made by NewTable
	// or Table.Clone and never shown to anyone yet. A version that has another
	// name or schema than the one it replaces is a rename.
	PutTables  []*Table
	DropTables []*Table
	// Related holds new versions of further tables, that refer to those or are
	// referred to by them: Fresh does not concern them.
	Related []*Table
	// Fresh marks that the data of PutTables starts or restarts with this
	// change: their ReadableFrom becomes the timestamp of its commit.
	Fresh bool
}

// Apply commits the descriptors of ch in one transaction, together with what
// extra adds to it (a job record; may be nil), and then publishes a new
// Snapshot. On error nothing changed, unless it is kvapi.ErrUndetermined.
func (c *Catalog) Apply(ch *Change, extra func(tx *txn.Txn) error) error {
	ts, err := c.commit(ch, extra)
	if err != nil {
		return err
	}
	if ch.Fresh {
		// Snapshots at or above the commit are the ones that see the new data space
		// and no older rows.
		for _, t := range ch.PutTables {
			t.ReadableFrom = ts
		}
	}
	c.publish(ch, ts)
	return nil
}

// commit returns the timestamp of the commit.
func (c *Catalog) commit(ch *Change, extra func(tx *txn.Txn) error) (clock.Timestamp, error) {
	tx := c.txns.Begin(txn.Options{Level: txn.ReadCommitted})
	defer tx.Release()
	err := writeChange(tx, ch)
	if err == nil && extra != nil {
		err = extra(tx)
	}
	if err != nil {
		tx.Rollback()
		return 0, err
	}
	err = tx.Commit()
	return tx.CommitTS(), err
}

func writeChange(tx *txn.Txn, ch *Change) error {
	for _, d := range ch.DropDatabases {
		if err := lockDelete(tx, databaseKey(d.ID)); err != nil {
			return err
		}
	}
	for _, t := range ch.DropTables {
		if err := lockDelete(tx, tableKey(t.ID)); err != nil {
			return err
		}
	}
	for _, d := range ch.PutDatabases {
		b, err := encodeDatabase(d)
		if err != nil {
			return err
		}
		if err := lockPut(tx, databaseKey(d.ID), b); err != nil {
			return err
		}
	}
	for i, t := range ch.versions() {
		b, err := encodeTable(t, ch.Fresh && i < len(ch.PutTables))
		if err != nil {
			return err
		}
		if err := lockPut(tx, tableKey(t.ID), b); err != nil {
			return err
		}
	}
	return nil
}

// versions lists all new versions of tables, PutTables first.
func (ch *Change) versions() []*Table {
	if len(ch.Related) == 0 {
		return ch.PutTables
	}
	return slices.Concat(ch.PutTables, ch.Related)
}

func lockPut(tx *txn.Txn, key, value []byte) error {
	if _, _, err := tx.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
		return err
	}
	return tx.Put(key, value)
}

func lockDelete(tx *txn.Txn, key []byte) error {
	if _, _, err := tx.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
		return err
	}
	return tx.Delete(key)
}

// publish makes ch visible: copies of the databases it touches, everything else
// shared with the previous snapshot. ts is the timestamp of the commit.
func (c *Catalog) publish(ch *Change, ts clock.Timestamp) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.current.Load()
	next := &Snapshot{version: old.version + 1, databases: maps.Clone(old.databases)}
	copied := map[string]bool{}
	entry := func(name string) *databaseEntry {
		e := next.databases[name]
		if e == nil {
			panic(fmt.Sprintf("catalog: table published into missing database %q", name))
		}
		if !copied[name] {
			copied[name] = true
			e = &databaseEntry{desc: e.desc, tables: maps.Clone(e.tables)}
			next.databases[name] = e
		}
		return e
	}
	for _, t := range ch.DropTables {
		delete(entry(t.Schema).tables, t.Name)
	}
	for _, d := range ch.DropDatabases {
		delete(next.databases, d.Name)
	}
	for _, d := range ch.PutDatabases {
		e := &databaseEntry{desc: d, tables: map[string]*Table{}}
		if was := old.databases[d.Name]; was != nil {
			e.tables = maps.Clone(was.tables)
		}
		next.databases[d.Name], copied[d.Name] = e, true
	}
	// Renames may swap names (a→b, b→a), so every old name goes before any new one comes.
	for _, t := range ch.versions() {
		if was := old.byGate(t); was != nil && (was.Name != t.Name || was.Schema != t.Schema) {
			delete(entry(was.Schema).tables, was.Name)
		}
	}
	for _, t := range ch.versions() {
		was := old.byGate(t)
		assert.That(was == nil || was.Version < uint64(ts), "catalog: versions of a table rise")
		t.Version, t.compiler = uint64(ts), c.compiler
		entry(t.Schema).tables[t.Name] = t
	}
	c.current.Store(next)
	for _, t := range ch.versions() {
		t.gate.publish(t.Version, &c.uses.stops)
	}
	for _, t := range ch.DropTables {
		t.gate.gone()
	}
}

// byGate finds the version of t's object in s.
func (s *Snapshot) byGate(t *Table) *Table {
	if was := s.Lookup(t.Schema, t.Name); was != nil && was.gate == t.gate {
		return was
	}
	return s.TableByID(t.ID)
}

// publish sets the version and leaves the gate closed or open as it was. A freeze or read_only holds for new tables, too.
func (g *Gate) publish(version uint64, all *stops) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all = all
	g.state.Store(version<<stateShift | g.state.Load()&closedBit)
	g.refresh()
}

func (g *Gate) gone() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state.Store(stateGone)
}
