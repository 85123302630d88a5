package engine

// Metrics is a snapshot of the engine's counts and sizes for package status. Counts run from Open.
type Metrics struct {
	Applied          uint64 // batches
	AppliedBytes     uint64
	Unlogged         uint64 // batches that were applied without the log
	UnloggedBytes    uint64
	WALSyncs         uint64 // fsyncs of the WAL
	WALSyncSeconds   float64
	WALBytes         uint64 // written
	WALLiveBytes     uint64 // not yet flushed: what recovery would read
	WALReplayedBytes uint64 // by Open

	Flushes           uint64
	GarbageFlushes    uint64 // of Flushes, those because scans had to skip many dead versions in memtables
	FlushedBytes      uint64
	Compactions       uint64
	CompactedBytes    uint64
	CompactionDebt    uint64
	CompactionsActive int64

	Stalls           uint64
	StallSeconds     float64
	BackgroundErrors uint64
	Corruptions      uint64
	SlowWrites       uint64

	CacheHits   int64
	CacheMisses int64
	CacheBytes  int64
	FilterHits  int64
	TableOpens  int64  // tables that had to be opened to be read
	DiskReads   uint64 // reads of tables, without those of compactions, that missed the page cache; 0 if the system cannot tell
	DirectReads uint64 // of DiskReads, those past the page cache

	MemTables     int64
	MemTableBytes uint64
	L0Sublevels   int32
	L0Files       int64
	ReadAmp       int
	Tables        int64
	TableBytes    uint64 // live tables of all levels
	DiskBytes     uint64 // everything in the directory but the ballast and a spare segment of the log
	Tombstones    uint64
	OpenIters     int64

	DiskFree uint64 // of the last PollDisk
	DiskSize uint64
	DiskFull bool
}

// Metrics takes a snapshot. It costs some ten microseconds and a lock of Pebble's, so it is for /metrics and for polling.
func (e *Engine) Metrics() Metrics {
	p := e.db.Metrics()
	l := e.log.Stats()
	m := Metrics{
		Applied:           e.counters.applied.Load(),
		AppliedBytes:      e.counters.appliedBytes.Load(),
		Unlogged:          e.counters.unlogged.Load(),
		UnloggedBytes:     e.counters.unloggedBytes.Load(),
		WALSyncs:          l.Syncs,
		WALSyncSeconds:    l.SyncSeconds,
		WALBytes:          l.Bytes,
		WALLiveBytes:      l.LiveBytes,
		WALReplayedBytes:  uint64(e.replayed),
		Flushes:           uint64(p.Flush.Count),
		GarbageFlushes:    e.counters.garbageFlushes.Load(),
		FlushedBytes:      p.Levels[0].TableBytesFlushed,
		Compactions:       uint64(p.Compact.Count),
		CompactionDebt:    p.Compact.EstimatedDebt,
		CompactionsActive: p.Compact.NumInProgress,
		Stalls:            e.counters.stalls.Load(),
		StallSeconds:      float64(e.counters.stallNanos.Load()) / 1e9,
		BackgroundErrors:  e.counters.background.Load(),
		Corruptions:       e.counters.corruptions.Load(),
		SlowWrites:        e.counters.slowWrites.Load(),
		CacheHits:         p.BlockCache.Hits,
		CacheMisses:       p.BlockCache.Misses,
		CacheBytes:        p.BlockCache.Size,
		FilterHits:        p.Filter.Hits,
		TableOpens:        p.FileCache.Misses,
		DiskReads:         e.counters.diskReads.Load(),
		DirectReads:       e.counters.directReads.Load(),
		MemTables:         p.MemTable.Count,
		MemTableBytes:     p.MemTable.Size,
		L0Sublevels:       p.Levels[0].Sublevels,
		L0Files:           p.Levels[0].TablesCount,
		ReadAmp:           p.ReadAmp(),
		DiskBytes:         p.DiskSpaceUsage() + l.DiskBytes,
		Tombstones:        p.Keys.TombstoneCount,
		OpenIters:         p.TableIters,
		DiskFree:          e.disk.freeBytes.Load(),
		DiskSize:          e.disk.sizeBytes.Load(),
		DiskFull:          e.disk.full.Load(),
	}
	for i := range p.Levels {
		m.Tables += p.Levels[i].TablesCount
		m.TableBytes += uint64(p.Levels[i].TablesSize)
		m.CompactedBytes += p.Levels[i].TableBytesCompacted
	}
	return m
}

// ApproxBytes estimates the bytes of tables between two engine keys. It does not see memtables.
func (e *Engine) ApproxBytes(start, end []byte) (uint64, error) {
	n, err := e.db.EstimateDiskUsage(start, end)
	if err != nil {
		return 0, e.explainRead(err)
	}
	return n, nil
}
