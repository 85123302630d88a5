package exec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// earlySink looks at the watermark whenever bytes could leave: at Flush, and when a row is done that is too large to wait.
type earlySink struct {
	collector
	manager *txn.Manager
	from    clock.Timestamp
	leaks   int
}

func (s *earlySink) leave() {
	if s.manager.Watermark() < s.from {
		s.leaks++
	}
}

func (s *earlySink) RowDone() error {
	if len(s.enc.Buf) > 1<<20 {
		s.leave()
	}
	s.enc.Buf = s.enc.Buf[:0]
	return nil
}

func (s *earlySink) Flush() error {
	s.leave()
	return nil
}

// TestNothingUnsyncedLeaves reads under SERIALIZABLE, right after a relaxed commit that is applied but not synced, by every
// program that queries: no byte may reach the sink before the watermark covers that commit.
func TestNothingUnsyncedLeaves(t *testing.T) {
	k := newKit(t)
	tab := catalog.NewTable(70, 70, "test", "blobs")
	tab.AddColumn(&catalog.Column{Name: "id", Type: intType, NotNull: true}, -1)
	tab.AddColumn(&catalog.Column{Name: "b", Type: types.Type{ID: types.TypeLongBlob, Length: -1, Coll: types.Binary}}, -1)
	tab.AddIndex(&catalog.Index{Name: "PRIMARY", Primary: true, Unique: true, State: catalog.StatePublic, Visible: true,
		Columns: []catalog.IndexColumn{{Col: 0}}})
	tab.Finish()
	rt := k.runtime()
	for id := range 2000 {
		k.exec(rt, &Insert{Table: tab, Cols: []int{0, 1}, ParamRows: 1}, types.Int(int64(id)), types.Bytes([]byte("x")))
	}
	k.exec(rt, &Insert{Table: tab, Cols: []int{0, 1}, ParamRows: 1}, types.Int(3000), types.Text("0"))
	large, n := strings.Repeat("y", 2<<20), 0
	scan := func() *Scan {
		return &Scan{Table: tab, Index: tab.PK, Ranges: []Range{between(lit(1990), lit(5000))}, Cols: []int{0, 1}}
	}
	for name, root := range map[string]Node{
		"point":     &PointGet{Table: tab, Index: tab.PK, Keys: [][]expr.Expr{{lit(3000)}}, Cols: []int{0, 1}},
		"range":     scan(),
		"aggregate": &StreamAgg{Input: scan(), Aggs: []*expr.AggSpec{k.agg("max", col(tab, 1))}},
		"sort": &Sort{Input: &Scan{Table: tab, Index: tab.PK, Ranges: []Range{between(lit(0), lit(2999))}, Cols: []int{0}},
			Keys: []SortKey{{Expr: col(tab, 0), Desc: true}}},
	} {
		p := queryPlan(root)
		if p.Program == nil || p.Program.String() != name {
			t.Fatalf("%s: program %v", name, p.Program)
		}
		sink := &earlySink{manager: k.txns}
		for k.txns.Watermark() >= sink.from { // until no sync that was asked for before covers the commit
			n++ // what changes nothing commits nothing
			write := k.txns.Begin(txn.Options{Level: txn.RepeatableRead, Relaxed: true})
			rt.Txn = write
			k.exec(rt, &Insert{Table: tab, Cols: []int{0, 1}, ParamRows: 1, Mode: InsertReplace}, types.Int(3000), types.Text(fmt.Sprint(n, large)))
			if name == "sort" {
				k.exec(rt, &Insert{Table: tab, Cols: []int{0, 1}, ParamRows: 1, Mode: InsertReplace}, types.Int(7), types.Text(fmt.Sprint(n)))
			}
			if err := write.Commit(); err != nil {
				t.Fatal(err)
			}
			sink.from = write.CommitTS()
			write.Release()
		}
		rt.Txn = k.txns.Begin(txn.Options{Level: txn.Serializable})
		res, err := Run(rt, p, sink)
		if err != nil || res.AffectedRows == 0 {
			t.Fatal(name, res, err)
		}
		rt.Txn.Release()
		rt.Txn = nil
		if sink.leaks > 0 {
			t.Errorf("%s: bytes left %d times before what they depend on was durable", name, sink.leaks)
		}
	}
}

// TestNoMatchIsNews: that a row does not match, because of a commit that is not durable yet, is told only when it is, although no lock
// is left that would remind of it.
func TestNoMatchIsNews(t *testing.T) {
	k := newKit(t)
	tab := sbtest(1)
	rt := k.runtime()
	k.fill(rt, tab, 1)
	remove := func() sqlapi.Result {
		return k.exec(rt, &Delete{Table: tab, Input: k.lockByPK(tab, lit(1)), KeyCol: len(tab.Columns)})
	}
	other := k.txns.Begin(txn.Options{Level: txn.RepeatableRead, Relaxed: true})
	rt.Txn = other
	remove()
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	ts := other.CommitTS()
	other.Release()
	rt.Txn = k.txns.Begin(txn.Options{Level: txn.ReadCommitted})
	defer rt.Txn.Release()
	if res := remove(); res.AffectedRows != 0 || rt.Txn.HasLocks() {
		t.Fatal("this test needs a row that was deleted and unlocked:", res)
	}
	if k.txns.Watermark() < ts {
		t.Error("the answer came before the deletion was durable")
	}
}
