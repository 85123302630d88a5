package engine_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
)

// TestVisibleBeforeSync pins invariant 1: a batch is visible, as a whole, when ApplyNoSync returns, while its sync hangs.
func TestVisibleBeforeSync(t *testing.T) {
	mem := engine.NewMemFS()
	gate := make(chan struct{})
	var shut atomic.Bool
	e := open(t, engine.Options{Dir: "d", FS: &testkit.HookFS{FS: mem, OnSync: func(name string) (bool, error) {
		if shut.Load() && testkit.IsWAL(name) {
			<-gate
		}
		return false, nil
	}}})
	shut.Store(true)
	b := e.NewBatch()
	b.Set(local("a"), []byte("1"))
	b.Set(local("b"), []byte("2"))
	if err := e.ApplyNoSync(b); err != nil {
		t.Fatal(err)
	}
	if got := get(t, e, local("a")) + get(t, e, local("b")); got != "12" {
		t.Errorf("not visible at return: %s", got)
	}
	synced := make(chan error, 1)
	go func() { synced <- b.SyncWait() }()
	select {
	case err := <-synced:
		t.Errorf("SyncWait returned %v while the sync hangs", err)
	case <-time.After(20 * time.Millisecond):
	}
	// What a crash leaves at this moment: nothing of the batch.
	crashed := open(t, engine.Options{Dir: "d", FS: testkit.Crash(mem, 0, 0)})
	if got := get(t, crashed, local("a")) + get(t, crashed, local("b")); got != "<none><none>" {
		t.Errorf("durable before the sync: %s", got)
	}
	if err := crashed.Close(); err != nil {
		t.Error(err)
	}
	close(gate)
	if err := <-synced; err != nil {
		t.Error(err)
	}
	b.Close()
	crashed = open(t, engine.Options{Dir: "d", FS: testkit.Crash(mem, 0, 0)})
	if got := get(t, crashed, local("a")) + get(t, crashed, local("b")); got != "12" {
		t.Errorf("not durable after SyncWait: %s", got)
	}
	if err := errors.Join(crashed.Close(), e.Close()); err != nil {
		t.Error(err)
	}
}

// TestLaterSyncCoversEarlier pins invariant 3: once SyncWait of a batch has returned, batches applied before it are durable,
// though nobody has waited for them.
func TestLaterSyncCoversEarlier(t *testing.T) {
	mem := engine.NewMemFS()
	// A small memtable makes the WAL rotate between the batches.
	e := open(t, engine.Options{Dir: "d", FS: mem, MemTableBytes: 256 << 10})
	value := make([]byte, 2000)
	var batches []*engine.Batch
	const n = 400
	for i := range n {
		b := e.NewBatch()
		b.Set(local("%04d", i), value)
		var err error
		if i%3 == 0 {
			err = e.Apply(b, false)
		} else {
			err = e.ApplyNoSync(b)
		}
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b)
	}
	last := e.NewBatch()
	last.Set(local("last"), nil)
	if err := e.Apply(last, true); err != nil {
		t.Fatal(err)
	}
	last.Close()
	crashed := open(t, engine.Options{Dir: "d", FS: testkit.Crash(mem, 0, 0)})
	// A flush ends in the background, some time after the WAL has rotated for it.
	for deadline := time.Now().Add(2 * time.Minute); e.Metrics().Flushes == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the WAL has not rotated: the test tests too little")
		}
	}
	for i := range n {
		if len(get(t, crashed, local("%04d", i))) != len(value) {
			t.Errorf("batch %d is lost", i)
		}
	}
	if err := crashed.Close(); err != nil {
		t.Error(err)
	}
	for _, b := range batches {
		if err := b.SyncWait(); err != nil {
			t.Error(err)
		}
		b.Close()
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestSyncWAL: what was applied without sync is durable after SyncWAL.
func TestSyncWAL(t *testing.T) {
	mem := engine.NewMemFS()
	e := open(t, engine.Options{Dir: "d", FS: mem})
	put(t, e, local("a"), "1", false)
	if err := e.SyncWAL(); err != nil {
		t.Fatal(err)
	}
	crashed := open(t, engine.Options{Dir: "d", FS: testkit.Crash(mem, 0, 0)})
	if got := get(t, crashed, local("a")); got != "1" {
		t.Errorf("got %s", got)
	}
	if err := errors.Join(crashed.Close(), e.Close()); err != nil {
		t.Error(err)
	}
}

// TestManifestBeforeMarker: a power loss before any sync of the directory while an engine is being opened leaves a directory that
// opens, whichever of the entries that were not synced are left.
func TestManifestBeforeMarker(t *testing.T) {
	mem := engine.NewMemFS()
	seed := testkit.Seed(t)
	var mu sync.Mutex // guards left: a compaction syncs the directory beside the closing log
	var left []*engine.MemFS
	crash := func(string) (bool, error) {
		mu.Lock()
		defer mu.Unlock()
		for range 16 {
			left = append(left, testkit.Crash(mem, 50, seed+uint64(len(left))))
		}
		return false, nil
	}
	e := open(t, engine.Options{Dir: "d", FS: mem})
	put(t, e, local("a"), "1", true)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, engine.Options{Dir: "d", FS: &testkit.HookFS{FS: mem, OnSyncDir: crash}})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if len(left) == 0 {
		t.Fatal("the directory is never synced")
	}
	for _, fs := range left {
		crashed := open(t, engine.Options{Dir: "d", FS: fs})
		if got := get(t, crashed, local("a")); got != "1" {
			t.Errorf("got %s", got)
		}
		if err := crashed.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestLargeBatch: a batch larger than a memtable is applied, synced and found again.
func TestLargeBatch(t *testing.T) {
	mem := engine.NewMemFS()
	e := open(t, engine.Options{Dir: "d", FS: mem, MemTableBytes: 256 << 10})
	b := e.NewBatch()
	for i := range 3000 {
		b.Set(local("%05d", i), make([]byte, 500))
	}
	if err := e.ApplyNoSync(b); err != nil {
		t.Fatal(err)
	}
	if len(get(t, e, local("%05d", 2999))) != 500 {
		t.Error("not visible")
	}
	if err := b.SyncWait(); err != nil {
		t.Fatal(err)
	}
	b.Close()
	crashed := open(t, engine.Options{Dir: "d", FS: testkit.Crash(mem, 0, 0)})
	if len(get(t, crashed, local("%05d", 0))) != 500 || len(get(t, crashed, local("%05d", 2999))) != 500 {
		t.Error("not durable")
	}
	if err := errors.Join(crashed.Close(), e.Close()); err != nil {
		t.Error(err)
	}
}

// TestGroupSync: many concurrent committers share syncs of the WAL.
func TestGroupSync(t *testing.T) {
	fs := testkit.NewCountFS(engine.NewMemFS())
	slow := &testkit.HookFS{FS: fs, OnSync: func(string) (bool, error) {
		time.Sleep(time.Millisecond)
		return false, nil
	}}
	e := open(t, engine.Options{Dir: "d", FS: slow})
	before := fs.WALSyncs()
	const writers, commits = 32, 20
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range commits {
				b := e.NewBatch()
				b.Set(local("%d/%d", w, i), nil)
				if err := e.Apply(b, true); err != nil {
					t.Error(err)
				}
				b.Close()
			}
		})
	}
	wg.Wait()
	syncs := fs.WALSyncs() - before
	if syncs == 0 || syncs > writers*commits/4 {
		t.Errorf("%d commits took %d syncs", writers*commits, syncs)
	}
	if m := e.Metrics(); m.Applied != writers*commits || m.WALSyncs == 0 {
		t.Errorf("metrics count %d batches and %d syncs", m.Applied, m.WALSyncs)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
