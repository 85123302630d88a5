package types

import "sync"

// czechUnits is the number of units that the collations of Czech weigh: the bytes, then ch, Ch and CH.
const czechUnits = 256 + 3

// czechSpace is the weight of a space in latin2_czech_cs.
const czechSpace = 2

// sameBytesOnly is the table of bytes that LIKE takes for the same where it takes none but itself.
var sameBytesOnly = sync.OnceValue(func() *[256]byte {
	t := new([256]byte)
	for i := range t {
		t[i] = byte(i)
	}
	return t
})

// czechUnit returns the first unit of a text and its bytes.
func czechUnit(s []byte) (unit, n int) {
	if len(s) > 1 {
		switch string(s[:2]) {
		case "ch":
			return 256, 2
		case "Ch":
			return 257, 2
		case "CH":
			return 258, 2
		}
	}
	return int(s[0]), 1
}

// latin2Czech appends the weights of four passes, parted by 01 and ended by 00, so that there is nothing to pad. The first two, letters and accents, go
// word by word: a word's letters, 02 for the spaces after it, its accents, 02, and the next word. Then follow case, where spaces beside each other have
// one weight, and everything, in which alone punctuation has weights. Spaces at the end have none.
func latin2Czech(dst, src []byte) []byte {
	t := &tables().latin2
	for len(src) > 0 && t[0][src[len(src)-1]] == czechSpace {
		src = src[:len(src)-1]
	}
	for rest := src; ; {
		end := 0
		for end < len(rest) && t[0][rest[end]] != czechSpace {
			end++
		}
		word, mark := rest[:end], byte(czechSpace)
		if end == len(rest) {
			mark = 1
		}
		dst = append(appendLatin2(dst, word, 0), mark)
		dst = append(appendLatin2(dst, word, 1), mark)
		if mark == 1 {
			break
		}
		for t[0][rest[end]] == czechSpace { // a word follows
			end++
		}
		rest = rest[end:]
	}
	dst = append(appendLatin2(dst, src, 2), 1)
	return append(appendLatin2(dst, src, 3), 0)
}

// appendLatin2 appends the weights of one pass.
func appendLatin2(dst, s []byte, pass int) []byte {
	t := &tables().latin2[pass]
	space := false
	for len(s) > 0 {
		unit, n := czechUnit(s)
		s = s[n:]
		w := t[unit]
		again := space && w == czechSpace && pass < 3
		if space = w == czechSpace; w != 0 && !again {
			dst = append(dst, w)
		}
	}
	return dst
}

// cp1250Czech appends the weights of two passes, the second for case, parted and ended by 00. Spaces at the end have none, as in MySQL's
// comparisons; its ORDER BY without an index takes WEIGHT_STRING, in which they have some and nothing parts the passes.
func cp1250Czech(dst, src []byte) []byte {
	src = trimSpaces(src)
	for pass := range 2 {
		dst = append(appendCP1250(dst, src, pass), 0)
	}
	return dst
}

// cp1250Shown appends the weights of WEIGHT_STRING, with those of spaces at the end and without marks.
func cp1250Shown(dst, src []byte) []byte { return appendCP1250(appendCP1250(dst, src, 0), src, 1) }

func appendCP1250(dst, src []byte, pass int) []byte {
	t := &tables().cp1250[pass]
	for len(src) > 0 {
		unit, n := czechUnit(src)
		dst, src = append(dst, t[unit]), src[n:]
	}
	return dst
}
