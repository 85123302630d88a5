package catalog

import (
	"math"
	"slices"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

// Patience bounds how long a schema change waits for sessions.
type Patience struct {
	// Deadline is a reading of clock.Mono; see PatienceFor. Wait is the time from
	// the beginning of the waiting to it.
	Deadline  time.Duration
	Wait      time.Duration
	Interrupt *kvapi.Interrupt
	// Self is the use of the session that runs the statement, which is not
	// waited for. May be nil.
	Self *Use
}

// PatienceFor returns a Patience that ends after wait (lock_wait_timeout).
func PatienceFor(wait time.Duration, intr *kvapi.Interrupt, self *Use) Patience {
	deadline := clock.Mono() + wait
	if deadline < wait { // lock_wait_timeout of a year and more must not overflow
		deadline = math.MaxInt64
	}
	return Patience{Deadline: deadline, Wait: wait, Interrupt: intr, Self: self}
}

// Anew returns p for another wait that begins now: lock_wait_timeout does not
// include the time of work between waits.
func (p Patience) Anew() Patience { return PatienceFor(p.Wait, p.Interrupt, p.Self) }

// Waits says until the returned function is called that the statement waits, for those who look at it.
func (p Patience) Waits() (done func()) {
	if p.Self == nil {
		return func() {}
	}
	p.Self.blocked.Store(&waitsForMetadata)
	return func() { p.Self.blocked.Store(nil) }
}

// WaitOlder returns when no session uses the table of t at a version older than
// t's: the barrier between two steps of an online schema change. It waits for
// users of this table only. The error is kvapi.ErrLockTimeout or ErrInterrupted.
func (c *Catalog) WaitOlder(t *Table, p Patience) error {
	return c.drain(&drainTarget{gate: t.gate, below: t.Version}, p)
}

// drainTarget says for the end of which uses a statement waits.
type drainTarget struct {
	gate *Gate
	// below: only uses of older versions matter.
	below uint64
	// mode: only uses with all these bits matter.
	mode UseMode
}

// allVersions as drainTarget.below makes uses of every version matter.
const allVersions = math.MaxUint64

func (d *drainTarget) concerns(u *Use) bool {
	word, ok := u.holds(d.gate)
	return ok && word>>useShift < d.below && UseMode(word)&d.mode == d.mode
}

// drain waits until no session but p.Self has a use that d concerns.
func (c *Catalog) drain(d *drainTarget, p Patience) error {
	return c.drainUses(c.uses.usersOf(d, p.Self), d.concerns, p)
}

// drainUses waits until concerns has been false once for each session in left.
func (c *Catalog) drainUses(left []*Use, concerns func(*Use) bool, p Patience) error {
	poll := drainPollMin
	if len(left) > 0 {
		defer p.Waits()()
	}
	for len(left) > 0 {
		if err := p.Interrupt.Err(); err != nil {
			return err
		}
		remaining := p.Deadline - clock.Mono()
		if remaining <= 0 {
			return kvapi.ErrLockTimeout
		}
		timer := clock.NewTimer(min(poll, remaining))
		select {
		case <-timer.C:
		case <-p.Interrupt.Done():
			timer.Stop()
			return kvapi.ErrInterrupted
		}
		poll = min(poll*2, drainPollMax)
		// Later users see the new state, so the set can only shrink.
		keep := left[:0]
		for _, u := range left {
			if concerns(u) {
				keep = append(keep, u)
			}
		}
		left = keep
	}
	return nil
}

// Close shuts the gates of tables to new users and waits until the present ones
// are done. Callers hold the tables' DDL locks, so at most one statement closes
// a gate at a time. A session that has locked a table for itself (Lock) may
// close it within. On error every gate is as it was.
func (c *Catalog) Close(tables []*Table, p Patience) ([]*Exclusive, error) {
	group := &waitGroup{}
	held := make([]*Exclusive, 0, len(tables))
	for _, t := range tables {
		x := &Exclusive{table: t, group: group}
		x.within = t.gate.lockedBy(p.Self)
		if !x.within {
			t.gate.close(x)
		}
		held = append(held, x)
	}
	for _, x := range held {
		err := c.drainFor(group, &drainTarget{gate: x.table.gate, below: allVersions}, p)
		if err != nil {
			for _, h := range held {
				h.Open()
			}
			return nil, err
		}
	}
	return held, nil
}

// drainFor drains for the statement of group, and records it for the detection of cycles.
func (c *Catalog) drainFor(group *waitGroup, d *drainTarget, p Patience) error {
	group.draining.Store(d)
	defer group.draining.Store(nil)
	return c.drain(d, p)
}

// TryClose closes the gate of t if nobody uses the table, and never waits. It
// returns nil otherwise.
func (c *Catalog) TryClose(t *Table, self *Use) *Exclusive {
	everybody := &drainTarget{gate: t.gate, below: allVersions}
	if t.gate.lockedBy(self) {
		return &Exclusive{table: t, within: true}
	}
	if len(c.uses.usersOf(everybody, self)) > 0 {
		return nil
	}
	x := &Exclusive{table: t, group: &waitGroup{}}
	t.gate.close(x)
	if len(c.uses.usersOf(everybody, self)) > 0 {
		x.Open()
		return nil
	}
	return x
}

func (g *Gate) close(x *Exclusive) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.state.Load()
	if s&closedBit != 0 {
		panic("catalog: gate closed twice: the DDL lock of the table was not held")
	}
	g.owner.Store(x)
	g.state.Store(s | closedBit)
}

// Open opens the gate. Sessions that have waited enter first.
func (x *Exclusive) Open() {
	if !x.within {
		x.table.gate.open()
	}
}

// Table returns the descriptor that was current when the gate closed.
func (x *Exclusive) Table() *Table { return x.table }

// Contended reports whether sessions wait at the gate that x holds closed.
func (x *Exclusive) Contended() bool {
	g := x.table.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.queue) > 0
}

// Users returns the owners of the sessions that use the table of t now.
func (c *Catalog) Users(t *Table) []uint64 {
	var ids []uint64
	for _, u := range c.uses.usersOf(&drainTarget{gate: t.gate, below: allVersions}, nil) {
		ids = append(ids, u.Owner())
	}
	slices.Sort(ids)
	return ids
}
