package main

import (
	"strings"
	"testing"
)

// TestBar: a bar draws what is done, also of nothing, and of files that have grown since they were counted.
func TestBar(t *testing.T) {
	for _, c := range []struct {
		done, total int64
		want        string
	}{
		{0, 0, "[" + strings.Repeat(" ", barWidth) + "]   0% rows.sql"},
		{1, 2, "[" + strings.Repeat("=", barWidth/2) + strings.Repeat(" ", barWidth/2) + "]  50% rows.sql"},
		{3, 2, "[" + strings.Repeat("=", barWidth) + "] 100% rows.sql"},
	} {
		var out strings.Builder
		(&bar{w: &out}).show("/dump/rows.sql", c.done, c.total)
		if _, line, _ := strings.Cut(out.String(), "\x1b[K"); line != c.want {
			t.Errorf("%d of %d: %q", c.done, c.total, out.String())
		}
	}
}
