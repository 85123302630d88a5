package exec

import (
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// partialGroupsMax is how many groups a worker gathers before it passes them on: with
// more of them a second look at a group is rare, and the table no longer fits into the
// processor's cache.
const partialGroupsMax = 64 << 10

// partialAggOp groups the rows of one worker. It yields keys and states; a group may
// come several times, because the table is emptied when it is large or memory short.
type partialAggOp struct {
	rt     *Runtime
	input  operator
	keys   keyer
	scalar bool
	table  keyTable
	groups groupSet
	mem    account
	ids    []uint32
	key    []byte
	state  []byte
	out    *types.Batch
	at     int  // next group to be passed on
	ready  bool // groups are passed on
	ended  bool
}

func (n *HashAgg) buildPartial(b *builder) (operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	o := &partialAggOp{rt: b.rt, input: in, scalar: len(n.Keys) == 0, mem: b.rt.account(), out: b.rt.getBatch(Types(n))}
	o.keys.init(b.rt, n.Keys)
	o.groups.init(b.rt, n.Keys, n.Aggs)
	o.table.init()
	o.ids = make([]uint32, types.MaxBatchRows)
	return o, nil
}

// partialTypes are the columns of a partial aggregation: keys and states.
func partialTypes(keys []expr.Expr, aggs []*expr.AggSpec) []types.Type {
	out := exprTypes(keys)
	for range aggs {
		out = append(out, columnType(nil, RowKey)) // bytes
	}
	return out
}

func (o *partialAggOp) open() error {
	o.ended = false
	if err := o.reset(); err != nil {
		return err
	}
	return o.input.open()
}

func (o *partialAggOp) reset() error {
	o.table.release()
	o.groups.release()
	o.at, o.ready = 0, false
	return o.mem.set(0)
}

func (o *partialAggOp) next() (*types.Batch, error) {
	for {
		if o.ready {
			if err := o.emit(); err != nil {
				return nil, err
			}
			if o.out.Len > 0 {
				return o.out, o.rt.poll()
			}
			if err := o.reset(); err != nil {
				return nil, err
			}
		}
		if o.ended {
			return nil, nil
		}
		if err := o.gather(); err != nil {
			return nil, err
		}
	}
}

// gather reads until the groups shall be passed on.
func (o *partialAggOp) gather() error {
	if o.scalar {
		o.groups.add(nil, 0)
		o.groups.grow()
	}
	for !o.ready {
		b, err := o.input.next()
		if err != nil {
			return err
		}
		if b == nil {
			o.ready, o.ended = true, true
			return nil
		}
		if err := o.add(b); err != nil {
			return err
		}
		err = o.mem.set(o.table.bytes() + o.groups.bytes())
		o.ready = err != nil || o.rt.Mem.crowded() || o.table.len() >= partialGroupsMax
	}
	return nil
}

func (o *partialAggOp) add(b *types.Batch) (err error) {
	if o.scalar {
		return o.groups.update(b, nil)
	}
	if err := o.keys.batch(b); err != nil {
		return err
	}
	for i, n := 0, b.Rows(); i < n; i++ {
		row := b.Row(i)
		if o.key, err = o.keys.append(o.key[:0], row); err != nil {
			return err
		}
		id, fresh := o.table.insert(o.key, o.table.hash(o.key))
		if fresh {
			o.groups.add(&o.keys, row)
		}
		o.ids[row] = id
	}
	return o.groups.update(b, o.ids)
}

// emit fills the output with groups.
func (o *partialAggOp) emit() error {
	o.out.Reset()
	for ; o.at < len(o.groups.ends) && !o.out.Full(); o.at++ {
		o.groups.readKeys(o.at)
		for c := range o.groups.types {
			o.out.Cols[c].Append(&o.groups.row[c])
		}
		for i, a := range o.groups.slabs {
			o.state = a.AppendState(o.state[:0], uint32(o.at))
			o.out.Cols[len(o.groups.types)+i].AppendBytes(o.state)
		}
		o.out.EndRow()
	}
	return nil
}

func (o *partialAggOp) close() {
	o.input.close()
	o.mem.close()
	o.keys.close()
	o.rt.putBatch(o.out)
	o.out = nil
}
