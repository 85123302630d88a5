package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"

	"github.com/pandodb/pando/clock"
)

// dial connects to a node, at one of the places where it may be, and returns once it has welcomed this one. The connection is tracked.
func (t *Transport) dial(ctx context.Context, node uint64, h hello) (net.Conn, *welcome, error) {
	places := t.places(node)
	if len(places) == 0 {
		return nil, nil, fmt.Errorf("node %d is no member of the cluster: %w", node, ErrUnreachable)
	}
	var faults []error
	for _, address := range places {
		c, w, err := t.dialAt(ctx, node, address, h)
		if err == nil {
			t.metrics.Connects.Inc()
			return c, w, nil
		}
		faults = append(faults, err)
		if _, refused := errors.AsType[*RefusedError](err); refused || ctx.Err() != nil {
			break // it is the right one, and its answer would be the same elsewhere
		}
	}
	t.metrics.DialFailures.Inc()
	return nil, nil, fmt.Errorf("%w: node %d: %w", ErrUnreachable, node, errors.Join(faults...))
}

// dialAt is dial at one address. Node 0 is whoever is there.
func (t *Transport) dialAt(ctx context.Context, node uint64, address string, h hello) (net.Conn, *welcome, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*t.delays.dial)
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)() // so that Close need not wait for it
	raw, err := (&net.Dialer{Timeout: t.delays.dial, KeepAliveConfig: keepAlive}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, nil, explain(err, address)
	}
	c := tls.Client(raw, t.clientConfig(node))
	if !t.track(c) {
		return nil, nil, ErrClosed
	}
	cancelled := context.AfterFunc(ctx, func() { _ = raw.Close() }) // which ends the handshake
	w, err := t.greet(c, node, h)
	if !cancelled() && err == nil {
		err = ctx.Err()
	}
	if node != 0 {
		t.twin(node, err != nil && w != nil && w.verdict == RefusedTwin)
	}
	if err != nil {
		t.forget(c)
		return nil, nil, explain(err, address)
	}
	return c, w, nil
}

// greet shakes hands. A welcome is returned with an error too, if it was the other who refused.
func (t *Transport) greet(c *tls.Conn, node uint64, h hello) (*welcome, error) {
	if err := c.SetDeadline(clock.Now().Add(t.delays.dial)); err != nil {
		return nil, err
	}
	if err := c.Handshake(); err != nil {
		return nil, err
	}
	there, err := nodeOf(c.ConnectionState().PeerCertificates[0], t.o.Cluster)
	if err != nil {
		return nil, err
	}
	h.cluster, h.from, h.to, h.incarnation, h.life = t.o.Cluster, t.o.Node, node, t.o.Incarnation(), t.life
	h.oldest, h.newest, h.address = t.o.Oldest, t.o.Newest, t.o.Advertise
	_, writeErr := c.Write(appendFrame(nil, kindHello, h.append(nil), nil))
	k, payload, err := readFrame(c, helloBytesMax) // also if that failed: an alert says why
	if err != nil {
		return nil, errors.Join(err, writeErr)
	}
	if k != kindWelcome {
		return nil, refuse(RefusedFormat, "the node answers with a frame of kind %d", k)
	}
	w, err := decodeWelcome(payload)
	if err != nil {
		return nil, err
	}
	if w.verdict != 0 {
		return w, &RefusedError{Reason: w.verdict, Text: fmt.Sprintf("node %d refuses: %s", there, w.reason), By: there}
	}
	if w.cluster != t.o.Cluster || w.node != there {
		return nil, refuse(RefusedNode, "it says that it is node %d, and its certificate is of node %d", w.node, there)
	}
	if w.version < t.o.Oldest || w.version > t.o.Newest {
		return nil, refuse(RefusedVersion, "node %d chose version %d, of %d to %d", there, w.version, t.o.Oldest, t.o.Newest)
	}
	if err := t.judge(there, w.incarnation); err != nil {
		return nil, refuse(RefusedMember, "%v", err)
	}
	if refused := t.meet(there, w.incarnation, w.life, 0, w.address); refused != nil {
		t.say(fmt.Sprintf("met %d %d", there, refused.Reason), slog.LevelError, "a node is not spoken to", "node", there, "reason", refused.Text)
		return nil, refused
	}
	t.rumours(w.others)
	return w, c.SetDeadline(noDeadline)
}

// Contact finds out which node is at an address. Both know the other's place from then on.
func (t *Transport) Contact(ctx context.Context, address string) (node uint64, err error) {
	c, w, err := t.dialAt(ctx, 0, address, hello{purpose: forContact})
	if refused, is := errors.AsType[*RefusedError](err); is && refused.Reason == RefusedNode {
		return t.o.Node, nil
	}
	if err != nil {
		return 0, err
	}
	t.forget(c)
	return w.node, nil
}

// Ask sends the request of a node that has no certificate to a member's address and returns the answer. The member must show a certificate of
// the authority with this fingerprint. An error that the member answers is a *RemoteError.
func Ask(ctx context.Context, address string, fingerprint, request []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, defaultDelays.join)
	defer cancel()
	raw, err := (&net.Dialer{Timeout: defaultDelays.dial}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, explain(err, address)
	}
	c := tls.Client(raw, pinnedConfig(fingerprint))
	defer func() { _ = c.Close() }() // everything has been said
	defer context.AfterFunc(ctx, func() { _ = raw.Close() })()
	if err := c.HandshakeContext(ctx); err != nil {
		return nil, explain(err, address)
	}
	if _, err := c.Write(appendFrame(nil, kindRequest, request, nil)); err != nil {
		return nil, explain(err, address)
	}
	k, payload, err := readFrame(c, joinBytesMax)
	if err == nil && (k != kindReply || len(payload) == 0) {
		err = io.ErrUnexpectedEOF
	}
	switch {
	case err != nil:
		return nil, explain(err, address)
	case payload[0] == statusBusy:
		return nil, fmt.Errorf("%s: %w", address, ErrBusy)
	case payload[0] != statusOK:
		return nil, &RemoteError{string(payload[1:])}
	}
	return payload[1:], nil
}

// Probe reports why nobody can be connected to at an address, nil if somebody can.
func Probe(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, defaultDelays.dial)
	defer cancel()
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return explain(err, address)
	}
	return raw.Close()
}
