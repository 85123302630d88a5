package server

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/cluster/identity"
	"github.com/pandodb/pando/cluster/transport"
	"github.com/pandodb/pando/placement/meta"
	"github.com/pandodb/pando/replica"
	"github.com/pandodb/pando/session"
)

// adminMax bounds how long ADMIN TOKEN waits for region 0.
const adminMax = 10 * time.Second

// clusterAdmin returns the functions of the ADMIN statements about the cluster.
func (n *Node) clusterAdmin() session.Cluster {
	return session.Cluster{Token: n.newToken, Nodes: n.listNodes, Remove: n.removeNode, Regions: n.listRegions}
}

// newToken executes ADMIN TOKEN.
func (n *Node) newToken(uses uint64, last time.Duration) (session.ClusterToken, error) {
	if len(n.groups()) == 0 {
		return session.ClusterToken{}, session.ErrNoCluster("ADMIN TOKEN")
	}
	ctx, cancel := context.WithTimeout(context.Background(), adminMax)
	defer cancel()
	t, err := n.cluster.desk.NewToken(ctx, uses, last)
	if usage, is := errors.AsType[identity.UsageError](err); is {
		return session.ClusterToken{}, session.ErrClusterArguments("ADMIN TOKEN", usage.Error())
	}
	if err != nil {
		return session.ClusterToken{}, err
	}
	return session.ClusterToken{Text: t.String(), Until: t.Until, Uses: cmp.Or(uses, identity.TokenUses)}, nil
}

// listNodes executes ADMIN NODES.
func (n *Node) listNodes() ([]session.ClusterNode, error) {
	groups := n.groups()
	if len(groups) == 0 {
		return nil, session.ErrNoCluster("ADMIN NODES")
	}
	copies, leads := map[uint64]int{}, map[uint64]int{}
	for _, g := range groups {
		leads[g.LeaderStore]++
		for _, p := range g.Region.Peers {
			copies[p.Store]++
		}
	}
	var list []session.ClusterNode
	n.store.ViewMeta(func(m *meta.State) {
		for _, st := range m.Stores() {
			if st.Stage != meta.Removed {
				list = append(list, session.ClusterNode{ID: st.ID, Address: st.Address, State: st.Stage.String(), Connected: "no", Heard: -1, Copies: copies[st.ID], Leaders: leads[st.ID]})
			}
		}
	})
	for i := range list {
		node := &list[i]
		if node.ID == n.store.ID() {
			node.Role, node.Connected = "gateway", "here"
			if state, _ := n.membersState(); oneVote(&state) {
				node.Reason = oneVoteReason
			}
			continue
		}
		if t := n.transport(); t != nil {
			for _, known := range t.Nodes() {
				if known.Node == node.ID {
					describe(node, &known)
				}
			}
		}
		if node.State == meta.Up.String() && node.Connected != "yes" {
			if node.State = "down"; node.Heard < 0 && node.Reason == "" {
				node.State = "unknown" // this gateway is new, and has not tried yet
			}
		}
	}
	return list, nil
}

// describe fills in what the transport knows of a node.
func describe(node *session.ClusterNode, known *transport.Status) {
	node.RTT, node.Reason = known.RTT, known.Reason
	if known.Connected {
		node.Connected = "yes"
	}
	if known.Heard != 0 {
		node.Heard = clock.Since(known.Heard)
	}
}

// removeNode executes ADMIN NODE REMOVE: it marks the node as leaving, and keepMembers of the gateway moves its copies to other nodes.
func (n *Node) removeNode(id uint64) (string, error) {
	if len(n.groups()) == 0 {
		return "", session.ErrNoCluster("ADMIN NODE REMOVE")
	}
	var st meta.Store
	known := false
	n.store.ViewMeta(func(m *meta.State) { st, known = m.Store(id) })
	switch {
	case !known:
		return "", session.ErrClusterArguments("ADMIN NODE REMOVE", fmt.Sprintf("there is no node %d; ADMIN NODES lists them", id))
	case st.Stage == meta.Removed:
		return fmt.Sprintf("node %d was removed already", id), nil
	}
	stage, err := n.store.DoMeta(meta.SetStage(id, meta.Leaving))
	if err != nil {
		return "", err
	}
	if meta.Stage(stage) < meta.Leaving {
		return "", session.ErrClusterArguments("ADMIN NODE REMOVE", "the last node of a cluster cannot leave it")
	}
	return fmt.Sprintf("node %d leaves: its copies go to other nodes, as far as there are any, and its number never comes back", id), nil
}

// listRegions executes ADMIN REGIONS.
func (n *Node) listRegions() ([]session.ClusterRegion, error) {
	if len(n.groups()) == 0 {
		return nil, session.ErrNoCluster("ADMIN REGIONS")
	}
	var list []session.ClusterRegion
	add := func(g *replica.GroupStatus, bytes int64) {
		r := session.ClusterRegion{ID: uint64(g.Region.ID), Start: hex.EncodeToString(g.Region.Start), End: hex.EncodeToString(g.Region.End), Leader: g.LeaderStore,
			Term: g.Term, Applied: g.Applied, Bytes: uint64(max(bytes, 0))}
		var peers []string
		for _, p := range g.Region.Peers {
			text := strconv.FormatUint(p.Store, 10)
			if p.Learner {
				text += " learner"
			}
			peers = append(peers, text)
			r.Lag = max(r.Lag, g.Lag(p.ID))
		}
		r.Peers = strings.Join(peers, ", ")
		list = append(list, r)
	}
	if g, ok := n.store.GroupStatus(0); ok {
		add(&g, 0)
	}
	for _, st := range n.store.RegionStatuses() {
		if st.Group != nil {
			add(st.Group, st.Bytes)
		}
	}
	return list, nil
}
