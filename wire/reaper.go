package wire

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

const (
	tick          = 100 * time.Millisecond // unit of the coarse clock
	reapPeriod    = 200 * time.Millisecond
	watchTicks    = 1 // a statement is watched when it has run longer than this
	killGrace     = 2 * time.Second
	blockedTicks  = 5  // how long a killed connection may sit in a socket write
	logsPerSecond = 10 // lines that one logLimiter allows
)

// ticksNow returns the time since process start in ticks, plus 1, so that a stamp of 0 means none.
func ticksNow() uint64 { return uint64(clock.Mono()/tick) + 1 }

// ticksOf rounds up, so that no positive timeout becomes "never".
func ticksOf(d time.Duration) int64 {
	if d > math.MaxInt64-tick {
		return 0
	}
	return int64((max(d, 0) + tick - 1) / tick)
}

// reap is the goroutine that enforces timeouts. It moves the coarse clock and looks at every connection: that is cheaper
// than a deadline per command or a goroutine per statement. Without connections it sleeps. Shutdown ends it.
func (s *Server) reap() {
	defer close(s.stopped)
	ticker := clock.NewTicker(reapPeriod)
	defer ticker.Stop()
	var conns []*conn
	for {
		select {
		case <-ticker.C:
		case <-s.stop:
			return
		}
		now := ticksNow()
		s.now.Store(now)
		conns = s.snapshot(conns)
		for _, c := range conns {
			c.inspect(now)
		}
		clear(conns)
		if len(conns) > 0 {
			continue
		}
		ticker.Stop()
		select {
		case <-s.wake:
		case <-s.stop:
			return
		}
		s.now.Store(ticksNow())
		ticker.Reset(reapPeriod)
	}
}

// inspect ends what has lasted too long. It runs on the reaper's goroutine: all it does is set closing, the interrupt and
// deadlines, on which the connection's goroutine then acts.
func (c *conn) inspect(now uint64) {
	state := c.state.Load()
	age := int64(now) - int64(state>>16)
	switch state & 0xff {
	case phaseIdle:
		if over(age, &c.waitTimeout) {
			c.nudge(kvapi.ReasonTimeout)
		}
	case phaseRead, phaseFile:
		if over(age, &c.readTimeout) {
			_ = c.sock.SetReadDeadline(longAgo) // fails only on a closed socket
		}
	case phaseBusy:
		if age > watchTicks && c.closing.Load() != uint32(kvapi.ReasonClientGone) && c.sock.peerGone() {
			c.count.gone.Add(1)
			c.closing.CompareAndSwap(0, uint32(kvapi.ReasonClientGone))
			c.interrupt(kvapi.ReasonClientGone)
		}
	case phaseWrite:
		// A client that takes none of its answer would hold the statement, and what it locks, for ever.
		if over(age, &c.writeTimeout) || c.closing.Load() != 0 && age > blockedTicks {
			_ = c.sock.SetWriteDeadline(longAgo) // as above
		}
	}
}

func over(age int64, limit *atomic.Int64) bool {
	longest := limit.Load()
	return longest > 0 && age > longest
}

// logLimiter bounds how many lines of one kind are logged per second. Safe for concurrent use.
type logLimiter struct {
	// window is second<<16 | lines logged in it.
	window atomic.Uint64
}

// allow reports whether one more line may be logged at the given tick.
func (l *logLimiter) allow(now uint64) bool {
	second := now / uint64(time.Second/tick)
	for {
		old := l.window.Load()
		next := old + 1
		if old>>16 != second {
			next = second<<16 | 1
		} else if old&0xffff >= logsPerSecond {
			return false
		}
		if l.window.CompareAndSwap(old, next) {
			return true
		}
	}
}
