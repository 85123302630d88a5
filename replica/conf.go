package replica

import (
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/pandodb/pando/internal/codec"
	"github.com/pandodb/pando/kvapi"
)

// The role of a peer, as a byte in descriptors and in changes of members.
const (
	roleVoter = iota
	roleLearner
	roleIncoming
	roleOutgoing
	roleDemoted
)

// changeVersion is the first byte of the context of a change of members.
const changeVersion = 1

// ErrPeers refuses a list of peers that a region cannot change to in one step.
var ErrPeers = errors.New("replica: the peers cannot be changed so")

func peerRole(p kvapi.Peer) byte {
	switch {
	case p.Joint == kvapi.JointIncoming:
		return roleIncoming
	case p.Joint == kvapi.JointOutgoing:
		return roleOutgoing
	case p.Joint == kvapi.JointDemoted:
		return roleDemoted
	case p.Learner:
		return roleLearner
	}
	return roleVoter
}

func decodePeer(d *codec.Decoder) kvapi.Peer {
	p := kvapi.Peer{ID: d.Uint(), Store: d.Uint()}
	switch d.Byte(roleDemoted) {
	case roleLearner:
		p.Learner = true
	case roleIncoming:
		p.Joint = kvapi.JointIncoming
	case roleOutgoing:
		p.Joint = kvapi.JointOutgoing
	case roleDemoted:
		p.Joint = kvapi.JointDemoted
	}
	return p
}

// confState returns a region's peers as raft describes them.
func confState(r *kvapi.Region) *raftpb.ConfState {
	c := &raftpb.ConfState{}
	joint := r.Joint()
	for _, p := range r.Peers {
		before, after := !p.Learner && p.Joint != kvapi.JointIncoming, !p.Learner && (p.Joint == kvapi.JointNone || p.Joint == kvapi.JointIncoming)
		if after {
			c.Voters = append(c.Voters, p.ID)
		}
		if joint && before {
			c.VotersOutgoing = append(c.VotersOutgoing, p.ID)
		}
		if p.Learner {
			c.Learners = append(c.Learners, p.ID)
		}
		if p.Joint == kvapi.JointDemoted {
			c.LearnersNext = append(c.LearnersNext, p.ID)
		}
	}
	if joint {
		c.AutoLeave = new(true)
	}
	return c
}

// CheckPeers returns an error unless a region can change to the peers in one step. A new peer must begin as a learner, so that no commit waits
// for a voter without data; and without a change of voters only one learner may be added or removed at a time.
func CheckPeers(r *kvapi.Region, peers []kvapi.Peer) error {
	if r.Joint() {
		return fmt.Errorf("%w: another change of region %d is in progress", ErrPeers, r.ID)
	}
	voters := 0
	stores := map[uint64]bool{}
	for _, p := range peers {
		if p.Joint != kvapi.JointNone || p.ID == 0 || stores[p.Store] {
			return fmt.Errorf("%w: region %d would have a peer without an id, or two on store %d", ErrPeers, r.ID, p.Store)
		}
		stores[p.Store] = true
		was := slices.IndexFunc(r.Peers, func(o kvapi.Peer) bool { return o.ID == p.ID })
		switch {
		case was >= 0 && r.Peers[was].Store != p.Store:
			return fmt.Errorf("%w: peer %d is on store %d", ErrPeers, p.ID, r.Peers[was].Store)
		case was < 0 && !p.Learner:
			return fmt.Errorf("%w: peer %d of region %d is to begin as a learner", ErrPeers, p.ID, r.ID)
		}
		if !p.Learner {
			voters++
		}
	}
	if voters == 0 {
		return fmt.Errorf("%w: region %d would have no voter", ErrPeers, r.ID)
	}
	if changes, votes := changesOf(r.Peers, peers); len(changes) > 1 && !votes {
		return fmt.Errorf("%w: learners of region %d come and go one by one", ErrPeers, r.ID)
	} else if len(changes) == 0 {
		return fmt.Errorf("%w: region %d has these peers", ErrPeers, r.ID)
	}
	return nil
}

// changesOf returns the steps between two lists of peers, and whether one of them adds or removes a voter.
func changesOf(from, to []kvapi.Peer) (changes []*raftpb.ConfChangeSingle, votes bool) {
	add := func(kind raftpb.ConfChangeType, id uint64) {
		changes = append(changes, &raftpb.ConfChangeSingle{Type: kind.Enum(), NodeId: &id})
	}
	for _, p := range to {
		was := slices.IndexFunc(from, func(o kvapi.Peer) bool { return o.ID == p.ID })
		if was >= 0 && from[was].Learner == p.Learner {
			continue
		}
		kind := raftpb.ConfChangeAddNode
		if p.Learner {
			kind = raftpb.ConfChangeAddLearnerNode
		}
		add(kind, p.ID)
		votes = votes || !p.Learner || was >= 0
	}
	for _, p := range from {
		if !slices.ContainsFunc(to, func(o kvapi.Peer) bool { return o.ID == p.ID }) {
			add(raftpb.ConfChangeRemoveNode, p.ID)
			votes = votes || !p.Learner
		}
	}
	return changes, votes
}

// encodeChange builds the content of an entry that changes a region's peers; doc.go has the format.
func encodeChange(r *kvapi.Region, peers []kvapi.Peer) (*raftpb.ConfChangeV2, error) {
	changes, _ := changesOf(r.Peers, peers)
	b := codec.AppendUint(codec.AppendUint([]byte{changeVersion}, r.Epoch.Version), r.Epoch.ConfVer)
	b = codec.AppendUint(b, len(peers))
	for _, p := range peers {
		b = append(codec.AppendUint(codec.AppendUint(b, p.ID), p.Store), peerRole(p))
	}
	return &raftpb.ConfChangeV2{Changes: changes, Context: b}, nil
}

// decodeChange returns a region as an entry that changes its members makes it, and the change for raft; nil if the entry was made for another
// epoch and changes nothing.
func decodeChange(r *kvapi.Region, content []byte) (next *kvapi.Region, change *raftpb.ConfChangeV2, err error) {
	change = &raftpb.ConfChangeV2{}
	if err := proto.Unmarshal(content, change); err != nil {
		return nil, nil, fmt.Errorf("%w: a change of members: %w", ErrEntry, err)
	}
	next = new(*r)
	next.Epoch.ConfVer++
	next.Peers = nil
	if change.LeaveJoint() {
		if !r.Joint() {
			return nil, nil, nil
		}
		for _, p := range r.Peers {
			gone := p.Joint == kvapi.JointOutgoing
			p.Learner, p.Joint = p.Learner || p.Joint == kvapi.JointDemoted, kvapi.JointNone
			if !gone {
				next.Peers = append(next.Peers, p)
			}
		}
		return next, change, nil
	}
	d := codec.NewDecoder(change.GetContext())
	if v := d.Byte(255); d.Err() == nil && v != changeVersion {
		return nil, nil, fmt.Errorf("%w: a change of members of version %d, this program knows %d", ErrEntry, v, changeVersion)
	}
	epoch := kvapi.Epoch{Version: d.Uint32(), ConfVer: d.Uint32()}
	var peers []kvapi.Peer
	for range d.Count(3) {
		peers = append(peers, decodePeer(&d))
	}
	if err := d.End(); err != nil {
		return nil, nil, fmt.Errorf("%w: a change of members: %w", ErrEntry, err)
	}
	if epoch != r.Epoch || r.Joint() {
		return nil, nil, nil
	}
	_, joint := change.EnterJoint()
	next.Peers = merge(r.Peers, peers, joint)
	return next, change, nil
}

// merge returns the peers after a change, or while it is joint.
func merge(from, to []kvapi.Peer, joint bool) (out []kvapi.Peer) {
	for _, p := range to {
		was := slices.IndexFunc(from, func(o kvapi.Peer) bool { return o.ID == p.ID })
		switch {
		case !joint || was < 0:
		case from[was].Learner && !p.Learner:
			p.Joint = kvapi.JointIncoming
		case !from[was].Learner && p.Learner:
			p.Learner, p.Joint = false, kvapi.JointDemoted
		}
		out = append(out, p)
	}
	for _, p := range from {
		if joint && !p.Learner && !slices.ContainsFunc(to, func(o kvapi.Peer) bool { return o.ID == p.ID }) {
			p.Joint = kvapi.JointOutgoing
			out = append(out, p)
		}
	}
	return out
}
