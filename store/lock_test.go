package store

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
)

// lockRig drives a lock table without a store.
type lockRig struct {
	t     *testing.T
	table lockTable
	close chan struct{}
}

func newLockRig(t *testing.T, max int) *lockRig {
	r := &lockRig{t: t, close: make(chan struct{})}
	r.table.init(max)
	return r
}

func (r *lockRig) owner(id uint64) *Owner {
	o := &Owner{}
	o.open(id)
	return o
}

// patience is how long tests wait for what must come: no measure of anything.
const patience = 2 * time.Minute

// req is a lock request with a timeout no test waits for.
func req(key string, mode kvapi.LockMode) *kvapi.LockRequest {
	return &kvapi.LockRequest{Key: []byte(key), Mode: mode, Timeout: patience}
}

func (r *lockRig) lock(o *Owner, q *kvapi.LockRequest) error {
	_, _, err := r.table.acquire(o, q, r.close)
	return err
}

func (r *lockRig) mustLock(o *Owner, key string, mode kvapi.LockMode) {
	r.t.Helper()
	if err := r.lock(o, req(key, mode)); err != nil {
		r.t.Fatal(err)
	}
}

// start locks in the background and returns once the request stands in line.
func (r *lockRig) start(o *Owner, q *kvapi.LockRequest) <-chan error {
	r.t.Helper()
	done := make(chan error, 1)
	go func() { done <- r.lock(o, q) }()
	deadline := time.Now().Add(patience)
	for o.waiter.entry.Load() == nil {
		select {
		case err := <-done:
			done <- err
			return done
		default:
		}
		if time.Now().After(deadline) {
			r.t.Fatal("the request neither waits nor returns")
		}
		time.Sleep(50 * time.Microsecond)
	}
	return done
}

// await returns the result of a request that has to end by now.
func (r *lockRig) await(done <-chan error) error {
	r.t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		r.t.Fatal("the request still waits")
		return nil
	}
}

// empty checks that no lock and no waiter is left.
func (r *lockRig) empty() {
	r.t.Helper()
	for i := range r.table.shards {
		s := &r.table.shards[i]
		if s.locks != 0 || slices.ContainsFunc(s.buckets, func(e *lockEntry) bool { return e != nil }) {
			r.t.Fatalf("shard %d still has %d locks", i, s.locks)
		}
	}
}

func TestLockFIFO(t *testing.T) {
	r := newLockRig(t, 1<<20)
	holder := r.owner(0)
	r.mustLock(holder, "k", kvapi.LockExclusive)
	var order []uint64
	var mu sync.Mutex
	var wg sync.WaitGroup
	for id := uint64(1); id <= 20; id++ {
		o := r.owner(id)
		mode := kvapi.LockExclusive
		if id%5 == 0 {
			mode = kvapi.LockShared
		}
		done := r.start(o, req("k", mode))
		wg.Go(func() {
			if err := <-done; err != nil {
				t.Error(err)
			}
			mu.Lock()
			order = append(order, o.id)
			mu.Unlock()
			o.releaseAll()
		})
	}
	holder.releaseAll()
	wg.Wait()
	for i, id := range order {
		if id != uint64(i+1) {
			t.Fatalf("granted in the order %v", order)
		}
	}
	r.empty()
}

// TestLockSharedBehindExclusive: a shared request does not pass an exclusive
// one that waits, or writers would starve.
func TestLockSharedBehindExclusive(t *testing.T) {
	r := newLockRig(t, 1<<20)
	a, b, c := r.owner(1), r.owner(2), r.owner(3)
	r.mustLock(a, "k", kvapi.LockShared)
	bDone := r.start(b, req("k", kvapi.LockExclusive))
	cDone := r.start(c, req("k", kvapi.LockShared))
	a.releaseAll()
	if err := r.await(bDone); err != nil {
		t.Fatal(err)
	}
	select {
	case <-cDone:
		t.Fatal("shared lock granted beside an exclusive one")
	default:
	}
	b.releaseAll()
	if err := r.await(cDone); err != nil {
		t.Fatal(err)
	}
	c.releaseAll()
	r.empty()
}

func TestLockReentrant(t *testing.T) {
	r := newLockRig(t, 1<<20)
	a := r.owner(1)
	for range 3 {
		r.mustLock(a, "k", kvapi.LockExclusive)
		r.mustLock(a, "k", kvapi.LockShared)
	}
	if a.Locks() != 1 {
		t.Fatal(a.Locks())
	}
	a.releaseAll()
	r.empty()
}

func TestLockUpgrade(t *testing.T) {
	r := newLockRig(t, 1<<20)
	a, b, c := r.owner(1), r.owner(2), r.owner(3)
	r.mustLock(a, "k", kvapi.LockShared)
	r.mustLock(b, "k", kvapi.LockShared)
	cDone := r.start(c, req("k", kvapi.LockExclusive))
	// a upgrades in front of c, and gets the lock as soon as b is gone.
	aDone := r.start(a, req("k", kvapi.LockExclusive))
	b.releaseAll()
	if err := r.await(aDone); err != nil {
		t.Fatal(err)
	}
	if a.held[0].mode != kvapi.LockExclusive {
		t.Fatal("not upgraded")
	}
	a.releaseAll()
	if err := r.await(cDone); err != nil {
		t.Fatal(err)
	}
	c.releaseAll()
	r.empty()
}

// TestLockUpgradeDeadlock: two upgrades of one key wait for each other; the
// second is the victim and keeps its shared lock until it rolls back.
func TestLockUpgradeDeadlock(t *testing.T) {
	r := newLockRig(t, 1<<20)
	a, b := r.owner(1), r.owner(2)
	r.mustLock(a, "k", kvapi.LockShared)
	r.mustLock(b, "k", kvapi.LockShared)
	aDone := r.start(a, req("k", kvapi.LockExclusive))
	if err := r.lock(b, req("k", kvapi.LockExclusive)); !errors.Is(err, kvapi.ErrDeadlock) {
		t.Fatal(err)
	}
	b.releaseAll()
	if err := r.await(aDone); err != nil {
		t.Fatal(err)
	}
	a.releaseAll()
	r.empty()
}

func TestLockDeadlockRing(t *testing.T) {
	for _, n := range []int{2, 3, 10} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := newLockRig(t, 1<<20)
			owners := make([]*Owner, n)
			for i := range owners {
				owners[i] = r.owner(uint64(i))
				r.mustLock(owners[i], fmt.Sprint("k", i), kvapi.LockExclusive)
			}
			var waits []<-chan error
			for i := range n - 1 {
				waits = append(waits, r.start(owners[i], req(fmt.Sprint("k", i+1), kvapi.LockShared)))
			}
			if err := r.lock(owners[n-1], req("k0", kvapi.LockExclusive)); !errors.Is(err, kvapi.ErrDeadlock) {
				t.Fatal(err)
			}
			for i := n - 1; i >= 0; i-- {
				owners[i].releaseAll()
				if i > 0 {
					if err := r.await(waits[i-1]); err != nil {
						t.Fatal(err)
					}
				}
			}
			r.empty()
		})
	}
}

// TestLockDeadlockThroughLine: b waits in line behind a's request, not for a
// holder's lock alone; once handed over, the cycle closes through the new holder.
func TestLockDeadlockThroughLine(t *testing.T) {
	r := newLockRig(t, 1<<20)
	holder, a, b := r.owner(0), r.owner(1), r.owner(2)
	r.mustLock(holder, "k", kvapi.LockExclusive)
	r.mustLock(b, "other", kvapi.LockExclusive)
	aDone := r.start(a, req("k", kvapi.LockExclusive))
	bDone := r.start(b, req("k", kvapi.LockExclusive))
	holder.releaseAll()
	if err := r.await(aDone); err != nil {
		t.Fatal(err)
	}
	if err := r.lock(a, req("other", kvapi.LockExclusive)); !errors.Is(err, kvapi.ErrDeadlock) {
		t.Fatal(err)
	}
	a.releaseAll()
	if err := r.await(bDone); err != nil {
		t.Fatal(err)
	}
	b.releaseAll()
	r.empty()
}

func TestLockGivesUp(t *testing.T) {
	r := newLockRig(t, 1<<20)
	a, b, c := r.owner(1), r.owner(2), r.owner(3)
	r.mustLock(a, "k", kvapi.LockShared)

	short := req("k", kvapi.LockExclusive)
	short.Timeout = 20 * time.Millisecond
	if err := r.lock(b, short); !errors.Is(err, kvapi.ErrLockTimeout) {
		t.Fatal(err)
	}
	nowait := req("k", kvapi.LockExclusive)
	nowait.Wait = kvapi.WaitNone
	if err := r.lock(b, nowait); !errors.Is(err, kvapi.ErrLockNoWait) {
		t.Fatal(err)
	}
	skip := req("k", kvapi.LockExclusive)
	skip.Wait = kvapi.WaitSkip
	if h, _, err := r.table.acquire(b, skip, nil); h != nil || err != nil {
		t.Fatal(h, err)
	}
	if b.Locks() != 0 {
		t.Fatal("a refused request left a lock")
	}

	intr := &kvapi.Interrupt{}
	q := req("k", kvapi.LockExclusive)
	q.Interrupt = intr
	bDone := r.start(b, q)
	cDone := r.start(c, req("k", kvapi.LockShared)) // waits for b only
	intr.Set(kvapi.ReasonKillQuery)
	if err := r.await(bDone); !errors.Is(err, kvapi.ErrInterrupted) {
		t.Fatal(err)
	}
	if err := r.await(cDone); err != nil {
		t.Fatal("who waited only for the interrupted one:", err)
	}
	bDone = r.start(b, req("k", kvapi.LockExclusive))
	close(r.close)
	if err := r.await(bDone); !errors.Is(err, kvapi.ErrClosed) {
		t.Fatal(err)
	}
	for _, o := range []*Owner{a, b, c} {
		o.releaseAll()
	}
	r.empty()
}

func TestLockTableFull(t *testing.T) {
	r := newLockRig(t, lockShards) // one per shard
	o := r.owner(1)
	var err error
	n := 0
	for ; err == nil && n < 10_000; n++ {
		err = r.lock(o, req(fmt.Sprint(n), kvapi.LockExclusive))
	}
	if !errors.Is(err, kvapi.ErrLockTableFull) || o.Locks() != n-1 {
		t.Fatal(n, o.Locks(), err)
	}
	o.releaseAll()
	r.empty()
}

// TestLockOwnerSet checks the owner's index against a map, with early drops.
func TestLockOwnerSet(t *testing.T) {
	rng := testkit.Rand(testkit.Seed(t), 0)
	r := newLockRig(t, 1<<20)
	o := r.owner(1)
	for range 20 {
		model := map[string]uint32{}
		for range rng.IntN(2000) {
			key := fmt.Sprint(rng.IntN(300))
			if tag, held := model[key]; held && rng.IntN(2) == 0 {
				r.table.release(o, []byte(key), tag+1) // another statement's tag
				r.table.release(o, []byte(key), tag)
				delete(model, key)
				continue
			}
			q := req(key, kvapi.LockExclusive)
			q.Tag = uint32(rng.IntN(5))
			if err := r.lock(o, q); err != nil {
				t.Fatal(err)
			}
			if _, held := model[key]; !held {
				model[key] = q.Tag
			}
		}
		if o.Locks() != len(model) {
			t.Fatalf("%d locks, want %d", o.Locks(), len(model))
		}
		for key := range model {
			if o.find(r.table.hash([]byte(key)), []byte(key)) == nil {
				t.Fatalf("lost the lock of %s", key)
			}
		}
		o.releaseAll()
		r.empty()
	}
}

// TestLockStress lets many owners lock few keys in random modes. Exclusion is
// checked by counters, progress by the absence of timeouts.
func TestLockStress(t *testing.T) {
	seed := testkit.Seed(t)
	r := newLockRig(t, 1<<20)
	const nkeys, workers, rounds = 6, 16, 800
	var state [nkeys]atomic.Int32 // readers, or -1 for a writer
	var deadlocks atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			rng := testkit.Rand(seed, uint64(w))
			o := r.owner(uint64(w))
			for range rounds {
				mode := map[int]kvapi.LockMode{}
				for range 1 + rng.IntN(3) {
					k, m := rng.IntN(nkeys), kvapi.LockMode(rng.IntN(2))
					err := r.lock(o, req(fmt.Sprint(k), m))
					if errors.Is(err, kvapi.ErrDeadlock) {
						deadlocks.Add(1)
						break
					}
					if err != nil {
						t.Errorf("worker %d: %v", w, err)
						return
					}
					old, held := mode[k]
					switch {
					case held && (old == kvapi.LockExclusive || m == kvapi.LockShared):
						continue
					case held && !state[k].CompareAndSwap(1, -1), !held && m == kvapi.LockExclusive && !state[k].CompareAndSwap(0, -1):
						t.Errorf("exclusive lock of %d beside %d others", k, state[k].Load())
						return
					case m == kvapi.LockShared && state[k].Add(1) <= 0:
						t.Errorf("shared lock of %d beside an exclusive one", k)
						return
					}
					mode[k] = m
					runtime.Gosched() // while holding, or a lightly loaded machine runs the workers one after another
				}
				for k, m := range mode {
					if m == kvapi.LockExclusive {
						state[k].Store(0)
					} else {
						state[k].Add(-1)
					}
				}
				o.releaseAll()
			}
		})
	}
	wg.Wait()
	t.Logf("%d deadlocks", deadlocks.Load())
	if deadlocks.Load() == 0 {
		t.Error("the load made no deadlock, so the test shows little")
	}
	if !t.Failed() {
		r.empty()
	}
}

func BenchmarkLockUnlock(b *testing.B) {
	var table lockTable
	table.init(1 << 20)
	o := &Owner{}
	o.open(1)
	q := req("t\x01r00000042", kvapi.LockExclusive)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := table.acquire(o, q, nil); err != nil {
			b.Fatal(err)
		}
		o.releaseAll()
	}
}

func BenchmarkLock1000(b *testing.B) {
	var table lockTable
	table.init(1 << 20)
	o := &Owner{}
	o.open(1)
	reqs := make([]*kvapi.LockRequest, 1000)
	for i := range reqs {
		reqs[i] = req(fmt.Sprintf("t\x01r%08d", i), kvapi.LockExclusive)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, q := range reqs {
			if _, _, err := table.acquire(o, q, nil); err != nil {
				b.Fatal(err)
			}
		}
		o.releaseAll()
	}
}

// TestWaitingIsBlocked: a transaction that is in a queue and still looks for a deadlock does not count as waiting: it may end by itself, with the error.
func TestWaitingIsBlocked(t *testing.T) {
	var o Owner
	o.waiter.entry.Store(&lockEntry{})
	if o.Waiting() {
		t.Error("one that looks for a deadlock waits")
	}
	o.waiter.blocked.Store(true)
	if !o.Waiting() {
		t.Error("one that blocks does not wait")
	}
	o.waiter.entry.Store(nil)
	if o.Waiting() {
		t.Error("one that has been granted its lock waits")
	}
	o.waiter.ranged.Store(true)
	if !o.Waiting() {
		t.Error("one that blocks for ranges does not wait")
	}
}
