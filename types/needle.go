package types

import "bytes"

// Needle is a text that is looked for in others by the weights of a collation: it is found where its weights are the first of what follows, as by
// MySQL's INSTR. Characters without weights do not count, and a letter with two weights begins with the first: æ begins with a.
type Needle struct {
	c       *collation
	text, w []byte
	buf     []byte
	chars   int
	plain   bool
}

// NewNeedle returns the needle what. It is nil where a match has as many characters as what: in collations in which every character has one weight,
// and of long texts. The needle borrows what.
func NewNeedle(what []byte, id CollationID) *Needle {
	c := id.get().load()
	if c.class != collUCA0900 && c.class != collPadUCA || len(what) > pieceBytes {
		return nil
	}
	return &Needle{c: c, text: what, w: c.appendWeights(nil, what), chars: c.charset.CountChars(what), plain: printable(what)}
}

// Keep makes the needle own its text, which is borrowed from the caller of NewNeedle before.
func (n *Needle) Keep() { n.text = bytes.Clone(n.text) }

// Is reports whether the needle was made of what.
func (n *Needle) Is(what []byte) bool { return bytes.Equal(n.text, what) }

// Empty reports whether the needle has no weights, so that it is everywhere.
func (n *Needle) Empty() bool { return len(n.w) == 0 }

// Weightless reports whether what s, which is not empty, begins with is a character without weights, and its length.
func (n *Needle) Weightless(s []byte) (yes bool, length int) {
	length = n.c.charset.CharPrefix(s, 1)
	if printable(s[:length]) {
		return false, length
	}
	n.buf = n.c.appendWeights(n.buf[:0], s[:length])
	return len(n.buf) == 0, length
}

// Begins reports whether the weights of the needle are the first of s.
func (n *Needle) Begins(s []byte) bool {
	end := n.c.charset.CharPrefix(s, n.chars)
	if n.plain && printable(s[:end]) && end == len(n.text) {
		return CompareStrings(s[:end], n.text, n.c.id) == 0 // which ends at the first difference
	}
	for {
		n.buf = n.c.appendWeights(n.buf[:0], s[:end])
		if fits, whole := n.begins(n.buf); !fits || whole || end == len(s) {
			return fits && whole
		}
		end += n.c.charset.CharPrefix(s[end:], n.c.charset.CountChars(s[:end]))
	}
}

// begins reports whether the weights w and those of the needle begin alike, in each level, and whether w has all of the needle's.
func (n *Needle) begins(w []byte) (fits, whole bool) {
	if n.c.class != collUCA0900 {
		least := min(len(w), len(n.w))
		return bytes.Equal(w[:least], n.w[:least]), len(w) >= len(n.w)
	}
	whole = true
	for level, more := 0, true; more; level++ {
		var want, have []byte
		want, more = levelOf(n.w, level)
		have, _ = levelOf(w, level)
		least := min(len(have), len(want))
		if !bytes.Equal(have[:least], want[:least]) {
			return false, false
		}
		whole = whole && len(have) >= len(want)
	}
	return true, whole
}

// printable reports whether s is printable ASCII, of which every character has one weight.
func printable(s []byte) bool {
	for _, b := range s {
		if b < ' ' || b > '~' {
			return false
		}
	}
	return true
}
