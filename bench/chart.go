package bench

import (
	"fmt"
	"math"
	"strings"
)

// Shares of all events that a column of the chart tells apart: each mark is for this share and more. The scale is logarithmic in both
// directions, since what users wait for is one in a thousand, and a thousand times as long.
var chartMarks = []struct {
	share float64
	mark  string
}{{0.1, "█"}, {0.03, "▇"}, {0.01, "▆"}, {0.003, "▅"}, {0.001, "▄"}, {0.0003, "▃"}, {0.0001, "▂"}, {0, "▁"}}

const chartLegend = "Distribution of latencies: a column is a factor of 1.33, its height the share of all events: ▁ below 0.01 %, ▂ 0.01 %, ▃ 0.03 %, ▄ 0.1 %, ▅ 0.3 %, ▆ 1 %, ▇ 3 %, █ 10 % and more."

// chartRow is one line of a chart.
type chartRow struct {
	name      string
	histogram *Histogram
}

// chart draws histograms below each other, over one scale of milliseconds.
func chart(rows []chartRow) []string {
	low, high, width := math.MaxInt, math.MinInt, 0
	for _, row := range rows {
		if n := len(row.histogram.counts); n > 0 {
			low, high = min(low, row.histogram.first), max(high, row.histogram.first+n-1)
		}
		width = max(width, len(row.name))
	}
	if low > high {
		return nil
	}
	low = bucketsPerDecade * int(math.Floor(float64(low)/bucketsPerDecade)) // a whole power of ten
	scale := strings.Repeat(" ", width+1)
	for b := low; b <= high; b += bucketsPerDecade {
		scale += fmt.Sprintf("%-*s", bucketsPerDecade, fmt.Sprintf("|%g", math.Pow10(b/bucketsPerDecade)))
	}
	lines := []string{strings.TrimRight(scale, " ") + " ms"}
	for _, row := range rows {
		line := fmt.Sprintf("%-*s ", width, row.name)
		total := float64(row.histogram.count())
		for b := low; b <= high; b++ {
			line += chartMark(float64(row.histogram.at(b)) / max(1, total))
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}

func chartMark(share float64) string {
	if share > 0 {
		for _, m := range chartMarks {
			if share >= m.share {
				return m.mark
			}
		}
	}
	return " "
}
