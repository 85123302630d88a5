package expr

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"github.com/pandodb/pando/types"
)

// buildIntDiv is DIV: the quotient, truncated to an integer.
func buildIntDiv(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.args = []Expr{asDecimal(n.args[0]), asDecimal(n.args[1])}
	x, y := n.args[0], n.args[1]
	n.coer = CoerNumeric
	n.typ = intType(21)
	n.typ.Unsigned = unsignedNumber(x) || unsignedNumber(y)
	p, s := precisionOf(x)
	n.typ.Length = int32(min(max(p-s, 1)+1, 21))
	n.eval = evalIntDiv
	return nil
}

func evalIntDiv(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	x, y, null, err := ctx.operands(n, row)
	if null {
		return types.Null(), err
	}
	if !integral(x.K) || !integral(y.K) {
		var q types.Value
		var ok bool
		if isTiny(&x) || isTiny(&y) {
			q, ok = tinyIntDiv(ctx.decimalText(&x), ctx.decimalText(&y))
		} else {
			q, ok = types.DecIntDiv(ctx.decimal(&x), ctx.decimal(&y))
		}
		if !ok {
			return ctx.divisionByZero()
		}
		if n.typ.Unsigned {
			if u, ok := types.DecToUint(q); ok && types.DecSign(q) >= 0 {
				return types.Uint(u), nil
			}
			return types.Null(), bigintRange(n)
		}
		i, ok := types.DecToInt(q)
		if !ok {
			return types.Null(), bigintRange(n)
		}
		return types.Int(i), nil
	}
	a, d := ctx.widen(&x), ctx.widen(&y)
	if d.lo == 0 {
		return ctx.divisionByZero()
	}
	negative := a.hi < 0 != (d.hi < 0)
	q := wide{0, a.abs() / d.abs()}
	if negative {
		q = q.neg()
	}
	return q.narrow(n)
}

// isTiny reports whether v is a double that has more fraction digits than a DECIMAL.
func isTiny(v *types.Value) bool {
	f := math.Abs(v.Float64())
	return v.K == types.KindFloat && f > 0 && f < 1e-13
}

// divDigits is how many fraction digits MySQL's operands of DIV may have, the nine words of its decimals.
const divDigits = 81

// decimalText returns the number v with all of its digits.
func (ctx *Ctx) decimalText(v *types.Value) string {
	if v.K == types.KindFloat {
		return strconv.FormatFloat(v.Float64(), 'g', -1, 64)
	}
	d := ctx.decimal(v)
	return string(ctx.textOf(&d))
}

// tinyIntDiv is types.DecIntDiv for operands with up to divDigits fraction digits; ok is false if y is 0 with those.
func tinyIntDiv(x, y string) (q types.Value, ok bool) {
	unit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(divDigits), nil))
	units := func(text string) *big.Int {
		r, _ := new(big.Rat).SetString(text)
		if r == nil {
			return new(big.Int)
		}
		r.Mul(r, unit)
		return new(big.Int).Quo(r.Num(), r.Denom())
	}
	a, d := units(x), units(y)
	if d.Sign() == 0 {
		return q, false
	}
	q, _, ok = types.ParseDecimal([]byte(a.Quo(a, d).String()))
	return q, ok
}

func (a wide) abs() uint64 {
	if a.hi < 0 {
		return a.neg().lo
	}
	return a.lo
}

// buildMod is % and MOD. The result has the sign of the dividend.
func buildMod(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.name = "%"
	n.args = []Expr{asNumber(n.args[0]), asNumber(n.args[1])}
	x, y := n.args[0], n.args[1]
	n.coer = CoerNumeric
	p1, s1 := precisionOf(x)
	p2, s2 := precisionOf(y)
	switch max(numericClass(x), numericClass(y)) {
	case classFloat:
		n.typ, n.eval = doubleOf(0, x, y), evalModFloat
		n.args = []Expr{inDouble(x), inDouble(y)}
	case classDecimal:
		scale := max(s1, s2)
		n.typ, n.eval = decimalType(max(p1-s1, p2-s2)+scale, scale), evalModDecimal
		if x.deep || y.deep {
			n.loose, n.deep, n.digits = true, true, max(x.fractionDigits(), y.fractionDigits())
		}
	default:
		n.typ = intType(int32(min(max(p1, p2), 20)) + 1)
		n.typ.Unsigned = unsignedNumber(x)
		n.eval = evalModInt
	}
	return nil
}

func evalModInt(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	x, y, null, err := ctx.operands(n, row)
	if null {
		return types.Null(), err
	}
	a, d := ctx.widen(&x), ctx.widen(&y)
	if d.lo == 0 {
		return ctx.divisionByZero()
	}
	r := wide{0, a.abs() % d.abs()}
	if a.hi < 0 {
		r = r.neg()
	}
	return r.narrow(n)
}

func evalModFloat(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	x, y, null, err := ctx.operands(n, row)
	if null {
		return types.Null(), err
	}
	d := ctx.float(&y)
	if d == 0 {
		return ctx.divisionByZero()
	}
	return finite(n, math.Mod(ctx.float(&x), d))
}

func evalModDecimal(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	x, y, null, err := ctx.operands(n, row)
	if null {
		return types.Null(), err
	}
	r, ok := types.DecMod(ctx.decimal(&x), ctx.decimal(&y))
	if !ok {
		return ctx.divisionByZero()
	}
	return n.fit(r), nil
}

// fit rounds a decimal to the scale of n's type unless n is loose.
func (n *Node) fit(d types.Value) types.Value {
	if d.K == types.KindDecimal && !n.loose && int(d.Scale) != int(n.typ.Scale) {
		return types.DecRound(d, int(n.typ.Scale))
	}
	return d
}

// buildNeg is unary minus.
func buildNeg(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	text := n.args[0].isHexLiteral() || n.args[0].typ.IsTemporal() && n.args[0].typ.ID != types.TypeYear
	n.args = []Expr{asNumber(n.args[0])}
	x := n.args[0]
	n.coer, n.notNull, n.loose, n.deep, n.digits = CoerNumeric, x.notNull, x.deep, x.deep, x.digits
	c := numericClass(x)
	if text { // as every text
		c = classFloat
	}
	switch c {
	case classFloat:
		n.typ = doubleOf(0, x)
		n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
			f, null, err := ctx.real(n.args[0], row)
			if null {
				return types.Null(), err
			}
			return types.Float(-f), nil
		}
	case classDecimal:
		p, s := precisionOf(x)
		n.typ, n.eval = decimalType(p, s), evalNegDecimal
	default:
		// A constant whose negative is no BIGINT becomes a decimal, as in MySQL.
		if v, ok := x.ConstValue(); ok && (v.K == types.KindUint && uint64(v.N) > 1<<63 || v.K == types.KindInt && v.N == math.MinInt64) {
			n.typ, n.eval = decimalType(20, 0), evalNegDecimal
			return nil
		}
		p, _ := precisionOf(x)
		n.typ = intType(int32(min(p, 19)) + 1)
		n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
			v, err := n.args[0].eval(ctx, n.args[0], row)
			if err != nil || v.IsNull() {
				return v, err
			}
			return ctx.widen(&v).neg().narrow(n)
		}
	}
	return nil
}

func evalNegDecimal(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || v.IsNull() {
		return v, err
	}
	return n.fit(types.DecNeg(ctx.decimal(&v))), nil
}

// bitOperand returns v as the BIGINT UNSIGNED operand of a bit operation: negative numbers in two's complement.
func (ctx *Ctx) bitOperand(v *types.Value) uint64 {
	switch v.K {
	case types.KindInt, types.KindUint, types.KindBit:
		return uint64(v.N)
	case types.KindString:
		if !ctx.reads(v) {
			return 0
		}
		if n := types.ToInt(nil, v); n < 0 {
			return uint64(types.ToInt(ctx.Context, v))
		}
		return types.ToUint(ctx.Context, v)
	}
	return uint64(types.ToInt(ctx.Context, v))
}

// binaryOperand reports whether e is a binary string, on which MySQL 8's bit operators work byte by byte.
func binaryOperand(e Expr) bool {
	return e.typ.IsStringType() && e.typ.Coll == types.Binary && !e.isHexLiteral()
}

// buildBit is &, |, ^, <<, >> and ~.
func buildBit(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	first := n.args[0]
	shift := n.name == "<<" || n.name == ">>"
	bytewise := binaryOperand(first)
	if len(n.args) == 2 && !shift {
		// One of them may be a hexadecimal literal or NULL; two of those are numbers.
		second := n.args[1]
		either := func(e Expr) bool { return e.isHexLiteral() || e.typ.ID == types.TypeNull }
		bytewise = bytewise && (binaryOperand(second) || either(second)) || either(first) && binaryOperand(second)
	}
	if bytewise {
		length := byteLength(&first.typ)
		if len(n.args) == 2 && !shift {
			length = max(length, byteLength(&n.args[1].typ))
		}
		n.typ, n.coer, n.eval = stringType(known(length), types.Binary), CoerCoercible, evalBitBytes
		return nil
	}
	args := make([]Expr, len(n.args))
	for i, a := range n.args {
		args[i] = integerOf(a)
	}
	n.args, n.typ, n.coer, n.eval = args, uintType(21), CoerNumeric, evalBit
	return nil
}

func evalBit(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || v.IsNull() {
		return types.Null(), err
	}
	x := ctx.bitOperand(&v)
	if len(n.args) == 1 {
		return types.Uint(^x), nil
	}
	w, err := n.args[1].eval(ctx, n.args[1], row)
	if err != nil || w.IsNull() {
		return types.Null(), err
	}
	y := ctx.bitOperand(&w)
	switch n.name {
	case "&":
		x &= y
	case "|":
		x |= y
	case "^":
		x ^= y
	case "<<":
		x <<= min(y, 64)
	case ">>":
		x >>= min(y, 64)
	}
	return types.Uint(x), nil
}

// errBitLengths is MySQL's ER_INVALID_BITWISE_OPERANDS_SIZE.
const errBitLengths = 3513

// errBitBytes returns the error for binary strings of different lengths.
func errBitBytes() error {
	return types.NewError(errBitLengths, "Binary operands of bitwise operators must be of equal length")
}

func evalBitBytes(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || v.IsNull() {
		return types.Null(), err
	}
	if !ctx.fits(len(v.B)) {
		return types.Null(), nil
	}
	out := ctx.alloc(len(v.B))
	if len(n.args) == 1 {
		for i, c := range v.B {
			out[i] = ^c
		}
		return types.Bytes(out), nil
	}
	w, err := n.args[1].eval(ctx, n.args[1], row)
	if err != nil || w.IsNull() {
		return types.Null(), err
	}
	if n.name == "<<" || n.name == ">>" {
		shiftBytes(out, v.B, ctx.bitOperand(&w), n.name == "<<")
		return types.Bytes(out), nil
	}
	if len(w.B) != len(v.B) {
		return types.Null(), errBitBytes()
	}
	for i, c := range v.B {
		switch n.name {
		case "&":
			out[i] = c & w.B[i]
		case "|":
			out[i] = c | w.B[i]
		default:
			out[i] = c ^ w.B[i]
		}
	}
	return types.Bytes(out), nil
}

// shiftBytes writes src, shifted by so many bits as one big-endian number, to dst, which has the same length and does not overlap it.
func shiftBytes(dst, src []byte, by uint64, left bool) {
	clear(dst)
	if by >= uint64(len(src))*8 {
		return
	}
	whole, part := int(by/8), uint(by%8)
	for i := range dst {
		if left {
			if j := i + whole; j < len(src) {
				dst[i] = src[j] << part
				if j+1 < len(src) && part > 0 {
					dst[i] |= src[j+1] >> (8 - part)
				}
			}
		} else if j := i - whole; j >= 0 {
			dst[i] = src[j] >> part
			if j > 0 && part > 0 {
				dst[i] |= src[j-1] << (8 - part)
			}
		}
	}
}

func evalBitCount(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || v.IsNull() {
		return types.Null(), err
	}
	if binaryOperand(n.args[0]) {
		count := 0
		for _, c := range v.B {
			count += bits.OnesCount8(c)
		}
		return types.Int(int64(count)), nil
	}
	return types.Int(int64(bits.OnesCount64(ctx.bitOperand(&v)))), nil
}
