//go:build linux && !race

package wire

import (
	"syscall"
	"unsafe"
)

// rawRead and rawWrite are read(2) and write(2) of a socket that does not block, without the runtime's leave.
//
// The runtime takes the processor away from a goroutine that is in a call of the operating system for some 20 µs and starts another
// thread for it. A write to a client on the same machine often lasts as long, because the kernel runs the client at once; so the
// server paid for threads that found nothing to do, and for the runtime's monitor, which does not sleep while it finds such calls
// (bench/results/2026-11-21-raw-calls.md). These calls never wait, and what they copy is bounded by rawBytesMax, so that a
// collection of garbage that has to wait for one waits as for any other goroutine.
func rawRead(fd uintptr, b []byte) (int, error) { return rawCall(syscall.SYS_READ, fd, b) }

// rawBytesMax is the most that one call moves: tens of µs.
const rawBytesMax = 256 << 10

// See rawRead.
func rawWrite(fd uintptr, b []byte) (int, error) { return rawCall(syscall.SYS_WRITE, fd, b) }

// rawYield is sched_yield(2).
func rawYield() bool {
	_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) // never fails
	return true
}

func rawCall(call, fd uintptr, b []byte) (int, error) {
	b = b[:min(len(b), rawBytesMax)]
	n, _, errno := syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	switch errno {
	case 0:
		return int(n), nil
	case syscall.EAGAIN:
		return 0, syscall.EAGAIN // a constant in an interface does not allocate
	}
	return 0, errno
}
