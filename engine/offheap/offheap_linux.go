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
		_ = unix.MunmapPtr(base, uintptr(reserve+chunkBytes)) // a failure only wastes addresses
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

// adviseChunk advises the kernel to back the chunk by a huge page, or not to. The kernel may ignore it.
func adviseChunk(p unsafe.Pointer, huge bool) {
	advice := unix.MADV_NOHUGEPAGE
	if huge {
		advice = unix.MADV_HUGEPAGE
	}
	_ = unix.Madvise(unsafe.Slice((*byte)(p), chunkBytes), advice)
}

// dropChunk returns the chunk's memory to the system. If that fails the chunk keeps its memory and contents; New clears slots in any case.
func dropChunk(p unsafe.Pointer) {
	_ = unix.Madvise(unsafe.Slice((*byte)(p), chunkBytes), unix.MADV_DONTNEED)
}

// mapLarge maps memory for n bytes separately, nil if the system refuses. It is aligned to chunkBytes, for huge pages. If the rest of the
// range cannot be unmapped, that only wastes addresses, since nothing touches them.
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

// unmapLarge returns the memory to the system. The kernel refuses that only to a process with too many mappings; then the memory is lost.
func unmapLarge(p unsafe.Pointer, n int) { _ = unix.MunmapPtr(p, uintptr(largeBytes(n))) }
