package expr

import (
	"bytes"
	"math"
	"slices"

	"github.com/pandodb/pando/types"
)

// numbers is an operand of a kernel: a vector or, if n is nil, one value k for all rows. Kernels have a switch over the operation instead of
// a function pointer, because calls through a pointer would move their operands to the heap.
type numbers struct {
	n     []int64  // as in types.Vector
	k     int64    // as N in types.Value
	nulls []uint64 // bitmap as in types.Vector; nil: none
	null  bool     // k is NULL
	kind  types.Kind
	scale uint8
}

// at returns row i's number.
func (x *numbers) at(i uint16) int64 {
	if x.n == nil {
		return x.k
	}
	return x.n[i]
}

// load evaluates e over the rows sel of b as an operand. ok is false if its values are not in N alone (decimals beyond an int64); the caller
// then uses the row path. The caller releases scratch, which may be nil.
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
		x.k = v.N
		return nil, v.K != types.KindDecimal || v.B == nil, nil
	}
	v, scratch, err := ctx.operandOver(e, b, sel)
	if err != nil {
		return scratch, false, err
	}
	x.n, x.nulls = v.N, v.Nulls
	x.kind, x.scale = v.Type.Kind(), uint8(max(v.Type.Scale, 0))
	// A decimal vector without data has only values that are in N, with the type's scale.
	return scratch, x.kind != types.KindDecimal || len(v.Data) == 0, nil
}

// rowsFor returns the rows of sel for which the next operand is needed: not those where x is NULL, because the row path does not
// evaluate it there either. scratch, if not nil, is to be returned by giveSel.
func (x *numbers) rowsFor(ctx *Ctx, next Expr, sel []uint16) (rows, scratch []uint16) {
	if x.null {
		return sel[:0], nil
	}
	if next.kind != kindCall && next.kind != kindSubquery || x.nulls == nil {
		return sel, nil
	}
	scratch = ctx.takeSel()
	for _, i := range sel {
		if !x.isNull(i) {
			scratch = append(scratch, i)
		}
	}
	return scratch, scratch
}

// loadPair loads both operands of n. The caller releases s1 and s2, which may be nil, unless there is an error.
func (ctx *Ctx) loadPair(n *Node, b *types.Batch, sel []uint16, x, y *numbers) (s1, s2 *types.Vector, ok bool, err error) {
	s1, ok1, err := x.load(ctx, n.args[0], b, sel)
	if err != nil {
		return s1, nil, false, err
	}
	rows, scratch := x.rowsFor(ctx, n.args[1], sel)
	if len(rows) == 0 && len(sel) > 0 {
		y.null = true
		ctx.giveBack(scratch)
		return s1, nil, ok1, nil
	}
	s2, ok2, err := y.load(ctx, n.args[1], b, rows)
	ctx.giveBack(scratch)
	return s1, s2, ok1 && ok2, err
}

// giveBack is giveSel for a selection that may be nil.
func (ctx *Ctx) giveBack(scratch []uint16) {
	if scratch != nil {
		ctx.giveSel(scratch)
	}
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

// arithOp is an operation of an arithmetic kernel.
type arithOp uint8

const (
	opNone arithOp = iota
	opAddInts
	opSubInts
	opMulInts
	opAddFloats
	opSubFloats
	opMulFloats
)

// arithOf returns the kernel of +, - or *: for signed integers, doubles, and decimals of up to 18 digits. It returns opNone if there is none.
func arithOf(n *Node) arithOp {
	x, y := n.args[0], n.args[1]
	kx, ky := x.typ.Kind(), y.typ.Kind()
	switch {
	case n.typ.ID == types.TypeDouble && floatOperand(kx) && floatOperand(ky):
		return map[string]arithOp{"+": opAddFloats, "-": opSubFloats, "*": opMulFloats}[n.name]
	case n.typ.ID == types.TypeBigInt && !n.typ.Unsigned && kx == types.KindInt && ky == types.KindInt,
		// A result with a precision of up to 18 digits cannot overflow an int64.
		n.typ.ID == types.TypeDecimal && n.typ.Length <= 18 && decimalOperand(x, n) && decimalOperand(y, n):
		return map[string]arithOp{"+": opAddInts, "-": opSubInts, "*": opMulInts}[n.name]
	}
	return opNone
}

// batchArith returns the batch function of +, - or *, nil for the row path.
func batchArith(n *Node) batchFunc {
	switch arithOf(n) {
	case opNone:
		return nil
	case opAddInts:
		return func(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector) error {
			return runArith(ctx, n, b, out, opAddInts)
		}
	case opSubInts:
		return func(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector) error {
			return runArith(ctx, n, b, out, opSubInts)
		}
	case opMulInts:
		return func(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector) error {
			return runArith(ctx, n, b, out, opMulInts)
		}
	case opAddFloats:
		return func(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector) error {
			return runArith(ctx, n, b, out, opAddFloats)
		}
	case opSubFloats:
		return func(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector) error {
			return runArith(ctx, n, b, out, opSubFloats)
		}
	}
	return func(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector) error {
		return runArith(ctx, n, b, out, opMulFloats)
	}
}

func floatOperand(k types.Kind) bool { return k == types.KindFloat || k == types.KindInt }

// decimalOperand reports whether a kernel of n can compute with the unscaled integers of e: for + and - the scales must be equal.
func decimalOperand(e Expr, n *Node) bool {
	if e.loose || e.typ.ID != types.TypeDecimal {
		return false
	}
	return n.name == "*" || e.typ.Scale == n.typ.Scale
}

func runArith(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector, op arithOp) error {
	var x, y numbers
	sel := live(b)
	s1, s2, ok, err := ctx.loadPair(n, b, sel, &x, &y)
	if err != nil {
		return err
	}
	defer ctx.release(s1)
	defer ctx.release(s2)
	if !ok || !x.suits(n, 0) || !y.suits(n, 1) {
		return evalRows(ctx, n, b, out)
	}
	if n.typ.ID == types.TypeDecimal {
		shapeDecimals(out, &n.typ, b.Len)
	} else {
		shape(out, &n.typ, b.Len)
	}
	mergeNulls(out, &x, &y)
	if op.run(out, &x, &y, sel) {
		return evalRows(ctx, n, b, out)
	}
	return nil
}

// suits reports whether an operand has the kind and scale that the kernel was chosen for: a parameter may have another one.
func (x *numbers) suits(n *Node, arg int) bool {
	want := n.args[arg].typ.Kind()
	if x.kind != want {
		return x.null
	}
	return x.null || want != types.KindDecimal || x.n != nil || x.scale == uint8(n.args[arg].typ.Scale)
}

// run computes the rows sel. bad is true after an overflow, which the row path then reports.
func (op arithOp) run(out *types.Vector, x, y *numbers, sel []uint16) (bad bool) {
	switch op {
	case opAddInts:
		return addInts(out, x, y, sel)
	case opSubInts:
		return subInts(out, x, y, sel)
	case opMulInts:
		return mulInts(out, x, y, sel)
	}
	return floatKernel(out, x, y, sel, op)
}

func addInts(out *types.Vector, x, y *numbers, sel []uint16) bool {
	var over int64
	for _, i := range sel {
		a, b := x.at(i), y.at(i)
		s := a + b
		out.N[i] = s
		over |= (a ^ s) & (b ^ s)
	}
	return over < 0
}

func subInts(out *types.Vector, x, y *numbers, sel []uint16) bool {
	var over int64
	for _, i := range sel {
		a, b := x.at(i), y.at(i)
		s := a - b
		out.N[i] = s
		over |= (a ^ b) & (a ^ s)
	}
	return over < 0
}

func mulInts(out *types.Vector, x, y *numbers, sel []uint16) bool {
	over := false
	for _, i := range sel {
		a, b := x.at(i), y.at(i)
		p := a * b
		out.N[i] = p
		if int64(int32(a)) != a || int64(int32(b)) != b {
			over = over || a != 0 && (p/a != b || a == -1 && b == math.MinInt64)
		}
	}
	return over
}

func floatKernel(out *types.Vector, x, y *numbers, sel []uint16, op arithOp) bool {
	bad := false
	for _, i := range sel {
		a, b := x.float(i), y.float(i)
		switch op {
		case opAddFloats:
			a += b
		case opSubFloats:
			a -= b
		default:
			a *= b
		}
		out.N[i] = int64(math.Float64bits(a))
		bad = bad || a-a != 0 && !out.IsNull(int(i))
	}
	return bad
}

func (x *numbers) float(i uint16) float64 {
	if x.kind == types.KindFloat {
		return math.Float64frombits(uint64(x.at(i)))
	}
	return float64(x.at(i))
}

// orderMode is how a kernel compares the numbers of two operands.
type orderMode uint8

const (
	orderNone orderMode = iota // it cannot: the row path does
	orderSigned
	orderUnsigned
	orderReal
)

// of compares row i of two operands.
func (m orderMode) of(x, y *numbers, i uint16) int {
	switch m {
	case orderUnsigned:
		return orderUints(uint64(x.at(i)), uint64(y.at(i)))
	case orderReal:
		return orderFloats(x.float(i), y.float(i))
	}
	return orderInts(x.at(i), y.at(i))
}

// natural reports whether x is one signed integer >= 0 for all rows.
func (x *numbers) natural() bool { return x.n == nil && x.kind == types.KindInt && x.k >= 0 }

func anyLoose(args []Expr) bool {
	return slices.ContainsFunc(args, func(a Expr) bool { return a.loose })
}

// plainOrder returns how a kernel compares x with y.
func (c *comparator) plainOrder(x, y *numbers) orderMode {
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
		case unsignedKind(x.kind) && y.natural(), unsignedKind(y.kind) && x.natural():
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
	return orderNone
}

func unsignedKind(k types.Kind) bool { return k == types.KindUint || k == types.KindBit }

// batchCompare returns the batch and filter functions of a comparison, nil for the row path. A loose operand is always compared on the row path,
// because vectors do not have its additional digits, and because its warnings would be raised twice if a kernel evaluated it and then gave up.
func batchCompare(c *comparator, args []Expr) (batchFunc, filterFunc) {
	if anyLoose(args) {
		return nil, nil
	}
	switch c.class {
	case classInt, classFloat, classDecimal, classTemporal, classTime:
		return compareNumbers, filterNumbers
	case classString:
		if !slices.ContainsFunc(args, Expr.unscaled) { // a vector has one scale, by which times would become texts
			return compareStrings, nil
		}
	}
	return nil, nil
}

func compareNumbers(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector) error {
	var x, y numbers
	sel, c := live(b), n.aux.(*comparator)
	s1, s2, ok, err := ctx.loadPair(n, b, sel, &x, &y)
	if err != nil {
		return err
	}
	defer ctx.release(s1)
	defer ctx.release(s2)
	order := c.plainOrder(&x, &y)
	if !ok || order == orderNone {
		return evalRows(ctx, n, b, out)
	}
	shape(out, &n.typ, b.Len)
	mergeNulls(out, &x, &y)
	if order == orderSigned {
		for _, i := range sel {
			out.N[i] = int64(c.mask >> uint(orderInts(x.at(i), y.at(i))+1) & 1)
		}
		return nil
	}
	for _, i := range sel {
		out.N[i] = int64(c.mask >> uint(order.of(&x, &y, i)+1) & 1)
	}
	return nil
}

func filterNumbers(ctx *Ctx, n *Node, b *types.Batch, sel []uint16) ([]uint16, error) {
	var x, y numbers
	c := n.aux.(*comparator)
	s1, s2, ok, err := ctx.loadPair(n, b, sel, &x, &y)
	if err != nil {
		return sel, err
	}
	defer ctx.release(s1)
	defer ctx.release(s2)
	order := c.plainOrder(&x, &y)
	if !ok || order == orderNone {
		return filterByRows(ctx, n, b, sel)
	}
	if x.null || y.null {
		return sel[:0], nil
	}
	kept := sel[:0]
	if order == orderSigned {
		for _, i := range sel {
			if c.mask>>uint(orderInts(x.at(i), y.at(i))+1)&1 != 0 && !x.isNull(i) && !y.isNull(i) {
				kept = append(kept, i)
			}
		}
		return kept, nil
	}
	for _, i := range sel {
		if c.mask>>uint(order.of(&x, &y, i)+1)&1 != 0 && !x.isNull(i) && !y.isNull(i) {
			kept = append(kept, i)
		}
	}
	return kept, nil
}

func (x *numbers) isNull(i uint16) bool {
	return x.null || x.nulls != nil && x.nulls[i>>6]>>(i&63)&1 != 0
}

// filterByRows is a filterFunc that uses the row path.
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

// compareStrings is the batch function of a comparison of strings.
func compareStrings(ctx *Ctx, n *Node, b *types.Batch, out *types.Vector) error {
	sel, c := live(b), n.aux.(*comparator)
	x, s1, k1, err := ctx.strings(n.args[0], b, sel)
	if err != nil {
		return err
	}
	rows, dropped := sel, []uint16(nil)
	switch {
	case x != nil:
		left := numbers{n: x.N, nulls: x.Nulls}
		rows, dropped = left.rowsFor(ctx, n.args[1], sel)
	case k1.IsNull():
		rows = sel[:0]
	}
	y, s2, k2, err := (*types.Vector)(nil), (*types.Vector)(nil), types.Null(), error(nil)
	if len(rows) > 0 {
		y, s2, k2, err = ctx.strings(n.args[1], b, rows)
	}
	ctx.giveBack(dropped)
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

// strings evaluates a string operand over the rows sel: a vector or, if it does not depend on the row, one value k. scratch, if not nil, has to
// be released.
func (ctx *Ctx) strings(e Expr, b *types.Batch, sel []uint16) (v, scratch *types.Vector, k types.Value, err error) {
	if e.flags&(FlagColumn|volatileFlags) == 0 {
		k, err = e.Eval(ctx, nil)
		return nil, nil, k, err
	}
	v, scratch, err = ctx.operandOver(e, b, sel)
	return v, scratch, k, err
}
