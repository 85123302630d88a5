package exec

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/types"
)

// withCTEs seals a query over common table expressions.
func withCTEs(root Node, slots int, subs []*Subplan, ctes ...*CTE) *Plan {
	p := withSubplans(&Values{Out: Types(root)}, slots, subs...)
	q := *p
	q.Root, q.CTEs = root, ctes
	return q.Seal()
}

// cteRuntime is a runtime with MySQL's limit of recursion.
func cteRuntime(k *kit, memory int64) *Runtime {
	rt := k.runtime()
	rt.Mem, rt.CTEDepthMax = NewMemTracker(memory), 1000
	return rt
}

// numbers is WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < last).
func numbers(k *kit, last int64) *CTE {
	c := &CTE{Name: "n", Out: []types.Type{bigintType}, Root: &Project{Input: &Dual{}, Exprs: []expr.Expr{lit(1)}}}
	c.Recursive = &Project{Exprs: []expr.Expr{k.call("+", bigint(0), lit(1))},
		Input: &Filter{Input: &CTEDelta{CTE: c}, Cond: k.call("<", bigint(0), lit(last))}}
	return c
}

func TestCTERecursionEnds(t *testing.T) {
	k := newKit(t)
	count := func(c *CTE, depth uint64) string {
		rt := cteRuntime(k, 1<<30)
		rt.CTEDepthMax = depth
		rows, err := k.tryQuery(rt, withCTEs(&StreamAgg{Input: &CTEScan{CTE: c}, Aggs: []*expr.AggSpec{k.agg("count"), k.agg("min", bigint(0))}}, 0, nil, c))
		clean(t, rt)
		if err != nil {
			return fmt.Sprint(number(err), " ", err.(*types.Error).Message)
		}
		return rows[0]
	}
	limited := func(count, offset expr.Expr) *CTE {
		c := numbers(k, 1<<40)
		c.Count, c.Offset = count, offset
		return c
	}
	const aborted = "3636 Recursive query aborted after %d iterations. Try increasing @@cte_max_recursion_depth to a larger value."
	for _, c := range []struct {
		cte   *CTE
		depth uint64
		want  string
	}{
		// All as MySQL 9.7 answers.
		{numbers(k, 1000), 1000, "1000|1"},
		{numbers(k, 1001), 1000, fmt.Sprintf(aborted, 1001)},
		{numbers(k, 1), 0, fmt.Sprintf(aborted, 1)},
		{limited(lit(10), nil), 10, "10|1"},
		{limited(lit(11), nil), 10, "11|1"},
		{limited(lit(12), nil), 10, fmt.Sprintf(aborted, 11)},
		{limited(lit(4), lit(5)), 10, "4|6"},
		{limited(lit(0), nil), 10, "0|NULL"},
	} {
		if got := count(c.cte, c.depth); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// TestCTEClosure finds what can be reached in random graphs, with cycles, in memory and with rows on disk.
func TestCTEClosure(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 11)
	k := newKit(t)
	for range 10 {
		nodes := 2 + r.IntN(60)
		edges := randomSource(r, nodes*2, 2, nodes)
		reach := map[[2]int]bool{}
		for _, e := range edges.rows {
			if e[0] != nil && e[1] != nil {
				reach[[2]int{e[0].(int), e[1].(int)}] = true
			}
		}
		for grown := true; grown; {
			grown = false
			for pair := range reach {
				for _, e := range edges.rows {
					if e[0] == pair[1] && e[1] != nil && !reach[[2]int{pair[0], e[1].(int)}] {
						reach[[2]int{pair[0], e[1].(int)}], grown = true, true
					}
				}
			}
		}
		var want []string
		for pair := range reach {
			want = append(want, fmt.Sprintf("%d|%d", pair[0], pair[1]))
		}
		slices.Sort(want)
		two := []types.Type{bigintType, bigintType}
		known := &Filter{Input: edges.node(2), Cond: k.call("and", k.call("is not null", bigint(0)), k.call("is not null", bigint(1)))}
		c := &CTE{Name: "r", Out: two, Distinct: true, Root: known}
		c.Recursive = &Project{Exprs: []expr.Expr{bigint(0), bigint(3)}, Input: &HashJoin{Left: &CTEDelta{CTE: c}, Right: known,
			LeftKeys: []expr.Expr{bigint(1)}, RightKeys: []expr.Expr{bigint(0)}}}
		for _, limit := range []int64{1 << 30, 400 << 10} {
			rt := cteRuntime(k, limit)
			got, err := k.tryQuery(rt, withCTEs(&CTEScan{CTE: c}, 0, nil, c))
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(got)
			sameRows(t, "closure", got, want)
			clean(t, rt)
		}
	}
}

// TestCTEIsShared: several readers at a time read one run, each at its own pace, also of rows on disk.
func TestCTEIsShared(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 12)
	k := newKit(t)
	src := randomSource(r, 20_000, 2, 1<<30)
	c := &CTE{Name: "c", Out: []types.Type{bigintType, bigintType}, Root: src.node(2)}
	scan := func() Node { return &CTEScan{CTE: c} }
	// Two readers at once: one is joined with itself by position, row by row.
	join := &Apply{Left: &Limit{Input: scan(), Count: lit(5)}, Right: &StreamAgg{Aggs: []*expr.AggSpec{k.agg("count"), k.agg("sum", bigint(0))},
		Input: &UnionAll{Out: c.Out, Inputs: []Node{scan(), &Limit{Input: scan(), Count: lit(7000)}}}}}
	var want []string
	for _, limit := range []int64{1 << 30, 200 << 10} {
		src.reads = 0
		rt := cteRuntime(k, limit)
		got, err := k.tryQuery(rt, withCTEs(join, 0, nil, c))
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		sameRows(t, "shared", got, want)
		if src.reads != 1 {
			t.Errorf("the CTE ran %d times", src.reads)
		}
		if limit == 1<<30 && rt.Mem.Peak() < 200<<10 {
			t.Error("the rows fit into the small limit")
		}
		clean(t, rt)
	}
}

// TestCTEFollowsItsSlots: within a correlated subquery a CTE runs again for other outer values, and first in the subquery or first outside
// of it makes no difference.
func TestCTEFollowsItsSlots(t *testing.T) {
	k := newKit(t)
	rows := &source{rows: [][]any{{1}, {2}, {3}, {4}}}
	outer := &source{rows: [][]any{{2}, {3}, {2}, {nil}}}
	low := &CTE{Name: "low", Out: []types.Type{bigintType}, Slots: []int{0},
		Root: &Filter{Input: rows.node(1), Cond: k.call("<=", bigint(0), expr.AsParam(bigint(0), 0))}}
	all := &CTE{Name: "all", Out: []types.Type{bigintType}, Root: rows.node(1)}
	sub := &Subplan{Slots: []int{0}, Root: &StreamAgg{Aggs: []*expr.AggSpec{k.agg("count")}, Input: &HashJoin{Left: &CTEScan{CTE: low}, Right: &UnionAll{Out: low.Out,
		Inputs: []Node{&CTEScan{CTE: low}, &CTEScan{CTE: all}}}, LeftKeys: []expr.Expr{bigint(0)}, RightKeys: []expr.Expr{bigint(0)}}}}
	e := sub.Expr("(subquery)", bigintType, expr.CoerImplicit, []expr.Expr{bigint(0)}, nil, false)
	rt := cteRuntime(k, 1<<30)
	root := &Project{Input: outer.node(1), Exprs: []expr.Expr{bigint(0), e}}
	got, err := k.tryQuery(rt, withCTEs(root, 1, []*Subplan{sub}, low, all))
	if err != nil {
		t.Fatal(err)
	}
	sameRows(t, "slots", got, []string{"2|4", "3|6", "2|4", "NULL|0"})
	if rows.reads != 4 { // 2, 3 and NULL, and all once
		t.Errorf("read %d times", rows.reads)
	}
	clean(t, rt)
}

// TestMaterializeFollowsItsSlots: like a CTE.
func TestMaterializeFollowsItsSlots(t *testing.T) {
	k := newKit(t)
	rows := &source{rows: [][]any{{1}, {2}, {3}}}
	inner := &Materialize{Slots: []int{0}, Input: &Filter{Input: rows.node(1), Cond: k.call("<=", bigint(0), expr.AsParam(bigint(0), 0))}}
	root := &Apply{Left: (&source{rows: [][]any{{2}, {2}, {1}}}).node(1), Right: inner, Bind: []expr.Expr{bigint(0)}, Slot: 0}
	got, err := k.tryQuery(k.runtime(), withSubplans(root, 1))
	if err != nil {
		t.Fatal(err)
	}
	sameRows(t, "slots", got, []string{"2|1", "2|2", "2|1", "2|2", "1|1"})
	if rows.reads != 2 {
		t.Errorf("read %d times", rows.reads)
	}
}

func TestCTEIsInterrupted(t *testing.T) {
	k := newKit(t)
	rt := cteRuntime(k, 1<<30)
	rt.Interrupt, rt.CTEDepthMax = new(kvapi.Interrupt), 1<<32
	runs := 0
	c := &CTE{Name: "c", Out: []types.Type{bigintType}, Root: &Project{Input: &Dual{}, Exprs: []expr.Expr{lit(1)}}}
	c.Recursive = &UnionAll{Out: c.Out, Inputs: []Node{&CTEDelta{CTE: c}, &RowSource{Out: c.Out, Fill: func(*Runtime, func([]types.Value) error) error {
		if runs++; runs == 5 {
			rt.Interrupt.Set(kvapi.ReasonKillQuery)
		}
		return nil
	}}}}
	if _, err := k.tryQuery(rt, withCTEs(&CTEScan{CTE: c}, 0, nil, c)); number(err) != types.ErQueryInterrupted {
		t.Fatalf("want 1317, got %v", err)
	}
	if runs != 5 {
		t.Errorf("%d runs", runs)
	}
	clean(t, rt)
}

// TestRowListCursors: cursors read a growing list at their own pace, whenever it moves to disk.
func TestRowListCursors(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 13)
	k := newKit(t)
	for range testkit.Repeat(8) {
		rt := k.runtime()
		rt.Mem = NewMemTracker(int64(1400+r.IntN(800)) << 10)
		var list rowList
		list.init(rt, []types.Type{bigintType, charType(2000)})
		var rows []string
		marks := []listMark{{}}
		type reader struct {
			cursor rowCursor
			from   int
		}
		var readers []*reader
		value := make([]types.Value, 2)
		for len(rows) < 25_000 {
			for range r.IntN(200) {
				value[0], value[1] = types.Int(int64(len(rows))), types.Text(fmt.Sprintf("%0*d", 1+r.IntN(150), r.IntN(9)))
				if r.IntN(500) == 0 {
					value[1] = types.Text(fmt.Sprintf("%0200000d", 5)) // longer than a window
				}
				if err := list.addRow(value); err != nil {
					t.Fatal(err)
				}
				rows = append(rows, rowText(value))
			}
			marks = append(marks, list.end())
			if from := marks[r.IntN(len(marks))]; len(readers) < 6 {
				n := &reader{from: from.row}
				n.cursor.start(&list, from, list.end())
				readers = append(readers, n)
			}
			for _, n := range readers {
				for range r.IntN(300) {
					ok, err := n.cursor.nextRow(value)
					if err != nil {
						t.Fatal(err)
					}
					if !ok {
						break
					}
					if rowText(value) != rows[n.from] {
						t.Fatalf("row %d: %.50s", n.from, rowText(value))
					}
					n.from++
				}
			}
		}
		if list.file == nil {
			t.Error("the list is not on disk")
		}
		for _, n := range readers {
			n.cursor.close()
		}
		list.close()
		clean(t, rt)
	}
}
