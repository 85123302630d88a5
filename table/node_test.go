package table_test

import (
	"errors"
	"testing"

	"github.com/pandodb/pando/catalog"
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

// node is the stack below this package, in memory.
type node struct {
	tb     testing.TB
	fs     *engine.MemFS
	engine *engine.Engine
	store  *store.Store
	txns   *txn.Manager
	ids    *table.AutoIDs
}

func openNode(tb testing.TB, fs *engine.MemFS) *node {
	tb.Helper()
	n := &node{tb: tb, fs: fs}
	var err error
	if fs == nil {
		n.engine, err = engine.OpenMem()
	} else {
		n.engine, err = engine.Open(engine.Options{Dir: "data", FS: fs, LowSpaceBytes: engine.NoSpace, BallastBytes: engine.NoSpace})
	}
	if err != nil {
		tb.Fatal(err)
	}
	if n.store, err = store.Open(store.Options{Engine: n.engine, RowCacheBytes: 1 << 20}); err != nil {
		tb.Fatal(err)
	}
	n.txns = txn.NewManager(kv.New(rpc.Loopback(n.store)), txn.ManagerOptions{})
	n.ids = table.NewAutoIDs(n.txns)
	return n
}

func (n *node) close() {
	n.tb.Helper()
	if err := n.store.Close(); err != nil {
		n.tb.Error(err)
	}
	if err := n.engine.Close(); err != nil {
		n.tb.Error(err)
	}
}

// do runs f in a transaction and commits it, or rolls it back on error.
func (n *node) do(f func(tx *txn.Txn) error) error {
	tx := n.txns.Begin(txn.Options{Level: txn.ReadCommitted})
	defer tx.Release()
	tx.BeginStatement()
	if err := f(tx); err != nil {
		tx.Rollback()
		return err
	}
	return tx.Commit()
}

// versions counts those that the engine has in a span.
func (n *node) versions(span kvapi.Span) (count int) {
	n.tb.Helper()
	it, err := n.engine.NewIter(engine.IterOptions{Lower: keys.VersionPrefix(nil, span.Start), Upper: keys.VersionPrefix(nil, span.End)})
	if err != nil {
		n.tb.Fatal(err)
	}
	for ok := it.First(); ok; ok = it.Next() {
		count++
	}
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		n.tb.Fatal(err)
	}
	return count
}

// pairs collects a whole span.
type pairs struct{ keys, values [][]byte }

func (p *pairs) Pair(k, v []byte) (bool, error) {
	p.keys = append(p.keys, append([]byte(nil), k...))
	p.values = append(p.values, append([]byte(nil), v...))
	return true, nil
}

func (n *node) scan(span kvapi.Span) *pairs {
	n.tb.Helper()
	p := &pairs{}
	if span.IsPoint() {
		if _, err := n.txns.Get(span.Start, nil, pointSink{p, span.Start}); err != nil {
			n.tb.Fatal(err)
		}
		return p
	}
	for {
		resume, err := n.txns.Scan(&txn.ScanRequest{Span: span, Sink: p})
		if err != nil {
			n.tb.Fatal(err)
		}
		if resume == nil {
			return p
		}
		span.Start = resume
	}
}

type pointSink struct {
	p   *pairs
	key []byte
}

func (s pointSink) Pair(_, v []byte) (bool, error) { return s.p.Pair(s.key, v) }

// locked locks a row and returns a copy of its value.
func locked(tx *txn.Txn, key []byte) ([]byte, bool, error) {
	p := &pairs{}
	found, _, err := tx.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, p)
	if err != nil || !found {
		return nil, false, err
	}
	return p.values[0], true, nil
}

func (n *node) check(t *catalog.Table) *table.Report {
	n.tb.Helper()
	r, err := table.Check(n.txns, t, nil)
	if err != nil {
		n.tb.Fatal(err)
	}
	if !r.OK() {
		n.tb.Fatalf("table is not sound: %v", r.Problems)
	}
	return r
}

// Types used all over.
func intType(id types.TypeID) types.Type { return types.Type{ID: id, Length: -1} }

func charType(id types.TypeID, n int32, c types.CollationID) types.Type {
	return types.Type{ID: id, Length: n, Coll: c}
}

// build makes a table out of columns and indexes.
func build(phys uint64, cols []*catalog.Column, indexes ...*catalog.Index) *catalog.Table {
	t := catalog.NewTable(phys, phys, "db", "t")
	for _, c := range cols {
		c.OriginalNull = true
		t.AddColumn(c, -1)
	}
	for _, ix := range indexes {
		if ix.State == catalog.StateAbsent {
			ix.State = catalog.StatePublic
		}
		ix.Visible = true
		t.AddIndex(ix)
	}
	t.Finish()
	return t
}

func index(name string, unique bool, cols ...int) *catalog.Index {
	ix := &catalog.Index{Name: name, Unique: unique}
	for _, c := range cols {
		ix.Columns = append(ix.Columns, catalog.IndexColumn{Col: c})
	}
	return ix
}

func primary(cols ...int) *catalog.Index {
	ix := index("PRIMARY", true, cols...)
	ix.Primary = true
	return ix
}

// sbtest is sysbench's table.
func sbtest(phys uint64) *catalog.Table {
	ai := &catalog.Column{Name: "id", Type: intType(types.TypeInt), NotNull: true, AutoInc: true}
	return build(phys, []*catalog.Column{
		ai,
		{Name: "k", Type: intType(types.TypeInt), NotNull: true},
		{Name: "c", Type: charType(types.TypeChar, 120, types.DefaultCollation), NotNull: true},
		{Name: "pad", Type: charType(types.TypeChar, 60, types.DefaultCollation), NotNull: true},
	}, primary(0), index("k_1", false, 1))
}

func text(s string) types.Value { return types.Text(s) }

func show(vals []types.Value) string {
	s := ""
	for i, v := range vals {
		if i > 0 {
			s += ","
		}
		if v.IsNull() {
			s += "NULL"
			continue
		}
		s += string(types.AppendText(nil, nil, &v))
	}
	return s
}
