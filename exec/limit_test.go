package exec

import (
	"bytes"
	"testing"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// TestBatchesOfLongRows: a batch ends after BatchBytesMax, whatever makes its rows long, and none is lost.
func TestBatchesOfLongRows(t *testing.T) {
	k := newKit(t)
	const rows, length = 300, 100_000
	values := &Values{Out: []types.Type{intType}}
	for i := range rows {
		values.Rows = append(values.Rows, []expr.Expr{lit(int64(i))})
	}
	long := types.Type{ID: types.TypeLongBlob, Length: -1, Coll: types.Binary}
	id := expr.Column(0, intType, "id")
	repeat := k.call("repeat", expr.Column(0, intType, "id"), lit(length/2)) // up to 150,000 bytes
	one := &Values{Out: []types.Type{long}, Rows: [][]expr.Expr{{expr.Param(0, long)}}}
	for name, n := range map[string]Node{
		"function":  &Project{Input: values, Exprs: []expr.Expr{repeat, id}},
		"parameter": &Project{Input: values, Exprs: []expr.Expr{expr.Param(0, long), id}},
		"within":    &Project{Input: values, Exprs: []expr.Expr{k.call("=", repeat, expr.Param(0, long)), id}},
		"sort":      &Sort{Input: &Project{Input: values, Exprs: []expr.Expr{repeat, id}}, Keys: []SortKey{{Expr: expr.Column(1, intType, "id")}}},
		"apply":     &Apply{Left: values, Right: one, Kind: JoinInner},
	} {
		rt := k.runtime()
		rt.Ctx.Params = []types.Value{types.Bytes(bytes.Repeat([]byte{'x'}, length))}
		plan := queryPlan(n)
		op, err := plan.Root.build(&builder{rt: rt})
		if err != nil {
			t.Fatal(name, err)
		}
		if err := op.open(); err != nil {
			t.Fatal(name, err)
		}
		count, largest := 0, 0
		for {
			b, err := op.next()
			if err != nil {
				t.Fatal(name, err)
			}
			if b == nil {
				break
			}
			count += b.Rows()
			largest = max(largest, b.MemSize())
		}
		op.close()
		if count != rows {
			t.Errorf("%s: %d rows", name, count)
		}
		if largest > 4*types.BatchBytesMax {
			t.Errorf("%s: a batch takes %d bytes", name, largest)
		}
	}
}

// TestComputedOverLongTexts: operators and aggregates compute long texts one at a time; what has to have them for a whole batch is bounded
// by an error.
func TestComputedOverLongTexts(t *testing.T) {
	k := newKit(t)
	values := &Values{Out: []types.Type{intType}}
	for i := range 100 {
		values.Rows = append(values.Rows, []expr.Expr{lit(int64(i))})
	}
	repeat := k.call("repeat", expr.Column(0, intType, "id"), lit(1_000_000))
	x := expr.Literal(types.Text("x"))
	count := func(n Node) Node {
		return &StreamAgg{Input: n, Aggs: []*expr.AggSpec{k.agg("count", expr.Column(0, intType, "id"))}}
	}
	for _, c := range []struct {
		want string
		n    Node
	}{
		{"0", count(&Filter{Input: values, Cond: k.call("=", repeat, x)})},
		{"100", count(&Filter{Input: values, Cond: k.call("or", k.call("like", repeat, x), k.call("<", repeat, x))})},
		{"100", count(&Filter{Input: values, Cond: k.call("not in", repeat, x, expr.Literal(types.Text("y")))})},
		{"100", count(&Filter{Input: values, Cond: k.call("is not null", repeat)})},
		{"100", &StreamAgg{Input: values, Aggs: []*expr.AggSpec{k.agg("count", repeat)}}},
	} {
		if rows := k.query(k.runtime(), c.n); len(rows) != 1 || rows[0] != c.want {
			t.Errorf("%v instead of %s", rows, c.want)
		}
	}
	_, err := k.tryQuery(k.runtime(), queryPlan(&Filter{Input: values, Cond: repeat}))
	if e, ok := err.(*types.Error); !ok || e.Number != 8175 {
		t.Error(err)
	}
}
