package kvapi

import (
	"errors"
	"fmt"

	"github.com/pandodb/pando/clock"
)

// Errors that a transaction or read may end in. They describe behaviour;
// session maps them to MySQL numbers.
var (
	// ErrDeadlock: this lock request would have closed a cycle. The transaction
	// has to be rolled back (1213).
	ErrDeadlock = errors.New("deadlock found when trying to get lock")
	// ErrLockTimeout: the lock wait timeout passed. The statement has to be
	// rolled back; the transaction may go on (1205).
	ErrLockTimeout = errors.New("lock wait timeout exceeded")
	// ErrLockNoWait: NOWAIT met a lock held elsewhere (3572).
	ErrLockNoWait = errors.New("lock held by another transaction and NOWAIT is set")
	// ErrLockTableFull: the store holds as many row locks as it may. The
	// transaction has to be rolled back (1206).
	ErrLockTableFull = errors.New("too many row locks")
	// ErrInterrupted: the interrupt of the request is set; its Reason says why.
	ErrInterrupted = errors.New("interrupted")
	// ErrSnapshotTooOld: versions that the snapshot needs may have been
	// collected, because it outlived max_snapshot_age.
	ErrSnapshotTooOld = errors.New("snapshot too old")
	// ErrWriteConflict: under snapshot isolation, a locked row was changed after
	// the transaction's snapshot. The transaction has to be rolled back (1020).
	ErrWriteConflict = errors.New("row was changed since the transaction's snapshot")
	// ErrDiskFull: writes are refused below the free-space watermark (1021).
	// Nothing was written; reads go on.
	ErrDiskFull = errors.New("disk is nearly full, writes are refused")
	// ErrUndetermined: the write may or may not have happened. The client must
	// be disconnected: never report failure, never retry.
	ErrUndetermined = errors.New("outcome of the commit is unknown")
	// ErrTxnTooLarge: the transaction exceeds its size or entry limit. The
	// refused write was not buffered.
	ErrTxnTooLarge = errors.New("transaction is too large")
	// ErrCorrupt: stored bytes do not decode. It is wrapped with where.
	ErrCorrupt = errors.New("stored data is corrupt")
	// ErrClosed: the store is closed or closing.
	ErrClosed = errors.New("store is closed")
	// ErrFinished: the transaction was already committed, rolled back or released.
	ErrFinished = errors.New("transaction is finished")
	// ErrRolledBack: the transaction was rolled back by one that met its locks and took
	// its coordinator for dead. Nothing was written.
	ErrRolledBack = errors.New("transaction was rolled back by another one that waited for it")
	// ErrMaxCommit: the commit timestamp is above what the transaction may commit at.
	// Nothing was written.
	ErrMaxCommit = errors.New("commit timestamp is above the transaction's bound")
	// ErrNoReply: a request was sent and no answer came. Whether it was done is unknown
	// to who sent it; sent again it is recognised.
	ErrNoReply = errors.New("no reply")
	// ErrNotAlone: the regions have logs, and nothing gets into them past these.
	ErrNotAlone = errors.New("the store is one of a cluster")
	// ErrUnavailable: a region was led by nobody, or changed, whenever it was asked (9005). Nothing was done.
	ErrUnavailable = errors.New("a region is unavailable")
	// ErrReadOnly: a write or exclusive lock in a read-only transaction (1792).
	ErrReadOnly = errors.New("transaction is read only")
)

// NewerError is ErrWriteConflict of an optimistic transaction (9007).
type NewerError struct {
	Snapshot clock.Timestamp
	// Start and Commit are of the transaction that wrote the newer version. Start is 0 where it was not recorded.
	Start, Commit clock.Timestamp
	Key           []byte
}

// Error implements error.
func (e *NewerError) Error() string {
	return fmt.Sprintf("key %x was written at %d, the transaction's snapshot is of %d", e.Key, e.Commit, e.Snapshot)
}

// Unwrap implements the interface that errors.Is uses.
func (e *NewerError) Unwrap() error { return ErrWriteConflict }

// EpochError answers a request whose region refs do not match the store's
// regions. Nothing was done; kv refreshes its region cache and tries again. It
// never reaches the transaction layer.
type EpochError struct{}

// Error implements error.
func (e *EpochError) Error() string {
	return "region epoch does not match"
}
