package exec

import (
	"bytes"
	"slices"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// valuesOp yields rows of expressions; Dual is one row without columns.
type valuesOp struct {
	rt   *Runtime
	rows [][]expr.Expr
	out  *types.Batch
	row  []types.Value
	at   int
}

func (n *Dual) build(b *builder) (operator, error) {
	return &valuesOp{rt: b.rt, rows: make([][]expr.Expr, 1), out: b.rt.getBatch(nil)}, nil
}

func (n *Values) build(b *builder) (operator, error) {
	return &valuesOp{rt: b.rt, rows: n.Rows, out: b.rt.getBatch(n.Out), row: make([]types.Value, len(n.Out))}, nil
}

func (o *valuesOp) open() error { o.at = 0; return nil }

func (o *valuesOp) next() (*types.Batch, error) {
	if o.at == len(o.rows) {
		return nil, nil
	}
	if err := o.rt.poll(); err != nil {
		return nil, err
	}
	o.rt.Ctx.ResetArena()
	o.out.Reset()
	for ; o.at < len(o.rows) && !o.out.Full(); o.at++ {
		for i, e := range o.rows[o.at] {
			v, err := e.Eval(o.rt.Ctx, nil)
			if err != nil {
				return nil, err
			}
			o.row[i] = v
		}
		o.out.AppendRow(o.row)
	}
	return o.out, nil
}

func (o *valuesOp) close() { o.rt.putBatch(o.out); o.out = nil }

// sourceOp runs a RowSource's Fill to the end and keeps the rows: the code behind it
// pushes, while operators pull, and the lists it makes are small.
type sourceOp struct {
	rt   *Runtime
	node *RowSource
	rows rowList
}

func (n *RowSource) build(b *builder) (operator, error) {
	o := &sourceOp{rt: b.rt, node: n}
	o.rows.init(b.rt, n.Out)
	return o, nil
}

func (o *sourceOp) open() error {
	if err := o.rows.reset(); err != nil {
		return err
	}
	count := 0
	err := o.node.Fill(o.rt, func(row []types.Value) error {
		if count++; count%types.MaxBatchRows == 0 {
			if err := o.rt.poll(); err != nil {
				return err
			}
		}
		return o.rows.addRow(row)
	})
	o.rt.Work.Add(ReadRndNext, uint64(count)+1)
	if err != nil {
		return err
	}
	return o.rows.rewind()
}

func (o *sourceOp) next() (*types.Batch, error) { return o.rows.next() }
func (o *sourceOp) close()                      { o.rows.close() }

// filterOp narrows the selection of its input's batches.
type filterOp struct {
	rt    *Runtime
	input operator
	cond  expr.Expr
}

func (n *Filter) build(b *builder) (operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	return &filterOp{rt: b.rt, input: in, cond: n.Cond}, nil
}

func (o *filterOp) open() error { return o.input.open() }

func (o *filterOp) next() (*types.Batch, error) {
	for {
		b, err := o.input.next()
		if b == nil || err != nil {
			return nil, err
		}
		if err := expr.FilterBatch(o.rt.Ctx, o.cond, b); err != nil {
			return nil, err
		}
		if b.Rows() > 0 {
			return b, nil
		}
	}
}

func (o *filterOp) close() { o.input.close() }

// projectOp computes expressions over batches. Columns that are passed on as they
// are get copied: sharing vectors between two batches would break the rule that a
// batch belongs to its operator.
type projectOp struct {
	rt    *Runtime
	input operator
	exprs []expr.Expr
	out   *types.Batch
	// bulky says that the values may be long: they are computed row by row then, so that
	// the batch can end before it is too large.
	bulky bool
	in    *types.Batch // bulky: the input's batch at hand
	at    int          // its next live row
	mem   account      // of many expressions
}

func (n *Project) build(b *builder) (operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	return &projectOp{rt: b.rt, input: in, exprs: n.Exprs, out: b.rt.getBatch(Types(n)), mem: b.rt.account(), bulky: slices.ContainsFunc(n.Exprs, expr.Expr.Bulky)}, nil
}

func (o *projectOp) open() error {
	o.in = nil
	return o.input.open()
}

func (o *projectOp) next() (*types.Batch, error) {
	if o.bulky {
		return o.nextBulky()
	}
	b, err := o.input.next()
	if b == nil || err != nil {
		return nil, err
	}
	if err := o.mem.change(max(o.mem.held, int64(wideBytes(len(o.exprs), b.Len)))); err != nil { // what the vectors have grown to stays
		return nil, err
	}
	o.out.Reset()
	for i, e := range o.exprs {
		if err := e.EvalBatch(o.rt.Ctx, b, &o.out.Cols[i]); err != nil {
			return nil, err
		}
		if err := pollColumns(o.rt, i); err != nil {
			return nil, err
		}
	}
	// Results stand at their rows' own positions, so the selection carries over.
	o.out.Len, o.out.Sel = b.Len, b.Sel
	return o.out, nil
}

// nextBulky computes rows of the input's batch until the output is full.
func (o *projectOp) nextBulky() (*types.Batch, error) {
	if o.in == nil {
		b, err := o.input.next()
		if b == nil || err != nil {
			return nil, err
		}
		o.in, o.at = b, 0
	}
	o.out.Reset()
	for c, e := range o.exprs {
		e.StartRows(o.in, &o.out.Cols[c])
	}
	for ; o.at < o.in.Rows() && !o.out.Full(); o.at++ {
		if err := o.rt.poll(); err != nil {
			return nil, err
		}
		for c, e := range o.exprs {
			if err := e.AppendRow(o.rt.Ctx, o.in, o.in.Row(o.at), &o.out.Cols[c]); err != nil {
				return nil, err
			}
		}
		o.out.EndRow()
	}
	if o.at == o.in.Rows() {
		o.in = nil
	}
	return o.out, nil
}

func (o *projectOp) close() {
	o.input.close()
	if o.out != nil {
		o.out.Sel = nil
		o.rt.putBatch(o.out)
		o.out = nil
	}
	o.mem.close()
}

// limitOp drops the first rows and ends after enough of them.
type limitOp struct {
	rt          *Runtime
	node        *Limit
	input       operator
	skip, left  uint64
	seen        uint64
	sel         []uint16
	hasOutput   bool
	countBeyond bool
	top         bool
}

func (n *Limit) build(b *builder) (operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	return &limitOp{rt: b.rt, node: n, input: in, countBeyond: n.FoundRows, top: n.Top}, nil
}

func (o *limitOp) open() (err error) {
	if o.left, err = o.rt.evalCount(o.node.Count, ^uint64(0)); err != nil {
		return err
	}
	if o.skip, err = o.rt.evalCount(o.node.Offset, 0); err != nil {
		return err
	}
	o.seen = 0
	if o.left == 0 && !o.countBeyond {
		return nil
	}
	return o.input.open()
}

func (o *limitOp) next() (*types.Batch, error) {
	if o.left == 0 && !o.countBeyond {
		return nil, nil
	}
	for {
		b, err := o.input.next()
		if err != nil {
			return nil, err
		}
		if b == nil {
			if o.countBeyond {
				o.rt.FoundRowsCount = o.seen
			}
			o.left, o.countBeyond = 0, false
			return nil, nil
		}
		rows := uint64(b.Rows())
		o.seen += rows
		from := min(o.skip, rows)
		o.skip -= from
		if o.top {
			o.rt.skippedRows += from
		}
		take := min(rows-from, o.left)
		o.left -= take
		if take > 0 {
			o.cut(b, int(from), int(from+take))
			return b, nil
		}
		if o.left == 0 && !o.countBeyond {
			return nil, nil
		}
	}
}

// cut keeps live rows from..to of b.
func (o *limitOp) cut(b *types.Batch, from, to int) {
	if from == 0 && to == b.Rows() {
		return
	}
	o.sel = o.sel[:0]
	for i := from; i < to; i++ {
		o.sel = append(o.sel, uint16(b.Row(i)))
	}
	b.Sel = o.sel
}

func (o *limitOp) close() { o.input.close() }

// unionOp yields its inputs one after another.
type unionOp struct {
	inputs []operator
	at     int
}

func (n *UnionAll) build(b *builder) (operator, error) {
	o := &unionOp{}
	for _, c := range n.Inputs {
		in, err := b.node(c)
		if err != nil {
			o.close()
			return nil, err
		}
		o.inputs = append(o.inputs, in)
	}
	return o, nil
}

func (o *unionOp) open() error {
	o.at = 0
	if len(o.inputs) == 0 {
		return nil
	}
	return o.inputs[0].open()
}

func (o *unionOp) next() (*types.Batch, error) {
	for o.at < len(o.inputs) {
		b, err := o.inputs[o.at].next()
		if b != nil || err != nil {
			return b, err
		}
		if o.at++; o.at < len(o.inputs) {
			if err := o.inputs[o.at].open(); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

func (o *unionOp) close() {
	for _, in := range o.inputs {
		in.close()
	}
}

// materializeOp keeps its input's rows over reopenings.
type materializeOp struct {
	rt     *Runtime
	input  operator
	slots  slotValues
	deltas []*CTE
	runs   []uint64 // cteState.runs of deltas when the rows were read
	rows   rowList
	filled bool
}

func (n *Materialize) build(b *builder) (operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	o := &materializeOp{rt: b.rt, input: in, slots: slotValues{slots: n.Slots}, deltas: n.Deltas, runs: make([]uint64, len(n.Deltas))}
	o.rows.init(b.rt, Types(n))
	return o, nil
}

// anotherRun reports whether a recursion has begun another run since the last call.
func (o *materializeOp) anotherRun() (other bool) {
	for i, c := range o.deltas {
		if run := o.rt.cte(c).runs; run != o.runs[i] {
			o.runs[i], other = run, true
		}
	}
	return other
}

func (o *materializeOp) open() error {
	other := o.anotherRun()
	if o.slots.changed(o.rt) || other || !o.filled {
		if err := o.fill(); err != nil {
			return err
		}
	}
	return o.rows.rewind()
}

func (o *materializeOp) fill() error {
	o.filled = false
	if err := o.rows.reset(); err != nil {
		return err
	}
	if err := o.input.open(); err != nil {
		return err
	}
	for {
		b, err := o.input.next()
		if err != nil {
			return err
		}
		if b == nil {
			o.filled = true
			return nil
		}
		if err := o.rows.addBatch(b); err != nil {
			return err
		}
	}
}

func (o *materializeOp) next() (*types.Batch, error) { return o.rows.next() }

func (o *materializeOp) close() { o.input.close(); o.rows.close() }

// slotValues remembers the parameters that something was made under.
type slotValues struct {
	slots      []int
	last, next []byte
}

// changed reports whether the parameters differ from those of the last call.
func (s *slotValues) changed(rt *Runtime) bool {
	s.next = s.next[:0]
	for _, slot := range s.slots {
		s.next = appendValue(s.next, &rt.Ctx.Params[slot])
	}
	if bytes.Equal(s.last, s.next) {
		return false
	}
	s.last, s.next = s.next, s.last
	return true
}
