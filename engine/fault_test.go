package engine_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
)

// TestWALError: when the WAL cannot be synced, nothing is acknowledged from then on, the process is told to end, and what was
// acknowledged before is there after a restart.
func TestWALError(t *testing.T) {
	for _, op := range []string{"sync", "write"} {
		t.Run(op, func(t *testing.T) {
			mem := engine.NewMemFS()
			var bad atomic.Bool
			fault := func(name string) error {
				if bad.Load() && testkit.IsWAL(name) {
					return syscall.EIO
				}
				return nil
			}
			fs := &testkit.HookFS{FS: mem}
			if op == "sync" {
				fs.OnSync = func(name string) (bool, error) { return false, fault(name) }
			} else {
				fs.OnWrite = func(name string, _ int) error { return fault(name) }
			}
			var fatal atomic.Int32
			e := open(t, engine.Options{Dir: "d", FS: fs, Fatal: func(reason string) {
				fatal.Add(1)
				if !strings.Contains(reason, ".wal: ") || !strings.Contains(reason, syscall.EIO.Error()) {
					t.Errorf("the reason names no file or no error: %s", reason)
				}
			}})
			acked := writeUntilFailure(t, e, func(n int) {
				if n == 50 {
					bad.Store(true)
				}
			})
			if fatal.Load() != 1 || !e.Failed() {
				t.Errorf("fatal was called %d times, failed %v", fatal.Load(), e.Failed())
			}
			b := e.NewBatch()
			b.Set(local("late"), nil)
			if err := e.Apply(b, true); !errors.Is(err, engine.ErrFailed) {
				t.Errorf("a batch after the failure: %v", err)
			}
			b.Close()
			if err := e.SyncWAL(); !errors.Is(err, engine.ErrFailed) {
				t.Errorf("SyncWAL after the failure: %v", err)
			}
			again := open(t, engine.Options{Dir: "d", FS: testkit.Crash(mem, 0, 0)})
			for _, key := range acked {
				if get(t, again, local("%s", key)) != "v" {
					t.Errorf("%s was acknowledged and is lost", key)
				}
			}
			if err := again.Close(); err != nil {
				t.Error(err)
			}
			// e is not closed: its WAL is broken, and in the product the process would be gone.
		})
	}
}

// writeUntilFailure writes with several goroutines until an apply fails, and returns the keys that were acknowledged.
func writeUntilFailure(t *testing.T, e *engine.Engine, each func(n int)) []string {
	t.Helper()
	var mu sync.Mutex
	var acked []string
	var n atomic.Int64
	var wg sync.WaitGroup
	const writes = 2000
	for range 4 {
		wg.Go(func() {
			for n.Load() < writes {
				i := n.Add(1)
				each(int(i))
				key := "k" + string(rune('a'+i%26)) + "/" + string(rune('a'+i/26))
				b := e.NewBatch()
				b.Set(local("%s", key), []byte("v"))
				err := e.Apply(b, true)
				b.Close()
				if err != nil {
					return
				}
				mu.Lock()
				acked = append(acked, key)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if n.Load() >= writes {
		t.Error("no write has failed")
	}
	if len(acked) < 20 {
		t.Errorf("only %d writes were acknowledged before the failure", len(acked))
	}
	return acked
}

// fullFS is a disk of a given size that starts to refuse writes of the WAL.
type fullFS struct {
	testkit.HookFS
	full atomic.Bool
}

// TestDiskFullBallast: ENOSPC on the WAL gives up the ballast, raises DiskFull, and the write that met it succeeds.
func TestDiskFullBallast(t *testing.T) {
	dir := t.TempDir()
	fs := &fullFS{HookFS: testkit.HookFS{FS: engine.OSFS()}}
	path := dir + "/ballast"
	fs.OnWrite = func(name string, _ int) error {
		// There is room again once the ballast is gone.
		if fs.full.Load() && testkit.IsWAL(name) {
			if _, err := fs.FS.Stat(path); err == nil {
				return syscall.ENOSPC
			}
		}
		return nil
	}
	e := open(t, engine.Options{Dir: dir, FS: fs, LowSpaceBytes: 1, BallastBytes: 1 << 20})
	if info, err := fs.Stat(path); err != nil {
		t.Fatalf("no ballast: %v, size %v", err, info)
	}
	put(t, e, local("a"), "1", true)
	if e.DiskFull() {
		t.Error("the disk is full before it is")
	}
	fs.full.Store(true)
	put(t, e, local("b"), "2", true)
	if !e.DiskFull() {
		t.Error("DiskFull is not raised")
	}
	if _, err := fs.Stat(path); err == nil {
		t.Error("the ballast is still there")
	}
	fs.full.Store(false)
	e.PollDisk()
	if e.DiskFull() {
		t.Error("DiskFull stays though there is space")
	}
	if _, err := fs.Stat(path); err != nil {
		t.Errorf("the ballast is not laid again: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	e = open(t, engine.Options{Dir: dir, LowSpaceBytes: 1, BallastBytes: 1 << 20})
	if got := get(t, e, local("a")) + get(t, e, local("b")); got != "12" {
		t.Errorf("got %s", got)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestWatermark follows DiskFull through falling and rising free space, on a file system whose size is set.
func TestWatermark(t *testing.T) {
	fs := &sizedFS{FS: engine.NewMemFS()}
	fs.free.Store(1 << 30)
	e := open(t, engine.Options{Dir: "d", FS: fs, LowSpaceBytes: 100 << 20, BallastBytes: 1 << 20})
	defer func() { _ = e.Close() }()
	steps := []struct {
		free    uint64
		full    bool
		ballast bool
	}{
		{1 << 30, false, true},
		{101 << 20, false, true},
		{99 << 20, true, true},
		{110 << 20, true, true}, // hysteresis
		{126 << 20, false, true},
		{49 << 20, true, false}, // below half the ballast goes
		{126 << 20, false, false},
		{400 << 20, false, true},
	}
	for i, s := range steps {
		fs.free.Store(s.free)
		e.PollDisk()
		_, err := fs.Stat("d/ballast")
		if e.DiskFull() != s.full || (err == nil) != s.ballast {
			t.Errorf("step %d, %d MiB free: full %v, ballast %v", i, s.free>>20, e.DiskFull(), err == nil)
		}
	}
	if m := e.Metrics(); m.DiskFree != 400<<20 || m.DiskFull {
		t.Errorf("metrics: %+v", m)
	}
}

// TestFlushFails: where what is in memory cannot be written to tables because the disk answers errors, Pebble tries for ever; the engine tells of it
// with the file, not at every try, and ends the process when it goes on. When the disk is full it does not: there may be room again.
func TestFlushFails(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.ENOSPC} {
		t.Run(errno.Error(), func(t *testing.T) {
			var bad atomic.Bool
			var tries atomic.Int32
			mem := engine.NewMemFS()
			fs := &testkit.HookFS{FS: mem, OnWrite: func(name string, _ int) error {
				if bad.Load() && strings.HasSuffix(name, ".sst") {
					tries.Add(1)
					return &os.PathError{Op: "write", Path: name, Err: errno}
				}
				return nil
			}}
			fatal := make(chan string)
			var log lockedBuffer
			e := open(t, engine.Options{Dir: "d", FS: fs, BallastBytes: engine.NoSpace, Logger: slog.New(slog.NewTextHandler(&log, nil)), Fatal: func(reason string) {
				fatal <- reason
				select {} // as in the product it does not return; Pebble would go on trying
			}})
			e.SetStuckMax(20 * time.Millisecond)
			put(t, e, local("a"), "1", true)
			bad.Store(true)
			flushed := make(chan error, 1)
			go func() { flushed <- e.Flush() }()
			if errno == syscall.EIO {
				if reason := <-fatal; !strings.Contains(reason, ".sst") || !strings.Contains(reason, errno.Error()) || !e.Failed() {
					t.Errorf("the reason is %q, failed %v", reason, e.Failed())
				}
				e = open(t, engine.Options{Dir: "d", FS: testkit.Crash(mem, 0, 0)})
			} else {
				testkit.Await(t, "some tries", func() bool { return tries.Load() > 50 })
				bad.Store(false)
				if err := <-flushed; err != nil {
					t.Error(err)
				}
				if err := e.Damaged(); err != nil || e.Failed() {
					t.Errorf("of a full disk: damage %v, failed %v", err, e.Failed())
				}
			}
			if text := log.String(); !strings.Contains(text, "background storage work failed") || !strings.Contains(text, ".sst") ||
				strings.Count(text, "background storage work failed") >= int(tries.Load()) {
				t.Errorf("after %d tries the log says:\n%s", tries.Load(), text)
			}
			if get(t, e, local("a")) != "1" {
				t.Error("the row is lost")
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// lockedBuffer is a buffer for several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
