package server

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
)

// backgroundNice is the nice value of the threads that flush and compact: under contention each gets a tenth of what a thread
// of statements gets, besides all the time that those leave.
const backgroundNice = 10

// backgroundLinger is how long a processor stays that was added for a flush or compaction: the next one often follows at once,
// and each change stops the world for some ten microseconds.
const backgroundLinger = 20 * time.Millisecond

// background makes flushes and compactions take what statements leave of the processors, instead of an equal share: Go's
// scheduler has no priorities, so with two processors one compaction halves the rate of statements and lets each wait for its
// time slice of 10 ms. The operating system's scheduler has them. So each flush or compaction runs on a thread of its own with a
// low priority; and because such a thread holds a processor of the runtime while the system runs others in its place, the
// runtime gets one more for each (bench/results/2026-11-22-background.md).
//
// It is for a node that has the whole machine: where max-procs or a cgroup's quota bounds it, more processors would break the
// bound, and low priority without them gains nothing.
//
// A thread's priority can be lowered without privileges, but not raised again. The thread is therefore never given back
// (lowerPriority).
type background struct {
	procs   int           // what statements have
	running atomic.Int32  // flushes and compactions under way
	changed chan struct{} // told when running has changed
}

func newBackground(procs int) *background {
	return &background{procs: procs, changed: make(chan struct{}, 1)}
}

// Begin implements engine.Background. Urgent work keeps its priority, since commits would wait for it.
func (b *background) Begin(urgent bool) {
	if !urgent {
		lowerPriority(backgroundNice)
	}
	b.count(1)
}

// End implements engine.Background.
func (b *background) End() { b.count(-1) }

// count leaves the number of processors to loop: changing it waits for a garbage collection under way, and Pebble's mutex is held
// here.
func (b *background) count(n int32) {
	b.running.Add(n)
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// want is the number of processors for what is under way.
func (b *background) want() int { return b.procs + min(int(b.running.Load()), b.procs) }

// loop sets the number of processors until stop is closed.
func (b *background) loop(stop <-chan struct{}) {
	defer runtime.GOMAXPROCS(b.procs)
	timer := clock.NewTimer(0)
	defer timer.Stop()
	for set := b.procs; ; {
		select {
		case <-stop:
			return
		case <-b.changed:
			if b.want() < set {
				timer.Reset(backgroundLinger)
				continue
			}
		case <-timer.C:
		}
		if want := b.want(); want != set {
			runtime.GOMAXPROCS(want)
			set = want
		}
	}
}
