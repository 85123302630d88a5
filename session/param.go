package session

import (
	"github.com/pandodb/pando/types"
)

// paramType is the type that a plan assumes for a parameter's value. Values of one kind share plans, whatever their length.
func paramType(v *types.Value) types.Type {
	t := types.Type{Length: -1, Scale: -1}
	switch v.K {
	case types.KindInt:
		t.ID = types.TypeBigInt
	case types.KindUint:
		t.ID, t.Unsigned = types.TypeBigInt, true
	case types.KindFloat:
		t.ID = types.TypeDouble
	case types.KindDecimal:
		t.ID, t.Length, t.Scale = types.TypeDecimal, types.MaxDecimalPrecision, int8(v.Scale)
	case types.KindString:
		t.ID, t.Coll, t.Length = types.TypeVarchar, v.Coll, types.MaxVarcharBytes/4
		if v.Coll == types.Binary {
			t.ID, t.Length = types.TypeVarbinary, types.MaxVarcharBytes
		}
	case types.KindDate:
		t.ID = types.TypeDate
	case types.KindDatetime, types.KindTimestamp:
		t.ID, t.Scale = types.TypeDatetime, int8(v.Scale)
	case types.KindTime:
		t.ID, t.Scale = types.TypeTime, int8(v.Scale)
	case types.KindBit:
		t.ID, t.Length = types.TypeBit, 64
	case types.KindJSON:
		t.ID, t.Coll = types.TypeJSON, types.Utf8mb4Bin
	}
	return t
}

func paramTypes(params []types.Value) []types.Type {
	out := make([]types.Type, len(params))
	for i := range params {
		out[i] = paramType(&params[i])
	}
	return out
}

// openPattern reports whether a text, as a pattern of LIKE, begins with a wildcard.
func openPattern(v *types.Value) bool { return len(v.B) > 0 && (v.B[0] == '%' || v.B[0] == '_') }

// openPatterns are those of parameters, as plan.Env has them.
func openPatterns(params []types.Value) (bits uint64) {
	for i := range params[:min(len(params), 64)] {
		if params[i].K == types.KindString && openPattern(&params[i]) {
			bits |= 1 << i
		}
	}
	return bits
}

// appendParamKind writes what paramType and openPatterns depend on.
func appendParamKind(dst []byte, v *types.Value) []byte {
	switch v.K {
	case types.KindString:
		kind := byte(v.K)
		if openPattern(v) {
			kind |= 0x80
		}
		return append(dst, kind, byte(v.Coll), byte(v.Coll>>8))
	case types.KindDecimal, types.KindDatetime, types.KindTimestamp, types.KindTime:
		return append(dst, byte(v.K), v.Scale)
	}
	return append(dst, byte(v.K))
}
