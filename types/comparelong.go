package types

import (
	"bytes"
	"encoding/binary"
)

// CompareTexts is CompareStrings for texts that may be as long as a packet, whose
// weights take a second to compute: it compares piece by piece, in the memory of two
// pieces, and calls poll, which may be nil, between them. Its error is poll's.
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

// weightStream computes one level of the weights of a long text, piece by piece.
// Only collations of UCA 9.0.0 have more levels than one.
type weightStream struct {
	c     *collation
	rest  []byte // text whose weights are not computed yet
	level int    // from 0
	more  bool   // a piece so far has weights of the next level
	poll  func() error
	buf   []byte
	w     []byte // weights that are not read yet, a part of buf
}

// fill computes weights if w is empty. It stays empty at the end of the text.
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

// levelOf returns the weights of a level in w, and whether another level follows. In w,
// levels are separated by a zero weight.
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

// compare orders two streams. The shorter one is padded as by CompareStrings.
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

const (
	cutTries = 64 // how many positions piece tries
	cutChars = 8  // how many characters on either side cuttable examines: more than any contraction has
)

// piece returns a number of bytes at which s can be cut so that the weights of s are
// those of both parts together: no contraction spans the cut. If it does not find
// such a position, it returns len(s).
func (c *collation) piece(s []byte) int {
	if c.entire {
		return len(s)
	}
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

// cuttable reports whether s can be cut at n, see piece.
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
