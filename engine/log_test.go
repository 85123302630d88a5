package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/engine/wal"
	"github.com/pandodb/pando/internal/testkit"
)

// tableWatch notes in which order tables are begun and the log is synced.
type tableWatch struct {
	testkit.HookFS
	mu     sync.Mutex // guards events
	events []string
}

func (w *tableWatch) note(event string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, event)
}

// Create implements engine.FS.
func (w *tableWatch) Create(name string, category engine.WriteCategory) (engine.File, error) {
	if strings.HasSuffix(name, ".sst") {
		w.note("table")
	}
	return w.HookFS.Create(name, category)
}

// TestTableWaitsForLog pins invariant 9: what was applied without a sync is in the log on disk before a table can hold it.
func TestTableWaitsForLog(t *testing.T) {
	w := &tableWatch{HookFS: testkit.HookFS{FS: engine.NewMemFS()}}
	w.OnSync = func(name string) (bool, error) {
		if testkit.IsWAL(name) {
			w.note("log")
		}
		return false, nil
	}
	e := open(t, engine.Options{Dir: "d", FS: w})
	w.mu.Lock()
	w.events = nil
	w.mu.Unlock()
	put(t, e, local("a"), "1", false)
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	got := strings.Join(w.events, " ")
	w.mu.Unlock()
	if !strings.HasPrefix(got, "log table") {
		t.Errorf("order of events: %s", got)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestReplayFromNote: what a flush has put into tables is not replayed, what came after it is, and the second start after a
// crash finds nothing to replay because the first has flushed it.
func TestReplayFromNote(t *testing.T) {
	mem := engine.NewMemFS()
	options := engine.Options{Dir: "d", FS: mem, MemTableBytes: 8 << 20}
	e := open(t, options)
	write := func(first, n int) {
		for i := first; i < first+n; i++ {
			put(t, e, local("%06d", i), fmt.Sprint(i)+strings.Repeat("x", 1000), i == first+n-1)
		}
	}
	check := func(n int) {
		t.Helper()
		for i := range n {
			if got := get(t, e, local("%06d", i)); got != fmt.Sprint(i)+strings.Repeat("x", 1000) {
				t.Fatalf("row %d is %.20q", i, got)
			}
		}
	}
	write(0, 1000)
	if live := e.Metrics().WALLiveBytes; live < 1<<20 {
		t.Errorf("%d bytes would be replayed before the flush", live)
	}
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	write(1000, 300)
	options.FS = testkit.Crash(mem, 0, 0)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, options)
	if n := e.Metrics().WALReplayedBytes; n < 300*1000 || n > 400*1000 {
		t.Errorf("%d bytes were replayed, 300 rows of 1 KB were written since the flush", n)
	}
	check(1300)
	testkit.Await(t, "the flush of what was replayed", func() bool { return e.Metrics().WALLiveBytes < 1000 })
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, options)
	check(1300)
	if n := e.Metrics().WALReplayedBytes; n != 0 {
		t.Errorf("%d bytes were replayed again", n)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestOneNote: what a flush appends to the log is a batch with one note.
func TestOneNote(t *testing.T) {
	e := open(t, engine.Options{Dir: "d", FS: engine.NewMemFS()})
	before := e.Metrics().WALBytes
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	const header, key, value = 12, 5, 8 // of Pebble's batch; and the kind and two lengths
	if got, want := e.Metrics().WALBytes-before, uint64(wal.RecordBytes(header+1+1+key+1+value)); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestLogStaysSmall: a directory that is opened again and again, each time with a little in its log, keeps few segments.
func TestLogStaysSmall(t *testing.T) {
	mem := engine.NewMemFS()
	options := engine.Options{Dir: "d", FS: mem, MemTableBytes: 256 << 10, SpareLogBytes: 256 << 10}
	for i := range 30 {
		e := open(t, options)
		put(t, e, local("%d", i), "x", true)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	e := open(t, options)
	testkit.Await(t, "few segments", func() bool {
		names, err := mem.List("d")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, name := range names {
			if testkit.IsWAL(name) {
				n++
			}
		}
		return n <= 3
	})
	for i := range 30 {
		if get(t, e, local("%d", i)) != "x" {
			t.Errorf("row %d is lost", i)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestSlowLog: a sync of the log that doesn't end is told of, once.
func TestSlowLog(t *testing.T) {
	testkit.Slow(t)
	gate := make(chan struct{})
	var shut sync.Once
	armed := make(chan struct{})
	e := open(t, engine.Options{Dir: "d", FS: &testkit.HookFS{FS: engine.NewMemFS(), OnSync: func(name string) (bool, error) {
		select {
		case <-armed:
			if testkit.IsWAL(name) {
				shut.Do(func() { <-gate })
			}
		default:
		}
		return false, nil
	}}})
	close(armed)
	done := make(chan error, 1)
	b := e.NewBatch()
	b.Set(local("a"), nil)
	go func() { done <- e.Apply(b, true) }()
	testkit.Await(t, "the warning", func() bool { e.PollPressure(); return e.Metrics().SlowWrites == 1 })
	time.Sleep(100 * time.Millisecond)
	e.PollPressure()
	if n := e.Metrics().SlowWrites; n != 1 {
		t.Errorf("told %d times", n)
	}
	close(gate)
	if err := errors.Join(<-done, e.Close()); err != nil {
		t.Error(err)
	}
}
