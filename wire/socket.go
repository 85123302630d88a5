package wire

import (
	"errors"
	"net"
	"syscall"
)

// socket is a client's connection below TLS and compression. All methods may be called by any goroutine, also while the connection's
// goroutine reads and writes.
type socket struct {
	net.Conn
	raw syscall.RawConn // nil if Conn is not a socket of the operating system, as in tests
}

func newSocket(conn net.Conn) socket {
	s := socket{Conn: conn}
	if sc, ok := conn.(syscall.Conn); ok {
		if raw, err := sc.SyscallConn(); err == nil {
			s.raw = raw
		}
	}
	return s
}

// closeWrite sends the end of the stream; the client's bytes can still be read.
func (s *socket) closeWrite() error {
	if half, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// peerGone reports whether the client has closed or reset the connection. One that has sent further bytes before closing is not
// noticed until its answer is written.
func (s *socket) peerGone() bool {
	if s.raw == nil {
		return false
	}
	var n int
	var err error
	failed := s.raw.Control(func(fd uintptr) {
		var b [1]byte
		for n, err = 0, syscall.EINTR; err == syscall.EINTR; {
			n, _, err = syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		}
	})
	switch {
	case failed != nil:
		return true // closed here
	case err != nil:
		return err == syscall.ECONNRESET || err == syscall.ETIMEDOUT || err == syscall.EPIPE // EAGAIN: there is nothing to read yet
	}
	return n == 0
}
