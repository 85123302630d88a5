package session

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/kvapi"
)

const (
	// bulkBytesMin: a write whose text and parameters have at least so many bytes is a bulk statement.
	bulkBytesMin = 64 << 10
	// bulkExpansion is what such a statement takes of the heap for each byte of its text: for literals, rows, index entries and locks 7 where
	// rows are long, 45 where they are short (docs/design/0010-connections.md).
	bulkExpansion = 16
)

// Bulk bounds the memory that the bulk statements of all sessions use together. One that does not fit waits until others have ended; one
// that is larger than the whole runs alone. It is safe for concurrent use.
type Bulk struct {
	room  *semaphore.Weighted
	bytes int64
	waits atomic.Uint64
}

// NewBulk returns a Bulk of so many bytes.
func NewBulk(bytes int64) *Bulk { return &Bulk{room: semaphore.NewWeighted(bytes), bytes: bytes} }

// Waits is how many statements have waited so far.
func (b *Bulk) Waits() uint64 { return b.waits.Load() }

// enter waits for the memory of a statement of so many bytes, and returns what leave has to release: 0 if it was interrupted.
func (b *Bulk) enter(bytes int, intr *kvapi.Interrupt) int64 {
	weight := min(bulkExpansion*int64(bytes), b.bytes)
	if b.room.TryAcquire(weight) {
		return weight
	}
	b.waits.Add(1)
	if b.room.Acquire(interruptContext{intr}, weight) != nil {
		return 0
	}
	return weight
}

// leave releases the memory.
func (b *Bulk) leave(weight int64) { b.room.Release(weight) }

// interruptContext adapts an interrupt to context.Context.
type interruptContext struct{ *kvapi.Interrupt }

var _ context.Context = interruptContext{}

// Deadline implements context.Context.
func (interruptContext) Deadline() (time.Time, bool) { return time.Time{}, false }

// Value implements context.Context.
func (interruptContext) Value(any) any { return nil }

// enterBulk waits for the memory of a bulk statement that is a transaction by itself, whose text and parameters have so many bytes, before
// it uses a table or holds a lock. One within a transaction never waits, nor does one whose session holds a lock of GET_LOCK: those that it
// would wait for might wait for it.
func (s *Session) enterBulk(p *exec.Plan, bytes int) {
	if bytes < bulkBytesMin || p.IsQuery || !p.NeedsTxn || s.tx != nil || !s.autocommit || s.node.Bulk == nil || len(s.heldLocks) > 0 {
		return
	}
	s.bulk = s.node.Bulk.enter(bytes, &s.interrupt)
}

// leaveBulk releases what enterBulk has taken.
func (s *Session) leaveBulk() {
	if s.bulk > 0 {
		s.node.Bulk.leave(s.bulk)
		s.bulk = 0
	}
}
