package server

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/replica"
)

// TestLagIsTold: the log tells once of a node whose copies stay behind, with the region that lacks most, and once that they have caught up; nothing of a moment, nor of groups that others lead.
func TestLagIsTold(t *testing.T) {
	group := func(id kvapi.RegionID, match uint64, active bool) replica.GroupStatus {
		return replica.GroupStatus{Region: &kvapi.Region{ID: id, Peers: []kvapi.Peer{{ID: 1, Store: 1}, {ID: 2, Store: 7}}}, Peer: 1, Leads: true, Term: 9, Last: 100_000,
			Peers: []replica.PeerStatus{{Peer: 1, Match: 100_000, Active: true}, {Peer: 2, Match: match, Active: active}}}
	}
	well, behind := []replica.GroupStatus{group(3, 100_000, true), group(4, 100_000, true)}, []replica.GroupStatus{group(3, 99_999, false), group(4, 10, false)}
	elsewhere := []replica.GroupStatus{group(3, 10, false)}
	elsewhere[0].Leads = false
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	l := lagTeller{}
	looks := func(groups []replica.GroupStatus, n int) string {
		out.Reset()
		for range n {
			l.look(groups, log)
		}
		return out.String()
	}
	if said := looks(behind, lagLooks-1) + looks(well, 1) + looks(elsewhere, 2*lagLooks); said != "" {
		t.Errorf("of a moment: %s", said)
	}
	if said := looks(behind, 3*lagLooks); strings.Count(said, "\n") != 1 || !strings.Contains(said, `node=7 regions=2 region=4 term=9 lag=99990 reason="they do not answer"`) {
		t.Errorf("of copies that are behind: %s", said)
	}
	if said := looks(well, 3); strings.Count(said, "\n") != 1 || !strings.Contains(said, "have caught up") {
		t.Errorf("of copies that have caught up: %s", said)
	}
	if said := looks([]replica.GroupStatus{group(3, 10, true)}, lagLooks); !strings.Contains(said, "they answer") {
		t.Errorf("of copies that answer: %s", said)
	}
}
