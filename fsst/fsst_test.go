package fsst

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
)

// digits is sysbench's column c: groups of random digits.
func digits(r *rand.Rand) []byte {
	var b []byte
	for i := range 119 {
		if i%12 == 11 {
			b = append(b, '-')
		} else {
			b = append(b, byte('0'+r.IntN(10)))
		}
	}
	return b
}

func address(r *rand.Rand) []byte {
	names := []string{"anna", "bob", "carla", "dimitri", "eve", "françois", "grete", "小林"}
	hosts := []string{"example.com", "mail.example.org", "example.co.uk"}
	return []byte(names[r.IntN(len(names))] + "." + names[r.IntN(len(names))] + "@" + hosts[r.IntN(len(hosts))])
}

func document(r *rand.Rand) []byte {
	var b []byte
	for range 1 + r.IntN(200) {
		b = append(b, `{"customer_id": `...)
		b = append(b, digits(r)[:6]...)
		b = append(b, `, "email": "`...)
		b = append(b, address(r)...)
		b = append(b, `", "active": true}`...)
	}
	return b
}

func noise(r *rand.Rand) []byte {
	b := make([]byte, r.IntN(3000))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func zeros(r *rand.Rand) []byte { return make([]byte, r.IntN(40)) }

var corpora = map[string]func(*rand.Rand) []byte{
	"digits": digits, "address": address, "document": document, "noise": noise, "zeros": zeros,
}

// sample makes enough strings to train on.
func sample(r *rand.Rand, make func(*rand.Rand) []byte) (out [][]byte) {
	for size := 0; size < SampleSize; size += len(out[len(out)-1]) {
		out = append(out, make(r))
	}
	return out
}

// TestRoundTrip: whatever a table was trained on, it gives every string back, and so does its stored form.
func TestRoundTrip(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	tables := map[string]*Table{"nothing": Train(nil)}
	for name, make := range corpora {
		tables[name] = Train(sample(r, make))
	}
	for trained, table := range tables {
		again, err := Parse(table.AppendBinary(nil))
		if err != nil {
			t.Fatalf("%s: %v", trained, err)
		}
		for name, make := range corpora {
			for range 200 {
				s := make(r)
				s = s[:r.IntN(len(s)+1)] // any length
				prefix := []byte("before")
				// Twice its length is what no packed form exceeds.
				packed, ok := table.Pack(prefix, s, -len(s))
				other, okAgain := again.Pack(prefix, s, -len(s))
				if ok != okAgain || !bytes.Equal(packed, other) {
					t.Fatalf("%s: %q is packed to %x, and to %x after storing the table", trained, s, packed, other)
				}
				if !bytes.HasPrefix(packed, prefix) || !ok && len(packed) > len(prefix) {
					t.Fatalf("%s: %x was not appended", trained, packed)
				}
				if !ok {
					continue // noise, which is given up early
				}
				got, err := again.Unpack(prefix, packed[len(prefix):])
				if err != nil || string(got) != string(prefix)+string(s) {
					t.Fatalf("%s on %s: %q came back as %q, %v", trained, name, s, got, err)
				}
			}
		}
	}
}

// TestRatio: what is left of strings like those of the sample.
func TestRatio(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	for name, most := range map[string]float64{"digits": 60.01 / 119, "address": 0.3, "document": 0.35} {
		table := Train(sample(r, corpora[name]))
		before, after := 0, 0
		for range 500 {
			s := corpora[name](r)
			packed, ok := table.Pack(nil, s, 1)
			if !ok {
				t.Fatalf("%s: %q is not packed", name, s)
			}
			before, after = before+len(s), after+len(packed)
		}
		if ratio := float64(after) / float64(before); ratio > most {
			t.Errorf("%s: %.3f is left, want at most %.2f", name, ratio, most)
		}
	}
}

// TestPackGivesUp: strings that don't get shorter by what is asked for stay as they are.
func TestPackGivesUp(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	table := Train(sample(r, digits))
	for name, c := range map[string]struct {
		s    string
		gain int
		ok   bool
	}{
		"empty":            {"", 1, false},
		"nothing asked":    {"", 0, true},
		"two digits":       {"12", 1, true},
		"too little":       {"12345678", 5, false},
		"unknown bytes":    {"abc", 1, false},
		"long and unknown": {strings.Repeat("abcdefgh", 1000), 1, false},
		"known at the end": {strings.Repeat("abcdefgh", 200) + strings.Repeat("12", 4000), 1, false},
		"unknown behind":   {strings.Repeat("12", 4000) + strings.Repeat("abcdefgh", 100), 1, true},
		"unknown within":   {strings.Repeat("12", 4000) + strings.Repeat("abcdefgh", 400) + strings.Repeat("12", 4000), 1, true},
	} {
		packed, ok := table.Pack([]byte("x"), []byte(c.s), c.gain)
		if ok != c.ok || !ok && string(packed) != "x" {
			t.Errorf("%s: %v, %d bytes", name, ok, len(packed))
		}
	}
}

// TestFormat pins the packed form and the table's, which are on disk.
func TestFormat(t *testing.T) {
	const stored = "01" + "04" + "0161" + "026263" + "03646566" + "083132333435363738"
	raw, _ := hex.DecodeString(stored)
	table, err := Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(table.AppendBinary(nil)); got != stored {
		t.Errorf("the table comes back as %s", got)
	}
	for s, want := range map[string]string{
		"a": "00", "abc": "0001", "defa": "0200", "12345678": "03", "z": "ff7a", "\xff": "ffff", "b": "ff62", "bca": "0100",
		"de": "ff64ff65", "1234567": "ff31ff32ff33ff34ff35ff36ff37", "": "",
	} {
		packed, ok := table.Pack(nil, []byte(s), -len(s))
		if got := hex.EncodeToString(packed); !ok || got != want {
			t.Errorf("%q is packed to %s, want %s", s, got, want)
		}
	}
}

// TestDamage: bytes that nobody wrote are refused, or give some string of bounded length.
func TestDamage(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	table := Train(sample(r, address))
	for range 2000 {
		b := noise(r)
		s, err := table.Unpack(nil, b)
		if err != nil && !errors.Is(err, ErrCorrupt) || len(s) > 8*len(b) {
			t.Fatalf("%x: %d bytes, %v", b, len(s), err)
		}
	}
	if _, err := table.Unpack(nil, []byte{escape}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("an escape at the end: %v", err)
	}
	stored := table.AppendBinary(nil)
	if _, err := Parse(append(stored, 0)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a byte too many: %v", err)
	}
	for n := range stored {
		if _, err := Parse(stored[:n]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("the first %d bytes of a table: %v", n, err)
		}
	}
	for _, s := range []string{"02" + "00", "01" + "ff", "01" + "01" + "00", "01" + "01" + "09313233343536373839", "01" + "02" + "0361626301" + "61",
		"01" + "02" + "03616263" + "0461626364"} {
		raw, _ := hex.DecodeString(s)
		_, err := Parse(raw)
		if want := s == "01"+"02"+"0361626301"+"61"; (err == nil) != want {
			t.Errorf("table %s: %v", s, err)
		}
	}
}

// TestTrainIsDeterministic: two nodes that see the same sample make the same table.
func TestTrainIsDeterministic(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	s := sample(r, document)
	if !bytes.Equal(Train(s).AppendBinary(nil), Train(s).AppendBinary(nil)) {
		t.Error("two tables of one sample differ")
	}
}

// TestAllocations: nothing is allocated but to grow the buffer.
func TestAllocations(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	table := Train(sample(r, digits))
	s := digits(r)
	packed, _ := table.Pack(nil, s, 1)
	to, from := make([]byte, 0, 1<<10), make([]byte, 0, 1<<10)
	if n := testing.AllocsPerRun(100, func() {
		_, _ = table.Pack(to, s, 1)
		_, _ = table.Unpack(from, packed)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkDigits(b *testing.B) {
	r := testkit.Rand(testkit.Seed(b), 1)
	set := sample(r, digits)
	table := Train(set)
	many := make([][]byte, 1<<13) // so many that the processor does not learn them
	packed := make([][]byte, len(many))
	for i := range many {
		many[i] = digits(r)
		packed[i], _ = table.Pack(nil, many[i], 1)
	}
	var buf []byte
	b.Run("train", func(b *testing.B) {
		for b.Loop() {
			Train(set)
		}
	})
	b.Run("pack", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			buf, _ = table.Pack(buf[:0], many[i%len(many)], 1)
		}
	})
	b.Run("unpack", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			buf, _ = table.Unpack(buf[:0], packed[i%len(many)])
		}
	})
}
