package types

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
)

// randomJSON writes a document of few different values, so that two are often equal or nearly so.
func randomJSON(r *rand.Rand, dst []byte, depth int) []byte {
	numbers := []string{"0", "-0.0", "1", "1.0", "1e0", "-1", "2", "0.5", "9007199254740993", "9007199254740992", "9007199254740992.0",
		"9223372036854775807", "9223372036854775808", "18446744073709551615", "1.8446744073709552e19", "-9223372036854775808", "1e300"}
	texts := []string{`""`, `"a"`, `"b"`, `"ab"`, `"a\u0000"`, `"\""`, `"é"`, `"\u00e9"`, `"a\n"`}
	kind := r.IntN(7)
	if depth == 0 {
		kind = r.IntN(5)
	}
	switch kind {
	case 0:
		return append(dst, []string{"null", "true", "false"}[r.IntN(3)]...)
	case 1, 2:
		return append(dst, numbers[r.IntN(len(numbers))]...)
	case 3, 4:
		return append(dst, texts[r.IntN(len(texts))]...)
	case 5:
		dst = append(dst, '[')
		for i := range r.IntN(4) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = randomJSON(r, dst, depth-1)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i := range r.IntN(4) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, texts[r.IntN(len(texts))]...), ':')
		dst = randomJSON(r, dst, depth-1)
	}
	return append(dst, '}')
}

// TestJSONKeys: keys of documents order as the documents do, and equal ones hash alike, so that sorting, grouping and DISTINCT agree with
// comparisons.
func TestJSONKeys(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	typ := Type{ID: TypeJSON, Coll: Utf8mb4Bin}
	var docs []Value
	for range 400 {
		out, message, _, err := ParseJSON(nil, randomJSON(r, nil, 3))
		if message != "" || err != nil {
			t.Fatal(message, err)
		}
		if again, message, _, _ := ParseJSON(nil, out); message != "" || !bytes.Equal(again, out) {
			t.Fatalf("%s becomes %s when it is normalised again", out, again)
		}
		if ok, err := ValidJSON(nil, out); !ok || err != nil {
			t.Fatalf("%s is not valid", out)
		}
		docs = append(docs, JSON(out), randomMarked(r))
	}
	for _, a := range docs {
		ka := AppendKey(nil, a, &typ, false, 0)
		for _, b := range docs {
			kb := AppendKey(nil, b, &typ, false, 0)
			order := compareJSON(a.B, b.B)
			if got := bytes.Compare(ka, kb); got != order || order != -compareJSON(b.B, a.B) {
				t.Fatalf("%s and %s: %d by their keys, %d by comparison", a.B, b.B, got, order)
			}
			if order == 0 && Hash64(1, a, 0) != Hash64(1, b, 0) {
				t.Fatalf("%s and %s are equal and hash apart", a.B, b.B)
			}
		}
	}
}

// TestManyMembersInNoOrder: an object is sorted by its keys, of equal ones the last stays, in memory that is in proportion to its text.
func TestManyMembersInNoOrder(t *testing.T) {
	const members = 20_000
	text := []byte{'{'}
	for i := range members {
		text = append(text, `"k`...)
		text = strconv.AppendInt(text, int64((members-i)/2), 10)
		text = append(text, `":`...)
		text = append(strconv.AppendInt(text, int64(i), 10), ',')
	}
	text[len(text)-1] = '}'
	asked := int64(0)
	ctx := &Context{Grow: func(n int64) error { asked = max(asked, n); return nil }}
	out, message, _, err := ParseJSON(ctx, text)
	if message != "" || err != nil {
		t.Fatal(message, err)
	}
	if n := JSONLength(out); n != members/2+1 {
		t.Errorf("%d members are left", n)
	}
	if again, _, _, _ := ParseJSON(nil, out); !bytes.Equal(again, out) {
		t.Error("the members are not in order")
	}
	if asked > 4*int64(len(text)) {
		t.Errorf("%d bytes were asked for, for a text of %d", asked, len(text))
	}
}
