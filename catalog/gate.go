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
	// closedBit of Gate.state: a DDL statement needs the table for itself.
	closedBit = 1
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
	// state is version<<1, plus closedBit, or stateGone.
	state atomic.Uint64

	mu sync.Mutex
	// queue holds the sessions that wait for the gate to open, in the order of
	// arrival. Guarded by mu.
	queue []*gateWaiter
	// owner is the holder of the closed gate, nil when open. Written under mu.
	owner atomic.Pointer[Exclusive]
}

// gateWaiter is a session in Gate.queue. granted is guarded by Gate.mu; woken
// is closed when the session leaves the queue.
type gateWaiter struct {
	use     *Use
	woken   chan struct{}
	granted bool
}

// Exclusive is one closed gate, held by a DDL statement.
type Exclusive struct {
	table *Table
	// group is every Exclusive that the same statement holds: who waits at one
	// of them also depends on the draining of the others. Set before close.
	group *exclusiveGroup
}

// exclusiveGroup names the gate that a statement is draining now.
type exclusiveGroup struct {
	draining atomic.Pointer[Gate]
}

// Wait blocks while the gate of t is closed. On success the session holds a
// use of the table (if it still exists), so that the next schema change queues
// behind it; plan again and Enter. Errors: kvapi.ErrLockTimeout after timeout,
// kvapi.ErrDeadlock when the schema change waits, directly or not, for the
// caller's own transaction, kvapi.ErrInterrupted.
func (u *Use) Wait(t *Table, timeout time.Duration, intr *kvapi.Interrupt) error {
	g := t.gate
	g.mu.Lock()
	if s := g.state.Load(); s&closedBit == 0 || s == stateGone {
		g.mu.Unlock()
		return nil
	}
	w := &gateWaiter{use: u, woken: make(chan struct{})}
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
	s := g.state.Load()
	for _, w := range g.queue {
		w.granted = true
		if s != stateGone {
			w.use.grant(g, s>>1)
		}
		close(w.woken)
	}
	g.queue = nil
	if s != stateGone {
		g.state.Store(s &^ closedBit)
	}
}

// grant adds a use on behalf of a session that waits in Wait: it does not
// touch its slots meanwhile, and the woken channel orders our writes before
// its next ones.
func (u *Use) grant(g *Gate, version uint64) {
	if u.n < inlineSlots {
		u.slots[u.n].version.Store(version)
		u.slots[u.n].gate.Store(g)
		u.n++
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.more == nil {
		u.more = make(map[*Gate]uint64)
	}
	u.more[g] = version
	u.spilled.Store(true)
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
	x := g.owner.Load()
	if x == nil {
		return false
	}
	draining := x.group.draining.Load()
	if draining == nil {
		return false
	}
	for _, h := range r.olderUsers(draining, math.MaxUint64, nil) {
		if h == u {
			return true
		}
		if next := h.waiting.Load(); next != nil && r.reaches(u, next, seen) {
			return true
		}
	}
	return false
}
