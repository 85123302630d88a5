package types

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
)

// markedScalars are SQL values with their types, and what they are as JSON.
var markedScalars = []struct {
	v    Value
	t    Type
	name string
	text string // as clients receive it
}{
	{Int(1), Type{ID: TypeBigInt}, "INTEGER", "1"},
	{Uint(1), Type{ID: TypeBigInt, Unsigned: true}, "UNSIGNED INTEGER", "1"},
	{Uint(math.MaxInt64), Type{ID: TypeBigInt, Unsigned: true}, "UNSIGNED INTEGER", "9223372036854775807"},
	{Uint(math.MaxUint64), Type{ID: TypeBigInt, Unsigned: true}, "UNSIGNED INTEGER", "18446744073709551615"},
	{Uint(2020), Type{ID: TypeYear}, "UNSIGNED INTEGER", "2020"},
	{Float(1), Type{ID: TypeDouble, Length: -1, Scale: -1}, "DOUBLE", "1.0"},
	{Float(0.1), Type{ID: TypeDouble, Length: -1, Scale: -1}, "DOUBLE", "0.1"},
	{Decimal(1, 0), Type{ID: TypeDecimal, Length: 10}, "DECIMAL", "1"},
	{Decimal(150, 2), Type{ID: TypeDecimal, Length: 10, Scale: 2}, "DECIMAL", "1.50"},
	{Decimal(33333333, 8), Type{ID: TypeDecimal, Length: 10, Scale: 4}, "DECIMAL", "0.3333"}, // what a quotient keeps is not shown
	{Decimal(-1, 1), Type{ID: TypeDecimal, Length: 10, Scale: 1}, "DECIMAL", "-0.1"},
	{wideNinety(), Type{ID: TypeDecimal, Length: 65}, "DECIMAL", strings.Repeat("9", 65)},
	{Date(PackDate(2020, 1, 2)), Type{ID: TypeDate}, "DATE", `"2020-01-02"`},
	{Date(0), Type{ID: TypeDate}, "DATE", `"0000-00-00"`},
	{Date(PackDate(2020, 0, 0)), Type{ID: TypeDate}, "DATE", `"2020-00-00"`},
	{Datetime(PackDatetime(DateTime{Year: 2020, Month: 1, Day: 2, Hour: 3, Minute: 4, Second: 5, Micro: 600000}), 1), Type{ID: TypeDatetime, Scale: 1}, "DATETIME",
		`"2020-01-02 03:04:05.600000"`},
	{Timestamp(1_600_000_000_000_000, 0), Type{ID: TypeTimestamp}, "TIMESTAMP", `"2020-09-13 12:26:40.000000"`},
	{Time(-36_672_500_000, 1), Type{ID: TypeTime, Scale: 1}, "TIME", `"-10:11:12.500000"`},
	{Time(MaxTimeMicros, 0), Type{ID: TypeTime}, "TIME", `"838:59:59.000000"`},
	{String([]byte("ab"), Binary), Type{ID: TypeVarbinary, Length: 5}, "BLOB", `"base64:type15:YWI="`},
	{String([]byte{0, 1, '"', '\\'}, Binary), Type{ID: TypeLongBlob}, "BLOB", `"base64:type251:AAEiXA=="`},
	{String(bytes.Repeat([]byte{0}, 58), Binary), Type{ID: TypeBlob}, "BLOB", `"base64:type252:` + strings.Repeat("A", 76) + `\nAA=="`},
	{Value{K: KindBit, N: 5, Scale: 1}, Type{ID: TypeBit, Length: 3}, "BIT", `"base64:type16:BQ=="`},
	{String([]byte("2020-01-02"), Utf8mb4Bin), Type{ID: TypeVarchar, Length: 10, Coll: Utf8mb4Bin}, "STRING", `"2020-01-02"`},
	{String([]byte("base64:type15:YWI="), Utf8mb4Bin), Type{ID: TypeVarchar, Length: 20, Coll: Utf8mb4Bin}, "STRING", `"base64:type15:YWI="`},
	{String([]byte("\x01n1"), Utf8mb4Bin), Type{ID: TypeVarchar, Length: 20, Coll: Utf8mb4Bin}, "STRING", `"\u0001n1"`},
}

func wideNinety() Value {
	v, _, _ := ParseDecimal([]byte(strings.Repeat("9", 65)))
	return v
}

// TestJSONMarks: values that become JSON keep their types, are shown as MySQL shows them, and are the same once they were looked at.
func TestJSONMarks(t *testing.T) {
	for _, c := range markedScalars {
		doc := JSONFrom(nil, &c.v, &c.t).B
		if got := JSONTypeName(doc); got != c.name {
			t.Errorf("%q is a %s, not a %s", doc, got, c.name)
		}
		if got := string(ShownJSON(doc)); got != c.text {
			t.Errorf("%q is shown as %s, not as %s", doc, got, c.text)
		}
		n := viewJSON(doc)
		if again := n.append(nil); !bytes.Equal(again, doc) {
			t.Errorf("%q becomes %q", doc, again)
		}
		nested := []byte(fmt.Sprintf(`{"a": [%s, "b", %s], "bb": %s}`, doc, doc, doc))
		if got, want := string(ShownJSON(nested)), strings.ReplaceAll(string(nested), string(doc), c.text); got != want {
			t.Errorf("%q is shown as %s", nested, got)
		}
		it := NewJSONIter(nested)
		it.Next()
		if _, value, _ := it.Next(); !bytes.Equal(value, doc) {
			t.Errorf("the last member of %q is %q", nested, value)
		}
		if _, _, more := it.Next(); more || JSONDepth(nested) != 3 || JSONDepth(doc) != 1 || JSONLength(doc) != 1 {
			t.Errorf("%q has other members, or another depth", nested)
		}
	}
}

// TestMarkedStored: what stands in a row is shown to clients without its marks, from stored bytes as from a value.
func TestMarkedStored(t *testing.T) {
	typ := Type{ID: TypeJSON, Coll: Utf8mb4Bin}
	r := testkit.Rand(testkit.Seed(t), 1)
	for range 200 {
		doc := randomMarked(r)
		stored := AppendStored(nil, doc, &typ)
		if back := DecodeStored(stored, &typ); !bytes.Equal(back.B, doc.B) {
			t.Fatalf("%q comes back as %q", doc.B, back.B)
		}
		for _, binary := range []bool{false, true} {
			a, b := RowEncoder{Binary: binary}, RowEncoder{Binary: binary}
			a.StartRow(1)
			a.Stored(&typ, stored)
			b.StartRow(1)
			b.Value(&typ, &doc)
			if !bytes.Equal(a.Buf, b.Buf) || JSONMarked(a.Buf[len(a.Buf)-len(ShownJSON(doc.B)):]) {
				t.Fatalf("%q is sent as %q and %q", doc.B, a.Buf, b.Buf)
			}
		}
		if ok, err := ValidJSON(nil, ShownJSON(doc.B)); !ok || err != nil {
			t.Fatalf("%s is not valid", ShownJSON(doc.B))
		}
		if JSONMarked(doc.B) {
			if ok, _ := ValidJSON(nil, doc.B); ok {
				t.Fatalf("a client may write %q", doc.B)
			}
		}
	}
}

// randomMarked is a random document with some of markedScalars in it.
func randomMarked(r *rand.Rand) Value {
	out, _, _, _ := ParseJSON(nil, randomJSON(r, nil, 3))
	for _, place := range []string{`"a"`, `"b"`, `1`, `true`} {
		c := &markedScalars[r.IntN(len(markedScalars))]
		if i := bytes.Index(out, []byte(place)); i >= 0 && (i == 0 || out[i-1] != '.' && !isDigit(out[i-1]) && out[i-1] != '-') &&
			(i+len(place) == len(out) || strings.IndexByte(",]}", out[i+len(place)]) >= 0) {
			marked := JSONFrom(nil, &c.v, &c.t).B
			out = append(append(bytes.Clone(out[:i]), marked...), out[i+len(place):]...)
		}
	}
	return JSON(out)
}

// TestNumberKeys: numbers of documents order by the decimal numbers that they are shown as, whatever their types.
func TestNumberKeys(t *testing.T) {
	ascending := [][]string{
		{"-1e+300"}, {"-99999999999999999999999999999999999999999999999999999999999999999"}, {"-18446744073709551616"}, {"-2"}, {"-1.5"}, {"-1.49"}, {"-0.1"}, {"-1e-300"},
		{"0", "0.000"}, {"1e-300"}, {"0.1", "0.10", "1e-1"}, {"0.11"}, {"1", "1.0", "1.000", "1e0"}, {"1.0000000000000000001"}, {"9.99"}, {"10", "1e1"}, {"9007199254740992", "9007199254740992.0"},
		{"9007199254740993"}, {"1152921504606846976"}, {"1152921504606847000", "1.152921504606846976e18"}, {"18446744073709551615"}, {"18446744073709551615.5"}, {"1e300"},
	}
	var keys [][]byte
	var values [][]Value
	for _, class := range ascending {
		var same []Value
		for _, text := range class {
			d, _, _ := ParseDecimal([]byte(text))
			if !strings.Contains(text, "e") {
				same = append(same, d)
			}
			p := jsonParser{s: []byte(text)}
			if n := p.number(); n.K != KindFloat || len(text) < 18 || strings.Contains(text, "e") {
				same = append(same, n)
			}
		}
		for _, v := range same {
			if got, want := appendJSONNumberKey(nil, &v), appendJSONNumberKey(nil, &same[0]); !bytes.Equal(got, want) {
				t.Errorf("%s: the keys %x and %x are not equal", class, got, want)
			}
		}
		keys, values = append(keys, appendJSONNumberKey(nil, &same[0])), append(values, same)
	}
	for i := range keys {
		for j := range keys {
			want := compareInts(int64(i), int64(j))
			if got := bytes.Compare(keys[i], keys[j]); got != want {
				t.Errorf("%s and %s: %d by their keys", ascending[i], ascending[j], got)
			}
			for _, a := range values[i] {
				for _, b := range values[j] {
					if got := compareJSONNumbers(&a, &b); got != want {
						t.Errorf("%s and %s: %d by comparison", ascending[i], ascending[j], got)
					}
				}
			}
		}
	}
}

// FuzzMarked: no bytes that may stand in a row make a reader of documents panic.
func FuzzMarked(f *testing.F) {
	for _, c := range markedScalars {
		f.Add(JSONFrom(nil, &c.v, &c.t).B)
	}
	for _, s := range []string{"", "0.", "-", "\x01", "\x01n", "\x01nx", "\x01d\"", "\x01o\"base64:type15:%\"", "\x01\x01\x01n1", "[\x01", "{\"a\": \x01u"} {
		f.Add([]byte(s))
	}
	typ := Type{ID: TypeJSON, Coll: Utf8mb4Bin}
	f.Fuzz(func(t *testing.T, b []byte) {
		v := DecodeStored(b, &typ)
		AppendKey(nil, v, &typ, false, 0)
		AppendJSONOrderKey(nil, v, true)
		JSONTypeName(b)
		JSONScalarText(b)
		JSONScalar(b)
		JSONDepth(b)
		JSONLength(b)
		Compare(v, JSON([]byte("1")), 0)
		ToInt(nil, &v)
		ToDecimal(nil, &v)
		ToDatetime(nil, &v)
		ToTime(nil, &v)
		for it := NewJSONIter(b); ; {
			if _, _, ok := it.Next(); !ok {
				break
			}
		}
		if JSONMarked(ShownJSON(b)) && !bytes.Contains(b, []byte{jsonMark, jsonMark}) {
			t.Fatalf("%q is shown with marks", b)
		}
	})
}
