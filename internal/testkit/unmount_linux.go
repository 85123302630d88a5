package testkit

import (
	"fmt"
	"syscall"
	"time"

	"github.com/pandodb/pando/clock"
)

// unmountPatience is how long Unmount tries: no measure of anything.
const unmountPatience = time.Minute

// Unmount unmounts a file system on which a process has just been killed. The kernel may keep the file of an asynchronous write open for
// some time after its end, so that the first tries may find the file system busy.
func Unmount(dir string) error {
	for began := clock.Mono(); ; clock.Sleep(10 * time.Millisecond) {
		err := syscall.Unmount(dir, 0)
		if err == nil {
			return nil
		}
		if err != syscall.EBUSY || clock.Since(began) > unmountPatience {
			return fmt.Errorf("unmount %s: %w", dir, err)
		}
	}
}
