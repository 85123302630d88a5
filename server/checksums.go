package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

// checksumMax bounds how long the answer about one region may take to be made and sent.
const checksumMax = 5 * time.Minute

// copyChecksum is what a copy of a region on this node is at an index of the region's log: copies at the same index have the same.
type copyChecksum struct {
	Region   uint64 `json:"region"`
	Index    uint64 `json:"index"`
	Checksum string `json:"checksum"`
}

// serveChecksums reads every copy on this node, one request at a time. The answer ends where the client leaves.
func (n *Node) serveChecksums(w http.ResponseWriter, r *http.Request) {
	if !n.checksumming.TryLock() {
		http.Error(w, "another request for checksums is being answered", http.StatusServiceUnavailable)
		return
	}
	defer n.checksumming.Unlock()
	var ids []kvapi.RegionID
	if st := n.store.MetaStatus(); st != nil {
		ids = append(ids, st.Region.ID)
		for _, st := range n.store.RegionStatuses() {
			ids = append(ids, st.Region.ID)
		}
	}
	deadline := http.NewResponseController(w)
	list := []copyChecksum{} // of a node that is alone: it has no copies
	for _, id := range ids {
		if r.Context().Err() != nil {
			return
		}
		if err := deadline.SetWriteDeadline(clock.Now().Add(checksumMax)); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		index, sum, err := n.store.Checksum(id)
		if err != nil {
			http.Error(w, fmt.Sprintf("region %d: %v", id, err), http.StatusInternalServerError)
			return
		}
		list = append(list, copyChecksum{Region: uint64(id), Index: index, Checksum: fmt.Sprintf("%016x", sum)})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list) // a client that has left misses nothing
}
