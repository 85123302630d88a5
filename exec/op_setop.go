package exec

import (
	"math"

	"github.com/pandodb/pando/types"
)

// setOp answers INTERSECT and EXCEPT: it counts the right input's rows by key and then
// passes the left input's rows by these counts. Short of memory it freezes the table,
// as distinctOp does: rows of keys that are in it go on being counted, all others are
// postponed to partitions, where those of the right input come first, too.
type setOp struct {
	rt          *Runtime
	node        *SetOp
	left, right operator
	table       keyTable
	counts      []int64 // of the right input's rows that no left row has used up, by key
	mem         account
	long        account // of the keys of long texts
	key         []byte
	record      []byte
	sel         []uint16
	parts       partitions
	out, one    *types.Batch
	ended       bool
}

// Which input a postponed row is of.
const (
	setRowRight byte = iota
	setRowLeft
)

func (n *SetOp) build(b *builder) (operator, error) {
	left, right, err := b.pair(n.Left, n.Right)
	if err != nil {
		return nil, err
	}
	o := &setOp{rt: b.rt, node: n, left: left, right: right, mem: b.rt.account(), long: b.rt.account()}
	o.table.init()
	return o, nil
}

func (o *setOp) open() error {
	if o.parts.spilled {
		o.release()
	} else {
		o.table.reset()
		o.counts = o.counts[:0]
	}
	o.parts.close()
	o.ended = false
	if err := o.right.open(); err != nil {
		return err
	}
	for {
		b, err := o.right.next()
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := o.long.rowKeys(b); err != nil {
			return err
		}
		for i, n := 0, b.Rows(); i < n; i++ {
			if err := o.addRight(b, b.Row(i)); err != nil {
				return err
			}
		}
		if err := o.account(); err != nil {
			return err
		}
	}
	if o.node.Kind == SetIntersect && o.table.len() == 0 {
		o.ended = true
		return nil
	}
	return o.left.open()
}

func (o *setOp) release() {
	o.table.release()
	o.counts = nil
}

// account books the memory, and freezes the table when it is short.
func (o *setOp) account() error {
	err := o.mem.set(o.table.bytes() + int64(cap(o.counts))*8)
	switch {
	case o.parts.active():
		return nil // nothing more can be done but finish
	case (o.mem.tight() || o.table.full()) && o.parts.canSpill(o.rt):
		o.parts.begin(o.rt)
		return nil
	case err == nil && o.table.full():
		return errStatementMemory
	}
	return err
}

// hash sets the key of physical row i of b, and returns its hash. NULLs are equal.
func (o *setOp) hash(b *types.Batch, i int) (h uint64, err error) {
	o.key = o.key[:0]
	for c := range b.Cols {
		if o.key, err = o.rt.appendKey(o.key, &b.Cols[c], i, &o.node.Out[c]); err != nil {
			return 0, err
		}
	}
	return o.table.hash(o.key), nil
}

// postpone writes a row whose key came after the table was frozen.
func (o *setOp) postpone(side byte, h uint64, b *types.Batch, i int) error {
	o.record = appendBatchRow(append(o.record[:0], side), b, i)
	return o.parts.write(h, o.record)
}

func (o *setOp) addRight(b *types.Batch, i int) error {
	h, err := o.hash(b, i)
	if err != nil {
		return err
	}
	if o.parts.active() {
		id, ok := o.table.find(o.key, h)
		if !ok {
			return o.postpone(setRowRight, h, b, i)
		}
		o.counts[id]++
		return nil
	}
	if err := o.table.makeRoom(o.rt, 1); err != nil {
		return err
	}
	id, fresh := o.table.insert(o.key, h)
	if fresh {
		o.counts = append(o.counts, 0)
	}
	o.counts[id]++
	return nil
}

// passes reports whether a left row is in the result. Without ALL, a key's count says
// only whether its next row passes.
func (o *setOp) passes(b *types.Batch, i int) (bool, error) {
	h, err := o.hash(b, i)
	if err != nil {
		return false, err
	}
	id, ok := o.table.find(o.key, h)
	if !ok && o.parts.active() {
		return false, o.postpone(setRowLeft, h, b, i)
	}
	if o.node.Kind == SetIntersect {
		if !ok || o.counts[id] == 0 {
			return false, nil
		}
		if o.counts[id]--; !o.node.All {
			o.counts[id] = 0
		}
		return true, nil
	}
	if !ok {
		if !o.node.All { // the same row does not pass again
			if err := o.table.makeRoom(o.rt, 1); err != nil {
				return false, err
			}
			o.table.insert(o.key, h)
			o.counts = append(o.counts, math.MaxInt64)
		}
		return true, nil
	}
	if !o.node.All {
		return false, nil
	}
	if o.counts[id] > 0 {
		o.counts[id]--
		return false, nil
	}
	return true, nil
}

func (o *setOp) next() (*types.Batch, error) {
	if o.ended {
		return nil, nil
	}
	for !o.parts.draining {
		b, err := o.left.next()
		if err != nil {
			return nil, err
		}
		if b == nil {
			if err := o.parts.drain(); err != nil {
				return nil, err
			}
			break
		}
		if o.sel, err = o.long.passing(o.sel, b, o.passes); err != nil {
			return nil, err
		}
		if err := o.account(); err != nil {
			return nil, err
		}
		if len(o.sel) > 0 {
			b.Sel = o.sel
			return b, nil
		}
	}
	return o.nextSpilled()
}

// nextSpilled works off the partitions.
func (o *setOp) nextSpilled() (*types.Batch, error) {
	if o.out == nil {
		o.out, o.one = o.rt.getBatch(o.node.Out), o.rt.getBatch(o.node.Out)
	}
	o.out.Reset()
	for rows := 1; !o.out.Full(); rows++ {
		record, ok, err := o.parts.read(o.record)
		o.record = record
		if err != nil {
			return nil, err
		}
		if !ok {
			if ok, err = o.parts.advance(); err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			o.release()
			continue
		}
		side := record[0]
		o.one.Reset()
		decodeInto(o.one, record[1:])
		if side == setRowRight {
			err = o.addRight(o.one, 0)
		} else if ok, err = o.passes(o.one, 0); ok {
			o.out.AppendFrom(o.one, 0)
		}
		if err == nil && rows%joinCheckRows == 0 {
			if err = o.account(); err == nil {
				err = o.rt.poll()
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if o.out.Len == 0 {
		o.ended = true
		return nil, nil
	}
	return o.out, nil
}

func (o *setOp) close() {
	o.left.close()
	o.right.close()
	o.parts.close()
	o.mem.close()
	o.long.close()
	o.rt.putBatch(o.out)
	o.rt.putBatch(o.one)
	o.out, o.one = nil, nil
}

// expandOp repeats each batch of its input once per level of a ROLLUP.
type expandOp struct {
	rt    *Runtime
	input operator
	keys  int
	batch *types.Batch
	level int // how many of the keys the next output keeps
	out   *types.Batch
}

func (n *Expand) build(b *builder) (operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	return &expandOp{rt: b.rt, input: in, keys: n.Keys, out: b.rt.getBatch(Types(n))}, nil
}

func (o *expandOp) open() error {
	o.batch = nil
	return o.input.open()
}

func (o *expandOp) next() (*types.Batch, error) {
	if o.batch == nil {
		b, err := o.input.next()
		if b == nil || err != nil {
			return nil, err
		}
		o.batch, o.level = b, o.keys
	}
	o.out.Reset()
	n, kept := o.batch.Rows(), len(o.batch.Cols)-o.keys+o.level
	for c := range o.batch.Cols {
		src, dst := &o.batch.Cols[c], &o.out.Cols[c]
		for i := range n {
			if c < kept {
				dst.AppendFrom(src, o.batch.Row(i))
			} else {
				dst.AppendNull()
			}
		}
	}
	bits := int64(1)<<uint(o.keys-o.level) - 1
	for range n {
		o.out.Cols[len(o.batch.Cols)].AppendInt(bits)
	}
	o.out.Len = n
	if o.level--; o.level < 0 {
		o.batch = nil
	}
	return o.out, nil
}

func (o *expandOp) close() {
	o.input.close()
	o.rt.putBatch(o.out)
	o.out = nil
}
