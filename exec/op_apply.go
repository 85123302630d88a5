package exec

import (
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// joinOutput builds the rows of a join: left columns, then right ones.
type joinOutput struct {
	rt    *Runtime
	kind  JoinKind
	on    expr.Expr
	left  int // number of left columns
	right []types.Type
	row   []types.Value // left values, then right ones, for On
	out   *types.Batch
}

func (j *joinOutput) init(rt *Runtime, n Node, kind JoinKind, left, right Node, on expr.Expr) {
	j.rt, j.kind, j.on = rt, kind, on
	j.left, j.right = len(Types(left)), Types(right)
	j.row = make([]types.Value, j.left+len(j.right))
	j.out = rt.getBatch(Types(n))
}

// matches evaluates On over row.
func (j *joinOutput) matches() (bool, error) {
	if j.on == nil {
		return true, nil
	}
	// One left row may meet millions of right ones before the scan below resets the
	// arena.
	j.rt.Ctx.ResetArena()
	return j.on.EvalBool(j.rt.Ctx, j.row)
}

// emit appends row; padded with NULLs when there is no right side.
func (j *joinOutput) emit(hasRight bool) {
	if j.kind == JoinSemi || j.kind == JoinAnti {
		j.out.AppendRow(j.row[:j.left])
		return
	}
	if !hasRight {
		clear(j.row[j.left:])
	}
	j.out.AppendRow(j.row)
}

// applyOp runs its right input once per left row, under parameters taken from it.
type applyOp struct {
	joinOutput
	node            *Apply
	leftOp, rightOp operator
	batch, inner    *types.Batch
	at, innerAt     int
	matched, midRow bool
	bound           []byte // bytes of the bound parameters
}

func (n *Apply) build(b *builder) (operator, error) {
	left, right, err := b.pair(n.Left, n.Right)
	if err != nil {
		return nil, err
	}
	o := &applyOp{node: n, leftOp: left, rightOp: right}
	o.init(b.rt, n, n.Kind, n.Left, n.Right, n.On)
	return o, nil
}

func (o *applyOp) open() error {
	o.batch, o.inner, o.midRow = nil, nil, false
	return o.leftOp.open()
}

func (o *applyOp) next() (*types.Batch, error) {
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

// bind sets the parameters of the right side. Their bytes are copied, because the
// right side's operators reset the arena that computed values live in.
func (o *applyOp) bind() error {
	o.bound = o.bound[:0]
	params := o.rt.Ctx.Params
	for i, e := range o.node.Bind {
		v, err := e.Eval(o.rt.Ctx, o.row[:o.left])
		if err != nil {
			return err
		}
		if len(v.B) > 0 {
			start := len(o.bound)
			o.bound = append(o.bound, v.B...)
			v.B = o.bound[start:len(o.bound):len(o.bound)]
		}
		params[o.node.Slot+i] = v
	}
	return nil
}

// step works on the left row at hand until it is done or the output is full.
func (o *applyOp) step() error {
	if !o.midRow {
		if err := o.rt.poll(); err != nil {
			return err
		}
		o.batch.ReadRow(o.batch.Row(o.at), o.row[:o.left])
		if err := o.bind(); err != nil {
			return err
		}
		if err := o.rightOp.open(); err != nil {
			return err
		}
		o.midRow, o.matched, o.inner = true, false, nil
	}
	for {
		if o.inner == nil {
			b, err := o.rightOp.next()
			if err != nil {
				return err
			}
			if b == nil {
				break
			}
			o.inner, o.innerAt = b, 0
		}
		done, err := o.innerRows()
		if done || err != nil {
			return err
		}
		if o.matched && (o.kind == JoinSemi || o.kind == JoinAnti) {
			break
		}
	}
	switch {
	case o.kind == JoinSemi && o.matched, o.kind == JoinAnti && !o.matched, o.kind == JoinLeft && !o.matched:
		o.emit(false)
	}
	o.midRow, o.inner = false, nil
	if o.at++; o.at == o.batch.Rows() {
		o.batch = nil
	}
	return nil
}

// innerRows joins the rest of the inner batch; full says that the output is full.
func (o *applyOp) innerRows() (full bool, err error) {
	for n := o.inner.Rows(); o.innerAt < n; o.innerAt++ {
		if o.out.Full() {
			return true, nil
		}
		o.inner.ReadRow(o.inner.Row(o.innerAt), o.row[o.left:])
		ok, err := o.matches()
		if err != nil {
			return false, err
		}
		if !ok {
			continue
		}
		o.matched = true
		if o.kind == JoinSemi || o.kind == JoinAnti {
			return false, nil
		}
		o.emit(true)
	}
	o.inner = nil
	return false, nil
}

func (o *applyOp) close() {
	o.leftOp.close()
	o.rightOp.close()
	o.rt.putBatch(o.out)
	o.out = nil
}
