package exec

import (
	"slices"
	"sync"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

// Bounds of a wait for memory. A flush and a compaction of texts of 20 MB take about a second on a quiet machine, and several times as much on a busy one.
const (
	// memWaitMax bounds one wait.
	memWaitMax = 30 * time.Second
	// memLookEvery is how often one that waits looks whether there is room, if nothing tells it to; memLookPause is the least time between two looks, each of
	// which may collect garbage.
	memLookEvery = time.Second
	memLookPause = 20 * time.Millisecond
)

// memLine is the line of those that wait for memory which the storage engine holds for a while. The first looks whether there is room; the others wait until
// it has been served, refused, or interrupted. There are no more of them than goroutines of statements.
type memLine struct {
	mu    sync.Mutex // a leaf
	line  []*memWaiter
	given chan struct{} // room for one: others have given back a step
}

// memWaiter is one that waits. turn is closed when it is the first.
type memWaiter struct{ turn chan struct{} }

// join adds a waiter to the line.
func (l *memLine) join() *memWaiter {
	w := &memWaiter{turn: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.line = append(l.line, w); len(l.line) == 1 {
		close(w.turn)
	}
	return w
}

// leave removes a waiter, and gives the turn to the next if it was the first.
func (l *memLine) leave(w *memWaiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.Index(l.line, w)
	if l.line = slices.Delete(l.line, at, at+1); at == 0 && len(l.line) > 0 {
		close(l.line[0].turn)
	}
}

// gave wakes the first of the line.
func (l *memLine) gave() {
	select {
	case l.given <- struct{}{}:
	default: // one that nobody has received yet says the same
	}
}

// Ask takes n bytes, negative to give them back. Where the process has no room for them, but the storage engine is about to give some back, it waits until it
// has, for memWaitMax at most, and until intr is set. Those that wait are served in their order. holds says that the asker holds memory which it gives back once
// it is done: if there is room it goes ahead of them, while one that holds none queues up, so that they are not starved by newcomers. It fails with 8176, or with
// the error of the interrupt. Whoever calls it must hold nothing that a flush or a compaction waits for.
func (p *MemPool) Ask(n int64, intr *kvapi.Interrupt, holds bool) error {
	if n > 0 && !holds && p.waiting.Load() > 0 && p.looks(p.used.Load()+n, n) {
		return p.wait(intr, func() bool { return p.reach(n) == reached }, errNodeMemory)
	}
	switch p.reach(n) {
	case reached:
		return nil
	case overLimit:
		return errNodeMemory
	}
	// Work that was under way may have ended meanwhile, so that there is nothing to wait for any more, and room.
	if p.settling() == nil {
		if p.reach(n) == reached {
			return nil
		}
		if p.settling() == nil {
			return errNodeMemory
		}
	}
	return p.wait(intr, func() bool { return p.reach(n) == reached }, errNodeMemory)
}

// Settle is for a commit that will make the storage engine take n bytes for a while, which nobody counts: it waits as Ask does while the process has no room for
// them below its limit and the storage engine is about to give some back. It takes nothing, and fails only with the error of the interrupt: a commit for which
// nothing can be waited for goes on.
func (p *MemPool) Settle(n int64, intr *kvapi.Interrupt) error {
	if p.process == nil || p.process.InUse()+n <= p.process.Limit || p.settling() == nil {
		return nil
	}
	return p.wait(intr, func() bool {
		p.collect()
		return p.process.InUse()+n <= p.process.Limit
	}, nil)
}

// settling is Process.Settling.
func (p *MemPool) settling() <-chan struct{} {
	if p.process.Settling == nil {
		return nil
	}
	return p.process.Settling()
}

// wait waits in line until look, which is asked whenever there may be more memory, returns true. It returns refused when its patience is over, or nothing is left
// to wait for.
func (p *MemPool) wait(intr *kvapi.Interrupt, look func() bool, refused error) error {
	p.waiting.Add(1)
	defer p.waiting.Add(-1)
	w := p.line.join()
	defer p.line.leave(w)
	patience := clock.NewTimer(p.patience)
	defer patience.Stop()
	select {
	case <-w.turn:
	case <-intr.Done():
		return interruptError(intr.Reason())
	case <-patience.C:
		return refused
	}
	again := clock.NewTicker(memLookEvery)
	defer again.Stop()
	for counted := false; ; counted = true {
		settling := p.settling() // before the look, so that what ends meanwhile is not missed
		if look() {
			return nil
		}
		if settling == nil {
			return refused
		}
		if !counted {
			p.waits.Inc()
		}
		looked := clock.Mono()
		select {
		case <-settling:
		case <-p.line.given:
		case <-again.C:
		case <-intr.Done():
			return interruptError(intr.Reason())
		case <-patience.C:
			return refused
		}
		clock.Sleep(memLookPause - clock.Since(looked))
	}
}
