package exec

import (
	"errors"
	"fmt"
	"testing"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/types"
)

// killed returns a runtime whose statement is to end.
func (k *kit) killed() *Runtime {
	rt := k.runtime()
	rt.Interrupt = new(kvapi.Interrupt)
	rt.Interrupt.Set(kvapi.ReasonKillQuery)
	return rt
}

// countBatch returns a batch of n numbers, each as often as repeat.
func countBatch(n, repeat int) *types.Batch {
	b := types.NewBatch([]types.Type{bigintType})
	for i := range n {
		v := types.Int(int64(i / repeat))
		b.Cols[0].Append(&v)
		b.EndRow()
	}
	return b
}

// TestLongPhasesPoll: the phases of operators that take no batch from below, and may have a gigabyte at hand, look at the interrupt by themselves.
func TestLongPhasesPoll(t *testing.T) {
	k := newKit(t)
	one := []expr.Expr{bigint(0)}
	sorter := func(rt *Runtime, batches int) *sortOp {
		o := &sortOp{rt: rt, mem: rt.account()}
		o.keys.initSort(rt.Ctx, []SortKey{{Expr: bigint(0), Desc: true}})
		for range batches {
			if err := o.add(countBatch(types.MaxBatchRows, 1)); err != nil {
				t.Fatal(err)
			}
		}
		return o
	}
	for name, run := range map[string]func(rt *Runtime) error{
		"sort":       func(rt *Runtime) error { return sorter(rt, 32).sort() },
		"sorted run": func(rt *Runtime) error { o := sorter(rt, 2); defer o.release(); return o.spill() },
		"build side to disk": func(rt *Runtime) error {
			n := &HashJoin{Left: (&source{}).node(1), Right: (&source{}).node(1), LeftKeys: one, RightKeys: one}
			op, err := n.build(&builder{rt: rt})
			if err != nil {
				return err
			}
			defer op.close()
			o := op.(*hashJoinOp)
			if err := o.insert(countBatch(types.MaxBatchRows, 1)); err != nil {
				return err
			}
			return o.beginSpill()
		},
		"duplicates of a partition": func(rt *Runtime) error {
			op, err := (&Distinct{Input: (&source{}).node(1)}).build(&builder{rt: rt})
			if err != nil {
				return err
			}
			defer op.close()
			o := op.(*distinctOp)
			o.parts.begin(rt)
			b := countBatch(types.MaxBatchRows, types.MaxBatchRows)
			for i := range b.Len {
				if _, err := o.add(b, i); err != nil {
					return err
				}
			}
			if err := o.parts.drain(); err != nil {
				return err
			}
			_, err = o.nextSpilled()
			return err
		},
		"groups to disk": func(rt *Runtime) error {
			op, err := (&HashAgg{Input: (&source{}).node(1), Keys: one, Aggs: []*expr.AggSpec{k.agg("count")}}).build(&builder{rt: rt})
			if err != nil {
				return err
			}
			defer op.close()
			o := op.(*hashAggOp)
			if err := o.add(countBatch(types.MaxBatchRows, 1)); err != nil {
				return err
			}
			o.parts.begin(rt)
			return o.shed()
		},
		"rows of ANY to a list": func(rt *Runtime) error {
			sub := &Subplan{Root: (&source{}).node(1), Kind: SubplanAny, RightKeys: one}
			st := &subplanState{rt: rt, plan: sub, ctx: rt.Ctx}
			st.rows.init(st)
			defer st.rows.close()
			st.rows.keys.init(rt.Ctx, one)
			st.rows.byKey.init()
			st.rows.rows.init()
			if err := st.rows.insert(countBatch(types.MaxBatchRows, 1)); err != nil {
				return err
			}
			return st.rows.giveUpHash()
		},
		"sliding frames": func(rt *Runtime) error {
			w := &Window{Input: (&source{rows: [][]any{{1}, {2}, {3}, {4}}}).node(1), Funcs: []*WindowFunc{{Agg: k.agg("max", bigint(0)), Type: bigintType,
				Frame: WindowFrame{Unit: FrameRows, Start: FrameBound{Kind: OffsetPreceding, Offset: lit(1)}, End: FrameBound{Kind: CurrentRow}}}}}
			rt.Interrupt.Reset()
			op, err := w.build(&builder{rt: rt})
			if err != nil {
				return err
			}
			defer op.close()
			o := op.(*windowOp)
			if err := o.open(); err != nil {
				return err
			}
			if ok, err := o.load(); !ok || err != nil {
				return fmt.Errorf("no rows: %w", err)
			}
			rt.Interrupt.Set(kvapi.ReasonKillQuery)
			f := o.funcs[0].agg
			f.read = 4
			return f.age(0)
		},
	} {
		rt := k.killed()
		if err := run(rt); !errors.Is(err, kvapi.ErrInterrupted) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
