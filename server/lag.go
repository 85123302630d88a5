package server

import (
	"log/slog"

	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/replica"
)

// lagLooks is how many looks in a row must find copies of a node behind until the log tells of it: new ones and busy moments are usual.
const lagLooks = 3

// lagTeller tells the log of nodes whose copies are behind, once, and of their having caught up. It belongs to the goroutine of keepMembers.
type lagTeller map[uint64]int // looks in a row that found a node's copies behind, by node

// nodeLag is how the copies of one node are behind.
type nodeLag struct {
	regions  int            // that have a copy there which is behind
	worst    kvapi.RegionID // of them
	term     uint64         // of the worst
	entries  uint64         // that it lacks
	answered bool           // the worst answers
}

// look looks at the groups that this node leads.
func (l lagTeller) look(groups []replica.GroupStatus, log *slog.Logger) {
	now := map[uint64]*nodeLag{}
	for i := range groups {
		g := &groups[i]
		if !g.Leads {
			continue
		}
		for _, p := range g.Region.Peers {
			lag := now[p.Store]
			if lag == nil {
				lag = &nodeLag{}
				now[p.Store] = lag
			}
			if g.CaughtUp(p.ID) {
				continue
			}
			if lag.regions++; lag.regions == 1 || g.Lag(p.ID) > lag.entries {
				lag.worst, lag.term, lag.entries, lag.answered = g.Region.ID, g.Term, g.Lag(p.ID), g.Answers(p.ID)
			}
		}
	}
	for node := range l {
		if now[node] == nil {
			delete(l, node) // it has no copies any more
		}
	}
	for node, lag := range now {
		switch {
		case lag.regions > 0:
			if l[node]++; l[node] == lagLooks {
				reason := "they answer and have not caught up"
				if !lag.answered {
					reason = "they do not answer"
				}
				log.Warn("copies on a node are behind", "node", node, "regions", lag.regions, "region", uint64(lag.worst), "term", lag.term, "lag", lag.entries, "reason", reason)
			}
		case l[node] >= lagLooks:
			log.Info("the copies on a node have caught up", "node", node)
			fallthrough
		default:
			delete(l, node)
		}
	}
}
