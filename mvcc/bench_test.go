package mvcc_test

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/mvcc"
)

const (
	benchRows     = 1_000_000
	benchRowBytes = 190
	benchTable    = 104
)

func benchKey(dst []byte, i uint64) []byte {
	return binary.BigEndian.AppendUint64(keys.RowPrefix(dst[:0], benchTable), i)
}

// benchEngine holds n compacted rows of 190 bytes in memory, with a cache that takes them all.
func benchEngine(b *testing.B, n int, compact bool) *engine.Engine {
	b.Helper()
	e, err := engine.Open(engine.Options{Dir: b.TempDir(), CacheBytes: 512 << 20, BallastBytes: engine.NoSpace})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := e.Close(); err != nil {
			b.Error(err)
		}
	})
	rng := rand.New(rand.NewPCG(1, 2))
	row := make([]byte, benchRowBytes)
	var key []byte
	batch := e.NewBatch()
	for i := range n {
		for j := range row {
			row[j] = '0' + byte(rng.Uint32()%10)
		}
		key = benchKey(key, uint64(i))
		mvcc.Put(batch, key, clock.Make(1_700_000_000_000, uint32(i)), 0, row)
		if batch.Len() > 1<<20 || i == n-1 {
			if err := e.Apply(batch, false); err != nil {
				b.Fatal(err)
			}
			batch.Reset()
		}
	}
	batch.Close()
	if compact {
		if err := e.Compact(context.Background(), keys.VersionPrefix(nil, nil), keys.SpaceEnd(nil, keys.SpaceVersion)); err != nil {
			b.Fatal(err)
		}
	}
	it := newIter(b, e)
	for ok := it.First(); ok; ok = it.Next() {
	}
	if err := it.Close(); err != nil {
		b.Fatal(err)
	}
	b.Logf("%d MB on disk, %d sublevels", e.Metrics().DiskBytes>>20, e.Metrics().L0Sublevels)
	b.ResetTimer()
	return e
}

func newIter(t testing.TB, e *engine.Engine) *engine.Iter {
	t.Helper()
	it, err := e.NewIter(engine.IterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return it
}

func BenchmarkGet(b *testing.B) {
	e := benchEngine(b, benchRows, true)
	b.Run("reused", func(b *testing.B) {
		it := newIter(b, e)
		b.ReportAllocs()
		var key []byte
		for i := 0; b.Loop(); i++ {
			key = benchKey(key, rand.Uint64N(benchRows))
			if _, _, found, err := mvcc.Get(it, key, clock.MaxTimestamp); !found || err != nil {
				b.Fatal(found, err)
			}
		}
		_ = it.Close()
	})
	b.Run("pooled", func(b *testing.B) {
		b.ReportAllocs()
		var key []byte
		for i := 0; b.Loop(); i++ {
			key = benchKey(key, rand.Uint64N(benchRows))
			it := newIter(b, e)
			if _, _, found, err := mvcc.Get(it, key, clock.MaxTimestamp); !found || err != nil {
				b.Fatal(found, err)
			}
			_ = it.Close()
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			var key []byte
			for pb.Next() {
				key = benchKey(key, rand.Uint64N(benchRows))
				it := newIter(b, e)
				if _, _, found, err := mvcc.Get(it, key, clock.MaxTimestamp); !found || err != nil {
					b.Fatal(found, err)
				}
				_ = it.Close()
			}
		})
	})
}

func BenchmarkScan(b *testing.B) {
	e := benchEngine(b, benchRows, true)
	for _, n := range []int{100, 10_000} {
		for _, reverse := range []bool{false, true} {
			name := map[bool]string{false: "forward", true: "reverse"}[reverse]
			b.Run(name+map[int]string{100: "100", 10_000: "10000"}[n], func(b *testing.B) {
				b.ReportAllocs()
				var key, lower, upper []byte
				var s mvcc.Scanner
				for b.Loop() {
					start := rand.Uint64N(uint64(benchRows - n))
					key = benchKey(key, start)
					lower = keys.VersionPrefix(lower[:0], key)
					key = benchKey(key, start+uint64(n))
					upper = keys.VersionPrefix(upper[:0], key)
					it, err := e.NewIter(engine.IterOptions{Lower: lower, Upper: upper})
					if err != nil {
						b.Fatal(err)
					}
					s.Init(it, clock.MaxTimestamp, reverse, nil)
					rows := 0
					for s.Next() {
						rows++
					}
					if rows != n {
						b.Fatal(rows)
					}
					_ = it.Close()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/row")
			})
		}
	}
}
