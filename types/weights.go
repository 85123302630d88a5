package types

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"
	"unicode/utf8"
)

// scratch is a pool of buffers for weights. Buffers on the stack would escape to the
// heap through the library's interfaces.
var scratch = sync.Pool{New: func() any { b := make([]byte, 0, 256); return &b }}

// scratchMax is the capacity of the largest buffer that is returned to the pool.
const scratchMax = 64 << 10

func putScratch(p *[]byte, b []byte) {
	if cap(b) <= scratchMax {
		*p = b[:0]
		scratch.Put(p)
	}
}

// CompareStrings compares two strings, which are in the character set of c, by that
// collation: the result is negative, zero or positive. Under PAD SPACE the shorter
// string is compared as if it were padded with spaces.
func CompareStrings(a, b []byte, c CollationID) int {
	if c == Binary || c == Utf8mb40900Bin {
		return bytes.Compare(a, b)
	}
	k := c.get()
	if k.class != collPadRaw {
		k.load()
	}
	switch k.class {
	case collRaw:
		return bytes.Compare(a, b)
	case collPadRaw:
		return comparePadRaw(a, b)
	case collPadTable:
		return comparePadTable(a, b, k.bytes)
	case collPadGeneral:
		return k.comparePadGeneral(a, b)
	case collUCA0900:
		if r, ok := k.compareASCII(a, b); ok {
			return r
		}
		return k.collate(a, b, false)
	case collPadUCA:
		if r, ok := k.compareASCII(a, b); ok {
			return r
		}
		return k.compareWeights(a, b, 2)
	}
	return k.compareWeights(a, b, 1)
}

// EqualStrings reports whether two strings are equal under c.
func EqualStrings(a, b []byte, c CollationID) bool { return CompareStrings(a, b, c) == 0 }

func comparePadRaw(a, b []byte) int {
	n := min(len(a), len(b))
	if r := bytes.Compare(a[:n], b[:n]); r != 0 {
		return r
	}
	for _, x := range a[n:] {
		if x != ' ' {
			return int(x) - ' '
		}
	}
	for _, x := range b[n:] {
		if x != ' ' {
			return ' ' - int(x)
		}
	}
	return 0
}

func comparePadTable(a, b []byte, w *[256]byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if x, y := w[a[i]], w[b[i]]; x != y {
			return int(x) - int(y)
		}
	}
	sp := w[' ']
	for _, x := range a[n:] {
		if w[x] != sp {
			return int(w[x]) - int(sp)
		}
	}
	for _, x := range b[n:] {
		if w[x] != sp {
			return int(sp) - int(w[x])
		}
	}
	return 0
}

// nextGeneral returns the weight of the first character of s and its bytes.
func (c *collation) nextGeneral(s []byte) (uint16, int) {
	if c.charset.ascii && s[0] < utf8.RuneSelf {
		return c.runes[s[0]], 1
	}
	r, n, ok := c.charset.decode(s)
	if !ok || r > 0xFFFF {
		return replacement, n
	}
	return c.runes[r], n
}

// samePrefix returns the length, a multiple of 8, of a prefix that a and b have in
// common and that is ASCII.
func samePrefix(a, b []byte) int {
	i := 0
	for i+8 <= len(a) && i+8 <= len(b) {
		x := binary.LittleEndian.Uint64(a[i:])
		if x != binary.LittleEndian.Uint64(b[i:]) || x&0x8080808080808080 != 0 {
			break
		}
		i += 8
	}
	return i
}

func (c *collation) comparePadGeneral(a, b []byte) int {
	if c.charset.ascii {
		n := samePrefix(a, b)
		for n < len(a) && n < len(b) && a[n]|b[n] < utf8.RuneSelf {
			if x, y := c.runes[a[n]], c.runes[b[n]]; x != y {
				return int(x) - int(y)
			}
			n++
		}
		a, b = a[n:], b[n:]
	}
	for len(a) > 0 || len(b) > 0 {
		x, y := c.space, c.space
		var n int
		if len(a) > 0 {
			x, n = c.nextGeneral(a)
			a = a[n:]
		}
		if len(b) > 0 {
			y, n = c.nextGeneral(b)
			b = b[n:]
		}
		if x != y {
			return int(x) - int(y)
		}
	}
	return 0
}

// compareASCII compares by the table of ASCII weights. ok is false if a character that
// is not in the table may decide.
func (c *collation) compareASCII(a, b []byte) (r int, ok bool) {
	t := c.ascii
	if t == nil {
		return 0, false
	}
	if skip := samePrefix(a, b); skip > 0 {
		// The last equal character stays, because it may be followed by a combining character.
		a, b = a[skip-1:], b[skip-1:]
	}
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		if x|y >= utf8.RuneSelf {
			return 0, false
		}
		wx, wy := t[x], t[y]
		if wx == 0 || wy == 0 {
			return 0, false
		}
		if wx != wy {
			return int(wx) - int(wy), true
		}
	}
	if len(a) == len(b) {
		return 0, true
	}
	tail, sign := a[n:], 1
	if len(b) > n {
		tail, sign = b[n:], -1
	}
	for _, x := range tail {
		if x >= utf8.RuneSelf || t[x] == 0 {
			return 0, false
		}
		if c.class == collUCA0900 {
			return sign, true
		}
		if t[x] != c.space {
			return sign * (int(t[x]) - int(c.space)), true
		}
	}
	return 0, true
}

// compareWeights compares the weight strings in units of 1 or 2 bytes, the
// shorter padded with the weight of the space.
func (c *collation) compareWeights(a, b []byte, unit int) int {
	pa, pb := scratch.Get().(*[]byte), scratch.Get().(*[]byte)
	wa, wb := c.appendWeights((*pa)[:0], a), c.appendWeights((*pb)[:0], b)
	r := comparePadUnits(wa, wb, unit, c.space)
	putScratch(pa, wa)
	putScratch(pb, wb)
	return r
}

func comparePadUnits(a, b []byte, unit int, space uint16) int {
	n := min(len(a), len(b))
	if r := bytes.Compare(a[:n], b[:n]); r != 0 {
		return r
	}
	sign := 1
	tail := a[n:]
	if len(b) > n {
		tail, sign = b[n:], -1
	}
	for i := 0; i+unit <= len(tail); i += unit {
		w := uint16(tail[i])
		if unit == 2 {
			w = w<<8 | uint16(tail[i+1])
		}
		if w != space {
			return sign * (int(w) - int(space))
		}
	}
	return 0
}

// AppendWeightString appends the weights of s as the SQL function WEIGHT_STRING returns
// them. Keys have the same order, but another format.
func AppendWeightString(dst, s []byte, id CollationID) []byte {
	c := id.get().load()
	switch utf := c.charset.class; {
	case c.shown != nil:
		return c.shown.WeightString(dst, s, 0)
	case c.class == collPadRunes, c.class == collPadRaw && (utf == csUTF8MB4 || utf == csUTF8MB3):
		for len(s) > 0 {
			r, n, _ := c.charset.decode(s)
			if utf != csUTF8MB3 {
				dst = append(dst, byte(r>>16))
			}
			dst = append(dst, byte(r>>8), byte(r))
			s = s[n:]
		}
	case c.class == collPadGeneral:
		for len(s) > 0 {
			w, n := c.nextGeneral(s)
			dst = append(dst, byte(w>>8), byte(w))
			s = s[n:]
		}
	default:
		return c.appendWeights(dst, s)
	}
	return dst
}

// appendWeights appends the weights of s without padding and escapes. Code points and
// general_ci weights are encoded like UTF-8, which keeps their order, takes one byte
// for ASCII, and has the byte 0x20 only for the space.
func (c *collation) appendWeights(dst, s []byte) []byte {
	if len(s) >= vectorLong {
		dst = slices.Grow(dst, c.unit()*len(s)) // append alone would allocate several times the size for a long text
	}
	switch c.class {
	case collRaw, collPadRaw:
		return append(dst, s...)
	case collPadTable:
		for _, x := range s {
			dst = append(dst, c.bytes[x])
		}
		return dst
	case collPadRunes:
		for len(s) > 0 {
			r, n, _ := c.charset.decode(s)
			dst = appendOrderedRune(dst, uint32(r))
			s = s[n:]
		}
		return dst
	case collPadGeneral:
		for len(s) > 0 {
			w, n := c.nextGeneral(s)
			if w < utf8.RuneSelf {
				dst = append(dst, byte(w))
			} else {
				dst = appendOrderedRune(dst, uint32(w))
			}
			s = s[n:]
		}
		return dst
	case collUCA0900, collPadUCA:
		if c.ascii != nil {
			if out, ok := c.appendASCII(dst, s); ok {
				return out
			}
		}
	}
	whole := c.whole(s)
	dst = append(c.lib.WeightString(dst, s[:whole:whole], 0), s[whole:]...)
	if c.class == collPadUCA && (len(s)-whole)%2 > 0 {
		dst = append(dst, 0xFF) // its weights have two bytes
	}
	return dst
}

// whole is the length of the beginning of s that the library can read: to a number that is no code point, or a last character of which bytes are
// missing. The weights of this package are made of any bytes.
func (c *collation) whole(s []byte) int {
	if c.charset.class != csMulti || c.charset.form != nil {
		return len(s)
	}
	i := 0
	for i < len(s) {
		r, n := rune(0), 1
		if !c.charset.ascii || s[i] >= utf8.RuneSelf {
			r, n = c.charset.lib.DecodeRune(s[i:])
		}
		if uint32(r) > utf8.MaxRune || i+n > len(s) {
			return i
		}
		i += max(n, 1)
	}
	return i
}

// appendOrderedRune writes n as UTF-8 would, surrogates included.
func appendOrderedRune(dst []byte, n uint32) []byte {
	switch {
	case n < 0x80:
		return append(dst, byte(n))
	case n < 0x800:
		return append(dst, 0xC0|byte(n>>6), 0x80|byte(n&0x3F))
	case n < 0x10000:
		return append(dst, 0xE0|byte(n>>12), 0x80|byte(n>>6&0x3F), 0x80|byte(n&0x3F))
	}
	return append(dst, 0xF0|byte(n>>18), 0x80|byte(n>>12&0x3F), 0x80|byte(n>>6&0x3F), 0x80|byte(n&0x3F))
}

func (c *collation) appendASCII(dst, s []byte) ([]byte, bool) {
	start := len(dst)
	for _, x := range s {
		if x >= utf8.RuneSelf || c.ascii[x] == 0 {
			return dst[:start], false
		}
		w := c.ascii[x]
		dst = append(dst, byte(w>>8), byte(w))
	}
	return dst, true
}

// hashString returns a hash of s that is the same for strings that are equal under c.
func hashString(seed uint64, s []byte, c CollationID) uint64 {
	k := c.get()
	switch k.class {
	case collRaw:
		return hashBytes(seed, s)
	case collPadRaw:
		return hashBytes(seed, trimSpaces(s))
	}
	k.load()
	p := scratch.Get().(*[]byte)
	w := k.appendWeights((*p)[:0], s)
	n := len(w)
	if k.class != collUCA0900 {
		n = trimPad(w, k.unit(), k.space)
	}
	h := hashBytes(seed, w[:n])
	putScratch(p, w)
	return h
}

// unit returns the bytes of a weight in appendWeights, by which it can be padded.
func (c *collation) unit() int {
	if c.class == collPadUCA {
		return 2
	}
	return 1
}

// trimPad returns the length of w without trailing weights of the space.
func trimPad(w []byte, unit int, space uint16) int {
	n := len(w)
	if unit == 1 {
		for n > 0 && w[n-1] == byte(space) {
			n--
		}
		return n
	}
	for n >= 2 && w[n-2] == byte(space>>8) && w[n-1] == byte(space) {
		n -= 2
	}
	return n
}

func trimSpaces(s []byte) []byte {
	n := len(s)
	for n > 0 && s[n-1] == ' ' {
		n--
	}
	return s[:n]
}
