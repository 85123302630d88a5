package types

import "math"

// Convert converts v to the type of a column, as an assignment does. A value that does
// not fit is an error under Context.Strict, else it raises a warning and is replaced by
// the nearest value: a number by the bound (1264), a string by its beginning (1265), a
// date by the zero date. A text that is no number or date is 1366, 1265 or 1292,
// depending on the type. colName and rowNo are part of the messages. NULL stays NULL:
// the caller checks NOT NULL. The result may share v.B; AppendStored and AppendKey
// accept it.
func Convert(ctx *Context, v Value, to Type, colName string, rowNo int) (Value, error) {
	if v.K == KindNull || to.ID == TypeNull {
		return Value{}, nil
	}
	if out, ok := Fit(v, &to); ok {
		return out, nil
	}
	return convertSlow(ctx, v, to, colName, rowNo)
}

// Fit is Convert for values that need no conversion, and allocates nothing. ok is false
// for other values.
func Fit(v Value, to *Type) (out Value, ok bool) {
	switch typeKinds[to.ID] {
	case KindInt:
		if v.K == KindInt || v.K == KindUint {
			lo, hi := to.IntRange()
			if v.K == KindInt && v.N < 0 {
				if v.N < lo {
					return v, false
				}
			} else if uint64(v.N) > hi {
				return v, false
			}
			v.K = to.Kind()
			return v, true
		}
	case KindString:
		if v.K != KindString || len(v.B) > int(min(to.MaxBytes(), 1<<31-1)) || to.ID == TypeBinary {
			return v, false
		}
		from, coll := v.Coll.Charset(), to.stringColl()
		cs := coll.Charset()
		if from != cs || to.Length >= 0 && !to.IsBlob() && len(v.B) > int(to.Length) ||
			to.ID == TypeChar && len(v.B) > 0 && v.B[len(v.B)-1] == ' ' || to.ID == TypeChar && cs.MinLen > 1 {
			return v, false
		}
		v.Coll = coll
		return v, cs.Valid(v.B)
	case KindDecimal:
		return v, v.K == KindDecimal && int(v.Scale) == int(to.Scale) && decimalFits(&v, int(to.Length)) &&
			(!to.Unsigned || DecSign(v) >= 0)
	}
	return v, false
}

// convertSlow converts values that Fit does not accept. If it were inlined, the type of
// every caller would escape to the heap.
//
//go:noinline
func convertSlow(ctx *Context, v Value, to Type, colName string, rowNo int) (Value, error) {
	c := conversion{ctx: ctx, to: &to, col: colName, row: rowNo}
	switch typeKinds[to.ID] {
	case KindInt:
		return c.integer(&v)
	case KindUint:
		return c.year(&v)
	case KindFloat:
		return c.float(&v)
	case KindDecimal:
		return c.decimal(&v)
	case KindBit:
		return c.bit(&v)
	case KindString:
		return c.text(&v)
	case KindEnum:
		return c.enum(&v)
	case KindSet:
		return c.set(&v)
	case KindJSON:
		return c.json(&v)
	case KindTime:
		return c.time(&v)
	}
	return c.date(&v)
}

// conversion is one call of Convert.
type conversion struct {
	ctx *Context
	to  *Type
	col string
	row int
}

// problem returns e in strict mode. Otherwise it raises it as a warning and returns nil;
// the caller then goes on with a substitute.
func (c *conversion) problem(e *Error) error {
	if c.ctx.strict() {
		return e
	}
	c.ctx.AddError(LevelWarning, e)
	return nil
}

func (c *conversion) outOfRange() error {
	return c.problem(Errorf(ErWarnDataOutOfRange, c.col, c.row))
}

func (c *conversion) truncated() error {
	return c.problem(Errorf(ErWarnDataTruncated, c.col, c.row))
}

// note raises note 1265, for a loss that is no error even in strict mode.
func (c *conversion) note() { c.ctx.Warn(LevelNote, ErWarnDataTruncated, c.col, c.row) }

// incorrect reports 1366, "Incorrect integer value: 'x' for column 'c' at row 1".
func (c *conversion) incorrect(what string, text []byte) error {
	return c.problem(Errorf(ErTruncatedWrongValueForField, what, string(text), c.col, c.row))
}

// integer converts to TINYINT … BIGINT.
func (c *conversion) integer(v *Value) (Value, error) {
	var err error
	n := Value{K: KindInt}
	switch v.K {
	case KindInt, KindUint:
		n = *v
	case KindBit, KindEnum, KindSet:
		n = Uint(uint64(v.N))
	case KindFloat:
		n, err = c.roundFloat(v.Float64())
	case KindDecimal:
		if c.to.Unsigned && DecSign(*v) < 0 {
			return Uint(0), c.outOfRange() // also -0.4: of decimals, MySQL checks the sign before it rounds
		}
		n, err = c.roundDecimal(v)
	case KindString:
		return c.integerText(plainText(v))
	case KindJSON:
		number := jsonToInteger(c.ctx, v)
		return c.integer(&number)
	default:
		d := temporalDecimal(c.ctx, wholeSeconds(nil, v)) // nil: TIME_TRUNCATE_FRACTIONAL does not matter here
		n, err = c.roundDecimal(&d)
	}
	if err != nil {
		return Value{}, err
	}
	return c.fit(n)
}

// fit converts n to the integer type and reports 1264 if it is out of range.
func (c *conversion) fit(n Value) (Value, error) {
	v, out := c.clamp(n)
	if out {
		return v, c.outOfRange()
	}
	return v, nil
}

// clamp limits n to the range of the integer type; out is true if it is outside.
func (c *conversion) clamp(n Value) (v Value, out bool) {
	lo, hi := c.to.IntRange()
	switch negative := n.K == KindInt && n.N < 0; {
	case negative && n.N < lo:
		n.N, out = lo, true
	case !negative && uint64(n.N) > hi:
		n.N, out = int64(hi), true
	}
	n.K = KindInt
	if c.to.Unsigned {
		n.K = KindUint
	}
	return n, out
}

func (c *conversion) roundFloat(f float64) (Value, error) {
	if f > 0 && f >= 1<<63 {
		u := ToUint(nil, ptr(Float(f)))
		if f >= 1<<64 {
			return Uint(u), c.overflow()
		}
		return Uint(u), nil
	}
	n, ok := floatToInt(f)
	if !ok {
		return Int(n), c.overflow()
	}
	return Int(n), nil
}

// overflow reports a number beyond 64 bits, which has been limited to those, so that fit
// does not find it out of the range of BIGINT.
func (c *conversion) overflow() error {
	if c.to.ID != TypeBigInt {
		return nil // fit reports it for smaller types
	}
	return c.outOfRange()
}

func (c *conversion) roundDecimal(v *Value) (Value, error) {
	if DecSign(*v) < 0 {
		n, ok := DecToInt(*v)
		if !ok {
			return Int(n), c.overflow()
		}
		return Int(n), nil
	}
	u, ok := DecToUint(*v)
	if !ok {
		return Uint(u), c.overflow()
	}
	return Uint(u), nil
}

// readInteger parses the number at the start of a text, with fraction and exponent, and
// rounds it. Beyond 64 bits n is the bound and inRange is false. ok is false if there is
// no number.
func readInteger(b []byte) (n Value, rest []byte, inRange, ok bool) {
	u, neg, used, over := parseDigits(b)
	if used > 0 && !over && (used == len(b) || b[used] != '.' && b[used]|0x20 != 'e') {
		if !neg {
			return Uint(u), b[used:], true, true
		}
		if u > 1<<63 {
			return Int(math.MinInt64), b[used:], false, true
		}
		return Int(-int64(u)), b[used:], true, true
	}
	d, rest, ok := ParseDecimal(b)
	if !ok {
		return Int(0), b, true, false
	}
	if DecSign(d) < 0 {
		n.K = KindInt
		n.N, inRange = DecToInt(d)
	} else {
		u, inRange = DecToUint(d)
		n = Uint(u)
	}
	return n, rest, inRange, true
}

// integerText converts a text. Text after the number is reported only if the number
// is in range.
func (c *conversion) integerText(b []byte) (Value, error) {
	n, rest, inRange, ok := readInteger(b)
	if !ok {
		v, _ := c.clamp(n)
		return v, c.incorrect("integer", b)
	}
	if !inRange && c.to.Unsigned {
		n = Uint(math.MaxUint64) // MySQL ignores the sign of such a number
	}
	v, out := c.clamp(n)
	switch {
	case out || !inRange:
		return v, c.outOfRange()
	case !onlySpace(rest):
		return v, c.truncated()
	}
	return v, nil
}

// The range of YEAR, besides 0.
const (
	minYear = 1901
	maxYear = 2155
)

func (c *conversion) year(v *Value) (Value, error) {
	if v.K == KindString {
		return c.yearText(plainText(v))
	}
	if isDateKind(v.K) {
		return c.yearNumber(int64(UnpackDatetime(v.N).Year), false)
	}
	n := ToNumber(c.ctx, v)
	return c.yearNumber(ToInt(c.ctx, &n), false)
}

func (c *conversion) yearText(b []byte) (Value, error) {
	n, rest, inRange, ok := readInteger(b)
	if !ok {
		return Uint(0), c.incorrect("integer", b)
	}
	if !inRange {
		n.N = -1
	}
	y, err := c.yearNumber(n.N, len(b) != 4) // '0' is 2000; the number 0 and '0000' are 0000
	if err == nil && inRange && !onlySpace(rest) {
		err = c.truncated()
	}
	return y, err
}

func (c *conversion) yearNumber(n int64, zeroIs2000 bool) (Value, error) {
	switch {
	case n == 0 && !zeroIs2000:
		return Uint(0), nil
	case n >= 0 && n <= 99:
		return Uint(uint64(fullYear(int(n)))), nil
	case n < minYear || n > maxYear:
		return Uint(0), c.outOfRange()
	}
	return Uint(uint64(n)), nil
}

// integerOf returns v as a truncated integer, for ENUM and SET.
func (c *conversion) integerOf(v *Value) int64 {
	n := ToNumber(c.ctx, v)
	switch n.K {
	case KindFloat:
		n = Float(math.Trunc(n.Float64()))
	case KindDecimal:
		n = DecTruncate(n, 0)
	}
	return ToInt(c.ctx, &n)
}

// bit converts to BIT(n): the bytes of a string, or a number.
func (c *conversion) bit(v *Value) (Value, error) {
	var n uint64
	over := false
	switch v.K {
	case KindJSON:
		return c.bit(ptr(String(ShownJSON(v.B), Utf8mb4Bin)))
	case KindString:
		b := v.B
		for len(b) > 0 && b[0] == 0 {
			b = b[1:]
		}
		over = len(b) > 8
		for _, x := range b[:min(len(b), 8)] {
			n = n<<8 | uint64(x)
		}
	case KindDecimal:
		var ok bool
		if n, ok = DecToUint(*v); !ok {
			out := Value{K: KindBit, Scale: uint8(c.to.BitBytes()), N: int64(min(n, bitLimit(c.to)))}
			return out, c.outOfRange()
		}
	case KindFloat: // which MySQL truncates here, while it rounds a decimal
		whole := Float(math.Trunc(v.Float64()))
		n = ToUint(nil, &whole)
	default:
		n = ToUint(c.ctx, v)
	}
	limit := bitLimit(c.to)
	out := Value{K: KindBit, Scale: uint8(c.to.BitBytes()), N: int64(n)}
	if over || n > limit {
		out.N = int64(limit)
		return out, c.problem(Errorf(ErDataTooLong, c.col, c.row))
	}
	return out, nil
}

// bitLimit returns the largest value of a BIT column.
func bitLimit(t *Type) uint64 { return uint64(1)<<(uint(t.Length)-1)<<1 - 1 }

func (c *conversion) json(v *Value) (Value, error) {
	switch v.K {
	case KindJSON:
		return *v, nil
	case KindString, KindEnum, KindSet:
		b, ok := JSONText(v)
		if !ok {
			return Value{}, Errorf(ErInvalidJSONCharset, "binary")
		}
		out, message, pos, err := ParseJSON(c.ctx, b)
		if err != nil {
			return Value{}, err
		}
		if message != "" {
			return Value{}, Errorf(ErInvalidJSONText, message, pos, c.col)
		}
		return JSON(out), nil
	case KindBit:
		return Value{}, Errorf(ErInvalidJSONCharset, "binary")
	}
	return Value{}, Errorf(ErInvalidJSONText, "not a JSON text, may need CAST", 0, c.col)
}
