package engine

import (
	"context"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
)

// UnflushedMayHold is what an iterator for one key asks.
func (e *Engine) UnflushedMayHold(logical []byte) bool {
	return mayHold(*e.unflushed.filters.Load(), e.unflushed.hash(logical), logical)
}

// UnflushedFilters is how many filters there are.
func (e *Engine) UnflushedFilters() int { return len(*e.unflushed.filters.Load()) }

// ForgetKeys keeps the batch's keys from the filters.
func (b *Batch) ForgetKeys() { b.hashes = b.hashes[:0] }

// MemTableBytesMin is the least size of a memtable.
const MemTableBytesMin = memTableBytesMin

// Sink does at once what the engine's goroutine does after a flush.
func (e *Engine) Sink(ctx context.Context) error { return e.sink(ctx) }

// Tables tells how many tables there are with a part of [start, end], in L0 and in the last level.
func (e *Engine) Tables(start, end []byte) (top, bottom int, err error) {
	levels, err := e.db.SSTables(pebble.WithKeyRangeFilter(start, end))
	if err != nil {
		return 0, 0, err
	}
	return len(levels[0]), len(levels[len(levels)-1]), nil
}

// GarbagePause is how long after a flush for the sake of scans the next one may be.
func (e *Engine) GarbagePause() time.Duration { return time.Duration(e.garbage.pause.Load()) }

// GarbageFlushEnded is the end of a flush of so many bytes into tables of others, for the sake of scans or not.
func (e *Engine) GarbageFlushEnded(sake bool, in, out uint64) {
	e.garbage.flushes.Store(sake)
	e.garbage.ended(&pebble.FlushInfo{InputBytes: in, Output: []pebble.TableInfo{{Size: out / 2}, {Size: out - out/2}}})
}

// GarbageSeen tells whether scans were slowed by what memtables hold.
func (e *Engine) GarbageSeen() bool { return e.garbage.seen.Load() }

// GarbageFlushEvery is the least of GarbagePause.
const GarbageFlushEvery = garbageFlushEvery

// Hold begins to apply b, which has a place in the log when it returns and reaches the memtable when land is called.
func (e *Engine) Hold(b *Batch, note bool) (land func() error, err error) {
	start, noting, err := e.enterLog(b, note)
	if err != nil {
		return nil, err
	}
	return func() error { return e.land(e.insert(b), start, noting) }, nil
}

// NotesInFlight is how many of the batches that are on their way to the memtable have a note, as the engine knows it.
func (e *Engine) NotesInFlight() bool {
	e.order.Lock()
	defer e.order.Unlock()
	return e.noting
}

// NoteLag is how far the newest note in a table is behind the end of the log.
func (e *Engine) NoteLag() (uint64, error) {
	e.order.Lock()
	end := e.end
	e.order.Unlock()
	pos, _, err := e.notedInTables()
	return uint64(end - pos), err
}

// Excise cuts the keys between two bare engine keys out of all tables and memtables.
func (e *Engine) Excise(start, end []byte) error {
	return e.db.Excise(context.Background(), pebble.KeyRange{Start: start, End: end})
}

// IngestVersions makes a table of versions, whose keys ascend, and puts it into the engine.
func (e *Engine) IngestVersions(value []byte, keys ...[]byte) error {
	name := e.fs.PathJoin(e.opts.Dir, "ingested")
	f, err := e.fs.Create(name, "test")
	if err != nil {
		return err
	}
	w := sstable.NewWriter(objstorageprovider.NewFileWritable(f), e.pebbleOptions().MakeWriterOptions(0, sstable.TableFormatPebblev5))
	for _, key := range keys {
		if err := w.Set(key, value); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return e.db.Ingest(context.Background(), []string{name})
}

// TableReads is how many blocks have been read from tables since Open because the cache did not have them, but for those of compactions
// and of long scans, which read ahead. Where the file system has no descriptors it is not known, and 0.
func (e *Engine) TableReads() uint64 { return e.counters.tableReads.Load() }

// CheckpointUnlocked is the canary of Checkpoint: nobody waits while it is made.
func (e *Engine) CheckpointUnlocked(dir string) error {
	defer e.log.Hold()()
	if err := e.db.Checkpoint(dir); err != nil {
		return err
	}
	end := e.log.End()
	if err := e.log.Sync(end); err != nil {
		return err
	}
	return e.log.CopyTo(dir, 0, end, func() error { return nil })
}

// SetStuckMax replaces stuckMax.
func (e *Engine) SetStuckMax(d time.Duration) { e.failing.stuckMax = d }

// SetMemory sets the memory of a sorter, and Memory returns it.
func (s *Sorter) SetMemory(bytes int) { s.runBytes = bytes }
func (s *Sorter) Memory() int         { return s.runBytes }

// BatchRoom returns how many bytes a batch has memory for.
func BatchRoom(b *Batch) int { return cap(b.b.Repr()) }
