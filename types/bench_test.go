package types

import (
	"testing"
	"time"
)

// allocCases are the encoders that must not allocate.
func allocCases() map[string]func() {
	intT, bigT := Type{ID: TypeInt}, Type{ID: TypeBigInt, Unsigned: true}
	charT := Type{ID: TypeChar, Length: 120, Coll: DefaultCollation}
	genT := Type{ID: TypeVarchar, Length: 120, Coll: Utf8mb4GeneralCI}
	decT, wideT := Type{ID: TypeDecimal, Length: 10, Scale: 2}, Type{ID: TypeDecimal, Length: 30, Scale: 2}
	dtT, tsT := Type{ID: TypeDatetime}, Type{ID: TypeTimestamp}
	c := Text("83868641912-28773972837-60736120486-75162659906-27563526494-20381887404-41576422241-93426793964-56405065102-33518432330")
	v := Int(123456)
	now := Datetime(PackDatetime(DateTime{2024, 5, 6, 7, 8, 9, 0}), 0)
	wide, _, _ := ParseDecimal([]byte("123456789012345678901234.56"))
	loc, _ := time.LoadLocation("Europe/Berlin")
	text := &RowEncoder{Buf: make([]byte, 0, 4096), Loc: loc}
	bin := &RowEncoder{Buf: make([]byte, 0, 4096), Loc: loc, Binary: true}
	row := func(e *RowEncoder) func() {
		i, s := AppendStored(nil, v, &intT), AppendStored(nil, c, &charT)
		d, w := AppendStored(nil, Decimal(12345, 2), &decT), AppendStored(nil, wide, &wideT)
		dt, ts := AppendStored(nil, now, &dtT), AppendStored(nil, Timestamp(1700000000e6, 0), &tsT)
		return func() {
			e.Buf = e.Buf[:0]
			e.StartRow(8)
			e.Stored(&intT, i)
			e.Stored(&bigT, i)
			e.Stored(&charT, s)
			e.Stored(&decT, d)
			e.Stored(&wideT, w)
			e.Stored(&dtT, dt)
			e.Stored(&tsT, ts)
			e.Null()
			e.EndRow()
			e.Value(&charT, &c)
			e.Value(&intT, &v)
			e.Value(&wideT, &wide)
		}
	}
	buf := make([]byte, 0, 4096)
	vec := NewVector(charT)
	return map[string]func(){
		"row text":   row(text),
		"row binary": row(bin),
		"keys": func() {
			b := AppendKey(buf[:0], v, &intT, false, 0)
			b = AppendKey(b, c, &charT, false, 0)
			b = AppendKey(b, c, &genT, true, 10)
			b = AppendKey(b, wide, &wideT, false, 0)
			AppendKey(b, now, &dtT, false, 0)
		},
		"stored": func() {
			b := AppendStored(buf[:0], v, &intT)
			b = AppendStored(b, c, &charT)
			b = AppendStored(b, wide, &wideT)
			AppendStored(b, now, &dtT)
		},
		"compare": func() {
			CompareStrings(c.B, c.B[:100], DefaultCollation)
			CompareStrings(c.B, c.B[:100], Utf8mb4GeneralCI)
			AbbreviateStored(c.B, &charT)
			AbbreviateStored(c.B, &genT)
			Compare(v, Decimal(5, 1), 0)
		},
		"hash": func() { Hash64(1, c, DefaultCollation) },
		"convert": func() {
			Convert(nil, v, intT, "", 1)
			Convert(nil, c, charT, "", 1)
		},
		"vector": func() {
			vec.Reset()
			for range 5 {
				vec.Append(&c)
			}
			vec.Value(3)
			vec.CompareRows(1, vec, 2)
		},
	}
}

func TestEncodersDoNotAllocate(t *testing.T) {
	for name, f := range allocCases() {
		f() // weight tables and pools
		if n := testing.AllocsPerRun(200, f); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkEncoders(b *testing.B) {
	for name, f := range allocCases() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
}

func BenchmarkCollation(b *testing.B) {
	x := []byte("83868641912-28773972837-60736120486-75162659906-27563526494-20381887404-41576422241")
	y := append([]byte(nil), x...)
	y[len(y)-1] = 'z'
	buf := make([]byte, 0, 1024)
	for _, c := range []CollationID{DefaultCollation, Utf8mb4GeneralCI, Utf8mb4Bin, 224} {
		k := c.get().load()
		b.Run("compare/"+c.Name(), func(b *testing.B) {
			for b.Loop() {
				CompareStrings(x, y, c)
			}
		})
		b.Run("library/"+c.Name(), func(b *testing.B) {
			for b.Loop() {
				k.collate(x, y, false)
			}
		})
		b.Run("key/"+c.Name(), func(b *testing.B) {
			for b.Loop() {
				AppendSortKey(buf[:0], x, c)
			}
		})
		b.Run("weights-library/"+c.Name(), func(b *testing.B) {
			for b.Loop() {
				k.lib.WeightString(buf[:0], x, 0)
			}
		})
	}
}
