package types

import (
	"bytes"
	"encoding/binary"
)

// CompareTexts is CompareStrings of texts that may be as long as a packet: weighing those takes a second, so that it goes piece by piece, in the memory of
// two pieces, and looks at the interrupt between them. poll may be nil.
func CompareTexts(a, b []byte, c CollationID, poll func() error) (int, error) {
	if len(a) <= pieceBytes && len(b) <= pieceBytes {
		return CompareStrings(a, b, c), nil
	}
	k := c.get()
	if k.class == collRaw || k.class == collPadRaw {
		return CompareStrings(a, b, c), nil
	}
	return k.load().compareLong(a, b, poll)
}

func (c *collation) compareLong(a, b []byte, poll func() error) (int, error) {
	for len(a) > 0 && len(b) > 0 { // equal texts have equal weights
		n := c.piece(a)
		if n > len(b) || !bytes.Equal(a[:n], b[:n]) || c.piece(b) != n {
			break
		}
		a, b = a[n:], b[n:]
	}
	for level := 0; ; level++ {
		x, y := weightStream{c: c, rest: a, level: level, poll: poll}, weightStream{c: c, rest: b, level: level, poll: poll}
		r, err := x.compare(&y)
		if r != 0 || err != nil || !x.more && !y.more {
			return r, err
		}
	}
}

// weightStream is one level of the weights of a long text, piece by piece.
type weightStream struct {
	c     *collation
	rest  []byte
	level int
	more  bool // there are levels behind this one
	poll  func() error
	buf   []byte
	w     []byte // the part of buf that nobody has read
}

// fill makes w not empty, unless the text has no more weights.
func (s *weightStream) fill() error {
	for len(s.w) == 0 && len(s.rest) > 0 {
		if s.poll != nil {
			if err := s.poll(); err != nil {
				return err
			}
		}
		n := s.c.piece(s.rest)
		s.buf = s.c.appendWeights(s.buf[:0], s.rest[:n])
		s.w, s.rest = s.buf, s.rest[n:]
		if s.c.class == collUCA0900 {
			var more bool
			s.w, more = levelOf(s.buf, s.level)
			s.more = s.more || more
		}
	}
	return nil
}

// levelOf returns the weights of a level, which a zero weight ends, and whether there is a level behind it.
func levelOf(w []byte, level int) (own []byte, more bool) {
	for {
		end := 0
		for end+2 <= len(w) && binary.BigEndian.Uint16(w[end:]) != 0 {
			end += 2
		}
		if more = end+2 <= len(w); level == 0 || !more {
			if level > 0 {
				return nil, false
			}
			return w[:end], more
		}
		w = w[end+2:]
		level--
	}
}

// compare orders what is left of two streams. The shorter one is padded as CompareStrings does.
func (s *weightStream) compare(o *weightStream) (int, error) {
	for {
		if err := s.fill(); err != nil {
			return 0, err
		}
		if err := o.fill(); err != nil {
			return 0, err
		}
		n := min(len(s.w), len(o.w))
		if n == 0 {
			break
		}
		if r := bytes.Compare(s.w[:n], o.w[:n]); r != 0 {
			return r, nil
		}
		s.w, o.w = s.w[n:], o.w[n:]
	}
	longer, sign := s, 1
	if len(s.w) == 0 {
		longer, sign = o, -1
	}
	for len(longer.w) > 0 {
		if s.c.class == collUCA0900 {
			return sign, nil
		}
		if r := comparePadUnits(longer.w, nil, s.c.unit(), s.c.space); r != 0 {
			return sign * r, nil
		}
		longer.w = nil
		if err := longer.fill(); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// cutTries is how many places are tried for the end of a piece, and cutChars how many characters before and behind it are looked at, more than any
// collation weighs together.
const (
	cutTries = 64
	cutChars = 8
)

// piece returns how many bytes of s may be weighed apart from the others: no characters before and behind its end are weighed together. A text that has no
// such place is one piece.
func (c *collation) piece(s []byte) int {
	n := c.charset.piece(s)
	if n == len(s) || c.class != collUCA0900 && c.class != collPadUCA {
		return n
	}
	for range cutTries {
		if c.cuttable(s, n) {
			return n
		}
		n -= c.lastChar(s[:n])
	}
	return len(s)
}

// lastChar returns how many bytes the last character of s has.
func (c *collation) lastChar(s []byte) int {
	for n := c.charset.MinLen; n <= c.charset.MaxLen && n <= len(s); n += c.charset.MinLen {
		if c.charset.ValidPrefix(s[len(s)-n:]) == n {
			return n
		}
	}
	return c.charset.MinLen
}

// cuttable reports whether the characters before and behind n weigh together what they weigh apart.
func (c *collation) cuttable(s []byte, n int) bool {
	from, to := n, n
	for range cutChars {
		from -= c.lastChar(s[:from])
		to += c.charset.CharPrefix(s[to:], 1)
	}
	whole := c.lib.WeightString(nil, s[from:to], 0)
	left, right := c.lib.WeightString(nil, s[from:n], 0), c.lib.WeightString(nil, s[n:to], 0)
	if c.class != collUCA0900 {
		return bytes.Equal(whole, append(left, right...))
	}
	for level := 0; ; level++ {
		w, more := levelOf(whole, level)
		l, _ := levelOf(left, level)
		r, _ := levelOf(right, level)
		if len(w) != len(l)+len(r) || !bytes.Equal(w[:len(l)], l) || !bytes.Equal(w[len(l):], r) {
			return false
		}
		if !more {
			return true
		}
	}
}
