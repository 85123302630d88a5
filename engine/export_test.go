package engine

import (
	"context"
	"time"

	"github.com/cockroachdb/pebble/v2"
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
