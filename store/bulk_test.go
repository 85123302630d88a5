package store

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
)

// TestBulkSeesWhatIsThere: transactions claim many keys, mostly in ascending order, and delete or write them. While a key is locked, it
// must be found if and only if the last commit that touched it wrote it: many
// locks of one transaction are read by one iterator, and above a table's rows by none.
func TestBulkSeesWhatIsThere(t *testing.T) {
	const workers, space = 6, 3000
	rounds := 150
	if testing.Short() {
		rounds = 40
	}
	s, err := Open(Options{Engine: memEngine(t), GCInterval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	seed := testkit.Seed(t)
	region := s.Regions()[0].Ref()
	var present [space]atomic.Bool // changed while the key is locked, before its commit
	var shared atomic.Int64
	var work sync.WaitGroup
	for w := range uint64(workers) {
		work.Go(func() {
			rng := testkit.Rand(seed, w)
			var o Owner
			for round := range rounds {
				s.OpenOwner(&o, w*uint64(rounds)+uint64(round)+1)
				var mutations []kvapi.Mutation
				at := rng.IntN(space)
				for range rng.IntN(300) {
					if at += 1 + rng.IntN(4); at >= space {
						break
					}
					key := fmt.Appendf(nil, "k%05d", at)
					before := o.bulk
					res, err := s.Lock(&o, &kvapi.LockRequest{Region: region, Key: key, Mode: kvapi.LockExclusive, Timeout: time.Minute})
					if errors.Is(err, kvapi.ErrDeadlock) {
						break
					}
					if err != nil {
						t.Error(err)
						return
					}
					if want := present[at].Load(); res.Version.Found != want {
						t.Errorf("%s found: %v, committed: %v", key, res.Version.Found, want)
						return
					}
					if bulk := o.bulk; bulk != nil && bulk == before {
						shared.Add(1)
					}
					switch {
					case !res.Version.Found && rng.IntN(3) > 0:
						mutations = append(mutations, kvapi.Mutation{Key: key, Value: []byte("v")})
					case res.Version.Found && rng.IntN(2) > 0:
						mutations = append(mutations, kvapi.Mutation{Key: key, Kind: kvapi.MutationDelete})
					}
				}
				s.Rest(&o)
				for _, m := range mutations {
					var n int
					_, _ = fmt.Sscanf(string(m.Key), "k%d", &n)
					present[n].Store(m.Kind == kvapi.MutationPut)
				}
				if _, err := s.Commit(&o, &kvapi.CommitRequest{Regions: []kvapi.RegionRef{region}, Mutations: mutations}); err != nil {
					t.Error(err)
					return
				}
				s.ReleaseLocks(&o)
			}
		})
	}
	work.Wait()
	if shared.Load() == 0 {
		t.Error("no iterator was used twice")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
