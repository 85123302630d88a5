package exec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
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

// oneBatch is an input that does not look at the interrupt.
type oneBatch struct{ batch *types.Batch }

func (o *oneBatch) open() error { return nil }
func (o *oneBatch) close()      {}

func (o *oneBatch) next() (b *types.Batch, err error) {
	b, o.batch = o.batch, nil
	return b, nil
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
	sb := sbtest(1)
	one := []expr.Expr{bigint(0)}
	build := func(rt *Runtime, n Node) operator {
		op, err := n.build(&builder{rt: rt})
		if err != nil {
			t.Fatal(err)
		}
		return op
	}
	// window has its first rows loaded when the statement is killed.
	window := func(rt *Runtime, w *Window) *windowOp {
		rt.Interrupt.Reset()
		o := build(rt, w).(*windowOp)
		t.Cleanup(o.close)
		if err := o.open(); err != nil {
			t.Fatal(err)
		}
		if ok, err := o.load(); !ok || err != nil {
			t.Fatalf("no rows: %v", err)
		}
		rt.Interrupt.Set(kvapi.ReasonKillQuery)
		return o
	}
	sorter := func(rt *Runtime, batches int) *sortOp {
		o := &sortOp{rt: rt, mem: rt.account()}
		o.keys.initSort(rt, []SortKey{{Expr: bigint(0), Desc: true}})
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
			o := build(rt, n).(*hashJoinOp)
			defer o.close()
			if err := o.insert(countBatch(types.MaxBatchRows, 1)); err != nil {
				return err
			}
			return o.beginSpill()
		},
		"duplicates of a partition": func(rt *Runtime) error {
			o := build(rt, &Distinct{Input: (&source{}).node(1)}).(*distinctOp)
			defer o.close()
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
			_, err := o.nextSpilled()
			return err
		},
		"groups to disk": func(rt *Runtime) error {
			o := build(rt, &HashAgg{Input: (&source{}).node(1), Keys: one, Aggs: []*expr.AggSpec{k.agg("count")}}).(*hashAggOp)
			defer o.close()
			if err := o.add(countBatch(types.MaxBatchRows, 1)); err != nil {
				return err
			}
			o.parts.begin(rt)
			return o.shed()
		},
		"slots of a large table": func(rt *Runtime) error {
			var table keyTable
			table.init()
			var key [4]byte
			insert := func() {
				binary.BigEndian.PutUint32(key[:], uint32(table.len()))
				table.insert(key[:], table.hash(key[:]))
			}
			for table.len() < keyTablePolled || !table.crowded(types.MaxBatchRows) {
				insert()
			}
			if err := table.makeRoom(k.runtime(), types.MaxBatchRows); err != nil || table.crowded(types.MaxBatchRows) {
				return fmt.Errorf("no room: %w", err)
			}
			for !table.crowded(types.MaxBatchRows) {
				insert()
			}
			err := table.makeRoom(rt, types.MaxBatchRows)
			for i := range uint32(table.len()) {
				binary.BigEndian.PutUint32(key[:], i)
				if id, ok := table.find(key[:], table.hash(key[:])); !ok || id != i {
					return fmt.Errorf("key %d has gone", i)
				}
			}
			return err
		},
		"ranges of a scan": func(rt *Runtime) error {
			ranges := make([]Range, types.MaxBatchRows)
			for i := range ranges {
				ranges[i] = eq(lit(int64(i)))
			}
			return new(spanSet).fill(rt, sb, sb.PK, ranges)
		},
		"keys of a lookup": func(rt *Runtime) error {
			keys := make([][]expr.Expr, types.MaxBatchRows)
			for i := range keys {
				keys[i] = []expr.Expr{lit(int64(i))}
			}
			return new(spanSet).fillKeys(rt, sb, sb.PK, keys)
		},
		"order of spans": func(rt *Runtime) error {
			s := new(spanSet)
			for i := range uint32(sortPollCompares) {
				s.spans = append(s.spans, kvapi.Span{Start: binary.BigEndian.AppendUint32(nil, i*7919%sortPollCompares)})
			}
			return s.merge(rt)
		},
		"rows of ANY to a list": func(rt *Runtime) error {
			sub := &Subplan{Root: (&source{}).node(1), Kind: SubplanAny, RightKeys: one}
			st := &subplanState{rt: rt, plan: sub, ctx: rt.Ctx}
			st.rows.init(st)
			defer st.rows.close()
			st.rows.keys.init(rt, one)
			st.rows.byKey.init()
			st.rows.rows.init()
			if err := st.rows.insert(countBatch(types.MaxBatchRows, 1)); err != nil {
				return err
			}
			return st.rows.giveUpHash()
		},
		"aggregates of a batch": func(rt *Runtime) error {
			var s groupSet
			s.init(rt, nil, slices.Repeat([]*expr.AggSpec{k.agg("count")}, columnsPerPoll))
			s.add(nil, 0)
			return s.update(countBatch(1, 1), nil)
		},
		"results of aggregates": func(rt *Runtime) error {
			var s groupSet
			s.init(rt, nil, slices.Repeat([]*expr.AggSpec{k.agg("count")}, columnsPerPoll))
			s.add(nil, 0)
			s.grow()
			return s.emit(types.NewBatch(slices.Repeat([]types.Type{bigintType}, columnsPerPoll)), 0)
		},
		"columns of a projection": func(rt *Runtime) error {
			o := build(rt, &Project{Input: (&source{}).node(1), Exprs: slices.Repeat(one, columnsPerPoll)}).(*projectOp)
			defer o.close()
			o.input.close()
			o.input = &oneBatch{countBatch(1, 1)}
			_, err := o.next()
			return err
		},
		"functions of a row": func(rt *Runtime) error {
			f := &WindowFunc{Agg: k.agg("count"), Type: bigintType, Frame: WindowFrame{Unit: FrameRows, Start: FrameBound{Kind: CurrentRow}, End: FrameBound{Kind: CurrentRow}}}
			return window(rt, &Window{Input: (&source{rows: [][]any{{1}}}).node(1), Funcs: slices.Repeat([]*WindowFunc{f}, columnsPerPoll)}).emit()
		},
		"sliding frames": func(rt *Runtime) error {
			w := &Window{Input: (&source{rows: [][]any{{1}, {2}, {3}, {4}}}).node(1), Funcs: []*WindowFunc{{Agg: k.agg("max", bigint(0)), Type: bigintType,
				Frame: WindowFrame{Unit: FrameRows, Start: FrameBound{Kind: OffsetPreceding, Offset: lit(1)}, End: FrameBound{Kind: CurrentRow}}}}}
			o := window(rt, w)
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
