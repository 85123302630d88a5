//go:build !cgo

// With cgo Pebble takes its blocks from malloc, which is not what is shipped.

package engine_test

import (
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
)

// A full block cache takes little more of the heap than its size: blocks fit the allocator's size classes.
func TestCacheFitsHeap(t *testing.T) {
	const rows, cache = 300_000, 32 << 20
	rng := testkit.Rand(testkit.Seed(t), 0)
	e := open(t, engine.Options{Dir: t.TempDir(), CacheBytes: cache, MemTableBytes: 4 << 20, BallastBytes: engine.NoSpace})
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	for i := 0; i < rows; {
		b := e.NewBatch()
		for range 1000 {
			row := make([]byte, 150+rng.IntN(80))
			for i := range row {
				row[i] = byte(rng.Uint32()) // does not compress
			}
			b.SetVersion(binary.BigEndian.AppendUint64([]byte("t"), uint64(i)), clock.Timestamp(5), row[:1], row[1:])
			i++
		}
		if err := e.Apply(b, false); err != nil {
			t.Fatal(err)
		}
		b.Close()
	}
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	heap := func() int64 {
		runtime.GC()
		runtime.GC() // pools give up what they hold with the second
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, had := heap(), e.Metrics().CacheBytes
	walked := 0
	it, err := e.NewIter(engine.IterOptions{Lower: keys.VersionPrefix(nil, nil), Upper: keys.SpaceEnd(nil, keys.SpaceVersion)})
	if err != nil {
		t.Fatal(err)
	}
	for ok := it.First(); ok; ok = it.Next() {
		walked++
	}
	if err := it.Close(); err != nil || walked != rows {
		t.Fatalf("%d rows, %v", walked, err)
	}
	grown, cached := heap()-before, e.Metrics().CacheBytes-had
	t.Logf("the heap grew by %d bytes for %d in the cache", grown, cached)
	if cached < cache/4 || grown > cached+cached/20 {
		t.Errorf("the heap grew by %d bytes for %d in the cache", grown, cached)
	}
}
