package store

import (
	"bytes"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

// relied is what an owner has read of ranges in a cluster, which its commit has to check. Range locks make others wait where InnoDB makes them
// wait, but they are lost when the gateway changes; the checks are what guarantees the ranges (package commit, C7).
type relied struct {
	at     clock.Timestamp // at which the present span is read
	kind   kvapi.RangeKind // of the lock of the present span
	checks []kvapi.Check
	marked int // number of checks when the first request of ownRanges.mark came
}

// LockRange is Store.LockRange. A commit that was admitted before the span was published, and has no mark yet, gets a timestamp above res.TS:
// the check at the owner's commit finds it.
func (c *Cluster) LockRange(o *Owner, r *kvapi.RangeLockRequest) (res kvapi.RangeLockResult, err error) {
	if err := r.Interrupt.Err(); err != nil {
		return res, err
	}
	if c.s.isClosing() {
		return res, kvapi.ErrClosed
	}
	span := r.Span.Ordinary()
	t := &c.s.locks.ranges
	if o.ranges.mark != r.Mark {
		o.relied.marked = len(o.relied.checks)
	}
	o.ranges.begin(r.Mark)
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
	// As with the locks (rangesMax), the last check is widened: commits may be refused needlessly, but none is let through that should not be.
	last := &r.checks[len(r.checks)-1]
	last.Seen, last.Kind = min(last.Seen, r.at), max(last.Kind, r.kind) // RangeWhole is the stricter kind, and the greater
	if bytes.Compare(span.Start, last.Span.Start) < 0 {
		last.Span.Start = bytes.Clone(span.Start)
	}
	if compareEnds(span.End, last.Span.End) > 0 {
		last.Span.End = append([]byte{}, span.End...)
	}
}

// RevertRanges is Store.RevertRanges. The commit need not check what was read of them. Checks that had to be widened can't be told apart.
func (c *Cluster) RevertRanges(o *Owner, mark uint64) bool {
	r := &o.relied
	if len(r.checks) >= rangesMax || !c.s.locks.ranges.revert(o, mark) {
		return false
	}
	clear(r.checks[r.marked:])
	r.checks = r.checks[:r.marked]
	return true
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

// AwaitRanges returns once no range lock of another transaction conflicts with a commit.
func (s *Store) AwaitRanges(o *Owner, r *kvapi.CommitRequest) error {
	if !s.locks.ranges.on.Load() {
		return nil
	}
	// A gap lock does not conflict with changes of existing keys. The owner knows of the keys that it has locked whether they exist.
	for i := range r.Mutations {
		if m := &r.Mutations[i]; m.Shadow == kvapi.ShadowUnknown {
			o.shadow(s.locks.hash(m.Key), m)
		}
	}
	var checked uint64
	return s.awaitCommit(o, r, &checked)
}
