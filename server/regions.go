package server

import (
	"github.com/pandodb/pando/infoschema"
	"github.com/pandodb/pando/kvapi"
)

// regionList describes the regions of this node's store. One that is alone has one replica of each, without a number of its own.
func (n *Node) regionList() []infoschema.Region {
	list := n.store.RegionStatuses()
	out := make([]infoschema.Region, len(list))
	for i, st := range list {
		d := st.Region
		r := infoschema.Region{ID: uint64(d.ID), ConfVer: uint64(d.Epoch.ConfVer), Version: uint64(d.Epoch.Version), Start: d.Start, End: d.End,
			Bytes: st.Bytes, Written: st.Written}
		for _, p := range d.Peers {
			r.Peers = append(r.Peers, infoschema.RegionPeer{ID: p.ID, Store: p.Store})
		}
		switch {
		case d.Mode == kvapi.ModeSolo:
			r.LeaderPeer, r.LeaderStore = uint64(d.ID), n.store.ID()
			r.Peers = []infoschema.RegionPeer{{ID: uint64(d.ID), Store: n.store.ID()}}
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

// storeList describes this node's store.
func (n *Node) storeList() []infoschema.Store {
	m := n.engine.Metrics()
	s := infoschema.Store{ID: n.store.ID(), Address: n.MySQLAddr(), Status: n.StatusURL(), State: "Up", Version: Version, Capacity: int64(m.DiskSize),
		Available: int64(m.DiskFree), Start: n.start}
	for _, r := range n.regionList() {
		s.Regions++
		s.Bytes += r.Bytes
		if r.LeaderStore == s.ID {
			s.Leaders++
			s.LeaderBytes += r.Bytes
		}
	}
	return []infoschema.Store{s}
}
