package store

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/mvcc"
	"github.com/pandodb/pando/status"
)

// Bounds of the collector's work.
const (
	gcBatchRecords = 16384                  // records of the queue that are sorted and processed together
	gcApplyDeletes = 512                    // deletions applied at a time, because commits wait meanwhile
	gcBatchDeletes = 2048                   // deletions per page of a scan
	gcKeyDeletes   = 1024                   // deletions of one key at a time
	gcScanMoves    = 4096                   // iterator moves per page of a scan
	gcScanPause    = 5 * time.Millisecond   // between pages, so that a scan takes a fraction of a core
	gcErrorPause   = time.Second            // after a failed round
	gcCloseMax     = 500 * time.Millisecond // longest drain when the store closes
)

// gcStats count what the collector does.
type gcStats struct {
	deleted, looked, scanned, expired, scans status.Counter
}

// gcWorker is the garbage collector's state. Its goroutine owns all of it.
//
// The safepoint is published before anything it allows is deleted, and a read
// checks it after making its iterator: so a read that passes the check has
// everything it needs in its iterator.
//
// floor: all garbage of commits at or below it is gone, apart from what the
// scan still has to do (gcscan.go).
type gcWorker struct {
	s     *Store
	chunk []byte // taken from the queue, being processed
	rest  []byte // the part of the chunk that is not processed yet
	// spent are chunks without a rest whose deletions may still be in a batch that
	// is not applied. Their bytes stay in the backlog until it is: an empty backlog
	// means that the garbage has been deleted, not that it is about to be.
	spent [][]byte
	// records are those of the current batch; their keys alias chunks.
	records []gcRecord
	floor   clock.Timestamp
	scan    gcScan
	failed  bool // the last round did
	// frozen holds the floor back after an error has made the worker skip garbage.
	frozen bool
}

// collector is the goroutine that collects garbage. It sleeps while there is none.
func (s *Store) collector(w *gcWorker) {
	defer s.background.Done()
	for {
		pause := w.pause()
		if pause < 0 {
			select {
			case <-s.closing:
				return
			case <-s.gc.wake:
				pause = s.o.GCInterval
			}
		}
		timer := clock.NewTimer(pause)
		select {
		case <-s.closing:
			timer.Stop()
			return
		case <-timer.C:
		case <-s.gcNow:
			timer.Stop()
		}
		w.round()
	}
}

// pause returns how long to wait for the next round, negative for ever.
func (w *gcWorker) pause() time.Duration {
	switch bytes, dropFirst := w.s.gc.size(); {
	case w.s.cluster.Load() != nil:
		return -1
	case w.failed:
		return gcErrorPause
	case w.scan.on && !w.scan.blocked:
		return gcScanPause
	case bytes > 0 || dropFirst != 0 || w.scan.on:
		return w.s.o.GCInterval
	}
	return -1
}

// round collects what the safepoint allows by now. In a cluster it does nothing:
// Cluster.collector scans for what is left.
func (w *gcWorker) round() {
	w.s.collecting.Lock() // excludes Promote
	defer w.s.collecting.Unlock()
	if w.s.cluster.Load() != nil {
		return
	}
	if w.s.failed.Load() {
		return
	}
	err := w.drainQueue(nil)
	if err == nil {
		err = w.scanPage()
	}
	if w.failed = err != nil; !w.failed {
		return
	}
	w.s.o.Logger.Error("garbage collection failed; the garbage stays until the next full collection", "error", err)
	w.frozen = true
	w.rest = nil
	w.scan = gcScan{}
}

// drainQueue deletes all garbage in the queue that the safepoint has passed.
// stop, which may be nil, ends it early.
func (w *gcWorker) drainQueue(stop func() bool) error {
	safe := clock.Timestamp(0)
	for stop == nil || !stop() {
		head, ok := w.peek()
		w.settle() // all batches so far are applied
		if !ok {
			break
		}
		if safe < head.ts {
			if safe = w.s.publishSafepoint(); safe < head.ts {
				w.blocked(head.ts)
				return nil
			}
		}
		if err := w.batch(safe); err != nil {
			return err
		}
	}
	return nil
}

// peek returns the oldest record without taking it.
func (w *gcWorker) peek() (gcRecord, bool) {
	if len(w.rest) == 0 {
		if w.chunk != nil {
			w.spent = append(w.spent, w.chunk)
		}
		w.chunk = w.s.gc.pop()
		w.rest = w.chunk
		if len(w.rest) == 0 {
			return gcRecord{}, false
		}
	}
	r, _ := decodeGC(w.rest)
	return r, true
}

// settle returns spent chunks to the queue, once their deletions have been applied.
func (w *gcWorker) settle() {
	for i, c := range w.spent {
		w.s.gc.done(c)
		w.spent[i] = nil
	}
	w.spent = w.spent[:0]
}

// publishSafepoint computes the safepoint and makes readers respect it.
func (s *Store) publishSafepoint() clock.Timestamp {
	safe := s.oldest()
	assert.That(safe <= s.Watermark(), "store: the safepoint is not above the watermark (S4)")
	for {
		old := s.safepoint.Load()
		if old >= uint64(safe) {
			return clock.Timestamp(old)
		}
		if s.safepoint.CompareAndSwap(old, uint64(safe)) {
			return safe
		}
	}
}

// blocked is called when garbage of the commit at ts has to wait for snapshots
// below. It expires those if that has lasted too long. They were open when ts was
// committed, so the age of that commit is a lower bound of theirs, and no clock
// is read when snapshots are opened.
func (w *gcWorker) blocked(ts clock.Timestamp) {
	age := w.s.o.SnapshotAgeMax
	if age < 0 || time.Duration(w.s.o.NowMillis()-ts.PhysicalMillis())*time.Millisecond < age {
		return
	}
	if w.s.Watermark() < ts {
		return // it waits for the watermark, not for a snapshot
	}
	if n := w.s.expire(ts); n > 0 {
		w.s.gcStats.expired.Add(uint64(n))
		w.s.o.Logger.Warn("ended snapshots that held back garbage for too long", "snapshots", n, "max_snapshot_age", age)
	}
}

// batch deletes the garbage of one batch of records at or below safe.
func (w *gcWorker) batch(safe clock.Timestamp) error {
	defer func() {
		clear(w.records)
		w.records = w.records[:0]
	}()
	last := w.take(safe)
	// In key order reads and deletions hit blocks that were just used. Records of
	// one key stay in the order of commits.
	slices.SortFunc(w.records, func(a, b gcRecord) int {
		return cmp.Or(bytes.Compare(a.key, b.key), cmp.Compare(a.ts, b.ts))
	})
	b := w.s.engine.NewBatch()
	defer b.Close()
	// A delete marker may be deleted blindly, without reading the key, only if
	// nothing is left below it (S9). The versions below were shadowed by commits
	// whose records came before, unless there is garbage that the queue lacks.
	_, dropFirst := w.s.gc.size()
	blind := !w.scan.on && !w.frozen && dropFirst == 0
	for rest := w.records; len(rest) > 0; {
		n, err := w.collect(b, rest, safe, blind)
		if err != nil {
			return err
		}
		if rest = rest[n:]; len(rest) > 0 {
			// There is more. If it is of a key with very much garbage, the deletions so
			// far have to be visible before the rest of it is looked for.
			if err := w.s.engine.Apply(b, false); err != nil {
				return err
			}
			b.Reset()
		}
	}
	return w.finish(b, last)
}

// take moves a batch of records at or below safe from the queue to w.records, and
// returns the floor for when they have been processed. Their keys alias chunks,
// which settle returns to the queue.
func (w *gcWorker) take(safe clock.Timestamp) (last clock.Timestamp) {
	last = w.floor
	for len(w.records) < gcBatchRecords {
		r, ok := w.peek()
		if !ok || r.ts > safe {
			// Nothing is left, and commits up to the safepoint were queued before the
			// watermark reached it.
			return max(last, safe)
		}
		// Records of the same commit may follow, so the floor stays just below.
		last = max(last, r.ts-1)
		w.records = append(w.records, r)
		_, w.rest = decodeGC(w.rest)
	}
	return last
}

// collect writes the deletions of records into b, until there are gcApplyDeletes,
// and returns how many records are done. That is zero only if the first key has
// more garbage than is deleted at a time.
func (w *gcWorker) collect(b *engine.Batch, records []gcRecord, safe clock.Timestamp, blind bool) (done int, err error) {
	var it *engine.Iter
	defer func() {
		if it != nil {
			_ = it.Close() // its error would repeat one that a read has returned
		}
	}()
	deleted := 0
	defer func() { w.s.gcStats.deleted.Add(uint64(deleted)) }()
	for i := range records {
		if deleted >= gcApplyDeletes {
			return i, nil
		}
		r := &records[i]
		switch {
		case r.kind == gcPrev:
			b.DeleteVersion(r.key, r.prev, mvcc.ValueLen(r.rowLen))
			deleted++
			continue
		case r.kind == gcMarker && blind:
			b.DeleteVersion(r.key, r.prev, mvcc.ValueLen(r.rowLen))
			b.DeleteVersion(r.key, r.ts, mvcc.ValueLen(0))
			deleted += 2
			continue
		}
		if it == nil {
			if it, err = w.s.engine.NewIter(engine.IterOptions{}); err != nil {
				return 0, err
			}
		}
		w.s.gcStats.looked.Inc()
		n, more, err := mvcc.Collect(it, b, r.key, safe, gcKeyDeletes)
		if err != nil {
			return 0, err
		}
		deleted += n
		if more {
			return i, nil // look again
		}
	}
	return len(records), nil
}

// finish applies a batch together with the record of progress (gcKey).
func (w *gcWorker) finish(b *engine.Batch, floor clock.Timestamp) error {
	if _, dropFirst := w.s.gc.size(); dropFirst != 0 {
		// What was dropped waits for a scan. A drop after this look is above the
		// safepoint and so above the floor.
		floor = min(floor, dropFirst-1)
	}
	if !w.frozen && floor > w.floor {
		w.floor = floor
	}
	b.Set(gcKey, w.marker(false))
	return w.s.engine.Apply(b, false)
}

// drainAtClose tries to leave no garbage, so that the next open need not scan for
// it. The sequencer is drained and no snapshot should be left.
func (w *gcWorker) drainAtClose() error {
	began := clock.Mono()
	if err := w.drainQueue(func() bool { return clock.Since(began) > gcCloseMax }); err != nil {
		return err
	}
	_, more := w.peek()
	_, dropFirst := w.s.gc.size()
	clean := !more && dropFirst == 0 && !w.scan.on && !w.frozen
	if clean {
		w.floor = clock.Timestamp(w.s.applied.Load())
	}
	b := w.s.engine.NewBatch()
	defer b.Close()
	b.Set(gcKey, w.marker(clean))
	return w.s.engine.Apply(b, true)
}

// CollectNow asks the collector for a round at once, for tests and for tools.
func (s *Store) CollectNow() { s.signal(s.gcNow) }

// GCBacklog returns the bytes that the queue needs for garbage which is not
// deleted yet. Garbage that only a scan will find (gcscan.go) does not count.
func (s *Store) GCBacklog() int {
	if c := s.cluster.Load(); c != nil && c.set != nil {
		return c.GCBacklog()
	}
	bytes, _ := s.gc.size()
	return bytes
}

// DropSpan deletes every version in a span for good, in one range deletion, once
// nobody reads below ts any more: the rows of a table whose descriptor was gone
// at ts. Done is false, and nothing has happened, while the safepoint is below
// ts; the caller tries again later. Nobody may write in the span any more. The
// garbage queue may still name its keys, which is harmless.
func (s *Store) DropSpan(span kvapi.Span, ts clock.Timestamp) (done bool, err error) {
	if span.IsPoint() || len(span.End) == 0 || span.Empty() {
		return false, fmt.Errorf("store: drop needs a bounded span, not [%x, %x)", span.Start, span.End)
	}
	if s.failed.Load() || s.isClosing() {
		return false, kvapi.ErrClosed
	}
	if s.regions.Load().closed {
		return false, errEpoch
	}
	if s.publishSafepoint() < ts {
		return false, nil
	}
	b := s.engine.NewBatch()
	defer b.Close()
	b.DeleteRange(keys.VersionPrefix(nil, span.Start), keys.VersionPrefix(nil, span.End))
	if err := s.engine.Apply(b, true); err != nil {
		return false, fmt.Errorf("store: drop span: %w", err)
	}
	return true, nil
}
