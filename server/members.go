package server

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/placement/meta"
	"github.com/pandodb/pando/placement/schedule"
	"github.com/pandodb/pando/replica"
	"github.com/pandodb/pando/store"
)

const (
	// membersInterval is how often the gateway checks whether regions need other members.
	membersInterval = 500 * time.Millisecond
	// busyInterval is how often it does so until nothing was changed for busyTime: there may be hundreds of small regions, each of which is copied in less
	// than membersInterval.
	busyInterval, busyTime = 25 * time.Millisecond, 5 * time.Second
	// changeMax bounds the wait for one change of members.
	changeMax = time.Minute
	// settleTime is how long a new gateway changes nothing while a node leaves: it does not know yet which nodes are alive. reachMax bounds one attempt to reach
	// them.
	settleTime, reachMax = 5 * time.Second, 2 * time.Second
	// changeFailedPause is the pause after a change that failed.
	changeFailedPause = 5 * time.Second
)

// keepMembers is the goroutine of the gateway that changes which nodes have copies of regions: it executes what package schedule decides.
func (n *Node) keepMembers(ctx context.Context) {
	var looks sync.WaitGroup
	defer looks.Wait()
	looking := make(chan struct{}, 1) // a semaphore: one lookForMembers at a time
	lag, votes := lagTeller{}, voteTeller(0)
	began, looked, changed := clock.Mono(), time.Duration(0), -busyTime
	for pause := membersInterval; ; {
		select {
		case <-ctx.Done():
			return
		case <-clock.After(pause):
		}
		if pause = membersInterval; clock.Since(changed) < busyTime {
			pause = busyInterval
		}
		if clock.Since(looked) >= membersInterval {
			looked = clock.Mono()
			n.raiseVersion()
			lag.look(n.groups(), n.log)
			state, _ := n.membersState()
			votes.look(&state, n.log)
			select {
			case looking <- struct{}{}:
				looks.Go(func() {
					n.lookForMembers(ctx)
					<-looking
				})
			default:
			}
		}
		if alone := n.transport() == nil || len(n.transport().Nodes()) == 0; alone || clock.Since(began) < settleTime && n.someLeave() {
			continue
		}
		switch did, err := n.stepMembers(ctx); {
		case err != nil:
			pause = changeFailedPause
		case did:
			changed, pause = clock.Mono(), busyInterval
		}
	}
}

// raiseVersion raises the cluster version to the newest that the programs of all nodes support; older programs are refused from then on. It respects both the
// versions that nodes have registered and those of their current connections: a node may have been downgraded since it registered.
func (n *Node) raiseVersion() {
	_, known := store.Versions()
	var now uint64
	n.store.ViewMeta(func(m *meta.State) { now, known = m.Version(), min(known, m.Known()) })
	if t := n.transport(); t != nil {
		for _, node := range t.Nodes() {
			if node.Connected && node.Newest != 0 {
				known = min(known, node.Newest)
			}
		}
	}
	if now == 0 || known <= now {
		return
	}
	switch version, err := n.store.DoMeta(meta.Version(known)); {
	case err != nil:
		n.log.Warn("the version of the cluster could not be raised; it is tried again", "version", known, "error", err)
	case version > now:
		n.log.Info("the programs of all nodes know a newer version of the cluster, which it has from now on: older programs are refused", "version", version, "before", now)
	}
}

// lookForMembers sends a call to the members that are not connected: a node without copies has no other reason to be.
func (n *Node) lookForMembers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, reachMax)
	defer cancel()
	state, _ := n.membersState()
	var asked sync.WaitGroup
	for _, node := range state.Nodes {
		if !node.Alive {
			asked.Go(func() { _ = n.cluster.desk.Reach(ctx, node.Store) }) // the transport records the result
		}
	}
	asked.Wait()
}

// someLeave reports whether a member is leaving the cluster.
func (n *Node) someLeave() bool {
	state, _ := n.membersState()
	return slices.ContainsFunc(state.Nodes, func(node schedule.Node) bool { return node.Leaving })
}

// stepMembers executes the next change of a region's members, if there is one; did reports whether it did.
func (n *Node) stepMembers(ctx context.Context) (did bool, err error) {
	state, stages := n.membersState()
	if stages[state.Gateway] == meta.Leaving && n.handsOver(&state) {
		n.log.Info("this node leaves the cluster: another becomes the gateway", "node", state.Gateway)
		n.resign()
		return false, nil
	}
	change, ok := schedule.Next(&state)
	if !ok {
		n.retire(&state, stages)
		return false, nil
	}
	n.log.Info("members of a region change", "region", change.Region, "peers", change.Peers, "why", change.Why)
	ctx, cancel := context.WithTimeout(ctx, changeMax)
	defer cancel()
	began := clock.Mono()
	if err := n.store.ChangePeers(ctx, change.Region, change.Peers); err != nil {
		n.log.Warn("the members of a region could not be changed; it is tried again", "region", change.Region, "error", err)
		return false, err
	}
	n.log.Info("members of a region changed", "region", change.Region, "took", clock.Since(began))
	return true, nil
}

// membersState returns the input of package schedule, and the stages of all stores.
func (n *Node) membersState() (state schedule.State, stages map[uint64]meta.Stage) {
	state.Gateway = n.store.ID()
	stages = map[uint64]meta.Stage{}
	heard := map[uint64]bool{state.Gateway: true}
	if t := n.transport(); t != nil {
		for _, node := range t.Nodes() {
			heard[node.Node] = node.Connected
		}
	}
	n.store.ViewMeta(func(m *meta.State) {
		state.Copies = int(m.Copies())
		for _, st := range m.Stores() {
			stages[st.ID] = st.Stage
			if st.Member() {
				state.Nodes = append(state.Nodes, schedule.Node{Store: st.ID, Alive: heard[st.ID], Leaving: st.Stage == meta.Leaving})
			}
		}
	})
	for _, group := range n.groups() {
		state.Regions = append(state.Regions, regionState(&group))
	}
	return state, stages
}

// groups returns the status of this store's Raft groups, region 0 first.
func (n *Node) groups() (out []replica.GroupStatus) {
	if g, ok := n.store.GroupStatus(0); ok {
		out = append(out, g)
	}
	for _, st := range n.store.RegionStatuses() {
		if st.Group != nil {
			out = append(out, *st.Group)
		}
	}
	return out
}

// regionState converts a group's status to the input of package schedule.
func regionState(g *replica.GroupStatus) schedule.Region {
	r := schedule.Region{ID: g.Region.ID, Changing: g.Region.Joint()}
	for _, p := range g.Region.Peers {
		r.Copies = append(r.Copies, schedule.Copy{Peer: p, CaughtUp: g.CaughtUp(p.ID)})
	}
	return r
}

// handsOver reports whether another node could be the gateway: a voter of region 0 that is alive and does not leave.
func (n *Node) handsOver(state *schedule.State) bool {
	for _, c := range state.Regions[0].Copies {
		for _, node := range state.Nodes {
			if node.Store == c.Store && c.Store != state.Gateway && !c.Learner && node.Alive && !node.Leaving {
				return true
			}
		}
	}
	return false
}

// retire removes nodes from the cluster that are leaving and have no copies any more.
func (n *Node) retire(state *schedule.State, stages map[uint64]meta.Stage) {
	for id, stage := range stages {
		if stage != meta.Leaving {
			continue
		}
		has := false
		for _, r := range state.Regions {
			for _, c := range r.Copies {
				has = has || c.Store == id
			}
		}
		if has {
			continue
		}
		if _, err := n.store.DoMeta(meta.SetStage(id, meta.Removed)); err != nil {
			n.log.Warn("a node without copies could not be removed; it is tried again", "node", id, "error", err)
			continue
		}
		n.log.Info("a node was removed from the cluster", "node", id)
	}
}

// copiesMissing returns how many regions have fewer copies than they could have with all members alive, and the largest number of entries
// that a copy on a live node lacks.
func (n *Node) copiesMissing(state *schedule.State) (short int, behind uint64) {
	members, alive := 0, map[uint64]bool{}
	for _, node := range state.Nodes {
		alive[node.Store] = node.Alive
		if !node.Leaving {
			members++
		}
	}
	want := min(members, state.Copies)
	for i := range state.Regions {
		r := &state.Regions[i]
		have, voters := 0, 0
		for _, c := range r.Copies {
			if c.CaughtUp {
				have++
			}
			if c.CaughtUp && !c.Learner {
				voters++
			}
		}
		if have < want || voters < want-1+want%2 || r.Changing {
			short++
		}
	}
	for _, g := range n.groups() {
		for _, p := range g.Region.Peers {
			if alive[p.Store] {
				behind = max(behind, g.Lag(p.ID))
			}
		}
	}
	return short, behind
}

// clusterStatus is the cluster in the document of /status; nil outside a cluster.
type clusterStatus struct {
	// Role is gateway, follower, or waiting while no gateway is known.
	Role    string `json:"role"`
	Store   uint64 `json:"store"`
	Gateway uint64 `json:"gateway"`
	Term    uint64 `json:"term"`
	// Version is the cluster version as far as this node knows; 0 while it does not know any.
	Version uint64 `json:"version"`
	// HandedOn is the number of clients that this node relays to the gateway, or that wait for one.
	HandedOn int          `json:"clients_handed_on"`
	Nodes    []nodeMember `json:"nodes"`
	// RegionsShort and LagEntries are the results of copiesMissing; only the gateway has them.
	RegionsShort *int           `json:"regions_short,omitempty"`
	LagEntries   *uint64        `json:"lag_entries,omitempty"`
	Regions      []regionMember `json:"regions"`
}

// nodeMember is a node of the cluster.
type nodeMember struct {
	Store   uint64 `json:"store"`
	Address string `json:"address"`
	Stage   string `json:"stage"`
	// Starts is how often the node was started, as far as it has registered that (meta.Store.Incarnation).
	Starts uint64 `json:"starts"`
	// Alive is set only by the gateway: other nodes need not be connected with each other.
	Alive *bool `json:"alive,omitempty"`
}

// regionMember is a region as this node knows it.
type regionMember struct {
	ID      uint64   `json:"id"`
	Leader  uint64   `json:"leader"`
	Term    uint64   `json:"term"`
	Applied uint64   `json:"applied"`
	Last    uint64   `json:"last"`
	Voters  []uint64 `json:"voters"`
	// Garbage is the size of the region's garbage queue, of superseded versions that wait for collection.
	Garbage int `json:"garbage_bytes"`
	// Learners are the stores of copies that do not vote; Receiving says that this node is receiving a snapshot of the region.
	Learners  []uint64 `json:"learners,omitempty"`
	Receiving bool     `json:"receiving,omitempty"`
}

func (n *Node) clusterStatus() *clusterStatus {
	groups := n.groups()
	if len(groups) == 0 && n.transport() == nil {
		return nil
	}
	gateway, here, term, _ := n.store.Role()
	s := &clusterStatus{Role: "follower", Store: n.store.ID(), Gateway: gateway, Term: term, HandedOn: n.handOn.len()}
	starts := map[uint64]uint64{}
	n.store.ViewMeta(func(m *meta.State) {
		s.Version = m.Version()
		for _, st := range m.Stores() {
			starts[st.ID] = st.Incarnation
		}
	})
	switch {
	case n.sql.get() != nil:
		s.Role = "gateway"
	case gateway == 0 || here:
		s.Role = "waiting"
	}
	state, stages := n.membersState()
	if s.Role == "gateway" {
		short, lag := n.copiesMissing(&state)
		s.RegionsShort, s.LagEntries = &short, &lag
	}
	for _, node := range state.Nodes {
		address, _ := n.cluster.desk.Address(node.Store)
		member := nodeMember{Store: node.Store, Address: address, Stage: stages[node.Store].String(), Starts: starts[node.Store]}
		if s.Role == "gateway" {
			member.Alive = &node.Alive
		}
		s.Nodes = append(s.Nodes, member)
	}
	garbage := map[kvapi.RegionID]int{}
	for _, st := range n.store.RegionStatuses() {
		garbage[st.Region.ID] = st.Garbage
	}
	for _, g := range groups {
		r := regionMember{ID: uint64(g.Region.ID), Garbage: garbage[g.Region.ID], Leader: g.LeaderStore, Term: g.Term, Applied: g.Applied, Last: g.Last, Receiving: g.Receiving}
		for _, p := range g.Region.Peers {
			if p.Learner {
				r.Learners = append(r.Learners, p.Store)
			} else {
				r.Voters = append(r.Voters, p.Store)
			}
		}
		s.Regions = append(s.Regions, r)
	}
	return s
}

// serves reports whether clients that connect now are served, here or by the gateway.
func (n *Node) serves() bool {
	if n.sql.get() != nil {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), membersInterval)
	defer cancel()
	gateway, here := n.gateway(ctx)
	if gateway == 0 || here || n.transport() == nil {
		return false
	}
	for _, node := range n.transport().Nodes() {
		if node.Node == gateway {
			return node.Connected
		}
	}
	return false
}
