package offheap

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const private = unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_NORESERVE

// mapMemory reserves a range of addresses, aligned to chunks, and maps the headers. Both are nil where the system refuses one.
func mapMemory(reserve, headers int) (base, header unsafe.Pointer) {
	base, err := unix.MmapPtr(-1, 0, nil, uintptr(reserve+chunkBytes), unix.PROT_NONE, private)
	if err != nil {
		return nil, nil
	}
	header, err = unix.MmapPtr(-1, 0, nil, uintptr(headers), unix.PROT_READ|unix.PROT_WRITE, private)
	if err != nil {
		_ = unix.MunmapPtr(base, uintptr(reserve+chunkBytes)) // failing, it costs addresses
		return nil, nil
	}
	return align(base), header
}

func align(p unsafe.Pointer) unsafe.Pointer {
	return unsafe.Add(p, -uintptr(p)&(chunkBytes-1))
}

// openChunk makes a reserved chunk usable.
func openChunk(p unsafe.Pointer) bool {
	return unix.Mprotect(unsafe.Slice((*byte)(p), chunkBytes), unix.PROT_READ|unix.PROT_WRITE) == nil
}

// adviseChunk tells whether the kernel is to back the chunk by a huge page. That it may refuse.
func adviseChunk(p unsafe.Pointer, huge bool) {
	advice := unix.MADV_NOHUGEPAGE
	if huge {
		advice = unix.MADV_HUGEPAGE
	}
	_ = unix.Madvise(unsafe.Slice((*byte)(p), chunkBytes), advice)
}

// dropChunk gives the chunk's memory back to the system. Failing, it keeps it until the chunk is in use again, which take clears.
func dropChunk(p unsafe.Pointer) {
	_ = unix.Madvise(unsafe.Slice((*byte)(p), chunkBytes), unix.MADV_DONTNEED)
}

// mapLarge maps n bytes by themselves, nil if the system refuses. What is more than a chunk is aligned to one, for huge pages.
// What of the range can't be unmapped costs addresses, since nothing touches it.
func mapLarge(n int) unsafe.Pointer {
	size := largeBytes(n)
	whole, err := unix.MmapPtr(-1, 0, nil, uintptr(size+chunkBytes), unix.PROT_READ|unix.PROT_WRITE, private)
	if err != nil {
		return nil
	}
	p := align(whole)
	before := uintptr(p) - uintptr(whole)
	if before > 0 {
		_ = unix.MunmapPtr(whole, before)
	}
	if after := chunkBytes - before; after > 0 {
		_ = unix.MunmapPtr(unsafe.Add(p, size), after)
	}
	if n >= chunkBytes {
		_ = unix.Madvise(unsafe.Slice((*byte)(p), size), unix.MADV_HUGEPAGE) // which the kernel may refuse
	}
	return p
}

// unmapLarge gives the memory back. The kernel refuses that only to a process with too many mappings, where nothing else is left to do.
func unmapLarge(p unsafe.Pointer, n int) { _ = unix.MunmapPtr(p, uintptr(largeBytes(n))) }
