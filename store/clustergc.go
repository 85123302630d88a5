package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/mvcc"
	"github.com/pandodb/pando/replica"
	"github.com/pandodb/pando/txn/commit"
)

// Bounds of the collector of regions with logs.
const (
	garbageKeyBytes  = 48 // memory that a key takes besides its bytes
	garbageRoundsMax = 16 // how often a round asks whether a transaction has ended; the next round asks again
)

// garbage is what a region has to delete once its GC point allows it. The leader moves the point in three steps: first transactions that
// began at or below it are refused new locks (floor), then the locks that they have are resolved in all regions, and then the point is
// proposed, after every commit that has its timestamp already. What the point allows is deleted by each replica by itself, and not logged.
type garbage struct {
	// mu guards what follows. It is a leaf.
	mu    sync.Mutex
	keys  []garbageKey // in the order of application
	bytes int
	// since is the lowest timestamp of a commit whose garbage is not in keys, so that only a scan finds it; zero if there is none.
	since clock.Timestamp
}

type garbageKey struct {
	key []byte
	ts  clock.Timestamp
}

// add notes that a commit has made an older version of a key garbage, or has deleted it, unless the keys would take more than so many bytes.
func (g *garbage) add(key []byte, ts clock.Timestamp, limit int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.bytes+len(key)+garbageKeyBytes > limit {
		if g.since == 0 || ts < g.since {
			g.since = ts
		}
		return
	}
	g.bytes += len(key) + garbageKeyBytes
	g.keys = append(g.keys, garbageKey{key: bytes.Clone(key), ts: ts})
}

// take removes and returns the keys whose garbage a point allows to be deleted, each once and in key order, which makes them cheaper to find.
func (g *garbage) take(point clock.Timestamp) (taken []garbageKey) {
	g.mu.Lock()
	defer g.mu.Unlock()
	kept := g.keys[:0]
	for _, k := range g.keys {
		if k.ts > point {
			kept = append(kept, k)
			continue
		}
		taken = append(taken, k)
		g.bytes -= len(k.key) + garbageKeyBytes
	}
	clear(g.keys[len(kept):])
	g.keys = kept
	slices.SortFunc(taken, func(a, b garbageKey) int { return bytes.Compare(a.key, b.key) })
	return slices.CompactFunc(taken, func(a, b garbageKey) bool { return bytes.Equal(a.key, b.key) })
}

// scanFrom returns the timestamp from which a scan up to a point has to look for garbage, and forgets it; zero if no scan is due.
func (g *garbage) scanFrom(point clock.Timestamp) clock.Timestamp {
	g.mu.Lock()
	defer g.mu.Unlock()
	since := g.since
	if since == 0 || since > point {
		return 0
	}
	g.since = 0
	return since
}

// rescan asks for a scan again.
func (g *garbage) rescan(since clock.Timestamp) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.since == 0 || since < g.since {
		g.since = since
	}
}

// some reports whether there is anything to collect, and how many bytes the queue takes.
func (g *garbage) some() (bool, int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.keys) > 0 || g.since != 0, g.bytes
}

// cutAt moves the keys from a key on to the right half of a split.
func (g *garbage) cutAt(key []byte, right *garbage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	kept := g.keys[:0]
	for _, k := range g.keys {
		if bytes.Compare(k.key, key) < 0 {
			kept = append(kept, k)
			continue
		}
		right.keys = append(right.keys, k)
		right.bytes += len(k.key) + garbageKeyBytes
		g.bytes -= len(k.key) + garbageKeyBytes
	}
	clear(g.keys[len(kept):])
	g.keys = kept
	right.since = g.since
}

// collectedKey is the engine key under which clusterRegion.collected is stored.
func collectedKey(id kvapi.RegionID) []byte {
	return keys.LocalKey(nil, binary.BigEndian.AppendUint64([]byte{'G'}, uint64(id)))
}

// loadCollected plans a scan for the garbage that had not been collected when the store was closed or crashed.
func (c *Cluster) loadCollected(r *clusterRegion) error {
	b, found, err := c.s.engine.Get(nil, collectedKey(r.desc.Load().ID))
	if err != nil {
		return c.s.readError(err)
	}
	since := clock.Timestamp(1)
	if found {
		if len(b) != 8 {
			return corrupt("progress of garbage collection")
		}
		since = clock.Timestamp(binary.BigEndian.Uint64(b)) + 1
		r.collected.Store(uint64(since) - 1)
	}
	r.garbage.rescan(since)
	return nil
}

// collector is the goroutine that collects the garbage of regions with logs, in a round each GCInterval.
func (c *Cluster) collector() {
	defer c.background.Done()
	ticker := clock.NewTicker(c.s.o.GCInterval)
	defer ticker.Stop()
	for {
		select {
		case <-c.closing:
			return
		case <-ticker.C:
		}
		if err := c.round(); err != nil && !errors.Is(err, kvapi.ErrClosed) {
			c.s.o.Logger.Warn("cannot collect garbage", "error", err)
			c.stats.CollectFailed.Inc()
		}
	}
}

// round collects the garbage of the regions that this store leads, if it is the gateway, and of its other replicas up to their GC points.
func (c *Cluster) round() error {
	if c.set == nil || c.role.serves.Load() {
		if _, err := c.Collect(); err != nil {
			return err
		}
	}
	for id, r := range *c.regions.Load() {
		line := c.lines.Line(id)
		if line == nil {
			continue
		}
		point := clock.Timestamp(r.gcPoint.Load())
		if _, leads := line.Term(); leads || point <= clock.Timestamp(r.collected.Load()) {
			continue
		}
		if _, err := c.sweep(r, point); err != nil {
			return err
		}
	}
	return nil
}

// Start starts the goroutines, once the groups are started. Close ends them.
func (c *Cluster) Start() {
	for id, r := range *c.regions.Load() {
		if st, ok := c.lines.Status(id); ok {
			r.gcPoint.Store(max(r.gcPoint.Load(), uint64(st.GCPoint)))
		}
	}
	c.background.Add(1)
	go c.collector()
	if c.set != nil {
		c.background.Add(2)
		go c.keepRole()
		go c.keepLease()
	}
}

// Close ends the goroutines. The groups are closed after.
func (c *Cluster) Close() {
	close(c.closing)
	c.cancel()
	c.background.Wait()
}

// GCBacklog returns the bytes that regions need for garbage which is not deleted yet.
func (c *Cluster) GCBacklog() (n int) {
	for _, r := range *c.regions.Load() {
		n += r.garbage.backlog()
	}
	return n
}

// backlog is the bytes that the garbage needs, 1 at least where there is some.
func (g *garbage) backlog() int {
	some, bytes := g.some()
	if !some {
		return 0
	}
	return max(bytes, 1)
}

// Collect runs a round over all regions that this store leads. It returns how many versions it has deleted.
func (c *Cluster) Collect() (deleted int, err error) {
	var due []*clusterRegion
	for _, r := range *c.regions.Load() {
		if some, _ := r.garbage.some(); some || r.records.Load() {
			due = append(due, r)
		}
	}
	if len(due) == 0 {
		return 0, nil
	}
	if age := c.s.o.SnapshotAgeMax; age > 0 {
		c.s.gcStats.expired.Add(uint64(c.s.expire(clock.Make(clock.NowMillis()-age.Milliseconds(), 0))))
	}
	point, err := c.oldest()
	if err != nil {
		return 0, err
	}
	point-- // a transaction that began at the oldest timestamp itself still reads and commits
	if done, err := c.settleBelow(point); err != nil || !done {
		return 0, err
	}
	for _, r := range due {
		n, err := c.collectRegion(r, point)
		deleted += n
		if err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

// settleBelow makes sure that no transaction that began at or below a point has a lock, or gets one, in any region. done is false if one
// is still running; the next round tries again.
func (c *Cluster) settleBelow(point clock.Timestamp) (done bool, err error) {
	for _, r := range *c.regions.Load() {
		f := &floorProposal{c: c, point: point}
		line := c.lines.Line(r.desc.Load().ID)
		if line == nil {
			continue
		}
		if err := line.Do(f); err != nil && !errors.Is(err, errNothing) {
			return false, err
		}
	}
	for _, r := range *c.regions.Load() {
		for {
			locks := r.pending.Load().locksBelow(point, c.s.o.Limits.GarbageLocks, commit.Describe)
			if len(locks) == 0 {
				break
			}
			for _, l := range locks {
				if done, err := c.settle(l); err != nil || !done {
					return false, err
				}
			}
		}
	}
	return true, nil
}

// settle resolves a lock: it drives a commit.Resolver to its end. All keys of the transaction are in regions of this store.
func (c *Cluster) settle(l kvapi.LockInfo) (done bool, err error) {
	now, err := c.Timestamp()
	if err != nil {
		return false, err
	}
	r := commit.NewResolver(l, c.alive())
	steps := r.Begin(c.Regions(), now)
	for rounds := 0; len(steps) > 0; {
		s := steps[0]
		steps = steps[1:]
		switch s.Kind {
		case commit.StepDone:
			return s.Outcome.Err == nil, s.Outcome.Err
		case commit.StepSend:
			result, err := c.Do(s.Request)
			steps = append(steps, r.Answer(s.ID, result, err)...)
		case commit.StepLocate:
			if rounds++; rounds > garbageRoundsMax {
				return false, nil
			}
			select {
			case <-c.closing:
				return false, kvapi.ErrClosed
			case <-clock.After(s.Pause):
			}
			steps = append(steps, r.Located(c.Regions())...)
		case commit.StepTimestamp:
			now, err := c.Timestamp()
			steps = append(steps, r.Timestamp(now, err)...)
		}
	}
	return false, fmt.Errorf("store: a resolver of transaction %s does nothing", l.Start)
}

// alive returns a function that reports whether a coordinator may be alive; nil if that is not known here.
func (c *Cluster) alive() func(node, epoch uint64) bool {
	if c.set == nil {
		return nil
	}
	return c.s.coordinator
}

// floorProposal raises a region's floor in its line, behind what was evaluated before, and proposes nothing.
type floorProposal struct {
	c     *Cluster
	point clock.Timestamp
}

// Size implements replica.Proposal.
func (f *floorProposal) Size() int { return 0 }

// Alone implements replica.Proposal: so all that was evaluated before is applied when Prepare is called.
func (f *floorProposal) Alone() bool { return true }

// Prepare implements replica.Proposal.
func (f *floorProposal) Prepare(t replica.Turn) (timestamps int, err error) {
	r := f.c.region(t.Region.ID)
	if r == nil {
		return 0, errEpoch
	}
	r.floor.Store(max(r.floor.Load(), uint64(f.point)))
	return 0, errNothing
}

// Command implements replica.Proposal. It is never called.
func (f *floorProposal) Command(clock.Timestamp) (replica.Proposed, error) { return nil, errNothing }

// Finish implements replica.Proposal.
func (f *floorProposal) Finish(replica.Result, error) {}

// collectRegion proposes the point and deletes what it allows.
func (c *Cluster) collectRegion(r *clusterRegion, point clock.Timestamp) (deleted int, err error) {
	if _, err := c.propose(r.desc.Load().Ref(), &replica.GCPoint{TS: point}, true); err != nil {
		var epoch *kvapi.EpochError
		if errors.As(err, &epoch) {
			return 0, nil // it was split meanwhile; the next round finds both halves
		}
		return 0, err
	}
	return c.sweep(r, point)
}

// sweep deletes the garbage of this replica that a point allows to be deleted, and stores the progress.
func (c *Cluster) sweep(r *clusterRegion, point clock.Timestamp) (deleted int, err error) {
	collected := clock.Timestamp(r.collected.Load())
	since := r.garbage.scanFrom(point)
	taken := r.garbage.take(point)
	deleted, err = c.deleteKeys(taken, point)
	if err == nil && since != 0 {
		var n int
		n, err = c.scanRegion(r.desc.Load(), since, point)
		deleted += n
	}
	if err != nil {
		if len(taken) > 0 {
			r.garbage.rescan(collected + 1)
		}
		if since != 0 {
			r.garbage.rescan(since)
		}
		return deleted, err
	}
	if err := c.deleteRecords(r, point); err != nil {
		return deleted, err
	}
	b := c.s.engine.NewBatch()
	defer b.Close()
	b.Set(collectedKey(r.desc.Load().ID), binary.BigEndian.AppendUint64(nil, uint64(point)))
	c.s.gcStats.deleted.Add(uint64(deleted))
	r.collected.Store(uint64(point))
	return deleted, c.s.engine.ApplyUnlogged(b)
}

// deleteKeys deletes the versions of the keys that are garbage at the point, in batches.
func (c *Cluster) deleteKeys(taken []garbageKey, point clock.Timestamp) (deleted int, err error) {
	for len(taken) > 0 {
		n := min(len(taken), gcApplyDeletes)
		var again []garbageKey
		err := c.page(func(it *engine.Iter, b *engine.Batch) error {
			for _, k := range taken[:n] {
				count, more, err := mvcc.Collect(it, b, k.key, point, gcKeyDeletes)
				if err != nil {
					return err
				}
				deleted += count
				if more {
					again = append(again, k)
				}
			}
			return nil
		})
		if err != nil {
			return deleted, err
		}
		taken = append(again, taken[n:]...)
	}
	return deleted, nil
}

// page calls f with a new iterator and a batch, and applies the batch, unlogged.
func (c *Cluster) page(f func(it *engine.Iter, b *engine.Batch) error) (err error) {
	it, err := c.s.engine.NewIter(engine.IterOptions{})
	if err != nil {
		return c.s.readError(err)
	}
	b := c.s.engine.NewBatch()
	defer b.Close()
	if err := errors.Join(f(it, b), it.Close()); err != nil {
		return c.s.readError(err)
	}
	if b.Empty() {
		return nil
	}
	return c.s.engine.ApplyUnlogged(b)
}

// scanRegion finds and deletes the garbage of commits from since on, page by page.
func (c *Cluster) scanRegion(desc *kvapi.Region, since, point clock.Timestamp) (deleted int, err error) {
	c.s.gcStats.scans.Inc()
	lower, upper := regionBounds(desc)
	for lower != nil {
		select {
		case <-c.closing:
			return deleted, kvapi.ErrClosed
		default:
		}
		candidates, err := c.s.engine.NewIter(engine.IterOptions{Lower: lower, Upper: upper, MinTS: since, MaxTS: clock.MaxTimestamp})
		if err != nil {
			return deleted, c.s.readError(err)
		}
		lower = nil
		var found []garbageKey
		moves := 0
		for ok := candidates.First(); ok; ok = candidates.NextPrefix() {
			if moves++; moves > gcScanMoves || len(found) >= gcApplyDeletes {
				lower = bytes.Clone(candidates.Key())
				break
			}
			key, ts, is := keys.DecodeVersionKey(candidates.Key())
			if !is {
				return deleted, errors.Join(corrupt("key of a version"), candidates.Close())
			}
			if ts >= since {
				found = append(found, garbageKey{key: bytes.Clone(key)})
			}
		}
		if err := errors.Join(candidates.Error(), candidates.Close()); err != nil {
			return deleted, c.s.readError(err)
		}
		c.s.gcStats.scanned.Add(uint64(len(found)))
		n, err := c.deleteKeys(found, point)
		deleted += n
		if err != nil {
			return deleted, err
		}
		if lower != nil {
			clock.Sleep(gcScanPause)
		}
	}
	return deleted, nil
}

// deleteRecords deletes the records of transactions that began at or below the point: none of them has a lock any more, and none is let in.
func (c *Cluster) deleteRecords(r *clusterRegion, point clock.Timestamp) error {
	if !r.records.Load() {
		return nil
	}
	lower, upper := spaceBounds(keys.SpaceTxn, r.desc.Load())
	left := false
	noted := r.noted.Load()
	for lower != nil {
		var next []byte
		err := c.page(func(_ *engine.Iter, b *engine.Batch) (err error) {
			it, err := c.s.engine.NewIter(engine.IterOptions{Lower: lower, Upper: upper})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, it.Close()) }()
			n := 0
			for ok := it.First(); ok; ok = it.Next() {
				if n++; n > c.s.o.Limits.GarbageRecords {
					next = bytes.Clone(it.Key())
					break
				}
				start, is := keys.DecodeTxnStart(it.Key())
				if !is {
					return corrupt("key of a transaction record")
				}
				if start > point {
					left = true
					continue
				}
				b.Delete(it.Key())
			}
			return it.Error()
		})
		if err != nil {
			return err
		}
		lower = next
	}
	if !left {
		r.noRecords(noted)
	}
	return nil
}

// noteRecord notes that there may be a record. It is called when one is being applied, and again when it is visible.
func (r *clusterRegion) noteRecord() {
	r.recordsMu.Lock()
	defer r.recordsMu.Unlock()
	r.noted.Add(1)
	r.records.Store(true)
}

// noRecords notes that there is no record, unless one was noted since noted was read: the search may not have seen it.
func (r *clusterRegion) noRecords(noted uint64) {
	r.recordsMu.Lock()
	defer r.recordsMu.Unlock()
	if r.noted.Load() == noted {
		r.records.Store(false)
	}
}
