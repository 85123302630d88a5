package engine

import (
	"bytes"
	"math"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/cockroachkvs"

	"github.com/pandodb/pando/clock"
)

const (
	// garbageStepsMax is how many tombstones and dead versions a scan may walk over beyond what it was asked for before it
	// counts as slowed by garbage: some hundred microseconds.
	garbageStepsMax = 2000
	// suspectRowsMin rows with something dead behind them make a scan suspect.
	suspectRowsMin = 16
	// A look walks over lookStepsMax entries of memtables at most, some hundred microseconds. What is dead behind one row counts
	// for deadStepsMax at most, since a scan passes more by a seek, which costs as much. deadShare of them for each row that the scan
	// was asked for make it twice as slow as it should be, or slower.
	lookStepsMax = 8192
	deadStepsMax = 16
	deadShare    = 2
	// garbageFlushBytesMin and garbageFlushEvery bound the flushes that this causes. One of which more than a part in garbageOutShare
	// is left as tables was of little use: then the pause doubles, up to garbageFlushRarely.
	garbageFlushBytesMin = 1 << 20
	garbageFlushEvery    = time.Second
	garbageFlushRarely   = time.Minute
	garbageOutShare      = 4
	// urgentPressure is the pressure above which flushes and compactions are urgent: a memtable that is written and one that is
	// being flushed make a half.
	urgentPressure = 0.5
	// idleFlushBytesMin of log make a flush of an idle engine worth its file.
	idleFlushBytesMin = 1 << 20
)

// garbage remembers that scans were slowed by tombstones and dead versions. Tables heal themselves, since compactions hunt
// tombstones; what is dead in a memtable stays until it is flushed, which under light load may take hours. A queue emptied at its
// head would be scanned through its past until then, and a small table that is updated all the time through thousands of versions
// of each row (bench/results/2026-11-24-hot-tables.md).
type garbage struct {
	seen    atomic.Bool
	suspect atomic.Pointer[suspect]
	flushed atomic.Int64 // clock.Mono of the last flush for its sake
	pause   atomic.Int64 // a time.Duration: how long after that the next one may be; 0 is garbageFlushEvery
	flushes atomic.Bool  // the next flush to end is for its sake
}

// suspect is a scan that many rows had something dead behind them for, in memtables or in tables: Pebble counts one step for each of
// these, whether it took one or a thousand.
type suspect struct {
	keySlice     // where it was; the end is excluded, and empty for none
	rows     int // it was asked for
	walked   int // steps beyond those
}

// noteGarbage looks at what a scan had to walk over since its bounds were set.
func (e *Engine) noteGarbage(i *Iter) {
	s := i.it.Stats()
	steps := s.ForwardStepCount[pebble.InternalIterCall] + s.ReverseStepCount[pebble.InternalIterCall]
	asked := s.ForwardStepCount[pebble.InterfaceCall] + s.ReverseStepCount[pebble.InterfaceCall]
	if steps-asked > garbageStepsMax {
		e.garbage.seen.Store(true)
	}
	if steps-asked >= suspectRowsMin && e.garbage.suspect.Load() == nil {
		sus := &suspect{keySlice: keySlice{bytes.Clone(i.lower), bytes.Clone(i.upper)}, rows: asked, walked: steps - asked}
		if i.it.Valid() { // it ended early
			key := i.it.Key()
			if last := bytes.Clone(key[:cockroachkvs.Split(key)]); s.ReverseStepCount[pebble.InterfaceCall] > 0 {
				sus.start = last
			} else {
				sus.end = last
			}
		}
		e.garbage.suspect.CompareAndSwap(nil, sus)
	}
}

// lookAtSuspect finds out whether a suspect scan was slowed by what is dead in memtables, by walking there itself.
func (e *Engine) lookAtSuspect() error {
	if e.garbage.seen.Load() || e.garbage.flushes.Load() {
		return nil // a flush is due, or has not ended
	}
	sus := e.garbage.suspect.Swap(nil)
	if sus == nil || len(sus.end) > 0 && cockroachkvs.Compare(sus.start, sus.end) >= 0 {
		return nil // the iterator had been moved away when it was left
	}
	it, err := e.memtables(sus.keySlice)
	if err != nil {
		return err
	}
	dead, all, before := 0, 0, 0
	for ok := it.First(); before < lookStepsMax; ok = it.Next() {
		s := it.Stats()
		steps := s.ForwardStepCount[pebble.InternalIterCall]
		between := max(steps-before-1, 0)
		dead, all, before = dead+min(between, deadStepsMax), all+between, steps
		if !ok {
			break
		}
	}
	// Runs of dead rows are no versions of one: what a scan walked over it did walk over, as far as it lies in memtables.
	if max(dead, min(all, sus.walked)) > deadShare*max(sus.rows, suspectRowsMin) {
		e.garbage.seen.Store(true)
	}
	return it.Close()
}

// flushGarbage flushes the memtables when a scan has met much garbage lately, which drops it or hands it to compactions. It does not
// wait for the flush.
func (e *Engine) flushGarbage(memTableBytes uint64) {
	now := clock.Mono()
	pause := max(time.Duration(e.garbage.pause.Load()), garbageFlushEvery)
	if !e.garbage.seen.Load() || memTableBytes < garbageFlushBytesMin ||
		now-time.Duration(e.garbage.flushed.Load()) < pause {
		return
	}
	e.garbage.seen.Store(false)
	e.garbage.flushed.Store(int64(now))
	e.garbage.flushes.Store(true)
	if _, err := e.db.AsyncFlush(); err != nil {
		e.garbage.flushes.Store(false)
		e.opts.Logger.Warn("cannot flush tombstones that slow scans", "error", err)
	}
}

// ended learns from a flush whether it was of use. What is written at the same time and is no garbage makes small tables of it, which
// cost compactions.
func (g *garbage) ended(info *pebble.FlushInfo) {
	if !g.flushes.Swap(false) || info.Err != nil {
		return
	}
	var out uint64
	for i := range info.Output {
		out += info.Output[i].Size
	}
	pause := garbageFlushEvery
	if out > info.InputBytes/garbageOutShare {
		pause = min(2*max(time.Duration(g.pause.Load()), pause), garbageFlushRarely)
	}
	g.pause.Store(int64(pause))
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
// starts a flush when scans were slowed by tombstones and dead versions that are still in memory.
func (e *Engine) PollPressure() float64 {
	p := e.db.Metrics()
	memtables := float64(p.MemTable.Size) / float64(e.opts.MemTableBytes*MemTableCountMax)
	sublevels := float64(p.Levels[0].Sublevels) / l0SublevelsFull
	v := math.Min(1, math.Max(memtables, sublevels))
	e.pressure.Store(math.Float64bits(v))
	e.watchLog()
	if err := e.lookAtSuspect(); err != nil {
		e.opts.Logger.Warn("cannot look for what slows scans", "error", err)
	}
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
