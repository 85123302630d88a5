package status

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Counter is a number that only grows. The zero value is ready; all methods are safe for concurrent use.
type Counter struct{ n atomic.Uint64 }

// Inc adds one.
func (c *Counter) Inc() { c.n.Add(1) }

// Add adds n.
func (c *Counter) Add(n uint64) { c.n.Add(n) }

// Load returns the current count.
func (c *Counter) Load() uint64 { return c.n.Load() }

// Gauge is a number that goes both ways. The zero value is ready; all methods are safe for concurrent use.
type Gauge struct{ n atomic.Int64 }

// Set replaces the value.
func (g *Gauge) Set(n int64) { g.n.Store(n) }

// Add adds n, which may be negative.
func (g *Gauge) Add(n int64) { g.n.Add(n) }

// Load returns the current value.
func (g *Gauge) Load() int64 { return g.n.Load() }

const (
	histogramPowers  = 40                        // 2^40 ns is 18 minutes, 2^40 bytes is 1 TiB
	histogramBuckets = 2*histogramPowers + 1 + 1 // two per power, one for 0 and 1, one for what lies above
	histogramTop     = uint64(1) << histogramPowers
)

// Histogram counts observations in fixed buckets whose bounds grow by turns by 1.5 and by 4/3: an observation is known to
// within a half. The zero value is ready; all methods are safe for concurrent use and allocate nothing.
type Histogram struct {
	sum     atomic.Uint64
	buckets [histogramBuckets]atomic.Uint64
}

// Observe counts v, in the metric's unit.
func (h *Histogram) Observe(v uint64) {
	h.sum.Add(v)
	h.buckets[bucketOf(v)].Add(1)
}

// ObserveDuration counts d in nanoseconds; a negative duration counts as zero.
func (h *Histogram) ObserveDuration(d time.Duration) { h.Observe(uint64(max(d, 0))) }

// SetSum makes h the sum of others of its unit, which may be observed meanwhile. Who sets h is its only writer.
func (h *Histogram) SetSum(of ...*Histogram) {
	var sum uint64
	for _, other := range of {
		sum += other.sum.Load()
	}
	h.sum.Store(sum)
	for i := range h.buckets {
		var n uint64
		for _, other := range of {
			n += other.buckets[i].Load()
		}
		h.buckets[i].Store(n)
	}
}

// Count returns the number of observations.
func (h *Histogram) Count() uint64 {
	var n uint64
	for i := range h.buckets {
		n += h.buckets[i].Load()
	}
	return n
}

// Sum returns the sum of all observations. It wraps after 2^64.
func (h *Histogram) Sum() uint64 { return h.sum.Load() }

// Quantile returns the upper bound of the bucket that holds the q-quantile (0 < q <= 1), zero without observations. It
// overstates by at most a half, which is enough for an event log; graphs come from the buckets themselves.
func (h *Histogram) Quantile(q float64) uint64 {
	total := h.Count()
	if total == 0 {
		return 0
	}
	rank := uint64(q * float64(total))
	if rank == 0 {
		rank = 1
	}
	var seen uint64
	for i := range h.buckets {
		seen += h.buckets[i].Load()
		if seen >= rank {
			return bucketBound(i)
		}
	}
	return histogramTop
}

// bucketOf returns the first bucket whose bound is not below v.
func bucketOf(v uint64) int {
	if v <= 1 {
		return 0
	}
	if v > histogramTop {
		return histogramBuckets - 1
	}
	// 2^p < v <= 2^(p+1), split in the middle at 3*2^(p-1).
	p := bits.Len64(v-1) - 1
	if p == 0 {
		return 2
	}
	if v <= 3<<(p-1) {
		return 2*p + 1
	}
	return 2*p + 2
}

// bucketBound returns the inclusive upper bound of bucket i: 1, (none), 2, 3, 4, 6, 8, 12, ... Bucket 1 would be 1.5 and
// stays empty. The last bucket has no bound; its figure is the largest the histogram can tell.
func bucketBound(i int) uint64 {
	switch {
	case i <= 1:
		return 1
	case i >= histogramBuckets-1:
		return histogramTop
	case i%2 == 0:
		return 1 << (i / 2)
	}
	return 3 << (i/2 - 1)
}
