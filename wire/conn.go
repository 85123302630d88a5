package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/privilege/password"
	"github.com/pandodb/pando/types"
)

// The phases of a connection, in the low byte of conn.state.
const (
	phaseConnect uint64 = iota // before the first packet of an authentication is written, then phaseBusy; the socket's deadline bounds both
	phaseIdle                  // waiting for a command; bounded by wait_timeout
	phaseRead                  // in the middle of a command packet; bounded by net_read_timeout
	phaseBusy                  // executing
	phaseWrite                 // in a socket write; bounded by net_write_timeout
	phaseFile                  // executing, and waiting for a part of the file that the client sends; bounded by net_read_timeout
)

// conn is one client connection. Its fields belong to its goroutine unless they say otherwise.
type conn struct {
	srv    *Server
	id     uint32
	sock   socket
	stream io.ReadWriter // sock, or TLS or compression over it
	// host is the name by which accounts know the client, addr its address, empty for a unix socket.
	host, addr string
	peer       net.Addr // of the client, which may be behind a proxy
	secure     bool     // unix socket or TLS: passwords may travel in the clear inside
	caps       uint32
	zstdLevel  int    // the compression level that the client has asked for
	claimed    string // the account that matched the last login, right or wrong; empty if none did
	in         packetReader
	resp       response
	sess       Session
	intr       *kvapi.Interrupt
	args       Args
	attrs      attributes
	stmts      stmtTable
	held       held
	salt       [password.SaltBytes]byte
	count      *counterShard

	// state is when<<16 | command<<8 | phase, where when is the server's coarse clock at the last change. Written by the
	// connection, read by the reaper and Conns.
	state atomic.Uint64
	// closing is the kvapi.Reason for which the connection ends after its present command; 0 while it goes on.
	closing atomic.Uint32
	// Limits; set through Control by any goroutine.
	maxPacket                              atomic.Int64
	waitTimeout, readTimeout, writeTimeout atomic.Int64 // in ticks; 0 is for ever

	mu   sync.Mutex // guards what other goroutines see of info and sess
	info *ConnInfo  // replaced, never written, by COM_CHANGE_USER
	open Session    // sess, for others

	slot int // index in Server.list, guarded by Server.mu
}

func newConn(s *Server, id uint32, raw net.Conn) *conn {
	c := &conn{srv: s, id: id, count: s.counters.shard(id), sock: newSocket(raw)}
	c.stream = &c.sock
	c.held.memory = s.opt.Memory
	c.stmts.held = &c.held
	c.resp.c = c
	c.resp.enc.Room, c.resp.enc.Poll = c.resp.room, c.resp.poll
	c.resp.enc.Buf = make([]byte, 0, outInitialBytes)
	c.in = packetReader{src: &c.sock, window: make([]byte, windowBytes), pool: &s.pool, held: &c.held, limit: handshakePacketMax, exact: true}
	c.peer = raw.RemoteAddr()
	c.host, c.addr, c.secure = peerHost(c.peer)
	_, relayed := raw.(interface{ Relayed() })
	c.info = &ConnInfo{ID: id, Host: c.host, Relayed: relayed, Control: (*control)(c)}
	c.maxPacket.Store(s.maxPacket.Load())
	c.waitTimeout.Store(ticksOf(s.opt.WaitTimeout))
	c.readTimeout.Store(ticksOf(s.opt.NetReadTimeout))
	c.writeTimeout.Store(ticksOf(s.opt.NetWriteTimeout))
	c.setState(ComConnect, phaseConnect)
	return c
}

// setState publishes what the connection does from now on.
func (c *conn) setState(command byte, phase uint64) {
	c.state.Store(uint64(c.srv.now.Load())<<16 | uint64(command)<<8 | phase)
}

// setPhase publishes a phase of the present command.
func (c *conn) setPhase(phase uint64) { c.setState(byte(c.state.Load()>>8), phase) }

// serve runs the connection from handshake to close, on the connection's own goroutine.
func (c *conn) serve() {
	defer c.close()
	defer c.recover()
	err := c.renew()
	if err == nil && c.srv.proxied(c.peer) {
		err = c.readProxyHeader()
	}
	if err == nil {
		err = c.handshake()
	}
	if err != nil {
		c.reportHandshake(err)
		return
	}
	_ = c.sock.SetDeadline(noDeadline) // fails only on a closed socket
	c.in.exact = false
	c.in.partial = c.partial
	c.loop()
}

// renew gives the client the time for a handshake, from now on.
func (c *conn) renew() error {
	err := c.sock.SetDeadline(clock.Now().Add(c.srv.opt.HandshakeTimeout))
	if c.closing.Load() != 0 { // it may have replaced the deadline of nudge
		return net.ErrClosed
	}
	return err
}

// recover turns a panic into the end of this connection. Without it a fault in one statement would end the process and
// every other session; what the panicking session held is released by Session.Close.
func (c *conn) recover() {
	fault := recover()
	if fault == nil {
		return
	}
	c.srv.opt.Logger.Error("panic in a connection", "conn", c.id, "panic", fault, "stack", string(debug.Stack()))
	c.count.panics.Add(1)
	if c.resp.err == nil {
		_ = c.sock.SetWriteDeadline(clock.Now().Add(lastWordsTimeout))
		c.resp.cut()
		c.resp.appendError(types.Errorf(types.ErUnknownError, "internal error"))
		_ = c.resp.flush() // the connection ends either way
	}
}

// close ends the session and the socket, and removes the connection from the server's list.
func (c *conn) close() {
	defer c.srv.remove(c)
	defer c.sock.Close()
	c.in.release()
	defer c.held.close()
	if c.sess == nil {
		return
	}
	defer func() {
		if fault := recover(); fault != nil {
			c.srv.opt.Logger.Error("panic closing a session", "conn", c.id, "panic", fault, "stack", string(debug.Stack()))
		}
	}()
	c.mu.Lock()
	c.open = nil
	c.mu.Unlock()
	c.sess.Close()
}

// partial publishes that part of a packet has arrived: from now on net_read_timeout bounds the rest.
func (c *conn) partial() {
	if c.state.Load()&0xff == phaseFile {
		c.setPhase(phaseFile)
		return
	}
	c.setPhase(phaseRead)
}

// loop reads and executes commands until one of them, the client or closing ends it.
func (c *conn) loop() {
	for {
		c.in.seq = 0
		c.in.limit = int(c.maxPacket.Load())
		c.setState(ComSleep, phaseIdle)
		// closing is set before the interrupting deadline, so that either this load sees it or the read fails.
		if c.closing.Load() != 0 {
			c.farewell()
			return
		}
		before := c.in.total
		payload, err := c.in.next()
		if err != nil {
			c.reportRead(err)
			return
		}
		c.count.bytesIn.Add(c.in.total - before)
		// A command may have arrived after nudge set the deadline and before this goroutine ran. It is not executed: the connection was to be closed.
		if c.closing.Load() != 0 {
			c.farewell()
			return
		}
		if len(payload) == 0 {
			payload = noCommand
		}
		// The reset comes first: so a KILL QUERY that finds the connection busy is not cleared before the statement has seen it.
		c.intr.Reset()
		c.setState(payload[0], phaseBusy)
		c.resp.seq = c.in.seq
		keep := c.command(payload)
		c.resp.end()
		c.in.release()
		if !keep {
			return
		}
	}
}

// noCommand replaces an empty packet, so that it is answered as an unknown command.
var noCommand = []byte{ComSleep}

// reportRead tells a client why its packet could not be read, if the protocol has an error for it, before the connection is closed.
func (c *conn) reportRead(err error) {
	switch {
	case errors.Is(err, errTooLarge):
		c.refuse(types.Errorf(types.ErNetPacketTooLarge))
	case errors.Is(err, errOutOfOrder):
		c.complain("packets out of order")
		c.refuse(types.Errorf(types.ErNetPacketsOutOfOrder))
	case errors.Is(err, errCompressed):
		c.complain("malformed compressed packet")
		c.lastWords(types.Errorf(types.ErNetUncompressError))
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.farewell()
		if c.closing.Load() != uint32(kvapi.ReasonShutdown) {
			c.count.aborted.Add(1)
		}
	case err == io.EOF:
		// Closing without COM_QUIT is what many pools do.
	default:
		c.count.aborted.Add(1)
		if e, ok := errors.AsType[*types.Error](err); ok { // the memory budget refused the packet
			c.refuse(c.clientError(e))
		}
	}
}

// farewell tells an idle client why its connection ends, for the reasons that MySQL has an error for. The client reads it when it sends
// its next command.
func (c *conn) farewell() {
	switch kvapi.Reason(c.closing.Load()) {
	case kvapi.ReasonTimeout:
		c.lastWords(types.Errorf(types.ErClientInteractionTimeout))
	case kvapi.ReasonShutdown:
		c.lastWords(types.Errorf(types.ErServerShutdown))
	}
}

// lastWords sends an error before the connection is closed.
func (c *conn) lastWords(e *types.Error) bool {
	if c.resp.err != nil || c.sock.SetDeadline(clock.Now().Add(lastWordsTimeout)) != nil {
		return false
	}
	if len(c.resp.enc.Buf) == 0 {
		c.resp.seq = c.in.seq // the packet that could not be read counts; if packets are still to be sent, resp.seq has counted them
	}
	c.resp.appendError(e)
	return c.resp.flush() == nil
}

// refuse sends an error instead of reading the rest of a packet, before the connection is closed, and takes for a while what the client is still sending:
// closing a socket with unread bytes resets the connection, and the reset overtakes the error.
func (c *conn) refuse(e *types.Error) {
	sent := c.lastWords(e)
	if c.in.release(); !sent || c.sock.closeWrite() != nil {
		return
	}
	for left, end := lingerBytesMax, clock.Now().Add(lingerTimeMax); left > 0 && clock.Now().Before(end); {
		n, err := c.sock.Read(c.in.window)
		if err != nil || c.sock.SetDeadline(clock.Now().Add(lastWordsTimeout)) != nil {
			return
		}
		left -= n
	}
}

const (
	lastWordsTimeout = 2 * time.Second
	lingerBytesMax   = 64 << 20
	lingerTimeMax    = 30 * time.Second
	writeStep        = 256 << 10 // what a client must take within net_write_timeout
)

// write sends bytes; only response calls it. The reaper bounds each step and not the whole: a row of megabytes may take
// long, as long as the client reads some of it. A connection that is being closed gets no more time.
func (c *conn) write(b []byte) error {
	c.setPhase(phaseWrite)
	n, err := c.stream.Write(b[:min(len(b), writeStep)])
	for err == nil && n < len(b) {
		if c.closing.Load() == 0 {
			c.setPhase(phaseWrite)
		}
		var more int
		more, err = c.stream.Write(b[n:min(len(b), n+writeStep)])
		n += more
	}
	c.setPhase(phaseBusy)
	c.count.bytesOut.Add(uint64(n))
	return err
}

// complain counts and logs a violation of the protocol, at a bounded rate and without what the client sent.
func (c *conn) complain(what string, args ...any) {
	c.count.malformed.Add(1)
	if c.srv.logs.allow(c.srv.now.Load()) {
		c.srv.opt.Logger.Warn("closing a connection: "+what, append([]any{"conn", c.id, "client", c.host}, args...)...)
	}
}

// nudge makes the connection end when its current command is done, or at once if it is idle. Any goroutine may call it.
func (c *conn) nudge(reason kvapi.Reason) {
	c.closing.CompareAndSwap(0, uint32(reason))
	_ = c.sock.SetReadDeadline(longAgo) // fails only on a closed socket
}

// interrupt interrupts the statement that is running. Any goroutine may call it.
func (c *conn) interrupt(reason kvapi.Reason) {
	c.mu.Lock()
	sess := c.open
	c.mu.Unlock()
	if sess != nil {
		sess.Interrupt().Set(reason)
	}
}

// longAgo as a deadline makes blocked and future calls fail.
var (
	longAgo    = time.Unix(1, 0)
	noDeadline time.Time
)

// control implements Control for a conn.
type control conn

func (c *control) SetMaxAllowedPacket(bytes int) {
	(*conn)(c).maxPacket.Store(int64(min(max(bytes, maxAllowedPacketMin), maxAllowedPacketLimit)))
}

func (c *control) SetWaitTimeout(d time.Duration) { (*conn)(c).waitTimeout.Store(ticksOf(d)) }

func (c *control) SetNetTimeouts(read, write time.Duration) {
	(*conn)(c).readTimeout.Store(ticksOf(read))
	(*conn)(c).writeTimeout.Store(ticksOf(write))
}

// peerHost returns the name and the address by which accounts know the peer, and whether the transport cannot be overheard.
func peerHost(peer net.Addr) (host, addr string, secure bool) {
	switch peer := peer.(type) {
	case *net.UnixAddr:
		return localhost, "", true
	case *net.TCPAddr:
		addr = peer.IP.String()
		if !peer.IP.IsLoopback() {
			return addr, addr, false
		}
	}
	return localhost, addr, false
}

const localhost = "localhost"
