package aio

import "unsafe"

// SectorBytes is the smallest block of any disk.
const SectorBytes = 512

// AlignBytes is what buffers are aligned to, and offsets and lengths where the system doesn't tell what a file needs: the page of all
// systems that matter, and at least the sector of all disks.
const AlignBytes = 4 << 10

// AlignedBytes allocates n bytes at a multiple of AlignBytes.
func AlignedBytes(n int) []byte {
	b := make([]byte, n+AlignBytes)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (AlignBytes - 1)
	return b[skip:][:n:n]
}

// Unit returns what offsets and lengths of direct reads and writes of fd have to be a multiple of: a power of two, from SectorBytes
// to AlignBytes. It is AlignBytes if the kernel (before 6.1) or the file system doesn't tell.
func Unit(fd uintptr) int {
	size := unit(fd)
	if size < SectorBytes || size > AlignBytes || size&(size-1) != 0 {
		return AlignBytes
	}
	return size
}
