package txn

import (
	"bytes"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

// A locking scan locks the span that it reads, page by page: plain scans of SERIALIZABLE, and scans for what a statement is going to lock at
// REPEATABLE READ and above. Each page is
//
//	LockRange   from here to the end of the span, or to the first key that another transaction is changing
//	read        up to there, at the timestamp that LockRange says; a page may end earlier
//	KeepRange   what was read
//
// and if such a key comes first, nothing is locked until its transaction has ended. So a scan with LIMIT locks only as far as it reads, and a
// transaction that waits blocks nobody by a span that it has not read.

// MarkRanges returns a mark for the scans of one operator (ScanRequest.Mark), so that it can give up the ranges that they lock.
func (t *Txn) MarkRanges() uint64 {
	t.marks++
	return t.marks
}

// RevertRanges gives up the ranges that scans with a mark have locked, for who has found a row among theirs that another transaction has locked:
// while it waits, others may insert into the ranges, above all those for whom it waits. InnoDB locks a range row by row and stands in front of
// that row. The caller reads all anew afterwards. It returns false if there is nothing to give up, or another scan has locked ranges since and
// relies on what it found locked.
func (t *Txn) RevertRanges(mark uint64, wait kvapi.WaitPolicy) bool {
	return t.locksRanges(wait) && t.kv().RevertRanges(&t.owner, mark)
}

// rangeKind is the kind of range lock that a scan takes. At SERIALIZABLE that of rows is against any change, since the caller does not lock
// rows that fail its condition. Entries of an index change only when a row does, and at that level the caller locks all rows that they lead to.
func (t *Txn) rangeKind(rows bool) kvapi.RangeKind {
	if rows && t.o.Level == Serializable {
		return kvapi.RangeWhole
	}
	return kvapi.RangeGap
}

// locksRanges reports whether a scan whose candidates will be locked locks its span. With SKIP LOCKED it does not: such a statement overlooks rows
// anyway, and need not be protected from new ones.
func (t *Txn) locksRanges(wait kvapi.WaitPolicy) bool {
	return t.o.Level != ReadCommitted && wait != kvapi.WaitSkip && !t.m.unranged
}

// scanRanged reads one page of a span and locks what it has read of it.
func (t *Txn) scanRanged(r *ScanRequest, kind kvapi.RangeKind, wait kvapi.WaitPolicy) (resume []byte, err error) {
	span := r.Span.Ordinary()
	t.StatementTS() // registers a snapshot, so that garbage collection keeps what is read here, at a timestamp that is not lower
	for {
		q := &t.rangeReq
		q.Span, q.Kind, q.Reverse, q.Mark, q.Interrupt = span, kind, r.Reverse, r.Mark, t.o.Interrupt
		res, err := t.kv().LockRange(&t.owner, q)
		q.Span, q.Interrupt = kvapi.Span{}, nil
		if err != nil {
			return nil, err
		}
		t.rangeTS = max(t.rangeTS, res.TS)
		t.seen = max(t.seen, res.TS)
		part := *r
		part.Span = span
		if b := res.Blocker; b != nil {
			part.Span = before(span, b, r.Reverse)
			if part.Span.Empty() {
				t.kv().KeepRange(&t.owner, part.Span)
				if r.Hold != nil {
					r.Hold.Rest()
				}
				if err := t.await(b, wait); err != nil {
					return nil, err
				}
				continue
			}
		}
		return t.readRanged(&part, res.Blocker)
	}
}

// readRanged reads a page of a span that LockRange has locked, and keeps locked what the page has read. The span ends before blocker, if there is one.
func (t *Txn) readRanged(r *ScanRequest, blocker []byte) (resume []byte, err error) {
	resume, err = t.scanAt(r, t.rangeTS)
	read := r.Span
	switch {
	case err != nil || resume == nil:
	case r.Reverse:
		read.Start = resume
	default:
		read.End = resume
	}
	t.kv().KeepRange(&t.owner, read)
	if err != nil {
		return nil, err
	}
	switch {
	case resume != nil && blocker == nil:
		if left := after(r.Span, resume, r.Reverse); left.Empty() {
			resume = nil // nothing is left
		}
	case resume == nil && blocker != nil && r.Reverse:
		resume = kvapi.ResumeAfter(blocker, false)
	case resume == nil && blocker != nil:
		resume = bytes.Clone(blocker)
	}
	return resume, nil
}

// before is the part of a span that a scan reads before it comes to key, and after what is left of it at a resume key.
func before(s kvapi.Span, key []byte, reverse bool) kvapi.Span {
	if reverse {
		s.Start = kvapi.ResumeAfter(key, false)
	} else {
		s.End = key
	}
	return s
}

func after(s kvapi.Span, resume []byte, reverse bool) kvapi.Span {
	if reverse {
		s.End = resume
	} else {
		s.Start = resume
	}
	return s
}

// await returns once no other transaction has key locked exclusively. It keeps no lock, since it is not known yet whether the row is wanted.
func (t *Txn) await(key []byte, wait kvapi.WaitPolicy) error {
	r := &t.lockReq
	*r = kvapi.LockRequest{Key: key, Mode: kvapi.LockShared, Wait: wait, Tag: t.stmt, Timeout: t.lockWait, Interrupt: t.o.Interrupt}
	res, err := t.kv().Lock(&t.owner, r)
	r.Key = nil
	if err != nil {
		return err
	}
	t.seen = max(t.seen, res.Version.TS)
	if res.Acquired {
		t.kv().Unlock(&t.owner, key, t.stmt)
	}
	return nil
}

// latestTS is the timestamp at which ScanLatest and GetLatest read.
func (t *Txn) latestTS() clock.Timestamp {
	if t.Deferred() {
		return t.ReadTS()
	}
	return max(t.StatementTS(), t.rangeTS)
}

// intend is called with keys that are about to be written, if there are range locks in the store.
func (t *Txn) intend(key []byte) error {
	r := &t.lockReq
	*r = kvapi.LockRequest{Key: key, Mode: kvapi.LockExclusive, Tag: t.stmt, Timeout: t.lockWait, Interrupt: t.o.Interrupt, Create: true}
	err := t.kv().Intend(&t.owner, r)
	r.Key = nil
	return err
}
