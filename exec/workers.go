package exec

import "sync/atomic"

// WorkerPool bounds the goroutines that all statements of a node have at work beside
// their connections' own. Nobody waits for a worker; a statement goes on alone and asks
// again later. nil has none.
type WorkerPool struct {
	size              int
	free              atomic.Int64
	plan, lead, share int
}

// From how many rows on workers take part.
const (
	// planRows is how many rows a scan must be expected to read for a Gather to be planned:
	// what several times as many as leadRows leaves is worth sharing.
	planRows = 128 << 10
	// leadRows is how many rows the statement's own goroutine reads before it hires
	// workers, whatever the planner has expected: a statement that ends before, within
	// about ten milliseconds, has paid nothing. When no worker is free it asks again
	// after as many.
	leadRows = 32 << 10
	// shareRows is how many rows a worker reads of a share before it lets others take
	// part in the rest. Smaller shares spread better; each costs the opening of the
	// operators, and the merging of its groups.
	shareRows = 64 << 10
)

// procsSpared is how many processors the workers of a node leave: one for the connection
// whose statement they work on, and one on which everybody else is served. While all
// processors run goroutines that do not wait, Go looks for what has arrived at sockets
// only every ten milliseconds. On two processors point reads beside an aggregation took
// five times as long when that used both; with one spared they do not notice.
const procsSpared = 2

// WorkersFor returns how many workers a node with so many processors has.
func WorkersFor(procs int) int { return max(procs-procsSpared, 0) }

// NewWorkerPool returns a pool of n workers.
func NewWorkerPool(n int) *WorkerPool {
	p := &WorkerPool{size: max(n, 0), plan: planRows, lead: leadRows, share: shareRows}
	p.free.Store(int64(p.size))
	return p
}

// NewEagerWorkerPool returns a pool whose workers take part after so many rows, so that
// tests see what they do.
func NewEagerWorkerPool(n, rows int) *WorkerPool {
	p := NewWorkerPool(n)
	p.plan, p.lead, p.share = 0, rows, rows
	return p
}

// PlanRows returns how many rows a scan must be expected to read to be planned for workers.
func (p *WorkerPool) PlanRows() float64 { return float64(p.plan) }

// Size returns how many workers the pool has when nobody uses any.
func (p *WorkerPool) Size() int {
	if p == nil {
		return 0
	}
	return p.size
}

// Free returns how many workers nobody uses.
func (p *WorkerPool) Free() int {
	if p == nil {
		return 0
	}
	return int(p.free.Load())
}

// each is how many rows a part ought to have into which the rest of a scan is cut: fewer
// than a share may have, since keys are not spread evenly.
func (p *WorkerPool) each() int { return max(p.share/2, 1) }

// take takes up to n workers and returns how many it got.
func (p *WorkerPool) take(n int) int {
	if p == nil || n <= 0 {
		return 0
	}
	for {
		free := p.free.Load()
		got := min(free, int64(n))
		if got <= 0 {
			return 0
		}
		if p.free.CompareAndSwap(free, free-got) {
			return int(got)
		}
	}
}

// give returns n workers.
func (p *WorkerPool) give(n int) {
	if n > 0 && p.free.Add(int64(n)) > int64(p.size) {
		panic("exec: more workers were given back than taken")
	}
}
