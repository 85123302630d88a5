package transport

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
)

// clientAddr is where a client came from.
func clientAddr(h *hello) net.Addr {
	switch h.network {
	case "tcp", "tcp4", "tcp6":
		if a, err := net.ResolveTCPAddr("tcp", h.client); err == nil {
			return a
		}
	case "unix":
		return &net.UnixAddr{Net: "unix", Name: h.client}
	}
	return nil
}

// clientConn is the connection of a client that is handed on.
type clientConn struct {
	*tls.Conn
	peer   net.Addr // nil: the node's own
	closed func()   // nil if the transport closes it
}

func (c *clientConn) RemoteAddr() net.Addr {
	if c.peer != nil {
		return c.peer
	}
	return c.Conn.RemoteAddr()
}

func (c *clientConn) Close() error {
	err := c.Conn.Close()
	if c.closed != nil {
		c.closed()
	}
	return err
}

// DialClient hands a client on: what is written to the connection reaches the other node's Handler.Client as if client had written it. The
// caller must Close it. It ends by itself if there is no link with the node for some seconds.
func (t *Transport) DialClient(ctx context.Context, to uint64, client net.Addr) (net.Conn, error) {
	if !t.room(forClient) {
		return nil, ErrBusy
	}
	h := hello{purpose: forClient}
	if client != nil {
		h.network, h.client = client.Network(), client.String()
		h.client = h.client[:min(len(h.client), addressBytesMax)]
	}
	c, _, err := t.dial(ctx, to, h)
	if err != nil {
		t.leave(forClient)
		return nil, err
	}
	t.metrics.ClientsOut.Inc()
	conn := &clientConn{Conn: c.(*tls.Conn)}
	release := t.adopt(to, conn)
	conn.closed = sync.OnceFunc(func() { release(); t.forget(c); t.leave(forClient) })
	return conn, nil
}
