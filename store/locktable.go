package store

import (
	"bytes"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/kvapi"
)

const (
	// lockShards is how many ways the lock table is split by key hash: a power of two.
	lockShards     = 256
	lockShardShift = 64 - 8
	// lockFreeMax is how many unused entries each shard keeps for reuse, and
	// lockSlab how many are made together.
	lockFreeMax = 64
	lockSlab    = 16
	// lockEntryKeyMax bounds the key buffer that an unused entry keeps.
	lockEntryKeyMax = 512
	// lockBucketsMin is the size that a shard's hash table begins with, and
	// lockBucketsKept the largest that it keeps once it is empty.
	lockBucketsMin  = 16
	lockBucketsKept = 256
)

// lockTable holds the row locks of all transactions of this store, by key
// hash. Only locks that are held or waited for have an entry.
type lockTable struct {
	seed   maphash.Seed
	shards [lockShards]lockShard

	// graphMu serialises requests that have to wait: of those in a cycle the last
	// to take it sees the whole cycle. It is taken before shard mutexes, one of
	// them at a time, and never on the uncontended path.
	graphMu  sync.Mutex
	todo     []*Owner // scratch of the search; guarded by graphMu
	searches uint64   // guarded by graphMu

	ranges rangeTable

	stats lockStats
}

// lockShard is one part of the table.
type lockShard struct {
	// mu guards everything here and in the entries. It is a leaf below graphMu.
	mu      sync.Mutex
	buckets []*lockEntry // chains, by the low bits of the hash; a power of two of them
	free    *lockEntry
	nfree   int
	slab    []lockEntry // not used yet
	locks   int         // entries in use
	max     int         // entries allowed
}

// lockEntry is one locked key. Guarded by its shard's mutex; shard and key do
// not change while the entry is in the table.
type lockEntry struct {
	key       []byte
	hash      uint64
	next      *lockEntry // in its chain, or in that of free entries
	shard     *lockShard
	exclusive *Owner
	// creating says that the exclusive holder is about to insert the key, unless it exists.
	creating bool
	shared   []*Owner
	// head and tail are the queue of waiters: upgrades first, then in order of arrival.
	head, tail *lockWaiter
	inline     [24]byte // of a short key
}

// lockWaiter is a transaction's wait for a lock or for ranges, one at a time.
type lockWaiter struct {
	owner      *Owner
	prev, next *lockWaiter
	mode       kvapi.LockMode
	upgrade    bool // the owner holds the lock in shared mode
	creating   bool // becomes lockEntry.creating when the lock is granted
	granted    bool // set when the wait ends with success; guarded by the shard's mutex, or by rangeTable.mu while ranged
	// victim is set instead of granted if the wait ends in a deadlock that another transaction has found; guarded as granted is.
	victim bool
	// committing says that a commit waits, not a statement. parent is the owner that waits for this one on the path of a search. Guarded by graphMu.
	committing bool
	parent     *Owner
	// entry is what the owner waits for, nil if it does not wait. Set under
	// graphMu and the shard's mutex, cleared under the shard's mutex.
	entry atomic.Pointer[lockEntry]
	// ranged says that it waits for ranges that others have locked and that conflict with its access to key. These three are guarded by
	// rangeTable.mu; ranged is also read without it.
	ranged atomic.Bool
	key    []byte
	access keyAccess
	// blocked says that the owner's goroutine has looked for a deadlock, and found none, and blocks.
	blocked atomic.Bool
	// since is when the wait began; guarded as granted is.
	since time.Duration
	// wake gets one token when granted or victim is set; it has room for one.
	wake chan struct{}
}

func (t *lockTable) init(locksMax int) {
	t.seed = maphash.MakeSeed()
	for i := range t.shards {
		t.shards[i].buckets = make([]*lockEntry, lockBucketsMin)
		t.shards[i].max = max(1, locksMax/lockShards)
	}
}

func (t *lockTable) hash(key []byte) uint64 { return maphash.Bytes(t.seed, key) }

func (t *lockTable) shard(hash uint64) *lockShard { return &t.shards[hash>>lockShardShift] }

// bucket returns where a hash's chain begins.
func (s *lockShard) bucket(hash uint64) **lockEntry {
	return &s.buckets[hash&uint64(len(s.buckets)-1)]
}

// find returns the entry of a key, or nil.
func (s *lockShard) find(hash uint64, key []byte) *lockEntry {
	e := *s.bucket(hash)
	for e != nil && (e.hash != hash || !bytes.Equal(e.key, key)) {
		e = e.next
	}
	return e
}

// entry returns the entry of a key, a new one if there is none, nil if the shard is full. The caller holds the shard's mutex.
func (s *lockShard) entry(hash uint64, key []byte) *lockEntry {
	if e := s.find(hash, key); e != nil {
		return e
	}
	return s.add(hash, key)
}

// add puts a new entry into the shard, nil if the shard is full.
func (s *lockShard) add(hash uint64, key []byte) *lockEntry {
	if s.locks >= s.max {
		return nil
	}
	if s.locks >= len(s.buckets) {
		s.resize(2 * len(s.buckets))
	}
	e := s.free
	if e != nil {
		s.free = e.next
		s.nfree--
	} else {
		if len(s.slab) == 0 {
			s.slab = make([]lockEntry, lockSlab)
		}
		e, s.slab = &s.slab[0], s.slab[1:]
		e.shard = s
		e.key = e.inline[:0]
	}
	e.hash = hash
	e.key = append(e.key[:0], key...)
	first := s.bucket(hash)
	e.next = *first
	*first = e
	s.locks++
	return e
}

// resize spreads the entries over n buckets.
func (s *lockShard) resize(n int) {
	old := s.buckets
	s.buckets = make([]*lockEntry, n)
	for _, e := range old {
		for e != nil {
			next := e.next
			first := s.bucket(e.hash)
			e.next = *first
			*first = e
			e = next
		}
	}
}

// drop removes an entry that nobody holds or waits for from the shard.
func (s *lockShard) drop(e *lockEntry) {
	at := s.bucket(e.hash)
	for *at != e {
		at = &(*at).next
	}
	*at = e.next
	if s.locks--; s.locks == 0 && len(s.buckets) > lockBucketsKept {
		s.buckets = make([]*lockEntry, lockBucketsMin)
	}
	e.next = nil
	if s.nfree >= lockFreeMax || cap(e.key) > lockEntryKeyMax {
		return
	}
	e.next = s.free
	s.free = e
	s.nfree++
}

// grantable reports whether the holders let o have the lock now; it ignores waiters.
func (e *lockEntry) grantable(o *Owner, mode kvapi.LockMode) bool {
	if e.exclusive != nil {
		return e.exclusive == o
	}
	if mode == kvapi.LockShared {
		return true
	}
	return len(e.shared) == 0 || (len(e.shared) == 1 && e.shared[0] == o)
}

// hold makes o a holder, which grantable has allowed.
func (e *lockEntry) hold(o *Owner, mode kvapi.LockMode, upgrade bool) {
	assert.That(e.grantable(o, mode), "store: no lock has two holders of which one is exclusive")
	if mode == kvapi.LockShared {
		e.shared = append(e.shared, o)
		return
	}
	if upgrade {
		e.shared = e.shared[:0]
	}
	e.exclusive = o
}

// unhold removes o from the holders and grants the lock to waiters.
func (e *lockEntry) unhold(o *Owner) {
	if e.exclusive == o {
		e.exclusive = nil
	} else {
		at := slices.Index(e.shared, o)
		assert.That(at >= 0, "store: a lock that is released is held")
		e.shared = slices.Delete(e.shared, at, at+1)
	}
	e.settle()
}

// settle grants the lock to the first waiters that can have it, and drops the
// entry if no holder and no waiter is left.
func (e *lockEntry) settle() {
	for w := e.head; w != nil && e.grantable(w.owner, w.mode); w = e.head {
		e.leave(w)
		e.hold(w.owner, w.mode, w.upgrade)
		e.creating = w.creating
		w.granted = true
		w.entry.Store(nil)
		w.wake <- struct{}{} // never blocks: one token per wait, room for one
	}
	if e.exclusive == nil && len(e.shared) == 0 && e.head == nil {
		e.shard.drop(e)
	}
}

// queue adds w to the queue: an upgrade in front, because those behind it wait for
// the lock it holds already; anything else at the end (first in, first out).
func (e *lockEntry) queue(w *lockWaiter) {
	w.prev, w.next = nil, nil
	switch {
	case e.head == nil:
		e.head, e.tail = w, w
	case w.upgrade:
		w.next = e.head
		e.head.prev = w
		e.head = w
	default:
		w.prev = e.tail
		e.tail.next = w
		e.tail = w
	}
}

// leave removes w from the queue.
func (e *lockEntry) leave(w *lockWaiter) {
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		e.head = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		e.tail = w.prev
	}
	w.prev, w.next = nil, nil
}

// closesCycle looks for a cycle of waits through owner, which has just been queued. It returns nil if there is none, and otherwise the owner
// that waits for owner; from there lockWaiter.parent leads back to owner. The caller holds graphMu and no shard mutex.
//
// The search follows holders only. A waiter waits for the holders, directly or
// through waiters in front of it, which wait for the same holders: so the queue
// adds nothing. When a lock is granted, the new holder was in front of those still
// waiting and is not waiting itself, so a cycle can only be closed by its next
// wait, which searches again. The same is true of an owner that locks a range
// while others wait for ranges.
//
// An owner may have ended and been reused between being found and being visited,
// because waits end without graphMu. The search then visits a transaction that is
// not on the path, and may find a cycle that has just dissolved: its requester
// fails needlessly. That is rare and harmless; a real cycle is not missed, as its
// waits do not end.
func (t *lockTable) closesCycle(owner *Owner) (last *Owner) {
	t.searches++
	t.todo = append(t.todo[:0], owner)
	for len(t.todo) > 0 {
		at := len(t.todo) - 1
		o := t.todo[at]
		t.todo = t.blockers(t.todo[:at], o)
		kept := t.todo[:at]
		for _, b := range t.todo[at:] {
			if b == owner {
				return o
			}
			if b.searched != t.searches {
				b.searched, b.waiter.parent = t.searches, o
				kept = append(kept, b)
			}
		}
		t.todo = kept
	}
	return nil
}

// spare breaks the cycles that a waiting commit has closed by failing statements in them: clients expect a deadlock error from a statement
// rather than from COMMIT. It returns false if a cycle consists of commits only. The caller holds graphMu.
func (t *lockTable) spare(owner *Owner) bool {
	for {
		last := t.closesCycle(owner)
		if last == nil {
			return true
		}
		for last != owner && (last.waiter.committing || !t.sacrifice(last)) {
			last = last.waiter.parent
		}
		if last == owner {
			return false
		}
	}
}

// sacrifice fails another owner's wait with a deadlock. It returns false if the wait has ended already.
func (t *lockTable) sacrifice(o *Owner) bool {
	w := &o.waiter
	e := w.entry.Load()
	if e == nil {
		return t.ranges.sacrifice(w)
	}
	e.shard.mu.Lock()
	defer e.shard.mu.Unlock()
	if w.entry.Load() != e {
		return false
	}
	e.leave(w)
	w.entry.Store(nil)
	w.victim = true
	w.wake <- struct{}{} // never blocks, as in settle
	e.settle()
	return true
}

// blockers appends the owners that o waits for.
func (t *lockTable) blockers(dst []*Owner, o *Owner) []*Owner {
	e := o.waiter.entry.Load()
	if e == nil {
		return t.ranges.blockers(dst, o)
	}
	e.shard.mu.Lock()
	defer e.shard.mu.Unlock()
	// If o is among the holders, it waits for an upgrade.
	if e.exclusive != nil && e.exclusive != o {
		dst = append(dst, e.exclusive)
	}
	for _, holder := range e.shared {
		if holder != o {
			dst = append(dst, holder)
		}
	}
	return dst
}
