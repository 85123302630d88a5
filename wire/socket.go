package wire

import (
	"io"
	"net"
	"os"
	"syscall"

	"github.com/pandodb/pando/clock"
)

// socket is a connection's socket that knows whether a read had to wait, and whose calls of the operating system the runtime's
// scheduler does not see where that can be: see rawRead.
//
// Read and Write may run at the same time, but not two of a kind.
type socket struct {
	net.Conn
	poll   syscall.RawConn // nil if the socket is not one of the operating system's
	waited bool            // some read since the connection cleared this had to wait
	soon   bool            // the next bytes are expected at once: a read that finds none yields to the client before it waits
	keen   bool            // a read that finds nothing goes on looking for a while before it waits
	yields *yields
	looks  looks
	in     transfer
	out    transfer
}

// transfer is a read or a write in hand.
type transfer struct {
	attempt func(fd uintptr) bool // of the socket, bound once, because a method value allocates
	buf     []byte
	n       int // bytes moved
	err     error
}

func (t *transfer) begin(buf []byte) { t.buf, t.n, t.err = buf, 0, nil }

func (s *socket) init(raw net.Conn, y *yields) {
	s.Conn, s.yields, s.in.attempt, s.out.attempt = raw, y, s.attemptRead, s.attemptWrite
	if sc, ok := raw.(syscall.Conn); ok {
		if poll, err := sc.SyscallConn(); err == nil {
			s.poll = poll
		}
	}
}

// attemptRead reads once, or again after a yield, or for a while; false makes the poller wait.
func (s *socket) attemptRead(fd uintptr) bool {
	for {
		s.in.n, s.in.err = rawRead(fd, s.in.buf)
		if s.in.err == syscall.EAGAIN {
			if s.soon {
				if s.soon = false; s.yields.yield() {
					continue
				}
			}
			if s.keen {
				if s.keen = false; s.look(fd) {
					return true
				}
			}
			s.waited = true
			return false
		}
		if s.in.err != syscall.EINTR {
			return true
		}
	}
}

// look reads again and again, with a yield before each, for at most lookMax; false if there was nothing.
func (s *socket) look(fd uintptr) bool {
	if !s.looks.worth() {
		return false
	}
	began := clock.Mono()
	for s.yields.yield() {
		if s.in.n, s.in.err = rawRead(fd, s.in.buf); s.in.err != syscall.EAGAIN && s.in.err != syscall.EINTR {
			s.looks.found()
			return true
		}
		if clock.Mono()-began >= lookMax {
			s.looks.missed()
			break
		}
	}
	return false
}

// attemptWrite writes until all is written; false makes the poller wait.
func (s *socket) attemptWrite(fd uintptr) bool {
	t := &s.out
	for t.n < len(t.buf) {
		n, err := rawWrite(fd, t.buf[t.n:])
		switch err {
		case nil:
			if n == 0 {
				t.err = io.ErrShortWrite
				return true
			}
			t.n += n
		case syscall.EINTR:
		case syscall.EAGAIN:
			return false
		default:
			t.err = err
			return true
		}
	}
	return true
}

// Read implements io.Reader.
func (s *socket) Read(b []byte) (int, error) {
	if s.poll == nil {
		s.waited = true
		return s.Conn.Read(b)
	}
	t := &s.in
	t.begin(b)
	err := s.poll.Read(t.attempt)
	t.buf = nil
	switch {
	case err != nil:
		return 0, err
	case t.err != nil:
		return 0, os.NewSyscallError("read", t.err)
	case t.n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return t.n, nil
}

// Write implements io.Writer.
func (s *socket) Write(b []byte) (int, error) {
	if s.poll == nil {
		return s.Conn.Write(b)
	}
	t := &s.out
	t.begin(b)
	err := s.poll.Write(t.attempt)
	t.buf = nil
	if err == nil && t.err != nil {
		err = os.NewSyscallError("write", t.err)
	}
	return t.n, err
}
