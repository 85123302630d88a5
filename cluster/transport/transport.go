package transport

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
)

// Transport is a node's end of all connections to other nodes. It is safe for concurrent use.
type Transport struct {
	o           Options
	delays      delays
	log         *slog.Logger
	life        uint64
	authorities *x509.CertPool
	server      *tls.Config

	metrics   Metrics
	sayings   sayings
	strangers strangers
	joins     chan struct{} // places of joinsMax
	snapshots chan struct{} // places of snapshotsMax
	clients   atomic.Int64

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	wg   sync.WaitGroup // all goroutines

	mu         sync.Mutex // guards what follows; a leaf
	closed     bool
	conns      map[net.Conn]struct{}
	peers      map[uint64]*peer
	neighbours map[uint64]*neighbour
	told       map[uint64]struct{} // nodes that say that this one is a twin
	toldSince  time.Duration

	suspect atomic.Bool // told is not empty
}

// Listen starts a transport. The caller must Close it.
func Listen(o Options) (*Transport, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Limits.QueueBytes = cmp.Or(o.Limits.QueueBytes, queueBytesMax)
	o.Limits.QueueFrames = cmp.Or(o.Limits.QueueFrames, queueFramesMax)
	var life [8]byte
	if _, err := rand.Read(life[:]); err != nil {
		return nil, err
	}
	t := &Transport{o: o, delays: defaultDelays, log: o.Logger, life: binary.BigEndian.Uint64(life[:]), authorities: x509.NewCertPool(),
		joins: make(chan struct{}, joinsMax), snapshots: make(chan struct{}, snapshotsMax), conns: map[net.Conn]struct{}{},
		peers: map[uint64]*peer{}, neighbours: map[uint64]*neighbour{}, told: map[uint64]struct{}{}}
	if o.delays != nil {
		t.delays = *o.delays
	}
	t.authorities.AddCert(o.Authority)
	t.server = t.serverConfig()
	t.ctx, t.stop = context.WithCancel(context.Background())
	t.wg.Go(t.accept)
	if len(o.Hints) > 0 {
		t.wg.Go(t.followHints)
	}
	return t, nil
}

// Close ends all connections and goroutines. Handlers' contexts and readers end with it.
func (t *Transport) Close() error {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return ErrClosed
	}
	t.closed = true
	conns := t.conns
	t.conns = nil
	t.mu.Unlock()
	t.stop()
	err := t.o.Listener.Close()
	for c := range conns {
		_ = c.Close() // it is what ends its goroutine
	}
	t.wg.Wait()
	return err
}

// Addr is where the transport listens.
func (t *Transport) Addr() net.Addr { return t.o.Listener.Addr() }

// track notes an open connection, so that Close ends it. It closes the connection if that has begun.
func (t *Transport) track(c net.Conn) bool {
	t.mu.Lock()
	open := !t.closed
	if open {
		t.conns[c] = struct{}{}
	}
	t.mu.Unlock()
	if !open {
		_ = c.Close() // nothing was said
	}
	return open
}

// forget closes a tracked connection.
func (t *Transport) forget(c net.Conn) {
	t.mu.Lock()
	delete(t.conns, c)
	t.mu.Unlock()
	_ = c.Close() // whoever uses it has ended
}

// spawn starts a goroutine that Close waits for, unless Close has begun.
func (t *Transport) spawn(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.wg.Go(f)
	return true
}

// pause waits, and reports whether the transport is still open.
func (t *Transport) pause(d time.Duration) bool {
	timer := clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-t.ctx.Done():
		return false
	}
}

// followHints contacts each hint until a node answers there, and then each node that was only heard of: so all learn where this one is.
func (t *Transport) followHints() {
	open := slices.Clone(t.o.Hints)
	for wait := t.delays.retryMin; ; wait = min(2*wait, 10*t.delays.retryMax) {
		open = slices.DeleteFunc(open, func(address string) bool {
			_, err := t.Contact(t.ctx, address)
			if err != nil && t.ctx.Err() == nil {
				t.say("hint "+address, slog.LevelWarn, "no node of the cluster answers where one was said to be", "address", address, "error", err)
			}
			return err == nil
		})
		unmet := t.unmet()
		for _, p := range unmet {
			_, _ = t.Contact(t.ctx, p.address) // it is tried again, and whoever sends to that node hears why it fails
		}
		if len(open) == 0 && len(unmet) == 0 || !t.pause(wait) {
			return
		}
	}
}

// Status is what a transport knows of another node.
type Status struct {
	Node uint64
	// Address is where it was reached last, or would be looked for.
	Address string
	// Connected: a link to it or from it is alive.
	Connected bool
	// Heard is when it was last heard, by clock.Mono; zero for never.
	Heard time.Duration
	// RTT is the time that the last ping took.
	RTT time.Duration
	// Incarnation and Newest are what it said of itself.
	Incarnation, Newest uint64
	// Reason is why it cannot be reached, empty if it can.
	Reason string
	// Final is why it has refused this node, when it was asked last, if the reason is one that stays.
	Final string
}

// Alive reports whether a node speaks with this one, and in which incarnation.
func (t *Transport) Alive(node uint64) (incarnation uint64, alive bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.neighbours[node]
	if n == nil || !t.alive(n) {
		return 0, false
	}
	return n.incarnation, true
}

// Nodes returns what is known of all nodes that were spoken to or of, in the order of their numbers.
func (t *Transport) Nodes() []Status {
	t.mu.Lock()
	list := map[uint64]*Status{}
	for id, n := range t.neighbours {
		list[id] = &Status{Node: id, Address: n.address, Heard: time.Duration(n.heard.Load()), Connected: t.alive(n), Incarnation: n.incarnation, Newest: n.newest}
	}
	peers := make([]*peer, 0, len(t.peers))
	for _, p := range t.peers {
		peers = append(peers, p)
	}
	t.mu.Unlock()
	for _, p := range peers {
		s := list[p.node]
		if s == nil {
			s = &Status{Node: p.node}
			list[p.node] = s
		}
		s.RTT = time.Duration(p.rtt.Load())
		s.Reason, s.Final = p.reason()
	}
	out := make([]Status, 0, len(list))
	for id, s := range list {
		if s.Address == "" {
			s.Address, _ = t.o.Addresses(id)
		}
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Status) int {
		if a.Node < b.Node {
			return -1
		}
		return 1
	})
	return out
}
