package bench

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// bucketsPerDecade is how fine a stored histogram is. Percentiles are taken from sysbench's own, of about 128 a decade, before.
const bucketsPerDecade = 8

// Buckets beyond these hold what is shorter than a microsecond, or longer than 1,000 seconds.
const (
	bucketMin = -3 * bucketsPerDecade
	bucketMax = 6 * bucketsPerDecade
)

// Histogram counts events by their latency. Bucket b holds those from 10^(b/bucketsPerDecade) ms up to the next.
type Histogram struct {
	first  int // the bucket of counts[0]
	counts []int64
}

func bucketOf(millis float64) int {
	if millis <= 0 {
		return bucketMin
	}
	return min(bucketMax, max(bucketMin, int(math.Floor(math.Log10(millis)*bucketsPerDecade))))
}

func (h *Histogram) add(bucket int, n int64) {
	if len(h.counts) == 0 {
		h.first = bucket
	}
	for bucket < h.first {
		h.counts, h.first = append([]int64{0}, h.counts...), h.first-1
	}
	for bucket >= h.first+len(h.counts) {
		h.counts = append(h.counts, 0)
	}
	h.counts[bucket-h.first] += n
}

func (h *Histogram) merge(other *Histogram) {
	for i, n := range other.counts {
		if n > 0 {
			h.add(other.first+i, n)
		}
	}
}

func (h *Histogram) count() (total int64) {
	for _, n := range h.counts {
		total += n
	}
	return total
}

// at is the count of a bucket.
func (h *Histogram) at(bucket int) int64 {
	if i := bucket - h.first; i >= 0 && i < len(h.counts) {
		return h.counts[i]
	}
	return 0
}

// MarshalText writes "first:count,count,…": a report has a thousand histograms.
func (h Histogram) MarshalText() ([]byte, error) {
	if len(h.counts) == 0 {
		return nil, nil
	}
	text := strconv.AppendInt(nil, int64(h.first), 10)
	for i, n := range h.counts {
		text = append(text, ",:"[btoi(i == 0)])
		text = strconv.AppendInt(text, n, 10)
	}
	return text, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// UnmarshalText reads what MarshalText has written.
func (h *Histogram) UnmarshalText(text []byte) error {
	*h = Histogram{}
	if len(text) == 0 {
		return nil
	}
	first, rest, _ := strings.Cut(string(text), ":")
	var err error
	if h.first, err = strconv.Atoi(first); err != nil || h.first < bucketMin || h.first > bucketMax {
		return fmt.Errorf("histogram %q: bad first bucket", text)
	}
	for part := range strings.SplitSeq(rest, ",") {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || n < 0 || h.first+len(h.counts) > bucketMax {
			return fmt.Errorf("histogram %q: bad count", text)
		}
		h.counts = append(h.counts, n)
	}
	return nil
}

// Latency describes how long the events of a run took, in milliseconds.
type Latency struct {
	AvgMillis  float64   `json:"avg_ms,omitempty"`
	P50Millis  float64   `json:"p50_ms,omitempty"`
	P95Millis  float64   `json:"p95_ms,omitempty"`
	P99Millis  float64   `json:"p99_ms,omitempty"`
	P999Millis float64   `json:"p999_ms,omitempty"`
	MaxMillis  float64   `json:"max_ms,omitempty"`
	Histogram  Histogram `json:"histogram,omitzero"`
}

// IsZero tells encoding/json whether there is anything to store.
func (h Histogram) IsZero() bool { return len(h.counts) == 0 }

// sample is a latency with how many events had it.
type sample struct {
	millis float64
	count  int64
}

// fill sets the percentiles and the histogram from samples in rising order, by sysbench's own rule for percentiles.
func (l *Latency) fill(samples []sample) {
	var total int64
	for _, s := range samples {
		total += s.count
		l.Histogram.add(bucketOf(s.millis), s.count)
	}
	for _, p := range []struct {
		to    *float64
		share float64
	}{{&l.P50Millis, 0.5}, {&l.P95Millis, 0.95}, {&l.P99Millis, 0.99}, {&l.P999Millis, 0.999}} {
		want := max(1, int64(math.Floor(float64(total)*p.share+0.5)))
		var seen int64
		for _, s := range samples {
			if seen += s.count; seen >= want {
				*p.to = s.millis
				break
			}
		}
	}
}

// bucketLine is a line of sysbench's histogram: a latency in milliseconds, stars, a count.
var bucketLine = regexp.MustCompile(`^\s+(\d+\.\d+) \|\** *\s(\d+)$`)

// parseBucket reads a line of sysbench's histogram.
func parseBucket(line string) (sample, bool) {
	found := bucketLine.FindStringSubmatch(line)
	if found == nil {
		return sample{}, false
	}
	millis, _ := strconv.ParseFloat(found[1], 64)
	count, _ := strconv.ParseInt(found[2], 10, 64)
	return sample{millis, count}, true
}
