package catalog

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/types"
)

// memCatalog is a catalog without storage: descriptors are published only.
func memCatalog(tables ...string) *Catalog {
	c := &Catalog{uses: &Uses{}}
	c.current.Store(&Snapshot{version: 1, databases: map[string]*databaseEntry{}})
	ch := &Change{PutDatabases: []*Database{{ID: 1, Name: "db"}}}
	for i, name := range tables {
		t := NewTable(uint64(i+1), uint64(i+1), "db", name)
		t.AddColumn(&Column{Name: "a", Type: types.Type{ID: types.TypeInt}}, -1)
		t.Finish()
		ch.PutTables = append(ch.PutTables, t)
	}
	c.publish(ch, c.next())
	return c
}

// next is a timestamp above those of all commits so far.
func (c *Catalog) next() clock.Timestamp { return clock.Timestamp(c.Current().version + 1) }

func (c *Catalog) get(name string) *Table { return c.Current().Lookup("db", name) }

// step publishes the next version of a table.
func (c *Catalog) step(t *Table) *Table {
	next := t.Clone()
	next.Finish()
	c.publish(&Change{PutTables: []*Table{next}}, c.next())
	return next
}

// patience is how long tests wait for what must come: no measure of anything.
const patience = 2 * time.Minute

func within(d time.Duration) Patience { return PatienceFor(d, nil, nil) }

func TestEnterAndBarrier(t *testing.T) {
	c := memCatalog("a", "b")
	u, other := c.Uses().Register(), c.Uses().Register()
	a1 := c.get("a")
	if got := u.Enter(a1, UseRead); got != Entered {
		t.Fatal(got)
	}
	if got := other.Enter(c.get("b"), UseRead); got != Entered {
		t.Fatal(got)
	}
	a2 := c.step(a1)
	if got := other.Enter(a1, UseRead); got != Stale {
		t.Fatalf("old version: %v", got)
	}
	if got := u.Enter(a2, UseRead); got != Entered {
		t.Fatalf("a transaction goes on with the new version: %v", got)
	}
	if err := c.WaitOlder(a2, within(time.Millisecond)); err != kvapi.ErrLockTimeout {
		t.Fatalf("the barrier must wait for the first version used: %v", err)
	}
	u.Release()
	if err := c.WaitOlder(a2, within(patience)); err != nil {
		t.Fatalf("users of b are none of our business: %v", err)
	}
	if u.Holding() || !other.Holding() {
		t.Fatal("holding")
	}
}

func TestEnterManyTables(t *testing.T) {
	names := make([]string, 3*inlineSlots)
	for i := range names {
		names[i] = fmt.Sprint("t", i)
	}
	c := memCatalog(names...)
	u := c.Uses().Register()
	for range 2 {
		for _, name := range names {
			if got := u.Enter(c.get(name), UseRead); got != Entered {
				t.Fatal(name, got)
			}
		}
	}
	last := names[len(names)-1]
	if n := len(c.Users(c.get(last))); n != 1 {
		t.Fatal(n)
	}
	if err := c.WaitOlder(c.step(c.get(last)), within(time.Millisecond)); err != kvapi.ErrLockTimeout {
		t.Fatal(err)
	}
	u.Release()
	if err := c.WaitOlder(c.get(last), within(patience)); err != nil {
		t.Fatal(err)
	}
}

func TestCloseWaitsAndQueues(t *testing.T) {
	c := memCatalog("a")
	old, late := c.Uses().Register(), c.Uses().Register()
	a := c.get("a")
	old.Enter(a, UseRead)
	if _, err := c.Close([]*Table{a}, within(5*time.Millisecond)); err != kvapi.ErrLockTimeout {
		t.Fatalf("close with a user: %v", err)
	}
	if got := late.Enter(a, UseRead); got != Entered {
		t.Fatalf("the gate must be open after a failed close: %v", got)
	}
	late.Release()
	closed := make(chan *Exclusive)
	go func() {
		x, err := c.Close([]*Table{a}, within(patience))
		if err != nil {
			t.Error(err)
		}
		closed <- x[0]
	}()
	for late.Enter(a, UseRead) != Closed {
		late.Release()
	}
	if got := old.Enter(a, UseRead); got != Entered {
		t.Fatalf("a present user passes the closed gate: %v", got)
	}
	waited := make(chan error)
	go func() { waited <- late.Wait(a, UseRead, patience, nil) }()
	old.Release()
	x := <-closed
	select {
	case err := <-waited:
		t.Fatalf("entered a closed gate: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	a2 := c.step(a)
	x.Open()
	if err := <-waited; err != nil {
		t.Fatal(err)
	}
	if len(c.Users(a2)) != 1 {
		t.Fatal("who waited has its use as soon as the gate opens")
	}
	if got := late.Enter(a2, UseRead); got != Entered {
		t.Fatal(got)
	}
}

func TestWaitEnds(t *testing.T) {
	c := memCatalog("a")
	u := c.Uses().Register()
	a := c.get("a")
	x, err := c.Close([]*Table{a}, within(patience))
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Wait(a, UseRead, time.Millisecond, nil); err != kvapi.ErrLockTimeout {
		t.Fatal(err)
	}
	var intr kvapi.Interrupt
	intr.Set(kvapi.ReasonKillQuery)
	if err := u.Wait(a, UseRead, time.Minute, &intr); err != kvapi.ErrInterrupted {
		t.Fatal(err)
	}
	c.publish(&Change{DropTables: []*Table{a}}, c.next())
	done := make(chan error)
	go func() { done <- u.Wait(a, UseRead, time.Minute, nil) }()
	x[0].Open()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if u.Enter(a, UseRead) != Stale {
		t.Fatal("a dropped table must be looked up again")
	}
}

// TestGateDeadlock: each of two transactions holds a table whose schema change
// waits for it, and wants the other's. One of them gets ErrDeadlock.
func TestGateDeadlock(t *testing.T) {
	c := memCatalog("a", "b")
	u1, u2 := c.Uses().Register(), c.Uses().Register()
	a, b := c.get("a"), c.get("b")
	u1.Enter(a, UseRead)
	u2.Enter(b, UseRead)
	var wg sync.WaitGroup
	for _, tab := range []*Table{a, b} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			x, err := c.Close([]*Table{tab}, within(patience))
			if err != nil {
				t.Error(err)
				return
			}
			x[0].Open()
		}()
	}
	probe := c.Uses().Register()
	for _, tab := range []*Table{a, b} {
		for probe.Enter(tab, UseRead) != Closed {
			probe.Release()
		}
	}
	var deadlocks atomic.Int32
	wait := func(u *Use, tab *Table) {
		defer wg.Done()
		if err := u.Wait(tab, UseRead, patience, nil); errors.Is(err, kvapi.ErrDeadlock) {
			deadlocks.Add(1)
		} else if err != nil {
			t.Error(err)
		}
		u.Release()
	}
	wg.Add(2)
	go wait(u1, b)
	go wait(u2, a)
	wg.Wait()
	if deadlocks.Load() == 0 {
		t.Fatal("no deadlock was found")
	}
}

// TestGateStress: sessions use tables while schema changes step and close them.
// Whoever holds a closed gate must be alone, and users never see versions more
// than one apart.
func TestGateStress(t *testing.T) {
	seed := testkit.Seed(t)
	names := []string{"a", "b", "c"}
	c := memCatalog(names...)
	inside := make([]atomic.Int32, len(names))
	exclusive := make([]atomic.Bool, len(names))
	var stop atomic.Bool
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := testkit.Rand(seed, uint64(g))
			u := c.Uses().Register()
			defer u.Close()
			for !stop.Load() {
				var in []int
				for range 1 + r.IntN(2) {
					i := r.IntN(len(names))
					tab := c.get(names[i])
					switch u.Enter(tab, UseRead) {
					case Entered:
						if exclusive[i].Load() {
							t.Error("entered a closed gate")
						}
						inside[i].Add(1)
						in = append(in, i)
					case Closed:
						if err := u.Wait(tab, UseRead, patience, nil); err != nil && err != kvapi.ErrDeadlock {
							t.Error(err)
						}
					}
				}
				if r.IntN(8) == 0 {
					clock.Sleep(time.Duration(r.IntN(100)) * time.Microsecond)
				}
				for _, i := range in {
					inside[i].Add(-1)
				}
				u.Release()
			}
		}()
	}
	for i, name := range names {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 150 {
				tab := c.get(name)
				if x := c.TryClose(tab, nil); x != nil {
					alone(t, &inside[i], &exclusive[i])
					x.Open()
				}
				x, err := c.Close([]*Table{tab}, within(patience))
				if err != nil {
					t.Error(err)
					return
				}
				alone(t, &inside[i], &exclusive[i])
				next := c.step(tab)
				x[0].Open()
				if err := c.WaitOlder(next, within(patience)); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	time.AfterFunc(800*time.Millisecond, func() { stop.Store(true) })
	wg.Wait()
}

// TestFreezeWaitsForGranted: a statement that was let in as one freeze ended goes on under the next, which waits for it.
func TestFreezeWaitsForGranted(t *testing.T) {
	const mode = UseWrite | UseBrief
	c := memCatalog("a")
	a := c.get("a")
	u, probe, self := c.Uses().Register(), c.Uses().Register(), c.Uses().Register()
	freeze := func() *Freeze {
		f, err := c.Freeze(PatienceFor(patience, nil, self))
		if err != nil {
			t.Error(err)
		}
		return f
	}
	first := freeze()
	granted := make(chan error)
	go func() { granted <- u.Wait(a, mode, patience, nil) }()
	testkit.Await(t, "the statement waits", func() bool { return u.waiting.Load() != nil })
	first.Thaw()
	if err := <-granted; err != nil {
		t.Fatal(err)
	}
	second := make(chan *Freeze)
	go func() { second <- freeze() }()
	testkit.Await(t, "the next freeze", func() bool { defer probe.Release(); return probe.Enter(a, mode) == Guarded })
	if u.Enter(a, mode) != Guarded || u.EnterGuarded(a, mode) != Entered {
		t.Error("the freeze and the statement wait for each other")
	}
	if probe.EnterGuarded(a, mode) != Closed {
		t.Error("who comes later is let in, too")
	}
	u.Release()
	(<-second).Thaw()
}

// enterOrWait uses a table as a session does, and waits for it if it may. It answers Closed for a session that must give up what it has.
func enterOrWait(t *testing.T, u *Use, tab *Table, mode UseMode, wait bool) EnterResult {
	for {
		result := u.Enter(tab, mode)
		if result == Guarded {
			result = u.EnterGuarded(tab, mode)
		}
		if result != Closed || !wait {
			return result
		}
		switch err := u.Wait(tab, mode, patience, nil); err {
		case nil:
		case kvapi.ErrDeadlock:
			return Closed
		default:
			t.Error(err)
			return Closed
		}
	}
}

// TestLockStress: transactions read and write tables while others lock them alone or for reading, and stop all writers. Nobody writes what
// is locked for reading or frozen, and nobody uses what is locked alone.
func TestLockStress(t *testing.T) {
	seed := testkit.Seed(t)
	names := []string{"a", "b", "c"}
	c := memCatalog(names...)
	var readers, writers, brief [3]atomic.Int32
	var stop atomic.Bool
	var committing atomic.Int32
	var wg, users sync.WaitGroup
	for g := range 6 {
		users.Add(1)
		go func() {
			defer users.Done()
			r := testkit.Rand(seed, uint64(g))
			u := c.Uses().Register()
			defer u.Close()
			for !stop.Load() {
				transaction := r.IntN(2) == 0
				type held struct {
					i     int
					write bool
				}
				var in []held
				for range 1 + r.IntN(3) {
					h := held{r.IntN(len(names)), r.IntN(2) == 0}
					mode := UseRead
					if h.write {
						mode = UseWrite
					}
					if !transaction {
						mode |= UseBrief
					}
					tab := c.get(names[h.i])
					result := enterOrWait(t, u, tab, mode, transaction || len(in) == 0)
					if result != Entered {
						break
					}
					readers[h.i].Add(1)
					if h.write {
						writers[h.i].Add(1)
						if !transaction {
							brief[h.i].Add(1)
						}
					}
					in = append(in, h)
				}
				if r.IntN(8) == 0 {
					clock.Sleep(time.Duration(r.IntN(100)) * time.Microsecond)
				}
				if transaction {
					if err := u.BeginCommit(patience, nil); err != nil {
						t.Error(err)
					}
					committing.Add(1)
				}
				for _, h := range in {
					readers[h.i].Add(-1)
					if h.write {
						writers[h.i].Add(-1)
						if !transaction {
							brief[h.i].Add(-1)
						}
					}
				}
				if transaction {
					committing.Add(-1)
					u.EndCommit()
				}
				u.Release()
			}
		}()
	}
	// The names of tables are locked elsewhere, so one goroutine locks.
	wg.Add(2)
	go func() {
		defer wg.Done()
		r := testkit.Rand(seed, 100)
		u := c.Uses().Register()
		defer u.Close()
		for range 300 {
			var want []TableLock
			for _, name := range names {
				if r.IntN(2) == 0 {
					want = append(want, TableLock{c.get(name), r.IntN(2) == 0})
				}
			}
			l, err := c.Lock(want, PatienceFor(patience, nil, u))
			if err != nil {
				t.Error(err)
				return
			}
			for _, w := range want {
				i := int(w.Table.ID) - 1
				if w.Write && readers[i].Load() != 0 || writers[i].Load() != 0 {
					t.Error("a locked table is used")
				}
				if u.Enter(w.Table, UseRead) != Entered {
					t.Error("not for who locked it")
				}
			}
			u.Release()
			l.Release()
		}
	}()
	go func() {
		defer wg.Done()
		u := c.Uses().Register()
		defer u.Close()
		for range 300 {
			f, err := c.Freeze(PatienceFor(patience, nil, u))
			if err != nil {
				t.Error(err)
				return
			}
			for i := range brief {
				if brief[i].Load() != 0 {
					t.Error("a statement writes in a frozen catalog")
				}
			}
			if committing.Load() != 0 {
				t.Error("a transaction commits in a frozen catalog")
			}
			f.Thaw()
			clock.Sleep(50 * time.Microsecond)
		}
	}()
	wg.Wait()
	stop.Store(true)
	users.Wait()
}

func alone(t *testing.T, inside *atomic.Int32, exclusive *atomic.Bool) {
	exclusive.Store(true)
	if n := inside.Load(); n != 0 {
		t.Errorf("%d users behind a closed gate", n)
	}
	exclusive.Store(false)
}

func BenchmarkEnterRelease(b *testing.B) {
	c := memCatalog("a")
	a := c.get("a")
	u := c.Uses().Register()
	b.ReportAllocs()
	for b.Loop() {
		if u.Enter(a, UseRead) != Entered {
			b.Fatal()
		}
		u.Release()
	}
}
