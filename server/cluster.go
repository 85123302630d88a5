package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/cluster/identity"
	"github.com/pandodb/pando/cluster/transport"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/placement/meta"
	"github.com/pandodb/pando/store"
)

const (
	// registerEvery is how often this node registers itself in the cluster, registerPause the pause after an attempt that failed.
	registerPause, registerEvery = time.Second, 10 * time.Second
	// registerMax bounds an attempt, foundMax the creation of an authority.
	registerMax, foundMax = 5 * time.Second, 10 * time.Second
	// refusedTimes is after how many registrations in a row that found it refused for ever by a majority this node stops.
	refusedTimes = 3
	// whoKept is how long another node's reply about who is the gateway is used.
	whoKept = time.Second
)

// clusterPart is the state of a node that concerns its cluster.
type clusterPart struct {
	listener net.Listener // for other nodes, nil without cluster-listen
	desk     *identity.Desk
	link     atomic.Pointer[transport.Transport] // nil until the node is a member
	role     sync.Once                           // starts keepRole

	mu     sync.Mutex  // guards member, and is held while it is saved
	member *membership // nil while the node is not a member of a cluster

	asking    sync.Mutex    // guards told and toldSince, and is held while other nodes are asked
	told      uint64        // the gateway, according to another node
	toldSince time.Duration // by clock.Mono
}

// transport returns the transport to other nodes, nil until this node is a member of a cluster.
func (n *Node) transport() *transport.Transport { return n.cluster.link.Load() }

// carrier is the store's replica.Transport: it sends by the node's transport, once there is one, and drops messages before.
type carrier Node

// Send implements replica.Transport.
func (c *carrier) Send(to uint64, region kvapi.RegionID, message []byte) {
	if t := (*Node)(c).transport(); t != nil {
		t.Send(to, uint64(region), message)
	}
}

// Snapshot implements replica.Transport.
func (c *carrier) Snapshot(ctx context.Context, to uint64, region kvapi.RegionID) (io.WriteCloser, error) {
	t := (*Node)(c).transport()
	if t == nil {
		return nil, transport.ErrClosed
	}
	return t.Snapshot(ctx, to, uint64(region))
}

// receiver is the transport's Handler.
type receiver Node

// Raft implements transport.Handler.
func (r *receiver) Raft(from, region uint64, message []byte) {
	if err := r.store.Receive(from, kvapi.RegionID(region), message); err != nil {
		r.log.Warn("a message of another node cannot be read", "node", from, "region", region, "error", err)
	}
}

// Snapshot implements transport.Handler.
func (r *receiver) Snapshot(from, region uint64, in io.Reader) error {
	if err := r.store.ReceiveSnapshot(from, kvapi.RegionID(region), in); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, in) // up to io.EOF, which confirms that the snapshot is complete
	return err
}

// Call implements transport.Handler.
func (r *receiver) Call(ctx context.Context, from uint64, kind byte, payload []byte) ([]byte, error) {
	switch {
	case kind == kindFacts:
		return encodeFacts((*Node)(r).ownFacts())
	case kind > identity.KindLast:
		return nil, fmt.Errorf("a call of kind %d", kind)
	}
	return r.cluster.desk.Call(ctx, from, kind, payload)
}

// Client implements transport.Handler.
func (r *receiver) Client(_ uint64, conn net.Conn) { (*Node)(r).serveHanded(conn) }

// findMembership loads the directory's membership, or joins a cluster if the options say so. id is the store's, 0 for a new directory. It
// returns the id that the store has or is to get, 0 if it is free.
func (n *Node) findMembership(ctx context.Context, id uint64) (uint64, error) {
	o := &n.options
	m, err := loadMembership(o.DataDir)
	if err != nil {
		return 0, err
	}
	switch joined := m != nil && m.Node != 0; {
	case joined && id != 0 && m.Node != id:
		return 0, fmt.Errorf("%s is of node %d and holds the store of node %d: parts of two directories were mixed", o.DataDir, m.Node, id)
	case joined:
		n.cluster.member = m
		return m.Node, nil
	case id != 0 && o.Join != "":
		return 0, fmt.Errorf("--join: %s holds data of its own already; a cluster is joined with an empty directory", o.DataDir)
	case m != nil && o.Join == "":
		return 0, fmt.Errorf("%s began to join a cluster, which has not taken it in: start it with --join and --join-token once more, or delete it", o.DataDir)
	case o.Join == "" && (o.JoinToken != "" || o.JoinTokenFile != ""):
		return 0, errTokenAlone
	case o.Join == "":
		return id, nil
	}
	token, err := o.joinToken()
	if err != nil {
		return 0, err
	}
	if m == nil {
		// The key is saved before it is used: if the attempt is repeated with the same key, it gets the same node id.
		seed, err := identity.NewKey()
		if err != nil {
			return 0, err
		}
		m = &membership{Seed: seed}
		if err := m.save(o.DataDir); err != nil {
			return 0, err
		}
	}
	oldest, newest := store.Versions()
	a, err := identity.Join(ctx, token, o.joinAddresses(), identity.Request{Oldest: oldest, Newest: newest, Address: n.advertised(), Program: Version}, m.Seed,
		func(address string, err error) {
			n.log.Warn("a member does not take this node in; others are asked", "address", address, "error", err)
		})
	if err != nil {
		return 0, fmt.Errorf("--join: %w", err)
	}
	m.Cluster, m.Node, m.Certificate, m.Authority, m.Members = a.Cluster, a.Node, a.Certificate, a.Authority, a.Members
	if err := m.save(o.DataDir); err != nil {
		return 0, err
	}
	n.log.Info("this node has joined a cluster", "node", m.Node, "members", len(m.Members))
	n.cluster.member = m
	return m.Node, nil
}

// joinAddresses returns the addresses of --join.
func (o *Options) joinAddresses() []string {
	return strings.FieldsFunc(o.Join, func(r rune) bool { return r == ',' || r == ' ' })
}

// advertised returns the address under which other nodes reach this one, empty if there is none.
func (n *Node) advertised() string {
	if n.options.Advertise != "" || n.cluster.listener == nil {
		return n.options.Advertise
	}
	return n.cluster.listener.Addr().String()
}

// openCluster opens the desk and, for a member of a cluster, the transport. The store is open.
func (n *Node) openCluster() error {
	c := &n.cluster
	var saved []identity.Place
	if c.member != nil {
		saved = c.member.Members
	}
	c.desk = identity.NewDesk(identity.Options{
		Node: n.store.ID(), Saved: saved, Logger: n.log, Now: n.store.Timestamp,
		View: func(f func(*meta.State)) {
			if !n.store.ViewMeta(f) {
				f(&meta.State{})
			}
		},
		Propose: func(_ context.Context, command []byte) (uint64, error) { return n.store.DoMeta(command) },
		Leader: func() uint64 {
			gateway, _, _, _ := n.store.Role()
			return gateway
		},
		Alive: func(node uint64) (incarnation uint64, alive bool) {
			if t := n.transport(); t != nil {
				return t.Alive(node)
			}
			return 0, false
		},
		Call: func(ctx context.Context, node uint64, kind byte, payload []byte) ([]byte, error) {
			if t := n.transport(); t != nil {
				return t.Call(ctx, node, kind, payload)
			}
			return nil, transport.ErrClosed
		},
	})
	if c.member == nil {
		return nil
	}
	if c.listener == nil {
		return fmt.Errorf("%s is of a node of a cluster: start it with --cluster-listen HOST:PORT, where the other nodes reach it", n.options.DataDir)
	}
	return n.openTransport(c.member)
}

// openTransport opens the transport, and starts keepRegistered.
func (n *Node) openTransport(m *membership) error {
	certificate, authority, err := identity.Credentials(m.Seed, m.Certificate, m.Authority)
	if err != nil {
		return fmt.Errorf("%s: %w", membershipName, err)
	}
	oldest, newest := store.Versions()
	t, err := transport.Listen(transport.Options{
		Listener: n.cluster.listener, Cluster: m.Cluster, Node: m.Node, Incarnation: n.store.Incarnation, Oldest: oldest, Newest: newest,
		Certificate: certificate, Authority: authority, Advertise: n.advertised(), Hints: n.options.joinAddresses(),
		Addresses: n.cluster.desk.Address, Admit: n.cluster.desk.Admit, Join: n.cluster.desk.Join,
		Handler: (*receiver)(n), Fatal: n.end, Logger: n.log,
	})
	if err != nil {
		return err
	}
	n.cluster.link.Store(t)
	n.loops.Go(n.keepRegistered)
	if n.metrics == nil {
		return nil // the status port is opened later, if there is one
	}
	return t.Metrics().Register(n.metrics)
}

// end closes n.failed, with err as the reason: the node can no longer serve. Only the first call counts.
func (n *Node) end(err error) {
	n.fail.Do(func() {
		n.failure = err
		close(n.failed)
	})
}

// found prepares a cluster of one node for others to join: it creates the authority, and this node's certificate and transport. It does
// nothing without cluster-listen, or if the node is a member already.
func (n *Node) found(ctx context.Context) error {
	c := &n.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.member != nil || c.listener == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, foundMax)
	defer cancel()
	if err := c.desk.Found(ctx); err != nil {
		return err
	}
	var a meta.Authority
	n.store.ViewMeta(func(s *meta.State) { a = s.Authority() })
	seed, err := identity.NewKey()
	if err != nil {
		return err
	}
	m := &membership{Cluster: a.Cluster, Node: n.store.ID(), Seed: seed, Authority: a.Certificate}
	if m.Certificate, err = identity.Issue(a, m.Node, identity.Public(seed)); err != nil {
		return err
	}
	if err := m.save(n.options.DataDir); err != nil {
		return err
	}
	if err := n.openTransport(m); err != nil {
		return err
	}
	c.member = m
	return n.registerNode(ctx) // tokens contain the registered address
}

// registerNode registers this node's address, incarnation and versions in region 0.
func (n *Node) registerNode(ctx context.Context) error {
	oldest, newest := store.Versions()
	return n.cluster.desk.Register(ctx, meta.Store{ID: n.store.ID(), Incarnation: n.store.Incarnation(), Oldest: oldest, Newest: newest, Address: n.advertised()})
}

// keepRegistered is the goroutine that registers this node again and again, and saves the addresses of the others in the data directory.
func (n *Node) keepRegistered() {
	said, refused := false, 0
	for {
		ctx, cancel := context.WithTimeout(context.Background(), registerMax)
		err := n.registerNode(ctx)
		cancel()
		pause := registerEvery
		if err != nil {
			pause = registerPause
			if !said {
				n.log.Warn("the cluster does not hear of this node yet; it is tried again", "error", err)
			}
		} else if err := n.rememberMembers(); err != nil {
			n.log.Warn("where other nodes are could not be kept in the directory", "error", err)
		}
		said = err != nil
		why := n.refusedForGood()
		if refused++; why == "" {
			refused = 0
		}
		if refused >= refusedTimes {
			n.end(fmt.Errorf("this node cannot be part of its cluster any more: %s", why))
			return
		}
		timer := clock.NewTimer(pause)
		select {
		case <-n.stop:
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// refusedForGood returns why a majority of the other nodes refuses this node for ever, empty if it does not. The majority is of the voters of region 0 that
// this node knows, or without a copy of region 0, of the members in node.json. A single node's refusal may be an error of that node.
func (n *Node) refusedForGood() (why string) {
	t := n.transport()
	if t == nil {
		return ""
	}
	var judges []uint64
	if g, ok := n.store.GroupStatus(0); ok {
		for _, p := range g.Region.Peers {
			if !p.Learner {
				judges = append(judges, p.Store)
			}
		}
	} else {
		n.cluster.mu.Lock()
		if n.cluster.member != nil {
			for _, p := range n.cluster.member.Members {
				judges = append(judges, p.Node)
			}
		}
		n.cluster.mu.Unlock()
	}
	return verdict(n.store.ID(), judges, t.Nodes())
}

// verdict returns why a majority of others among the judges refuses a node for good, empty if it does not.
func verdict(self uint64, judges []uint64, nodes []transport.Status) (why string) {
	others, against := 0, 0
	for _, id := range judges {
		if id != self { // node.json may list this node too
			others++
		}
	}
	for _, node := range nodes {
		if node.Final != "" && node.Node != self && slices.Contains(judges, node.Node) {
			against, why = against+1, node.Final
		}
	}
	if 2*against <= others {
		return ""
	}
	return why
}

// rememberMembers saves the members' addresses in node.json if they have changed.
func (n *Node) rememberMembers() error {
	c := &n.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.desk.Members()
	if c.member == nil || len(now) == 0 || slices.Equal(now, c.member.Members) {
		return nil
	}
	next := *c.member
	next.Members = now
	if err := next.save(n.options.DataDir); err != nil {
		return err
	}
	c.member = &next
	return nil
}

// gateway returns the node that executes SQL, and whether that is this one; 0 if nobody knows. A node without a copy of region 0 asks others.
func (n *Node) gateway(ctx context.Context) (node uint64, here bool) {
	node, here, _, _ = n.store.Role()
	if node != 0 || n.transport() == nil {
		return node, here
	}
	c := &n.cluster
	c.asking.Lock()
	defer c.asking.Unlock()
	if c.told == 0 || clock.Since(c.toldSince) > whoKept {
		c.told, c.toldSince = c.desk.Who(ctx), clock.Mono()
	}
	return c.told, false
}

// closeCluster closes the transport, or the listener if there is no transport.
func (n *Node) closeCluster() error {
	t := n.transport()
	if t == nil {
		if n.cluster.listener != nil {
			return n.cluster.listener.Close()
		}
		return nil
	}
	if err := t.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
