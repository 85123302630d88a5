package server

import (
	"log/slog"

	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/replica"
)

// lagLooks is in how many checks in a row the copies of a node must be behind before it is logged: new copies and short peaks of load are usual.
const lagLooks = 3

// lagTeller logs once that the copies of a node are behind, and once that they have caught up. It belongs to the goroutine of keepMembers.
type lagTeller map[uint64]int // by node, the number of checks in a row that found its copies behind

// nodeLag describes the copies on one node that are behind.
type nodeLag struct {
	regions  int            // the number of these copies
	worst    kvapi.RegionID // the region of the copy that lacks most entries
	term     uint64         // the term of that region
	entries  uint64         // the entries that the copy lacks
	answered bool           // that copy answers its leader
}

// look checks the groups that this node leads.
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
