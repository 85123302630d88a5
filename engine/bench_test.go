package engine_test

import (
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
)

// BenchmarkCommit measures one-row batches of 190 bytes from many goroutines, synced and not, on the machine's disk.
func BenchmarkCommit(b *testing.B) {
	for _, sync := range []bool{true, false} {
		name := map[bool]string{true: "synced", false: "unsynced"}[sync]
		b.Run(name, func(b *testing.B) {
			e := open(b, engine.Options{Dir: b.TempDir(), BallastBytes: engine.NoSpace})
			var n atomic.Uint64
			row := make([]byte, 190)
			b.SetParallelism(32) // 64 writers on two cores
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				var key [9]byte
				key[0] = 't'
				for pb.Next() {
					i := n.Add(1)
					binary.BigEndian.PutUint64(key[1:], i*0x9E3779B97F4A7C15)
					batch := e.NewBatch()
					batch.SetVersion(key[:], clock.Timestamp(i), row[:1], row[1:])
					if err := e.Apply(batch, sync); err != nil {
						b.Error(err)
						return
					}
					batch.Close()
				}
			})
			m := e.Metrics()
			b.ReportMetric(float64(m.Applied)/float64(max(m.WALSyncs, 1)), "batches/fsync")
			if err := e.Close(); err != nil {
				b.Error(err)
			}
		})
	}
}

// BenchmarkLookup measures lookups of rows in tables, all in the block cache, while the memtable holds half a million versions of
// other keys, which only the second kind can leave out.
func BenchmarkLookup(b *testing.B) {
	const rows, others, batch = 1_000_000, 400_000, 1000
	rng := testkit.Rand(testkit.Seed(b), 0)
	e := open(b, engine.Options{Dir: b.TempDir(), CacheBytes: 1 << 30, MemTableBytes: 128 << 20, BallastBytes: engine.NoSpace})
	defer e.Close()
	key := func(i int) []byte { return binary.BigEndian.AppendUint64([]byte("t"), uint64(i)) }
	row := make([]byte, 190)
	put := func(n int, number func(i int) int, size int) {
		for i := 0; i < n; i += batch {
			bt := e.NewBatch()
			for j := range batch {
				bt.SetVersion(key(number(i+j)), 5, row[:1], row[1:size])
			}
			if err := e.Apply(bt, false); err != nil {
				b.Fatal(err)
			}
			bt.Close()
		}
	}
	put(rows, func(i int) int { return 2 * i }, len(row))
	if err := e.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := e.Compact(b.Context(), keys.VersionPrefix(nil, nil), keys.SpaceEnd(nil, keys.SpaceVersion)); err != nil {
		b.Fatal(err)
	}
	put(others, func(int) int { return 2*rng.IntN(rows) + 1 }, 50)
	var seek []byte
	for _, only := range []bool{false, true} {
		b.Run(map[bool]string{false: "all", true: "only"}[only], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				logical := key(2 * rng.IntN(rows))
				var o engine.IterOptions
				if only {
					o.Only = logical
				}
				it, err := e.NewIter(o)
				if err != nil {
					b.Fatal(err)
				}
				seek = keys.VersionKey(seek[:0], logical, clock.MaxTimestamp)
				if !it.SeekPrefixGE(seek) {
					b.Fatal("a row is missing")
				}
				if err := it.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkColdRead measures lookups, and scans of 100 rows, of which most miss the block cache and none the page cache: what a
// block costs to copy and to decompress. Rows are rewritten once, since what is loaded in order is moved into the last level and
// not compressed as a compaction does; a hundred share a commit, whose timestamps give zstd the repetitions without which its
// fastest level leaves random digits as they are.
func BenchmarkColdRead(b *testing.B) {
	const rows, scan = 400_000, 100
	rng := testkit.Rand(testkit.Seed(b), 0)
	e := open(b, engine.Options{Dir: b.TempDir(), CacheBytes: 16 << 20, MemTableBytes: 4 << 20, BallastBytes: engine.NoSpace})
	logical := func(i int) []byte { return binary.BigEndian.AppendUint64([]byte("t"), uint64(i)) }
	const versions, perCommit = 2, 100
	ts := clock.Timestamp(1)
	for range versions {
		for i := 0; i < rows; {
			batch := e.NewBatch()
			for end := i + 1000; i < end; i++ {
				if i%perCommit == 0 {
					ts = ts.Next()
				}
				batch.SetVersion(logical(i), ts, nil, sysbenchRow(rng))
			}
			if err := e.Apply(batch, false); err != nil {
				b.Fatal(err)
			}
			batch.Close()
		}
		if err := e.Compact(b.Context(), keys.Bare(nil, keys.SpaceVersion, nil), keys.Bare(nil, keys.SpaceVersion+1, nil)); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("%d bytes per version", e.Metrics().TableBytes/rows/versions)
	for _, c := range []struct {
		name  string
		steps int
	}{{"lookup", 0}, {"scan", scan}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				it, err := e.NewIter(engine.IterOptions{})
				if err != nil {
					b.Fatal(err)
				}
				row := logical(rng.IntN(rows - scan))
				key := make([]byte, keys.VersionLen(row))
				keys.PutVersionKey(key, row, ts)
				if c.steps == 0 && !it.SeekPrefixGE(key) || c.steps > 0 && !it.SeekGE(key) {
					b.Fatalf("the row is absent: %v", it.Error())
				}
				for range c.steps {
					if !it.NextPrefix() {
						b.Fatalf("the next row is absent: %v", it.Error())
					}
				}
				if err := it.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	if err := e.Close(); err != nil {
		b.Error(err)
	}
}

// sysbenchRow returns 190 bytes like those of a row of sysbench: random digits in groups of eleven.
func sysbenchRow(rng *rand.Rand) []byte {
	row := make([]byte, 190)
	for i := range row {
		row[i] = '0' + byte(rng.IntN(10))
		if i%12 == 11 {
			row[i] = '-'
		}
	}
	return row
}
