package kvapi

import "bytes"

// RegionID names a region for ever; ids are never reused.
type RegionID uint64

// Epoch counts what happened to a region. Version grows with splits, ConfVer
// with changes of mode or membership. Requests are checked for equality.
type Epoch struct {
	Version, ConfVer uint32
}

// Mode says how a region's writes become durable.
type Mode uint8

// The modes. All regions of a store have the same.
const (
	// ModeSolo: one replica, no Raft log; the engine's WAL is the log.
	ModeSolo Mode = 1
	// ModeRaft: the replicas of the region's peers, and a Raft log.
	ModeRaft Mode = 2
)

// Peer is a replica of a region. Its id is never used again.
type Peer struct {
	ID, Store uint64
	Learner   bool // it has no vote
	// Joint is its part in a change of members that is under way.
	Joint JointRole
}

// JointRole is the part of a peer in a joint change of members: until that is done, both the voters of before and those of afterwards decide.
type JointRole uint8

// The roles.
const (
	// JointNone: nothing changes for the peer.
	JointNone JointRole = iota
	// JointIncoming: it had no vote before the change.
	JointIncoming
	// JointOutgoing: it votes among those of before, and goes.
	JointOutgoing
	// JointDemoted: it votes among those of before, and has no vote afterwards.
	JointDemoted
)

// Region describes a key range that lives and moves together. Values are
// immutable once shared.
type Region struct {
	ID    RegionID
	Epoch Epoch
	Mode  Mode
	// Start is inclusive, End exclusive; an empty End means no upper bound.
	Start, End []byte
	// Peers are its replicas, with ModeRaft.
	Peers []Peer
}

// Contains reports whether key belongs to the region.
func (r *Region) Contains(key []byte) bool {
	return bytes.Compare(key, r.Start) >= 0 && (len(r.End) == 0 || bytes.Compare(key, r.End) < 0)
}

// Joint reports whether a change of members is under way.
func (r *Region) Joint() bool {
	for i := range r.Peers {
		if r.Peers[i].Joint != JointNone {
			return true
		}
	}
	return false
}

// On returns the peer on a store.
func (r *Region) On(store uint64) (p Peer, ok bool) {
	for _, p := range r.Peers {
		if p.Store == store {
			return p, true
		}
	}
	return p, false
}

// Voters returns how many peers have a vote, be it before or after a change that is under way.
func (r *Region) Voters() (n int) {
	for i := range r.Peers {
		if !r.Peers[i].Learner {
			n++
		}
	}
	return n
}

// Ref returns the name and epoch of the region, for a request.
func (r *Region) Ref() RegionRef { return RegionRef{ID: r.ID, Epoch: r.Epoch} }

// RegionRef is a region as a request believes it to be.
type RegionRef struct {
	ID    RegionID
	Epoch Epoch
}
