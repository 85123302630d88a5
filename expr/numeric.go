package expr

import (
	"math"
	"math/big"
	"slices"

	"github.com/pandodb/pando/types"
)

var numericTable = map[string]function{
	"abs": {1, 1, 0, buildAbs}, "sign": {1, 1, 0, plain(intType(21), evalSign)},
	"ceil": {1, 1, 0, buildWhole}, "ceiling": {1, 1, 0, buildWhole}, "floor": {1, 1, 0, buildWhole},
	"round": {1, 2, 0, buildRound}, "truncate": {2, 2, 0, buildRound},
	"pow": {2, 2, 0, realBinary(power)}, "power": {2, 2, 0, realBinary(power)},
	"sqrt": {1, 1, 0, realUnary(domain(math.Sqrt, func(x float64) bool { return x >= 0 }, false))},
	"exp":  {1, 1, 0, realUnary(always(math.Exp))},
	"ln":   {1, 1, 0, realUnary(domain(logarithm, positive, true))}, "log": {1, 2, 0, buildLog},
	"log2": {1, 1, 0, realUnary(domain(log2, positive, true))}, "log10": {1, 1, 0, realUnary(domain(log10, positive, true))},
	"sin": {1, 1, 0, realUnary(always(math.Sin))}, "cos": {1, 1, 0, realUnary(always(math.Cos))}, "tan": {1, 1, 0, realUnary(always(tangent))},
	"cot":  {1, 1, 0, realUnary(always(func(x float64) float64 { return 1 / tangent(x) }))},
	"asin": {1, 1, 0, realUnary(domain(math.Asin, unitRange, false))}, "acos": {1, 1, 0, realUnary(domain(math.Acos, unitRange, false))},
	"atan": {1, 2, 0, buildAtan}, "atan2": {2, 2, 0, buildAtan},
	"degrees": {1, 1, 0, realUnary(always(func(x float64) float64 { return x * (180 / math.Pi) }))},
	"radians": {1, 1, 0, realUnary(always(func(x float64) float64 { return x * (math.Pi / 180) }))},
	"pi": {0, 0, 0, plain(types.Type{ID: types.TypeDouble, Length: 8, Scale: 6}, func(*Ctx, *Node, []types.Value) (types.Value, error) {
		return types.Float(math.Pi), nil
	})},
	"rand": {0, 1, FlagVolatile, buildRand}, "format": {2, 3, 0, asciiText(formatLength, evalFormat)},
}

// errUnknownLocale is MySQL's ER_UNKNOWN_LOCALE, which types' table of errors does not have.
const errUnknownLocale = 1649

// warnText adds a warning whose text is not that of types' table of errors.
func (ctx *Ctx) warnText(number uint16, text string) {
	ctx.AddError(types.LevelWarning, types.NewError(number, text))
}

func positive(x float64) bool { return x > 0 }

func unitRange(x float64) bool { return x >= -1 && x <= 1 }

// realFunc computes a function of a double. If x is outside of its domain, null is true, and warn if warning 3020 belongs to it.
type realFunc func(x float64) (y float64, null, warn bool)

func always(f func(float64) float64) realFunc {
	return func(x float64) (float64, bool, bool) { return f(x), false, false }
}

// domain returns f as a realFunc that is NULL where inside is false, with warning 3020 if warn.
func domain(f func(float64) float64, inside func(float64) bool, warn bool) realFunc {
	return func(x float64) (float64, bool, bool) {
		if !inside(x) {
			return 0, true, warn
		}
		return f(x), false, false
	}
}

// ofDoubles is plain for functions of doubles whose result is one.
func ofDoubles(eval evalFunc) func(*BuildContext, *Node) error {
	build := plain(doubleType(), eval)
	return func(b *BuildContext, n *Node) error {
		n.args = slices.Clone(n.args)
		for i, a := range n.args {
			n.args[i] = inDouble(a)
		}
		return build(b, n)
	}
}

func realUnary(f realFunc) func(*BuildContext, *Node) error {
	return ofDoubles(func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		x, null, err := ctx.real(n.args[0], row)
		if null {
			return types.Null(), err
		}
		y, null, warn := f(x)
		if warn {
			ctx.Warn(types.LevelWarning, types.ErInvalidArgumentForLogarithm)
		}
		if null {
			return types.Null(), nil
		}
		return finite(n, y)
	})
}

func realBinary(f func(x, y float64) float64) func(*BuildContext, *Node) error {
	return ofDoubles(func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		x, null, err := ctx.real(n.args[0], row)
		if null {
			return types.Null(), err
		}
		y, null, err := ctx.real(n.args[1], row)
		if null {
			return types.Null(), err
		}
		return finite(n, f(x, y))
	})
}

func buildAtan(b *BuildContext, n *Node) error {
	if len(n.args) == 2 {
		return realBinary(arcTangent2)(b, n)
	}
	return realUnary(always(arcTangent))(b, n)
}

// power is exact to the last bit for small whole exponents, as the C library's is. math.Pow multiplies rounded squares.
func power(x, y float64) float64 {
	const most = 64
	f := math.Pow(x, y)
	if n := int(y); float64(n) == y && n > 1 && n <= most && f != 0 && !math.IsInf(f, 0) && !math.IsNaN(f) {
		whole := new(big.Float).SetPrec(53 * most).SetFloat64(x)
		product := new(big.Float).SetPrec(53 * most).SetInt64(1)
		for range n {
			product.Mul(product, whole)
		}
		f, _ = product.Float64()
	}
	return f
}

// buildLog is LOG(x) and LOG(base, x).
func buildLog(b *BuildContext, n *Node) error {
	if len(n.args) == 1 {
		return realUnary(domain(logarithm, positive, true))(b, n)
	}
	return ofDoubles(func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		base, null, err := ctx.real(n.args[0], row)
		if null {
			return types.Null(), err
		}
		x, null, err := ctx.real(n.args[1], row)
		if null {
			return types.Null(), err
		}
		if base <= 0 || base == 1 || x <= 0 {
			ctx.Warn(types.LevelWarning, types.ErInvalidArgumentForLogarithm)
			return types.Null(), nil
		}
		return finite(n, logarithm(x)/logarithm(base))
	})(b, n)
}

// numericResult sets n's type to that of a function whose result has the class of its argument, and returns the class.
func (n *Node) numericResult() class {
	text := n.args[0].isHexLiteral() || n.args[0].typ.IsTemporal() && n.args[0].typ.ID != types.TypeYear
	n.args[0] = asNumber(n.args[0])
	x := n.args[0]
	n.coer = CoerNumeric
	c := numericClass(x)
	if text { // as every text
		c = classFloat
	}
	p, s := precisionOf(x)
	switch c {
	case classFloat:
		n.typ = doubleType()
	case classDecimal:
		n.typ, n.loose, n.deep, n.digits = decimalType(p, s), x.deep, x.deep, x.digits
	default:
		n.typ = intType(int32(p) + 1)
		n.typ.Unsigned = unsignedNumber(x)
	}
	return c
}

func buildAbs(_ *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.args = append([]Expr(nil), n.args...)
	if n.numericResult() == classFloat {
		n.typ = doubleOf(0, n.args[0])
	}
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := n.args[0].eval(ctx, n.args[0], row)
		if err != nil || v.IsNull() {
			return v, err
		}
		switch n.typ.Kind() {
		case types.KindFloat:
			return types.Float(math.Abs(ctx.float(&v))), nil
		case types.KindDecimal:
			return n.fit(types.DecAbs(ctx.decimal(&v))), nil
		case types.KindUint:
			return types.Uint(ctx.widen(&v).lo), nil
		}
		w := ctx.widen(&v)
		if w.hi < 0 {
			w = w.neg()
		}
		return w.narrow(n)
	}
	return nil
}

func evalSign(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || v.IsNull() {
		return types.Null(), err
	}
	if numericClass(n.args[0]) == classFloat {
		f := ctx.float(&v)
		return types.Int(int64(orderFloats(f, 0)-orderFloats(0, f)) / 2), nil // 0 for NaN
	}
	return types.Int(int64(types.DecSign(ctx.decimal(&v)))), nil
}

// wholeLength sets the display width of a rounded integer to bigintChars, as MySQL does.
func (n *Node) wholeLength() {
	if n.typ.ID == types.TypeBigInt {
		n.typ.Length = bigintChars
	}
}

// bigintChars is MySQL's display width of functions that return any BIGINT.
const bigintChars = 21

// buildWhole is CEIL and FLOOR. Of a decimal the result is an integer if the type's digits fit one, else a decimal without fraction; of a double it
// is a double.
func buildWhole(_ *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.args = append([]Expr(nil), n.args...)
	c := n.numericResult()
	n.loose = false
	if c == classDecimal {
		p, s := precisionOf(n.args[0])
		if p-s < 18 {
			n.typ = intType(int32(p-s) + 2)
		} else {
			n.typ = decimalType(p-s+1, 0)
		}
	}
	n.wholeLength()
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := n.args[0].eval(ctx, n.args[0], row)
		if err != nil || v.IsNull() || integral(v.K) && v.K == n.typ.Kind() {
			return v, err
		}
		up := n.name != "floor"
		if n.typ.ID == types.TypeDouble {
			if up {
				return types.Float(math.Ceil(ctx.float(&v))), nil
			}
			return types.Float(math.Floor(ctx.float(&v))), nil
		}
		d := ctx.decimal(&v)
		if up {
			d = types.DecCeil(d)
		} else {
			d = types.DecFloor(d)
		}
		if n.typ.ID == types.TypeDecimal {
			return d, nil
		}
		i, ok := types.DecToInt(d)
		if !ok {
			return types.Null(), bigintRange(n)
		}
		return types.Int(i), nil
	}
	return nil
}

// buildRound is ROUND and TRUNCATE. The scale of a decimal result is the second argument if that is constant and smaller than the scale of the
// first.
func buildRound(_ *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.args = append([]Expr(nil), n.args...)
	c := n.numericResult()
	n.loose = false
	digits, known := int64(0), true
	if len(n.args) == 2 {
		v, ok := n.args[1].ConstValue()
		known = ok && !v.IsNull()
		if known {
			digits = NewCtx(nil).integer(&v)
		}
	}
	if c == classDecimal {
		p, s := precisionOf(n.args[0])
		scale := s
		if known {
			scale = int(max(0, min(digits, int64(types.MaxDecimalScale), int64(max(s, int(digits))))))
		}
		if known && scale > s {
			scale = s
		}
		grow := 0
		if n.name == "round" && scale < s {
			grow = 1
		}
		n.typ = decimalType(p-s+scale+grow, scale)
	}
	n.wholeLength()
	n.eval = evalRound
	return nil
}

func evalRound(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || v.IsNull() {
		return types.Null(), err
	}
	digits := int64(0)
	if len(n.args) == 2 {
		d, err := n.args[1].eval(ctx, n.args[1], row)
		if err != nil || d.IsNull() {
			return types.Null(), err
		}
		digits = max(ctx.integer(&d), -400)
		if d.K == types.KindUint && d.N < 0 {
			digits = math.MaxInt64
		}
	}
	cut := n.name == "truncate"
	switch n.typ.Kind() {
	case types.KindFloat:
		return types.Float(roundFloat(ctx.float(&v), digits, cut)), nil
	case types.KindDecimal:
		d, digits := ctx.decimal(&v), int(max(min(digits, types.MaxDecimalScale), -types.MaxDecimalPrecision))
		if cut {
			d = types.DecTruncate(d, digits)
		} else {
			d = types.DecRound(d, digits)
		}
		return n.fit(d), nil
	}
	if digits >= 0 && integral(v.K) {
		if n.typ.Unsigned {
			return types.Uint(uint64(v.N)), nil
		}
		return types.Int(v.N), nil
	}
	d := ctx.decimal(&v)
	if cut {
		d = types.DecTruncate(d, int(max(digits, -types.MaxDecimalPrecision)))
	} else {
		d = types.DecRound(d, int(max(digits, -types.MaxDecimalPrecision)))
	}
	if n.typ.Unsigned {
		u, ok := types.DecToUint(d)
		if !ok {
			return types.Null(), bigintRange(n)
		}
		return types.Uint(u), nil
	}
	i, ok := types.DecToInt(d)
	if !ok {
		return types.Null(), bigintRange(n)
	}
	return types.Int(i), nil
}

// roundFloat rounds f to so many decimal digits after the point, half to even as rint of the C library, which MySQL uses; cut truncates instead.
func roundFloat(f float64, digits int64, cut bool) float64 {
	if digits > 308 || f == 0 || math.IsInf(f, 0) {
		return f
	}
	if digits < -308 {
		return 0
	}
	whole := math.RoundToEven
	if cut {
		whole = math.Trunc
	}
	if digits == 0 {
		return whole(f)
	}
	p := math.Pow10(int(max(digits, -digits)))
	if digits < 0 {
		return whole(f/p) * p
	}
	scaled := f * p
	if math.IsInf(scaled, 0) {
		return f
	}
	return whole(scaled) / p
}

// randState is the state of one RAND(seed) call within one execution. The generator is MySQL's my_rnd, because programs rely on its sequences.
type randState struct{ a, b uint64 }

// randMax is the modulus of the generator.
const randMax = 0x3FFFFFFF

func (s *randState) seed(n uint32) {
	s.a = uint64(n*0x10001+55555555) % randMax
	s.b = uint64(n*0x10000001) % randMax
}

func (s *randState) next() float64 {
	s.a = (s.a*3 + s.b) % randMax
	s.b = (s.a + s.b + 33) % randMax
	return float64(s.a) / randMax
}

// buildRand is RAND([seed]). A seed that is constant in the statement starts one sequence per execution; any other starts one per row.
func buildRand(_ *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.typ, n.coer = doubleType(), CoerNumeric
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		if len(n.args) == 0 {
			return types.Float(ctx.random()), nil
		}
		if ctx.rands == nil {
			ctx.rands = map[*Node]*randState{}
		}
		s := ctx.rands[n]
		if s == nil || !IsConstInStatement(n.args[0]) {
			seed, _, err := ctx.int(n.args[0], row)
			if err != nil {
				return types.Null(), err
			}
			if s == nil {
				s = &randState{}
				ctx.rands[n] = s
			}
			s.seed(uint32(seed))
		}
		return types.Float(s.next()), nil
	}
	return nil
}

// evalFormat is FORMAT(x, decimals[, locale]). The default locale is en_US.
func evalFormat(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || v.IsNull() {
		return types.Null(), err
	}
	digits, null, err := ctx.int(n.args[1], row)
	if null {
		return types.Null(), err
	}
	digits = min(max(digits, 0), types.MaxDecimalScale)
	var text []byte
	if numericClass(n.args[0]) == classFloat {
		text = types.AppendFixed(nil, roundFloat(ctx.float(&v), digits, false), int(digits))
	} else {
		text = types.AppendDecimal(nil, types.DecRound(ctx.decimal(&v), int(digits)))
	}
	var locale *types.Locale
	if len(n.args) == 3 {
		if locale, err = ctx.namedLocale(n, row); err != nil {
			return types.Null(), err
		}
	}
	return n.textResult(locale.AppendNumber(nil, text, int(digits))), nil
}

// namedLocale returns the locale that FORMAT's third argument names. For an unknown name it raises warning 1649 and returns nil, which is en_US.
func (ctx *Ctx) namedLocale(n *Node, row []types.Value) (*types.Locale, error) {
	v, err := ctx.text(n.args[2], row)
	if err != nil {
		return nil, err
	}
	name := "NULL"
	if !v.IsNull() {
		name = string(v.B[:min(len(v.B), quotedMax)])
	}
	locale := types.LookupLocale(name)
	if locale == nil {
		ctx.warnText(errUnknownLocale, "Unknown locale: '"+name+"'")
	}
	return locale, nil
}
