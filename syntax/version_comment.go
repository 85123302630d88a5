package syntax

import (
	"strings"
	"unicode/utf8"
)

// CodeVersionGlued is the warning of a version comment whose number is followed at once by its text.
const CodeVersionGlued = 4164

const versionGlued = "Immediately starting the version comment after the version number is deprecated and may change behavior in a future release." +
	" Please insert a white-space character after the version number."

// versionMark reads what follows /*! in text: five digits, or six if white space follows them, are the first version that reads the comment. end is
// the offset of the comment's own text, glued that no white space precedes it.
func versionMark(text string) (version, end int, glued bool) {
	for end < len(text) && end < 6 && charClass[text[end]]&classDigit != 0 {
		end++
	}
	if end < 5 {
		return 0, 0, false
	}
	if end == 6 && (len(text) == 6 || !isSpace(text[6])) {
		end = 5
	}
	for _, c := range []byte(text[:end]) {
		version = version*10 + int(c-'0')
	}
	return version, end, end < len(text) && !isSpace(text[end])
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// skipVersion handles /*! at pos: it enters a version comment whose number is low enough, and skips another.
func (l *lexer) skipVersion() (token, bool) {
	start := l.pos
	version, end, glued := versionMark(l.text[start+3:])
	if glued && l.notices != nil && len(*l.notices) < noticesMax {
		*l.notices = append(*l.notices, Notice{CodeVersionGlued, versionGlued})
	}
	if version <= l.serverVersion && !l.inVersion {
		l.pos += 3 + end
		l.inVersion = true
		return token{}, true
	}
	return l.skipNested(start)
}

// WithoutVersions is part of a statement without its version comments, as far as this version does not read them, and without the marks of those that
// it reads: MySQL names a column by what is left.
func WithoutVersions(text string, opt Options) string {
	if !strings.Contains(text, "/*!") {
		return text
	}
	var l lexer
	l.init(text, &opt)
	out, inVersion := make([]byte, 0, len(text)), false
	for l.pos < len(text) {
		from := l.pos
		switch c := text[from]; {
		case c == '/' && l.peekByte(1) == '*' && l.peekByte(2) == '!':
			was := l.inVersion
			l.skipVersion()
			inVersion = inVersion || l.inVersion && !was
			continue
		case c == '*' && inVersion && l.peekByte(1) == '/':
			inVersion, l.inVersion = false, false
			l.pos += 2
			continue
		case c == '\'' || c == '"' || c == '`':
			l.skipQuoted(c, c != '`' && !opt.NoBackslashEscapes)
		case c == '/' && l.peekByte(1) == '*':
			l.skipComment()
		case c == '#', c == '-' && l.peekByte(1) == '-' && l.dashComment():
			l.skipLine()
		default:
			l.pos++
		}
		out = append(out, text[from:l.pos]...)
	}
	return string(out)
}

// skipQuoted advances past the string or name that begins at pos; a doubled quote is two of them here.
func (l *lexer) skipQuoted(quote byte, escapes bool) {
	for l.pos++; l.pos < len(l.text); l.pos++ {
		switch {
		case l.text[l.pos] >= utf8.RuneSelf && l.escapes.wide != nil:
			l.pos += l.escapes.wide(l.text[l.pos:]) - 1
		case l.text[l.pos] == quote:
			l.pos++
			return
		case l.text[l.pos] == '\\' && escapes:
			l.pos++
		}
	}
	l.pos = min(l.pos, len(l.text))
}
