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
	// membersInterval is how often the gateway looks whether regions need other members.
	membersInterval = 500 * time.Millisecond
	// busyInterval is how often it looks while it changes them, and until nothing was changed for busyTime: small regions, of which there may be hundreds, are copied
	// in less than the longer interval.
	busyInterval, busyTime = 25 * time.Millisecond, 5 * time.Second
	// changeMax bounds the wait for one change of members.
	changeMax = time.Minute
	// settleTime is how long a new gateway looks who is there before it changes anything, and reachMax bounds one such look.
	settleTime, reachMax = 5 * time.Second, 2 * time.Second
	// changeFailedPause is how long nothing is tried after a change that failed.
	changeFailedPause = 5 * time.Second
)

// keepMembers is the goroutine of the gateway that gives regions their copies: it carries out what package schedule says is next.
func (n *Node) keepMembers(ctx context.Context) {
	var looks sync.WaitGroup
	defer looks.Wait()
	looking := make(chan struct{}, 1) // one look at a time
	lag := lagTeller{}
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

// raiseVersion gives the cluster the newest version that the programs of all its nodes know; from then on a program that does not know it is refused. What nodes say
// when they connect counts beside what they have registered: one whose program was replaced by an older one a moment ago is not shut out.
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

// lookForMembers asks the members that nothing is heard of, which may be because nothing is to be said: spares have no copies.
func (n *Node) lookForMembers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, reachMax)
	defer cancel()
	state, _ := n.membersState()
	var asked sync.WaitGroup
	for _, node := range state.Nodes {
		if !node.Alive {
			asked.Go(func() { _ = n.cluster.desk.Reach(ctx, node.Store) }) // the transport notes what came of it
		}
	}
	asked.Wait()
}

// someLeave reports whether a member is to lose its copies.
func (n *Node) someLeave() bool {
	state, _ := n.membersState()
	return slices.ContainsFunc(state.Nodes, func(node schedule.Node) bool { return node.Leaving })
}

// stepMembers does one step, if there is one to do.
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

// membersState is what the next change is decided by, and the stages of all stores.
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

// groups are the Raft groups of this store, region 0 first.
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

// regionState is what is known of a region that this store leads.
func regionState(g *replica.GroupStatus) schedule.Region {
	r := schedule.Region{ID: g.Region.ID, Changing: g.Region.Joint()}
	for _, p := range g.Region.Peers {
		r.Copies = append(r.Copies, schedule.Copy{Peer: p, CaughtUp: g.CaughtUp(p.ID)})
	}
	return r
}

// handsOver reports whether another node could be the gateway: an alive voter that stays.
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

// retire ends the membership of nodes that leave and have no copies any more.
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

// short is how many regions have fewer copies than they could have with all members alive; behind is by how many entries the copy of an alive
// node is behind at most.
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

// clusterStatus is what /status says of the cluster; nil where the node is of none.
type clusterStatus struct {
	// Role is gateway, follower, or waiting where no gateway is known.
	Role    string `json:"role"`
	Store   uint64 `json:"store"`
	Gateway uint64 `json:"gateway"`
	Term    uint64 `json:"term"`
	// Version is what all programs of the cluster know, as far as this node has heard; 0 before it has.
	Version uint64 `json:"version"`
	// HandedOn is how many clients of this node are served by the gateway.
	HandedOn int          `json:"clients_handed_on"`
	Nodes    []nodeMember `json:"nodes"`
	// RegionsShort and LagEntries are what the gateway knows, and others do not say: regions with fewer copies than they could have, and by how
	// many entries the slowest copy of a live node is behind.
	RegionsShort *int           `json:"regions_short,omitempty"`
	LagEntries   *uint64        `json:"lag_entries,omitempty"`
	Regions      []regionMember `json:"regions"`
}

// nodeMember is a node of the cluster.
type nodeMember struct {
	Store   uint64 `json:"store"`
	Address string `json:"address"`
	Stage   string `json:"stage"`
	// Alive is what the gateway knows: others have nothing to say to each other, and would take each other for dead.
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
	// Garbage is what its superseded versions take in the queue of those that wait for collection, in bytes.
	Garbage int `json:"garbage_bytes"`
	// Learners are copies that do not vote; Receiving says that a snapshot is on its way to this node.
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
	n.store.ViewMeta(func(m *meta.State) { s.Version = m.Version() })
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
		member := nodeMember{Store: node.Store, Address: address, Stage: stages[node.Store].String()}
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
