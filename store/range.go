package store

import (
	"errors"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

// errRanged: another transaction has locked a range that conflicts with a commit. Nothing has happened; the committer waits and tries again.
var errRanged = errors.New("store: a range lock conflicts with a commit")

// LockRange locks a span before the owner reads it, and returns the timestamp at which it is to be read. It waits only for the current group
// of commits. After each success the caller calls KeepRange.
func (s *Store) LockRange(o *Owner, r *kvapi.RangeLockRequest) (res kvapi.RangeLockResult, err error) {
	if err := r.Interrupt.Err(); err != nil {
		return res, err
	}
	if s.isClosing() {
		return res, kvapi.ErrClosed
	}
	span := r.Span.Ordinary()
	if !s.regions.Load().covers(r.Regions, span) {
		return res, errEpoch
	}
	t := &s.locks.ranges
	o.ranges.begin(r.Mark)
	if !o.covers(span, r.Kind) {
		t.publish(o, span, r.Kind)
		if err := s.barrier(o); err != nil {
			t.keep(o, kvapi.Span{Start: span.Start, End: span.Start})
			return res, err
		}
		if res.Blocker = s.locks.firstHeld(o, span, r.Kind, r.Reverse); res.Blocker != nil {
			t.cut(o, res.Blocker, r.Reverse)
		}
	}
	// A transaction that held a key of the span and is not found by firstHeld has released it, after its commit was applied: applied covers it.
	res.TS = clock.Timestamp(s.applied.Load())
	return res, nil
}

// KeepRange says which part of the span that LockRange has locked was read; it may be empty. That part stays locked until the transaction ends.
func (s *Store) KeepRange(o *Owner, span kvapi.Span) { s.locks.ranges.keep(o, span.Ordinary()) }

// RevertRanges gives up the ranges that the owner has locked by requests with a mark, so that a scan that has to wait for a row keeps nobody off
// what it will read anew. It returns false, and they stay locked, unless the newest request bore that mark. The mark is used up.
func (s *Store) RevertRanges(o *Owner, mark uint64) bool { return s.locks.ranges.revert(o, mark) }

// Ranged reports whether writers have to call Intend: one atomic load.
func (s *Store) Ranged() bool { return s.locks.ranges.on.Load() }

// Intend is called before a statement inserts a key, unless the owner has locked it and found it there. It waits for the range locks of others,
// and then locks the key, so that readers of a range around it wait. It makes statements wait where InnoDB does; for safety Commit checks again.
func (s *Store) Intend(o *Owner, r *kvapi.LockRequest) error {
	return s.intend(o, r, func() error {
		if !s.regions.Load().holds(r.Region, r.Key) {
			return errEpoch
		}
		return nil
	})
}

// intend is Intend; here returns an error if the key is not in a region of this store.
func (s *Store) intend(o *Owner, r *kvapi.LockRequest, here func() error) error {
	if err := r.Interrupt.Err(); err != nil {
		return err
	}
	if s.isClosing() {
		return kvapi.ErrClosed
	}
	for {
		if err := here(); err != nil {
			return err
		}
		h := o.find(s.locks.hash(r.Key), r.Key)
		exclusive := h != nil && h.mode == kvapi.LockExclusive
		if exclusive && h.read && h.version.Found {
			return nil
		}
		if err := s.locks.awaitRanges(o, r, accessCreate, false, s.closing); err != nil {
			return err
		}
		if exclusive {
			s.locks.markCreating(h)
			return nil
		}
		if o.live >= intentLocksMax {
			return nil
		}
		_, waited, err := s.locks.acquire(o, r, s.closing)
		if errors.Is(err, kvapi.ErrLockTableFull) {
			return nil
		}
		if err != nil || !waited {
			return err
		}
	}
}

// awaitCommit waits until no range of others conflicts with a commit. New ones may be locked before the commit is in the sequencer.
func (s *Store) awaitCommit(o *Owner, r *kvapi.CommitRequest, checked *uint64) error {
	began := clock.Mono()
	for {
		at := s.locks.ranges.admit(o, r.Mutations, checked)
		if at < 0 {
			return nil
		}
		if s.isClosing() {
			return kvapi.ErrClosed
		}
		m := &r.Mutations[at]
		wait := kvapi.LockRequest{Key: m.Key, Mode: kvapi.LockExclusive, Timeout: r.Timeout - clock.Since(began), Interrupt: r.Interrupt}
		if err := s.locks.awaitRanges(o, &wait, commitAccess(m), true, s.closing); err != nil {
			return err
		}
	}
}

// barrierRequest is the request of all barriers. It is relaxed, so that they return once their group is applied.
var barrierRequest = kvapi.CommitRequest{Relaxed: true}

// barrier returns once every commit that was checked against range locks before the call is applied. If nobody leads there is none.
func (s *Store) barrier(o *Owner) error {
	q := &s.seq
	q.mu.Lock()
	leading := q.leading
	q.mu.Unlock()
	if !leading {
		return nil
	}
	n := &o.commit
	n.owner, n.req, n.admin, n.alloc, n.bytes, n.barrier = nil, &barrierRequest, nil, nil, 0, true
	err := s.enqueue(n)
	n.req, n.barrier = nil, false
	if err != nil && !errors.Is(err, kvapi.ErrClosed) {
		return errFailed // not ErrUndetermined: the barrier itself writes nothing
	}
	return err
}
