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
	// gatewayWait is how long a client that connects waits for the cluster to have a gateway. An election with the wait for the old one's lease
	// takes less.
	gatewayWait = 15 * time.Second
	// gatewayPoll is how often such a client is tried again.
	gatewayPoll = 50 * time.Millisecond
	// handedMax bounds the clients that are being handed on, beside max-connections at the gateway.
	handedMax = 20_000
	// pieceBytes is copied at once.
	pieceBytes = 32 << 10
)

// handOn is the clients of this node that are handed on to the gateway, before their handshake: nothing of what they say is looked at.
type handOn struct {
	n    *Node
	mu   sync.Mutex // guards open; a leaf
	open map[*handed]struct{}
}

// handed is a client on its way.
type handed struct {
	client net.Conn
	to     uint64 // the store that it was handed to, 0 while there is none
	far    net.Conn
}

// enter counts a client in, unless there are too many.
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

// reached notes where a client has been handed to.
func (h *handOn) reached(c *handed, to uint64, far net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	assert.That(c.to == 0, "server: a client is handed on once")
	c.to, c.far = to, far
}

// cutOthers closes the clients that were handed to another store than the gateway, if there is one: what that other answers is worth nothing any
// more, and a connection to a node that has vanished says so late.
func (h *handOn) cutOthers(gateway uint64) {
	h.cut(func(c *handed) bool { return gateway != 0 && c.to != 0 && c.to != gateway })
}

// cutAll closes all clients, also those that wait.
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

// route is wire's: it takes over the connections of clients while this node is not the gateway.
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

// hand finds the gateway for a client and carries what they say to each other until one of them closes. A client that finds none in time is
// closed. If this node becomes the gateway, it serves the client itself.
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

// takenByte is what the gateway says first of a client that it takes. A node that is not the gateway closes without a word.
const takenByte = 1

// reach connects to the gateway for a client; far is nil if there is none that takes it.
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
		_ = client.Close() // whoever closed first has said all that it had to say
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

// handedConn is a client that another node has handed on to this one. done is closed with it.
type handedConn struct {
	net.Conn
	done  chan struct{}
	close sync.Once
}

// Relayed is how package wire knows that the client is another node's.
func (c *handedConn) Relayed() {}

func (c *handedConn) Close() error {
	err := c.Conn.Close()
	c.close.Do(func() { close(c.done) })
	return err
}

// serveHanded serves a client that another node has handed on, if this one is the gateway, and returns at its end.
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
