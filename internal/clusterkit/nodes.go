package clusterkit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/store"
)

// FirstJoined is the id of the second store of a cluster; further ones follow. Ids of stores are never those of peers.
const FirstJoined = 1_000_001

// NodesOptions say how Nodes are made.
type NodesOptions struct {
	Seed uint64
	// Tune may change the options of a store that is opened.
	Tune   func(*store.Options)
	Engine engine.Options
	// Disk may put something between the engine of a store and its files.
	Disk   func(id uint64, fs engine.FS) engine.FS
	Logger *slog.Logger
}

// Nodes are stores of one cluster in this process: what the server does of elections and take-overs is done here.
type Nodes struct {
	o   NodesOptions
	Net *Net
	all []*StoreNode
	// Fatal is the first failure that an engine told of.
	Fatal atomic.Pointer[string]
}

// StoreNode is one of them.
type StoreNode struct {
	n      *Nodes
	ID     uint64
	FS     *engine.MemFS
	Engine *engine.Engine
	Store  *store.Store

	mu      sync.Mutex // guards what follows
	up      bool
	serving bool
	stop    chan struct{}
	done    sync.WaitGroup
}

// NewNodes starts n stores: the first begins the cluster, the others join it and have copies of all regions, which are cut at the bounds.
func NewNodes(ctx context.Context, n int, o NodesOptions, cuts ...[]byte) (ns *Nodes, err error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	ns = &Nodes{o: o, Net: NewNet(o.Seed)}
	for i := range n {
		node := &StoreNode{n: ns, ID: store.FirstID, FS: engine.NewMemFS()}
		if i > 0 {
			node.ID = FirstJoined + uint64(i) - 1
		}
		ns.all = append(ns.all, node)
		if err := node.open(i > 0); err != nil {
			return ns, err
		}
	}
	first := ns.all[0]
	if err := first.Store.Promote(); err != nil {
		return ns, err
	}
	first.follow()
	for _, cut := range cuts {
		if err := first.Store.Split(cut); err != nil {
			return ns, err
		}
	}
	stores := make([]uint64, n)
	for i, node := range ns.all {
		stores[i] = node.ID
	}
	return ns, ns.Place(ctx, stores...)
}

// Node returns one of the nodes.
func (ns *Nodes) Node(i int) *StoreNode { return ns.all[i] }

// Len returns how many there are.
func (ns *Nodes) Len() int { return len(ns.all) }

// Place gives every region voters on these stores, and takes those elsewhere away.
func (ns *Nodes) Place(ctx context.Context, stores ...uint64) error {
	for {
		g := ns.Gateway()
		done := g != nil
		var err error
		if g != nil {
			done, err = place(ctx, g.Store, stores)
		}
		if done && err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("clusterkit: place: %w", errors.Join(ctx.Err(), err))
		case <-clock.After(20 * time.Millisecond):
		}
	}
}

// place brings each region one step nearer. Region 0 comes last.
func place(ctx context.Context, s *store.Store, stores []uint64) (done bool, err error) {
	done = true
	var regions []*kvapi.Region
	for _, st := range s.RegionStatuses() {
		regions = append(regions, st.Region)
	}
	if st := s.MetaStatus(); st != nil {
		regions = append(regions, st.Region)
	}
	for _, r := range regions {
		next, ready := step(r, stores)
		if ready {
			continue
		}
		done = false
		if e := s.ChangePeers(ctx, r.ID, next); e != nil {
			err = errors.Join(err, fmt.Errorf("region %d: %w", r.ID, e))
		}
	}
	return done, err
}

// step returns the next list of peers: first learners where there is nothing yet, one by one, then all votes in one joint change.
func step(r *kvapi.Region, stores []uint64) (next []kvapi.Peer, ready bool) {
	ready = true
	wanted := map[uint64]bool{}
	for _, id := range stores {
		wanted[id] = true
		if _, there := r.On(id); !there {
			return append(append(next, r.Peers...), kvapi.Peer{Store: id, Learner: true}), false
		}
	}
	for _, p := range r.Peers {
		switch {
		case !wanted[p.Store]:
			ready = false
		default:
			ready = ready && !p.Learner
			p.Learner = false
			next = append(next, p)
		}
	}
	return next, ready
}

// open opens the node's store.
func (n *StoreNode) open(join bool) (err error) {
	o := n.n.o.Engine
	o.Dir, o.FS = "d", n.FS
	if o.CacheBytes == 0 {
		o.CacheBytes, o.MemTableBytes, o.LowSpaceBytes, o.BallastBytes = 8<<20, 1<<20, engine.NoSpace, engine.NoSpace
	}
	if n.n.o.Disk != nil {
		o.FS = n.n.o.Disk(n.ID, n.FS)
	}
	o.Fatal = func(reason string) { n.n.Fatal.CompareAndSwap(nil, &reason) }
	if n.Engine, err = engine.Open(o); err != nil {
		return err
	}
	so := store.Options{Engine: n.Engine, ID: n.ID, Transport: link{n.n.Net, n.ID}, Join: join, RowCacheBytes: 1 << 20, GCInterval: 50 * time.Millisecond,
		Logger: n.n.o.Logger.With("node", n.ID)}
	if n.n.o.Tune != nil {
		n.n.o.Tune(&so)
	}
	if n.Store, err = store.Open(so); err != nil {
		return errors.Join(err, n.Engine.Close())
	}
	n.n.Net.set(n.ID, n.Store)
	n.mu.Lock()
	n.up, n.stop = true, make(chan struct{})
	n.mu.Unlock()
	if n.Store.Cluster() != nil {
		n.follow()
	}
	return nil
}

// follow starts the goroutine that makes the node the gateway when it is its turn.
func (n *StoreNode) follow() {
	s, stop := n.Store, n.stop
	n.done.Go(func() {
		for {
			_, here, _, changed := s.Role()
			if here {
				ctx, cancel := context.WithCancel(context.Background())
				n.done.Go(func() {
					select {
					case <-stop:
					case <-ctx.Done():
					}
					cancel()
				})
				err := s.TakeOver(ctx)
				if err == nil {
					lost := s.Lost()
					n.serve(true)
					select {
					case <-stop:
					case <-lost:
					}
					n.serve(false)
				}
				cancel()
				s.StepDown()
			}
			select {
			case <-stop:
				return
			case <-changed:
			case <-clock.After(100 * time.Millisecond):
			}
		}
	})
}

func (n *StoreNode) serve(on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.serving = on
}

// Serves reports whether the node is the gateway.
func (n *StoreNode) Serves() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.up && n.serving
}

// Up reports whether the node runs.
func (n *StoreNode) Up() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.up
}

// Gateway returns a node that takes itself for the gateway, nil if there is none. For a moment there may be two.
func (ns *Nodes) Gateway() *StoreNode {
	for _, n := range ns.all {
		if n.Serves() {
			return n
		}
	}
	return nil
}

// Stop ends a node that runs. crash, if not nil, makes of its files what a power loss would leave of them: nothing that is done after that counts.
func (n *StoreNode) Stop(crash func(*engine.MemFS) *engine.MemFS) error {
	n.mu.Lock()
	if !n.up {
		n.mu.Unlock()
		return nil
	}
	n.up = false
	n.mu.Unlock()
	n.n.Net.set(n.ID, nil)
	if crash != nil {
		// What is sent from here on would come from a node that is dead.
		n.n.Net.Mute(n.ID, true)
		n.FS = crash(n.FS)
	}
	close(n.stop)
	n.done.Wait()
	err := errors.Join(n.Store.Close(), n.Engine.Close())
	n.n.Net.Mute(n.ID, false)
	return err
}

// Start opens a node that was stopped.
func (n *StoreNode) Start() error { return n.open(false) }

// Close ends all nodes.
func (ns *Nodes) Close() (err error) {
	for _, n := range ns.all {
		err = errors.Join(err, n.Stop(nil))
	}
	ns.Net.Close()
	if f := ns.Fatal.Load(); f != nil {
		err = errors.Join(err, errors.New(*f))
	}
	return err
}
