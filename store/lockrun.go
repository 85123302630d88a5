package store

import (
	"bytes"
	"slices"
	"sync"
)

const (
	// runHitsMin is how many keys a gap must have answered for before the locks behind them become a run. To begin one costs a look at
	// every lock of the store.
	runHitsMin = 32
	// runScanMax is how many locks may be held in the store for that look to be worth its time.
	runScanMax = 4096
	// runKeysMax bounds the keys of a run. Behind them locks are single again, and counted in the lock table.
	runKeysMax = 1 << 20
	// runBytesKept bounds the memory for keys that a pooled owner keeps.
	runBytesKept = 1 << 20
)

// lockRun holds the exclusive locks of a bulk load: keys in ascending order, inside a stretch of the key space where nobody else
// has any. To take one more costs an append, where an entry in the lock table costs a hash, three tables and their cache misses.
//
// Nobody waits for a run. Who wants one of its keys makes it an ordinary entry first (contest), held by the run's owner, and stands in
// line there; who wants a key above the last one gets it, and ends the stretch. So the run's keys are locked and no others, and cycles
// of waits go through entries only.
type lockRun struct {
	owner *Owner
	table *lockTable

	// mu guards what follows. It is a leaf below shard mutexes. The owner, which alone moves last, reads that without it.
	mu       sync.Mutex
	active   bool
	bounded  bool
	to       []byte // keys from here on are not the run's, if bounded; it moves down only
	keys     []byte
	ends     []uint32     // of each key in keys
	last     []byte       // the highest key, or the one below the run
	contests []*lockEntry // of keys that others asked for
}

// runSpan is a run as the table publishes it: its keys lie between from and to for as long as it is there.
type runSpan struct {
	run      *lockRun
	from, to []byte // exclusive; an empty to is above all keys
}

func (s *runSpan) spans(key []byte) bool {
	return bytes.Compare(key, s.from) > 0 && (len(s.to) == 0 || bytes.Compare(key, s.to) < 0)
}

// begin makes the stretch above from, whose lock the owner has, the run's, as far as nobody holds or waits for a lock in it and no
// further than to.
func (r *lockRun) begin(t *lockTable, o *Owner, from, to []byte) {
	r.mu.Lock()
	r.owner, r.table, r.active = o, t, true
	r.last = append(r.last[:0], from...)
	r.to, r.bounded = append(r.to[:0], to...), len(to) > 0
	r.mu.Unlock()
	span := runSpan{run: r, from: bytes.Clone(from), to: bytes.Clone(to)}
	// Published first: who locks a key of a shard that has been looked at sees the run.
	t.runsMu.Lock()
	var others []runSpan
	if old := t.runs.Load(); old != nil {
		others = *old
	}
	list := append(slices.Clone(others), span)
	t.runs.Store(&list)
	t.runsMu.Unlock()
	for i := range others {
		r.part(from, &others[i])
	}
	seen := 0
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		if seen += s.locks; seen <= runScanMax {
			s.each(func(e *lockEntry) { r.cut(e.key, from) })
		}
		s.mu.Unlock()
	}
	if seen > runScanMax {
		r.cutAt(from)
	}
}

// part divides the key space between a run that begins at from and one that was there before.
func (r *lockRun) part(from []byte, other *runSpan) {
	r.cut(other.from, from)
	o := other.run
	o.mu.Lock()
	inside := o.active && bytes.Compare(from, o.last) < 0 && bytes.Compare(other.from, from) < 0
	if o.active && !inside && (!o.bounded || bytes.Compare(from, o.to) < 0) && bytes.Compare(other.from, from) < 0 {
		o.to, o.bounded = append(o.to[:0], from...), true
	}
	o.mu.Unlock()
	if inside {
		r.cutAt(from)
	}
}

// cut ends the stretch below key, if that is above from.
func (r *lockRun) cut(key, from []byte) {
	if bytes.Compare(key, from) > 0 {
		r.cutAt(key)
	}
}

func (r *lockRun) cutAt(key []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.bounded || bytes.Compare(key, r.to) < 0 {
		r.to, r.bounded = append(r.to[:0], key...), true
	}
}

// take locks key if it is the run's next. It is called by the owner.
func (r *lockRun) take(key []byte) bool {
	if !r.active || bytes.Compare(key, r.last) <= 0 || len(r.ends) >= runKeysMax {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bounded && bytes.Compare(key, r.to) >= 0 {
		return false
	}
	r.keys = append(r.keys, key...)
	r.ends = append(r.ends, uint32(len(r.keys)))
	r.last = append(r.last[:0], key...)
	return true
}

// has tells whether the run holds key. The caller is the owner or holds mu.
func (r *lockRun) has(key []byte) bool {
	if !r.active || bytes.Compare(key, r.last) > 0 {
		return false
	}
	low, high := 0, len(r.ends)
	for low < high {
		mid := (low + high) / 2
		start := uint32(0)
		if mid > 0 {
			start = r.ends[mid-1]
		}
		switch c := bytes.Compare(r.keys[start:r.ends[mid]], key); {
		case c == 0:
			return true
		case c < 0:
			low = mid + 1
		default:
			high = mid
		}
	}
	return false
}

// contest is called for a key that gets an entry, with its shard locked: a lock of the run, which somebody else wants then, becomes
// that entry, and a key above the run, which its owner may want in another way, ends its stretch. It reports false if the lock table is full.
func (r *lockRun) contest(s *lockShard, hash uint64, key []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !r.active:
	case bytes.Compare(key, r.last) > 0:
		if !r.bounded || bytes.Compare(key, r.to) < 0 {
			r.to, r.bounded = append(r.to[:0], key...), true
		}
	case r.has(key) && s.find(hash, key) == nil:
		e := s.add(hash, key)
		if e == nil {
			return false
		}
		e.exclusive = r.owner
		r.contests = append(r.contests, e)
	}
	return true
}

// end lets go of the run's locks.
func (r *lockRun) end() {
	t := r.table
	t.runsMu.Lock()
	left := slices.DeleteFunc(slices.Clone(*t.runs.Load()), func(s runSpan) bool { return s.run == r })
	if t.runs.Store(&left); len(left) == 0 {
		t.runs.Store(nil)
	}
	t.runsMu.Unlock()
	r.mu.Lock()
	r.active = false
	r.keys, r.ends = r.keys[:0], r.ends[:0]
	if cap(r.keys) > runBytesKept {
		r.keys, r.ends = nil, nil
	}
	r.mu.Unlock()
	// Nobody adds to them any more.
	for _, e := range r.contests {
		s := e.shard
		s.mu.Lock()
		e.unhold(r.owner)
		s.mu.Unlock()
	}
	clear(r.contests)
	r.contests = r.contests[:0]
}
