package kvapi

import "github.com/pandodb/pando/clock"

// RangeKind is what a range lock keeps other transactions from, until the one that has it ends. Range locks never conflict with each other.
type RangeKind uint8

// The kinds of range locks.
const (
	// RangeGap: nobody else makes a key in the span that was not there. It is InnoDB's gap lock.
	RangeGap RangeKind = iota
	// RangeWhole: nobody else changes or deletes a key in the span either, as if each were locked in shared mode.
	RangeWhole
	// RangeKinds is their number.
	RangeKinds
)

// String names the kind.
func (k RangeKind) String() string {
	if k == RangeGap {
		return "gap"
	}
	return "whole"
}

// RangeLockRequest locks a span of keys that the transaction is about to read. Only one is under way at a time: the lock is of use once
// KeepRange has said how much of the span was read. The regions are filled in by kv.
type RangeLockRequest struct {
	Regions []RegionRef
	Span    Span
	Kind    RangeKind
	Reverse bool // the span is read from its end
	// Mark names the scan that reads the span, among those of the owner. What is locked under the newest mark can be given up (RevertRanges).
	Mark      uint64
	Interrupt *Interrupt
}

// RangeLockResult tells how far a range lock reaches and at which timestamp its span is to be read.
type RangeLockResult struct {
	// TS is a timestamp at which everything shows that others have committed in the span, synced or not. What they have not committed yet
	// waits for the lock.
	TS clock.Timestamp
	// Blocker is the first key of the span, in the order of reading, that another transaction is changing; nil if there is none. The lock
	// ends in front of it, so that who reads on waits for that transaction while it keeps nobody off what lies behind.
	Blocker []byte
}
