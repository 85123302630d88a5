package types

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
)

// TestLongKeys: keys that are made piece by piece are those of AppendKey, in collations of every kind and wherever the pieces end; an interrupt ends making
// them.
func TestLongKeys(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	words := []string{"a", "A", "é", "e\u0301", " ", "  ", "\x00", "\x01", "ch", "ß", "\u200d", "ー", "が", "中", "😀", "z", "क\u094d", "\x1f", "~"}
	text := func(bytes int, words []string) []byte {
		var b strings.Builder
		for b.Len() < bytes {
			b.WriteString(words[r.IntN(len(words))])
		}
		return []byte(b.String())
	}
	const long = pieceBytes + pieceBytes/8
	utf8 := DefaultCollation.Charset()
	for _, name := range []string{
		"binary", "utf8mb4_0900_bin", "utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs", "utf8mb4_ja_0900_as_cs_ks", "utf8mb4_hu_0900_as_cs", "utf8mb4_general_ci",
		"utf8mb4_bin", "utf8mb4_unicode_ci", "utf8mb4_czech_ci", "utf16_unicode_ci", "utf32_bin", "latin1_swedish_ci", "latin1_bin", "sjis_japanese_ci",
	} {
		id, err := LookupCollation(name)
		if err != nil {
			t.Fatal(err)
		}
		typ := Type{ID: TypeLongText, Coll: id, Length: -1}
		for what, s := range map[string][]byte{
			"words": text(long+r.IntN(1000), words), "blanks behind": append(text(long, words), "    "...), "blanks only": bytes.Repeat([]byte(" "), long),
			"a blank before": append([]byte(" "), text(long, words)...), "zeros": make([]byte, long), "one word": text(long, words[r.IntN(len(words)):][:1]),
			"no weights": bytes.Repeat([]byte("\x01\u200d"), long/4), "no weights before": append(bytes.Repeat([]byte("\u200d"), long/2), "ab"...),
			"no weights behind": append([]byte("a"), bytes.Repeat([]byte("\u200d"), long/2)...),
			"blanks over a cut": append(append(bytes.Repeat([]byte("a"), pieceBytes-2), "       "...), 'b', 'a'),
		} {
			if id.Charset() != utf8 && id != Binary {
				s, _ = ConvertCharset(nil, s, utf8, id.Charset())
			}
			v, desc, chars := String(s, id), r.IntN(2) == 0, r.IntN(2)*pieceBytes
			want := AppendKey([]byte("x"), v, &typ, desc, chars)
			got, err := AppendKeyPolled([]byte("x"), v, &typ, desc, chars, func() error { return nil })
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, %s, descending %v, %d characters: another key, %v", name, what, desc, chars, err)
			}
			weights, err := AppendWeightStringPolled(nil, v.B, id, func() error { return nil })
			if err != nil || !bytes.Equal(weights, AppendWeightString(nil, v.B, id)) {
				t.Errorf("%s, %s: another WEIGHT_STRING, %v", name, what, err)
			}
		}
	}
}

// TestLongKeysStop: the interrupt is polled for each piece of a long key, and of a document's key.
func TestLongKeysStop(t *testing.T) {
	document, message, _, err := ParseJSON(nil, []byte("["+strings.Repeat(`{"a": [1, "b"]}, `, 4*pieceBytes/16)+"1]"))
	if message != "" || err != nil {
		t.Fatal(message, err)
	}
	for what, v := range map[string]Value{"text": String(bytes.Repeat([]byte("é"), 2*pieceBytes), DefaultCollation), "document": JSON(document)} {
		typ := Type{ID: TypeLongText, Coll: DefaultCollation, Length: -1}
		if what == "document" {
			typ = Type{ID: TypeJSON, Coll: Utf8mb4Bin}
		}
		polls, killed := 0, errors.New("killed")
		whole, err := AppendKeyPolled(nil, v, &typ, true, 0, func() error { polls++; return nil })
		if want := AppendKey(nil, v, &typ, true, 0); err != nil || !bytes.Equal(whole, want) {
			t.Errorf("%s: another key, %v", what, err)
		}
		if polls < 4 {
			t.Errorf("%s: %d polls", what, polls)
		}
		for left := range polls {
			if _, err := AppendKeyPolled(nil, v, &typ, true, 0, func() error {
				if left--; left < 0 {
					return killed
				}
				return nil
			}); !errors.Is(err, killed) {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
}
