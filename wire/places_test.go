package wire

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/sqlapi"
)

// busyClock is an idleClock of processors that are never idle.
func busyClock() (idle, total uint64, ok bool) { return 0, uint64(clock.Mono()), true }

// queue is a places without a keeper: the test looks in its stead.
type queue struct {
	places
	t     *testing.T
	now   time.Duration
	wg    sync.WaitGroup
	intrs map[*conn]*kvapi.Interrupt
	mine  sync.Mutex // guards in
	in    []*conn    // who was let in, in order
}

func newQueue(t *testing.T, places int64) *queue {
	q := &queue{t: t, intrs: map[*conn]*kvapi.Interrupt{}}
	q.rule, q.idle, q.wake = forTxns, busyClock, make(chan struct{}, 1)
	q.max.Store(places)
	t.Cleanup(func() {
		q.close()
		q.wg.Wait()
	})
	return q
}

// enter lets somebody new enter, and returns when he has done so or stands in line.
func (q *queue) enter() *conn {
	q.t.Helper()
	c := &conn{next: make(chan struct{}, 1)}
	intr := &kvapi.Interrupt{}
	q.intrs[c] = intr
	now := q.now
	q.wg.Go(func() {
		q.places.enter(c, now, intr)
		q.mine.Lock()
		defer q.mine.Unlock()
		q.in = append(q.in, c)
	})
	eventually(q.t, "somebody enters", func() bool { return c.standing.Load() || slices.Contains(q.let(), c) })
	return c
}

func (q *queue) let() []*conn {
	q.mine.Lock()
	defer q.mine.Unlock()
	return append([]*conn(nil), q.in...)
}

func (q *queue) standing() (line []*conn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for c := q.first; c != nil; c = c.behind {
		line = append(line, c)
	}
	if (q.last == nil) != (len(line) == 0) || len(line) > 0 && line[len(line)-1] != q.last {
		q.t.Error("the line's end is not its last")
	}
	return line
}

// want checks who has a place, who waits, and how many were let in so far; who was let in is waited for.
func (q *queue) want(what string, holders, line []*conn, let int) {
	q.t.Helper()
	eventually(q.t, fmt.Sprintf("%s: %d let in", what, let), func() bool { return len(q.let()) == let })
	if got := q.standing(); fmt.Sprint(got) != fmt.Sprint(line) {
		q.t.Errorf("%s: %d stand in line, want %d, or in another order", what, len(got), len(line))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.holders) != len(holders) {
		q.t.Errorf("%s: %d places are taken, want %d", what, len(q.holders), len(holders))
	}
	for _, c := range holders {
		if c.place.Load() == 0 || q.holders[c.place.Load()-1] != c {
			q.t.Errorf("%s: somebody has no place", what)
		}
	}
}

// TestPlaces: a place that is given back goes to the first in line.
func TestPlaces(t *testing.T) {
	q := newQueue(t, 2)
	a, b := q.enter(), q.enter()
	q.want("two", []*conn{a, b}, nil, 2)
	c, d, e := q.enter(), q.enter(), q.enter()
	q.want("five", []*conn{a, b}, []*conn{c, d, e}, 2)
	q.leave(a)
	q.want("one left", []*conn{b, c}, []*conn{d, e}, 3)
	q.leave(a)
	q.want("he left again", []*conn{b, c}, []*conn{d, e}, 3)
	q.max.Store(1)
	q.leave(c)
	q.want("there are fewer places", []*conn{b}, []*conn{d, e}, 3)
	q.max.Store(4)
	q.leave(b)
	q.want("there are more", []*conn{d, e}, nil, 5)
	if got := q.entries(); got != 3 {
		t.Errorf("%d stood in line, want 3", got)
	}
}

// TestPlacesLost: a transaction without commands loses its place to the first in line, one with commands keeps it.
func TestPlacesLost(t *testing.T) {
	q := newQueue(t, 2)
	a, b := q.enter(), q.enter()
	c, d := q.enter(), q.enter()
	look := func() bool {
		q.now += placeLook
		return q.look(q.now, useUnknown)
	}
	if !look() {
		t.Error("nobody waits")
	}
	q.want("all had commands", []*conn{a, b}, []*conn{c, d}, 2)
	b.worked.Store(true)
	q.look(q.now, useUnknown)
	q.want("a look right behind another one", []*conn{a, b}, []*conn{c, d}, 2)
	if !look() {
		t.Error("one place was free, and nobody waits")
	}
	q.want("one had a command", []*conn{b, c}, []*conn{d}, 3)
	q.leave(a)
	q.want("who had lost his place leaves", []*conn{b, c}, []*conn{d}, 3)
	if look() {
		t.Error("somebody waits still")
	}
	q.want("one had no more commands", []*conn{c, d}, nil, 4)
}

// TestPlacesIdle: where processors are idle all go on without places, and for a while nobody waits.
func TestPlacesIdle(t *testing.T) {
	q := newQueue(t, 1)
	a := q.enter()
	q.enter()
	q.enter()
	if q.look(q.now, useIdle) {
		t.Error("somebody waits still")
	}
	q.want("released", []*conn{a}, nil, 3)
	q.now += forTxns.open - 1
	if q.enter(); a.place.Load() == 0 {
		t.Error("a place is lost")
	}
	q.want("the line is open", []*conn{a}, nil, 4)
	q.now++
	late := q.enter()
	q.want("and is one again", []*conn{a}, []*conn{late}, 4)
	q.places.idle = nil
	q.enter()
	q.want("nobody waits where it is not known who is idle", []*conn{a}, []*conn{late}, 5)
}

// TestPlacesOpen: a line that is of no use again and again is open for ever longer, up to a bound, until it has been of use for some time.
func TestPlacesOpen(t *testing.T) {
	q := newQueue(t, 1)
	q.rule = placesRule{quiet: time.Hour, open: time.Second, openMost: 7 * time.Second}
	q.now = time.Hour
	q.enter()
	for i, test := range []struct{ useful, want time.Duration }{
		{0, time.Second}, {0, 2 * time.Second}, {8*time.Second - 1, 4 * time.Second}, {0, 7 * time.Second}, {0, 7 * time.Second},
		{28 * time.Second, time.Second}, {4 * time.Second, time.Second}, {4*time.Second - 1, 2 * time.Second},
	} {
		q.now += test.useful
		waits := q.entries()
		q.enter()
		q.look(q.now, useIdle)
		if q.openUntil != q.now+test.want || q.entries() != waits+1 {
			t.Errorf("%d: open for %v, want %v; %d stood in line", i, q.openUntil-q.now, test.want, q.entries()-waits)
		}
		q.now = q.openUntil
	}
}

// TestPlacesInterrupted: an interrupt takes its connection out of the line, wherever it stands.
func TestPlacesInterrupted(t *testing.T) {
	q := newQueue(t, 1)
	a := q.enter()
	b, c, d, e := q.enter(), q.enter(), q.enter(), q.enter()
	q.intrs[c].Set(kvapi.ReasonKillQuery)
	q.want("from the middle", []*conn{a}, []*conn{b, d, e}, 2)
	q.intrs[e].Set(kvapi.ReasonKillConn)
	q.want("from the end", []*conn{a}, []*conn{b, d}, 3)
	q.intrs[b].Set(kvapi.ReasonClientGone)
	q.want("from the front", []*conn{a}, []*conn{d}, 4)
	q.leave(a)
	q.want("the rest goes on", []*conn{d}, nil, 5)
	// Who has been let in when he looks after the line takes the message with him.
	q.leave(d)
	d.next <- struct{}{}
	q.abandon(d)
	if len(d.next) != 0 {
		t.Error("the next wait would be over at once")
	}
}

// TestPlacesRace: with its keeper, among interrupts, nobody is forgotten and no place is given twice.
func TestPlacesRace(t *testing.T) {
	p := places{rule: forTxns, idle: busyClock}
	p.rule.watch = true
	const most = 3
	p.max.Store(most)
	p.start()
	var faults atomic.Int64
	var wg sync.WaitGroup
	for i := range 24 {
		c, intr := &conn{next: make(chan struct{}, 1)}, &kvapi.Interrupt{}
		wg.Go(func() {
			for j := range 300 {
				if (i+j)%7 == 0 {
					go intr.Set(kvapi.ReasonKillQuery)
				}
				p.enter(c, clock.Mono(), intr)
				p.mu.Lock()
				if c.place.Load() != 0 && p.holders[c.place.Load()-1] != c || len(p.holders) > most {
					faults.Add(1)
				}
				p.mu.Unlock()
				runtime.Gosched()
				p.leave(c)
				intr.Reset()
			}
		})
	}
	wg.Wait()
	p.close()
	if p.entries() == 0 {
		t.Error("nobody stood in line")
	}
	if faults.Load() != 0 || p.first != nil || p.last != nil || len(p.holders) != 0 {
		t.Errorf("%d faults; %d places are taken at the end", faults.Load(), len(p.holders))
	}
}

// TestIdleWatch: processors are idle if they were so for idleShare of the time between two readings of one line.
func TestIdleWatch(t *testing.T) {
	var idle, total uint64
	known := true
	read := func() (uint64, uint64, bool) { return idle, total, known }
	w, window := idleWatch{window: time.Second}, time.Second
	now := time.Hour
	after := func(pause time.Duration, moreIdle, more uint64, want processorUse) {
		t.Helper()
		now, idle, total = now+pause, idle+moreIdle, total+more
		if got := w.read(read, now); got != want {
			t.Errorf("%d of %d idle after %v: %v", moreIdle, more, pause, got)
		}
	}
	after(0, 900, 1000, useUnknown) // since the machine was started
	after(window, idleShare-1, 100, useBusy)
	after(window, idleShare, 100, useIdle)
	after(window/2, 100, 100, useUnknown) // too early
	after(window/2, 0, 100, useIdle)      // with what was idle before
	after(2*window, 100, 100, useUnknown) // nobody stood in line meanwhile
	after(2*window-1, idleShare, 100, useIdle)
	after(window, 0, 100, useBusy)
	known = false
	after(window, 0, 100, useIdle)
}

// placesServer is a server of which only the places are of use.
type placesServer struct{ *Server }

func newPlacesServer() placesServer {
	s := &Server{}
	s.places.rule, s.writers.rule, s.loads.rule = forTxns, forWriters, forLoads
	for _, p := range []*places{&s.places, &s.writers, &s.loads} {
		p.idle, p.wake = busyClock, make(chan struct{}, 1)
		p.max.Store(8)
	}
	return placesServer{s}
}

// local returns a connection of a client on the same machine, one of many.
func (s placesServer) local() *conn {
	return &conn{srv: s.Server, host: localhost, began: clock.Mono(), next: make(chan struct{}, 1), intr: &kvapi.Interrupt{}}
}

// TestEnterWrite: writers keep their place from write to write; who has lost it goes behind all that stand in line, and a transaction gives it up.
func TestEnterWrite(t *testing.T) {
	s := newPlacesServer()
	s.writers.max.Store(1)
	c, other := s.local(), s.local()
	write := func(c *conn) { (*control)(c).EnterWrite(loadRows - 1) }
	for range 3 * writesEach { // the loop counts commands
		write(c)
	}
	if c.entered != &s.writers || c.place.Load() == 0 || s.writers.entries() != 0 {
		t.Fatalf("place %d, %d stood in line", c.place.Load(), s.writers.entries())
	}
	(*control)(c).LeaveTransaction() // there is none
	if c.place.Load() == 0 {
		t.Fatal("the place is lost")
	}
	s.writers.mu.Lock()
	s.writers.take(c)
	s.writers.mu.Unlock()
	write(other)
	back := make(chan struct{})
	go func() {
		write(c)
		close(back)
	}()
	eventually(t, "who has lost the place stands in line", c.standing.Load)
	(*control)(other).EnterTransaction()
	<-back
	if other.entered != &s.places || len(s.writers.holders) != 1 || s.writers.holders[0] != c {
		t.Errorf("%d have places among writers", len(s.writers.holders))
	}
	c.leave()
	few, far, fewer := s.local(), s.local(), s.local()
	few.began, far.host = 0, ""
	write(few)
	write(far)
	s.writers.max.Store(unbounded)
	write(fewer)
	if len(s.writers.holders) != 0 || few.entered != nil || far.entered != nil || fewer.entered != nil {
		t.Error("one of few connections, or one from elsewhere, has a place")
	}
}

// TestWriterCommands: a writer's place is for writesEach commands, whatever they are.
func TestWriterCommands(t *testing.T) {
	ts := startServer(t, nil)
	ts.writers.idle, ts.writers.rule.room = busyClock, func(load) int { return 1 }
	ts.resizePlaces(load{})
	var over atomic.Bool
	var wg sync.WaitGroup
	defer wg.Wait()
	defer over.Store(true)
	login := func() (ok func(sql string) bool) {
		r := ts.dial(t)
		r.login(capProtocol41|capPluginAuth, "root")
		s := ts.backend.lastSession()
		s.onQuery = func(sql string) {
			if sql == "write" {
				s.info.Control.EnterWrite(0)
			}
		}
		return func(sql string) bool {
			r.seq = 0
			r.write(append([]byte{ComQuery}, sql...))
			p, err := r.tryRead()
			if err != nil || p[0] != headerOK {
				t.Errorf("%s: %x, %v", sql, p, err)
				return false
			}
			return true
		}
	}
	ask := login()
	for range crowdMin {
		ok := login()
		wg.Go(func() {
			for !over.Load() && ok("ok") {
				time.Sleep(time.Millisecond)
			}
		})
	}
	eventually(t, "connections are many", ts.crowded.Load)
	held := func() int {
		ts.writers.mu.Lock()
		defer ts.writers.mu.Unlock()
		return len(ts.writers.holders)
	}
	ask("ok") // it was waited for when connections were few
	ask("write")
	for i := range writesEach - 1 {
		if held() != 1 {
			t.Fatalf("no place after %d commands", i+1)
		}
		ask([]string{"ok", "write"}[i%2])
	}
	if held() != 1 {
		t.Errorf("no place after %d commands", writesEach)
	}
	if ask("ok"); held() != 0 {
		t.Errorf("the place is held by a command that is not one of the %d", writesEach)
	}
}

// TestThinking: a client thinks that has been answered of late, has not sent anything since, and stands in no line.
func TestThinking(t *testing.T) {
	const now = 100
	near, far := socketPair(t)
	c := &conn{}
	c.sock.Conn, c.sock.base, c.sock.poll = near.Conn, near.base, near.poll
	want := func(what string, want int) {
		t.Helper()
		if got := thinking([]*conn{c}, now); got != want {
			t.Errorf("%s: %d think, want %d", what, got, want)
		}
	}
	in := func(phase, when uint64) { c.state.Store(when<<16 | phase) }
	in(phaseIdle, now)
	want("idle", 1)
	in(phaseBusy, now)
	want("busy", 0)
	in(phaseIdle, now-activeTicks-1)
	want("not active", 0)
	in(phaseIdle, now-activeTicks)
	want("active", 1)
	c.standing.Store(true)
	want("in line", 0)
	c.standing.Store(false)
	if _, err := far.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command is there", c.sock.pending)
	want("with a command", 0)
	// Of very many connections a part is asked.
	many := make([]*conn, 2*thinkers+thinkers/2)
	for i := range many {
		many[i] = &conn{}
		many[i].sock.base = near.base // which is not asked without its poll
		many[i].state.Store(now<<16 | phaseIdle)
	}
	if got := thinking(many, now); got < len(many)-3 || got > len(many)+3 {
		t.Errorf("%d of %d think", got, len(many))
	}
}

// TestGauge: where the commands of all holders are at the server nearly all of the time the line is opened, but not by what was measured first.
func TestGauge(t *testing.T) {
	for _, test := range []struct {
		busy   int // of 100 holders
		opened bool
	}{{0, false}, {60, false}, {holdersBusy, false}, {holdersBusy + 1, true}, {100, true}} {
		q := newQueue(t, 100)
		q.rule = forWriters
		q.rule.quiet = time.Hour
		for i := range 100 {
			c := &conn{next: make(chan struct{}, 1)}
			phase := phaseIdle
			if i < test.busy {
				phase = []uint64{phaseBusy, phaseWrite}[i%2]
			}
			c.state.Store(7<<16 | uint64(ComQuery)<<8 | phase)
			q.places.enter(c, q.now, nil)
		}
		waiting := q.enter()
		look := func(times int) (line bool) {
			for range times {
				q.now += placeLook
				line = q.look(q.now, useUnknown)
			}
			return line
		}
		if !look(2*gaugeLooks - 1) {
			t.Errorf("%d: opened too soon", test.busy)
		}
		if opened := !look(1); opened != test.opened {
			t.Errorf("%d: opened %v", test.busy, opened)
		}
		if !test.opened {
			continue
		}
		eventually(t, "who waited goes on", func() bool { return !waiting.standing.Load() })
		q.now += forWriters.open - 1
		q.enter()
		if got := len(q.standing()); got != 0 {
			t.Errorf("%d: %d stand in line that is open", test.busy, got)
		}
	}
}

// TestRoom: how many places there are.
func TestRoom(t *testing.T) {
	for _, test := range []struct {
		l                          load
		txns, writers, loads, most int
	}{
		{load{active: 0, processors: 2}, 16, unbounded, 4, 16},
		{load{active: 64, processors: 2}, 16, unbounded, 4, 16},
		{load{active: 64, processors: 4}, 32, unbounded, 8, 32},
		{load{active: 511, processors: 2}, 127, unbounded, 4, 16},
		{load{active: 512, processors: 2}, 128, 64, 4, 16},
		{load{active: 1500, processors: 4}, 375, 128, 8, 32},
		{load{active: 1500, processors: 32}, 375, 1024, 32, 32},
		{load{active: 1500, processors: 2, thinking: 32}, 375, 64, 4, 16},
		{load{active: 1500, processors: 2, thinking: 33}, 375, unbounded, 4, 16},
		{load{active: 1500, processors: 2, thinking: 48, bounded: true}, 375, 64, 4, 16},
		{load{active: 1500, processors: 2, thinking: 49, bounded: true}, 375, unbounded, 4, 16},
		{load{active: 511, processors: 2, inWork: true}, 127, unbounded, 4, 16},
		{load{active: 512, processors: 2, inWork: true}, 24, 64, 4, 16},
		{load{active: 1500, processors: 32, inWork: true}, 375, 1024, 32, 32},
	} {
		if txns, writers := forTxns.room(test.l), forWriters.room(test.l); txns != test.txns || writers != test.writers {
			t.Errorf("%+v: %d for transactions, %d for writers", test.l, txns, writers)
		}
		s := newPlacesServer()
		s.resizePlaces(test.l)
		if loads, most := s.loads.max.Load(), s.loads.most.Load(); loads != int64(test.loads) || most != int64(test.most) {
			t.Errorf("%+v: %d to %d for loads", test.l, loads, most)
		}
	}
}

// TestReaperBoundsWriters: the reaper finds out whether writers need places.
func TestReaperBoundsWriters(t *testing.T) {
	const now = 100
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	near, _ := socketPair(t)
	s := newPlacesServer()
	places := writersEach * processors()
	var conns []*conn
	look := func(active, thinking int, bounded bool) {
		t.Helper()
		conns = conns[:0]
		for i := range active {
			c := &conn{srv: s.Server}
			c.sock.base = near.base // which is not asked without its poll
			c.state.Store(now<<16 | phaseIdle)
			c.standing.Store(i >= thinking)
			conns = append(conns, c)
		}
		s.inspect(conns, now)
		want := int64(unbounded)
		if bounded {
			want = int64(places)
		}
		if got := s.writers.max.Load(); got != want {
			t.Errorf("%d active, %d think: %d places, want %d", active, thinking, got, want)
		}
	}
	look(writersKeep-1, 0, false)
	look(writersMin, 0, false) // the mean of two looks, of which the first did not ask
	look(writersMin, 0, true)
	look(writersMin, places, true) // half of them, by the mean
	look(writersMin, places, false)
	look(writersMin, places/2, false)
	look(writersMin, places/2, true)
	look(writersKeep, places/2, true)
	look(writersKeep-1, 0, false)
	look(writersMin, 0, false)
}

// TestReaperSeesWork: the reaper finds out whether tables are in work, and makes fewer places meanwhile.
func TestReaperSeesWork(t *testing.T) {
	const now = 100
	s := newPlacesServer()
	var work bool
	s.opt.TablesInWork = func() bool { return work }
	var conns []*conn
	for range max(writersMin, placeConns*workEach*processors()*2) {
		c := &conn{srv: s.Server}
		c.state.Store(now<<16 | phaseBusy)
		conns = append(conns, c)
	}
	for _, work = range []bool{false, true, false} {
		want := len(conns) / placeConns
		if work {
			want = workEach * processors()
		}
		if s.inspect(conns, now); s.places.max.Load() != int64(want) {
			t.Errorf("tables in work: %v: %d places, want %d", work, s.places.max.Load(), want)
		}
	}
}

// TestPlacesUnbounded: when nobody needs a place any more all go on, and have none.
func TestPlacesUnbounded(t *testing.T) {
	q := newQueue(t, 1)
	a := q.enter()
	q.enter()
	q.enter()
	q.max.Store(unbounded)
	q.look(q.now, useUnknown)
	q.want("unbounded", []*conn{a}, nil, 3)
	q.enter()
	q.want("nobody needs a place", []*conn{a}, nil, 4)
	q.max.Store(1)
	late := q.enter()
	q.want("there are places again", []*conn{a}, []*conn{late}, 4)
}

// TestEnterTransaction: only clients on the same machine enter, where connections are many, and a transaction once.
func TestEnterTransaction(t *testing.T) {
	s := newPlacesServer()
	c := s.local()
	held := func() int { return len(s.places.holders) }
	enter := func(want int) {
		t.Helper()
		(*control)(c).EnterTransaction()
		if held() != want || (c.entered != nil) != (want == 1) {
			t.Errorf("%d places are taken, want %d; entered is %v", held(), want, c.entered != nil)
		}
	}
	c.host = ""
	c.began = 1
	enter(0)
	c.host, c.began = localhost, 0
	enter(0)
	c.began = clock.Mono() - time.Hour
	began := c.began
	enter(1)
	enter(1)
	if c.began < began || c.began > began+time.Minute {
		t.Error("the time of the command counts from somewhere else")
	}
	(*control)(c).LeaveTransaction()
	(*control)(c).LeaveTransaction()
	if held() != 0 || c.entered != nil {
		t.Errorf("%d places are taken at the end", held())
	}
	// What it waits in line is not the server's time.
	s.places.max.Store(0)
	c.host, c.began = localhost, clock.Mono()
	waited := make(chan time.Duration)
	go func() {
		eventually(t, "it stands in line", c.standing.Load)
		began := clock.Mono()
		time.Sleep(time.Millisecond)
		took := clock.Mono() - began
		s.places.mu.Lock()
		s.places.release()
		s.places.mu.Unlock()
		waited <- took
	}()
	began = c.began
	(*control)(c).EnterTransaction()
	if took := <-waited; c.began < began+took || c.standing.Load() {
		t.Errorf("%v in line, but the command began only %v later", took, c.began-began)
	}
}

// TestTransactionsInLine: transactions and single writes of many connections stand in line and all come to their end, though some are
// killed and some clients leave in the middle of one.
func TestTransactionsInLine(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // which sets how many places there are
	ts := startServer(t, nil)
	ts.places.idle, ts.writers.idle = busyClock, busyClock
	ts.writers.rule.room = func(load) int { return 4 }
	ts.resizePlaces(load{})
	var over atomic.Bool
	var wg sync.WaitGroup
	for i := range crowdMin + 8 {
		r := ts.dial(t)
		r.login(capProtocol41|capPluginAuth, "root")
		s := ts.backend.lastSession()
		s.onQuery = func(sql string) {
			switch sql {
			case "begin":
				s.info.Control.EnterTransaction()
				s.trans = sqlapi.StatusInTrans
			case "commit":
				s.info.Control.LeaveTransaction()
				s.trans = 0
			case "write":
				s.info.Control.EnterWrite(0)
			}
		}
		wg.Go(func() {
			commands := []string{"begin", "ok", "ok", "commit", "write"}
			if i%2 == 1 {
				commands = []string{"write", "ok"}
			}
			for !over.Load() {
				for _, sql := range commands {
					r.seq = 0
					r.write(append([]byte{ComQuery}, sql...))
					if p, err := r.tryRead(); err != nil || p[0] != headerOK {
						t.Errorf("%s: %x, %v", sql, p, err)
						return
					}
					if i < 8 && sql == commands[0] && ts.Counters().PlaceWaits > 0 && ts.Counters().WriterWaits > 0 {
						r.conn.Close()
						return
					}
				}
			}
			r.conn.Close()
		})
	}
	eventually(t, "transactions stand in line", func() bool {
		for id := uint32(10); id < 20; id++ {
			ts.Kill(id, true) // mostly while it stands there
		}
		return ts.places.entries() > 200 && ts.writers.entries() > 20
	})
	over.Store(true)
	wg.Wait()
	eventually(t, "nobody has a place or stands in line", func() bool {
		ts.places.mu.Lock()
		defer ts.places.mu.Unlock()
		ts.writers.mu.Lock()
		defer ts.writers.mu.Unlock()
		return ts.places.first == nil && ts.writers.first == nil && len(ts.places.holders)+len(ts.writers.holders) == 0
	})
}
