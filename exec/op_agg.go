package exec

import (
	"encoding/binary"
	"slices"

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
		err := pollColumns(s.rt, i)
		if err != nil {
			return err
		}
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
		if err == nil {
			err = pollColumns(s.rt, i)
		}
		if err != nil {
			return err
		}
		s.row[len(s.types)+i] = v
	}
	out.AppendRow(s.row)
	return nil
}

// appendStates appends group g: its keys and the states of its aggregates.
func (s *groupSet) appendStates(dst []byte, g int, scratch *[]byte) []byte {
	start := uint64(0)
	if g > 0 {
		start = s.ends[g-1]
	}
	dst = appendPart(dst, s.values[start:s.ends[g]])
	for _, a := range s.slabs {
		*scratch = a.AppendState((*scratch)[:0], uint32(g))
		dst = appendPart(dst, *scratch)
	}
	return dst
}

// addStates adds what appendStates has written, without the keys, to group g.
func (s *groupSet) addStates(g uint32, parts []byte) (err error) {
	s.grow()
	for _, a := range s.slabs {
		var state []byte
		state, parts = cutPart(parts)
		if err = a.MergeState(s.rt.Ctx, g, state); err != nil {
			return err
		}
	}
	return nil
}

// appendPart appends a part of a record, and cutPart takes it off.
func appendPart(dst, part []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(part))), part...)
}

func cutPart(record []byte) (part, rest []byte) {
	size, n := binary.Uvarint(record)
	end := n + int(size)
	return record[n:end:end], record[end:]
}

// What a postponed record of a hashAggOp is: a row of the input, or a group that was shed.
const (
	aggRow byte = iota
	aggGroup
)

// shedShare: the groups of a frozen table are shed once it has grown by more than 1/shedShare of
// what it held when it was frozen.
const shedShare = 4

// hashAggOp groups by a keyTable. Short of memory it freezes the table: rows of
// groups that are in it go on being added, all others are postponed to partitions. Where
// the states of the groups go on growing, as those of DISTINCT and GROUP_CONCAT do, the
// groups are shed: they are postponed, too, ahead of the rows that come after.
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
	state  []byte
	parts  partitions
	frozen int64 // what the table held when it was frozen
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
	o.keys.init(b.rt, n.Keys)
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
func (o *hashAggOp) add(b *types.Batch) (err error) {
	if err := o.keys.batch(b); err != nil {
		return err
	}
	if err := o.table.makeRoom(o.rt, b.Rows()); err != nil {
		return err
	}
	o.sel = o.sel[:0]
	for i, n := 0, b.Rows(); i < n; i++ {
		row := b.Row(i)
		if o.key, err = o.keys.append(o.key[:0], row); err != nil {
			return err
		}
		h := o.table.hash(o.key)
		id, ok := uint32(0), false
		if o.parts.active() {
			if id, ok = o.table.find(o.key, h); !ok {
				o.key = appendBatchRow(append(o.key[:0], aggRow), b, row)
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
	return o.account()
}

// account books what the table and the groups hold, and freezes or sheds them when the
// memory is short.
func (o *hashAggOp) account() error {
	err := o.mem.set(o.table.bytes() + o.groups.bytes())
	if !o.parts.active() && (o.mem.tight() || o.table.full()) && o.parts.canSpill(o.rt) {
		o.parts.begin(o.rt)
		o.frozen = o.mem.held
	}
	if o.parts.active() {
		grown := o.mem.held - o.frozen
		switch {
		case grown <= 0, err == nil && grown <= o.frozen/shedShare:
			// Nothing more can be done here but finish; the hard limit is for those who
			// cannot spill.
			return nil
		case o.table.len() == 1:
			return err // one group has all
		}
		return o.shed()
	}
	if err == nil && o.table.full() {
		err = errStatementMemory
	}
	return err
}

// shed postpones the groups of the frozen table, which is empty from then on, so that all
// rows are postponed.
func (o *hashAggOp) shed() error {
	for g := range o.table.len() {
		if err := pollEvery(o.rt, g); err != nil {
			return err
		}
		key := o.table.key(uint32(g))
		o.key = appendPart(append(o.key[:0], aggGroup), key)
		o.key = o.groups.appendStates(o.key, g, &o.state)
		if err := o.parts.write(o.table.hash(key), o.key); err != nil {
			return err
		}
	}
	o.table.release()
	o.groups.release()
	return o.mem.set(o.table.bytes() + o.groups.bytes())
}

// addGroup adds a group that was shed; in its partition the rows that came later follow it.
func (o *hashAggOp) addGroup(record []byte) error {
	key, rest := cutPart(record)
	values, states := cutPart(slices.Clone(rest)) // texts in the states keep referring to these bytes
	h := o.table.hash(key)
	if o.parts.active() {
		if id, ok := o.table.find(key, h); ok {
			return o.groups.addStates(id, states)
		}
		return o.parts.write(h, append(append(o.key[:0], aggGroup), record...))
	}
	if err := o.table.makeRoom(o.rt, 1); err != nil {
		return err
	}
	id, fresh := o.table.insert(key, h)
	if fresh {
		o.groups.values = append(o.groups.values, values...)
		o.groups.ends = append(o.groups.ends, uint64(len(o.groups.values)))
	}
	if err := o.groups.addStates(id, states); err != nil {
		return err
	}
	return o.account()
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
	// The memory is released, or it would be short again at once.
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
		if part[0] == aggGroup {
			err = o.flushFeed()
			if err == nil {
				err = o.addGroup(part[1:])
			}
			if err != nil {
				return err
			}
			continue
		}
		decodeInto(o.feed, part[1:])
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
	o.keys.close()
	o.rt.putBatch(o.out)
	o.rt.putBatch(o.feed)
	o.out, o.feed = nil, nil
}
