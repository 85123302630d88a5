package store

import (
	"testing"
	"time"

	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/replica"
)

// TestSlowDisk: what a disk must do to count as slower than others'.
func TestSlowDisk(t *testing.T) {
	for _, c := range []struct {
		what        string
		sync, pause time.Duration
		behindAfter time.Duration // since the sync began, until a majority of others is ahead; 0: never
		slow        bool
	}{
		{what: "syncs of 3 s, others are quick", sync: 3 * time.Second, behindAfter: 10 * time.Millisecond, slow: true},
		{what: "syncs of 1.2 s, others are quick", sync: 1200 * time.Millisecond, behindAfter: 10 * time.Millisecond, slow: true},
		{what: "a sync of 3 s now and then", sync: 3 * time.Second, pause: 10 * time.Second, behindAfter: 10 * time.Millisecond, slow: true},
		{what: "a sync of 1.2 s now and then", sync: 1200 * time.Millisecond, pause: 3 * time.Second, behindAfter: 10 * time.Millisecond},
		{what: "syncs of 200 ms", sync: 200 * time.Millisecond, behindAfter: 10 * time.Millisecond},
		{what: "syncs of 3 s, and of 2.9 s on others", sync: 3 * time.Second, behindAfter: 2900 * time.Millisecond},
		{what: "syncs of 3 s, others have no more", sync: 3 * time.Second},
		{what: "no syncs", pause: time.Second},
	} {
		var d slowDisk
		slow := false
		round := c.sync + c.pause
		for now := time.Second; now < 40*time.Second; now += roleInterval {
			since := now - now%round
			if now-since >= c.sync {
				slow = d.look(now, 0, false) || slow
				continue
			}
			slow = d.look(now, since, c.behindAfter != 0 && now-since >= c.behindAfter) || slow
		}
		if slow != c.slow {
			t.Errorf("%s: slow %v", c.what, slow)
		}
	}
}

// TestBehind: others have more of a log if a majority of all voters has it without this store's.
func TestBehind(t *testing.T) {
	region := &kvapi.Region{Peers: []kvapi.Peer{{ID: 1}, {ID: 2}, {ID: 3}, {ID: 4, Learner: true}}}
	votes := func(_ *kvapi.Region, peer uint64) bool { return peer < 4 }
	for _, st := range []replica.GroupStatus{
		{Region: region, Peer: 1, Leads: true, Deposed: true, Leader: 1},
		{Region: region, Peer: 1, Leader: 2},
	} {
		if !behind(&st, votes) {
			t.Errorf("the others have another leader: %+v", st)
		}
	}
	for _, c := range []struct {
		what  string
		match [4]uint64
		gone  uint64
		is    bool
	}{
		{"both have more", [4]uint64{5, 6, 7, 0}, 0, true},
		{"one has more", [4]uint64{5, 6, 5, 0}, 0, false},
		{"one and the learner have more", [4]uint64{5, 6, 5, 6}, 0, false},
		{"one of both does not answer", [4]uint64{5, 6, 6, 0}, 3, false},
	} {
		st := replica.GroupStatus{Region: region, Peer: 1, Leads: true}
		for i, m := range c.match {
			st.Peers = append(st.Peers, replica.PeerStatus{Peer: uint64(i + 1), Match: m, Active: uint64(i+1) != c.gone})
		}
		if behind(&st, votes) != c.is {
			t.Errorf("%s: %v", c.what, !c.is)
		}
		st.Leads = false
		if behind(&st, votes) {
			t.Errorf("%s, but it does not lead", c.what)
		}
	}
}
