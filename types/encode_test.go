package types

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/testkit"
)

// TestEncoderPathsAgree: a field from stored bytes and from its value are the same
// bytes, in both protocols, and so is one that went through a Vector.
func TestEncoderPathsAgree(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	loc, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	latin1, _ := LookupCharset("latin1")
	for _, ty := range testTypes() {
		vec := NewVector(ty)
		var vals []Value
		for range 500 {
			v := randomValue(t, r, &ty).Clone()
			vals = append(vals, v)
			vec.Append(&v)
		}
		for i, v := range vals {
			for _, results := range []*Charset{nil, latin1} {
				for _, binary := range []bool{false, true} {
					a := RowEncoder{Binary: binary, Loc: loc, Results: results}
					b, c := a, a
					for _, e := range []*RowEncoder{&a, &b, &c} {
						e.StartRow(1)
					}
					a.Value(&ty, &v)
					vec.Encode(&b, i)
					if v.K == KindNull {
						c.Null()
					} else {
						c.Stored(&ty, AppendStored(nil, v, &ty))
					}
					if !bytes.Equal(a.Buf, b.Buf) || !bytes.Equal(a.Buf, c.Buf) {
						t.Fatalf("%v binary=%v %q: value %x, vector %x, stored %x", ty, binary, show(v), a.Buf, b.Buf, c.Buf)
					}
				}
			}
		}
	}
}

// TestBinaryParamRoundTrip: what the binary protocol sends, DecodeParam reads.
func TestBinaryParamRoundTrip(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	for _, ty := range testTypes() {
		switch ty.ID {
		case TypeTimestamp, TypeBit, TypeYear, TypeEnum, TypeSet:
			continue // travel as another class
		}
		for range 300 {
			v := randomValue(t, r, &ty)
			if v.K == KindNull {
				continue
			}
			e := RowEncoder{Binary: true}
			e.StartRow(1)
			e.Value(&ty, &v)
			field := e.Buf[packetHeaderLen+2:]
			got, rest, err := DecodeParam(ty.WireType(), ty.Unsigned, field, ty.Coll)
			if err != nil || len(rest) != 0 {
				t.Fatalf("%v %q: %x: %v rest %x", ty, show(v), field, err, rest)
			}
			back, err := Convert(nil, got, ty, "", 1)
			if err != nil || Compare(back, v, ty.Coll) != 0 {
				t.Fatalf("%v: sent %q, read %q (%v)", ty, show(v), show(back), err)
			}
		}
	}
}

func TestRowLayout(t *testing.T) {
	ty := Type{ID: TypeInt}
	e := RowEncoder{Binary: true, Buf: []byte("before")}
	e.StartRow(7)
	for range 6 {
		e.Null()
	}
	v := Int(258)
	e.Value(&ty, &v)
	start := e.EndRow()
	if start != 6 {
		t.Fatalf("row starts at %d", start)
	}
	want := []byte{0, 0, 0, 0, 0, 0xFC, 0, 2, 1, 0, 0}
	if !bytes.Equal(e.Buf[start:], want) {
		t.Fatalf("binary row %x, want %x", e.Buf[start:], want)
	}
}

func TestLongFields(t *testing.T) {
	for _, n := range []int{0, 250, 251, 65535, 65536, 1 << 24} {
		b := bytes.Repeat([]byte("x"), n)
		ty := Type{ID: TypeLongBlob, Coll: Binary}
		e := RowEncoder{}
		e.StartRow(1)
		e.Stored(&ty, b)
		size, used := lenEnc(e.Buf[packetHeaderLen:])
		if int(size) != n || !bytes.Equal(e.Buf[packetHeaderLen+used:], b) {
			t.Fatalf("length %d is sent as %d", n, size)
		}
	}
}

// TestRoom: a value or a row for which there is no room is left out, and the next row knows nothing of it.
func TestRoom(t *testing.T) {
	refused := errors.New("no room")
	e := RowEncoder{Room: func(n int) error {
		if n > 2*roomMin {
			return refused
		}
		return nil
	}}
	ty := Type{ID: TypeLongBlob, Coll: Binary}
	value := func(n int) func() {
		return func() {
			e.StartRow(1)
			e.Stored(&ty, make([]byte, n))
		}
	}
	row := func(n int) func() { return func() { e.Row(make([]byte, packetHeaderLen+n)) } }
	for i, step := range []struct {
		encode func()
		bytes  int
		err    error
	}{
		{value(3 * roomMin), packetHeaderLen + 1, refused}, {row(8), packetHeaderLen + 8, nil}, {row(3 * roomMin), packetHeaderLen, refused},
		{value(1), packetHeaderLen + 2, nil}, {row(roomMin + 1), packetHeaderLen + roomMin + 1, nil},
	} {
		before := len(e.Buf)
		step.encode()
		if got := len(e.Buf) - before; got != step.bytes || e.Full() != step.err {
			t.Errorf("step %d: %d bytes, %v", i, got, e.Full())
		}
	}
}

func FuzzDecodeParam(f *testing.F) {
	for _, ty := range []byte{wireTiny, wireShort, wireLong, wireLongLong, wireFloat, wireDouble, wireDate, wireDatetime, wireTime, wireNewDecimal, wireVarString, wireBlob, 0x77} {
		f.Add(ty, []byte{11, 0xE4, 7, 1, 2, 3, 4, 5, 1, 0, 0, 0})
		f.Add(ty, []byte{})
		f.Add(ty, []byte{0xFE, 1})
	}
	f.Fuzz(func(t *testing.T, ty byte, b []byte) {
		v, rest, err := DecodeParam(ty, false, b, DefaultCollation)
		if err == nil && len(rest) > len(b) {
			t.Fatal("grew")
		}
		show(v)
		for _, to := range testTypes() {
			if _, err := Convert(nil, v, to, "c", 1); err != nil && to.ID != TypeJSON {
				t.Fatalf("%v outside strict mode: %v", to, err)
			}
		}
	})
}

func FuzzParsers(f *testing.F) {
	for _, s := range []string{"", "1", "-1.5e3", "2020-01-02 03:04:05.678+05:30", "10:11", "1 10:11:12.5", "{\"a\": [1, 2.5, \"x\\u00e9\"]}", "%Y-%m-%d"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		parseDatetimeText(b)
		parseTimeText(b)
		if d, rest, ok := ParseDecimal(b); ok {
			text := AppendDecimal(nil, d)
			again, _, _ := ParseDecimal(text)
			if DecCompare(d, again) != 0 || len(rest) > len(b) {
				t.Fatalf("%q: %s", b, text)
			}
		}
		ParseFloat(b)
		DateByFormat(b, []byte("%Y-%m-%d %H:%i:%s.%f %p %W %j %X%V"), nil)
		DateByFormat([]byte("2020-01-02 10:11:12"), b, nil)
		AppendDateFormat(nil, DateTime{Year: 2020, Month: 1, Day: 2}, b, nil)
		if out, msg, _, _ := ParseJSON(nil, b); msg == "" {
			again, msg, _, _ := ParseJSON(nil, out)
			if msg != "" || !bytes.Equal(out, again) {
				t.Fatalf("%q normalises to %q, then %q (%s)", b, out, again, msg)
			}
		}
		for _, c := range []CollationID{DefaultCollation, Utf8mb4GeneralCI, 224, Latin1SwedishCI} {
			mustLike(b, '\\', c).Match(b, nil)
			CompareStrings(b, append(bytes.Clone(b), 'x'), c)
			ty := Type{ID: TypeVarchar, Length: -1, Coll: c}
			if _, err := SkipKey(AppendSortKey(nil, b, c), &ty, false); err != nil {
				t.Fatalf("%s %q: %v", c.Name(), b, err)
			}
		}
	})
}
