package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/pandodb/pando/kvapi"
)

// TestSplitWaitsForLoad: a region that grows fast is not measured before it has stopped, or is several times too large.
func TestSplitWaitsForLoad(t *testing.T) {
	s, err := Open(Options{Engine: memEngine(t), RegionBytesMax: 64 << 10, SampleInterval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	var o Owner
	s.OpenOwner(&o, 1)
	rows := 0
	// load commits a number of rows of a kilobyte.
	load := func(n int) {
		t.Helper()
		for range n {
			put := kvapi.Mutation{Key: fmt.Appendf(nil, "%05d", rows), Value: make([]byte, 1000)}
			rows++
			regions := s.Regions()
			at := s.regions.Load().find(put.Key)
			if _, err := s.Commit(&o, &kvapi.CommitRequest{Regions: []kvapi.RegionRef{regions[at].Ref()}, Mutations: []kvapi.Mutation{put}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name          string
		rows, regions int
	}{
		{"too large and growing", 100, 1},
		{"still growing", 100, 1},
		{"almost calm", 2, 2},
		{"the left one calm, the right one growing", 30, 3},
		{"the right one much too large while growing", 400, 4},
	} {
		load(c.rows)
		s.sampleRegions()
		if n := len(s.Regions()); n != c.regions {
			t.Errorf("%s: %d regions, want %d", c.name, n, c.regions)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
