package expr

import (
	"slices"

	"github.com/pandodb/pando/types"
)

// aggKind selects an aggregate's state and transition.
type aggKind uint8

const (
	aggNone aggKind = iota
	aggCount
	aggSum
	aggAvg
	aggMin
	aggMax
	aggAny
	aggGroupConcat
	aggBitAnd
	aggBitOr
	aggBitXor
	aggVariance
	aggJSONArray
	aggJSONObject
)

// newAgg is NewAgg.
func newAgg(b *BuildContext, name string, distinct bool, args []Expr, opts AggOptions) (*AggSpec, error) {
	s, err := specOf(b, name, distinct, args, opts)
	if err != nil {
		return nil, err
	}
	if s.shown = s.typ; opts.Digits && s.IsLoose() {
		digits := int(s.args[0].fractionDigits())
		if s.kind == aggAvg {
			_, digits = precisionOf(s.args[0])
			digits = averageDigits(max(digits, int(s.args[0].fractionDigits())), b.divIncrement())
		}
		s.typ = withDigits(s.typ, digits)
	}
	return s, nil
}

// aggShape describes the aggregate of a name.
type aggShape struct {
	kind     aggKind
	min, max int  // number of arguments; max < 0 is unbounded
	sample   bool // of a sample, not of the whole population
	root     bool // the standard deviation, not the variance
}

var aggKinds = map[string]aggShape{
	"count": {kind: aggCount, max: -1}, "sum": {kind: aggSum, min: 1, max: 1}, "avg": {kind: aggAvg, min: 1, max: 1},
	"min": {kind: aggMin, min: 1, max: 1}, "max": {kind: aggMax, min: 1, max: 1}, "any_value": {kind: aggAny, min: 1, max: 1},
	"group_concat": {kind: aggGroupConcat, min: 1, max: -1},
	"bit_and":      {kind: aggBitAnd, min: 1, max: 1}, "bit_or": {kind: aggBitOr, min: 1, max: 1}, "bit_xor": {kind: aggBitXor, min: 1, max: 1},
	"var_pop": {kind: aggVariance, min: 1, max: 1}, "variance": {kind: aggVariance, min: 1, max: 1},
	"var_samp": {kind: aggVariance, min: 1, max: 1, sample: true},
	"std":      {kind: aggVariance, min: 1, max: 1, root: true}, "stddev": {kind: aggVariance, min: 1, max: 1, root: true},
	"stddev_pop":    {kind: aggVariance, min: 1, max: 1, root: true},
	"stddev_samp":   {kind: aggVariance, min: 1, max: 1, sample: true, root: true},
	"json_arrayagg": {kind: aggJSONArray, min: 1, max: 1}, "json_objectagg": {kind: aggJSONObject, min: 2, max: 2},
}

const (
	sumExtraDigits = 22   // by which the precision of an exact SUM exceeds that of its argument
	groupConcatMax = 1024 // default of group_concat_max_len, in bytes
)

func specOf(b *BuildContext, name string, distinct bool, args []Expr, opts AggOptions) (*AggSpec, error) {
	shape, ok := aggKinds[name]
	if !ok {
		return nil, unknownFunction(b, name)
	}
	if len(args) < shape.min || shape.max >= 0 && len(args) > shape.max || distinct && len(args) == 0 {
		return nil, types.Errorf(types.ErWrongParamcountToNativeFct, name)
	}
	if shape.kind == aggCount && !distinct && len(args) > 1 {
		return nil, types.Errorf(types.ErWrongParamcountToNativeFct, name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	s := &AggSpec{name: name, distinct: distinct, args: slices.Clone(args), order: opts.Order, sep: opts.Separator, kind: shape.kind}
	switch s.kind {
	case aggCount:
		s.typ = intType(21)
	case aggSum, aggAvg:
		s.args[0] = asNumber(args[0])
		s.typ = sumType(b, s.kind, s.args[0])
	case aggMin, aggMax, aggAny:
		if args[0].coer == CoerNone && s.kind != aggAny { // its collation is undetermined
			return nil, collationError(name, b, []Expr{args[0], args[0]})
		}
		s.typ, s.coer = args[0].typ, args[0].coer
		s.distinct = false // it does not change the result
	case aggBitAnd, aggBitOr, aggBitXor:
		if binaryOperand(args[0]) || args[0].typ.ID == types.TypeNull && computed(args[0]).kind == kindCall { // NULLIF(NULL, 1) is a text of length 0, NULL is not
			s.coer = CoerCoercible
			return s, s.bitBytesType()
		}
		s.args[0] = wholeBits(integerOf(args[0]))
		s.typ = uintType(21)
	case aggVariance:
		s.args[0] = asNumber(args[0])
		s.typ = doubleType()
	case aggJSONArray, aggJSONObject:
		last := len(args) - 1
		s.args[last] = b.ownDigits(args[last])
		s.typ = types.Type{ID: types.TypeJSON, Coll: types.Utf8mb4Bin}
	case aggGroupConcat:
		if err := s.concatType(b); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// sumWidth plus the number of decimals is MySQL's display width of a sum of doubles with fixed decimals.
const sumWidth = 17

// sumType returns the type of SUM or AVG: decimal for integers and decimals, else double.
func sumType(b *BuildContext, k aggKind, x Expr) types.Type {
	if numericClass(x) == classFloat {
		more := 0
		if k == aggAvg {
			more = b.divIncrement()
		}
		t := doubleOf(more, x)
		if t.Scale >= 0 {
			t.Length = sumWidth + int32(t.Scale)
		}
		return t
	}
	p, s := precisionOf(x)
	if k == aggAvg {
		incr := b.divIncrement()
		return decimalType(p+incr, min(s+incr, types.MaxDecimalScale))
	}
	return decimalType(p+sumExtraDigits, s)
}

func (s *AggSpec) concatType(b *BuildContext) error {
	d, err := b.aggregate("group_concat", false, s.args...)
	if err != nil {
		return err
	}
	for i, a := range s.args {
		if s.args[i] = b.toCharset(a, d.coll); a.mixed && a.kind == kindConst { // values of rows have the type of all
			s.args[i] = b.coerced(a, stringType(-1, d.coll))
		}
	}
	if s.sep == nil {
		s.sep = []byte(",")
	}
	s.typ, s.coer = concatTypeOf(b.concatMax(), d.coll), d.coer
	return nil
}

// concatVarcharMax is the largest group_concat_max_len with which GROUP_CONCAT is a VARCHAR.
const concatVarcharMax = 512

// concatTypeOf is the type of GROUP_CONCAT under a group_concat_max_len, which MySQL takes for a number of characters here, though it cuts at bytes.
func concatTypeOf(chars int64, coll types.CollationID) types.Type {
	t := types.Type{Length: -1, Coll: coll}
	texts := []types.TypeID{types.TypeVarchar, types.TypeText, types.TypeMediumText, types.TypeLongText}
	if coll == types.Binary {
		texts = []types.TypeID{types.TypeVarbinary, types.TypeBlob, types.TypeMediumBlob, types.TypeLongBlob}
	}
	if chars <= concatVarcharMax {
		t.ID, t.Length = texts[0], int32(chars)
		return t
	}
	for _, id := range texts[1:] {
		if t.ID = id; chars*int64(max(coll.MaxCharLen(), 1)) <= t.MaxBytes() {
			break
		}
	}
	return t
}

// concatMax is group_concat_max_len.
func (b *BuildContext) concatMax() int64 {
	if b == nil || b.GroupConcatMaxLen <= 0 {
		return groupConcatMax
	}
	return int64(b.GroupConcatMaxLen)
}

// exact reports whether sums are computed with integers and decimals instead of doubles.
func (s *AggSpec) exact() bool { return s.typ.ID == types.TypeDecimal }
