package aio

import "unsafe"

// SectorBytes is the smallest block of any disk.
const SectorBytes = 512

// AlignBytes is the alignment of buffers, and of offsets and lengths if the system does not say what a file needs: the page size of all
// systems that matter, and no less than the sector size of any disk.
const AlignBytes = 4 << 10

// AlignedBytes allocates n bytes at a multiple of AlignBytes.
func AlignedBytes(n int) []byte {
	b := make([]byte, n+AlignBytes)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (AlignBytes - 1)
	return b[skip:][:n:n]
}

// Unit returns the unit of offsets and lengths of direct reads and writes of fd: a power of two, from SectorBytes to AlignBytes. It is
// AlignBytes if the kernel (before 6.1) or the file system does not say.
func Unit(fd uintptr) int {
	size := unit(fd)
	if size < SectorBytes || size > AlignBytes || size&(size-1) != 0 {
		return AlignBytes
	}
	return size
}
