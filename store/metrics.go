package store

import (
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/replica"
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
	// Splits counts splits that this store has applied, BorderSplits those that it has made at the border of a table.
	Splits, BorderSplits uint64

	Snapshots      int
	OldestSnapshot clock.Timestamp
	Watermark      clock.Timestamp
	Applied        clock.Timestamp
	Safepoint      clock.Timestamp
	// Timestamps counts those that this store has issued, Marks the marks above them that were handed out to be saved.
	Timestamps, Marks uint64

	GCBacklogBytes   int
	GCDeleted        uint64 // versions
	GCLooked         uint64 // keys that had to be looked at
	GCScans          uint64 // scans begun because the queue had overflowed or a crash forgot it
	GCScanned        uint64 // keys looked at by scans
	SnapshotsExpired uint64

	Rows rowcache.Stats
	// Beyond counts locking reads that did not read the engine because the key was
	// above all rows of its table (frontiers).
	Beyond uint64
}

// Metrics takes a snapshot. It visits every shard of the lock table.
func (s *Store) Metrics() Metrics {
	c, l, g := &s.seq.stats, &s.locks.stats, &s.gcStats
	m := Metrics{
		Commits: c.commits.Load(), CommitBytes: c.bytes.Load(), Groups: c.groups.Load(), Syncs: c.syncs.Load(),
		LockWaits: l.waits.Load(), LockWaiting: l.waiting.Load(), LockWaitTotal: time.Duration(l.waitNanos.Sum()),
		Deadlocks: l.deadlocks.Load(), LockTimeouts: l.timeouts.Load(),
		Regions: len(s.Regions()), Splits: s.splits.Load(), BorderSplits: s.borderSplits.Load(),
		Watermark: s.Watermark(), Applied: clock.Timestamp(s.applied.Load()), Safepoint: clock.Timestamp(s.safepoint.Load()),
		GCBacklogBytes: s.GCBacklog(), GCDeleted: g.deleted.Load(), GCLooked: g.looked.Load(),
		GCScans: g.scans.Load(), GCScanned: g.scanned.Load(), SnapshotsExpired: g.expired.Load(),
		Rows: s.rows.Stats(), Beyond: s.frontiers.hits.Load(),
	}
	m.Timestamps, m.Marks = s.oracle.Counts()
	m.Snapshots, m.OldestSnapshot = s.Snapshots()
	for i := range s.locks.shards {
		sh := &s.locks.shards[i]
		sh.mu.Lock()
		m.LocksHeld += sh.locks
		sh.mu.Unlock()
	}
	return m
}

// ClusterMetrics are the counts of a store whose regions have logs; all are zero while it is alone.
type ClusterMetrics struct {
	Groups, Led   int // Raft groups, region 0 included, and those that this store leads
	Waiting       int // proposals in line
	Marks, Locks  int // that readers may have to wait for
	Proposals     uint64
	Entries       uint64 // Proposals / Entries is the size of a group
	EntryBytes    uint64
	Applied       uint64 // commands
	AppendSeconds float64
	ApplySeconds  float64
	Truncations   uint64
	Looked        uint64 // keys whose newest version a commit's evaluation looked for
	MarkWaits     uint64 // of readers
	LockWaits     uint64
	LogBytes      int64 // of entries that are not truncated yet

	Elections, MemberChanges, Removals uint64 // elections won here, changes of members applied, copies that left this store
	Messages                           uint64 // sent to other stores
	SnapshotsSent, SnapshotsFailed     uint64
	SnapshotsTaken                     uint64
	SnapshotBytes                      uint64 // sent
	Leases, LeasesMissed               uint64 // attempts to extend the gateway's lease that succeeded, and that failed
	Lag                                uint64 // entries that the copy furthest behind lacks, of regions that are led here
	Unanswered                         int    // copies of regions led here that have not answered for an election timeout
}

// ClusterMetrics takes a snapshot. It visits every region.
func (s *Store) ClusterMetrics() (m ClusterMetrics) {
	c := s.cluster.Load()
	if c == nil || c.set == nil {
		return m
	}
	st := &c.set.Stats
	m = ClusterMetrics{Waiting: c.set.Waiting(), Proposals: st.Proposals.Load(), Entries: st.Entries.Load(), EntryBytes: st.EntryBytes.Load(),
		Applied: c.stats.Applied.Load(), AppendSeconds: time.Duration(st.AppendNanos.Sum()).Seconds(),
		ApplySeconds: time.Duration(st.ApplyNanos.Sum()).Seconds(), Truncations: st.Truncations.Load(),
		Looked: c.stats.Looked.Load(), MarkWaits: c.stats.MarkWaits.Load(), LockWaits: c.stats.LockWaits.Load()}
	m.Elections, m.MemberChanges, m.Removals, m.Messages = st.Elections.Load(), st.MemberChanges.Load(), st.Removals.Load(), st.Sent.Load()
	m.SnapshotsSent, m.SnapshotsFailed, m.SnapshotsTaken = st.SnapshotsSent.Load(), st.SnapshotsFailed.Load(), st.SnapshotsTaken.Load()
	m.SnapshotBytes, m.Leases, m.LeasesMissed = st.SnapshotBytes.Load(), c.stats.Leases.Load(), c.stats.LeasesMissed.Load()
	m.Groups, m.Led = c.set.Len()
	m.Marks, m.Locks = c.Pending()
	for id := range *c.regions.Load() {
		if g, here := c.set.Status(id); here {
			m.LogBytes += g.LogBytes
			for _, p := range g.Peers {
				m.Lag = max(m.Lag, g.Lag(p.Peer))
				if !p.Active {
					m.Unanswered++
				}
			}
		}
	}
	return m
}

// RegionStatus describes a region of this store, alone or not.
type RegionStatus struct {
	Region *kvapi.Region
	// Bytes is the approximate size of the region when it was last measured, Written what commits have added since.
	Bytes, Written int64
	// Garbage is the memory in bytes of the region's queue of superseded versions, at least 1 if there are any. It is 0 in a store that is alone.
	Garbage int
	// Group is the state of its Raft group, nil if it has none.
	Group *replica.GroupStatus
}

// MetaStatus returns the state of region 0's group here, nil if there is none.
func (s *Store) MetaStatus() *replica.GroupStatus {
	if c := s.cluster.Load(); c != nil && c.set != nil {
		if g, here := c.set.Status(0); here {
			return &g
		}
	}
	return nil
}

// RegionStatuses describes all regions in key order.
func (s *Store) RegionStatuses() (out []RegionStatus) {
	if c := s.cluster.Load(); c != nil {
		regions := *c.regions.Load() // as they were at one moment: others may be removed meanwhile
		for _, desc := range sorted(regions) {
			r := regions[desc.ID]
			st := RegionStatus{Region: desc, Bytes: r.size.Load(), Written: r.written.Load(), Garbage: r.garbage.backlog()}
			if c.set != nil {
				if g, here := c.set.Status(desc.ID); here {
					st.Group = &g
				}
			}
			out = append(out, st)
		}
		return out
	}
	for _, r := range s.regions.Load().sorted {
		if !s.regions.Load().closed {
			out = append(out, RegionStatus{Region: &r.Region, Bytes: r.size.Load(), Written: r.written.Load()})
		}
	}
	return out
}

// GroupStatus describes this store's replica of a region; ok is false if it has none.
func (s *Store) GroupStatus(id kvapi.RegionID) (st replica.GroupStatus, ok bool) {
	c := s.cluster.Load()
	if c == nil || c.set == nil {
		return st, false
	}
	return c.set.Status(id)
}
