package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pandodb/pando/clock"
)

// socket is a connection's socket that knows whether a read had to wait, and whose calls of the operating system the runtime's
// scheduler does not see where that can be: see rawRead. While its connection is alone it may be out of the runtime's poller: see
// detach.
//
// Read, Write, Close and the fields belong to the connection's goroutine; deadlines, control, closeWrite and hangUp are for any.
type socket struct {
	net.Conn           // as accepted; when the socket has been detached once, only the addresses are of use
	waited   bool      // some read since the connection cleared this had to wait
	soon     bool      // the next bytes are expected at once: a read that finds none yields to the client before it waits
	keen     *lookRule // by which a read that finds nothing goes on looking before it waits; nil if it doesn't
	alone    bool      // no other connection is active
	reads    int       // in this tick, while alone; see pace
	tick     uint64    // of the coarse clock
	yields   *yields
	looks    looks
	in       transfer
	out      transfer
	wait     readable
	recalled atomic.Bool // while detached: a deadline has been set

	// mu guards what follows against other goroutines; this one reads base, poll and fd without it, because nobody else changes them.
	// No lock is taken and nothing waited for while it is held.
	mu              sync.Mutex
	base            polled          // nil while detached
	poll            syscall.RawConn // of base; nil if that is not a socket of the operating system
	fd              uintptr         // while detached
	readBy, writeBy time.Time       // the deadlines
}

// polled is a socket in the runtime's poller: the net.Conn that was accepted, or an os.File.
type polled interface {
	io.ReadWriteCloser
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
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
	s.Conn, s.base, s.yields, s.in.attempt, s.out.attempt = raw, raw, y, s.attemptRead, s.attemptWrite
	if sc, ok := raw.(syscall.Conn); ok {
		if poll, err := sc.SyscallConn(); err == nil {
			s.poll = poll
		}
	}
}

// attemptRead is tryRead for the poller. It also ends the wait there, without a byte, for a socket that is to be detached.
func (s *socket) attemptRead(fd uintptr) bool {
	if s.tryRead(fd) {
		return true
	}
	s.waited = true
	return s.alone && s.reads >= detachReads
}

// tryRead reads once, or again after a yield, or for a while; false if there is nothing yet.
func (s *socket) tryRead(fd uintptr) bool {
	for {
		s.in.n, s.in.err = rawRead(fd, s.in.buf)
		if s.in.err == syscall.EAGAIN {
			if s.soon {
				if s.soon = false; s.yields.yield() {
					continue
				}
			}
			if r := s.keen; r != nil {
				if s.keen = nil; s.look(fd, r) {
					return true
				}
			}
			return false
		}
		if s.in.err != syscall.EINTR {
			if s.keen != nil {
				s.looks.found()
			}
			return true
		}
	}
}

// look reads again and again, with a yield before each, as long as the rule says; false if there was nothing.
func (s *socket) look(fd uintptr, r *lookRule) bool {
	if !s.looks.worth() {
		return false
	}
	began := clock.Mono()
	last, idle := began, 0
	for s.yields.yield() {
		if s.in.n, s.in.err = rawRead(fd, s.in.buf); s.in.err != syscall.EAGAIN && s.in.err != syscall.EINTR {
			s.looks.found()
			return true
		}
		now := clock.Mono()
		if now-last < yieldIdle {
			idle++
		}
		last = now
		if idle >= r.idle || now-began >= r.most {
			s.looks.missed(r)
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
	if s.base != nil && s.poll == nil {
		s.waited = true
		return s.base.Read(b)
	}
	t := &s.in
	t.begin(b)
	err := s.read()
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

// read does the transfer in, wherever the socket has to wait for it.
func (s *socket) read() error {
	for {
		if s.base == nil {
			if s.readAlone() {
				return nil
			}
			s.attach()
		}
		if err := s.poll.Read(s.in.attempt); err != nil || s.in.err != syscall.EAGAIN {
			return err
		}
		if !s.detach() {
			s.alone = false // until the connection says so again
		}
	}
}

// Write implements io.Writer.
func (s *socket) Write(b []byte) (int, error) {
	if s.base != nil && s.poll == nil {
		return s.base.Write(b)
	}
	t := &s.out
	t.begin(b)
	err := s.write()
	t.buf = nil
	if err == nil && t.err != nil {
		err = os.NewSyscallError("write", t.err)
	}
	return t.n, err
}

// write does the transfer out. A client that does not take it at once is waited for in the poller.
func (s *socket) write() error {
	if s.base == nil {
		if !s.recalled.Load() && s.attemptWrite(s.fd) {
			return nil
		}
		s.attach()
	}
	return s.poll.Write(s.out.attempt)
}

// SetDeadline implements net.Conn.
func (s *socket) SetDeadline(t time.Time) error {
	if err := s.SetReadDeadline(t); err != nil {
		return err
	}
	return s.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn. A read out of the poller notices within detachedMax.
func (s *socket) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readBy = t
	if s.base == nil {
		s.recalled.Store(true)
		return nil
	}
	return s.base.SetReadDeadline(t)
}

// SetWriteDeadline implements net.Conn. A write never waits out of the poller.
func (s *socket) SetWriteDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeBy = t
	if s.base == nil {
		s.recalled.Store(true)
		return nil
	}
	return s.base.SetWriteDeadline(t)
}

// control runs f with the socket's descriptor, which it must not keep, and on which it must not wait.
func (s *socket) control(f func(fd uintptr)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.base == nil:
		f(s.fd)
		return nil
	case s.poll == nil:
		return errors.ErrUnsupported
	}
	return s.poll.Control(f)
}

// closeWrite sends the end of the stream; the client's bytes can still be read.
func (s *socket) closeWrite() (err error) {
	if failed := s.control(func(fd uintptr) { err = syscall.Shutdown(int(fd), syscall.SHUT_WR) }); failed != nil {
		return failed
	}
	return err
}

// Close implements net.Conn.
func (s *socket) Close() error {
	s.attach()
	return s.base.Close()
}

// hangUp makes the present and all further reads and writes fail. The connection's goroutine closes the socket.
func (s *socket) hangUp() {
	err := s.control(func(fd uintptr) { _ = syscall.Shutdown(int(fd), syscall.SHUT_RDWR) }) // fails where the client has gone
	if errors.Is(err, errors.ErrUnsupported) {
		_ = s.base.Close() // it is never detached, so that base stays
	}
}
