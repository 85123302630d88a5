package types

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
)

// TestCompareTexts: CompareTexts has the order of CompareStrings, wherever the pieces end, and polls the interrupt.
func TestCompareTexts(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	words := []string{"a", "A", "é", "É", "e\u0301", " ", "ch", "CH", "Ll", "dž", "ß", "ss", "\u200d", "ー", "ｱ", "カ", "が", "ハ\u309a", "中", "😀", "z", "\u0e40\u0e01", "क\u094d"}
	text := func(bytes int, words []string) []byte {
		var b strings.Builder
		for b.Len() < bytes {
			b.WriteString(words[r.IntN(len(words))])
		}
		return []byte(b.String())
	}
	utf8 := DefaultCollation.Charset()
	for _, name := range []string{
		"utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs", "utf8mb4_ja_0900_as_cs_ks", "utf8mb4_hu_0900_as_cs", "utf8mb4_general_ci", "utf8mb4_bin", "utf8mb4_unicode_ci",
		"utf8mb4_czech_ci", "utf16_unicode_ci", "utf32_bin", "latin1_swedish_ci", "sjis_japanese_ci",
	} {
		id, err := LookupCollation(name)
		if err != nil {
			t.Fatal(err)
		}
		cs := id.Charset()
		base := text(pieceBytes+pieceBytes/8+r.IntN(1000), words)
		other := map[string][]byte{
			"the same": base, "upper case": bytes.ToUpper(base), "lower case": bytes.ToLower(base), "one behind": append(bytes.ToUpper(base), 'b'),
			"blanks behind": append(bytes.ToUpper(base), "    "...), "another end": append(bytes.ToUpper(base[:len(base)-20]), text(40, words)...),
			"nothing": nil, "one kind": text(pieceBytes+pieceBytes/8, words[r.IntN(len(words)):][:1]),
		}
		a, _ := ConvertCharset(nil, base, utf8, cs)
		for what, s := range other {
			b, _ := ConvertCharset(nil, s, utf8, cs)
			for _, pair := range [][2][]byte{{a, b}, {b, a}} {
				want := CompareStrings(pair[0], pair[1], id)
				if got, err := CompareTexts(pair[0], pair[1], id, nil); err != nil || (got < 0) != (want < 0) || (got > 0) != (want > 0) {
					t.Errorf("%s, %s: %d instead of %d, %v", id.Name(), what, got, want, err)
				}
			}
		}
	}
	killed := errors.New("killed")
	a, b := bytes.Repeat([]byte("é"), pieceBytes), bytes.Repeat([]byte("É"), pieceBytes)
	if _, err := CompareTexts(a, b, DefaultCollation, func() error { return killed }); !errors.Is(err, killed) {
		t.Error(err)
	}
}
