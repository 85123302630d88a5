package server

import (
	"math"
	"testing"

	"github.com/pandodb/pando/engine"
)

// TestTableFiles: connections come first, but for a quarter of the limit, and no limit is too small or too large.
func TestTableFiles(t *testing.T) {
	for _, c := range []struct {
		limit       uint64
		connections int
		want        int
	}{
		{10_000, 2000, (10_000 - 1024 - 2000) / 2},
		{20_000, 4096, (20_000 - 1024 - 4096) / 2},
		{1 << 20, 2000, tableFilesMax},
		{math.MaxUint64, 2000, tableFilesMax},
		{1 << 20, 100_000, tableFilesMax},
		{100_000, 100_000, 100_000 / 8},
		{4096, 2000, (4096 - 1024 - 2000) / 2},
		{4096, 4000, 512},
		{1024, 2000, 128},
		{100, 2000, engine.OpenFilesMin},
		{0, 0, engine.OpenFilesMin},
	} {
		if got := tableFiles(c.limit, c.connections); got != c.want {
			t.Errorf("limit %d, %d connections: %d tables, want %d", c.limit, c.connections, got, c.want)
		}
	}
	if n := fileLimit(); n < 64 {
		t.Errorf("%d files may be open, and yet this test runs", n)
	}
}
