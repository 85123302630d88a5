package types

import (
	"bytes"
	"math/bits"
)

// text converts to CHAR, VARCHAR, TEXT and their binary forms: to the column's character
// set, then to its length.
func (c *conversion) text(v *Value) (Value, error) {
	coll := c.to.stringColl()
	b, from := v.B, v.Coll
	if !hasText(v.K) {
		b, from = AppendText(nil, c.ctx, v), Utf8mb4Bin
		switch {
		case v.K == KindBit:
			from = Binary
		case v.K == KindFloat && c.to.IsBlob() && v.Scale == SinglePrecision:
			b = AppendComputedFloat(b[:0], v.Float64(), true)
		case v.K == KindFloat && c.to.IsBlob():
			b = AppendColumnFloat(b[:0], v.Float64())
		case v.K == KindFloat && !c.to.IsBlob():
			var err error
			if b, err = c.floatText(b[:0], v.Float64()); err != nil {
				return Value{}, err
			}
		}
	}
	b, err := c.transcode(b, from.Charset(), coll.Charset())
	if err != nil {
		return Value{}, err
	}
	if b, err = c.fitText(b, coll.Charset()); err != nil {
		return Value{}, err
	}
	return String(b, coll), nil
}

// floatText appends the text of f that CHAR and VARCHAR store: all digits of the double,
// even if it comes from a FLOAT, or as many as the column has room for.
func (c *conversion) floatText(dst []byte, f float64) ([]byte, error) {
	dst = AppendFloat(dst, f)
	width := int(c.to.Length)
	if width < 0 || len(dst) <= width {
		return dst, nil
	}
	dst, cut := appendFloatWithin(dst[:0], f, width)
	if cut {
		if err := c.tooLong(); err != nil {
			return nil, err
		}
	}
	return dst[:min(len(dst), width)], nil
}

// transcode converts b to the character set to. Invalid bytes, and characters that it does
// not have, are reported as 1366. Outside strict mode b is cut off before the first
// invalid byte, and such a character becomes '?'.
func (c *conversion) transcode(b []byte, from, to *Charset) ([]byte, error) {
	if to.class == csBinary {
		return b, nil
	}
	if from.class == csBinary {
		from, b = to, to.Align(b)
	}
	if n := from.ValidPrefix(b); n < len(b) {
		if err := c.incorrectString(b[n:]); err != nil {
			return nil, err
		}
		b = b[:n]
	}
	if sameBytes(b, from, to) {
		return b, nil
	}
	out, bad := ConvertCharset(nil, b, from, to)
	if bad > 0 {
		if err := c.incorrectString(b[firstUnfit(b, from, to):]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// firstUnfit returns the position of the first character that to does not have.
func firstUnfit(b []byte, from, to *Charset) int {
	i := 0
	for i < len(b) {
		r, n, ok := from.decode(b[i:])
		if !ok {
			return i
		}
		if _, fits := to.appendRune(nil, r); !fits {
			return i
		}
		i += n
	}
	return 0
}

// shownBytes is how many bytes of a string PrintableBytes shows.
const shownBytes = 6

func (c *conversion) incorrectString(bad []byte) error {
	return c.incorrect("string", PrintableBytes(bad))
}

// PrintableBytes returns the first six bytes of b as MySQL shows them in messages:
// printable ASCII as it is, others as \xHH, and dots if there are more.
func PrintableBytes(b []byte) []byte {
	const hex = "0123456789ABCDEF"
	var out []byte
	for i, x := range b {
		if i == shownBytes {
			return append(out, "..."...)
		}
		if x >= ' ' && x <= '~' {
			out = append(out, x)
		} else {
			out = append(out, '\\', 'x', hex[x>>4], hex[x&15])
		}
	}
	return out
}

// fitText cuts or pads b to the column's length. It reports 1406 or 1265 unless only
// spaces are cut off.
func (c *conversion) fitText(b []byte, cs *Charset) ([]byte, error) {
	limit := int(c.to.MaxBytes())
	switch c.to.ID {
	case TypeChar, TypeVarchar:
		n := len(b)
		if c.to.Length >= 0 {
			n = cs.CharPrefix(b, int(c.to.Length))
		}
		if n < len(b) {
			if len(trimTrailing(b[n:], cs)) > 0 {
				if err := c.tooLong(); err != nil {
					return nil, err
				}
			} else if c.to.ID == TypeVarchar {
				c.note()
			}
			b = b[:n]
		}
		if c.to.ID == TypeChar && c.to.stringColl() != Binary {
			b = trimTrailing(b, cs)
		}
		return b, nil
	case TypeBinary:
		if len(b) < limit && c.to.Length > 0 {
			return append(append(make([]byte, 0, limit), b...), make([]byte, limit-len(b))...), nil
		}
	}
	if len(b) > limit {
		if err := c.tooLong(); err != nil {
			return nil, err
		}
		cut := limit
		if cs.MaxLen > 1 {
			cut = cs.wholeChars(b[:limit])
		}
		b = b[:cut]
	}
	return b, nil
}

// wholeChars returns the length of b without an incomplete character at its end.
func (cs *Charset) wholeChars(b []byte) int {
	for back := 1; back < 4 && back < len(b); back++ {
		if n := cs.ValidPrefix(b[len(b)-back:]); n == back {
			return len(b)
		}
	}
	return cs.ValidPrefix(b)
}

// trimTrailing returns b, which is in the character set cs, without trailing spaces.
func trimTrailing(b []byte, cs *Charset) []byte {
	if cs.MinLen == 1 {
		return trimSpaces(b)
	}
	space, _ := cs.appendRune(nil, ' ')
	for bytes.HasSuffix(b, space) {
		b = b[:len(b)-len(space)]
	}
	return b
}

// tooLong returns error 1406 in strict mode, else it raises warning 1265.
func (c *conversion) tooLong() error {
	if c.ctx.strict() {
		return Errorf(ErDataTooLong, c.col, c.row)
	}
	return c.truncated()
}

// enum converts to an ENUM: from the text of a member, or from a number.
func (c *conversion) enum(v *Value) (Value, error) {
	if v.K == KindJSON {
		v = ptr(String(ShownJSON(v.B), Utf8mb4Bin))
	}
	if v.K == KindEnum && v.N == 0 { // not a member that is the empty text
		return c.to.EnumValue(0), nil
	}
	if v.K == KindEnum || hasText(v.K) {
		b, err := c.transcode(v.B, v.Coll.Charset(), c.to.Coll.Charset())
		if err != nil {
			return Value{}, err
		}
		if i := c.to.EnumIndex(b); i > 0 {
			return c.to.EnumValue(uint64(i)), nil
		}
		// A text that is no member may be a number.
		n, used, _ := ParseInt(b)
		if used == len(b) && used > 0 && n >= 1 && n <= int64(len(c.to.Elems)) {
			return c.to.EnumValue(uint64(n)), nil
		}
		return c.to.EnumValue(0), c.truncated()
	}
	n := c.integerOf(v)
	if n < 1 || n > int64(len(c.to.Elems)) {
		return c.to.EnumValue(0), c.truncated()
	}
	return c.to.EnumValue(uint64(n)), nil
}

// EnumIndex returns the 1-based index of the member that is equal to b under the type's
// collation, 0 if there is none. Trailing spaces of b are ignored.
func (t *Type) EnumIndex(b []byte) int {
	b = trimTrailing(b, t.Coll.Charset())
	for i, e := range t.Elems {
		if CompareStrings(bytesOf(e), b, t.Coll) == 0 {
			return i + 1
		}
	}
	return 0
}

// set converts to a SET: from members separated by commas, or from a bit mask.
func (c *conversion) set(v *Value) (Value, error) {
	if v.K == KindJSON {
		v = ptr(String(ShownJSON(v.B), Utf8mb4Bin))
	}
	all := ^uint64(0) >> (64 - uint(min(max(len(c.to.Elems), 1), MaxSetElems)))
	if hasText(v.K) {
		b, err := c.transcode(v.B, v.Coll.Charset(), c.to.Coll.Charset())
		if err != nil {
			return Value{}, err
		}
		mask, ok := c.to.SetMask(b)
		if ok {
			return c.to.SetValue(mask), nil
		}
		if n, used, over := ParseInt(b); used == len(b) && used > 0 && !over && uint64(n) <= all {
			return c.to.SetValue(uint64(n)), nil
		}
		return c.to.SetValue(mask), c.truncated()
	}
	n := c.integerOf(v)
	if uint64(n)&^all != 0 || bits.OnesCount64(all) == 0 {
		return c.to.SetValue(uint64(n) & all), c.truncated()
	}
	return c.to.SetValue(uint64(n)), nil
}

// cutMember splits b at its first comma.
func cutMember(b []byte, cs *Charset) (member, rest []byte) {
	if cs.MinLen == 1 {
		member, rest, _ = bytes.Cut(b, []byte{','})
		return member, rest
	}
	for at := 0; at < len(b); {
		r, n, ok := cs.decode(b[at:])
		if ok && r == ',' {
			return b[:at], b[at+n:]
		}
		at += n
	}
	return b, nil
}

// SetMask returns the bits of the members that b lists, separated by commas; ok is false
// if one of them is no member.
func (t *Type) SetMask(b []byte) (mask uint64, ok bool) {
	b = trimTrailing(b, t.Coll.Charset())
	ok = true
	for len(b) > 0 {
		var member []byte
		member, b = cutMember(b, t.Coll.Charset())
		if i := t.EnumIndex(member); i > 0 {
			mask |= 1 << uint(i-1)
		} else {
			ok = false
		}
	}
	return mask, ok
}
