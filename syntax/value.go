package syntax

import (
	"strings"
	"unicode/utf8"
)

// stringValue decodes the token's string, which begins with its quote at pos
// (after the N of N'x' or the @ of @'x', which skip counts).
func stringValue(text string, t token, skip int32, esc escapes) string {
	body := text[t.pos+skip+1 : t.end-1]
	if t.plain {
		return body
	}
	return string(appendUnescaped(make([]byte, 0, len(body)), body, text[t.pos+skip], esc))
}

// appendUnescaped appends the decoded content of a string literal.
func appendUnescaped(dst []byte, body string, quote byte, esc escapes) []byte {
	for i := 0; i < len(body); i++ {
		c := body[i]
		switch {
		case c >= utf8.RuneSelf && esc.wide != nil:
			n := esc.wide(body[i:])
			dst = append(dst, body[i:i+n]...)
			i += n - 1
		case c == quote:
			i++ // The quote was doubled.
			dst = append(dst, c)
		case c == '\\' && !esc.off && i+1 < len(body):
			i++
			dst = appendEscape(dst, body[i])
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// appendEscape appends what a backslash followed by c stands for. \% and \_
// keep their backslash, because they matter to LIKE.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '0':
		return append(dst, 0)
	case 'b':
		return append(dst, '\b')
	case 'n':
		return append(dst, '\n')
	case 'r':
		return append(dst, '\r')
	case 't':
		return append(dst, '\t')
	case 'Z':
		return append(dst, 26)
	case '%', '_':
		return append(dst, '\\', c)
	}
	return append(dst, c)
}

// quotedName decodes a quoted identifier.
func quotedName(text string, t token, skip int32) string {
	body := text[t.pos+skip+1 : t.end-1]
	if t.plain {
		return body
	}
	quote := text[t.pos+skip : t.pos+skip+1]
	return strings.ReplaceAll(body, quote+quote, quote)
}

// userVarName decodes @name in its four spellings.
func userVarName(text string, t token, esc escapes) string {
	if t.end == t.pos+1 {
		return ""
	}
	switch text[t.pos+1] {
	case '\'', '"':
		return stringValue(text, t, 1, esc)
	case '`':
		return quotedName(text, t, 1)
	}
	return text[t.pos+1 : t.end]
}

// digitsOf returns the digits of a hex or bit literal in either spelling.
func digitsOf(text string, t token) string {
	s := text[t.pos+2 : t.end]
	return strings.TrimSuffix(s, "'")
}

// introducers are the character sets for which _name is an introducer.
var introducers = map[string]bool{}

func init() {
	for _, name := range strings.Fields(`armscii8 ascii big5 binary cp1250 cp1251 cp1256 cp1257 cp850 cp852
		cp866 cp932 dec8 eucjpms euckr gb18030 gb2312 gbk geostd8 greek hebrew hp8 keybcs2 koi8r koi8u latin1
		latin2 latin5 latin7 macce macroman sjis swe7 tis620 ucs2 ujis utf16 utf16le utf32 utf8 utf8mb3 utf8mb4`) {
		introducers[name] = true
	}
}

// introducerOf returns the character set that a word such as _utf8mb4 names,
// or "" when it is an ordinary name.
func introducerOf(word string) string {
	if len(word) < 2 || word[0] != '_' {
		return ""
	}
	if introducers[word[1:]] {
		return word[1:]
	}
	if lower := strings.ToLower(word[1:]); introducers[lower] {
		return word[1:]
	}
	return ""
}
