package exec

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/types"
)

// randomRows is a source of rows (a small number or NULL, a text, their position).
func randomRows(r *rand.Rand, n, groups int) *RowSource {
	rows := make([][]types.Value, n)
	for i := range rows {
		a := types.Int(int64(r.IntN(groups)))
		if r.IntN(50) == 0 {
			a = types.Null()
		}
		rows[i] = []types.Value{a, types.Text(fmt.Sprintf("text %07d", r.IntN(groups))), types.Int(int64(i))}
	}
	return &RowSource{Out: []types.Type{bigintType, charType(40), bigintType}, Fill: func(_ *Runtime, emit func([]types.Value) error) error {
		for _, row := range rows {
			if err := emit(row); err != nil {
				return err
			}
		}
		return nil
	}}
}

// TestSpillsAgreeWithMemory runs every spilling operator with and without enough
// memory. The limit makes each of them spill several times over.
func TestSpillsAgreeWithMemory(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 3)
	k := newKit(t)
	src := randomRows(r, 60_000, 20_000)
	a, b, pos := expr.Column(0, bigintType, "a"), expr.Column(1, charType(40), "b"), expr.Column(2, bigintType, "pos")
	ordered := func(n Node, cols int) Node {
		var keys []SortKey
		for i, t := range Types(n)[:cols] {
			keys = append(keys, SortKey{Expr: expr.Column(i, t, "")})
		}
		return &Sort{Input: n, Keys: keys}
	}
	for name, root := range map[string]Node{
		"sort":        &Sort{Input: src, Keys: []SortKey{{Expr: a, Desc: true}, {Expr: b}}},
		"stable sort": &Sort{Input: src, Keys: []SortKey{{Expr: k.call("%", a, lit(7))}}},
		"group": ordered(&HashAgg{Input: src, Keys: []expr.Expr{a, k.call("+", a, lit(9))},
			Aggs: []*expr.AggSpec{k.agg("count"), k.agg("sum", pos), k.agg("max", b)}}, 2),
		"distinct":     ordered(&Distinct{Input: &Project{Input: src, Exprs: []expr.Expr{a, b}}}, 2),
		"materialized": &StreamAgg{Input: &Materialize{Input: src}, Aggs: []*expr.AggSpec{k.agg("count"), k.agg("sum", pos)}},
		"large top":    &TopN{Input: src, Keys: []SortKey{{Expr: b}, {Expr: pos}}, Count: lit(1000), Offset: lit(topNHeapMax / 2)},
	} {
		p := queryPlan(root)
		roomy, tight := k.runtime(), k.runtime()
		roomy.Mem, tight.Mem = NewMemTracker(1<<30), NewMemTracker(1<<20)
		want, err := k.tryQuery(roomy, p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := k.tryQuery(tight, p)
		if err != nil {
			t.Fatalf("%s with little memory: %v", name, err)
		}
		sameRows(t, name, got, want)
		if roomy.Mem.Peak() <= 1<<20 {
			t.Errorf("%s: peak %d: the test does not spill", name, roomy.Mem.Peak())
		}
		for _, rt := range []*Runtime{roomy, tight} {
			if rt.Mem.Used() != 0 {
				t.Errorf("%s: %d bytes still accounted", name, rt.Mem.Used())
			}
			if files, _ := os.ReadDir(rt.TempDir); len(files) > 0 {
				t.Errorf("%s: %d spill files left", name, len(files))
			}
		}
	}
}

// TestGrowingGroupsAreShed: groups whose states grow after the table was frozen go to disk with their states, and what is too large for the
// memory by itself is an error: neither takes more than the limit.
func TestGrowingGroupsAreShed(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 5)
	k := newKit(t)
	const limit = 2 << 20
	src := randomRows(r, 60_000, 20_000)
	a, b, pos := expr.Column(0, bigintType, "a"), expr.Column(1, charType(40), "b"), expr.Column(2, bigintType, "pos")
	concat, err := expr.NewAgg(k.build, "group_concat", false, []expr.Expr{b}, expr.AggOptions{Order: []expr.AggOrder{{Expr: pos, Desc: true}}})
	if err != nil {
		t.Fatal(err)
	}
	unordered, err := expr.NewAgg(k.build, "group_concat", false, []expr.Expr{pos}, expr.AggOptions{})
	if err != nil {
		t.Fatal(err)
	}
	distinct, err := expr.NewAgg(k.build, "count", true, []expr.Expr{b}, expr.AggOptions{})
	if err != nil {
		t.Fatal(err)
	}
	root := &HashAgg{Input: src, Keys: []expr.Expr{k.call("%", a, lit(400))}, Aggs: []*expr.AggSpec{distinct, concat, unordered, k.agg("sum", pos), k.agg("max", b)}}
	roomy, tight := k.runtime(), k.runtime()
	roomy.Mem, tight.Mem = NewMemTracker(1<<30), NewMemTracker(limit)
	roomy.Ctx.GroupConcatMaxLen, tight.Ctx.GroupConcatMaxLen = 1<<20, 1<<20
	want, err := k.tryQuery(roomy, queryPlan(root))
	if err != nil {
		t.Fatal(err)
	}
	tight.Analyze = NewCounters()
	got, err := k.tryQuery(tight, queryPlan(root))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	slices.Sort(got)
	sameRows(t, "groups", got, want)
	// A batch is booked when it has been added.
	if peak := tight.Mem.Peak(); peak > limit+limit/2 {
		t.Errorf("peak %d with a limit of %d", peak, limit)
	}
	clean(t, tight)

	few := &HashAgg{Input: src, Keys: []expr.Expr{k.call("%", a, lit(2))}, Aggs: []*expr.AggSpec{distinct}}
	rt := k.runtime()
	rt.Mem = NewMemTracker(limit / 2)
	if _, err := k.tryQuery(rt, queryPlan(few)); number(err) != 8175 {
		t.Errorf("groups that do not fit: %v", err)
	}
	if peak := rt.Mem.Peak(); peak > limit {
		t.Errorf("peak %d with a limit of %d", peak, limit/2)
	}
	clean(t, rt)
}

func TestMemoryLimitWithoutSpilling(t *testing.T) {
	k := newKit(t)
	rt := k.runtime()
	rt.Mem, rt.TempDir = NewMemTracker(1<<20), ""
	src := randomRows(testkit.Rand(1, 1), 30_000, 30_000)
	sort := &Sort{Input: src, Keys: []SortKey{{Expr: expr.Column(1, charType(40), "b")}}}
	if _, err := k.tryQuery(rt, queryPlan(sort)); number(err) != 8175 {
		t.Fatalf("want 8175, got %v", err)
	}
	rt = k.runtime()
	rt.Mem, rt.TempDir = NewMemTracker(1<<20), ""
	join := &HashJoin{Left: &Dual{}, Right: src, LeftKeys: []expr.Expr{lit(1)}, RightKeys: []expr.Expr{expr.Column(0, bigintType, "a")}}
	if _, err := k.tryQuery(rt, queryPlan(join)); number(err) != 8175 {
		t.Fatalf("join: want 8175, got %v", err)
	}
	if rt.Mem.Used() != 0 {
		t.Fatalf("%d bytes still accounted", rt.Mem.Used())
	}
}

// TestTopNAgreesWithSort compares the heap with a full sort, ties included.
func TestTopNAgreesWithSort(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 4)
	k := newKit(t)
	rt := k.runtime()
	for range 30 {
		src := randomRows(r, r.IntN(6000), 1+r.IntN(500))
		keys := []SortKey{{Expr: expr.Column(0, bigintType, "a"), Desc: r.IntN(2) == 0}}
		count, offset := lit(r.Int64N(1500)), lit(r.Int64N(100))
		top := k.query(rt, &TopN{Input: src, Keys: keys, Count: count, Offset: offset})
		sameRows(t, "top", top, k.query(rt, &Limit{Input: &Sort{Input: src, Keys: keys}, Count: count, Offset: offset}))
	}
}
