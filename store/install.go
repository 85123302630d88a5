package store

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/placement/meta"
	"github.com/pandodb/pando/replica"
)

const (
	// membersPause is the pause between two looks at whether a change of members is done.
	membersPause = roleInterval / 5
)

// ErrBehind: a learner lacks too much to have a vote.
var ErrBehind = errors.New("store: the new copy has not caught up yet")

// Replaced implements replica.Machine: what the store keeps in memory of the region is loaded again. Rows that readers have read before and
// offer to the row cache afterwards are refused.
func (c *Cluster) Replaced(desc *kvapi.Region, gcPoint clock.Timestamp) error {
	if desc.ID == 0 {
		return c.meta.load()
	}
	old := c.region(desc.ID)
	if old != nil {
		c.forget(old.desc.Load())
	}
	c.forget(desc)
	b := c.s.engine.NewBatch()
	defer b.Close()
	b.Delete(collectedKey(desc.ID)) // it was about the state that is replaced
	if err := c.s.engine.ApplyUnlogged(b); err != nil {
		return err
	}
	r, err := c.load(desc)
	if err != nil {
		return err
	}
	r.gcPoint.Store(uint64(gcPoint))
	if old != nil {
		r.floor.Store(old.floor.Load())
	}
	lower, upper := regionBounds(desc)
	tables, err := c.s.engine.ApproxBytes(lower, upper)
	if err != nil {
		return c.s.readError(err)
	}
	r.size.Store(int64(tables))
	c.mu.Lock()
	defer c.mu.Unlock()
	next := maps.Clone(*c.regions.Load())
	next[desc.ID] = r
	c.regions.Store(&next)
	return nil
}

// forget drops what is cached of a region's keys.
func (c *Cluster) forget(desc *kvapi.Region) {
	span := kvapi.Span{Start: desc.Start, End: append([]byte{}, desc.End...)}
	c.s.counters.dropSpan(span)
	c.s.frontiers.forget()
	c.s.rows.Forget(span.Contains, c.recorded.Add(1))
}

// Removed implements replica.Machine.
func (c *Cluster) Removed(desc *kvapi.Region) {
	if desc.ID == 0 {
		return
	}
	c.mu.Lock()
	next := maps.Clone(*c.regions.Load())
	delete(next, desc.ID)
	c.regions.Store(&next)
	c.mu.Unlock()
	c.forget(desc)
}

// ChangePeers changes which stores have a copy of a region that is led here, and returns once that is done. Peers without an id are new, and
// begin as learners. replica.ErrPeers and ErrBehind say that nothing has happened; after another error the change may still happen.
func (s *Store) ChangePeers(ctx context.Context, id kvapi.RegionID, peers []kvapi.Peer) error {
	c := s.cluster.Load()
	if c == nil || c.set == nil {
		return ErrAlone
	}
	st, here := c.set.Status(id)
	if !here || !st.Leads || !c.role.serves.Load() {
		return ErrNotGateway
	}
	peers, err := c.withIDs(peers)
	if err != nil {
		return err
	}
	stays := false
	for _, p := range peers {
		stays = stays || p.ID == st.Peer && !p.Learner
		if err := caughtUp(&st, p); err != nil {
			return err
		}
	}
	if !stays {
		return fmt.Errorf("%w: store %d leads region %d; hand the lead on first", replica.ErrPeers, s.ident.storeID, id)
	}
	line := c.set.Line(id)
	if line == nil {
		return ErrNotGateway
	}
	if err := line.Do(&membersProposal{peers: peers}); err != nil {
		return err
	}
	for {
		switch st, here := c.set.Status(id); {
		case !here:
			return ErrNotGateway
		case !st.Region.Joint():
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.closing:
			return kvapi.ErrClosed
		case <-clock.After(membersPause):
		}
	}
}

// withIDs gives ids to those that have none.
func (c *Cluster) withIDs(peers []kvapi.Peer) ([]kvapi.Peer, error) {
	out := append([]kvapi.Peer(nil), peers...)
	for i := range out {
		if out[i].ID != 0 {
			continue
		}
		id, err := c.meta.do(meta.IDs(1))
		if err != nil {
			return nil, err
		}
		out[i].ID = id
	}
	return out, nil
}

// caughtUp refuses a learner that would become a voter and is far behind.
func caughtUp(st *replica.GroupStatus, p kvapi.Peer) error {
	for _, was := range st.Region.Peers {
		if was.ID != p.ID || !was.Learner || p.Learner {
			continue
		}
		if st.CaughtUp(p.ID) {
			return nil
		}
		return fmt.Errorf("%w: peer %d of region %d on store %d", ErrBehind, p.ID, st.Region.ID, p.Store)
	}
	return nil
}

// membersProposal is a change of members in a line.
type membersProposal struct{ peers []kvapi.Peer }

// Size implements replica.Proposal.
func (p *membersProposal) Size() int { return 64 }

// Alone implements replica.Proposal.
func (p *membersProposal) Alone() bool { return true }

// Prepare implements replica.Proposal.
func (p *membersProposal) Prepare(t replica.Turn) (timestamps int, err error) {
	return 0, replica.CheckPeers(t.Region, p.peers)
}

// Command implements replica.Proposal.
func (p *membersProposal) Command(clock.Timestamp) (replica.Proposed, error) {
	return &replica.Members{Peers: p.peers}, nil
}

// Finish implements replica.Proposal.
func (p *membersProposal) Finish(replica.Result, error) {}
