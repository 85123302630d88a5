package ddl_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// openSmall opens a node on a disk whose free space the test sets.
func openSmall(t *testing.T) (*node, func(full bool)) {
	fs := &testkit.SpaceFS{FS: engine.NewMemFS()}
	fs.Free.Store(1 << 30)
	eng, err := engine.Open(engine.Options{Dir: "data", FS: fs, LowSpaceBytes: 100 << 20, BallastBytes: engine.NoSpace})
	if err != nil {
		t.Fatal(err)
	}
	n := openOn(t, eng, nil)
	return n, func(full bool) {
		fs.Free.Store(1 << 30)
		if full {
			fs.Free.Store(60 << 20)
		}
		eng.PollDisk()
	}
}

// waitBlocked waits until a job that has hidden an index from readers waits for the session of u.
func (n *node) waitBlocked(u *catalog.Use) {
	n.tb.Helper()
	u.SetOwner(77)
	waitFor(n.tb, func() bool {
		jobs := n.ex.Jobs()
		return len(jobs) == 1 && len(jobs[0].Blockers) == 1 && slices.ContainsFunc(n.table(jobs[0].Table).Indexes,
			func(ix *catalog.Index) bool { return ix.State != catalog.StatePublic })
	})
}

// gone checks that no job is left, and nothing of index i of table t, and that its name is free.
func (n *node) gone(rows int) {
	n.tb.Helper()
	waitFor(n.tb, func() bool { return len(n.ex.Jobs()) == 0 })
	if got := n.table("t").Indexes; len(got) != 1 {
		n.tb.Fatalf("the table has %+v", got)
	}
	if got := n.count(table.DataSpan(n.table("t").PhysID)); got != rows {
		n.tb.Fatalf("%d keys are left for %d rows", got, rows)
	}
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("t"), key("i", true, "k")))
	n.check("t")
}

// TestFailedBuildOnFullDisk: a build that fails because the disk is full is undone, with the rest of its statement, when there is space again.
func TestFailedBuildOnFullDisk(t *testing.T) {
	for _, build := range []func(n *node) error{
		func(n *node) error {
			return n.ex.CreateIndex(&ddl.Call{LockWait: lockWait}, name("t"), key("i", false, "k"))
		},
		func(n *node) error {
			actions := []ddl.AlterSpec{ddl.AddColumn{Column: col("x", types.TypeInt, true)}, ddl.AddIndex{Index: key("i", false, "x", "k")}}
			return n.ex.AlterTable(&ddl.Call{LockWait: lockWait}, name("t"), actions)
		},
	} {
		n, setFull := openSmall(t)
		n.sbtest("t")
		n.fill("t", 1, 101, func(id int) int { return id })
		u := n.cat.Uses().Register()
		if u.Enter(n.table("t"), catalog.UseRead) != catalog.Entered {
			t.Fatal()
		}
		done := make(chan error)
		go func() { done <- build(n) }()
		n.waitBlocked(u)
		setFull(true)
		u.Close()
		if err := <-done; !errors.Is(err, kvapi.ErrDiskFull) {
			t.Fatal(err)
		}
		setFull(false)
		n.gone(100)
		if got := n.table("t").Columns; len(got) != 3 {
			t.Errorf("the table has %d columns", len(got))
		}
		n.close(true)
	}
}

// TestDropIndexOnFullDisk: an index that DROP INDEX has hidden is removed, though the disk is full when its name should be freed or, after a KILL, when
// the index should be made public again.
func TestDropIndexOnFullDisk(t *testing.T) {
	for _, killed := range []bool{false, true} {
		n, setFull := openSmall(t)
		n.sbtest("t")
		n.fill("t", 1, 101, func(id int) int { return id })
		n.must(n.ex.CreateIndex(&ddl.Call{}, name("t"), key("i", false, "k")))
		u := n.cat.Uses().Register()
		if u.Enter(n.table("t"), catalog.UseRead) != catalog.Entered {
			t.Fatal()
		}
		var intr kvapi.Interrupt
		done := make(chan error)
		go func() {
			done <- n.ex.DropIndexOf(&ddl.Call{LockWait: lockWait, Interrupt: &intr}, name("t"), "i")
		}()
		n.waitBlocked(u)
		setFull(true)
		if killed {
			intr.Set(kvapi.ReasonKillQuery)
			n.must(<-done) // it can't be made public again, so it is dropped
			u.Close()
		} else {
			u.Close()
			n.must(<-done)
		}
		setFull(false)
		n.gone(100)
		n.close(true)
	}
}

// user returns the use of a session that uses table t from now on.
func (n *node) user() *catalog.Use {
	n.tb.Helper()
	u := n.cat.Uses().Register()
	if u.Enter(n.table("t"), catalog.UseRead) != catalog.Entered {
		n.tb.Fatal("the table is closed")
	}
	return u
}

// insertPair inserts two rows with the same k.
func (n *node) insertPair() error {
	return n.statement(n.use, "t", func(tx *txn.Txn, t *catalog.Table) error {
		w := table.NewWriter(t, n.ids)
		if err := w.Insert(tx, row(21, 8, "x"), table.InsertCheck); err != nil {
			return err
		}
		return w.Insert(tx, row(22, 8, "x"), table.InsertCheck)
	})
}

// TestFailedBuildBindsNobody: after the build of a unique index has failed, rows that it would refuse can be written, though a session that used the
// table delays its removal. Before that they are refused, and the error shows the name that the index would get.
func TestFailedBuildBindsNobody(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.sbtest("t")
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("t"), key("Old", false, "c")))
	n.fill("t", 1, 11, func(int) int { return 7 })
	first := n.user()
	done := make(chan error)
	go func() {
		done <- n.ex.AlterTable(&ddl.Call{LockWait: lockWait}, name("t"),
			[]ddl.AlterSpec{ddl.DropIndex{Name: "old"}, ddl.AddIndex{Index: key("old", true, "k")}})
	}()
	state := func(want catalog.SchemaState) {
		t.Helper()
		waitFor(t, func() bool { return len(n.table("t").Indexes) == 3 && n.table("t").Indexes[2].State == want })
	}
	state(catalog.StateDeleteOnly)
	second := n.user()
	first.Release()
	state(catalog.StateWriteOnly)
	third := n.user() // the index refuses duplicates
	if err := n.insertPair(); fmt.Sprint(err) != "ERROR 1062 (23000): Duplicate entry '8' for key 't.Old'" {
		t.Errorf("a duplicate during the build: %v", err)
	}
	second.Release()
	state(catalog.StateDeleteOnly)
	n.must(n.insertPair())
	third.Release()
	if err := <-done; fmt.Sprint(err) != "ERROR 1062 (23000): Duplicate entry '7' for key 't.old'" {
		t.Errorf("the build: %v", err)
	}
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	if report := n.check("t"); report.Rows != 12 || len(n.table("t").Indexes) != 2 {
		t.Errorf("%d rows, %d indexes", report.Rows, len(n.table("t").Indexes))
	}
}

// TestDroppedIndexBindsNobody: after DROP INDEX of a unique index has returned, duplicates can be written, though a session that used the table delays
// the removal of the index.
func TestDroppedIndexBindsNobody(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.sbtest("t")
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("t"), key("i", true, "k")))
	first := n.user()
	done := make(chan error)
	go func() { done <- n.ex.DropIndexOf(&ddl.Call{LockWait: lockWait}, name("t"), "i") }()
	waitFor(t, func() bool { return n.table("t").Index("i").State == catalog.StateWriteOnly })
	second := n.user()
	if err := n.insertPair(); !errors.Is(err, types.Errorf(types.ErDupEntry)) {
		t.Errorf("there are readers still: %v", err)
	}
	first.Release()
	n.must(<-done)
	n.must(n.insertPair())
	second.Release()
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	if report := n.check("t"); report.Rows != 2 || len(n.table("t").Indexes) != 1 {
		t.Errorf("%d rows, %d indexes", report.Rows, len(n.table("t").Indexes))
	}
}
