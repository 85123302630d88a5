package engine

import (
	"errors"

	"golang.org/x/sys/unix"
)

// readNoWait reads what is in the page cache, from the offset on. wait tells that the rest needs a read that may wait or fail; an
// error means that the kernel or the file system can't tell.
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
