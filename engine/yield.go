package engine

import (
	"runtime"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/cockroachkvs"

	"github.com/pandodb/pando/clock"
)

const (
	// yieldEvery is how long a flush or compaction works on its blocks before it lets other goroutines run.
	yieldEvery = time.Millisecond
	// yieldMost is how long those should have, and how long a table sleeps in place of a yield.
	yieldMost = 2 * time.Millisecond
	// yieldPausesMax bounds what one yield that took very long leads to: some 128 ms of work, with sleeps of 256 ms in between.
	yieldPausesMax = 128
)

// yieldingCollector is a collector of block properties, which Pebble asks when a block of a table is full, and which then lets other
// goroutines run.
//
// Pebble makes a table in two goroutines: one fills blocks and hands each to the other, which writes it and goes back to wait. When one
// waits the runtime runs the other next, before all that was ready to run on the same processor. It takes the processor from such a
// pair after 10 ms as from one goroutine, but not if one of them is bound to its thread (Background.Begin): the switch to that thread
// counts as a new beginning. What was ready before then stood still as long as the table took, unless another processor had nothing
// to do and took it over: clients waited for 30 to 100 ms (bench/results/2026-11-26-starved.md). Gosched puts the goroutine behind all
// of it. One that is not bound yields too: that is dear only where processors are never idle, and statements then take their share.
//
// Where hundreds of connections are ready all the time, to be behind all of them takes a third of a second: flushes took minutes until
// writes had to be stopped (bench/results/2026-11-26-wide-in-turns.md). So after a yield that took n times yieldMost, the next n are
// sleeps of yieldMost: what wakes from a sleep runs before what is in the queues. The yield after them finds out again how many are
// ready. What the runtime preempts stands behind all of them as well, and no sleep helps against that; package wire makes them fewer while
// tables are in work (TablesInWork).
type yieldingCollector struct {
	pebble.BlockPropertyCollector
	last   time.Duration // on clock.Mono: others could run
	pauses int           // sleeps that are due in place of yields
}

// FinishDataBlock implements pebble.BlockPropertyCollector.
func (c *yieldingCollector) FinishDataBlock(buf []byte) ([]byte, error) {
	if now := clock.Mono(); now-c.last >= yieldEvery {
		c.letRun(now)
	}
	return c.BlockPropertyCollector.FinishDataBlock(buf)
}

// letRun lets other goroutines run; now is on clock.Mono.
func (c *yieldingCollector) letRun(now time.Duration) {
	if c.pauses > 0 {
		c.pauses--
		clock.Sleep(yieldMost)
		c.last = clock.Mono()
		return
	}
	runtime.Gosched()
	c.last = clock.Mono()
	c.pauses = min(int((c.last-now)/yieldMost), yieldPausesMax)
}

// yieldingCollectors are those of cockroachkvs. What they collect is the same.
func yieldingCollectors() []func() pebble.BlockPropertyCollector {
	var all []func() pebble.BlockPropertyCollector
	for _, collector := range cockroachkvs.BlockPropertyCollectors {
		all = append(all, func() pebble.BlockPropertyCollector {
			return &yieldingCollector{BlockPropertyCollector: collector()}
		})
	}
	return all
}
