package server

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/placement/schedule"
)

// TestOneVoteIsTold: the log tells once that of two nodes one alone votes, and once that it does not any more; nothing of a moment, of one node, or of three.
func TestOneVoteIsTold(t *testing.T) {
	of := func(leaving bool, learners ...bool) *schedule.State {
		s := &schedule.State{Gateway: 1, Copies: 3, Regions: make([]schedule.Region, 1)}
		for i, learner := range learners {
			id := uint64(i + 1)
			s.Nodes = append(s.Nodes, schedule.Node{Store: id, Alive: true, Leaving: leaving && i == 2})
			s.Regions[0].Copies = append(s.Regions[0].Copies, schedule.Copy{Peer: kvapi.Peer{ID: id, Store: id, Learner: learner}})
		}
		return s
	}
	one, two, growing, three := of(false, false), of(false, false, true), of(false, false, true, true), of(false, false, false, false)
	removed := of(true, false, true, true)
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	v := new(voteTeller)
	looks := func(state *schedule.State, n int) string {
		out.Reset()
		for range n {
			v.look(state, log)
		}
		return out.String()
	}
	if said := looks(one, 2*lagLooks) + looks(two, lagLooks-1) + looks(growing, 2*lagLooks) + looks(three, 2*lagLooks); said != "" {
		t.Errorf("of a moment, of one node and of three: %s", said)
	}
	if said := looks(two, 3*lagLooks); strings.Count(said, "\n") != 1 || !strings.Contains(said, "level=WARN") || !strings.Contains(said, "a third node makes three voters") {
		t.Errorf("of two: %s", said)
	}
	if said := looks(three, 3); strings.Count(said, "\n") != 1 || !strings.Contains(said, "does not vote alone any more") {
		t.Errorf("of a third: %s", said)
	}
	if said := looks(removed, lagLooks); !strings.Contains(said, "alone has a vote") {
		t.Errorf("of three of which one was removed: %s", said)
	}
}
