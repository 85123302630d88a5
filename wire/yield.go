package wire

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
)

const (
	// lookAnswerMin bytes tell an answer with rows from one without, as a rule: a long message passes for rows, which costs a look.
	lookAnswerMin = 64
	// A look that finds nothing weighs as much as lookMissWeight reads that find something. A connection has credit for lookCredit of those,
	// all of it from its beginning on: the first look fails as a rule, because clients of a load wait until all of them have logged in, and
	// without credit it would end the looks for the next commands (bench/results/2026-11-26-looks.md).
	lookMissWeight = 2
	lookCredit     = 8
	// yieldIdle is less than anybody has use for, and more than a yield takes that finds nobody in line.
	yieldIdle = 3 * time.Microsecond

	// A yield is long that takes more than yieldLong, and yieldLongConn for each active connection of this machine. Up to that, so many
	// clients may have had the processor, each to send its next command; beyond it, somebody else has. yieldLongMost is the most that cost
	// nothing beside programs that always compute; 16.5 ms cost a tenth of the rate (bench/results/2026-11-26-looks.md).
	yieldLong     = 1500 * time.Microsecond
	yieldLongConn = 3 * time.Microsecond
	yieldLongMost = 6 * time.Millisecond
	// A long yield weighs as much as yieldWeight that aren't. When yieldLongMax of them are not made up for, there are no more for a while.
	// That is an exponential backoff: hundreds of clients that log in at once keep the processors for less than a second, another program may
	// do so for ever. A pause is twice as long as the one before if it begins within yieldSoon times that one's length after its end.
	yieldWeight   = 64
	yieldLongMax  = 8
	yieldPauseMin = 50 * time.Millisecond
	yieldPauseMax = 1600 * time.Millisecond
	yieldSoon     = 8
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
	lastPause   atomic.Int64 // its length, in ns; 0: there was none
	local       atomic.Int64 // active connections of this machine, at the reaper's last look
	excess      atomic.Int64 // of long yields over short ones, by weight; at least 0, but for races of no matter
	give        func() bool  // gives the processor away once, and tells whether that can be; rawYield but in tests
}

// yield gives the processor away once, and tells whether it did.
func (y *yields) yield() bool {
	began := clock.Mono()
	if int64(began) < y.pausedUntil.Load() || !y.give() {
		return false
	}
	now := clock.Mono()
	y.took(now-began, now)
	return true
}

// took accounts for a yield that ends now and has lasted so long.
func (y *yields) took(lasted, now time.Duration) {
	until := y.pausedUntil.Load()
	switch {
	case int64(now) < until:
		// It began before the pause did; there may be one on each processor.
	case lasted <= min(yieldLong+time.Duration(y.local.Load())*yieldLongConn, yieldLongMost):
		if y.excess.Load() > 0 {
			y.excess.Add(-1)
		}
	case y.excess.Add(yieldWeight) >= yieldLongMax*yieldWeight:
		y.pause(now, until)
	}
}

// pause begins a pause after the one that ended at until, unless another goroutine has begun it.
func (y *yields) pause(now time.Duration, until int64) {
	next, last := yieldPauseMin, time.Duration(y.lastPause.Load())
	if last > 0 && now-time.Duration(until) < yieldSoon*last {
		next = min(2*last, yieldPauseMax)
	}
	if y.pausedUntil.CompareAndSwap(until, int64(now+next)) {
		y.lastPause.Store(int64(next))
		y.excess.Store(0)
	}
}

// lookRule says how long a connection looks for its next command before it waits in the poller.
type lookRule struct {
	most  time.Duration // the look may take that long
	idle  int           // yields of less than yieldIdle end it
	pause int           // reads without a look, when those that found nothing are not made up for
}

// lookAlone is for a connection that is the only active one.
//
// A processor that has nothing to do sleeps, and a virtual one takes tens of microseconds to wake up. Where one client talks to
// the server both of them do so for each command, the client when its answer arrives and the server when the next command does.
// To look for a while spares the server's half of that, for about as much of a processor's time as it costs to wait in the poller and
// to be woken (bench/results/2026-11-22-two-processors.md).
//
// After answers without rows there is no look: the client most often sends the next statement while it still shares the server's
// processor, which a look would end.
var lookAlone = lookRule{most: 60 * time.Microsecond, idle: math.MaxInt, pause: 256}

// lookCrowded is for a connection with brisk commands among many.
//
// Which of many threads has the processor next is chance, so that a client may get it after some others only. As long as a yield
// has others run, to wait for the client's turn costs nothing that they would not have had anyway; to wait in the poller costs
// a change of the connection, with all that belongs to it out of the caches, on both sides. When nobody has use for the processor
// the client runs on another one or is far away, and the processor is better given to the next connection
// (bench/results/2026-11-24-turns-of-many.md).
var lookCrowded = lookRule{most: 400 * time.Microsecond, idle: 3, pause: 16}

// looks keeps the balance of a connection's looks for its next command. Clients farther away than a look takes are found out by their
// first commands.
type looks struct {
	debt  int // looks that missed less reads that found, by weight; more than lookCredit ends the looks for now
	pause int // reads until the next look
}

// worth tells whether to look this time.
func (l *looks) worth() bool {
	if l.pause > 0 {
		l.pause--
		return false
	}
	return true
}

func (l *looks) found() { l.debt = max(l.debt-1, 0) }

func (l *looks) missed(r *lookRule) {
	if l.debt += lookMissWeight; l.debt > lookCredit {
		l.debt, l.pause = lookCredit, r.pause
	}
}
