package store

import (
	"math/rand/v2"
	"sync"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/assert"
)

// snapshotShards is how many ways the registry is split: a power of two.
const snapshotShards = 16

// snapshots is the registry of timestamps that are being read at. Garbage
// collection keeps what the oldest needs.
//
// A snapshot takes its timestamp, the watermark, under its shard's mutex, and
// the watermark never falls: so each shard's list is in timestamp order, and
// oldest, which loads the watermark before it visits the shards, either meets a
// snapshot or knows that its timestamp is not below that watermark.
type snapshots struct {
	shards [snapshotShards]snapshotShard
}

type snapshotShard struct {
	// mu guards the list and the links of its members. It is a leaf.
	mu         sync.Mutex
	head, tail *Snapshot
	_          [40]byte
}

// Snapshot is an entry of the registry. It is embedded in its user, so that
// registering allocates nothing. The zero value is not registered.
type Snapshot struct {
	ts         clock.Timestamp
	shard      *snapshotShard // nil if not registered; changed only by the user
	prev, next *Snapshot      // guarded by shard.mu
	linked     bool           // false once expired; guarded by shard.mu
}

// TS returns the timestamp, zero if not registered.
func (sn *Snapshot) TS() clock.Timestamp { return sn.ts }

// Registered reports whether the snapshot is registered. An expired one is, until
// it is unregistered, but its reads fail.
func (sn *Snapshot) Registered() bool { return sn.shard != nil }

// Register adds sn to the registry and then gives it its timestamp, the durable watermark (S5).
func (s *Store) Register(sn *Snapshot) {
	if sn.shard != nil {
		panic("store: snapshot registered twice")
	}
	sh := &s.snapshots.shards[rand.Uint32()%snapshotShards]
	sh.mu.Lock()
	sn.shard, sn.linked = sh, true
	sn.ts = s.Watermark()
	sn.prev, sn.next = sh.tail, nil
	if sh.tail != nil {
		sh.tail.next = sn
	} else {
		sh.head = sn
	}
	assert.That(sn.prev == nil || sn.prev.ts <= sn.ts, "store: a shard's snapshots are in the order of their timestamps")
	sh.tail = sn
	// Checked under the mutex: afterwards it may be expired, and the safepoint pass it.
	assert.That(uint64(sn.ts) >= s.safepoint.Load(), "store: no snapshot begins below the safepoint (S4)")
	sh.mu.Unlock()
}

// Unregister removes sn from the registry.
func (s *Store) Unregister(sn *Snapshot) {
	sh := sn.shard
	sh.mu.Lock()
	if sn.linked {
		sh.unlink(sn)
	}
	sh.mu.Unlock()
	sn.shard, sn.ts = nil, 0
}

func (sh *snapshotShard) unlink(sn *Snapshot) {
	if sn.prev != nil {
		sn.prev.next = sn.next
	} else {
		sh.head = sn.next
	}
	if sn.next != nil {
		sn.next.prev = sn.prev
	} else {
		sh.tail = sn.prev
	}
	sn.prev, sn.next, sn.linked = nil, nil, false
}

// oldest returns the safepoint: nobody reads, or will read, below it.
func (s *Store) oldest() clock.Timestamp {
	// The order matters: see snapshots.
	safe := s.Watermark()
	for i := range s.snapshots.shards {
		sh := &s.snapshots.shards[i]
		sh.mu.Lock()
		if sh.head != nil {
			safe = min(safe, sh.head.ts)
		}
		sh.mu.Unlock()
	}
	return safe
}

// expire removes the snapshots below ts from the registry, so that their reads will fail, and returns how many there were.
func (s *Store) expire(ts clock.Timestamp) (n int) {
	for i := range s.snapshots.shards {
		sh := &s.snapshots.shards[i]
		sh.mu.Lock()
		for sh.head != nil && sh.head.ts < ts {
			sh.unlink(sh.head)
			n++
		}
		sh.mu.Unlock()
	}
	return n
}

// Snapshots returns how many snapshots are registered and the oldest's
// timestamp, zero if there are none.
func (s *Store) Snapshots() (n int, oldest clock.Timestamp) {
	for i := range s.snapshots.shards {
		sh := &s.snapshots.shards[i]
		sh.mu.Lock()
		for sn := sh.head; sn != nil; sn = sn.next {
			n++
			if oldest == 0 || sn.ts < oldest {
				oldest = sn.ts
			}
		}
		sh.mu.Unlock()
	}
	return n, oldest
}
