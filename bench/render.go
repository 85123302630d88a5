package bench

import (
	"fmt"
	"html"
	"strings"
)

// markdown prints sections with links to the chart files.
func markdown(sections []section, charts string) string {
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
		for _, f := range s.charts {
			fmt.Fprintf(&b, "![%s](%s/%s.svg)\n\n", f.title, charts, f.name)
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

const pageHead = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>%s</title><style>
body{font:15px/1.5 sans-serif;max-width:75em;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:1em 0;display:block;overflow-x:auto}th,td{border:1px solid #ccc;padding:.2em .6em;text-align:right}
th{background:#f3f3f3}th:first-child,td:first-child{text-align:left}pre{background:#f6f6f6;padding:.8em;overflow-x:auto}svg{max-width:100%%;height:auto}
</style></head><body>
`

// page prints sections as one page that needs no other file: the charts are inside.
func page(sections []section) string {
	var b strings.Builder
	fmt.Fprintf(&b, pageHead, html.EscapeString(sections[0].title))
	for _, s := range sections {
		fmt.Fprintf(&b, "<h%d>%s</h%d>\n", s.level, inline(s.title), s.level)
		for _, text := range s.text {
			fmt.Fprintf(&b, "<p>%s</p>\n", inline(text))
		}
		if len(s.bullet) > 0 {
			b.WriteString("<ul>\n")
			for _, line := range s.bullet {
				fmt.Fprintf(&b, "<li>%s</li>\n", inline(line))
			}
			b.WriteString("</ul>\n")
		}
		if len(s.code) > 0 {
			fmt.Fprintf(&b, "<pre>%s</pre>\n", html.EscapeString(strings.Join(s.code, "\n")))
		}
		for _, t := range s.tables {
			b.WriteString("<table>\n<tr>")
			for _, cell := range t.head {
				fmt.Fprintf(&b, "<th>%s</th>", inline(cell))
			}
			b.WriteString("</tr>\n")
			for _, row := range t.rows {
				b.WriteString("<tr>")
				for _, cell := range row {
					fmt.Fprintf(&b, "<td>%s</td>", inline(cell))
				}
				b.WriteString("</tr>\n")
			}
			b.WriteString("</table>\n")
		}
		for _, f := range s.charts {
			b.WriteString(f.svg)
		}
	}
	b.WriteString("</body></html>\n")
	return b.String()
}

// inline turns the two marks that the sections use, ** and `, into tags.
func inline(text string) string {
	text = html.EscapeString(text)
	for _, mark := range []struct{ mark, open, close string }{{"**", "<b>", "</b>"}, {"`", "<code>", "</code>"}} {
		for strings.Count(text, mark.mark) >= 2 {
			text = strings.Replace(text, mark.mark, mark.open, 1)
			text = strings.Replace(text, mark.mark, mark.close, 1)
		}
	}
	return text
}
