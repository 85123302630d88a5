package store

import (
	"errors"
	"strings"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/kvapi"
)

// TestGap: a store that lacks a region's copy is told apart from one whose regions contradict each other.
func TestGap(t *testing.T) {
	region := func(id kvapi.RegionID, start, end string) *kvapi.Region {
		return &kvapi.Region{ID: id, Start: []byte(start), End: []byte(end)}
	}
	for _, c := range []struct {
		what    string
		regions []*kvapi.Region
		want    string
	}{
		{"whole", []*kvapi.Region{region(1, "", "b"), region(3, "b", "d"), region(2, "d", "")}, ""},
		{"one", []*kvapi.Region{region(1, "", "")}, ""},
		{"none", nil, "no copy here yet"},
		{"no first", []*kvapi.Region{region(3, "b", "d"), region(2, "d", "")}, "between  and region 3"},
		{"a hole", []*kvapi.Region{region(1, "", "b"), region(2, "d", "")}, "between 62 and region 2"},
		{"no last", []*kvapi.Region{region(1, "", "b"), region(3, "b", "d")}, "from 64 on"},
		{"overlap", []*kvapi.Region{region(1, "", "c"), region(2, "b", "")}, "corrupt"},
		{"behind the last", []*kvapi.Region{region(1, "", ""), region(2, "b", "")}, "corrupt"},
	} {
		err := gap(c.regions)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || errors.Is(err, kvapi.ErrCorrupt) != (c.want == "corrupt") {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// TestRoleAtOnce: a store that has become the gateway says so when it is asked, not a moment later.
func TestRoleAtOnce(t *testing.T) {
	for range 20 {
		e, err := engine.Open(engine.Options{Dir: "d", FS: engine.NewMemFS(), BallastBytes: engine.NoSpace, LowSpaceBytes: engine.NoSpace})
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(Options{Engine: e})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Promote(); err != nil {
			t.Fatal(err)
		}
		if gateway, here, _, _ := s.Role(); gateway != s.ID() || !here || !s.Serves() {
			t.Errorf("store %d was promoted, and the gateway is %d", s.ID(), gateway)
		}
		if err := errors.Join(s.Close(), e.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
