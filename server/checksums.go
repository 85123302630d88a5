package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

// checksumMax bounds how long one region's checksum may take to be computed and sent.
const checksumMax = 5 * time.Minute

// copyChecksum is the checksum of this node's copy of a region at an index of the region's log. At the same index all copies have the same.
type copyChecksum struct {
	Region   uint64 `json:"region"`
	Index    uint64 `json:"index"`
	Checksum string `json:"checksum"`
}

// serveChecksums computes the checksum of every copy on this node, for one request at a time. It stops when the client disconnects.
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
	list := []copyChecksum{} // stays empty outside a cluster: nil would be encoded as null
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
