package wire

import "sync/atomic"

// spreadWindow is how many commands in a row, of those that had to be waited for, make it likely that the server's threads share a
// processor.
const spreadWindow = 12

// spread keeps the server's threads on both processors of a machine that has two.
//
// Linux wakes a thread on the processor that wakes it, or where it ran last, unless it looks for an idle one; and it does not look
// where the processors that share a cache are more than about 60 % busy (select_idle_cpu and SIS_UTIL in kernel/sched/fair.c). Of two
// processors one can then stay idle for hundreds of milliseconds while all of the server's threads stand in line for the other,
// as they do under synced commits, which put threads to sleep and wake them all the time (bench/results/2026-11-22-two-processors.md).
//
// So connections note the processor and the thread that they are served by, each time the client had to be waited for. When
// spreadWindow of them in a row were on one processor, by more than one thread, the thread at hand goes to the other one. It may run
// on both before and after: this is a push, after which the kernel places the thread as ever.
//
// With more processors it takes more to tell that one of them lacks work, and Linux looks for idle ones for longer; there spread is off.
type spread struct {
	_     [cacheLine]byte // samples write, and every command reads what stands around this in a Server
	sys   spreadSystem    // nil where spread is off
	off   atomic.Bool     // something was refused
	moves atomic.Uint64

	// Samples are numbered. They race, and the loser's is lost, which is of no matter.
	samples atomic.Int64
	moved   atomic.Int64 // the sample that moved a thread last
	cpus    [2]spreadCPU
	_       [cacheLine]byte
}

// spreadCPU is what is known of one of the two processors.
type spreadCPU struct {
	thread  atomic.Int64 // of the last sample there; 0 if none is known
	seen    atomic.Int64 // the last sample there
	changed atomic.Int64 // the last one by another thread than the one before
}

// spreadSystem is what spread needs of the operating system.
type spreadSystem interface {
	// where returns which of the two processors the caller runs on, as 0 or 1, and on which thread. Another processor is told by
	// ok false.
	where() (cpu int, thread int64, ok bool)
	// push makes the caller's thread run on the given processor, for now; false if that was refused.
	push(cpu int) bool
}

// sample notes where the calling connection is served, and moves its thread if the others are there, too.
func (s *spread) sample() {
	if s.sys == nil || s.off.Load() {
		return
	}
	cpu, thread, ok := s.sys.where()
	if !ok || !s.crowding(cpu, thread) {
		return
	}
	if !s.sys.push(1 - cpu) {
		s.off.Store(true)
		return
	}
	s.moves.Add(1)
}

// crowding tells whether several threads have been on one processor, and none on the other, for a while.
func (s *spread) crowding(cpu int, thread int64) bool {
	here, there := &s.cpus[cpu], &s.cpus[1-cpu]
	n := s.samples.Add(1)
	here.seen.Store(n)
	if last := here.thread.Load(); last != thread {
		here.thread.Store(thread)
		if last != 0 {
			here.changed.Store(n)
		}
	}
	if changed := here.changed.Load(); changed == 0 || n-changed >= spreadWindow || n-there.seen.Load() < spreadWindow {
		return false
	}
	moved := s.moved.Load()
	if n-moved < spreadWindow || !s.moved.CompareAndSwap(moved, n) {
		return false
	}
	here.thread.Store(0) // who stays is one thread, until another one is seen
	here.changed.Store(0)
	return true
}
