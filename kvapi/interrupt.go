package kvapi

import (
	"sync"
	"sync/atomic"
)

// Reason says why a statement or a connection has to stop.
type Reason uint32

// Reasons, weakest first: a stronger one replaces a weaker one. Reasons from
// ReasonKillConn on concern the connection and survive Reset.
const (
	ReasonNone       Reason = iota
	ReasonKillQuery         // KILL QUERY
	ReasonTimeout           // max_execution_time and friends
	ReasonKillConn          // KILL CONNECTION
	ReasonClientGone        // the socket was closed by the client
	ReasonShutdown          // the node is stopping
)

// String names the reason for logs and the process list.
func (r Reason) String() string {
	switch r {
	case ReasonNone:
		return "none"
	case ReasonKillQuery:
		return "query killed"
	case ReasonTimeout:
		return "query timed out"
	case ReasonKillConn:
		return "connection killed"
	case ReasonClientGone:
		return "client gone"
	default:
		return "shutdown"
	}
}

// Interrupt tells a running statement to stop. One belongs to each connection;
// every loop polls Reason, and everything that blocks selects on Done. The zero
// value is ready, and all methods accept a nil receiver, which never fires.
// It is safe for concurrent use.
type Interrupt struct {
	reason atomic.Uint32

	mu sync.Mutex
	// done is guarded by mu. It is made on first use, because most statements
	// never block, and closed while a reason is set.
	done   chan struct{}
	closed bool
}

// Reason returns the current reason, ReasonNone if there is none. It costs one
// atomic load.
func (i *Interrupt) Reason() Reason {
	if i == nil {
		return ReasonNone
	}
	return Reason(i.reason.Load())
}

// Err returns ErrInterrupted if a reason is set, else nil.
func (i *Interrupt) Err() error {
	if i.Reason() == ReasonNone {
		return nil
	}
	return ErrInterrupted
}

// Set raises the interrupt. A weaker reason than the one already set is ignored.
func (i *Interrupt) Set(r Reason) {
	if i == nil || r == ReasonNone {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if Reason(i.reason.Load()) >= r {
		return
	}
	i.reason.Store(uint32(r))
	if i.done != nil && !i.closed {
		close(i.done)
		i.closed = true
	}
}

// Reset clears a statement's reason before the next command begins. Reasons
// that concern the connection stay, so that a KILL between two commands is
// not lost.
func (i *Interrupt) Reset() {
	if i == nil || i.reason.Load() == 0 {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if Reason(i.reason.Load()) < ReasonKillConn {
		i.clear()
	}
}

// Clear takes back one reason, if it is the present one: that of a limit on one
// statement of several that a command runs.
func (i *Interrupt) Clear(r Reason) {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if Reason(i.reason.Load()) == r {
		i.clear()
	}
}

// clear runs under mu.
func (i *Interrupt) clear() {
	i.reason.Store(uint32(ReasonNone))
	if i.closed {
		i.done, i.closed = nil, false
	}
}

// Done returns a channel that is closed while a reason is set. It belongs to
// the current statement: fetch it again after Reset. A nil Interrupt returns a
// nil channel, which blocks for ever in a select, as it should.
func (i *Interrupt) Done() <-chan struct{} {
	if i == nil {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.done == nil {
		i.done = make(chan struct{})
		if i.reason.Load() != 0 {
			close(i.done)
			i.closed = true
		}
	}
	return i.done
}
