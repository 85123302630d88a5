package store

import (
	"bytes"

	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/replica"
)

// Cut splits a region at a key. The right half gets the id, and its replicas get the ids in peers, in the order of the left half's. It
// returns once that is durable. ErrNoCut says that the key is not inside the region, or is its start.
func (c *Cluster) Cut(ref kvapi.RegionRef, key []byte, id kvapi.RegionID, peers []uint64) error {
	r := c.region(ref.ID)
	if r == nil {
		return errEpoch
	}
	if desc := r.desc.Load(); !desc.Contains(key) || bytes.Equal(desc.Start, key) {
		return ErrNoCut
	}
	_, err := c.propose(ref, &replica.Split{Key: bytes.Clone(key), Right: id, Peers: peers}, true)
	return err
}

// voterAway reports whether a voter of a region does not answer, or lacks more of its log than a little. If it gets a snapshot in the end it has no copy of
// what was split off meanwhile, and no vote there, until that has come as well: were another voter lost before, there would be no majority. A copy of the
// whole region, though old, has a vote.
func (s *Store) voterAway(desc *kvapi.Region) bool {
	st, ok := s.GroupStatus(desc.ID)
	if !ok {
		return false // a node alone
	}
	for _, p := range desc.Peers {
		if !p.Learner && !st.CaughtUp(p.ID) {
			return true
		}
	}
	return false
}
