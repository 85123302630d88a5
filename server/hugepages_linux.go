package server

import (
	"fmt"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// adviseHugePages asks the kernel to back the next bytes of the Go heap by huge pages: on most distributions it uses them only on request
// (transparent_hugepage/enabled is "madvise"). The rows of the row cache are read at random, and so are blocks and memtables where package
// offheap is not used; with pages of 4 KiB each step of a search also misses the TLB, which costs most in virtual machines
// (docs/design/measured/uring.md).
//
// The Go runtime has no setting for it, but never returns address space: a block is allocated, marked and freed again, and later
// allocations in its address range inherit the mark. The block is not touched, so it takes no memory.
func adviseHugePages(bytes int64) error {
	block := make([]byte, bytes)
	err := unix.Madvise(block, unix.MADV_HUGEPAGE)
	debug.FreeOSMemory() // frees the block, and resets the heap's goal
	if err != nil {
		return fmt.Errorf("madvise: %w", err)
	}
	return nil
}
