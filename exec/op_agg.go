package exec

import (
	"bytes"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// groupSet holds groups and their aggregates: the keys' values in the row codec, and
// one slab of states per aggregate.
type groupSet struct {
	rt     *Runtime
	specs  []*expr.AggSpec
	types  []types.Type // of the keys
	slabs  []*expr.AggStates
	values []byte   // key values of all groups
	ends   []uint64 // end of group g in values
	row    []types.Value
	states bool // rows hold keys and states of groups, not what the aggregates are of
}

func (s *groupSet) init(rt *Runtime, keys []expr.Expr, specs []*expr.AggSpec) {
	s.rt, s.specs, s.types = rt, specs, exprTypes(keys)
	s.slabs = make([]*expr.AggStates, len(specs))
	for i, spec := range specs {
		s.slabs[i] = spec.NewStates()
	}
	s.row = make([]types.Value, len(keys)+len(specs))
}

func (s *groupSet) reset() {
	for _, a := range s.slabs {
		a.Reset()
	}
	s.values, s.ends = s.values[:0], s.ends[:0]
}

// release empties the set and gives its memory back.
func (s *groupSet) release() {
	for i, spec := range s.specs {
		s.slabs[i] = spec.NewStates()
	}
	s.values, s.ends = nil, nil
}

// add makes a new group of the keys in physical row i and returns its number.
func (s *groupSet) add(k *keyer, i int) uint32 {
	if k != nil {
		s.values = k.appendValues(s.values, i)
	}
	s.ends = append(s.ends, uint64(len(s.values)))
	return uint32(len(s.ends) - 1)
}

// grow makes the slabs as long as the groups; once per batch.
func (s *groupSet) grow() {
	for _, a := range s.slabs {
		a.Grow(len(s.ends))
	}
}

// update adds the rows of b to their groups; nil groups is group 0 for all.
func (s *groupSet) update(b *types.Batch, groups []uint32) error {
	s.grow()
	for i, a := range s.slabs {
		var err error
		if s.states {
			err = s.merge(a, &b.Cols[len(s.types)+i], b, groups)
		} else {
			err = a.AddBatch(s.rt.Ctx, b, groups)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// merge adds the states in a column of b to their groups.
func (s *groupSet) merge(a *expr.AggStates, states *types.Vector, b *types.Batch, groups []uint32) error {
	for i, n := 0, b.Rows(); i < n; i++ {
		row, g := b.Row(i), uint32(0)
		if groups != nil {
			g = groups[row]
		}
		if err := a.MergeState(s.rt.Ctx, g, states.Bytes(row)); err != nil {
			return err
		}
	}
	return nil
}

func (s *groupSet) bytes() int64 {
	n := int64(cap(s.values)) + int64(cap(s.ends))*8
	for _, a := range s.slabs {
		n += a.Bytes()
	}
	return n
}

// readKeys sets the first values of row to the keys of group g.
func (s *groupSet) readKeys(g int) {
	start := uint64(0)
	if g > 0 {
		start = s.ends[g-1]
	}
	decodeRow(s.row, s.types, s.values[start:s.ends[g]])
}

// emit appends group g to out.
func (s *groupSet) emit(out *types.Batch, g int) error {
	s.readKeys(g)
	for i, a := range s.slabs {
		v, err := a.Result(s.rt.Ctx, uint32(g))
		if err != nil {
			return err
		}
		s.row[len(s.types)+i] = v
	}
	out.AppendRow(s.row)
	return nil
}

// hashAggOp groups by a keyTable. Short of memory it freezes the table: rows of
// groups that are in it go on being added, all others are postponed to partitions.
type hashAggOp struct {
	rt     *Runtime
	input  operator
	in     []types.Type
	keys   keyer
	table  keyTable
	groups groupSet
	mem    account
	out    *types.Batch
	feed   *types.Batch // rows read back from a partition
	ids    []uint32
	sel    []uint16
	key    []byte
	part   []byte
	parts  partitions
	at     int
	done   bool
	total  bool // see HashAgg.GrandTotal
}

func (n *HashAgg) build(b *builder) (operator, error) {
	if n.Phase == AggPartial {
		return n.buildPartial(b)
	}
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	if len(n.Keys) == 0 {
		o := newStreamAgg(b.rt, in, nil, n.Aggs, Types(n))
		o.groups.states = n.Phase == AggFinal
		return o, nil
	}
	o := &hashAggOp{rt: b.rt, total: n.GrandTotal, input: in, in: Types(n.Input), mem: b.rt.account(), out: b.rt.getBatch(Types(n))}
	o.keys.init(b.rt.Ctx, n.Keys)
	o.groups.init(b.rt, n.Keys, n.Aggs)
	o.groups.states = n.Phase == AggFinal
	o.table.init()
	o.ids = make([]uint32, types.MaxBatchRows)
	return o, nil
}

func (o *hashAggOp) open() error {
	if o.parts.spilled {
		o.table.release()
		o.groups.release()
	} else {
		o.table.reset()
		o.groups.reset()
	}
	o.parts.close()
	o.at, o.done = 0, false
	if err := o.input.open(); err != nil {
		return err
	}
	for {
		b, err := o.input.next()
		if err != nil {
			return err
		}
		if b == nil {
			if o.total && o.table.len() == 0 && !o.parts.active() {
				o.grandTotal()
			}
			return o.parts.drain()
		}
		if err := o.add(b); err != nil {
			return err
		}
	}
}

// grandTotal makes the one group of an input without rows: keys of NULL, all bits of GROUPING() set.
func (o *hashAggOp) grandTotal() {
	null, bits := types.Null(), types.Int(1<<(len(o.groups.types)-1)-1)
	for range len(o.groups.types) - 1 {
		o.groups.values = appendValue(o.groups.values, &null)
	}
	o.groups.values = appendValue(o.groups.values, &bits)
	o.groups.ends = append(o.groups.ends, uint64(len(o.groups.values)))
	o.key = append(o.key[:0], 0)
	o.table.insert(o.key, o.table.hash(o.key))
	o.groups.grow()
}

// add aggregates the rows of b or postpones them.
func (o *hashAggOp) add(b *types.Batch) error {
	if err := o.keys.batch(b); err != nil {
		return err
	}
	o.sel = o.sel[:0]
	for i, n := 0, b.Rows(); i < n; i++ {
		row := b.Row(i)
		o.key = o.keys.append(o.key[:0], row)
		h := o.table.hash(o.key)
		id, ok := uint32(0), false
		if o.parts.active() {
			if id, ok = o.table.find(o.key, h); !ok {
				o.key = appendBatchRow(o.key[:0], b, row)
				if err := o.parts.write(h, o.key); err != nil {
					return err
				}
				continue
			}
		} else {
			var fresh bool
			if id, fresh = o.table.insert(o.key, h); fresh {
				o.groups.add(&o.keys, row)
			}
		}
		o.ids[row] = id
		o.sel = append(o.sel, uint16(row))
	}
	if len(o.sel) == 0 {
		return nil
	}
	b.Sel = o.sel
	if err := o.groups.update(b, o.ids); err != nil {
		return err
	}
	err := o.mem.set(o.table.bytes() + o.groups.bytes())
	if !o.parts.active() && (o.mem.tight() || o.table.full()) && o.parts.canSpill(o.rt) {
		o.parts.begin(o.rt)
	}
	if o.parts.active() {
		// Nothing more can be done here but finish; the hard limit is for those who
		// cannot spill.
		return nil
	}
	if err == nil && o.table.full() {
		err = errStatementMemory
	}
	return err
}

func (o *hashAggOp) next() (*types.Batch, error) {
	o.out.Reset()
	for {
		for o.at < o.table.len() && !o.out.Full() {
			if err := o.groups.emit(o.out, o.at); err != nil {
				return nil, err
			}
			o.at++
		}
		if o.out.Len > 0 {
			return o.out, o.rt.poll()
		}
		if o.done {
			return nil, nil
		}
		if err := o.phase(); err != nil {
			return nil, err
		}
	}
}

// phase aggregates the next partition into an empty table.
func (o *hashAggOp) phase() error {
	// The memory goes back, else it would be short again at once.
	o.table.release()
	o.groups.release()
	o.at = 0
	if o.feed == nil {
		o.feed = o.rt.getBatch(o.in)
	}
	o.feed.Reset()
	ok, err := o.parts.advance()
	if !ok || err != nil {
		o.done = true
		return err
	}
	for {
		part, ok, err := o.parts.read(o.part)
		o.part = part
		if err != nil {
			return err
		}
		if !ok {
			return o.flushFeed()
		}
		decodeInto(o.feed, part)
		if o.feed.Full() {
			if err := o.flushFeed(); err != nil {
				return err
			}
		}
	}
}

func (o *hashAggOp) flushFeed() error {
	if o.feed.Len == 0 {
		return nil
	}
	err := o.add(o.feed)
	o.feed.Reset()
	if err != nil {
		return err
	}
	return o.rt.poll()
}

func (o *hashAggOp) close() {
	o.input.close()
	o.parts.close()
	o.mem.close()
	o.rt.putBatch(o.out)
	o.rt.putBatch(o.feed)
	o.out, o.feed = nil, nil
}

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
	o.keys.init(rt.Ctx, keys)
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
		o.key = o.keys.append(o.key[:0], row)
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
	o.rt.putBatch(o.out)
	o.out = nil
}
