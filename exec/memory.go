package exec

import "github.com/pandodb/pando/types"

// Memory limits, in bytes.
const (
	// DefaultMemQuota bounds one statement's memory unless the session says otherwise.
	DefaultMemQuota = 1 << 30
	// spillFloor is the least that an operator holds before it spills, so that a tiny
	// quota leads to few large runs rather than to one run per batch.
	spillFloor = 64 << 10
)

// MemTracker accounts the memory of one statement. It is used by one goroutine at a
// time. A nil tracker counts nothing and never refuses.
type MemTracker struct {
	used, peak, limit int64
}

// NewMemTracker returns a tracker with a limit in bytes; 0 or less is no limit.
func NewMemTracker(limit int64) *MemTracker { return &MemTracker{limit: limit} }

// Reset prepares the tracker for another statement with a limit in bytes.
func (m *MemTracker) Reset(limit int64) { *m = MemTracker{limit: limit} }

// Used returns the bytes held now, Peak the most held so far.
func (m *MemTracker) Used() int64 { return m.used }

// Peak returns the most bytes held since Reset.
func (m *MemTracker) Peak() int64 { return m.peak }

// grow adds n bytes, negative to release. It fails with 8175 beyond the limit and
// keeps the bytes counted, so that the owner releases the same sum either way.
func (m *MemTracker) grow(n int64) error {
	if m == nil || n == 0 {
		return nil
	}
	m.used += n
	m.peak = max(m.peak, m.used)
	if n > 0 && m.limit > 0 && m.used > m.limit {
		return types.NewError(8175, "Your query has been cancelled due to exceeding the allowed memory limit for a single SQL query")
	}
	return nil
}

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
	return a.mem.grow(d)
}

func (a *account) add(n int64) error { return a.set(a.held + n) }

func (a *account) tight() bool { return a.mem.tight(a.held) }

// close gives everything back; it may be called more than once.
func (a *account) close() {
	a.held = -a.held
	if a.mem != nil {
		a.mem.used += a.held
	}
	a.held = 0
}
