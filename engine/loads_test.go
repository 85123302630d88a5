package engine_test

import (
	"encoding/binary"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
)

// loadInTurns writes the rows of some tables in turns, each in order, one batch of a table after one of the next, over many flushes.
// It returns what has been flushed and compacted.
func loadInTurns(t *testing.T, tables int, note bool) (flushed, compacted uint64) {
	t.Helper()
	e := open(t, engine.Options{
		Dir: "mem", FS: vfs.NewMem(), CacheBytes: 8 << 20, MemTableBytes: 4 << 20,
		LowSpaceBytes: engine.NoSpace, BallastBytes: engine.NoSpace,
	})
	rng := testkit.Rand(testkit.Seed(t), 0)
	value := make([]byte, 1000)
	const flushes, rows = 12, 500
	for f := range flushes {
		for table := range tables {
			b := e.NewBatch()
			for i := range rows {
				scramble(rng, value)
				b.SetVersion(binary.BigEndian.AppendUint32(keys.RowPrefix(nil, uint64(100+table)), uint32(f*rows+i)), clock.Timestamp(f+1), nil, value)
			}
			if note {
				e.NoteLoad(keys.RowPrefix(nil, uint64(100+table)))
			}
			if err := e.Apply(b, false); err != nil {
				t.Fatal(err)
			}
			b.Close()
		}
		if err := e.Flush(); err != nil {
			t.Fatal(err)
		}
		testkit.Await(t, "compactions merge what overlaps", func() bool {
			m := e.Metrics()
			return m.L0Sublevels <= 1 && m.CompactionsActive == 0
		})
	}
	m := e.Metrics()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	return m.FlushedBytes, m.CompactedBytes
}

// Tables that are loaded at the same time, each in the order of its rows, are written once: no compaction rewrites what a flush has
// written. Without NoteLoad everything is written twice and more.
func TestLoadsAreWrittenOnce(t *testing.T) {
	testkit.OneGoroutine(t)
	flushed, compacted := loadInTurns(t, 4, true)
	if compacted > flushed/10 {
		t.Errorf("compactions wrote %d bytes of %d that were flushed", compacted, flushed)
	}
	if flushed, compacted = loadInTurns(t, 4, false); compacted < flushed/2 {
		t.Errorf("without notes compactions wrote %d bytes of %d: the test shows nothing", compacted, flushed)
	}
}
