package wire

import (
	"os"
	"syscall"
	"time"
)

const (
	// detachReads is how many commands of a lone connection, within two ticks, take its socket out of the poller: it costs about as much as a
	// command to take it out and to put it back.
	detachReads = 64
	// detachedMax is how long a detached socket waits for the next command before it goes back into the poller.
	detachedMax = 2 * time.Millisecond
)

// pace counts the commands in a tick of the coarse clock, and notes whether the connection is alone.
func (s *socket) pace(alone bool, now uint64) {
	s.alone = alone
	if now != s.tick {
		s.tick, s.reads = now, 0
	}
	s.reads++
}

// detach takes the socket out of the runtime's poller; false if it stays there. The next reads wait for it alone, with a thread.
//
// A goroutine that waits in the poller leaves the runtime's last processor idle when it is the only one at work. For each command the
// thread in epoll_wait is then woken instead of the one that ran the command before, it has to get a processor, and the runtime's
// monitor, which sleeps while all are idle, is woken too. A goroutine in a call of the operating system keeps its
// processor and its thread: 2 to 16 % more synced writes, with 5 to 18 % less of the server's CPU for each
// (bench/results/2026-11-23-detached.md). With several connections the poller is the better place, since it wakes one thread for many.
//
// The runtime lets a descriptor go only when it closes it. So the socket gets another descriptor, which the runtime does not know
// until attach hands it over.
func (s *socket) detach() bool {
	fd, ok := uintptr(0), false
	if err := s.poll.Control(func(have uintptr) { fd, ok = duplicate(have) }); err != nil || !ok {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.readBy.IsZero() || !s.writeBy.IsZero() {
		_ = syscall.Close(int(fd)) // nothing is lost with a duplicate
		return false
	}
	_ = s.base.Close() // as above
	s.base, s.poll, s.fd = nil, nil, fd
	s.recalled.Store(false)
	return true
}

// readAlone does the transfer in while the socket is detached; false if it has to go on in the poller.
func (s *socket) readAlone() bool {
	for s.alone && !s.recalled.Load() {
		if s.tryRead(s.fd) {
			return true
		}
		s.waited = true
		if !s.wait.readable(s.fd, detachedMax) {
			return false
		}
	}
	return false
}

// attach puts the socket back into the runtime's poller, with the deadlines that were set in between. Where that fails the reads and
// writes that have to wait do.
func (s *socket) attach() {
	if s.base != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	file := os.NewFile(s.fd, "socket") // takes it over; it does not block, so the poller gets it
	s.base, s.fd, s.reads = file, 0, 0
	s.poll, _ = file.SyscallConn() // never fails on an open file
	if !s.readBy.IsZero() && file.SetReadDeadline(s.readBy) != nil || !s.writeBy.IsZero() && file.SetWriteDeadline(s.writeBy) != nil {
		_ = file.Close() // it can't wait with a limit, so it must not wait
	}
}
