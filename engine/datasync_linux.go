package engine

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dataSyncer does fdatasync by Linux AIO, whose end it awaits with the runtime's poller.
//
// A goroutine in a blocking system call holds its processor until the runtime's monitor takes it away, 20 to 100 µs later, which
// is as long as the sync takes. On two cores one of two processors was thus lost to the log. More processors than cores cost
// every read a third of its speed instead (bench/results/2026-11-21-log.md).
//
// The interface is that of io_submit(2): one request at a time, its end signalled by an eventfd. Where the kernel or a sandbox
// refuses it, sync says so and the caller blocks as usual.
type dataSyncer struct {
	// mu makes requests one at a time: it guards all that follows and is held over a sync. Pebble has one goroutine that syncs
	// its log, so it is contended only while logs change.
	mu      sync.Mutex
	context uintptr
	event   *os.File // nil: not available
	buffer  [8]byte
	request aioRequest
	pointer *aioRequest
	result  aioResult
}

// aioRequest is struct iocb of linux/aio_abi.h on a little-endian machine.
type aioRequest struct {
	data     uint64
	key      uint32
	rwFlags  uint32
	opcode   uint16
	priority int16
	fd       uint32
	buf      uint64
	bytes    uint64
	offset   int64
	reserved uint64
	flags    uint32
	eventFD  uint32
}

// aioResult is struct io_event.
type aioResult struct {
	data, object uint64
	res, res2    int64
}

const (
	aioDataSync  = 3 // IOCB_CMD_FDSYNC
	aioWithEvent = 1 // IOCB_FLAG_RESFD
)

// open makes the syncer ready. Failing, it stays unavailable.
func (s *dataSyncer) open() error {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 || unsafe.Sizeof(aioRequest{}) != 64 {
		return fmt.Errorf("engine: asynchronous sync is not made for this machine")
	}
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("engine: eventfd: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_IO_SETUP, 1, uintptr(unsafe.Pointer(&s.context)), 0); errno != 0 {
		_ = unix.Close(fd)
		return fmt.Errorf("engine: io_setup: %w", errno)
	}
	s.event = os.NewFile(uintptr(fd), "eventfd")
	s.pointer = &s.request
	s.request = aioRequest{opcode: aioDataSync, flags: aioWithEvent, eventFD: uint32(fd)}
	return nil
}

// sync is fdatasync of fd. If done is false nothing has happened.
func (s *dataSyncer) sync(fd uintptr) (done bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.event == nil {
		return false, nil
	}
	s.request.fd = uint32(fd)
	if _, _, errno := unix.Syscall(unix.SYS_IO_SUBMIT, s.context, 1, uintptr(unsafe.Pointer(&s.pointer))); errno != 0 {
		// A kernel before 4.18, or a file system without it.
		s.shut()
		return false, nil
	}
	if _, err := s.event.Read(s.buffer[:]); err != nil {
		return true, fmt.Errorf("engine: wait for a sync: %w", err)
	}
	n, _, errno := unix.Syscall6(unix.SYS_IO_GETEVENTS, s.context, 1, 1, uintptr(unsafe.Pointer(&s.result)), 0, 0)
	switch {
	case errno != 0:
		return true, fmt.Errorf("engine: io_getevents: %w", errno)
	case n != 1:
		return true, fmt.Errorf("engine: io_getevents gave %d results", n)
	case s.result.res != 0:
		return true, fmt.Errorf("engine: fdatasync: %w", unix.Errno(-s.result.res))
	}
	return true, nil
}

// close gives the kernel's resources back.
func (s *dataSyncer) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.event != nil {
		s.shut()
	}
}

// shut makes the syncer unavailable. The caller holds mu.
func (s *dataSyncer) shut() {
	_, _, _ = unix.Syscall(unix.SYS_IO_DESTROY, s.context, 0, 0)
	_ = s.event.Close()
	s.event = nil
}
