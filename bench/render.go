package bench

import (
	"fmt"
	"strings"
)

// markdown prints sections.
func markdown(sections []section) string {
	var b strings.Builder
	for _, s := range sections {
		fmt.Fprintf(&b, "%s %s\n\n", strings.Repeat("#", s.level), s.title)
		for _, text := range s.text {
			fmt.Fprintf(&b, "%s\n\n", text)
		}
		for _, line := range s.bullet {
			fmt.Fprintf(&b, "- %s\n", line)
		}
		if len(s.bullet) > 0 {
			b.WriteString("\n")
		}
		if len(s.code) > 0 {
			fmt.Fprintf(&b, "```sh\n%s\n```\n\n", strings.Join(s.code, "\n"))
		}
		for _, t := range s.tables {
			fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(t.head, " | "), strings.Repeat(" --- |", len(t.head)))
			for _, row := range t.rows {
				cells := make([]string, len(row))
				for i, cell := range row {
					cells[i] = strings.ReplaceAll(cell, "|", `\|`)
				}
				fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
			}
			b.WriteString("\n")
		}
		if len(s.chart) > 0 {
			fmt.Fprintf(&b, "%s\n\n```text\n%s\n```\n\n", chartLegend, strings.Join(s.chart, "\n"))
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
