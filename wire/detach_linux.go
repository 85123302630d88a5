package wire

import (
	"time"

	"golang.org/x/sys/unix"
)

// duplicate returns another descriptor of the same socket.
func duplicate(fd uintptr) (uintptr, bool) {
	other, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
	return uintptr(other), err == nil
}

// readable waits for sockets outside the runtime's poller.
type readable struct {
	set [1]unix.PollFd // kept, because a slice of a local one allocates
}

// readable waits until there is something to read, or an end, or a signal; false if there was nothing for the duration.
func (r *readable) readable(fd uintptr, most time.Duration) bool {
	r.set[0] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	n, err := unix.Poll(r.set[:], int(most/time.Millisecond))
	return n > 0 || err == unix.EINTR
}
