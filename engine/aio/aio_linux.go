package aio

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Queue is an AIO context of the kernel with its requests. Its methods are safe for concurrent use; Close is called after all others.
type Queue struct {
	context uint64      // the kernel's id of the context
	refused atomic.Bool // a request was refused for good, so no other is made

	// fetching is held while completions are fetched from the kernel, which does not block, and guards what follows. It is a leaf.
	fetching sync.Mutex
	events   [fetchMax]event
	requests []*Request // by event.data
}

// fetchMax is how many completions are fetched at a time.
const fetchMax = 16

// Request makes one read or write at a time. It is used by one goroutine at a time.
type Request struct {
	q       *Queue
	event   *os.File        // an eventfd(2), which each completion signals
	conn    syscall.RawConn // of event
	advance func(fd uintptr) bool

	block     iocb
	list      [1]*iocb
	buf       []byte // of the present read or write: block has only its address, so it is kept reachable here
	submitted bool
	errno     syscall.Errno // of io_submit
	got       int64         // bytes, or a negative errno

	done   bool  // complete and fetched. Guarded by Queue.fetching.
	result int64 // what got will be. Guarded by Queue.fetching.
}

// iocb is struct iocb of linux/aio_abi.h.
type iocb struct {
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

// event is struct io_event.
type event struct {
	data, iocb uint64
	result     int64 // bytes, or a negative errno
	result2    int64
}

const (
	opRead      = 0 // IOCB_CMD_PREAD
	opWrite     = 1 // IOCB_CMD_PWRITE
	flagEventFD = 1 // IOCB_FLAG_RESFD
)

// Open makes a queue for at most depth requests. It fails if the system has no AIO, or its limit is reached (fs.aio-max-nr).
func Open(depth int) (*Queue, error) {
	q := &Queue{}
	if _, _, errno := syscall.Syscall(unix.SYS_IO_SETUP, uintptr(depth), uintptr(unsafe.Pointer(&q.context)), 0); errno != 0 {
		return nil, fmt.Errorf("aio: io_setup: %w", errno)
	}
	return q, nil
}

// NewRequest makes a request, which lives as long as the queue.
func (q *Queue) NewRequest() (*Request, error) {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("aio: eventfd: %w", err)
	}
	r := &Request{q: q, event: os.NewFile(uintptr(fd), "eventfd")}
	// This fails if the runtime's poller does not take the file: then completions would not be noticed.
	if err = r.event.SetReadDeadline(time.Time{}); err == nil {
		r.conn, err = r.event.SyscallConn()
	}
	if err != nil {
		_ = r.event.Close() // nothing is lost
		return nil, fmt.Errorf("aio: eventfd: %w", err)
	}
	r.advance = r.step // made once: a method value allocates
	q.fetching.Lock()
	defer q.fetching.Unlock()
	r.block = iocb{data: uint64(len(q.requests)), flags: flagEventFD, eventFD: uint32(fd)}
	q.requests = append(q.requests, r)
	return r, nil
}

// Close frees the kernel's resources after the requests in flight have ended, which takes the kernel tens of milliseconds.
func (q *Queue) Close() {
	_, _, _ = syscall.Syscall(unix.SYS_IO_DESTROY, uintptr(q.context), 0, 0) // fails only for no such queue
	for _, r := range q.requests {
		_ = r.event.Close() // nothing is lost
	}
}

// Refused reports whether a request was refused for good: then no other will be made.
func (q *Queue) Refused() bool { return q.refused.Load() }

// Read reads at an offset of fd, which must have O_DIRECT; b, the offset and the length must be aligned (Unit). If done is false the contents of
// b are undefined, and the caller has to read by other means: the kernel would have to block before the disk gets the request, or refuses it.
func (r *Request) Read(fd uintptr, b []byte, offset int64) (n int, done bool, err error) {
	return r.do(opRead, fd, b, offset)
}

// Write writes at an offset of fd, which must have O_DIRECT; b, the offset and the length must be aligned (Unit). What it has written is durable
// when it returns. If done is false the caller has to write all of it again, though some of it may be written.
func (r *Request) Write(fd uintptr, b []byte, offset int64) (n int, done bool, err error) {
	return r.do(opWrite, fd, b, offset)
}

func (r *Request) do(opcode uint16, fd uintptr, b []byte, offset int64) (n int, done bool, err error) {
	if r.q.refused.Load() {
		return 0, false, nil
	}
	r.buf = b
	c := &r.block
	c.opcode, c.fd, c.offset = opcode, uint32(fd), offset
	c.buf, c.bytes = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))), uint64(len(b))
	r.list[0] = c
	r.submitted, r.errno, r.got = false, 0, 0
	if err := r.conn.Read(r.advance); err != nil {
		r.q.refused.Store(true) // the kernel may go on to use r.buf
		return 0, true, fmt.Errorf("aio: wait: %w", err)
	}
	r.buf = nil
	errno := r.errno
	if errno == 0 && r.got < 0 {
		errno = syscall.Errno(-r.got)
	}
	switch errno {
	case 0:
		return int(r.got), true, nil
	case unix.EAGAIN, unix.EINTR, unix.ENOMEM:
		return 0, false, nil
	case unix.EINVAL, unix.EOPNOTSUPP, unix.ENOSYS, unix.EPERM, unix.EBADF:
		r.q.refused.Store(true)
		return 0, false, nil
	}
	return 0, true, errno
}

// step submits the request when it is called first, and reports whether it is complete. It is called again after each signal of the eventfd,
// and the first call is made when the poller already watches that, so that no signal is missed.
func (r *Request) step(uintptr) bool {
	if r.submitted {
		return r.q.fetch(r)
	}
	r.submitted = true
	// First with RWF_NOWAIT, which does not block, so that RawSyscall will do: it does not tell the scheduler.
	flags := unix.RWF_NOWAIT
	if r.block.opcode == opWrite {
		flags |= unix.RWF_DSYNC
	}
	r.block.keyAndFlags = uint64(flags) << 32
	_, _, r.errno = syscall.RawSyscall(unix.SYS_IO_SUBMIT, uintptr(r.q.context), 1, uintptr(unsafe.Pointer(&r.list)))
	if r.errno == 0 && !r.q.fetch(r) {
		return false
	}
	if r.errno == 0 && r.got == -int64(unix.EAGAIN) {
		r.errno = unix.EAGAIN
	}
	if r.errno != unix.EAGAIN || r.block.opcode == opRead {
		return true
	}
	// With RWF_NOWAIT the kernel refuses a write when it has to update the file's modification time, every few milliseconds.
	r.block.keyAndFlags = unix.RWF_DSYNC << 32
	_, _, r.errno = syscall.Syscall(unix.SYS_IO_SUBMIT, uintptr(r.q.context), 1, uintptr(unsafe.Pointer(&r.list)))
	return r.errno != 0 || r.q.fetch(r)
}

// fetch fetches completions and reports whether r is complete. It may fetch completions of other requests, whose own eventfd is signalled, too.
// It goes on until it has that of r or all, since a completion is signalled only once.
func (q *Queue) fetch(r *Request) bool {
	q.fetching.Lock()
	defer q.fetching.Unlock()
	for n := uintptr(fetchMax); n == fetchMax && !r.done; {
		var at unix.Timespec
		var errno syscall.Errno
		n, _, errno = syscall.RawSyscall6(unix.SYS_IO_GETEVENTS, uintptr(q.context), 0, fetchMax, uintptr(unsafe.Pointer(&q.events)), uintptr(unsafe.Pointer(&at)), 0)
		if errno != 0 {
			return false // nothing is complete, and a signal(7) has interrupted the call
		}
		for i := range q.events[:n] {
			done := q.requests[q.events[i].data]
			done.done, done.result = true, q.events[i].result
		}
	}
	if !r.done {
		return false
	}
	r.done, r.got = false, r.result
	return true
}

// unit is Unit, 0 if the system does not say.
func unit(fd uintptr) int {
	var st unix.Statx_t
	if unix.Statx(int(fd), "", unix.AT_EMPTY_PATH, unix.STATX_DIOALIGN, &st) != nil || st.Mask&unix.STATX_DIOALIGN == 0 {
		return 0
	}
	return int(st.Dio_offset_align)
}
