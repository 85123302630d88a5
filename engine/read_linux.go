package engine

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/pandodb/pando/engine/aio"
)

// readNoWait reads what is in the page cache, from the offset on. wait says that the rest needs a read that may block or fail; an
// error means that the kernel or the file system does not support such reads.
func readNoWait(fd uintptr, p []byte, offset int64) (n int, wait bool, err error) {
	n, err = unix.Preadv2(int(fd), [][]byte{p}, offset, unix.RWF_NOWAIT)
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR), errors.Is(err, unix.EIO):
		return 0, true, nil
	case err != nil:
		return 0, false, err
	}
	return n, n < len(p), nil
}

var pageBytes = int64(os.Getpagesize())

// pagesCached reports whether the page cache has all of n bytes from the offset on; kernels before 6.5 return an error. It starts no read.
func pagesCached(fd uintptr, offset int64, n int) (bool, error) {
	var stat unix.Cachestat_t
	err := unix.Cachestat(uint(fd), &unix.CachestatRange{Off: uint64(offset), Len: uint64(n)}, &stat, 0)
	pages := (offset+int64(n)-1)/pageBytes - offset/pageBytes + 1
	return stat.Cache >= uint64(pages), err
}

// openDirect opens the file of fd once more, for direct reads. unit is 0 if that fails. It opens by descriptor because the file may have
// been deleted.
func openDirect(fd uintptr) (past uintptr, unit int64) {
	n, err := unix.Open("/proc/self/fd/"+strconv.Itoa(int(fd)), unix.O_RDONLY|unix.O_DIRECT|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, 0
	}
	return uintptr(n), int64(aio.Unit(uintptr(n)))
}

func closeDirect(past uintptr) error { return unix.Close(int(past)) }
