package exec

import (
	"slices"
	"strings"
	"testing"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/types"
)

// modelSetOp answers with sorted lists; rows are equal without regard to case.
func modelSetOp(n *SetOp, left, right [][]types.Value) []string {
	count := map[string]int{}
	for _, row := range right {
		count[strings.ToLower(rowText(row))]++
	}
	var out []string
	seen := map[string]bool{}
	for _, row := range left {
		key := strings.ToLower(rowText(row))
		in := count[key] > 0
		if n.All {
			count[key]--
		} else if seen[key] {
			continue
		}
		seen[key] = true
		if in == (n.Kind == SetIntersect) {
			out = append(out, rowText(row))
		}
	}
	return out
}

// TestSetOpsAgreeWithModel: in memory in the order of the left input, and spilled; opened twice.
func TestSetOpsAgreeWithModel(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 14)
	k := newKit(t)
	ts := []types.Type{bigintType, charType(60)}
	draw := func(n, values int) [][]types.Value {
		rows := make([][]types.Value, n)
		for i := range rows {
			text := strings.Repeat("ab", 1+r.IntN(2)*r.IntN(20))
			if r.IntN(2) == 0 {
				text = strings.ToUpper(text)
			}
			rows[i] = []types.Value{types.Int(int64(r.IntN(values))), types.Text(text)}
			if r.IntN(9) == 0 {
				rows[i][r.IntN(2)] = types.Null()
			}
		}
		return rows
	}
	tight := 0
	for i := range testkit.Repeat(48) {
		values, nl, nr := 1+r.IntN(20), r.IntN(200), r.IntN(200)
		if i%4 == 0 {
			values, nl, nr = 8000, 9000, 1+r.IntN(9000)
		}
		left, right := draw(nl, values), draw(nr, values)
		n := &SetOp{Kind: SetOpKind(i / 4 % 2), All: i/8%2 == 0, Left: valueSource(ts, left), Right: valueSource(ts, right), Out: ts}
		want := modelSetOp(n, left, right)
		for _, limit := range []int64{1 << 30, 200 << 10} {
			rt := k.runtime()
			rt.Mem = NewMemTracker(limit)
			twice := &Apply{Left: (&source{rows: [][]any{{1}, {2}}}).node(1), Right: n}
			got, err := k.tryQuery(rt, queryPlan(twice))
			if err != nil {
				t.Fatal(err)
			}
			for half := range 2 {
				part := slices.Clone(got[half*len(want) : (half+1)*len(want)])
				for j := range part {
					part[j] = part[j][2:]
				}
				expect := slices.Clone(want)
				if limit != 1<<30 {
					slices.Sort(part)
					slices.Sort(expect)
				}
				sameRows(t, n.Describe().Info, part, expect)
			}
			if limit == 1<<30 && rt.Mem.Peak() > 300<<10 {
				tight++
			}
			clean(t, rt)
		}
	}
	if tight < 5 {
		t.Errorf("only %d set operations did not fit", tight)
	}
}

func TestSetOpIsInterrupted(t *testing.T) {
	k := newKit(t)
	rt := k.runtime()
	rt.Interrupt, rt.Mem = new(kvapi.Interrupt), NewMemTracker(200<<10)
	src := randomSource(testkit.Rand(1, 1), 20_000, 2, 1<<40)
	stop := &RowSource{Out: []types.Type{bigintType, bigintType}, Fill: func(*Runtime, func([]types.Value) error) error {
		rt.Interrupt.Set(kvapi.ReasonKillQuery)
		return nil
	}}
	out := []types.Type{bigintType, bigintType}
	// The interrupt comes when all rows have been written to partitions.
	n := &SetOp{Kind: SetIntersect, Left: &UnionAll{Out: out, Inputs: []Node{src.node(2), stop}}, Right: src.node(2), Out: out}
	if _, err := k.tryQuery(rt, queryPlan(n)); number(err) != types.ErQueryInterrupted {
		t.Fatalf("want 1317, got %v", err)
	}
	clean(t, rt)
}

// TestExpandRollsUp: GROUP BY a, b WITH ROLLUP, with keys that are NULL themselves.
func TestExpandRollsUp(t *testing.T) {
	k := newKit(t)
	src := &source{rows: [][]any{{10, 1, 1}, {20, 1, 2}, {30, nil, 1}, {40, 1, 1}}}
	group := func(in Node) Node {
		agg := &HashAgg{Input: in, Keys: []expr.Expr{bigint(1), bigint(2), bigint(3)}, Aggs: []*expr.AggSpec{k.agg("sum", bigint(0))}}
		return &Sort{Input: agg, Keys: []SortKey{{Expr: bigint(2)}, {Expr: bigint(0)}, {Expr: bigint(1)}}}
	}
	got := k.query(k.runtime(), group(&Expand{Input: src.node(3), Keys: 2}))
	sameRows(t, "rollup", got, []string{"NULL|1|0|30", "1|1|0|50", "1|2|0|20", "NULL|NULL|1|30", "1|NULL|1|70", "NULL|NULL|3|100"})
	filtered := &Filter{Input: src.node(3), Cond: k.call(">", bigint(0), lit(25))}
	got = k.query(k.runtime(), &Apply{Left: (&source{rows: [][]any{{7}, {8}}}).node(1), Right: &Expand{Input: filtered, Keys: 1}})
	sameRows(t, "rows of a selection, twice", got, []string{"7|30|NULL|1|0", "7|40|1|1|0", "7|30|NULL|NULL|1", "7|40|1|NULL|1",
		"8|30|NULL|1|0", "8|40|1|1|0", "8|30|NULL|NULL|1", "8|40|1|NULL|1"})
}
