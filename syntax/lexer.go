package syntax

import "strings"

// lexer splits a statement into tokens. It never allocates: a token is a pair
// of offsets, and values are decoded only when the parser keeps them. The
// struct is copied to remember a position and assigned back to return to it.
type lexer struct {
	text string
	pos  int
	// prevKw is the reserved word of the previous token, after which a hint
	// comment may stand.
	prevKw keyword
	// identEnd is the end of the previous token if that was a name, else -1; a dot
	// at this position separates names and does not begin a number.
	identEnd int
	// afterDot says that the previous token was a dot that qualifies a name, after
	// which even a reserved word is a name.
	afterDot bool
	// inVersion says that the text is within /*! ... */.
	inVersion bool

	ansiQuotes    bool
	escapes       escapes
	serverVersion int
	notices       *[]Notice // of the parser's options
}

// init prepares the lexer for a text.
func (l *lexer) init(text string, opt *Options) {
	version := opt.ServerVersion
	if version == 0 {
		version = DefaultServerVersion
	}
	*l = lexer{
		text: text, identEnd: -1, serverVersion: version,
		ansiQuotes: opt.ANSIQuotes, escapes: opt.escapes(), notices: opt.Notices,
	}
}

// next returns the next token.
func (l *lexer) next() (t token) {
	start := l.pos
	if start < len(l.text) {
		// A single space between tokens is by far the most frequent case.
		if l.text[start] == ' ' {
			l.pos++
		}
	}
	if l.pos < len(l.text) && charClass[l.text[l.pos]]&classIdent == 0 {
		if hint, ok := l.skipSpace(); !ok {
			return hint
		}
	}
	t.pos = int32(l.pos)
	t.spaced = l.pos != start
	if l.pos >= len(l.text) {
		if l.inVersion {
			t.kind = tIllegal
		}
		t.end = t.pos
		return t
	}
	afterDot, prevEnd := l.afterDot, l.identEnd
	l.prevKw, l.identEnd, l.afterDot = kwNone, -1, false
	c := l.text[l.pos]
	if charClass[c]&classIdent != 0 {
		l.lexWord(&t, c, afterDot)
	} else {
		l.lexOther(&t, c, prevEnd)
	}
	t.end = int32(l.pos)
	return t
}

// peekByte returns the byte i places ahead, or 0 past the end.
func (l *lexer) peekByte(i int) byte {
	if l.pos+i < len(l.text) {
		return l.text[l.pos+i]
	}
	return 0
}

// lexWord scans an identifier, keyword, number, or a string with a prefix
// letter (N, X, B).
func (l *lexer) lexWord(t *token, c byte, afterDot bool) {
	start := l.pos
	if !afterDot {
		if charClass[c]&classDigit != 0 {
			if l.lexNumber(t) {
				return
			}
			// It was an identifier that begins with digits.
		} else if l.peekByte(1) == '\'' && l.lexPrefixed(t, c) {
			return
		}
	}
	text, i := l.text, l.pos
	if l.escapes.wide != nil {
		if i = l.wideWord(i); i == l.pos { // a byte that is no letter
			t.kind = tIllegal
			l.pos++
			return
		}
	} else {
		for i < len(text) && charClass[text[i]]&classIdent != 0 {
			i++
		}
	}
	l.pos = i
	t.kind = tWord
	if !afterDot {
		t.kw = lookupKeyword(text[start:i])
		l.prevKw = t.kw
	}
	l.identEnd = i
}

// lexPrefixed scans N'...', X'...' and B'...'.
func (l *lexer) lexPrefixed(t *token, c byte) bool {
	switch c {
	case 'n', 'N':
		l.pos++
		l.lexString(t, '\'', tNString)
		return true
	case 'x', 'X':
		return l.lexDigitString(t, tHex)
	case 'b', 'B':
		return l.lexDigitString(t, tBit)
	}
	return false
}

// lexDigitString scans X'41' or B'01'. As in MySQL, the token is illegal when the
// content is not digits.
func (l *lexer) lexDigitString(t *token, kind tokenKind) bool {
	i := l.pos + 2
	for i < len(l.text) && isDigitOf(kind, l.text[i]) {
		i++
	}
	t.kind = kind
	if i >= len(l.text) || l.text[i] != '\'' || kind == tHex && (i-l.pos)%2 != 0 {
		t.kind = tIllegal
		l.pos++
		return true
	}
	l.pos = i + 1
	return true
}

// isDigitOf reports whether c is a digit of a hex or bit literal.
func isDigitOf(kind tokenKind, c byte) bool {
	if kind == tHex {
		return charClass[c]&classHex != 0
	}
	return c == '0' || c == '1'
}

// lexNumber scans a number that begins with a digit. It returns false, with
// the position unchanged, when the text is an identifier such as 1st.
func (l *lexer) lexNumber(t *token) bool {
	text, i := l.text, l.pos
	if text[i] == '0' && i+2 < len(text) && (text[i+1] == 'x' || text[i+1] == 'b') {
		if l.lexZeroPrefixed(t) {
			return true
		}
	}
	for i < len(text) && charClass[text[i]]&classDigit != 0 {
		i++
	}
	t.kind = tInt
	if i < len(text) && text[i] == '.' {
		t.kind = tDecimal
		i++
		for i < len(text) && charClass[text[i]]&classDigit != 0 {
			i++
		}
	}
	if end := exponentEnd(text, i); end > i {
		t.kind = tFloat
		i = end
	} else if t.kind == tInt && i < len(text) && charClass[text[i]]&classIdent != 0 {
		return false
	}
	l.pos = i
	return true
}

// lexZeroPrefixed scans 0x41 and 0b01. Followed by other identifier characters
// they are names, as in MySQL.
func (l *lexer) lexZeroPrefixed(t *token) bool {
	kind := tHex
	if l.text[l.pos+1] == 'b' {
		kind = tBit
	}
	i := l.pos + 2
	for i < len(l.text) && isDigitOf(kind, l.text[i]) {
		i++
	}
	if i == l.pos+2 || i < len(l.text) && charClass[l.text[i]]&classIdent != 0 {
		return false
	}
	t.kind, l.pos = kind, i
	return true
}

// exponentEnd returns the end of an exponent that begins at i, or i.
func exponentEnd(text string, i int) int {
	if i >= len(text) || text[i]|0x20 != 'e' {
		return i
	}
	j := i + 1
	if j < len(text) && (text[j] == '+' || text[j] == '-') {
		j++
	}
	if j >= len(text) || charClass[text[j]]&classDigit == 0 {
		return i
	}
	for j < len(text) && charClass[text[j]]&classDigit != 0 {
		j++
	}
	return j
}

// lexString scans a quoted string whose opening quote is at pos.
func (l *lexer) lexString(t *token, quote byte, kind tokenKind) {
	if l.escapes.wide != nil {
		l.lexWide(t, quote, kind)
		return
	}
	text, i := l.text, l.pos+1
	t.kind, t.plain = kind, true
	// found is the position of the last quote that was found. The next quote is searched for only when i has passed it, and not after each backslash,
	// which would take quadratic time.
	found := l.pos
	for {
		if found < i {
			n := strings.IndexByte(text[i:], quote)
			if n < 0 {
				t.kind = tIllegal
				l.pos++
				return
			}
			found = i + n
		}
		if !l.escapes.off {
			if b := strings.IndexByte(text[i:found], '\\'); b >= 0 {
				t.plain = false
				// The escaped byte may be the quote that was found.
				i = min(i+b+2, len(text))
				continue
			}
		}
		i = found + 1
		if i >= len(text) || text[i] != quote {
			l.pos = i
			return
		}
		t.plain = false
		i++
	}
}

// lexQuoted scans a quoted identifier whose opening quote is at pos.
func (l *lexer) lexQuoted(t *token, quote byte) {
	if l.escapes.wide != nil {
		l.lexWide(t, quote, tQuoted)
		return
	}
	i := l.pos + 1
	t.kind, t.plain = tQuoted, true
	for {
		n := strings.IndexByte(l.text[i:], quote)
		if n < 0 {
			t.kind = tIllegal
			l.pos++
			return
		}
		i += n + 1
		if i >= len(l.text) || l.text[i] != quote {
			break
		}
		t.plain = false
		i++
	}
	l.pos = i
	l.identEnd = i
}
