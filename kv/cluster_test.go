package kv

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/check"
	"github.com/pandodb/pando/internal/clusterkit"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/rpc"
	"github.com/pandodb/pando/store"
	"github.com/pandodb/pando/txn/commit"
)

// clusterRig is a store whose regions have logs.
type clusterRig struct {
	*clusterkit.Kit
	c *Client
}

// openCluster makes a store of regions with these bounds.
func openCluster(t testing.TB, coded bool, bounds ...string) *clusterRig {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	e, err := engine.OpenMem()
	must(err)
	s, err := store.Open(store.Options{Engine: e, RowCacheBytes: 1 << 20, GCInterval: 5 * time.Millisecond})
	must(err)
	must(clusterkit.Create(e, bounds...))
	kit, err := clusterkit.Open(s, e)
	must(err)
	peer := rpc.Loopback(s)
	if coded {
		peer = rpc.Coded(s)
	}
	r := &clusterRig{Kit: kit, c: New(peer)}
	t.Cleanup(func() {
		for range cap(r.c.router().cleaners) { // what is left to finish
			r.c.router().cleaners <- struct{}{}
		}
		must(kit.Close())
		must(s.Close())
		must(e.Close())
	})
	return r
}

// valueSink keeps the last value.
type valueSink struct{ value []byte }

func (v *valueSink) Pair(_, value []byte) (bool, error) {
	v.value = bytes.Clone(value)
	return true, nil
}

// TestClusterPaths commits by each path, and reads, scans and counts over regions.
func TestClusterPaths(t *testing.T) {
	for _, coded := range []bool{false, true} {
		t.Run(fmt.Sprintf("coded=%v", coded), func(t *testing.T) {
			r := openCluster(t, coded, "d", "h")
			var o Owner
			r.c.OpenOwner(&o, 1)
			put := func(noOnePhase, noAsync bool, keys ...string) {
				t.Helper()
				req := &kvapi.CommitRequest{Counters: []kvapi.CounterRaise{{Key: []byte("count"), Value: 7}}, NoOnePhase: noOnePhase, NoAsync: noAsync}
				for _, k := range keys {
					req.Mutations = append(req.Mutations, kvapi.Mutation{Key: []byte(k), Value: []byte("v" + k)})
				}
				if _, err := r.c.Commit(&o, req); err != nil {
					t.Fatal(err)
				}
			}
			put(false, false, "a", "b")
			put(false, false, "a", "e", "i")
			put(false, true, "c", "f", "x")
			put(true, true, "z")
			st := r.c.Routed()
			if st.Paths[commit.OnePhase].Load() != 1 || st.Paths[commit.Async].Load() != 1 || st.Paths[commit.TwoPhase].Load() != 2 {
				t.Errorf("paths %d %d %d", st.Paths[0].Load(), st.Paths[1].Load(), st.Paths[2].Load())
			}
			want := []string{"a", "b", "c", "e", "f", "i", "x", "z"}
			for _, reverse := range []bool{false, true} {
				if reverse {
					slices.Reverse(want)
				}
				var sink countSink
				resume, err := r.c.Scan(&kvapi.ScanRequest{Span: kvapi.Span{Start: []byte("a"), End: []byte{}}, Reverse: reverse, Sink: &sink})
				if err != nil || resume != nil || !slices.Equal(sink.keys, want) {
					t.Errorf("scan: %v, %q, %v", sink.keys, resume, err)
				}
				// Pages of two rows.
				var paged countSink
				span := kvapi.Span{Start: []byte("a"), End: []byte{}}
				for {
					n := len(paged.keys)
					resume, err := r.c.Scan(&kvapi.ScanRequest{Span: span, Reverse: reverse, LimitRows: 2, Sink: &paged})
					if err != nil || len(paged.keys) > n+2 {
						t.Fatal(err, paged.keys)
					}
					if resume == nil {
						break
					}
					if reverse {
						span.End = resume
					} else {
						span.Start = resume
					}
				}
				if !slices.Equal(paged.keys, want) {
					t.Errorf("pages: %v", paged.keys)
				}
			}
			if n, err := r.c.Counter([]byte("count")); n != 7 || err != nil {
				t.Errorf("the counter is %d, %v", n, err)
			}
			first, err := r.c.AllocCounter(&kvapi.CounterAllocRequest{Key: []byte("count"), Least: 3, N: 5})
			if first != 7 || err != nil {
				t.Errorf("allocated from %d, %v", first, err)
			}
			if err := r.c.DropCounters(kvapi.Span{Start: []byte("count"), End: []byte("counu")}); err != nil {
				t.Error(err)
			}
			if n, err := r.c.Counter([]byte("count")); n != 0 || err != nil {
				t.Errorf("a dropped counter is %d, %v", n, err)
			}
			now, err := r.c.Timestamp()
			if err != nil {
				t.Fatal(err)
			}
			if done, err := r.c.DropSpan(kvapi.Span{Start: []byte("c"), End: []byte("j")}, now); !done || err != nil {
				t.Error(done, err)
			}
			var sn Snapshot // without it garbage may be collected up to now meanwhile
			r.c.Register(&sn)
			defer r.c.Unregister(&sn)
			for key, want := range map[string]bool{"b": true, "c": false, "e": false, "x": true} {
				if found, err := r.c.Get(&kvapi.GetRequest{Key: []byte(key), TS: sn.TS()}); found != want || err != nil {
					t.Errorf("after the drop %s: %v, %v", key, found, err)
				}
			}
		})
	}
}

// TestDecidedLock: the lock of a commit that its client knows of is none. Who does not wait for locks, or takes what is free, waits until
// that commit is finished, and reads what it wrote.
func TestDecidedLock(t *testing.T) {
	for name, wait := range map[string]kvapi.WaitPolicy{"nowait": kvapi.WaitNone, "skip locked": kvapi.WaitSkip} {
		t.Run(name, func(t *testing.T) {
			r := openCluster(t, false, "m")
			release := make(chan struct{})
			r.c.router().beforeFinish = func() { <-release }
			var writer, reader Owner
			r.c.OpenOwner(&writer, 1)
			r.c.OpenOwner(&reader, 2)
			req := &kvapi.CommitRequest{Mutations: []kvapi.Mutation{{Key: []byte("a"), Value: []byte("va")}, {Key: []byte("z"), Value: []byte("vz")}}}
			if _, err := r.c.Commit(&writer, req); err != nil {
				t.Fatal(err)
			}
			if n := r.c.Routed().Paths[commit.Async].Load(); n != 1 {
				t.Fatalf("%d asynchronous commits", n)
			}
			go func() { // Lock may come before or after: it is right either way, and a fault is met if it comes before
				clock.Sleep(100 * time.Millisecond)
				close(release)
			}()
			var v valueSink
			res, err := r.c.Lock(&reader, &kvapi.LockRequest{Key: []byte("z"), Mode: kvapi.LockExclusive, Wait: wait, Sink: &v})
			if err != nil || !res.Acquired || string(v.value) != "vz" {
				t.Errorf("acquired %v with %q: %v", res.Acquired, v.value, err)
			}
			r.c.ReleaseLocks(&reader)
		})
	}
}

// TestClusterHistories runs clients beside splits, by all paths and with locks that some commits lose, and checks what they saw.
func TestClusterHistories(t *testing.T) {
	seed := testkit.Seed(t)
	for name, seen := range map[string]*check.Recorder{"list-append": check.NewLists(), "bank": check.NewBank(historyKeys, 100)} {
		t.Run(name, func(t *testing.T) {
			r := openCluster(t, false, "k2", "k4", "k6")
			h := &histories{r: r, seen: seen}
			if seen.Bank() {
				h.begin(t)
			}
			rounds := 120
			if testkit.SlowTests() {
				rounds *= 50
			}
			var wg sync.WaitGroup
			for worker := range 8 {
				wg.Go(func() { h.worker(testkit.Rand(seed, uint64(worker)), worker, rounds) })
			}
			wg.Go(func() {
				rng := testkit.Rand(seed, 99)
				for range 12 {
					clock.Sleep(20 * time.Millisecond)
					if err := r.Split(historyKey(rng.IntN(historyKeys))); err != nil {
						t.Error(err)
					}
				}
			})
			wg.Wait()
			h.verify(t)
			st := r.c.Routed()
			t.Logf("paths %d %d %d, conflicts %d, resolved %d, repeats %d, busy %d, marks waited for %d",
				st.Paths[0].Load(), st.Paths[1].Load(), st.Paths[2].Load(), st.Conflicts.Load(), st.Resolved.Load(), st.Repeats.Load(),
				r.Cluster.Stats().Busy.Load(), r.Cluster.Stats().MarkWaits.Load())
		})
	}
}

const historyKeys = 8

func historyKey(i int) []byte { return []byte("k" + strconv.Itoa(i)) }

// histories are clients and what they saw.
type histories struct {
	r      *clusterRig
	seen   *check.Recorder
	owners atomic.Uint64
	mu     sync.Mutex // guards what follows
	broken []error
}

// begin gives each account of a bank its balance.
func (h *histories) begin(t *testing.T) {
	t.Helper()
	var o Owner
	h.r.c.OpenOwner(&o, h.owners.Add(1))
	req := &kvapi.CommitRequest{}
	for k := range historyKeys {
		req.Mutations = append(req.Mutations, kvapi.Mutation{Key: historyKey(k), Value: []byte("100")})
	}
	if _, err := h.r.c.Commit(&o, req); err != nil {
		t.Fatal(err)
	}
}

func (h *histories) worker(rng *rand.Rand, worker, rounds int) {
	for n := range rounds {
		if err := h.transaction(rng, worker*1_000_000+n+1); err != nil {
			h.mu.Lock()
			h.broken = append(h.broken, err)
			h.mu.Unlock()
		}
	}
}

// transaction reads some keys at a snapshot, or locks and reads some and writes a part of them.
func (h *histories) transaction(rng *rand.Rand, id int) error {
	txn := check.Txn{Begin: int64(clock.Mono())}
	keys := rng.Perm(historyKeys)[:1+rng.IntN(3)]
	writes := rng.IntN(3) > 0
	if h.seen.Bank() {
		keys = rng.Perm(historyKeys)[:2]
		if !writes {
			keys = rng.Perm(historyKeys)
		}
	}
	var o Owner
	h.r.c.OpenOwner(&o, h.owners.Add(1))
	if !writes {
		var sn Snapshot
		h.r.c.Register(&sn)
		defer h.r.c.Unregister(&sn)
		return h.read(&txn, sn.TS(), keys)
	}
	slices.Sort(keys)
	req := &kvapi.CommitRequest{NoAsync: rng.IntN(2) == 0, NoOnePhase: rng.IntN(3) == 0}
	for i, k := range keys {
		key, sink := historyKey(k), valueSink{}
		mode := kvapi.LockExclusive
		only := !h.seen.Bank() && i > 0 && rng.IntN(3) == 0
		if only {
			mode = kvapi.LockShared
		}
		_, err := h.r.c.Lock(&o, &kvapi.LockRequest{Key: key, Mode: mode, Timeout: time.Minute, Sink: &sink})
		if err != nil {
			h.r.c.ReleaseLocks(&o)
			if errors.Is(err, kvapi.ErrDeadlock) {
				return nil
			}
			return err
		}
		if only {
			h.seen.Read(&txn, string(key), string(sink.value))
			continue
		}
		value := h.seen.Write(&txn, i, string(key), string(sink.value), id)
		req.Mutations = append(req.Mutations, kvapi.Mutation{Key: key, Value: []byte(value)})
	}
	_, err := h.r.c.Commit(&o, req)
	h.r.c.ReleaseLocks(&o)
	switch {
	case err == nil:
		h.ended(txn, check.Committed)
	case errors.Is(err, kvapi.ErrDeadlock):
		h.ended(txn, check.Aborted)
	case errors.Is(err, kvapi.ErrUndetermined):
		h.ended(txn, check.Unknown)
	default:
		return err
	}
	return nil
}

// read reads keys at a timestamp, or what is newest, and ends the transaction.
func (h *histories) read(txn *check.Txn, ts clock.Timestamp, keys []int) error {
	for _, k := range keys {
		key, sink := historyKey(k), valueSink{}
		if _, err := h.r.c.Get(&kvapi.GetRequest{Key: key, TS: ts, Sink: &sink}); err != nil {
			return err
		}
		h.seen.Read(txn, string(key), string(sink.value))
	}
	h.ended(*txn, check.Committed)
	return nil
}

func (h *histories) ended(txn check.Txn, o check.Outcome) {
	txn.Outcome, txn.End = o, int64(clock.Mono())
	h.seen.Ended(txn)
}

func (h *histories) verify(t *testing.T) {
	t.Helper()
	for _, err := range h.broken {
		t.Error(err)
	}
	var all []int
	for k := range historyKeys {
		all = append(all, k)
	}
	if err := h.read(&check.Txn{Begin: int64(clock.Mono())}, 0, all); err != nil {
		t.Fatal(err)
	}
	if ended, committed := h.seen.Count(); committed < ended/2 {
		t.Errorf("%d of %d transactions have committed", committed, ended)
	}
	if marks, locks := h.r.Cluster.Pending(); marks != 0 {
		t.Errorf("%d marks, %d locks are left", marks, locks)
	}
	for _, fault := range h.seen.Faults() {
		t.Error(fault)
	}
}

// TestRegisterWithoutTimestamps: a reader that gets no new timestamp reads at the last that was issued, at once, and sees all that was committed.
func TestRegisterWithoutTimestamps(t *testing.T) {
	r := openCluster(t, false, "d")
	var o Owner
	r.c.OpenOwner(&o, 1)
	if _, err := r.c.Commit(&o, &kvapi.CommitRequest{Mutations: []kvapi.Mutation{{Key: []byte("a"), Value: []byte("1")}, {Key: []byte("e"), Value: []byte("2")}}}); err != nil {
		t.Fatal(err)
	}
	r.Timestamps.Fail.Store(true)
	var sn Snapshot
	r.c.Register(&sn)
	defer r.c.Unregister(&sn)
	for _, key := range []string{"a", "e"} {
		if found, err := r.c.Get(&kvapi.GetRequest{Key: []byte(key), TS: sn.TS()}); !found || err != nil {
			t.Errorf("%s: %v, %v", key, found, err)
		}
	}
	if _, err := r.c.Commit(&o, &kvapi.CommitRequest{Mutations: []kvapi.Mutation{{Key: []byte("a"), Value: []byte("3")}}}); err == nil {
		t.Error("a commit without a timestamp")
	}
	r.Timestamps.Fail.Store(false)
}
