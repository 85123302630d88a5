package wire

import (
	"cmp"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/privilege/password"
	"github.com/pandodb/pando/types"
)

const (
	acceptBackoffMin = 5 * time.Millisecond // after a failed accept, doubled up to the maximum
	acceptBackoffMax = time.Second
	refuseTimeout    = 100 * time.Millisecond // to write 1040 into an empty socket buffer
	keepAlivePeriod  = 2 * time.Minute
)

// ErrClosed is returned by Serve on a server that has been shut down.
var ErrClosed = errors.New("wire: server is shut down")

// Server speaks the protocol on any number of listeners. Its methods are safe for concurrent use.
type Server struct {
	opt      Options
	caps     uint32
	tls      tlsKeys
	auth     password.Cache
	decoys   password.Decoys
	counters counters
	pool     bufferPool
	columns  columnCache
	guesses  password.Guesses
	logs     logLimiter // faults of clients, and unexpected errors
	failures logLimiter // of statements, see report
	refusals logLimiter // of logins: a flood of those must not suppress lines of the others
	zlib     zlibCodec
	zstd     zstdCodecs

	// now is the coarse clock, as ticksNow. The reaper and ServeConn move it; it is read where reading the real clock
	// would cost something for each command.
	now       atomic.Uint64
	maxPacket atomic.Int64
	maxConns  atomic.Int64

	mu        sync.Mutex // guards the fields below; no socket is read or written while it is held
	listeners map[net.Listener]struct{}
	conns     map[uint32]*conn
	list      []*conn // the same connections, for the reaper
	lastID    uint32
	draining  bool
	empty     chan struct{} // closed when draining and the last connection has gone
	reaping   bool          // the reaper's goroutine runs
	most      int           // connections at once, since the start
	mostAt    time.Time     // when most was reached
	wake      chan struct{} // capacity 1: there are connections to watch
	stop      chan struct{} // closed to end the reaper
	quit      chan struct{} // closed when draining begins
	stopped   chan struct{} // closed when the reaper has ended
}

// New checks the options and returns a server that does not listen yet.
func New(o Options) (*Server, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s := &Server{
		opt: o, caps: serverCapabilities,
		listeners: map[net.Listener]struct{}{}, conns: map[uint32]*conn{},
		empty: make(chan struct{}), wake: make(chan struct{}, 1),
		stop: make(chan struct{}), stopped: make(chan struct{}), quit: make(chan struct{}),
	}
	s.maxPacket.Store(int64(o.MaxAllowedPacket))
	s.maxConns.Store(int64(o.MaxConnections))
	if err := s.decoys.Init(); err != nil {
		return nil, err
	}
	if !o.DisableTLS {
		s.caps |= capSSL
		if err := s.tls.init(o.TLS); err != nil {
			return nil, err
		}
	}
	s.now.Store(ticksNow())
	return s, nil
}

// Serve accepts connections until the listener fails or Shutdown closes it; then it returns nil. It owns the listener. It
// may be called for several listeners at once, TCP and unix.
func (s *Server) Serve(l net.Listener) error {
	if !s.addListener(l) {
		_ = l.Close() // nothing was accepted
		return ErrClosed
	}
	defer s.removeListener(l)
	backoff := acceptBackoffMin
	for {
		raw, err := l.Accept()
		if err == nil {
			backoff = acceptBackoffMin
			if s.opt.Route == nil || !s.opt.Route(raw) {
				s.ServeConn(raw)
			}
			continue
		}
		if s.isDraining() {
			return nil
		}
		if errors.Is(err, net.ErrClosed) {
			return err
		}
		// Mostly there are no file descriptors left, until connections close. It is logged once, not at each retry.
		if backoff == acceptBackoffMin {
			s.opt.Logger.Error("accepting connections", "address", l.Addr().String(), "error", err)
		}
		clock.Sleep(backoff)
		backoff = min(2*backoff, acceptBackoffMax)
	}
}

// ServeConn starts the goroutine of a connection, or refuses it at once. It takes ownership of raw.
func (s *Server) ServeConn(raw net.Conn) {
	if tcp, ok := raw.(*net.TCPConn); ok {
		// Go has set TCP_NODELAY and keepalive, but probes every 15 s: too often for 10,000 idle clients.
		_ = tcp.SetKeepAlivePeriod(keepAlivePeriod) // a hint; a dead socket fails in the handshake
	}
	s.now.Store(max(s.now.Load(), ticksNow()))
	c, fault := s.add(raw)
	if fault != nil {
		s.refuse(raw, fault)
		return
	}
	c.count.connections.Add(1)
	go c.serve()
}

// refuse answers a connection that gets no goroutine. The packet carries no SQLSTATE, because before the greeting clients do
// not know the protocol version and would show it as part of the text.
func (s *Server) refuse(raw net.Conn, fault *types.Error) {
	s.counters.shard(0).refused.Add(1)
	_ = raw.SetDeadline(clock.Now().Add(refuseTimeout))
	b := appendUint16([]byte{0, 0, 0, 0, headerErr}, fault.Number)
	b = append(b, fault.Message...)
	putHeader(b, 0, 0)
	_, _ = raw.Write(b) // the client is told if it still listens
	_ = raw.Close()
}

// add registers a connection, or returns the error to refuse it with.
func (s *Server) add(raw net.Conn) (*conn, *types.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return nil, types.Errorf(types.ErServerShutdown)
	}
	if int64(len(s.conns)) >= s.maxConns.Load() {
		return nil, types.Errorf(types.ErConCount)
	}
	s.lastID++
	for s.lastID == 0 || s.conns[s.lastID] != nil {
		s.lastID++
	}
	c := newConn(s, s.lastID, raw)
	c.slot = len(s.list)
	s.list = append(s.list, c)
	s.conns[c.id] = c
	if len(s.conns) > s.most {
		s.most, s.mostAt = len(s.conns), clock.Now()
	}
	if !s.reaping {
		s.reaping = true
		go s.reap()
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return c, nil
}

func (s *Server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c.id)
	last := s.list[len(s.list)-1]
	s.list[c.slot], last.slot = last, c.slot
	s.list[len(s.list)-1] = nil
	s.list = s.list[:len(s.list)-1]
	if s.draining && len(s.list) == 0 {
		close(s.empty)
	}
}

func (s *Server) addListener(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false
	}
	s.listeners[l] = struct{}{}
	return true
}

func (s *Server) removeListener(l net.Listener) {
	_ = l.Close() // it may be closed already
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}

func (s *Server) isDraining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// snapshot copies the list of connections to dst.
func (s *Server) snapshot(dst []*conn) []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(dst[:0], s.list...)
}

// Kill ends the running statement of a connection, if there is one, or with query false the connection: at once if it idles,
// otherwise after its interrupted statement. It returns false if there is no such connection. Whether the caller may do
// so is the caller's business.
func (s *Server) Kill(id uint32, query bool) bool {
	s.mu.Lock()
	c := s.conns[id]
	s.mu.Unlock()
	if c == nil {
		return false
	}
	if !query {
		c.nudge(kvapi.ReasonKillConn)
		c.interrupt(kvapi.ReasonKillConn)
		return true
	}
	if phase := c.state.Load() & 0xff; phase == phaseBusy || phase == phaseWrite || phase == phaseFile {
		c.interrupt(kvapi.ReasonKillQuery)
	}
	return true
}

// ConnStatus is one line of the process list.
type ConnStatus struct {
	// Info is what the session got; while authenticating only ID, Host and RemoteAddr.
	Info *ConnInfo
	// Session is what the Backend opened, nil while authenticating. It may be closed at any moment: only what it
	// allows from other goroutines may be called.
	Session Session
	// Command is the running command (Com…), ComSleep if idle, ComConnect while authenticating.
	Command byte
	// Since is how long it has been running or idling, kept to a quarter of a second.
	Since time.Duration
	// Killed: the connection ends as soon as its statement has noticed.
	Killed bool
}

// Conns lists the connections in order of id.
func (s *Server) Conns() []ConnStatus {
	conns := s.snapshot(nil)
	now := max(s.now.Load(), ticksNow())
	list := make([]ConnStatus, 0, len(conns))
	for _, c := range conns {
		state := c.state.Load()
		c.mu.Lock()
		list = append(list, ConnStatus{
			Info: c.info, Session: c.open, Command: byte(state >> 8), Killed: c.closing.Load() != 0,
			Since: time.Duration(now-min(now, state>>16)) * tick,
		})
		c.mu.Unlock()
	}
	slices.SortFunc(list, func(a, b ConnStatus) int { return cmp.Compare(a.Info.ID, b.Info.ID) })
	return list
}

// SetMaxConnections changes the limit for new connections; open ones stay.
func (s *Server) SetMaxConnections(n int) {
	s.maxConns.Store(int64(min(max(n, 1), maxConnectionsLimit)))
}

// SetMaxAllowedPacket changes the initial value of new connections, in bytes.
func (s *Server) SetMaxAllowedPacket(bytes int) {
	s.maxPacket.Store(int64(min(max(bytes, maxAllowedPacketMin), maxAllowedPacketLimit)))
}
