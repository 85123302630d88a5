package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/pandodb/pando/clock"
)

// keepAlive is the system's own probing, for connections on which nobody pings: those of clients.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 2 * time.Second, Interval: time.Second, Count: 3}

// noDeadline takes a deadline back.
var noDeadline time.Time

// strangers counts the connections that have not shown a certificate.
type strangers struct {
	mu     sync.Mutex // guards what follows; a leaf
	total  int
	ofHost map[string]int
}

// enter takes a place for a stranger of a host.
func (s *strangers) enter(host string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.total >= strangersMax || s.ofHost[host] >= strangersOfHostMax {
		return false
	}
	if s.ofHost == nil {
		s.ofHost = map[string]int{}
	}
	s.total++
	s.ofHost[host]++
	return true
}

func (s *strangers) leave(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.ofHost[host]--; s.ofHost[host] == 0 {
		delete(s.ofHost, host)
	}
}

func (t *Transport) accept() {
	for {
		raw, err := t.o.Listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed) || t.ctx.Err() != nil:
			return
		case err != nil: // out of files, say
			t.say("accept", slog.LevelError, "a connection to the cluster port cannot be accepted", "error", err)
			if !t.pause(t.delays.retryMin) {
				return
			}
			continue
		}
		host := hostOf(raw.RemoteAddr())
		if !t.strangers.enter(host) {
			t.metrics.Strangers.Inc()
			t.say("strangers "+host, slog.LevelWarn, "too many connections to the cluster port that have not shown a certificate", "from", host)
			_ = raw.Close() // nothing was said
			continue
		}
		leave := sync.OnceFunc(func() { t.strangers.leave(host) })
		if !t.spawn(func() { defer leave(); t.receive(raw, leave) }) {
			leave()
			_ = raw.Close() // the transport is closing
		}
	}
}

func hostOf(a net.Addr) string {
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return host
}

// receive serves one connection from its first byte to its last. known is called when it is a stranger's no longer.
func (t *Transport) receive(raw net.Conn, known func()) {
	if tcp, is := raw.(*net.TCPConn); is {
		_ = tcp.SetKeepAliveConfig(keepAlive) // without it a dead client's connection lives longer
	}
	c := tls.Server(raw, t.server)
	if !t.track(c) {
		return
	}
	defer t.forget(c)
	host := hostOf(raw.RemoteAddr())
	if err := c.SetDeadline(clock.Now().Add(t.delays.handshake)); err != nil {
		return
	}
	if err := c.Handshake(); err != nil {
		t.metrics.Strangers.Inc()
		if !errors.Is(err, io.EOF) { // a port scan, or a check of a load balancer's
			t.say("handshake "+host, slog.LevelWarn, "a connection to the cluster port was refused", "from", raw.RemoteAddr().String(), "error", explain(err, host))
			linger(raw)
		}
		return
	}
	if c.ConnectionState().NegotiatedProtocol == alpnJoin {
		t.join(c)
		return
	}
	h, refused := t.introduce(c)
	if h == nil {
		return // it said nothing
	}
	w := &welcome{cluster: t.o.Cluster, node: t.o.Node, incarnation: t.o.Incarnation(), life: t.life, version: min(t.o.Newest, h.newest), address: t.o.Advertise}
	if refused == nil && !t.room(h.purpose) {
		refused = refuse(RefusedBusy, "too many connections of this kind")
	} else if refused == nil {
		defer t.leave(h.purpose)
	}
	if refused != nil {
		w.verdict, w.reason = refused.Reason, refused.Text
		t.metrics.Refusals.Inc()
		t.say(fmt.Sprintf("refused %d %d %s", h.from, refused.Reason, host), slog.LevelWarn, "a node was refused", "node", h.from, "from", raw.RemoteAddr().String(), "reason", refused.Text)
	} else {
		known()
		w.others = t.others(h.from)
	}
	if _, err := c.Write(appendFrame(nil, kindWelcome, w.append(nil), nil)); err != nil || refused != nil {
		return
	}
	if c.SetDeadline(noDeadline) == nil {
		t.serve(c, h)
	}
}

// linger reads a little of what still comes behind a failed handshake: closing over it would take the alert, which says why, away from the dialer.
func linger(raw net.Conn) {
	if tcp, is := raw.(*net.TCPConn); is && tcp.CloseWrite() == nil && tcp.SetDeadline(clock.Now().Add(lingerTime)) == nil {
		_, _ = io.CopyN(io.Discard, tcp, helloBytesMax)
	}
}

// lingerTime bounds it.
const lingerTime = time.Second

// introduce reads who speaks, and judges it. Without a hello it returns nil.
func (t *Transport) introduce(c *tls.Conn) (*hello, *RefusedError) {
	node, certificateErr := nodeOf(c.ConnectionState().PeerCertificates[0], t.o.Cluster)
	k, payload, err := readFrame(c, helloBytesMax)
	if err != nil || k != kindHello {
		return nil, nil
	}
	h, err := decodeHello(payload)
	if err == nil {
		err = certificateErr
	}
	if err != nil {
		refused, _ := errors.AsType[*RefusedError](err)
		return &hello{from: node}, refused
	}
	switch {
	case h.cluster != t.o.Cluster:
		return h, refuse(RefusedCluster, "node %d is of cluster %016x, and this is cluster %016x", h.from, h.cluster, t.o.Cluster)
	case h.from != node:
		return h, refuse(RefusedNode, "it says that it is node %d, and its certificate is of node %d", h.from, node)
	case h.from == t.o.Node && h.life == t.life:
		return h, refuse(RefusedNode, "it is this node itself")
	case h.from == t.o.Node:
		return h, refuse(RefusedTwin, "node %d is this one: its data directory was copied and started twice; stop one of them and delete that copy", h.from)
	case h.to != 0 && h.to != t.o.Node:
		return h, refuse(RefusedNode, "node %d was looked for, and this is node %d", h.to, t.o.Node)
	case h.oldest > t.o.Newest:
		return h, refuse(RefusedVersion, "the program of node %d needs version %d of the cluster, and this one knows up to %d: this node's program is too old", t.o.Node, h.oldest, t.o.Newest)
	case h.newest < t.o.Oldest:
		return h, refuse(RefusedVersion, "the program of node %d knows version %d of the cluster at most, and this one needs %d: the program of node %d is too old", h.from, h.newest, t.o.Oldest, h.from)
	}
	if err := t.judge(h.from, h.incarnation); err != nil {
		if refused, is := errors.AsType[*RefusedError](err); is {
			return h, refused
		}
		return h, refuse(RefusedMember, "%v", err)
	}
	return h, t.meet(h.from, h.incarnation, h.life, h.newest, h.address)
}

// room takes a place for a connection, and leave gives it back.
func (t *Transport) room(p purpose) bool {
	switch p {
	case forSnapshot:
		select {
		case t.snapshots <- struct{}{}:
		default:
			return false
		}
	case forClient:
		if t.clients.Add(1) > clientsMax {
			t.clients.Add(-1)
			return false
		}
	}
	return true
}

func (t *Transport) leave(p purpose) {
	switch p {
	case forSnapshot:
		<-t.snapshots
	case forClient:
		t.clients.Add(-1)
	}
}

// serve serves a node that was welcomed.
func (t *Transport) serve(c *tls.Conn, h *hello) {
	switch h.purpose {
	case forRaft, forCalls:
		l := t.newLink(c, h.from, false)
		if !t.attach(l, h.life) {
			return
		}
		defer t.detach(l)
		l.onPing = func() error { return t.judge(h.from, h.incarnation) }
		take := l.takeMessage
		if h.purpose == forCalls {
			s := newCallServer(l)
			defer s.close()
			take = s.take
		}
		cause := l.run(take)
		t.log.Debug("a link from a node has ended", "node", h.from, "why", cause)
	case forSnapshot:
		t.receiveSnapshot(c, h)
	case forClient:
		t.metrics.ClientsIn.Inc()
		client := &clientConn{Conn: c, peer: clientAddr(h)}
		defer t.adopt(h.from, client)()
		t.o.Handler.Client(h.from, client)
	}
}

// takeMessage hands a raft message on.
func (l *link) takeMessage(k kind, payload []byte) error {
	if k != kindMessage {
		return fmt.Errorf("a frame of kind %d that does not belong here", k)
	}
	region, message, err := cutNumber(payload)
	if err != nil {
		return err
	}
	l.t.metrics.ReceivedMessages.Inc()
	if l.t.suspect.Load() {
		l.t.metrics.Drops.Inc()
		return nil
	}
	l.t.o.Handler.Raft(l.node, region, message)
	return nil
}

// join answers a node without a certificate.
func (t *Transport) join(c *tls.Conn) {
	answer := func(status byte, b []byte) {
		// The connection is closed behind it, whether or not it arrives.
		_, _ = c.Write(appendFrame(nil, kindReply, []byte{status}, b))
	}
	k, request, err := readFrame(c, joinBytesMax)
	if err != nil || k != kindRequest {
		return
	}
	select {
	case t.joins <- struct{}{}:
		defer func() { <-t.joins }()
	default:
		answer(statusBusy, nil)
		return
	}
	if err := c.SetDeadline(clock.Now().Add(t.delays.join)); err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(t.ctx, t.delays.join)
	defer cancel()
	reply, err := t.o.Join(ctx, c.RemoteAddr(), request)
	if err != nil {
		answer(statusFailure, []byte(err.Error()))
		return
	}
	answer(statusOK, reply)
}
