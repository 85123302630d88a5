package exec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/types"
)

// joinCase is a random join of two sources with a key, a number and a text each.
type joinCase struct {
	kind        JoinKind
	left, right [][]types.Value
	on          bool // left number <= right number
	nullAware   bool
	buildLeft   bool
}

var joinTypes3 = []types.Type{bigintType, bigintType, charType(200)}

func valueSource(ts []types.Type, rows [][]types.Value) *RowSource {
	return &RowSource{Out: ts, Fill: func(_ *Runtime, emit func([]types.Value) error) error {
		for _, row := range rows {
			if err := emit(row); err != nil {
				return err
			}
		}
		return nil
	}}
}

func (c *joinCase) node(k *kit) *HashJoin {
	n := &HashJoin{Kind: c.kind, Left: valueSource(joinTypes3, c.left), Right: valueSource(joinTypes3, c.right), NullAware: c.nullAware, BuildLeft: c.buildLeft,
		LeftKeys: []expr.Expr{bigint(0)}, RightKeys: []expr.Expr{k.call("+", bigint(0), lit(0))}}
	if c.on {
		n.On = k.call("<=", bigint(1), bigint(4))
	}
	return n
}

// model joins by nested loops.
func (c *joinCase) model() []string {
	var out []string
	text := func(row []types.Value) string { return rowText(row) }
	rightNull := slices.ContainsFunc(c.right, func(r []types.Value) bool { return r[0].IsNull() })
	for _, l := range c.left {
		matched := false
		for _, r := range c.right {
			if l[0].IsNull() || r[0].IsNull() || l[0].N != r[0].N || c.on && l[1].N > r[1].N {
				continue
			}
			matched = true
			if c.kind == JoinInner || c.kind == JoinLeft {
				out = append(out, text(l)+"|"+text(r))
			}
		}
		unknown := c.nullAware && (rightNull || l[0].IsNull() && len(c.right) > 0)
		switch {
		case c.kind == JoinLeft && !matched:
			out = append(out, text(l)+"|NULL|NULL|NULL")
		case c.kind == JoinSemi && matched, c.kind == JoinAnti && !matched && !unknown:
			out = append(out, text(l))
		}
	}
	return out
}

func rowText(row []types.Value) string {
	out := ""
	for i := range row {
		if i > 0 {
			out += "|"
		}
		out += string(types.AppendText(nil, nil, &row[i]))
		if row[i].IsNull() {
			out += "NULL"
		}
	}
	return out
}

// randomJoinRows draws rows; skew is how many of a hundred share one key.
func randomJoinRows(r *rand.Rand, n, keys, skew, nulls int) [][]types.Value {
	rows := make([][]types.Value, n)
	for i := range rows {
		key := types.Int(int64(r.IntN(keys)))
		if r.IntN(100) < skew {
			key = types.Int(7)
		}
		if r.IntN(100) < nulls {
			key = types.Null()
		}
		text := types.Text(fmt.Sprintf("%0*d", 1+r.IntN(60), i))
		if r.IntN(30) == 0 {
			text = types.Null()
		}
		rows[i] = []types.Value{key, types.Int(int64(r.IntN(1000))), text}
	}
	return rows
}

// TestHashJoinAgreesWithLoops: every kind, in memory in the order of the left input, and spilled, also where one key alone is too much.
func TestHashJoinAgreesWithLoops(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 7)
	k := newKit(t)
	spills := 0
	for i := range testkit.Repeat(72) {
		c := joinCase{kind: JoinKind(i % 4), on: r.IntN(2) == 0}
		nulls, left, right := r.IntN(3)*3, r.IntN(300), r.IntN(300)
		keys, skew, big := 1+r.IntN(100), 0, i%3 == 0
		if big {
			left, right, keys, skew = 2000+r.IntN(1000), 3000+r.IntN(2000), 3000, r.IntN(3)*2
		}
		c.left, c.right = randomJoinRows(r, left, keys, skew, nulls), randomJoinRows(r, right, keys, skew, nulls)
		c.buildLeft = c.kind == JoinInner && r.IntN(2) == 0
		if c.kind == JoinAnti && r.IntN(2) == 0 {
			c.nullAware, c.on = true, false
			if r.IntN(2) == 0 {
				c.right = randomJoinRows(r, right, keys, skew, 0)
			}
		}
		want, p := c.model(), queryPlan(c.node(k))
		name := fmt.Sprintf("%d: %+v", i, c.node(k).Describe())
		for _, limit := range []int64{1 << 30, 150 << 10} {
			rt := k.runtime()
			rt.Mem = NewMemTracker(limit)
			got, err := k.tryQuery(rt, p)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			expect := slices.Clone(want)
			if limit != 1<<30 || c.buildLeft {
				slices.Sort(got)
				slices.Sort(expect)
			}
			sameRows(t, fmt.Sprint(name, " limit ", limit), got, expect)
			if limit == 1<<30 && rt.Mem.Peak() > 150<<10 {
				spills++
			}
			clean(t, rt)
		}
	}
	if spills < 20 {
		t.Errorf("only %d joins did not fit", spills)
	}
}

// TestHashJoinOfOneKey: partitioning cannot help; the build side comes into memory part by part.
func TestHashJoinOfOneKey(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 8)
	k := newKit(t)
	for kind := JoinInner; kind <= JoinAnti; kind++ {
		for _, on := range []bool{false, true} {
			c := joinCase{kind: kind, on: on, left: randomJoinRows(r, 30, 2, 90, 3), right: randomJoinRows(r, 9000, 1, 99, 1)}
			for i := range c.right {
				c.right[i][1] = types.Int(int64(i % 400)) // many left rows have no match with it
			}
			want := c.model()
			rt := k.runtime()
			rt.Mem = NewMemTracker(300 << 10)
			got, err := k.tryQuery(rt, queryPlan(c.node(k)))
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(got)
			slices.Sort(want)
			sameRows(t, kind.String(), got, want)
			clean(t, rt)
		}
	}
}

// TestHashJoinOpensAgain: under an Apply the build side is made anew, in memory and on disk.
func TestHashJoinOpensAgain(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 9)
	k := newKit(t)
	c := joinCase{kind: JoinLeft, left: randomJoinRows(r, 400, 900, 0, 5), right: randomJoinRows(r, 3000, 900, 0, 5)}
	want := c.model()
	slices.Sort(want)
	for _, limit := range []int64{1 << 30, 150 << 10} {
		rt := k.runtime()
		rt.Mem = NewMemTracker(limit)
		loop := &Apply{Left: (&source{rows: [][]any{{1}, {2}, {3}}}).node(1), Right: c.node(k)}
		got, err := k.tryQuery(rt, queryPlan(loop))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			part := slices.Clone(got[i*len(want) : (i+1)*len(want)])
			for j, row := range part {
				if row[:2] != fmt.Sprintf("%d|", i+1) {
					t.Fatalf("row %s in part %d", row, i)
				}
				part[j] = row[2:]
			}
			slices.Sort(part)
			sameRows(t, "opened again", part, want)
		}
		clean(t, rt)
	}
}

// TestHashJoinIsInterrupted: KILL ends a cross product of which no row passes.
func TestHashJoinIsInterrupted(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 10)
	k := newKit(t)
	for _, kind := range []JoinKind{JoinInner, JoinLeft} {
		rt := k.runtime()
		rt.Interrupt, rt.Mem = new(kvapi.Interrupt), NewMemTracker(1<<30)
		c := joinCase{kind: kind, left: randomJoinRows(r, 3000, 1, 0, 0), right: randomJoinRows(r, 3000, 1, 0, 0)}
		n := c.node(k)
		calls := 0
		n.On = k.call("and", k.call("<", bigint(1), lit(-1)), lit(1))
		n.Left = &UnionAll{Out: joinTypes3, Inputs: []Node{n.Left, &RowSource{Out: joinTypes3, Fill: func(*Runtime, func([]types.Value) error) error {
			calls++ // after all batches of the first input have been joined
			return nil
		}}}}
		n.Right = &UnionAll{Out: joinTypes3, Inputs: []Node{n.Right, &RowSource{Out: joinTypes3, Fill: func(*Runtime, func([]types.Value) error) error {
			rt.Interrupt.Set(kvapi.ReasonKillQuery)
			return nil
		}}}}
		if _, err := k.tryQuery(rt, queryPlan(n)); number(err) != types.ErQueryInterrupted {
			t.Fatalf("want 1317, got %v", err)
		}
		if calls > 0 {
			t.Error("the join went on to the end")
		}
		clean(t, rt)
	}
}

// TestMergeJoinAgreesWithHashJoin: every kind over sorted inputs, in memory and with groups on disk, opened twice.
func TestMergeJoinAgreesWithHashJoin(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 16)
	k := newKit(t)
	for i := range testkit.Repeat(40) {
		c := joinCase{kind: JoinKind(i % 4), on: r.IntN(2) == 0}
		keys, left, right, skew := 1+r.IntN(200), r.IntN(400), r.IntN(400), 0
		if i%10 < 4 {
			right, skew = 4000, 80
		}
		c.left, c.right = randomJoinRows(r, left, keys, 0, 5), randomJoinRows(r, right, keys, skew, 5)
		hash := c.node(k)
		sorted := func(in Node) Node { return &Sort{Input: in, Keys: []SortKey{{Expr: bigint(0)}}} }
		merge := &MergeJoin{Kind: c.kind, Left: sorted(hash.Left), Right: sorted(hash.Right), LeftKeys: hash.LeftKeys, RightKeys: hash.RightKeys, On: hash.On}
		want := c.model()
		slices.Sort(want)
		for _, limit := range []int64{1 << 30, 200 << 10} {
			rt := k.runtime()
			rt.Mem = NewMemTracker(limit)
			got, err := k.tryQuery(rt, queryPlan(&Apply{Left: (&source{rows: [][]any{{1}, {2}}}).node(1), Right: merge}))
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 2*len(want) {
				t.Fatalf("%s: %d rows, want %d", c.kind, len(got), 2*len(want))
			}
			for half := range 2 {
				part := slices.Clone(got[half*len(want) : (half+1)*len(want)])
				for j := range part {
					part[j] = part[j][2:]
				}
				slices.Sort(part)
				sameRows(t, c.kind.String(), part, want)
			}
			clean(t, rt)
		}
	}
}
