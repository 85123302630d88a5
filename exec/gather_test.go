package exec

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/types"
)

// parallel is ParallelAgg where it has to be possible.
func parallel(t *testing.T, n *HashAgg) *HashAgg {
	t.Helper()
	p, ok := ParallelAgg(n, 4)
	if !ok {
		t.Fatal("not parallel")
	}
	return p.(*HashAgg)
}

// TestParallelAggAgrees compares aggregation by workers with that of one: over ranges, keys of either sign, hidden row ids and empty
// tables, with and without groups, with little memory, and opened twice.
func TestParallelAggAgrees(t *testing.T) {
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
			rt.Pool, rt.Mem = NewEagerWorkerPool(3, 500), NewMemTracker(limit)
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
			rt.Pool, rt.Mem = NewEagerWorkerPool(3, 500), NewMemTracker(limit)
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
	k := newKit(t)
	rt, sb := k.runtime(), sbtest(1)
	k.fill(rt, sb, 9000)
	bad := k.call("+", col(sb, 1), k.call("if", k.call("=", k.call("%", col(sb, 0), lit(1000)), lit(0)), expr.Literal(types.Text("x")), expr.Literal(types.Text("1"))))
	agg := &HashAgg{Input: &Project{Input: &Scan{Table: sb, Cols: []int{0, 1}}, Exprs: []expr.Expr{k.call(">", bad, lit(5))}}, Aggs: []*expr.AggSpec{k.agg("count")}}
	root := parallel(t, agg)
	rt.Pool, rt.Analyze, rt.Mem = NewEagerWorkerPool(3, 500), NewCounters(), NewMemTracker(1<<30)
	if got := k.query(rt, root); got[0] != "9000" {
		t.Errorf("%v", got)
	}
	gather := root.Input.(*Gather)
	scan := agg.Input.(*Project).Input
	if c := rt.Analyze.Of(scan); c.Loops < 2 || c.Loops > 5 || c.Rows != 9000 { // how many of the four found a share is chance
		t.Errorf("the scan: %+v", c)
	}
	if c := rt.Analyze.Of(gather); c.Loops != 1 || c.Rows < 9000/500 {
		t.Errorf("the gather: %+v", c)
	}
	if n := rt.Ctx.WarningCount(); n != 9 {
		t.Errorf("%d warnings", n)
	}
	// A transaction that has only read lets others read for it; one that has written has to read its own writes.
	rt.Txn = k.txns.Begin(rt.TxnOptions)
	defer rt.Txn.Rollback()
	for _, written := range []bool{false, true} {
		if written {
			k.exec(rt, &Insert{Table: sb, Cols: []int{0, 1, 2, 3}, ParamRows: 1}, types.Int(10_000), types.Int(1), types.Text("c"), types.Text("p"))
		}
		rt.Analyze = NewCounters()
		want := map[bool]string{false: "9000", true: "9001"}[written]
		if got := k.query(rt, root); got[0] != want || (rt.Analyze.Of(scan).Loops == 1) != written {
			t.Errorf("written %v: %v, %+v", written, got, rt.Analyze.Of(scan))
		}
	}
	if free := rt.Pool.Free(); free != 3 {
		t.Errorf("%d workers were given back", free)
	}
}

// TestGatherKeepsOrder: what workers yield comes as the input by itself gives it, in its order and no further than to its first error, however the keys
// lie and however small the shares are; so do the warnings.
func TestGatherKeepsOrder(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 19)
	k := newKit(t)
	signed, hidden := pairTable(2, "signed", true), pairTable(3, "hidden", false)
	at := int64(-5000)
	var pairs [][2]int64
	for i := range int64(3000) {
		if at += 1 + r.Int64N(3); i%700 == 0 {
			at += r.Int64N(300_000_000) // most of the keys between are none
		}
		pairs = append(pairs, [2]int64{at, i})
	}
	k.fillPairs(k.runtime(), signed, pairs...)
	k.fillPairs(k.runtime(), hidden, pairs...)
	for i := range 25 {
		table := []*catalog.Table{signed, hidden}[r.IntN(2)]
		scan := &Scan{Table: table, Cols: []int{0, 1}}
		var in Node = scan
		switch r.IntN(4) {
		case 0:
			scan.Index = table.Index("b")
			scan.Cols = []int{1, RowKey}
			in = &IndexLookup{Scan: scan, KeyCol: 1, Cols: []int{0, 1}}
		case 1:
			scan.Ranges = []Range{{High: Bound{Expr: lit(0), Incl: true}}, between(lit(10), lit(900)), eq(lit(pairs[1500][0])), {Low: Bound{Expr: lit(100_000_000), Incl: true}}}
			if scan.Index = table.PK; table.PK == nil {
				scan.Index, scan.Cols = table.Index("b"), []int{1, RowKey}
				in = &IndexLookup{Scan: scan, KeyCol: 1, Cols: []int{0, 1}}
			}
		}
		b := expr.Column(1, table.Columns[1].Type, "b")
		in = &Filter{Input: in, Cond: k.call("<>", k.call("%", b, lit(3)), lit(0))}
		text := k.call("+", k.call("if", k.call("=", k.call("%", b, lit(500)), lit(1)), k.call("concat", expr.Literal(types.Text("x")), b), expr.Literal(types.Text("1"))), lit(0))
		exprs := []expr.Expr{col(table, 0), b, text}
		if r.IntN(3) == 0 {
			exprs = append(exprs, k.call("*", k.call("if", k.call(">", b, lit(1+r.Int64N(3000))), lit(1<<62), lit(1)), lit(4)))
		}
		in = &Project{Input: in, Exprs: exprs}
		answer := func(pool *WorkerPool, n Node) ([]string, uint16, []types.Warning) {
			rt := k.runtime()
			rt.Pool, rt.Mem = pool, NewMemTracker(1<<30)
			rows, err := k.tryQuery(rt, queryPlan(n))
			clean(t, rt)
			if pool.Free() != pool.Size() {
				t.Errorf("%d of %d workers were given back", pool.Free(), pool.Size())
			}
			return rows, number(err), rt.Ctx.Warnings()
		}
		want, wantErr, wantWarnings := answer(nil, in)
		got, err, warnings := answer(NewEagerWorkerPool(3, []int{20, 100, 1000}[r.IntN(3)]), &Gather{Input: in, Workers: 4})
		if err != wantErr || wantErr == 0 && !slices.Equal(got, want) {
			t.Fatalf("%d: %d rows, error %d; want %d rows, error %d", i, len(got), err, len(want), wantErr)
		}
		if wantErr == 0 && !slices.Equal(warnings, wantWarnings) {
			t.Fatalf("%d: %v, want %v", i, warnings, wantWarnings)
		}
	}
}

// TestGatherKilled: KILL ends workers amid their work, and all are given back.
func TestGatherKilled(t *testing.T) {
	k := newKit(t)
	sb := sbtest(1)
	k.fill(k.runtime(), sb, 3000)
	same := &source{}
	for range 20_000 {
		same.rows = append(same.rows, []any{1})
	}
	one := k.call("+", k.call("*", col(sb, 0), lit(0)), lit(1))
	join := &HashJoin{Left: &Scan{Table: sb, Cols: []int{0, 1}}, Right: same.node(1), LeftKeys: []expr.Expr{one}, RightKeys: []expr.Expr{bigint(0)}}
	root := parallel(t, &HashAgg{Input: join, Keys: []expr.Expr{col(sb, 1)}, Aggs: []*expr.AggSpec{k.agg("count")}})
	before := runtime.NumGoroutine()
	rt := k.runtime()
	rt.Pool, rt.Mem, rt.Interrupt = NewEagerWorkerPool(3, 1), NewMemTracker(1<<30), new(kvapi.Interrupt)
	done := make(chan error, 1)
	go func() {
		_, err := k.tryQuery(rt, queryPlan(root))
		done <- err
	}()
	testkit.Await(t, "workers are at it", func() bool { return rt.Pool.Free() == 0 })
	rt.Interrupt.Set(kvapi.ReasonKillQuery)
	if err := <-done; number(err) != types.ErQueryInterrupted {
		t.Errorf("%v", err)
	}
	clean(t, rt)
	if rt.Pool.Free() != 3 {
		t.Errorf("%d workers were given back", rt.Pool.Free())
	}
	testkit.Await(t, "the workers end", func() bool { return runtime.NumGoroutine() <= before })
}

// TestCut: the parts of a span follow each other, and are as many as its keys allow.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		from, resume, end string
		rows, each, least int
		parts             int
	}{
		{"a", "b", "c", 0, 1, 4, 4},
		{"aaaa\x00", "aaaa\x01", "aaaa\x41", 10, 10, 4, 64},
		{"a", "b", "b\x00", 10, 10, 4, 1},       // nothing fits between
		{"a", "b", "bcccccccccc", 10, 10, 4, 4}, // the one is the other's beginning
		{"a\x00", "a\x01", "z", 1000, 1, 4, cutsMax},
	} {
		parts := cut([]byte(c.from), []byte(c.resume), []byte(c.end), c.rows, c.each, c.least)
		if len(parts) != c.parts {
			t.Errorf("%q to %q: %d parts, want %d", c.resume, c.end, len(parts), c.parts)
		}
		at := c.resume
		for _, p := range parts {
			if string(p.Start) != at || string(p.End) <= at {
				t.Errorf("%q to %q: %q to %q behind %q", c.resume, c.end, p.Start, p.End, at)
			}
			at = string(p.End)
		}
		if at != c.end {
			t.Errorf("%q to %q: the last ends at %q", c.resume, c.end, at)
		}
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
		"an index merge": {Input: &IndexLookup{Merge: NewIndexMerge([]*Scan{{Table: sb, Cols: []int{RowKey}}, {Table: sb, Index: sb.Index("k_1"), Cols: []int{RowKey}}}, false, true, 10),
			Cols: []int{0, 1}}, Aggs: sum},
		"a limit":   {Input: &Scan{Table: sb, Cols: []int{0, 1}, Limit: lit(5)}, Aggs: sum},
		"backwards": {Input: &Scan{Table: sb, Cols: []int{0, 1}, Reverse: true}, Aggs: sum},
		"a sort":    {Input: &Sort{Input: scan, Keys: []SortKey{{Expr: col(sb, 0)}}}, Aggs: sum},
	} {
		if _, ok := ParallelAgg(n, 4); ok {
			t.Errorf("%s was made parallel", name)
		}
	}
}

// TestGatherEnds: an error, KILL or a panic in a worker, and a statement that needs no more rows, end all workers.
func TestGatherEnds(t *testing.T) {
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
		rt.Pool, rt.Mem, rt.Interrupt = NewEagerWorkerPool(3, 500), NewMemTracker(1<<30), new(kvapi.Interrupt)
		if c.number == types.ErQueryInterrupted {
			rt.Interrupt.Set(kvapi.ReasonKillQuery)
		}
		if _, err := k.tryQuery(rt, queryPlan(&Gather{Input: c.input, Workers: 4})); number(err) != c.number {
			t.Errorf("%s: %v", c.name, err)
		}
		clean(t, rt)
	}
	rt := k.runtime()
	rt.Pool, rt.Mem = NewEagerWorkerPool(3, 500), NewMemTracker(1<<30)
	if got := k.query(rt, &Limit{Input: &Gather{Input: scan, Workers: 4}, Count: lit(3)}); len(got) != 3 {
		t.Errorf("%d rows", len(got))
	}
	clean(t, rt)
	before := runtime.NumGoroutine()
	// The rows that the statement reads by itself do not get as far as the column that there is none of.
	broken := &Project{Input: &Filter{Input: scan, Cond: k.call(">", col(sb, 0), lit(15_000))}, Exprs: []expr.Expr{expr.Column(99, bigintType, "none")}}
	func() {
		defer func() {
			if p := fmt.Sprint(recover()); !strings.Contains(p, "index out of range") || !strings.Contains(p, "gatherOp).yield") {
				t.Errorf("the panic of a worker, or where it was, is lost: %s", p)
			}
		}()
		_, _ = k.tryQuery(rt, queryPlan(&Gather{Workers: 4, Input: broken}))
	}()
	testkit.Await(t, "the workers end", func() bool { return runtime.NumGoroutine() <= before })
}

// TestSharedProgram: what a program says of rows before it leaves them to workers is not said twice.
func TestSharedProgram(t *testing.T) {
	k := newKit(t)
	sb := sbtest(1)
	k.fill(k.runtime(), sb, 3000)
	text := k.call("if", k.call("=", k.call("%", col(sb, 0), lit(100)), lit(0)), expr.Literal(types.Text("x")), expr.Literal(types.Text("1")))
	for rows, name := range map[int64]string{300: "the program's", 3000: "the workers'"} {
		scan := &Scan{Table: sb, Index: sb.PK, Cols: []int{0, 1}, Ranges: []Range{between(lit(1), lit(rows))}}
		plan := queryPlan(parallel(t, &HashAgg{Input: scan, Aggs: []*expr.AggSpec{k.agg("count", k.call("+", text, lit(0)))}}))
		if plan.Program == nil {
			t.Fatal("no program")
		}
		rt := k.runtime()
		rt.Pool, rt.Mem = NewEagerWorkerPool(3, 500), NewMemTracker(1<<30)
		got, err := k.tryQuery(rt, plan)
		if err != nil || got[0] != fmt.Sprint(rows) || rt.Ctx.WarningCount() != int(rows/100) || len(rt.Ctx.Warnings()) != int(rows/100) {
			t.Errorf("%s: %v of %d rows, %v, %d warnings", name, got, rows, err, rt.Ctx.WarningCount())
		}
		clean(t, rt)
	}
}
