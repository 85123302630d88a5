package store

import (
	"bytes"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/btree"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/mvcc"
)

const (
	// pendingSlots is how many counters a region's filter has: a power of two.
	pendingSlots = 512
	// markingKept bounds the memory in bytes that a pooled proposal keeps for marks, and markingKeyBytes is what a key takes there.
	markingKept     = 16 << 10
	markingKeyBytes = 24
	// lockBytesMax bounds the bytes of rows that a region keeps in memory with its locks; the rows of further locks are read from the engine.
	lockBytesMax = 16 << 20
)

// pending is what readers of a region have to wait for: marks of changes whose entry is not applied yet, and locks of transactions
// that are not decided yet. Marks exist at the leader only; locks are mirrored on every replica, as they are applied.
//
// Rule A (docs/design/0020) rests on this order: a mark is counted in the filter before the timestamp of its entry is fetched, and a reader
// has its timestamp before it looks at the filter. So it finds the mark, or its timestamp is below the entry's.
type pending struct {
	seed   maphash.Seed
	filter [pendingSlots]atomic.Int32 // numbers of marks and locks, by hash of the key
	all    atomic.Int64               // their number

	// mu guards what follows. It is a leaf.
	mu      sync.RWMutex
	marks   btree.Map[string, *mark]
	locks   btree.Map[string, *intent]
	bytes   int                        // of rows in locks
	waiters map[string][]chan struct{} // by key; closed when a mark or lock of the key is gone
}

// mark says that a change of one key is in flight.
type mark struct {
	ts clock.Timestamp // zero until the entry has one
}

// intent is a write intent: a lock of a transaction in a cluster, with the row that it writes when it commits. It is immutable: a change replaces it.
type intent struct {
	mvcc.Lock
	dropped bool // Value is nil, the row is in the engine only
	leaving bool // the commit or rollback that ends it is applied, and not visible yet
}

func newPending() *pending {
	return &pending{seed: maphash.MakeSeed(), waiters: map[string][]chan struct{}{}}
}

func (p *pending) slot(key []byte) *atomic.Int32 {
	return &p.filter[maphash.Bytes(p.seed, key)%pendingSlots]
}

// count adds by to the counts of marks and locks.
func (p *pending) count(key []byte, by int32) {
	p.slot(key).Add(by)
	p.all.Add(int64(by))
}

// marking are the marks of one change.
type marking struct {
	p     *pending // that they are published in, nil if they are not
	keys  []string // parts of one string
	marks []mark   // of the keys; not moved while they are published
	buf   []byte
}

// emptied returns a marking without marks that reuses the memory of g.
func (g *marking) emptied() marking {
	if cap(g.buf) > markingKept || cap(g.marks)*markingKeyBytes > markingKept {
		return marking{}
	}
	clear(g.keys)
	return marking{keys: g.keys[:0], marks: g.marks[:0], buf: g.buf[:0]}
}

// publish publishes marks on the keys that a change writes. None of them has a mark: no other change of the entry writes it (S15), and the marks
// of the entry before are gone.
func (g *marking) publish(p *pending, mutations []kvapi.Mutation) {
	g.buf, g.keys = g.buf[:0], g.keys[:0]
	for i := range mutations {
		g.buf = append(g.buf, mutations[i].Key...)
	}
	all, at := string(g.buf), 0
	for i := range mutations {
		n := len(mutations[i].Key)
		g.keys = append(g.keys, all[at:at+n])
		at += n
	}
	g.marks = slices.Grow(g.marks[:0], len(g.keys))[:len(g.keys)]
	clear(g.marks)
	g.p = p
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, key := range g.keys {
		p.count(mutations[i].Key, 1)
		_, had := p.marks.Set(key, &g.marks[i])
		assert.That(!had, "store: a key has one mark")
	}
}

// stamp notes the timestamp of the marks.
func (g *marking) stamp(ts clock.Timestamp) {
	g.p.mu.Lock()
	defer g.p.mu.Unlock()
	for i := range g.marks {
		assert.That(g.marks[i].ts == 0, "store: a mark gets one timestamp")
		g.marks[i].ts = ts
		g.p.wake(g.keys[i]) // readers below ts go on
	}
}

// drop removes the marks, if they are published: their entry is applied, or never will be.
func (g *marking) drop() {
	p := g.p
	if p == nil {
		return
	}
	g.p = nil
	p.mu.Lock()
	defer p.mu.Unlock()
	at := 0
	for _, key := range g.keys {
		p.marks.Delete(key)
		p.count(g.buf[at:at+len(key)], -1)
		p.wake(key)
		at += len(key)
	}
}

// anyMarks reports whether a change is in flight.
func (p *pending) anyMarks() bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.marks.Len() > 0
}

// marked reports whether a change in flight writes the key.
func (p *pending) marked(key []byte) bool {
	if p.slot(key).Load() == 0 {
		return false
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	_, marked := p.marks.Get(string(key))
	return marked
}

// marksWithin reports whether a change in flight writes a key of a span.
func (p *pending) marksWithin(s kvapi.Span) (found bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	p.marks.Ascend(string(s.Start), func(key string, _ *mark) bool {
		found = s.Contains([]byte(key))
		return false
	})
	return found
}

// wake wakes those who wait for a key. The caller holds mu.
func (p *pending) wake(key string) {
	for _, w := range p.waiters[key] {
		close(w)
	}
	delete(p.waiters, key)
}

// lock mirrors a lock that is being applied.
func (p *pending) lock(key []byte, l mvcc.Lock) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old, had := p.locks.Set(string(key), &intent{Lock: l})
	p.bytes += len(l.Value)
	if had {
		assert.That(old.Start == l.Start || old.leaving, "store: nobody takes a lock that another transaction has")
		p.bytes -= len(old.Value)
		return
	}
	p.count(key, 1)
}

// shown notes that new iterators show a lock's record, so that its row may be dropped from memory if there are too many.
func (p *pending) shown(key []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l, found := p.locks.Get(string(key)); found && p.bytes > lockBytesMax {
		p.bytes -= len(l.Value)
		bare := intent{Lock: l.Lock, dropped: true}
		bare.Value = nil
		p.locks.Set(string(key), &bare)
	}
}

// find returns the lock of a key, nil if there is none. It must not be changed.
func (p *pending) find(key []byte) *intent {
	if p.slot(key).Load() == 0 {
		return nil
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	l, _ := p.locks.Get(string(key))
	return l
}

// leave notes that the commit or rollback that is being applied ends a lock. Readers find the lock until that is visible.
func (p *pending) leave(key []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l, found := p.locks.Get(string(key)); found {
		leaving := *l
		leaving.leaving = true
		p.locks.Set(string(key), &leaving)
	}
}

// unlock removes a transaction's lock. The version that it has become, if any, is visible and recorded.
func (p *pending) unlock(key []byte, start clock.Timestamp) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l, found := p.locks.Get(string(key)); found && l.Start == start {
		p.locks.Delete(string(key))
		p.bytes -= len(l.Value)
		p.count(key, -1)
		p.wake(string(key))
	}
}

// renew prolongs a lock. It is replaced, since readers may be using the old one.
func (p *pending) renew(key []byte, ttl uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l, found := p.locks.Get(string(key)); found {
		longer := *l
		longer.TTL = ttl
		p.locks.Set(string(key), &longer)
	}
}

// obstacle is a mark or lock that a reader has to wait for.
type obstacle struct {
	key  string
	lock *intent       // nil for a mark
	gone chan struct{} // closed when it is worth looking again
}

// at looks for what a reader of a key at ts must wait for; a reader at kvapi.Latest waits for everything. The lock of the transaction that began at
// own does not count.
func (p *pending) at(key []byte, ts, own clock.Timestamp) *obstacle {
	if p.slot(key).Load() == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.look(string(key), ts, own)
}

// look is at for a caller that holds mu.
func (p *pending) look(key string, ts, own clock.Timestamp) *obstacle {
	o := obstacle{key: key}
	if m, marked := p.marks.Get(key); !marked || m.ts > ts {
		l, found := p.locks.Get(key)
		if !found || l.Least > ts || l.Start == own {
			return nil
		}
		o.lock = l
	}
	o.gone = make(chan struct{})
	p.waiters[key] = append(p.waiters[key], o.gone)
	return &o
}

// within is at for all keys of a span: it returns the first obstacle.
func (p *pending) within(s kvapi.Span, ts, own clock.Timestamp) (o *obstacle) {
	if p.all.Load() == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	visit := func(key string) bool {
		if !s.Contains([]byte(key)) {
			return false
		}
		o = p.look(key, ts, own)
		return o == nil
	}
	p.marks.Ascend(string(s.Start), func(key string, _ *mark) bool { return visit(key) })
	if o == nil {
		p.locks.Ascend(string(s.Start), func(key string, _ *intent) bool { return visit(key) })
	}
	return o
}

// marksIn looks for a mark in a span that has no timestamp yet, or one at or below ts.
func (p *pending) marksIn(s kvapi.Span, ts clock.Timestamp) (o *obstacle) {
	if p.all.Load() == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.marks.Ascend(string(s.Start), func(key string, m *mark) bool {
		if !s.Contains([]byte(key)) {
			return false
		}
		if m.ts <= ts {
			o = &obstacle{key: key, gone: make(chan struct{})}
			p.waiters[key] = append(p.waiters[key], o.gone)
		}
		return o == nil
	})
	return o
}

// forget removes a waiter that gives up.
func (p *pending) forget(o *obstacle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := p.waiters[o.key]
	for i, w := range line {
		if w == o.gone {
			line[i] = line[len(line)-1]
			p.waiters[o.key] = line[:len(line)-1]
			break
		}
	}
	if len(p.waiters[o.key]) == 0 {
		delete(p.waiters, o.key)
	}
}

// lockedIn returns the keys of a span that other transactions than own have locked.
func (p *pending) lockedIn(s kvapi.Span, own clock.Timestamp) (locked []string) {
	if p.all.Load() == 0 {
		return nil
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	p.locks.Ascend(string(s.Start), func(k string, held *intent) bool {
		if !s.Contains([]byte(k)) {
			return false
		}
		if held.Start != own {
			locked = append(locked, k)
		}
		return true
	})
	return locked
}

// locksBelow describes at most limit locks whose transactions began at or below ts.
func (p *pending) locksBelow(ts clock.Timestamp, limit int, describe func(key []byte, l *mvcc.Lock) kvapi.LockInfo) (found []kvapi.LockInfo) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	p.locks.Scan(func(key string, l *intent) bool {
		if l.Start <= ts {
			found = append(found, describe([]byte(key), &l.Lock))
		}
		return len(found) < limit
	})
	return found
}

// cutAt moves the locks from a key on to the right half of a split. A split is alone in its entry, so there are marks only on a leader that was
// just deposed: they stay here, where their proposals are about to drop them; reads are refused on such a store.
func (p *pending) cutAt(key []byte) (right *pending) {
	right = newPending()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.locks.Ascend(string(key), func(k string, l *intent) bool {
		right.locks.Set(k, l)
		right.bytes += len(l.Value)
		right.count([]byte(k), 1)
		return true
	})
	right.locks.Scan(func(k string, l *intent) bool {
		p.locks.Delete(k)
		p.bytes -= len(l.Value)
		p.count([]byte(k), -1)
		return true
	})
	for k := range p.waiters { // the waiters look again, and find out where the key is now
		if bytes.Compare([]byte(k), key) >= 0 {
			p.wake(k)
		}
	}
	return right
}

// counts returns how many marks and locks there are.
func (p *pending) counts() (marks, locks int) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.marks.Len(), p.locks.Len()
}

// wait waits until an obstacle is worth another look. It returns false if that takes longer than patience.
func (p *pending) wait(o *obstacle, patience time.Duration, i *kvapi.Interrupt, closing <-chan struct{}) (bool, error) {
	timer := clock.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-o.gone:
		return true, nil
	case <-timer.C:
		p.forget(o)
		return false, nil
	case <-i.Done():
		p.forget(o)
		return false, kvapi.ErrInterrupted
	case <-closing:
		p.forget(o)
		return false, kvapi.ErrClosed
	}
}
