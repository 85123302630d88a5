package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
)

const (
	hotRows = 100
	hotLen  = 400 // bytes of a version: two of each row are the least that a flush is made for
)

func hotKey(i int) []byte { return fmt.Appendf(nil, "hot%04d", i) }

// overwrite gives each row so many versions more, deletes the version before each, as the store's collector does, and returns the last
// version's time.
func overwrite(t *testing.T, e *engine.Engine, ts clock.Timestamp, times int) clock.Timestamp {
	t.Helper()
	value := make([]byte, hotLen)
	for range times {
		b := e.NewBatch()
		for i := range hotRows {
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

// writeOthers fills a third of the memtable with what is no garbage and can't be compressed.
func writeOthers(t *testing.T, e *engine.Engine, ts clock.Timestamp) {
	t.Helper()
	rng := rand.NewChaCha8([32]byte{})
	value := make([]byte, hotLen)
	b := e.NewBatch()
	defer b.Close()
	for i := range 3000 {
		_, _ = rng.Read(value) // never fails
		b.SetVersion(fmt.Appendf(nil, "other%d", i), ts, nil, value)
	}
	if err := e.Apply(b, false); err != nil {
		t.Fatal(err)
	}
}

// scanHot reads up to limit rows, as a statement does.
func scanHot(t *testing.T, e *engine.Engine, limit int, reverse bool) {
	t.Helper()
	it, err := e.NewIter(engine.IterOptions{Lower: keys.VersionPrefix(nil, []byte("hot")), Upper: keys.VersionPrefix(nil, []byte("hou"))})
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

// TestGarbageOfHotRows: a small table that is updated all the time leaves the memtable at the poll behind a scan that has suffered. What
// is dead behind rows shows in no count of a scan's steps, since Pebble passes it by seeks.
func TestGarbageOfHotRows(t *testing.T) {
	for _, test := range []struct {
		name    string
		times   int // that each row is overwritten
		limit   int // rows that the scan asks for
		reverse bool
		want    bool
	}{
		{"many versions", 30, hotRows, false, true},
		{"many versions, backwards", 30, hotRows, true, true},
		{"many versions, part of the rows", 30, hotRows / 2, false, true},
		{"many versions, part of the rows backwards", 30, hotRows / 2, true, true},
		{"many versions, one row", 30, 1, false, false},
		{"one dead version each", 1, hotRows, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := openMem(t)
			overwrite(t, e, 100, test.times)
			writeOthers(t, e, 100) // with them there is enough for a flush in any case
			before := e.Metrics().Flushes
			e.PollPressure()
			scanHot(t, e, test.limit, test.reverse)
			e.PollPressure()
			if !test.want {
				time.Sleep(20 * time.Millisecond)
				if e.GarbageSeen() || e.Metrics().Flushes != before {
					t.Error("flushed for next to nothing")
				}
				return
			}
			testkit.Await(t, "the flush", func() bool {
				e.PollPressure() // again: the first second of a process has no flush
				return e.Metrics().Flushes > before
			})
			scanHot(t, e, hotRows, false)
			e.PollPressure()
			if e.GarbageSeen() {
				t.Error("a scan still suffers from memtables behind the flush")
			}
		})
	}
}

// TestGarbageFlushPause: flushes of which little is left may follow each other soon, those that leave most of it have ever longer pauses.
func TestGarbageFlushPause(t *testing.T) {
	e := openMem(t)
	ts := clock.Timestamp(100)
	await := func(pause time.Duration, others bool) {
		t.Helper()
		testkit.Await(t, fmt.Sprintf("a pause of %v", pause), func() bool {
			ts = overwrite(t, e, ts, 4)
			if others {
				writeOthers(t, e, ts)
			}
			scanHot(t, e, hotRows, false)
			e.PollPressure()
			return e.GarbagePause() == pause
		})
	}
	await(engine.GarbageFlushEvery, false)
	await(2*engine.GarbageFlushEvery, true)
	await(engine.GarbageFlushEvery, false)
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
		it, err := e.NewIter(engine.IterOptions{Lower: keys.VersionPrefix(nil, []byte("hot"))})
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
