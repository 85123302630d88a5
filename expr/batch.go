package expr

import (
	"slices"

	"github.com/pandodb/pando/types"
)

// filterFunc removes from sel, in place, the rows of b for which n is not true, and returns what is left of it. It ignores b.Sel.
type filterFunc func(ctx *Ctx, n *Node, b *types.Batch, sel []uint16) ([]uint16, error)

// vectorBytesMax bounds the text of a computed vector. Only a function that makes long texts of short ones, used as a condition, can reach it:
// the input of a batch is short, projections, operators and aggregates of bulky texts are computed row by row, and keys are projected first.
const vectorBytesMax = 64 << 20

// errVector is the error for more than vectorBytesMax, the same as that of a statement that exceeds its memory limit.
var errVector = types.NewError(8175, "Your query has been cancelled due to exceeding the allowed memory limit for a single SQL query")

// bulkyBytes is the most bytes of a text that may be computed for a whole batch at once.
const bulkyBytes = 4 << 10

// Bulky reports whether the values of the expression, or of a part of it, may be longer than bulkyBytes, so that they are computed row by row.
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

// overBulky reports whether a kernel of n would compute a vector of bulky texts. The row path has only one of them in memory at a time.
func (n *Node) overBulky(args []Expr) bool {
	c, _ := n.aux.(*comparator)
	return slices.ContainsFunc(args, func(a Expr) bool {
		if c != nil && a.flags&(FlagColumn|volatileFlags) == 0 {
			return false // comparisons evaluate it once, see strings
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

// EvalBatch computes the expression over the selected rows of b into out, which gets n's type and b.Len rows; rows that are not selected have
// no meaning. out has copies of all bytes. It must not be a column of b.
func (n *Node) EvalBatch(ctx *Ctx, b *types.Batch, out *types.Vector) error {
	if len(live(b)) == 0 {
		// Kernels evaluate a constant operand once for all rows. Without any row that might raise an error or warning that the row path does not.
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
		// The batch keeps its slice, so sel is copied and can be reused.
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

// operandOver evaluates e over the rows sel, without rounding loose decimals. For a column, v is that of the batch and scratch is nil; otherwise
// both are a vector that the caller releases.
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

// vector returns a scratch vector, which release takes back for reuse. After an error it need not be released.
func (ctx *Ctx) vector() *types.Vector {
	if k := len(ctx.vectors); k > 0 {
		v := ctx.vectors[k-1]
		ctx.vectors[k-1] = nil // so that it can be collected if it is not released
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

// takeSel returns an empty scratch selection of capacity MaxBatchRows; giveSel takes it back for reuse.
func (ctx *Ctx) takeSel() []uint16 {
	if k := len(ctx.sels); k > 0 {
		s := ctx.sels[k-1]
		ctx.sels = ctx.sels[:k-1]
		return s
	}
	return make([]uint16, 0, types.MaxBatchRows)
}

func (ctx *Ctx) giveSel(s []uint16) { ctx.sels = append(ctx.sels, s[:0]) }

// shape makes out a vector of type t, whose values have no bytes, with rows rows that are not NULL. The kernel then writes N in place. Vector
// counts the NULLs that are appended, but kernels set bits in Nulls; so a NULL is appended and its bit cleared, which makes HasNulls true.
func shape(out *types.Vector, t *types.Type, rows int) {
	start(out, t)
	out.AppendNull()
	out.Nulls[0] = 0
	if cap(out.N) < rows {
		out.N = make([]int64, rows, types.MaxBatchRows)
	}
	out.N = out.N[:rows]
}

// shapeDecimals is shape for decimals of t's scale that fit an int64: their unscaled integers are in N.
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

// start makes out an empty vector of type t, to append to.
func start(out *types.Vector, t *types.Type) {
	if out.Type.ID != t.ID || !out.Type.Equal(t) {
		out.Init(*t)
		return
	}
	out.Reset()
}

// numeric reports whether kernels may write N of a vector of type t: its values have no bytes.
func numeric(t *types.Type) bool {
	switch t.Kind() {
	case types.KindInt, types.KindUint, types.KindFloat:
		return true
	}
	return false
}

func setNull(v *types.Vector, i uint16) { v.Nulls[i>>6] |= 1 << (i & 63) }

// evalRows is a batchFunc that uses the row path.
func evalRows(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector) error {
	return evalRowsBy(ctx, n, b, out, evalShown)
}

// evalShown is Eval as an evalFunc: it rounds loose decimals.
func evalShown(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) { return n.Eval(ctx, row) }

func evalRowsBy(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector, eval evalFunc) error {
	start(out, &n.typ)
	if cap(ctx.row) < len(b.Cols) {
		ctx.row = make([]types.Value, len(b.Cols))
	}
	row := ctx.row[:len(b.Cols)]
	// eval may evaluate a batch itself, which needs its own buffer.
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

// appendRow evaluates n over row i by eval and appends a copy of the result to out. row is a buffer for the columns. What was allocated in the
// arena is freed.
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

// StartRows makes out an empty vector of n's type for AppendRow.
func (n *Node) StartRows(b *types.Batch, out *types.Vector) {
	if n.kind == kindColumn {
		start(out, &b.Cols[n.index].Type)
		return
	}
	start(out, &n.typ)
}

// AppendRow computes the expression for row i of b (whether it is selected or not) and appends a copy of the result to out. It is EvalBatch for
// callers that check the size of out after each row.
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

// readColumns sets the elements of row that n reads to the columns of row i. The values borrow from b.
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

// batchIsNull is the batch function of IS NULL and IS NOT NULL.
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

// truthOver evaluates e as a condition over the rows sel and calls use with the result of each.
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

// batchJunction is the batch function of AND and OR. It evaluates each argument for the rows that the arguments before have not decided.
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

// filterAnd narrows the selection by one argument after the other. A row for which an argument is NULL is removed at once, because AND can't
// become true; MySQL does so, too, if NULL and FALSE of a condition have the same effect.
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

// filterOr keeps the rows for which an argument is true and evaluates the next argument for the others only.
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
