package types

import "unicode/utf8"

// pieceBytes is how long a piece of a long text is. What is done with one takes a few milliseconds at most.
const pieceBytes = 256 << 10

// Pieces calls do for one piece of s after the other, each of whole characters, until it returns an error. Whoever does something that takes time
// with texts as long as a packet looks at the interrupt between them.
func (cs *Charset) Pieces(s []byte, do func(piece []byte) error) error {
	for len(s) > 0 {
		n := cs.piece(s)
		if err := do(s[:n:n]); err != nil {
			return err
		}
		s = s[n:]
	}
	return nil
}

// piece returns how many bytes the first piece of s has. What is no valid text is cut where decode would cut it.
func (cs *Charset) piece(s []byte) int {
	if len(s) <= pieceBytes {
		return len(s)
	}
	switch cs.class {
	case csUTF8MB4, csUTF8MB3:
		for n := pieceBytes; n > pieceBytes-utf8.UTFMax; n-- {
			if utf8.RuneStart(s[n]) {
				return n
			}
		}
		return pieceBytes // no character is so long
	case csMulti:
		n := 0
		for n < pieceBytes {
			size, _ := cs.charLen(s[n:])
			n += size
		}
		return n
	}
	return pieceBytes
}

// converted is ConvertCharset of a text that may be long: its length is found out first, so that it takes no more than that, once.
func (c *Context) converted(s []byte, from, to *Charset) (out []byte, err error) {
	if len(s) <= pieceBytes {
		out, _ = ConvertCharset(nil, s, from, to)
		return out, nil
	}
	var part []byte
	length := 0
	measure := func(piece []byte) error {
		part, _ = ConvertCharset(part[:0], piece, from, to)
		length += len(part)
		return c.poll()
	}
	if err := from.Pieces(s, measure); err != nil {
		return nil, err
	}
	if err := c.fits(length); err != nil {
		return nil, err
	}
	out = make([]byte, 0, length)
	err = from.Pieces(s, func(piece []byte) error {
		out, _ = ConvertCharset(out, piece, from, to)
		return c.poll()
	})
	return out, err
}
