package ddl_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/store"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// openCollecting opens a node that collects garbage all the time.
func openCollecting(t *testing.T, fs *engine.MemFS) *node {
	t.Helper()
	eng, err := engine.Open(engine.Options{Dir: "data", FS: fs, LowSpaceBytes: engine.NoSpace, BallastBytes: engine.NoSpace})
	if err != nil {
		t.Fatal(err)
	}
	return openWith(t, eng, fs, store.Options{GCInterval: time.Millisecond})
}

// collect waits until all garbage that there is now is collected.
func (n *node) collect() {
	n.tb.Helper()
	waitFor(n.tb, func() bool {
		n.store.CollectNow()
		return n.store.GCBacklog() == 0
	})
}

// with runs changes of a row of db.t one after the other in one transaction.
func (n *node) with(id int, changes ...func(w *table.Writer, tx *txn.Txn, key, row []byte) error) {
	n.tb.Helper()
	n.must(n.statement(n.use, "t", func(tx *txn.Txn, t *catalog.Table) error {
		for _, change := range changes {
			var got valueSink
			key := rowKeyOf(t, id)
			if found, _, err := tx.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, &got); err != nil || !found {
				return fmt.Errorf("row %d: %v, %w", id, found, err)
			}
			if err := change(table.NewWriter(t, n.ids), tx, key, got.value); err != nil {
				return err
			}
		}
		return nil
	}))
}

// patch sets the primary key and k.
func patch(id, k int) func(w *table.Writer, tx *txn.Txn, key, row []byte) error {
	return func(w *table.Writer, tx *txn.Txn, key, row []byte) error {
		_, err := w.Patch(tx, key, row, []int{0, 1}, []types.Value{types.Int(int64(id)), types.Int(int64(k))})
		return err
	}
}

// rewrite changes a row of db.t: its primary key and k.
func (n *node) rewrite(id, to, k int) { n.tb.Helper(); n.with(id, patch(to, k)) }

// remove deletes a row of db.t.
func (n *node) remove(id int) { n.tb.Helper(); n.with(id, (*table.Writer).DeleteRow) }

// between changes rows of db.t in every way that affects an entry that the build has not written yet. Each round i changes other rows; it inserts as
// many as it deletes.
func (n *node) between(i int) {
	n.tb.Helper()
	at := 100 * i
	n.remove(at + 1)
	n.remove(at + 2) // and back, as it was
	n.fill("t", at+2, at+3, func(id int) int { return id % 7 })
	n.remove(at + 3) // and back with another value
	n.fill("t", at+3, at+4, func(int) int { return 50 })
	n.rewrite(at+4, at+4, 51)
	n.rewrite(at+5, at+5, 52) // and back
	n.rewrite(at+5, at+5, (at+5)%7)
	n.rewrite(at+6, 10000+at, 53) // another primary key
	n.rewrite(at+7, 10001+at, (at+7)%7)
	n.rewrite(10001+at, at+7, (at+7)%7) // and back
	n.fill("t", 20000+at, 20001+at, func(int) int { return 54 })
	n.remove(20000 + at)
	n.fill("t", 20001+at, 20002+at, func(int) int { return 55 })
}

// TestFillBetween: rows that are changed in any way between the reading of a batch and its writing have the right entries, also after garbage collection
// of what the changes deleted; so have the rows of batches before and after.
func TestFillBetween(t *testing.T) {
	defer ddl.SetFillRows(150)()
	fs := engine.NewMemFS()
	n := openCollecting(t, fs)
	n.sbtest("t")
	const rows = 1000
	n.fill("t", 1, rows+1, func(id int) int { return id % 7 })
	round := 0
	n.ex.BeforeFill(func() {
		if round < 9 {
			n.between(round)
			n.store.CollectNow()
		}
		round++
	})
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("t"), key("i", false, "k")))
	if round < 7 {
		t.Fatalf("%d batches", round)
	}
	look := func(n *node) {
		t.Helper()
		r := n.check("t")
		if r.Rows != rows || r.Indexes[0].Entries != rows {
			t.Fatalf("%+v", r)
		}
	}
	look(n)
	n.collect()
	look(n)
	// The engine has no versions that are not visible.
	if got := n.versions(table.DataSpan(n.table("t").PhysID)); got != 2*rows {
		t.Errorf("%d versions of %d rows and an index", got, rows)
	}
	clone := fs.CrashClone(engine.CrashConfig{})
	n.close(false)
	n = openCollecting(t, clone)
	look(n)
	n.must(n.ex.DropIndexOf(&ddl.Call{}, name("t"), "i"))
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	if got := n.count(table.DataSpan(n.table("t").PhysID)); got != rows {
		t.Errorf("%d keys are left", got)
	}
	n.close(true)
}

// TestFillBesideLocks: a build of an index that is not unique does not wait for row locks.
func TestFillBesideLocks(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.sbtest("t")
	n.fill("t", 1, 1001, func(id int) int { return id })
	tx := n.txns.Begin(txn.Options{Level: txn.ReadCommitted})
	defer tx.Release()
	if _, _, err := tx.Lock(rowKeyOf(n.table("t"), 500), kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
		t.Fatal(err)
	}
	n.must(n.ex.CreateIndex(&ddl.Call{LockWait: lockWait}, name("t"), key("i", false, "k")))
	tx.Rollback()
	if r := n.check("t"); r.Rows != 1000 || r.Indexes[0].Entries != 1000 {
		t.Fatalf("%+v", r)
	}
}

// TestFillTooOld: a batch whose snapshot is closed before it is written is read again.
func TestFillTooOld(t *testing.T) {
	eng, err := engine.OpenMem()
	if err != nil {
		t.Fatal(err)
	}
	var now atomic.Int64
	now.Store(time.Now().UnixMilli())
	n := openWith(t, eng, nil, store.Options{GCInterval: time.Millisecond, SnapshotAgeMax: time.Minute, NowMillis: now.Load})
	defer n.close(true)
	n.sbtest("t")
	n.fill("t", 1, 1001, func(id int) int { return id % 7 })
	batches := 0
	n.ex.BeforeFill(func() {
		if batches++; batches > 1 {
			return
		}
		n.between(1)
		now.Add(time.Hour.Milliseconds())
		n.collect()
	})
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("t"), key("i", false, "k")))
	if batches != 2 {
		t.Errorf("%d batches", batches)
	}
	if r := n.check("t"); r.Rows != 1000 || r.Indexes[0].Entries != 1000 {
		t.Fatalf("%+v", r)
	}
}

// TestFillMeetsPromotion: a build continues with locks and through the log when the store becomes one of a cluster, between two batches or within one.
func TestFillMeetsPromotion(t *testing.T) {
	for _, unique := range []bool{false, true} {
		t.Run(fmt.Sprint("unique=", unique), func(t *testing.T) {
			defer ddl.SetFillRows(150)()
			n := openCollecting(t, engine.NewMemFS())
			defer n.close(true)
			n.sbtest("t")
			n.fill("t", 1, 1001, func(id int) int { return id % 7 })
			batches := 0
			n.ex.BeforeFill(func() {
				if batches++; batches == 3 {
					n.between(2)
					n.must(n.store.Promote())
					n.between(3)
				}
			})
			n.must(n.ex.CreateIndex(&ddl.Call{}, name("t"), key("i", unique, "k", "id")))
			if want := map[bool]int{false: 3, true: 0}[unique]; batches != want {
				t.Errorf("%d batches", batches)
			}
			if r := n.check("t"); r.Rows != 1000 || r.Indexes[0].Entries != 1000 {
				t.Fatalf("%+v", r)
			}
		})
	}
}

// TestFillUnderLoad: writers change random rows while indexes are built in many batches, garbage is collected, and the node crashes and restarts: in
// the end every index agrees with its table.
func TestFillUnderLoad(t *testing.T) {
	seed := testkit.Seed(t)
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for round := range rounds {
		fillUnderLoad(t, seed+uint64(round), 20+uint64(round)*200)
	}
}

func fillUnderLoad(t *testing.T, seed, batch uint64) {
	defer ddl.SetFillRows(int(batch))()
	defer ddl.SetBuildSlice(20 * time.Millisecond)()
	r := testkit.Rand(seed, 1)
	fs := engine.NewMemFS()
	n := openCollecting(t, fs)
	n.sbtest("t")
	const rows = 2000 / scale
	n.fill("t", 1, rows+1, func(id int) int { return id })
	for life := range 2 {
		var stop atomic.Bool
		var changes atomic.Int64
		var writers sync.WaitGroup
		for g := range 3 {
			seed := r.Uint64()
			writers.Go(func() {
				if err := n.churn(testkit.Rand(seed, uint64(g)), "t", rows, &stop, false, &changes); err != nil {
					t.Error(err)
				}
			})
		}
		var clone *engine.MemFS
		for i := range 3 {
			before := changes.Load()
			waitFor(t, func() bool { return changes.Load() > before || t.Failed() })
			ix := fmt.Sprintf("i%d_%d", life, i)
			if i == 1 { // the crash comes in the middle of this one
				var once sync.Once
				n.ex.BeforeFill(func() {
					once.Do(func() { clone = fs.CrashClone(engine.CrashConfig{UnsyncedDataPercent: 50, RNG: testkit.Rand(seed, 3)}) })
				})
			}
			n.must(n.ex.CreateIndex(&ddl.Call{LockWait: lockWait}, name("t"), key(ix, false, "k")))
			n.ex.BeforeFill(nil)
			if i == 0 {
				n.must(n.ex.DropIndexOf(&ddl.Call{LockWait: lockWait}, name("t"), ix))
			}
		}
		stop.Store(true)
		writers.Wait()
		n.check("t")
		n.close(false)
		fs = clone
		n = openCollecting(t, fs)
		waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
		n.check("t")
	}
	n.collect()
	n.check("t")
	n.close(true)
}

// TestFillOverDeleteOnly: a transaction that changed a row to another value and back while the index was delete-only has deleted, at the timestamp of
// the row, the entry that the build makes of it. The build writes the entry at a higher timestamp: an existing version never changes.
func TestFillOverDeleteOnly(t *testing.T) {
	fs := engine.NewMemFS()
	n := openCollecting(t, fs)
	n.sbtest("t")
	n.fill("t", 1, 11, func(id int) int { return id })
	look := func(when string) {
		t.Helper()
		if r := n.check("t"); r.Rows != 10 || r.Indexes[0].Entries != 10 {
			t.Errorf("%s: %+v", when, r)
		}
	}
	old := n.user() // the build waits for it, and its index is delete-only meanwhile
	done := make(chan error)
	go func() { done <- n.ex.CreateIndex(&ddl.Call{LockWait: lockWait}, name("t"), key("i", false, "k")) }()
	n.waitBlocked(old)
	uncollected := n.txns.OpenSnapshot()
	n.with(5, patch(5, 77), patch(5, 5))
	old.Close()
	n.must(<-done)
	look("at once")
	// 10 rows and one as it was before, 10 entries, and the deletions of 77 and 5.
	if got := n.versions(table.DataSpan(n.table("t").PhysID)); got != 23 {
		t.Errorf("%d versions, of which one is in another's place", got)
	}
	clone := fs.CrashClone(engine.CrashConfig{UnsyncedDataPercent: 100, RNG: testkit.Rand(1, 1)})
	uncollected.Close()
	n.collect()
	look("collected")
	n.close(false)
	n = openCollecting(t, clone)
	defer n.close(true)
	look("after a crash")
}

// TestFillAgain: a batch whose checkpoint was lost in a crash is repeated with the same versions, so that there are no duplicates.
func TestFillAgain(t *testing.T) {
	defer ddl.SetFillRows(400)()
	fs := engine.NewMemFS()
	n := openCollecting(t, fs)
	n.sbtest("t")
	n.fill("t", 1, 1001, func(id int) int { return id % 7 })
	var clone *engine.MemFS
	batches := 0
	n.ex.BeforeFill(func() {
		if batches++; batches == 2 {
			clone = fs.CrashClone(engine.CrashConfig{}) // the first batch is on disk, its checkpoint most likely not
		}
	})
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("t"), key("i", false, "k")))
	n.close(false)
	n = openCollecting(t, clone)
	defer n.close(true)
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	n.collect()
	if r := n.check("t"); r.Rows != 1000 || r.Indexes[0].Entries != 1000 {
		t.Errorf("%+v", r)
	}
	if got := n.versions(table.DataSpan(n.table("t").PhysID)); got != 2000 {
		t.Errorf("%d versions of 1000 rows and an index", got)
	}
}
