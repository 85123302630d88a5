package expr

import (
	"github.com/pandodb/pando/types"
)

// The methods below convert values to the class that an operator computes in. They have fast paths for values that are in the class already;
// package types converts the others and raises the warnings.

// float returns v as a double.
func (ctx *Ctx) float(v *types.Value) float64 {
	switch v.K {
	case types.KindFloat:
		return v.Float64()
	case types.KindInt:
		return float64(v.N)
	case types.KindUint:
		return float64(uint64(v.N))
	}
	if !ctx.reads(v) {
		return 0
	}
	return types.ToFloat(ctx.Context, v)
}

// decimal returns v as a decimal.
func (ctx *Ctx) decimal(v *types.Value) types.Value {
	switch v.K {
	case types.KindDecimal:
		return *v
	case types.KindInt:
		return types.Decimal(v.N, 0)
	case types.KindUint:
		if v.N >= 0 {
			return types.Decimal(v.N, 0)
		}
	}
	if !ctx.reads(v) {
		return types.Decimal(0, 0)
	}
	return types.ToDecimal(ctx.Context, v)
}

// integer returns v as a signed integer: rounded, and limited to the range of an int64.
func (ctx *Ctx) integer(v *types.Value) int64 {
	switch v.K {
	case types.KindInt:
		return v.N
	case types.KindUint:
		if v.N < 0 {
			return 1<<63 - 1
		}
		return v.N
	}
	if !ctx.reads(v) {
		return 0
	}
	return types.ToInt(ctx.Context, v)
}

// textOf returns the text of v: v.B if v is a text, else text in the arena.
func (ctx *Ctx) textOf(v *types.Value) []byte {
	switch v.K {
	case types.KindString, types.KindEnum, types.KindSet:
		return v.B
	case types.KindJSON:
		return ctx.shown(v.B)
	}
	return ctx.keep(types.AppendText(ctx.scratch(), ctx.Context, v))
}

// shown returns a JSON document as clients receive it, without marks (see package types). If that is a copy, its memory is counted.
func (ctx *Ctx) shown(document []byte) []byte {
	if !types.JSONMarked(document) || !ctx.fits(len(document)) {
		return document
	}
	return ctx.owned(types.ShownJSON(document))
}

// text evaluates e as a string; NULL stays NULL.
func (ctx *Ctx) text(e Expr, row []types.Value) (types.Value, error) {
	v, err := e.eval(ctx, e, row)
	if err != nil || v.K == types.KindString || v.K == types.KindNull {
		if len(v.B) >= meterUnit && err == nil {
			err = ctx.poll() // reading a long text takes time
		}
		return v, err
	}
	if e.mixed {
		return ctx.mixedText(e, row)
	}
	return types.String(ctx.textOfResult(&v, e), textCollation(&v)), nil
}

// textOfResult returns the text of v, a value of e. It is textOfTyped but for numbers that are computed: a FLOAT has all digits of the double unless
// CAST has made it, and the text is shorter. A TIME of STR_TO_DATE has a fraction only if it is not zero.
func (ctx *Ctx) textOfResult(v *types.Value, e Expr) []byte {
	if v.K == types.KindTime && v.N%1e6 == 0 && computed(e).IsCall("str_to_date") {
		whole := *v
		whole.Scale = 0
		return ctx.textOf(&whole)
	}
	if v.K == types.KindFloat && !e.fixed() && !e.stored() {
		return ctx.keep(types.AppendComputedFloat(ctx.scratch(), v.Float64(), e.typ.ID == types.TypeFloat && computed(e).IsCall("cast")))
	}
	return ctx.textOfTyped(v, &e.typ)
}

// stored reports whether the text of e, a double, is that of a column, as it is of choices between columns.
func (n *Node) stored() bool {
	return n.kind == kindColumn && !n.aggregated || n.kind == kindSubquery || n.IsCall("if", "case", "case_value")
}

// fixed reports whether e is a double with a fixed number of decimals.
func (n *Node) fixed() bool { return n.typ.Scale >= 0 && n.typ.Length > 0 }

// textOfTyped is textOf for a value whose text depends on its type: ZEROFILL, YEAR, FLOAT(M,D), decimals with more digits than the type's scale.
func (ctx *Ctx) textOfTyped(v *types.Value, t *types.Type) []byte {
	switch v.K {
	case types.KindString, types.KindEnum, types.KindSet:
		return v.B
	case types.KindJSON:
		return ctx.shown(v.B)
	}
	if v.K == types.KindFloat && !t.ZeroFill && !(t.Scale >= 0 && t.Length > 0) {
		if t.ID == types.TypeFloat {
			return ctx.keep(types.AppendComputedFloat(ctx.scratch(), v.Float64(), true))
		}
		return ctx.keep(types.AppendColumnFloat(ctx.scratch(), v.Float64()))
	}
	return ctx.keep(types.AppendTyped(ctx.scratch(), ctx.Context, v, t))
}

// textCollation returns the collation that v has as a text.
func textCollation(v *types.Value) types.CollationID {
	switch v.K {
	case types.KindEnum, types.KindSet, types.KindString:
		return v.Coll
	case types.KindBit:
		return types.Binary
	}
	return types.DefaultCollation
}

// int evaluates e as a signed integer.
func (ctx *Ctx) int(e Expr, row []types.Value) (n int64, null bool, err error) {
	v, err := e.eval(ctx, e, row)
	if err != nil || v.K == types.KindNull {
		return 0, true, err
	}
	return ctx.integer(&v), false, nil
}

// real evaluates e as a double.
func (ctx *Ctx) real(e Expr, row []types.Value) (f float64, null bool, err error) {
	v, err := e.eval(ctx, e, row)
	if err != nil || v.K == types.KindNull {
		return 0, true, err
	}
	return ctx.float(&v), false, nil
}

// tri is a truth value of SQL's three-valued logic.
type tri uint8

const (
	triFalse tri = iota
	triTrue
	triNull
)

// truth returns v as a condition. It fails only if the statement has to end.
func truth(ctx *Ctx, v *types.Value) (tri, error) {
	switch v.K {
	case types.KindNull:
		return triNull, nil
	case types.KindInt, types.KindUint:
		return triOf(v.N != 0), nil
	case types.KindFloat:
		return triOf(v.Float64() != 0), nil
	}
	if !ctx.reads(v) {
		return triNull, ctx.failed
	}
	return triOf(types.ToBool(ctx.Context, v)), nil
}

func triOf(b bool) tri {
	if b {
		return triTrue
	}
	return triFalse
}

func (t tri) value() types.Value {
	switch t {
	case triTrue:
		return types.Int(1)
	case triFalse:
		return types.Int(0)
	}
	return types.Null()
}

// choose is test for IF and CASE. They convert a JSON value to a number; other conditions compare it with 0 as JSON.
func (ctx *Ctx) choose(e Expr, row []types.Value) (tri, error) {
	v, err := e.eval(ctx, e, row)
	if err != nil {
		return triNull, err
	}
	if v.K == types.KindJSON {
		return triOf(ctx.float(&v) != 0), nil
	}
	return truth(ctx, &v)
}

// test evaluates e as a condition.
func (ctx *Ctx) test(e Expr, row []types.Value) (tri, error) {
	v, err := e.eval(ctx, e, row)
	if err != nil {
		return triNull, err
	}
	return truth(ctx, &v)
}
