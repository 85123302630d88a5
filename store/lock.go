package store

import (
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/status"
)

// lockStats count what happens off the uncontended path.
type lockStats struct {
	waits     status.Counter
	deadlocks status.Counter
	timeouts  status.Counter
	waitNanos status.Histogram
	waiting   atomic.Int64
}

// acquire gets a lock for o, waiting in the key's queue if it must. The returned
// lock is nil if and only if the error is not nil or the request was skipped;
// waited tells whether it was in the queue.
func (t *lockTable) acquire(o *Owner, r *kvapi.LockRequest, closing <-chan struct{}) (h *heldLock, waited bool, err error) {
	hash := t.hash(r.Key)
	h = o.find(hash, r.Key)
	if h != nil && (h.mode == kvapi.LockExclusive || r.Mode == kvapi.LockShared) {
		return h, false, nil
	}
	upgrade := h != nil
	s := t.shard(hash)
	s.mu.Lock()
	e := s.entry(hash, r.Key)
	if e == nil {
		s.mu.Unlock()
		return nil, false, kvapi.ErrLockTableFull
	}
	// An upgrade goes to the front of the queue anyway, so only holders matter to it.
	if (e.head == nil || upgrade) && e.grantable(o, r.Mode) {
		e.hold(o, r.Mode, upgrade)
		e.creating = r.Create
		s.mu.Unlock()
	} else {
		s.mu.Unlock()
		switch r.Wait {
		case kvapi.WaitNone:
			return nil, false, kvapi.ErrLockNoWait
		case kvapi.WaitSkip:
			return nil, false, nil
		}
		if e, waited, err = t.wait(o, r, hash, upgrade, closing); err != nil {
			return nil, waited, err
		}
	}
	if upgrade {
		h.mode = kvapi.LockExclusive
		return h, waited, nil
	}
	return o.add(heldLock{entry: e, hash: hash, tag: r.Tag, mode: r.Mode}), waited, nil
}

// wait is acquire's slow path: it queues, looks for a deadlock, and blocks.
func (t *lockTable) wait(o *Owner, r *kvapi.LockRequest, hash uint64, upgrade bool, closing <-chan struct{}) (e *lockEntry, waited bool, err error) {
	w := &o.waiter
	s := t.shard(hash)
	t.graphMu.Lock()
	s.mu.Lock()
	// The lock may have been released while no mutex was held.
	if e = s.entry(hash, r.Key); e == nil {
		s.mu.Unlock()
		t.graphMu.Unlock()
		return nil, false, kvapi.ErrLockTableFull
	}
	if (e.head == nil || upgrade) && e.grantable(o, r.Mode) {
		e.hold(o, r.Mode, upgrade)
		e.creating = r.Create
		s.mu.Unlock()
		t.graphMu.Unlock()
		return e, false, nil
	}
	w.mode, w.upgrade, w.creating, w.granted, w.victim, w.committing = r.Mode, upgrade, r.Create, false, false, false
	w.since = clock.Mono()
	w.entry.Store(e)
	e.queue(w)
	s.mu.Unlock()
	deadlock := t.closesCycle(o) != nil
	t.graphMu.Unlock()
	leave := func() bool { return t.cancel(e, w) }
	if deadlock {
		return e, true, t.giveUp(w, kvapi.ErrDeadlock, leave)
	}
	return e, true, t.block(o, w, r, closing, leave)
}

// block waits until the wait is ended by somebody else, or there is a reason to give up. Then leave ends it, and returns true if it had ended.
func (t *lockTable) block(o *Owner, w *lockWaiter, r *kvapi.LockRequest, closing <-chan struct{}, leave func() bool) error {
	// Most waits end at once when the holder commits, before a timer is worth making.
	select {
	case <-w.wake:
		return t.outcome(w)
	default:
	}
	w.blocked.Store(true)
	o.rest() // the wait may be long, and an open iterator holds back the deletion of files
	t.stats.waits.Inc()
	t.stats.waiting.Add(1)
	began := clock.Mono()
	defer func() {
		w.blocked.Store(false)
		t.stats.waiting.Add(-1)
		t.stats.waitNanos.ObserveDuration(clock.Mono() - began)
	}()
	timer := clock.NewTimer(max(r.Timeout, time.Millisecond))
	defer timer.Stop()
	var err error
	select {
	case <-w.wake:
		return t.outcome(w)
	case <-timer.C:
		err = kvapi.ErrLockTimeout
	case <-r.Interrupt.Done():
		err = kvapi.ErrInterrupted
	case <-closing:
		err = kvapi.ErrClosed
	}
	return t.giveUp(w, err, leave)
}

// giveUp ends a wait with err, unless it has ended.
func (t *lockTable) giveUp(w *lockWaiter, err error, leave func() bool) error {
	if leave() {
		return t.outcome(w)
	}
	switch err {
	case kvapi.ErrLockTimeout:
		t.stats.timeouts.Inc()
	case kvapi.ErrDeadlock:
		t.stats.deadlocks.Inc()
	}
	return err
}

// outcome returns the result of a wait that somebody else has ended. The caller has received the token of w.wake.
func (t *lockTable) outcome(w *lockWaiter) error {
	if !w.victim {
		return nil
	}
	t.stats.deadlocks.Inc()
	return kvapi.ErrDeadlock
}

// cancel leaves the queue. It returns true if the wait has ended already: then that
// outcome counts, whatever the reason to give up.
func (t *lockTable) cancel(e *lockEntry, w *lockWaiter) (granted bool) {
	e.shard.mu.Lock()
	defer e.shard.mu.Unlock()
	if w.granted || w.victim {
		<-w.wake // the token is there, as it is sent under the shard's mutex
		return true
	}
	e.leave(w)
	w.entry.Store(nil)
	// Those behind it in the queue may have waited for this waiter only.
	e.settle()
	return false
}

// markCreating notes that the owner of an exclusive lock is about to insert the key.
func (t *lockTable) markCreating(h *heldLock) {
	s := h.entry.shard
	s.mu.Lock()
	h.entry.creating = true
	s.mu.Unlock()
}

// forgetNew drops a lock that was granted just now and has not been used. One that
// the owner had before, in shared mode, stays.
func (t *lockTable) forgetNew(o *Owner, h *heldLock) {
	if h.read {
		return
	}
	t.drop(o, h)
}

// release drops one lock early, if the owner took it with this tag.
func (t *lockTable) release(o *Owner, key []byte, tag uint32) {
	h := o.find(t.hash(key), key)
	if h == nil || h.tag != tag {
		return
	}
	t.drop(o, h)
}

func (t *lockTable) drop(o *Owner, h *heldLock) {
	e := h.entry
	s := e.shard
	o.forget(h)
	s.mu.Lock()
	e.unhold(o)
	s.mu.Unlock()
}
