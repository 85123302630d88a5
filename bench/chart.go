package bench

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Geometry of a chart, in SVG units.
const (
	chartWidth   = 640
	chartHeight  = 320
	chartLeft    = 70
	chartRight   = 130
	chartTop     = 36
	chartBottom  = 44
	chartYTicks  = 5
	chartPadding = 1.05 // room above the highest point
)

// chartColours are told apart by people who do not see red and green as different.
var chartColours = []string{"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"}

// series is one line of a chart: a value for each thread count; NaN where there is none.
type series struct {
	name   string
	values []float64
	low    []float64 // ends of the spread
	high   []float64
}

// chart draws values over thread counts, which are spread evenly: they grow by factors. The bars are the spreads of the rounds.
func chart(title, unit string, threads []int, lines []series) string {
	top := 0.0
	for _, l := range lines {
		for i := range l.values {
			if v := math.Max(l.values[i], l.high[i]); !math.IsNaN(v) {
				top = math.Max(top, v)
			}
		}
	}
	top = niceTop(top * chartPadding)
	x := func(i int) float64 {
		if len(threads) == 1 {
			return chartLeft + (chartWidth-chartLeft-chartRight)/2.0
		}
		return chartLeft + float64(i)*(chartWidth-chartLeft-chartRight)/float64(len(threads)-1)
	}
	y := func(v float64) float64 { return chartHeight - chartBottom - v/top*(chartHeight-chartTop-chartBottom) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="12">`, chartWidth, chartHeight, chartWidth, chartHeight)
	fmt.Fprintf(&b, "\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n<text x=\"%d\" y=\"20\" font-size=\"14\" font-weight=\"bold\">%s</text>\n", chartLeft, html.EscapeString(title))
	for i := range chartYTicks + 1 {
		v := top * float64(i) / chartYTicks
		fmt.Fprintf(&b, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			chartLeft, chartWidth-chartRight, y(v), y(v), chartLeft-6, y(v)+4, shortNumber(v))
	}
	for i, n := range threads {
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d</text>\n", x(i), chartHeight-chartBottom+18, n)
	}
	fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">threads</text>\n", (chartWidth+chartLeft-chartRight)/2, chartHeight-8)
	fmt.Fprintf(&b, "<text x=\"16\" y=\"%d\" text-anchor=\"middle\" transform=\"rotate(-90 16 %d)\">%s</text>\n", chartHeight/2, chartHeight/2, html.EscapeString(unit))
	for i, l := range lines {
		drawSeries(&b, l, chartColours[i%len(chartColours)], x, y)
		fmt.Fprintf(&b, "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%d\" y=\"%d\">%s</text>\n",
			chartWidth-chartRight+14, chartTop+i*20, chartColours[i%len(chartColours)], chartWidth-chartRight+32, chartTop+i*20+10, html.EscapeString(l.name))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func drawSeries(b *strings.Builder, l series, colour string, x func(int) float64, y func(float64) float64) {
	var points []string
	for i, v := range l.values {
		if math.IsNaN(v) {
			continue
		}
		points = append(points, fmt.Sprintf("%.1f,%.1f", x(i), y(v)))
		fmt.Fprintf(b, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-opacity=\"0.5\"/><circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n",
			x(i), x(i), y(l.low[i]), y(l.high[i]), colour, x(i), y(v), colour)
	}
	if len(points) > 1 {
		fmt.Fprintf(b, "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", strings.Join(points, " "), colour)
	}
}

// niceTop rounds up to 1, 2, 2.5 or 5 times a power of ten, so that the ticks are round numbers.
func niceTop(v float64) float64 {
	if v <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, step := range []float64{1, 2, 2.5, 5} {
		if v <= step*power {
			return step * power
		}
	}
	return 10 * power
}

func shortNumber(v float64) string {
	switch {
	case v >= 10_000:
		return fmt.Sprintf("%.0fk", v/1000)
	case v >= 1000:
		return fmt.Sprintf("%.1fk", v/1000)
	case v >= 10 || v == 0:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2g", v)
}
