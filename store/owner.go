package store

import (
	"bytes"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/kvapi"
)

const (
	// heldIndexMin is the number of locks from which an owner keeps a hash index
	// of them; a few are found faster by looking at all.
	heldIndexMin = 8
	// heldKept bounds the locks whose memory a pooled owner keeps.
	heldKept = 16384
	// bulkLocksMin is the number of locks from which locking reads share an
	// iterator: smaller transactions end before that pays.
	bulkLocksMin = 16
)

// Owner is what the store keeps for one transaction: the locks it holds, its wait
// for a lock, its place in the commit queue. It is embedded in the transaction and
// used by its goroutine only, apart from what lockWaiter and commitNode say.
type Owner struct {
	id uint64
	// session is the id of the transaction's session, for lists of locks; written before the first lock.
	session uint64
	held    []heldLock
	live    int      // locks in held that were not dropped
	index   []uint32 // open addressing: position in held + 1, zero is empty
	waiter  lockWaiter
	commit  commitNode
	ranges  ownRanges
	relied  relied // in a cluster
	// searched is the last search for a deadlock that has visited the owner. Guarded by lockTable.graphMu.
	searched uint64
	// bulk is the iterator that a run of locking reads shares, and bulkAt what
	// Store.applied was before it was made: as long as nothing has been applied
	// since, it shows the newest version of everything.
	bulk   *engine.Iter
	bulkAt clock.Timestamp
}

// heldLock is one lock of an owner.
type heldLock struct {
	entry *lockEntry // nil once dropped
	hash  uint64
	// version is the newest version as of the last locking read. While the lock
	// is held nobody else can add one, so it is what a commit shadows.
	version kvapi.Version
	// asOf, in a cluster, is a value of Cluster.recorded at which version was the newest. Zero: it was read while the store was alone.
	asOf uint64
	tag  uint32
	mode kvapi.LockMode
	read bool // version has been read
}

// open readies an owner for a transaction.
func (o *Owner) open(id uint64) {
	o.id = id
	o.waiter.owner = o
	if o.waiter.wake == nil {
		o.waiter.wake = make(chan struct{}, 1)
		o.commit.wake = make(chan commitSignal, 1)
	}
}

// SetSession sets the id of the transaction's session. It must be called before the transaction locks anything.
func (o *Owner) SetSession(id uint64) { o.session = id }

// Locks returns the number of locks held.
func (o *Owner) Locks() int { return o.live }

// ID returns the transaction's number.
func (o *Owner) ID() uint64 { return o.id }

// find returns the owner's lock of a key, or nil.
func (o *Owner) find(hash uint64, key []byte) *heldLock {
	if len(o.index) == 0 {
		for i := range o.held {
			if h := &o.held[i]; h.hash == hash && h.entry != nil && bytes.Equal(h.entry.key, key) {
				return h
			}
		}
		return nil
	}
	mask := uint64(len(o.index) - 1)
	for at := hash & mask; o.index[at] != 0; at = (at + 1) & mask {
		if h := &o.held[o.index[at]-1]; h.hash == hash && h.entry != nil && bytes.Equal(h.entry.key, key) {
			return h
		}
	}
	return nil
}

// add remembers a new lock.
func (o *Owner) add(h heldLock) *heldLock {
	o.held = append(o.held, h)
	o.live++
	n := len(o.held)
	switch {
	case n >= heldIndexMin && 2*n > len(o.index):
		o.reindex()
	case len(o.index) > 0:
		o.place(n - 1)
	}
	return &o.held[n-1]
}

// reindex builds an index with room for twice the locks.
func (o *Owner) reindex() {
	size := 4 * heldIndexMin
	for size < 4*len(o.held) {
		size *= 2
	}
	if size <= cap(o.index) {
		o.index = o.index[:size]
		clear(o.index)
	} else {
		o.index = make([]uint32, size)
	}
	for i := range o.held {
		o.place(i)
	}
}

// place enters one lock into the index.
func (o *Owner) place(i int) {
	mask := uint64(len(o.index) - 1)
	at := o.held[i].hash & mask
	for o.index[at] != 0 {
		at = (at + 1) & mask
	}
	o.index[at] = uint32(i + 1)
}

// forget drops a lock from the owner's memory. The last one is removed, so that
// a scan which locks and unlocks row by row does not grow; others leave a hole.
func (o *Owner) forget(h *heldLock) {
	o.live--
	last := len(o.held) - 1
	if h != &o.held[last] {
		h.entry = nil
		return
	}
	if len(o.index) > 0 {
		// Nothing was placed after the last lock, so no probe passes its slot.
		mask := uint64(len(o.index) - 1)
		at := h.hash & mask
		for o.index[at] != uint32(last+1) {
			at = (at + 1) & mask
		}
		o.index[at] = 0
	}
	*h = heldLock{}
	o.held = o.held[:last]
}

// shadow fills in which version the write m shadows, if the owner has read it under an exclusive lock.
func (o *Owner) shadow(hash uint64, m *kvapi.Mutation) {
	h := o.find(hash, m.Key)
	switch {
	case h == nil || !h.read || h.mode != kvapi.LockExclusive:
	case h.version.Found:
		m.Shadow, m.Prev, m.PrevLen = kvapi.ShadowAt, h.version.TS, h.version.Len
	default:
		m.Shadow = kvapi.ShadowNone
	}
}

// rest closes the shared iterator. It must not outlive the statement, because it
// holds back the deletion of files.
func (o *Owner) rest() {
	if o.bulk != nil {
		_ = o.bulk.Close() // its error would repeat one that a read has returned
		o.bulk = nil
	}
}

// releaseAll releases every lock. The leader of the sequencer may run it while
// the owner's goroutine waits for its commit.
func (o *Owner) releaseAll() {
	for i := range o.held {
		if e := o.held[i].entry; e != nil {
			s := e.shard
			s.mu.Lock()
			e.unhold(o)
			s.mu.Unlock()
		}
	}
	if o.ranges.table != nil {
		o.ranges.table.release(o)
	}
	o.relied = relied{}
	clear(o.held)
	o.held = o.held[:0]
	o.live = 0
	if cap(o.held) > heldKept {
		o.held, o.index = nil, nil
	}
	o.index = o.index[:0]
}

// Waiting reports whether the transaction waits for a lock or for ranges, and others have to end that: it is not on the way to a deadlock error. It may be
// called from any goroutine while the owner is in use.
func (o *Owner) Waiting() bool {
	w := &o.waiter
	return w.blocked.Load() && (w.entry.Load() != nil || w.ranged.Load())
}
