package transport

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
)

// peer is a node to which something was sent.
type peer struct {
	t    *Transport
	node uint64
	wake chan struct{} // has room for one: there is something to send, and no link
	rtt  atomic.Int64

	mu       sync.Mutex // guards what follows; taken before Transport.mu and outbox.mu
	link     *link      // for raft; nil without one
	waiting  outbox     // until there is one; its wake is not used
	resting  bool       // nothing is kept meanwhile
	fault    string     // why there is none
	final    string     // why it will never let this node speak, if it has said so when it was asked last
	calls    *caller    // nil without a link for calls
	dialing  chan struct{}
	callErr  error         // of the last attempt
	callTime time.Duration // when that was
}

// peer returns the entry of a node, and makes it. nil: the transport is closed, or there are too many.
func (t *Transport) peer(node uint64) *peer {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.peers[node]
	if p == nil && !t.closed && len(t.peers) < nodesMax {
		p = &peer{t: t, node: node, wake: make(chan struct{}, 1), waiting: newOutbox(t)}
		t.peers[node] = p
		t.wg.Go(p.run)
	}
	return p
}

// Send sends a raft message of a region, which is copied. It never waits: what cannot be sent is dropped.
func (t *Transport) Send(to, region uint64, message []byte) {
	p := t.peer(to)
	if p == nil || t.suspect.Load() || len(message) > frameBytesMax-binary.MaxVarintLen64 {
		t.metrics.Drops.Inc()
		if p != nil {
			p.knock() // a twin has to find out whether it still is one
		}
		return
	}
	var head [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(head[:], region)
	p.mu.Lock()
	out, resting := &p.waiting, p.resting
	if p.link != nil {
		out = &p.link.out
	}
	sent := !resting && out.put(kindMessage, head[:n], message)
	linked := p.link != nil
	p.mu.Unlock()
	switch {
	case !sent:
		t.metrics.Drops.Inc()
	default:
		t.metrics.SentMessages.Inc()
		if !linked {
			p.knock()
		}
	}
}

func (p *peer) knock() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// reason is why there is no link, empty with one or if none was wanted.
func (p *peer) reason() (text, final string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault, p.final
}

// heard notes what the last attempt to connect has shown.
func (p *peer) heard(err error) {
	final := ""
	if refused, is := errors.AsType[*RefusedError](err); is && refused.final() {
		final = refused.Text
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.final = final
}

// run keeps a link for raft messages from the first message on.
func (p *peer) run() {
	wait, connected := p.t.delays.retryMin, false
	for {
		select {
		case <-p.wake:
		case <-p.t.ctx.Done():
			return
		}
		c, w, err := p.t.dial(p.t.ctx, p.node, hello{purpose: forRaft})
		p.heard(err)
		if err == nil {
			if connected {
				p.t.metrics.Reconnects.Inc()
			}
			connected, wait = true, p.t.delays.retryMin
			err = p.use(c, w)
			p.t.forget(c)
		}
		if p.t.ctx.Err() != nil {
			return
		}
		p.rest(err)
		p.report(err, c != nil)
		if !p.t.pause(wait) {
			return
		}
		wait = min(2*wait, p.t.delays.retryMax)
		p.mu.Lock()
		p.resting = false
		p.mu.Unlock()
		if p.t.suspect.Load() {
			p.knock()
		}
	}
}

// report logs why there is no link to the node: one attempt of many, but each kind of fault.
func (p *peer) report(err error, linked bool) {
	refused, isRefused := errors.AsType[*RefusedError](err)
	switch {
	case isRefused:
		p.t.say(fmt.Sprintf("refused by %d %d", p.node, refused.Reason), slog.LevelError, "a node refuses this one", "node", p.node, "reason", refused.Text)
	case linked:
		p.t.say(fmt.Sprintf("ended %d %t", p.node, errors.Is(err, errSilent)), slog.LevelWarn, "the connection to a node has ended", "node", p.node, "reason", err)
	default:
		p.t.say(fmt.Sprintf("unreachable %d", p.node), slog.LevelWarn, "a node is not reachable", "node", p.node, "reason", err)
	}
}

// rest drops what waits, and what comes until the next attempt.
func (p *peer) rest(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.t.metrics.Drops.Add(uint64(p.waiting.clear()))
	p.resting, p.fault = true, why.Error()
}

// use sends over a link until it ends.
func (p *peer) use(c net.Conn, w *welcome) error {
	l := p.t.newLink(c, p.node, true)
	l.onRTT = func(d time.Duration) {
		p.rtt.Store(int64(d))
		p.t.metrics.RTT.ObserveDuration(d)
	}
	if !p.t.attach(l, w.life) {
		return errLife
	}
	defer p.t.detach(l)
	p.mu.Lock()
	l.out.buf, l.out.frames = p.waiting.buf, p.waiting.frames
	p.waiting.buf, p.waiting.frames = nil, 0
	p.link, p.fault = l, ""
	p.mu.Unlock()
	p.t.log.Info("connected to a node", "node", p.node, "address", c.RemoteAddr().String(), "version", w.version)
	cause := l.run(func(k kind, _ []byte) error { return fmt.Errorf("a frame of kind %d that does not belong here", k) })
	p.mu.Lock()
	p.link = nil
	p.mu.Unlock()
	p.t.metrics.Drops.Add(uint64(l.out.clear()))
	return cause
}

// callLink returns the link for calls, and makes it if need be: one attempt at a time, whose failure holds for a while.
func (p *peer) callLink(ctx context.Context) (*caller, error) {
	for {
		p.mu.Lock()
		if c := p.calls; c != nil {
			p.mu.Unlock()
			return c, nil
		}
		if p.callErr != nil && clock.Since(p.callTime) < p.t.delays.retryMin {
			defer p.mu.Unlock()
			return nil, p.callErr
		}
		done := p.dialing
		if done == nil {
			done = make(chan struct{})
			p.dialing = done
			if !p.t.spawn(func() { p.connectCalls(done) }) {
				p.dialing = nil
				p.mu.Unlock()
				return nil, ErrClosed
			}
		}
		p.mu.Unlock()
		select {
		case <-done:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: node %d: %w", ErrUnreachable, p.node, ctx.Err())
		case <-p.t.ctx.Done():
			return nil, ErrClosed
		}
	}
}

// connectCalls makes the link for calls and keeps it until it ends.
func (p *peer) connectCalls(done chan struct{}) {
	conn, w, err := p.t.dial(p.t.ctx, p.node, hello{purpose: forCalls})
	p.heard(err)
	var c *caller
	if err == nil {
		defer p.t.forget(conn)
		c = newCaller(p.t.newLink(conn, p.node, true))
		if !p.t.attach(c.link, w.life) {
			c, err = nil, fmt.Errorf("%w: node %d: %w", ErrUnreachable, p.node, errLife)
		}
	}
	p.mu.Lock()
	p.calls, p.callErr, p.callTime, p.dialing = c, err, clock.Mono(), nil
	p.mu.Unlock()
	close(done)
	if c == nil {
		return
	}
	defer p.t.detach(c.link)
	cause := c.link.run(c.take)
	p.mu.Lock()
	p.calls = nil
	p.mu.Unlock()
	c.fail(fmt.Errorf("%w: node %d: %w", ErrUnreachable, p.node, cause))
}
