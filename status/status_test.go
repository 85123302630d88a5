package status_test

import (
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/status"
)

// TestQuantile: a quantile of one value is at most half above it, for every power and for random values.
func TestQuantile(t *testing.T) {
	rng := testkit.Rand(testkit.Seed(t), 0)
	vs := []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1<<40 - 1, 1 << 40}
	for range 5000 {
		vs = append(vs, rng.Uint64()>>(24+rng.IntN(40)))
	}
	for _, v := range vs {
		var h status.Histogram
		h.Observe(v)
		q := h.Quantile(0.99)
		if q < v || float64(q) > math.Max(1, 1.5*float64(v)) {
			t.Errorf("quantile of %d is %d", v, q)
		}
		if h.Count() != 1 || h.Sum() != v {
			t.Errorf("count %d, sum %d of %d", h.Count(), h.Sum(), v)
		}
	}
	var h status.Histogram
	h.Observe(math.MaxUint64)
	if h.Quantile(1) != 1<<40 {
		t.Errorf("quantile above the top is %d", h.Quantile(1))
	}
	h = status.Histogram{}
	if h.Quantile(0.5) != 0 {
		t.Error("an empty histogram has a quantile")
	}
}

func TestConcurrent(t *testing.T) {
	var c status.Counter
	var g status.Gauge
	var h status.Histogram
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range uint64(1000) {
				c.Inc()
				g.Add(1)
				g.Add(-1)
				h.Observe(i)
			}
		})
	}
	wg.Wait()
	if c.Load() != 8000 || g.Load() != 0 || h.Count() != 8000 {
		t.Errorf("counted %d, %d, %d", c.Load(), g.Load(), h.Count())
	}
	if n := testing.AllocsPerRun(100, func() { h.ObserveDuration(time.Millisecond); c.Add(2); g.Set(3) }); n != 0 {
		t.Errorf("observing allocates %.1f times", n)
	}
}

func TestText(t *testing.T) {
	r := status.NewRegistry()
	var c status.Counter
	var g status.Gauge
	var h, d status.Histogram
	for _, err := range []error{
		r.Counter("commits_total", "Commits.", status.Labels{"level": "rr"}, &c),
		r.Gauge("open", "Open things.", nil, &g),
		r.Histogram("rows", "Rows.", nil, &h),
		r.DurationHistogram("wait_seconds", "Waits.", nil, &d),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r.BeforeWrite(func() { g.Set(7) })
	c.Add(3)
	h.Observe(5)
	d.ObserveDuration(2 * time.Second)
	var out strings.Builder
	if err := r.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`pando_commits_total{level="rr"} 3`, "# TYPE pando_open gauge", "pando_open 7", `pando_rows_bucket{le="4"} 0`,
		`pando_rows_bucket{le="16"} 1`, "pando_rows_sum 5", "pando_rows_count 1", "pando_wait_seconds_sum 2", `pando_wait_seconds_bucket{le="+Inf"} 1`,
	} {
		if !strings.Contains(out.String(), line+"\n") {
			t.Errorf("no line %s in\n%s", line, out.String())
		}
	}
	if err := r.Gauge("open", "Open things.", nil, &g); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a taken name: %v", err)
	}
	if err := r.Gauge("bad name", "", nil, &g); err == nil {
		t.Error("a bad name was taken")
	}
}

func BenchmarkObserve(b *testing.B) {
	var h status.Histogram
	for i := uint64(0); b.Loop(); i++ {
		h.Observe(i)
	}
}
