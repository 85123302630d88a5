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
	// suspectStepsMin is how many steps over entries that are not shown, dead versions or tombstones, make a scan suspect.
	suspectStepsMin = 16
	// lookAtSuspect visits about lookStepsMax entries of memtables at most, and then pauses for lookPause times as long as it took.
	lookStepsMax = 8192
	lookPause    = 50
	// The dead entries behind one row count as deadStepsMax at most: a scan skips more of them by a seek, which costs as much. If there
	// are more than deadShare for each row that the scan returned, the scan is at least twice as slow as it should be.
	deadStepsMax = 16
	deadShare    = 2
	// The flushes that this causes need garbageFlushBytesMin of log, and garbageFlushEvery between two of them. A flush that has written
	// tables of more than garbageOutMax, or of more than a quarter of the memtables' size, has dropped little and will cost compactions:
	// then the pause doubles, up to garbageFlushRarely.
	garbageFlushBytesMin = 128 << 10
	garbageFlushEvery    = time.Second
	garbageFlushRarely   = time.Minute
	garbageOutMax        = 4 << 20
	garbageOutShare      = 4
	// idleFlushBytesMin is the least size of log for which an idle engine is flushed.
	idleFlushBytesMin = 1 << 20
)

// garbage detects scans that are slowed down by tombstones and dead versions in memtables. In tables compactions drop them (see
// tombstoneOptions); in a memtable they stay until it is flushed, which under light load may take hours. Until then a scan of a table
// that is used as a queue would have to skip all deleted rows, and one of a small table that is updated all the time thousands of versions
// of each row (docs/design/measured/hot-tables.md). Any flush resets it.
type garbage struct {
	suspect  atomic.Pointer[suspect]
	seen     atomic.Bool   // memtables slow scans down, so they are to be flushed
	flushes  atomic.Bool   // a flush for that reason is running
	flushed  time.Duration // clock.Mono of the last flush for that reason; used by PollPressure only
	nextLook time.Duration // clock.Mono from which on lookAtSuspect may run again; used by PollPressure only
	pause    atomic.Int64  // a time.Duration: the least time from flushed to the next such flush; 0 is garbageFlushEvery
}

// suspect is a scan that made many more steps than it returned keys, in memtables or in tables. Moving forward, Pebble counts one step for
// all dead versions of a row, whether there is one or a thousand; backwards, and over dead rows, it counts each.
type suspect struct {
	keySlice     // that it scanned; the end is excluded
	rows     int // keys that it returned
	walked   int // steps beyond those
}

// noteGarbage counts the entries that a scan had to skip since its bounds were set. Scans without bounds are not those of statements.
func (e *Engine) noteGarbage(i *Iter) {
	s := i.it.Stats()
	steps := s.ForwardStepCount[pebble.InternalIterCall] + s.ReverseStepCount[pebble.InternalIterCall]
	rows := s.ForwardStepCount[pebble.InterfaceCall] + s.ReverseStepCount[pebble.InterfaceCall]
	i.walked += steps - rows
	if i.walked < suspectStepsMin || len(i.upper) == 0 {
		return
	}
	if other := e.garbage.suspect.Load(); other != nil && steps-rows <= 2*other.walked {
		return
	}
	sus := &suspect{keySlice: keySlice{bytes.Clone(i.lower), bytes.Clone(i.upper)}, rows: rows, walked: steps - rows}
	if i.it.Valid() { // the scan ended before its bounds
		key := i.it.Key()
		if last := bytes.Clone(key[:cockroachkvs.Split(key)]); i.reverse {
			sus.start = last
		} else {
			sus.end = last
		}
	}
	if cockroachkvs.Compare(sus.start, sus.end) < 0 { // otherwise the iterator was repositioned since
		e.garbage.suspect.Store(sus)
	}
}

// lookAtSuspect finds out whether a suspect scan was slowed down by dead entries of memtables, by scanning the memtables alone.
func (e *Engine) lookAtSuspect() error {
	g, began := &e.garbage, clock.Mono()
	if g.seen.Load() || g.flushes.Load() || began < g.nextLook {
		return nil
	}
	sus := g.suspect.Swap(nil)
	if sus == nil {
		return nil
	}
	it, err := e.memtables(sus.keySlice)
	if err != nil {
		return err
	}
	places, dead, all, before := 0, 0, 0, 0
	for ok := it.First(); before < lookStepsMax; ok = it.Next() {
		s := it.Stats()
		steps := s.ForwardStepCount[pebble.InternalIterCall]
		if between := steps - before - 1; between > 0 {
			places, dead, all = places+1, dead+min(between, deadStepsMax), all+between
		}
		if before = steps; !ok {
			break
		}
	}
	if places > 0 {
		// An estimate of the steps that the scan spent on dead versions, as far as this look has counted them, or on dead rows.
		cost := max(dead*min(sus.walked, sus.rows)/places, min(all, sus.walked))
		if cost > deadShare*max(sus.rows, suspectStepsMin) {
			g.seen.Store(true)
		}
	}
	now := clock.Mono()
	g.nextLook = now + lookPause*(now-began)
	return it.Close()
}

// flushGarbage flushes the memtables if they slow scans down: the flush drops the garbage, or leaves it to compactions. It does not wait
// for the flush. While another flush is running, which may do the same, it does nothing.
func (e *Engine) flushGarbage(p *pebble.Metrics) {
	g, now := &e.garbage, clock.Mono()
	if !g.seen.Load() || p.Flush.NumInProgress > 0 || e.log.Stats().LiveBytes < garbageFlushBytesMin ||
		now-g.flushed < max(time.Duration(g.pause.Load()), garbageFlushEvery) {
		return
	}
	g.flushed = now
	g.flushes.Store(true)
	e.counters.garbageFlushes.Inc()
	if _, err := e.db.AsyncFlush(); err != nil {
		g.flushes.Store(false)
		e.opts.Logger.Warn("cannot flush tombstones that slow scans", "error", err)
	}
}

// ended is called at the end of any flush, with Pebble's mutex held.
func (g *garbage) ended(info *pebble.FlushInfo) {
	if info.Err == nil {
		g.seen.Store(false)
		g.suspect.Store(nil)
	}
	if !g.flushes.Swap(false) || info.Err != nil {
		return
	}
	var out uint64
	for i := range info.Output {
		out += info.Output[i].Size
	}
	pause := garbageFlushEvery
	if out > min(info.InputBytes/garbageOutShare, garbageOutMax) {
		pause = min(2*max(time.Duration(g.pause.Load()), pause), garbageFlushRarely)
	}
	g.pause.Store(int64(pause))
}

// FlushIdle flushes the memtables if recovery would have to replay idleFlushBytesMin or more. The owner calls it when writes have
// ceased: recovery then replays nothing, and what was written last is compressed as the rest is. It does not wait for the flush; while
// writes are stalled it does nothing, since flushes are running then.
func (e *Engine) FlushIdle() {
	if e.stalled.Load() || e.log.Stats().LiveBytes < idleFlushBytesMin {
		return
	}
	if _, err := e.flushNoted(); err != nil {
		e.opts.Logger.Warn("cannot flush while idle", "error", err)
	}
}

// PollPressure measures how near a stall is, for Pressure. The owner calls it about ten times a second under load. It also
// starts a flush if memtables slow scans down (garbage), and logs slow syncs of the log.
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
		e.flushGarbage(p)
	}
	return v
}

// watchLog logs, once, a write or sync of the log that does not end.
func (e *Engine) watchLog() {
	busy := e.log.Stats().Busy
	if slow := busy >= slowSyncMin; e.slowLog.Swap(slow) != slow && slow {
		e.counters.slowWrites.Inc()
		e.opts.Logger.Warn("the disk is slow: a write or sync of the log has not ended", "duration", busy)
	}
}

// LogSince returns when the running write or sync of the log began, by clock.Mono; 0 if there is none.
func (e *Engine) LogSince() time.Duration { return e.log.Since() }

// Pressure returns what PollPressure measured last: 0 is idle; 1 is where memtables make Pebble stop writes, or at half of the L0
// sublevels that do. While writes are stopped it is 1. It costs one or two atomic loads: committers call it for every batch, and slow
// down from about a half on.
func (e *Engine) Pressure() float64 {
	if e.stalled.Load() {
		return 1
	}
	return math.Float64frombits(e.pressure.Load())
}
