package txn

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/store"
)

// TestPromoted: transactions do the same over a store that has been promoted.
func TestPromoted(t *testing.T) {
	promoted = true
	defer func() { promoted = false }()
	for _, c := range []struct {
		name string
		test func(*testing.T)
	}{
		{"Scripts", TestScripts}, {"Model", TestModel}, {"SplitUnderLoad", TestSplitUnderLoad}, {"Counters", TestCounters},
		{"AllocCounter", TestAllocCounter}, {"DropCounters", TestDropCounters}, {"DropSpan", TestDropSpan}, {"SnapshotTooOld", TestSnapshotTooOld},
		{"ListAppend", TestListAppend}, {"Monotonic", TestMonotonic}, {"Linearizable", TestLinearizable},
	} {
		t.Run(c.name, c.test)
	}
}

// TestSmallLimits: transactions do the same over a store whose limits are small ones, alone and promoted: groups of one commit, and what package testkit says.
func TestSmallLimits(t *testing.T) {
	defer func() { limits, promoted = store.Limits{}, false }()
	rng := testkit.Rand(testkit.Seed(t), 1)
	for _, mode := range []string{"alone", "promoted"}[:testkit.Rounds(2, 1)] {
		for _, c := range []struct {
			name string
			test func(*testing.T)
		}{
			{"Model", TestModel}, {"SplitUnderLoad", TestSplitUnderLoad}, {"Bank", TestBank}, {"ListAppend", TestListAppend}, {"Monotonic", TestMonotonic},
			{"Linearizable", TestLinearizable}, {"PowerLoss", TestPowerLoss},
		} {
			if mode == "promoted" && c.name == "Bank" {
				continue // takes longer than all others together, and the torture has one
			}
			t.Run(mode+c.name, func(t *testing.T) {
				limits, promoted = store.Limits{}, mode == "promoted"
				testkit.Small(rng, &limits)
				limits.GroupCommits = max(limits.GroupCommits, 1) // or nothing would be small alone
				t.Logf("limits %+v", limits)
				c.test(t)
			})
		}
	}
}

// TestPromoteUnderLoad promotes a store while transactions commit, read and lock, with a snapshot of before open across it. What was known
// is there after each of many power losses, during the promotion and after it.
func TestPromoteUnderLoad(t *testing.T) {
	seed := testkit.Seed(t)
	r := newPowerRig(t, powerOptions{slow: 200 * time.Microsecond, waitSeen: true})
	for _, key := range []string{"1/0", "2/1", "3/2"} {
		if err := r.d.s.Split(rowKey(key)); err != nil {
			t.Fatal(err)
		}
	}
	r.start(seed)
	old := r.d.m.OpenSnapshot()
	before, err := scanAll(func(q *ScanRequest) ([]byte, error) { q.TS = old.TS(); return r.d.m.Scan(q) }, rowSpan("", ""), false, 0)
	if err != nil {
		t.Fatal(err)
	}
	promoted := make(chan error, 1)
	go func() { promoted <- r.d.s.Promote() }()
	for i := range 6 {
		for _, l := range r.crash(seed + uint64(i)) {
			t.Error(l)
		}
	}
	if err := <-promoted; err != nil {
		t.Fatal(err)
	}
	commits := r.commits.Load()
	for i := range 6 {
		before := r.commits.Load()
		testkit.Await(t, "commits after the promotion", func() bool { return r.commits.Load() > before+2 || t.Failed() })
		for _, l := range r.crash(seed + 100 + uint64(i)) {
			t.Error(l)
		}
	}
	after, err := scanAll(func(q *ScanRequest) ([]byte, error) { q.TS = old.TS(); return r.d.m.Scan(q) }, rowSpan("", ""), false, 0)
	if err != nil || fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("a snapshot of before the promotion shows %v, showed %v: %v", after, before, err)
	}
	old.Close()
	if err := r.d.s.Promote(); !errors.Is(err, store.ErrPromoted) {
		t.Errorf("a second promotion: %v", err)
	}
	r.close()
	t.Logf("%d commits, %d of them after the promotion", r.commits.Load(), r.commits.Load()-commits)
}

// TestPromotePowerLoss: the power goes at each write and each sync that a promotion makes. What was written before is there, the store
// opens, and a promotion that was not over can be made.
func TestPromotePowerLoss(t *testing.T) {
	each := 1
	if testing.Short() {
		each = testkit.Rounds(3, 7)
	}
	for at := 0; ; at += each {
		fs := engine.NewMemFS()
		var armed atomic.Bool
		var mu sync.Mutex
		steps, crashed := 0, (*engine.MemFS)(nil)
		hook := &testkit.HookFS{FS: fs}
		step := func() {
			if !armed.Load() {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if steps++; steps == at+1 {
				crashed = testkit.Crash(fs, at%3*50, uint64(at))
			}
		}
		hook.OnSync = func(string) (bool, error) { step(); return false, nil }
		hook.OnWrite = func(string, int) error { step(); return nil }
		d := openOn(t, openMemEngine(t, hook), nil)
		for i := range 30 {
			d.mustWrite(fmt.Sprintf("%02d", i), fmt.Sprint(i))
			if i == 20 {
				if err := d.s.Split(rowKey("10")); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := d.m.AllocCounter([]byte("c"), 5, 3); err != nil {
			t.Fatal(err)
		}
		armed.Store(true)
		if err := d.s.Promote(); err != nil {
			t.Fatal(err)
		}
		armed.Store(false)
		mu.Lock()
		image := crashed
		mu.Unlock()
		d.close()
		if image == nil {
			t.Logf("%d steps", at)
			return
		}
		checkPromoted(t, at, image)
	}
}

// checkPromoted opens what a power loss during a promotion left, completes that, and loses the power once more.
func checkPromoted(t *testing.T, at int, fs *engine.MemFS) {
	t.Helper()
	for life := range 3 {
		d := openOn(t, openMemEngine(t, fs), nil)
		if life == 1 && d.s.Cluster() == nil {
			if err := d.s.Promote(); err != nil {
				t.Fatalf("step %d: %v", at, err)
			}
		}
		for i := range 30 {
			want := fmt.Sprint(i)
			if i == 7 && life > 0 {
				want = fmt.Sprint("life", life-1)
			}
			if v, err := d.read(fmt.Sprintf("%02d", i)); err != nil || v != want {
				t.Fatalf("step %d, life %d: row %d is %q, want %q: %v", at, life, i, v, want, err)
			}
		}
		if first, err := d.m.AllocCounter([]byte("c"), 5, 3); err != nil || first != uint64(8+3*life) {
			t.Fatalf("step %d, life %d: the counter gave %d, %v", at, life, first, err)
		}
		d.mustWrite("07", fmt.Sprint("life", life))
		next := testkit.Crash(fs, 0, uint64(at))
		d.close()
		fs = next
	}
}
