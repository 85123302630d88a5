package exec

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/status"
)

// A statement takes of its MemPool 1/poolShare of what it holds at once, and between poolStepMin and poolStep. One that holds no more than poolStepMin
// takes nothing, so that short ones share no counter: 2,000 clients hold 64 MB so, and as much that their sessions keep. With a MiB for each, some
// hundred clients ended a server of 512 MB, none of which held more.
const (
	poolStep    = 1 << 20
	poolStepMin = 32 << 10
	poolShare   = 8
)

// stepFor is what a statement takes at once that holds so many bytes.
func stepFor(used int64) int64 { return min(max(used/poolShare, poolStepMin), poolStep) }

// poolChange is the change in bytes that a MemPool reports through Changes.
const poolChange = 16 << 20

// MemPool is the memory that all statements of a node may hold together. It may be used by any goroutine.
type MemPool struct {
	limit   int64
	used    atomic.Int64
	told    atomic.Int64 // used at the last send to changes
	changes chan struct{}

	process *Process     // nil: nobody can tell what is in use
	beside  atomic.Int64 // what the process had in use besides used after its last collection
	mu      sync.Mutex   // one collection at a time; no other lock is taken under it
	rounds  atomic.Int64 // collections so far

	line     memLine
	waiting  atomic.Int32   // in line
	waits    status.Counter // so far
	patience time.Duration  // memWaitMax, but in tests

	_      [64]byte // every statement reads scarce, and only large ones write to what stands above
	scarce atomic.Bool
}

// Scarce reports whether sessions should keep no buffers for their next statement. A nil pool never is.
func (p *MemPool) Scarce() bool { return p != nil && p.scarce.Load() }

// SetScarce says whether they should.
func (p *MemPool) SetScarce(scarce bool) {
	if p.scarce.Load() != scarce {
		p.scarce.Store(scarce)
	}
}

// Process is what a MemPool knows about the process's memory. What statements count is not all that they make: a buffer that grows leaves the smaller one
// behind as garbage, rows are copied on their way to storage, and storage has its own. While there is room nobody need care; where there is none, what is
// counted may not grow any more, or the system might end the process.
type Process struct {
	// Ceiling is how many bytes may be in use when a statement is given more, Limit how many may be at any time.
	Ceiling, Limit int64
	// InUse returns what the process has in use, garbage included.
	InUse func() int64
	// Collect removes the garbage.
	Collect func()
	// Settling returns a channel that is closed when the storage engine ends a flush or a compaction, nil if none is under way. While they last they hold
	// several times what was written last, and give it back without anybody's doing: they are worth a wait. It may be nil.
	Settling func() <-chan struct{}
}

// Watch makes the pool refuse to grow where the process's memory is used up, from now on. It is called before the pool is used.
func (p *MemPool) Watch(process *Process) { p.process = process }

// looks reports whether the process is looked at when the sum becomes used by n bytes: that is done once for each MiB of growth, and takes microseconds.
func (p *MemPool) looks(used, n int64) bool {
	return p.process != nil && used/poolStep != (used-n)/poolStep
}

// crowded reports whether the process has no room for n bytes, which are already part of used.
func (p *MemPool) crowded(used, n int64) bool {
	if !p.looks(used, n) || p.fits(used, n) {
		return false
	}
	p.collect()
	return !p.fits(p.used.Load(), n)
}

// collect removes the garbage.
func (p *MemPool) collect() {
	round := p.rounds.Load()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rounds.Load() != round {
		return // another statement has had it collected meanwhile
	}
	p.process.Collect()
	p.beside.Store(max(p.process.InUse()-p.used.Load(), 0))
	p.rounds.Add(1)
}

// fits compares what is in use, and what will be once statements have made what they have counted, with the ceiling.
func (p *MemPool) fits(used, n int64) bool {
	return max(p.process.InUse()+n, p.beside.Load()+used) <= p.process.Ceiling
}

// NewMemPool returns a pool with a limit in bytes; 0 or less is no limit.
func NewMemPool(limit int64) *MemPool {
	return &MemPool{limit: limit, changes: make(chan struct{}, 1), line: memLine{given: make(chan struct{}, 1)}, patience: memWaitMax}
}

// Changes has something to receive when what statements hold has become much more or less since the last time.
func (p *MemPool) Changes() <-chan struct{} { return p.changes }

// tell sends to changes if the change since the last time is large enough.
func (p *MemPool) tell(used int64) {
	told := p.told.Load()
	if used-told < poolChange && told-used < poolChange || !p.told.CompareAndSwap(told, used) {
		return
	}
	select {
	case p.changes <- struct{}{}:
	default: // one that nobody has received yet tells of this one, too
	}
}

// Used returns the bytes that statements hold, in their steps.
func (p *MemPool) Used() int64 { return p.used.Load() }

// Limit returns the limit in bytes.
func (p *MemPool) Limit() int64 { return p.limit }

// Waits returns how often somebody has waited for memory.
func (p *MemPool) Waits() uint64 { return p.waits.Load() }

// Take takes n bytes, negative to give them back. It never waits, and fails with 8176: it is for those that can do without.
func (p *MemPool) Take(n int64) error {
	if p.reach(n) != reached {
		return errNodeMemory
	}
	return nil
}

// give gives n bytes back.
func (p *MemPool) give(n int64) { p.reach(-n) }

// reach's verdicts.
type verdict uint8

const (
	reached   verdict = iota
	overLimit         // statements would hold more than they may
	noRoom            // the process would
)

// reach adds n bytes, negative to give them back. But for reached nothing has changed.
func (p *MemPool) reach(n int64) verdict {
	used := p.used.Add(n)
	if n > 0 {
		v := reached
		switch {
		case p.limit > 0 && used > p.limit:
			v = overLimit
		case p.crowded(used, n):
			v = noRoom
		}
		if v != reached {
			p.used.Add(-n)
			return v
		}
	} else if p.waiting.Load() > 0 && p.looks(used, n) {
		p.line.gave()
	}
	p.tell(used)
	return reached
}
