package ddl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kv"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/rpc"
	"github.com/pandodb/pando/store"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// node is a server without SQL.
type node struct {
	tb     testing.TB
	fs     *engine.MemFS
	engine *engine.Engine
	store  *store.Store
	txns   *txn.Manager
	cat    *catalog.Catalog
	ids    *table.AutoIDs
	ex     *ddl.Executor
	use    *catalog.Use
}

func openNode(tb testing.TB, fs *engine.MemFS) *node {
	tb.Helper()
	if fs == nil {
		eng, err := engine.OpenMem()
		if err != nil {
			tb.Fatal(err)
		}
		return openOn(tb, eng, nil)
	}
	eng, err := engine.Open(engine.Options{Dir: "data", FS: fs, LowSpaceBytes: engine.NoSpace, BallastBytes: engine.NoSpace})
	if err != nil {
		tb.Fatal(err)
	}
	return openOn(tb, eng, fs)
}

// openOn assembles a node over an engine.
func openOn(tb testing.TB, eng *engine.Engine, fs *engine.MemFS) *node {
	tb.Helper()
	return openWith(tb, eng, fs, store.Options{})
}

// openWith is openOn with options of the store besides its engine.
func openWith(tb testing.TB, eng *engine.Engine, fs *engine.MemFS, o store.Options) *node {
	tb.Helper()
	n := &node{tb: tb, fs: fs, engine: eng}
	var err error
	o.Engine = eng
	n.store, err = store.Open(o)
	n.must(err)
	n.txns = txn.NewManager(kv.New(rpc.Loopback(n.store)), txn.ManagerOptions{})
	n.cat, err = catalog.Open(n.txns)
	n.must(err)
	n.ids = table.NewAutoIDs(n.txns)
	n.ex, err = ddl.Open(ddl.Options{Catalog: n.cat, Txns: n.txns, AutoIDs: n.ids})
	n.must(err)
	n.use = n.cat.Uses().Register()
	return n
}

func (n *node) must(err error) {
	n.tb.Helper()
	if err != nil {
		n.tb.Fatal(err)
	}
}

// close ends the node; clean also stores the counters.
func (n *node) close(clean bool) {
	n.tb.Helper()
	n.ex.Close()
	if clean {
		n.must(n.ids.Close())
	}
	n.must(n.store.Close())
	n.must(n.engine.Close())
}

func (n *node) table(name string) *catalog.Table {
	n.tb.Helper()
	t, err := n.cat.Current().Table("db", name)
	n.must(err)
	return t
}

// statement runs f on the current version of a table in one transaction, as a
// session runs an autocommit statement. It returns f's error.
func (n *node) statement(u *catalog.Use, name string, f func(tx *txn.Txn, t *catalog.Table) error) error {
	t, err := n.enter(u, name)
	if err != nil {
		return err
	}
	defer u.Release()
	tx := n.txns.Begin(txn.Options{Level: txn.ReadCommitted})
	defer tx.Release()
	tx.BeginStatement()
	if err := f(tx, t); err != nil {
		tx.Rollback()
		return err
	}
	return tx.Commit()
}

func (n *node) enter(u *catalog.Use, name string) (*catalog.Table, error) {
	for {
		t, err := n.cat.Current().Table("db", name)
		if err != nil {
			u.Release()
			return nil, err
		}
		switch u.Enter(t, catalog.UseRead) {
		case catalog.Entered:
			return t, nil
		case catalog.Closed:
			if err := u.Wait(t, catalog.UseRead, lockWait, nil); err != nil {
				u.Release()
				return nil, err
			}
		}
	}
}

func (n *node) check(name string) *table.Report {
	n.tb.Helper()
	r, err := table.Check(n.txns, n.table(name), nil)
	n.must(err)
	if !r.OK() {
		n.tb.Fatalf("%s is not sound: %s", name, strings.Join(r.Problems, "\n"))
	}
	return r
}

// counter counts pairs.
type counter struct{ n int }

func (c *counter) Pair(_, _ []byte) (bool, error) { c.n++; return true, nil }

func (n *node) count(span kvapi.Span) int {
	n.tb.Helper()
	var c counter
	for {
		resume, err := n.txns.Scan(&txn.ScanRequest{Span: span, Sink: &c})
		n.must(err)
		if resume == nil {
			return c.n
		}
		span.Start = resume
	}
}

// versions tells how many versions the engine has of the keys of a span.
func (n *node) versions(span kvapi.Span) (found int) {
	n.tb.Helper()
	it, err := n.engine.NewIter(engine.IterOptions{Lower: keys.VersionPrefix(nil, span.Start), Upper: keys.VersionPrefix(nil, span.End)})
	n.must(err)
	for ok := it.First(); ok; ok = it.Next() {
		found++
	}
	n.must(it.Error())
	n.must(it.Close())
	return found
}

// counters tells how many counters of tables are stored, and how many exact records of a clean shutdown.
func (n *node) counters() string {
	n.tb.Helper()
	span := catalog.KindSpan(catalog.KindAutoInc)
	it, err := n.engine.NewIter(engine.IterOptions{Lower: keys.CounterKey(nil, span.Start), Upper: keys.CounterKey(nil, span.End)})
	n.must(err)
	found := 0
	for ok := it.First(); ok; ok = it.Next() {
		found++
	}
	n.must(it.Error())
	n.must(it.Close())
	return fmt.Sprintf("%d counters, %d records", found, n.count(catalog.KindSpan(catalog.KindAutoExact)))
}

func col(name string, id types.TypeID, notNull bool) ddl.ColumnSpec {
	c := ddl.ColumnSpec{Name: name, Type: types.Type{ID: id, Length: -1}, NotNull: notNull}
	if c.Type.IsStringType() {
		c.Type.Coll, c.Type.Length = types.DefaultCollation, 40
	}
	return c
}

func key(name string, unique bool, cols ...string) ddl.IndexSpec {
	ix := ddl.IndexSpec{Name: name, Unique: unique}
	for _, c := range cols {
		ix.Columns = append(ix.Columns, ddl.IndexColumnSpec{Column: c})
	}
	return ix
}

func primaryKey(cols ...string) ddl.IndexSpec {
	ix := key("", true, cols...)
	ix.Primary = true
	return ix
}

// sbtest creates db.name as sysbench does, without its secondary index.
func (n *node) sbtest(name string) {
	n.tb.Helper()
	if n.cat.Current().Database("db") == nil {
		n.must(n.ex.CreateDatabase(&ddl.Call{}, "db", 0, false))
	}
	id := col("id", types.TypeInt, true)
	id.AutoInc = true
	n.must(n.ex.CreateTable(&ddl.Call{}, &ddl.TableSpec{
		Name:    ddl.Name{Schema: "db", Table: name},
		Columns: []ddl.ColumnSpec{id, col("k", types.TypeInt, true), col("c", types.TypeVarchar, false)},
		Indexes: []ddl.IndexSpec{primaryKey("id")},
	}))
}

func row(id, k int, c string) []types.Value {
	return []types.Value{types.Int(int64(id)), types.Int(int64(k)), types.Text(c)}
}

// fill inserts rows from..to-1 with k = f(id).
func (n *node) fill(name string, from, to int, f func(id int) int) {
	n.tb.Helper()
	for from < to {
		n.must(n.statement(n.use, name, func(tx *txn.Txn, t *catalog.Table) error {
			w := table.NewWriter(t, n.ids)
			for i := 0; i < 2000 && from < to; i++ {
				if err := w.Insert(tx, row(from, f(from), fmt.Sprint("row ", from)), table.InsertCheck); err != nil {
					return err
				}
				from++
			}
			return nil
		}))
	}
}

func name(table string) ddl.Name { return ddl.Name{Schema: "db", Table: table} }
