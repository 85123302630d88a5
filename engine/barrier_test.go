package engine_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
)

// faultShows is how long a test gives the fault to show, which is that something returns too early. A correct build passes whatever it is.
const faultShows = 20 * time.Millisecond

// versions are the bounds of all versions of the keys that begin with prefix.
func versions(prefix string) (start, end []byte) {
	return keys.VersionPrefix(nil, []byte(prefix)), keys.VersionPrefix(nil, keys.PrefixEnd(nil, []byte(prefix)))
}

// versionKey returns the engine key of one version.
func versionKey(key string) []byte {
	k := make([]byte, keys.VersionLen([]byte(key)))
	keys.PutVersionKey(k, []byte(key), 1)
	return k
}

func setVersion(t *testing.T, e *engine.Engine, apply func(*engine.Batch) error, key, value string) {
	t.Helper()
	b := e.NewBatch()
	defer b.Close()
	b.SetVersion([]byte(key), 1, []byte(value), nil)
	if err := apply(b); err != nil {
		t.Error(err)
	}
}

// TestBarrier: what is cut out of the engine behind a barrier stays out of it after a crash, though another writer's batch was in the log
// and not yet in the memtable. Behind a flush, recovery brings it back: that is the canary.
func TestBarrier(t *testing.T) {
	for _, barrier := range []bool{true, false} {
		t.Run(fmt.Sprint(barrier), func(t *testing.T) {
			mem := engine.NewMemFS()
			e := open(t, engine.Options{Dir: "d", FS: mem})
			slow := e.NewBatch()
			slow.SetVersion([]byte("slow"), 1, []byte("x"), nil)
			land, err := e.Hold(slow, false)
			if err != nil {
				t.Fatal(err)
			}
			setVersion(t, e, e.ApplyNoSync, "cut/1", "old")
			if barrier {
				var landed atomic.Bool
				done := make(chan error)
				go func() {
					err := e.Barrier()
					if !landed.Load() {
						t.Error("the barrier did not wait for the batch in flight")
					}
					done <- err
				}()
				// The next one must not be waited for: others write on.
				setVersion(t, e, e.ApplyNoSync, "other", "y")
				clock.Sleep(faultShows)
				landed.Store(true)
				if err := land(); err != nil {
					t.Fatal(err)
				}
				if err := <-done; err != nil {
					t.Fatal(err)
				}
			} else if err := e.Flush(); err != nil {
				t.Fatal(err)
			}
			if err := e.Excise(versions("cut/")); err != nil {
				t.Fatal(err)
			}
			if got := get(t, e, versionKey("cut/1")); got != "<none>" {
				t.Fatalf("right behind the cut: %s", got)
			}
			if err := e.SyncWAL(); err != nil {
				t.Fatal(err)
			}
			crashed := testkit.Crash(mem, 0, 0)
			if !barrier {
				if err := land(); err != nil {
					t.Fatal(err)
				}
			}
			slow.Close()
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			e = open(t, engine.Options{Dir: "d", FS: crashed})
			if got := get(t, e, versionKey("cut/1")); (got == "<none>") != barrier {
				t.Errorf("after the crash: %s", got)
			}
			if got := get(t, e, versionKey("slow")); got != "x" {
				t.Errorf("the batch in flight: %s", got)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestBarrierBesideWriters: the same with three writers, at many moments.
func TestBarrierBesideWriters(t *testing.T) {
	for round := range 20 {
		mem := engine.NewMemFS()
		e := open(t, engine.Options{Dir: "d", FS: mem, MemTableBytes: 1 << 20})
		for i := range 100 {
			setVersion(t, e, e.ApplyNoSync, fmt.Sprintf("cut/%d", i), "old")
		}
		var stop atomic.Bool
		var writers sync.WaitGroup
		for w := range 3 {
			writers.Go(func() {
				value := string(make([]byte, 500+700*w))
				for i := 0; !stop.Load() && i < 3000; i++ {
					setVersion(t, e, e.ApplyNoSync, fmt.Sprintf("w%d/%d", w, i), value)
				}
			})
		}
		if err := e.Barrier(); err != nil {
			t.Fatal(err)
		}
		if err := e.Excise(versions("cut/")); err != nil {
			t.Fatal(err)
		}
		crashed := testkit.Crash(mem, 50, uint64(round))
		stop.Store(true)
		writers.Wait()
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		e = open(t, engine.Options{Dir: "d", FS: crashed})
		for i := range 100 {
			if got := get(t, e, versionKey(fmt.Sprintf("cut/%d", i))); got != "<none>" {
				t.Errorf("round %d: version %d is back: %s", round, i, got)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOneNoteInFlight: a second note waits for the first, so that it need not name a position far behind its own.
func TestOneNoteInFlight(t *testing.T) {
	mem := engine.NewMemFS()
	e := open(t, engine.Options{Dir: "d", FS: mem})
	first := e.NewBatch()
	defer first.Close()
	land, err := e.Hold(first, true)
	if err != nil {
		t.Fatal(err)
	}
	// More than the distance of two notes is written meanwhile, none of it with a note.
	for i := range 10 {
		setVersion(t, e, e.ApplyNoSync, fmt.Sprint(i), string(make([]byte, 20<<10)))
	}
	flushed := make(chan error)
	go func() { flushed <- e.Flush() }()
	select {
	case <-flushed:
		t.Error("a flush has not waited for the note in flight")
	case <-clock.NewTimer(faultShows).C:
	}
	if err := land(); err != nil {
		t.Fatal(err)
	}
	if err := <-flushed; err != nil {
		t.Fatal(err)
	}
	if lag, err := e.NoteLag(); err != nil || lag > 0 || e.NotesInFlight() {
		t.Errorf("the note in the table is %d bytes behind the log's end (%v)", lag, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestIngestIsDurable: an ingest that overlaps a memtable is there after a crash. Pebble, left to itself, enters it into the log of its
// own that we do without.
func TestIngestIsDurable(t *testing.T) {
	mem := engine.NewMemFS()
	e := open(t, engine.Options{Dir: "d", FS: mem})
	setVersion(t, e, e.ApplyNoSync, "row2", "in the memtable")
	if err := e.IngestVersions([]byte("ingested"), versionKey("row1"), versionKey("row3")); err != nil {
		t.Fatal(err)
	}
	if err := e.SyncWAL(); err != nil {
		t.Fatal(err)
	}
	crashed := testkit.Crash(mem, 0, 0)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, engine.Options{Dir: "d", FS: crashed})
	for key, want := range map[string]string{"row1": "ingested", "row2": "in the memtable", "row3": "ingested"} {
		if got := get(t, e, versionKey(key)); got != want {
			t.Errorf("%s after the crash: %s", key, got)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestUnlogged: what was applied without the log is visible at once, lost with the memtable in a crash, and in a table never without
// the logged batch that it can be made from again.
func TestUnlogged(t *testing.T) {
	mem := engine.NewMemFS()
	e := open(t, engine.Options{Dir: "d", FS: mem})
	put(t, e, local("entry/1"), "1", false)
	setVersion(t, e, e.ApplyUnlogged, "row/1", "1")
	if !e.UnflushedMayHold([]byte("row/1")) {
		t.Error("a lookup would not look for it in memtables")
	}
	if got := get(t, e, versionKey("row/1")); got != "1" {
		t.Errorf("applied: %s", got)
	}
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	put(t, e, local("entry/2"), "2", true)
	logged := e.Metrics().WALBytes
	setVersion(t, e, e.ApplyUnlogged, "row/2", "2")
	if m := e.Metrics(); m.WALBytes != logged || m.Unlogged != 2 {
		t.Errorf("%d bytes of log for an unlogged batch, %d of those", m.WALBytes-logged, m.Unlogged)
	}
	crashed := testkit.Crash(mem, 0, 0)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, engine.Options{Dir: "d", FS: crashed})
	for _, c := range []struct{ key, want string }{
		{string(local("entry/1")), "1"}, {string(versionKey("row/1")), "1"},
		{string(local("entry/2")), "2"}, {string(versionKey("row/2")), "<none>"},
	} {
		if got := get(t, e, []byte(c.key)); got != c.want {
			t.Errorf("%q after the crash: %s, want %s", c.key, got, c.want)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
