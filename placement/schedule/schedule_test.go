package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
)

// parse reads a state: "gw 1 copies 3 | 1 2 3! 4- | v1 l2* v3", where ! marks a dead node, - one that leaves, v and l voters and learners, * a
// learner that has caught up. Peers have the ids of their stores and 100.
func parse(t *testing.T, text string) *State {
	parts := strings.Split(text, "|")
	s := &State{}
	if _, err := fmt.Sscanf(parts[0], "gw %d copies %d", &s.Gateway, &s.Copies); err != nil {
		t.Fatal(err)
	}
	for _, f := range strings.Fields(parts[1]) {
		n := Node{Alive: !strings.Contains(f, "!"), Leaving: strings.Contains(f, "-")}
		if _, err := fmt.Sscan(strings.Trim(f, "!-"), &n.Store); err != nil {
			t.Fatal(err)
		}
		s.Nodes = append(s.Nodes, n)
	}
	for _, part := range parts[2:] {
		r := Region{ID: kvapi.RegionID(len(s.Regions))}
		for _, f := range strings.Fields(part) {
			if f == "changing" {
				r.Changing = true
				continue
			}
			c := Copy{CaughtUp: f[0] == 'v' || strings.HasSuffix(f, "*")}
			c.Learner = f[0] == 'l'
			if _, err := fmt.Sscan(strings.Trim(f, "vl*"), &c.Store); err != nil {
				t.Fatal(err)
			}
			c.ID = c.Store + 100
			r.Copies = append(r.Copies, c)
		}
		s.Regions = append(s.Regions, r)
	}
	return s
}

func show(c Change, ok bool) string {
	if !ok {
		return "none"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "region %d:", c.Region)
	peers := slices.Clone(c.Peers)
	slices.SortFunc(peers, func(a, b kvapi.Peer) int { return int(a.Store) - int(b.Store) })
	for _, p := range peers {
		b.WriteByte(' ')
		if p.ID == 0 {
			b.WriteByte('+')
		}
		b.WriteByte("vl"[map[bool]int{true: 1}[p.Learner]])
		fmt.Fprint(&b, p.Store)
	}
	return b.String()
}

func TestNext(t *testing.T) {
	for _, c := range []struct{ name, state, want string }{
		{"one node", "gw 1 copies 3 | 1 | v1 | v1", "none"},
		{"another region's copy is being made", "gw 1 copies 3 | 1 2 3 | v1 | v1 l2 | v1", "region 2: v1 +l2"},
		{"as many copies are being made as may be", "gw 1 copies 3 | 1 2 3 | v1 | v1 l2 | v1 l2 | v1 l2 | v1 l3 | v1", "none"},
		{"a copy has caught up while others are being made", "gw 1 copies 3 | 1 2 3 | v1 | v1 l2 | v1 l2* l3*", "region 2: v1 v2 v3"},
		{"region 0 waits for the copies of others", "gw 1 copies 3 | 1 2 3 | v1 l2* l3* | v1 v2 l3 | v1 v2 v3", "none"},
		{"a second joins", "gw 1 copies 3 | 1 2 | v1 | v1", "region 1: v1 +l2"},
		{"a copy is made at a time", "gw 1 copies 3 | 1 2 | v1 | v1 l2", "none"},
		{"the next region", "gw 1 copies 3 | 1 2 | v1 | v1 l2*", "region 0: v1 +l2"},
		{"two nodes: a voter and a learner", "gw 1 copies 3 | 1 2 | v1 l2* | v1 l2*", "none"},
		{"a third joins", "gw 1 copies 3 | 1 2 3 | v1 l2* | v1 l2*", "region 1: v1 l2 +l3"},
		{"region 0 gets voters last", "gw 1 copies 3 | 1 2 3 | v1 l2* l3* | v1 l2* l3*", "region 1: v1 v2 v3"},
		{"region 0 loses voters first", "gw 1 copies 3 | 1 2 3- | v1 v2 v3 | v1 v2 v3", "region 0: v1 l2"},
		{"both become voters at once", "gw 1 copies 3 | 1 2 3 | v1 l2* l3*", "region 0: v1 v2 v3"},
		{"all is well", "gw 1 copies 3 | 1 2 3 4 | v1 v2 v3", "none"},
		{"a change is under way", "gw 1 copies 3 | 1 2 3 | changing v1 l2* l3* | v1", "none"},
		{"who is dead stays", "gw 1 copies 3 | 1 2 3! 4 | v1 v2 v3", "none"},
		{"who is removed is replaced, first by a learner", "gw 1 copies 3 | 1 2 3!- 4 | v1 v2 v3", "region 0: v1 v2 v3 +l4"},
		{"then by a voter", "gw 1 copies 3 | 1 2 3!- 4 | v1 v2 v3 l4*", "region 0: v1 v2 v4"},
		{"without a replacement one voter is left", "gw 1 copies 3 | 1 2 3!- | v1 v2 v3", "region 0: v1 l2"},
		{"a store that nobody knows", "gw 1 copies 3 | 1 2 | v1 v2 v3", "region 0: v1 l2"},
		{"no majority: nothing can be changed", "gw 1 copies 3 | 1 2!- 3! 4 | v1 v2 v3 l4*", "none"},
		{"a learner that died does not hold up the others", "gw 1 copies 3 | 1 2! 3 4 | v1 l2 l3* l4*", "region 0: v1 v3 v4"},
		{"the gateway stays though it leaves: it has to hand over first", "gw 1 copies 3 | 1- 2 3 4 | v1 v2 v3", "none"},
		{"a dead learner is replaced", "gw 1 copies 3 | 1 2! 3 | v1 l2* l3*", "none"},
		{"a dead learner is replaced where somebody can", "gw 1 copies 3 | 1 2! 3 4 | v1 l2* l3*", "region 0: v1 l2 l3 +l4"},
		{"five copies", "gw 1 copies 5 | 1 2 3 4 5 | v1 v2 v3 l4* l5*", "region 0: v1 v2 v3 v4 v5"},
		{"four are three voters", "gw 1 copies 5 | 1 2 3 4 | v1 v2 v3 l4*", "none"},
	} {
		if got := show(Next(parse(t, c.state))); got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.name, c.state, got, c.want)
		}
	}
}

// TestConverges lets nodes join, die, come back and be removed, carries out what Next says, and demands that it ends, keeps the rules, and
// leaves as many voters on nodes that stay as there can be.
func TestConverges(t *testing.T) {
	rng := testkit.Rand(testkit.Seed(t), 0)
	for run := range 300 {
		s := &State{Gateway: 1, Copies: 1 + 2*rng.IntN(3), Nodes: []Node{{Store: 1, Alive: true}}}
		id := uint64(1000)
		for r := range 1 + rng.IntN(4) {
			id++
			s.Regions = append(s.Regions, Region{ID: kvapi.RegionID(r), Copies: []Copy{{Peer: kvapi.Peer{ID: id, Store: 1}, CaughtUp: true}}})
		}
		for range 30 {
			disturb(rng, s)
			settle(t, rng, s, &id)
			if t.Failed() {
				t.Fatalf("run %d", run)
			}
		}
	}
}

// disturb lets something happen to a node that is not the gateway, as long as every region keeps a majority of its voters.
func disturb(rng *rand.Rand, s *State) {
	before := slices.Clone(s.Nodes)
	switch i := rng.IntN(len(s.Nodes)); {
	case rng.IntN(3) == 0:
		s.Nodes = append(s.Nodes, Node{Store: uint64(len(s.Nodes) + 1), Alive: true})
	case i == 0:
	case rng.IntN(3) == 0:
		s.Nodes[i].Leaving = true
	default:
		s.Nodes[i].Alive = !s.Nodes[i].Alive
	}
	for i := range s.Regions {
		if peers := peersOf(s.Regions[i].Copies); !s.safe(s.Regions[i].Copies, peers) {
			s.Nodes = before
			return
		}
	}
}

func settle(t *testing.T, rng *rand.Rand, s *State, id *uint64) {
	for steps := 0; ; steps++ {
		for i := range s.Regions {
			for j := range s.Regions[i].Copies {
				c := &s.Regions[i].Copies[j]
				c.CaughtUp = c.CaughtUp || s.alive(c.Store) && rng.IntN(2) == 0
			}
		}
		c, ok := Next(s)
		if !ok {
			waiting := slices.ContainsFunc(s.Regions, func(r Region) bool {
				return slices.ContainsFunc(r.Copies, func(c Copy) bool { return !c.CaughtUp && s.alive(c.Store) })
			})
			if !waiting {
				break
			}
			continue
		}
		if steps > 1000 {
			t.Fatalf("no end: %s of %+v", show(c, ok), s)
		}
		apply(t, s, c, id)
	}
	for _, r := range s.Regions {
		check(t, s, &r)
	}
}

// apply carries a change out and checks it against the rules.
func apply(t *testing.T, s *State, c Change, id *uint64) {
	i := slices.IndexFunc(s.Regions, func(r Region) bool { return r.ID == c.Region })
	r := &s.Regions[i]
	if !s.safe(r.Copies, c.Peers) {
		t.Errorf("%s of %+v: no majority", show(c, true), s)
	}
	var next []Copy
	voters := 0
	for _, p := range c.Peers {
		j := slices.IndexFunc(r.Copies, func(c Copy) bool { return c.Store == p.Store })
		copied := Copy{Peer: p}
		switch {
		case p.ID == 0 && j >= 0, p.ID != 0 && j < 0, p.ID == 0 && !p.Learner:
			t.Errorf("%s of %+v", show(c, true), s)
		case p.ID == 0:
			*id++
			copied.ID = *id
		default:
			copied.CaughtUp = r.Copies[j].CaughtUp
			if r.Copies[j].Learner && !p.Learner && !copied.CaughtUp {
				t.Errorf("%s of %+v: a voter that has not caught up", show(c, true), s)
			}
		}
		if !p.Learner {
			voters++
		}
		next = append(next, copied)
	}
	if voters%2 == 0 || !slices.ContainsFunc(next, func(c Copy) bool { return c.Store == s.Gateway && !c.Learner }) {
		t.Errorf("%s of %+v: %d voters", show(c, true), s, voters)
	}
	r.Copies = next
}

// check looks at a region where nothing is left to do.
func check(t *testing.T, s *State, r *Region) {
	able, voters := 0, 0
	for _, n := range s.Nodes {
		if n.Alive && !n.Leaving {
			able++
		}
	}
	for _, c := range r.Copies {
		if !c.Learner {
			voters++
		}
	}
	able = min(able, s.Copies)
	if voters < able-1+able%2 {
		t.Errorf("%d voters of %d able nodes, %d copies: %+v", voters, able, s.Copies, s)
	}
}
