package store

import (
	"bytes"
	"sync"
	"sync/atomic"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/status"
)

// Bounds of the undo ring. What does not fit leaves a delete marker and is
// collected later, as is what somebody reads below for long.
const (
	undoMax      = 4096    // versions; a reader may have to look at all of them
	undoBytesMax = 2 << 20 // of their keys and rows
	undoKept     = 512     // of the memory of a place in the ring, once it is empty
	undoTrimGap  = 64      // pushes between two looks at what nobody reads any more
)

// undo holds the versions that commits have deleted from the engine for good
// though somebody may still read below the commit: a deletion whose key has one
// version, of which the committer knows the row, needs no delete marker, and the
// collector nothing to do (S13). That is one write to the engine instead of
// three, and less for scans to step over (docs/design/0004-undo.md).
//
// The contract, by which a read at S misses none of them: the leader enters
// versions, then applies the deletions; a reader makes its iterator, then looks
// here for commits above S, and then compares the safepoint with S, which is
// published before a version whose commit is at or below it is dropped.
//
// Nothing of this is on disk: after a crash nobody reads below.
type undo struct {
	newest atomic.Uint64 // commit of the newest version entered
	pushes int           // since the last look; the leader's

	mu    sync.RWMutex // guards what follows; a leaf
	ring  []undone     // from first, n of them, in the order of commits
	first int
	n     int
	bytes int

	entered, refused status.Counter
}

// undone is a version that was live from prev until the commit at ts deleted it.
// It fills a cache line, and the data behind it is looked at only if hash or head
// say that it may be wanted.
type undone struct {
	ts, prev clock.Timestamp
	hash     uint64 // of the key
	head     uint64 // of the key, see keys.Head
	keyLen   int
	data     []byte // the key, then the row
}

func (e *undone) key() []byte { return e.data[:e.keyLen] }
func (e *undone) row() []byte { return e.data[e.keyLen:] }

// enterUndo takes the version that w deletes at ts, and tells whether there was room
// for it. Only the leader calls it, in the order of ts, before it applies w.
func (s *Store) enterUndo(w *kvapi.Mutation, ts clock.Timestamp) bool {
	u := &s.undo
	if u.pushes++; u.pushes >= undoTrimGap {
		u.pushes = 0
		s.trimUndo()
	}
	size := len(w.Key) + len(w.Value)
	u.mu.Lock()
	room := u.n < undoMax && u.bytes+size <= undoBytesMax
	if room {
		if u.ring == nil {
			u.ring = make([]undone, undoMax)
		}
		e := &u.ring[(u.first+u.n)%undoMax]
		e.ts, e.prev, e.keyLen = ts, w.Prev, len(w.Key)
		e.hash, e.head = s.locks.hash(w.Key), keys.Head(w.Key)
		e.data = append(append(e.data[:0], w.Key...), w.Value...)
		u.n++
		u.bytes += size
	}
	u.mu.Unlock()
	if room {
		u.newest.Store(uint64(ts))
		u.entered.Inc()
	} else {
		u.refused.Inc()
	}
	return room
}

// trimUndo drops what nobody reads any more.
func (s *Store) trimUndo() {
	u := &s.undo
	u.mu.RLock()
	n := u.n
	u.mu.RUnlock()
	if n == 0 {
		return
	}
	safe := s.publishSafepoint()
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.n > 0 {
		e := &u.ring[u.first]
		if e.ts > safe {
			return
		}
		u.bytes -= len(e.data)
		if e.data = e.data[:0]; cap(e.data) > undoKept {
			e.data = nil
		}
		u.first = (u.first + 1) % undoMax
		u.n--
	}
}

// above tells whether any version was deleted for good above ts: one atomic load.
func (u *undo) above(ts clock.Timestamp) bool { return u.newest.Load() > uint64(ts) }

// visit shows the versions that were deleted above ts, newest first, until see
// returns false. They are borrowed until then.
func (u *undo) visit(ts clock.Timestamp, see func(e *undone) (more bool)) {
	u.mu.RLock()
	defer u.mu.RUnlock()
	for i := u.n - 1; i >= 0; i-- {
		e := &u.ring[(u.first+i)%undoMax]
		if e.ts <= ts || !see(e) {
			return
		}
	}
}

// undoneRow returns a copy of the version of key that was live at ts and has been
// deleted since, nil if there is none; it goes back to s.rowBuffers. The
// caller's iterator, which was made before, shows none.
func (s *Store) undoneRow(key []byte, ts clock.Timestamp) (row *[]byte, err error) {
	if !s.undo.above(ts) {
		return nil, nil
	}
	hash := s.locks.hash(key)
	s.undo.visit(ts, func(e *undone) bool {
		if e.hash != hash || e.prev > ts || !bytes.Equal(e.key(), key) {
			return true
		}
		row = s.rowBuffers.Get().(*[]byte)
		*row = append((*row)[:0], e.row()...)
		return false
	})
	if err = s.passed(ts); err != nil && row != nil {
		s.rowBuffers.Put(row)
		row = nil
	}
	return row, err
}

// passed returns errOvertaken if the safepoint has passed ts: what a read there
// has looked for after making its iterator may have been gone.
func (s *Store) passed(ts clock.Timestamp) error {
	if s.safepoint.Load() > uint64(ts) {
		return errOvertaken
	}
	return nil
}

// removedAt returns the commit that has deleted the newest version of a key for
// good, zero if none has or everybody has seen it. The caller has the key's lock.
func (s *Store) removedAt(key []byte) (ts clock.Timestamp) {
	safe := clock.Timestamp(s.safepoint.Load()) // not above the watermark, nor any snapshot
	if !s.undo.above(safe) {
		return 0
	}
	hash := s.locks.hash(key)
	s.undo.visit(safe, func(e *undone) bool {
		if e.hash == hash && bytes.Equal(e.key(), key) {
			ts = e.ts
		}
		return ts == 0
	})
	return ts
}
