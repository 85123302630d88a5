package expr

import (
	"github.com/pandodb/pando/types"
)

// The accessors below turn values into the class that an operator computes in. They have fast paths for values that are of the class
// already and leave everything else, with its warnings, to types.

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

// integer returns v as a signed integer: rounded and saturated.
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

// textOf returns the text of v, in the arena if it has none of its own.
func (ctx *Ctx) textOf(v *types.Value) []byte {
	switch v.K {
	case types.KindString, types.KindEnum, types.KindSet:
		return v.B
	case types.KindJSON:
		return ctx.shown(v.B)
	}
	return ctx.keep(types.AppendText(ctx.scratch(), ctx.Context, v))
}

// shown returns the text of a document as clients receive it, which is counted if it is not the document itself.
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
			err = ctx.poll() // whoever reads it takes a while
		}
		return v, err
	}
	return types.String(ctx.textOfTyped(&v, &e.typ), textCollation(&v)), nil
}

// textOfTyped is textOf for a value whose type changes its looks: ZEROFILL, YEAR, FLOAT(M,D), decimals with hidden digits.
func (ctx *Ctx) textOfTyped(v *types.Value, t *types.Type) []byte {
	switch v.K {
	case types.KindString, types.KindEnum, types.KindSet:
		return v.B
	case types.KindJSON:
		return ctx.shown(v.B)
	}
	return ctx.keep(types.AppendTyped(ctx.scratch(), ctx.Context, v, t))
}

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

// Three-valued logic.
type tri uint8

const (
	triFalse tri = iota
	triTrue
	triNull
)

// truth returns v as a condition.
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

// choose is test for IF and CASE, to which a JSON value is the number that it reads as; other conditions compare it with 0.
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
