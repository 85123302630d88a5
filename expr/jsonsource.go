package expr

import (
	"slices"

	"github.com/pandodb/pando/types"
)

// A document tells of which type the value was that became a part of it: an opaque value has the number of a column type, and a DECIMAL as many
// digits as it was computed with (ownDigits).

// jsonSource returns the value v of e, and its type, as a document takes it.
func (ctx *Ctx) jsonSource(e Expr, v *types.Value) types.Type {
	switch {
	case v.K == types.KindDecimal && e.loose:
		t := e.typ
		t.Scale = int8(v.Scale)
		return t
	case v.K == types.KindString && e.typ.Coll == types.Binary && isTextual(&e.typ):
		t := e.typ
		t.ID = opaqueType(e)
		return t
	}
	return e.typ
}

// weightsKept is of how many characters WEIGHT_STRING is a VARBINARY.
const weightsKept = 1000

// opaqueType returns the type of the binary string e as an opaque value has it: CASE and its like keep what their results have in common, and
// functions with long results make a MEDIUMBLOB.
func opaqueType(e Expr) types.TypeID {
	var from []Expr
	switch e = computed(origin(e)); {
	case e.IsCall("nullif"):
		return opaqueType(e.args[0])
	case e.IsCall("if", "case", "case_value"):
		from = e.results()
	case e.IsCall("coalesce", "ifnull", "greatest", "least"):
		from = e.args
	case e.IsCall("weight_string"):
		a := origin(e.args[0])
		if chars := charLength(&a.typ); a.typ.Coll == types.Binary || chars >= 0 && chars < weightsKept && !a.typ.IsBlob() {
			return types.TypeVarbinary
		}
		return types.TypeMediumBlob
	case e.kind == kindCall && e.typ.ID == types.TypeLongBlob && !e.IsCall("uncompress") && (e.IsCall("from_base64") || !slices.ContainsFunc(e.args, ofAnyLength)):
		return types.TypeMediumBlob
	default:
		return e.typ.ID
	}
	out, first := types.TypeVarbinary, true
	for _, a := range from {
		if a = origin(a); a.typ.ID == types.TypeNull {
			continue
		}
		t := types.TypeLongBlob
		if a.typ.ID != types.TypeJSON {
			if !isTextual(&a.typ) { // beside a BINARY it is one
				continue
			}
			if t = opaqueType(a); t == types.TypeChar || t == types.TypeEnum || t == types.TypeSet {
				t = types.TypeBinary
			}
		}
		switch {
		case first:
			out = t
		case a.typ.IsBlob() || t == types.TypeLongBlob || out >= types.TypeTinyBlob && out <= types.TypeLongBlob:
			out = max(out, t)
		case t != out:
			out = types.TypeVarbinary
		}
		first = false
	}
	return out
}

// ofAnyLength reports whether e is a document, a LONGTEXT or LONGBLOB, or made of one.
func ofAnyLength(e Expr) bool {
	if e.kind != kindCall {
		return e.typ.ID == types.TypeJSON || e.typ.ID == types.TypeLongText || e.typ.ID == types.TypeLongBlob
	}
	return e.typ.ID == types.TypeJSON || slices.ContainsFunc(e.args, ofAnyLength)
}
