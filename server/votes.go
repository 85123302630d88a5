package server

import (
	"log/slog"

	"github.com/pandodb/pando/placement/schedule"
)

// oneVoteReason says what it means that one node alone votes, and what to do.
const oneVoteReason = "two nodes make a voter and a learner: if the voter is lost nothing is written until it is back; a third node makes three voters"

// oneVote reports whether this cluster of two has a region in which the gateway alone votes, and the other node has a copy that learns.
func oneVote(state *schedule.State) bool {
	members := 0
	for _, node := range state.Nodes {
		if !node.Leaving {
			members++
		}
	}
	if members != 2 {
		return false // of one node the death of it is the death of all; more make three voters, and copiesMissing counts what they lack
	}
	for i := range state.Regions {
		voters, learners := 0, 0
		for _, c := range state.Regions[i].Copies {
			if c.Learner {
				learners++
			} else {
				voters++
			}
		}
		if voters == 1 && learners > 0 {
			return true
		}
	}
	return false
}

// voteTeller logs once that one node of two alone votes, and once that this is over. It belongs to the goroutine of keepMembers.
type voteTeller int // the number of checks in a row that found it

func (v *voteTeller) look(state *schedule.State, log *slog.Logger) {
	switch {
	case oneVote(state):
		if *v++; *v == lagLooks { // a third node may be about to join
			log.Warn("this node alone has a vote", "node", state.Gateway, "reason", oneVoteReason)
		}
		return
	case *v >= lagLooks:
		log.Info("this node does not vote alone any more", "node", state.Gateway, "nodes", len(state.Nodes))
	}
	*v = 0
}
