package exec

import (
	"bytes"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// streamAggOp aggregates input whose equal keys are adjacent; without keys, all of it.
type streamAggOp struct {
	rt     *Runtime
	input  operator
	scalar bool
	keys   keyer
	groups groupSet
	spare  []*expr.AggStates // takes the unfinished group over when others are emitted
	mem    account
	out    *types.Batch
	ids    []uint32
	last   []byte
	key    []byte
	at     int
	ready  int // groups complete and not yet emitted end here
	ended  bool
}

func (n *StreamAgg) build(b *builder) (operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	return newStreamAgg(b.rt, in, n.Keys, n.Aggs, Types(n)), nil
}

func newStreamAgg(rt *Runtime, in operator, keys []expr.Expr, aggs []*expr.AggSpec, out []types.Type) *streamAggOp {
	o := &streamAggOp{rt: rt, input: in, scalar: len(keys) == 0, mem: rt.account(), out: rt.getBatch(out)}
	o.keys.init(rt, keys)
	o.groups.init(rt, keys, aggs)
	if !o.scalar {
		o.ids = make([]uint32, types.MaxBatchRows)
		o.spare = make([]*expr.AggStates, len(aggs))
		for i, a := range aggs {
			o.spare[i] = a.NewStates()
		}
	}
	return o
}

func (o *streamAggOp) open() error {
	o.groups.reset()
	o.at, o.ready, o.ended = 0, 0, false
	if o.scalar {
		o.groups.add(nil, 0)
		o.groups.grow()
	}
	return o.input.open()
}

func (o *streamAggOp) next() (*types.Batch, error) {
	o.out.Reset()
	for {
		for o.at < o.ready && !o.out.Full() {
			if err := o.groups.emit(o.out, o.at); err != nil {
				return nil, err
			}
			o.at++
		}
		if o.out.Len > 0 {
			return o.out, nil
		}
		if o.ended {
			return nil, nil
		}
		if err := o.advance(); err != nil {
			return nil, err
		}
	}
}

// advance reads one batch and so may complete groups.
func (o *streamAggOp) advance() error {
	b, err := o.input.next()
	if err != nil {
		return err
	}
	if b == nil {
		o.ended, o.ready = true, len(o.groups.ends)
		return nil
	}
	if o.scalar {
		if err := o.groups.update(b, nil); err != nil {
			return err
		}
		return o.mem.set(o.groups.bytes())
	}
	if err := o.carry(); err != nil {
		return err
	}
	if err := o.keys.batch(b); err != nil {
		return err
	}
	for i, n := 0, b.Rows(); i < n; i++ {
		row := b.Row(i)
		if o.key, err = o.keys.append(o.key[:0], row); err != nil {
			return err
		}
		if len(o.groups.ends) == 0 || !bytes.Equal(o.key, o.last) {
			o.groups.add(&o.keys, row)
			o.last, o.key = o.key, o.last
		}
		o.ids[row] = uint32(len(o.groups.ends) - 1)
	}
	if err := o.groups.update(b, o.ids); err != nil {
		return err
	}
	o.ready = len(o.groups.ends) - 1
	return o.mem.set(o.groups.bytes())
}

// carry drops the groups emitted and makes the unfinished one group 0.
func (o *streamAggOp) carry() error {
	n := len(o.groups.ends)
	if n <= 1 {
		return nil
	}
	for i, a := range o.groups.slabs {
		o.spare[i].Reset()
		o.spare[i].Grow(1)
		if err := o.spare[i].Merge(o.rt.Ctx, 0, a, uint32(n-1)); err != nil {
			return err
		}
		o.groups.slabs[i], o.spare[i] = o.spare[i], a
	}
	kept := copy(o.groups.values, o.groups.values[o.groups.ends[n-2]:])
	o.groups.values = o.groups.values[:kept]
	o.groups.ends = append(o.groups.ends[:0], uint64(kept))
	o.at, o.ready = 0, 0
	return nil
}

func (o *streamAggOp) close() {
	o.input.close()
	o.mem.close()
	o.keys.close()
	o.rt.putBatch(o.out)
	o.out = nil
}
