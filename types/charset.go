package types

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"vitess.io/vitess/go/mysql/collations/colldata"
)

// csClass says how a character set is decoded.
type csClass uint8

const (
	csBinary csClass = iota
	csUTF8MB4
	csUTF8MB3
	csASCII
	csSingle // one byte per character, every byte valid
	csMulti  // decoded by the library
)

// Charset is a character set of the library. There is one immutable Charset of each,
// so they are compared by pointer. It is safe for concurrent use.
type Charset struct {
	Name        string
	Description string
	MinLen      int // fewest bytes per character
	MaxLen      int // most bytes per character
	Default     CollationID
	Bin         CollationID

	class csClass
	ascii bool // bytes below 0x80 are always ASCII characters
	lib   colldata.Charset

	// form returns the bytes of the well-formed character at the start of a text, 0 if there is none; nil if what the library decodes is well formed.
	form        func(s []byte) int
	wide        func(text string) int // see Wide
	replacement bool                  // of a set of single bytes: U+FFFD is one of its characters
	lower       func(r rune) rune     // nil for Unicode's
	upper       func(r rune) rune
}

// charsetDescriptions are the texts of SHOW CHARACTER SET.
var charsetDescriptions = map[string]string{
	"armscii8": "ARMSCII-8 Armenian", "ascii": "US ASCII", "binary": "Binary pseudo charset",
	"cp1250": "Windows Central European", "cp1251": "Windows Cyrillic", "cp1256": "Windows Arabic",
	"cp1257": "Windows Baltic", "cp850": "DOS West European", "cp852": "DOS Central European",
	"cp866": "DOS Russian", "cp932": "SJIS for Windows Japanese", "dec8": "DEC West European",
	"eucjpms": "UJIS for Windows Japanese", "euckr": "EUC-KR Korean", "gb2312": "GB2312 Simplified Chinese",
	"geostd8": "GEOSTD8 Georgian", "greek": "ISO 8859-7 Greek", "hebrew": "ISO 8859-8 Hebrew",
	"hp8": "HP West European", "keybcs2": "DOS Kamenicky Czech-Slovak", "koi8r": "KOI8-R Relcom Russian",
	"koi8u": "KOI8-U Ukrainian", "latin1": "cp1252 West European", "latin2": "ISO 8859-2 Central European",
	"latin5": "ISO 8859-9 Turkish", "latin7": "ISO 8859-13 Baltic", "macce": "Mac Central European",
	"macroman": "Mac West European", "sjis": "Shift-JIS Japanese", "swe7": "7bit Swedish",
	"ucs2": "UCS-2 Unicode", "ujis": "EUC-JP Japanese", "utf16": "UTF-16 Unicode",
	"utf16le": "UTF-16LE Unicode", "utf32": "UTF-32 Unicode", "utf8mb3": "UTF-8 Unicode", "utf8mb4": "UTF-8 Unicode",
}

func newCharset(lib colldata.Charset) *Charset {
	cs := &Charset{Name: lib.Name(), MinLen: 1, MaxLen: lib.MaxWidth(), lib: lib, ascii: true}
	cs.Description = charsetDescriptions[cs.Name]
	switch cs.Name {
	case "binary":
		cs.class, cs.ascii = csBinary, false
	case "utf8mb4":
		cs.class = csUTF8MB4
	case "utf8mb3":
		cs.class = csUTF8MB3
	case "ascii":
		cs.class = csASCII
	case "ucs2", "utf16", "utf16le":
		cs.class, cs.ascii, cs.MinLen = csMulti, false, 2
	case "utf32":
		cs.class, cs.ascii, cs.MinLen = csMulti, false, 4
	case "sjis", "cp932":
		cs.class, cs.wide = csMulti, wideOf(sjisForm)
	case "latin1":
		cs.class, cs.lower, cs.upper = csSingle, latin1Case(unicode.ToLower), latin1Case(unicode.ToUpper)
	case "swe7":
		cs.class, cs.ascii = csSingle, false
	default:
		cs.class = csMulti
		if cs.MaxLen == 1 {
			cs.class = csSingle
		}
	}
	return cs
}

// latin1Case is the letter case that MySQL has in latin1: that of ISO 8859-1, and not of the letters that Windows has between 0x80 and 0x9F.
func latin1Case(f func(rune) rune) func(rune) rune {
	return func(r rune) rune {
		if other := f(r); r <= 0xFF && other <= 0xFF {
			return other
		}
		return r
	}
}

// LookupCharset finds a character set by name in any case. utf8 is utf8mb3, as in
// MySQL 8.0. Its error is 1115.
func LookupCharset(name string) (*Charset, error) {
	n := strings.ToLower(name)
	if n == "utf8" {
		n = "utf8mb3"
	}
	for _, cs := range registry().charsets {
		if cs.Name == n {
			return cs, nil
		}
	}
	return nil, Errorf(ErUnknownCharacterSet, name)
}

// Charsets returns all character sets ordered by name. The slice must not be written.
func Charsets() []*Charset { return registry().charsets }

// isASCII reports whether s has no byte above 0x7F.
func isASCII(s []byte) bool {
	for len(s) >= 8 {
		w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		if w&0x8080808080808080 != 0 {
			return false
		}
		s = s[8:]
	}
	for _, b := range s {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// charLen returns the bytes of the first character of s, which is not empty,
// and whether it is valid. An invalid byte counts as a character of one byte.
func (cs *Charset) charLen(s []byte) (n int, ok bool) {
	switch cs.class {
	case csBinary, csSingle:
		return 1, true
	case csASCII:
		return 1, s[0] < utf8.RuneSelf
	case csUTF8MB4, csUTF8MB3:
		if s[0] < utf8.RuneSelf {
			return 1, true
		}
		r, n := utf8.DecodeRune(s)
		if r == utf8.RuneError && n <= 1 || n == 4 && cs.class == csUTF8MB3 {
			return 1, false
		}
		return n, true
	}
	if cs.ascii && s[0] < utf8.RuneSelf {
		return 1, true
	}
	if cs.form != nil {
		n = cs.form(s)
		return max(n, 1), n > 0
	}
	if len(s) < cs.MinLen {
		return len(s), false
	}
	r, n := cs.lib.DecodeRune(s)
	if r > unicode.MaxRune || cs.MinLen == 4 && utf16.IsSurrogate(r) {
		return min(max(n, cs.MinLen), len(s)), false
	}
	if r == utf8.RuneError && !cs.isReplacement(s, n) {
		return min(max(n, cs.MinLen), len(s)), false
	}
	return n, true
}

// isReplacement reports whether s begins with an encoded U+FFFD of n bytes, which the
// library also returns for errors.
func (cs *Charset) isReplacement(s []byte, n int) bool {
	var buf [4]byte
	w := cs.lib.EncodeRune(buf[:], utf8.RuneError)
	return w > 0 && w == n && bytes.HasPrefix(s, buf[:w])
}

// ValidPrefix returns the length of the longest prefix of s that consists of complete,
// valid characters.
func (cs *Charset) ValidPrefix(s []byte) int {
	switch cs.class {
	case csBinary, csSingle:
		return len(s)
	case csUTF8MB4:
		if utf8.Valid(s) {
			return len(s)
		}
	default:
		if cs.ascii && isASCII(s) {
			return len(s)
		}
	}
	i := 0
	for i < len(s) {
		n, ok := cs.charLen(s[i:])
		if !ok {
			return i
		}
		i += n
	}
	return i
}

// Align returns s with zero bytes in front of it up to a multiple of MinLen, as MySQL
// reads binary strings (_utf16 0x61 is 'a'). It is s itself if none are needed.
func (cs *Charset) Align(s []byte) []byte {
	if over := len(s) % cs.MinLen; over != 0 {
		return append(make([]byte, cs.MinLen-over, cs.MinLen-over+len(s)), s...)
	}
	return s
}

// notFromBytesShown is how many bytes error 1300 shows.
const notFromBytesShown = 3

// InvalidString returns error 1300 for bytes that are not valid in the character set;
// bad begins with the first of them.
func (cs *Charset) InvalidString(bad []byte) *Error {
	return Errorf(ErInvalidCharacterString, cs.Name, fmt.Sprintf("%X", bad[:min(len(bad), notFromBytesShown)]))
}

// FromBytes reads bytes as text of the character set, as CONVERT and CAST do. If they are not valid there is warning 1300, and the text is what stands
// before the first that is not; in strict mode ok is false, for NULL.
func (cs *Charset) FromBytes(ctx *Context, b []byte) (text []byte, ok bool) {
	b = cs.Align(b)
	n := cs.ValidPrefix(b)
	if n == len(b) {
		return b, true
	}
	ctx.AddError(LevelWarning, cs.InvalidString(b[n:]))
	return b[:n], ctx == nil || ctx.SQLMode&ModeStrict == 0
}

// Valid reports whether s is well formed.
func (cs *Charset) Valid(s []byte) bool { return cs.ValidPrefix(s) == len(s) }

// CountChars returns the number of characters of s.
func (cs *Charset) CountChars(s []byte) int {
	switch cs.class {
	case csBinary, csSingle, csASCII:
		return len(s)
	case csUTF8MB4, csUTF8MB3:
		return utf8.RuneCountInString(stringOf(s)) // utf8.RuneCount copies s
	}
	n := 0
	for i := 0; i < len(s); n++ {
		w, _ := cs.charLen(s[i:])
		i += w
	}
	return n
}

// CharPrefix returns the number of bytes of the first n characters of s, or
// len(s) if it has fewer.
func (cs *Charset) CharPrefix(s []byte, n int) int {
	if n >= len(s) {
		return len(s) // A character has at least one byte.
	}
	if cs.class == csBinary || cs.class == csSingle || cs.class == csASCII {
		return max(n, 0)
	}
	i := 0
	for ; n > 0 && i < len(s); n-- {
		if cs.ascii && s[i] < utf8.RuneSelf {
			i++
			continue
		}
		w, _ := cs.charLen(s[i:])
		i += w
	}
	return i
}

// decode returns the code point of the first character of s and its bytes;
// ok is false for an invalid one.
func (cs *Charset) decode(s []byte) (r rune, n int, ok bool) {
	switch cs.class {
	case csBinary:
		return rune(s[0]), 1, true
	case csUTF8MB4, csUTF8MB3:
		r, n = utf8.DecodeRune(s)
		return r, n, !(r == utf8.RuneError && n <= 1)
	case csASCII:
		return rune(s[0]), 1, s[0] < utf8.RuneSelf
	}
	n, ok = cs.charLen(s)
	if !ok {
		return utf8.RuneError, n, false
	}
	r, _ = cs.lib.DecodeRune(s)
	if uint32(r) > utf8.MaxRune { // utf32 has room for more, and form admits codes without a character
		return utf8.RuneError, n, false
	}
	return r, n, r != utf8.RuneError || cs.class != csSingle || cs.replacement
}

// appendRune appends r in the character set; ok is false if that does not have it.
func (cs *Charset) appendRune(dst []byte, r rune) (out []byte, ok bool) {
	switch cs.class {
	case csUTF8MB4:
		return utf8.AppendRune(dst, r), true
	case csUTF8MB3:
		if r > 0xFFFF {
			return dst, false
		}
		return utf8.AppendRune(dst, r), true
	case csASCII:
		if r >= utf8.RuneSelf {
			return dst, false
		}
		return append(dst, byte(r)), true
	}
	var buf [4]byte
	n := cs.lib.EncodeRune(buf[:], r)
	if n <= 0 {
		return dst, false
	}
	return append(dst, buf[:n]...), true
}

// ConvertCharset appends s converted from one character set to another. Characters
// that the target does not have, and invalid ones, become '?'; bad counts those. To
// and from binary, the bytes are copied.
func ConvertCharset(dst, s []byte, from, to *Charset) (out []byte, bad int) {
	if sameBytes(s, from, to) {
		return append(dst, s...), 0
	}
	for len(s) > 0 {
		r, n, ok := from.decode(s)
		s = s[n:]
		if ok {
			if dst, ok = to.appendRune(dst, r); ok {
				continue
			}
		}
		bad++
		dst, _ = to.appendRune(dst, '?')
	}
	return dst, bad
}

// SameBytes reports whether every text has the same bytes in both character sets, so
// that it needs no conversion.
func SameBytes(from, to *Charset) bool {
	return from == to || from.class == csBinary || to.class == csBinary ||
		from.class == csUTF8MB3 && to.class == csUTF8MB4
}

// sameBytes reports whether s has the same bytes in both character sets.
func sameBytes(s []byte, from, to *Charset) bool {
	return SameBytes(from, to) || from.ascii && to.ascii && isASCII(s)
}

// AppendLower appends s, which is in the character set of c, in lower case. Binary
// strings stay as they are.
func AppendLower(dst, s []byte, c CollationID) []byte {
	cs := c.Charset()
	if cs.lower != nil {
		return appendMapped(dst, s, cs, cs.lower)
	}
	return appendMapped(dst, s, cs, unicode.ToLower)
}

// AppendUpper is AppendLower for upper case.
func AppendUpper(dst, s []byte, c CollationID) []byte {
	cs := c.Charset()
	if cs.upper != nil {
		return appendMapped(dst, s, cs, cs.upper)
	}
	return appendMapped(dst, s, cs, unicode.ToUpper)
}

func appendMapped(dst, s []byte, cs *Charset, f func(rune) rune) []byte {
	if cs.class == csBinary {
		return append(dst, s...)
	}
	for len(s) > 0 {
		r, n, ok := cs.decode(s)
		if mapped := f(r); ok && mapped != r { // a character may have several codes
			var fits bool
			if dst, fits = cs.appendRune(dst, mapped); fits {
				s = s[n:]
				continue
			}
		}
		dst = append(dst, s[:n]...)
		s = s[n:]
	}
	return dst
}

// InUTF8 converts text to utf8mb4, which the catalog and variables have.
func InUTF8(text string, from *Charset) string {
	if to := DefaultCollation.Charset(); !SameBytes(from, to) {
		out, _ := ConvertCharset(nil, []byte(text), from, to)
		return string(out)
	}
	return text
}

// LeadBytes returns how many bytes a character has whose first byte is lead, 0 if no
// character begins with it. It does not look at the other bytes.
func (cs *Charset) LeadBytes(lead byte) int {
	in := func(from, to byte) bool { return lead >= from && lead <= to }
	pair := func(is bool) int {
		if is {
			return 2
		}
		return 1
	}
	switch cs.class {
	case csBinary, csSingle, csASCII:
		return 1
	case csUTF8MB4, csUTF8MB3:
		switch {
		case lead < utf8.RuneSelf:
			return 1
		case in(0xc2, 0xdf):
			return 2
		case in(0xe0, 0xef):
			return 3
		case in(0xf0, 0xf7) && cs.class == csUTF8MB4:
			return 4
		}
		return 0
	}
	switch cs.Name {
	case "sjis", "cp932":
		return pair(in(0x81, 0x9f) || in(0xe0, 0xfc))
	case "euckr":
		return pair(in(0x81, 0xfe))
	case "gb2312":
		return pair(in(0xa1, 0xf7))
	case "gbk", "gb18030":
		return pair(gbLead(lead)) // one of four bytes begins like one of two, see StartBytes
	case "big5":
		return pair(big5Lead(lead))
	case "ujis", "eucjpms":
		if lead == 0x8f {
			return 3
		}
		return pair(lead == 0x8e || in(0xa1, 0xfe))
	}
	return 1
}

// StartBytes is LeadBytes of the first byte of s, which is not empty. In gb18030 it looks at the second, too.
func (cs *Charset) StartBytes(s []byte) int {
	if cs.MaxLen == 4 && len(s) > 1 && cs.Name == "gb18030" && gbLead(s[0]) {
		switch {
		case gbDigit(s[1]):
			return 4
		case gbTrail(s[1]) < 0:
			return 0
		}
	}
	return cs.LeadBytes(s[0])
}

// FromUTF8 converts a name or message into a character set, nil for none. Those of ASCII stay as they are, and so do those for character sets without
// single bytes.
func FromUTF8(text string, to *Charset) string {
	from := DefaultCollation.Charset()
	if to == nil || to.MinLen > 1 || SameBytes(from, to) || strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return text
	}
	out, _ := ConvertCharset(nil, []byte(text), from, to)
	return string(out)
}
