package kvapi

import (
	"bytes"

	"github.com/pandodb/pando/clock"
)

// Span is an interval of logical keys, Start inclusive, End exclusive. A nil
// End makes it the single key Start; an empty non-nil End means no upper bound.
type Span struct {
	Start, End []byte
}

// IsPoint reports whether the span is a single key.
func (s Span) IsPoint() bool { return s.End == nil }

// Contains reports whether key lies in the span.
func (s Span) Contains(key []byte) bool {
	if s.End == nil {
		return bytes.Equal(key, s.Start)
	}
	return bytes.Compare(key, s.Start) >= 0 && (len(s.End) == 0 || bytes.Compare(key, s.End) < 0)
}

// Empty reports whether no key can lie in the span.
func (s Span) Empty() bool {
	return s.End != nil && len(s.End) > 0 && bytes.Compare(s.Start, s.End) >= 0
}

// Ordinary returns the same span with an End, also if it is a single key.
func (s Span) Ordinary() Span {
	if s.End == nil {
		s.End = ResumeAfter(s.Start, false)
	}
	return s
}

// Sink receives the visible pairs of a read, in key order (descending for a
// reverse scan). key and value are borrowed until Pair returns. more=false ends
// the read after this pair; an error ends it and is returned by the read.
//
// A sink must not use the transaction that is reading into it (K1).
type Sink interface {
	Pair(key, value []byte) (more bool, err error)
}

// VersionSink is a sink that wants to know which commit a pair is of. Version is called before each Pair.
type VersionSink interface {
	Sink
	Version(ts clock.Timestamp)
}

// LockMode is the strength of a row lock.
type LockMode uint8

// The two lock modes. Shared locks are compatible with each other only.
const (
	LockShared LockMode = iota
	LockExclusive
)

// String names the mode as SHOW ENGINE STATUS would.
func (m LockMode) String() string {
	if m == LockShared {
		return "shared"
	}
	return "exclusive"
}

// WaitPolicy says what a lock request does when the lock is held elsewhere.
type WaitPolicy uint8

// The wait policies of SQL locking reads.
const (
	WaitDefault WaitPolicy = iota // wait up to the transaction's lock wait timeout
	WaitNone                      // NOWAIT: ErrLockNoWait at once
	WaitSkip                      // SKIP LOCKED: acquired=false at once
)

// ResumeAfter returns a key of the caller's own from which a scan continues behind key: its successor, or in reverse the key itself as the
// exclusive end.
func ResumeAfter(key []byte, reverse bool) []byte {
	if reverse {
		return append(make([]byte, 0, len(key)), key...)
	}
	return append(append(make([]byte, 0, len(key)+1), key...), 0)
}
