package types

import "math"

// Convert brings v to the type of a column, as assignment does. What does not
// fit is an error under Context.Strict, and else a warning with the nearest
// value: numbers at the bound (1264), strings cut (1265), dates zero. Text that
// is no number or no date is 1366, 1265 or 1292 by the type, in MySQL's words.
// colName and rowNo appear in them. NULL stays NULL: 1048 is the caller's. The
// result may alias v.B, and is what AppendStored and AppendKey take.
func Convert(ctx *Context, v Value, to Type, colName string, rowNo int) (Value, error) {
	if v.K == KindNull || to.ID == TypeNull {
		return Value{}, nil
	}
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

// problem is an error under strict mode, else a warning: the caller goes on with
// a substitute when it returns nil.
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

// note tells of a loss that is never an error.
func (c *conversion) note() { c.ctx.Warn(LevelNote, ErWarnDataTruncated, c.col, c.row) }

// incorrect is 1366, "Incorrect integer value: 'x' for column 'c' at row 1".
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
		n, err = c.roundDecimal(v)
	case KindString:
		n, err = c.parseInteger(plainText(v))
	case KindJSON:
		n, err = c.roundFloat(jsonToFloat(c.ctx, v))
	default:
		d := temporalDecimal(c.ctx, v)
		n, err = c.roundDecimal(&d)
	}
	if err != nil {
		return Value{}, err
	}
	return c.fit(n)
}

// fit checks the range of the integer type.
func (c *conversion) fit(n Value) (Value, error) {
	lo, hi := c.to.IntRange()
	negative := n.K == KindInt && n.N < 0
	var err error
	switch {
	case negative && n.N < lo:
		n.N = lo
		err = c.outOfRange()
	case !negative && uint64(n.N) > hi:
		n.N = int64(hi)
		err = c.outOfRange()
	}
	n.K = KindInt
	if c.to.Unsigned {
		n.K = KindUint
	}
	return n, err
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

// overflow reports what leaves even 64 bits; BIGINT's own check would not see it.
func (c *conversion) overflow() error {
	if c.to.ID != TypeBigInt {
		return nil // fit reports it
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

// parseInteger reads text: fractions and exponents are rounded.
func (c *conversion) parseInteger(b []byte) (Value, error) {
	u, neg, used, over := parseDigits(b)
	if used > 0 && !over && (used == len(b) || b[used] != '.' && b[used] != 'e' && b[used] != 'E') {
		var err error
		if !onlySpace(b[used:]) {
			err = c.truncated()
		}
		if !neg {
			return Uint(u), err
		}
		if u <= 1<<63 {
			return Int(-int64(u)), err
		}
		return Int(math.MinInt64), c.firstOf(err, c.overflow())
	}
	d, rest, ok := ParseDecimal(b)
	if !ok {
		return Int(0), c.incorrect("integer", b)
	}
	var err error
	if !onlySpace(rest) {
		err = c.truncated()
	}
	n, err2 := c.roundDecimal(&d)
	return n, c.firstOf(err, err2)
}

func (c *conversion) firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// YEAR's range and its reading of two digits.
const (
	minYear = 1901
	maxYear = 2155
)

func (c *conversion) year(v *Value) (Value, error) {
	var n int64
	text := false
	switch {
	case v.K == KindString:
		b := plainText(v)
		u, neg, used, over := parseDigits(b)
		if used == 0 {
			return Uint(0), c.incorrect("integer", b)
		}
		if !onlySpace(b[used:]) {
			if err := c.truncated(); err != nil {
				return Value{}, err
			}
		}
		n = int64(min(u, 1<<31))
		if neg || over {
			n = -1
		}
		text = n == 0 && len(b) < 4 // '0' is 2000, 0 and '0000' are 0000
	case v.K == KindDate || v.K == KindDatetime:
		n = int64(UnpackDatetime(v.N).Year)
	default:
		i, err := c.integerOf(v)
		if err != nil {
			return Value{}, err
		}
		n = i
	}
	switch {
	case n == 0 && !text:
		return Uint(0), nil
	case n >= 0 && n <= 99:
		return Uint(uint64(fullYear(int(n)))), nil
	case n < minYear || n > maxYear:
		return Uint(0), c.outOfRange()
	}
	return Uint(uint64(n)), nil
}

// integerOf rounds any number for the types that check their own range.
func (c *conversion) integerOf(v *Value) (int64, error) {
	n := ToNumber(c.ctx, v)
	return ToInt(c.ctx, &n), nil
}

// bit converts to BIT(n): strings by their bytes, numbers by their value.
func (c *conversion) bit(v *Value) (Value, error) {
	var n uint64
	over := false
	switch v.K {
	case KindString:
		b := v.B
		for len(b) > 0 && b[0] == 0 {
			b = b[1:]
		}
		over = len(b) > 8
		for _, x := range b[:min(len(b), 8)] {
			n = n<<8 | uint64(x)
		}
	case KindDecimal, KindFloat:
		n = ToUint(nil, v)
	default:
		n = ToUint(c.ctx, v)
	}
	limit := uint64(1)<<(uint(c.to.Length)-1)<<1 - 1
	out := Value{K: KindBit, Scale: uint8(c.to.BitBytes()), N: int64(n)}
	if over || n > limit {
		out.N = int64(limit)
		return out, c.problem(Errorf(ErDataTooLong, c.col, c.row))
	}
	return out, nil
}

func (c *conversion) json(v *Value) (Value, error) {
	switch v.K {
	case KindJSON:
		return *v, nil
	case KindString, KindEnum, KindSet:
		cs := v.Coll.Charset()
		if cs.class == csBinary {
			return Value{}, Errorf(ErInvalidJSONCharset, "binary")
		}
		b, _ := ConvertCharset(nil, v.B, cs, DefaultCollation.Charset())
		out, message, pos := ParseJSON(b)
		if message != "" {
			return Value{}, Errorf(ErInvalidJSONText, message, pos, c.col)
		}
		return JSON(out), nil
	}
	return JSONFrom(v), nil
}
