package stats

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/types"
)

// histogramOf is the histogram of an INT column with the given values.
func histogramOf(tb testing.TB, values []int64, buckets int) (*Histogram, *counter, *catalog.Table) {
	t := &catalog.Table{PhysID: 1, Columns: []*catalog.Column{{ID: 7, Name: "a", Type: types.Type{ID: types.TypeInt, Length: -1}}}}
	c := newCounter(t, []int{0}, HistogramMemoryMin, testkit.Rand(testkit.Seed(tb), 1))
	for _, v := range values {
		if c.rate == 1 || c.random.Float64() < c.rate {
			c.take(func(int) types.Value { return types.Int(v) })
		}
	}
	return c.histogram(0, buckets, false, time.Unix(0, 0)), c, t
}

// TestHistogramEstimates: what a histogram says of ranges is off by less than two of its buckets, never less for a wider range; what it says of a
// frequent value is exact.
func TestHistogramEstimates(t *testing.T) {
	const n, buckets = 20_000, 32
	values := sequence(n, func(i int) int64 {
		if i%4 == 0 {
			return 500
		}
		return int64(i) * int64(i) % 1009
	})
	h, _, table := histogramOf(t, values, buckets)
	key := func(v int64) string { k, _ := keyOf(table, 0, comparedChars, types.Int(v)); return k }
	var last [2]float64 // of rows below, and of those and the ones that have the value
	for v := int64(-1); v < 1100; v++ {
		less, upto := 0, 0
		for _, x := range values {
			if x < v {
				less++
			}
			if x <= v {
				upto++
			}
		}
		for i, c := range []struct {
			got   float64
			exact int
		}{{h.below(key(v), false), less}, {h.below(key(v), true), upto}} {
			if math.Abs(c.got-float64(c.exact)/n) > 2.0/buckets {
				t.Errorf("below %d: %v, want %v", v, c.got, float64(c.exact)/n)
			}
			if c.got < last[i] {
				t.Errorf("below %d: %v, but less far %v", v, c.got, last[i])
			}
			last[i] = c.got
		}
	}
	if got := h.equal(key(500)); math.Abs(got-0.25) > 0.01 {
		t.Errorf("a quarter of the rows is estimated as %v", got)
	}
	if got := h.equal(key(2000)); got != 0 {
		t.Errorf("a value beyond all is in %v of the rows", got)
	}
}

// TestHistogramMemory: the counting of more values than fit takes a sample, which is even, and says how large it is.
func TestHistogramMemory(t *testing.T) {
	const n = 100_000
	h, c, table := histogramOf(t, sequence(n, func(i int) int64 { return int64(i) }), 100)
	if c.rate > 1.0/8 || c.used > HistogramMemoryMin {
		t.Errorf("a sample of %v takes %d bytes", c.rate, c.used)
	}
	if strings.Contains(h.Document, `"sampling-rate": 1.0`) {
		t.Errorf("the document tells of no sample: %s", h.Document)
	}
	for _, part := range []float64{0.1, 0.5, 0.9} {
		key, _ := keyOf(table, 0, comparedChars, types.Int(int64(part*n)))
		if got := h.below(key, false); math.Abs(got-part) > 0.05 {
			t.Errorf("%v of the values are estimated as %v", part, got)
		}
	}
}

// TestCommonValues: a value that most rows have is told from the others, and those from values that nobody has seen twice.
func TestCommonValues(t *testing.T) {
	const n = 9000
	s, table := column(sequence(n, func(i int) int64 {
		if i%10 != 0 {
			return 1
		}
		return int64(i)
	}))
	for _, c := range []struct {
		v    types.Value
		want float64
	}{{types.Int(1), 0.9}, {types.Int(50), 1.0 / n}, {types.Null(), 1.0 / 901}} {
		if got := s.EqualFraction(table, 0, c.v); math.Abs(got-c.want) > c.want/100 {
			t.Errorf("%v: %v of the rows, want %v", c.v, got, c.want)
		}
	}
	if got := s.RangeFraction(table, 0, types.Int(1), types.Null(), false, true); math.Abs(got-0.1) > 0.02 {
		t.Errorf("a tenth lies above the common value, estimated as %v", got)
	}
}
