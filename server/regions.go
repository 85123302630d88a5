package server

import (
	"slices"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/infoschema"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/replica"
)

// regionList describes the regions of this node's store. Outside a cluster each has one replica, whose id is the region's.
func (n *Node) regionList() []infoschema.Region {
	list := n.store.RegionStatuses()
	heard := n.heardOf()
	out := make([]infoschema.Region, len(list))
	for i, st := range list {
		d := st.Region
		r := infoschema.Region{ID: uint64(d.ID), ConfVer: uint64(d.Epoch.ConfVer), Version: uint64(d.Epoch.Version), Start: d.Start, End: d.End,
			Bytes: st.Bytes, Written: st.Written}
		for _, p := range d.Peers {
			peer := infoschema.RegionPeer{ID: p.ID, Store: p.Store, Learner: p.Learner, Status: peerStatus(st.Group, p.ID)}
			if at := heard[p.Store]; peer.Status == peerDown && at != 0 {
				peer.Down = max(clock.Since(at), time.Nanosecond)
			}
			r.Peers = append(r.Peers, peer)
		}
		switch {
		case d.Mode == kvapi.ModeSolo:
			r.LeaderPeer, r.LeaderStore = uint64(d.ID), n.store.ID()
			r.Peers = []infoschema.RegionPeer{{ID: uint64(d.ID), Store: n.store.ID(), Status: "NORMAL"}}
		case st.Group != nil && st.Group.Leads:
			r.LeaderPeer, r.LeaderStore = st.Group.Peer, n.store.ID()
		}
		if st.Group != nil {
			r.LogBytes = st.Group.LogBytes
		}
		out[i] = r
	}
	return out
}

// heardOf returns when this node last received something from each other node, by clock.Mono.
func (n *Node) heardOf() map[uint64]time.Duration {
	heard := map[uint64]time.Duration{}
	if t := n.transport(); t != nil {
		for _, node := range t.Nodes() {
			heard[node.Node] = node.Heard
		}
	}
	return heard
}

// peerDown is the state of a replica that does not answer.
const peerDown = "DOWN"

// peerStatus is the state of a replica in TiDB's words.
func peerStatus(g *replica.GroupStatus, peer uint64) string {
	switch {
	case g == nil || !g.Leads || g.CaughtUp(peer):
		return "NORMAL"
	case g.Answers(peer):
		return "PENDING"
	}
	return peerDown
}

// storeList describes the stores of the cluster, or outside a cluster this node's. Other stores are described as far as this node knows them.
func (n *Node) storeList() []infoschema.Store {
	own := infoschema.Store{ID: n.store.ID(), Address: n.MySQLAddr(), State: "Up", SQL: true, Told: n.ownFacts()}
	if address, member := n.cluster.desk.Address(own.ID); member && address != "" {
		own.Address = address
	}
	list, heard := []infoschema.Store{own}, n.heardOf()
	state, _ := n.membersState()
	for _, node := range state.Nodes {
		if node.Store == own.ID {
			continue
		}
		s := infoschema.Store{ID: node.Store, State: "Up", Told: n.facts.of(node.Store)}
		s.Address, _ = n.cluster.desk.Address(node.Store)
		if at := heard[node.Store]; at != 0 {
			s.Heard = clock.Now().Add(-clock.Since(at))
		}
		switch {
		case node.Leaving:
			s.State = "Offline"
		case !node.Alive:
			s.State = "Disconnected"
		}
		list = append(list, s)
	}
	for _, r := range n.regionList() {
		for i := range list {
			s := &list[i]
			if !slices.ContainsFunc(r.Peers, func(p infoschema.RegionPeer) bool { return p.Store == s.ID }) {
				continue
			}
			s.Regions++
			s.Bytes += r.Bytes
			if r.LeaderStore == s.ID {
				s.Leaders++
				s.LeaderBytes += r.Bytes
			}
		}
	}
	return list
}
