package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
)

func noPoll() error { return nil }

// TestCheckpointUnderWriters: what a checkpoint holds is a prefix of the order of batches with all that was acknowledged before it began,
// as it is and as a power loss right after leaves it.
func TestCheckpointUnderWriters(t *testing.T) {
	seed := testkit.Seed(t)
	mem := engine.NewMemFS()
	p := &powerRun{t: t, seed: seed, e: open(t, engine.Options{Dir: "live", FS: mem, CacheBytes: 2 << 20, MemTableBytes: 256 << 10, SpareLogBytes: 256 << 10})}
	for w := range powerWriters {
		p.wg.Go(func() { p.writer(w) })
	}
	for i := range 6 {
		// Later ones have tables and several segments of the log.
		testkit.Await(t, "writers", func() bool { return p.ackedNow() >= uint64(500*i) })
		acked := p.ackedNow()
		if _, err := p.e.Checkpoint("d", noPoll); err != nil {
			t.Fatal(err)
		}
		crashed := testkit.Crash(mem, 0, seed)
		if err := checkCrash(crashed, acked); err != nil {
			t.Errorf("checkpoint %d after a power loss: %v", i, err)
		}
		if err := checkCrash(mem, acked); err != nil {
			t.Errorf("checkpoint %d: %v", i, err)
		}
		if err := mem.RemoveAll("d"); err != nil {
			t.Fatal(err)
		}
	}
	p.stop.Store(true)
	p.wg.Wait()
	if err := p.e.Close(); err != nil {
		t.Fatal(err)
	}
	// The engine that was copied from has lost nothing.
	if err := mem.Rename("live", "d"); err != nil {
		t.Fatal(err)
	}
	if err := checkCrash(mem, p.ackedNow()); err != nil {
		t.Error(err)
	}
}

// linkFS tells of the first link.
type linkFS struct {
	engine.FS
	onLink func()
}

func (l *linkFS) Unwrap() engine.FS { return l.FS }

func (l *linkFS) Link(from, to string) error {
	if l.onLink != nil {
		f := l.onLink
		l.onLink = nil
		f()
	}
	return l.FS.Link(from, to)
}

// TestCheckpointHasWhatItsLogReliesOn (invariant 11): somebody makes an unlogged change, has it brought into a table while a checkpoint is
// being made, and then logs that it is there. The checkpoint must not have the second without the first. The canary is a checkpoint that
// makes nobody wait.
func TestCheckpointHasWhatItsLogReliesOn(t *testing.T) {
	for _, canary := range []bool{false, true} {
		t.Run(fmt.Sprintf("canary=%v", canary), func(t *testing.T) {
			fs := &linkFS{FS: engine.NewMemFS()}
			e := open(t, engine.Options{Dir: "live", FS: fs, MemTableBytes: 256 << 10})
			put(t, e, local("before"), "x", true)
			if err := e.Barrier(); err != nil { // so that there is a table to link
				t.Fatal(err)
			}
			done := make(chan error, 1)
			fs.onLink = func() {
				go func() { done <- rely(e) }()
				if canary {
					if err := <-done; err != nil {
						t.Error(err)
					}
					done <- nil
					return
				}
				// Without the lock it would get through in this time.
				timer := time.NewTimer(50 * time.Millisecond)
				defer timer.Stop()
				select {
				case err := <-done:
					t.Errorf("somebody has learnt what is in tables amid a checkpoint: %v", err)
					done <- nil
				case <-timer.C:
				}
			}
			checkpoint := func(dir string) error { _, err := e.Checkpoint(dir, noPoll); return err }
			if canary {
				checkpoint = e.CheckpointUnlocked
			}
			if err := checkpoint("copy"); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			c := open(t, engine.Options{Dir: "copy", FS: fs})
			change, told := get(t, c, local("change")), get(t, c, local("told"))
			if torn := told != "<none>" && change == "<none>"; torn != canary {
				t.Errorf("the change is %s, and it was told that it is %s", change, told)
			}
			if get(t, c, local("before")) != "x" {
				t.Error("what was there before is not in the checkpoint")
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// rely does what the truncation of a Raft log does.
func rely(e *engine.Engine) error {
	b := e.NewBatch()
	defer b.Close()
	b.Set(local("change"), []byte("made"))
	if err := e.ApplyUnlogged(b); err != nil {
		return err
	}
	if err := e.Flush(); err != nil {
		return err
	}
	if _, found, err := e.GetFlushed(nil, local("change")); err != nil || !found {
		return errors.Join(err, fmt.Errorf("flushed: %v", found))
	}
	told := e.NewBatch()
	defer told.Close()
	told.Set(local("told"), []byte("in a table"))
	return e.Apply(told, true)
}

// TestCheckpointLeavesTheLogAlone: a checkpoint that fails or ends leaves no directory, or one, and the log's segments go afterwards as ever.
func TestCheckpointLeavesTheLogAlone(t *testing.T) {
	fs := engine.NewMemFS()
	e := open(t, engine.Options{Dir: "live", FS: fs, MemTableBytes: 256 << 10})
	stop := errors.New("stopped")
	put(t, e, local("k"), "v", true)
	if _, err := e.Checkpoint("copy", func() error { return stop }); !errors.Is(err, stop) {
		t.Errorf("who stops a checkpoint got %v", err)
	}
	if _, err := fs.Stat("copy"); err == nil {
		t.Error("a checkpoint that was stopped has left its directory")
	}
	if err := fs.MkdirAll("there", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Checkpoint("there", noPoll); err == nil {
		t.Error("a checkpoint went into a directory that was there")
	}
	for i := range 2000 {
		put(t, e, local("%d", i), strconv.Itoa(i)+string(make([]byte, 1000)), i%100 == 0)
	}
	if err := e.Barrier(); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, "the log is dropped", func() bool {
		names, err := fs.List("live")
		return err != nil || len(slices.DeleteFunc(names, func(name string) bool { return !testkit.IsWAL(name) })) <= 2
	})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
