package types

import "unicode/utf8"

// weights is a weigher by a function.
type weights func(dst, src []byte) []byte

func (f weights) WeightString(dst, src []byte, _ int) []byte { return f(dst, src) }

// ownCollations are the collations that the library does not have. What is not in a formula here is in charsetRecord.
var ownCollations = []struct {
	id      CollationID
	name    string
	charset string
	class   collClass
	weights func(library map[string]*collation) weigher
	shown   weigher
	fold    func() *[256]byte
	entire  bool
}{
	{id: 28, name: "gbk_chinese_ci", charset: "gbk", class: collPadMulti, weights: own(gbkWeights)},
	{id: 87, name: "gbk_bin", charset: "gbk", class: collPadRaw, weights: own(rawWeights)},
	// MySQL compares big5 by code, in indexes too, but WEIGHT_STRING, and ORDER BY without an index, only tell numbers of strokes apart. Here
	// ORDER BY has the order of comparisons.
	{id: 1, name: "big5_chinese_ci", charset: "big5", class: collPadMulti, weights: own(big5Weights), shown: weights(big5Strokes)},
	{id: 84, name: "big5_bin", charset: "big5", class: collPadRaw, weights: own(rawWeights)},
	{id: 248, name: "gb18030_chinese_ci", charset: "gb18030", class: collPadMulti, weights: own(gb18030Weights), shown: weights(gb18030Shown)},
	{id: 249, name: "gb18030_bin", charset: "gb18030", class: collPadRaw, weights: own(rawWeights)},
	{id: 250, name: "gb18030_unicode_520_ci", charset: "gb18030", class: collPadUCA, weights: gb18030Unicode},
	{id: 18, name: "tis620_thai_ci", charset: "tis620", class: collPadMulti, weights: own(thaiWeights), shown: weights(thaiShown),
		fold: func() *[256]byte { return &tables().thaiFold }, entire: true},
	{id: 89, name: "tis620_bin", charset: "tis620", class: collPadRaw, weights: own(rawWeights)},
	{id: 31, name: "latin1_german2_ci", charset: "latin1", class: collPadMulti, weights: own(german2Weights)},
	{id: 2, name: "latin2_czech_cs", charset: "latin2", class: collPadMulti, weights: own(latin2Czech), fold: sameBytesOnly, entire: true},
	{id: 34, name: "cp1250_czech_cs", charset: "cp1250", class: collPadMulti, weights: own(cp1250Czech), shown: weights(cp1250Shown), fold: sameBytesOnly,
		entire: true},
	{id: 76, name: "utf8mb3_tolower_ci", charset: "utf8mb3", class: collPadGeneral, weights: own(toLowerWeights)},
	{id: 159, name: "ucs2_general_mysql500_ci", charset: "ucs2", class: collPadGeneral, weights: oldGeneral("ucs2_general_ci")},
	{id: 223, name: "utf8mb3_general_mysql500_ci", charset: "utf8mb3", class: collPadGeneral, weights: oldGeneral("utf8mb3_general_ci")},
}

// own gives a collation weights that need nothing of the library.
func own(f weights) func(map[string]*collation) weigher {
	return func(map[string]*collation) weigher { return f }
}

func rawWeights(dst, src []byte) []byte { return append(dst, src...) }

// twoByteWeights appends a byte for each ASCII character, and two for the others: weight of their code. A byte that is no character is its own weight.
func twoByteWeights(dst, src []byte, set int, form func(s []byte) int, weight func(t *charsetTables, code []byte) uint16) []byte {
	t := tables()
	for len(src) > 0 {
		n := form(src)
		switch n {
		case 1:
			dst = append(dst, t.ascii[set][src[0]])
		case 2:
			w := weight(t, src)
			dst = append(dst, byte(w>>8), byte(w))
		default:
			n, dst = 1, append(dst, src[0])
		}
		src = src[n:]
	}
	return dst
}

func gbkWeights(dst, src []byte) []byte {
	return twoByteWeights(dst, src, ofGBK, gbkForm, func(t *charsetTables, code []byte) uint16 { return t.gbkWeight[gbNumber(code)] })
}

func big5Weights(dst, src []byte) []byte {
	return twoByteWeights(dst, src, ofBig5, big5Form, func(_ *charsetTables, code []byte) uint16 { return uint16(code[0])<<8 | uint16(code[1]) })
}

// big5Strokes appends the weights of WEIGHT_STRING: characters of as many strokes have the same.
func big5Strokes(dst, src []byte) []byte {
	return twoByteWeights(dst, src, ofBig5, big5Form, func(t *charsetTables, code []byte) uint16 { return t.big5Stroke[big5Number(code)] })
}

// gbWideASCII precedes the weight of the two characters of several bytes whose upper case is ASCII, ı and ſ: they follow all of ASCII and precede all
// others.
const gbWideASCII = 0x80

func gb18030Weights(dst, src []byte) []byte { return appendGB18030(dst, src, true) }
func gb18030Shown(dst, src []byte) []byte   { return appendGB18030(dst, src, false) }

// appendGB18030 appends the weights of gb18030_chinese_ci: a Han character has FFA00000 and its place in the order of Pinyin, any other the code of its
// upper case, in which a number stands for four bytes.
func appendGB18030(dst, src []byte, compared bool) []byte {
	t := tables()
	var code [4]byte
	for len(src) > 0 {
		n := gb18030Form(src)
		if n <= 1 {
			w := src[0]
			if n == 1 {
				w = t.ascii[ofGB18030][w]
			}
			dst, src = append(dst, w), src[1:]
			continue
		}
		s := src[:n]
		src = src[n:]
		r, _ := gb18030Charset{}.DecodeRune(s)
		if r >= 0 && r < hanMax && t.pinyin[r] != 0 {
			dst = appendWeight32(dst, pinyinMin-1+uint32(t.pinyin[r]))
			continue
		}
		if upper, ok := t.upper[ofGB18030][r]; ok {
			s = code[:gb18030Charset{}.EncodeRune(code[:], upper)]
		}
		switch {
		case len(s) == 4:
			dst = appendWeight32(dst, gbFourWeight(s))
		case len(s) == 1 && compared:
			dst = append(dst, gbWideASCII, s[0])
		default:
			dst = append(dst, s...)
		}
	}
	return dst
}

// gbFourWeight returns the weight of a code of four bytes. The very last has the greatest.
func gbFourWeight(s []byte) uint32 {
	const last = ((125*10+9)*126+125)*10 + 9
	n := gbFourNumber(s)
	if n == last {
		return 0xFFFFFFFF
	}
	return 0xFF000000 + uint32(n)
}

func appendWeight32(dst []byte, w uint32) []byte {
	return append(dst, byte(w>>24), byte(w>>16), byte(w>>8), byte(w))
}

// gb18030Unicode returns the weights of the same text in utf8mb4_unicode_520_ci.
func gb18030Unicode(library map[string]*collation) weigher {
	lib := library["utf8mb4_unicode_520_ci"].lib
	return weights(func(dst, src []byte) []byte {
		p := scratch.Get().(*[]byte)
		text := (*p)[:0]
		for len(src) > 0 {
			r, n := gb18030Charset{}.DecodeRune(src)
			if r == noRune || n == 1 && r == utf8.RuneError {
				r = '?'
			}
			text, src = utf8.AppendRune(text, r), src[n:]
		}
		dst = lib.WeightString(dst, text, 0)
		putScratch(p, text)
		return dst
	})
}

// german2Weights appends two weights for ä, ö, ü, ß and their like, as in telephone directories.
func german2Weights(dst, src []byte) []byte {
	t := &tables().german2
	for _, c := range src {
		w := t[c]
		if w > 0xFF {
			dst = append(dst, byte(w>>8))
		}
		dst = append(dst, byte(w))
	}
	return dst
}

func toLowerWeights(dst, src []byte) []byte {
	t := tables().toLower
	for len(src) > 0 {
		r, n := utf8.DecodeRune(src)
		w, ok := t[r]
		if !ok {
			w = uint16(r)
		}
		dst, src = append(dst, byte(w>>8), byte(w)), src[n:]
	}
	return dst
}

// oldGeneral returns the weights of a *_general_ci as they were before MySQL 5.1.24, when ß was not equal to s.
func oldGeneral(general string) func(map[string]*collation) weigher {
	return func(library map[string]*collation) weigher {
		c := library[general]
		return weights(func(dst, src []byte) []byte {
			for len(src) > 0 {
				r, n, ok := c.charset.decode(src)
				if ok && r == 'ß' {
					dst = append(dst, 0, 'ß')
				} else {
					dst = c.lib.WeightString(dst, src[:n:n], 0)
				}
				src = src[n:]
			}
			return dst
		})
	}
}

// The letters of Thai that its order treats specially.
const (
	thaiConsonantMin, thaiConsonantMax = 0xA1, 0xCE
	thaiLeadingMin, thaiLeadingMax     = 0xE0, 0xE4 // vowels that are written before the consonant after which they are spoken
	thaiStep                           = 8          // more than the number of marks
)

// thaiMark returns the place of a mark, which is a tone, a shortening or a silencing, among the marks, 0 if c is none.
func thaiMark(c byte) byte {
	switch {
	case c == 0xEC:
		return 1
	case c >= 0xE7 && c <= 0xEB:
		return c - 0xE7 + 2
	}
	return 0
}

func thaiConsonant(c byte) bool { return c >= thaiConsonantMin && c <= thaiConsonantMax }

// thaiWeights appends a byte for each byte: a leading vowel follows its consonant, ASCII is in lower case, and marks are at the end, where their
// weight tells how many letters precede them: it is greater the earlier they come, modulo 256. That is MySQL's order with its flaw: of several marks
// only the last counts, and the text's last byte stands for each of the others.
func thaiWeights(dst, src []byte) []byte {
	bias, last, marks := byte(256-thaiStep), byte(0), 0
	for i := 0; i < len(src); i++ {
		c := src[i]
		switch {
		case c < utf8.RuneSelf:
			bias -= thaiStep
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
		case c >= thaiLeadingMin && c <= thaiLeadingMax && i+1 < len(src) && thaiConsonant(src[i+1]):
			dst = append(dst, src[i+1], c)
			i++
		case thaiMark(c) > 0:
			marks++
			last = bias + thaiMark(c)
		default:
			if thaiConsonant(c) {
				bias -= thaiStep
			}
			dst = append(dst, c)
		}
	}
	for ; marks > 1; marks-- {
		dst = append(dst, src[len(src)-1])
	}
	if marks > 0 {
		dst = append(dst, last)
	}
	return dst
}

// thaiShown appends the weights of WEIGHT_STRING, which sees spaces instead of what follows a zero byte.
func thaiShown(dst, src []byte) []byte {
	for i, c := range src {
		if c == 0 {
			dst = thaiWeights(dst, src[:i])
			for range src[i:] {
				dst = append(dst, ' ')
			}
			return dst
		}
	}
	return thaiWeights(dst, src)
}
