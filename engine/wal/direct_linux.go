package wal

import "golang.org/x/sys/unix"

// setDirect switches reads and writes of fd past the page cache (O_DIRECT) on or off.
func setDirect(fd uintptr, on bool) error {
	flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
	if err != nil {
		return err
	}
	flags &^= unix.O_DIRECT
	if on {
		flags |= unix.O_DIRECT
	}
	_, err = unix.FcntlInt(fd, unix.F_SETFL, flags)
	return err
}

// dropCached asks the kernel to drop the clean pages of fd from the page cache: otherwise direct writes would have to, one by one.
func dropCached(fd uintptr) { _ = unix.Fadvise(int(fd), 0, 0, unix.FADV_DONTNEED) }

// directWrite writes at an offset. With sync the written bytes are durable when it returns.
func directWrite(fd uintptr, b []byte, offset int64, sync bool) (n int, err error) {
	for {
		if sync {
			n, err = unix.Pwritev2(int(fd), [][]byte{b}, offset, unix.RWF_DSYNC)
		} else {
			n, err = unix.Pwrite(int(fd), b, offset)
		}
		if err != unix.EINTR {
			return n, err
		}
	}
}
