package types

import (
	"bytes"
	"errors"
	"math"
	"testing"
	"time"
	"unsafe"

	"github.com/pandodb/pando/internal/testkit"
)

func TestErrorTableIsOrdered(t *testing.T) {
	for i := 1; i < len(errorTable); i++ {
		if errorTable[i-1].number >= errorTable[i].number {
			t.Errorf("%d stands before %d", errorTable[i-1].number, errorTable[i].number)
		}
	}
	for _, e := range errorTable {
		if len(e.state) != 5 {
			t.Errorf("%d: SQLSTATE %q", e.number, e.state)
		}
	}
	if !errors.Is(Errorf(ErDupEntry, "a", "b"), Errorf(ErDupEntry)) {
		t.Error("errors of one number must be alike")
	}
}

func TestValueSize(t *testing.T) {
	if n := unsafe.Sizeof(Value{}); n != 40 {
		t.Errorf("a Value has %d bytes, accounting and docs say 40", n)
	}
}

func TestSQLMode(t *testing.T) {
	want := "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
	if got := ModeDefault.String(); got != want {
		t.Errorf("default sql_mode %s", got)
	}
	m, err := ParseSQLMode("traditional")
	if err != nil || m&ModeStrictAllTables == 0 {
		t.Errorf("traditional: %v %v", m, err)
	}
	if m, err := ParseSQLMode(ModeDefault.String()); err != nil || m != ModeDefault {
		t.Errorf("round trip: %v %v", m, err)
	}
	if _, err := ParseSQLMode("STRICT,FOO"); !errors.Is(err, Errorf(ErWrongValueForVar)) {
		t.Errorf("unknown mode: %v", err)
	}
}

func TestWarningsAreCapped(t *testing.T) {
	c := Context{MaxErrorCount: 2}
	for range 5 {
		c.Warn(LevelWarning, ErWarnDataTruncated, "c", 1)
	}
	if len(c.Warnings()) != 2 || c.WarningCount() != 5 {
		t.Errorf("%d kept, %d counted", len(c.Warnings()), c.WarningCount())
	}
	c.ResetWarnings()
	if c.WarningCount() != 0 {
		t.Error("reset")
	}
}

func TestBatch(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	ts := testTypes()
	a, b := NewBatch(ts), NewBatch(ts)
	row := make([]Value, len(ts))
	for range 200 {
		for i := range ts {
			row[i] = randomValue(t, r, &ts[i]).Clone()
		}
		a.AppendRow(row)
	}
	a.Filter(func(i int) bool { return i%3 == 0 })
	a.Filter(func(i int) bool { return i%2 == 0 })
	if a.Rows() != 34 || a.Row(1) != 6 {
		t.Fatalf("%d live rows, second is %d", a.Rows(), a.Row(1))
	}
	got := make([]Value, len(ts))
	for i := range a.Rows() {
		b.AppendFrom(a, a.Row(i))
		a.ReadRow(a.Row(i), row)
		b.ReadRow(i, got)
		for c := range ts {
			if !sameValue(row[c], got[c]) || a.Cols[c].Hash(1, a.Row(i)) != b.Cols[c].Hash(1, i) {
				t.Fatalf("%v: copied %+v as %+v", ts[c], row[c], got[c])
			}
			if Hash64(1, row[c], ts[c].Coll) != b.Cols[c].Hash(1, i) {
				t.Fatalf("%v: %q hashes apart from its vector", ts[c], show(row[c]))
			}
		}
	}
	if b.MemSize() < 1000 {
		t.Error("memory is accounted")
	}
}

func TestInt128Decimal(t *testing.T) {
	v := DecimalFromInt128(-1, math.MaxUint64, 2)
	if s := string(AppendDecimal(nil, v)); s != "-0.01" {
		t.Error(s)
	}
	v = DecimalFromInt128(math.MaxInt64, math.MaxUint64, 0)
	if s := string(AppendDecimal(nil, v)); s != "170141183460469231731687303715884105727" {
		t.Error(s)
	}
	v = DecimalFromInt128(math.MinInt64, 0, 0)
	if s := string(AppendDecimal(nil, v)); s != "-170141183460469231731687303715884105728" {
		t.Error(s)
	}
}

func TestZoneGaps(t *testing.T) {
	loc, err := time.LoadLocation("Australia/Lord_Howe") // a change of half an hour
	if err != nil {
		t.Fatal(err)
	}
	r := testkit.Rand(testkit.Seed(t), 1)
	for range 2000 {
		d := DateTime{1970 + r.IntN(68), 1 + r.IntN(12), 1 + r.IntN(28), r.IntN(24), r.IntN(60), 0, 0}
		at, gap, ok := instantOf(PackDatetime(d), loc)
		if !ok {
			t.Fatal("no instant")
		}
		if back := PackTime(at); back != PackDatetime(d) && !gap {
			t.Fatalf("%v comes back as %v", d, UnpackDatetime(back))
		}
	}
}

func TestWeightsChecksum(t *testing.T) {
	seen := map[uint64]CollationID{}
	for _, c := range []CollationID{DefaultCollation, Utf8mb4GeneralCI, Utf8mb4Bin, Latin1SwedishCI, 224} {
		n := c.WeightsChecksum()
		if other, dup := seen[n]; dup {
			t.Errorf("%s and %s share %x", c.Name(), other.Name(), n)
		}
		seen[n] = c
		if n != c.WeightsChecksum() {
			t.Error("not stable")
		}
	}
}

func TestUnlimitedStrings(t *testing.T) {
	for _, ty := range []Type{{ID: TypeVarchar, Length: -1, Coll: DefaultCollation}, {ID: TypeVarbinary, Length: -1, Coll: Binary}} {
		for _, v := range []Value{Text("some text"), Int(12)} {
			got, err := Convert(&Context{Strict: true}, v, ty, "", 1)
			if err != nil || show(got) != show(v) {
				t.Errorf("%v <- %q: %q, %v", ty, show(v), show(got), err)
			}
		}
	}
}

// TestVectorRoom: a vector asks before it takes a long value, leaves out what it is refused, and gives all back.
func TestVectorRoom(t *testing.T) {
	held, limit := 0, 300<<10
	b := NewBatch([]Type{{ID: TypeLongBlob, Coll: Binary}, {ID: TypeLongBlob, Coll: Binary}})
	b.SetRoom(func(n int) bool {
		if held+n > limit {
			return false
		}
		held += n
		return true
	})
	row := func(n int) []Value {
		text := bytes.Repeat([]byte{'x'}, n)
		return []Value{{K: KindString, Coll: Binary, B: text}, {K: KindString, Coll: Binary, B: text}}
	}
	b.AppendRow(row(1000))
	if held != 0 {
		t.Errorf("short values took %d bytes", held)
	}
	b.AppendRow(row(100 << 10))
	if held < 200<<10 {
		t.Errorf("two values of 100 KiB took %d bytes", held)
	}
	b.AppendRow(row(200 << 10))
	for c := range b.Cols {
		if got := len(b.Cols[c].Bytes(1)); got != 100<<10 {
			t.Errorf("column %d has %d bytes where there was room for %d", c, got, 100<<10)
		}
		if got := len(b.Cols[c].Bytes(2)); got != 0 {
			t.Errorf("column %d has %d bytes that were refused", c, got)
		}
	}
	copied := NewBatch([]Type{b.Cols[0].Type, b.Cols[1].Type})
	before := held
	copied.SetRoom(func(n int) bool { held += n; return true })
	copied.AppendFrom(b, 1)
	if held < before+200<<10 {
		t.Errorf("a copy of two values of 100 KiB took %d bytes", held-before)
	}
	copied.SetRoom(nil)
	b.SetRoom(nil)
	if held != 0 {
		t.Errorf("%d bytes were not given back", held)
	}
}

// mustLike is NewLike without an interrupt.
func mustLike(pattern []byte, escape rune, c CollationID) *Like {
	l, err := NewLike(pattern, escape, c, nil)
	if err != nil {
		panic(err)
	}
	return l
}
