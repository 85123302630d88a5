package syntax

import (
	"strings"
	"testing"
)

// TestEscapedQuotes: finding the end of a string takes linear time, however many backslashes it has. In quadratic time, as it once was, the strings of
// this test would take an hour: the test would hang.
func TestEscapedQuotes(t *testing.T) {
	const escapes = 8 << 20
	for _, body := range []string{
		strings.Repeat(`\"`, escapes),
		strings.Repeat(`\'`, escapes),
		strings.Repeat(`''`, escapes),
		strings.Repeat(`\\`, escapes) + `\'''`,
	} {
		text := `'` + body + `' x`
		var l lexer
		l.init(text, &Options{})
		tok := l.next()
		if tok.kind != tString || tok.plain || int(tok.end) != len(text)-2 {
			t.Fatalf("%.20s…: token %d from %d to %d, want one of %d bytes", text, tok.kind, tok.pos, tok.end, len(text)-2)
		}
		l.init(text[:len(text)-3], &Options{})
		if tok = l.next(); tok.kind != tIllegal {
			t.Fatalf("%.20s…: token %d, want none: the text does not end", text, tok.kind)
		}
	}
}

// TestStringEnds compares the lexer's search for the end of a string with one that looks at each byte, for all short strings of quotes, backslashes and
// other bytes.
func TestStringEnds(t *testing.T) {
	const alphabet, longest = `'\"a`, 7
	var try func(text string)
	try = func(text string) {
		for _, noBackslash := range []bool{false, true} {
			var l lexer
			l.init(`'`+text, &Options{NoBackslashEscapes: noBackslash})
			tok := l.next()
			end, ok := stringEnd(`'`+text, noBackslash)
			if ok != (tok.kind == tString) || ok && int(tok.end) != end {
				t.Fatalf("'%s, without escapes %v: token %d ends at %d, want %d (%v)", text, noBackslash, tok.kind, tok.end, end, ok)
			}
		}
		if len(text) < longest {
			for _, c := range alphabet {
				try(text + string(c))
			}
		}
	}
	try("")
}

// stringEnd returns the end of the string that begins with the quote at 0.
func stringEnd(text string, noBackslash bool) (end int, ok bool) {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && !noBackslash:
			i++
		case text[i] != '\'':
		case i+1 < len(text) && text[i+1] == '\'':
			i++
		default:
			return i + 1, true
		}
	}
	return 0, false
}
