package expr

import (
	"bytes"
	"slices"

	"github.com/pandodb/pando/types"
)

// realArguments, decimalArguments and integerArguments map function names to a bit set of their arguments that are numbers (bit 0 is the first), doubles,
// decimals or integers:
// there a literal x'..' or b'..' is the number of its bits, as in MySQL, and not the text of its bytes. Builders of operators, and of functions whose result
// type is that of an argument, call AsNumber themselves.
var (
	realArguments = map[string]uint{
		"interval": everyArgument, "format": 1 << 0, "conv": 1 << 0, "bin": 1 << 0, "oct": 1 << 0,
		"sign": 1 << 0, "sqrt": 1 << 0, "pow": 1<<0 | 1<<1, "power": 1<<0 | 1<<1, "exp": 1 << 0, "ln": 1 << 0, "log": 1<<0 | 1<<1, "log2": 1 << 0,
		"log10": 1 << 0, "sin": 1 << 0, "cos": 1 << 0, "tan": 1 << 0, "cot": 1 << 0, "asin": 1 << 0, "acos": 1 << 0, "atan": 1<<0 | 1<<1,
		"atan2": 1<<0 | 1<<1, "degrees": 1 << 0, "radians": 1 << 0, "sleep": 1 << 0, "get_lock": 1 << 1, "format_bytes": 1 << 0, "format_pico_time": 1 << 0,
	}
	decimalArguments = map[string]uint{"maketime": 1 << 2, "sec_to_time": 1 << 0, "from_unixtime": 1 << 0}
	integerArguments = map[string]uint{
		"makedate": 1<<0 | 1<<1, "maketime": 1<<0 | 1<<1, "from_days": 1 << 0, "period_add": 1<<0 | 1<<1, "period_diff": 1<<0 | 1<<1, "week": 1 << 1, "yearweek": 1 << 1,
		"left": 1 << 1, "right": 1 << 1, "substring": 1<<1 | 1<<2, "substr": 1<<1 | 1<<2, "mid": 1<<1 | 1<<2, "lpad": 1 << 1, "rpad": 1 << 1,
		"repeat": 1 << 1, "space": 1 << 0, "locate": 1 << 2, "insert": 1<<1 | 1<<2, "elt": 1 << 0, "make_set": 1 << 0, "export_set": 1<<0 | 1<<4,
		"substring_index": 1 << 2, "char": everyArgument, "char_using": everyArgument, "format": 1 << 1, "conv": 1<<1 | 1<<2, "bit_count": 1 << 0, "sha2": 1 << 1,
		"random_bytes": 1 << 0, "round": 1 << 1, "truncate": 1 << 1, "rand": 1 << 0, "regexp_instr": 1<<2 | 1<<3 | 1<<4, "regexp_substr": 1<<2 | 1<<3, "regexp_replace": 1<<3 | 1<<4,
		"inet_ntoa": 1 << 0, "uuid_to_bin": 1 << 1, "bin_to_uuid": 1 << 1, "benchmark": 1 << 0,
	}
)

const everyArgument = ^uint(0)

// readNumbers makes the arguments of n that the function reads as numbers or integers what they are as such.
func (n *Node) readNumbers() {
	reals, decimals, integers := realArguments[n.name], decimalArguments[n.name], integerArguments[n.name]
	if n.IsCall("hex") && n.args[0].typ.IsNumeric() {
		integers = 1 // else it shows the bytes of a text
	}
	if reals|decimals|integers == 0 {
		return
	}
	args := slices.Clone(n.args)
	for i, a := range n.args {
		switch {
		case n.IsCall("bit_count") && binaryOperand(a): // its bytes are counted
		case integers>>uint(i)&1 != 0 || integers == everyArgument:
			args[i] = integerOf(a)
		case decimals>>uint(i)&1 != 0:
			args[i] = asDecimal(a)
		case reals>>uint(i)&1 == 0 && reals != everyArgument:
		case n.IsCall("conv", "oct", "bin"): // they read texts
			args[i] = AsNumber(a)
		default:
			args[i] = asNumber(a)
		}
	}
	if !slices.Equal(args, n.args) {
		n.args = args
	}
}

// asNumber is AsNumber that also converts IF, CASE, GREATEST and LEAST whose result is a text because their arguments differ in type. Where a
// number is expected, MySQL evaluates the chosen argument as one, not the number that its text begins with: a date is 20240131 and not 2024, an
// ENUM is its position.
func asNumber(e Expr) Expr { return numberOf(e, false) }

// asDecimal is asNumber where MySQL evaluates a decimal: ELT has none but that in which its text begins.
func asDecimal(e Expr) Expr { return numberOf(e, true) }

func numberOf(e Expr, decimal bool) Expr {
	switch {
	case isExtremeDate(computed(e)):
		if decimal {
			return extremeNumber(computed(e), decimalType(datetimeDigits+types.MaxFsp, types.MaxFsp))
		}
		return extremeNumber(computed(e), doubleType())
	case isTextual(&e.typ) && computed(e).IsCall("date_add", "date_sub", "addtime", "subtime"):
		return dateTextNumber(e)
	case isExtremeOfNumbers(computed(e)):
		return extremeOfNumbers(computed(e), doubleType(), toDouble)
	case e.typ.ID == types.TypeJSON && e.IsCall("coalesce", "ifnull"): // the number that its text begins with
		return (*BuildContext)(nil).coerced(e, stringType(-1, types.Utf8mb4Bin))
	case computed(e).IsCall("elt"):
		if decimal {
			return e
		}
		return eltNumber(computed(e), doubleType(), toDouble)
	case computed(e).IsCall("nullif"):
		c := computed(e)
		if x := numberOf(c.args[0], decimal); x != c.args[0] || isMember(x) {
			return nullIfNumber(c, x)
		}
	}
	if c := computed(e); c != e && isCase(c) && isTextual(&e.typ) && c.choosesNumbers() { // folded to the text
		e = c
	}
	if !isCase(e) || !isTextual(&e.typ) && !e.typ.IsTemporal() {
		return AsNumber(e)
	}
	if !e.choosesNumbers() {
		return e
	}
	n := *e
	n.args = slices.Clone(e.args)
	n.typ, n.coer, n.ascii, n.batch, n.filter = doubleType(), CoerNumeric, true, nil, nil
	if e.typ.IsTemporal() {
		n.typ = decimalType(datetimeDigits+int(e.typ.Scale), int(e.typ.Scale))
	}
	for i := n.firstResult(); i < len(n.args); i++ {
		if n.isResult(i) && n.args[i].typ.Kind() != n.typ.Kind() {
			n.args[i] = coercedNumber(numberOf(origin(n.args[i]), decimal), n.typ)
		}
	}
	return &n
}

// datetimeDigits is how many digits a datetime has as a number.
const datetimeDigits = 14

// isCase reports whether e is an IF or CASE.
func isCase(e Expr) bool { return e.IsCall("if", "case", "case_value") }

// choosesNumbers reports whether an IF or CASE, which is a text, date or time, has a result that is another number than the choice itself.
func (n *Node) choosesNumbers() bool {
	return slices.ContainsFunc(n.results(), func(a Expr) bool {
		a = origin(a)
		return a.typ.ID != types.TypeNull && (a.isHexLiteral() || a.typ.IsTemporal() && a.typ.ID != n.typ.ID || !a.typ.IsTemporal() && !a.typ.IsStringType())
	})
}

// isHexNullIf reports whether e is a NULLIF of x'..' or b'..', which is a number where such a literal is.
func isHexNullIf(e Expr) bool {
	c := computed(e)
	return c.IsCall("nullif") && c.args[0].isHexLiteral()
}

// isMember reports whether e is of ENUM or SET, and so a number where one is expected.
func isMember(e Expr) bool { return e.typ.ID == types.TypeEnum || e.typ.ID == types.TypeSet }

// nullIfNumber returns the NULLIF e as the number x that its first argument is.
func nullIfNumber(e, x Expr) Expr {
	n := *e
	n.args = []Expr{x, e.args[len(e.args)-2], e.args[len(e.args)-1]}
	n.typ, n.coer, n.ascii, n.batch, n.filter = x.typ, CoerNumeric, true, nil, nil
	return &n
}

// eltNumber returns the ELT as the number of type t that convert makes of the chosen argument.
func eltNumber(e Expr, t types.Type, convert func(e Expr) Expr) Expr {
	n := *e
	n.args = slices.Clone(e.args)
	n.typ, n.coer, n.ascii, n.batch, n.filter = t, CoerNumeric, true, nil, nil
	for i := range n.args[1:] {
		n.args[i+1] = convert(n.args[i+1])
	}
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		i, null, err := ctx.int(n.args[0], row)
		if null || i < 1 || i >= int64(len(n.args)) {
			return types.Null(), err
		}
		return n.args[i].eval(ctx, n.args[i], row)
	}
	return &n
}

func isTimeOrYear(e Expr) bool {
	t := origin(e).typ.ID
	return t == types.TypeTime || t == types.TypeYear
}

// computed returns the call that made the constant e, else e.
func computed(e Expr) Expr {
	if f, ok := e.aux.(*folded); ok && e.kind == kindConst {
		return f.from
	}
	return e
}

// dateTextNumber returns a function that computes with dates, but whose result is a text, as the number that the date is: 20240131 and not 2024.
func dateTextNumber(e Expr) Expr {
	n := newCall("date as number", []Expr{e})
	n.hidden, n.typ, n.coer, n.ascii = true, doubleType(), CoerNumeric, true
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := n.args[0].eval(ctx, n.args[0], row)
		if err != nil || v.IsNull() {
			return types.Null(), err
		}
		text := types.String(ctx.textOf(&v), types.DefaultCollation)
		d, _ := types.ToTime(nil, &text)
		if bytes.IndexByte(text.B, '-') > 0 { // not the sign of a time
			if d, _ = types.ToDatetime(ctx.Context, &text); len(text.B) == len("2024-01-31") {
				d, _ = types.ToDate(nil, &d)
			}
		}
		return types.Float(ctx.float(&d)), nil
	}
	return n
}

// firstResult returns the position of the first argument of a CASE or IF that is a result.
func (n *Node) firstResult() int {
	if n.name == "case_value" {
		return 2
	}
	return 1
}

// isResult reports whether argument i of a CASE or IF is one of its results; the last argument is one with or without ELSE.
func (n *Node) isResult(i int) bool {
	return i >= n.firstResult() && ((i-n.firstResult())%2 == 0 || i == len(n.args)-1)
}

// results returns the results of a CASE or IF.
func (n *Node) results() []Expr {
	var out []Expr
	for i := n.firstResult(); i < len(n.args); i++ {
		if n.isResult(i) {
			out = append(out, n.args[i])
		}
	}
	return out
}

// toDouble converts a result of CASE or IF to double, from its type before unify converted it to text.
func toDouble(e Expr) Expr { return toNumber(e, doubleType()) }

// toNumber is toDouble with another type of number.
func toNumber(e Expr, t types.Type) Expr { return coercedNumber(asNumber(origin(e)), t) }

// toInteger is toNumber with the integer that is read from e; one without a sign keeps its bits.
func toInteger(e Expr) Expr {
	n := coercedNumber(integerOf(origin(e)), intType(21))
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := n.args[0].eval(ctx, n.args[0], row)
		if err != nil || v.IsNull() {
			return v, err
		}
		if v.K == types.KindUint {
			return types.Int(v.N), nil
		}
		return ctx.coerceValue(&v, n.args[0], &n.typ), nil
	}
	return n
}

func coercedNumber(e Expr, t types.Type) Expr {
	n := newCall("coerce", []Expr{e})
	n.hidden, n.typ, n.coer, n.ascii, n.notNull, n.eval = true, t, CoerNumeric, true, e.notNull, evalCoerce
	return n
}
