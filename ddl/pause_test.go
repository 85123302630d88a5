package ddl_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
)

const pausedRows = 3000

// pausedBuild begins the build of an index of db.t in a session of its own and has it paused: after a part of the rows, or if it is unique before the
// first. The channel receives the end of the statement.
func pausedBuild(t *testing.T, n *node, unique bool, intr *kvapi.Interrupt) (end chan error) {
	t.Helper()
	n.sbtest("t")
	n.fill("t", 1, pausedRows+1, func(id int) int { return id })
	end = make(chan error, 1)
	build := func() { end <- n.ex.CreateIndex(&ddl.Call{Interrupt: intr}, name("t"), key("i", unique, "k")) }
	if unique { // before it has done anything, since nothing stops it among its rows
		u := n.cat.Uses().Register()
		defer u.Close()
		if u.Enter(n.table("t"), catalog.UseRead) != catalog.Entered {
			t.Fatal()
		}
		defer u.Release()
		go build()
		waitFor(t, func() bool { return len(n.ex.Jobs()) == 1 })
		n.must(n.ex.Pause(n.ex.Jobs()[0].ID))
	} else {
		n.ex.BeforeFill(func() {
			n.ex.BeforeFill(nil)
			n.must(n.ex.Pause(n.ex.Jobs()[0].ID))
		})
		go build()
	}
	return end
}

// awaitPause waits until the only job rests.
func (n *node) awaitPause() ddl.Job {
	n.tb.Helper()
	waitFor(n.tb, func() bool {
		jobs := n.ex.Jobs()
		return len(jobs) == 1 && jobs[0].Phase == "paused"
	})
	return n.ex.Jobs()[0]
}

// TestPause: a paused build rests with what it has done, holds no writer up, and goes on where it was: in its session, and in the worker after a restart, which
// does not end the pause.
func TestPause(t *testing.T) {
	defer ddl.SetFillRows(pausedRows / 4)()
	for _, unique := range []bool{false, true} {
		t.Run(fmt.Sprint("unique=", unique), func(t *testing.T) {
			fs := engine.NewMemFS()
			n := openNode(t, fs)
			end := pausedBuild(t, n, unique, nil)
			job := n.awaitPause()
			if job.Rows == pausedRows || (job.Rows == 0) != unique {
				t.Errorf("%d rows are indexed", job.Rows)
			}
			if err := n.ex.Pause(job.ID); !errors.Is(err, ddl.ErrIsPaused) {
				t.Errorf("paused again: %v", err)
			}
			n.fill("t", pausedRows+1, pausedRows+101, func(id int) int { return id }) // writers go on
			if n.table("t").Index("i").State == catalog.StatePublic {
				t.Error("the index is public")
			}
			clone := fs.CrashClone(engine.CrashConfig{})
			n.must(n.ex.Resume(job.ID))
			n.must(<-end)
			if r := n.check("t"); r.Indexes[0].Entries != pausedRows+100 {
				t.Errorf("%+v", r)
			}
			if err := n.ex.Resume(job.ID); !errors.Is(err, ddl.ErrNoJob) {
				t.Errorf("resumed at the end: %v", err)
			}
			n.close(true)

			n = openNode(t, clone)
			defer func() { n.close(true) }()
			again := n.awaitPause()
			if again.ID != job.ID {
				t.Errorf("job %d was %d", again.ID, job.ID)
			}
			n.fill("t", pausedRows+1000, pausedRows+1100, func(id int) int { return id })
			n.must(n.ex.Resume(again.ID))
			waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
			if r := n.check("t"); n.table("t").Index("i").State != catalog.StatePublic || r.Indexes[0].Entries != r.Rows {
				t.Errorf("%+v", r)
			}
			n.close(true)
			n = openNode(t, clone) // nothing is left of the pause
			if jobs := n.ex.Jobs(); len(jobs) != 0 {
				t.Errorf("%+v", jobs)
			}
		})
	}
}

// TestEndOfPaused: a paused build is ended as one that runs: by KILL in its session, and after a restart by Cancel or DROP INDEX.
func TestEndOfPaused(t *testing.T) {
	defer ddl.SetFillRows(pausedRows / 4)()
	fs := engine.NewMemFS()
	n := openNode(t, fs)
	var intr kvapi.Interrupt
	end := pausedBuild(t, n, false, &intr)
	n.awaitPause()
	clones := []*engine.MemFS{fs.CrashClone(engine.CrashConfig{}), fs.CrashClone(engine.CrashConfig{})}
	gone := func(n *node) {
		t.Helper()
		waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
		if got := n.count(table.DataSpan(n.table("t").PhysID)); got != pausedRows || n.table("t").Index("i") != nil {
			t.Errorf("%d keys, index %v", got, n.table("t").Index("i"))
		}
		n.close(true)
	}
	intr.Set(kvapi.ReasonKillQuery)
	if err := <-end; !errors.Is(err, kvapi.ErrInterrupted) {
		t.Errorf("KILL: %v", err)
	}
	gone(n)
	for i, clone := range clones {
		n := openNode(t, clone)
		job := n.awaitPause()
		if i == 0 {
			n.must(n.ex.Cancel(job.ID))
		} else {
			n.must(n.ex.DropIndexOf(&ddl.Call{}, name("t"), "i"))
		}
		gone(n)
	}
}

// TestNotPausable: Pause and Resume refuse what they cannot do.
func TestNotPausable(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.sbtest("x")
	n.dropLater("x")
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 1 })
	id := n.ex.Jobs()[0].ID
	for _, c := range []struct{ got, want error }{
		{n.ex.Pause(id), ddl.ErrNotPausable}, {n.ex.Resume(id), ddl.ErrNotPaused}, {n.ex.Pause(id + 1000), ddl.ErrNoJob}, {n.ex.Resume(id + 1000), ddl.ErrNoJob},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}
