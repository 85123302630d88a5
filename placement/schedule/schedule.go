package schedule

import (
	"cmp"
	"slices"

	"github.com/pandodb/pando/kvapi"
)

// Node is what is known of a node.
type Node struct {
	Store   uint64
	Alive   bool // it has answered lately
	Leaving bool // removed by an operator
}

// Copy is a peer of a region.
type Copy struct {
	kvapi.Peer
	// CaughtUp: it has nearly all of the leader's log, so that as a voter it would not delay commits.
	CaughtUp bool
}

// Region is what is known of a region.
type Region struct {
	ID     kvapi.RegionID
	Copies []Copy
	// Changing: a change of its members is in progress.
	Changing bool
}

// State is the input of Next.
type State struct {
	// Gateway is the store that leads all regions.
	Gateway uint64
	// Copies is how many copies each region is to have: 1, 3 or 5.
	Copies  int
	Nodes   []Node
	Regions []Region
}

// Change is what a region's copies are to be. Peers without an id are new.
type Change struct {
	Region kvapi.RegionID
	Peers  []kvapi.Peer
	Why    string // for the log
}

// copyingMax is of how many regions copies are made at a time. With small regions most of that time is spent waiting for answers.
const copyingMax = 4

// Next returns the next change; ok is false if there is none to make now.
func Next(s *State) (c Change, ok bool) {
	copying := 0
	for i := range s.Regions {
		r := &s.Regions[i]
		if s.copying(r) {
			copying++
		}
		if r.Changing || copying == copyingMax {
			return Change{}, false // R1
		}
	}
	// R6: region 0 loses voters first and gets them last.
	var last Change
	waits := false
	for i := range s.Regions {
		if s.Regions[i].ID != 0 || s.copying(&s.Regions[i]) {
			continue
		}
		if last, waits = s.next(&s.Regions[i]); waits && voters(last.Peers) < voters(peersOf(s.Regions[i].Copies)) {
			return last, true
		}
	}
	for i := range s.Regions {
		if s.Regions[i].ID == 0 || s.copying(&s.Regions[i]) {
			continue
		}
		if c, ok = s.next(&s.Regions[i]); ok {
			return c, true
		}
	}
	return last, waits && copying == 0
}

// copying reports whether a region has a copy that is being made.
func (s *State) copying(r *Region) bool {
	return slices.ContainsFunc(r.Copies, func(c Copy) bool { return c.Learner && !c.CaughtUp && s.alive(c.Store) && !s.leaving(c.Store) })
}

func voters(peers []kvapi.Peer) (n int) {
	for _, p := range peers {
		if !p.Learner {
			n++
		}
	}
	return n
}

func (s *State) node(store uint64) *Node {
	if i := slices.IndexFunc(s.Nodes, func(n Node) bool { return n.Store == store }); i >= 0 {
		return &s.Nodes[i]
	}
	return nil
}

func (s *State) alive(store uint64) bool {
	n := s.node(store)
	return n != nil && n.Alive
}

// leaving reports whether a node is to lose its copies. So is an unknown node.
func (s *State) leaving(store uint64) bool {
	n := s.node(store)
	return n == nil || n.Leaving
}

// next returns the change that a region needs.
func (s *State) next(r *Region) (Change, bool) {
	var stay []Copy // copies that are to stay, best first
	for _, c := range r.Copies {
		if !s.leaving(c.Store) || c.Store == s.Gateway {
			stay = append(stay, c)
		}
	}
	rank := func(c Copy) int {
		switch {
		case c.Store == s.Gateway:
			return 0
		case !c.Learner && s.alive(c.Store):
			return 1
		case c.CaughtUp && s.alive(c.Store):
			return 2
		case !c.Learner:
			return 3
		}
		return 4
	}
	slices.SortStableFunc(stay, func(a, b Copy) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Store, b.Store)) })
	good := len(stay)
	for good > 0 && stay[good-1].Learner && !s.alive(stay[good-1].Store) {
		good-- // a learner on a dead node does not count
	}
	if good < s.Copies {
		if n, found := s.spare(r); found {
			peers := append(peersOf(r.Copies), kvapi.Peer{Store: n, Learner: true})
			return Change{r.ID, peers, "a copy is missing"}, true
		}
	}
	if len(stay) > s.Copies {
		stay = stay[:s.Copies]
	}
	// The voters are the best of those, as many as make an odd number (R3).
	able := 0
	for able < len(stay) && rank(stay[able]) <= 3 {
		able++
	}
	voters := able - 1 + able%2
	want := make([]kvapi.Peer, 0, len(stay))
	for i, c := range stay {
		c.Learner = i >= voters
		want = append(want, c.Peer)
	}
	if same(want, r.Copies) || !s.safe(r.Copies, want) {
		return Change{}, false
	}
	why := "a copy has caught up"
	if len(want) < len(r.Copies) {
		why = "a node leaves"
	}
	return Change{r.ID, want, why}, true
}

// spare returns an alive node without a copy of a region.
func (s *State) spare(r *Region) (store uint64, ok bool) {
	for _, n := range s.Nodes {
		if n.Alive && !n.Leaving && !slices.ContainsFunc(r.Copies, func(c Copy) bool { return c.Store == n.Store }) {
			return n.Store, true
		}
	}
	return 0, false
}

// safe reports whether a majority of the voters before and of those after is alive, as a joint change needs (R5).
func (s *State) safe(before []Copy, after []kvapi.Peer) bool {
	majority := func(peers []kvapi.Peer) bool {
		alive, voters := 0, 0
		for _, p := range peers {
			if !p.Learner {
				voters++
				if s.alive(p.Store) {
					alive++
				}
			}
		}
		return 2*alive > voters
	}
	return majority(peersOf(before)) && majority(after)
}

func peersOf(copies []Copy) (peers []kvapi.Peer) {
	for _, c := range copies {
		peers = append(peers, c.Peer)
	}
	return peers
}

// same reports whether two lists have the same peers in the same roles.
func same(a []kvapi.Peer, b []Copy) bool {
	return len(a) == len(b) && !slices.ContainsFunc(b, func(c Copy) bool { return !slices.Contains(a, c.Peer) })
}
