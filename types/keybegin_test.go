package types

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
)

// scriptText has characters of scripts whose letters change their weights beside others in some collations.
func scriptText(r *rand.Rand, cs *Charset) []byte {
	scripts := [][2]rune{{0, 0x24}, {0x60, 0x17f}, {0x300, 0x36f}, {0x400, 0x45f}, {0x5d0, 0x5ea}, {0x900, 0x97f}, {0xe00, 0xe7f}, {0xe80, 0xeff}, {0xf40, 0xfbc}, {0x1780, 0x17ff},
		{0x3041, 0x30ff}, {0xac00, 0xd7a3}, {0x1100, 0x11ff}, {0x4e00, 0x9fff}, {0x1f600, 0x1f64f}}
	var b []byte
	for range 1 + r.IntN(6) {
		s := scripts[r.IntN(len(scripts))]
		b, _ = cs.appendRune(b, s[0]+rune(r.IntN(int(s[1]-s[0])+1)))
	}
	return b
}

// TestKeyBegin: what LIKE matches with a text and % behind it has that text's key in front of its own, in every collation that says so, for
// columns that are stored with and without spaces at their end and for indexes of a few characters. TestKeyBeginNotices shows that the
// test sees where that is not so.
func TestKeyBegin(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 3)
	matched, known := 0, 0
	for _, c := range Collations() {
		if !c.KeysBegin() {
			continue
		}
		known++
		m, wrong := keyBegins(r, c, 400)
		matched += m
		if wrong != "" {
			t.Errorf("%s: %s", c.Name(), wrong)
		}
	}
	if known < 90 || matched < known*100 {
		t.Errorf("%d collations and %d matches are too few to show anything", known, matched)
	}
}

// TestKeyBeginNotices: in Czech ch is a letter that stands behind h.
func TestKeyBeginNotices(t *testing.T) {
	c, err := LookupCollation("utf8mb4_czech_ci")
	if err != nil {
		t.Fatal(err)
	}
	if c.KeysBegin() {
		t.Error("Czech letters are said to be weighed one by one")
	}
	whole, begin := AppendSortKey(nil, []byte("ch"), c), c.get().appendWeights(nil, []byte("c"))
	if bytes.HasPrefix(whole, begin) {
		t.Error("ch begins as c does")
	}
}

// keyBegins tries texts and patterns. It returns how many texts matched, and says what was wrong.
func keyBegins(r *rand.Rand, c CollationID, rounds int) (matched int, wrong string) {
	cs := c.Charset()
	for i := range rounds {
		s, p := randomTexts(r, cs)
		if i%2 == 0 {
			s = scriptText(r, cs)
			p = s
		}
		p = p[:cs.CharPrefix(p, r.IntN(6))]
		ty := Type{ID: TypeVarchar, Length: 40, Coll: c}
		if i%3 == 0 {
			ty.ID = TypeChar
		}
		pattern, _ := cs.appendRune(bytes.Clone(p), '%')
		if hit, _ := mustLike(pattern, 0, c).Match(s, nil); !hit {
			continue
		}
		matched++
		stored := s
		if ty.ID == TypeChar && c != Binary && cs.MinLen == 1 {
			stored = trimSpaces(s)
		}
		for _, chars := range []int{0, 1, 3} {
			begin, ok := AppendKeyBegin(nil, String(p, c), &ty, i%5 == 0, chars)
			key := AppendKey(nil, String(stored, c), &ty, i%5 == 0, chars)
			if ok && (len(begin) == 0 || !bytes.HasPrefix(key, begin)) {
				return matched, "the key of " + string(s) + " does not begin as that of " + string(p)
			}
		}
	}
	return matched, ""
}

// TestLikeBegin: the text before the first wildcard.
func TestLikeBegin(t *testing.T) {
	for _, test := range []struct {
		pattern, begin string
		escape         rune
		whole          bool
	}{
		{"abc%", "abc", '\\', false}, {"abc", "abc", '\\', true}, {"", "", '\\', true}, {"%", "", '\\', false}, {"a_c", "a", '\\', false},
		{`a\%b%`, "a%b", '\\', false}, {`a\%b%`, `a\`, 0, false}, {"a|_|%|||x_", "a_%|x", '|', false}, {`ab\`, `ab\`, '\\', true}, {"é%%", "é", '\\', false},
		{"a  %", "a  ", '\\', false}, {"%%%%", "%%", '%', true}, {"a%%%b%", "a%b", '%', false},
	} {
		begin, whole := LikeBegin([]byte(test.pattern), test.escape, DefaultCollation)
		if string(begin) != test.begin || whole != test.whole {
			t.Errorf("%q ESCAPE %q begins with %q, whole %v", test.pattern, test.escape, begin, whole)
		}
	}
}
