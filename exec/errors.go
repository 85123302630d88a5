package exec

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/types"
)

// ErrUndetermined is returned as it is by Run and MapError when nobody can know
// whether a commit happened. The session must close the connection without an
// answer: it is neither a failure nor a success, and never retried.
var ErrUndetermined = kvapi.ErrUndetermined

// mapped is the table from behaviour to MySQL's error numbers. Order matters only
// where one error wraps another.
var mapped = []struct {
	err    error
	number uint16
	args   []any
}{
	{kvapi.ErrDeadlock, types.ErLockDeadlock, nil},
	{kvapi.ErrLockTimeout, types.ErLockWaitTimeout, nil},
	{kvapi.ErrLockTableFull, types.ErLockTableFull, nil},
	{kvapi.ErrSnapshotTooOld, types.ErTableDefChanged, nil},
	{kvapi.ErrReadOnly, types.ErCantExecuteInReadOnlyTransaction, nil},
	{kvapi.ErrClosed, types.ErServerShutdown, nil},
	{kvapi.ErrUnavailable, types.ErRegionUnavailable, nil},
}

// errnoCrashed is HA_ERR_CRASHED, MySQL's number for a table that does not hold what was written.
const errnoCrashed = 126

// MapError turns an error of storage into the MySQL error that the client sees. A
// *types.Error, ErrUndetermined and nil come back unchanged. intr tells why an
// interrupted statement was interrupted; it may be nil.
func MapError(err error, intr *kvapi.Interrupt) error {
	if err == nil {
		return nil
	}
	var known *types.Error
	if errors.As(err, &known) {
		return known
	}
	if errors.Is(err, ErrUndetermined) {
		return ErrUndetermined
	}
	for i := range mapped {
		if errors.Is(err, mapped[i].err) {
			return types.Errorf(mapped[i].number, mapped[i].args...)
		}
	}
	if _, ok := errors.AsType[*kvapi.EpochError](err); ok {
		return types.Errorf(types.ErRegionUnavailable)
	}
	if c, ok := errors.AsType[*kvapi.NewerError](err); ok {
		began := ""
		if c.Start != 0 {
			began = fmt.Sprintf(" conflictStartTS=%d,", c.Start)
		}
		return types.NewError(types.ErWriteConflict, fmt.Sprintf("Write conflict, txnStartTS=%d,%s conflictCommitTS=%d, key=%x, reason=Optimistic [try again later]", c.Snapshot, began, c.Commit, c.Key))
	}
	switch {
	case errors.Is(err, kvapi.ErrInterrupted), errors.Is(err, context.Canceled):
		return interruptError(intr.Reason())
	case errors.Is(err, kvapi.ErrLockNoWait):
		return types.NewError(3572, "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.")
	case errors.Is(err, kvapi.ErrWriteConflict):
		return types.NewError(types.ErCheckRead, "Record has changed since last read in table")
	case errors.Is(err, kvapi.ErrDiskFull):
		return types.NewError(types.ErDiskFull, "Disk full: writes are refused until space is freed on the data directory's file system")
	case errors.Is(err, kvapi.ErrTxnTooLarge):
		return types.NewError(8004, "Transaction is too large")
	case errors.Is(err, kvapi.ErrCorrupt):
		return types.Errorf(types.ErGetErrno, errnoCrashed, "Stored data is corrupt: "+err.Error())
	case errors.Is(err, syscall.EIO):
		return types.Errorf(types.ErGetErrno, int(syscall.EIO), err.Error())
	case errors.Is(err, kvapi.ErrFinished):
		return types.NewError(types.ErUnknownError, "The transaction has already ended")
	}
	return types.NewError(types.ErUnknownError, err.Error())
}

// interruptError is what a client sees of an interrupted statement.
func interruptError(r kvapi.Reason) error {
	switch r {
	case kvapi.ReasonTimeout:
		return types.NewError(3024, "Query execution was interrupted, maximum statement execution time exceeded")
	case kvapi.ReasonShutdown:
		return types.Errorf(types.ErServerShutdown)
	}
	return types.Errorf(types.ErQueryInterrupted)
}
