package exec

import (
	"sync"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
)

// TestMemTrackerIsShared: goroutines of one statement take and give back at the same time; nothing is lost, neither of the statement's sum
// nor of the node's.
func TestMemTrackerIsShared(t *testing.T) {
	seed := testkit.Seed(t)
	pool := NewMemPool(1 << 40)
	m := NewMemTracker(1 << 40)
	m.Share(pool)
	var group sync.WaitGroup
	for worker := range uint64(8) {
		group.Go(func() {
			r := testkit.Rand(seed, worker)
			held := int64(0)
			for range 2000 {
				n := r.Int64N(4 << 20)
				if r.IntN(2) == 0 {
					n = -min(n, held)
				}
				held += n
				if err := m.Grow(n); err != nil {
					t.Error(err)
				}
			}
			if err := m.Grow(-held); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if m.Used() != 0 || m.Peak() == 0 {
		t.Errorf("%d bytes used, peak %d", m.Used(), m.Peak())
	}
	m.Reset(1)
	if pool.Used() != 0 {
		t.Errorf("%d bytes of the pool are lost", pool.Used())
	}
}

// TestMemPoolTells: who tunes the collector hears of statements that take or give back much, and of no small ones.
func TestMemPoolTells(t *testing.T) {
	pool := NewMemPool(1 << 30)
	told := func() bool {
		select {
		case <-pool.Changes():
			return true
		default:
			return false
		}
	}
	m := NewMemTracker(1 << 30)
	m.Share(pool)
	for i, step := range []struct {
		grow int64
		told bool
	}{{poolChange / 2, false}, {poolChange / 2, true}, {poolStep, false}, {4 * poolChange, true}, {-3 * poolChange, true}, {-poolChange, true}} {
		if err := m.Grow(step.grow); err != nil {
			t.Fatal(err)
		}
		if got := told(); got != step.told {
			t.Errorf("step %d: told %v, want %v", i, got, step.told)
		}
	}
}
