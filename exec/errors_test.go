package exec

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/types"
)

// TestMapError: what the store refuses has MySQL's number, also when it is wrapped, and what is not known has 1105.
func TestMapError(t *testing.T) {
	for err, want := range map[error]uint16{
		kvapi.ErrDeadlock:            types.ErLockDeadlock,
		kvapi.ErrLockTimeout:         types.ErLockWaitTimeout,
		kvapi.ErrLockTableFull:       types.ErLockTableFull,
		kvapi.ErrDiskFull:            types.ErDiskFull,
		kvapi.ErrCorrupt:             types.ErGetErrno,
		kvapi.ErrUnavailable:         types.ErRegionUnavailable,
		&kvapi.EpochError{}:          types.ErRegionUnavailable,
		&kvapi.NewerError{}:          types.ErWriteConflict,
		syscall.EIO:                  types.ErGetErrno,
		errors.New("something else"): types.ErUnknownError,
	} {
		var got *types.Error
		if !errors.As(MapError(fmt.Errorf("store: %w", err), nil), &got) || got.Number != want {
			t.Errorf("%v is %v, want %d", err, got, want)
		}
	}
}

// TestWriteConflictText: 9007 tells of both transactions, but for what was not recorded.
func TestWriteConflictText(t *testing.T) {
	for want, err := range map[string]error{
		"Write conflict, txnStartTS=5, conflictStartTS=6, conflictCommitTS=7, key=6b, reason=Optimistic [try again later]": &kvapi.NewerError{Snapshot: 5, Start: 6, Commit: 7, Key: []byte("k")},
		"Write conflict, txnStartTS=5, conflictCommitTS=7, key=6b, reason=Optimistic [try again later]":                    &kvapi.NewerError{Snapshot: 5, Commit: 7, Key: []byte("k")},
	} {
		var got *types.Error
		if !errors.As(MapError(err, nil), &got) || got.Message != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}
