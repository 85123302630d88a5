package exec

import (
	"sync/atomic"

	"github.com/pandodb/pando/types"
)

// Memory limits, in bytes.
const (
	// DefaultMemQuota bounds one statement's memory unless the session says otherwise.
	DefaultMemQuota = 1 << 30
	// spillFloor is the least that an operator holds before it spills, so that a tiny
	// quota leads to few large runs rather than to one run per batch.
	spillFloor = 64 << 10
)

// poolStep is what a statement takes of its MemPool at once. A statement that holds no more than that takes nothing, so that
// short ones share no counter: they are bounded by the number of connections.
const poolStep = 1 << 20

// MemPool is the memory that all statements of a node may hold together. It may be used by any goroutine.
type MemPool struct {
	limit int64
	used  atomic.Int64
}

// NewMemPool returns a pool with a limit in bytes; 0 or less is no limit.
func NewMemPool(limit int64) *MemPool { return &MemPool{limit: limit} }

// Used returns the bytes that statements hold, in steps of poolStep.
func (p *MemPool) Used() int64 { return p.used.Load() }

// Limit returns the limit in bytes.
func (p *MemPool) Limit() int64 { return p.limit }

// take adds n bytes, negative to give them back, and reports whether the pool had them.
func (p *MemPool) take(n int64) bool {
	if used := p.used.Add(n); n > 0 && p.limit > 0 && used > p.limit {
		p.used.Add(-n)
		return false
	}
	return true
}

// MemTracker accounts the memory of one statement. It is used by one goroutine at a
// time. A nil tracker counts nothing and never refuses.
type MemTracker struct {
	used, peak, limit int64
	pool              *MemPool
	taken             int64 // of pool
}

// NewMemTracker returns a tracker with a limit in bytes; 0 or less is no limit.
func NewMemTracker(limit int64) *MemTracker { return &MemTracker{limit: limit} }

// Share makes the tracker take what it counts out of p, too.
func (m *MemTracker) Share(p *MemPool) {
	m.Reset(m.limit)
	m.pool = p
}

// Reset prepares the tracker for another statement with a limit in bytes. What the last one held is given back.
func (m *MemTracker) Reset(limit int64) {
	if m.taken != 0 {
		m.pool.take(-m.taken)
	}
	*m = MemTracker{limit: limit, pool: m.pool}
}

// Used returns the bytes held now, Peak the most held so far.
func (m *MemTracker) Used() int64 { return m.used }

// Peak returns the most bytes held since Reset.
func (m *MemTracker) Peak() int64 { return m.peak }

// Grow adds n bytes, negative to release. It fails with 8175 beyond the limit, and with 8176 when all statements together hold more than
// the node may. It keeps the bytes counted, so that the owner releases the same sum either way.
func (m *MemTracker) Grow(n int64) error {
	if m == nil || n == 0 {
		return nil
	}
	m.used += n
	m.peak = max(m.peak, m.used)
	if n > 0 && m.limit > 0 && m.used > m.limit {
		return errStatementMemory
	}
	if m.pool != nil && (m.used > m.taken+poolStep || m.used < m.taken-4*poolStep) {
		return m.share(n > 0)
	}
	return nil
}

// share makes what is taken of the pool fit what the statement holds.
func (m *MemTracker) share(growing bool) error {
	want := max(m.used/poolStep*poolStep, 0)
	if m.pool.take(want - m.taken) {
		m.taken = want
	} else if growing {
		return errNodeMemory
	}
	return nil
}

var (
	errStatementMemory = types.NewError(8175, "Your query has been cancelled due to exceeding the allowed memory limit for a single SQL query")
	errNodeMemory      = types.NewError(8176, "Your query has been cancelled due to exceeding the allowed memory limit for the server")
)

// tight reports whether an operator that holds own bytes ought to spill now: the
// statement is above three quarters of its limit and spilling frees something worth
// a file.
func (m *MemTracker) tight(own int64) bool {
	return m != nil && m.limit > 0 && own >= min(spillFloor, m.limit/8) && m.used > m.limit/4*3
}

// account is an operator's share of the tracker: it remembers what it holds, so that
// close returns exactly that.
type account struct {
	mem  *MemTracker
	held int64
}

// set changes what the operator holds to n bytes.
func (a *account) set(n int64) error {
	d := n - a.held
	a.held = n
	return a.mem.Grow(d)
}

func (a *account) add(n int64) error { return a.set(a.held + n) }

func (a *account) tight() bool { return a.mem.tight(a.held) }

// close gives everything back; it may be called more than once.
func (a *account) close() {
	a.held = -a.held
	_ = a.mem.Grow(a.held) // giving back never fails
	a.held = 0
}
