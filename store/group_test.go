package store

import (
	"fmt"
	"sync"
	"testing"

	"github.com/pandodb/pando/kvapi"
)

// TestGroupLimits: groups of commits keep to the limits: beside many committers each commit is a group of its own where one commit, or one byte, is a group's most.
func TestGroupLimits(t *testing.T) {
	for _, limits := range []Limits{{GroupCommits: 1}, {GroupBytes: 1}} {
		s, err := Open(Options{Engine: memEngine(t), Limits: limits})
		if err != nil {
			t.Fatal(err)
		}
		commits, groups := s.seq.stats.commits.Load(), s.seq.stats.groups.Load()
		const clients, each = 8, 50
		var all sync.WaitGroup
		for c := range clients {
			all.Go(func() {
				var o Owner
				s.OpenOwner(&o, uint64(c+1))
				for i := range each {
					put := kvapi.Mutation{Key: fmt.Appendf(nil, "%d %d", c, i), Value: []byte("v")}
					if _, err := s.Commit(&o, &kvapi.CommitRequest{Regions: []kvapi.RegionRef{s.Regions()[0].Ref()}, Mutations: []kvapi.Mutation{put}}); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		commits, groups = s.seq.stats.commits.Load()-commits, s.seq.stats.groups.Load()-groups
		if commits != clients*each || groups != commits {
			t.Errorf("%+v: %d commits in %d groups", limits, commits, groups)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
