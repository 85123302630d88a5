package store

import (
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/store/rowcache"
)

// Metrics is a snapshot of the store's counts for package status. Counts run
// from Open.
type Metrics struct {
	Commits     uint64 // transactions with writes
	CommitBytes uint64
	Groups      uint64 // batches; Commits / Groups is the size of a group
	Syncs       uint64 // groups that waited for a sync

	LocksHeld     int
	LockWaits     uint64
	LockWaiting   int64
	LockWaitTotal time.Duration
	Deadlocks     uint64
	LockTimeouts  uint64

	Regions int
	Splits  uint64

	Snapshots      int
	OldestSnapshot clock.Timestamp
	Watermark      clock.Timestamp
	Applied        clock.Timestamp
	Safepoint      clock.Timestamp

	GCBacklogBytes   int
	GCDeleted        uint64 // versions
	GCLooked         uint64 // keys that had to be looked at
	GCScans          uint64 // scans begun because the queue had overflowed or a crash forgot it
	GCScanned        uint64 // keys looked at by scans
	SnapshotsExpired uint64

	Rows rowcache.Stats
	// Beyond are locking reads that needed no look because the key was above all
	// rows of its table.
	Beyond uint64
}

// Metrics takes a snapshot. It visits every shard of the lock table.
func (s *Store) Metrics() Metrics {
	c, l, g := &s.seq.stats, &s.locks.stats, &s.gcStats
	m := Metrics{
		Commits: c.commits.Load(), CommitBytes: c.bytes.Load(), Groups: c.groups.Load(), Syncs: c.syncs.Load(),
		LockWaits: l.waits.Load(), LockWaiting: l.waiting.Load(), LockWaitTotal: time.Duration(l.waitNanos.Sum()),
		Deadlocks: l.deadlocks.Load(), LockTimeouts: l.timeouts.Load(),
		Regions: len(s.Regions()), Splits: s.splits.Load(),
		Watermark: s.Watermark(), Applied: clock.Timestamp(s.applied.Load()), Safepoint: clock.Timestamp(s.safepoint.Load()),
		GCBacklogBytes: s.GCBacklog(), GCDeleted: g.deleted.Load(), GCLooked: g.looked.Load(),
		GCScans: g.scans.Load(), GCScanned: g.scanned.Load(), SnapshotsExpired: g.expired.Load(),
		Rows: s.rows.Stats(), Beyond: s.frontiers.hits.Load(),
	}
	m.Snapshots, m.OldestSnapshot = s.Snapshots()
	for i := range s.locks.shards {
		sh := &s.locks.shards[i]
		sh.mu.Lock()
		m.LocksHeld += sh.locks
		sh.mu.Unlock()
	}
	return m
}
