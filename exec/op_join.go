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

// hashJoinOp keeps the right input in memory, by key.
type hashJoinOp struct {
	joinOutput
	leftOp, rightOp operator
	leftKeys        keyer
	rightKeys       keyer
	table           keyTable
	heads           []uint32 // first row+1 of each key
	tails           []uint32 // last row+1, so that rows keep their order
	nexts           []uint32 // next row+1 of each row
	ends            []uint64 // end of each row in arena
	arena           []byte
	mem             account
	key             []byte

	batch   *types.Batch // left batch at hand
	at      int          // live row of it
	chain   uint32       // next right row+1 of the row at hand
	matched bool
	midRow  bool
}

func (n *HashJoin) build(b *builder) (operator, error) {
	left, err := b.node(n.Left)
	if err != nil {
		return nil, err
	}
	right, err := b.node(n.Right)
	if err != nil {
		left.close()
		return nil, err
	}
	o := &hashJoinOp{leftOp: left, rightOp: right, mem: account{mem: b.rt.Mem}}
	o.init(b.rt, n, n.Kind, n.Left, n.Right, n.On)
	o.leftKeys.init(b.rt.Ctx, n.LeftKeys)
	o.rightKeys.init(b.rt.Ctx, n.RightKeys)
	o.table.init()
	return o, nil
}

func (o *hashJoinOp) open() error {
	o.table.reset()
	o.heads, o.tails, o.nexts, o.ends, o.arena = o.heads[:0], o.tails[:0], o.nexts[:0], o.ends[:0], o.arena[:0]
	o.batch, o.midRow = nil, false
	if err := o.rightOp.open(); err != nil {
		return err
	}
	for {
		b, err := o.rightOp.next()
		if err != nil {
			return err
		}
		if b == nil {
			return o.leftOp.open()
		}
		if err := o.insert(b); err != nil {
			return err
		}
	}
}

func (o *hashJoinOp) insert(b *types.Batch) error {
	if err := o.rightKeys.batch(b); err != nil {
		return err
	}
	for i, n := 0, b.Rows(); i < n; i++ {
		row := b.Row(i)
		if o.rightKeys.hasNull(row) {
			continue
		}
		o.key = o.rightKeys.append(o.key[:0], row)
		id, fresh := o.table.insert(o.key, o.table.hash(o.key))
		o.arena = appendBatchRow(o.arena, b, row)
		o.ends = append(o.ends, uint64(len(o.arena)))
		o.nexts = append(o.nexts, 0)
		this := uint32(len(o.ends))
		if fresh {
			o.heads, o.tails = append(o.heads, this), append(o.tails, this)
			continue
		}
		o.nexts[o.tails[id]-1] = this
		o.tails[id] = this
	}
	return o.mem.set(o.table.bytes() + int64(cap(o.arena)) + int64(cap(o.ends))*8 + int64(cap(o.heads))*12)
}

func (o *hashJoinOp) next() (*types.Batch, error) {
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
		if err := o.probe(); err != nil {
			return nil, err
		}
	}
	if o.out.Len == 0 {
		return nil, nil
	}
	return o.out, nil
}

// probe works on the left row at hand until it is done or the output is full.
func (o *hashJoinOp) probe() error {
	row := o.batch.Row(o.at)
	if !o.midRow {
		o.midRow, o.matched, o.chain = true, false, 0
		o.batch.ReadRow(row, o.row[:o.left])
		if !o.leftKeys.hasNull(row) {
			o.key = o.leftKeys.append(o.key[:0], row)
			if id, ok := o.table.find(o.key, o.table.hash(o.key)); ok {
				o.chain = o.heads[id]
			}
		}
	}
	for o.chain != 0 {
		if o.out.Full() {
			return nil
		}
		r := o.chain - 1
		o.chain = o.nexts[r]
		start := uint64(0)
		if r > 0 {
			start = o.ends[r-1]
		}
		decodeRow(o.row[o.left:], o.right, o.arena[start:o.ends[r]])
		ok, err := o.matches()
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		o.matched = true
		if o.kind == JoinSemi || o.kind == JoinAnti {
			break
		}
		o.emit(true)
	}
	o.finishRow()
	return nil
}

// finishRow emits what a left row yields after its matches and steps on. There is
// room: the loop above leaves when the output is full.
func (o *hashJoinOp) finishRow() {
	switch {
	case o.kind == JoinSemi && o.matched, o.kind == JoinAnti && !o.matched, o.kind == JoinLeft && !o.matched:
		o.emit(false)
	}
	o.midRow = false
	if o.at++; o.at == o.batch.Rows() {
		o.batch = nil
	}
}

func (o *hashJoinOp) close() {
	o.leftOp.close()
	o.rightOp.close()
	o.mem.close()
	o.rt.putBatch(o.out)
	o.out = nil
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
	left, err := b.node(n.Left)
	if err != nil {
		return nil, err
	}
	right, err := b.node(n.Right)
	if err != nil {
		left.close()
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
