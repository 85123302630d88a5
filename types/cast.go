package types

import "strconv"

// Cast is CAST(v AS to). Values that do not fit raise warnings, as in MySQL, and are
// no errors: a text that is no number is the number that it begins with (1292), a
// value that is no date is NULL. to is BIGINT [UNSIGNED], CHAR/VARCHAR/TEXT in Coll
// with Length or -1, BINARY/VARBINARY/BLOB, DECIMAL, DATE, DATETIME, TIME, YEAR,
// FLOAT, DOUBLE or JSON. Its errors are 3141 for JSON that is not well formed, and
// those of ctx.Poll and ctx.Grow. The result may share v.B.
func Cast(ctx *Context, v Value, to Type) (Value, error) {
	if v.K == KindNull {
		return v, nil
	}
	switch typeKinds[to.ID] {
	case KindInt:
		return castInt(ctx, &v, &to), nil
	case KindUint:
		return castYear(ctx, &v), nil
	case KindFloat:
		f := ToFloat(ctx, &v)
		if to.ID == TypeFloat {
			return Float32(f), nil
		}
		return Float(f), nil
	case KindDecimal:
		return castDecimal(ctx, &v, &to), nil
	case KindDate:
		return castDate(ctx, &v), nil
	case KindDatetime, KindTimestamp:
		return castDatetime(ctx, &v, &to), nil
	case KindTime:
		return castTime(ctx, &v, &to), nil
	case KindString:
		return castText(ctx, &v, &to)
	case KindJSON:
		return castJSON(ctx, &v)
	}
	soft := Context{SQLMode: ctx.mode(), Loc: ctx.Location()}
	return Convert(&soft, v, to, "", 1)
}

// castInt rounds numbers and converts the prefix of a text that is an integer. Between
// SIGNED and UNSIGNED, integers keep their 64 bits.
func castInt(ctx *Context, v *Value, to *Type) Value {
	if to.Unsigned {
		if v.K == KindString {
			if b := plainText(v); len(b) > 0 && b[0] == '-' {
				ctx.Warn(LevelWarning, ErUnknownError, "Cast to unsigned converted negative integer to its positive complement")
			}
		}
		if v.K == KindDecimal {
			n, ok := uint64(0), false
			if DecSign(*v) < 0 { // in two's complement, as integers
				var negative int64
				negative, ok = DecToInt(*v)
				n = uint64(negative)
			} else {
				n, ok = DecToUint(*v)
			}
			if !ok {
				ctx.Warn(LevelWarning, ErTruncatedWrongValue, "DECIMAL", string(AppendDecimal(nil, *v)))
			}
			return Uint(n)
		}
		return Uint(ToUint(ctx, v))
	}
	if v.K == KindDecimal {
		n, ok := DecToInt(*v)
		if !ok {
			ctx.Warn(LevelWarning, ErTruncatedWrongValue, "DECIMAL", string(AppendDecimal(nil, *v)))
		}
		return Int(n)
	}
	return Int(ToInt(ctx, v))
}

func castYear(ctx *Context, v *Value) Value {
	var n int64
	switch v.K {
	case KindDate, KindDatetime:
		n = int64(UnpackDatetime(v.N).Year)
	case KindTimestamp:
		n = int64(UnpackDatetime(packedFromUnix(v.N, ctx.Location())).Year)
	case KindTime: // of the present day
		n = int64(ctx.CurrentTime().Year())
	case KindString:
		text := plainText(v)
		u, neg, used, over := parseDigits(text)
		switch {
		case used == 0 || over || neg:
			ctx.Warn(LevelWarning, ErWrongValue, "YEAR", textOf(ctx, v))
			return Value{}
		case u <= 99:
			n = int64(fullYear(int(u))) // 2000 for zero, too
		default:
			n = int64(min(u, maxYear+1))
		}
		if used < len(text) && n <= maxYear {
			warnTruncated(ctx, "YEAR", v)
		}
	default:
		if n = ToInt(ctx, v); n > 0 && n <= 99 {
			n = int64(fullYear(int(n)))
		}
	}
	if n != 0 && (n < minYear || n > maxYear) {
		warnTruncated(ctx, "YEAR", v)
		return Value{}
	}
	return Uint(uint64(n))
}

func warnTruncated(ctx *Context, what string, v *Value) {
	if v.K == KindJSON && what != "YEAR" {
		warnIncorrect(ctx, what, v)
	} else if ctx != nil {
		ctx.Warn(LevelWarning, ErTruncatedWrongValue, what, textOf(ctx, v))
	}
}

func castDecimal(ctx *Context, v *Value, to *Type) Value {
	d := ToDecimal(ctx, v)
	precision, scale := int(to.Length), int(to.Scale)
	if precision <= 0 {
		precision, scale = defaultDecimalDigits, 0
	}
	d = rescale(&d, scale, roundHalfUp)
	if to.Unsigned && DecSign(d) < 0 {
		d = Decimal(0, uint8(scale))
		ctx.Warn(LevelWarning, ErWarnDataOutOfRange, "", 1)
	}
	if !decimalFits(&d, precision) {
		ctx.Warn(LevelWarning, ErWarnDataOutOfRange, "", 1)
		d = saturated(precision, scale, DecSign(d) < 0)
	}
	return d
}

// castedDate reports whether NO_ZERO_DATE and NO_ZERO_IN_DATE allow the date, which
// ToDate and ToDatetime do not check. If not, it raises warning 1292.
func castedDate(ctx *Context, v *Value, packed int64) bool {
	if checkZero(ctx.mode(), packed) == dateFine {
		return true
	}
	warnIncorrect(ctx, "datetime", v)
	return false
}

func castDate(ctx *Context, v *Value) Value {
	d, ok := ToDate(ctx, v)
	if !ok || !castedDate(ctx, v, d.N) {
		return Value{}
	}
	return d
}

func castDatetime(ctx *Context, v *Value, to *Type) Value {
	packed, tenths, flags, p := readDate(ctx, v)
	if p != dateFine {
		warnIncorrect(ctx, "datetime", v)
		return Value{}
	}
	if !castedDate(ctx, v, packed) {
		return Value{}
	}
	warnOdd(ctx, v, flags, 1)
	if flags&parsedTrailing != 0 {
		warnTruncated(ctx, "datetime", v)
	}
	fsp := uint8(max(to.Scale, 0))
	packed, ok := roundDate(ctx, packed, tenths, fsp)
	if !ok {
		warnIncorrect(ctx, "datetime", v)
		return Value{}
	}
	return Datetime(packed, fsp)
}

func castTime(ctx *Context, v *Value, to *Type) Value {
	us, tenths, _, flags, ok := readTime(ctx, v)
	if !ok || flags&parsedOverflow != 0 && v.IsNumeric() { // a text beyond the range becomes the bound instead
		warnTruncated(ctx, "time", v)
		return Value{}
	}
	warnOdd(ctx, v, flags, 1)
	fsp := uint8(max(to.Scale, 0))
	us, cut := roundTime(ctx, us, tenths, fsp)
	if cut || flags&(parsedTrailing|parsedOverflow) != 0 {
		warnTruncated(ctx, "time", v)
	}
	return Time(us, fsp)
}

// castText converts to a string in to.Coll, cut off after Length characters (bytes for
// binary) with a warning; BINARY(n) is padded with zero bytes.
func castText(ctx *Context, v *Value, to *Type) (Value, error) {
	coll := to.stringColl()
	b, from := v.B, v.Coll
	if !hasText(v.K) {
		b, from = AppendText(nil, ctx, v), Utf8mb4Bin
		if v.K == KindBit {
			from = Binary
		}
	}
	cs := coll.Charset()
	if from.Charset().class == csBinary && cs.class != csBinary {
		text, ok := cs.FromBytes(ctx, b)
		if !ok {
			return Value{}, nil
		}
		b = text
	}
	if !sameBytes(b, from.Charset(), cs) {
		var err error
		if b, err = ctx.converted(b, from.Charset(), cs); err != nil {
			return Value{}, err
		}
	}
	if to.Length < 0 || to.IsBlob() {
		return String(b, coll), nil
	}
	if n := cs.CharPrefix(b, int(to.Length)); n < len(b) {
		name := "CHAR(" + strconv.Itoa(int(to.Length)) + ")"
		if cs.class == csBinary {
			name = "BINARY(" + strconv.Itoa(int(to.Length)) + ")"
		}
		ctx.Warn(LevelWarning, ErTruncatedWrongValue, name, b)
		b = b[:n]
	}
	if to.ID == TypeBinary && len(b) < int(to.Length) {
		b = append(append(make([]byte, 0, to.Length), b...), make([]byte, int(to.Length)-len(b))...)
	}
	return String(b, coll), nil
}

// castJSON parses a text as JSON; others, including binary strings, ENUM and SET, become
// scalars. A binary string has the type VARBINARY then; callers that know its column type
// use JSONFrom.
func castJSON(ctx *Context, v *Value) (Value, error) {
	long := Type{ID: TypeVarbinary, Length: 64}
	if !hasText(v.K) || v.K == KindEnum || v.K == KindSet {
		return JSONFrom(ctx, v, &long), nil
	}
	b, ok := JSONText(v)
	if !ok {
		return JSONFrom(ctx, v, &long), nil
	}
	out, message, pos, err := ParseJSON(ctx, b)
	if err != nil {
		return Value{}, err
	}
	if message != "" {
		return Value{}, Errorf(ErInvalidJSONTextInParam, 1, "cast_as_json", message, pos, "")
	}
	return JSON(out), nil
}
