package server

import (
	"bytes"
	"context"
	"testing"
)

// TestRegionList: the regions of a store follow each other from the first key to the last, alone and as the first of a cluster, and each has a leader
// among its peers. The store's figures are theirs together.
func TestRegionList(t *testing.T) {
	n, err := Open(context.Background(), testOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for _, promoted := range []bool{false, true} {
		if promoted {
			if _, err := n.promote(); err != nil {
				t.Fatal(err)
			}
		}
		list := n.regionList()
		if len(list) == 0 || len(list[0].Start) != 0 || len(list[len(list)-1].End) != 0 {
			t.Fatalf("promoted %v: %d regions do not cover all keys", promoted, len(list))
		}
		for i, r := range list {
			leads := false
			for _, p := range r.Peers {
				leads = leads || p.ID == r.LeaderPeer && p.Store == r.LeaderStore
			}
			if !leads || r.ID == 0 || i > 0 && !bytes.Equal(r.Start, list[i-1].End) {
				t.Errorf("promoted %v: region %+v", promoted, r)
			}
		}
		stores := n.storeList()
		if len(stores) != 1 || stores[0].Regions != len(list) || stores[0].Leaders != len(list) || stores[0].Told.Capacity <= stores[0].Told.Available || stores[0].Address != n.MySQLAddr() {
			t.Errorf("promoted %v: stores %+v", promoted, stores)
		}
	}
}
