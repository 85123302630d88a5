package exec

import (
	"bytes"
	"errors"
	"testing"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// TestLongKeysPoll: whoever makes keys looks at the interrupt within a row that has a long text.
func TestLongKeysPoll(t *testing.T) {
	k := newKit(t)
	longtext := types.Type{ID: types.TypeLongText, Length: -1, Coll: types.DefaultCollation}
	v := types.String(bytes.Repeat([]byte("é"), 1<<19), longtext.Coll)
	from := func() Node {
		return &RowSource{Out: []types.Type{longtext}, Fill: func(_ *Runtime, emit func([]types.Value) error) error {
			return emit([]types.Value{v})
		}}
	}
	text := expr.Column(0, longtext, "c0")
	keys, sortKeys, count := []expr.Expr{text}, []SortKey{{Expr: text}}, []*expr.AggSpec{k.agg("count")}
	distinct, err := expr.NewAgg(k.build, "count", true, []expr.Expr{text}, expr.AggOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]Node{
		"sort":             &Sort{Input: from(), Keys: sortKeys},
		"the first row":    &TopN{Input: from(), Keys: sortKeys, Count: lit(1)},
		"groups":           &HashAgg{Input: from(), Keys: keys, Aggs: count},
		"sorted groups":    &StreamAgg{Input: from(), Keys: keys, Aggs: count},
		"parts of groups":  &HashAgg{Input: from(), Keys: keys, Aggs: count, Phase: AggPartial},
		"no duplicates":    &Distinct{Input: from()},
		"an intersection":  &SetOp{Left: from(), Right: from(), Kind: SetIntersect, Out: []types.Type{longtext}},
		"a hash join":      &HashJoin{Left: from(), Right: from(), LeftKeys: keys, RightKeys: keys},
		"a merge join":     &MergeJoin{Left: from(), Right: from(), LeftKeys: keys, RightKeys: keys},
		"partitions":       &Window{Input: from(), Partition: keys},
		"peers":            &Window{Input: from(), Order: sortKeys},
		"distinct numbers": &StreamAgg{Input: from(), Aggs: []*expr.AggSpec{distinct}},
	} {
		rt, polls, killed := k.runtime(), 0, errors.New("killed")
		run := func() error {
			op, err := n.build(&builder{rt: rt})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			defer op.close()
			if err := op.open(); err != nil {
				return err
			}
			for {
				if b, err := op.next(); b == nil || err != nil {
					return err
				}
			}
		}
		rt.Ctx.Poll = func() error { polls++; return nil }
		if err := run(); err != nil || polls < 4 {
			t.Errorf("%s: %d polls, %v", name, polls, err)
		}
		for left := 1; left < polls; left++ {
			rest := left
			rt.Ctx.Poll = func() error {
				if rest--; rest <= 0 {
					return killed
				}
				return nil
			}
			if err := run(); !errors.Is(err, killed) {
				t.Errorf("%s, killed at poll %d of %d: %v", name, left, polls, err)
			}
		}
	}
}

// BenchmarkKeyer encodes keys of short rows.
func BenchmarkKeyer(b *testing.B) {
	k := newKit(b)
	rt := k.runtime()
	batch := types.NewBatch([]types.Type{bigintType, charType(20)})
	for i := range types.MaxBatchRows {
		v, s := types.Int(int64(i*7919)), types.Text("a short text")
		batch.Cols[0].Append(&v)
		batch.Cols[1].Append(&s)
		batch.EndRow()
	}
	var keys keyer
	keys.init(rt, []expr.Expr{bigint(0), expr.Column(1, charType(20), "c1")})
	if err := keys.batch(batch); err != nil {
		b.Fatal(err)
	}
	var key []byte
	b.ReportAllocs()
	for range b.N {
		for i := range types.MaxBatchRows {
			key, _ = keys.append(key[:0], i)
		}
	}
}
