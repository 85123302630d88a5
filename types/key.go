package types

import (
	"encoding/binary"
	"math"
)

// Marks within keys of strings. doc.go has the tables.
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

// AppendKey appends the order-preserving form of v, a value of t's kind at t's
// scale (as Convert returns it) or NULL. NULL orders first; desc inverts every
// byte. prefixChars > 0 takes that many leading characters of a string.
// bytes.Compare of two keys has the sign of Compare of the values. It
// allocates only when dst must grow or the collation needs the library.
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

// AppendJSONOrderKey is AppendKey of a JSON value, or NULL, for ORDER BY, to which arrays of one length are equal, and objects. scalar tells that v is
// neither.
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

// stringColl is the collation of keys of t; binary types may leave Coll zero.
func (t *Type) stringColl() CollationID {
	if t.Coll == 0 {
		return Binary
	}
	return t.Coll
}

func unsignedKind(k Kind) bool {
	return k == KindUint || k == KindEnum || k == KindSet || k == KindBit
}

// SkipKey returns what follows the first column of a key.
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

// KeyRecoverable reports whether DecodeKey gives back the exact value, so that
// rows and index entries need not store it again.
func KeyRecoverable(t *Type, prefixChars int) bool {
	switch t.Kind() {
	case KindFloat, KindJSON, KindNull:
		return false // -0 and 0 share a key; a JSON key is never built for order
	case KindString:
		if prefixChars > 0 {
			return false
		}
		switch t.stringColl().get().class {
		case collRaw:
			return true
		case collPadRaw:
			return t.ID == TypeChar // stored without the trailing spaces that the key drops
		}
		return false
	}
	return true
}

// DecodeKey returns the first column of a key and what follows it. It fails for
// types that KeyRecoverable refuses. Strings are copied, wide decimals too.
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

// orderedFloat maps doubles to unsigned numbers of the same order; -0 is 0.
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

// AppendSortKey appends the self-delimiting key of a string under c, ascending.
func AppendSortKey(dst, s []byte, c CollationID) []byte {
	k := c.get()
	if k.class != collRaw && k.class != collPadRaw {
		k.load()
	}
	start := len(dst)
	return k.endWeights(k.appendWeights(dst, s), start)
}

// endWeights makes a key of the weights dst[start:].
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

// endLen is the length of what endWeights puts behind weights.
func (c *collation) endLen() int {
	if c.class == collPadUCA {
		return 3
	}
	return 2
}

// escapeRaw ends dst[start:] with 00 01 and writes 00 FF for each zero byte. It
// works backwards within dst, so that weights are produced only once.
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

// escapePad1 drops trailing spaces and puts a mark after each other one and
// after the space that ends the string.
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

// grow lengthens dst by n bytes of any content.
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

// decodeStringKey undoes AppendSortKey for keys of raw bytes; b is one key.
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
