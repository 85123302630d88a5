package syntax

import "testing"

// TestWide: a character of several bytes is one for the lexer, and for what reads a literal later, whatever ASCII is in it.
func TestWide(t *testing.T) {
	wide := func(s string) int { // of gb18030
		lead := func(c byte) bool { return c >= 0x81 && c <= 0xFE }
		digit := func(c byte) bool { return c >= '0' && c <= '9' }
		switch {
		case len(s) > 1 && lead(s[0]) && s[1] >= 0x40 && s[1] != 0x7F && s[1] != 0xFF:
			return 2
		case len(s) > 3 && lead(s[0]) && digit(s[1]) && lead(s[2]) && digit(s[3]):
			return 4
		}
		return 1
	}
	for _, c := range []struct {
		text, value string
		noBackslash bool
	}{
		{text: "'\xD5\\'", value: "\xD5\\"},
		{text: "'\xD5\\\\''", value: "\xD5\\'"},
		{text: "'\xD5\\''x'", value: "\xD5\\'x"},
		{text: `'\'` + "\xD5\\'", value: "'\xD5\\"},
		{text: "'\\\xD5\\'b'", value: "\xD5'b"}, // a backslash escapes one byte
		{text: "'\x81\x30\x81\x30\\n'", value: "\x81\x30\x81\x30\n"},
		{text: "'\xD5\xFF\\n\xD5'", value: "\xD5\xFF\n\xD5"},
		{text: "'\xD5\\\\n'", value: "\xD5\\\\n", noBackslash: true},
		{text: "\"\xD5\\\"", value: "\xD5\\"},
	} {
		opt := Options{Wide: wide, NoBackslashEscapes: c.noBackslash}
		tree, err := ParseExpr(c.text, opt)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if lit, ok := tree.(*Literal); !ok || lit.Value != c.value {
			t.Errorf("%q: %q, want %q", c.text, lit.Value, c.value)
		}
		var n Normalized
		if !Normalize("SELECT 1 FROM t WHERE a = "+c.text, opt, &n) || n.Value(0) != c.value {
			t.Errorf("%q: %q is lifted, want %q", c.text, n.Text, c.value)
		}
	}
	for text, name := range map[string]string{"`\xD5``": "\xD5`", "`\xD5````": "\xD5``", "a\xD5|": "a\xD5|", "\x81\x30\x81\x30": "\x81\x30\x81\x30"} {
		tree, err := ParseExpr(text, Options{Wide: wide})
		if id, ok := tree.(*ColumnRef); err != nil || !ok || id.Column != name {
			t.Errorf("%q: %v %v, want %q", text, tree, err, name)
		}
	}
	for _, text := range []string{"'\xD5\\\\'", "`\xD5`", "\xFF", "a\x80"} {
		if _, err := ParseExpr(text, Options{Wide: wide}); err == nil {
			t.Errorf("%q is no syntax error", text)
		}
	}
}
