package transport

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
)

// neighbour is what is known of another node from what it said itself. Its fields are under Transport.mu but for heard.
type neighbour struct {
	life, incarnation, newest uint64
	address                   string // its own word
	rumour                    string // another's word
	links                     map[*link]struct{}
	heard                     atomic.Int64             // Mono, of a link
	clients                   map[*clientConn]struct{} // that it hands on, or that are handed to it
	watched                   bool                     // by cutOrphans
}

// neighbour returns the entry of a node, and makes it. nil means that there are too many. t.mu is held.
func (t *Transport) neighbour(node uint64) *neighbour {
	n := t.neighbours[node]
	if n == nil && len(t.neighbours) < nodesMax {
		n = &neighbour{links: map[*link]struct{}{}}
		t.neighbours[node] = n
	}
	return n
}

// alive tells whether a link with a node has been heard lately. t.mu is held.
func (t *Transport) alive(n *neighbour) bool {
	return len(n.links) > 0 && clock.Since(time.Duration(n.heard.Load())) < t.delays.dead
}

// errLife: what was connected is a process that has ended.
var errLife = errors.New("the node has begun another life")

// meet judges whether a node may speak in this life of it, and takes in what it says of itself.
func (t *Transport) meet(node, incarnation, life, newest uint64, address string) *RefusedError {
	t.mu.Lock()
	n := t.neighbour(node)
	if n == nil {
		t.mu.Unlock()
		return refuse(RefusedBusy, "too many nodes")
	}
	if incarnation < n.incarnation {
		known := n.incarnation
		t.mu.Unlock()
		return refuse(RefusedIncarnation, "node %d was started %d times already, and its directory says %d: it is an older copy of the directory, which must not be "+
			"started; empty it and join under a new number", node, known, incarnation)
	}
	var dead []*link
	if n.life != life {
		if t.alive(n) {
			t.mu.Unlock()
			return refuse(RefusedTwin, "node %d is alive in another process: its data directory was copied and started twice; stop one of them and delete that copy, "+
				"or wait %v if the node has just been restarted", node, t.delays.dead)
		}
		if n.life != 0 && incarnation == n.incarnation {
			t.mu.Unlock()
			return refuse(RefusedIncarnation, "node %d was started a %dth time already, by another process: its directory is a copy of one that has gone on since, an older copy of "+
				"the directory, which must not be started; empty it and join under a new number", node, incarnation)
		}
		for l := range n.links {
			dead = append(dead, l)
		}
	}
	n.life, n.incarnation, n.newest = life, incarnation, newest
	if address != "" {
		n.address = address
	}
	t.mu.Unlock()
	for _, l := range dead {
		l.end(errLife)
	}
	return nil
}

// judge is Options.Admit, or membership.
func (t *Transport) judge(node, incarnation uint64) error {
	if t.o.Admit != nil {
		return t.o.Admit(node, incarnation)
	}
	if _, member := t.o.Addresses(node); !member {
		return fmt.Errorf("node %d is no member of the cluster: it was removed, or has not joined yet; a removed node's directory has to be emptied before it joins again", node)
	}
	return nil
}

// attach notes a link whose life counts, and detach that it has ended.
func (t *Transport) attach(l *link, life uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.neighbours[l.node]
	if n == nil || n.life != life || t.closed {
		return false
	}
	n.links[l] = struct{}{}
	n.heard.Store(int64(clock.Mono()))
	l.neighbour = n
	return true
}

func (t *Transport) detach(l *link) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(l.neighbour.links, l)
	t.watch(l.node, l.neighbour)
}

// adopt notes a client that a node hands on, or that is handed to it, until release.
func (t *Transport) adopt(node uint64, c *clientConn) (release func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.neighbour(node)
	if n == nil {
		return func() {}
	}
	if n.clients == nil {
		n.clients = map[*clientConn]struct{}{}
	}
	n.clients[c] = struct{}{}
	t.watch(node, n)
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(n.clients, c)
	}
}

// watch has cutOrphans look after a node that has clients and no link. t.mu is held.
func (t *Transport) watch(node uint64, n *neighbour) {
	if len(n.links) > 0 || len(n.clients) == 0 || n.watched || t.closed {
		return
	}
	n.watched = true
	t.wg.Go(func() { t.cutOrphans(node, n) })
}

// cutOrphans closes the clients that a node hands on, or that are handed to it, if there is no link with it after a while. What the operating system
// finds out about their connections by itself may take it a quarter of an hour. At the gateway they would keep the rows that they have locked until
// then, and at the other node they would wait for an answer.
func (t *Transport) cutOrphans(node uint64, n *neighbour) {
	if p := t.peer(node); p != nil {
		p.knock() // a node that keeps no copy of anything has no link unless somebody makes one
	}
	open := t.pause(t.delays.orphan)
	var orphans []*clientConn
	t.mu.Lock()
	n.watched = false
	if open && len(n.links) == 0 {
		for c := range n.clients {
			orphans = append(orphans, c)
		}
	}
	t.mu.Unlock()
	if len(orphans) > 0 {
		t.log.Warn("clients that were handed on are disconnected: there is no connection with the other node", "node", node, "clients", len(orphans))
	}
	for _, c := range orphans {
		_ = c.NetConn().Close() // without TLS's farewell, which may wait for the network; whoever serves it finds out
	}
}

// others lists the nodes whose places are known, for a welcome to node.
func (t *Transport) others(node uint64) (out []place) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, n := range t.neighbours {
		if id != node && n.address != "" && len(out) < othersMax {
			out = append(out, place{id, n.address})
		}
	}
	return out
}

// rumours takes in where other nodes are said to be.
func (t *Transport) rumours(others []place) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range others {
		if p.node == 0 || p.node == t.o.Node || p.address == "" {
			continue
		}
		if n := t.neighbour(p.node); n != nil {
			n.rumour = p.address
		}
	}
}

// unmet lists the members that were heard of and have not spoken.
func (t *Transport) unmet() (list []place) {
	t.mu.Lock()
	for id, n := range t.neighbours {
		if n.life == 0 && n.rumour != "" {
			list = append(list, place{id, n.rumour})
		}
	}
	t.mu.Unlock()
	return slices.DeleteFunc(list, func(p place) bool {
		_, member := t.o.Addresses(p.node)
		return !member
	})
}

// places returns the places where a node may be, the likeliest first; none for what is no member.
func (t *Transport) places(node uint64) (list []string) {
	known, member := t.o.Addresses(node)
	if !member {
		return nil
	}
	t.mu.Lock()
	var own, rumour string
	if n := t.neighbours[node]; n != nil {
		own, rumour = n.address, n.rumour
	}
	t.mu.Unlock()
	for _, address := range [...]string{own, known, rumour} {
		if address != "" && (len(list) == 0 || list[0] != address && list[len(list)-1] != address) {
			list = append(list, address)
		}
	}
	return list
}

// twin notes that another node calls this one a twin, or no longer does. Raft rests meanwhile (N5).
func (t *Transport) twin(by uint64, is bool) {
	t.mu.Lock()
	began := len(t.told) == 0
	if is {
		t.told[by] = struct{}{}
	} else {
		delete(t.told, by)
	}
	now := len(t.told) > 0
	if began && now {
		t.toldSince = clock.Mono()
	}
	fatal := now && clock.Since(t.toldSince) > t.delays.twin
	t.suspect.Store(now)
	t.mu.Unlock()
	if fatal && t.o.Fatal != nil {
		t.o.Fatal(refuse(RefusedTwin, "node %d runs in another process: this data directory is a copy of one that is in use, and must not be started; delete this copy", t.o.Node))
	}
}

// sayings bounds how often one thing is logged.
type sayings struct {
	mu   sync.Mutex // guards last; a leaf
	last map[string]time.Duration
}

const (
	// sayEvery is how often the same is said, sayingsMax how many things are told apart.
	sayEvery   = time.Minute
	sayingsMax = 1024
)

// say logs what may happen very often, once in a while for each key.
func (t *Transport) say(key string, level slog.Level, text string, args ...any) {
	s := &t.sayings
	s.mu.Lock()
	now := clock.Mono()
	last, said := s.last[key]
	fresh := !said || now-last > sayEvery
	if fresh {
		if len(s.last) >= sayingsMax || s.last == nil {
			s.last = map[string]time.Duration{}
		}
		s.last[key] = now
	}
	s.mu.Unlock()
	if fresh {
		t.log.Log(t.ctx, level, text, args...)
	}
}
