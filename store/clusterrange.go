package store

import (
	"bytes"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

// relied is what an owner has read of ranges in a cluster, for the checks of its commit. The range locks beside it make others wait where
// InnoDB has them wait, and are forgotten with their store; the checks alone make them hold (package commit, C7).
type relied struct {
	at     clock.Timestamp // of the span that is being read
	kind   kvapi.RangeKind // of its lock
	checks []kvapi.Check
}

// LockRange is Store.LockRange. Commits that were let pass before the span was published, and have no mark yet, come behind the
// timestamp: the check of the owner's commit finds them.
func (c *Cluster) LockRange(o *Owner, r *kvapi.RangeLockRequest) (res kvapi.RangeLockResult, err error) {
	if err := r.Interrupt.Err(); err != nil {
		return res, err
	}
	if c.s.isClosing() {
		return res, kvapi.ErrClosed
	}
	span := r.Span.Ordinary()
	t := &c.s.locks.ranges
	if !o.covers(span, r.Kind) {
		t.publish(o, span, r.Kind)
		if res.Blocker = c.s.locks.firstHeld(o, span, r.Kind, r.Reverse); res.Blocker != nil {
			t.cut(o, res.Blocker, r.Reverse)
		}
	}
	if res.TS, err = c.timestamps.Next(1); err != nil {
		t.keep(o, kvapi.Span{Start: span.Start, End: span.Start})
		return res, err
	}
	o.relied.at, o.relied.kind = res.TS, r.Kind
	return res, nil
}

// KeepRange is Store.KeepRange.
func (c *Cluster) KeepRange(o *Owner, span kvapi.Span) {
	span = span.Ordinary()
	c.s.locks.ranges.keep(o, span)
	if span.Empty() {
		return
	}
	r := &o.relied
	if len(r.checks) < rangesMax {
		r.checks = append(r.checks, kvapi.Check{Span: kvapi.Span{Start: bytes.Clone(span.Start), End: append([]byte{}, span.End...)}, Seen: r.at, Kind: r.kind})
		return
	}
	// As with the locks, what is too much becomes one with what lies between: it is refused more often than need be, and never too little.
	last := &r.checks[len(r.checks)-1]
	last.Seen, last.Kind = min(last.Seen, r.at), max(last.Kind, r.kind) // whole is the stricter one
	if bytes.Compare(span.Start, last.Span.Start) < 0 {
		last.Span.Start = bytes.Clone(span.Start)
	}
	if compareEnds(span.End, last.Span.End) > 0 {
		last.Span.End = append([]byte{}, span.End...)
	}
}

// Intend is Store.Intend.
func (c *Cluster) Intend(o *Owner, r *kvapi.LockRequest) error {
	return c.s.intend(o, r, func() error {
		v, err := c.enter(r.Region)
		if err == nil && !v.r.desc.Load().Contains(r.Key) {
			err = errEpoch
		}
		return err
	})
}

// AwaitRanges returns once no range lock of another transaction stands in the way of a commit.
func (s *Store) AwaitRanges(o *Owner, r *kvapi.CommitRequest) error {
	if !s.locks.ranges.on.Load() {
		return nil
	}
	// A gap does not keep off what changes keys that are there, which the owner knows of those that it has locked.
	for i := range r.Mutations {
		if m := &r.Mutations[i]; m.Shadow == kvapi.ShadowUnknown {
			o.shadow(s.locks.hash(m.Key), m)
		}
	}
	var checked uint64
	return s.awaitCommit(o, r, &checked)
}
