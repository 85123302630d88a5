package expr

import (
	"slices"

	"github.com/pandodb/pando/types"
)

// A DECIMAL has the fraction digits that it was computed with, which its type may have more of: IF(TRUE, 1, 2.55) is 1 and shown as 1.00, and a
// difference of 0 has none. Documents show them, and a quotient is cut off by those of dividend and divisor.

// ownDigits returns e, a DECIMAL, with the digits that its values have by themselves.
func (b *BuildContext) ownDigits(e Expr) Expr {
	if IsLoose(e) && e.IsCall("avg", "shown", "set_user_variable") {
		return Digits(e)
	}
	from := computed(e)
	if from.typ.ID != types.TypeDecimal || from.kind != kindCall {
		return e
	}
	if _, done := from.aux.(*ownDecimal); done || !IsDeterministic(from) {
		return e // evalOwnDigits evaluates some operands twice
	}
	n := *from
	n.batch, n.filter, n.mixed = nil, nil, false
	n.args = slices.Clone(from.args)
	changed := false
	for i, a := range from.args {
		if !from.handsOn(i) {
			continue
		}
		if a = origin(a); a.typ.ID == types.TypeNull || IsLoose(a) && !from.IsCall("if", "case", "case_value", "nullif") {
			continue // others round what they make of an AVG to the scale of their type
		}
		if n.args[i] = b.ownDigits(a); a.typ.ID != types.TypeDecimal && from.chooses() {
			n.args[i] = toNumber(a, decimalType(precisionOf(a)))
		}
		changed = changed || n.args[i] != from.args[i]
	}
	if from.IsCall("+", "-", "*", "/", "%", "round", "truncate", "unix_timestamp") {
		own := &ownDecimal{from.eval, from.loose}
		if incr, ok := from.aux.(int); ok {
			own.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
				return ctx.divideDecimals(n, row, incr)
			}
		}
		n.aux, n.eval, n.loose, changed = own, evalOwnDigits, true, true
		if n.name == "unix_timestamp" {
			n.typ.Length, n.typ.Scale = n.typ.Length+int32(types.MaxFsp-n.typ.Scale), types.MaxFsp
		}
	} else if changed && from.IsCall("neg", "abs") {
		n.loose = true
	}
	if !changed {
		return e
	}
	return foldHidden(b, &n)
}

// ownDigits is that of all arguments.
func (n *Node) ownDigits(b *BuildContext) {
	n.args = slices.Clone(n.args)
	for i, a := range n.args {
		n.args[i] = b.ownDigits(a)
	}
}

// chooses reports whether n returns one of several arguments.
func (n *Node) chooses() bool {
	return n.IsCall("if", "case", "case_value", "coalesce", "ifnull", "greatest", "least")
}

// handsOn reports whether the digits of argument i of n are in its result.
func (n *Node) handsOn(i int) bool {
	switch {
	case n.IsCall("if", "case", "case_value"):
		return n.isResult(i)
	case n.IsCall("nullif"):
		return i == 0
	}
	return n.chooses() || n.IsCall("+", "-", "*", "%", "neg", "abs")
}

// ownDecimal is the aux of a computation with its own digits, which is loose: how it computes, and whether it was loose before.
type ownDecimal struct {
	eval  evalFunc
	loose bool
}

func evalOwnDigits(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	own := n.aux.(*ownDecimal)
	v, err := own.eval(ctx, n, row)
	if err != nil || v.K != types.KindDecimal {
		return v, err
	}
	if !own.loose && (v.Scale > uint8(n.typ.Scale) || n.name == "/") {
		v = types.DecRound(v, int(n.typ.Scale))
	}
	scale, err := ctx.scaleOf(n, &v, row)
	if err == nil && scale != int(v.Scale) {
		v = types.DecRound(v, scale)
	}
	return v, err
}

// scaleOf returns how many fraction digits the result v of n has: none of a zero that two factors or unequal terms make, those that ROUND is asked
// for, those of a time only if it has a fraction of a second, and of UNIX_TIMESTAMP six or none.
func (ctx *Ctx) scaleOf(n *Node, v *types.Value, row []types.Value) (int, error) {
	zero := types.DecSign(*v) == 0
	switch n.name {
	case "unix_timestamp":
		if types.DecCompare(types.DecTruncate(*v, 0), *v) == 0 {
			return 0, nil
		}
		return types.MaxFsp, nil
	case "round", "truncate":
		if len(n.args) == 1 {
			return 0, nil
		}
		digits, err := n.args[1].eval(ctx, n.args[1], row)
		return int(max(0, min(ctx.integer(&digits), int64(n.typ.Scale)))), err
	case "*", "-", "/", "%":
		if zero {
			return 0, nil
		}
	case "+":
		if zero {
			x, err := n.args[0].eval(ctx, n.args[0], row)
			if d := ctx.decimal(&x); err != nil || types.DecSign(d) != 0 {
				return 0, err
			}
		}
	}
	if len(n.args) != 2 || n.name == "/" {
		return int(v.Scale), nil
	}
	for i, a := range n.args {
		if from := origin(a).typ; from.IsTemporal() && from.Scale > 0 {
			_, other := precisionOf(n.args[1-i])
			whole := other
			if n.name == "*" { // the fraction may be of the other factor
				whole = 0
			}
			if types.DecCompare(types.DecTruncate(*v, whole), *v) == 0 {
				return other, nil
			}
		}
	}
	return int(v.Scale), nil
}
