package tests

import (
	"encoding/json"
	"testing"
)

// checksum is what a copy of a region is at an index.
type checksum struct {
	Region   uint64 `json:"region"`
	Index    uint64 `json:"index"`
	Checksum string `json:"checksum"`
}

// checksums asks a node for those of its copies.
func (n *node) checksums() (list []checksum, ok bool) {
	answer, err := statusClient.Get("http://" + n.http + "/debug/checksums")
	if err != nil {
		return nil, false
	}
	defer answer.Body.Close()
	return list, json.NewDecoder(answer.Body).Decode(&list) == nil
}

// sameCopies waits until all copies of each region are at the same index, and compares them there.
func (c *copies) sameCopies() {
	c.t.Helper()
	compared := map[uint64]bool{}
	c.await("the copies of each region to be at the same index", func() bool {
		all := make([][]checksum, len(c.nodes))
		for i, n := range c.nodes {
			var ok bool
			if all[i], ok = n.checksums(); !ok {
				return false
			}
		}
		return compareCopies(c.t, all, compared)
	})
	c.t.Logf("the copies of %d regions are the same", len(compared))
}

// compareCopies compares what nodes say of their copies, and tells whether each region that the first has was compared, now or before: its copies at an index at which
// there are as many as nodes.
func compareCopies(t testing.TB, all [][]checksum, compared map[uint64]bool) (complete bool) {
	t.Helper()
	complete = len(all[0]) > 0
	for _, first := range all[0] {
		same := 1
		for _, list := range all[1:] {
			for _, other := range list {
				if other.Region != first.Region || other.Index != first.Index {
					continue
				}
				same++
				if other.Checksum != first.Checksum {
					t.Errorf("region %d at %d: copies %s and %s", first.Region, first.Index, first.Checksum, other.Checksum)
				}
			}
		}
		if same == len(all) {
			compared[first.Region] = true
		}
		complete = complete && compared[first.Region]
	}
	return complete
}
