package server

import (
	"testing"

	"github.com/pandodb/pando/cluster/transport"
)

// TestVerdict: who is refused for good is told by a majority of the others that may judge. A node that remembers itself among the members, and one that was removed too, has fewer who could speak.
func TestVerdict(t *testing.T) {
	const self = 9
	for _, c := range []struct {
		what            string
		judges, against []uint64
		ends            bool
	}{
		{"two of two others", []uint64{1, 2, self}, []uint64{1, 2}, true},
		{"one of two others", []uint64{1, 2, self}, []uint64{1}, false},
		{"two of three others, one is gone", []uint64{1, 2, 3, self}, []uint64{1, 2}, true},
		{"two of four others", []uint64{1, 2, 3, 4, self}, []uint64{1, 2}, false},
		{"the only voter", []uint64{1}, []uint64{1}, true},
		{"nobody", []uint64{1, 2, self}, nil, false},
		{"one who may not judge", []uint64{1, 2, self}, []uint64{1, 5}, false},
		{"nobody may judge", []uint64{self}, []uint64{1}, false},
	} {
		nodes := []transport.Status{{Node: 1}, {Node: 2}}
		for _, id := range c.against {
			nodes = append(nodes, transport.Status{Node: id, Final: "removed"})
		}
		if why := verdict(self, c.judges, nodes); (why != "") != c.ends {
			t.Errorf("%s: %q", c.what, why)
		}
	}
}
