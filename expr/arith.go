package expr

import (
	"math"
	"math/bits"

	"github.com/pandodb/pando/types"
)

// buildArith is +, - and *. The result of two integers is an integer, unsigned if one of them is; with a decimal it is a decimal, with a double
// or a string a double.
func buildArith(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.args = []Expr{asNumber(n.args[0]), asNumber(n.args[1])}
	x, y := n.args[0], n.args[1]
	n.notNull = x.notNull && y.notNull
	n.coer = CoerNumeric
	switch max(numericClass(x), numericClass(y)) {
	case classFloat:
		n.typ = doubleOf(0, x, y)
		n.args = []Expr{inDouble(x), inDouble(y)}
		n.eval = map[string]evalFunc{"+": evalAddFloat, "-": evalSubFloat, "*": evalMulFloat}[n.name]
	case classDecimal:
		n.typ = arithDecimalType(n.name, x, y)
		if (x.deep || y.deep) && n.name != "*" {
			n.loose, n.deep, n.digits = true, true, max(x.fractionDigits(), y.fractionDigits())
		}
		n.eval = map[string]evalFunc{"+": evalAddDecimal, "-": evalSubDecimal, "*": evalMulDecimal}[n.name]
		n.typ.Unsigned = n.name == "-" && x.typ.Unsigned && y.typ.Unsigned && b.mode()&types.ModeNoUnsignedSubtraction == 0
		if n.typ.Unsigned {
			n.eval = evalSubUnsigned
			return nil
		}
	default:
		p1, _ := precisionOf(x)
		p2, _ := precisionOf(y)
		width := max(p1, p2) + 1
		if n.name == "*" {
			width = p1 + p2
		}
		n.typ = intType(int32(min(width, 20)) + 1)
		n.typ.Unsigned = unsignedNumber(x) || unsignedNumber(y)
		if n.name == "-" && b.mode()&types.ModeNoUnsignedSubtraction != 0 {
			n.typ.Unsigned = false
		}
		n.typ.Length = min(n.typ.Length, 21)
		n.eval = map[string]evalFunc{"+": evalAddInt, "-": evalSubInt, "*": evalMulInt}[n.name]
	}
	n.batch = batchArith(n)
	return nil
}

func (b *BuildContext) mode() types.SQLMode {
	if b == nil || b.Ctx == nil {
		return types.ModeDefault
	}
	return b.Ctx.SQLMode
}

// doubleWidth is MySQL's display width of a double with a fixed number of decimals, in characters.
const doubleWidth = 22

// floatWidth is doubleWidth for FLOAT.
const floatWidth = 12

// doubleOf returns the type of a double that is computed from es. As in MySQL, if all of them have a fixed number of decimals, the result has
// the largest of these plus more, which is what a division adds.
func doubleOf(more int, es ...Expr) types.Type {
	most := 0
	for _, e := range es {
		scale, fixed := fixedScale(e)
		if !fixed {
			return doubleType()
		}
		most = max(most, scale)
	}
	if most+more > types.MaxDecimalScale {
		return doubleType()
	}
	return types.Type{ID: types.TypeDouble, Length: doubleWidth, Scale: int8(most + more)}
}

// fixedScale returns the number of decimals of e's type; fixed is false if it has none, as doubles, texts and JSON.
func fixedScale(e Expr) (scale int, fixed bool) {
	switch classOf(&e.typ) {
	case classInt, classNull:
		return 0, true
	case classDecimal, classTemporal, classTime:
		return max(int(e.typ.Scale), 0), true
	case classFloat:
		return int(e.typ.Scale), e.typ.Scale >= 0 && e.typ.Length > 0
	}
	return 0, false
}

func arithDecimalType(op string, x, y Expr) types.Type {
	p1, s1 := precisionOf(x)
	p2, s2 := precisionOf(y)
	if op == "*" {
		return decimalType(p1+p2, s1+s2)
	}
	scale := max(s1, s2)
	return decimalType(max(p1-s1, p2-s2)+scale+1, scale)
}

// outOfRange returns error 1690 for n, whose result is beyond the type named what.
func outOfRange(n *Node, what string) error {
	return types.Errorf(types.ErDataOutOfRange, what, n.String())
}

func bigintRange(n *Node) error {
	if n.typ.Unsigned {
		return outOfRange(n, "BIGINT UNSIGNED")
	}
	return outOfRange(n, "BIGINT")
}

// operands evaluates both arguments; null is also true if there is an error.
func (ctx *Ctx) operands(n *Node, row []types.Value) (x, y types.Value, null bool, err error) {
	if x, err = n.args[0].eval(ctx, n.args[0], row); err != nil || x.K == types.KindNull {
		return x, y, true, err
	}
	y, err = n.args[1].eval(ctx, n.args[1], row)
	return x, y, err != nil || y.K == types.KindNull, err
}

// wide is a 128-bit integer in two's complement.
type wide struct {
	hi int64
	lo uint64
}

// widen returns v as an integer. Values of other kinds (parameters, dates) are rounded.
func (ctx *Ctx) widen(v *types.Value) wide {
	switch v.K {
	case types.KindUint, types.KindBit:
		return wide{0, uint64(v.N)}
	case types.KindInt:
		return wide{v.N >> 63, uint64(v.N)}
	}
	n := ctx.integer(v)
	return wide{n >> 63, uint64(n)}
}

func (a wide) add(b wide) wide {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	return wide{a.hi + b.hi + int64(carry), lo}
}

func (a wide) neg() wide {
	lo, carry := bits.Add64(^a.lo, 1, 0)
	return wide{^a.hi + int64(carry), lo}
}

// narrow returns a as a value of n's type, or error 1690.
func (a wide) narrow(n *Node) (types.Value, error) {
	if n.typ.Unsigned {
		if a.hi == 0 {
			return types.Uint(a.lo), nil
		}
	} else if a.hi == int64(a.lo)>>63 {
		return types.Int(int64(a.lo)), nil
	}
	return types.Null(), bigintRange(n)
}

func evalAddInt(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	x, y, null, err := ctx.operands(n, row)
	if null {
		return types.Null(), err
	}
	if x.K == types.KindInt && y.K == types.KindInt && !n.typ.Unsigned {
		s := x.N + y.N
		if (x.N^s)&(y.N^s) >= 0 {
			return types.Int(s), nil
		}
		return types.Null(), bigintRange(n)
	}
	return ctx.widen(&x).add(ctx.widen(&y)).narrow(n)
}

func evalSubInt(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	x, y, null, err := ctx.operands(n, row)
	if null {
		return types.Null(), err
	}
	if x.K == types.KindInt && y.K == types.KindInt && !n.typ.Unsigned {
		s := x.N - y.N
		if (x.N^y.N)&(x.N^s) >= 0 {
			return types.Int(s), nil
		}
		return types.Null(), bigintRange(n)
	}
	return ctx.widen(&x).add(ctx.widen(&y).neg()).narrow(n)
}

func evalMulInt(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	x, y, null, err := ctx.operands(n, row)
	if null {
		return types.Null(), err
	}
	a, b := ctx.widen(&x), ctx.widen(&y)
	negative := a.hi < 0 != (b.hi < 0)
	if a.hi < 0 {
		a = a.neg()
	}
	if b.hi < 0 {
		b = b.neg()
	}
	hi, lo := bits.Mul64(a.lo, b.lo)
	if hi != 0 {
		return types.Null(), bigintRange(n)
	}
	p := wide{0, lo}
	if negative {
		p = p.neg()
	}
	return p.narrow(n)
}

// evalSubUnsigned is the difference of two unsigned decimals: a negative one is error 1690.
func evalSubUnsigned(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := evalSubDecimal(ctx, n, row)
	if err == nil && v.K == types.KindDecimal && types.DecSign(v) < 0 {
		return types.Null(), outOfRange(n, "DECIMAL UNSIGNED")
	}
	return v, err
}

// finite returns f, or error 1690 if it is infinite or NaN.
func finite(n *Node, f float64) (types.Value, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return types.Null(), outOfRange(n, "DOUBLE")
	}
	return types.Float(f), nil
}

func evalAddFloat(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	x, y, null, err := ctx.operands(n, row)
	if null {
		return types.Null(), err
	}
	return finite(n, ctx.float(&x)+ctx.float(&y))
}

func evalSubFloat(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	x, y, null, err := ctx.operands(n, row)
	if null {
		return types.Null(), err
	}
	return finite(n, ctx.float(&x)-ctx.float(&y))
}

func evalMulFloat(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	x, y, null, err := ctx.operands(n, row)
	if null {
		return types.Null(), err
	}
	return finite(n, ctx.float(&x)*ctx.float(&y))
}

func evalAddDecimal(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	return ctx.decimalOp(n, row, types.DecAdd)
}

func evalSubDecimal(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	return ctx.decimalOp(n, row, types.DecSub)
}

func evalMulDecimal(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	return ctx.decimalOp(n, row, types.DecMul)
}

func (ctx *Ctx) decimalOp(n *Node, row []types.Value, op func(a, b types.Value) (types.Value, error)) (types.Value, error) {
	x, y, null, err := ctx.operands(n, row)
	if null {
		return types.Null(), err
	}
	v, err := op(ctx.decimal(&x), ctx.decimal(&y))
	if err != nil {
		return types.Null(), outOfRange(n, "DECIMAL")
	}
	if !n.loose && int(v.Scale) != int(n.typ.Scale) {
		v = types.DecRound(v, int(n.typ.Scale))
	}
	return v, nil
}

// divisionByZero is the result of a division by zero, which depends on sql_mode: NULL, NULL with warning 1365, or error 1365 where data are
// written under a strict mode.
func (ctx *Ctx) divisionByZero() (types.Value, error) {
	if ctx.Context == nil || ctx.SQLMode&types.ModeErrorForDivByZero == 0 {
		return types.Null(), nil
	}
	if ctx.Strict && !ctx.Ignore {
		return types.Null(), types.Errorf(types.ErDivisionByZero)
	}
	ctx.Warn(types.LevelWarning, types.ErDivisionByZero)
	return types.Null(), nil
}

// buildDivide is "/". The quotient of integers and decimals is a decimal, else it is a double.
func buildDivide(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.args = []Expr{asNumber(n.args[0]), asNumber(n.args[1])}
	x, y := n.args[0], n.args[1]
	n.coer = CoerNumeric
	if max(numericClass(x), numericClass(y)) == classFloat {
		n.typ, n.eval = doubleOf(b.divIncrement(), x, y), evalDivideFloat
		n.args = []Expr{inDouble(x), inDouble(y)}
		return nil
	}
	incr := b.divIncrement()
	p1, s1 := precisionOf(x)
	_, s2 := precisionOf(y)
	n.args = []Expr{b.ownDigits(x), b.ownDigits(y)}
	n.typ = decimalType(p1+s2+incr, min(s1+incr, types.MaxDecimalScale))
	n.aux, n.eval = incr, evalDivideDecimal
	return nil
}

func (b *BuildContext) divIncrement() int {
	if b == nil || b.Ctx == nil || b.Ctx.DivPrecisionIncrement == 0 {
		return types.DefaultDivIncrement
	}
	return max(b.Ctx.DivPrecisionIncrement, 0)
}

func evalDivideFloat(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	x, y, null, err := ctx.operands(n, row)
	if null {
		return types.Null(), err
	}
	d := ctx.float(&y)
	if d == 0 {
		return ctx.divisionByZero()
	}
	return finite(n, ctx.float(&x)/d)
}

// wordDigits is how many digits a word of MySQL's decimals has (DIG_PER_DEC1 in its strings/decimal.cc). Quotients are cut off at a whole word. AVG keeps
// the digits beyond the scale of its type for further computation: AVG(x)*3 may be 1.0000. A division does not: since MySQL 9 (1/3)*3 is 0.9999.
const wordDigits = 9

func evalDivideDecimal(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	q, err := ctx.divideDecimals(n, row, n.aux.(int))
	return n.fit(q), err
}

func (ctx *Ctx) divideDecimals(n *Node, row []types.Value, increment int) (types.Value, error) {
	x, y, null, err := ctx.operands(n, row)
	if null {
		return types.Null(), err
	}
	a, d := ctx.decimal(&x), ctx.decimal(&y)
	fa, fd := wholeWords(int(a.Scale)), wholeWords(int(d.Scale))
	incr := max(0, increment-(fa-int(a.Scale)+fd-int(d.Scale)))
	scale := wholeWords(fa + fd + incr)
	return ctx.quotient(n, a, d, min(scale, types.MaxDecimalScale))
}

// wholeWords returns the digits of the words that hold so many.
func wholeWords(digits int) int { return (digits + wordDigits - 1) / wordDigits * wordDigits }

// quotient returns a / d with scale fraction digits, of which the result may keep more than its type has (Node.loose).
func (ctx *Ctx) quotient(n *Node, a, d types.Value, scale int) (types.Value, error) {
	q, ok, err := types.DecDiv(a, d, max(scale-int(a.Scale), 0), int(n.typ.Scale))
	if err != nil {
		return types.Null(), outOfRange(n, "DECIMAL")
	}
	if !ok {
		return ctx.divisionByZero()
	}
	return q, nil
}
