package placement

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pandodb/pando/clock"
)

// MarkStore stores the oracle's mark.
type MarkStore interface {
	// SaveMark makes the mark durable before it returns.
	SaveMark(mark clock.Timestamp) error
}

// windowDefault is how far ahead the mark lies when it is extended. That happens once less than half of it is left, so that no caller of Next waits for
// a sync while the load is steady.
const windowDefault = 3 * time.Second

// OracleOptions describe where a new oracle starts.
type OracleOptions struct {
	// Mark is the persisted mark, zero on first start.
	Mark clock.Timestamp
	// CommitMax is an upper bound of the commit timestamps in the engine.
	CommitMax clock.Timestamp
	// NowMillis reads the wall clock; nil takes clock.NowMillis.
	NowMillis func() int64
	Store     MarkStore
	// Window is how far ahead the mark lies when it is extended; zero means 3 s.
	Window time.Duration
}

// Oracle issues timestamps. It is safe for concurrent use.
type Oracle struct {
	nowMillis func() int64
	window    int64 // milliseconds

	mu    sync.Mutex
	store MarkStore       // guarded by mu
	last  clock.Timestamp // the highest timestamp issued; guarded by mu
	mark  clock.Timestamp // the highest mark that was saved, or returned to be saved; guarded by mu
	seen  clock.Timestamp // last as Extend saw it; guarded by mu

	issued, marks uint64 // counts of timestamps that were issued, and of marks; guarded by mu
}

// ErrExhausted means that the 45 bits of milliseconds are used up, which takes a
// corrupt mark: the year is beyond 3000.
var ErrExhausted = errors.New("placement: timestamps are exhausted")

// NewOracle returns an oracle that issues timestamps above everything in o.
func NewOracle(o OracleOptions) (*Oracle, error) {
	if o.NowMillis == nil {
		o.NowMillis = clock.NowMillis
	}
	if o.Window == 0 {
		o.Window = windowDefault
	}
	window := max(o.Window.Milliseconds(), 2)
	last := max(o.Mark, o.CommitMax)
	if now := clock.Make(o.NowMillis(), 0); now > last {
		last = now
	}
	if last >= clock.MaxTimestamp-clock.Make(window, 0) {
		return nil, fmt.Errorf("%w: the data directory says %d", ErrExhausted, uint64(last))
	}
	return &Oracle{nowMillis: o.NowMillis, window: window, store: o.Store, last: last, mark: o.Mark}, nil
}

// Last returns the highest timestamp issued, or the start if none was.
func (o *Oracle) Last() clock.Timestamp {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}

// Counts returns how many timestamps were issued since NewOracle, and how many marks were made.
func (o *Oracle) Counts() (issued, marks uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.issued, o.marks
}

// advance picks the next timestamp. The caller holds mu.
func (o *Oracle) advance() clock.Timestamp {
	// The clock is read once per timestamp; reading it costs some 40 ns, which
	// is little beside a commit.
	ts := max(o.last+1, clock.Make(o.nowMillis(), 0))
	o.last = ts
	o.issued++
	return ts
}

// extended returns the mark to save with ts, or zero while the window is wide
// enough. The caller holds mu.
func (o *Oracle) extended(ts clock.Timestamp) clock.Timestamp {
	if ts < o.mark && o.mark.PhysicalMillis()-ts.PhysicalMillis() >= o.window/2 {
		return 0
	}
	o.marks++
	return clock.Make(ts.PhysicalMillis()+o.window, 0)
}

// Next issues one timestamp. It may wait for the mark to be saved.
func (o *Oracle) Next() (clock.Timestamp, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	ts := o.advance()
	mark := o.extended(ts)
	if mark == 0 {
		return ts, nil
	}
	// The timestamp is spent even if saving fails: order matters, gaps do not.
	if err := o.store.SaveMark(mark); err != nil {
		return 0, fmt.Errorf("placement: save timestamp mark: %w", err)
	}
	o.mark = mark
	return ts, nil
}

// NextN issues n ascending timestamps and returns the first; the others follow by ones. It waits for a new mark to be saved only if they would
// pass the present one, which Extend normally prevents.
func (o *Oracle) NextN(n int) (first clock.Timestamp, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	first = o.advance()
	o.last += clock.Timestamp(n - 1)
	o.issued += uint64(n - 1)
	if o.last < o.mark {
		return first, nil
	}
	mark := o.extended(o.last)
	if err := o.store.SaveMark(mark); err != nil {
		return 0, fmt.Errorf("placement: save timestamp mark: %w", err)
	}
	o.mark = mark
	return first, nil
}

// Extend saves a new mark if timestamps have been issued and less than half of the window is left. It holds no lock while saving.
func (o *Oracle) Extend() error {
	o.mu.Lock()
	mark, store := clock.Timestamp(0), o.store
	if o.last != o.seen {
		mark = o.extended(max(o.last, clock.Make(o.nowMillis(), 0)))
		o.seen = o.last
	}
	o.mu.Unlock()
	if mark == 0 {
		return nil
	}
	if err := store.SaveMark(mark); err != nil {
		return fmt.Errorf("placement: save timestamp mark: %w", err)
	}
	o.mu.Lock()
	o.mark = max(o.mark, mark)
	o.mu.Unlock()
	return nil
}

// Mark returns the mark.
func (o *Oracle) Mark() clock.Timestamp {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.mark
}

// Restart makes the oracle go on above a mark up to which another oracle may have issued timestamps.
func (o *Oracle) Restart(mark clock.Timestamp) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = max(o.last, mark)
	o.mark = mark // the next timestamp is above, and saves a new one first
}

// Move makes another MarkStore save the mark from now on; that must have the present mark already.
func (o *Oracle) Move(store MarkStore) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.store = store
}

// NextInBatch issues n ascending timestamps and returns the first; the others
// follow by ones. If mark is not zero, the caller must write it in the same
// atomic batch as the timestamps, before anybody else can see them (P2). If that
// batch fails, the caller must stop issuing: the mark is taken as saved.
func (o *Oracle) NextInBatch(n int) (first, mark clock.Timestamp) {
	o.mu.Lock()
	defer o.mu.Unlock()
	first = o.advance()
	o.last += clock.Timestamp(n - 1)
	o.issued += uint64(n - 1)
	if mark = o.extended(o.last); mark != 0 {
		o.mark = mark
	}
	return first, mark
}
