package ddl_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// lockWait bounds the waits of tests generously; nothing measures it.
const lockWait = 2 * time.Minute

func TestCreateIndexQuiet(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.sbtest("t")
	const rows = 20000 / scale
	n.fill("t", 1, rows+1, func(id int) int { return id % 977 })
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("t"), key("k_1", false, "k")))
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("t"), key("u", true, "k", "id")))
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("t"), key("c", true, "c")))
	r := n.check("t")
	if r.Rows != rows || len(r.Indexes) != 3 || r.Indexes[0].Entries != rows {
		t.Fatalf("%+v", r)
	}
	if jobs := n.ex.Jobs(); len(jobs) != 0 {
		t.Fatalf("%+v", jobs)
	}
}

func TestCreateUniqueIndexFails(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.sbtest("t")
	n.fill("t", 1, 9001, func(id int) int { return min(id, 8999) })
	err := n.ex.CreateIndex(&ddl.Call{}, name("t"), key("u", true, "k"))
	if err == nil || err.Error() != "ERROR 1062 (23000): Duplicate entry '8999' for key 't.u'" {
		t.Fatal(err)
	}
	phys := n.table("t").PhysID
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	if got := len(n.table("t").Indexes); got != 1 {
		t.Fatalf("%d indexes are left", got)
	}
	if got := n.count(table.DataSpan(phys)); got != 9000 {
		t.Fatalf("%d keys are left for 9000 rows", got)
	}
	// The name is free at once, and the new index has another id.
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("t"), key("u", false, "k")))
	n.check("t")
}

func waitFor(t testing.TB, f func() bool) {
	t.Helper()
	for end := time.Now().Add(lockWait); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come to pass")
		}
	}
}

// churn changes random rows of db.name until stop, keeping k unique if asked. It counts the transactions in changes.
func (n *node) churn(r *rand.Rand, name string, rows int, stop *atomic.Bool, unique bool, changes *atomic.Int64) error {
	u := n.cat.Uses().Register()
	defer u.Close()
	w := map[*catalog.Table]*table.Writer{}
	for !stop.Load() {
		err := n.statement(u, name, func(tx *txn.Txn, t *catalog.Table) error {
			if w[t] == nil {
				w[t] = table.NewWriter(t, n.ids)
			}
			for range 1 + r.IntN(3) {
				if err := n.change(tx, w[t], r, rows, unique); err != nil {
					return err
				}
			}
			return nil
		})
		switch {
		case err == nil:
			changes.Add(1)
		case errors.Is(err, kvapi.ErrDeadlock), errors.Is(err, types.Errorf(types.ErDupEntry)):
		default:
			return err
		}
	}
	return nil
}

// change updates, deletes or inserts one row.
func (n *node) change(tx *txn.Txn, w *table.Writer, r *rand.Rand, rows int, unique bool) error {
	id := 1 + r.IntN(rows)
	k := r.IntN(100)
	if unique {
		k = id + rows*r.IntN(3)
	}
	key := table.AppendIndexKey(nil, w.Table(), nil, []types.Value{types.Int(int64(id))})
	var got valueSink
	found, _, err := tx.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, &got)
	if err != nil {
		return err
	}
	switch {
	case !found:
		fresh := row(id, k, fmt.Sprint("new ", id))
		for len(fresh) < len(w.Table().Columns) { // columns that were added meanwhile
			fresh = append(fresh, types.Int(int64(k)))
		}
		return w.Insert(tx, fresh, table.InsertCheck)
	case r.IntN(4) == 0:
		return w.DeleteRow(tx, key, got.value)
	}
	_, err = w.Patch(tx, key, got.value, []int{1}, []types.Value{types.Int(int64(k))})
	return err
}

type valueSink struct{ value []byte }

func (s *valueSink) Pair(_, v []byte) (bool, error) {
	s.value = append(s.value[:0], v...)
	return true, nil
}

// TestCreateIndexUnderLoad builds and drops indexes while writers change rows.
func TestCreateIndexUnderLoad(t *testing.T) {
	for _, unique := range []bool{false, true} {
		t.Run(fmt.Sprint("unique=", unique), func(t *testing.T) {
			n := underLoad(t, unique, func(n *node, i int) {
				ix := fmt.Sprint("i", i)
				n.must(n.ex.CreateIndex(&ddl.Call{LockWait: lockWait}, name("t"), key(ix, unique, "k")))
				if i%2 == 1 {
					n.must(n.ex.DropIndexOf(&ddl.Call{LockWait: lockWait}, name("t"), ix))
				}
			})
			if got := len(n.table("t").Indexes); got != 3 {
				t.Fatalf("%d indexes", got)
			}
		})
	}
}

// TestAlterUnderLoad adds columns with indexes, and renames others, while writers change rows; every other ALTER fails in the end.
func TestAlterUnderLoad(t *testing.T) {
	n := underLoad(t, true, func(n *node, i int) {
		x, from, to := fmt.Sprint("x", i), "k", "kk"
		if n.table("t").Column(from) == nil {
			from, to = to, from
		}
		added := col(x, types.TypeInt, true)
		added.Default = &catalog.Default{Kind: catalog.DefaultLiteral, Value: types.Int(int64(i))}
		err := n.ex.AlterTable(&ddl.Call{LockWait: lockWait}, name("t"), []ddl.AlterSpec{
			ddl.AddColumn{Column: added}, ddl.RenameColumn{From: from, To: to},
			ddl.AddIndex{Index: key("u"+x, true, to, x)}, ddl.AddIndex{Index: key("i"+x, i%2 == 1, x)},
		})
		if i%2 == 0 {
			n.must(err)
		} else if !errors.Is(err, types.Errorf(types.ErDupEntry)) {
			n.tb.Errorf("a unique index on a constant is built: %v", err)
		}
	})
	if got := n.table("t"); len(got.Columns) != 5 || len(got.Indexes) != 5 {
		t.Fatalf("%d columns, %d indexes", len(got.Columns), len(got.Indexes))
	}
}

// underLoad changes db.t four times beside writers, checks it, and waits for the jobs that are left.
func underLoad(t *testing.T, unique bool, change func(n *node, i int)) *node {
	r := testkit.Rand(testkit.Seed(t), 1)
	n := openNode(t, nil)
	t.Cleanup(func() { n.close(true) })
	const rows = 6000 / scale
	n.sbtest("t")
	n.fill("t", 1, rows+1, func(id int) int { return id })
	var stop atomic.Bool
	var changes atomic.Int64
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Add(1)
		seed := r.Uint64()
		go func() {
			defer wg.Done()
			if err := n.churn(testkit.Rand(seed, uint64(g)), "t", rows, &stop, unique, &changes); err != nil {
				t.Error(err)
			}
		}()
	}
	for i := range 4 {
		// On one slow core a whole build may finish before a writer runs for the first time.
		before := changes.Load()
		waitFor(t, func() bool { return changes.Load() > before || t.Failed() })
		change(n, i)
	}
	stop.Store(true)
	wg.Wait()
	n.check("t")
	t.Logf("%d changes", changes.Load())
	if changes.Load() < 4 {
		t.Fatal("nobody wrote")
	}
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	return n
}

func TestSixteenConcurrentBuilds(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	var wg sync.WaitGroup
	for i := range 16 {
		n.sbtest(fmt.Sprint("t", i))
	}
	for i := range 16 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			tab := fmt.Sprint("t", i)
			u := n.cat.Uses().Register()
			defer u.Close()
			for from := 1; from < 2000; from += 500 {
				err := n.statement(u, tab, func(tx *txn.Txn, t *catalog.Table) error {
					w := table.NewWriter(t, n.ids)
					for id := from; id < from+500; id++ {
						if err := w.Insert(tx, row(id, id%7, "x"), table.InsertCheck); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
			if err := n.ex.CreateIndex(&ddl.Call{}, name(tab), key("k", false, "k")); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	for i := range 16 {
		if r := n.check(fmt.Sprint("t", i)); r.Rows != 2000 || r.Indexes[0].Entries != 2000 {
			t.Fatalf("%+v", r)
		}
	}
}

func TestCreateIndexKilled(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.sbtest("t")
	n.fill("t", 1, 30000+1, func(id int) int { return id })
	// On one slow core a build may end before the killer runs; the next one may not.
	var err error
	for end := time.Now().Add(lockWait); err == nil && time.Now().Before(end); {
		if err = n.createAndKill("t"); err == nil {
			n.must(n.ex.DropIndexOf(&ddl.Call{}, name("t"), "i"))
			waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
		}
	}
	if !errors.Is(err, kvapi.ErrInterrupted) {
		t.Fatal(err)
	}
	phys := n.table("t").PhysID
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	if got := n.count(table.DataSpan(phys)); got != 30000 {
		t.Fatalf("%d keys are left", got)
	}
}

// createAndKill creates index i and interrupts the build once it has written entries.
func (n *node) createAndKill(tab string) error {
	var intr kvapi.Interrupt
	over, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			if jobs := n.ex.Jobs(); len(jobs) > 0 && jobs[0].Rows > 0 {
				intr.Set(kvapi.ReasonKillQuery)
				return
			}
			select {
			case <-over:
				return
			case <-time.After(50 * time.Microsecond):
			}
		}
	}()
	err := n.ex.CreateIndex(&ddl.Call{Interrupt: &intr}, name(tab), key("i", false, "k"))
	close(over)
	<-gone
	return err
}

// TestCreateIndexWaitsForTransaction: an open transaction that used the table
// before the build holds it up, and the build gives up after lock_wait_timeout.
func TestCreateIndexWaitsForTransaction(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.sbtest("t")
	n.fill("t", 1, 11, func(id int) int { return id })
	u := n.cat.Uses().Register()
	u.SetOwner(77)
	if u.Enter(n.table("t"), catalog.UseRead) != catalog.Entered {
		t.Fatal()
	}
	err := n.ex.CreateIndex(&ddl.Call{LockWait: 20 * time.Millisecond}, name("t"), key("i", false, "k"))
	if !errors.Is(err, kvapi.ErrLockTimeout) {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		done <- n.ex.CreateIndex(&ddl.Call{LockWait: lockWait}, name("t"), key("i", false, "k"))
	}()
	waitFor(t, func() bool {
		for _, j := range n.ex.Jobs() {
			if j.Kind == "create index" && len(j.Blockers) == 1 && j.Blockers[0] == 77 {
				return true
			}
		}
		return false
	})
	for _, j := range n.ex.Jobs() {
		if err := n.ex.Cancel(j.ID); j.Kind == "create index" && !errors.Is(err, ddl.ErrOfSession) {
			t.Error(err)
		}
	}
	// The table stays usable meanwhile.
	n.fill("t", 11, 21, func(id int) int { return id })
	u.Close()
	n.must(<-done)
	if r := n.check("t"); r.Rows != 20 || r.Indexes[0].Entries != 20 {
		t.Fatalf("%+v", r)
	}
}

// TestIndexJobsSurviveCrashes builds indexes on a file system that loses power
// at random moments. After each restart every job ends by itself, and every
// index is complete or removed.
func TestIndexJobsSurviveCrashes(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	fs := engine.NewMemFS()
	n := openNode(t, fs)
	n.sbtest("t")
	const rows = 6000 / scale
	n.fill("t", 1, rows+1, func(id int) int { return id })
	resumed := 0
	for life := range lives() {
		crash := make(chan *engine.MemFS, 1)
		pause := time.Duration(r.IntN(60)) * time.Millisecond
		percent, seed := r.IntN(101), r.Uint64()
		go func() {
			time.Sleep(pause)
			crash <- fs.CrashClone(engine.CrashConfig{UnsyncedDataPercent: percent, RNG: testkit.Rand(seed, 3)})
		}()
		var clone *engine.MemFS
		for i := 0; clone == nil; i++ {
			ix := fmt.Sprintf("i%d_%d", life, i)
			n.must(n.ex.CreateIndex(&ddl.Call{}, name("t"), key(ix, i%2 == 0, "k")))
			n.must(n.ex.DropIndexOf(&ddl.Call{}, name("t"), ix))
			select {
			case clone = <-crash:
			default:
			}
		}
		n.close(false)
		fs = clone
		n = openNode(t, fs)
		resumed += len(n.ex.Jobs())
		waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
		tab := n.table("t")
		rep := n.check("t")
		if rep.Rows != rows {
			t.Fatalf("life %d: %d rows", life, rep.Rows)
		}
		keys := rows
		for _, ix := range tab.Indexes {
			if ix.State != catalog.StatePublic {
				t.Fatalf("life %d: index %s is %s", life, ix.Name, ix.State)
			}
			if !ix.Primary {
				keys += rows
			}
		}
		if got := n.count(table.DataSpan(tab.PhysID)); got < keys {
			t.Fatalf("life %d: %d keys, want %d", life, got, keys)
		}
		for _, ix := range tab.Indexes {
			if !ix.Primary {
				n.must(n.ex.DropIndexOf(&ddl.Call{}, name("t"), ix.Name))
			}
		}
	}
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	if got := n.count(table.DataSpan(n.table("t").PhysID)); got != rows {
		t.Fatalf("%d keys are left for %d rows", got, rows)
	}
	t.Logf("%d jobs were resumed", resumed)
	n.close(true)
}

func BenchmarkCreateIndex250k(b *testing.B) {
	b.Run("memory", func(b *testing.B) { benchCreateIndex(b, openNode(b, nil)) })
	b.Run("disk", func(b *testing.B) {
		eng, err := engine.Open(engine.Options{Dir: b.TempDir(), LowSpaceBytes: engine.NoSpace, BallastBytes: engine.NoSpace})
		if err != nil {
			b.Fatal(err)
		}
		benchCreateIndex(b, openOn(b, eng, nil))
	})
}

func benchCreateIndex(b *testing.B, n *node) {
	defer n.close(true)
	n.sbtest("t")
	n.fill("t", 1, 250001, func(id int) int { return int(uint32(id)*2654435761>>1) % 250000 })
	for b.Loop() {
		n.must(n.ex.CreateIndex(&ddl.Call{}, name("t"), key("k", false, "k")))
		b.StopTimer()
		n.must(n.ex.DropIndexOf(&ddl.Call{}, name("t"), "k"))
		waitFor(b, func() bool { return len(n.ex.Jobs()) == 0 })
		b.StartTimer()
	}
}

// lives is the number of crashes in each crash test.
func lives() int {
	if os.Getenv("PANDO_SLOW") == "1" {
		return 100
	}
	return 5
}
