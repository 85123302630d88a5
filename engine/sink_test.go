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

// sinkTables are two tables of 1,000-byte rows that nothing makes smaller, of which the engine is told that the first is loaded.
type sinkTables struct {
	t     *testing.T
	e     *engine.Engine
	ts    clock.Timestamp
	value []byte
}

const first, noted, unnoted = 50, 100, 200

func newSinkTables(t *testing.T, openFiles int) *sinkTables {
	s := &sinkTables{t: t, value: make([]byte, 1000), e: open(t, engine.Options{
		Dir: "mem", FS: vfs.NewMem(), CacheBytes: 8 << 20, MemTableBytes: 8 << 20, MaxOpenFiles: openFiles,
		LowSpaceBytes: engine.NoSpace, BallastBytes: engine.NoSpace,
	})}
	// Each flush has a small table of keys below the versions, and two of them are a compaction that would take in what lies beside them
	// in L0, as long as there is nothing in L6.
	s.write(first, 0, 1, 1)
	if err := s.e.Compact(t.Context(), keys.Bare(nil, 0, nil), keys.VersionPrefix(nil, keys.TablePrefix(nil, noted))); err != nil {
		t.Fatal(err)
	}
	return s
}

// write puts every stepth of some rows of a table and flushes them.
func (s *sinkTables) write(table uint64, from, n, step int) {
	s.t.Helper()
	s.ts++
	b := s.e.NewBatch()
	defer b.Close()
	rng := testkit.Rand(testkit.Seed(s.t), uint64(s.ts))
	for i := from; i < from+n; i += step {
		scramble(rng, s.value)
		b.SetVersion(binary.BigEndian.AppendUint32(keys.RowPrefix(nil, table), uint32(i)), s.ts, nil, s.value)
	}
	if err := s.e.Apply(b, false); err != nil {
		s.t.Fatal(err)
	}
	if err := s.e.Flush(); err != nil {
		s.t.Fatal(err)
	}
	if err := s.e.Sink(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// where tells how many of the engine's tables with rows of a table are in L0 and in the last level.
func (s *sinkTables) where(table uint64) (top, bottom int) {
	s.t.Helper()
	prefix := keys.TablePrefix(nil, table)
	top, bottom, err := s.e.Tables(keys.VersionPrefix(nil, prefix), keys.VersionPrefix(nil, keys.PrefixEnd(nil, prefix)))
	if err != nil {
		s.t.Fatal(err)
	}
	return top, bottom
}

// TestSink: what is loaded leaves L0 without being written again, other tables stay there, and the first flush of updates over it
// is no reason to write it again.
func TestSink(t *testing.T) {
	const rows = 3000
	s := newSinkTables(t, 1000)
	for i := range 3 {
		s.e.NoteLoad(keys.RowPrefix(nil, noted))
		s.write(noted, i*rows, rows, 1)
	}
	s.write(unnoted, 0, rows, 1)
	if top, bottom := s.where(noted); top != 0 || bottom < 3 {
		t.Errorf("the load has %d tables in L0 and %d in L6", top, bottom)
	}
	if top, bottom := s.where(unnoted); top == 0 || bottom != 0 {
		t.Errorf("what is no load has %d tables in L0 and %d in L6", top, bottom)
	}
	s.write(noted, 0, 3*rows, 10)
	if top, _ := s.where(noted); top == 0 {
		t.Error("no tables in L0 over those of the load")
	}
	m := s.e.Metrics()
	if m.CompactedBytes > m.FlushedBytes/10 {
		t.Errorf("compactions wrote %d bytes of %d that were flushed", m.CompactedBytes, m.FlushedBytes)
	}
	// The other table was not moved: the same makes a second sublevel, and a compaction writes all that lies beside it.
	s.write(unnoted, 0, rows, 10)
	testkit.Await(t, "a compaction writes the table that was not noted", func() bool {
		return s.e.Metrics().CompactedBytes > m.CompactedBytes+rows*1000
	})
}

// TestSinkBound: no more small tables are moved than half of those that may be open.
func TestSinkBound(t *testing.T) {
	testkit.OneGoroutine(t)
	const rows, most = 7000, engine.OpenFilesMin / 2
	s := newSinkTables(t, engine.OpenFilesMin)
	for i := range 15 {
		s.e.NoteLoad(keys.RowPrefix(nil, noted))
		s.write(noted, i*rows, rows, 1)
	}
	if top, bottom := s.where(noted); top == 0 || bottom == 0 || bottom > most {
		t.Errorf("%d tables in L0 and %d in L6, of which it should be at most %d", top, bottom, most)
	}
}

// TestSinkCrash: a load over many power losses, some of them while tables are moved, loses nothing that was synced and leaves no gap.
func TestSinkCrash(t *testing.T) {
	m := &crashModel{t: t, rng: testkit.Rand(testkit.Seed(t), 0), mem: engine.NewMemFS()}
	key := func(i int) []byte { return binary.BigEndian.AppendUint32(keys.RowPrefix(nil, noted), uint32(i)) }
	value := make([]byte, 3000)
	written, moved := 0, 0
	for range testkit.Rounds(20, 8) {
		synced := int(m.acked.Load())
		m.crashed, m.left, m.percent, m.cseed = nil, 100+m.rng.IntN(300), m.rng.IntN(2)*50, m.rng.Uint64()
		e, err := engine.Open(engine.Options{Dir: "d", FS: m.hooked(), CacheBytes: 1 << 20, MemTableBytes: engine.MemTableBytesMin,
			LowSpaceBytes: engine.NoSpace, BallastBytes: engine.NoSpace})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for i := range written {
			_, found, err := e.Get(nil, keys.VersionKey(nil, key(i), 1))
			if err != nil {
				t.Fatal(err)
			}
			if found && i != n {
				t.Fatalf("there is row %d and no row %d", i, n)
			}
			if found {
				n++
			}
		}
		if n < synced {
			t.Fatalf("%d rows are left of %d that were synced", n, synced)
		}
		_, bottom, err := e.Tables(keys.VersionPrefix(nil, key(0)), keys.VersionPrefix(nil, key(written+1)))
		if err != nil {
			t.Fatal(err)
		}
		moved = max(moved, bottom)
		written = n
		m.acked.Store(int64(n))
		for batch := 1; m.snapshot() == nil; batch++ {
			b := e.NewBatch()
			for range 20 {
				scramble(m.rng, value)
				b.SetVersion(key(written), 1, nil, value)
				written++
			}
			e.NoteLoad(key(0))
			if err := e.Apply(b, true); err != nil {
				t.Fatal(err)
			}
			b.Close()
			m.acked.Store(int64(written))
			if batch%4 == 0 {
				if err := e.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		m.mem = m.crashed
		m.acked.Store(int64(m.promise))
	}
	if moved < testkit.Rounds(10, 1) {
		t.Errorf("at most %d tables were in the last level: the test shows nothing", moved)
	}
}

// snapshot returns what the crash has left, nil before it.
func (m *crashModel) snapshot() *engine.MemFS {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.crashed
}
