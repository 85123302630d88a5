package server

import (
	"context"
	"io"
	"net"
	"sync"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/assert"
)

// Limits of handing clients on.
const (
	// gatewayWait is how long a new client waits until the cluster has a gateway. An election and the end of the old gateway's lease take
	// less.
	gatewayWait = 15 * time.Second
	// gatewayPoll is the pause between attempts to reach the gateway for such a client.
	gatewayPoll = 50 * time.Millisecond
	// handedMax bounds the clients that are being handed on, beside max-connections at the gateway.
	handedMax = 20_000
	// pieceBytes is the size of a buffer of carry.
	pieceBytes = 32 << 10
)

// handOn is the set of clients that this node relays to the gateway. It relays them before the handshake and does not look at their bytes.
type handOn struct {
	n    *Node
	mu   sync.Mutex // guards open; a leaf
	open map[*handed]struct{}
}

// handed is a relayed client, or one that waits for a gateway.
type handed struct {
	client net.Conn
	to     uint64   // the store that it is relayed to, 0 while it waits
	far    net.Conn // the connection to that store; handOn.mu guards both
}

// enter adds a client, unless there are too many.
func (h *handOn) enter(c *handed) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.open) >= handedMax {
		return false
	}
	h.open[c] = struct{}{}
	return true
}

func (h *handOn) leave(c *handed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, c)
}

// reached records the store to which a client is relayed, and the connection.
func (h *handOn) reached(c *handed, to uint64, far net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	assert.That(c.to == 0, "server: a client is handed on once")
	c.to, c.far = to, far
}

// cutOthers closes the clients that are relayed to a store that is not the gateway any more, if there is a gateway: that store cannot commit
// anything, and it may take long until the connection to a node that is down reports an error.
func (h *handOn) cutOthers(gateway uint64) {
	h.cut(func(c *handed) bool { return gateway != 0 && c.to != 0 && c.to != gateway })
}

// cutAll closes all relayed and waiting clients.
func (h *handOn) cutAll() { h.cut(func(*handed) bool { return true }) }

func (h *handOn) cut(which func(*handed) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.open {
		if which(c) {
			_ = c.client.Close() // its goroutine ends with it
			if c.far != nil {
				_ = c.far.Close()
			}
		}
	}
}

// len returns how many there are.
func (h *handOn) len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.open)
}

// route implements wire.Options.Route: it takes over the connections of clients while this node is not the gateway.
func (n *Node) route(raw net.Conn) bool {
	if n.sql.get() != nil {
		return false
	}
	c := &handed{client: raw}
	if !n.handOn.enter(c) {
		_ = raw.Close() // as a full queue of the operating system would
		return true
	}
	n.loops.Go(func() {
		defer n.handOn.leave(c)
		n.hand(c)
	})
	return true
}

// hand connects a client to the gateway and relays bytes until one of them closes. Without a gateway within gatewayWait it closes the client.
// If this node becomes the gateway meanwhile, it serves the client itself.
func (n *Node) hand(c *handed) {
	for deadline := clock.Mono() + gatewayWait; ; clock.Sleep(gatewayPoll) {
		select {
		case <-n.stop:
			_ = c.client.Close()
			return
		default:
		}
		if n.sql.get() != nil {
			n.wire.ServeConn(c.client)
			return
		}
		if far, to := n.reach(c.client.RemoteAddr()); far != nil {
			n.handOn.reached(c, to, far)
			carry(c.client, far)
			return
		}
		if clock.Mono() > deadline {
			n.log.Warn("a client found no gateway in time", "client", c.client.RemoteAddr().String(), "waited", gatewayWait)
			_ = c.client.Close()
			return
		}
	}
}

// takenByte is the first byte that the gateway sends for a client that it accepts. A node that is not the gateway closes the connection.
const takenByte = 1

// reach connects to the gateway for a client; far is nil if no gateway accepts it.
func (n *Node) reach(client net.Addr) (far net.Conn, to uint64) {
	ctx, cancel := context.WithTimeout(context.Background(), gatewayWait)
	defer cancel()
	to, here := n.gateway(ctx)
	t := n.transport()
	if to == 0 || here || t == nil {
		return nil, 0
	}
	far, err := t.DialClient(ctx, to, client)
	if err != nil {
		return nil, 0
	}
	var first [1]byte
	err = far.SetReadDeadline(clock.Now().Add(gatewayWait))
	if err == nil {
		_, err = io.ReadFull(far, first[:])
	}
	if err == nil {
		err = far.SetReadDeadline(time.Time{})
	}
	if err != nil || first[0] != takenByte {
		_ = far.Close()
		return nil, 0
	}
	return far, to
}

// carry copies in both directions, and closes both ends when either has closed.
func carry(client, far net.Conn) {
	closeBoth := sync.OnceFunc(func() {
		_ = client.Close() // nothing is left to be sent to the side that closed first
		_ = far.Close()
	})
	var back sync.WaitGroup
	back.Go(func() {
		defer closeBoth()
		_, _ = io.CopyBuffer(struct{ io.Writer }{far}, struct{ io.Reader }{client}, make([]byte, pieceBytes))
	})
	_, _ = io.CopyBuffer(struct{ io.Writer }{client}, struct{ io.Reader }{far}, make([]byte, pieceBytes))
	closeBoth()
	back.Wait()
}

// handedConn is the connection of a client that another node relays to this one. done is closed when it is closed.
type handedConn struct {
	net.Conn
	done  chan struct{}
	close sync.Once
}

// Relayed marks the connection for package wire as one that another node relays.
func (c *handedConn) Relayed() {}

func (c *handedConn) Close() error {
	err := c.Conn.Close()
	c.close.Do(func() { close(c.done) })
	return err
}

// serveHanded serves a client that another node relays, if this node is the gateway, and returns when the client's connection is closed.
func (n *Node) serveHanded(conn net.Conn) {
	if n.sql.get() == nil || n.ending.Load() {
		return // the transport closes it, which tells the other node; if this one ends, another is about to be the gateway
	}
	if _, err := conn.Write([]byte{takenByte}); err != nil {
		return
	}
	c := &handedConn{Conn: conn, done: make(chan struct{})}
	n.wire.ServeConn(c)
	<-c.done
}
