package engine_test

import (
	"math/rand/v2"
	"testing"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
)

func deleteKey(i int) []byte { return append(keys.RowPrefix(nil, 104), byte(i)) }

// TestDeleteVersionOnceVanishes: a marker and its deletion leave nothing behind once a flush has met both.
func TestDeleteVersionOnceVanishes(t *testing.T) {
	e, err := engine.OpenMem()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	const n = 200
	b := e.NewBatch()
	defer b.Close()
	for i := range n {
		b.SetVersion(deleteKey(i), clock.Timestamp(i+1), []byte{1}, nil)
	}
	if err := e.Apply(b, false); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	for i := range n {
		b.DeleteVersionOnce(deleteKey(i), clock.Timestamp(i+1))
	}
	if err := e.Apply(b, false); err != nil {
		t.Fatal(err)
	}
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	if m := e.Metrics(); m.Tombstones != 0 || m.TableBytes != 0 {
		t.Errorf("%d tombstones, %d bytes of tables are left", m.Tombstones, m.TableBytes)
	}
}

// TestDeleteVersionOnceModel: versions that are set once and deleted any number of times, in every way, through flushes,
// compactions and reopening, read as a set of what is left. It pins invariant 9.
func TestDeleteVersionOnceModel(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 9))
		fs := engine.NewMemFS()
		open := func() *engine.Engine {
			e, err := engine.Open(engine.Options{Dir: "d", FS: fs, MemTableBytes: 256 << 10, LowSpaceBytes: engine.NoSpace, BallastBytes: engine.NoSpace})
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		e := open()
		type version struct {
			key int
			ts  clock.Timestamp
		}
		var set []version
		live := map[version]bool{}
		next := clock.Timestamp(1)
		for step := range 600 {
			b := e.NewBatch()
			for range 1 + rng.IntN(8) {
				if len(set) == 0 || rng.IntN(2) == 0 {
					v := version{rng.IntN(16), next}
					next++
					b.SetVersion(deleteKey(v.key), v.ts, []byte{0}, []byte("row"))
					set, live[v] = append(set, v), true
					continue
				}
				v := set[rng.IntN(len(set))]
				if rng.IntN(4) == 0 {
					b.DeleteVersion(deleteKey(v.key), v.ts, 4)
				} else {
					b.DeleteVersionOnce(deleteKey(v.key), v.ts)
				}
				delete(live, v)
			}
			if rng.IntN(40) == 0 {
				k := rng.IntN(16)
				b.DeleteRange(keys.VersionPrefix(nil, deleteKey(k)), keys.VersionPrefix(nil, deleteKey(k+1)))
				for v := range live {
					if v.key == k {
						delete(live, v)
					}
				}
			}
			if err := e.Apply(b, false); err != nil {
				t.Fatal(err)
			}
			b.Close()
			var err error
			switch rng.IntN(30) {
			case 0, 1, 2:
				err = e.Flush()
			case 3:
				err = e.Compact(t.Context(), keys.VersionPrefix(nil, deleteKey(rng.IntN(8))), keys.VersionPrefix(nil, deleteKey(8+rng.IntN(8))))
			case 4:
				if err = e.Close(); err == nil {
					e = open()
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			if step%10 != 0 {
				continue
			}
			it, err := e.NewIter(engine.IterOptions{})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for ok := it.First(); ok; ok = it.Next() {
				logical, ts, ok := keys.DecodeVersionKey(it.Key())
				if v := (version{int(logical[len(logical)-1]), ts}); !ok || !live[v] {
					t.Fatalf("seed %d, step %d: version %v came back", seed, step, v)
				}
				n++
			}
			if err := it.Close(); err != nil {
				t.Fatal(err)
			}
			if n != len(live) {
				t.Fatalf("seed %d, step %d: %d versions, want %d", seed, step, n, len(live))
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
