package syntax

import "strings"

// simplePunct maps a byte to its token kind when the byte alone decides.
var simplePunct = [128]tokenKind{
	'(': tLParen, ')': tRParen, ',': tComma, ';': tSemi, '*': tStar, '+': tPlus, '/': tSlash,
	'%': tPercent, '^': tCaret, '~': tTilde, '=': tEq, '?': tParam, '{': tLBrace, '}': tRBrace,
}

// lexOther scans a token that does not begin with a character of identifiers.
// prevEnd is the end of the previous token if that was a name.
func (l *lexer) lexOther(t *token, c byte, prevEnd int) {
	if kind := simplePunct[c&0x7f]; kind != tEOF {
		t.kind = kind
		l.pos++
		return
	}
	switch c {
	case '\'':
		l.lexString(t, c, tString)
	case '"':
		if l.ansiQuotes {
			l.lexQuoted(t, c)
		} else {
			l.lexString(t, c, tString)
		}
	case '`':
		l.lexQuoted(t, c)
	case '.':
		l.lexDot(t, prevEnd)
	case '@':
		l.lexAt(t)
	default:
		t.kind = l.lexOperator(c)
		l.pos += operatorLen[t.kind]
	}
}

// operatorLen is the length of the operators that lexOperator recognises.
var operatorLen = [256]int{
	tIllegal: 1, tMinus: 1, tAmp: 1, tPipe: 1, tBang: 1, tLt: 1, tGt: 1, tColon: 1, tLe: 2, tGe: 2,
	tNe: 2, tShl: 2, tShr: 2, tAndAnd: 2, tOrOr: 2, tAssign: 2, tArrow: 2, tNullSafeEq: 3, tDoubleArrow: 3,
}

// lexOperator recognises the operators of one to three characters.
func (l *lexer) lexOperator(c byte) tokenKind {
	c1 := l.peekByte(1)
	switch c {
	case '-':
		if c1 == '>' && l.peekByte(2) == '>' {
			return tDoubleArrow
		}
		return either(c1 == '>', tArrow, tMinus)
	case '<':
		switch {
		case c1 == '=' && l.peekByte(2) == '>':
			return tNullSafeEq
		case c1 == '=':
			return tLe
		case c1 == '>':
			return tNe
		}
		return either(c1 == '<', tShl, tLt)
	case '>':
		if c1 == '=' {
			return tGe
		}
		return either(c1 == '>', tShr, tGt)
	case '!':
		return either(c1 == '=', tNe, tBang)
	case '&':
		return either(c1 == '&', tAndAnd, tAmp)
	case '|':
		return either(c1 == '|', tOrOr, tPipe)
	case ':':
		return either(c1 == '=', tAssign, tColon)
	}
	return tIllegal
}

// either chooses between two kinds.
func either(cond bool, yes, no tokenKind) tokenKind {
	if cond {
		return yes
	}
	return no
}

// lexDot scans a dot: a separator of names, or the start of a number.
func (l *lexer) lexDot(t *token, prevEnd int) {
	if prevEnd != l.pos && charClass[l.peekByte(1)]&classDigit != 0 {
		i := l.pos + 1
		for i < len(l.text) && charClass[l.text[i]]&classDigit != 0 {
			i++
		}
		t.kind = tDecimal
		if end := exponentEnd(l.text, i); end > i {
			t.kind, i = tFloat, end
		}
		l.pos = i
		return
	}
	t.kind = tDot
	l.pos++
	l.afterDot = true
}

// lexAt scans @@, or @ with the name that follows immediately. Names of user
// variables and host names may contain dots.
func (l *lexer) lexAt(t *token) {
	l.pos++
	t.kind = tUserVar
	switch c := l.peekByte(0); c {
	case '@':
		l.pos++
		t.kind = tAtAt
		// The names that follow are no keywords: @@global.read_only, @@sql.
	case '\'', '"':
		l.lexString(t, c, tUserVar)
	case '`':
		l.lexQuoted(t, c)
		if t.kind == tQuoted {
			t.kind = tUserVar
		}
	default:
		i := l.pos
		for i < len(l.text) && (charClass[l.text[i]]&classIdent != 0 || l.text[i] == '.') {
			i++
		}
		l.pos = i
	}
	l.identEnd = -1
}

// skipSpace advances over white space and comments. It returns false with a
// token when it finds a hint or an unterminated comment.
func (l *lexer) skipSpace() (token, bool) {
	for l.pos < len(l.text) {
		c := l.text[l.pos]
		switch {
		case charClass[c]&classSpace != 0:
			l.pos++
		case c == '#':
			l.skipLine()
		case c == '-' && l.peekByte(1) == '-' && l.dashComment():
			l.skipLine()
		case c == '/' && l.peekByte(1) == '*':
			if t, ok := l.skipComment(); !ok {
				return t, false
			}
		case c == '*' && l.inVersion && l.peekByte(1) == '/':
			l.inVersion = false
			l.pos += 2
		case c == 0 && l.pos == len(l.text)-1:
			// Some clients send the terminating NUL of a C string.
			l.pos++
		default:
			return token{}, true
		}
	}
	return token{}, true
}

// dashComment reports whether the -- at pos begins a comment: unlike in
// standard SQL, white space or the end must follow.
func (l *lexer) dashComment() bool {
	c := l.peekByte(2)
	return l.pos+2 >= len(l.text) || c <= ' ' || c == 0x7f
}

// skipLine advances past the end of the line.
func (l *lexer) skipLine() {
	n := strings.IndexByte(l.text[l.pos:], '\n')
	if n < 0 {
		l.pos = len(l.text)
		return
	}
	l.pos += n + 1
}

// skipComment handles /* at pos: it skips a comment, enters a version comment
// whose number is low enough, or returns a hint.
func (l *lexer) skipComment() (token, bool) {
	start := l.pos
	if l.peekByte(2) == '!' {
		return l.skipVersion()
	}
	n := strings.Index(l.text[start+2:], "*/")
	if n < 0 {
		l.pos = len(l.text)
		return token{kind: tIllegal, pos: int32(start), end: int32(l.pos)}, false
	}
	end := start + 2 + n + 2
	l.pos = end
	if l.text[start+2] == '+' && l.prevKw != kwNone && takesHints(l.prevKw) {
		l.prevKw = kwNone
		return token{kind: tHint, spaced: true, pos: int32(start), end: int32(end)}, false
	}
	return token{}, true
}

// skipNested skips a version comment that does not apply, with the ordinary
// comments inside it.
func (l *lexer) skipNested(start int) (token, bool) {
	depth := 0
	for i := start; i+1 < len(l.text); i++ {
		switch {
		case l.text[i] == '/' && l.text[i+1] == '*':
			depth++
			i++
		case l.text[i] == '*' && l.text[i+1] == '/':
			depth--
			i++
			if depth == 0 {
				l.pos = i + 1
				return token{}, true
			}
		}
	}
	l.pos = len(l.text)
	return token{kind: tIllegal, pos: int32(start), end: int32(l.pos)}, false
}

// takesHints reports whether an optimizer hint may follow the verb.
func takesHints(kw keyword) bool {
	switch kw {
	case kwSelect, kwInsert, kwReplace, kwUpdate, kwDelete:
		return true
	}
	return false
}
