package kvapi

import (
	"fmt"

	"github.com/pandodb/pando/clock"
)

// What follows is what the commits of a cluster are made of: requests to the leader of one region each. docs/design/0020 and package
// txn/commit have the protocol. Start names the transaction in all of them.

// Expect says what a mutation or a check relies on, and what it is refused for if it is not so.
type Expect uint8

// What is relied on. A key that another transaction has locked is refused in every case.
const (
	// ExpectAnything: another key of the transaction covers this one.
	ExpectAnything Expect = iota
	// ExpectAbsent: there is no live version.
	ExpectAbsent
	// ExpectNotAbove: no version is above the one at Prev that was met, zero for none. A deletion at Prev may have been collected since.
	ExpectNotAbove
	// ExpectVersion: the newest version is the live one at Prev that was met. Where there is none any more, what deleted it is collected.
	ExpectVersion
)

// Check is what a transaction has locked or read and does not write, and relies on until it commits.
type Check struct {
	// Span is a key, or an interval that was read at Seen.
	Span Span
	// Seen is, of a key, the timestamp of its newest version, zero if it had none. Live: that was no deletion.
	Seen clock.Timestamp
	Live bool
	// Kind says of an interval what may not have happened in it since, as it says of a range lock.
	Kind RangeKind
}

// Coordinator says who decides a transaction: for how long it is taken to be alive without a word, and where it runs.
type Coordinator struct {
	TTL             uint64 // milliseconds from the transaction's start
	Node, NodeEpoch uint64
}

// PrewriteRequest locks keys of one region for a commit, or, if OnePhase, commits them.
type PrewriteRequest struct {
	Region RegionRef
	Start  clock.Timestamp
	// Primary is the key whose lock decides. It is the same in all requests of the transaction.
	Primary   []byte
	Mutations []Mutation
	// OnePhase: these are all the mutations and checks that there are. Checks and Counters come only with it.
	OnePhase bool
	Checks   []Check
	Counters []CounterRaise
	// Async: the transaction is committed as soon as all of its keys are locked. Secondaries are the keys but for the primary, in the
	// request that holds the primary.
	Async       bool
	Secondaries [][]byte
	// MaxCommit is a timestamp above which the transaction may not commit; zero for no bound.
	MaxCommit   clock.Timestamp
	Coordinator Coordinator
	// AsOf is how much the store that the request is for had recorded (package store, S16) when all that the transaction relies on was so, and
	// before anything of it was sent: of a key of which nothing is recorded since, the store need not look for the newest version. Every store
	// counts by itself, and anew in each life, so it does not cross between nodes. Zero: nothing is known.
	AsOf uint64
}

// PrewriteResult is the answer to a PrewriteRequest that was not refused.
type PrewriteResult struct {
	// Least is the timestamp of the locks: the transaction commits at or above it.
	Least clock.Timestamp
	// Commit is not zero if the transaction is committed, by this request or before it.
	Commit clock.Timestamp
}

// FinishRequest makes locks of one region into versions at Commit, or takes them away if that is zero. What is taken away leaves a marker.
type FinishRequest struct {
	Region RegionRef
	Start  clock.Timestamp
	// Primary is the transaction's. Once it is committed, or rolled back, so is the transaction.
	Primary []byte
	Keys    [][]byte
	Commit  clock.Timestamp
}

// FinishResult is the answer to a FinishRequest. Commit is not zero if the transaction turned out to be committed.
type FinishResult struct{ Commit clock.Timestamp }

// StatusRequest asks what has become of a transaction, at the leader of its primary.
type StatusRequest struct {
	Region  RegionRef
	Start   clock.Timestamp
	Primary []byte
	// Now judges whether the coordinator is alive. Dead says that its node is known to be gone.
	Now  clock.Timestamp
	Dead bool
	// Missing: a lock of the transaction has expired, so that a primary without lock is rolled back. Otherwise it may still come.
	Missing bool
}

// TxnState is what a StatusRequest finds.
type TxnState uint8

// The states of a transaction.
const (
	TxnUndecided  TxnState = iota // its coordinator is alive, or the primary may still come
	TxnCommitted                  // at Status.Commit
	TxnRolledBack                 // a marker stands
	TxnOrphaned                   // async, and its coordinator is dead: all of its keys decide
)

// Status is the answer to a StatusRequest.
type Status struct {
	State  TxnState
	Commit clock.Timestamp
	// Least and Secondaries are those of the primary's lock, if the transaction is orphaned.
	Least       clock.Timestamp
	Secondaries [][]byte
}

// SecondariesRequest asks about keys of an orphaned transaction. One that has no lock gets a marker, by which the transaction is rolled back.
type SecondariesRequest struct {
	Region RegionRef
	Start  clock.Timestamp
	Keys   [][]byte
}

// Secondaries is the answer to a SecondariesRequest: the transaction was committed, or has a marker, or all of the keys are locked, of
// which Least is the greatest timestamp.
type Secondaries struct {
	Commit     clock.Timestamp
	RolledBack bool
	Least      clock.Timestamp
}

// CheckRequest asks the present leader of a region, once the commit timestamp is known, whether what was read is still so.
type CheckRequest struct {
	Region RegionRef
	Start  clock.Timestamp
	At     clock.Timestamp
	Checks []Check
}

// HeartbeatRequest makes the primary's lock live longer.
type HeartbeatRequest struct {
	Region  RegionRef
	Start   clock.Timestamp
	Primary []byte
	TTL     uint64
}

// LockInfo describes a lock that was met, as far as one who waits for it needs to know.
type LockInfo struct {
	Key, Primary    []byte
	Start, Least    clock.Timestamp
	TTL             uint64
	Node, NodeEpoch uint64
	Async           bool
}

// LockedError refuses a request that met the lock of another transaction: resolve it, or wait, and ask again.
type LockedError struct{ Lock LockInfo }

// Error implements error.
func (e *LockedError) Error() string {
	return fmt.Sprintf("key %x is locked by transaction %s", e.Lock.Key, e.Lock.Start)
}

// ConflictError refuses a commit because a key is not as the transaction relies on. Nothing of the request was done.
type ConflictError struct {
	Key []byte
	// Newest is the version that is in the way, zero if one is missing.
	Newest clock.Timestamp
}

// Error implements error.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("key %x has changed: its newest version is %s", e.Key, e.Newest)
}
