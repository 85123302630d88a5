package syntax

import "unicode/utf8"

// escapes says how a string literal is decoded.
type escapes struct {
	off  bool                  // \ is an ordinary character
	wide func(text string) int // Options.Wide
}

func (o *Options) escapes() escapes { return escapes{o.NoBackslashEscapes, o.Wide} }

// wideWord returns the end of the word at i in a text of Options.Wide, where bytes of ASCII may belong to a character; a single byte above ASCII is no
// letter.
func (l *lexer) wideWord(i int) int {
	for i < len(l.text) {
		switch c := l.text[i]; {
		case c >= utf8.RuneSelf:
			n := l.escapes.wide(l.text[i:])
			if n == 1 {
				return i
			}
			i += n
		case charClass[c]&classIdent != 0:
			i++
		default:
			return i
		}
	}
	return i
}

// lexWide is lexString and lexQuoted for a text of Options.Wide. As in MySQL, a backslash escapes one byte, even if a character of several begins there.
func (l *lexer) lexWide(t *token, quote byte, kind tokenKind) {
	t.kind, t.plain = kind, true
	for i := l.pos + 1; i < len(l.text); {
		switch c := l.text[i]; {
		case c >= utf8.RuneSelf:
			i += l.escapes.wide(l.text[i:])
		case c == '\\' && kind != tQuoted && !l.escapes.off:
			t.plain = false
			i += 2
		case c != quote:
			i++
		case i+1 < len(l.text) && l.text[i+1] == quote:
			t.plain = false
			i += 2
		default:
			l.pos = i + 1
			if kind == tQuoted {
				l.identEnd = l.pos
			}
			return
		}
	}
	t.kind = tIllegal
	l.pos++
}
