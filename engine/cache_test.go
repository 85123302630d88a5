package engine_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
)

// TestReserveCache: blocks give way to what is reserved of their cache, and take the room again when it is given back.
func TestReserveCache(t *testing.T) {
	const rows, cache = 30_000, 16 << 20
	const over = 4 * 18432 // a block for each shard of so small a cache
	rng := testkit.Rand(testkit.Seed(t), 0)
	e := open(t, engine.Options{Dir: "d", FS: engine.NewMemFS(), CacheBytes: cache, MemTableBytes: 256 << 10})
	b := e.NewBatch()
	row := make([]byte, 200)
	for i := range rows {
		for j := range row {
			row[j] = byte(rng.Uint32()) // does not compress
		}
		b.SetVersion(binary.BigEndian.AppendUint64([]byte("t"), uint64(i)), clock.Timestamp(5), row[:1], row[1:])
	}
	if err := e.Apply(b, false); err != nil {
		t.Fatal(err)
	}
	b.Close()
	lower, upper := keys.VersionPrefix(nil, nil), keys.SpaceEnd(nil, keys.SpaceVersion)
	// A compaction in the background would take blocks of its inputs out of the cache at any time.
	if err := errors.Join(e.Flush(), e.Compact(t.Context(), lower, upper)); err != nil {
		t.Fatal(err)
	}
	scan := func() (blocks, spare int64) {
		it, err := e.NewIter(engine.IterOptions{Lower: lower, Upper: upper})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for ok := it.First(); ok; ok = it.Next() {
			n++
		}
		if err := it.Close(); err != nil || n != rows {
			t.Fatal(n, err)
		}
		return e.Metrics().CacheBytes, e.CacheSpare()
	}
	before := e.BlockMisses()
	blocks, spare := scan()
	missed := e.BlockMisses() - before
	if most := uint64(rows * 200 / 4096); missed < 100 || missed > most {
		t.Errorf("a first scan missed %d blocks", missed)
	}
	scan()
	if again := e.BlockMisses() - before - missed; again != 0 || e.BlockMisses() != uint64(e.Metrics().CacheMisses) {
		t.Errorf("a second scan missed %d blocks; of %d by the metrics it is %d", again, e.Metrics().CacheMisses, e.BlockMisses())
	}
	if blocks < rows*200 || spare < cache/4 || spare > cache-blocks {
		t.Fatalf("%d bytes of blocks, %d spare", blocks, spare)
	}
	// In pieces that are no whole steps.
	reserved, piece := int64(0), int64(100_001)
	for ; reserved < cache*3/4; reserved += piece {
		e.ReserveCache(piece)
	}
	less, left := scan()
	if most := cache - reserved; less > most || less < most/2 || left < -over || left > most-less {
		t.Errorf("%d of %d bytes reserved: %d bytes of blocks, %d spare", reserved, cache, less, left)
	}
	for ; reserved > 0; reserved -= piece {
		e.ReserveCache(-piece)
	}
	if again, as := scan(); again < blocks-blocks/50 || as > spare+spare/50 {
		t.Errorf("all given back: %d bytes of blocks, %d spare; %d and %d before", again, as, blocks, spare)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
