package types

import "bytes"

// Compare orders two values: numbers of any kind, strings (ENUM and SET by their
// text) under coll, dates and datetimes, and values of the same kind. NULL equals
// NULL and is less than all others. Other pairs are compared by CompareMixed without
// warnings. If coll is 0, that of a is used. A NaN, which is never stored, is
// unequal to everything.
func Compare(a, b Value, coll CollationID) int {
	if a.K == b.K {
		switch a.K {
		case KindNull:
			return 0
		case KindInt, KindDate, KindDatetime, KindTimestamp, KindTime:
			return compareInts(a.N, b.N)
		case KindUint, KindBit:
			return compareUints(uint64(a.N), uint64(b.N))
		case KindFloat:
			return compareFloats(a.Float64(), b.Float64())
		case KindDecimal:
			return DecCompare(a, b)
		case KindJSON:
			return compareJSON(a.B, b.B)
		}
	}
	switch {
	case a.K == KindNull:
		return -1
	case b.K == KindNull:
		return 1
	case hasText(a.K) && hasText(b.K):
		if coll == 0 {
			coll = a.Coll
		}
		return CompareStrings(a.B, b.B, coll)
	case isDateKind(a.K) && isDateKind(b.K):
		return compareInts(a.N, b.N)
	case a.numberKind() && b.numberKind():
		return compareNumbers(&a, &b)
	}
	return CompareMixed(nil, a, b, coll)
}

func hasText(k Kind) bool    { return k == KindString || k == KindEnum || k == KindSet }
func isDateKind(k Kind) bool { return k == KindDate || k == KindDatetime }

func (v *Value) numberKind() bool { return v.IsNumeric() || v.K == KindBit }

func compareUints(x, y uint64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// compareFloats returns 1 if either side is NaN, as MySQL does.
func compareFloats(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x == y:
		return 0
	}
	return 1
}

// compareNumbers compares numbers of different kinds: exactly among integers
// and decimals, as doubles when one is a double.
func compareNumbers(a, b *Value) int {
	if a.K == KindFloat || b.K == KindFloat {
		return compareFloats(ToFloat(nil, a), ToFloat(nil, b))
	}
	if a.K == KindDecimal || b.K == KindDecimal {
		return DecCompare(ToDecimal(nil, a), ToDecimal(nil, b))
	}
	if a.K == KindInt && b.K == KindInt {
		return compareInts(a.N, b.N)
	}
	// At least one is unsigned.
	if a.K == KindInt && a.N < 0 {
		return -1
	}
	if b.K == KindInt && b.N < 0 {
		return 1
	}
	return compareUints(uint64(a.N), uint64(b.N))
}

// CompareMixed orders two values of different kinds by MySQL's rules: strings as
// strings; integers and decimals exactly; a date or time with another value as dates
// if that can be converted; JSON with another value as JSON; all others as doubles.
// A text that is no number or date raises warning 1292. NULL is less than all others.
func CompareMixed(ctx *Context, a, b Value, coll CollationID) int {
	switch {
	case a.K == KindNull || b.K == KindNull:
		return compareInts(boolInt(a.K != KindNull), boolInt(b.K != KindNull))
	case a.numberKind() && b.numberKind():
		return compareNumbers(&a, &b)
	case a.K == KindJSON || b.K == KindJSON:
		if a.K == b.K {
			return compareJSON(a.B, b.B)
		}
		return compareJSONWith(ctx, &a, &b)
	case hasText(a.K) && hasText(b.K):
		if coll == 0 {
			coll = a.Coll
		}
		return CompareStrings(a.B, b.B, coll)
	case a.IsTemporal() || b.IsTemporal():
		return compareTemporal(ctx, &a, &b)
	}
	return compareFloats(ToFloat(ctx, &a), ToFloat(ctx, &b))
}

func boolInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func compareTemporal(ctx *Context, a, b *Value) int {
	switch {
	case a.K == KindTime && b.K == KindTime, a.K == KindTimestamp && b.K == KindTimestamp:
		return compareInts(a.N, b.N)
	case a.K == KindTime && hasText(b.K), b.K == KindTime && hasText(a.K):
		x, ok1 := ToTime(ctx, a)
		y, ok2 := ToTime(ctx, b)
		if ok1 && ok2 {
			return compareInts(x.N, y.N)
		}
	case (a.K == KindTime || b.K == KindTime) && !(a.IsTemporal() && b.IsTemporal()):
		return compareFloats(ToFloat(ctx, a), ToFloat(ctx, b))
	default:
		x, ok1 := ToDatetime(ctx, a)
		y, ok2 := ToDatetime(ctx, b)
		if ok1 && ok2 {
			return compareInts(x.N, y.N)
		}
	}
	// A value that is no date is compared as text, as in MySQL 8.0.
	p, q := scratch.Get().(*[]byte), scratch.Get().(*[]byte)
	x, y := appendTextIn((*p)[:0], a, ctx.Location()), appendTextIn((*q)[:0], b, ctx.Location())
	r := bytes.Compare(x, y)
	putScratch(p, x)
	putScratch(q, y)
	return r
}
