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
	testkit.OneGoroutine(t)
	const rows, cache = 30_000, 16 << 20
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
	scan := func() (blocks int64) {
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
		return e.Metrics().CacheBytes
	}
	blocks := scan()
	if blocks < rows*200 {
		t.Fatalf("%d bytes of blocks", blocks)
	}
	// In pieces that are no whole steps.
	reserved, piece := int64(0), int64(100_001)
	for ; reserved < cache*3/4; reserved += piece {
		e.ReserveCache(piece)
	}
	if less, most := scan(), cache-reserved; less > most || less < most/2 {
		t.Errorf("%d of %d bytes reserved: %d bytes of blocks", reserved, cache, less)
	}
	for ; reserved > 0; reserved -= piece {
		e.ReserveCache(-piece)
	}
	if again := scan(); again < blocks-blocks/50 {
		t.Errorf("all given back: %d bytes of blocks; %d before", again, blocks)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestTableReads: blocks that readers find in no cache count, and those of a compaction don't.
func TestTableReads(t *testing.T) {
	testkit.OneGoroutine(t)
	const rows, flushes, cache = 40_000, 4, 64 << 20
	rng := testkit.Rand(testkit.Seed(t), 0)
	e := open(t, engine.Options{Dir: t.TempDir(), CacheBytes: cache, MemTableBytes: 4 << 20})
	row := make([]byte, 200)
	for f := range flushes {
		b := e.NewBatch()
		for i := f; i < rows; i += flushes {
			for j := range row {
				row[j] = byte(rng.Uint32()) // does not compress
			}
			b.SetVersion(binary.BigEndian.AppendUint64([]byte("t"), uint64(i)), clock.Timestamp(5), row[:1], row[1:])
		}
		if err := errors.Join(e.Apply(b, false), e.Flush()); err != nil {
			t.Fatal(err)
		}
		b.Close()
	}
	lower, upper := keys.VersionPrefix(nil, nil), keys.SpaceEnd(nil, keys.SpaceVersion)
	before, read := e.TableReads(), e.Metrics().CompactedBytes
	if err := e.Compact(t.Context(), lower, upper); err != nil {
		t.Fatal(err)
	}
	// To open a table takes some reads as well.
	if reads, bytes := e.TableReads()-before, e.Metrics().CompactedBytes-read; reads > 100 || bytes < rows*200/2 {
		t.Errorf("%d reads were counted while %d bytes were compacted", reads, bytes)
	}
	seek := func(n int) uint64 {
		it, err := e.NewIter(engine.IterOptions{Lower: lower, Upper: upper})
		if err != nil {
			t.Fatal(err)
		}
		before := e.TableReads()
		for i := range n {
			if !it.SeekGE(keys.VersionPrefix(nil, binary.BigEndian.AppendUint64([]byte("t"), uint64(i*7919%rows)))) {
				t.Fatal("nothing is found")
			}
		}
		reads := e.TableReads() - before
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
		return reads
	}
	if reads := seek(500); reads < 200 || reads > 1500 {
		t.Errorf("500 lookups all over the table were counted as %d reads", reads)
	}
	// Statistics of new tables are read in the background, and on a busy machine that may happen only here.
	again, sum := seek(500), uint64(0)
	for try := 1; again != 0 && try < 20; try++ {
		sum += again
		again = seek(500)
	}
	if again != 0 || sum > 100 {
		t.Errorf("the same again, in the cache, were counted as %d reads, and as %d before", again, sum)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
