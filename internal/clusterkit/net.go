package clusterkit

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"sync"

	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/store"
)

const (
	// queueMax is how many messages wait between two stores; further ones are dropped.
	queueMax = 4096
)

// errCut ends a snapshot over a link that was cut.
var errCut = errors.New("clusterkit: the link is cut")

// Net carries messages between stores of this process. It is safe for concurrent use.
type Net struct {
	mu     sync.Mutex // guards what follows
	rng    *rand.Rand
	stores map[uint64]*store.Store
	queues map[[2]uint64]chan parcel
	cut    map[[2]uint64]bool
	lost   map[kvapi.RegionID]map[uint64]bool
	mute   map[uint64]bool
	// drop and double are percentages of messages that are lost or arrive twice.
	drop, double int
	closed       chan struct{}
	running      sync.WaitGroup
}

type parcel struct {
	region  kvapi.RegionID
	message []byte
}

// NewNet returns a net without stores.
func NewNet(seed uint64) *Net {
	return &Net{rng: rand.New(rand.NewPCG(seed, 7)), stores: map[uint64]*store.Store{}, queues: map[[2]uint64]chan parcel{},
		cut: map[[2]uint64]bool{}, lost: map[kvapi.RegionID]map[uint64]bool{}, mute: map[uint64]bool{}, closed: make(chan struct{})}
}

// link is what one store sends by. It implements replica.Transport.
type link struct {
	n    *Net
	from uint64
}

// Faults sets the percentages of messages that are lost, and that arrive twice.
func (n *Net) Faults(drop, double int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.drop, n.double = drop, double
}

// Cut lets nothing through from one store to another, or with false everything.
func (n *Net) Cut(from, to uint64, cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut[[2]uint64{from, to}] = cut
}

// Isolate cuts a store off in both directions, or with false connects it.
func (n *Net) Isolate(id uint64, cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for other := range n.stores {
		n.cut[[2]uint64{id, other}], n.cut[[2]uint64{other, id}] = cut, cut
	}
}

// IsolateIn cuts a store off from the others in one region alone, or with false connects it.
func (n *Net) IsolateIn(region kvapi.RegionID, id uint64, cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lost[region] == nil {
		n.lost[region] = map[uint64]bool{}
	}
	n.lost[region][id] = cut
}

// Mute drops what a store sends.
func (n *Net) Mute(id uint64, mute bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mute[id] = mute
}

// set makes a store known, or with nil unknown.
func (n *Net) set(id uint64, s *store.Store) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stores[id] = s
}

// way returns the store that a message of a region reaches, nil if none.
func (n *Net) way(region kvapi.RegionID, from, to uint64) *store.Store {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut[[2]uint64{from, to}] || n.mute[from] || n.lost[region][from] || n.lost[region][to] {
		return nil
	}
	return n.stores[to]
}

// Send implements replica.Transport.
func (l link) Send(to uint64, region kvapi.RegionID, message []byte) {
	n := l.n
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-n.closed:
		return
	default:
	}
	if n.mute[l.from] {
		return
	}
	key := [2]uint64{l.from, to}
	q := n.queues[key]
	if q == nil {
		q = make(chan parcel, queueMax)
		n.queues[key] = q
		n.running.Go(func() { n.deliver(key, q) })
	}
	copies := 1
	switch p := n.rng.IntN(100); {
	case p < n.drop:
		copies = 0
	case p < n.drop+n.double:
		copies = 2
	}
	for range copies {
		select {
		case q <- parcel{region, message}:
		default:
		}
	}
}

func (n *Net) deliver(key [2]uint64, q chan parcel) {
	for {
		select {
		case <-n.closed:
			return
		case p := <-q:
			if s := n.way(p.region, key[0], key[1]); s != nil {
				_ = s.Receive(key[0], p.region, p.message) // who sends is this product, too
			}
		}
	}
}

// stream is a snapshot on its way.
type stream struct {
	n        *Net
	region   kvapi.RegionID
	from, to uint64
	w        *io.PipeWriter
	ctx      context.Context
	done     chan error
}

// Snapshot implements replica.Transport.
func (l link) Snapshot(ctx context.Context, to uint64, region kvapi.RegionID) (io.WriteCloser, error) {
	s := l.n.way(region, l.from, to)
	if s == nil {
		return nil, errCut
	}
	r, w := io.Pipe()
	out := &stream{n: l.n, region: region, from: l.from, to: to, w: w, ctx: ctx, done: make(chan error, 1)}
	go func() {
		err := s.ReceiveSnapshot(l.from, region, r)
		_ = r.CloseWithError(errors.Join(err, io.ErrClosedPipe))
		out.done <- err
	}()
	return out, nil
}

// Write implements io.Writer.
func (s *stream) Write(b []byte) (int, error) {
	if s.n.way(s.region, s.from, s.to) == nil {
		_ = s.w.CloseWithError(errCut)
		return 0, errCut
	}
	return s.w.Write(b)
}

// Close implements io.Closer.
func (s *stream) Close() error {
	_ = s.w.CloseWithError(s.ctx.Err()) // nil is the end of the stream
	return <-s.done
}

// Close ends the goroutines.
func (n *Net) Close() {
	n.mu.Lock()
	close(n.closed)
	n.mu.Unlock()
	n.running.Wait()
}
