package types

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
)

// testTypes are one of every kind and width, with a generator of values as
// Convert returns them.
func testTypes() []Type {
	ts := []Type{
		{ID: TypeDecimal, Length: 10, Scale: 2}, {ID: TypeDecimal, Length: 18, Scale: 0},
		{ID: TypeDecimal, Length: 40, Scale: 5}, {ID: TypeDecimal, Length: 65, Scale: 30},
		{ID: TypeFloat, Scale: -1}, {ID: TypeDouble, Scale: -1}, {ID: TypeYear}, {ID: TypeDate},
		{ID: TypeBit, Length: 1}, {ID: TypeBit, Length: 64},
		{ID: TypeVarbinary, Length: 20, Coll: Binary}, {ID: TypeBinary, Length: 4, Coll: Binary},
		{ID: TypeBlob, Coll: Binary},
		{ID: TypeEnum, Coll: DefaultCollation, Elems: []string{"small", "medium", "large"}},
		{ID: TypeSet, Coll: DefaultCollation, Elems: []string{"a", "b", "c"}},
	}
	for id := TypeTinyInt; id <= TypeBigInt; id++ {
		ts = append(ts, Type{ID: id}, Type{ID: id, Unsigned: true})
	}
	for fsp := int8(0); fsp <= MaxFsp; fsp += 3 {
		ts = append(ts, Type{ID: TypeTime, Scale: fsp}, Type{ID: TypeDatetime, Scale: fsp}, Type{ID: TypeTimestamp, Scale: fsp})
	}
	for _, c := range []CollationID{DefaultCollation, Utf8mb4GeneralCI, Utf8mb4Bin, Latin1SwedishCI, Utf8mb40900Bin, 224} {
		ts = append(ts, Type{ID: TypeVarchar, Length: 20, Coll: c}, Type{ID: TypeChar, Length: 20, Coll: c})
	}
	return ts
}

func randomBits(r *rand.Rand) int64 {
	n := int64(r.Uint64() >> r.IntN(64))
	switch r.IntN(4) {
	case 0:
		n = -n
	case 1:
		n = int64(r.IntN(20000)) - 9000
	case 2:
		edges := []int64{0, 1, -1, -8, -9, 127, 128, 8319, 8320, 2105471, 2105472, 1 << 24, math.MaxInt64, math.MinInt64, -256, -257}
		n = edges[r.IntN(len(edges))]
	}
	return n
}

var alphabet = []string{"a", "A", "b", "B", " ", " ", "\t", "z", "é", "e", "É", "ß", "s", "\x00", "0", "9", "-", "ö", "ч", "中", "😀", "\u0301", "l", "·", "h", "c", "\u200b", "~", "ÿ"}

func randomText(r *rand.Rand, cs *Charset) []byte {
	var b []byte
	for n := r.IntN(7); n > 0; n-- {
		b = append(b, alphabet[r.IntN(len(alphabet))]...)
	}
	out, _ := ConvertCharset(nil, b, DefaultCollation.Charset(), cs)
	return out
}

// randomTexts returns two texts, of which one often begins as the other.
func randomTexts(r *rand.Rand, cs *Charset) (a, b []byte) {
	a, b = randomText(r, cs), randomText(r, cs)
	if r.IntN(3) == 0 {
		b = append(bytes.Clone(a), randomText(r, cs)...)
	}
	return a, b
}

// randomValue returns a value of t as Convert makes it.
func randomValue(t *testing.T, r *rand.Rand, ty *Type) Value {
	if r.IntN(8) == 0 {
		return Null()
	}
	ctx := &Context{}
	var v Value
	switch ty.Kind() {
	case KindInt, KindUint:
		v = Int(randomBits(r))
		if ty.Unsigned && r.IntN(2) == 0 {
			v = Uint(r.Uint64() >> r.IntN(64))
		}
	case KindFloat:
		v = Float(math.Float64frombits(r.Uint64()))
		if f := v.Float64(); r.IntN(2) == 0 || f != f {
			v = Float(float64(randomBits(r)) / 16)
		}
		if r.IntN(10) == 0 {
			v = Float(math.Copysign(0, -1))
		}
	case KindDecimal:
		s := strconv.FormatInt(randomBits(r), 10)
		for r.IntN(3) > 0 && len(s) < 60 {
			s += strconv.Itoa(r.IntN(100000))
		}
		v = Text(s + "." + strconv.Itoa(r.IntN(1000000)))
	case KindString:
		v = String(randomText(r, ty.stringColl().Charset()), ty.stringColl())
	case KindDate, KindDatetime, KindTimestamp:
		v = Datetime(PackDatetime(DateTime{1970 + r.IntN(68), 1 + r.IntN(12), 1 + r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1e6)}), 6)
		if r.IntN(10) == 0 {
			v = Datetime(0, 6)
		}
	case KindTime:
		v = Time(r.Int64N(2*MaxTimeMicros)-MaxTimeMicros, 6)
	case KindEnum, KindSet:
		v = Int(int64(1 + r.IntN(3)))
	default:
		v = Uint(r.Uint64() >> r.IntN(64))
	}
	out, err := Convert(ctx, v, *ty, "c", 1)
	if err != nil {
		t.Fatalf("%v: %v", ty, err)
	}
	return out
}

// sortOrder is the order that keys must have: Compare, but ENUM and SET by number.
func sortOrder(a, b Value, ty *Type) int {
	x, y := NewVector(*ty), NewVector(*ty)
	x.Append(&a)
	y.Append(&b)
	return x.CompareRows(0, y, 0)
}

func sign(n int) int { return compareInts(int64(n), 0) }

func TestKeyOrder(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	for _, ty := range testTypes() {
		for range 3000 {
			a, b := randomValue(t, r, &ty), randomValue(t, r, &ty)
			for _, desc := range []bool{false, true} {
				ka, kb := AppendKey(nil, a, &ty, desc, 0), AppendKey(nil, b, &ty, desc, 0)
				want := sortOrder(a, b, &ty)
				if ty.Kind() != KindEnum && ty.Kind() != KindSet {
					if c := Compare(a, b, ty.Coll); sign(c) != sign(want) {
						t.Fatalf("%v: Compare(%q,%q)=%d, rows %d", ty, show(a), show(b), c, want)
					}
				}
				if desc {
					want = -want
				}
				if got := bytes.Compare(ka, kb); got != sign(want) {
					t.Fatalf("%v desc=%v: %q vs %q: keys %x %x order %d, want %d", ty, desc, show(a), show(b), ka, kb, got, want)
				}
				if want != 0 && (bytes.HasPrefix(ka, kb) || bytes.HasPrefix(kb, ka)) {
					t.Fatalf("%v: key is a prefix of another: %x %x", ty, ka, kb)
				}
				if want == 0 && Hash64(7, a, ty.Coll) != Hash64(7, b, ty.Coll) {
					t.Fatalf("%v: equal values %q %q hash apart", ty, show(a), show(b))
				}
				checkKeyDecode(t, ka, a, &ty, desc)
			}
		}
	}
}

func checkKeyDecode(t *testing.T, key []byte, v Value, ty *Type, desc bool) {
	t.Helper()
	tail := []byte{0, 1, 2, 0xFF}
	rest, err := SkipKey(append(bytes.Clone(key), tail...), ty, desc)
	if err != nil || !bytes.Equal(rest, tail) {
		t.Fatalf("%v: skip %x of %q: rest %x, %v", ty, key, show(v), rest, err)
	}
	if !KeyRecoverable(ty, 0) {
		return
	}
	got, rest, err := DecodeKey(append(bytes.Clone(key), tail...), ty, desc)
	if err != nil || !bytes.Equal(rest, tail) || !sameValue(got, v) {
		t.Fatalf("%v: decode %x: %+v, want %+v (%v)", ty, key, got, v, err)
	}
}

func sameValue(a, b Value) bool {
	return a.K == b.K && a.N == b.N && a.Scale == b.Scale && a.Coll == b.Coll && bytes.Equal(a.B, b.B)
}

func show(v Value) string {
	if v.K == KindNull {
		return "NULL"
	}
	return string(AppendText(nil, nil, &v))
}

// TestKeyOrderCollations runs every collation of the library.
func TestKeyOrderCollations(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	for _, c := range Collations() {
		ty := Type{ID: TypeVarchar, Length: 20, Coll: c}
		for range rounds {
			a, b := randomTexts(r, c.Charset())
			ka, kb := AppendSortKey(nil, a, c), AppendSortKey(nil, b, c)
			want := CompareStrings(a, b, c)
			if bytes.Compare(ka, kb) != sign(want) {
				t.Fatalf("%s: %q (%x) vs %q (%x): keys %x %x, compare %d", c.Name(), a, a, b, b, ka, kb, want)
			}
			if back := CompareStrings(b, a, c); sign(back) != -sign(want) {
				t.Fatalf("%s: %q vs %q: not antisymmetric: %d %d", c.Name(), a, b, want, back)
			}
			if want == 0 && hashString(1, a, c) != hashString(1, b, c) {
				t.Fatalf("%s: equal %q %q hash apart", c.Name(), a, b)
			}
			rest, err := SkipKey(append(ka, 9, 9), &ty, false)
			if err != nil || len(rest) != 2 {
				t.Fatalf("%s: skip %x: %v", c.Name(), ka, err)
			}
			if c.PadSpace() && c.Charset().MinLen == 1 {
				if CompareStrings(append(bytes.Clone(a), "   "...), a, c) != 0 {
					t.Fatalf("%s: trailing spaces count in %q", c.Name(), a)
				}
			}
		}
	}
}

// TestAbbreviate: where abbreviations differ they order as the strings, or the numbers, do, and they are worth having.
func TestAbbreviate(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	sameOrder := func(name string, a, b []byte, ty *Type, want int) (differ bool) {
		t.Helper()
		ka, okA := AbbreviateStored(a, ty)
		kb, okB := AbbreviateStored(b, ty)
		if !okA || !okB || ka == kb {
			return false
		}
		if cmp.Compare(ka, kb) != sign(want) {
			t.Fatalf("%s: %q (%x) vs %q (%x): %x and %x, compare %d", name, a, a, b, b, ka, kb, want)
		}
		return true
	}
	const rounds = 300
	for _, c := range Collations() {
		ty := Type{ID: TypeVarchar, Length: 20, Coll: c}
		for range rounds {
			a, b := randomTexts(r, c.Charset())
			sameOrder(c.Name(), a, b, &ty, CompareStrings(a, b, c))
		}
	}
	for _, c := range []CollationID{DefaultCollation, Utf8mb4GeneralCI, Utf8mb4Bin, Latin1SwedishCI, Binary, 224} {
		ty := Type{ID: TypeVarchar, Length: 20, Coll: c}
		differ := 0
		for range rounds {
			a, b := strconv.AppendInt(nil, r.Int64(), 10), strconv.AppendInt(nil, r.Int64(), 10)
			if sameOrder(c.Name(), a, b, &ty, CompareStrings(a, b, c)) {
				differ++
			}
		}
		if differ < rounds*9/10 {
			t.Errorf("%s: %d of %d pairs of numbers as strings have different abbreviations", c.Name(), differ, rounds)
		}
	}
	for _, ty := range []Type{{ID: TypeTinyInt}, {ID: TypeInt}, {ID: TypeInt, Unsigned: true}, {ID: TypeBigInt}, {ID: TypeBigInt, Unsigned: true}} {
		for range rounds {
			a, b := randomValue(t, r, &ty), randomValue(t, r, &ty)
			if a.K == KindNull || b.K == KindNull {
				continue
			}
			want := Compare(a, b, 0)
			if !sameOrder(fmt.Sprint(ty), AppendStored(nil, a, &ty), AppendStored(nil, b, &ty), &ty, want) && want != 0 {
				t.Fatalf("%v: %s and %s have the same abbreviation", ty, show(a), show(b))
			}
		}
	}
}

// TestASCIIFastPath holds the tables of ASCII weights against the library.
func TestASCIIFastPath(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	for _, c := range Collations() {
		k := c.get().load()
		if k.ascii == nil {
			continue
		}
		for range 500 {
			s := make([]byte, r.IntN(8))
			for i := range s {
				s[i] = byte(r.IntN(128))
			}
			fast, ok := k.appendASCII(nil, s)
			if slow := k.lib.WeightString(nil, s, 0); ok && !bytes.Equal(fast, slow) {
				t.Fatalf("%s: %q: %x, library %x", c.Name(), s, fast, slow)
			}
		}
	}
}

func TestPadSpaceOrder(t *testing.T) {
	for _, c := range []string{"utf8mb4_general_ci", "utf8mb4_bin", "latin1_swedish_ci", "utf8mb4_unicode_ci"} {
		id, _ := LookupCollation(c)
		if c != "utf8mb4_unicode_ci" && CompareStrings([]byte("a"), []byte("a\t"), id) <= 0 {
			t.Errorf("%s: 'a' must order after 'a\\t'", c)
		}
		if CompareStrings([]byte("a "), []byte("a"), id) != 0 {
			t.Errorf("%s: 'a ' must equal 'a'", c)
		}
	}
	if CompareStrings([]byte("a "), []byte("a"), DefaultCollation) == 0 {
		t.Error("utf8mb4_0900_ai_ci is NO PAD")
	}
}

func TestStoredRoundTrip(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	for _, ty := range testTypes() {
		for range 2000 {
			v := randomValue(t, r, &ty)
			if v.K == KindNull {
				continue
			}
			b := AppendStored(nil, v, &ty)
			if !ValidStored(b, &ty) {
				t.Fatalf("%v: %q: stored %x is not valid", ty, show(v), b)
			}
			got := DecodeStored(b, &ty)
			if v.K == KindTimestamp || got.K != v.K || !sameValue(got, v) {
				if !sameValue(got, v) {
					t.Fatalf("%v: %x: %+v, want %+v", ty, b, got, v)
				}
			}
		}
	}
}

func TestPrefixKeys(t *testing.T) {
	ty := Type{ID: TypeVarchar, Length: 20, Coll: Utf8mb4GeneralCI}
	a := AppendKey(nil, Text("日本語x"), &ty, false, 3)
	b := AppendKey(nil, Text("日本語y"), &ty, false, 3)
	if !bytes.Equal(a, b) {
		t.Fatalf("prefix of 3 characters: %x %x", a, b)
	}
	if KeyRecoverable(&ty, 3) {
		t.Fatal("a prefix is not the value")
	}
}

func FuzzSkipKey(f *testing.F) {
	ts := testTypes()
	r := testkit.Rand(1, 2)
	for i := range ts {
		f.Add(byte(i), []byte{0x18}, false)
		f.Add(byte(i), AppendOrderedSeed(r), true)
	}
	f.Fuzz(func(t *testing.T, i byte, b []byte, desc bool) {
		ty := &ts[int(i)%len(ts)]
		rest, err := SkipKey(b, ty, desc)
		if err == nil && len(rest) >= len(b) {
			t.Fatal("no progress")
		}
		if v, _, err := DecodeKey(b, ty, desc); err == nil {
			_ = fmt.Sprint(show(v))
		}
		DecodeStored(b, ty)
		ValidStored(b, ty)
	})
}

// AppendOrderedSeed makes seeds for the fuzzer.
func AppendOrderedSeed(r *rand.Rand) []byte {
	return appendOrderedInt(appendOrderedUint(nil, r.Uint64()), -r.Int64())
}

// TestBrokenTexts: sort keys and comparisons take any bytes as a text, as the bounds of LIKE are made of some that are no characters.
func TestBrokenTexts(t *testing.T) {
	rng := testkit.Rand(testkit.Seed(t), 1)
	for _, c := range Collations() {
		for range 200 {
			s := make([]byte, rng.IntN(12))
			for i := range s {
				if s[i] = byte(rng.Uint32()); rng.IntN(2) == 0 {
					s[i] = 0xFF
				}
			}
			_ = AppendSortKey(nil, s, c)
			_ = CompareStrings(s, s[len(s)/2:], c)
		}
	}
}
