package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
)

// Defaults and limits of Options. The memory defaults suit a small machine; server sets them from the machine's memory.
const (
	cacheBytesDefault    = 128 << 20
	cacheBytesMin        = 1 << 20
	memTableBytesDefault = 32 << 20
	memTableBytesMin     = 256 << 10
	memTableBytesMax     = 1 << 30
	openFilesDefault     = 1000
	// OpenFilesMin is the least for Options.MaxOpenFiles.
	OpenFilesMin   = 64
	compactionsMax = 32

	// lowSpaceFraction and lowSpaceBytesMax give the default watermark: a twentieth of the disk, at most 512 MiB. It must be enough
	// for the flush of all memtables and a compaction's output.
	lowSpaceFraction = 20
	lowSpaceBytesMax = 512 << 20
	// ballastFraction and ballastBytesMax give the default ballast: a fiftieth of the disk, at most 128 MiB.
	ballastFraction = 50
	ballastBytesMax = 128 << 20
	// ballastFirstBytes is the default ballast of a new store; it grows with the store.
	ballastFirstBytes = 8 << 20

	// ExitStorageFailure is the exit status after a fatal storage error: EX_IOERR of sysexits.h.
	ExitStorageFailure = 74
)

// NoSpace, as LowSpaceBytes or BallastBytes, switches the watermark or the ballast off.
const NoSpace = -1

// Options configures an Engine. The zero value with a Dir is a working configuration.
type Options struct {
	// Dir is the directory. It is created when absent. Required.
	Dir string
	// FS is the file system; nil means the operating system's.
	FS FS
	// CacheBytes is the size of the cache of uncompressed blocks; 0 means 128 MiB.
	CacheBytes int64
	// MemTableBytes is the size at which a memtable is flushed; 0 means 32 MiB. Up to MemTableCountMax of them exist.
	MemTableBytes int64
	// SpareLogBytes is the size of the log's segments, of which a spare one, with blocks that have been written before, is kept ready, so that
	// syncs need not commit the file system's journal; MemTableBytes is the right size. 0 means segments of MemTableBytes and no spare.
	SpareLogBytes int64
	// MaxCompactions bounds concurrent compactions; 0 means half of the cores, at least 1. Pebble uses one unless compactions lag.
	MaxCompactions int
	// MaxOpenFiles bounds the open tables; 0 means 1,000. A table has two file descriptors once it was read past the page cache.
	MaxOpenFiles int
	// PageCache returns, in bytes, how much memory the system's page cache may take for tables, and how much of that is free. When the
	// tables are larger and nothing is free, most reads that miss the page cache go past it (direct.go). It is called by PollReads. nil means
	// that this is not known: all reads go through the page cache.
	PageCache func() (room, free int64)
	// LowSpaceBytes is the watermark: DiskFull is true below it. 0 means a twentieth of the disk, at most 512 MiB; NoSpace
	// means no watermark.
	LowSpaceBytes int64
	// BallastBytes is the size of the ballast file. 0 means that it grows with the store, from 8 MiB up to a fiftieth of the disk, at most
	// 128 MiB; NoSpace means none.
	BallastBytes int64
	// AcceptLostLog opens a directory whose log has lost its newest part, with a warning, instead of refusing it with ErrLostLog.
	AcceptLostLog bool
	// Inspect opens a directory for reading, through an Overlay: nothing is compacted, since the output would be kept in memory.
	Inspect bool
	// Logger receives events; nil discards them.
	Logger *slog.Logger
	// Fatal is called with a reason once nothing can be acknowledged any more. It must not return, except in tests; nil logs
	// and ends the process with ExitStorageFailure.
	Fatal func(reason string)
}

// EnsureDefaults fills in what is zero. Defaults that depend on the disk's size are computed by Open.
func (o *Options) EnsureDefaults() {
	if o.FS == nil {
		o.FS = OSFS()
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = cacheBytesDefault
	}
	if o.MemTableBytes == 0 {
		o.MemTableBytes = memTableBytesDefault
	}
	if o.MaxCompactions == 0 {
		o.MaxCompactions = max(1, runtime.GOMAXPROCS(0)/2)
	}
	if o.MaxOpenFiles == 0 {
		o.MaxOpenFiles = openFilesDefault
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Fatal == nil {
		logger := o.Logger
		o.Fatal = func(reason string) {
			logger.Error("storage has failed; ending the process so that nothing wrong is acknowledged", "reason", reason)
			fmt.Fprintln(os.Stderr, "pando: storage has failed:", reason)
			os.Exit(ExitStorageFailure)
		}
	}
}

// Validate reports everything that is wrong with the options at once. Call it after EnsureDefaults.
func (o *Options) Validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	check(o.Dir != "", "engine: no directory given")
	check(o.CacheBytes >= cacheBytesMin, "engine: cache of %d bytes is below the least of %d", o.CacheBytes, cacheBytesMin)
	check(o.MemTableBytes >= memTableBytesMin && o.MemTableBytes <= memTableBytesMax,
		"engine: memtable of %d bytes is outside %d to %d", o.MemTableBytes, memTableBytesMin, memTableBytesMax)
	check(o.SpareLogBytes == 0 || o.SpareLogBytes >= memTableBytesMin && o.SpareLogBytes <= memTableBytesMax,
		"engine: spare log of %d bytes is neither 0 nor between %d and %d", o.SpareLogBytes, memTableBytesMin, memTableBytesMax)
	check(o.MaxCompactions >= 1 && o.MaxCompactions <= compactionsMax,
		"engine: %d concurrent compactions is outside 1 to %d", o.MaxCompactions, compactionsMax)
	check(o.MaxOpenFiles >= OpenFilesMin, "engine: %d open files is below the least of %d", o.MaxOpenFiles, OpenFilesMin)
	check(o.LowSpaceBytes >= NoSpace, "engine: low-space watermark of %d bytes is negative", o.LowSpaceBytes)
	check(o.BallastBytes >= NoSpace, "engine: ballast of %d bytes is negative", o.BallastBytes)
	return errors.Join(faults...)
}
