package exec

import (
	"sync/atomic"
	"testing"
)

// TestMemPoolWatchesTheProcess: where the process has no room, garbage is collected once, and what is then still there decides. What nobody has counted
// leaves less to those who count.
func TestMemPoolWatchesTheProcess(t *testing.T) {
	const ceiling = 100 << 20
	var inUse, garbage atomic.Int64
	collected := 0
	pool := NewMemPool(1 << 40)
	pool.Watch(&Process{Ceiling: ceiling, InUse: func() int64 { return inUse.Load() + garbage.Load() }, Collect: func() { collected++; garbage.Store(0) }})
	for _, step := range []struct {
		name           string
		inUse, garbage int64
		take           int64
		refused        bool
		collected      int
	}{
		{"room enough", 10 << 20, 0, 20 << 20, false, 0},
		{"garbage is in the way", 30 << 20, 60 << 20, 20 << 20, false, 1},
		{"what is counted is not made yet", 30 << 20, 0, 70 << 20, true, 2},
		{"what nobody counts is in the way", 90 << 20, 0, 20 << 20, true, 3},
		{"less than a step asks nobody", 200 << 20, 0, 1 << 10, false, 3},
		{"giving back asks nobody", 200 << 20, 0, -(1<<10 + 20<<20), false, 3},
		{"what was in the way is gone", 10 << 20, 0, 60 << 20, false, 4},
	} {
		inUse.Store(step.inUse)
		garbage.Store(step.garbage)
		before := pool.Used()
		err := pool.Take(step.take)
		if (number(err) == 8176) != step.refused || collected != step.collected {
			t.Errorf("%s: %v, collected %d times", step.name, err, collected)
		}
		if want := before + step.take; !step.refused && pool.Used() != want || step.refused && pool.Used() != before {
			t.Errorf("%s: %d bytes are counted", step.name, pool.Used())
		}
	}
}
