package exec

import (
	"fmt"
	"sync"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// scanLock is the input of a write that scans.
func (k *kit) scanLock(t *catalog.Table, ix *catalog.Index, r Range, where expr.Expr) *LockRows {
	return &LockRows{Input: &Scan{Table: t, Index: ix, Ranges: []Range{r}, Cols: []int{RowKey}}, Table: t,
		Mode: LockExclusive, Where: where, Cols: append(plainCols(t), RowKey)}
}

func (k *kit) all(rt *Runtime, t *catalog.Table) []string {
	return k.query(rt, &Scan{Table: t, Cols: plainCols(t)})
}

func TestInsertDefaultsAndErrors(t *testing.T) {
	k := newKit(t)
	rt, sb := k.runtime(), sbtest(1)
	res := k.exec(rt, &Insert{Table: sb, Cols: []int{1}, Rows: [][]expr.Expr{{lit(5)}, {nil}, {lit(7)}}})
	if res.AffectedRows != 3 || res.InsertID != 1 || rt.LastGeneratedID != 1 || res.Info != "Records: 3  Duplicates: 0  Warnings: 0" {
		t.Fatalf("result %+v", res)
	}
	sameRows(t, "defaults", k.all(rt, sb), []string{"1|5||", "2|0||", "3|7||"})
	res = k.exec(rt, &Insert{Table: sb, Cols: []int{0}, Rows: [][]expr.Expr{{lit(10)}}})
	if res.InsertID != 10 || rt.LastGeneratedID != 0 || res.Info != "" {
		t.Fatalf("explicit id: %+v, generated %d", res, rt.LastGeneratedID)
	}
	if res = k.exec(rt, &Insert{Table: sb, Cols: []int{0}, Rows: [][]expr.Expr{{lit(0)}}}); res.InsertID != 11 {
		t.Fatalf("id after an explicit one: %+v", res)
	}
	null := expr.Literal(types.Null())
	noDefault := sbtest(2)
	noDefault.Columns[1].Default = nil
	for _, c := range []struct {
		number uint16
		node   *Insert
	}{
		{types.ErDupEntry, &Insert{Table: sb, Cols: []int{0}, Rows: [][]expr.Expr{{lit(50)}, {lit(10)}}}},
		{types.ErBadNull, &Insert{Table: sb, Cols: []int{1}, Rows: [][]expr.Expr{{null}}}},
		{types.ErWrongValueCountOnRow, &Insert{Table: sb, Cols: []int{1}, Rows: [][]expr.Expr{{lit(1), lit(2)}}}},
		{types.ErNoDefaultForField, &Insert{Table: noDefault, Cols: []int{0}, Rows: [][]expr.Expr{{lit(1)}}}},
		{types.ErWarnDataOutOfRange, &Insert{Table: sb, Cols: []int{1}, Rows: [][]expr.Expr{{lit(1 << 40)}}}},
	} {
		if _, err := k.tryExec(rt, c.node); number(err) != c.number {
			t.Errorf("want error %d, got %v", c.number, err)
		}
	}
	// The statement that failed at its second row left nothing of its first.
	sameRows(t, "after errors", k.all(rt, sb), []string{"1|5||", "2|0||", "3|7||", "10|0||", "11|0||"})
}

func TestInsertModes(t *testing.T) {
	k := newKit(t)
	rt, sb := k.runtime(), sbtest(1)
	row := func(id, n int64) []expr.Expr { return []expr.Expr{lit(id), lit(n)} }
	k.exec(rt, &Insert{Table: sb, Cols: []int{0, 1}, Rows: [][]expr.Expr{row(1, 1), row(2, 2)}})

	res := k.exec(rt, &Insert{Table: sb, Cols: []int{0, 1}, Mode: InsertIgnore, Rows: [][]expr.Expr{row(1, 9), row(3, 3)}})
	if res.AffectedRows != 1 || res.Warnings != 1 || res.Info != "Records: 2  Duplicates: 1  Warnings: 1" {
		t.Fatalf("ignore: %+v", res)
	}
	rt.Ctx.ResetWarnings()
	res = k.exec(rt, &Insert{Table: sb, Cols: []int{0, 1}, Mode: InsertReplace, Rows: [][]expr.Expr{row(2, 20), row(4, 4), row(3, 3)}})
	if res.AffectedRows != 4 { // deleted and stored, stored, the same already
		t.Fatalf("replace: %+v", res)
	}
	values := expr.Column(len(sb.Columns)+1, intType, "values(k)")
	upsert := func(rows ...[]expr.Expr) *Insert {
		return &Insert{Table: sb, Cols: []int{0, 1}, Mode: InsertUpdate, Rows: rows,
			OnDup: []Assignment{{Col: 1, Expr: k.call("+", col(sb, 1), values)}}}
	}
	res = k.exec(rt, upsert(row(1, 100), row(5, 5), row(4, 0)))
	if res.AffectedRows != 3 { // 2 for the change, 1 for the insert, 0 for no change
		t.Fatalf("upsert: %+v", res)
	}
	rt.FoundRows = true
	if res = k.exec(rt, upsert(row(4, 0))); res.AffectedRows != 1 {
		t.Fatalf("upsert with found rows: %+v", res)
	}
	sameRows(t, "after all", k.all(rt, sb), []string{"1|101||", "2|20||", "3|3||", "4|4||", "5|5||"})
	k.exec(rt, &Insert{Table: sb, Cols: []int{1}, Source: &Project{Input: &Materialize{Input: &Scan{Table: sb, Cols: []int{1}}},
		Exprs: []expr.Expr{k.call("+", expr.Column(0, intType, "k"), lit(1000))}}})
	sameRows(t, "insert from itself", k.all(rt, sb)[5:], []string{"6|1101||", "7|1020||", "8|1003||", "9|1004||", "10|1005||"})
}

func TestScanningWrites(t *testing.T) {
	k := newKit(t)
	rt, sb := k.runtime(), sbtest(1)
	k.fill(rt, sb, 2500)
	ix := sb.Index("k_1")
	where := k.call(">=", col(sb, 1), lit(50))
	// Every row moves upwards in the scanned index and must not be met again.
	lock := k.scanLock(sb, ix, Range{Low: Bound{Expr: lit(50), Incl: true}}, where)
	lock.Collect = true
	res := k.exec(rt, &Update{Table: sb, Input: lock, KeyCol: 4, Set: []Assignment{{Col: 1, Expr: k.call("+", col(sb, 1), lit(10))}}})
	if res.AffectedRows != 1250 || res.Info != "Rows matched: 1250  Changed: 1250  Warnings: 0" {
		t.Fatalf("update: %+v", res)
	}
	s := &side{k: k, rt: rt, table: sb}
	s.contents()
	// Assignments are made from left to right.
	k.exec(rt, &Update{Table: sb, Input: k.lockByPK(sb, lit(1)), KeyCol: 4,
		Set: []Assignment{{Col: 1, Expr: lit(77)}, {Col: 3, Expr: k.call("concat", col(sb, 1), expr.Literal(types.Text("!")))}}})
	sameRows(t, "left to right", k.query(rt, &PointGet{Table: sb, Index: sb.PK, Keys: [][]expr.Expr{{lit(1)}}, Cols: []int{1, 3}}), []string{"77|77!"})

	del := &Delete{Table: sb, Input: k.scanLock(sb, nil, between(lit(11), lit(2495)), nil), KeyCol: 4}
	if res = k.exec(rt, del); res.AffectedRows != 2485 {
		t.Fatalf("delete: %+v", res)
	}
	if rows := s.contents(); len(rows) != 15 {
		t.Fatalf("%d rows left", len(rows))
	}
	// A failing update leaves nothing behind, also in an open transaction.
	tx := k.txns.Begin(txn.Options{Level: txn.RepeatableRead})
	defer tx.Release()
	rt.Txn = tx
	before := s.contents()
	bad := &Update{Table: sb, Input: k.scanLock(sb, nil, Range{}, nil), KeyCol: 4, Set: []Assignment{{Col: 0, Expr: lit(5)}}}
	s.tx = tx
	if _, err := k.tryExec(rt, bad); number(err) != types.ErDupEntry {
		t.Fatalf("want 1062, got %v", err)
	}
	sameRows(t, "after a failed statement", s.contents(), before)
}

func TestHiddenRowIDs(t *testing.T) {
	k := newKit(t)
	rt := k.runtime()
	tab := catalog.NewTable(7, 7, "test", "t")
	tab.AddColumn(&catalog.Column{Name: "a", Type: intType}, -1)
	tab.AddIndex(&catalog.Index{Name: "a", State: catalog.StatePublic, Visible: true, Columns: []catalog.IndexColumn{{Col: 0}}})
	tab.Finish()
	k.exec(rt, &Insert{Table: tab, Cols: []int{0}, Rows: [][]expr.Expr{{lit(1)}, {lit(1)}, {expr.Literal(types.Null())}, {lit(2)}}})
	k.exec(rt, &Update{Table: tab, Input: k.scanLock(tab, nil, Range{}, k.call("=", col(tab, 0), lit(1))), KeyCol: 1, Set: []Assignment{{Col: 0, Expr: lit(3)}}})
	sameRows(t, "update", k.all(rt, tab), []string{"3", "3", "NULL", "2"})
	res := k.exec(rt, &Delete{Table: tab, Input: k.scanLock(tab, tab.Index("a"), eq(lit(3)), nil), KeyCol: 1})
	if res.AffectedRows != 2 {
		t.Fatalf("delete: %+v", res)
	}
	null := Range{Eq: []expr.Expr{expr.Literal(types.Null())}, EqNull: 1}
	sameRows(t, "is null", k.query(rt, &Scan{Table: tab, Index: tab.Index("a"), Ranges: []Range{null}, Cols: []int{0}}), []string{"NULL"})
	sameRows(t, "upper bound alone", k.query(rt, &Scan{Table: tab, Index: tab.Index("a"), Ranges: []Range{{High: Bound{Expr: lit(9), Incl: true}}}, Cols: []int{0}}), []string{"2"})
}

func TestLockingReads(t *testing.T) {
	k := newKit(t)
	rt, sb := k.runtime(), sbtest(1)
	k.fill(rt, sb, 10)
	holder := k.txns.Begin(txn.Options{})
	defer holder.Release()
	other := k.runtime()
	other.Txn = holder
	k.query(other, k.lockByPK(sb, lit(3)))

	lock := &LockRows{Input: &Scan{Table: sb, Ranges: []Range{between(lit(2), lit(4))}, Cols: []int{RowKey}}, Table: sb, Mode: LockExclusive, Wait: WaitSkip, Cols: []int{0}}
	sameRows(t, "skip locked", k.query(rt, lock), []string{"2", "4"})
	lock = &LockRows{Input: &Scan{Table: sb, Ranges: []Range{between(lit(2), lit(4))}, Cols: []int{RowKey}}, Table: sb, Mode: LockShared, Wait: WaitNone, Cols: []int{0}}
	if _, err := k.tryQuery(rt, queryPlan(lock)); number(err) != types.ErLockNowait {
		t.Fatalf("nowait: %v", err)
	}
	rt.Interrupt = new(kvapi.Interrupt)
	rt.Interrupt.Set(kvapi.ReasonKillQuery)
	if _, err := k.tryQuery(rt, queryPlan(&Scan{Table: sb, Cols: []int{0}})); number(err) != types.ErQueryInterrupted {
		t.Fatalf("interrupt: %v", err)
	}
}

// TestConcurrentIncrements counts: no update may be lost, whether by primary key or by
// scan, and every statement must see rows that others move meanwhile.
func TestConcurrentIncrements(t *testing.T) {
	k := newKit(t)
	sb := sbtest(1)
	k.fill(k.runtime(), sb, 4)
	point := (&Plan{Root: &Update{Table: sb, Input: k.lockByPK(sb, param(0)), KeyCol: 4, Set: []Assignment{{Col: 1, Expr: k.call("+", col(sb, 1), lit(1))}}}, Params: 1}).Seal()
	scan := (&Plan{Root: &Update{Table: sb, Input: k.scanLock(sb, nil, Range{}, nil), KeyCol: 4, Set: []Assignment{{Col: 1, Expr: k.call("+", col(sb, 1), lit(1))}}}}).Seal()
	const workers, rounds = 4, 30
	var wg sync.WaitGroup
	for w := range workers {
		rt := k.runtime()
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range rounds {
				p := scan
				if i%3 > 0 {
					p = point
				}
				rt.Ctx.Params = []types.Value{types.Int(int64((w+i)%4 + 1))}
				for {
					_, err := Run(rt, p, nil)
					if number(err) == types.ErLockDeadlock {
						continue
					}
					if err != nil {
						t.Error(err)
					}
					break
				}
			}
		}()
	}
	wg.Wait()
	sum := k.query(k.runtime(), &StreamAgg{Input: &Scan{Table: sb, Cols: []int{1}}, Aggs: []*expr.AggSpec{k.agg("sum", expr.Column(0, intType, "k"))}})
	want := fmt.Sprint(7 + 14 + 21 + 28 + workers*rounds/3*4 + workers*rounds/3*2)
	sameRows(t, "sum", sum, []string{want})
}
