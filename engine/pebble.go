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

// formatVersion is the on-disk format of every directory. It has columnar blocks, value blocks for older versions, and MinLZ
// compression. Raising it makes directories unreadable for older binaries: do it in a commit of its own, with a changelog line.
const formatVersion = pebble.FormatValueSeparation

const (
	// MemTableCountMax is the number of memtables, the mutable one included, at which Pebble stops writes. With four, flushes may be
	// slower than the writers for a while; more would only postpone the stop and lengthen recovery.
	MemTableCountMax = 4
	// L0SublevelsMax is the number of L0 sublevels at which Pebble stops writes, and l0SublevelsFull that at which Pressure is 1, so
	// that the owner slows writers down as much as it can before the stop. Both are above Pebble's default of 12: a stop delays statements
	// by seconds, a deep L0 by microseconds (docs/design/measured/stalls.md).
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

// sizeClasses are those of Go's allocator around the size of a block. A block of 16 KiB would, with what the cache stores with it, be in
// the class of 18 KiB, and a full cache would take a ninth more memory than it counts. So Pebble makes blocks just smaller.
var sizeClasses = []int{14336, 16384, 18432}

// pebbleOptions sets every option that matters, with the reason. Others keep Pebble's default.
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
		// Half as many sublevels, that is two flushes, start a compaction out of L0. More often would cost much: it rewrites all that it
		// overlaps, which after random updates is the whole level below, and lookups skip most sublevels by their filters (docs/design/measured/uring.md).
		L0CompactionThreshold: 4,
		// The size of four sublevels: a smaller LSM tree has no level between L0 and L6.
		LBaseMaxBytes: 256 << 20,

		// One compaction normally, up to MaxCompactions when L0 or the compaction debt grows: statements need the cores.
		CompactionConcurrencyRange: func() (int, int) { return 1, o.MaxCompactions },

		// The log is that of package wal. Pebble's stays empty.
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
	// A second compaction for each 256 MiB of debt instead of 1 GiB: with few cores debt slows statements down earlier.
	p.Experimental.CompactionDebtConcurrency = 256 << 20
	p.Experimental.L0CompactionConcurrency = 4
	p.Experimental.FileCacheShards = 4
	// If a memtable overlaps an ingested table, Pebble would only record the table in its own log, which is disabled: a crash would lose it.
	p.Experimental.DisableIngestAsFlushable = func() bool { return true }
	return p
}

// tombstoneOptions makes Pebble compact tombstones early: garbage collection deletes every version that was overwritten, and scans
// have to skip the tombstones until a compaction drops them.
func (e *Engine) tombstoneOptions(p *pebble.Options) {
	// A 16 KiB block holds about 80 rows or 400 tombstones; a block with a good half of rows replaced is dense.
	p.Experimental.NumDeletionsThreshold = 64
	p.Experimental.DeletionSizeRatioThreshold = 0.25
	// A table with one dense block in twenty is worth compacting; Pebble's default waits for one in ten.
	p.Experimental.TombstoneDenseCompactionThreshold = 0.05
	// A fifth of garbage allows the full number of compactions.
	p.Experimental.CompactionGarbageFractionForMaxConcurrency = func() float64 { return 0.2 }
}

// levelOptions chooses blocks, filters and compression. All levels use the fastest compressor, which stores a block uncompressed
// if it would save less than an eighth. L6 has nine tenths of the bytes, so most reads that miss the cache decompress one of its
// blocks: with zstd there such a lookup takes 53 µs instead of 14 (BenchmarkColdRead, docs/design/measured/cold-reads.md).
func (e *Engine) levelOptions(p *pebble.Options) {
	for i := range p.Levels {
		level := &p.Levels[i]
		level.BlockSize = dataBlockBytes
		level.IndexBlockSize = indexBlockBytes
		// Filters are by logical key, for all versions together. Those of L6 are used only with IterOptions.ExpectAbsent.
		level.FilterPolicy = bloom.FilterPolicy(bloomBitsPerKey)
		level.FilterType = pebble.TableFilter
		level.Compression = func() *sstable.CompressionProfile { return block.FastestCompression }
	}
}

// versionSpaceStart is the first engine key of the versions.
var versionSpaceStart = keys.Bare(nil, keys.SpaceVersion, nil)

// spanPolicy says where files end, besides by their size: at the start of the versions' key space, since the keys below are few, are read
// all the time, and have suffixes that are not versions; and at the borders of SQL tables that are being loaded. Older versions go to
// value blocks by Pebble's own rule.
func (e *Engine) spanPolicy(start []byte) (pebble.SpanPolicy, []byte, error) {
	if cockroachkvs.Compare(start, versionSpaceStart) < 0 {
		return pebble.SpanPolicy{DisableValueSeparationBySuffix: true}, versionSpaceStart, nil
	}
	return pebble.SpanPolicy{}, e.loads.next(start), nil
}
