package ddl_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// reopen opens another executor after one was closed. It resumes the stored jobs; destroy may be nil.
func (n *node) reopen(destroy func(kvapi.Span, clock.Timestamp) (bool, error)) {
	n.tb.Helper()
	var err error
	n.ex, err = ddl.Open(ddl.Options{Catalog: n.cat, Txns: n.txns, AutoIDs: n.ids, Destroy: destroy})
	n.must(err)
}

// edit changes a table's descriptor in the catalog directly, to what an older version of the program or a fault would leave.
func (n *node) edit(tab string, change func(*catalog.Table)) {
	n.tb.Helper()
	next := n.table(tab).Clone()
	next.Finish()
	change(next)
	n.must(n.cat.Apply(&catalog.Change{PutTables: []*catalog.Table{next}}, nil))
}

// halfBuilt puts a public index into the state of a build that a crash has interrupted, with a stored job whose record has the given fields besides
// those of every job. The open executor does not know the job.
func (n *node) halfBuilt(tab, index string, state catalog.SchemaState, fields map[string]any) {
	n.tb.Helper()
	next := n.table(tab).Clone()
	next.Finish()
	ix := next.Index(index)
	ix.State, ix.Building, ix.ReadableFrom = state, true, 0
	id, err := n.cat.NextID()
	n.must(err)
	rec := map[string]any{
		"id": id, "kind": "create index", "table_id": next.ID, "phys_id": next.PhysID, "schema": next.Schema, "table": next.Name,
		"index_id": ix.ID, "index": ix.Name,
	}
	for k, v := range fields {
		rec[k] = v
	}
	b, err := json.Marshal(rec)
	n.must(err)
	n.must(n.cat.Apply(&catalog.Change{PutTables: []*catalog.Table{next}}, func(tx *txn.Txn) error {
		key := keys.SystemKey(nil, catalog.KindJob, catalog.IDPart(id))
		if _, _, err := tx.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
			return err
		}
		return tx.Put(key, append([]byte{1}, b...))
	}))
}

// dropLater drops a table whose data stays until the executor is opened again.
func (n *node) dropLater(tab string) {
	n.tb.Helper()
	n.ex.Close()
	n.reopen(func(kvapi.Span, clock.Timestamp) (bool, error) { return false, nil })
	n.must(n.ex.DropTables(&ddl.Call{}, []ddl.Name{name(tab)}, false))
}

func rowKeyOf(t *catalog.Table, id int) []byte {
	return table.AppendIndexKey(nil, t, nil, []types.Value{types.Int(int64(id))})
}

// TestTruncateBeforeResumedBuild: the checkpoint of a build says nothing about the rows after a TRUNCATE.
func TestTruncateBeforeResumedBuild(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.sbtest("x")
	n.sbtest("b")
	n.fill("x", 1, 11, func(id int) int { return id })
	n.fill("b", 1, 2001, func(id int) int { return id })
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("b"), key("i", false, "k")))
	n.dropLater("x")
	n.ex.Close()
	n.halfBuilt("b", "i", catalog.StateWriteOnly, map[string]any{"checkpoint": rowKeyOf(n.table("b"), 769), "rows": 768})
	// The job of x runs before the build and delays it until TRUNCATE has ended.
	gate := make(chan struct{})
	n.reopen(func(s kvapi.Span, ts clock.Timestamp) (bool, error) {
		<-gate
		return n.txns.DropSpan(s, ts)
	})
	n.must(n.ex.TruncateTable(&ddl.Call{}, name("b")))
	n.fill("b", 1, 11, func(id int) int { return id })
	close(gate)
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	if r := n.check("b"); r.Rows != 10 || len(r.Indexes) != 1 || r.Indexes[0].Entries != 10 {
		t.Fatalf("%+v", r)
	}
	if got := n.count(table.DataSpan(n.table("b").PhysID)); got != 20 {
		t.Fatalf("%d keys for 10 rows and an index", got)
	}
}

// TestResumedBuildWaits: a resumed build that waits for a session, at a barrier or at a row, delays neither the deletion of other tables' data nor a
// schema change of its own table.
func TestResumedBuildWaits(t *testing.T) {
	for _, state := range []catalog.SchemaState{catalog.StateDeleteOnly, catalog.StateWriteOnly} {
		t.Run(state.String(), func(t *testing.T) {
			n := openNode(t, nil)
			defer n.close(true)
			n.sbtest("x")
			n.sbtest("b")
			n.fill("x", 1, 11, func(id int) int { return id })
			n.fill("b", 1, 2001, func(id int) int { return id })
			n.must(n.ex.CreateIndex(&ddl.Call{}, name("b"), key("i", true, "k")))
			n.ex.Close()
			n.halfBuilt("b", "i", state, nil)
			u := n.cat.Uses().Register()
			defer u.Close()
			u.SetOwner(77)
			if u.Enter(n.table("b"), catalog.UseRead) != catalog.Entered {
				t.Fatal()
			}
			tx := n.txns.Begin(txn.Options{Level: txn.ReadCommitted})
			defer tx.Release()
			if _, _, err := tx.Lock(rowKeyOf(n.table("b"), 1000), kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
				t.Fatal(err)
			}
			n.reopen(nil)
			waitFor(t, func() bool {
				jobs := n.ex.Jobs()
				return len(jobs) == 1 && (len(jobs[0].Blockers) == 1 || jobs[0].Rows == 768)
			})
			x := n.table("x").PhysID
			n.must(n.ex.DropTables(&ddl.Call{LockWait: lockWait}, []ddl.Name{name("x")}, false))
			waitFor(t, func() bool { return len(n.ex.Jobs()) == 1 })
			if got := n.count(table.DataSpan(x)); got != 0 {
				t.Fatalf("%d keys of x are left", got)
			}
			// The row's lock is released first: it is in the key space that will be dropped.
			tx.Rollback()
			n.must(n.ex.TruncateTable(&ddl.Call{Self: u, LockWait: lockWait}, name("b")))
			u.Release()
			waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
			if r := n.check("b"); r.Rows != 0 || len(r.Indexes) != 1 || r.Indexes[0].Entries != 0 {
				t.Fatalf("%+v", r)
			}
		})
	}
}

// TestResumedBuildInSlices: the worker runs its other jobs between the slices of a build.
func TestResumedBuildInSlices(t *testing.T) {
	defer ddl.SetBuildSlice(time.Nanosecond)()
	n := openNode(t, nil)
	defer n.close(true)
	n.sbtest("x")
	n.sbtest("b")
	n.fill("b", 1, 2001, func(id int) int { return id })
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("b"), key("i", true, "k")))
	n.dropLater("x")
	n.ex.Close()
	n.halfBuilt("b", "i", catalog.StateWriteOnly, nil)
	// While a session uses the table the build cannot close the gate and index all rows at once.
	if n.use.Enter(n.table("b"), catalog.UseRead) != catalog.Entered {
		t.Fatal()
	}
	var asked atomic.Int64
	n.reopen(func(kvapi.Span, clock.Timestamp) (bool, error) {
		asked.Add(1)
		return false, nil
	})
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 1 })
	n.use.Release()
	if r := n.check("b"); r.Indexes[0].Entries != 2000 || n.table("b").Index("i").State != catalog.StatePublic {
		t.Fatalf("%+v", r)
	}
	if got := asked.Load(); got < 2000/256 {
		t.Fatalf("the other job had %d turns", got)
	}
}

// TestResumedBuildOnFullDisk: a resumed build continues after what is written, whichever of its commits found the disk full.
func TestResumedBuildOnFullDisk(t *testing.T) {
	var failed atomic.Int64
	for nth := int64(1); nth <= 5; nth++ {
		var writes atomic.Int64
		writes.Store(math.MinInt64)
		space := &testkit.SpaceFS{FS: engine.NewMemFS()}
		space.Free.Store(1 << 30)
		// The write that finds the disk full is repeated with success; those after it are refused.
		hook := &testkit.HookFS{FS: space, OnWrite: func(name string, _ int) error {
			if testkit.IsWAL(name) && writes.Add(1) == nth {
				return syscall.ENOSPC
			}
			return nil
		}}
		eng, err := engine.Open(engine.Options{Dir: "data", FS: hook, LowSpaceBytes: 100 << 20, BallastBytes: engine.NoSpace})
		if err != nil {
			t.Fatal(err)
		}
		n := openOn(t, eng, nil)
		n.sbtest("b")
		n.fill("b", 1, 2001, func(id int) int { return id })
		n.must(n.ex.CreateIndex(&ddl.Call{}, name("b"), key("i", true, "k")))
		n.ex.Close()
		b := n.table("b")
		n.halfBuilt("b", "i", catalog.StateWriteOnly, nil)
		if done, err := n.txns.DropSpan(table.EntrySpan(b.PhysID, b.Index("i").ID), n.txns.Watermark()); err != nil || !done {
			t.Fatal(done, err)
		}
		writes.Store(0)
		n.ex, err = ddl.Open(ddl.Options{Catalog: n.cat, Txns: n.txns, AutoIDs: n.ids, Log: slog.New(slog.NewTextHandler(onWrite(func() {
			failed.Add(1)
			eng.PollDisk() // there is space for the next attempt
		}), nil))})
		n.must(err)
		waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
		if r := n.check("b"); r.Indexes[0].Entries != 2000 {
			t.Fatalf("%d: %+v", nth, r)
		}
		n.close(true)
	}
	if failed.Load() == 0 {
		t.Fatal("no attempt failed")
	}
}

// onWrite is a log that calls a function at each line.
type onWrite func()

func (f onWrite) Write(b []byte) (int, error) {
	f()
	return len(b), nil
}

// TestDropOfResumedBuild: a statement that drops an index, or its only column, ends the worker's build of it, for which there is no session to KILL.
func TestDropOfResumedBuild(t *testing.T) {
	defer ddl.SetBuildSlice(time.Millisecond)()
	drops := map[string][]ddl.AlterSpec{
		"DROP INDEX":              {ddl.DropIndex{Name: "i"}},
		"DROP INDEX with more":    {ddl.DropIndex{Name: "I"}, ddl.SetComment{Comment: "new"}},
		"DROP INDEX and ADD KEY":  {ddl.DropIndex{Name: "i"}, ddl.AddIndex{Index: key("i", true, "id", "c")}},
		"DROP COLUMN":             {ddl.DropColumn{Name: "k"}},
		"DROP INDEX, DROP COLUMN": {ddl.DropIndex{Name: "i"}, ddl.DropColumn{Name: "k"}},
	}
	for what, actions := range drops {
		for _, state := range []catalog.SchemaState{catalog.StateDeleteOnly, catalog.StateWriteOnly} {
			t.Run(what+" "+state.String(), func(t *testing.T) {
				n := openNode(t, engine.NewMemFS())
				defer func() { n.close(true) }()
				n.sbtest("b")
				n.fill("b", 1, 2001, func(id int) int { return id })
				n.must(n.ex.CreateIndex(&ddl.Call{}, name("b"), key("i", true, "k")))
				n.ex.Close()
				n.halfBuilt("b", "i", state, nil)
				// The build waits for a row, beside a session that uses the table.
				u := n.cat.Uses().Register()
				if u.Enter(n.table("b"), catalog.UseRead) != catalog.Entered {
					t.Fatal()
				}
				tx := n.txns.Begin(txn.Options{Level: txn.ReadCommitted})
				defer tx.Release()
				if _, _, err := tx.Lock(rowKeyOf(n.table("b"), 1000), kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
					t.Fatal(err)
				}
				n.reopen(nil)
				waitFor(t, func() bool { return n.ex.Jobs()[0].Phase != "queued" })
				err := n.ex.AlterTable(&ddl.Call{LockWait: lockWait, Self: u}, name("b"), actions)
				if err != nil {
					t.Fatal(err)
				}
				if ix := n.table("b").Index("i"); ix != nil && len(ix.Columns) == 1 {
					t.Errorf("the index is %s", ix.State)
				}
				if len(actions) == 1 {
					if err := n.ex.DropIndexOf(&ddl.Call{}, name("b"), "i"); !errors.Is(err, types.Errorf(types.ErCantDropFieldOrKey)) {
						t.Error(err)
					}
				}
				tx.Rollback()
				u.Release()
				// The rest of the removal survives a crash.
				fs := n.fs.CrashClone(engine.CrashConfig{})
				n.close(false)
				n = openNode(t, fs)
				waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
				r := n.check("b")
				if got := n.count(table.DataSpan(n.table("b").PhysID)); got != 2000*(1+len(r.Indexes)) || len(n.table("b").Indexes) != 1+len(r.Indexes) {
					t.Errorf("%d keys: %+v", got, r)
				}
			})
		}
	}
}

// TestCancel: a build by the worker is undone when it is cancelled; Cancel refuses other jobs.
func TestCancel(t *testing.T) {
	for _, state := range []catalog.SchemaState{catalog.StateDeleteOnly, catalog.StateWriteOnly} {
		n := openNode(t, nil)
		n.sbtest("x")
		n.sbtest("b")
		n.fill("b", 1, 2001, func(id int) int { return id })
		n.must(n.ex.CreateIndex(&ddl.Call{}, name("b"), key("i", true, "k")))
		n.dropLater("x")
		n.ex.Close()
		n.halfBuilt("b", "i", state, nil)
		u := n.cat.Uses().Register()
		if u.Enter(n.table("b"), catalog.UseRead) != catalog.Entered {
			t.Fatal()
		}
		tx := n.txns.Begin(txn.Options{Level: txn.ReadCommitted})
		if _, _, err := tx.Lock(rowKeyOf(n.table("b"), 1000), kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
			t.Fatal(err)
		}
		var free atomic.Bool
		n.reopen(func(s kvapi.Span, ts clock.Timestamp) (bool, error) {
			if !free.Load() {
				return false, nil
			}
			return n.txns.DropSpan(s, ts)
		})
		waitFor(t, func() bool { return n.ex.Jobs()[1].Phase != "queued" })
		jobs := n.ex.Jobs()
		if err := n.ex.Cancel(jobs[0].ID); !errors.Is(err, ddl.ErrNotCancellable) {
			t.Errorf("the removal of x: %v", err)
		}
		if err := n.ex.Cancel(jobs[1].ID + 1000); !errors.Is(err, ddl.ErrNoJob) {
			t.Errorf("no job: %v", err)
		}
		n.must(n.ex.Cancel(jobs[1].ID))
		waitFor(t, func() bool { return n.table("b").Index("i") == nil })
		tx.Release()
		free.Store(true)
		u.Release()
		waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
		if got := n.count(table.DataSpan(n.table("b").PhysID)); got != 2000 || len(n.table("b").Indexes) != 1 {
			t.Errorf("%d keys, %d indexes", got, len(n.table("b").Indexes))
		}
		n.close(true)
	}
}

// TestCancelOfRebuild: Cancel refuses the rebuild of a stale index, which the user had before.
func TestCancelOfRebuild(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.sbtest("a")
	n.fill("a", 1, 101, func(id int) int { return id })
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("a"), key("c", true, "c")))
	n.ex.Close()
	n.edit("a", func(t *catalog.Table) { t.Index("c").WeightsChecksum++ })
	u := n.cat.Uses().Register()
	if u.Enter(n.table("a"), catalog.UseRead) != catalog.Entered {
		t.Fatal()
	}
	n.reopen(nil)
	builds := 0
	for _, j := range n.ex.Jobs() {
		if j.Kind == "create index" {
			builds++
			if err := n.ex.Cancel(j.ID); !errors.Is(err, ddl.ErrOfOpen) {
				t.Error(err)
			}
		}
	}
	if builds != 1 {
		t.Fatalf("%+v", n.ex.Jobs())
	}
	u.Release()
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	if ix := n.table("a").Index("c"); ix == nil || ix.State != catalog.StatePublic {
		t.Errorf("%+v", ix)
	}
}

// TestBuildKeysNoAutoIncrement: the last public key of the AUTO_INCREMENT column can't be dropped while another is being built: that build may be
// cancelled.
func TestBuildKeysNoAutoIncrement(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	k := col("k", types.TypeInt, true)
	k.AutoInc = true
	n.must(n.ex.CreateDatabase(&ddl.Call{}, "db", 0, false))
	n.must(n.ex.CreateTable(&ddl.Call{}, &ddl.TableSpec{
		Name:    name("b"),
		Columns: []ddl.ColumnSpec{col("id", types.TypeInt, true), k, col("c", types.TypeInt, false)},
		Indexes: []ddl.IndexSpec{{Primary: true, Columns: []ddl.IndexColumnSpec{{Column: "id"}}}, key("k1", false, "k")},
	}))
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("b"), key("i", false, "k")))
	n.ex.Close()
	n.halfBuilt("b", "i", catalog.StateDeleteOnly, nil)
	u := n.cat.Uses().Register()
	if u.Enter(n.table("b"), catalog.UseRead) != catalog.Entered {
		t.Fatal()
	}
	n.reopen(nil)
	actions := []ddl.AlterSpec{ddl.DropIndex{Name: "k1"}, ddl.SetComment{Comment: "x"}}
	if err := n.ex.AlterTable(&ddl.Call{LockWait: lockWait, Self: u}, name("b"), actions); !errors.Is(err, types.Errorf(types.ErWrongAutoKey)) {
		t.Error(err)
	}
	u.Release()
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	n.must(n.ex.AlterTable(&ddl.Call{}, name("b"), actions))
}

// TestLeavingIndexOfOlderBuild: an index that an older version of the program has left write-only with its name free already becomes delete-only
// before it is removed.
func TestLeavingIndexOfOlderBuild(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.sbtest("t")
	n.fill("t", 1, 11, func(id int) int { return id })
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("t"), key("i", true, "k")))
	n.ex.Close()
	leaving := fmt.Sprint("#dropping-", n.table("t").Index("i").ID)
	n.edit("t", func(t *catalog.Table) { t.Index("i").Name = leaving })
	n.halfBuilt("t", leaving, catalog.StateWriteOnly, map[string]any{"kind": "drop index"})
	u := n.user()
	n.reopen(nil)
	waitFor(t, func() bool { return n.table("t").Indexes[1].State == catalog.StateDeleteOnly })
	u.Release()
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	if report := n.check("t"); report.Rows != 10 || len(n.table("t").Indexes) != 1 {
		t.Errorf("%d rows, %d indexes", report.Rows, len(n.table("t").Indexes))
	}
}
