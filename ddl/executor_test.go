package ddl_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
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

// TestDropWaitsForTransaction: DROP waits for sessions that use the table, at most
// lock_wait_timeout, and for no others; later users queue behind it.
func TestDropWaitsForTransaction(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.sbtest("a")
	n.sbtest("b")
	u, other := n.cat.Uses().Register(), n.cat.Uses().Register()
	if u.Enter(n.table("a"), catalog.UseRead) != catalog.Entered || other.Enter(n.table("b"), catalog.UseRead) != catalog.Entered {
		t.Fatal()
	}
	err := n.ex.DropTables(&ddl.Call{LockWait: 20 * time.Millisecond}, []ddl.Name{name("a")}, false)
	if !errors.Is(err, kvapi.ErrLockTimeout) {
		t.Fatal(err)
	}
	n.fill("a", 1, 11, func(id int) int { return id }) // the failed DROP left no trace
	done := make(chan error)
	go func() { done <- n.ex.DropTables(&ddl.Call{LockWait: lockWait}, []ddl.Name{name("a")}, false) }()
	probe := n.cat.Uses().Register()
	waitFor(t, func() bool {
		defer probe.Release()
		return probe.Enter(n.table("a"), catalog.UseRead) == catalog.Closed
	})
	late := make(chan error)
	go func() {
		late <- n.statement(probe, "a", func(*txn.Txn, *catalog.Table) error { return errors.New("used a dropped table") })
	}()
	u.Release()
	n.must(<-done)
	if err := <-late; !errors.Is(err, types.Errorf(types.ErNoSuchTable)) {
		t.Fatal(err)
	}
	// TRUNCATE of b waits in the same way and can be killed.
	var intr kvapi.Interrupt
	time.AfterFunc(10*time.Millisecond, func() { intr.Set(kvapi.ReasonKillQuery) })
	if err := n.ex.TruncateTable(&ddl.Call{Interrupt: &intr}, name("b")); !errors.Is(err, kvapi.ErrInterrupted) {
		t.Fatal(err)
	}
	// A session does not wait for itself.
	n.must(n.ex.TruncateTable(&ddl.Call{Self: other, LockWait: lockWait}, name("b")))
}

// TestDroppedDataIsFreed: nothing of dropped and truncated tables remains.
func TestDroppedDataIsFreed(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.sbtest("a")
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("a"), key("k", false, "k")))
	var phys []uint64
	for range 2 {
		n.fill("a", 1, 6000/scale+1, func(id int) int { return id })
		phys = append(phys, n.table("a").PhysID)
		n.must(n.ex.TruncateTable(&ddl.Call{}, name("a")))
	}
	n.fill("a", 1, 11, func(id int) int { return id })
	phys = append(phys, n.table("a").PhysID)
	n.must(n.ex.DropTables(&ddl.Call{}, []ddl.Name{name("a")}, false))
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	for i, p := range phys {
		if got := n.count(table.DataSpan(p)); got != 0 {
			t.Errorf("%d keys of generation %d are left", got, i)
		}
	}
}

// TestReadableFrom: a snapshot older than a TRUNCATE or than an index gets an error when it uses that table or index.
func TestReadableFrom(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.sbtest("a")
	n.fill("a", 1, 11, func(id int) int { return id })
	old := n.txns.OpenSnapshot()
	defer old.Close()
	if n.table("a").ReadableFrom > old.TS() {
		t.Fatal("a table must be readable once it has been created")
	}
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("a"), key("k", false, "k")))
	if ix := n.table("a").Index("k"); ix.Readable(old.TS()) {
		t.Fatal("a snapshot from before the build must not read the index")
	}
	fresh := n.txns.OpenSnapshot()
	if ix := n.table("a").Index("k"); !ix.Readable(fresh.TS()) {
		t.Fatalf("readable from %v, snapshot %v", ix.ReadableFrom, fresh.TS())
	}
	n.must(n.ex.TruncateTable(&ddl.Call{}, name("a")))
	if n.table("a").ReadableFrom <= fresh.TS() {
		t.Fatal("a snapshot from before TRUNCATE must not read the table")
	}
	fresh.Close()
	fresh = n.txns.OpenSnapshot()
	defer fresh.Close()
	if n.table("a").ReadableFrom > fresh.TS() {
		t.Fatal("a snapshot from after TRUNCATE must read the table")
	}
}

// TestStaleIndexIsRebuilt: an index of other collation weights is replaced.
func TestStaleIndexIsRebuilt(t *testing.T) {
	fs := engine.NewMemFS()
	n := openNode(t, fs)
	n.sbtest("a")
	n.fill("a", 1, 101, func(id int) int { return id })
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("a"), key("c", true, "c")))
	var was *catalog.Index
	n.edit("a", func(t *catalog.Table) {
		was = t.Index("c")
		was.WeightsChecksum++
	})
	n.close(true)
	n = openNode(t, fs)
	defer n.close(true)
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	now := n.table("a").Index("c")
	if now == nil || now.ID == was.ID || now.State != catalog.StatePublic {
		t.Fatalf("%+v", now)
	}
	if r := n.check("a"); r.Indexes[0].Entries != 100 || n.count(table.DataSpan(n.table("a").PhysID)) != 200 {
		t.Fatalf("%+v", r)
	}
}

// TestReplacementIsRemoved: the start after a crash removes an index that was built to replace another; the other is still there.
func TestReplacementIsRemoved(t *testing.T) {
	for _, state := range []catalog.SchemaState{catalog.StateWriteOnly, catalog.StatePublic} {
		fs := engine.NewMemFS()
		n := openNode(t, fs)
		n.sbtest("a")
		n.fill("a", 1, 101, func(id int) int { return id })
		n.must(n.ex.CreateIndex(&ddl.Call{}, name("a"), key("c", true, "c")))
		n.must(n.ex.CreateIndex(&ddl.Call{}, name("a"), key("temporary", true, "k")))
		n.edit("a", func(t *catalog.Table) {
			left := t.Index("temporary")
			left.Replaces, left.State = t.Index("c").ID, state
		})
		n.close(true)
		n = openNode(t, fs)
		waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
		if now := n.table("a"); now.Index("c") == nil || now.Index("temporary") != nil {
			t.Errorf("the table has %+v", now.Indexes)
		}
		if r := n.check("a"); r.Indexes[0].Entries != 100 || n.count(table.DataSpan(n.table("a").PhysID)) != 200 {
			t.Errorf("%+v", r)
		}
		n.close(true)
	}
}

// TestBuildOfAlterIsRemoved: the start after a crash removes an unfinished build of an ALTER TABLE with several actions; the build of a CREATE INDEX,
// or of an ALTER TABLE that does nothing else, is resumed.
func TestBuildOfAlterIsRemoved(t *testing.T) {
	u := ddl.AddIndex{Index: key("u", true, "k")}
	v := ddl.AddIndex{Index: key("v", false, "c")}
	add := ddl.AddColumn{Column: col("new", types.TypeInt, false)}
	for i, c := range []struct {
		actions []ddl.AlterSpec // none is CREATE INDEX
		resumed bool
	}{
		{nil, true},
		{[]ddl.AlterSpec{u}, true},
		{[]ddl.AlterSpec{u, add}, false},
		{[]ddl.AlterSpec{u, v}, false},
		{[]ddl.AlterSpec{u, ddl.SetAutoIncrement{Next: 7}}, false},
	} {
		fs := engine.NewMemFS()
		n := openNode(t, fs)
		n.sbtest("t")
		n.fill("t", 1, 101, func(id int) int { return id })
		use := n.cat.Uses().Register()
		if use.Enter(n.table("t"), catalog.UseRead) != catalog.Entered {
			t.Fatal()
		}
		done := make(chan error)
		go func() {
			if c.actions == nil {
				done <- n.ex.CreateIndex(&ddl.Call{LockWait: lockWait}, name("t"), u.Index)
				return
			}
			done <- n.ex.AlterTable(&ddl.Call{LockWait: lockWait}, name("t"), c.actions)
		}()
		n.waitBlocked(use)
		waitFor(t, func() bool { return n.table("t").Index("u") != nil }) // it passes a barrier before that, too
		crashed := testkit.Crash(fs, 0, 1)
		use.Close()
		n.must(<-done)
		n.close(true)

		n = openNode(t, crashed)
		waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
		now, keys := n.table("t"), 100
		if c.resumed {
			keys = 200
		}
		if got := now.Index("u") != nil; got != c.resumed || now.Index("v") != nil || len(now.Columns) != 3 {
			t.Errorf("%d: the table has %+v", i, now)
		}
		if n.check("t"); n.count(table.DataSpan(now.PhysID)) != keys {
			t.Errorf("%d: %d keys", i, n.count(table.DataSpan(now.PhysID)))
		}
		n.must(n.ex.AlterTable(&ddl.Call{}, name("t"), []ddl.AlterSpec{add, v})) // nothing is in the way
		n.close(true)
	}
}

// TestBuildOfAlterOnFullDisk: the node starts with a full disk, and such a build is removed when there is space.
func TestBuildOfAlterOnFullDisk(t *testing.T) {
	for _, fresh := range []bool{false, true} { // with reserved ids left, and as after a restart, when the first id needs a commit
		n, setFull := openSmall(t)
		n.sbtest("t")
		n.fill("t", 1, 101, func(id int) int { return id })
		n.must(n.ex.CreateIndex(&ddl.Call{}, name("t"), key("i", true, "k")))
		n.ex.Close()
		n.halfBuilt("t", "i", catalog.StateWriteOnly, map[string]any{"part": true})
		setFull(true)
		if fresh {
			var err error
			n.cat, err = catalog.Open(n.txns)
			n.must(err)
			n.use = n.cat.Uses().Register()
		}
		n.reopen(nil)
		setFull(false)
		n.gone(100)
		n.close(true)
	}
}

// TestDefinitionsUnderLoad changes definitions of every kind while sessions use
// the tables; users meet only the errors they should, and nothing is lost.
func TestDefinitionsUnderLoad(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	n := openNode(t, nil)
	defer n.close(true)
	tables := []string{"t0", "t1"}
	for _, tab := range tables {
		n.sbtest(tab)
		n.fill(tab, 1, 301, func(id int) int { return id })
	}
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		rng := testkit.Rand(r.Uint64(), 2)
		go func() {
			defer wg.Done()
			for !stop.Load() {
				u := n.cat.Uses().Register()
				err := n.statement(u, tables[rng.IntN(2)], func(tx *txn.Txn, t *catalog.Table) error {
					return n.touch(tx, t, rng)
				})
				u.Close()
				if err != nil && !errors.Is(err, kvapi.ErrDeadlock) && !errors.Is(err, types.Errorf(types.ErNoSuchTable)) &&
					!errors.Is(err, types.Errorf(types.ErDupEntry)) {
					t.Error(err)
					return
				}
			}
		}()
	}
	for i := range 60 {
		tab := tables[i%2]
		c := &ddl.Call{LockWait: lockWait}
		var err error
		switch r.IntN(7) {
		case 0:
			err = n.ex.AlterTable(c, name(tab), []ddl.AlterSpec{ddl.AddColumn{Column: col(fmt.Sprint("x", i), types.TypeInt, i%3 == 0)}})
		case 1:
			if last := n.table(tab).Columns[len(n.table(tab).Columns)-1]; last.Ordinal > 2 {
				err = n.ex.AlterTable(c, name(tab), []ddl.AlterSpec{ddl.DropColumn{Name: last.Name}})
			}
		case 2:
			err = n.ex.CreateIndex(c, name(tab), key(fmt.Sprint("i", i), false, "c", "k"))
		case 3:
			err = n.dropSome(c, tab)
		case 4:
			err = n.ex.TruncateTable(c, name(tab))
		case 5:
			err = n.ex.RenameTables(c, []ddl.RenamePair{{From: name("t0"), To: name("t2")}, {From: name("t1"), To: name("t0")}, {From: name("t2"), To: name("t1")}})
		case 6:
			n.must(n.ex.DropTables(c, []ddl.Name{name(tab)}, false))
			n.sbtest(tab)
		}
		n.must(err)
	}
	stop.Store(true)
	wg.Wait()
	for _, tab := range tables {
		n.check(tab)
	}
}

func (n *node) dropSome(c *ddl.Call, tab string) error {
	for _, ix := range n.table(tab).Indexes {
		if !ix.Primary && ix.State == catalog.StatePublic {
			return n.ex.DropIndexOf(c, name(tab), ix.Name)
		}
	}
	return nil
}

// touch changes one row of a table of any definition.
func (n *node) touch(tx *txn.Txn, t *catalog.Table, r *rand.Rand) error {
	w := table.NewWriter(t, n.ids)
	id := types.Int(int64(1 + r.IntN(400)))
	var got valueSink
	key := table.AppendIndexKey(nil, t, nil, []types.Value{id})
	found, _, err := tx.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, &got)
	switch {
	case err != nil:
		return err
	case found && r.IntN(3) == 0:
		return w.DeleteRow(tx, key, got.value)
	case found:
		_, err := w.Patch(tx, key, got.value, []int{1}, []types.Value{types.Int(int64(r.IntN(50)))})
		return err
	}
	vals := row(int(id.N), r.IntN(50), "new")
	for range t.Columns[3:] {
		vals = append(vals, types.Int(7))
	}
	return w.Insert(tx, vals, table.InsertCheck)
}

// TestAlterStoppedBeforeItsLastStep: an ALTER that has built a replacement index and cannot close the table's gate removes that index: neither readers
// nor a second attempt see it. A version that is still in use is removed in the background.
func TestAlterStoppedBeforeItsLastStep(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.sbtest("a")
	n.fill("a", 1, 101, func(id int) int { return id })
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("a"), key("i", false, "k")))
	replace := func(c *ddl.Call) error {
		return n.ex.AlterTable(c, name("a"), []ddl.AlterSpec{ddl.DropIndex{Name: "i"}, ddl.AddIndex{Index: key("i", true, "k", "c")}})
	}
	enter := func(u *catalog.Use) {
		t.Helper()
		if u.Enter(n.table("a"), catalog.UseRead) != catalog.Entered {
			t.Fatal("the table is closed")
		}
	}
	state := func(want catalog.SchemaState) {
		t.Helper()
		waitFor(t, func() bool {
			all := n.table("a").Indexes
			return len(all) == 3 && all[2].State == want
		})
	}
	first, second, third, probe := n.cat.Uses().Register(), n.cat.Uses().Register(), n.cat.Uses().Register(), n.cat.Uses().Register()
	enter(first)
	var intr kvapi.Interrupt
	done := make(chan error, 1)
	go func() { done <- replace(&ddl.Call{LockWait: lockWait, Interrupt: &intr}) }()
	state(catalog.StateDeleteOnly)
	enter(second)
	first.Release()
	state(catalog.StateWriteOnly)
	enter(third)
	second.Release()
	waitFor(t, func() bool { // the last step waits for third, newcomers wait for it
		defer probe.Release()
		return probe.Enter(n.table("a"), catalog.UseRead) == catalog.Closed
	})
	intr.Set(kvapi.ReasonKillQuery)
	if err := <-done; !errors.Is(err, kvapi.ErrInterrupted) {
		t.Fatal(err)
	}
	for _, ix := range n.table("a").Indexes {
		if ix.State == catalog.StatePublic && !ix.Primary && (ix.Unique || ix.Name != "i") {
			t.Errorf("index %s is public", ix.Name)
		}
	}
	if err := replace(&ddl.Call{LockWait: 20 * time.Millisecond}); !errors.Is(err, kvapi.ErrLockTimeout) {
		t.Errorf("beside a session that uses the table: %v", err)
	}
	third.Release()
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	if got := len(n.table("a").Indexes); got != 2 {
		t.Errorf("%d indexes are left", got)
	}
	if got := n.count(table.DataSpan(n.table("a").PhysID)); got != 200 {
		t.Errorf("%d keys are left for 100 rows and one index", got)
	}
	n.must(replace(&ddl.Call{LockWait: lockWait}))
	if ix := n.table("a").Index("i"); ix == nil || !ix.Unique || ix.Building || ix.Replaces != 0 {
		t.Errorf("%+v", ix)
	}
	n.check("a")
}

// fullOfIndexes makes a table of ten rows with the 64 indexes that a table may have: its primary key, and i0 to i62 on k.
func (n *node) fullOfIndexes(tab string) {
	n.tb.Helper()
	n.sbtest(tab)
	n.fill(tab, 1, 11, func(id int) int { return id })
	var all []ddl.AlterSpec
	for i := range 63 {
		all = append(all, ddl.AddIndex{Index: key(fmt.Sprint("i", i), false, "k")})
	}
	n.must(n.ex.AlterTable(&ddl.Call{}, name(tab), all))
}

// TestReplaceAtTheLimit: an ALTER can replace some of the 64 indexes of a table: the limit applies to the result.
func TestReplaceAtTheLimit(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.fullOfIndexes("a")
	tooMany := func(err error) {
		t.Helper()
		if !errors.Is(err, types.Errorf(types.ErTooManyKeys, 64)) {
			t.Errorf("the 65th index: %v", err)
		}
	}
	add := func(name string) ddl.AlterSpec { return ddl.AddIndex{Index: key(name, true, "c", "id")} }
	drop := func(name string) ddl.AlterSpec { return ddl.DropIndex{Name: name} }
	tooMany(n.ex.CreateIndex(&ddl.Call{}, name("a"), key("x", false, "k")))
	tooMany(n.ex.AlterTable(&ddl.Call{}, name("a"), []ddl.AlterSpec{drop("i0"), add("i0"), add("x")}))
	for _, actions := range [][]ddl.AlterSpec{
		{drop("i0"), add("i0"), drop("i1"), add("i1")},
		{drop("i2"), add("x"), add("i3"), drop("i3")},
		{drop("i4"), ddl.AddColumn{Column: col("new", types.TypeInt, false)}, ddl.AddIndex{Index: key("y", false, "new")}},
		{ddl.DropColumn{Name: "new"}, add("z")},
	} {
		if err := n.ex.AlterTable(&ddl.Call{}, name("a"), actions); err != nil {
			t.Errorf("%+v: %v", actions, err)
		}
		waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	}
	if got := len(n.table("a").Indexes); got != 64 {
		t.Errorf("%d indexes", got)
	}
	n.check("a")
}

// TestLeavingIndexesMakeRoom: an index that was dropped, or whose build was undone, does not count towards the 64 while a session delays its removal.
func TestLeavingIndexesMakeRoom(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.fullOfIndexes("a")
	create := func(c *ddl.Call) error { return n.ex.CreateIndex(c, name("a"), key("x", false, "c")) }
	enter := func() *catalog.Use {
		t.Helper()
		u := n.cat.Uses().Register()
		if u.Enter(n.table("a"), catalog.UseRead) != catalog.Entered {
			t.Fatal("the table is closed")
		}
		return u
	}
	tooMany := func(err error) {
		t.Helper()
		if !errors.Is(err, types.Errorf(types.ErTooManyKeys, 64)) {
			t.Errorf("the 65th index: %v", err)
		}
	}
	last := func() *catalog.Index { return n.table("a").Indexes[63] }
	roomForOne := func() {
		t.Helper()
		if last().State == catalog.StatePublic {
			t.Fatal("no index is on its way out")
		}
		x, y := ddl.AddIndex{Index: key("x", false, "c")}, ddl.AddIndex{Index: key("y", false, "c")}
		for _, statement := range []func(*ddl.Call) error{
			create,
			func(c *ddl.Call) error { return n.ex.AlterTable(c, name("a"), []ddl.AlterSpec{x}) },
		} {
			var intr kvapi.Interrupt
			done := make(chan error, 1)
			go func() { done <- statement(&ddl.Call{LockWait: lockWait, Interrupt: &intr}) }()
			waitFor(t, func() bool { // it waits for the user of the table, so it was not refused
				return len(done) > 0 || slices.ContainsFunc(n.ex.Jobs(), func(j ddl.Job) bool { return j.Kind == "create index" })
			})
			intr.Set(kvapi.ReasonKillQuery)
			if err := <-done; !errors.Is(err, kvapi.ErrInterrupted) {
				t.Error(err)
			}
		}
		tooMany(n.ex.AlterTable(&ddl.Call{LockWait: lockWait}, name("a"), []ddl.AlterSpec{x, y}))
	}
	done := make(chan error, 1)
	first := enter()
	go func() { done <- n.ex.DropIndexOf(&ddl.Call{LockWait: lockWait}, name("a"), "i0") }()
	waitFor(t, func() bool { return last().State == catalog.StateWriteOnly })
	second := enter()
	first.Release()
	n.must(<-done)
	roomForOne()
	second.Release()
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })

	third := enter()
	var intr kvapi.Interrupt
	go func() { done <- create(&ddl.Call{LockWait: lockWait, Interrupt: &intr}) }()
	waitFor(t, func() bool { return len(n.table("a").Indexes) == 64 })
	intr.Set(kvapi.ReasonKillQuery)
	if err := <-done; !errors.Is(err, kvapi.ErrInterrupted) {
		t.Fatal(err)
	}
	roomForOne()
	third.Release()
	n.must(create(&ddl.Call{LockWait: lockWait}))
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	tooMany(n.ex.CreateIndex(&ddl.Call{LockWait: lockWait}, name("a"), key("y", false, "c")))
	n.check("a")
}

// TestLeavingIndexKeysNothing: an index that is being removed does not count as the key of the AUTO_INCREMENT column.
func TestLeavingIndexKeysNothing(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.must(n.ex.CreateDatabase(&ddl.Call{}, "db", 0, false))
	id := col("id", types.TypeInt, true)
	id.AutoInc = true
	n.must(n.ex.CreateTable(&ddl.Call{}, &ddl.TableSpec{Name: name("a"), Columns: []ddl.ColumnSpec{id}, Indexes: []ddl.IndexSpec{key("i", false, "id")}}))
	u := n.cat.Uses().Register()
	if u.Enter(n.table("a"), catalog.UseRead) != catalog.Entered {
		t.Fatal("the table is closed")
	}
	var intr kvapi.Interrupt
	done := make(chan error, 1)
	go func() {
		done <- n.ex.CreateIndex(&ddl.Call{LockWait: lockWait, Interrupt: &intr}, name("a"), key("x", false, "id"))
	}()
	waitFor(t, func() bool { return len(n.table("a").Indexes) == 2 })
	intr.Set(kvapi.ReasonKillQuery)
	if err := <-done; !errors.Is(err, kvapi.ErrInterrupted) {
		t.Fatal(err)
	}
	drop := []ddl.AlterSpec{ddl.DropIndex{Name: "i"}, ddl.SetComment{Comment: "new"}}
	if err := n.ex.AlterTable(&ddl.Call{LockWait: lockWait}, name("a"), drop); !errors.Is(err, types.Errorf(types.ErWrongAutoKey)) {
		t.Error(err)
	}
	u.Release()
}

// TestFirstIDIsCommittedWithItsTable: one commit makes both, so that no crash and no full disk leaves a counter without a table.
func TestFirstIDIsCommittedWithItsTable(t *testing.T) {
	fs := testkit.NewCountFS(engine.NewMemFS())
	eng, err := engine.Open(engine.Options{Dir: "data", FS: fs, BallastBytes: engine.NoSpace})
	if err != nil {
		t.Fatal(err)
	}
	n := openOn(t, eng, nil)
	defer n.close(true)
	create := func(tab string, first uint64) int64 {
		t.Helper()
		before := fs.WALSyncs()
		id := col("id", types.TypeInt, true)
		id.AutoInc = true
		n.must(n.ex.CreateTable(&ddl.Call{}, &ddl.TableSpec{Name: name(tab), Columns: []ddl.ColumnSpec{id}, Indexes: []ddl.IndexSpec{primaryKey("id")}, AutoIncrement: first}))
		return fs.WALSyncs() - before
	}
	n.sbtest("warm") // takes a block of ids
	plain, counted := create("a", 0), create("b", 100)
	if plain != counted || plain == 0 {
		t.Errorf("%d syncs without a first id, %d with one", plain, counted)
	}
	if next, err := n.ids.Peek(n.table("b")); err != nil || next != 100 {
		t.Errorf("the next id is %d, %v", next, err)
	}
}

// TestDroppedTableIsForgotten: the counters of a truncated table's old key space, and what other packages store of it, are deleted in spite of failures
// and crashes in between; those of the new key space stay.
func TestDroppedTableIsForgotten(t *testing.T) {
	fs := engine.NewMemFS()
	n := openNode(t, fs)
	n.sbtest("a")
	generate := func(n *node) (id int64) {
		t.Helper()
		n.must(n.statement(n.use, "a", func(tx *txn.Txn, t *catalog.Table) error {
			w := table.NewWriter(t, n.ids)
			first, err := w.AutoID().Next(1)
			if err != nil {
				return err
			}
			id = int64(first)
			return w.Insert(tx, row(int(id), 1, "x"), table.InsertCheck)
		}))
		return id
	}
	generate(n)
	n.close(true)
	n = openNode(t, fs)
	defer func() { n.close(false) }()
	n.ex.Close()
	old := n.table("a").PhysID
	inserted := make(chan struct{})
	var crashed *engine.MemFS
	var gone []uint64
	var err error
	n.ex, err = ddl.Open(ddl.Options{Catalog: n.cat, Txns: n.txns, AutoIDs: n.ids, Gone: func(physID uint64) error {
		gone = append(gone, physID)
		if len(gone) > 1 {
			return nil
		}
		<-inserted
		crashed = fs.CrashClone(engine.CrashConfig{})
		return errors.New("gone fails once")
	}})
	n.must(err)
	n.must(n.ex.TruncateTable(&ddl.Call{}, name("a")))
	if id := generate(n); id != 1 {
		t.Errorf("the first id of the new rows is %d", id)
	}
	close(inserted)
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	if !slices.Equal(gone, []uint64{old, old}) {
		t.Errorf("gone: %v, want %d twice", gone, old)
	}
	if id := generate(n); id != 2 {
		t.Errorf("the second id of the new rows is %d", id)
	}
	again := openNode(t, crashed)
	defer again.close(true)
	waitFor(t, func() bool { return len(again.ex.Jobs()) == 0 })
	if id := generate(again); id < 2 {
		t.Errorf("after a crash comes id %d again", id)
	}
	for i, n := range []*node{n, again} {
		if got := n.counters(); got != "1 counters, 0 records" {
			t.Errorf("node %d keeps %s", i, got)
		}
	}
}

// TestIDsOfTwoNodes: two catalogs over one store never give the same id to two objects.
func TestIDsOfTwoNodes(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	seen := map[uint64]bool{}
	var mu sync.Mutex
	var nodes sync.WaitGroup
	for range 2 {
		cat, err := catalog.Open(n.txns)
		if err != nil {
			t.Fatal(err)
		}
		nodes.Go(func() {
			for range 1000 {
				id, err := cat.NextID()
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if seen[id] || id == 0 {
					t.Errorf("id %d is given twice, or none", id)
				}
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	nodes.Wait()
}

// TestVersionsOfTwoNodes: a table's version and the first snapshot that may read it are the same on every node, and after a restart:
// they are the timestamps of commits.
func TestVersionsOfTwoNodes(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.sbtest("a")
	n.fill("a", 1, 11, func(id int) int { return id })
	same := func(step string) {
		t.Helper()
		other, err := catalog.Open(n.txns)
		n.must(err)
		here, there := n.table("a"), other.Current().Lookup(n.table("a").Schema, "a")
		if here.Version != there.Version || here.ReadableFrom != there.ReadableFrom || here.ReadableFrom == 0 {
			t.Errorf("%s: version %d, readable from %d; elsewhere %d and %d", step, here.Version, here.ReadableFrom, there.Version, there.ReadableFrom)
		}
		if clock.Timestamp(here.Version) > n.txns.Watermark() || here.ReadableFrom > clock.Timestamp(here.Version) {
			t.Errorf("%s: version %d, readable from %d, the last commit was at %d", step, here.Version, here.ReadableFrom, n.txns.Watermark())
		}
	}
	same("created")
	created := n.table("a").ReadableFrom
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("a"), key("k", false, "k")))
	same("with an index")
	if n.table("a").ReadableFrom != created {
		t.Error("an index is no new data")
	}
	n.must(n.ex.TruncateTable(&ddl.Call{}, name("a")))
	same("truncated")
	if n.table("a").ReadableFrom <= created {
		t.Error("TRUNCATE begins new data")
	}
}
