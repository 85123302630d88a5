package types

import "unicode/utf8"

// pieceBytes is the length of a piece of a long text, which takes a few milliseconds to
// process.
const pieceBytes = 256 << 10

// Pieces calls do with one piece of s after the other, each of complete characters,
// until it returns an error. Functions that process long texts poll the interrupt
// between pieces.
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

// piece returns the length of the first piece of s in bytes. Bytes that are not valid are
// not separated from each other if decode would take them for one character.
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
		return pieceBytes // invalid: no character has so many continuation bytes
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

// converted is ConvertCharset for a text that may be long. It computes the length of the
// result first, so that only that much is allocated, and polls the interrupt.
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
