package types

import (
	"math"
	"strconv"
	"time"
)

// The To functions convert values in expressions, as MySQL's val_int, val_real and
// val_decimal do. A text that is no number is the number that it begins with, with
// warning 1292, unless ctx is nil. NULL is zero; callers check for it first.

// ToInt returns v as an integer: rounded, and limited to the range of an int64. Of an
// unsigned number it is the 64 bits.
func ToInt(ctx *Context, v *Value) int64 {
	switch v.K {
	case KindInt, KindUint, KindEnum, KindSet, KindBit:
		return v.N
	case KindFloat:
		n, _ := floatToInt(v.Float64())
		return n
	case KindDecimal:
		n, _ := DecToInt(*v)
		return n
	case KindString:
		b := plainText(v)
		u, neg, used, over := parseDigits(b)
		if over || !onlySpace(b[used:]) || used == 0 {
			ctx.Warn(LevelWarning, ErTruncatedWrongValue, "INTEGER", b)
		}
		if neg {
			if over || u > 1<<63 {
				return math.MinInt64
			}
			return -int64(u)
		}
		return int64(u)
	case KindJSON:
		n := jsonToInteger(ctx, v)
		return ToInt(ctx, &n)
	}
	if v.IsTemporal() {
		d := temporalDecimal(ctx, wholeSeconds(ctx, v))
		n, _ := DecToInt(d)
		return n
	}
	return 0
}

// wholeSeconds rounds a date or time to seconds before it becomes a number: 10:10:59.5 is
// 101100, which rounding the number 101059.5 would not give.
func wholeSeconds(ctx *Context, v *Value) *Value {
	w := *v
	switch v.K {
	case KindTime, KindTimestamp:
		w.N = roundMicros(v.N, 0, ctx.truncates())
	case KindDatetime:
		packed, ok := RoundDatetime(v.N, 0, ctx.truncates())
		if !ok { // the second after the last one: MySQL carries from the time of day, but not to the date
			packed = v.N >> packedDateShift << packedDateShift
		}
		w.N = packed
	default:
		return v
	}
	w.Scale = 0
	return &w
}

// ToUint returns v as an unsigned integer: rounded, and limited to the range of a uint64.
// Negative numbers are in two's complement.
func ToUint(ctx *Context, v *Value) uint64 {
	switch v.K {
	case KindFloat:
		f := math.RoundToEven(v.Float64())
		switch {
		case f >= 1<<64:
			return math.MaxUint64
		case f >= 0:
			return uint64(f)
		}
		n, _ := floatToInt(f)
		return uint64(n)
	case KindDecimal:
		if DecSign(*v) >= 0 {
			n, _ := DecToUint(*v)
			return n
		}
	case KindJSON:
		n := jsonToInteger(ctx, v)
		if n.K == KindFloat { // through a signed integer
			return uint64(ToInt(ctx, &n))
		}
		return ToUint(ctx, &n)
	}
	return uint64(ToInt(ctx, v))
}

// floatToInt rounds f half to even, as the C library's rint. Out of range it returns the
// bound, and ok is false.
func floatToInt(f float64) (n int64, ok bool) {
	f = math.RoundToEven(f)
	switch {
	case f != f:
		return 0, false
	case f >= 1<<63:
		return math.MaxInt64, false
	case f < -1<<63:
		return math.MinInt64, false
	}
	return int64(f), true
}

// ToFloat returns v as a double.
func ToFloat(ctx *Context, v *Value) float64 {
	switch v.K {
	case KindInt:
		return float64(v.N)
	case KindUint, KindEnum, KindSet, KindBit:
		return float64(uint64(v.N))
	case KindFloat:
		return v.Float64()
	case KindDecimal:
		return DecToFloat(*v)
	case KindString:
		b := plainText(v)
		f, used := ParseFloat(b)
		if used == 0 || !onlySpace(b[used:]) {
			ctx.Warn(LevelWarning, ErTruncatedWrongValue, "DOUBLE", b)
		}
		return f
	case KindJSON:
		return jsonToFloat(ctx, v)
	}
	if v.IsTemporal() {
		return DecToFloat(temporalDecimal(ctx, v))
	}
	return 0
}

// ToDecimal returns v as a decimal.
func ToDecimal(ctx *Context, v *Value) Value {
	switch v.K {
	case KindInt:
		return Decimal(v.N, 0)
	case KindUint, KindEnum, KindSet, KindBit:
		return DecimalFromUint(uint64(v.N))
	case KindFloat:
		return DecimalFromFloat(v.Float64())
	case KindDecimal:
		return *v
	case KindString:
		b := plainText(v)
		d, rest, ok := ParseDecimal(b)
		if !ok || !onlySpace(rest) {
			ctx.Warn(LevelWarning, ErTruncatedWrongValue, "DECIMAL", b)
		}
		return d
	case KindJSON:
		return jsonToDecimal(ctx, v)
	}
	if v.IsTemporal() {
		return temporalDecimal(ctx, v)
	}
	return Decimal(0, 0)
}

// ToBool returns v as a condition: whether it is not zero. A text is converted to a number.
func ToBool(ctx *Context, v *Value) bool {
	switch v.K {
	case KindInt, KindUint, KindBit, KindEnum, KindSet:
		return v.N != 0
	case KindDecimal:
		return DecSign(*v) != 0
	case KindJSON:
		zero := Int(0)
		return compareJSONWith(ctx, v, &zero) != 0
	}
	return ToFloat(ctx, v) != 0
}

// ToNumber returns v as an operand of arithmetic: integers, decimals and doubles as they
// are, dates and times as integers or decimals, texts as doubles.
func ToNumber(ctx *Context, v *Value) Value {
	switch v.K {
	case KindInt, KindUint, KindFloat, KindDecimal:
		return *v
	case KindBit, KindEnum, KindSet:
		return Uint(uint64(v.N))
	}
	if v.IsTemporal() {
		d := temporalDecimal(ctx, v)
		if v.Scale == 0 || v.K == KindDate {
			return Int(d.N)
		}
		return d
	}
	return Float(ToFloat(ctx, v))
}

// plainText returns the text of v in a character set that contains ASCII, for the parsers
// of numbers and dates. It may be v.B.
func plainText(v *Value) []byte {
	if v.K != KindString {
		return v.B
	}
	cs := v.Coll.Charset()
	if cs.ascii || cs.class == csBinary {
		return v.B
	}
	out, _ := ConvertCharset(nil, v.B, cs, DefaultCollation.Charset())
	return out
}

func onlySpace(b []byte) bool {
	for _, c := range b {
		if !isSpace(c) {
			return false
		}
	}
	return true
}

// temporalDecimal returns a date or time as the number YYYYMMDDhhmmss.ffffff with as many
// fraction digits as v has.
func temporalDecimal(ctx *Context, v *Value) Value {
	scale := min(v.Scale, MaxFsp)
	if v.K == KindTime {
		us := v.N
		if us < 0 {
			us = -us
		}
		sec := us / microsPerSecond
		n := sec/3600*10000 + sec/60%60*100 + sec%60
		n = n*unitsPerSecond[scale] + us%microsPerSecond/microsPerUnit[scale]
		if v.N < 0 {
			n = -n
		}
		return Decimal(n, scale)
	}
	n := v.N
	if v.K == KindTimestamp {
		n = packedFromUnix(n, ctx.Location())
	}
	d := UnpackDatetime(n)
	ymd := int64(d.Year*10000 + d.Month*100 + d.Day)
	if v.K == KindDate {
		return Decimal(ymd, 0)
	}
	m := ymd*1e6 + int64(d.Hour*10000+d.Minute*100+d.Second)
	if scale <= 4 { // 14+4 digits fit
		return Decimal(m*unitsPerSecond[scale]+int64(d.Micro)/microsPerUnit[scale], scale)
	}
	// With 5 or 6 fraction digits the unscaled integer does not fit an int64.
	w := wideFromProduct(m, unitsPerSecond[scale], int64(d.Micro)/microsPerUnit[scale])
	w.Scale = scale
	return w
}

// textOf returns the text of a value for a message. It may be v.B.
func textOf(ctx *Context, v *Value) []byte {
	if v.K == KindJSON {
		return ShownJSON(v.B)
	}
	if v.B != nil && v.K != KindDecimal {
		return v.B
	}
	return AppendText(nil, ctx, v)
}

// AppendText appends the text of v as MySQL converts it to a string. Strings stay in their
// character set. ctx, which may be nil, gives the zone of TIMESTAMP. NULL has no text.
func AppendText(dst []byte, ctx *Context, v *Value) []byte {
	if v.K == KindJSON {
		return AppendShownJSON(dst, v.B)
	}
	if v.B != nil && v.K != KindDecimal {
		return append(dst, v.B...)
	}
	return appendTextIn(dst, v, ctx.Location())
}

func appendTextIn(dst []byte, v *Value, loc *time.Location) []byte {
	switch v.K {
	case KindInt:
		return strconv.AppendInt(dst, v.N, 10)
	case KindUint:
		return strconv.AppendUint(dst, uint64(v.N), 10)
	case KindFloat:
		if v.Scale == SinglePrecision {
			return AppendFloat32(dst, v.Float64())
		}
		return AppendFloat(dst, v.Float64())
	case KindDecimal:
		return AppendDecimal(dst, *v)
	case KindDate:
		return AppendDate(dst, v.N)
	case KindDatetime:
		return AppendDatetime(dst, v.N, v.Scale)
	case KindTimestamp:
		return AppendDatetime(dst, packedFromUnix(v.N, loc), v.Scale)
	case KindTime:
		return AppendTime(dst, v.N, v.Scale)
	case KindBit:
		return appendBigEndian(dst, uint64(v.N), int(min(v.Scale, 8)))
	case KindJSON:
		return AppendShownJSON(dst, v.B)
	}
	return append(dst, v.B...)
}
