package store

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/replica"
	"github.com/pandodb/pando/txn/commit"
)

// Defaults and limits of Options.
const (
	locksMaxDefault       = 2 << 20
	regionBytesMaxDefault = 256 << 20
	regionBytesMaxMin     = 1 << 10
	// splitShare and tableShare: a region is split into parts of half of RegionBytesMax, and a table above a quarter of it gets regions of its own.
	splitShare             = 2
	tableShare             = 4
	gcQueueBytesMaxDefault = 64 << 20
	snapshotAgeMaxDefault  = 24 * time.Hour
	gcIntervalDefault      = 500 * time.Millisecond
	sampleIntervalDefault  = 5 * time.Second
	// rowCacheShare: the row cache takes a quarter of the engine's cache. A row in
	// it saves a search of the LSM tree and takes a fortieth of a block's memory.
	rowCacheShare = 4
)

// Options configure a Store. Engine is required; zero fields take defaults.
type Options struct {
	// Engine is opened and closed by the caller, who closes it after the store.
	Engine *engine.Engine
	Logger *slog.Logger // nil discards
	// ID is the store's id according to the directory's identity file; an engine
	// whose identity record has another id is refused. Zero means FirstID.
	ID uint64
	// Relaxed makes every commit return once it is applied, and lets plain reads
	// see it at once; the log is synced at least every second. A power loss may
	// lose the last second's commits, although others may have read them.
	Relaxed bool
	// Inspect opens a store to be looked at: nothing is collected, split or compacted.
	Inspect bool
	// LocksMax bounds the row locks held at once: 2 Mi, some 200 bytes each. It is
	// kept per shard of the lock table, so the bound is approximate.
	LocksMax int
	// RegionBytesMax is the approximate size at which a region is split: 256 MiB. SplitBytes is the approximate size of its parts, half of
	// RegionBytesMax if it is zero.
	RegionBytesMax, SplitBytes int64
	// TableBytesMax is the approximate size at which a table gets regions of its own: a quarter of RegionBytesMax if it is zero.
	TableBytesMax int64
	// SampleInterval is how often region sizes are looked at while there are
	// commits: 5 s.
	SampleInterval time.Duration
	// GCInterval is how often garbage is collected while there is some: 500 ms.
	// Larger batches have more keys next to each other, which are cheaper to find.
	GCInterval time.Duration
	// GCQueueBytesMax bounds the queue of garbage; beyond it the collector falls
	// back to scanning: 64 MiB.
	GCQueueBytesMax int
	// SnapshotAgeMax is max_snapshot_age: a snapshot that has held back garbage
	// for so long is ended, and its reads answer ErrSnapshotTooOld: 24 h.
	// Negative means never.
	SnapshotAgeMax time.Duration
	// RowCacheBytes bounds the cache of rows that were read by key. Its memory is
	// taken from the engine's cache as it fills. Zero means a quarter of the
	// engine's cache, negative means no row cache.
	RowCacheBytes int64
	// Transport sends messages to the other stores of a cluster; nil if there are none.
	Transport replica.Transport
	// Join opens an empty directory as a further store, with the id above, of an existing cluster: it has no regions until it is given some.
	Join bool
	// NowMillis is the wall clock of the timestamp oracle; nil takes clock's.
	NowMillis func() int64
	// Lease is the length of the gateway's lease, the same at all stores of a cluster; zero means replica.LeaseLength.
	Lease  replica.Lease
	Limits Limits
}

// Limits are those of a store, most of them of one in a cluster. They decide about speed and memory, never about an answer: tests draw small ones from a seed (testkit.Small).
// Zero fields take defaults. The tags are the least that makes sense.
type Limits struct {
	Replica replica.Limits
	Commit  commit.Limits
	// TimestampWindow is how far ahead the mark of timestamps lies when it is extended; zero means package placement's.
	TimestampWindow time.Duration `least:"10ms" most:"3s"`
	// GarbageBytes bounds the memory of the keys that a region remembers; a scan has to find further ones: 16 MiB.
	GarbageBytes int `least:"1"`
	// GarbageLocks are resolved, and GarbageRecords (of transactions) deleted at a time: 1024 and 4096.
	GarbageLocks   int `least:"1"`
	GarbageRecords int `least:"1"`
	// GroupCommits and GroupBytes bound a group of commits of a store that is alone: 256 commits, and 4 MiB, but one commit at least.
	GroupCommits int `least:"1"`
	GroupBytes   int `least:"1"`
}

func (l *Limits) ensureDefaults() {
	l.Replica.EnsureDefaults()
	l.Commit.EnsureDefaults()
	l.GarbageBytes = cmp.Or(l.GarbageBytes, 16<<20)
	l.GarbageLocks = cmp.Or(l.GarbageLocks, 1024)
	l.GarbageRecords = cmp.Or(l.GarbageRecords, 4096)
	l.GroupCommits = cmp.Or(l.GroupCommits, 256)
	l.GroupBytes = cmp.Or(l.GroupBytes, 4<<20)
}

// EnsureDefaults fills in what is zero.
func (o *Options) EnsureDefaults() {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.ID == 0 {
		o.ID = FirstID
	}
	if o.Lease == 0 {
		o.Lease = replica.LeaseLength
	}
	if o.LocksMax == 0 {
		o.LocksMax = locksMaxDefault
	}
	if o.RegionBytesMax == 0 {
		o.RegionBytesMax = regionBytesMaxDefault
	}
	if o.SplitBytes == 0 {
		o.SplitBytes = o.RegionBytesMax / splitShare
	}
	if o.TableBytesMax == 0 {
		o.TableBytesMax = o.RegionBytesMax / tableShare
	}
	if o.SampleInterval == 0 {
		o.SampleInterval = sampleIntervalDefault
	}
	if o.GCInterval == 0 {
		o.GCInterval = gcIntervalDefault
	}
	if o.GCQueueBytesMax == 0 {
		o.GCQueueBytesMax = gcQueueBytesMaxDefault
	}
	if o.SnapshotAgeMax == 0 {
		o.SnapshotAgeMax = snapshotAgeMaxDefault
	}
	if o.RowCacheBytes == 0 && o.Engine != nil {
		o.RowCacheBytes = o.Engine.CacheBytes() / rowCacheShare
	}
	if o.NowMillis == nil {
		o.NowMillis = clock.NowMillis
	}
	o.Limits.ensureDefaults()
}

// Validate reports everything that is wrong with the options at once.
func (o *Options) Validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	check(o.Engine != nil, "store: no engine given")
	check(o.LocksMax > 0, "store: bound of %d row locks is not positive", o.LocksMax)
	check(o.RegionBytesMax >= regionBytesMaxMin, "store: region size of %d bytes is below the least of %d", o.RegionBytesMax, regionBytesMaxMin)
	check(o.SplitBytes >= 0 && o.SplitBytes <= o.RegionBytesMax && (o.SplitBytes == 0 || o.SplitBytes >= regionBytesMaxMin/splitShare),
		"store: parts of %d bytes of a region of more than %d", o.SplitBytes, o.RegionBytesMax)
	check(o.TableBytesMax >= 0, "store: size %d of a table with regions of its own is negative", o.TableBytesMax)
	check(o.SampleInterval > 0, "store: sample interval %v is not positive", o.SampleInterval)
	check(o.GCInterval > 0, "store: garbage collection interval %v is not positive", o.GCInterval)
	check(o.GCQueueBytesMax > 0, "store: garbage queue of %d bytes is not positive", o.GCQueueBytesMax)
	return errors.Join(faults...)
}
