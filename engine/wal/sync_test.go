package wal_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
)

// TestGroups: those who wait while a sync runs share the next one, whatever their number, and each is woken.
func TestGroups(t *testing.T) {
	fs := testkit.NewCountFS(engine.NewMemFS())
	r := newRig(t, &testkit.HookFS{FS: fs, OnSync: func(string) (bool, error) {
		time.Sleep(time.Millisecond)
		return false, nil
	}})
	r.segment = 1 << 20
	r.mustOpen()
	before := fs.WALSyncs()
	const writers, each = 32, 30
	var order sync.Mutex
	var want []string
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				content := fmt.Sprintf("%d/%d", w, i)
				order.Lock()
				want = append(want, content)
				end, err := r.log.Append([]byte(content))
				order.Unlock()
				if err := errors.Join(err, r.log.Sync(end)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := fs.WALSyncs() - before; n == 0 || n > writers*each/4 {
		t.Errorf("%d records took %d syncs", writers*each, n)
	}
	r.closeWith(want)
}

// TestSyncsAreShared: on one processor, which a sync keeps, those who are ready to append when somebody is about to sync share it.
func TestSyncsAreShared(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r := newRig(t, engine.NewMemFS())
	r.mustOpen()
	defer r.close()
	const rounds, each = 20, 16
	before := r.log.Stats().Syncs
	for range rounds {
		var wg sync.WaitGroup
		for range each {
			wg.Go(func() { r.sync(r.append("x")) })
		}
		wg.Wait()
	}
	// One for each round, and one more where the first is served before the last has come.
	if syncs := r.log.Stats().Syncs - before; syncs > 4*rounds {
		t.Errorf("%d syncs of %d records that came %d at a time", syncs, rounds*each, each)
	}
}

// TestPendingIsBounded: with a disk that hangs, appending stops at a bound and goes on when the disk does.
func TestPendingIsBounded(t *testing.T) {
	gate := make(chan struct{})
	var shut atomic.Bool
	hangs := make(chan struct{}, 100)
	r := newRig(t, &testkit.HookFS{FS: engine.NewMemFS(), OnSync: func(name string) (bool, error) {
		if shut.Load() && testkit.IsWAL(name) {
			hangs <- struct{}{}
			<-gate
		}
		return false, nil
	}})
	r.segment = 1 << 30
	r.mustOpen()
	shut.Store(true)
	synced := make(chan error, 1)
	first := r.append("x")
	go func() { synced <- r.log.Sync(first) }()
	<-hangs
	const chunk, chunks = 1 << 20, 40
	var appended atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		content := bytes.Repeat([]byte("y"), chunk)
		for range chunks {
			if _, err := r.log.Append(content); err != nil {
				t.Error(err)
			}
			appended.Add(1)
		}
	}()
	testkit.Await(t, "some records are appended", func() bool { return appended.Load() >= 15 })
	time.Sleep(50 * time.Millisecond)
	if n := appended.Load(); n > 17 {
		t.Errorf("%d MiB are pending", n)
	}
	close(gate)
	<-done
	if err := errors.Join(<-synced, r.log.Sync(r.log.End())); err != nil {
		t.Error(err)
	}
	r.close()
	r.mustOpen()
	if len(r.read) != chunks+1 {
		t.Errorf("%d records", len(r.read))
	}
	r.close()
}
