package store

import (
	"encoding/binary"
	"sync"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
)

const frontierTables = 3

// frontierKey is the i-th row of one of some tables, whose keys are neighbours.
func frontierKey(i int) []byte {
	return binary.BigEndian.AppendUint32(keys.RowPrefix(nil, uint64(239+i%frontierTables)), uint32(i/frontierTables))
}

func newFrontierRig(t *testing.T) *rowsRig {
	e := memEngine(t)
	s, err := Open(Options{Engine: e, RowCacheBytes: 256 << 10, GCInterval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &rowsRig{t: t, s: s, e: e, key: frontierKey}
}

// TestFrontier: under its lock a row is found if the engine has it, whether it lies above all of its table or not, while others
// insert above and below and delete.
func TestFrontier(t *testing.T) {
	seed := testkit.Seed(t)
	const writers, rounds, window = 4, 2500, 40
	r := newFrontierRig(t)
	var writing sync.WaitGroup
	for w := range writers {
		rng := testkit.Rand(seed, uint64(w))
		writing.Go(func() {
			var o Owner
			for n := range rounds {
				i := n + rng.IntN(window)
				if rng.IntN(4) == 0 {
					i = rng.IntN(n + 1)
				}
				if err := r.write(&o, uint64(1+w+n*writers), i, rng.IntN(4) == 0); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writing.Wait()
	if m := r.metrics(); m.Beyond < rounds/window || m.GCDeleted == 0 {
		t.Errorf("the test tests too little: %d rows beyond, %d versions collected", m.Beyond, m.GCDeleted)
	}
}

// TestFrontierCanary: a frontier below a row makes the check of TestFrontier fail, and one that holds keeps locking reads from looking.
func TestFrontierCanary(t *testing.T) {
	r := newFrontierRig(t)
	var o Owner
	for i := range 4 {
		if err := r.write(&o, uint64(1+i), i*frontierTables, false); err != nil {
			t.Fatal(err)
		}
	}
	if n := r.s.Metrics().Beyond; n != 3 { // the first has looked
		t.Errorf("%d rows were beyond", n)
	}
	f := r.s.frontiers.of(239)
	f.key = f.key[:len(keys.RowPrefix(nil, 239))]
	r.s.rows.Delete(frontierKey(0), uint64(kvapi.Latest))
	if r.write(&o, 10, 0, false) == nil {
		t.Error("a row that the frontier denies was not missed")
	}
}

// TestFrontierSpan: one commit raises the frontier of each table that it inserts into, other keys have none, and more tables than are
// kept are forgotten.
func TestFrontierSpan(t *testing.T) {
	var f frontiers
	for id := range uint64(frontierTables) {
		f.add(239 + id).known = true
	}
	put := func(key []byte, shadow kvapi.Shadow) kvapi.Mutation {
		return kvapi.Mutation{Key: key, Kind: kvapi.MutationPut, Shadow: shadow}
	}
	entry := keys.IndexPrefix(nil, 240, 1)
	f.raise([]kvapi.Mutation{
		put(keys.SystemKey(nil, 'd'), kvapi.ShadowNone),
		put(frontierKey(0), kvapi.ShadowNone), put(frontierKey(3), kvapi.ShadowUnknown),
		put(entry, kvapi.ShadowNone), put(frontierKey(1), kvapi.ShadowNone), put(frontierKey(7), kvapi.ShadowAt),
	})
	for _, c := range []struct {
		key    []byte
		beyond bool
	}{
		{frontierKey(0), false}, {frontierKey(3), false}, {frontierKey(6), true},
		{frontierKey(1), true}, // what shadows a version is below the frontier already
		{frontierKey(2), true}, {entry, false}, {keys.SystemKey(nil, 'd'), false}, {keys.RowPrefix(nil, 500), false}, {nil, false},
	} {
		if f.beyond(c.key) != c.beyond {
			t.Errorf("%x: beyond %v", c.key, !c.beyond)
		}
	}
	for id := range uint64(frontiersMax + 10) {
		f.add(1000 + id)
	}
	if n := len(*f.tables.Load()); n == 0 || n > frontiersMax {
		t.Errorf("%d frontiers", n)
	}
}

// BenchmarkFrontier is what a locking read pays that the frontier doesn't answer, and what it pays that it does.
func BenchmarkFrontier(b *testing.B) {
	var f frontiers
	for id := range uint64(frontierTables) {
		t := f.add(239 + id)
		t.raise(frontierKey(3000 + int(id)))
		t.known = true
	}
	for name, key := range map[string][]byte{"below": frontierKey(30), "beyond": frontierKey(30_000)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.beyond(key)
			}
		})
	}
	b.Run("raise", func(b *testing.B) {
		b.ReportAllocs()
		m := []kvapi.Mutation{{Key: frontierKey(30), Kind: kvapi.MutationPut}}
		for b.Loop() {
			f.raise(m)
		}
	})
}
