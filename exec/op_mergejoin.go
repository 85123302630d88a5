package exec

import (
	"bytes"

	"github.com/pandodb/pando/types"
)

// mergeJoinOp reads both inputs once, side by side. The right rows of one key wait in a
// list, which spills, for all left rows of that key.
type mergeJoinOp struct {
	joinOutput
	leftOp, rightOp operator
	leftKeys        keyer
	rightKeys       keyer
	batch           *types.Batch // of the left input
	at              int
	key             []byte // of the left row at hand
	rightBatch      *types.Batch
	rightAt         int
	rightKey        []byte // of the right row at hand
	ended           bool   // the right input
	group           rowList
	groupKey        []byte
	grouped         bool // the list has the right rows of groupKey
	inner           *types.Batch
	innerAt         int
	begun, matched  bool // of the left row at hand
	searching       bool // its right rows are not all seen
	compared        uint
}

func (n *MergeJoin) build(b *builder) (operator, error) {
	left, right, err := b.pair(n.Left, n.Right)
	if err != nil {
		return nil, err
	}
	o := &mergeJoinOp{leftOp: left, rightOp: right}
	o.init(b.rt, n, n.Kind, n.Left, n.Right, n.On)
	o.leftKeys.init(b.rt, n.LeftKeys)
	o.rightKeys.init(b.rt, n.RightKeys)
	o.group.init(b.rt, Types(n.Right))
	return o, nil
}

func (o *mergeJoinOp) open() error {
	o.batch, o.rightBatch, o.inner = nil, nil, nil
	o.ended, o.grouped, o.begun = false, false, false
	if err := o.group.reset(); err != nil {
		return err
	}
	if err := o.leftOp.open(); err != nil {
		return err
	}
	return o.rightOp.open()
}

func (o *mergeJoinOp) next() (*types.Batch, error) {
	if err := o.rt.poll(); err != nil {
		return nil, err
	}
	o.out.Reset()
	for !o.out.Full() {
		if o.batch == nil {
			b, err := o.leftOp.next()
			if err != nil {
				return nil, err
			}
			if b == nil {
				break
			}
			if err := o.leftKeys.batch(b); err != nil {
				return nil, err
			}
			o.batch, o.at = b, 0
		}
		if err := o.step(); err != nil {
			return nil, err
		}
	}
	if o.out.Len == 0 {
		return nil, nil
	}
	return o.out, nil
}

// step works on the left row at hand until it is done or the output is full.
func (o *mergeJoinOp) step() error {
	row := o.batch.Row(o.at)
	if !o.begun {
		if err := o.begin(row); err != nil {
			return err
		}
	}
	for o.searching {
		if o.out.Full() {
			return nil
		}
		if o.inner == nil {
			b, err := o.group.next()
			if err != nil {
				return err
			}
			if b == nil {
				o.searching = false
				break
			}
			o.inner, o.innerAt = b, 0
		}
		if err := o.compare(); err != nil {
			return err
		}
	}
	if o.out.Full() {
		return nil // before the row is ended
	}
	switch {
	case o.kind == JoinSemi && o.matched, o.kind == JoinAnti && !o.matched, o.kind == JoinLeft && !o.matched:
		o.emit(false)
	}
	o.begun = false
	if o.at++; o.at == o.batch.Rows() {
		o.batch = nil
	}
	return nil
}

// begin finds the right rows of a left row.
func (o *mergeJoinOp) begin(row int) (err error) {
	o.batch.ReadRow(row, o.row[:o.left])
	o.begun, o.matched, o.searching, o.inner = true, false, false, nil
	if o.leftKeys.hasNull(row) {
		return nil
	}
	if o.key, err = o.leftKeys.append(o.key[:0], row); err != nil {
		return err
	}
	if !o.grouped || !bytes.Equal(o.key, o.groupKey) {
		if err := o.advance(); err != nil {
			return err
		}
	}
	if o.grouped {
		o.searching = true
		return o.group.rewind()
	}
	return nil
}

// compare joins the left row with the next row of its group.
func (o *mergeJoinOp) compare() error {
	if o.compared++; o.compared%types.MaxBatchRows == 0 {
		if err := o.rt.poll(); err != nil {
			return err
		}
	}
	o.inner.ReadRow(o.inner.Row(o.innerAt), o.row[o.left:])
	if o.innerAt++; o.innerAt == o.inner.Rows() {
		defer func() { o.inner = nil }() // after the row has been used
	}
	ok, err := o.matches()
	if err != nil || !ok {
		return err
	}
	o.matched = true
	if o.kind == JoinSemi || o.kind == JoinAnti {
		o.searching = false
		return nil
	}
	o.emit(true)
	return nil
}

// advance reads the right input up to the left row's key and gathers the rows with it.
func (o *mergeJoinOp) advance() error {
	o.grouped = false
	for {
		ok, err := o.peek()
		if !ok || err != nil {
			return err
		}
		c := bytes.Compare(o.rightKey, o.key)
		if c > 0 {
			return nil
		}
		if c == 0 {
			break
		}
		o.rightAt++
	}
	if err := o.group.reset(); err != nil {
		return err
	}
	o.groupKey = append(o.groupKey[:0], o.key...)
	for {
		if err := o.group.addBatchRow(o.rightBatch, o.rightBatch.Row(o.rightAt)); err != nil {
			return err
		}
		o.rightAt++
		ok, err := o.peek()
		if err != nil {
			return err
		}
		if !ok || !bytes.Equal(o.rightKey, o.groupKey) {
			o.grouped = true
			return o.group.account()
		}
	}
}

// peek sets the key of the next right row that has no NULL in it; ok=false at the end.
func (o *mergeJoinOp) peek() (ok bool, err error) {
	for !o.ended {
		if o.rightBatch == nil || o.rightAt == o.rightBatch.Rows() {
			if o.rightBatch, err = o.rightOp.next(); err != nil {
				return false, err
			}
			if o.rightBatch == nil {
				o.ended = true
				break
			}
			if err := o.rightKeys.batch(o.rightBatch); err != nil {
				return false, err
			}
			o.rightAt = 0
		}
		row := o.rightBatch.Row(o.rightAt)
		if !o.rightKeys.hasNull(row) {
			if o.rightKey, err = o.rightKeys.append(o.rightKey[:0], row); err != nil {
				return false, err
			}
			return true, nil
		}
		o.rightAt++
	}
	return false, nil
}

func (o *mergeJoinOp) close() {
	o.leftOp.close()
	o.rightOp.close()
	o.group.close()
	o.leftKeys.close()
	o.rightKeys.close()
	o.rt.putBatch(o.out)
	o.out = nil
}
