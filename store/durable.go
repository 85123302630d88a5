package store

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

// relaxedSyncMax is the longest that an applied commit stays unsynced.
const relaxedSyncMax = time.Second

// durable is the durable watermark and its waiters.
type durable struct {
	mark atomic.Uint64
	// waiters is the length of waiting, so that raising looks at it only if need be.
	waiters atomic.Int32
	mu      sync.Mutex // guards waiting; a leaf
	waiting []durableWaiter
}

type durableWaiter struct {
	ts   clock.Timestamp
	wake chan struct{} // closed when the watermark covers ts
}

// Watermark returns the durable watermark: every commit at or below it is
// applied and, unless the store is relaxed, synced. One atomic load.
func (s *Store) Watermark() clock.Timestamp {
	return clock.Timestamp(s.durable.mark.Load())
}

// Applied returns the timestamp of the last applied commit: it covers all commits of transactions that have released their locks. It may not
// be synced yet: see WaitDurable. One atomic load.
func (s *Store) Applied() clock.Timestamp { return clock.Timestamp(s.applied.Load()) }

// raise raises the watermark to ts, unless it is there already. Concurrent groups
// may call it out of order; for each all commits up to its ts are durable.
func (d *durable) raise(ts clock.Timestamp) {
	for {
		old := d.mark.Load()
		if old >= uint64(ts) {
			return
		}
		if d.mark.CompareAndSwap(old, uint64(ts)) {
			break
		}
	}
	// A waiter counts itself before it looks at the mark a last time, so either
	// it sees the new mark or we see it.
	if d.waiters.Load() == 0 {
		return
	}
	d.mu.Lock()
	kept := d.waiting[:0]
	for _, w := range d.waiting {
		if w.ts <= ts {
			close(w.wake)
		} else {
			kept = append(kept, w)
		}
	}
	clear(d.waiting[len(kept):])
	d.waiting = kept
	d.waiters.Store(int32(len(kept)))
	d.mu.Unlock()
}

// join registers a waiter. The channel is nil if the watermark covers ts already.
func (d *durable) join(ts clock.Timestamp) chan struct{} {
	wake := make(chan struct{})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiters.Add(1)
	if clock.Timestamp(d.mark.Load()) >= ts {
		d.waiters.Add(-1)
		return nil
	}
	d.waiting = append(d.waiting, durableWaiter{ts: ts, wake: wake})
	return wake
}

// leave removes a waiter that gives up.
func (d *durable) leave(wake chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.waiting {
		if d.waiting[i].wake == wake {
			last := len(d.waiting) - 1
			d.waiting[i] = d.waiting[last]
			d.waiting[last] = durableWaiter{}
			d.waiting = d.waiting[:last]
			d.waiters.Add(-1)
			return
		}
	}
}

// WaitDurable returns once the watermark covers ts, which must be the timestamp
// of an applied commit. It asks for a sync if none is on its way.
func (s *Store) WaitDurable(ts clock.Timestamp, intr *kvapi.Interrupt) error {
	if ts <= s.Watermark() {
		return nil
	}
	wake := s.durable.join(ts)
	if wake == nil {
		return nil
	}
	if clock.Timestamp(s.relaxedTS.Load()) >= ts {
		// It may be a relaxed commit, which nobody else syncs soon.
		s.signal(s.syncNow)
	}
	select {
	case <-wake:
		return nil
	case <-intr.Done():
		s.durable.leave(wake)
		return kvapi.ErrInterrupted
	case <-s.stopped:
		s.durable.leave(wake)
		return kvapi.ErrClosed
	}
}

// signal sends to a channel with room for one, unless a signal waits there.
func (s *Store) signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// syncer is the goroutine that makes relaxed commits durable. It sleeps while
// there are none.
func (s *Store) syncer() {
	defer s.background.Done()
	for {
		select {
		case <-s.closing:
			return
		case <-s.syncNow:
		case <-s.syncSoon:
			timer := clock.NewTimer(relaxedSyncMax)
			select {
			case <-timer.C:
			case <-s.syncNow:
			case <-s.closing:
				timer.Stop()
				return
			}
			timer.Stop()
		}
		s.syncApplied()
	}
}

// syncApplied makes everything applied so far durable.
func (s *Store) syncApplied() {
	ts := clock.Timestamp(s.applied.Load())
	if ts <= clock.Timestamp(s.synced.Load()) {
		return
	}
	if err := s.engine.SyncWAL(); err != nil {
		s.fail(err)
		return
	}
	s.noteSynced(ts)
	s.durable.raise(ts)
}

// noteSynced remembers up to where the log is known to be synced. In relaxed
// mode the watermark does not tell.
func (s *Store) noteSynced(ts clock.Timestamp) {
	for {
		old := s.synced.Load()
		if old >= uint64(ts) || s.synced.CompareAndSwap(old, uint64(ts)) {
			return
		}
	}
}
