package engine

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/pandodb/pando/clock"
)

const (
	// garbageStepsMax is how many tombstones and dead versions a scan may walk over beyond what it was asked for before it
	// counts as slowed by garbage: some hundred microseconds.
	garbageStepsMax = 2000
	// garbageFlushBytesMin and garbageFlushEvery bound the flushes that this causes.
	garbageFlushBytesMin = 1 << 20
	garbageFlushEvery    = 2 * time.Second
	// urgentPressure is the pressure above which flushes and compactions are urgent: a memtable that is written and one that is
	// being flushed make a half.
	urgentPressure = 0.5
	// idleFlushBytesMin of log make a flush of an idle engine worth its file.
	idleFlushBytesMin = 1 << 20
)

// garbage remembers that scans were slowed by tombstones. Tables heal themselves, since compactions hunt tombstones; those in
// a memtable stay until it is flushed, which under light load may take hours. A queue emptied at its head would be scanned
// through its past until then.
type garbage struct {
	seen    atomic.Bool
	flushed atomic.Int64 // clock.Mono of the last flush for its sake
}

// noteGarbage looks at what a scan had to walk over.
func (e *Engine) noteGarbage(it *pebble.Iterator) {
	s := it.Stats()
	steps := s.ForwardStepCount[pebble.InternalIterCall] + s.ReverseStepCount[pebble.InternalIterCall]
	asked := s.ForwardStepCount[pebble.InterfaceCall] + s.ReverseStepCount[pebble.InterfaceCall]
	if steps-asked > garbageStepsMax {
		e.garbage.seen.Store(true)
	}
}

// flushGarbage flushes the memtables when a scan has met many tombstones lately, which hands them to compactions. It does not
// wait for the flush.
func (e *Engine) flushGarbage(memTableBytes uint64) {
	now := clock.Mono()
	if !e.garbage.seen.Load() || memTableBytes < garbageFlushBytesMin ||
		now-time.Duration(e.garbage.flushed.Load()) < garbageFlushEvery {
		return
	}
	e.garbage.seen.Store(false)
	e.garbage.flushed.Store(int64(now))
	if _, err := e.db.AsyncFlush(); err != nil {
		e.opts.Logger.Warn("cannot flush tombstones that slow scans", "error", err)
	}
}

// FlushIdle flushes the memtables if the log that recovery would have to read is worth it. The owner calls it when writes have
// ceased: a crash then costs no replay, and what was written last is compressed as the rest is. It does not wait for the flush, nor,
// while Pebble has stopped writes, for the end of that: flushes are under way then.
func (e *Engine) FlushIdle() {
	if e.stalled.Load() || e.log.Stats().LiveBytes < idleFlushBytesMin {
		return
	}
	if _, err := e.flushNoted(); err != nil {
		e.opts.Logger.Warn("cannot flush while idle", "error", err)
	}
}

// PollPressure measures how near a stall is, for Pressure. The owner calls it some ten times a second under load. It also
// starts a flush when scans were slowed by tombstones that are still in memory.
func (e *Engine) PollPressure() float64 {
	p := e.db.Metrics()
	memtables := float64(p.MemTable.Size) / float64(e.opts.MemTableBytes*MemTableCountMax)
	sublevels := float64(p.Levels[0].Sublevels) / l0SublevelsFull
	v := math.Min(1, math.Max(memtables, sublevels))
	e.pressure.Store(math.Float64bits(v))
	e.watchLog()
	if !e.stalled.Load() {
		e.flushGarbage(p.MemTable.Size)
	}
	return v
}

// watchLog tells once of a write or sync of the log that doesn't end.
func (e *Engine) watchLog() {
	busy := e.log.Stats().Busy
	if slow := busy >= slowSyncMin; e.slowLog.Swap(slow) != slow && slow {
		e.counters.slowWrites.Inc()
		e.opts.Logger.Warn("the disk is slow: a write or sync of the log has not ended", "duration", busy)
	}
}

// Pressure returns what PollPressure measured last: 0 is idle, 1 is where Pebble stops writes, or has half as many sublevels of L0
// as that takes. While writes are stopped it is 1. One or two atomic loads: committers call it for every batch and slow down from
// about a half on.
func (e *Engine) Pressure() float64 {
	if e.stalled.Load() {
		return 1
	}
	return math.Float64frombits(e.pressure.Load())
}
