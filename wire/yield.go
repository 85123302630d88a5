package wire

import (
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
)

const (
	// yieldLong is how long a yield may take: many clients have had the processor then, or somebody a whole slice of time.
	yieldLong = 1500 * time.Microsecond
	// A yield that takes longer weighs as much as yieldWeight that don't. When yieldLongMax of them are not made up for, there are
	// no more for yieldPause.
	yieldWeight  = 64
	yieldLongMax = 8
	yieldPause   = time.Second
)

// yields lets clients on the same machine run before a connection gives up its turn.
//
// A client that sends as soon as it has its answer is mostly preempted, or still in line for the processor, when the connection
// looks for the next command. To wait in the poller then costs as much as a short command, and the turn. One sched_yield lets the
// threads run that are in line on this processor; the client's is often among them (bench/results/2026-11-21-turns.md).
//
// The price is due where something else has work for the processor: it may keep it for milliseconds. If that happens often, there
// are no more yields for a while.
type yields struct {
	pausedUntil atomic.Int64 // on clock.Mono
	excess      atomic.Int64 // of long yields over short ones, by weight; at least 0, but for races of no matter
	give        func() bool  // gives the processor away once, and tells whether that can be; rawYield but in tests
}

// yield gives the processor away once, and tells whether it did.
func (y *yields) yield() bool {
	began := clock.Mono()
	if int64(began) < y.pausedUntil.Load() || !y.give() {
		return false
	}
	switch now := clock.Mono(); {
	case now-began <= yieldLong:
		if y.excess.Load() > 0 {
			y.excess.Add(-1)
		}
	case y.excess.Add(yieldWeight) >= yieldLongMax*yieldWeight:
		y.excess.Store(0)
		y.pausedUntil.Store(int64(now + yieldPause))
	}
	return true
}
