package engine_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
)

const (
	hotRows = 100
	hotLen  = 400 // bytes of a version
)

func hotKey(i int) []byte { return fmt.Appendf(nil, "hot%04d", i) }

// overwrite gives the rows from one up to another so many versions more, deletes the version before each, as the store's collector
// does, and returns the last version's time.
func overwrite(t *testing.T, e *engine.Engine, ts clock.Timestamp, from, to, times int) clock.Timestamp {
	t.Helper()
	value := make([]byte, hotLen)
	for range times {
		b := e.NewBatch()
		for i := from; i < to; i++ {
			b.SetVersion(hotKey(i), ts+1, nil, value)
			b.DeleteVersion(hotKey(i), ts, hotLen)
		}
		if err := e.Apply(b, false); err != nil {
			t.Fatal(err)
		}
		b.Close()
		ts++
	}
	return ts
}

// writeOthers writes more than a megabyte of what is no garbage and can't be compressed.
func writeOthers(t *testing.T, e *engine.Engine, ts clock.Timestamp) {
	t.Helper()
	rng := testkit.Rand(testkit.Seed(t), uint64(ts))
	value := make([]byte, hotLen)
	b := e.NewBatch()
	defer b.Close()
	for i := range 3000 {
		for at := 0; at < len(value); at += 8 {
			binary.BigEndian.PutUint64(value[at:], rng.Uint64())
		}
		b.SetVersion(fmt.Appendf(nil, "other%d", i), ts, nil, value)
	}
	if err := e.Apply(b, false); err != nil {
		t.Fatal(err)
	}
}

// fillMemtables writes 40 MB in few keys and flushes them: memtables double until they have their size, and the next has room for all that follows.
func fillMemtables(t *testing.T, e *engine.Engine) {
	t.Helper()
	value := make([]byte, 40<<10)
	for n := range 32 {
		b := e.NewBatch()
		for i := range 32 {
			b.SetVersion(fmt.Appendf(nil, "other%d/%d", n, i), 99, nil, value)
		}
		if err := e.Apply(b, false); err != nil {
			t.Fatal(err)
		}
		b.Close()
	}
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
}

var hotSpan = engine.IterOptions{Lower: keys.VersionPrefix(nil, []byte("hot")), Upper: keys.VersionPrefix(nil, []byte("hou"))}

// scanHot reads up to limit rows, as a statement does.
func scanHot(t *testing.T, e *engine.Engine, limit int, reverse bool) {
	t.Helper()
	it, err := e.NewIter(hotSpan)
	if err != nil {
		t.Fatal(err)
	}
	first, next := it.First, it.NextPrefix
	if reverse {
		first, next = it.Last, it.Prev
	}
	n := 0
	for ok := first(); ok && n < limit; ok = next() {
		n++
	}
	if want := min(limit, hotRows); n != want {
		t.Errorf("%d rows, want %d", n, want)
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
}

// hot tells of rows from one up to another that are overwritten so many times.
type hot struct{ from, to, times int }

// TestGarbageOfHotRows: dead versions leave the memtable at a poll behind a scan that has suffered from them, and not for scans that have
// not. Most of what is dead behind rows shows in no count of a scan's steps, since Pebble passes it by seeks.
func TestGarbageOfHotRows(t *testing.T) {
	for i, test := range []struct {
		name    string
		hot     hot
		limit   int // rows that the scan asks for
		reverse bool
		want    bool
	}{
		{"many versions", hot{0, hotRows, 10}, hotRows, false, true},
		{"many versions, backwards", hot{0, hotRows, 10}, hotRows, true, true},
		{"many versions in the first half", hot{0, hotRows / 2, 20}, hotRows / 2, false, true},
		{"many versions in the last half, backwards", hot{hotRows / 2, hotRows, 20}, hotRows / 2, true, true},
		{"more versions than a look walks over", hot{0, hotRows, 400}, hotRows, false, true},
		{"many versions, of one row that is asked for", hot{0, hotRows, 20}, 1, false, false},
		{"many versions behind the end", hot{50, hotRows, 20}, 40, false, false},
		{"many versions behind the end, backwards", hot{0, 50, 20}, 40, true, false},
		{"one dead version each", hot{}, hotRows, false, false},
	} {
		if testkit.BriefRace() && i%3 != 0 {
			continue // one of each kind: a scan forwards, one backwards, one that has not suffered
		}
		t.Run(test.name, func(t *testing.T) {
			e := open(t, engine.Options{Dir: t.TempDir(), MemTableBytes: 256 << 20})
			t.Cleanup(func() {
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			})
			fillMemtables(t, e)
			before := e.Metrics().Flushes
			ts := overwrite(t, e, 100, 0, hotRows, 1) // which has a tombstone for each
			writeOthers(t, e, ts)                     // with them there is enough for a flush in any case
			overwrite(t, e, ts, test.hot.from, test.hot.to, test.hot.times)
			if m := e.Metrics(); m.MemTables != 1 || m.Flushes != before {
				t.Fatalf("%d memtables, %d flushes before the scan", m.MemTables, m.Flushes-before)
			}
			scanHot(t, e, test.limit, test.reverse)
			e.PollPressure()
			if !test.want {
				if e.GarbageSeen() || e.Metrics().GarbageFlushes != 0 {
					t.Error("flushed for next to nothing")
				}
				return
			}
			testkit.Await(t, "the flush", func() bool {
				e.PollPressure() // again: the first second of a process has no flush
				m := e.Metrics()
				return m.GarbageFlushes == 1 && m.Flushes == before+1
			})
		})
	}
}

// TestGarbageFlushPause: flushes of which little is left may follow each other soon, those that leave much have ever longer pauses, and
// flushes for other reasons change nothing.
func TestGarbageFlushPause(t *testing.T) {
	e := openMem(t)
	for i, test := range []struct {
		sake    bool // of scans
		in, out uint64
		want    time.Duration
	}{
		{false, 8 << 20, 8 << 20, 0},
		{true, 8 << 20, 2 << 20, engine.GarbageFlushEvery},
		{true, 8 << 20, 2<<20 + 1, 2 * engine.GarbageFlushEvery},
		{true, 8 << 20, 8 << 20, 4 * engine.GarbageFlushEvery},
		{false, 8 << 20, 1, 4 * engine.GarbageFlushEvery},
		{true, 64 << 20, 5 << 20, 8 * engine.GarbageFlushEvery},
		{true, 64 << 20, 4 << 20, engine.GarbageFlushEvery},
	} {
		if e.GarbageFlushEnded(test.sake, test.in, test.out); e.GarbagePause() != test.want {
			t.Errorf("flush %d: a pause of %v, want %v", i, e.GarbagePause(), test.want)
		}
	}
	for range 20 {
		e.GarbageFlushEnded(true, 1, 1)
	}
	if e.GarbagePause() != time.Minute {
		t.Errorf("the longest pause is %v", e.GarbagePause())
	}
}

// TestGarbageOfDeadRows: rows that were deleted one after the other, as in a queue or behind an entry of an index that moves all the
// time, leave the memtable, too, long before there are thousands of them.
func TestGarbageOfDeadRows(t *testing.T) {
	for _, test := range []struct {
		dead int
		want bool
	}{{500, true}, {20, false}} {
		e := openMem(t)
		b := e.NewBatch()
		for i := range 500 {
			b.SetVersion(fmt.Appendf(nil, "hot0%04d", i), 100, nil, make([]byte, hotLen))
		}
		if err := errors.Join(e.Apply(b, false), e.Flush()); err != nil {
			t.Fatal(err)
		}
		b.Reset()
		for i := range test.dead {
			b.DeleteVersion(fmt.Appendf(nil, "hot0%04d", i), 100, hotLen)
		}
		for i := range hotRows {
			b.SetVersion(hotKey(5000+i), 100, nil, nil)
		}
		if err := e.Apply(b, false); err != nil {
			t.Fatal(err)
		}
		b.Close()
		it, err := e.NewIter(hotSpan)
		if err != nil {
			t.Fatal(err)
		}
		it.First()
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
		if e.PollPressure(); e.GarbageSeen() != test.want { // there is too little for a flush
			t.Errorf("%d dead rows before the first: seen is %v", test.dead, e.GarbageSeen())
		}
	}
}
