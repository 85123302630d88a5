package server

import (
	"fmt"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// adviseHugePages asks the kernel to back the heap's next bytes by huge pages, where it gives them only to those who ask
// (transparent_hugepage/enabled is "madvise" on most distributions). Rows of the row cache are read at random, as blocks and memtables
// are where package offheap doesn't have them, and with pages of 4 KiB every step of a search misses the TLB too, which costs most in
// virtual machines (docs/design/measured/uring.md).
//
// The runtime has no setting for it, but never gives address space back: a block is allocated, marked and freed again, and what
// is allocated there later inherits the mark. Nothing is touched, so no memory is used until then.
func adviseHugePages(bytes int64) error {
	block := make([]byte, bytes)
	err := unix.Madvise(block, unix.MADV_HUGEPAGE)
	debug.FreeOSMemory() // collects the block, which nothing names any more, and returns the heap's goal to what it was
	if err != nil {
		return fmt.Errorf("madvise: %w", err)
	}
	return nil
}
