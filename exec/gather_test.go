package exec

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/types"
)

// manyWorkers lets a test have more workers than the machine has processors.
func manyWorkers(t *testing.T, n int) {
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// parallel is ParallelAgg where it has to be possible.
func parallel(t *testing.T, n *HashAgg) *HashAgg {
	t.Helper()
	p, ok := ParallelAgg(n, 0)
	if !ok {
		t.Fatal("not parallel")
	}
	return p.(*HashAgg)
}

// TestParallelAggAgrees compares aggregation by workers with that of one: over ranges, keys of either sign, hidden row ids and empty
// tables, with and without groups, with little memory, and opened twice.
func TestParallelAggAgrees(t *testing.T) {
	manyWorkers(t, 4)
	r := testkit.Rand(testkit.Seed(t), 17)
	k := newKit(t)
	sb, signed, hidden, empty := sbtest(1), pairTable(2, "signed", true), pairTable(3, "hidden", false), sbtest(4)
	rt := k.runtime()
	k.fill(rt, sb, 9000)
	var pairs [][2]int64
	for i := range int64(6000) {
		pairs = append(pairs, [2]int64{(i - 3000) * (1 + i%7*1000), i})
	}
	k.fillPairs(rt, signed, pairs...)
	k.fillPairs(rt, hidden, pairs[:3000]...)
	for i := range 30 {
		table := []*catalog.Table{sb, signed, hidden, empty}[r.IntN(4)]
		a, b := col(table, 0), col(table, 1)
		scan := &Scan{Table: table, Cols: []int{0, 1}}
		if r.IntN(3) == 0 && table.PK != nil {
			low := r.Int64N(8000) - 2000
			scan.Ranges = []Range{between(lit(low), lit(low+r.Int64N(9000))), eq(lit(5)), {Low: Bound{Expr: lit(1 << 20), Incl: true}}}
		}
		if r.IntN(3) == 0 {
			scan.Filter = k.call("<>", k.call("%", a, lit(3)), lit(1))
		}
		var in Node = scan
		if r.IntN(2) == 0 {
			in = &Filter{Input: &Project{Input: in, Exprs: []expr.Expr{k.call("-", a, lit(1)), b}}, Cond: k.call("<>", k.call("%", b, lit(5)), lit(0))}
			a = expr.Column(0, in.(*Filter).Input.(*Project).Exprs[0].Type(), "a")
		}
		agg := &HashAgg{Input: in, Aggs: []*expr.AggSpec{k.agg("count"), k.agg("sum", a), k.agg("avg", b), k.agg("min", a), k.agg("max", b), k.agg("bit_xor", a)}}
		if r.IntN(4) > 0 {
			agg.Keys = []expr.Expr{k.call("%", b, lit([]int64{3, 100, 5000}[r.IntN(3)]))}
		}
		want := k.query(k.runtime(), agg)
		slices.Sort(want)
		// With much memory, with so little that one worker does all, and with so much held by others that workers keep nothing.
		for _, limit := range []int64{1 << 30, 300 << 10, 5 << 20} {
			rt := k.runtime()
			rt.Workers, rt.Mem = 4, NewMemTracker(limit)
			filler := rt.account()
			if limit == 5<<20 {
				_ = filler.set(2600 << 10)
			}
			root := parallel(t, agg)
			got, err := k.tryQuery(rt, queryPlan(&Apply{Left: (&source{rows: [][]any{{1}, {2}}}).node(1), Right: root}))
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 2*len(want) {
				t.Fatalf("%d: %d rows, want %d", i, len(got), 2*len(want))
			}
			for half := range 2 {
				part := slices.Clone(got[half*len(want) : (half+1)*len(want)])
				for j := range part {
					part[j] = part[j][2:]
				}
				slices.Sort(part)
				sameRows(t, fmt.Sprint(i, " ", table.Name), part, want)
			}
			filler.close()
			clean(t, rt)
		}
	}
}

// TestParallelJoinsAgree: workers probe one table, of every kind of join, one above the other; and what does not fit is done by one.
func TestParallelJoinsAgree(t *testing.T) {
	manyWorkers(t, 4)
	r := testkit.Rand(testkit.Seed(t), 18)
	k := newKit(t)
	sb := sbtest(1)
	k.fill(k.runtime(), sb, 6000)
	alone := 0
	for i := range 24 {
		scan := &Scan{Table: sb, Cols: []int{0, 1}}
		var in Node = scan
		for range 1 + r.IntN(2) {
			kind := JoinKind(r.IntN(4))
			right := randomSource(r, r.IntN(300), 2, 200)
			if r.IntN(2) == 0 {
				right = randomSource(r, 4000, 2, 8000)
			}
			join := &HashJoin{Kind: kind, Left: in, Right: right.node(2), LeftKeys: []expr.Expr{k.call("+", col(sb, 1), lit(0))}, RightKeys: []expr.Expr{bigint(0)}}
			if width := len(Types(in)); r.IntN(2) == 0 {
				join.On = k.call("<>", k.call("%", col(sb, 0), lit(7)), k.call("%", bigint(width+1), lit(7)))
			} else if kind == JoinAnti {
				join.NullAware = r.IntN(2) == 0
			}
			in = join
		}
		agg := &HashAgg{Input: in, Keys: []expr.Expr{k.call("%", col(sb, 0), lit(20))}, Aggs: []*expr.AggSpec{k.agg("count"), k.agg("sum", col(sb, 1))}}
		want := k.query(k.runtime(), agg)
		slices.Sort(want)
		root := parallel(t, agg)
		for _, limit := range []int64{1 << 30, 4 << 20} {
			rt := k.runtime()
			rt.Workers, rt.Mem = 4, NewMemTracker(limit)
			filler := rt.account()
			if limit == 4<<20 {
				_ = filler.set(3<<20 + 10<<10) // no table fits
			}
			rt.Analyze = NewCounters()
			got, err := k.tryQuery(rt, queryPlan(root))
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(got)
			sameRows(t, fmt.Sprint(i), got, want)
			switch loops := rt.Analyze.Of(scan).Loops; {
			case limit == 4<<20 && loops == 1:
				alone++
			case limit == 1<<30 && loops == 1:
				t.Errorf("%d: one worker", i)
			}
			filler.close()
			clean(t, rt)
		}
	}
	if alone == 0 {
		t.Error("all tables fit")
	}
}

// TestGatherUsesWorkers: the shares of a scan are read by several goroutines, whose counters and warnings come together.
func TestGatherUsesWorkers(t *testing.T) {
	manyWorkers(t, 4)
	k := newKit(t)
	rt, sb := k.runtime(), sbtest(1)
	k.fill(rt, sb, 9000)
	bad := k.call("+", col(sb, 1), k.call("if", k.call("=", k.call("%", col(sb, 0), lit(1000)), lit(0)), expr.Literal(types.Text("x")), expr.Literal(types.Text("1"))))
	agg := &HashAgg{Input: &Project{Input: &Scan{Table: sb, Cols: []int{0, 1}}, Exprs: []expr.Expr{k.call(">", bad, lit(5))}}, Aggs: []*expr.AggSpec{k.agg("count")}}
	root := parallel(t, agg)
	rt.Workers, rt.Analyze, rt.Mem = 4, NewCounters(), NewMemTracker(1<<30)
	if got := k.query(rt, root); got[0] != "9000" {
		t.Errorf("%v", got)
	}
	gather := root.Input.(*Gather)
	scan := agg.Input.(*Project).Input
	if c := rt.Analyze.Of(scan); c.Loops != 4 || c.Rows != 9000 {
		t.Errorf("the scan: %+v", c)
	}
	if c := rt.Analyze.Of(gather); c.Loops != 1 || c.Rows != 4 {
		t.Errorf("the gather: %+v", c)
	}
	if n := rt.Ctx.WarningCount(); n != 9 {
		t.Errorf("%d warnings", n)
	}
	// In a transaction the input runs by itself.
	rt.Analyze = NewCounters()
	rt.Txn = k.txns.Begin(rt.TxnOptions)
	defer rt.Txn.Rollback()
	if got := k.query(rt, root); got[0] != "9000" || rt.Analyze.Of(scan).Loops != 1 {
		t.Errorf("%v, %+v", got, rt.Analyze.Of(scan))
	}
}

// TestGatherRefuses: what workers could not do, or not to the same result.
func TestGatherRefuses(t *testing.T) {
	k := newKit(t)
	sb, double := sbtest(1), expr.Literal(types.Float(1.5))
	scan := &Scan{Table: sb, Cols: []int{0, 1}}
	sum := []*expr.AggSpec{k.agg("sum", col(sb, 1))}
	for name, n := range map[string]*HashAgg{
		"a sum of doubles": {Input: scan, Aggs: []*expr.AggSpec{k.agg("sum", k.call("*", col(sb, 1), double))}},
		"a list":           {Input: scan, Aggs: []*expr.AggSpec{k.agg("group_concat", col(sb, 1))}},
		"chance":           {Input: &Filter{Input: scan, Cond: k.call(">", k.call("rand"), double)}, Aggs: sum},
		"a limit":          {Input: &Scan{Table: sb, Cols: []int{0, 1}, Limit: lit(5)}, Aggs: sum},
		"an index":         {Input: &Scan{Table: sb, Index: sb.Index("k_1"), Cols: []int{0, 1}}, Aggs: sum},
		"a sort":           {Input: &Sort{Input: scan, Keys: []SortKey{{Expr: col(sb, 0)}}}, Aggs: sum},
	} {
		if _, ok := ParallelAgg(n, 0); ok {
			t.Errorf("%s was made parallel", name)
		}
	}
	few := &Scan{Base: Base{EstRows: 10}, Table: sb, Cols: []int{0, 1}}
	if _, ok := ParallelAgg(&HashAgg{Input: few, Aggs: sum}, 11); ok {
		t.Error("few rows were made parallel")
	}
}

// TestGatherEnds: an error, KILL or a panic in a worker, and a statement that needs no more rows, end all workers.
func TestGatherEnds(t *testing.T) {
	manyWorkers(t, 4)
	k := newKit(t)
	sb := sbtest(1)
	k.fill(k.runtime(), sb, 20_000)
	scan := &Scan{Table: sb, Cols: []int{0, 1}}
	fails := k.call("*", k.call("if", k.call("=", col(sb, 0), lit(15_000)), lit(1<<62), lit(1)), lit(4))
	for _, c := range []struct {
		name   string
		input  Node
		number uint16
	}{
		{"error", &Project{Input: scan, Exprs: []expr.Expr{fails}}, types.ErDataOutOfRange},
		{"kill", &Project{Input: scan, Exprs: []expr.Expr{col(sb, 0)}}, types.ErQueryInterrupted},
	} {
		rt := k.runtime()
		rt.Workers, rt.Mem, rt.Interrupt = 4, NewMemTracker(1<<30), new(kvapi.Interrupt)
		if c.number == types.ErQueryInterrupted {
			rt.Interrupt.Set(kvapi.ReasonKillQuery)
		}
		if _, err := k.tryQuery(rt, queryPlan(&Gather{Input: c.input})); number(err) != c.number {
			t.Errorf("%s: %v", c.name, err)
		}
		clean(t, rt)
	}
	rt := k.runtime()
	rt.Workers, rt.Mem = 4, NewMemTracker(1<<30)
	if got := k.query(rt, &Limit{Input: &Gather{Input: scan}, Count: lit(3)}); len(got) != 3 {
		t.Errorf("%d rows", len(got))
	}
	clean(t, rt)
	before := runtime.NumGoroutine()
	broken := expr.Column(99, bigintType, "none")
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic of a worker is lost")
			}
		}()
		_, _ = k.tryQuery(rt, queryPlan(&Gather{Input: &Project{Input: scan, Exprs: []expr.Expr{broken}}}))
	}()
	testkit.Await(t, "the workers end", func() bool { return runtime.NumGoroutine() <= before })
}
