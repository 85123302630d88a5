package catalog

import (
	"sync"
	"sync/atomic"
)

// inlineSlots is how many tables a transaction may use before its Use spills
// into a map. Joins of more tables are rare enough to pay for a mutex.
const inlineSlots = 8

// EnterResult is the answer to Use.Enter.
type EnterResult uint8

// The answers of Use.Enter.
const (
	// Entered: the table is current and stays so, in the sense of U1 and U2,
	// until Release.
	Entered EnterResult = iota
	// Stale: a newer version exists or the table is gone. Nothing is held for
	// this call; plan again from Catalog.Current.
	Stale
	// Closed: a DDL statement needs the table for itself. Nothing is held for
	// this call; call Wait, then plan again.
	Closed
)

// slot says that a statement or transaction uses a table. Only the owner of the
// Use writes it; schema changes read it.
//
// The version is stored before the gate. A reader that loads the gate and then
// the version can therefore pair a gate with a later version, which only
// happens when the use it is asking about has ended.
type slot struct {
	gate    atomic.Pointer[Gate]
	version atomic.Uint64
}

// Use records which tables one session's open statement or transaction depends
// on, at which version. One goroutine at a time calls its methods; schema
// changes read it concurrently.
//
// The protocol is Dekker's: the user stores its slot and then loads the gate's
// state; a schema change stores the state and then loads the slots. Go's
// atomics are sequentially consistent, so at least one of them sees the other.
type Use struct {
	registry *Uses
	slots    [inlineSlots]slot
	n        int // slots in use; owner only
	owner    atomic.Uint64

	mu sync.Mutex
	// more holds the uses beyond inlineSlots. Guarded by mu, a leaf lock.
	more map[*Gate]uint64
	// spilled is set while more is not empty, so that readers skip mu.
	spilled atomic.Bool

	// waiting is the gate that the owner waits at, nil otherwise.
	waiting atomic.Pointer[Gate]
}

// Enter declares that the current statement uses t until Release. It costs two
// atomic stores and one load. A session that already uses the table in this
// transaction enters a closed gate too: the schema change is waiting for it.
func (u *Use) Enter(t *Table) EnterResult {
	g := t.gate
	want := t.Version << 1
	for i := 0; i < u.n; i++ {
		if u.slots[i].gate.Load() == g {
			return enterHeld(g, want)
		}
	}
	if u.n == inlineSlots {
		return u.enterSpilled(g, t.Version)
	}
	s := &u.slots[u.n]
	s.version.Store(t.Version)
	s.gate.Store(g)
	if g.state.Load() == want {
		u.n++
		return Entered
	}
	s.gate.Store(nil)
	return refusal(g, want)
}

// enterHeld answers for a table that the transaction uses already. Its slot
// keeps the oldest version used, which is what a barrier has to wait for.
func enterHeld(g *Gate, want uint64) EnterResult {
	if g.state.Load()&^closedBit == want {
		return Entered
	}
	return Stale
}

func refusal(g *Gate, want uint64) EnterResult {
	if s := g.state.Load(); s&closedBit != 0 && s != stateGone {
		return Closed
	}
	return Stale
}

func (u *Use) enterSpilled(g *Gate, version uint64) EnterResult {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, ok := u.more[g]; ok {
		return enterHeld(g, version<<1)
	}
	if u.more == nil {
		u.more = make(map[*Gate]uint64)
	}
	u.more[g] = version
	u.spilled.Store(true)
	if g.state.Load() == version<<1 {
		return Entered
	}
	delete(u.more, g)
	u.spilled.Store(len(u.more) > 0)
	return refusal(g, version<<1)
}

// Release ends every use: at the end of an autocommit statement, after its
// commit was acknowledged, or at the end of the transaction.
func (u *Use) Release() {
	for i := 0; i < u.n; i++ {
		u.slots[i].gate.Store(nil)
	}
	u.n = 0
	if u.spilled.Load() {
		u.mu.Lock()
		clear(u.more)
		u.spilled.Store(false)
		u.mu.Unlock()
	}
}

// Holding reports whether any table is in use.
func (u *Use) Holding() bool { return u.n > 0 || u.spilled.Load() }

// holds returns the version at which u uses the table of g.
func (u *Use) holds(g *Gate) (version uint64, ok bool) {
	for i := range u.slots {
		if u.slots[i].gate.Load() == g {
			return u.slots[i].version.Load(), true
		}
	}
	if u.spilled.Load() {
		u.mu.Lock()
		version, ok = u.more[g]
		u.mu.Unlock()
	}
	return version, ok
}

// SetOwner names the session (its connection id) for listings of who blocks a
// schema change.
func (u *Use) SetOwner(id uint64) { u.owner.Store(id) }

// Owner returns what SetOwner set.
func (u *Use) Owner() uint64 { return u.owner.Load() }

// Close ends every use and leaves the registry. The Use is dead afterwards.
func (u *Use) Close() {
	u.Release()
	u.registry.remove(u)
}

// Uses is the registry of the sessions of this node.
type Uses struct {
	mu sync.RWMutex
	// all is guarded by mu, which is taken before Use.mu and never while a
	// Gate.mu is held by someone waiting for it.
	all map[*Use]struct{}
}

// Register adds a session. Its Use must be closed when the session ends.
func (r *Uses) Register() *Use {
	u := &Use{registry: r}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = make(map[*Use]struct{})
	}
	r.all[u] = struct{}{}
	return u
}

func (r *Uses) remove(u *Use) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, u)
}

// olderUsers returns the sessions other than self that use the table of g at a
// version below version.
func (r *Uses) olderUsers(g *Gate, version uint64, self *Use) []*Use {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var out []*Use
	for u := range r.all {
		if u == self {
			continue
		}
		if v, ok := u.holds(g); ok && v < version {
			out = append(out, u)
		}
	}
	return out
}
