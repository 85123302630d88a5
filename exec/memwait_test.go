package exec

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pandodb/pando/kvapi"
)

// storing is a process whose storage engine holds memory for a while.
type storing struct {
	mu    sync.Mutex
	inUse int64
	held  int64         // of it by work that is under way
	ended chan struct{} // nil if none is
	made  func() int64  // what statements have made besides, if it is not nil
}

const storingCeiling = 100 << 20

// newStoring returns a pool over a process that holds n bytes, of which work of the storage engine gives back held.
func newStoring(n, held int64) (*MemPool, *storing) {
	s := &storing{inUse: n, held: held, ended: make(chan struct{})}
	pool := NewMemPool(1 << 40)
	pool.Watch(&Process{Ceiling: storingCeiling, Limit: storingCeiling, Collect: func() {}, InUse: s.bytes, Settling: s.settling})
	return pool, s
}

func (s *storing) bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made != nil {
		return s.inUse + s.made()
	}
	return s.inUse
}

func (s *storing) settling() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		return nil
	}
	return s.ended
}

// end ends the work, of which more follows.
func (s *storing) end(more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inUse -= s.held
	s.held = 0
	close(s.ended)
	if s.ended = nil; more {
		s.ended = make(chan struct{})
	}
}

// add changes what the process has in use.
func (s *storing) add(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inUse += n
}

// asked is an answer of Ask.
type asked chan error

// ask asks in a goroutine.
func ask(p *MemPool, n int64, intr *kvapi.Interrupt, holds bool) asked {
	c := make(asked, 1)
	go func() { c <- p.Ask(n, intr, holds) }()
	synctest.Wait()
	return c
}

// waits reports whether there is no answer yet.
func (c asked) waits() bool {
	synctest.Wait()
	return len(c) == 0
}

// TestAskWaits: memory that the storage engine is about to give back is waited for, and no other.
func TestAskWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, s := newStoring(90<<20, 60<<20)
		if msg := waitsAndIsServed(pool, s); msg != "" {
			t.Error(msg)
		}
		if pool.Used() != 20<<20 || pool.Waits() != 1 || pool.waiting.Load() != 0 {
			t.Errorf("%d bytes are counted, %d waits, %d are in line", pool.Used(), pool.Waits(), pool.waiting.Load())
		}
	})
}

// waitsAndIsServed says what is wrong with a pool that has no room before s ends its work.
func waitsAndIsServed(pool *MemPool, s *storing) string {
	c := ask(pool, 20<<20, nil, true)
	if !c.waits() {
		return "it does not wait for work that holds memory"
	}
	s.end(false)
	if err := <-c; err != nil {
		return "it is refused after the work: " + err.Error()
	}
	return ""
}

// TestAskWaitsCanary: a pool that is not told of the storage engine's work is noticed.
func TestAskWaitsCanary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, s := newStoring(90<<20, 60<<20)
		pool.process.Settling = nil
		if waitsAndIsServed(pool, s) == "" {
			t.Error("a pool that refuses at once passes")
		}
	})
}

// TestAskMeetsTheEnd: work that ends between the look at the process and the question whether there is any has made room, too.
func TestAskMeetsTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, s := newStoring(90<<20, 60<<20)
		pool.process.Settling = func() <-chan struct{} {
			if s.settling() != nil {
				s.end(false)
			}
			return nil
		}
		if err := <-ask(pool, 20<<20, nil, true); err != nil {
			t.Error(err)
		}
	})
}

// TestAskIsRefused: at once where nothing is under way or statements hold too much, when the work has ended without enough, and when patience is over.
func TestAskIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, s := newStoring(90<<20, 5<<20)
		began := time.Now()
		c := ask(pool, 20<<20, nil, true)
		if !c.waits() {
			t.Error("it does not wait")
		}
		s.end(true)
		if !c.waits() {
			t.Error("it does not wait for what follows")
		}
		s.end(false)
		if err := <-c; number(err) != 8176 || time.Since(began) >= memWaitMax {
			t.Errorf("after the work: %v, after %v", err, time.Since(began))
		}
		began = time.Now()
		if err := <-ask(pool, 20<<20, nil, true); number(err) != 8176 || time.Since(began) != 0 {
			t.Errorf("without work: %v, after %v", err, time.Since(began))
		}
		s.ended = make(chan struct{}) // which never ends
		if err := <-ask(pool, 20<<20, nil, true); number(err) != 8176 || time.Since(began) != memWaitMax {
			t.Errorf("beside work without an end: %v, after %v", err, time.Since(began))
		}
		pool.limit, began = 10<<20, time.Now()
		if err := <-ask(pool, 11<<20, nil, true); number(err) != 8176 || time.Since(began) != 0 {
			t.Errorf("of more than statements may hold: %v, after %v", err, time.Since(began))
		}
		if pool.Used() != 0 || pool.waiting.Load() != 0 {
			t.Errorf("%d bytes are counted, %d are in line", pool.Used(), pool.waiting.Load())
		}
	})
}

// TestAskIsInterrupted: KILL and max_execution_time end a wait, in front of the line and within, and those behind go on.
func TestAskIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, s := newStoring(90<<20, 60<<20)
		var intr [4]kvapi.Interrupt
		var answers []asked
		for i := range intr {
			answers = append(answers, ask(pool, 20<<20, &intr[i], true))
		}
		intr[1].Set(kvapi.ReasonTimeout)
		if err := <-answers[1]; number(err) != 3024 {
			t.Errorf("in the line: %v", err)
		}
		intr[0].Set(kvapi.ReasonKillQuery)
		if err := <-answers[0]; number(err) != 1317 {
			t.Errorf("in front: %v", err)
		}
		intr[3].Set(kvapi.ReasonClientGone)
		if err := <-answers[3]; number(err) != 1317 {
			t.Errorf("at the end: %v", err)
		}
		if !answers[2].waits() {
			t.Error("one that nobody interrupts does not wait")
		}
		s.end(false)
		if err := <-answers[2]; err != nil {
			t.Errorf("behind interrupted ones: %v", err)
		}
		if pool.Used() != 20<<20 || len(pool.line.line) != 0 {
			t.Errorf("%d bytes are counted, %d are in line", pool.Used(), len(pool.line.line))
		}
	})
}

// TestAskIsFair: those that wait are served in their order, and one that comes without memory stands behind them; one that has some goes ahead where there is
// room, because it gives that back.
func TestAskIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, s := newStoring(80<<20, 30<<20)
		s.made = pool.Used
		large := ask(pool, 20<<20, nil, true)
		second := ask(pool, 16<<20, nil, true)
		newcomer := ask(pool, 2<<20, nil, false)
		if !large.waits() || !second.waits() || !newcomer.waits() {
			t.Error("they don't wait")
		}
		if holder := ask(pool, 2<<20, nil, true); holder.waits() || <-holder != nil {
			t.Error("one that holds memory does not go ahead")
		}
		s.end(true)
		if err := <-large; err != nil {
			t.Error(err)
		}
		if !second.waits() || !newcomer.waits() {
			t.Error("more than there is room for are served")
		}
		s.add(-20 << 20)
		s.end(false)
		for _, c := range []asked{second, newcomer} {
			if err := <-c; err != nil {
				t.Error(err)
			}
		}
	})
}

// TestAskSeesOthersGive: what statements give back is seen at once, not only what the storage engine does.
func TestAskSeesOthersGive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, s := newStoring(10<<20, 0)
		if err := pool.Ask(60<<20, nil, false); err != nil {
			t.Fatal(err)
		}
		s.add(60 << 20)
		began := time.Now()
		c := ask(pool, 40<<20, nil, true)
		if !c.waits() {
			t.Error("it does not wait")
		}
		s.add(-60 << 20)
		pool.give(60 << 20)
		if err := <-c; err != nil || time.Since(began) > memLookPause {
			t.Errorf("%v, after %v", err, time.Since(began))
		}
	})
}

// TestSettle: a commit waits for room that it does not take, goes on where nothing is left to wait for, and is interrupted.
func TestSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, s := newStoring(90<<20, 60<<20)
		settle := func(intr *kvapi.Interrupt) asked {
			c := make(asked, 1)
			go func() { c <- pool.Settle(50<<20, intr) }()
			synctest.Wait()
			return c
		}
		var intr kvapi.Interrupt
		killed, c := settle(&intr), settle(nil)
		if !killed.waits() || !c.waits() {
			t.Error("they don't wait")
		}
		intr.Set(kvapi.ReasonKillQuery)
		if err := <-killed; number(err) != 1317 {
			t.Errorf("interrupted: %v", err)
		}
		s.end(false)
		if err := <-c; err != nil {
			t.Errorf("with room: %v", err)
		}
		s.add(60 << 20)
		if err := <-settle(nil); err != nil {
			t.Errorf("without room, and nothing to wait for: %v", err)
		}
		s.ended = make(chan struct{})
		began := time.Now()
		if err := <-settle(nil); err != nil || time.Since(began) != memWaitMax {
			t.Errorf("beside work without an end: %v, after %v", err, time.Since(began))
		}
		if pool.Used() != 0 {
			t.Errorf("%d bytes are counted", pool.Used())
		}
	})
}
