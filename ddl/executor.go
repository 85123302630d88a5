package ddl

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// Options of an Executor. Catalog, Txns and AutoIDs are required.
type Options struct {
	Catalog *catalog.Catalog
	Txns    *txn.Manager
	AutoIDs *table.AutoIDs
	// Destroy deletes every version of every key in span with range deletions,
	// once no snapshot below ts can read them any more; done=false asks to be
	// called again later. nil is Txns.DropSpan.
	Destroy func(span kvapi.Span, ts clock.Timestamp) (done bool, err error)
	// Gone deletes what other packages store by the id of a physical table that was
	// dropped or truncated. It may be called twice for one, and may be nil.
	Gone func(physID uint64) error
	// Log may be nil.
	Log *slog.Logger
}

// Executor runs schema changes. It is safe for concurrent use; statements on
// different tables do not wait for each other.
type Executor struct {
	catalog *catalog.Catalog
	txns    *txn.Manager
	ids     *table.AutoIDs
	destroy func(span kvapi.Span, ts clock.Timestamp) (bool, error)
	gone    func(physID uint64) error
	log     *slog.Logger
	names   nameLocks

	mu sync.Mutex
	// jobs is guarded by mu: every job that is persisted and not finished.
	jobs map[uint64]*job

	temporary temporaries
	// beforeFill, which may be nil, is called between the reading of a batch and its writing. Tests set it.
	beforeFill func()

	// worker owns the background goroutine; see worker.go.
	worker worker
}

// Open reads the unfinished jobs and resumes them in the background: index
// builds from their checkpoint, removals of data where they stopped.
func Open(o Options) (*Executor, error) {
	e := &Executor{
		catalog: o.Catalog, txns: o.Txns, ids: o.AutoIDs, destroy: o.Destroy, gone: o.Gone, log: o.Log,
		jobs: make(map[uint64]*job),
	}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	if e.destroy == nil {
		e.destroy = o.Txns.DropSpan
	}
	if err := e.loadJobs(); err != nil {
		return nil, fmt.Errorf("ddl: load jobs: %w", err)
	}
	if err := e.dropParts(); err != nil {
		return nil, err
	}
	if err := e.rebuildStale(); err != nil {
		return nil, err
	}
	if err := e.dropLeftovers(); err != nil {
		return nil, err
	}
	e.startWorker()
	return e, nil
}

// Close stops the background work; unfinished jobs resume at the next Open.
// Statements must have ended.
func (e *Executor) Close() { e.stopWorker() }

// table returns the current version of a table that may be changed.
func (e *Executor) table(n Name) (*catalog.Table, error) {
	if err := checkSchemaAccess(n.Schema); err != nil {
		return nil, err
	}
	t, err := e.catalog.Current().Table(n.Schema, n.Table)
	if err == nil && t.View != nil {
		return nil, types.Errorf(types.ErWrongObject, n.Schema, n.Table, "BASE TABLE")
	}
	return t, err
}

// checkSchemaAccess refuses changes of the server's own schemas.
func checkSchemaAccess(db string) error {
	if catalog.IsSystemSchema(db) {
		return types.NewError(erSystemSchema, fmt.Sprintf("Access to system schema '%s' is rejected.", db))
	}
	return nil
}

// erSystemSchema is ER_NO_SYSTEM_SCHEMA_ACCESS.
const erSystemSchema = 3552

// CreateDatabase creates a database; coll 0 takes the server's default.
func (e *Executor) CreateDatabase(c *Call, name string, coll types.CollationID, ifNotExists bool) error {
	if err := checkDatabaseName(name); err != nil {
		return err
	}
	if coll == 0 {
		coll = types.DefaultCollation
	}
	release, err := e.lockNames(c, []nameRef{dbRef(name, true)}, c.patience())
	if err != nil {
		return err
	}
	defer release()
	if catalog.IsSystemSchema(name) || e.catalog.Current().Database(name) != nil {
		if ifNotExists {
			c.note(types.ErDBCreateExists, name)
			return nil
		}
		return types.Errorf(types.ErDBCreateExists, name)
	}
	id, err := e.catalog.NextID()
	if err != nil {
		return err
	}
	d := &catalog.Database{ID: id, Name: name, Coll: coll}
	return e.catalog.Apply(&catalog.Change{PutDatabases: []*catalog.Database{d}}, nil)
}

// AlterDatabase changes the default collation.
func (e *Executor) AlterDatabase(c *Call, name string, coll types.CollationID) error {
	if err := checkSchemaAccess(name); err != nil {
		return err
	}
	release, err := e.lockNames(c, []nameRef{dbRef(name, true)}, c.patience())
	if err != nil {
		return err
	}
	defer release()
	d := e.catalog.Current().Database(name)
	if d == nil {
		return types.Errorf(types.ErBadDB, name)
	}
	changed := *d
	changed.Coll = coll
	return e.catalog.Apply(&catalog.Change{PutDatabases: []*catalog.Database{&changed}}, nil)
}

// DropDatabase drops a database with its tables and returns how many there were.
func (e *Executor) DropDatabase(c *Call, name string, ifExists bool) (tables int, err error) {
	if err := checkSchemaAccess(name); err != nil {
		return 0, err
	}
	p := c.patience()
	release, err := e.lockKinOf(c, p, func(snap *catalog.Snapshot) (all []Name) {
		for _, t := range snap.Tables(name) {
			all = append(all, Name{t.Schema, t.Name})
		}
		return all
	}, nil, dbRef(name, true))
	if err != nil {
		return 0, err
	}
	defer release()
	snap := e.catalog.Current()
	d := snap.Database(name)
	if d == nil {
		if ifExists {
			c.note(types.ErDBDropExists, name)
			return 0, nil
		}
		return 0, types.Errorf(types.ErDBDropExists, name)
	}
	drop := snap.Tables(name)
	ch := &catalog.Change{DropDatabases: []*catalog.Database{d}, DropTables: drop}
	return len(drop), e.dropTables(c, ch, p)
}

// dropTables closes the gates of ch.DropTables, applies ch and leaves the data
// to the worker.
func (e *Executor) dropTables(c *Call, ch *catalog.Change, p catalog.Patience) error {
	snap := e.catalog.Current()
	if err := refuseDrop(c, snap, ch.DropTables); err != nil {
		return err
	}
	var gone []change
	for _, t := range ch.DropTables {
		gone = append(gone, change{old: t})
	}
	kin, err := relate(c, snap, gone...)
	if err != nil {
		return err
	}
	ch.Related = kin.related
	held, err := e.catalog.Close(ch.DropTables, p)
	if err != nil {
		return err
	}
	defer openAll(held)
	var jobs []*job
	for _, t := range ch.DropTables {
		j, err := e.newJob(jobDestroy, t)
		if err != nil {
			return err
		}
		j.rec.PhysID = t.PhysID
		jobs = append(jobs, j)
	}
	if err := e.catalog.Apply(ch, putJobs(jobs)); err != nil {
		return err
	}
	for _, t := range ch.DropTables {
		e.ids.Forget(t.PhysID)
	}
	e.enqueue(jobs...)
	return nil
}

func openAll(held []*catalog.Exclusive) {
	for _, x := range held {
		x.Open()
	}
}

// CreateTable creates a table.
func (e *Executor) CreateTable(c *Call, spec *TableSpec) error {
	if err := checkSchemaAccess(spec.Schema); err != nil {
		return err
	}
	var keys []*ForeignKeySpec
	for i := range spec.ForeignKeys {
		keys = append(keys, &spec.ForeignKeys[i])
	}
	parents, refs := foreignParents(spec.Name, keys)
	p := c.patience()
	release, err := e.lockKin(c, p, []Name{spec.Name}, parents, refs...)
	if err != nil {
		return err
	}
	defer release()
	snap := e.catalog.Current()
	d := snap.Database(spec.Schema)
	if d == nil {
		return types.Errorf(types.ErBadDB, spec.Schema)
	}
	if snap.Lookup(spec.Schema, spec.Table) != nil {
		if spec.IfNotExists {
			c.note(types.ErTableExists, spec.Table)
			return nil
		}
		return types.Errorf(types.ErTableExists, spec.Table)
	}
	t, err := buildTable(c, spec, d.Coll)
	if err != nil {
		return err
	}
	e.catalog.Adopt(t)
	if err := checkNamesFree(snap, t); err != nil {
		return err
	}
	if err := addForeignKeys(c, snap, t, keys); err != nil {
		return err
	}
	kin, err := relate(c, snap, change{next: t})
	if err != nil {
		return err
	}
	if err := c.check(nil, t); err != nil {
		return err
	}
	if t.ID, err = e.catalog.NextID(); err != nil {
		return err
	}
	physID, err := e.catalog.NextID()
	if err != nil {
		return err
	}
	t.SetData(physID)
	t.CreateMillis = clock.NowMillis()
	var first func(tx *txn.Txn) error
	if spec.AutoIncrement > 1 && t.AutoInc != nil {
		first = func(tx *txn.Txn) error { return e.ids.Begin(tx, t, spec.AutoIncrement) }
	}
	held, err := e.catalog.Close(kin.gates, p)
	if err != nil {
		return err
	}
	defer openAll(held)
	return e.catalog.Apply(&catalog.Change{PutTables: []*catalog.Table{t}, Related: kin.related, Fresh: true}, first)
}

// DropTables drops tables, all or none. Missing ones are 1051, or a note each
// with ifExists.
func (e *Executor) DropTables(c *Call, names []Name, ifExists bool) error {
	seen := make(map[Name]bool, len(names))
	for _, n := range names {
		if err := checkSchemaAccess(n.Schema); err != nil {
			return err
		}
		if seen[n] {
			return types.Errorf(types.ErNonUniqTable, n.Table)
		}
		seen[n] = true
	}
	p := c.patience()
	release, err := e.lockKin(c, p, names, nil)
	if err != nil {
		return err
	}
	defer release()
	snap := e.catalog.Current()
	var drop []*catalog.Table
	var missing []string
	for _, n := range names {
		if snap.Database(n.Schema) == nil && !ifExists {
			return types.Errorf(types.ErBadDB, n.Schema)
		}
		if t := snap.Lookup(n.Schema, n.Table); t != nil && t.View == nil {
			drop = append(drop, t)
			continue
		}
		if ifExists {
			c.note(types.ErBadTable, n.Schema+"."+n.Table)
			continue
		}
		missing = append(missing, n.Schema+"."+n.Table)
	}
	if len(missing) > 0 {
		return types.Errorf(types.ErBadTable, strings.Join(missing, ","))
	}
	if len(drop) == 0 {
		return nil
	}
	return e.dropTables(c, &catalog.Change{DropTables: drop}, p)
}

// TruncateTable empties a table by giving it a new key space.
func (e *Executor) TruncateTable(c *Call, n Name) error {
	p := c.patience()
	release, err := e.lockNames(c, tableRefs(n), p)
	if err != nil {
		return err
	}
	defer release()
	t, err := e.table(n)
	if err != nil {
		return err
	}
	if err := refuseTruncate(c, e.catalog.Current(), t); err != nil {
		return err
	}
	physID, err := e.catalog.NextID()
	if err != nil {
		return err
	}
	j, err := e.newJob(jobDestroy, t)
	if err != nil {
		return err
	}
	j.rec.PhysID = t.PhysID
	held, err := e.catalog.Close([]*catalog.Table{t}, p)
	if err != nil {
		return err
	}
	defer openAll(held)
	next := t.Clone()
	next.SetData(physID)
	next.Finish()
	ch := &catalog.Change{PutTables: []*catalog.Table{next}, Fresh: true}
	if err := e.catalog.Apply(ch, putJobs([]*job{j})); err != nil {
		return err
	}
	e.ids.Forget(t.PhysID)
	e.enqueue(j)
	return nil
}

// RenameTables renames tables one after the other, all or none: RENAME TABLE.
func (e *Executor) RenameTables(c *Call, pairs []RenamePair) error {
	var names []Name
	for _, r := range pairs {
		if err := checkSchemaAccess(r.From.Schema); err != nil {
			return err
		}
		if err := checkSchemaAccess(r.To.Schema); err != nil {
			return err
		}
		if err := checkTableName(r.To.Table); err != nil {
			return err
		}
		names = append(names, r.From, r.To)
	}
	p := c.patience()
	release, err := e.lockKin(c, p, names, nil)
	if err != nil {
		return err
	}
	defer release()
	snap := e.catalog.Current()
	changes, err := renamed(snap, pairs)
	if err != nil {
		return err
	}
	kin, err := relate(c, snap, changes...)
	if err != nil {
		return err
	}
	var old, changed []*catalog.Table
	for _, ch := range changes {
		old, changed = append(old, ch.old), append(changed, ch.next)
	}
	held, err := e.catalog.Close(old, p)
	if err != nil {
		return err
	}
	defer openAll(held)
	return e.catalog.Apply(&catalog.Change{PutTables: changed, Related: kin.related}, nil)
}

// renamed returns the changes of tables that pairs rename one after the other. Each new name must be free then, and so must the new names of the
// table's constraints.
func renamed(snap *catalog.Snapshot, pairs []RenamePair) (changes []change, err error) {
	now := map[Name]*catalog.Table{} // by the names after the pairs so far
	for _, r := range pairs {
		for _, n := range [...]Name{r.From, r.To} {
			now[n] = snap.Lookup(n.Schema, n.Table)
		}
	}
	place := map[uint64]int{} // index in changes, by table id
	for _, r := range pairs {
		if now[r.To] != nil {
			return nil, types.Errorf(types.ErTableExists, r.To.Table)
		}
		if snap.Database(r.To.Schema) == nil {
			return nil, types.Errorf(types.ErBadDB, r.To.Schema)
		}
		t := now[r.From]
		if t == nil {
			return nil, types.Errorf(types.ErNoSuchTable, r.From.Schema, r.From.Table)
		}
		if t.View != nil && r.From.Schema != r.To.Schema {
			return nil, types.Errorf(types.ErForbidSchemaChange, r.From.Schema, r.To.Schema)
		}
		next := t.Clone()
		next.Rename(r.To.Schema, r.To.Table)
		if err := constraintNamesFit(next); err != nil {
			return nil, err
		}
		next.Finish()
		if err := checkNamesFree(snap, next, changes...); err != nil {
			return nil, err
		}
		if err := foreignNamesFree(snap, t, next, changes...); err != nil {
			return nil, err
		}
		now[r.From], now[r.To] = nil, next
		at, again := place[t.ID]
		if !again {
			at = len(changes)
			place[t.ID], changes = at, append(changes, change{old: t})
		}
		changes[at].next = next
	}
	return changes, nil
}
