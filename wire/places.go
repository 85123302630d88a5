package wire

import (
	"math"
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
	// While tables are in work, writersMin active connections and more have workEach places for each processor (bench/results/2026-11-26-work.md).
	workEach = 12
	// Among writersMin active connections and more, single writes have writersEach places for each processor, and a place is for writesEach
	// commands. With fewer connections the gain is small, and so it is with fewer commands (bench/results/2026-11-25-writers.md).
	// Once there are places, down to writersKeep connections keep them. Those for transactions while tables are in work come and go at
	// writersMin, since they bound what is there anyhow.
	writersMin  = 512
	writersKeep = writersMin * 3 / 4
	writersEach = 32
	writesEach  = 32
	// A statement with a list of loadRows rows is a load. Loads have loadsEach places for each processor: more at once only take each
	// other's memory and caches (bench/results/2026-11-26-loads.md). Where processors are idle, because loads wait for the disk or for
	// locks, there are more, up to loadsMore for each processor. There are loadsMost at most, with an eye to the locks of their rows.
	loadRows  = 1024
	loadsEach = 2
	loadsMore = 8
	loadsMost = 32
	// placeLook is the time between two looks at a line.
	placeLook = 5 * time.Millisecond
	// Processors that were idle for idleShare of a window, in percent, open the line, and so do holders whose commands have been at the
	// server for more than holdersBusy of the time, in percent, on an average of gaugeLooks looks.
	idleShare   = 15
	holdersBusy = 95
	gaugeLooks  = 40
	// openWeight is by how much longer than it was open a line must have been of use, to be opened for a short time only.
	openWeight = 4
)

// placesRule is how many places there are, and after how long they are lost, or the line is opened.
type placesRule struct {
	// room returns how many places there are; unbounded: nobody needs one.
	room func(l load) int
	// A place is lost after quiet without a command: half of it at least, twice as long at most.
	quiet time.Duration
	// window is the least time over which processors are found idle. What is older than twice as long does not count.
	window time.Duration
	// A line that is of no use is opened for open; for twice as long as the last time, but openMost at most, if it has not been of use for
	// openWeight times that since.
	open, openMost time.Duration
	// watch tells that holders are watched, see gauge.
	watch bool
	// most returns how many places there are at most; nil: room says it. With it there is one more place for each window in which
	// processors were idle, or it could not be told, and one less for each in which they were not or nobody stood in line, instead of a
	// line that is opened.
	most func(l load) int
}

const unbounded = math.MaxInt

// load is what the number of places depends on.
type load struct {
	active     int  // connections
	thinking   int  // of them, whose clients have not sent a command; known from writersKeep active ones on
	processors int  // for statements
	bounded    bool // there is a bounded number of places now
	inWork     bool // tables are
}

var (
	// forTxns is for transactions, which are fewer than the clients and hold locks.
	forTxns = placesRule{
		room: func(l load) int {
			places := max(l.active/placeConns, placesEach*l.processors)
			if l.inWork && l.active >= writersMin {
				places = min(places, workEach*l.processors)
			}
			return places
		},
		quiet: placeLook, window: 200 * time.Millisecond, open: time.Second, openMost: time.Second,
	}
	// forWriters is for clients that have the next command ready. Of others, who think, the places would have to be as many as keep the
	// server busy. It has patience: at first a holder's command lies in the socket behind those of all clients, until these stand in line;
	// and processors are idle for a while when a flush makes all commits wait.
	forWriters = placesRule{
		room: func(l load) int {
			places := writersEach * l.processors
			least, most := writersMin, places/2
			if l.bounded {
				least, most = writersKeep, places*3/4
			}
			if l.active < least || l.thinking > most {
				return unbounded
			}
			return places
		},
		quiet: 100 * time.Millisecond, window: time.Second, open: time.Second, openMost: time.Minute, watch: true,
	}
	// forLoads is for statements that bring many rows. A place is for one of them, and for others behind it in the same command. While
	// somebody waits, one that takes longer than quiet goes on without: it may be waiting for a lock while the processors have other things
	// to do than to show that by being idle.
	forLoads = placesRule{
		room:  func(l load) int { return min(loadsEach*l.processors, loadsMost) },
		most:  func(l load) int { return min(loadsMore*l.processors, loadsMost) },
		quiet: 6 * time.Second, window: 200 * time.Millisecond,
	}
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
//
// Flushes and compactions are preempted now and then and stand behind all connections that are ready, a third of a second where these are a
// thousand. Meanwhile memtables grow, and every scan has more to merge. So among very many there are fewer places as long as tables are in
// work. There are not always so few, because work on tables is seldom under way, and larger groups of commits cost less.
//
// Single writes, which are transactions of one statement, have places of their own, each for writesEach commands, where connections are very
// many. The reason is another one: each of a thousand clients, its connection and its session have left the processors' caches before
// their turn comes again, which costs both sides a third more. A few dozen stay in the caches and fill a commit's group as well. The mean
// wait is shorter then, and all but one of writesEach writes do not wait at all; that one waits for all other clients, more than a second.
// There are such places only while few clients think. And where all holders wait at once, for the disk or for locks, more could do so, and
// the line is open for a while (gauge).
//
// Loads, which are single writes of many rows each, have places too, wherever and how many the clients are, and keep them through the
// commit. What such a statement has in memory is many times its text. Of dozens at once each has what it needs fetched into the caches
// anew at each of its turns, and the garbage collector has all of it to look at. Idle processors make more places, up to a bound.
type places struct {
	rule placesRule
	idle idleClock    // of the machine; nil where that cannot be told, and then nobody waits
	max  atomic.Int64 // places there are, or unbounded; set by the reaper
	most atomic.Int64 // as rule.most has it, likewise

	mu          sync.Mutex    // guards what follows and stores of conn.place; a leaf
	holders     []*conn       // more than max and more only after one of them has shrunk
	first, last *conn         // the line
	openUntil   time.Duration // on clock.Mono: nobody waits before
	openFor     time.Duration // how long it was open then
	looked      time.Duration // likewise, when places were taken last
	gauge       gauge         // of the line that there is
	more        int64         // places beyond max, because processors were idle
	resized     time.Duration // on clock.Mono: more was changed, or found to be right
	waits       uint64        // entries into the line, in all
	closed      bool          // nobody waits any more

	wake chan struct{} // capacity 1: there is a line
	stop chan struct{} // closed to end the keeper
	done chan struct{} // closed when it has ended
}

// idleClock tells how long the machine's processors have been idle and how long they have run in all, in units of its own; ok is false
// if that is not known.
type idleClock func() (idle, total uint64, ok bool)

// start starts the keeper.
func (p *places) start() {
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
	if p.max.Load() == unbounded {
		return false
	}
	p.mu.Lock()
	if p.idle == nil || p.closed || now < p.openUntil {
		p.mu.Unlock()
		return false
	}
	if p.first == nil && p.more > 0 {
		p.shrink(now)
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
	if c.place.Load() != 0 {
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
func (p *places) free() bool { return int64(len(p.holders)) < p.max.Load()+p.more }

// give gives c a place.
func (p *places) give(c *conn) {
	p.holders = append(p.holders, c)
	c.place.Store(int32(len(p.holders)))
	c.worked.Store(true)
}

// take takes the place of c.
func (p *places) take(c *conn) {
	end := len(p.holders) - 1
	last := p.holders[end]
	at := c.place.Load()
	p.holders[at-1] = last
	last.place.Store(at)
	p.holders[end] = nil
	p.holders = p.holders[:end]
	c.place.Store(0)
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

// fill gives the free places to the first in line. Where nobody needs one any more, nobody gets one: he would keep it when they are few again.
func (p *places) fill() {
	if p.max.Load() == unbounded {
		p.release()
	}
	for p.first != nil && p.free() {
		c := p.pop()
		p.give(c)
		c.next <- struct{}{}
	}
}

// open lets all in that wait, and those who come for a while, without places.
func (p *places) open(now time.Duration) {
	if now-p.openUntil < openWeight*p.openFor {
		p.openFor = min(2*p.openFor, p.rule.openMost)
	} else {
		p.openFor = p.rule.open
	}
	p.openUntil = now + p.openFor
	p.release()
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
	w := idleWatch{window: p.rule.window}
	for {
		ticker.Stop()
		select {
		case <-p.wake:
		case <-p.stop:
			return
		}
		ticker.Reset(placeLook)
		p.mu.Lock()
		p.gauge = gauge{}
		p.mu.Unlock()
		for p.look(clock.Mono(), w.read(p.idle, clock.Mono())) {
			select {
			case <-ticker.C:
			case <-p.stop:
				return
			}
		}
	}
}

// look takes the places of those who had no command for a while, and opens the line, or makes a place, if processors are idle, or opens it
// if places are not used as they should be. It returns whether somebody waits still.
func (p *places) look(now time.Duration, use processorUse) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rule.most != nil {
		p.resize(now, use)
	} else if use == useIdle || p.rule.watch && p.gauge.add(p.holders) {
		p.open(now)
		return false
	}
	if now-p.looked >= p.rule.quiet/2 { // two looks may follow each other closely, where a line ends and another one begins
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

// resize is what idle processors do instead of opening the line, where the rule has a most.
func (p *places) resize(now time.Duration, use processorUse) {
	switch use {
	case useIdle:
		p.more++
	case useBusy:
		p.more--
	default:
		return
	}
	p.more = max(0, min(p.more, p.most.Load()-p.max.Load()))
	p.resized = now
}

// shrink takes back a place for each window since the last resize, as far as they are free. Without it those who would stand in line, were
// it not for the places that the last line has made, would never do so again. now may be older than the last resize.
func (p *places) shrink(now time.Duration) {
	windows := max(0, (now-p.resized)/p.rule.window)
	used := int64(len(p.holders)) - p.max.Load()
	p.more = max(0, p.more-int64(windows), min(p.more, used))
	p.resized += windows * p.rule.window
}

// gauge measures for how much of the time the commands of those who hold places are at the server.
type gauge struct {
	looks, busy, held int
	settled           bool // the first measure of a line, in which the commands of all who stand in it now came between, is over
}

// add looks at the holders, and tells whether that is nearly all of the time.
func (g *gauge) add(holders []*conn) bool {
	for _, c := range holders {
		if phase := c.state.Load() & 0xff; phase == phaseBusy || phase == phaseWrite {
			g.busy++
		}
	}
	g.held += len(holders)
	if g.looks++; g.looks < gaugeLooks {
		return false
	}
	share := g.busy * 100 / max(g.held, 1)
	waiting := g.settled && share > holdersBusy
	*g = gauge{settled: true}
	return waiting
}

// entries returns how often somebody has stood in line.
func (p *places) entries() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waits
}

// idleWatch remembers the last reading of an idleClock.
type idleWatch struct {
	window       time.Duration
	when         time.Duration
	idled, total uint64
}

// processorUse is what a reading of an idleClock says of the time before.
type processorUse int

const (
	useUnknown processorUse = iota
	useBusy
	useIdle // for idleShare of the time, or it cannot be told
)

// read tells how the processors were used since the last reading, if that is long enough ago for another one.
// One that is very long ago, before there was a line, does not count: readings are made while somebody waits only.
func (w *idleWatch) read(idle idleClock, now time.Duration) processorUse {
	since := now - w.when
	if since < w.window {
		return useUnknown
	}
	idled, total, ok := idle()
	before := *w
	w.when, w.idled, w.total = now, idled, total
	switch {
	case !ok:
		return useIdle
	case since >= 2*w.window:
		return useUnknown
	case int64(idled-before.idled)*100 >= int64(total-before.total)*idleShare: // the kernel may take back some idle time
		return useIdle
	}
	return useBusy
}
