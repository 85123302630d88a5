package catalog

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

const (
	// closedBit of Gate.state: a session has the table for itself.
	closedBit = 1
	// guardedBit of Gate.state: writers get Guarded.
	guardedBit = 2
	stateBits  = closedBit | guardedBit
	// stateShift is where the version begins in Gate.state.
	stateShift = 2
	// stateGone of a dropped table: no descriptor matches it.
	stateGone = math.MaxUint64

	// Drains poll the registry at these intervals, growing from the first to
	// the last. Polling keeps the fast path of Release free of wake-ups; the
	// first step is short because most statements end within it.
	drainPollMin = 50 * time.Microsecond
	drainPollMax = 4 * time.Millisecond
	// gateRecheck is how often a session that waits at a gate looks for a cycle
	// of waits again: edges may appear after it began to wait.
	gateRecheck = 100 * time.Millisecond
)

// Gate is the part of a table that changes: its current version, whether it is
// open, and who waits. All versions of a table share one Gate.
type Gate struct {
	// state is version<<stateShift, plus stateBits, or stateGone.
	state atomic.Uint64

	// mu guards queue and guards, and serialises changes of state and owner. Only
	// Use.mu is taken under it.
	mu sync.Mutex
	// queue holds the sessions that wait for the gate to open, in the order of
	// arrival.
	queue []*gateWaiter
	// owner is the holder of the closed gate, nil when open. Written under mu.
	owner atomic.Pointer[Exclusive]
	// guards are the sessions that keep others from writing.
	guards []*Guard
	// all is the registry's stops. Set when the first version is published.
	all *stops
}

// gateWaiter is a session in Gate.queue. granted is guarded by Gate.mu; woken
// is closed when the session leaves the queue.
type gateWaiter struct {
	use     *Use
	mode    UseMode
	woken   chan struct{}
	granted bool
}

// Exclusive is one closed gate, held by a DDL statement or by a session with LOCK TABLES.
type Exclusive struct {
	table *Table
	// group is that of the statement, for all tables that it holds: whoever waits
	// at one of them also waits for the draining of the others. Set before close.
	group *waitGroup
	// within: the session has the table locked already, and keeps it so.
	within bool
}

// waitGroup is a statement that closes gates, with the table for whose uses it waits now.
type waitGroup struct {
	draining atomic.Pointer[drainTarget]
	// self is the session that may use what it has closed, nil for a DDL statement.
	self *Use
}

// Wait blocks while the gate of t is closed or, for a writer, guarded. On success the session holds a
// use of the table (if it still exists), so that the next schema change queues
// behind it; plan again and Enter. Errors: kvapi.ErrLockTimeout after timeout,
// kvapi.ErrDeadlock when the schema change waits, directly or not, for the
// caller's own transaction, kvapi.ErrInterrupted.
func (u *Use) Wait(t *Table, mode UseMode, timeout time.Duration, intr *kvapi.Interrupt) error {
	g := t.gate
	g.mu.Lock()
	if word, held := u.holds(g); !g.bars(u, word, held, mode) {
		g.mu.Unlock()
		return nil
	}
	w := &gateWaiter{use: u, mode: mode, woken: make(chan struct{})}
	g.queue = append(g.queue, w)
	g.mu.Unlock()
	u.waiting.Store(g)
	defer u.waiting.Store(nil)
	err := u.waitTurn(g, w, clock.Mono()+timeout, intr)
	if err != nil && g.leave(w) {
		return nil // the gate opened at the last moment
	}
	return err
}

func (u *Use) waitTurn(g *Gate, w *gateWaiter, deadline time.Duration, intr *kvapi.Interrupt) error {
	for {
		if u.registry.cycle(u, g) {
			return kvapi.ErrDeadlock
		}
		left := deadline - clock.Mono()
		if left <= 0 {
			return kvapi.ErrLockTimeout
		}
		timer := clock.NewTimer(min(left, gateRecheck))
		select {
		case <-w.woken:
			timer.Stop()
			return nil
		case <-intr.Done():
			timer.Stop()
			return kvapi.ErrInterrupted
		case <-timer.C:
		}
	}
}

// leave takes w out of the queue and reports whether it had been granted.
func (g *Gate) leave(w *gateWaiter) (granted bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.queue, w); i >= 0 {
		g.queue = slices.Delete(g.queue, i, i+1)
		return false
	}
	return w.granted
}

// open lets the waiting sessions in. Each gets its use while the gate is still
// closed to others, so that the next schema change drains them first: waiters
// and schema changes take turns.
func (g *Gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.owner.Store(nil)
	g.admit()
	if s := g.state.Load(); s != stateGone {
		g.state.Store(s &^ closedBit)
	}
}

// admit gives the waiting sessions that are not barred any more their use. mu is held.
func (g *Gate) admit() {
	s := g.state.Load()
	keep := g.queue[:0]
	for _, w := range g.queue {
		word, held := w.use.holds(g)
		if s != stateGone && g.bars(w.use, word, held, w.mode) {
			keep = append(keep, w)
			continue
		}
		w.granted = true
		if s != stateGone {
			if !held {
				word = s >> stateShift << useShift
			}
			w.use.put(g, word|uint64(w.mode)) // the waiting owner does not touch its slots, and the closing of woken orders these writes before its next ones
		}
		close(w.woken)
	}
	clear(g.queue[len(keep):])
	g.queue = keep
}

// cycle reports whether u, waiting at g, waits for itself: the statement that
// closed g drains a table whose user waits at a gate, and so on back to u.
func (r *Uses) cycle(u *Use, g *Gate) bool {
	return r.reaches(u, g, map[*Gate]bool{})
}

func (r *Uses) reaches(u *Use, g *Gate, seen map[*Gate]bool) bool {
	if seen[g] {
		return false
	}
	seen[g] = true
	for _, group := range g.holders() {
		draining := group.draining.Load()
		if draining == nil {
			continue
		}
		for _, h := range r.usersOf(draining, nil) {
			if h == u {
				return true
			}
			if next := h.waiting.Load(); next != nil && r.reaches(u, next, seen) {
				return true
			}
		}
	}
	return false
}

// holders are the statements for which sessions wait at g.
func (g *Gate) holders() []*waitGroup {
	g.mu.Lock()
	defer g.mu.Unlock()
	var groups []*waitGroup
	if x := g.owner.Load(); x != nil {
		groups = append(groups, x.group)
	}
	for _, held := range g.guards {
		groups = append(groups, held.group)
	}
	return groups
}
