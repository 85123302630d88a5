package clusterkit_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/check"
	"github.com/pandodb/pando/internal/clusterkit"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kv"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/replica"
	"github.com/pandodb/pando/rpc"
	"github.com/pandodb/pando/store"
)

const (
	historyKeys    = 6
	historyWorkers = 4
	// roundCommits is how many transactions commit behind each thing that happens.
	roundCommits = 12
	balance      = 100
	// stormSplits is how often regions are split beside each thing that happens, and historyRegion from which size on they are by themselves.
	stormSplits   = 6
	historyRegion = 4 << 10
	// leaseMin is the shortest lease that is drawn.
	leaseMin = 600 * time.Millisecond
)

// client is one node's way to its store, in one life.
type client struct {
	s *store.Store
	c *kv.Client
}

// history is what clients of a cluster saw.
type history struct {
	t       *testing.T
	ns      *clusterkit.Nodes
	seen    *check.Recorder
	owners  atomic.Uint64
	stop    atomic.Bool
	workers sync.WaitGroup

	mu      sync.Mutex // guards what follows
	clients map[*store.Store]*client
}

func key(i int) string { return "k" + strconv.Itoa(i) }

// client returns a client of a node that takes itself for the gateway, nil if there is none.
func (h *history) client() *client {
	g := h.ns.Gateway()
	if g == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s := g.Store
	c := h.clients[s]
	if c == nil {
		c = &client{s: s, c: kv.New(rpc.Loopback(s))}
		h.clients[s] = c
	}
	return c
}

// worker runs transactions until it is to stop, whoever is the gateway.
func (h *history) worker(rng *rand.Rand, worker int) {
	for n := 1; !h.stop.Load(); n++ {
		c := h.client()
		if c == nil {
			clock.Sleep(5 * time.Millisecond)
			continue
		}
		h.attempt(c, rng, worker*1_000_000+n)
	}
}

// attempt runs one transaction. Whatever keeps it from being told its end leaves it unknown.
func (h *history) attempt(c *client, rng *rand.Rand, id int) {
	txn := check.Txn{Begin: int64(clock.Mono()), Outcome: check.Unknown}
	wrote := false
	defer func() {
		if r := recover(); r != nil && !diedWithNode(fmt.Sprint(r)) {
			panic(r)
		}
		if wrote || txn.Outcome == check.Committed {
			h.ended(txn)
		}
	}()
	keys := rng.Perm(historyKeys)[:2]
	slices.Sort(keys)
	var o kv.Owner
	c.c.OpenOwner(&o, h.owners.Add(1))
	defer c.c.ReleaseLocks(&o)
	if rng.IntN(3) == 0 {
		if h.read(c, &txn) {
			txn.Outcome = check.Committed
		}
		return
	}
	req := &kvapi.CommitRequest{}
	for i, k := range keys {
		var v sink
		res, err := c.c.Lock(&o, &kvapi.LockRequest{Key: []byte(key(k)), Mode: kvapi.LockExclusive, Timeout: 10 * time.Second, Sink: &v})
		if err != nil || !res.Acquired {
			return
		}
		value := h.seen.Write(&txn, i, key(k), v.value, id)
		req.Mutations = append(req.Mutations, kvapi.Mutation{Key: []byte(key(k)), Value: []byte(value)})
	}
	wrote = true
	_, err := c.c.Commit(&o, req)
	switch {
	case err == nil:
		txn.Outcome = check.Committed
	case errors.Is(err, kvapi.ErrDeadlock):
		txn.Outcome = check.Aborted
	}
}

// diedWithNode says whether a panic is that of a call to a node that was killed meanwhile. A real process is gone with its calls; here they
// may find the storage closed, or the timestamps at an end.
func diedWithNode(reason string) bool {
	return strings.Contains(reason, "no timestamp") || strings.Contains(reason, "pebble: closed")
}

// read reads all keys at a snapshot.
func (h *history) read(c *client, txn *check.Txn) bool {
	var sn kv.Snapshot
	c.c.Register(&sn)
	defer c.c.Unregister(&sn)
	for k := range historyKeys {
		var v sink
		if _, err := c.c.Get(&kvapi.GetRequest{Key: []byte(key(k)), TS: sn.TS(), Sink: &v}); err != nil {
			return false
		}
		h.seen.Read(txn, key(k), v.value)
	}
	return true
}

func (h *history) ended(txn check.Txn) {
	txn.End = int64(clock.Mono())
	h.seen.Ended(txn)
}

// within waits for something for as long as anybody's patience lasts.
func within(t *testing.T, what string, done func() bool) {
	t.Helper()
	for began := clock.Mono(); !done(); clock.Sleep(5 * time.Millisecond) {
		if clock.Since(began) > patience {
			t.Fatalf("no %s within %v", what, patience)
		}
	}
}

// progress waits until transactions commit again.
func (h *history) progress() {
	h.t.Helper()
	_, from := h.seen.Count()
	within(h.t, "progress", func() bool { _, now := h.seen.Count(); return now >= from+roundCommits })
}

// begin writes what there is at first.
func (h *history) begin(rng *rand.Rand) {
	h.t.Helper()
	if h.seen.Bank() {
		req := &kvapi.CommitRequest{}
		for k := range historyKeys {
			req.Mutations = append(req.Mutations, kvapi.Mutation{Key: []byte(key(k)), Value: []byte(strconv.Itoa(balance))})
		}
		commit(h.t, h.ns, req.Mutations...)
	}
	for i := range historyWorkers {
		seed := rng.Uint64()
		h.workers.Go(func() { h.worker(testkit.Rand(seed, uint64(i)), i+1) })
	}
	h.progress()
}

// end checks what was seen, and that all copies are the same.
func (h *history) end() {
	h.t.Helper()
	h.stop.Store(true)
	h.workers.Wait()
	last := check.Txn{Begin: int64(clock.Mono()), Outcome: check.Committed}
	within(h.t, "reading of what is there at the end", func() bool {
		c := h.client()
		last.Ops = nil
		return c != nil && h.read(c, &last)
	})
	h.ended(last)
	for _, fault := range h.seen.Faults() {
		h.t.Error(fault)
	}
	same(h.t, h.ns)
	ended, committed := h.seen.Count()
	g := h.ns.Gateway()
	if g == nil {
		g = h.ns.Node(0)
	}
	h.t.Logf("%d transactions, %d committed, %d regions", ended, committed, len(g.Store.Regions()))
}

// same waits until all copies of each region are at the same index, and compares them there.
func same(t *testing.T, ns *clusterkit.Nodes) {
	t.Helper()
	ids := []kvapi.RegionID{0}
	var g *clusterkit.StoreNode
	within(t, "gateway", func() bool { g = ns.Gateway(); return g != nil })
	for _, st := range g.Store.RegionStatuses() {
		ids = append(ids, st.Region.ID)
	}
	for _, id := range ids {
		within(t, fmt.Sprintf("equal index of region %d", id), func() bool {
			var index, sum [8]uint64
			for i := range ns.Len() {
				var err error
				if index[i], sum[i], err = ns.Node(i).Store.Checksum(id); err != nil || index[i] != index[0] {
					return false
				}
			}
			for i := range ns.Len() {
				if sum[i] != sum[0] {
					t.Fatalf("region %d at %d: copies %x", id, index[0], sum[:ns.Len()])
				}
			}
			return true
		})
	}
}

// TestHistories runs clients beside crashes, power losses, partitions, clocks that jump by hours and splits, and checks what they saw.
func TestHistories(t *testing.T) {
	for name, seen := range map[string]*check.Recorder{"list-append": check.NewLists(), "list-append with small limits": check.NewLists(),
		"bank": check.NewBank(historyKeys, balance)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of it is waiting for elections and leases
			seed := testkit.Seed(t)
			rng := testkit.Rand(seed, 1)
			var limits store.Limits
			var lease replica.Lease
			if strings.HasSuffix(name, "small limits") {
				small := testkit.Rand(seed, 2)
				testkit.Small(small, &limits)
				// One that ends by itself now and then, where a machine is busy; with a shorter one nobody would be the gateway for long.
				lease = replica.Lease(leaseMin) + replica.Lease(small.Int64N(int64(replica.LeaseLength)-int64(leaseMin)))
				t.Logf("lease %v, limits %+v", time.Duration(lease), limits)
			}
			clocks := &wrongClocks{}
			ns := startWith(t, 3, clusterkit.NodesOptions{Tune: func(o *store.Options) {
				clocks.tune(o)
				o.RegionBytesMax, o.SampleInterval, o.Limits, o.Lease = historyRegion, 50*time.Millisecond, limits, lease
			}}, "k2", "k4")
			h := &history{t: t, ns: ns, seen: seen, clients: map[*store.Store]*client{}}
			h.begin(rng)
			ns.Net.Faults(2, 2)
			first, rounds := 0, 3 // each kind of thing but the last, which takes long, happens in one of the two
			if seen.Bank() {
				first = 2
			}
			if testkit.SlowTests() {
				rounds = 60
			}
			for round := range rounds {
				clocks.jump(rng)
				h.happen(rng, first+round)
				if t.Failed() {
					break
				}
			}
			ns.Net.Faults(0, 0)
			h.end()
		})
	}
}

// wrongClocks are wall clocks of stores that may be an hour ahead or behind, and jump.
type wrongClocks struct{ off [3]atomic.Int64 }

func (w *wrongClocks) tune(o *store.Options) {
	off := &w.off[o.ID%uint64(len(w.off))] // ids in a row have clocks of their own
	o.NowMillis = func() int64 { return clock.NowMillis() + off.Load() }
}

// jump sets each of them right, or an hour ahead or behind.
func (w *wrongClocks) jump(rng *rand.Rand) {
	for i := range w.off {
		w.off[i].Store((time.Duration(rng.IntN(3)-1) * time.Hour).Milliseconds())
	}
}

// storm splits regions at keys, one after the other, at whoever is the gateway then, until that is done or end is closed. Who dies meanwhile,
// or is cut off, may have split or not.
func (h *history) storm(cuts [][]byte, end <-chan struct{}) (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		defer close(done)
		for len(cuts) > 0 {
			if c := h.client(); c != nil && c.s.Split(cuts[0]) == nil {
				cuts = cuts[1:]
			}
			select {
			case <-end:
				return
			case <-clock.After(20 * time.Millisecond):
			}
		}
	}()
	return done
}

// happen lets one thing happen, and waits until transactions commit in spite of it and after it.
func (h *history) happen(rng *rand.Rand, round int) {
	h.t.Helper()
	t, ns := h.t, h.ns
	within(t, "gateway", func() bool { return ns.Gateway() != nil })
	g := ns.Gateway()
	if g == nil {
		g = ns.Node(0)
	}
	crash := func(n *clusterkit.StoreNode) {
		seed := rng.Uint64()
		if err := n.Stop(func(fs *engine.MemFS) *engine.MemFS { return testkit.Crash(fs, int(seed%3)*50, seed) }); err != nil && !errors.Is(err, kvapi.ErrClosed) {
			t.Fatal(err)
		}
	}
	again := func(n *clusterkit.StoreNode) {
		if err := n.Start(); err != nil {
			t.Fatal(err)
		}
	}
	other := ns.Node(rng.IntN(ns.Len()))
	var cuts [stormSplits][]byte
	for i := range cuts {
		cuts[i] = fmt.Appendf(nil, "%s~%03d", key(rng.IntN(historyKeys)), rng.IntN(1000))
	}
	end := make(chan struct{})
	storm := h.storm(cuts[:], end)
	defer func() {
		close(end)
		<-storm
	}()
	switch round % 6 {
	case 0: // the gateway loses its power
		crash(g)
		h.progress()
		again(g)
	case 1: // the gateway is cut off, and goes on believing that it is that for a while
		ns.Net.Isolate(g.ID, true)
		h.progress()
		ns.Net.Isolate(g.ID, false)
	case 2: // all lose their power at once
		for i := range ns.Len() {
			crash(ns.Node(i))
		}
		for i := range ns.Len() {
			again(ns.Node(i))
		}
	case 3: // any one loses its power
		crash(other)
		h.progress()
		again(other)
	case 4: // one does not hear the gateway, which hears it
		ns.Net.Cut(g.ID, other.ID, true)
		h.progress()
		ns.Net.Cut(g.ID, other.ID, false)
	case 5: // the gateway is cut off in region 0 alone: it leads all regions but the one that says who is the gateway
		ns.Net.IsolateIn(0, g.ID, true)
		within(t, "another gateway", func() bool { now := ns.Gateway(); return now != nil && now != g })
		h.progress()
		ns.Net.IsolateIn(0, g.ID, false)
	}
	h.progress()
}
