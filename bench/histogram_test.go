package bench

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestHistogramText: what is stored is read again, and what can't have been stored is refused.
func TestHistogramText(t *testing.T) {
	var h Histogram
	for _, millis := range []float64{0.05, 1.1, 1.2, 900, 0} {
		h.add(bucketOf(millis), 1)
	}
	text, err := json.Marshal(Latency{Histogram: h})
	if err != nil {
		t.Fatal(err)
	}
	var again Latency
	if err := json.Unmarshal(text, &again); err != nil || again.Histogram.count() != 5 || again.Histogram.at(0) != 2 || again.Histogram.first != bucketMin {
		t.Errorf("%s: %v, %+v", text, err, again)
	}
	if text, _ := json.Marshal(Run{Workload: "x"}); strings.Contains(string(text), "histogram") {
		t.Errorf("an empty histogram is stored: %s", text)
	}
	for _, bad := range []string{"x:1", "-99:1", "0:", "0:1,-1", "0:1,x", "0" + strings.Repeat(",1", 99), "0:" + strings.Repeat("1,", 99) + "1"} {
		if h.UnmarshalText([]byte(bad)) == nil {
			t.Errorf("accepted %q", bad)
		}
	}
}

// TestPercentiles: those of sysbench's rule, however few events there are.
func TestPercentiles(t *testing.T) {
	for _, c := range []struct {
		samples             []sample
		p50, p95, p99, p999 float64
	}{
		{nil, 0, 0, 0, 0},
		{[]sample{{3, 1}}, 3, 3, 3, 3},
		{[]sample{{1, 50}, {2, 45}, {3, 4}, {4, 1}}, 1, 2, 3, 4},
		{[]sample{{1, 9989}, {2, 1}, {100, 10}}, 1, 1, 1, 2},
	} {
		var l Latency
		l.fill(c.samples)
		if l.P50Millis != c.p50 || l.P95Millis != c.p95 || l.P99Millis != c.p99 || l.P999Millis != c.p999 {
			t.Errorf("%v: %+v", c.samples, l)
		}
	}
}

// TestChart: rows share one scale of milliseconds that begins at a power of ten, and a mark is the share of all events.
func TestChart(t *testing.T) {
	var fast, slow Histogram
	fast.add(bucketOf(0.2), 9995)
	fast.add(bucketOf(50), 5)
	slow.add(bucketOf(1000), 1)
	got := strings.Join(chart([]chartRow{{"16 fast", &fast}, {"16 none", &Histogram{}}, {"16 slow", &slow}}), "\n")
	want := strings.Join([]string{
		"        |0.1    |1      |10     |100    |1000 ms",
		"16 fast   █                  ▃",
		"16 none",
		"16 slow                                 █",
	}, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if lines := chart([]chartRow{{"none", &Histogram{}}}); lines != nil {
		t.Errorf("a chart of nothing: %q", lines)
	}
}
