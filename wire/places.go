package wire

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

const (
	// There is a place for each placeConns active connections, of any clients, and at least placesEach for each processor. Fewer make
	// transactions still more even, but commits come in smaller groups then (bench/results/2026-11-25-places.md).
	placeConns = 4
	placesEach = 8
	// A place is lost after some placeLook without a command: half of it at least, twice as long at most.
	placeLook = 5 * time.Millisecond
	// Processors that were idle for idleShare of a time of at least idleWindow, in percent, open the line for openFor.
	idleShare  = 15
	idleWindow = 200 * time.Millisecond
	openFor    = time.Second
)

// places bounds how many transactions of clients on the same machine are in progress at once where connections are many.
//
// Such clients share the processors with the server. Which of them comes next is up to the operating system, and so some transactions
// are served in one go and others lose their turn several times, each time behind all the others: of 64 clients p95 was two and a half
// times the mean, and locks were held for as long. With a few in progress, and the others in line before they hold anything, each
// waits for about the same time.
//
// A place is for a transaction that goes on. Who has had no command for a while (its client thinks, or it waits for a lock or for a
// long answer) keeps its transaction but not the place, and a transaction that comes to its commit gives the place back. So a line never
// stands still. Where processors are idle nobody is to wait at all: clients may be far away behind a proxy on this machine. Clients
// elsewhere never wait, but count among the active connections.
type places struct {
	idle idleClock    // of the machine; nil where that cannot be told, and then nobody waits
	max  atomic.Int64 // places there are; set by the reaper

	mu          sync.Mutex    // guards what follows and conn.place; a leaf
	holders     []*conn       // more than max only after that has shrunk
	first, last *conn         // the line
	openUntil   time.Duration // on clock.Mono: nobody waits before
	looked      time.Duration // likewise, when places were taken last
	waits       uint64        // entries into the line, in all
	closed      bool          // nobody waits any more

	wake chan struct{} // capacity 1: there is a line
	stop chan struct{} // closed to end the keeper
	done chan struct{} // closed when it has ended
}

// idleClock tells how long the machine's processors have been idle and how long they have run in all, in units of its own; ok is false
// if that is not known.
type idleClock func() (idle, total uint64, ok bool)

// resize sets how many places there are.
func (p *places) resize(active, processors int) {
	p.max.Store(int64(max(active/placeConns, placesEach*processors)))
}

// open starts the keeper.
func (p *places) open() {
	p.wake, p.stop, p.done = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	go p.keep()
}

// close lets all go on that wait, ends the keeper and waits for it.
func (p *places) close() {
	p.mu.Lock()
	p.closed = true
	p.release()
	p.mu.Unlock()
	if p.done == nil {
		return
	}
	close(p.stop)
	<-p.done
}

// enter returns when a transaction of c, which does not hold anything yet, may begin, or when c is interrupted. It returns whether leave
// has to be called. now is on clock.Mono.
func (p *places) enter(c *conn, now time.Duration, intr *kvapi.Interrupt) bool {
	p.mu.Lock()
	if p.idle == nil || p.closed || now < p.openUntil {
		p.mu.Unlock()
		return false
	}
	if p.first == nil && p.free() {
		p.give(c)
		p.mu.Unlock()
		return true
	}
	alone := p.first == nil
	if alone {
		p.first = c
	} else {
		p.last.behind = c
	}
	p.last = c
	p.waits++
	c.standing.Store(true)
	p.mu.Unlock()
	if alone {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
	select {
	case <-c.next:
	case <-intr.Done():
		p.abandon(c)
	}
	c.standing.Store(false)
	return true
}

// leave gives the place of c, if it still has one, to the first in line.
func (p *places) leave(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.place != 0 {
		p.take(c)
		p.fill()
	}
}

// abandon takes c out of the line, unless it has been let in meanwhile.
func (p *places) abandon(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var before *conn
	for w := p.first; w != nil; before, w = w, w.behind {
		if w != c {
			continue
		}
		if before == nil {
			p.first = c.behind
		} else {
			before.behind = c.behind
		}
		if p.last == c {
			p.last = before
		}
		c.behind = nil
		return
	}
	<-c.next
}

// free tells whether there is a place to give. This and what follows runs under mu.
func (p *places) free() bool { return int64(len(p.holders)) < p.max.Load() }

// give gives c a place.
func (p *places) give(c *conn) {
	p.holders = append(p.holders, c)
	c.place = len(p.holders)
	c.worked.Store(true)
}

// take takes the place of c.
func (p *places) take(c *conn) {
	end := len(p.holders) - 1
	last := p.holders[end]
	p.holders[c.place-1], last.place = last, c.place
	p.holders[end] = nil
	p.holders = p.holders[:end]
	c.place = 0
}

// pop takes the first out of the line.
func (p *places) pop() *conn {
	c := p.first
	if p.first = c.behind; p.first == nil {
		p.last = nil
	}
	c.behind = nil
	return c
}

// fill gives the free places to the first in line.
func (p *places) fill() {
	for p.first != nil && p.free() {
		c := p.pop()
		p.give(c)
		c.next <- struct{}{}
	}
}

// release lets all in that wait, without places.
func (p *places) release() {
	for p.first != nil {
		p.pop().next <- struct{}{}
	}
}

// keep looks after the line as long as there is one.
func (p *places) keep() {
	defer close(p.done)
	ticker := clock.NewTicker(placeLook)
	defer ticker.Stop()
	var w idleWatch
	for {
		ticker.Stop()
		select {
		case <-p.wake:
		case <-p.stop:
			return
		}
		ticker.Reset(placeLook)
		for p.look(clock.Mono(), w.idle(p.idle, clock.Mono())) {
			select {
			case <-ticker.C:
			case <-p.stop:
				return
			}
		}
	}
}

// look takes the places of those who had no command since the last look, and opens the line if processors are idle. It returns whether
// somebody waits still.
func (p *places) look(now time.Duration, idle bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if idle {
		p.openUntil = now + openFor
		p.release()
		return false
	}
	if now-p.looked >= placeLook/2 { // two looks may follow each other closely, where a line ends and another one begins
		p.looked = now
		for i := len(p.holders) - 1; i >= 0; i-- {
			if c := p.holders[i]; !c.worked.Swap(false) {
				p.take(c)
			}
		}
	}
	p.fill()
	return p.first != nil
}

// entries returns how many transactions have stood in line.
func (p *places) entries() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waits
}

// idleWatch remembers the last reading of an idleClock.
type idleWatch struct {
	when         time.Duration
	idled, total uint64
}

// idle tells whether the processors were idle for idleShare of the time since the last reading, if that is long enough ago for another one.
// Readings are made while somebody waits only, so that the first line after a quiet time is open.
func (w *idleWatch) idle(read idleClock, now time.Duration) bool {
	if now-w.when < idleWindow {
		return false
	}
	idled, total, ok := read()
	before := *w
	*w = idleWatch{now, idled, total}
	return !ok || int64(idled-before.idled)*100 >= int64(total-before.total)*idleShare // the kernel may take back some idle time
}
