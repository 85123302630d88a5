package store

import (
	"bytes"

	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/replica"
)

// Cut cuts a region in two at a key. The right half gets the id, and its replicas the ids of peers, in the order of the left half's. It
// returns once that is durable. ErrNoCut says that there is nothing to cut there.
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
