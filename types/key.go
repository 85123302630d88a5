package types

import (
	"encoding/binary"
	"math"
)

// Bytes with a meaning in keys; see the tables in doc.go.
const (
	keyGuard    = 0x01 // precedes a string whose first byte would be 0x00 or 0x01
	keyFloat    = 0x01 // precedes the eight bytes of a float
	rawEscape   = 0x00 // NO PAD: 00 FF is a zero byte, 00 01 the end
	rawZero     = 0xFF
	rawEnd      = 0x01
	padBefore   = 0x01 // PAD SPACE, after a space: what follows the run orders before the space
	padEnd      = 0x02 // the string ends
	padAfter    = 0x03 // what follows the run orders after the space
	floatKeyLen = 1 + 8
)

// AppendKey appends the key of v (see the package documentation), which is NULL or has
// t's kind and scale, as a result of Convert. bytes.Compare of two keys has the sign of
// Compare of the values. NULL is the smallest; desc inverts every byte. If prefixChars is
// above 0, only so many leading characters of a string are used. It allocates only if
// dst has to grow, or the collation needs the library.
func AppendKey(dst []byte, v Value, t *Type, desc bool, prefixChars int) []byte {
	start := len(dst)
	switch {
	case v.K == KindNull:
		dst = append(dst, keyNull)
	case t.IsStringType():
		b := v.B
		if prefixChars > 0 {
			b = b[:t.Coll.Charset().CharPrefix(b, prefixChars)]
		}
		dst = AppendSortKey(dst, b, t.stringColl())
	case v.K == KindFloat:
		dst = append(dst, keyFloat)
		dst = binary.BigEndian.AppendUint64(dst, orderedFloat(v.Float64()))
	case v.K == KindJSON:
		dst = AppendSortKey(dst, appendJSONKey(nil, v.B), Binary)
	case v.K == KindDecimal && v.B != nil:
		dst = appendOrderedWide(dst, v.B)
	case unsignedKind(v.K):
		dst = appendOrderedUint(dst, uint64(v.N))
	default:
		dst = appendOrderedInt(dst, compactInt(&v, t))
	}
	if desc {
		for i := start; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
	}
	return dst
}

// AppendJSONOrderKey is AppendKey of a JSON value, or NULL, for ORDER BY, for which arrays
// of the same length are equal, and so are objects. scalar is false for those.
func AppendJSONOrderKey(dst []byte, v Value, desc bool) (out []byte, scalar bool) {
	if v.K != KindJSON || len(v.B) == 0 || v.B[0] != '[' && v.B[0] != '{' {
		return AppendKey(dst, v, &Type{ID: TypeJSON}, desc, 0), true
	}
	n := viewJSON(v.B)
	start := len(dst)
	var key [5]byte
	key[0] = byte(n.kind) + 1
	binary.BigEndian.PutUint32(key[1:], uint32(JSONLength(v.B)))
	dst = AppendSortKey(dst, key[:], Binary)
	if desc {
		for i := start; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
	}
	return dst, false
}

// stringColl returns the collation of a string type; a binary type may have Coll 0.
func (t *Type) stringColl() CollationID {
	if t.Coll == 0 {
		return Binary
	}
	return t.Coll
}

func unsignedKind(k Kind) bool {
	return k == KindUint || k == KindEnum || k == KindSet || k == KindBit
}

// SkipKey returns what follows the first column of a key. t and desc are those with which
// it was made. The error is ErrBadKey.
func SkipKey(b []byte, t *Type, desc bool) (rest []byte, err error) {
	var flip byte
	if desc {
		flip = 0xFF
	}
	if len(b) == 0 {
		return nil, ErrBadKey
	}
	if b[0]^flip == keyNull {
		return b[1:], nil
	}
	n := -1
	switch k := t.Kind(); {
	case k == KindString || k == KindJSON:
		n = stringKeyLen(b, t.keyCollation(), flip)
	case k == KindFloat:
		if b[0]^flip == keyFloat && len(b) >= floatKeyLen {
			n = floatKeyLen
		}
	default:
		n = orderedLen(b, flip)
	}
	if n < 0 {
		return nil, ErrBadKey
	}
	return b[n:], nil
}

func (t *Type) keyCollation() *collation {
	if t.ID == TypeJSON {
		return Binary.get()
	}
	return t.stringColl().get()
}

// KeyRecoverable reports whether DecodeKey returns the exact value that is in a key, so that
// rows and index entries need not store it again.
func KeyRecoverable(t *Type, prefixChars int) bool {
	switch t.Kind() {
	case KindFloat, KindJSON, KindNull:
		return false // -0 and 0 have the same key, and so have equal JSON documents
	case KindString:
		if prefixChars > 0 {
			return false
		}
		switch t.stringColl().get().class {
		case collRaw:
			return true
		case collPadRaw:
			return t.ID == TypeChar // its values have no trailing spaces, which the key does not have
		}
		return false
	}
	return true
}

// DecodeKey returns the value of the first column of a key, and what follows it. The value
// has its own memory. The error is ErrBadKey, also for types that are not KeyRecoverable.
func DecodeKey(b []byte, t *Type, desc bool) (v Value, rest []byte, err error) {
	var flip byte
	if desc {
		flip = 0xFF
	}
	if rest, err = SkipKey(b, t, desc); err != nil {
		return Value{}, nil, err
	}
	if b[0]^flip == keyNull {
		return Value{}, rest, nil
	}
	b = b[:len(b)-len(rest)]
	switch k := t.Kind(); k {
	case KindString:
		s, ok := decodeStringKey(b, t.keyCollation(), flip)
		if !ok {
			return Value{}, nil, ErrBadKey
		}
		return String(s, t.stringColl()), rest, nil
	case KindFloat, KindJSON, KindNull:
		return Value{}, nil, ErrBadKey
	case KindDecimal:
		if tag := b[0] ^ flip; tag == tagWideNeg || tag == tagWidePos {
			return decodeWideKey(b, t, flip), rest, nil
		}
	}
	n, neg, _, err := decodeOrdered(b, flip)
	if err != nil || neg && unsignedKind(t.Kind()) || !neg && !unsignedKind(t.Kind()) && int64(n) < 0 {
		return Value{}, nil, ErrBadKey
	}
	return expandInt(int64(n), t), rest, nil
}

func decodeWideKey(b []byte, t *Type, flip byte) Value {
	tag := b[0] ^ flip
	inv := flip
	sign := byte(widePositive)
	if tag == tagWideNeg {
		inv, sign = ^flip, wideNegative
	}
	wide := append(make([]byte, 0, len(b)-1), sign)
	for _, x := range b[2:] {
		wide = append(wide, x^inv)
	}
	return Value{K: KindDecimal, Scale: uint8(t.Scale), B: wide}
}

// orderedFloat returns an unsigned number for f with the order of doubles; -0 has that of 0.
func orderedFloat(f float64) uint64 {
	n := math.Float64bits(f)
	if f == 0 {
		n = 0 // also for -0
	}
	if n>>63 != 0 {
		return ^n
	}
	return n | 1<<63
}

// AppendSortKey appends the ascending key of a string in collation c.
func AppendSortKey(dst, s []byte, c CollationID) []byte {
	k := c.get()
	if k.class != collRaw && k.class != collPadRaw {
		k.load()
	}
	start := len(dst)
	return k.endWeights(k.appendWeights(dst, s), start)
}

// endWeights converts the weights dst[start:] to a key.
func (c *collation) endWeights(dst []byte, start int) []byte {
	switch {
	case c.class == collRaw || c.class == collUCA0900:
		dst = escapeRaw(dst, start)
	case c.class == collPadUCA:
		dst = escapePad2(dst, start, c.space)
	default:
		space := byte(' ')
		if c.class == collPadTable {
			space = byte(c.space)
		}
		dst = escapePad1(dst, start, space)
	}
	if dst[start] <= keyGuard {
		dst = append(dst, 0)
		copy(dst[start+1:], dst[start:])
		dst[start] = keyGuard
	}
	return dst
}

// endLen returns the length of the end mark that endWeights appends.
func (c *collation) endLen() int {
	if c.class == collPadUCA {
		return 3
	}
	return 2
}

// escapeRaw replaces each zero byte in dst[start:] by 00 FF and appends the end 00 01. It
// works backwards in place.
func escapeRaw(dst []byte, start int) []byte {
	zeros := 0
	for _, x := range dst[start:] {
		if x == rawEscape {
			zeros++
		}
	}
	from := len(dst)
	if zeros > 0 {
		dst = grow(dst, zeros)
		to := len(dst)
		for from > start && from < to {
			from--
			to--
			if dst[from] == rawEscape {
				dst[to] = rawZero
				to--
			}
			dst[to] = dst[from]
		}
	}
	return append(dst, rawEscape, rawEnd)
}

// escapePad1 removes trailing spaces, puts a mark after each other space, and appends the
// end, for weights of one byte. It works backwards in place.
func escapePad1(dst []byte, start int, space byte) []byte {
	end := start + trimPad(dst[start:], 1, uint16(space))
	dst = dst[:end]
	spaces := 0
	for _, x := range dst[start:] {
		if x == space {
			spaces++
		}
	}
	if spaces > 0 {
		dst = grow(dst, spaces)
		from, to := end, len(dst)
		mark := byte(padEnd)
		for from < to {
			from--
			to--
			if x := dst[from]; x != space {
				mark = padBefore
				if x > space {
					mark = padAfter
				}
			} else {
				dst[to] = mark
				to--
			}
			dst[to] = dst[from]
		}
	}
	return append(dst, space, padEnd)
}

// escapePad2 is escapePad1 for weights of two bytes.
func escapePad2(dst []byte, start int, space uint16) []byte {
	hi, lo := byte(space>>8), byte(space)
	end := start + trimPad(dst[start:], 2, space)
	dst = dst[:end]
	spaces := 0
	for i := start; i < end; i += 2 {
		if dst[i] == hi && dst[i+1] == lo {
			spaces++
		}
	}
	if spaces > 0 {
		dst = grow(dst, spaces)
		from, to := end, len(dst)
		mark := byte(padEnd)
		for from < to {
			from -= 2
			w := uint16(dst[from])<<8 | uint16(dst[from+1])
			if w == space {
				to--
				dst[to] = mark
			} else if w < space {
				mark = padBefore
			} else {
				mark = padAfter
			}
			to -= 2
			dst[to], dst[to+1] = byte(w>>8), byte(w)
		}
	}
	return append(dst, hi, lo, padEnd)
}

// grow returns dst longer by n bytes, whose content is arbitrary.
func grow(dst []byte, n int) []byte {
	if len(dst)+n <= cap(dst) {
		return dst[:len(dst)+n]
	}
	return append(dst, make([]byte, n)...)
}

// stringKeyLen returns the length of the string key at the start of b, or -1.
func stringKeyLen(b []byte, c *collation, flip byte) int {
	i := 0
	if b[0]^flip == keyGuard {
		i++
	}
	switch c.class {
	case collRaw, collUCA0900:
		for ; i+1 < len(b); i++ {
			if b[i]^flip != rawEscape {
				continue
			}
			switch b[i+1] ^ flip {
			case rawEnd:
				return i + 2
			case rawZero:
				i++
			default:
				return -1
			}
		}
		return -1
	case collPadUCA:
		c.load()
		hi, lo := byte(c.space>>8), byte(c.space)
		for ; i+2 < len(b); i += 2 {
			if b[i]^flip == hi && b[i+1]^flip == lo {
				if b[i+2]^flip == padEnd {
					return i + 3
				}
				i++
			}
		}
		return -1
	}
	space := byte(' ')
	if c.class == collPadTable {
		space = byte(c.load().space)
	}
	for ; i+1 < len(b); i++ {
		if b[i]^flip == space {
			if b[i+1]^flip == padEnd {
				return i + 2
			}
			i++
		}
	}
	return -1
}

// decodeStringKey is the inverse of AppendSortKey for collations that compare bytes; b is one
// key. ok is false for other collations.
func decodeStringKey(b []byte, c *collation, flip byte) ([]byte, bool) {
	if c.class != collRaw && c.class != collPadRaw {
		return nil, false
	}
	if b[0]^flip == keyGuard {
		b = b[1:]
	}
	b = b[:len(b)-2]
	mark := byte(rawEscape)
	if c.class == collPadRaw {
		mark = ' '
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		x := b[i] ^ flip
		out = append(out, x)
		if x == mark {
			i++
		}
	}
	return out, true
}
