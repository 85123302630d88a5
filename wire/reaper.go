package wire

import (
	"errors"
	"math"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

const (
	tick          = 100 * time.Millisecond // unit of the coarse clock
	reapPeriod    = 200 * time.Millisecond
	activeTicks   = 3 // an active connection has begun or ended a command within so many: a reapPeriod, and one for a late look
	watchTicks    = 1 // a statement is watched when it has run longer than this
	killGrace     = 2 * time.Second
	blockedTicks  = 5  // how long a killed connection may sit in a socket write
	logsPerSecond = 10 // complaints about clients
)

// ticksNow returns the real time in ticks. Process start is tick 1, so that a stamp of 0 means none.
func ticksNow() uint64 { return uint64(clock.Mono()/tick) + 1 }

// ticksOf rounds up, so that no positive timeout becomes "never".
func ticksOf(d time.Duration) int64 {
	if d > math.MaxInt64-tick {
		return 0
	}
	return int64((max(d, 0) + tick - 1) / tick)
}

// reap is the goroutine that watches the connections. It moves the coarse clock and looks at every connection: that is cheaper
// than a deadline per command, and than a watcher per statement. Without connections it sleeps. Shutdown ends it.
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
		s.inspect(conns, now)
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

// inspect looks at all connections, and counts those that are active.
func (s *Server) inspect(conns []*conn, now uint64) {
	active, local := 0, 0
	for _, c := range conns {
		c.inspect(now)
		if age := int64(now) - int64(c.state.Load()>>16); age <= activeTicks || c.standing.Load() {
			active++
			if c.host == localhost {
				local++
			}
		}
	}
	s.crowded.Store(active >= crowdMin)
	s.yields.local.Store(int64(local))
	scattered, txns := s.missing(), active/turnTxnConns
	if scattered {
		txns = 1 // p95 is how long the turns of others last, see turnScatteredFew
	}
	s.scattered.Store(scattered)
	s.turnTxns.Store(int32(txns))
	s.lone.Store(active == 1 && runtime.GOMAXPROCS(0) > 1)
	before := s.thinking
	if s.thinking = unknownThink; active >= writersKeep {
		s.thinking = thinking(conns, now)
	}
	// The mean of two looks, because the clients of one commit's group get their answers at once.
	s.resizePlaces(load{
		active: active, thinking: (before + s.thinking) / 2, processors: processors(),
		inWork: s.opt.TablesInWork != nil && s.opt.TablesInWork(),
	})
}

// resizePlaces sets how many places there are.
func (s *Server) resizePlaces(l load) {
	for _, p := range [...]*places{&s.places, &s.writers, &s.loads} {
		l.bounded = p.max.Load() != unbounded
		p.max.Store(int64(p.rule.room(l)))
		if p.rule.most != nil {
			p.most.Store(int64(p.rule.most(l)))
		}
	}
}

const (
	// thinkers is how many connections are asked for unread commands at a time, at less than a microsecond each.
	thinkers = 1024
	// unknownThink is more than any rule bears, also by half.
	unknownThink = math.MaxInt32
)

// thinking estimates how many active connections have answered their last command and have not got the next one.
func thinking(conns []*conn, now uint64) (n int) {
	each := (len(conns) + thinkers - 1) / thinkers
	for i := int(now/uint64(reapPeriod/tick)) % each; i < len(conns); i += each {
		c := conns[i]
		state := c.state.Load()
		if state&0xff == phaseIdle && int64(now)-int64(state>>16) <= activeTicks && !c.standing.Load() && !c.sock.pending() {
			n += each
		}
	}
	return n
}

// pending reports whether there is something to read, or the other side has closed the connection. Of a socket that is closed here, or
// cannot be asked, nothing is pending.
func (s *socket) pending() bool {
	_, err := s.peek()
	return err == nil
}

// processors returns how many processors statements have. The runtime may have more for a while, which the system runs in their stead.
func processors() int { return min(runtime.GOMAXPROCS(0), runtime.NumCPU()) }

// inspect ends what has lasted too long. It runs on the reaper's goroutine, beside the connection: all it does is set the
// interrupt and deadlines, on which the connection then acts.
func (c *conn) inspect(now uint64) {
	state := c.state.Load()
	age := int64(now) - int64(state>>16)
	switch state & 0xff {
	case phaseIdle:
		if over(age, &c.waitTimeout) {
			c.nudge(kvapi.ReasonTimeout)
		}
	case phaseRead:
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
	most := limit.Load()
	return most > 0 && age > most
}

// peerGone reports whether the other side has closed or reset the connection. A client that has sent further bytes before closing is not
// noticed until its answer is written.
func (s *socket) peerGone() bool {
	n, err := s.peek()
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno == syscall.ECONNRESET || errno == syscall.ETIMEDOUT || errno == syscall.EPIPE
	}
	if err != nil {
		return !errors.Is(err, errors.ErrUnsupported)
	}
	return n == 0
}

// peek looks for a byte to read without waiting or taking it: 0 is the end of the stream. The error is the system's (EAGAIN if there is
// nothing), or control's.
func (s *socket) peek() (n int, err error) {
	failed := s.control(func(fd uintptr) {
		var b [1]byte
		for n, err = 0, syscall.EINTR; err == syscall.EINTR; {
			n, _, err = syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		}
	})
	if failed != nil {
		return 0, failed
	}
	return n, err
}

// logLimiter bounds how often clients' faults are logged. Safe for concurrent use.
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
