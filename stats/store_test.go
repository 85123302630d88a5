package stats

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/types"
)

// column returns the statistics of one INT column with the given values, as Analyze makes them.
func column(values []int64) (*Store, *catalog.Table) {
	kind := types.Type{ID: types.TypeInt, Length: -1}
	t := &catalog.Table{PhysID: 1, Columns: []*catalog.Column{{ID: 7, Name: "a", Type: kind}}}
	index := &catalog.Index{ID: 3, Columns: []catalog.IndexColumn{{Col: 0}}}
	t.Indexes = []*catalog.Index{index}
	s := newSampler(t, nil)
	s.seen = len(values)
	for _, v := range values {
		row := types.Int(v)
		if v < 0 {
			row = types.Null()
		}
		s.rows = append(s.rows, s.sample(func(int) types.Value { return row }))
	}
	return &Store{tables: map[uint64]*Table{1: s.summary()}}, t
}

func sequence(n int, f func(i int) int64) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = f(i)
	}
	return out
}

// TestRangeFraction: on an even distribution the estimate is within a few histogram steps, and wider ranges never estimate less.
func TestRangeFraction(t *testing.T) {
	s, table := column(sequence(5000, func(i int) int64 { return int64(i) }))
	for _, c := range []struct{ low, high, want float64 }{{0, 4999, 1}, {1000, 2000, 0.2}, {4000, 9000, 0.2}, {6000, 7000, 0}} {
		got := s.RangeFraction(table, 0, types.Int(int64(c.low)), types.Int(int64(c.high)), true, true)
		if math.Abs(got-c.want) > 0.03 {
			t.Errorf("[%v, %v]: %v, want %v", c.low, c.high, got, c.want)
		}
	}
	last := 0.0
	for high := int64(0); high < 6000; high += 100 {
		got := s.RangeFraction(table, 0, types.Int(500), types.Int(high), true, true)
		if got < last {
			t.Errorf("up to %d: %v, but less far %v", high, got, last)
		}
		last = got
	}
	if open := s.RangeFraction(table, 0, types.Null(), types.Null(), true, true); open != 1 {
		t.Errorf("an open range keeps %v", open)
	}
}

// TestNulls: rows with NULL are in no range.
func TestNulls(t *testing.T) {
	s, table := column(sequence(1000, func(i int) int64 { return int64(i%4) - 1 })) // a quarter NULL, then 0, 1, 2
	if got := s.RangeFraction(table, 0, types.Int(0), types.Int(10), true, true); math.Abs(got-0.75) > 0.03 {
		t.Errorf("%v of the rows, want 0.75", got)
	}
}

// TestDistinct: the estimate of the whole table is exact, that of few repeated values too.
func TestDistinct(t *testing.T) {
	for _, n := range []int64{1, 10, 1000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s, table := column(sequence(4000, func(i int) int64 { return int64(i) % n }))
			if got := s.Distinct(table, table.Indexes[0], 1); got != float64(n) {
				t.Errorf("%v values, want %d", got, n)
			}
		})
	}
}

// TestUnknown: without statistics the answers say so.
func TestUnknown(t *testing.T) {
	s, table := column(nil)
	other := &catalog.Table{PhysID: 2, Columns: table.Columns, Indexes: table.Indexes}
	if _, known := s.RowCount(other); known || s.Distinct(other, other.Indexes[0], 1) != 0 || s.RangeFraction(other, 0, types.Int(1), types.Int(2), true, true) >= 0 {
		t.Error("an unknown table is estimated as if it were known")
	}
	if s.Rows(table) != 0 {
		t.Errorf("an empty table has %v rows", s.Rows(table))
	}
}

// TestSampleSize: whatever the size of a row's values, the sample keeps a bounded number of bytes of it, which are those of the histogram;
// and it still tells apart what an index does, however far behind the beginning it differs.
func TestSampleSize(t *testing.T) {
	long := func(tail string) []byte { return []byte(strings.Repeat("x", 1<<20) + tail) }
	kinds := []types.Type{
		{ID: types.TypeLongBlob, Length: -1, Coll: types.Binary}, {ID: types.TypeLongText, Length: -1, Coll: types.Utf8mb40900AICI},
		{ID: types.TypeJSON, Length: -1, Coll: types.Utf8mb4Bin}, {ID: types.TypeVarchar, Length: 1 << 20, Coll: types.Utf8mb40900AICI},
	}
	table := &catalog.Table{PhysID: 1, Indexes: []*catalog.Index{{ID: 3, Columns: []catalog.IndexColumn{{Col: 3}, {Col: 1, PrefixLen: 9}}}}}
	for i, kind := range kinds {
		table.Columns = append(table.Columns, &catalog.Column{ID: uint32(i), Type: kind})
	}
	s := newSampler(table, nil)
	for _, tail := range []string{"a", "b"} {
		row := []types.Value{types.Bytes(long(tail)), types.String(long(tail), kinds[1].Coll), types.JSON([]byte(`"` + string(long(tail)) + `"`)),
			types.String(long(tail), kinds[3].Coll)}
		s.rows = append(s.rows, s.sample(func(i int) types.Value { return row[i] }))
		s.seen++
	}
	for _, row := range s.rows {
		for i, key := range row.keys {
			if whole := types.AppendKey(nil, types.String(long(""), kinds[i].Coll), &kinds[i], false, 0); i != 2 && key != string(whole[:keyPrefixBytes]) {
				t.Errorf("column %d: the key is %x", i, key)
			}
			if len(key) != keyPrefixBytes {
				t.Errorf("column %d: %d bytes are kept", i, len(key))
			}
		}
	}
	if got := s.summary().Distinct[3]; !slices.Equal(got, []float64{2, 2}) {
		t.Errorf("%v different values of the index, want 2 and 2", got)
	}
	table.Columns = make([]*catalog.Column, 1000)
	if cells := newSampler(table, nil).limit * len(table.Columns); cells > sampleCells {
		t.Errorf("a sample of 1,000 columns keeps %d values", cells)
	}
}

// TestDistinctOfSample: what a sample tells of the number of different values. Of a key that each of ten thousand suppliers has six hundred times, a
// sample of ten thousand rows has four thousand values once; that is no sign of many more.
func TestDistinctOfSample(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 9)
	const seen = 6_000_000
	for _, c := range []struct {
		name      string
		value     func() int
		low, high float64
	}{
		{"few", func() int { return r.IntN(7) }, 7, 7},
		{"ten thousand", func() int { return r.IntN(10_000) }, 8_000, 12_500},
		{"a million", func() int { return r.IntN(1_000_000) }, 600_000, 2_500_000},
		{"half of one value", func() int { return r.IntN(2) * (1 + r.IntN(10_000)) }, 4_000, 14_000},
	} {
		s := &sampler{seen: seen}
		for range sampleRows {
			s.rows = append(s.rows, sampled{prefixes: []uint64{uint64(c.value())}})
		}
		if got := s.distinct(0); got < c.low || got > c.high {
			t.Errorf("%s: %.0f values", c.name, got)
		}
	}
	whole := &sampler{seen: 100, rows: make([]sampled, 100)}
	for i := range whole.rows {
		whole.rows[i].prefixes = []uint64{uint64(i / 3)}
	}
	if got := whole.distinct(0); got != 34 {
		t.Errorf("of a whole table: %f", got)
	}
	if got := whole.estimated(10, 10, 10); got != 10 {
		t.Errorf("of ten rows that are not NULL, all different: %f", got)
	}
}
