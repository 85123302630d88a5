package types

import (
	"unicode/utf8"

	"vitess.io/vitess/go/mysql/collations/colldata"
)

// noRune is what the sets of this file decode a well-formed code to that is no character.
const noRune = -1

// gbkCharset, big5Charset, gb18030Charset and thaiCharset are the character sets that the library does not have, or not as MySQL has them.
type (
	gbkCharset     struct{}
	big5Charset    struct{}
	gb18030Charset struct{}
	thaiCharset    struct{}
)

// ownCharsets are these sets with what the library says of the others.
var ownCharsets = []struct {
	lib          colldata.Charset
	description  string
	def, bin     CollationID
	form         func(s []byte) int // bytes of the well-formed character at the start of s, 0 if there is none
	lower, upper func(r rune) rune
}{
	{gbkCharset{}, "GBK Simplified Chinese", 28, 87, gbkForm, caseOf(ofGBK, false), caseOf(ofGBK, true)},
	{big5Charset{}, "Big5 Traditional Chinese", 1, 84, big5Form, caseOf(ofBig5, false), caseOf(ofBig5, true)},
	{gb18030Charset{}, "China National Standard GB18030", 248, 249, gb18030Form, caseOf(ofGB18030, false), caseOf(ofGB18030, true)},
	{thaiCharset{}, "TIS620 Thai", 18, 89, nil, nil, nil},
}

func newOwnCharset(i int) *Charset {
	own := &ownCharsets[i]
	cs := newCharset(own.lib)
	cs.Description, cs.Default, cs.Bin = own.description, own.def, own.bin
	cs.lower, cs.upper = own.lower, own.upper
	if own.form != nil {
		cs.form, cs.wide = own.form, wideOf(own.form)
	}
	cs.replacement = own.form == nil
	return cs
}

// Wide returns what syntax.Options.Wide wants, nil for a character set of which no character of several bytes has one of ASCII.
func (cs *Charset) Wide() func(text string) int { return cs.wide }

func wideOf(form func(s []byte) int) func(text string) int {
	return func(text string) int { return max(form(bytesOf(text)), 1) }
}

// sjisForm is for sjis and cp932.
func sjisForm(s []byte) int {
	switch c := s[0]; {
	case c < utf8.RuneSelf || c >= 0xA1 && c <= 0xDF:
		return 1
	case len(s) >= 2 && (c >= 0x81 && c <= 0x9F || c >= 0xE0 && c <= 0xFC) && (s[1] >= 0x40 && s[1] <= 0x7E || s[1] >= 0x80 && s[1] <= 0xFC):
		return 2
	}
	return 0
}

// caseOf returns the letter case of a character set, which has fewer letters with another case than Unicode.
func caseOf(set int, upper bool) func(r rune) rune {
	return func(r rune) rune {
		of := tables().lower[set]
		if upper {
			of = tables().upper[set]
		}
		if other, ok := of[r]; ok {
			return other
		}
		return r
	}
}

// gbTrail and big5Trail return the number of a trailing byte among those of gbk and gb18030, or of big5, -1 if it is none.
func gbTrail(c byte) int {
	switch {
	case c >= 0x40 && c <= 0x7E:
		return int(c) - 0x40
	case c >= 0x80 && c <= 0xFE:
		return int(c) - 0x41
	}
	return -1
}

func big5Trail(c byte) int {
	switch {
	case c >= 0x40 && c <= 0x7E:
		return int(c) - 0x40
	case c >= 0xA1 && c <= 0xFE:
		return int(c) - 0xA1 + 0x3F
	}
	return -1
}

func gbLead(c byte) bool   { return c >= 0x81 && c <= 0xFE }
func gbDigit(c byte) bool  { return c >= '0' && c <= '9' }
func big5Lead(c byte) bool { return c >= 0xA1 && c <= 0xF9 }

func gbkForm(s []byte) int {
	switch {
	case s[0] < utf8.RuneSelf:
		return 1
	case len(s) >= 2 && gbLead(s[0]) && gbTrail(s[1]) >= 0:
		return 2
	}
	return 0
}

func big5Form(s []byte) int {
	switch {
	case s[0] < utf8.RuneSelf:
		return 1
	case len(s) >= 2 && big5Lead(s[0]) && big5Trail(s[1]) >= 0:
		return 2
	}
	return 0
}

func gb18030Form(s []byte) int {
	if n := gbkForm(s); n > 0 {
		return n
	}
	if len(s) >= 4 && gbLead(s[0]) && gbDigit(s[1]) && gbLead(s[2]) && gbDigit(s[3]) {
		return 4
	}
	return 0
}

// gbNumber and big5Number return the number of a well-formed two-byte code.
func gbNumber(s []byte) int   { return int(s[0]-0x81)*190 + gbTrail(s[1]) }
func big5Number(s []byte) int { return int(s[0]-0xA1)*157 + big5Trail(s[1]) }

// gbFourNumber returns the number of a well-formed four-byte code.
func gbFourNumber(s []byte) int {
	return ((int(s[0]-0x81)*10+int(s[1]-'0'))*126+int(s[2]-0x81))*10 + int(s[3]-'0')
}

// gbSupplement is the number of the four-byte code of U+10000; those of the other planes follow.
const gbSupplement = 189000

func putGB(dst []byte, number int) int {
	dst[0], dst[1] = byte(number/190)+0x81, byte(number%190)+0x40
	if dst[1] >= 0x7F {
		dst[1]++
	}
	return 2
}

func (gbkCharset) Name() string                      { return "gbk" }
func (gbkCharset) SupportsSupplementaryChars() bool  { return false }
func (gbkCharset) IsSuperset(colldata.Charset) bool  { return false }
func (gbkCharset) MaxWidth() int                     { return 2 }
func (big5Charset) Name() string                     { return "big5" }
func (big5Charset) SupportsSupplementaryChars() bool { return false }
func (big5Charset) IsSuperset(colldata.Charset) bool { return false }
func (big5Charset) MaxWidth() int                    { return 2 }

func (gb18030Charset) Name() string                     { return "gb18030" }
func (gb18030Charset) SupportsSupplementaryChars() bool { return true }
func (gb18030Charset) IsSuperset(colldata.Charset) bool { return false }
func (gb18030Charset) MaxWidth() int                    { return 4 }

func (thaiCharset) Name() string                     { return "tis620" }
func (thaiCharset) SupportsSupplementaryChars() bool { return false }
func (thaiCharset) IsSuperset(colldata.Charset) bool { return false }
func (thaiCharset) MaxWidth() int                    { return 1 }

// DecodeRune returns the code point of the first character of s and its bytes: noRune for a code without one, U+FFFD for what is no code.
func (gbkCharset) DecodeRune(s []byte) (rune, int) {
	switch gbkForm(s) {
	case 1:
		return rune(s[0]), 1
	case 2:
		t, n := tables(), gbNumber(s)
		if !t.gbk[n] {
			return noRune, 2
		}
		return rune(t.gb[n]), 2
	}
	return utf8.RuneError, 1
}

// EncodeRune writes a character to dst and returns its bytes, 0 if the set does not have it.
func (gbkCharset) EncodeRune(dst []byte, r rune) int {
	switch {
	case uint32(r) < utf8.RuneSelf:
		dst[0] = byte(r)
		return 1
	case uint32(r) <= 0xFFFF:
		t := tables()
		if n := int(t.gbCode[r]) - 1; n >= 0 && t.gbk[n] {
			return putGB(dst, n)
		}
	}
	return 0
}

// DecodeRune is that of gbkCharset.
func (big5Charset) DecodeRune(s []byte) (rune, int) {
	switch big5Form(s) {
	case 1:
		return rune(s[0]), 1
	case 2:
		point := tables().big5[big5Number(s)]
		if point == 0 {
			return noRune, 2
		}
		return rune(point), 2
	}
	return utf8.RuneError, 1
}

// EncodeRune is that of gbkCharset.
func (big5Charset) EncodeRune(dst []byte, r rune) int {
	switch {
	case uint32(r) < utf8.RuneSelf:
		dst[0] = byte(r)
		return 1
	case uint32(r) <= 0xFFFF:
		if n := int(tables().big5Code[r]) - 1; n >= 0 {
			dst[0], dst[1] = byte(n/157)+0xA1, byte(n%157)+0x40
			if dst[1] >= 0x7F {
				dst[1] += 0xA1 - 0x7F
			}
			return 2
		}
	}
	return 0
}

// DecodeRune is that of gbkCharset.
func (gb18030Charset) DecodeRune(s []byte) (rune, int) {
	switch gb18030Form(s) {
	case 1:
		return rune(s[0]), 1
	case 2:
		return rune(tables().gb[gbNumber(s)]), 2
	case 4:
		n, four := gbFourNumber(s), tables().gbFour
		switch {
		case n < len(four):
			return rune(four[n]), 4
		case n >= gbSupplement && n-gbSupplement <= utf8.MaxRune-0x10000:
			return rune(n-gbSupplement) + 0x10000, 4
		}
		return noRune, 4
	}
	return utf8.RuneError, 1
}

// EncodeRune is that of gbkCharset.
func (gb18030Charset) EncodeRune(dst []byte, r rune) int {
	n := 0
	switch {
	case uint32(r) < utf8.RuneSelf:
		dst[0] = byte(r)
		return 1
	case uint32(r) > utf8.MaxRune || r >= surrogateMin && r <= surrogateMax:
		return 0
	case r > 0xFFFF:
		n = int(r-0x10000) + gbSupplement
	default:
		t := tables()
		if two := int(t.gbCode[r]) - 1; two >= 0 {
			return putGB(dst, two)
		}
		n = int(t.gbFourOf[r])
	}
	dst[0], dst[1], dst[2], dst[3] = byte(n/12600)+0x81, byte(n/1260%10)+'0', byte(n/10%126)+0x81, byte(n%10)+'0'
	return 4
}

// DecodeRune returns U+FFFD for the bytes that are not assigned, as MySQL does.
func (thaiCharset) DecodeRune(s []byte) (rune, int) { return rune(tables().thai[s[0]]), 1 }

// EncodeRune is that of gbkCharset. Of U+FFFD it makes FF.
func (thaiCharset) EncodeRune(dst []byte, r rune) int {
	c, ok := tables().thaiOf[r]
	if !ok {
		return 0
	}
	dst[0] = c
	return 1
}
