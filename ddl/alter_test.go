package ddl_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// growing is an ALTER TABLE with an action of each kind: it adds x, renames k to kk, indexes both, and replaces index i by another of its name.
func growing() []ddl.AlterSpec {
	x := col("x", types.TypeInt, true)
	x.First = true
	x.Default = &catalog.Default{Kind: catalog.DefaultLiteral, Value: types.Int(7)}
	return []ddl.AlterSpec{
		ddl.AddIndex{Index: key("xk", false, "x", "kk")}, ddl.RenameColumn{From: "k", To: "kk"}, ddl.AddColumn{Column: x},
		ddl.DropIndex{Name: "i"}, ddl.AddIndex{Index: key("i", true, "kk")}, ddl.SetAutoIncrement{Next: 5000},
	}
}

// grown tells whether growing was executed, and fails if only a part of it was.
func (n *node) grown(tab string) bool {
	n.tb.Helper()
	t := n.table(tab)
	text := ""
	for _, c := range t.Columns {
		text += c.Name + " "
	}
	for _, ix := range t.Indexes[1:] {
		text += fmt.Sprintf("%s:%v:%v ", ix.Name, ix.Unique, ix.State)
	}
	next, err := n.ids.Peek(t)
	n.must(err)
	n.check(tab)
	switch text += fmt.Sprint(next >= 5000); text {
	case "id k c i:false:public false":
		return false
	case "x id kk c i:true:public xk:false:public true":
		return true
	}
	n.tb.Fatalf("half of the statement is there: %s", text)
	return false
}

// TestAlterIsAtomicInCrashes: whenever a crash interrupts an ALTER TABLE, the next start finds all of its effects or none, and it can be repeated.
func TestAlterIsAtomicInCrashes(t *testing.T) {
	fs := engine.NewMemFS()
	var mu sync.Mutex
	var crashed []*engine.MemFS
	var watching atomic.Bool
	hook := &testkit.HookFS{FS: fs, OnSync: func(name string) (bool, error) {
		if watching.Load() && testkit.IsWAL(name) {
			mu.Lock()
			defer mu.Unlock()
			crashed = append(crashed, fs.CrashClone(engine.CrashConfig{}))
		}
		return false, nil
	}}
	eng, err := engine.Open(engine.Options{Dir: "data", FS: hook, LowSpaceBytes: engine.NoSpace, BallastBytes: engine.NoSpace})
	if err != nil {
		t.Fatal(err)
	}
	n := openOn(t, eng, fs)
	n.sbtest("t")
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("t"), key("i", false, "c")))
	n.fill("t", 1, 101, func(id int) int { return id })
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	if n.grown("t") {
		t.Fatal()
	}
	watching.Store(true)
	n.must(n.ex.AlterTable(&ddl.Call{}, name("t"), growing()))
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	watching.Store(false)
	n.close(false)
	crashed = append(crashed, fs.CrashClone(engine.CrashConfig{}))
	var before, after int
	for i, fs := range crashed {
		t.Run(fmt.Sprint("crash ", i), func(t *testing.T) {
			n := openNode(t, fs)
			defer n.close(true)
			waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
			if n.grown("t") {
				after++
			} else {
				before++
				n.must(n.ex.AlterTable(&ddl.Call{}, name("t"), growing()))
			}
			waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
			if got := n.count(table.DataSpan(n.table("t").PhysID)); !n.grown("t") || got != 300 {
				t.Fatalf("%d keys for 100 rows and two indexes", got)
			}
		})
	}
	if before < 6 || after < 2 {
		t.Errorf("%d crashes before the end, %d after it", before, after)
	}
}

// TestAlterIsInvisibleUntilItsEnd: while the index on a new column is built, sessions read and write the old version of the table, and nothing
// that they write is lost. A build that fails or is killed leaves nothing behind.
func TestAlterIsInvisibleUntilItsEnd(t *testing.T) {
	for _, how := range []string{"succeeds", "duplicate", "killed"} {
		t.Run(how, func(t *testing.T) {
			n := openNode(t, nil)
			defer n.close(true)
			n.sbtest("t")
			n.must(n.ex.CreateIndex(&ddl.Call{}, name("t"), key("i", false, "c")))
			n.fill("t", 1, 2001, func(id int) int {
				if how == "duplicate" {
					return id / 2
				}
				return id
			})
			use := func() *catalog.Use {
				u := n.cat.Uses().Register()
				if u.Enter(n.table("t"), catalog.UseRead) != catalog.Entered {
					t.Fatal("the table is closed")
				}
				return u
			}
			// Each state of each index lasts until a session that uses the table has come and gone.
			last, version := use(), n.table("t").Version
			var intr kvapi.Interrupt
			done := make(chan error, 1)
			go func() {
				done <- n.ex.AlterTable(&ddl.Call{LockWait: lockWait, Interrupt: &intr}, name("t"), growing())
			}()
			id := 2001
			write := func() {
				t.Helper()
				if got := n.table("t"); len(got.Columns) != 3 || got.Column("k") == nil || got.Index("i").State != catalog.StatePublic {
					t.Fatalf("columns %v, indexes %v", got.Columns, got.Indexes)
				}
				n.fill("t", id, id+10, func(id int) int { return id })
				n.must(n.statement(n.use, "t", func(tx *txn.Txn, tab *catalog.Table) error {
					w := table.NewWriter(tab, n.ids)
					var got valueSink
					key := rowKeyOf(tab, id-1000)
					if _, _, err := tx.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, &got); err != nil {
						return err
					}
					if _, err := w.Patch(tx, key, got.value, []int{1}, []types.Value{types.Int(int64(id + 100_000))}); err != nil {
						return err
					}
					key = rowKeyOf(tab, id+1)
					if _, _, err := tx.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, &got); err != nil {
						return err
					}
					return w.DeleteRow(tx, key, got.value)
				}))
				id += 10
			}
			for range 4 { // both indexes, delete-only and write-only
				waitFor(t, func() bool { return n.table("t").Version != version })
				version = n.table("t").Version
				next := use()
				write()
				last.Release()
				last = next
			}
			if how == "killed" {
				intr.Set(kvapi.ReasonKillQuery)
				waitFor(t, func() bool { return len(done) > 0 })
			}
			last.Release()
			err := <-done
			if how == "succeeds" {
				n.must(err)
			} else if want := map[string]error{"duplicate": types.Errorf(types.ErDupEntry), "killed": kvapi.ErrInterrupted}[how]; !errors.Is(err, want) {
				t.Fatal(err)
			}
			waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
			indexes := 1
			if n.grown("t") {
				indexes = 2
			}
			if (how == "succeeds") != (indexes == 2) {
				t.Errorf("the statement ends with %v", err)
			}
			rows := 2000 + (id-2001)/10*9
			if got := n.count(table.DataSpan(n.table("t").PhysID)); got != rows*(1+indexes) {
				t.Errorf("%d keys for %d rows and %d indexes", got, rows, indexes)
			}
		})
	}
}

// TestDropColumnBehindDropIndex: the columns of an index that is being removed can be dropped, though a session delays the end of the removal.
func TestDropColumnBehindDropIndex(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.sbtest("t")
	n.fill("t", 1, 101, func(id int) int { return id })
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("t"), key("i", false, "k", "c")))
	before, between := n.cat.Uses().Register(), n.cat.Uses().Register()
	if before.Enter(n.table("t"), catalog.UseRead) != catalog.Entered {
		t.Fatal()
	}
	done := make(chan error, 1)
	go func() { done <- n.ex.DropIndexOf(&ddl.Call{LockWait: lockWait}, name("t"), "i") }()
	waitFor(t, func() bool { return n.table("t").Index("i").State == catalog.StateWriteOnly })
	if between.Enter(n.table("t"), catalog.UseRead) != catalog.Entered {
		t.Fatal()
	}
	before.Release()
	n.must(<-done)
	if got := len(n.table("t").Indexes); got != 2 {
		t.Fatalf("%d indexes", got)
	}
	go func() {
		done <- n.ex.AlterTable(&ddl.Call{LockWait: lockWait}, name("t"), []ddl.AlterSpec{ddl.DropColumn{Name: "k"}, ddl.DropColumn{Name: "c"}})
	}()
	probe := n.cat.Uses().Register()
	waitFor(t, func() bool {
		defer probe.Release()
		return probe.Enter(n.table("t"), catalog.UseRead) == catalog.Closed || len(done) > 0
	})
	between.Release()
	n.must(<-done)
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	if got := n.count(table.DataSpan(n.table("t").PhysID)); got != 100 || len(n.table("t").Columns) != 1 || len(n.table("t").Indexes) != 1 {
		t.Errorf("%d keys", got)
	}
	n.check("t")
}

// TestAlterWaitsAnew: lock_wait_timeout bounds each single wait for users, not the time that an ALTER takes in all. A machine that has no time for the users
// while one waits for them shows nothing.
func TestAlterWaitsAnew(t *testing.T) {
	const wait = 3 * time.Second
	for begun := clock.Mono(); ; {
		all, longest, err := alterBehindUsers(t, wait)
		switch {
		case err == nil && all >= wait:
			return
		case errors.Is(err, kvapi.ErrLockTimeout) && longest >= wait && clock.Since(begun) < lockWait:
			continue
		}
		t.Fatalf("%v after %v, in which it waited %v at most at a time", err, all, longest)
	}
}

// alterBehindUsers makes each of the four barriers of an ALTER wait for a third of what it may, for one user after the other. It returns how long the ALTER took,
// and how long at most it may have waited at a barrier.
func alterBehindUsers(t *testing.T, wait time.Duration) (all, longest time.Duration, err error) {
	n := openNode(t, nil)
	defer n.close(true)
	n.sbtest("t")
	n.fill("t", 1, 11, func(id int) int { return id })
	users := []*catalog.Use{n.cat.Uses().Register(), n.cat.Uses().Register()}
	enter := func(u *catalog.Use) {
		if u.Enter(n.table("t"), catalog.UseRead) != catalog.Entered {
			t.Error("the table is closed")
		}
	}
	enter(users[0])
	begun := clock.Mono()
	reached := begun // before the ALTER came to the barrier
	release := func(u *catalog.Use) {
		before := clock.Mono()
		u.Release()
		longest, reached = max(longest, clock.Since(reached)), before
	}
	done := make(chan error, 1)
	go func() {
		done <- n.ex.AlterTable(&ddl.Call{LockWait: wait}, name("t"), []ddl.AlterSpec{
			ddl.AddIndex{Index: key("a", false, "k")}, ddl.AddIndex{Index: key("b", true, "c", "k")},
		})
	}()
	for version := n.table("t").Version; len(done) == 0 && (len(n.table("t").Indexes) < 3 || n.table("t").Indexes[2].State < catalog.StateWriteOnly); {
		waitFor(t, func() bool { return n.table("t").Version > version || len(done) > 0 })
		version = n.table("t").Version
		enter(users[1])
		clock.Sleep(wait / 3)
		release(users[0])
		users[0], users[1] = users[1], users[0]
	}
	release(users[0])
	err = <-done
	return clock.Since(begun), longest, err
}
