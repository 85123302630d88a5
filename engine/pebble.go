package engine

import (
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/cockroachkvs"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"

	"github.com/pandodb/pando/keys"
)

// formatVersion is the on-disk format of every directory. It gives columnar blocks, value blocks for older versions, MinLZ
// compression. Raising it makes directories unreadable for
// older binaries: do it alone, with a changelog line.
const formatVersion = pebble.FormatValueSeparation

const (
	// MemTableCountMax is the number of memtables, the mutable one included, at which Pebble stops writes. Four ride out a
	// flush that is slower than the writers for a while; more would only postpone the stop and lengthen recovery.
	MemTableCountMax = 4
	// L0SublevelsMax is the number of L0 sublevels at which Pebble stops writes, and l0SublevelsFull that at which Pressure is 1, so
	// that the owner paces writers as hard as it can for a while before. Both are above Pebble's 12: a stop is a latency of seconds,
	// a deep L0 one of microseconds (docs/design/measured/stalls.md).
	L0SublevelsMax  = 2 * l0SublevelsFull
	l0SublevelsFull = 20

	// dataBlockBytes is InnoDB's page size: a point read that misses the cache reads and decompresses this much. Smaller blocks
	// cost every scan and a larger index more than they save a cold read (docs/design/measured/cold-reads.md, and
	// docs/design/measured/hundredfold.md for data beyond memory).
	dataBlockBytes = 16 << 10
	// indexBlockBytes keeps the index of a 64 MiB table in one or two blocks, so that a seek costs one index search.
	indexBlockBytes = 256 << 10
	// bloomBitsPerKey is one percent of false positives.
	bloomBitsPerKey = 10

	tableBytesPerSync = 512 << 10
	deletionRateBytes = 128 << 20
	rangeDelayFlush   = 10 * time.Second
)

// sizeClasses are those of Go's allocator around a block: one of 16 KiB would be, with what the cache keeps beside it, in the class
// of 18 KiB, and a full cache a ninth larger than it says. Blocks stay just below instead.
var sizeClasses = []int{14336, 16384, 18432}

// pebbleOptions names every option that matters with its reason. What is not named keeps Pebble's default.
func (e *Engine) pebbleOptions() *pebble.Options {
	o := &e.opts
	p := &pebble.Options{
		FS:                 &tableFS{e.fs, e},
		Logger:             &pebbleLogger{e},
		FormatMajorVersion: formatVersion,
		Cache:              e.cache,
		MaxOpenFiles:       o.MaxOpenFiles,
		MemTableSize:       uint64(o.MemTableBytes),

		AllocatorSizeClasses: sizeClasses,

		// The comparer, key schema and block properties of cockroachkvs, unchanged: they are tuned and fuzzed for MVCC keys and
		// store timestamps in a column of their own. The block properties let garbage collection skip blocks by time.
		Comparer:                &cockroachkvs.Comparer,
		KeySchema:               cockroachkvs.KeySchema.Name,
		KeySchemas:              sstable.MakeKeySchemas(&cockroachkvs.KeySchema),
		BlockPropertyCollectors: cockroachkvs.BlockPropertyCollectors,

		MemTableStopWritesThreshold: MemTableCountMax,
		L0StopWritesThreshold:       L0SublevelsMax,
		// Half as many sublevels, that is two flushes, start a compaction out of L0: it rewrites all that it overlaps, which under
		// updates at random is the whole level below, and a lookup passes most sublevels by their filters (docs/design/measured/uring.md).
		L0CompactionThreshold: 4,
		// What four sublevels hold: a tree below it has no level between L0 and L6.
		LBaseMaxBytes: 256 << 20,

		// One compaction normally, up to MaxCompactions when L0 or the debt grows: foreground work owns the cores.
		CompactionConcurrencyRange: func() (int, int) { return 1, o.MaxCompactions },

		// Package wal keeps the log. Pebble's stays empty.
		DisableWAL: true,

		BytesPerSync: tableBytesPerSync,
		// Deleting many large files at once stalls fsync on ext4 and on some SSDs.
		TargetByteDeletionRate: deletionRateBytes,
		// DROP and TRUNCATE write range tombstones; without a delay their space would be held until the memtable fills.
		FlushDelayDeleteRange: rangeDelayFlush,
		FlushDelayRangeKey:    rangeDelayFlush,
		EventListener:         e.eventListener(),
	}
	p.DisableAutomaticCompactions = o.Inspect
	// Tables of L0 start at 2 MiB and double per level, to 128 MiB in L6 (Pebble's defaults, named because splits look at them).
	p.TargetFileSizes[0] = 2 << 20
	e.tombstoneOptions(p)
	e.levelOptions(p)
	p.Experimental.SpanPolicyFunc = e.spanPolicy
	// Values stay in the tables: at OLTP row sizes a second file per read costs more than rewriting the row does.
	p.Experimental.ValueSeparationPolicy = func() pebble.ValueSeparationPolicy { return pebble.ValueSeparationPolicy{} }
	// A second compaction for 256 MiB of debt instead of 1 GiB: with few cores the debt is felt sooner.
	p.Experimental.CompactionDebtConcurrency = 256 << 20
	p.Experimental.L0CompactionConcurrency = 4
	p.Experimental.FileCacheShards = 4
	// Where a memtable overlaps an ingest, Pebble would only enter it into its own log, which we do without: a crash would lose it.
	p.Experimental.DisableIngestAsFlushable = func() bool { return true }
	return p
}

// tombstoneOptions makes Pebble hunt tombstones: garbage collection deletes every version that was overwritten, and scans
// walk over the tombstones until they are compacted away.
func (e *Engine) tombstoneOptions(p *pebble.Options) {
	// A 16 KiB block holds about 80 rows or 400 tombstones; a block with a good half of rows replaced is dense.
	p.Experimental.NumDeletionsThreshold = 64
	p.Experimental.DeletionSizeRatioThreshold = 0.25
	// A table with one dense block in twenty is worth compacting; Pebble's default waits for one in ten.
	p.Experimental.TombstoneDenseCompactionThreshold = 0.05
	// A fifth of garbage allows the full number of compactions.
	p.Experimental.CompactionGarbageFractionForMaxConcurrency = func() float64 { return 0.2 }
}

// levelOptions chooses blocks, filters and compression. All levels take the fastest compressor, which leaves a block as it is
// where it gains less than an eighth. L6 holds nine tenths of the bytes, so most reads that miss the cache decompress a block of
// it: zstd there takes such a lookup from 14 to 53 µs (BenchmarkColdRead, docs/design/measured/cold-reads.md).
func (e *Engine) levelOptions(p *pebble.Options) {
	for i := range p.Levels {
		level := &p.Levels[i]
		level.BlockSize = dataBlockBytes
		level.IndexBlockSize = indexBlockBytes
		// Filters cover whole logical keys, all versions together. L6's are read only by iterators that expect nothing.
		level.FilterPolicy = bloom.FilterPolicy(bloomBitsPerKey)
		level.FilterType = pebble.TableFilter
		level.Compression = func() *sstable.CompressionProfile { return block.FastestCompression }
	}
}

// versionSpaceStart is the first engine key of the versions.
var versionSpaceStart = keys.Bare(nil, keys.SpaceVersion, nil)

// spanPolicy tells where files end besides by their size: at the start of the versions, since what lies below is small and read all
// the time and its suffixes are not versions of one thing, and at the borders of tables that are being loaded. Older versions go to
// value blocks by Pebble's own rule.
func (e *Engine) spanPolicy(start []byte) (pebble.SpanPolicy, []byte, error) {
	if cockroachkvs.Compare(start, versionSpaceStart) < 0 {
		return pebble.SpanPolicy{DisableValueSeparationBySuffix: true}, versionSpaceStart, nil
	}
	return pebble.SpanPolicy{}, e.loads.next(start), nil
}
