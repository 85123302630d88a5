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
	// suspectStepsMin steps that a scan did not ask for make it suspect: one for each row with something dead behind it, at least.
	suspectStepsMin = 16
	// A look walks over some lookStepsMax entries of memtables, and there is no other for lookPause times as long as it took.
	lookStepsMax = 8192
	lookPause    = 50
	// What is dead behind one row counts for deadStepsMax at most: a scan passes more versions by a seek, which costs as much. More
	// than deadShare for each row that the scan was asked for make it twice as slow as it should be, or slower.
	deadStepsMax = 16
	deadShare    = 2
	// garbageFlushBytesMin of log and garbageFlushEvery bound the flushes that this causes. One that has made tables of more than
	// garbageOutMax, or of more than a part in garbageOutShare of its memory, was of little use and will cost compactions: then the
	// pause doubles, up to garbageFlushRarely.
	garbageFlushBytesMin = 128 << 10
	garbageFlushEvery    = time.Second
	garbageFlushRarely   = time.Minute
	garbageOutMax        = 4 << 20
	garbageOutShare      = 4
	// idleFlushBytesMin of log make a flush of an idle engine worth its file.
	idleFlushBytesMin = 1 << 20
)

// garbage remembers that scans were slowed by tombstones and dead versions. Tables heal themselves, since compactions hunt
// tombstones; what is dead in a memtable stays until it is flushed, which under light load may take hours. A queue emptied at its
// head would be scanned through its past until then, and a small table that is updated all the time through thousands of versions
// of each row (docs/design/measured/hot-tables.md). Any flush makes it forget.
type garbage struct {
	suspect  atomic.Pointer[suspect]
	seen     atomic.Bool   // memtables slow scans
	flushes  atomic.Bool   // a flush for the sake of scans has not ended
	flushed  time.Duration // clock.Mono of the last flush for its sake; who polls owns it
	nextLook time.Duration // when the next look may be; who polls owns it
	pause    atomic.Int64  // a time.Duration: how long after flushed the next one may be; 0 is garbageFlushEvery
}

// suspect is a scan that had more steps to make than it was asked for, in memtables or in tables. Forward, Pebble counts one step for
// the dead versions of a row, whether it took one or a thousand; backwards, and over dead rows, it counts all.
type suspect struct {
	keySlice     // where it was; the end is excluded
	rows     int // it was asked for
	walked   int // steps beyond those
}

// noteGarbage looks at what a scan had to walk over since its bounds were set. Scans without bounds are not the statements'.
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
	if i.it.Valid() { // it ended early
		key := i.it.Key()
		if last := bytes.Clone(key[:cockroachkvs.Split(key)]); i.reverse {
			sus.start = last
		} else {
			sus.end = last
		}
	}
	if cockroachkvs.Compare(sus.start, sus.end) < 0 { // else the iterator has been elsewhere since
		e.garbage.suspect.Store(sus)
	}
}

// lookAtSuspect finds out whether a suspect scan was slowed by what is dead in memtables, by walking there itself.
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
		// What it cost the scan to pass versions of rows, of which the look may have met the first only, or to walk over dead rows.
		cost := max(dead*min(sus.walked, sus.rows)/places, min(all, sus.walked))
		if cost > deadShare*max(sus.rows, suspectStepsMin) {
			g.seen.Store(true)
		}
	}
	now := clock.Mono()
	g.nextLook = now + lookPause*(now-began)
	return it.Close()
}

// flushGarbage flushes the memtables when a scan has met much garbage lately, which drops it or hands it to compactions. It does not
// wait for the flush. While another one is under way, which may have that garbage in hand, there is none.
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

// ended learns from the end of any flush, with Pebble's mutex held.
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
		e.flushGarbage(p)
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

// LogSince returns when the write or sync of the log that is in hand began, by clock.Mono; 0: there is none.
func (e *Engine) LogSince() time.Duration { return e.log.Since() }

// Pressure returns what PollPressure measured last: 0 is idle, 1 is where Pebble stops writes, or has half as many sublevels of L0
// as that takes. While writes are stopped it is 1. One or two atomic loads: committers call it for every batch and slow down from
// about a half on.
func (e *Engine) Pressure() float64 {
	if e.stalled.Load() {
		return 1
	}
	return math.Float64frombits(e.pressure.Load())
}
