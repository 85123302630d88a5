package expr

import (
	"slices"

	"github.com/pandodb/pando/types"
)

// Digits beyond the scale of a DECIMAL's type. As in MySQL, AVG is a quotient that is cut off at a whole word of digits, and not rounded to its scale
// before it is shown: what computes with it, compares it or stores it gets all of them. IF, CASE, NULLIF, a scalar subquery, SUM, MIN and MAX hand them
// on; operators and other functions round their results. A node with such values is loose.
//
// Vectors have one scale, that of their type. So what leaves a block as a column with all digits has a type with all of them (Digits, AggOptions.Digits),
// and Shown is the loose expression of the type that MySQL says over it.

// Shown is e, a decimal whose type has all digits of its values, as one of the type t: Eval rounds to its scale, and operators see all digits.
func Shown(e Expr, t types.Type) Expr {
	if e.typ.ID != types.TypeDecimal || t.ID != types.TypeDecimal || e.typ.Scale <= t.Scale {
		return e
	}
	n := newCall("shown", []Expr{e})
	n.hidden, n.typ, n.coer, n.notNull = true, t, e.coer, e.notNull
	n.loose, n.digits = true, e.typ.Scale
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		return n.args[0].eval(ctx, n.args[0], row)
	}
	return n
}

// Digits returns e with a type that has all digits of its values: e itself unless it is loose.
func Digits(e Expr) Expr {
	switch {
	case !e.loose || e.deep || e.typ.ID != types.TypeDecimal:
		return e
	case e.IsCall("shown"):
		return e.args[0]
	}
	return (*BuildContext)(nil).coerced(e, withDigits(e.typ, int(e.digits)))
}

// withAllDigits is e in a comparison, which sees all digits: of Shown what is under it, so that kernels and keys can compare its vectors.
func withAllDigits(e Expr) Expr {
	if e.IsCall("shown") {
		return e.args[0]
	}
	return e
}

// Rounded returns e with its values rounded to the scale of t.
func Rounded(e Expr, t types.Type) Expr {
	if e.typ.ID != types.TypeDecimal || e.deep || e.typ.Scale == t.Scale && !e.loose {
		return e
	}
	return (*BuildContext)(nil).coerced(e, t)
}

// IsLoose reports whether e is a decimal that may have more digits than its type says.
func IsLoose(e Expr) bool { return e.loose && !e.deep }

// withDigits is the decimal type t with so many fraction digits, as far as there is room for them behind its integer part.
func withDigits(t types.Type, digits int) types.Type {
	whole := int(t.Length) - int(t.Scale)
	digits = max(min(digits, types.MaxDecimalScale, types.MaxDecimalPrecision-whole), int(t.Scale))
	wide := decimalType(whole+digits, digits)
	wide.Unsigned = t.Unsigned
	return wide
}

// pass makes n loose if one of the results that it hands on is.
func (n *Node) pass(results ...Expr) {
	if n.typ.ID != types.TypeDecimal || !slices.ContainsFunc(results, func(r Expr) bool { return r.loose }) {
		return
	}
	n.loose, n.digits = true, n.typ.Scale
	for _, r := range results {
		n.digits = max(n.digits, r.fractionDigits())
	}
}

// fractionDigits is the most fraction digits that n's values have.
func (n *Node) fractionDigits() int8 {
	if n.loose {
		return n.digits
	}
	return n.typ.Scale
}

// averageDigits is how many fraction digits an AVG over values with so many has: those of whole words.
func averageDigits(digits, incr int) int { return wholeWords(digits + incr) }

// inDouble returns e where a double is computed of it: AVG divides doubles then.
func inDouble(e Expr) Expr {
	if !e.loose || e.kind != kindCall || e.typ.ID != types.TypeDecimal {
		return e
	}
	n := *e
	switch {
	case e.IsCall("avg"):
		n.eval = evalAverageDouble
	case e.IsCall("if", "case", "case_value"):
		n.args = slices.Clone(e.args)
		for i, a := range e.args {
			if e.isResult(i) {
				n.args[i] = (*BuildContext)(nil).coerce(a, doubleType())
			}
		}
	case e.IsCall("nullif"):
		x := inDouble(e.args[0])
		if x == e.args[0] {
			return e
		}
		n.args = []Expr{x, e.args[len(e.args)-2], e.args[len(e.args)-1]}
	default:
		return e
	}
	n.typ, n.loose, n.batch, n.filter = doubleType(), false, nil, nil
	return &n
}

// Average is the AVG that spec describes, with all the digits of the quotient of its sum and count.
func Average(b *BuildContext, spec *AggSpec, sum, count Expr) Expr {
	n := newCall("avg", []Expr{sum, count})
	n.coer, n.typ, n.loose = CoerNumeric, spec.shown, true
	n.digits = withDigits(n.typ, averageDigits(int(sum.typ.Scale), b.divIncrement())).Scale
	n.aux, n.eval = &average{b.divIncrement(), spec.String()}, evalAverage
	return n
}

type average struct {
	incr int
	text string
}

func evalAverage(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	return ctx.divideDecimals(n, row, n.aux.(*average).incr)
}

func evalAverageDouble(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	sum, count, null, err := ctx.operands(n, row)
	if null || ctx.float(&count) == 0 {
		return types.Null(), err
	}
	return types.Float(ctx.float(&sum) / ctx.float(&count)), nil
}
