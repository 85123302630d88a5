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
	// Closed: another session has the table for itself: a DDL statement, or LOCK
	// TABLES … WRITE. Nothing is held for this call; call Wait, then plan again.
	Closed
	// Guarded: the table may be read and not written: LOCK TABLES … READ, FLUSH
	// TABLES WITH READ LOCK or read_only. Nothing new is held for this call; ask
	// EnterGuarded, or Wait, then plan again.
	Guarded
)

// UseMode says what a statement does with a table.
type UseMode uint8

// The modes of Use.Enter, to be combined.
const (
	// UseRead leaves the rows as they are; it may lock them for others to read.
	UseRead UseMode = 0
	// UseWrite changes rows or locks them against everybody.
	UseWrite UseMode = 1
	// UseBrief ends with the statement: autocommit. Whoever stops all writers waits
	// for these, while an open transaction's commits are stopped instead.
	UseBrief UseMode = 2

	useModes = 3
	// useShift is where the version begins in slot.word.
	useShift = 2
)

// slot says that a statement or transaction uses a table. Only the owner of the
// Use writes it; schema changes read it.
//
// The word is stored before the gate. A reader that loads the gate and then
// the word can therefore pair a gate with a later word, which only
// happens when the use it is asking about has ended.
type slot struct {
	gate atomic.Pointer[Gate]
	// word is the version<<useShift with the modes.
	word atomic.Uint64
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
	// committing is set while the owner commits a transaction of several statements.
	committing atomic.Bool
	// blocked names what else the owner waits for; nil if nothing.
	blocked atomic.Pointer[string]
}

// What Blocked says, in MySQL's words.
var (
	waitsForMetadata = "Waiting for table metadata lock"
	waitsForCommit   = "Waiting for commit lock"
)

// Blocked tells what the owner waits for, a schema change or the sessions before its own; empty if it waits for none. Any goroutine may ask.
func (u *Use) Blocked() string {
	if u.waiting.Load() != nil {
		return waitsForMetadata
	}
	if what := u.blocked.Load(); what != nil {
		return *what
	}
	return ""
}

// Enter declares that the current statement uses t in a mode until Release. It costs two
// atomic stores and one load. A session that already uses the table in this
// transaction enters a closed gate too: the schema change is waiting for it.
func (u *Use) Enter(t *Table, mode UseMode) EnterResult {
	g := t.gate
	want := t.Version << stateShift
	for i := 0; i < u.n; i++ {
		if u.slots[i].gate.Load() == g {
			return u.enterHeld(&u.slots[i], want, mode)
		}
	}
	if u.n == inlineSlots {
		return u.enterSpilled(g, t.Version, mode)
	}
	s := &u.slots[u.n]
	s.word.Store(t.Version<<useShift | uint64(mode))
	s.gate.Store(g)
	if g.state.Load() == want {
		u.n++
		return Entered
	}
	result := u.judge(g, want, mode)
	if result == Entered {
		u.n++
	} else {
		s.gate.Store(nil)
	}
	return result
}

// enterHeld answers for a table that the transaction uses already. Its slot
// keeps the oldest version used, which is what a barrier has to wait for. The mode
// only grows, and is visible before the state is looked at.
func (u *Use) enterHeld(s *slot, want uint64, mode UseMode) EnterResult {
	before := s.word.Load()
	word := before | uint64(mode)
	if word != before {
		s.word.Store(word)
	}
	state := s.gate.Load().state.Load()
	if state&^closedBit == want {
		return Entered
	}
	result := Stale
	if state != stateGone && state&^stateBits == want {
		result = Entered
		if mode&UseWrite != 0 { // the table is guarded
			result = Guarded
		}
	}
	if result != Entered && word != before {
		s.word.Store(before)
	}
	return result
}

// judge decides about a table whose state is not just the wanted version, open
// and not guarded. The use's slot is visible already.
func (u *Use) judge(g *Gate, want uint64, mode UseMode) EnterResult {
	state := g.state.Load()
	switch {
	case state == stateGone:
		return Stale
	case state&closedBit != 0:
		if x := g.owner.Load(); x == nil || x.group.self == nil || x.group.self != u {
			return Closed
		}
	}
	switch {
	case state&^stateBits != want:
		return Stale
	case state&guardedBit != 0 && mode&UseWrite != 0:
		return Guarded
	}
	return Entered
}

func (u *Use) enterSpilled(g *Gate, version uint64, mode UseMode) EnterResult {
	u.mu.Lock()
	defer u.mu.Unlock()
	want := version << stateShift
	if held, ok := u.more[g]; ok {
		s := slot{}
		s.gate.Store(g)
		s.word.Store(held)
		u.more[g] = held | uint64(mode) // others read it only after mu is unlocked, so that they see the new mode in time
		result := u.enterHeld(&s, want, mode)
		u.more[g] = s.word.Load()
		return result
	}
	if u.more == nil {
		u.more = make(map[*Gate]uint64)
	}
	u.more[g] = version<<useShift | uint64(mode)
	u.spilled.Store(true)
	if g.state.Load() == want {
		return Entered
	}
	result := u.judge(g, want, mode)
	if result != Entered {
		delete(u.more, g)
		u.spilled.Store(len(u.more) > 0)
	}
	return result
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

// holds returns the word of u's use of the table of g.
func (u *Use) holds(g *Gate) (word uint64, ok bool) {
	for i := range u.slots {
		if u.slots[i].gate.Load() == g {
			return u.slots[i].word.Load(), true
		}
	}
	if u.spilled.Load() {
		u.mu.Lock()
		word, ok = u.more[g]
		u.mu.Unlock()
	}
	return word, ok
}

// writesBriefly are the modes of the uses for whose end a freeze waits.
const writesBriefly = uint64(UseWrite | UseBrief)

// holdsBriefly reports whether a statement of u that ends with its own commit writes any table.
func (u *Use) holdsBriefly() bool {
	for i := range u.slots {
		if u.slots[i].gate.Load() != nil && u.slots[i].word.Load()&writesBriefly == writesBriefly {
			return true
		}
	}
	if u.spilled.Load() {
		u.mu.Lock()
		defer u.mu.Unlock()
		for _, word := range u.more {
			if word&writesBriefly == writesBriefly {
				return true
			}
		}
	}
	return false
}

// SetOwner names the session (its connection id) for listings of who blocks a
// schema change.
func (u *Use) SetOwner(id uint64) { u.owner.Store(id) }

// Owner returns what SetOwner set.
func (u *Use) Owner() uint64 { return u.owner.Load() }

// Close ends every use and leaves the registry. The Use must not be used afterwards.
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
	// stops is what keeps all sessions from writing.
	stops stops
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

// usersOf returns the sessions other than self whose use of a table d waits for.
func (r *Uses) usersOf(d *drainTarget, self *Use) []*Use {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var out []*Use
	for u := range r.all {
		if u != self && d.concerns(u) {
			out = append(out, u)
		}
	}
	return out
}
