package catalog

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/kvapi"
)

// Guard keeps other sessions from writing a table: LOCK TABLES … READ.
type Guard struct {
	table *Table
	group *waitGroup
}

// Locked holds the table locks of one Lock.
type Locked struct {
	exclusive []*Exclusive
	guards    []*Guard
}

// TableLock names a table for Lock: with Write for the session alone, else for reading.
type TableLock struct {
	Table *Table
	Write bool
}

// Lock locks tables for the session of p.Self until Release: LOCK TABLES. It waits for the conflicting uses of
// other sessions. Callers hold the tables' DDL locks. On error nothing is held. The session itself may enter
// tables that it has locked.
func (c *Catalog) Lock(tables []TableLock, p Patience) (*Locked, error) {
	group := &waitGroup{self: p.Self}
	l := &Locked{}
	targets := make([]*drainTarget, 0, len(tables))
	for _, want := range tables {
		g := want.Table.gate
		if want.Write {
			x := &Exclusive{table: want.Table, group: group}
			g.close(x)
			l.exclusive = append(l.exclusive, x)
			targets = append(targets, &drainTarget{gate: g, below: allVersions})
			continue
		}
		guard := &Guard{table: want.Table, group: group}
		g.guard(guard)
		l.guards = append(l.guards, guard)
		targets = append(targets, &drainTarget{gate: g, below: allVersions, mode: UseWrite})
	}
	for _, d := range targets {
		if err := c.drainFor(group, d, p); err != nil {
			l.Release()
			return nil, err
		}
	}
	return l, nil
}

// Release ends the locks, so that other sessions may enter the tables.
func (l *Locked) Release() {
	for _, x := range l.exclusive {
		x.Open()
	}
	for _, guard := range l.guards {
		guard.table.gate.unguard(guard)
	}
	l.exclusive, l.guards = nil, nil
}

// lockedBy reports whether the session of u has locked the table for itself by Lock.
func (g *Gate) lockedBy(u *Use) bool {
	x := g.owner.Load()
	return u != nil && x != nil && x.group.self == u
}

func (g *Gate) guard(held *Guard) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.guards = append(g.guards, held)
	g.refresh()
}

func (g *Gate) unguard(held *Guard) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.guards = slices.DeleteFunc(g.guards, func(o *Guard) bool { return o == held })
	g.refresh()
	g.admit()
}

// refresh sets or clears guardedBit. mu is held.
func (g *Gate) refresh() {
	s := g.state.Load()
	if s == stateGone {
		return
	}
	s &^= guardedBit
	if len(g.guards) > 0 || g.all != nil && (g.all.frozen.Load() > 0 || g.all.readOnly.Load()) {
		s |= guardedBit
	}
	g.state.Store(s)
}

// bars reports whether u must wait before it uses the table in a mode. word is its present use of the table if held says that it has one. A use
// for whose end the other side waits is not barred: a freeze waits for statements that commit by themselves, not for transactions. mu is held.
func (g *Gate) bars(u *Use, word uint64, held bool, mode UseMode) bool {
	if x := g.owner.Load(); x != nil && !held && (x.group.self == nil || x.group.self != u) {
		return true
	}
	if mode&UseWrite == 0 || g.state.Load() == stateGone {
		return false
	}
	return g.all.frozen.Load() > 0 && word&writesBriefly != writesBriefly || len(g.guards) > 0 && UseMode(word)&UseWrite == 0
}

// EnterGuarded is Enter for a writer that found the table Guarded and may write in spite of read_only. It answers Closed if the writer
// has to wait.
func (u *Use) EnterGuarded(t *Table, mode UseMode) EnterResult {
	g := t.gate
	word, held := u.holds(g)
	if held {
		u.put(g, word|uint64(mode))
	} else {
		u.put(g, t.Version<<useShift|uint64(mode))
	}
	// The use is visible now: whoever guards the gate from here on waits for its end.
	g.mu.Lock()
	state, barred := g.state.Load(), g.bars(u, word, held, mode)
	g.mu.Unlock()
	switch {
	case state == stateGone || state&^stateBits != t.Version<<stateShift:
		u.restore(g, word, held)
		return Stale
	case barred:
		u.restore(g, word, held)
		return Closed
	}
	return Entered
}

// put declares a use, or changes that of the same table. Only the owner calls it, or Gate.admit while the owner waits.
func (u *Use) put(g *Gate, word uint64) {
	for i := range u.slots[:u.n] {
		if u.slots[i].gate.Load() == g {
			u.slots[i].word.Store(word)
			return
		}
	}
	if u.n < inlineSlots {
		u.slots[u.n].word.Store(word)
		u.slots[u.n].gate.Store(g)
		u.n++
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.more == nil {
		u.more = make(map[*Gate]uint64)
	}
	u.more[g] = word
	u.spilled.Store(true)
}

// restore undoes the last put.
func (u *Use) restore(g *Gate, word uint64, held bool) {
	if held {
		u.put(g, word)
		return
	}
	if last := u.n - 1; last >= 0 && u.slots[last].gate.Load() == g {
		u.slots[last].gate.Store(nil)
		u.n--
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.more, g)
	u.spilled.Store(len(u.more) > 0)
}

// stops is the state of FLUSH TABLES WITH READ LOCK and read_only, which keep sessions from writing any table.
type stops struct {
	// frozen counts the freezes, which let no statement begin to write; halted those of them that let no transaction with writes commit, either.
	frozen, halted atomic.Int32
	// readOnly makes writers ask their session whether they may.
	readOnly atomic.Bool
	mu       sync.Mutex
	// thawed is closed when halted may have become 0; nil while nobody waits. Guarded by mu.
	thawed chan struct{}
}

// Freeze keeps all sessions from changing any row until Thaw.
type Freeze struct{ catalog *Catalog }

// Freeze stops all writers: FLUSH TABLES WITH READ LOCK. It waits for the statements that commit by themselves and for commits that have
// begun; open transactions stay, and wait when they write or commit. Callers keep schema changes away.
func (c *Catalog) Freeze(p Patience) (*Freeze, error) {
	st := &c.uses.stops
	st.frozen.Add(1)
	c.refreshGates()
	if err := c.drainAll((*Use).holdsBriefly, p); err != nil {
		st.frozen.Add(-1)
		c.refreshGates()
		return nil, err
	}
	st.halted.Add(1)
	f := &Freeze{c}
	if err := c.drainAll(func(u *Use) bool { return u.committing.Load() }, p); err != nil {
		f.Thaw()
		return nil, err
	}
	return f, nil
}

// Thaw lets writers go on.
func (f *Freeze) Thaw() {
	st := &f.catalog.uses.stops
	assert.That(st.frozen.Load() > 0 && st.halted.Load() > 0, "catalog: thawed once")
	st.halted.Add(-1)
	st.frozen.Add(-1)
	st.mu.Lock()
	if st.thawed != nil {
		close(st.thawed)
		st.thawed = nil
	}
	st.mu.Unlock()
	f.catalog.refreshGates()
}

func (c *Catalog) drainAll(concerns func(*Use) bool, p Patience) error {
	return c.drainUses(c.uses.concerned(p.Self, concerns), concerns, p)
}

// concerned returns the sessions other than self for which concerns is true.
func (r *Uses) concerned(self *Use, concerns func(*Use) bool) []*Use {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var out []*Use
	for u := range r.all {
		if u != self && concerns(u) {
			out = append(out, u)
		}
	}
	return out
}

// SetReadOnly switches whether writers get Guarded, so that their session has to decide whether they may write.
func (c *Catalog) SetReadOnly(on bool) {
	c.uses.stops.readOnly.Store(on)
	c.refreshGates()
}

// refreshGates updates the gates of all tables after a change of stops.
func (c *Catalog) refreshGates() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.Current().databases {
		for _, t := range e.tables {
			t.gate.mu.Lock()
			t.gate.refresh()
			t.gate.admit()
			t.gate.mu.Unlock()
		}
	}
}

// BeginCommit declares that the owner commits a transaction of several statements, until EndCommit. It waits while a freeze
// lets nobody commit. Errors: kvapi.ErrLockTimeout, kvapi.ErrInterrupted.
func (u *Use) BeginCommit(timeout time.Duration, intr *kvapi.Interrupt) error {
	st := &u.registry.stops
	u.committing.Store(true)
	if st.halted.Load() == 0 {
		return nil
	}
	u.blocked.Store(&waitsForCommit)
	defer u.blocked.Store(nil)
	return u.waitToCommit(clock.Mono()+timeout, intr)
}

// EndCommit declares that the commit has ended.
func (u *Use) EndCommit() { u.committing.Store(false) }

func (u *Use) waitToCommit(deadline time.Duration, intr *kvapi.Interrupt) error {
	st := &u.registry.stops
	for {
		u.committing.Store(false)
		st.mu.Lock()
		if st.thawed == nil {
			st.thawed = make(chan struct{})
		}
		thawed := st.thawed
		st.mu.Unlock()
		u.committing.Store(true)
		if st.halted.Load() == 0 {
			return nil
		}
		u.committing.Store(false)
		timer := clock.NewTimer(deadline - clock.Mono())
		select {
		case <-thawed:
			timer.Stop()
		case <-timer.C:
			return kvapi.ErrLockTimeout
		case <-intr.Done():
			timer.Stop()
			return kvapi.ErrInterrupted
		}
	}
}
