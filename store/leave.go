package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/placement/meta"
	"github.com/pandodb/pando/replica"
)

// HandOver asks another store to lead region 0, so that the others need not wait for an election timeout when this one ends. It does nothing if no
// other can.
func (s *Store) HandOver() {
	if c := s.cluster.Load(); c != nil && c.set != nil {
		c.handOver(0)
	}
}

// handOver asks one of the active voters of region 0 to lead it: in the order of how much of the log they have, the one after skip others. It reports
// whether one was asked; if that does not lead the region, there is an election, or this store goes on.
func (c *Cluster) handOver(skip int) (asked bool) {
	next := c.successor(skip)
	return next != 0 && c.set.Transfer(0, next) == nil
}

// successor returns which store handOver would ask, 0 if there is none.
func (c *Cluster) successor(skip int) uint64 {
	st, here := c.set.Status(0)
	if !here || !st.Leads {
		return 0
	}
	peers := slices.DeleteFunc(slices.Clone(st.Peers), func(p replica.PeerStatus) bool {
		return p.Peer == st.Peer || !p.Active || !c.votes(st.Region, p.Peer)
	})
	if len(peers) == 0 {
		return 0
	}
	slices.SortStableFunc(peers, func(a, b replica.PeerStatus) int { return cmp.Compare(b.Match, a.Match) })
	next := peers[skip%len(peers)].Peer
	for _, p := range st.Region.Peers {
		if p.ID == next {
			return p.Store
		}
	}
	return 0
}

// votes reports whether a peer is a voter of a region.
func (c *Cluster) votes(r *kvapi.Region, peer uint64) bool {
	for _, p := range r.Peers {
		if p.ID == peer {
			return !p.Learner
		}
	}
	return false
}

// released reports whether region 0 says that nobody serves. What its leader has applied when it was elected is all that was committed before, and who served after a
// Release was committed has said so there first (package placement/meta, M8).
func (c *Cluster) released() (over bool) {
	c.meta.view(func(m *meta.State) { over = m.Released() })
	return over
}

// tellService tells region 0 that this store serves, or does no more, if all programs of the cluster know of that.
func (c *Cluster) tellService(command []byte) error {
	version := uint64(0)
	c.meta.view(func(m *meta.State) { version = m.Version() })
	if version < serviceVersion {
		return nil
	}
	_, err := c.meta.do(command)
	return err
}

// Resign ends that the store is the gateway, where another can be, and returns once that leads what this store has led, or ctx is done. Before it asks the other it
// tells region 0 that it serves no more, so that nobody need wait for its lease (docs/design/0021 D2).
func (s *Store) Resign(ctx context.Context) {
	c := s.cluster.Load()
	if c == nil || c.set == nil {
		return
	}
	next := c.successor(0)
	if next == 0 {
		return
	}
	began := clock.Mono()
	if err := c.release(); err != nil {
		s.o.Logger.Warn("the other nodes could not be told that this one is the gateway no more; the next waits for the end of its lease", "region", 0, "error", err)
	}
	for {
		left := 0
		for _, id := range c.set.Regions() {
			if c.set.Leadership(id).Led && c.set.Transfer(id, next) == nil { // else it has no voter there: the next gateway gets one first
				left++
			}
		}
		if left == 0 {
			s.o.Logger.Info("another node leads what this one has led", "node", next, "took", clock.Since(began))
			return
		}
		select {
		case <-ctx.Done():
			s.o.Logger.Warn("another node was asked to be the gateway, and does not lead all regions yet", "node", next, "left", left)
			return
		case <-c.closing:
			return
		case <-clock.After(roleInterval / 4):
		}
	}
}

// release has the store serve no more, and then tells region 0 so.
func (c *Cluster) release() error {
	r := &c.role
	r.taking.Lock() // no TakeOver of the same term comes in between
	defer r.taking.Unlock()
	r.mu.Lock()
	serves, term := r.serves.Load(), r.term
	c.stepDown("another is to be the gateway")
	r.mu.Unlock()
	if !serves {
		return nil
	}
	return c.tellService(meta.Release(term))
}
