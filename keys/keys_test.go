package keys_test

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/cockroachkvs"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
)

// boundaries are numbers around which the varint changes its length.
func boundaries() []uint64 {
	vs := []uint64{0, 1, 239, 240, 241, 242, 495, 496, 2286, 2287, 2288, 2289, 67822, 67823, 67824, math.MaxUint64 - 1, math.MaxUint64}
	for shift := 16; shift < 64; shift += 8 {
		vs = append(vs, 1<<shift-1, 1<<shift, 1<<shift+1)
	}
	return vs
}

func randomUint(rng *rand.Rand) uint64 { return rng.Uint64() >> rng.IntN(64) }

func TestVarint(t *testing.T) {
	rng := testkit.Rand(testkit.Seed(t), 0)
	vs := boundaries()
	for range 20000 {
		vs = append(vs, randomUint(rng))
	}
	for i, v := range vs {
		b := keys.AppendUint([]byte("x"), v)[1:]
		if len(b) > keys.VarintLenMax {
			t.Errorf("%d takes %d bytes", v, len(b))
		}
		got, rest, err := keys.DecodeUint(append(b, 'r'))
		if err != nil || got != v || string(rest) != "r" {
			t.Fatalf("%d encodes to %x and back to %d, rest %q, %v", v, b, got, rest, err)
		}
		for n := range len(b) {
			if _, _, err := keys.DecodeUint(b[:n]); err == nil {
				t.Errorf("%x, cut from %x, decodes", b[:n], b)
			}
		}
		w := vs[rng.IntN(len(vs))]
		if i > 0 && bytes.Compare(b, keys.AppendUint(nil, w)) != cmp.Compare(v, w) {
			t.Errorf("%d and %d do not compare as their encodings", v, w)
		}
	}
}

// FuzzVarint: whatever decodes is the one spelling of its number.
func FuzzVarint(f *testing.F) {
	for _, v := range boundaries() {
		f.Add(keys.AppendUint(nil, v))
	}
	f.Add([]byte{241, 0})
	f.Add([]byte{250, 0, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		v, rest, err := keys.DecodeUint(b)
		if err == nil && !bytes.Equal(keys.AppendUint(nil, v), b[:len(b)-len(rest)]) {
			t.Errorf("%x decodes to %d, which encodes to %x", b, v, keys.AppendUint(nil, v))
		}
	})
}

// FuzzEngineKey: what passes CheckEngine is valid to Pebble's comparer too, and the decoders agree with the encoders.
func FuzzEngineKey(f *testing.F) {
	f.Add(keys.VersionKey(nil, []byte("ta"), 7))
	f.Add(keys.VersionPrefix(nil, []byte("ta")))
	f.Add(keys.TxnKey(nil, []byte("ta"), 7))
	f.Add([]byte{0x10, 0, 0, 9})
	f.Add([]byte{0x10, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		logical, ts, ok := keys.DecodeVersionKey(b)
		if ok && !bytes.Equal(keys.VersionKey(nil, logical, ts), b) {
			t.Errorf("%x decodes to %x@%d", b, logical, ts)
		}
		if space, name, ok := keys.DecodeBare(b); ok && !bytes.Equal(keys.Bare(nil, space, name), b) {
			t.Errorf("%x decodes to %x", b, name)
		}
		if keys.CheckEngine(b) == nil {
			if err := cockroachkvs.Comparer.ValidateKey.Validate(b); err != nil {
				t.Errorf("%x passes, but: %v", b, err)
			}
		}
		_ = keys.CheckLogical(b)
	})
}

func randomLogical(rng *rand.Rand) []byte {
	b := make([]byte, rng.IntN(6))
	for i := range b {
		b[i] = "\x00\x01\x09\x10ab\xfe\xff"[rng.IntN(8)]
	}
	return b
}

// TestEngineOrder: engine keys of a space sort as their logical keys, and newer versions come first.
func TestEngineOrder(t *testing.T) {
	rng := testkit.Rand(testkit.Seed(t), 0)
	for range 50000 {
		a, b := randomLogical(rng), randomLogical(rng)
		x, y := clock.Timestamp(1+rng.Uint64N(3)), clock.Timestamp(1+rng.Uint64N(3))
		want := cmp.Or(bytes.Compare(a, b), cmp.Compare(y, x))
		ka, kb := keys.VersionKey(nil, a, x), keys.VersionKey(nil, b, y)
		if got := cockroachkvs.Compare(ka, kb); got != want {
			t.Fatalf("%x@%d and %x@%d compare as %d", a, x, b, y, got)
		}
		if err := errors.Join(keys.CheckEngine(ka), cockroachkvs.Comparer.ValidateKey.Validate(ka)); err != nil {
			t.Fatal(err)
		}
		put := make([]byte, keys.VersionLen(a))
		if keys.PutVersionKey(put, a, x); !bytes.Equal(put, ka) {
			t.Fatalf("PutVersionKey makes %x of %x", put, ka)
		}
		prefix := keys.VersionPrefix(nil, a)
		if cockroachkvs.Compare(prefix, ka) >= 0 || cockroachkvs.Compare(ka, keys.SpaceEnd(nil, keys.SpaceVersion)) >= 0 {
			t.Fatalf("%x is not between its prefix and the end of the space", ka)
		}
		if c := cockroachkvs.Compare(prefix, kb); c != 0 && (c < 0) != (bytes.Compare(a, b) <= 0) {
			t.Fatalf("prefix of %x against %x@%d is %d", a, b, y, c)
		}
	}
}

func TestPrefixes(t *testing.T) {
	table := keys.TablePrefix(nil, 300)
	row, index := keys.RowPrefix(nil, 300), keys.IndexPrefix(nil, 300, 7)
	if !bytes.HasPrefix(row, table) || !bytes.HasPrefix(index, table) || bytes.Compare(index, row) >= 0 {
		t.Errorf("table %x, index %x, row %x", table, index, row)
	}
	if bytes.Compare(keys.PrefixEnd(nil, keys.TablePrefix(nil, 299)), table) != 0 {
		t.Errorf("table 299 ends at %x, table 300 begins at %x", keys.PrefixEnd(nil, keys.TablePrefix(nil, 299)), table)
	}
	if id, rest, ok := keys.DecodeTablePrefix(row); !ok || id != 300 || string(rest) != "r" {
		t.Errorf("decoded %d %q %v", id, rest, ok)
	}
	if tid, iid, rest, ok := keys.DecodeIndexPrefix(append(index, "cols"...)); !ok || tid != 300 || iid != 7 || string(rest) != "cols" {
		t.Errorf("decoded %d %d %q %v", tid, iid, rest, ok)
	}
	for prefix, want := range map[string]string{"a": "b", "a\xff": "b", "\xff": "", "": "", "a\xfe\xff\xff": "a\xff"} {
		if got := keys.PrefixEnd([]byte("dst"), []byte(prefix)); string(got) != "dst"+want {
			t.Errorf("end of %q is %q", prefix, got[3:])
		}
	}
	for _, bad := range []string{"", "x", "t", "t\xfa\x00", "t\x01", "t\x01x", "t\x01i", "m", "ma\x05ab", "t" + string(make([]byte, keys.LogicalLenMax))} {
		if err := keys.CheckLogical([]byte(bad)); !errors.Is(err, keys.ErrMalformed) {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
	sys := keys.SystemKey(nil, 'd', []byte("db"), []byte("table"))
	for _, good := range [][]byte{row, index, sys, keys.SystemKey(nil, 'j')} {
		if err := keys.CheckLogical(good); err != nil {
			t.Error(err)
		}
	}
	kind, rest, ok := keys.DecodeSystemKey(sys)
	a, rest, ok1 := keys.NextPart(rest)
	b, rest, ok2 := keys.NextPart(rest)
	if !ok || !ok1 || !ok2 || kind != 'd' || string(a) != "db" || string(b) != "table" || len(rest) != 0 {
		t.Errorf("system key decodes to %c %q %q, rest %q", kind, a, b, rest)
	}
}

func TestSplit(t *testing.T) {
	at := keys.VersionKey(nil, []byte("m"), 5)
	if cut, ok := keys.SplitKey(nil, at, []byte("a"), []byte("z")); !ok || string(cut) != "m" {
		t.Errorf("cut %q %v", cut, ok)
	}
	for _, c := range [][2]string{{"m", ""}, {"n", ""}, {"a", "m"}, {"a", "b"}} {
		if _, ok := keys.SplitKey(nil, at, []byte(c[0]), []byte(c[1])); ok {
			t.Errorf("a cut at m of %q", c)
		}
	}
	if _, ok := keys.SplitKey(nil, keys.LockKey(nil, []byte("m")), nil, nil); ok {
		t.Error("a cut at a lock")
	}
}
