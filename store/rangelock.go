package store

import (
	"bytes"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
)

const (
	// rangesMax bounds the spans that a transaction keeps locked. Beyond it neighbours are joined, together with what lies between them: a
	// lock is widened and never dropped. At least one span per table and kind remains.
	rangesMax = 1024
	// rangeQuiet is how long after the last range lock writers still check for them, and lock keys before they insert them (Store.Intend). So
	// a reader that comes next waits for the writer's statement; otherwise the writer would have to wait for the reader at its commit.
	rangeQuiet = 10 * time.Second
	// intentLocksMax is the number of locks from which a transaction no longer locks keys that it inserts.
	intentLocksMax = 16 << 10
)

// keyAccess is what a writer does to a key.
type keyAccess uint8

const (
	accessChange keyAccess = iota // changes or deletes a key that exists
	accessCreate                  // inserts a key
)

// rangeTable holds the range locks of all transactions. They never conflict with each other. Which writers have to wait for them:
//
//	         inserts a key     changes or deletes one
//	gap      waits             free
//	whole    waits             waits
//
// A writer waits in two places. While its statement runs, Store.Lock and Store.Intend wait, as InnoDB's insert intentions do. And Commit
// waits, because a range may have been locked since: the leader of the sequencer admits no member that conflicts with a range of another. Only
// this check is needed for safety: it is made where commits are ordered, so that none gets past it.
//
// The reader publishes the span, and then waits until the current group is applied (Store.barrier), whose members may have been checked before
// that. From then on every commit that writes into the span is either applied, and visible to the reader, or waits (LockRange).
type rangeTable struct {
	// on says that there are range locks, or were within rangeQuiet. While it is false writers look at nothing else here.
	on atomic.Bool

	// mu guards what follows. It is a leaf.
	mu sync.RWMutex
	// tables are the holders by physical id of the table. Keys outside of tables have id 0, spans over several tables rangeWide.
	tables  map[uint64][]*rangeHolder
	holders int // transactions that have range locks
	// version counts publications, so that the leader of the sequencer need not repeat a check.
	version  uint64
	waiters  []*lockWaiter
	released time.Duration // clock.Mono, when the last range lock was released
}

// rangeWide stands for spans that are not of one table.
const rangeWide = math.MaxUint64

// rangeHolder is the ranges that a transaction has locked in one table. Only its owner's goroutine changes it, under rangeTable.mu.
type rangeHolder struct {
	owner *Owner
	id    uint64
	kept  [kvapi.RangeKinds]spanList
	// reading is the span that is being read, and kind the kind of its lock, if active.
	reading kvapi.Span
	kind    kvapi.RangeKind
	active  bool
}

// ownRanges are the range locks of a transaction.
type ownRanges struct {
	table   *rangeTable
	holders []*rangeHolder
	reading *rangeHolder // the active one; nil if no span is being read
	spans   int          // of all holders
	// mark is that of the newest request, and before what was locked when the first request with it came: one element for each of holders
	// that there was then.
	mark   uint64
	before [][kvapi.RangeKinds]spanList
}

// rangeTableOf returns the key of rangeTable.tables for a span.
func rangeTableOf(s kvapi.Span) uint64 {
	id, _, ok := keys.DecodeTablePrefix(s.Start)
	if !ok {
		id = 0
		if len(s.End) == 0 || bytes.Compare(s.End, []byte{keys.TableByte}) > 0 && bytes.Compare(s.Start, []byte{keys.TableByte + 1}) < 0 {
			return rangeWide
		}
		return id
	}
	if compareEnds(s.End, keys.PrefixEnd(nil, keys.TablePrefix(nil, id))) > 0 {
		return rangeWide
	}
	return id
}

// blocks reports whether the holder's ranges conflict with an access to key.
func (h *rangeHolder) blocks(key []byte, a keyAccess) bool {
	if h.kept[kvapi.RangeWhole].contains(key) {
		return true
	}
	if h.active && (h.kind == kvapi.RangeWhole || a == accessCreate) && h.reading.Contains(key) {
		return true
	}
	return a == accessCreate && h.kept[kvapi.RangeGap].contains(key)
}

// eachBlocker calls f for the other holders whose ranges conflict with o's access, until f returns false. The caller holds mu.
func (t *rangeTable) eachBlocker(o *Owner, key []byte, a keyAccess, f func(*rangeHolder) bool) {
	id, _, ok := keys.DecodeTablePrefix(key)
	if !ok {
		id = 0
	}
	for _, holders := range [2][]*rangeHolder{t.tables[id], t.tables[rangeWide]} {
		for _, h := range holders {
			if h.owner != o && h.blocks(key, a) && !f(h) {
				return
			}
		}
	}
}

// blocked is conflict for a caller that holds mu.
func (t *rangeTable) blocked(o *Owner, key []byte, a keyAccess) (found bool) {
	t.eachBlocker(o, key, a, func(*rangeHolder) bool { found = true; return false })
	return found
}

// conflict reports whether a range of another owner conflicts with o's access to key.
func (t *rangeTable) conflict(o *Owner, key []byte, a keyAccess) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.holders > 0 && t.blocked(o, key, a)
}

// commitAccess is what a mutation does to its key. If it is not known whether the key exists, it counts as an insert.
func commitAccess(m *kvapi.Mutation) keyAccess {
	if m.Kind == kvapi.MutationDelete || m.Shadow == kvapi.ShadowAt {
		return accessChange
	}
	return accessCreate
}

// admit returns the position of the first mutation that conflicts with a range of another owner, -1 if there is none. *checked is the version of
// the table at which the same mutations passed before, so that they need not be checked again; admit updates it.
func (t *rangeTable) admit(o *Owner, mutations []kvapi.Mutation, checked *uint64) int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.holders > 0 && *checked != t.version {
		for i := range mutations {
			if m := &mutations[i]; t.blocked(o, m.Key, commitAccess(m)) {
				return i
			}
		}
	}
	*checked = t.version
	return -1
}

// blockers appends the owners whose ranges o waits for.
func (t *rangeTable) blockers(dst []*Owner, o *Owner) []*Owner {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if w := &o.waiter; w.ranged.Load() {
		t.eachBlocker(o, w.key, w.access, func(h *rangeHolder) bool { dst = append(dst, h.owner); return true })
	}
	return dst
}

// covers reports whether o has locked all of a span already, in this kind or a stricter one.
func (o *Owner) covers(s kvapi.Span, kind kvapi.RangeKind) bool {
	for _, h := range o.ranges.holders {
		if h.kept[kvapi.RangeWhole].covers(s) || kind == kvapi.RangeGap && h.kept[kvapi.RangeGap].covers(s) {
			return true
		}
	}
	return false
}

// begin notes what o has locked when the first request of a mark comes.
func (r *ownRanges) begin(mark uint64) {
	if r.mark == mark {
		return
	}
	r.mark, r.before = mark, r.before[:0]
	if mark == 0 {
		return // nobody reverts it
	}
	for _, h := range r.holders {
		kept := h.kept
		for kind := range kept {
			kept[kind] = slices.Clone(kept[kind])
		}
		r.before = append(r.before, kept)
	}
}

// revert drops what o has locked since the first request of a mark. It returns false, and drops nothing, if that is not the newest mark: who
// came later may have found a span locked, and relies on that.
func (t *rangeTable) revert(o *Owner, mark uint64) bool {
	r := &o.ranges
	if r.mark != mark {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	assert.That(r.reading == nil, "store: ranges are reverted while a span is read")
	r.spans = 0
	for i, h := range r.holders {
		h.kept = [kvapi.RangeKinds]spanList{}
		if i < len(r.before) {
			h.kept = r.before[i]
		}
		for kind := range h.kept {
			r.spans += len(h.kept[kind])
		}
	}
	r.mark, r.before = 0, nil
	t.settle()
	return true
}

// publish locks a span for o, until keep says which part stays locked.
func (t *rangeTable) publish(o *Owner, s kvapi.Span, kind kvapi.RangeKind) {
	id := rangeTableOf(s)
	t.mu.Lock()
	defer t.mu.Unlock()
	r := &o.ranges
	assert.That(r.reading == nil, "store: a transaction reads one locked span at a time")
	at := slices.IndexFunc(r.holders, func(h *rangeHolder) bool { return h.id == id })
	if at < 0 {
		h := &rangeHolder{owner: o, id: id}
		if t.tables == nil {
			t.tables = make(map[uint64][]*rangeHolder)
		}
		t.tables[id] = append(t.tables[id], h)
		if len(r.holders) == 0 {
			t.holders++
		}
		at = len(r.holders)
		r.table, r.holders = t, append(r.holders, h)
	}
	h := r.holders[at]
	h.reading.Start, h.reading.End = append(h.reading.Start[:0], s.Start...), append(h.reading.End[:0], s.End...)
	if h.reading.End == nil {
		h.reading.End = []byte{}
	}
	h.kind, h.active, r.reading = kind, true, h
	t.version++
	t.on.Store(true)
}

// cut shortens the span that o is reading, so that it ends before a key in the order of reading.
func (t *rangeTable) cut(o *Owner, key []byte, reverse bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := o.ranges.reading
	if reverse {
		h.reading.Start = append(append(h.reading.Start[:0], key...), 0)
	} else {
		h.reading.End = append(h.reading.End[:0], key...)
	}
	t.settle()
}

// keep ends the reading of a span, if there is one: s, a part of it that may be empty, stays locked.
func (t *rangeTable) keep(o *Owner, s kvapi.Span) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := &o.ranges
	h := r.reading
	if h == nil {
		return // it was locked before
	}
	r.reading, h.active = nil, false
	less := !bytes.Equal(s.Start, h.reading.Start) || !bytes.Equal(s.End, h.reading.End)
	if !s.Empty() {
		r.spans -= len(h.kept[h.kind])
		h.kept[h.kind] = h.kept[h.kind].add(s)
		r.spans += len(h.kept[h.kind])
		r.bound()
	}
	if less {
		t.settle()
	}
}

// bound widens the locks of a transaction that has too many.
func (r *ownRanges) bound() {
	for _, any := range []bool{false, true} {
		if r.spans <= rangesMax {
			return
		}
		r.spans = 0
		for _, h := range r.holders {
			for kind := range h.kept {
				h.kept[kind] = h.kept[kind].widen(any)
				r.spans += len(h.kept[kind])
			}
		}
	}
}

// release drops all range locks of o.
func (t *rangeTable) release(o *Owner) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, h := range o.ranges.holders {
		left := slices.DeleteFunc(t.tables[h.id], func(other *rangeHolder) bool { return other == h })
		if t.tables[h.id] = left; len(left) == 0 {
			delete(t.tables, h.id)
		}
	}
	o.ranges = ownRanges{}
	if t.holders--; t.holders == 0 {
		t.released = clock.Mono()
	}
	t.settle()
}

// settle ends the waits of those that have no conflict any more. The caller holds mu.
func (t *rangeTable) settle() {
	t.waiters = slices.DeleteFunc(t.waiters, func(w *lockWaiter) bool {
		if t.blocked(w.owner, w.key, w.access) {
			return false
		}
		w.ranged.Store(false)
		w.granted = true
		w.wake <- struct{}{} // never blocks: one token per wait, room for one
		return true
	})
}

// queue registers a wait of o for the ranges that conflict with its access. It returns false if there is none.
func (t *rangeTable) queue(o *Owner, key []byte, a keyAccess) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.blocked(o, key, a) {
		return false
	}
	w := &o.waiter
	w.key, w.access, w.granted, w.victim = append(w.key[:0], key...), a, false, false
	w.since = clock.Mono()
	w.ranged.Store(true)
	t.waiters = append(t.waiters, w)
	return true
}

// sacrifice fails a wait with a deadlock. It returns false if the wait has ended already.
func (t *rangeTable) sacrifice(w *lockWaiter) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !w.ranged.Load() {
		return false
	}
	t.remove(w)
	w.victim = true
	w.wake <- struct{}{} // never blocks, as in settle
	return true
}

// remove removes a waiter. The caller holds mu.
func (t *rangeTable) remove(w *lockWaiter) {
	t.waiters = slices.DeleteFunc(t.waiters, func(other *lockWaiter) bool { return other == w })
	w.ranged.Store(false)
}

// cancel gives up a wait. It returns true if it has ended already.
func (t *rangeTable) cancel(w *lockWaiter) (granted bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.granted || w.victim {
		<-w.wake // the token is there, as it is sent under the mutex
		return true
	}
	t.remove(w)
	return false
}

// rest switches the writers' checks off once there have been no range locks for rangeQuiet.
func (t *rangeTable) rest() {
	if !t.on.Load() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.holders == 0 && clock.Since(t.released) > rangeQuiet {
		t.on.Store(false)
	}
}

// awaitRanges returns once no range of others conflicts with o's access to r.Key. committing: it is a commit that waits, not a statement.
func (t *lockTable) awaitRanges(o *Owner, r *kvapi.LockRequest, a keyAccess, committing bool, closing <-chan struct{}) error {
	var began time.Duration
	for t.ranges.conflict(o, r.Key, a) {
		if r.Wait != kvapi.WaitDefault {
			return kvapi.ErrLockNoWait
		}
		q := *r
		if began == 0 {
			began = clock.Mono()
		} else if q.Timeout -= clock.Since(began); q.Timeout <= 0 {
			t.stats.timeouts.Inc()
			return kvapi.ErrLockTimeout
		}
		if err := t.waitRange(o, &q, a, committing, closing); err != nil {
			return err
		}
	}
	return nil
}

// waitRange waits until the conflict that there is now has ended.
func (t *lockTable) waitRange(o *Owner, r *kvapi.LockRequest, a keyAccess, committing bool, closing <-chan struct{}) error {
	w := &o.waiter
	t.graphMu.Lock()
	if !t.ranges.queue(o, r.Key, a) {
		t.graphMu.Unlock()
		return nil
	}
	w.committing = committing
	var deadlock bool
	if committing {
		deadlock = !t.spare(o)
	} else {
		deadlock = t.closesCycle(o) != nil
	}
	t.graphMu.Unlock()
	leave := func() bool { return t.ranges.cancel(w) }
	if deadlock {
		return t.giveUp(w, kvapi.ErrDeadlock, leave)
	}
	return t.block(o, w, r, closing, leave)
}

// firstHeld returns a copy of the first key of a span, in the order of reading, that another transaction has locked in order to change it or, for a
// gap lock, to insert it. Keys in ranges that o has locked already do not count: their holders wait for o. It visits all locks, so that writers need
// not keep them in order.
func (t *lockTable) firstHeld(o *Owner, s kvapi.Span, kind kvapi.RangeKind, reverse bool) (first []byte) {
	for i := range t.shards {
		sh := &t.shards[i]
		sh.mu.Lock()
		for at := 0; at < len(sh.buckets) && sh.locks > 0; at++ {
			for e := sh.buckets[at]; e != nil; e = e.next {
				if e.exclusive == nil || e.exclusive == o || kind == kvapi.RangeGap && !e.creating || !s.Contains(e.key) {
					continue
				}
				if first != nil && (bytes.Compare(e.key, first) < 0) == reverse {
					continue
				}
				if !o.covers(kvapi.Span{Start: e.key, End: append(e.key[:len(e.key):len(e.key)], 0)}, kind) {
					first = append(first[:0], e.key...)
				}
			}
		}
		sh.mu.Unlock()
	}
	return first
}
