package types

import (
	"bytes"
	"math/bits"
)

// text converts to CHAR, VARCHAR, TEXT and their binary twins: the bytes are
// translated to the column's character set and validated, then fitted.
func (c *conversion) text(v *Value) (Value, error) {
	coll := c.to.stringColl()
	b, from := v.B, v.Coll
	if !hasText(v.K) {
		b, from = AppendText(nil, c.ctx, v), Utf8mb4Bin
		switch {
		case v.K == KindBit:
			from = Binary
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

// floatText appends what CHAR and VARCHAR store of a number: all digits of the double that it is, a FLOAT too, as far as there is room.
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

// transcode returns b in the character set to. Anything invalid is 1366; outside
// strict mode it is cut off before the invalid byte, or '?' where the target
// lacks the character.
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

// firstUnfit returns where the first character lies that to lacks.
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

// shownBytes is how much of a bad string 1366 shows.
const shownBytes = 6

func (c *conversion) incorrectString(bad []byte) error {
	return c.incorrect("string", PrintableBytes(bad))
}

// PrintableBytes shows bytes as MySQL does: ASCII as it is, others as \xHH, dots
// after the sixth.
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

// fitText applies the column's length.
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

// wholeChars returns the bytes of b without a character cut at its end.
func (cs *Charset) wholeChars(b []byte) int {
	for back := 1; back < 4 && back < len(b); back++ {
		if n := cs.ValidPrefix(b[len(b)-back:]); n == back {
			return len(b)
		}
	}
	return cs.ValidPrefix(b)
}

// trimTrailing drops trailing spaces in the character set.
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

// tooLong is 1406 in strict mode, else the warning 1265.
func (c *conversion) tooLong() error {
	if c.ctx.strict() {
		return Errorf(ErDataTooLong, c.col, c.row)
	}
	return c.truncated()
}

// enum converts to an ENUM: a member's text under the collation, or a number.
func (c *conversion) enum(v *Value) (Value, error) {
	if v.K == KindJSON {
		v = ptr(String(ShownJSON(v.B), Utf8mb4Bin))
	}
	if v.K == KindEnum || hasText(v.K) {
		b, err := c.transcode(v.B, v.Coll.Charset(), c.to.Coll.Charset())
		if err != nil {
			return Value{}, err
		}
		if i := c.to.EnumIndex(b); i > 0 {
			return c.to.EnumValue(uint64(i)), nil
		}
		if v.K == KindEnum && v.N == 0 {
			return c.to.EnumValue(0), nil
		}
		// A text that is a number counts as one, if no member reads so.
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

// EnumIndex returns the 1-based index of the member equal to b under the
// type's collation, 0 if there is none. Trailing spaces do not count.
func (t *Type) EnumIndex(b []byte) int {
	b = trimTrailing(b, t.Coll.Charset())
	for i, e := range t.Elems {
		if CompareStrings(bytesOf(e), b, t.Coll) == 0 {
			return i + 1
		}
	}
	return 0
}

// set converts to a SET: members separated by commas, or a bit mask.
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

// cutMember splits b behind its first comma.
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

// SetMask returns the bits of the members that b lists; ok is false when one is
// no member.
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
