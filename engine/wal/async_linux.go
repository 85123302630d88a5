package wal

import (
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// asyncWriter makes direct synchronous writes by Linux AIO, io_submit(2), and awaits their end with the runtime's poller.
//
// A goroutine in a blocking system call holds its processor until the runtime's monitor takes it away, 20 to 100 µs later, which
// is as long as the write takes, and the monitor wakes up every 20 µs to look. On two cores a good part of one processor was thus
// lost to the log (bench/results/2026-11-21-uring.md). io_uring needs the thread that submitted a write to see to its end, and that
// thread may be stuck in a sync of a table meanwhile; and sandboxes forbid it more often than this.
//
// Where the kernel or a sandbox refuses it, write says so and the caller blocks. Its methods are for one goroutine at a time.
type asyncWriter struct {
	event   *os.File        // an eventfd(2), which each completion signals; nil: not available
	conn    syscall.RawConn // of event
	eventFD uint32
	context uint64 // the kernel's name of the queue
	advance func(fd uintptr) bool

	request   aioRequest
	list      [1]*aioRequest
	result    aioEvent
	buf       []byte // of the write in hand: the request has only its address, so it must stay where it is
	submitted bool
	errno     syscall.Errno // of io_submit
}

// aioRequest is struct iocb of linux/aio_abi.h.
type aioRequest struct {
	data        uint64
	keyAndFlags uint64 // the flags of pwritev2(2) are the upper half, whatever the byte order
	opcode      uint16
	priority    int16
	fd          uint32
	buf, bytes  uint64
	offset      int64
	_           uint64
	flags       uint32
	eventFD     uint32
}

// aioEvent is struct io_event.
type aioEvent struct {
	data, request uint64
	result        int64 // bytes written, or a negative errno
	result2       int64
}

const (
	aioWrite    = 1 // IOCB_CMD_PWRITE
	aioEventFD  = 1 // IOCB_FLAG_RESFD
	aioQueueLen = 1
)

// open makes the writer ready. Failing, it stays unavailable.
func (a *asyncWriter) open() error {
	if _, _, errno := syscall.Syscall(unix.SYS_IO_SETUP, aioQueueLen, uintptr(unsafe.Pointer(&a.context)), 0); errno != 0 {
		return fmt.Errorf("wal: io_setup: %w", errno)
	}
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err == nil {
		a.event, a.eventFD = os.NewFile(uintptr(fd), "eventfd"), uint32(fd)
		// This fails if the runtime's poller doesn't take the file, and then nobody would hear of a completion.
		if err = a.event.SetReadDeadline(time.Time{}); err == nil {
			a.conn, err = a.event.SyscallConn()
		}
	}
	if err != nil {
		a.close()
		return fmt.Errorf("wal: eventfd: %w", err)
	}
	a.advance = a.step // made once: a method value allocates
	return nil
}

// write writes whole blocks at an offset of fd, which is direct, and what it has written is durable when it returns. If done is
// false the caller has to do it all again, though some of it may be written.
func (a *asyncWriter) write(fd uintptr, b []byte, offset int64) (n int, done bool, err error) {
	if a.event == nil {
		return 0, false, nil
	}
	a.buf = b
	a.request = aioRequest{
		opcode: aioWrite, fd: uint32(fd), buf: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))), bytes: uint64(len(b)), offset: offset,
		flags: aioEventFD, eventFD: a.eventFD,
	}
	a.list[0] = &a.request
	a.submitted, a.errno, a.result = false, 0, aioEvent{}
	err = a.conn.Read(a.advance)
	if err != nil {
		return 0, true, fmt.Errorf("wal: wait for a write: %w", err) // the kernel may go on to read a.buf
	}
	a.buf = nil
	errno := a.errno
	if errno == 0 && a.result.result < 0 {
		errno = syscall.Errno(-a.result.result)
	}
	switch errno {
	case 0:
		return int(a.result.result), true, nil
	case unix.EAGAIN, unix.EINTR, unix.ENOMEM:
		return 0, false, nil
	case unix.EINVAL, unix.EOPNOTSUPP, unix.ENOSYS, unix.EPERM, unix.EBADF:
		// The request wasn't carried out, and the next won't be.
		a.close()
		return 0, false, nil
	}
	return 0, true, errno
}

// step submits the request when it is called first, and tells whether it is complete. The poller calls it again after each signal.
// The first call comes after the poller has begun to listen, so that none is missed.
func (a *asyncWriter) step(uintptr) bool {
	if !a.submitted {
		a.submitted = true
		// At first without waiting for anything, so that the runtime need not be told. The kernel refuses that when it has to change
		// the file's time, every few milliseconds.
		a.request.keyAndFlags = (unix.RWF_DSYNC | unix.RWF_NOWAIT) << 32
		_, _, a.errno = syscall.RawSyscall(unix.SYS_IO_SUBMIT, uintptr(a.context), 1, uintptr(unsafe.Pointer(&a.list)))
		if a.errno == 0 && a.complete() && a.result.result == -int64(unix.EAGAIN) {
			a.errno = unix.EAGAIN
		}
		if a.errno == unix.EAGAIN {
			a.result = aioEvent{}
			a.request.keyAndFlags = unix.RWF_DSYNC << 32
			_, _, a.errno = syscall.Syscall(unix.SYS_IO_SUBMIT, uintptr(a.context), 1, uintptr(unsafe.Pointer(&a.list)))
		}
	}
	return a.errno != 0 || a.result.request != 0 || a.complete()
}

// complete fetches the result if there is one.
func (a *asyncWriter) complete() bool {
	var at unix.Timespec
	n, _, errno := syscall.RawSyscall6(unix.SYS_IO_GETEVENTS, uintptr(a.context), 0, 1, uintptr(unsafe.Pointer(&a.result)), uintptr(unsafe.Pointer(&at)), 0)
	return errno == 0 && n == 1
}

// close gives the kernel's resources back, once a write in hand has ended. The writer is unavailable afterwards.
func (a *asyncWriter) close() {
	if a.context != 0 {
		_, _, _ = syscall.Syscall(unix.SYS_IO_DESTROY, uintptr(a.context), 0, 0) // fails only for no such queue
		a.context = 0
	}
	if a.event != nil {
		_ = a.event.Close() // nothing is lost
		a.event, a.conn = nil, nil
	}
}

// setDirect switches whether reads and writes of fd go past the page cache.
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

// directAlign returns what direct writes to fd have to be a multiple of, 0 if the kernel (before 6.1) or the file system doesn't tell.
func directAlign(fd uintptr) int {
	var st unix.Statx_t
	if unix.Statx(int(fd), "", unix.AT_EMPTY_PATH, unix.STATX_DIOALIGN, &st) != nil || st.Mask&unix.STATX_DIOALIGN == 0 {
		return 0
	}
	return int(st.Dio_offset_align)
}

// dropCached has the kernel forget the pages of fd that are not dirty, where it can: a direct write would have to, one by one.
func dropCached(fd uintptr) { _ = unix.Fadvise(int(fd), 0, 0, unix.FADV_DONTNEED) }

// directWrite writes at an offset; with sync what it has written is durable when it returns.
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
