package exec

import (
	"math"
	"sync/atomic"

	"github.com/pandodb/pando/kvapi"
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

// MemTracker accounts the memory of one statement. Several goroutines may work on the
// statement; Reset and Share are for the one that owns it. A nil tracker counts nothing
// and never refuses.
type MemTracker struct {
	used, peak atomic.Int64
	limit      int64
	pool       *MemPool
	interrupt  *kvapi.Interrupt // ends waits for the pool
	taken      atomic.Int64     // of pool, for used
	lent       atomic.Int64     // by pool, besides: see lend
	refused    atomic.Pointer[types.Error]
}

// NewMemTracker returns a tracker with a limit in bytes; 0 or less is no limit.
func NewMemTracker(limit int64) *MemTracker { return &MemTracker{limit: limit} }

// Share makes the tracker take what it counts out of p, too. Where it has to wait for that intr ends the wait.
func (m *MemTracker) Share(p *MemPool, intr *kvapi.Interrupt) {
	m.Reset(m.limit)
	m.pool, m.interrupt = p, intr
}

// Reset prepares the tracker for another statement with a limit in bytes. What the last one held is given back.
func (m *MemTracker) Reset(limit int64) {
	if taken := m.taken.Swap(0); taken != 0 {
		m.pool.give(taken)
	}
	if lent := m.lent.Swap(0); lent != 0 {
		m.pool.give(lent)
	}
	m.used.Store(0)
	m.peak.Store(0)
	m.refused.Store(nil)
	m.limit = limit
}

// room counts the memory of a batch's long values; see types.Room. They count twice, because whoever takes the batch copies them and counts the copy
// only afterwards. A refusal becomes the statement's error at its next poll, or at its end.
func (m *MemTracker) room(bytes int) bool {
	err := m.Grow(2 * int64(bytes))
	if err == nil {
		return true
	}
	_ = m.Grow(-2 * int64(bytes)) // giving back never fails
	m.refused.CompareAndSwap(nil, err.(*types.Error))
	return false
}

// lend takes n bytes of the pool, negative to give them back, that do not count for the statement's limit: the buffers of spill files, which a
// statement needs when it is at that limit.
func (m *MemTracker) lend(n int64) error {
	if m == nil || m.pool == nil {
		return nil
	}
	if err := m.pool.Ask(n, m.interrupt, true); err != nil {
		return err
	}
	m.lent.Add(n)
	return nil
}

// refusal returns the error of a batch whose values were left out.
func (m *MemTracker) refusal() error {
	if m == nil {
		return nil
	}
	if err := m.refused.Load(); err != nil {
		return err
	}
	return nil
}

// Used returns the bytes held now.
func (m *MemTracker) Used() int64 { return m.used.Load() }

// Peak returns the most bytes held since Reset.
func (m *MemTracker) Peak() int64 { return m.peak.Load() }

// Grow adds n bytes, negative to release. It fails with 8175 beyond the limit, and with 8176 when all statements together hold more than
// the node may, or with the error of an interrupt that has ended a wait for memory (MemPool.Ask). It keeps the bytes counted, so that the owner releases the same sum either way.
func (m *MemTracker) Grow(n int64) error {
	if m == nil || n == 0 {
		return nil
	}
	used := m.used.Add(n)
	for peak := m.peak.Load(); used > peak && !m.peak.CompareAndSwap(peak, used); {
		peak = m.peak.Load()
	}
	if n > 0 && m.limit > 0 && used > m.limit {
		return errStatementMemory
	}
	if m.pool == nil {
		return nil
	}
	if taken := m.taken.Load(); used > taken+stepFor(used) || used < taken-4*poolStep {
		return m.share(used, taken)
	}
	return nil
}

// Trim gives back what the tracker holds of the pool for its next growth. It is for trackers of memory that outlives statements: a few MiB for each of
// thousands of idle sessions would exhaust the pool.
func (m *MemTracker) Trim() {
	if used, taken := m.used.Load(), m.taken.Load(); taken > used {
		_ = m.share(used, taken) // giving back never fails
	}
}

// share makes what is taken of the pool fit what the statement holds. If another
// goroutine does so at the same time, its share stands until the next call.
func (m *MemTracker) share(used, taken int64) error {
	want := max(used/poolStepMin*poolStepMin, 0)
	if err := m.pool.Ask(want-taken, m.interrupt, taken > 0); err != nil {
		return err
	}
	if !m.taken.CompareAndSwap(taken, want) {
		m.pool.reach(taken - want)
	}
	return nil
}

var (
	errStatementMemory = types.NewError(8175, "Your query has been cancelled due to exceeding the allowed memory limit for a single SQL query")
	errNodeMemory      = types.NewError(8176, "Your query has been cancelled due to exceeding the allowed memory limit for the server")
)

// tight reports whether an operator that holds own bytes should spill now: the
// statement is above three quarters of its limit and spilling frees something worth
// a file.
func (m *MemTracker) tight(own int64) bool {
	return m != nil && m.limit > 0 && own >= min(spillFloor, m.limit/8) && m.used.Load() > m.limit/4*3
}

// crowded reports whether the statement has used half of its limit: what can do without
// memory then leaves it to others.
func (m *MemTracker) crowded() bool { return m != nil && m.limit > 0 && m.used.Load() > m.limit/2 }

// times returns how often n bytes go into the limit.
func (m *MemTracker) times(n int64) int {
	if m == nil || m.limit <= 0 {
		return math.MaxInt
	}
	return int(m.limit / n)
}

// account is an operator's share of the tracker: it remembers what it holds, so that
// close returns exactly that. For EXPLAIN ANALYZE, what it takes counts for the node
// that runs at that time.
type account struct {
	rt   *Runtime
	held int64
}

// Values of many expressions are counted before they are computed, cellBytes for each of a row, where a batch of them takes wideBytesMin.
const (
	wideBytesMin = 1 << 20
	cellBytes    = 24
)

// wideBytes is what a batch of rows of expressions takes if that is much, else 0.
func wideBytes(exprs, rows int) int {
	if n := exprs * rows * cellBytes; n >= wideBytesMin {
		return n
	}
	return 0
}

// account returns an empty account.
func (rt *Runtime) account() account { return account{rt: rt} }

// set changes what the operator holds to n bytes.
func (a *account) set(n int64) error {
	d := n - a.held
	a.held = n
	if c := a.rt.running; c != nil {
		c.held += d
		c.Memory = max(c.Memory, c.held)
	}
	return a.rt.Mem.Grow(d)
}

// change is set for a sum that seldom changes.
func (a *account) change(n int64) error {
	if n == a.held {
		return nil
	}
	return a.set(n)
}

// arenaLarge is the size from which on an arena is counted before it grows. A smaller one is counted with the batch.
const arenaLarge = 1 << 20

// widen replaces an arena by one of need bytes or more. Both are counted while one is copied to the other.
func (a *account) widen(arena []byte, need int) ([]byte, error) {
	rest := a.held - int64(cap(arena))
	room := need + need/4
	if err := a.set(a.held + int64(room)); err != nil {
		_ = a.set(rest + int64(cap(arena))) // giving back never fails
		return arena, err
	}
	wider := make([]byte, len(arena), room)
	copy(wider, arena)
	return wider, a.set(rest + int64(room))
}

func (a *account) tight() bool { return a.rt.Mem.tight(a.held) }

// close gives everything back; it may be called more than once, and without an account.
func (a *account) close() {
	if a.held == 0 {
		return
	}
	_ = a.rt.Mem.Grow(-a.held) // giving back never fails
	a.held = 0
}
