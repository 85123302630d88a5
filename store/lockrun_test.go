package store

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
)

// TestLockRunContested: a run keeps its keys and no others, and its owner can be waited for and be part of a deadlock.
func TestLockRunContested(t *testing.T) {
	r := newLockRig(t, 1<<20)
	a, b := r.owner(1), r.owner(2)
	r.mustLock(a, "k0", kvapi.LockExclusive)
	a.run.begin(&r.table, a, []byte("k0"), nil)
	for _, key := range []string{"k1", "k2", "k3", "k3", "k5"} {
		r.mustLock(a, key, kvapi.LockExclusive)
	}
	r.mustLock(a, "k2", kvapi.LockShared) // it has more than that
	if len(a.held) != 1 || a.Locks() != 5 {
		t.Fatalf("%d entries, %d locks", len(a.held), a.Locks())
	}
	nowait := req("k3", kvapi.LockShared)
	nowait.Wait = kvapi.WaitNone
	if err := r.lock(b, nowait); !errors.Is(err, kvapi.ErrLockNoWait) {
		t.Fatal(err)
	}
	r.mustLock(a, "k7", kvapi.LockShared)
	r.mustLock(a, "k7", kvapi.LockExclusive)
	nowait.Key = []byte("k7")
	if err := r.lock(b, nowait); !errors.Is(err, kvapi.ErrLockNoWait) {
		t.Fatal(err)
	}
	r.mustLock(b, "k25", kvapi.LockExclusive)
	r.mustLock(b, "k9", kvapi.LockExclusive)
	r.mustLock(a, "k6", kvapi.LockExclusive)
	r.mustLock(a, "k95", kvapi.LockExclusive)
	if len(a.held) != 3 || a.Locks() != 8 {
		t.Fatalf("%d entries, %d locks", len(a.held), a.Locks())
	}
	done := r.start(b, req("k6", kvapi.LockExclusive))
	if err := r.lock(a, req("k9", kvapi.LockExclusive)); !errors.Is(err, kvapi.ErrDeadlock) {
		t.Fatal(err)
	}
	a.releaseAll()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	r.mustLock(b, "k3", kvapi.LockExclusive)
	b.releaseAll()
	if r.table.runs.Load() != nil {
		t.Fatal("a run is left")
	}
}

// TestLockRunsExclude: whatever runs begin and meet, nobody locks a key that somebody else holds.
func TestLockRunsExclude(t *testing.T) {
	const workers, space = 6, 2000
	rounds := 400
	if testing.Short() {
		rounds = 100
	}
	r := newLockRig(t, 1<<20)
	seed := testkit.Seed(t)
	var holder [space]atomic.Uint64 // of the exclusive lock
	var taken atomic.Int64
	var work sync.WaitGroup
	for w := range uint64(workers) {
		work.Go(func() {
			rng := testkit.Rand(seed, w)
			o := r.owner(w + 1)
			for range rounds {
				var mine []int
				at := rng.IntN(space)
				for range rng.IntN(200) {
					mode := kvapi.LockExclusive
					if at += 1 + rng.IntN(5); rng.IntN(50) == 0 {
						at = rng.IntN(space)
					} else if rng.IntN(50) == 0 {
						mode = kvapi.LockShared
					}
					if at >= space {
						break
					}
					key := fmt.Appendf(nil, "k%05d", at)
					_, _, err := r.table.acquire(o, &kvapi.LockRequest{Key: key, Mode: mode, Timeout: patience}, r.close)
					if errors.Is(err, kvapi.ErrDeadlock) {
						break
					}
					if err != nil {
						t.Error(err)
						break
					}
					if was := holder[at].Load(); was != 0 && was != o.id {
						t.Errorf("%d has %s of %d", o.id, key, was)
					}
					if mode == kvapi.LockExclusive {
						holder[at].Store(o.id)
						mine = append(mine, at)
						if !o.run.active && rng.IntN(10) == 0 {
							o.run.begin(&r.table, o, key, fmt.Appendf(nil, "k%05d", at+rng.IntN(space)))
						}
					}
				}
				taken.Add(int64(len(o.run.ends)))
				for _, at := range mine {
					holder[at].Store(0)
				}
				o.releaseAll()
			}
		})
	}
	work.Wait()
	if taken.Load() == 0 || r.table.runs.Load() != nil {
		t.Errorf("%d locks in runs; left: %v", taken.Load(), r.table.runs.Load())
	}
	t.Log(taken.Load(), "locks in runs")
	for i := range r.table.shards {
		if n := r.table.shards[i].locks; n != 0 {
			t.Fatalf("%d locks are left", n)
		}
	}
}
