package wire

import (
	"context"
	"net"
	"time"
)

// Server speaks the protocol on any number of listeners.
type Server struct{}

// New checks the options and returns a server that does not listen yet.
func New(o Options) (*Server, error) { panic("soon") }

// Serve accepts connections until the listener fails or Shutdown closes it; then it returns nil.
func (s *Server) Serve(l net.Listener) error { panic("soon") }

// Shutdown stops accepting, closes idle connections, lets busy ones finish their command until
// ctx is done, then interrupts them.
func (s *Server) Shutdown(ctx context.Context) error { panic("soon") }

// Kill ends the statement, or with query false the connection, of id. False: no such connection.
func (s *Server) Kill(id uint32, query bool) bool { panic("soon") }

// ConnStatus is one line of the process list.
type ConnStatus struct {
	Info    *ConnInfo
	Session Session       // as opened by the Backend; nil while authenticating
	Command byte          // the running command (Com…), ComSleep if idle
	Since   time.Duration // how long it runs or idles; coarse
	Killed  bool
}

// Conns lists the connections in order of id.
func (s *Server) Conns() []ConnStatus { panic("soon") }

// SetMaxConnections changes the limit; open connections stay.
func (s *Server) SetMaxConnections(n int) { panic("soon") }

// SetMaxAllowedPacket changes the initial value of new connections.
func (s *Server) SetMaxAllowedPacket(bytes int) { panic("soon") }

// HashCachingSHA2 and HashNative make what Credential.Auth holds; empty passwords give nil.
func HashCachingSHA2(password []byte) []byte { panic("soon") }
func HashNative(password []byte) []byte      { panic("soon") }
