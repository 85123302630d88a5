package wire

import (
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
)

const (
	// lookMax is how long a lone connection looks for its next command before it waits in the poller.
	lookMax = 60 * time.Microsecond
	// lookAnswerMin bytes tell an answer with rows from one without, as a rule: a long message passes for rows, which costs a look.
	lookAnswerMin = 64
	// A look that finds nothing weighs as much as lookMissWeight that find something. When they are not made up for, there are no
	// looks for the next lookPause reads. At most lookCredit of those that found something count.
	lookMissWeight = 2
	lookCredit     = 8
	lookPause      = 256

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

// looks keeps the balance of a connection's looks for its next command.
//
// A processor that has nothing to do sleeps, and a virtual one takes tens of microseconds to wake up. Where one client talks to
// the server both of them do so for each command, the client when its answer arrives and the server when the next command does.
// To look for a while spares the server's half of that, for about as much of a processor's time as it costs to wait in the poller and
// to be woken (bench/results/2026-11-22-two-processors.md).
//
// Clients farther away than lookMax are found out by their first commands. After answers without rows there is no look: the client
// most often sends the next statement while it still shares the server's processor, which a look would end.
type looks struct {
	balance int // found less missed, by weight; negative ends the looks for now
	pause   int // reads until the next look
}

// worth tells whether to look this time.
func (l *looks) worth() bool {
	if l.pause > 0 {
		l.pause--
		return false
	}
	return true
}

func (l *looks) found() { l.balance = min(l.balance+1, lookCredit) }

func (l *looks) missed() {
	if l.balance -= lookMissWeight; l.balance < 0 {
		l.balance, l.pause = 0, lookPause
	}
}
