package wal

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dataSyncer does fdatasync and synchronous writes by io_uring(7) and awaits their end with the runtime's poller.
//
// A goroutine in a blocking system call holds its processor until the runtime's monitor takes it away, 20 to 100 µs later, which
// is as long as the sync takes, and the monitor wakes up every 20 µs to look. On two cores a good part of one processor was thus
// lost to the log (bench/results/2026-11-21-uring.md). A sync runs on a worker thread of the kernel's, which belongs to this
// process: that is what Linux AIO lacks, whose syncs wait for a system-wide worker bound to the core that is busy with the server.
//
// The ring has room for one request. Where the kernel or a sandbox refuses it, sync says so and the caller blocks as usual.
type dataSyncer struct {
	// mu makes requests one at a time: it guards all that follows and is held over a sync. One goroutine at a time syncs the
	// log, so it is not contended.
	mu      sync.Mutex
	file    *os.File        // the ring; nil: not available
	conn    syscall.RawConn // of file
	queues  []byte          // mapped: heads and tails of both queues, the index of submissions, the completions
	slots   []byte          // mapped: the slot for a request
	advance func(fd uintptr) bool

	request        *uringRequest // in slots
	submitTail     *uint32       // in queues, as what follows; the kernel reads it
	completeHead   *uint32       // the kernel reads it
	completeTail   *uint32       // the kernel writes it
	completions    []uringCompletion
	completionMask uint32

	submitted bool
	refused   bool  // io_uring_enter has
	result    int32 // bytes written, 0 for a sync, or a negative errno
}

// uringParams is struct io_uring_params of linux/io_uring.h.
type uringParams struct {
	submitEntries, completeEntries, flags, cpu, idle, features, worker uint32
	_                                                                  [3]uint32
	submit                                                             struct {
		head, tail, mask, entries, flags, dropped, array, _ uint32
		_                                                   uint64
	}
	complete struct {
		head, tail, mask, entries, overflow, completions, flags, _ uint32
		_                                                          uint64
	}
}

// uringRequest is struct io_uring_sqe.
type uringRequest struct {
	opcode, flags uint8
	priority      uint16
	fd            int32
	offset, addr  uint64
	length        uint32
	opFlags       uint32
	data          uint64
	_             [3]uint64
}

// uringCompletion is struct io_uring_cqe.
type uringCompletion struct {
	data   uint64
	result int32
	flags  uint32
}

const (
	uringFsync      = 3       // IORING_OP_FSYNC
	uringWrite      = 23      // IORING_OP_WRITE, Linux 5.6
	uringDataSync   = 1       // IORING_FSYNC_DATASYNC
	uringSingleMap  = 1       // IORING_FEAT_SINGLE_MMAP, Linux 5.4
	uringSlotOffset = 1 << 28 // IORING_OFF_SQES
)

// open makes the syncer ready. Failing, it stays unavailable.
func (s *dataSyncer) open() error {
	var p uringParams
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&p)), 0)
	if errno != 0 {
		return fmt.Errorf("wal: io_uring_setup: %w", errno)
	}
	// The poller takes only descriptors that are marked so; nobody reads this one.
	if err := unix.SetNonblock(int(fd), true); err != nil {
		_ = unix.Close(int(fd))
		return fmt.Errorf("wal: io_uring: %w", err)
	}
	s.file = os.NewFile(fd, "io_uring")
	if err := s.mapQueues(int(fd), &p); err != nil {
		s.shut()
		return fmt.Errorf("wal: io_uring: %w", err)
	}
	return nil
}

func (s *dataSyncer) mapQueues(fd int, p *uringParams) (err error) {
	if p.features&uringSingleMap == 0 {
		return errors.New("the kernel is older than 5.4")
	}
	if s.conn, err = s.file.SyscallConn(); err != nil {
		return err
	}
	const access, how = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_SHARED | unix.MAP_POPULATE
	completionBytes := p.completeEntries * uint32(unsafe.Sizeof(uringCompletion{}))
	size := max(p.submit.array+4*p.submitEntries, p.complete.completions+completionBytes)
	if s.queues, err = unix.Mmap(fd, 0, int(size), access, how); err != nil {
		return err
	}
	if s.slots, err = unix.Mmap(fd, uringSlotOffset, int(unsafe.Sizeof(uringRequest{})), access, how); err != nil {
		return err
	}
	number := func(offset uint32) *uint32 { return (*uint32)(unsafe.Pointer(&s.queues[offset])) }
	s.submitTail = number(p.submit.tail)
	s.completeHead, s.completeTail = number(p.complete.head), number(p.complete.tail)
	s.completionMask = *number(p.complete.mask)
	s.completions = unsafe.Slice((*uringCompletion)(unsafe.Pointer(&s.queues[p.complete.completions])), p.completeEntries)
	s.request = (*uringRequest)(unsafe.Pointer(&s.slots[0]))
	*number(p.submit.array) = 0 // every request is in the only slot
	s.advance = s.step          // made once: a method value allocates
	return nil
}

// sync is fdatasync of fd. If done is false nothing has been synced, and the caller has to do it.
func (s *dataSyncer) sync(fd uintptr) (done bool, err error) {
	_, done, err = s.do(uringRequest{opcode: uringFsync, fd: int32(fd), opFlags: uringDataSync}, nil)
	return done, err
}

// write writes b at an offset of fd, and what it has written is durable when it returns. If done is false or n is short the caller
// has to do it.
func (s *dataSyncer) write(fd uintptr, b []byte, offset int64) (n int, done bool, err error) {
	return s.do(uringRequest{opcode: uringWrite, fd: int32(fd), opFlags: unix.RWF_DSYNC, offset: uint64(offset)}, b)
}

// do makes a request, about b if that is not empty.
func (s *dataSyncer) do(request uringRequest, b []byte) (n int, done bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return 0, false, nil
	}
	if len(b) > 0 {
		request.addr, request.length = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))), uint32(len(b))
	}
	*s.request = request
	s.submitted, s.refused, s.result = false, false, 0
	defer runtime.KeepAlive(b) // the request has its address only
	if err := s.conn.Read(s.advance); err != nil {
		return 0, true, fmt.Errorf("wal: wait for a sync: %w", err)
	}
	errno := unix.Errno(-s.result)
	switch {
	case s.refused, errno == unix.EINVAL, errno == unix.EOPNOTSUPP, errno == unix.EBADF, errno == unix.EAGAIN, errno == unix.EINTR, errno == unix.ECANCELED:
		// These say that the request wasn't carried out. Errors of the disk are others.
		s.shut()
		return 0, false, nil
	case s.result < 0:
		return 0, true, errno
	}
	return int(s.result), true, nil
}

// step submits the request when it is called first, and tells whether it is complete. The poller calls it again after each
// event on the ring. The first call comes after the poller has begun to listen, so that no event is missed.
func (s *dataSyncer) step(fd uintptr) bool {
	if !s.submitted {
		s.submitted = true
		atomic.AddUint32(s.submitTail, 1)
		// A submission does not wait, so the runtime need not know: see rawRead of package wire.
		n, _, errno := syscall.RawSyscall6(unix.SYS_IO_URING_ENTER, fd, 1, 0, 0, 0, 0)
		if errno != 0 || n != 1 {
			s.refused = true
			return true
		}
	}
	head := *s.completeHead
	if head == atomic.LoadUint32(s.completeTail) {
		return false
	}
	s.result = s.completions[head&s.completionMask].result
	atomic.StoreUint32(s.completeHead, head+1)
	return true
}

// close gives the kernel's resources back.
func (s *dataSyncer) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		s.shut()
	}
}

// shut makes the syncer unavailable. The caller holds mu, or is open.
func (s *dataSyncer) shut() {
	// Errors would only say that there was nothing to unmap or to close.
	_ = s.file.Close()
	if s.queues != nil {
		_ = unix.Munmap(s.queues)
	}
	if s.slots != nil {
		_ = unix.Munmap(s.slots)
	}
	s.file, s.conn, s.queues, s.slots = nil, nil, nil, nil
	s.request, s.submitTail, s.completeHead, s.completeTail, s.completions = nil, nil, nil, nil, nil
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

// directWrite writes at an offset; with sync the bytes are durable when it returns.
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
