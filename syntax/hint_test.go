package syntax

import (
	"strings"
	"testing"
)

// TestLongHints: only the first hintBytesMax of the text of hints are read, and the position where reading stops is returned.
func TestLongHints(t *testing.T) {
	const one = "BKA(t) "
	for _, c := range []struct {
		name, text string
		hints, bad int
	}{
		{"as much as is read", strings.Repeat(one, hintBytesMax/len(one)) + strings.Repeat(" ", hintBytesMax%len(one)), hintBytesMax / len(one), -1},
		{"a hint that is cut", strings.Repeat(one, 20_000), hintBytesMax / len(one), hintBytesMax / len(one) * len(one)},
		{"a hint too far", one + strings.Repeat(" ", hintBytesMax) + one, 1, hintBytesMax},
		{"no hint", strings.Repeat(" ", hintBytesMax) + one, 0, hintBytesMax},
	} {
		hints, bad := ParseHints(c.text)
		if len(hints) != c.hints || bad != c.bad {
			t.Errorf("%s: %d hints, the rest begins at %d; want %d and %d", c.name, len(hints), bad, c.hints, c.bad)
		}
	}
}
