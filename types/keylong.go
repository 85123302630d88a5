package types

import (
	"bytes"
	"slices"
)

// AppendKeyPolled is AppendKey for a value that may be as long as a packet, whose weights
// take a second to compute: it works piece by piece and calls poll, which may be nil,
// between them. After an error, which is poll's, dst has a part of the key.
func AppendKeyPolled(dst []byte, v Value, t *Type, desc bool, prefixChars int, poll func() error) ([]byte, error) {
	text := t.IsStringType() && v.K != KindNull
	if len(v.B) <= pieceBytes || !text && v.K != KindJSON || poll == nil {
		return AppendKey(dst, v, t, desc, prefixChars), nil
	}
	start, b, c := len(dst), v.B, t.keyCollation()
	switch {
	case !text:
		made := jsonKeyer{poll: poll}
		if b = made.append(nil, v.B); made.err != nil {
			return dst, made.err
		}
	case prefixChars > 0:
		b = b[:t.Coll.Charset().CharPrefix(b, prefixChars)]
	}
	k := longKey{dst: dst, c: c, poll: poll}
	if err := k.text(b); err != nil {
		return k.dst, err
	}
	if dst = k.dst; desc {
		for at := start; at < len(dst); at += pieceBytes {
			for i, x := range dst[at:min(at+pieceBytes, len(dst))] {
				dst[at+i] = ^x
			}
			if err := poll(); err != nil {
				return dst, err
			}
		}
	}
	return dst, nil
}

// longKey makes the key of one text from its beginning to its end, unlike endWeights, which
// needs all weights and works backwards.
type longKey struct {
	dst    []byte
	c      *collation
	poll   func() error
	spaces int // under PAD SPACE: spaces that are not written yet, see flush
}

func (k *longKey) text(s []byte) error {
	start := len(k.dst)
	if k.c.class != collRaw && k.c.class != collPadRaw {
		k.c.load()
	}
	for level := 0; ; level++ {
		w := weightStream{c: k.c, rest: s, level: level, poll: k.poll}
		for {
			if err := w.fill(); err != nil {
				return err
			}
			if len(w.w) == 0 {
				break
			}
			before := len(k.dst)
			k.add(w.w)
			w.w = nil
			if done := len(s) - len(w.rest); before == start { // append alone would allocate several times the size of the key
				k.dst = slices.Grow(k.dst, (len(k.dst)-start)/done*len(w.rest)+len(w.rest)/8)
			}
		}
		if !w.more {
			break
		}
		k.add([]byte{0, 0})
	}
	k.end()
	if k.dst[start] <= keyGuard {
		k.dst = slices.Insert(k.dst, start, keyGuard)
	}
	return nil
}

// add appends weights as endWeights writes them.
func (k *longKey) add(w []byte) {
	switch k.c.class {
	case collRaw, collUCA0900:
		for {
			zero := bytes.IndexByte(w, rawEscape)
			if zero < 0 {
				k.dst = append(k.dst, w...)
				return
			}
			k.dst = append(append(k.dst, w[:zero+1]...), rawZero)
			w = w[zero+1:]
		}
	case collPadUCA:
		for i := 0; i+2 <= len(w); i += 2 {
			if x := uint16(w[i])<<8 | uint16(w[i+1]); x == k.c.space {
				k.spaces++
			} else {
				k.flush(x < k.c.space)
				k.dst = append(k.dst, w[i], w[i+1])
			}
		}
	default:
		space := k.space()
		for _, x := range w {
			if x == space {
				k.spaces++
			} else {
				k.flush(x < space)
				k.dst = append(k.dst, x)
			}
		}
	}
}

// flush appends the spaces so far, with marks that say whether the weight that follows them is
// less than the space or greater.
func (k *longKey) flush(before bool) {
	mark := byte(padAfter)
	if before {
		mark = padBefore
	}
	for ; k.spaces > 0; k.spaces-- {
		k.oneSpace()
		k.dst = append(k.dst, mark)
	}
}

func (k *longKey) oneSpace() {
	if k.c.class == collPadUCA {
		k.dst = append(k.dst, byte(k.c.space>>8), byte(k.c.space))
	} else {
		k.dst = append(k.dst, k.space())
	}
}

func (k *longKey) space() byte {
	if k.c.class == collPadTable {
		return byte(k.c.space)
	}
	return ' '
}

// end appends the end of the key. Spaces at the end of the text are not part of it.
func (k *longKey) end() {
	if k.c.class == collRaw || k.c.class == collUCA0900 {
		k.dst = append(k.dst, rawEscape, rawEnd)
		return
	}
	k.oneSpace()
	k.dst = append(k.dst, padEnd)
}

// AppendWeightStringPolled is AppendWeightString for a text that may be as long as a packet.
// It calls poll, which may be nil, and returns its error.
func AppendWeightStringPolled(dst, s []byte, id CollationID, poll func() error) ([]byte, error) {
	if len(s) <= pieceBytes || poll == nil {
		return AppendWeightString(dst, s, id), nil
	}
	c := id.get().load()
	if c.class != collUCA0900 {
		for len(s) > 0 {
			if err := poll(); err != nil {
				return dst, err
			}
			n := c.piece(s)
			dst, s = AppendWeightString(dst, s[:n], id), s[n:]
		}
		return dst, nil
	}
	for level := 0; ; level++ {
		w := weightStream{c: c, rest: s, level: level, poll: poll}
		for {
			if err := w.fill(); err != nil {
				return dst, err
			}
			if len(w.w) == 0 {
				break
			}
			dst, w.w = append(dst, w.w...), nil
		}
		if !w.more {
			return dst, nil
		}
		dst = append(dst, 0, 0)
	}
}
