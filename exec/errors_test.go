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
