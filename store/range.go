package store

import (
	"errors"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

// errRanged: a range of another transaction stands in the way of a commit. Nothing has happened; the committer waits and tries again.
var errRanged = errors.New("store: a range lock stands in the way of a commit")

// LockRange locks a span before the owner reads it, and tells at which timestamp it is to be read. It waits for nobody but the group of
// commits in hand. Each success is followed by KeepRange.
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
	// Who had a key of the span locked before that look has released it after its commit was applied, if it has.
	res.TS = clock.Timestamp(s.applied.Load())
	return res, nil
}

// KeepRange says how much of the span that LockRange has locked was read, which may be nothing. That stays locked until the transaction ends.
func (s *Store) KeepRange(o *Owner, span kvapi.Span) { s.locks.ranges.keep(o, span.Ordinary()) }

// Ranged reports whether writers have to call Intend: one atomic load.
func (s *Store) Ranged() bool { return s.locks.ranges.on.Load() }

// Intend is called by who is about to make a key, unless it has locked it and found it there. It waits for the range locks of others, and
// then locks the key, so that who locks a range waits. It is there for the waits to be where InnoDB has them: Commit looks again.
func (s *Store) Intend(o *Owner, r *kvapi.LockRequest) error {
	return s.intend(o, r, func() error {
		if !s.regions.Load().holds(r.Region, r.Key) {
			return errEpoch
		}
		return nil
	})
}

// intend is Intend. here tells whether the key lives here.
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

// awaitCommit waits until no range of others stands in the way of a commit, as far as can be told outside of the sequencer.
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

// barrierRequest is that of all barriers. It is relaxed, so that they are told once the group is applied.
var barrierRequest = kvapi.CommitRequest{Relaxed: true}

// barrier returns once every commit whose range locks were checked before is applied. If nobody leads there is none.
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
		return errFailed // nothing of its own is undetermined
	}
	return err
}
