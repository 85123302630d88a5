package txn

import (
	"errors"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
)

// readRange locks the rows from one name to another for tx.
func readRange(t *testing.T, tx *Txn, from, to string) {
	t.Helper()
	tx.BeginStatement()
	if _, err := tx.Scan(&ScanRequest{Span: rowSpan(from, to), Sink: &listSink{}}); err != nil {
		t.Fatal(err)
	}
}

// TestDeadlockSparesCommit: a commit that closes a cycle of waits goes on, and the statement that waits for it is the victim. Of commits that
// wait for each other the one that closes the cycle is.
func TestDeadlockSparesCommit(t *testing.T) {
	d := openDB(t, nil)
	a, b := d.m.Begin(Options{Level: RepeatableRead}), d.m.Begin(Options{Level: Serializable})
	defer a.Release()
	defer b.Release()
	if _, _, err := a.Lock(rowKey("9"), kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
		t.Fatal(err)
	}
	if err := a.PutNew(rowKey("2"), []byte("v")); err != nil {
		t.Fatal(err)
	}
	readRange(t, b, "1", "3")
	waits := make(chan error)
	go func() {
		_, _, err := b.Lock(rowKey("9"), kvapi.LockExclusive, kvapi.WaitDefault, nil)
		if err != nil {
			b.Rollback()
		}
		waits <- err
	}()
	testkit.Await(t, "b to wait", b.Waiting)
	if err := a.Commit(); err != nil {
		t.Error("the commit:", err)
	}
	if err := <-waits; !errors.Is(err, kvapi.ErrDeadlock) {
		t.Error("the statement:", err)
	}
	if n := d.s.Metrics().Deadlocks; n != 1 {
		t.Errorf("%d deadlocks", n)
	}
}

// TestCommitsInDeadlock: each has written into what the other has read, before that had locks to see.
func TestCommitsInDeadlock(t *testing.T) {
	d := openDB(t, nil)
	a, b := d.m.Begin(Options{Level: Serializable}), d.m.Begin(Options{Level: Serializable})
	defer a.Release()
	defer b.Release()
	for tx, key := range map[*Txn]string{a: "25", b: "15"} {
		if err := tx.PutNew(rowKey(key), []byte("v")); err != nil {
			t.Fatal(err)
		}
	}
	readRange(t, a, "1", "2")
	readRange(t, b, "2", "3")
	waits := make(chan error)
	go func() { waits <- a.Commit() }()
	testkit.Await(t, "a to wait", a.Waiting)
	if err := b.Commit(); !errors.Is(err, kvapi.ErrDeadlock) {
		t.Error("the second:", err)
	}
	if err := <-waits; err != nil {
		t.Error("the first:", err)
	}
}

// TestCommitWaitIsKilled: nothing is written then.
func TestCommitWaitIsKilled(t *testing.T) {
	d := openDB(t, nil)
	var i kvapi.Interrupt
	a, b := d.m.Begin(Options{Level: RepeatableRead, Interrupt: &i}), d.m.Begin(Options{Level: Serializable})
	defer a.Release()
	defer b.Release()
	if err := a.PutNew(rowKey("2"), []byte("v")); err != nil {
		t.Fatal(err)
	}
	readRange(t, b, "1", "3")
	waits := make(chan error)
	go func() { waits <- a.Commit() }()
	testkit.Await(t, "a to wait", a.Waiting)
	i.Set(kvapi.ReasonKillQuery)
	if err := <-waits; !errors.Is(err, kvapi.ErrInterrupted) {
		t.Error(err)
	}
	if a.Active() {
		t.Error("a transaction outlives its commit")
	}
	b.Rollback()
	if v, err := d.read("2"); v != "-" || err != nil {
		t.Error(v, err)
	}
}
