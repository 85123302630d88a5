package expr

import (
	"slices"

	"github.com/pandodb/pando/types"
)

// filterFunc keeps of sel, in place, the rows of b for which n is true. b.Sel is ignored.
type filterFunc func(ctx *Ctx, n *Node, b *types.Batch, sel []uint16) ([]uint16, error)

// vectorBytesMax bounds the text of a computed vector. The input of a batch is short, so only functions that make text out of little
// reach it, as a bare condition: projections, operators and aggregates over bulky texts go row by row, and keys are projected first.
const vectorBytesMax = 64 << 20

// errVector is what a statement gets that exceeds its memory, too.
var errVector = types.NewError(8175, "Your query has been cancelled due to exceeding the allowed memory limit for a single SQL query")

// bulkyBytes is the longest text of which a whole batch may be computed at once.
const bulkyBytes = 4 << 10

// Bulky reports whether the values of the expression, or those within it, may be too long to be computed for a whole batch.
func (n *Node) Bulky() bool {
	return n.bulkyText() || slices.ContainsFunc(n.args, Expr.Bulky)
}

func (n *Node) bulkyText() bool {
	if n.kind == kindColumn || !n.typ.IsStringType() && n.typ.ID != types.TypeJSON {
		return false
	}
	chars := charLength(&n.typ)
	return n.typ.ID == types.TypeJSON || chars < 0 || chars > bulkyBytes/4
}

// overBulky reports whether a kernel of n would make a vector of bulky texts. The row path has one of them at a time.
func (n *Node) overBulky(args []Expr) bool {
	c, _ := n.aux.(*comparator)
	return slices.ContainsFunc(args, func(a Expr) bool {
		if c != nil && a.flags&(FlagColumn|volatileFlags) == 0 {
			return false // comparisons take it once, see strings
		}
		return a.bulkyText()
	})
}

// everyRow is the selection of a batch without one. It is read-only.
var everyRow = func() (all [types.MaxBatchRows]uint16) {
	for i := range all {
		all[i] = uint16(i)
	}
	return all
}()

// live returns the selected rows of b; the slice must not be written.
func live(b *types.Batch) []uint16 {
	if b.Sel != nil {
		return b.Sel
	}
	return everyRow[:b.Len]
}

// EvalBatch computes the expression over the selected rows of b into out, which it shapes: out gets n's type and b.Len
// rows, of which those not selected hold nothing meaningful. out must not be a column of b.
func (n *Node) EvalBatch(ctx *Ctx, b *types.Batch, out *types.Vector) error {
	if len(live(b)) == 0 {
		// Kernels evaluate a constant operand once, for all rows: with no row at all its error or warning would be one that no row asked for.
		start(out, &n.typ)
		for range b.Len {
			out.AppendNull()
		}
		return nil
	}
	err := ctx.failed
	switch {
	case err != nil:
	case n.batch != nil && !n.loose:
		err = n.batch(ctx, n, b, out)
	default:
		err = evalRows(ctx, n, b, out)
	}
	if err == nil {
		err = ctx.failed
	}
	return err
}

// FilterBatch narrows b.Sel to the rows for which e is true.
func FilterBatch(ctx *Ctx, e Expr, b *types.Batch) error {
	sel := ctx.takeSel()
	sel = append(sel[:0], live(b)...)
	sel, err := filterRows(ctx, e, b, sel)
	if err == nil {
		err = ctx.failed
	}
	if err == nil {
		// The batch gets a slice of its own, which it may keep, so that the scratch slice can serve again.
		if b.Sel == nil {
			b.Sel = make([]uint16, 0, types.MaxBatchRows)
		}
		b.Sel = append(b.Sel[:0], sel...)
	}
	ctx.giveSel(sel)
	return err
}

// filterRows is FilterBatch over an explicit selection.
func filterRows(ctx *Ctx, e Expr, b *types.Batch, sel []uint16) ([]uint16, error) {
	if len(sel) == 0 {
		return sel, nil
	}
	if e.filter != nil {
		return e.filter(ctx, e, b, sel)
	}
	v, scratch, err := ctx.operandOver(e, b, sel)
	if err != nil {
		return sel, err
	}
	kept := sel[:0]
	kind := v.Type.Kind()
	for _, i := range sel {
		if v.IsNull(int(i)) {
			continue
		}
		hit := v.N[i] != 0
		if kind != types.KindInt && kind != types.KindUint {
			x := v.Value(int(i))
			t, err := truth(ctx, &x)
			if err != nil {
				return sel, err
			}
			hit = t == triTrue
		}
		if hit {
			kept = append(kept, i)
		}
	}
	ctx.release(scratch)
	return kept, nil
}

// operandOver evaluates e for the rows of sel, with all its digits. A column is returned as it stands; otherwise scratch is to be released.
func (ctx *Ctx) operandOver(e Expr, b *types.Batch, sel []uint16) (v, scratch *types.Vector, err error) {
	if e.kind == kindColumn {
		return &b.Cols[e.index], nil, nil
	}
	v = ctx.vector()
	saved := b.Sel
	b.Sel = sel
	if e.loose && len(sel) > 0 {
		err = evalRowsBy(ctx, e, b, v, e.eval)
	} else {
		err = e.EvalBatch(ctx, b, v)
	}
	b.Sel = saved
	return v, v, err
}

// vector takes a scratch vector; release gives it back. One that an error keeps from its release is lost to the pool only.
func (ctx *Ctx) vector() *types.Vector {
	if k := len(ctx.vectors); k > 0 {
		v := ctx.vectors[k-1]
		ctx.vectors[k-1] = nil // it may not come back
		ctx.vectors = ctx.vectors[:k-1]
		return v
	}
	return new(types.Vector)
}

func (ctx *Ctx) release(v *types.Vector) {
	if v != nil {
		if cap(v.Data) > arenaKeepBytes {
			v.Data = nil
		}
		ctx.vectors = append(ctx.vectors, v)
	}
}

func (ctx *Ctx) takeSel() []uint16 {
	if k := len(ctx.sels); k > 0 {
		s := ctx.sels[k-1]
		ctx.sels = ctx.sels[:k-1]
		return s
	}
	return make([]uint16, 0, types.MaxBatchRows)
}

func (ctx *Ctx) giveSel(s []uint16) { ctx.sels = append(ctx.sels, s[:0]) }

// shape empties out for t and gives it rows rows, none of them NULL, whose numbers a kernel then writes in place. t is a type whose values
// have no bytes. The vector counts NULLs as they are appended; kernels set bits instead, so a NULL is appended and taken back to
// make HasNulls say "perhaps".
func shape(out *types.Vector, t *types.Type, rows int) {
	start(out, t)
	out.AppendNull()
	out.Nulls[0] = 0
	if cap(out.N) < rows {
		out.N = make([]int64, rows, types.MaxBatchRows)
	}
	out.N = out.N[:rows]
}

// shapeDecimals is shape for decimals that are narrow and of t's scale, whose numbers are in N like those of integers.
func shapeDecimals(out *types.Vector, t *types.Type, rows int) {
	start(out, t)
	out.AppendNull()
	out.Nulls[0] = 0
	out.N = out.N[:0]
	out.Off = out.Off[:1]
	for range rows {
		out.AppendInt(0)
	}
}

// start empties out for values of t that are appended one by one.
func start(out *types.Vector, t *types.Type) {
	if out.Type.ID != t.ID || !out.Type.Equal(t) {
		out.Init(*t)
		return
	}
	out.Reset()
}

// numeric reports whether kernels may write a vector's numbers directly: values of the kind have no bytes.
func numeric(t *types.Type) bool {
	switch t.Kind() {
	case types.KindInt, types.KindUint, types.KindFloat:
		return true
	}
	return false
}

func setNull(v *types.Vector, i uint16) { v.Nulls[i>>6] |= 1 << (i & 63) }

// evalRows is the row path over a batch.
func evalRows(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector) error {
	return evalRowsBy(ctx, n, b, out, evalShown)
}

// evalShown is Eval: without the digits that n doesn't show.
func evalShown(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) { return n.Eval(ctx, row) }

func evalRowsBy(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector, eval evalFunc) error {
	start(out, &n.typ)
	if cap(ctx.row) < len(b.Cols) {
		ctx.row = make([]types.Value, len(b.Cols))
	}
	row := ctx.row[:len(b.Cols)]
	// Rows nest when a function evaluates a batch of its own; each level needs a buffer of its own.
	ctx.row = nil
	defer func() { ctx.row = row }()
	next := 0
	for _, i := range live(b) {
		for ; next < int(i); next++ {
			out.AppendNull()
		}
		if len(out.Data) > vectorBytesMax {
			return errVector
		}
		if err := n.appendRow(ctx, b, int(i), row, out, eval); err != nil {
			return err
		}
		next++
	}
	for ; next < b.Len; next++ {
		out.AppendNull()
	}
	return nil
}

// appendRow computes row i with a buffer for its columns. The vector has a copy of the result, so what the row took of the arena is free
// again.
func (n *Node) appendRow(ctx *Ctx, b *types.Batch, i int, row []types.Value, out *types.Vector, eval evalFunc) error {
	if n.flags&FlagColumn != 0 {
		readColumns(n, b, i, row)
	}
	mark := ctx.mark()
	v, err := eval(ctx, n, row)
	if err == nil {
		err = ctx.failed
	}
	if err != nil {
		return err
	}
	out.Append(&v)
	ctx.rewind(mark)
	return nil
}

// StartRows empties out for AppendRow.
func (n *Node) StartRows(b *types.Batch, out *types.Vector) {
	if n.kind == kindColumn {
		start(out, &b.Cols[n.index].Type)
		return
	}
	start(out, &n.typ)
}

// AppendRow computes the expression for physical row i of b as EvalBatch does, and appends the result to out, for those who watch the
// size of what they compute.
func (n *Node) AppendRow(ctx *Ctx, b *types.Batch, i int, out *types.Vector) error {
	if n.kind == kindColumn {
		out.AppendFrom(&b.Cols[n.index], i)
		return nil
	}
	if cap(ctx.row) < len(b.Cols) {
		ctx.row = make([]types.Value, len(b.Cols))
	}
	row := ctx.row[:len(b.Cols)]
	ctx.row = nil
	err := n.appendRow(ctx, b, i, row, out, evalShown)
	ctx.row = row
	return err
}

// readColumns fills row with the columns that n reads.
func readColumns(n *Node, b *types.Batch, i int, row []types.Value) {
	if n.kind == kindColumn {
		row[n.index] = b.Cols[n.index].Value(i)
		return
	}
	for _, a := range n.args {
		if a.flags&FlagColumn != 0 {
			readColumns(a, b, i, row)
		}
	}
}

func batchColumn(_ *Ctx, n *Node, b *types.Batch, out *types.Vector) error {
	src := &b.Cols[n.index]
	start(out, &src.Type)
	next := 0
	for _, i := range live(b) {
		for ; next < int(i); next++ {
			out.AppendNull()
		}
		out.AppendFrom(src, int(i))
		next++
	}
	for ; next < b.Len; next++ {
		out.AppendNull()
	}
	return nil
}

func batchConst(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector) error {
	v, err := n.eval(ctx, n, nil)
	if err != nil {
		return err
	}
	if v.K != n.typ.Kind() || !numeric(&n.typ) {
		start(out, &n.typ)
		for range b.Len {
			if len(out.Data) > vectorBytesMax {
				return errVector
			}
			out.Append(&v)
		}
		return nil
	}
	shape(out, &n.typ, b.Len)
	for i := range out.N {
		out.N[i] = v.N
	}
	return nil
}

// batchIsNull is IS NULL and IS NOT NULL.
func batchIsNull(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector) error {
	v, scratch, err := ctx.operandOver(n.args[0], b, live(b))
	if err != nil {
		return err
	}
	shape(out, &n.typ, b.Len)
	wanted := n.name == "is null"
	for _, i := range live(b) {
		out.N[i] = 0
		if v.IsNull(int(i)) == wanted {
			out.N[i] = 1
		}
	}
	ctx.release(scratch)
	return nil
}

// truthOver evaluates e as a condition over sel: N is 0 or 1 where it is not NULL.
func (ctx *Ctx) truthOver(e Expr, b *types.Batch, sel []uint16, use func(i uint16, t tri)) error {
	v, scratch, err := ctx.operandOver(e, b, sel)
	if err != nil {
		return err
	}
	kind := v.Type.Kind()
	for _, i := range sel {
		switch {
		case v.IsNull(int(i)):
			use(i, triNull)
		case kind == types.KindInt || kind == types.KindUint:
			use(i, triOf(v.N[i] != 0))
		default:
			x := v.Value(int(i))
			t, err := truth(ctx, &x)
			if err != nil {
				return err
			}
			use(i, t)
		}
	}
	ctx.release(scratch)
	return nil
}

func batchNot(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector) error {
	shape(out, &n.typ, b.Len)
	return ctx.truthOver(n.args[0], b, live(b), func(i uint16, t tri) {
		switch t {
		case triNull:
			setNull(out, i)
			out.N[i] = 0
		case triTrue:
			out.N[i] = 0
		default:
			out.N[i] = 1
		}
	})
}

// batchJunction is AND and OR. Each argument is evaluated for the rows that are still undecided.
func batchJunction(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector) error {
	shape(out, &n.typ, b.Len)
	decided, rest := triFalse, int64(1)
	if n.name == "or" {
		decided, rest = triTrue, 0
	}
	open := append(ctx.takeSel()[:0], live(b)...)
	for _, i := range open {
		out.N[i] = rest
	}
	for _, a := range n.args {
		if len(open) == 0 {
			break
		}
		if err := ctx.steps(len(open)); err != nil {
			return err
		}
		kept := ctx.takeSel()[:0]
		err := ctx.truthOver(a, b, open, func(i uint16, t tri) {
			switch t {
			case decided:
				out.N[i] = 1 - rest
				out.Nulls[i>>6] &^= 1 << (i & 63)
			case triNull:
				setNull(out, i)
				kept = append(kept, i)
			default:
				kept = append(kept, i)
			}
		})
		if err != nil {
			return err
		}
		ctx.giveSel(open)
		open = kept
	}
	ctx.giveSel(open)
	return nil
}

// filterAnd narrows the selection by one argument after the other. A row that is NULL so far leaves at once, since it can't
// become true; MySQL stops there too when only the truth of a condition matters.
func filterAnd(ctx *Ctx, n *Node, b *types.Batch, sel []uint16) ([]uint16, error) {
	var err error
	for _, a := range n.args {
		if err := ctx.steps(len(sel)); err != nil {
			return sel, err
		}
		if sel, err = filterRows(ctx, a, b, sel); err != nil || len(sel) == 0 {
			return sel, err
		}
	}
	return sel, nil
}

// filterOr keeps a row once one argument is true and tries the next argument on the rest.
func filterOr(ctx *Ctx, n *Node, b *types.Batch, sel []uint16) ([]uint16, error) {
	var hit [types.MaxBatchRows / 64]uint64
	open := append(ctx.takeSel()[:0], sel...)
	tried := ctx.takeSel()
	for _, a := range n.args {
		err := ctx.steps(len(open))
		if err != nil {
			return sel, err
		}
		tried = append(tried[:0], open...)
		if tried, err = filterRows(ctx, a, b, tried); err != nil {
			return sel, err
		}
		for _, i := range tried {
			hit[i>>6] |= 1 << (i & 63)
		}
		left := open[:0]
		for _, i := range open {
			if hit[i>>6]>>(i&63)&1 == 0 {
				left = append(left, i)
			}
		}
		if open = left; len(open) == 0 {
			break
		}
	}
	kept := sel[:0]
	for _, i := range sel {
		if hit[i>>6]>>(i&63)&1 != 0 {
			kept = append(kept, i)
		}
	}
	ctx.giveSel(open)
	ctx.giveSel(tried)
	return kept, nil
}
