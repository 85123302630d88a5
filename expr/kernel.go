package expr

import (
	"bytes"
	"math"

	"github.com/pandodb/pando/types"
)

// numbers is an operand of a kernel: a vector, or one value for all rows. Row i's number is n[i&mask].
type numbers struct {
	n     []int64
	mask  int
	nulls []uint64 // nil: none
	null  bool     // the one value is NULL
	kind  types.Kind
	scale uint8
	one   [1]int64
}

// load prepares e as an operand over the live rows of b. ok is false if its values have no plain numbers (wide decimals, or
// a parameter of an unexpected kind); the caller then takes the row path.
func (x *numbers) load(ctx *Ctx, e Expr, b *types.Batch, sel []uint16) (scratch *types.Vector, ok bool, err error) {
	if e.flags&(FlagColumn|volatileFlags) == 0 {
		v, err := e.Eval(ctx, nil)
		if err != nil {
			return nil, false, err
		}
		if v.K == types.KindNull {
			x.null, x.kind = true, e.typ.Kind()
		} else {
			x.kind, x.scale = v.K, v.Scale
		}
		x.one[0] = v.N
		x.n, x.mask = x.one[:], 0
		return nil, v.K != types.KindDecimal || v.B == nil, nil
	}
	v, scratch, err := ctx.operandOver(e, b, sel)
	if err != nil {
		return scratch, false, err
	}
	x.n, x.mask, x.nulls = v.N, -1, v.Nulls
	x.kind, x.scale = v.Type.Kind(), uint8(max(v.Type.Scale, 0))
	// A decimal vector without bytes holds narrow numbers of the type's scale only.
	return scratch, x.kind != types.KindDecimal || len(v.Data) == 0, nil
}

// mergeNulls marks in out the rows where x or y is NULL.
func mergeNulls(out *types.Vector, x, y *numbers) {
	for _, o := range [2]*numbers{x, y} {
		if o.null {
			for w := range out.Nulls {
				out.Nulls[w] = ^uint64(0)
			}
		}
		for w := range out.Nulls {
			if w < len(o.nulls) {
				out.Nulls[w] |= o.nulls[w]
			}
		}
	}
}

// arithKernel computes one row; bad says that the row path must report an overflow.
type arithKernel func(out *types.Vector, x, y *numbers, sel []uint16) (bad bool)

// batchArith returns the kernel of +, - or * over signed integers, doubles and narrow decimals, or nil.
func batchArith(n *Node) batchFunc {
	var k arithKernel
	x, y := n.args[0], n.args[1]
	kx, ky := x.typ.Kind(), y.typ.Kind()
	switch {
	case n.typ.ID == types.TypeDouble && floatOperand(kx) && floatOperand(ky):
		k = map[string]arithKernel{"+": addFloats, "-": subFloats, "*": mulFloats}[n.name]
	case n.typ.ID == types.TypeBigInt && !n.typ.Unsigned && kx == types.KindInt && ky == types.KindInt:
		k = map[string]arithKernel{"+": addInts, "-": subInts, "*": mulInts}[n.name]
	case n.typ.ID == types.TypeDecimal && n.typ.Length <= 18 && decimalOperand(x, n) && decimalOperand(y, n):
		// Narrow results cannot overflow an int64, since their precision bounds them.
		k = map[string]arithKernel{"+": addInts, "-": subInts, "*": mulInts}[n.name]
	default:
		return nil
	}
	return func(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector) error { return runArith(ctx, n, b, out, k) }
}

func floatOperand(k types.Kind) bool { return k == types.KindFloat || k == types.KindInt }

// decimalOperand reports whether e's unscaled numbers can be computed with directly: sums need equal scales.
func decimalOperand(e Expr, n *Node) bool {
	if e.loose || e.typ.ID != types.TypeDecimal {
		return false
	}
	return n.name == "*" || e.typ.Scale == n.typ.Scale
}

func runArith(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector, k arithKernel) error {
	var x, y numbers
	sel := live(b)
	s1, ok1, err := x.load(ctx, n.args[0], b, sel)
	if err != nil {
		return err
	}
	s2, ok2, err := y.load(ctx, n.args[1], b, sel)
	if err != nil {
		return err
	}
	defer ctx.release(s1)
	defer ctx.release(s2)
	if !ok1 || !ok2 || !x.suits(n, 0) || !y.suits(n, 1) {
		return evalRows(ctx, n, b, out)
	}
	if n.typ.ID == types.TypeDecimal {
		shapeDecimals(out, &n.typ, b.Len)
	} else {
		shape(out, &n.typ, b.Len)
	}
	mergeNulls(out, &x, &y)
	if k(out, &x, &y, sel) {
		return evalRows(ctx, n, b, out)
	}
	return nil
}

// suits checks that a run-time operand is of the kind that the kernel was chosen for.
func (x *numbers) suits(n *Node, arg int) bool {
	want := n.args[arg].typ.Kind()
	if x.kind != want {
		return x.null
	}
	return x.null || want != types.KindDecimal || x.mask != 0 || x.scale == uint8(n.args[arg].typ.Scale)
}

func addInts(out *types.Vector, x, y *numbers, sel []uint16) bool {
	var over int64
	for _, i := range sel {
		a, b := x.n[int(i)&x.mask], y.n[int(i)&y.mask]
		s := a + b
		out.N[i] = s
		over |= (a ^ s) & (b ^ s)
	}
	return over < 0
}

func subInts(out *types.Vector, x, y *numbers, sel []uint16) bool {
	var over int64
	for _, i := range sel {
		a, b := x.n[int(i)&x.mask], y.n[int(i)&y.mask]
		s := a - b
		out.N[i] = s
		over |= (a ^ b) & (a ^ s)
	}
	return over < 0
}

func mulInts(out *types.Vector, x, y *numbers, sel []uint16) bool {
	over := false
	for _, i := range sel {
		a, b := x.n[int(i)&x.mask], y.n[int(i)&y.mask]
		p := a * b
		out.N[i] = p
		if int64(int32(a)) != a || int64(int32(b)) != b {
			over = over || a != 0 && (p/a != b || a == -1 && b == math.MinInt64)
		}
	}
	return over
}

func (x *numbers) float(i uint16) float64 {
	if x.kind == types.KindFloat {
		return math.Float64frombits(uint64(x.n[int(i)&x.mask]))
	}
	return float64(x.n[int(i)&x.mask])
}

func addFloats(out *types.Vector, x, y *numbers, sel []uint16) bool {
	bad := false
	for _, i := range sel {
		f := x.float(i) + y.float(i)
		out.N[i] = int64(math.Float64bits(f))
		bad = bad || f-f != 0 && !out.IsNull(int(i))
	}
	return bad
}

func subFloats(out *types.Vector, x, y *numbers, sel []uint16) bool {
	bad := false
	for _, i := range sel {
		f := x.float(i) - y.float(i)
		out.N[i] = int64(math.Float64bits(f))
		bad = bad || f-f != 0 && !out.IsNull(int(i))
	}
	return bad
}

func mulFloats(out *types.Vector, x, y *numbers, sel []uint16) bool {
	bad := false
	for _, i := range sel {
		f := x.float(i) * y.float(i)
		out.N[i] = int64(math.Float64bits(f))
		bad = bad || f-f != 0 && !out.IsNull(int(i))
	}
	return bad
}

// orderFunc compares row i of two operands.
type orderFunc func(x, y *numbers, i uint16) int

func orderSigned(x, y *numbers, i uint16) int {
	return orderInts(x.n[int(i)&x.mask], y.n[int(i)&y.mask])
}

func orderUnsigned(x, y *numbers, i uint16) int {
	return orderUints(uint64(x.n[int(i)&x.mask]), uint64(y.n[int(i)&y.mask]))
}

func orderReal(x, y *numbers, i uint16) int { return orderFloats(x.float(i), y.float(i)) }

// plainOrder returns how two operands' numbers compare, nil if that takes more than the numbers.
func (c *comparator) plainOrder(x, y *numbers) orderFunc {
	if x.null || y.null {
		return orderSigned // the result is NULL anyway
	}
	switch c.class {
	case classInt:
		switch {
		case x.kind == types.KindInt && y.kind == types.KindInt:
			return orderSigned
		case unsignedKind(x.kind) && unsignedKind(y.kind):
			return orderUnsigned
		case unsignedKind(x.kind) && y.mask == 0 && y.n[0] >= 0, unsignedKind(y.kind) && x.mask == 0 && x.n[0] >= 0:
			return orderUnsigned
		}
	case classFloat:
		if floatOperand(x.kind) && floatOperand(y.kind) {
			return orderReal
		}
	case classDecimal:
		if x.kind == types.KindDecimal && y.kind == types.KindDecimal && x.scale == y.scale {
			return orderSigned
		}
	case classTemporal:
		dates := func(k types.Kind) bool { return k == types.KindDate || k == types.KindDatetime }
		if dates(x.kind) && dates(y.kind) || x.kind == types.KindTimestamp && y.kind == types.KindTimestamp {
			return orderSigned
		}
	case classTime:
		if x.kind == types.KindTime && y.kind == types.KindTime {
			return orderSigned
		}
	}
	return nil
}

func unsignedKind(k types.Kind) bool { return k == types.KindUint || k == types.KindBit }

// batchCompare returns the batch and filter functions of a comparison.
func batchCompare(c *comparator) (batchFunc, filterFunc) {
	switch c.class {
	case classInt, classFloat, classDecimal, classTemporal, classTime:
		return compareNumbers, filterNumbers
	case classString:
		return compareStrings, nil
	}
	return nil, nil
}

func compareNumbers(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector) error {
	var x, y numbers
	sel, c := live(b), n.aux.(*comparator)
	s1, ok1, err := x.load(ctx, n.args[0], b, sel)
	if err != nil {
		return err
	}
	s2, ok2, err := y.load(ctx, n.args[1], b, sel)
	if err != nil {
		return err
	}
	defer ctx.release(s1)
	defer ctx.release(s2)
	order := c.plainOrder(&x, &y)
	if !ok1 || !ok2 || order == nil {
		return evalRows(ctx, n, b, out)
	}
	shape(out, &n.typ, b.Len)
	mergeNulls(out, &x, &y)
	for _, i := range sel {
		out.N[i] = int64(c.mask >> uint(order(&x, &y, i)+1) & 1)
	}
	return nil
}

func filterNumbers(ctx *Ctx, n *Node, b *types.Batch, sel []uint16) ([]uint16, error) {
	var x, y numbers
	c := n.aux.(*comparator)
	s1, ok1, err := x.load(ctx, n.args[0], b, sel)
	if err != nil {
		return sel, err
	}
	s2, ok2, err := y.load(ctx, n.args[1], b, sel)
	if err != nil {
		return sel, err
	}
	defer ctx.release(s1)
	defer ctx.release(s2)
	order := c.plainOrder(&x, &y)
	if !ok1 || !ok2 || order == nil {
		return filterByRows(ctx, n, b, sel)
	}
	if x.null || y.null {
		return sel[:0], nil
	}
	kept := sel[:0]
	for _, i := range sel {
		if c.mask>>uint(order(&x, &y, i)+1)&1 != 0 && !x.isNull(i) && !y.isNull(i) {
			kept = append(kept, i)
		}
	}
	return kept, nil
}

func (x *numbers) isNull(i uint16) bool {
	return x.null || x.nulls != nil && x.nulls[i>>6]>>(i&63)&1 != 0
}

// filterByRows is the row path of a filter.
func filterByRows(ctx *Ctx, n *Node, b *types.Batch, sel []uint16) ([]uint16, error) {
	v := ctx.vector()
	saved := b.Sel
	b.Sel = sel
	err := evalRows(ctx, n, b, v)
	b.Sel = saved
	if err != nil {
		return sel, err
	}
	kept := sel[:0]
	for _, i := range sel {
		if !v.IsNull(int(i)) && v.N[i] != 0 {
			kept = append(kept, i)
		}
	}
	ctx.release(v)
	return kept, nil
}

// compareStrings compares a string column with another or with a constant.
func compareStrings(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector) error {
	sel, c := live(b), n.aux.(*comparator)
	x, s1, k1, err := ctx.strings(n.args[0], b, sel)
	if err != nil {
		return err
	}
	y, s2, k2, err := ctx.strings(n.args[1], b, sel)
	if err != nil {
		return err
	}
	defer ctx.release(s1)
	defer ctx.release(s2)
	shape(out, &n.typ, b.Len)
	for _, i := range sel {
		a, d := k1, k2
		if x != nil {
			a = x.Value(int(i))
		}
		if y != nil {
			d = y.Value(int(i))
		}
		if a.K == types.KindNull || d.K == types.KindNull {
			setNull(out, i)
			out.N[i] = 0
			continue
		}
		order := 0
		if c.bytes && a.K == types.KindString && d.K == types.KindString {
			order = bytes.Compare(a.B, d.B)
		} else {
			order, _ = c.compare(ctx, &a, &d)
		}
		out.N[i] = int64(c.mask >> uint(order+1) & 1)
	}
	return nil
}

// strings prepares a string operand: a vector or, for what does not depend on the row, one value.
func (ctx *Ctx) strings(e Expr, b *types.Batch, sel []uint16) (v, scratch *types.Vector, k types.Value, err error) {
	if e.flags&(FlagColumn|volatileFlags) == 0 {
		k, err = e.Eval(ctx, nil)
		return nil, nil, k, err
	}
	v, scratch, err = ctx.operandOver(e, b, sel)
	return v, scratch, k, err
}
