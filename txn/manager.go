package txn

import (
	"sync"
	"sync/atomic"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kv"
	"github.com/pandodb/pando/kvapi"
)

// Manager begins transactions and serves autocommit reads. It is safe for
// concurrent use.
type Manager struct {
	kv     *kv.Client
	o      ManagerOptions
	lastID atomic.Uint64
	txns   sync.Pool // *Txn
	snaps  sync.Pool // *Snapshot
	scans  sync.Pool // *kvapi.ScanRequest
	// unranged switches range locks off. Tests set it to check that they would notice.
	unranged bool
}

// NewManager returns a manager over the client.
func NewManager(c *kv.Client, o ManagerOptions) *Manager {
	o.ensureDefaults()
	return &Manager{kv: c, o: o}
}

// ScanRequest asks for one page of a span.
//
// A scan is one page on one iterator: it ends at the limits, at the end of the
// span, or when the sink says stop, and returns the resume key: the Start of
// the next page, or its End if Reverse. A nil resume key means that the span is
// exhausted. The resume key belongs to the caller.
type ScanRequest struct {
	Span    kvapi.Span
	Reverse bool
	// LimitRows and LimitBytes end the page; zero means no limit. The pair that
	// reaches LimitBytes is still delivered, so that a page always progresses.
	LimitRows, LimitBytes int
	Sink                  kvapi.Sink
	// Interrupt is polled; nil takes the transaction's.
	Interrupt *kvapi.Interrupt
	// TS is used by Manager.Scan only: zero reads at the watermark; anything
	// else must be the timestamp of an open Snapshot.
	TS clock.Timestamp
	// WithTS, used by Manager.Scan only, says that Sink is a kvapi.VersionSink.
	WithTS bool
	// Hold, which may be nil, is shared by the reads of a page.
	Hold *kvapi.Hold
	// Locking, used by ScanLatest only, says that the caller will lock what it finds, with the policy Wait: then the span is locked as far as it
	// is read (locking.go). Rows says that the span has rows, not index entries.
	Locking, Rows bool
	Wait          kvapi.WaitPolicy
	Mark          uint64 // see MarkRanges
}

// Get reads one key at the durable watermark: the autocommit point select. It
// takes no lock, registers nothing and allocates nothing. sink may be nil.
func (m *Manager) Get(key []byte, intr *kvapi.Interrupt, sink kvapi.Sink) (found bool, err error) {
	r := kvapi.GetRequest{Key: key, Interrupt: intr, Sink: sink}
	return m.kv.Get(&r)
}

// GetAt is Get at the timestamp of an open Snapshot. hold may be nil.
func (m *Manager) GetAt(ts clock.Timestamp, key []byte, intr *kvapi.Interrupt, hold *kvapi.Hold, sink kvapi.Sink) (found bool, err error) {
	r := kvapi.GetRequest{Key: key, TS: ts, Interrupt: intr, Sink: sink, Hold: hold}
	return m.kv.Get(&r)
}

// Scan reads one page outside any transaction. Several pages that must agree
// with each other need an open Snapshot and its timestamp.
func (m *Manager) Scan(r *ScanRequest) (resume []byte, err error) {
	q, _ := m.scans.Get().(*kvapi.ScanRequest)
	if q == nil {
		q = new(kvapi.ScanRequest)
	}
	*q = kvapi.ScanRequest{
		Regions: q.Regions[:0], // reused
		Span:    r.Span, Reverse: r.Reverse, LimitRows: r.LimitRows, LimitBytes: r.LimitBytes,
		TS: r.TS, WithTS: r.WithTS, Interrupt: r.Interrupt, Sink: r.Sink, Hold: r.Hold,
	}
	resume, err = m.kv.Scan(q)
	*q = kvapi.ScanRequest{Regions: q.Regions[:0]}
	m.scans.Put(q)
	return resume, err
}

// Watermark returns the durable watermark: one atomic load.
func (m *Manager) Watermark() clock.Timestamp { return m.kv.Watermark() }

// Locks lists at most locksMax locks that transactions hold or wait for at this node's store.
func (m *Manager) Locks(locksMax int) []kvapi.LockView { return m.kv.Locks(locksMax) }

// SpanSize reads the first versionsMax versions of a span and estimates the size of the rest, at this node's store.
func (m *Manager) SpanSize(span kvapi.Span, versionsMax int) (kvapi.SpanSize, error) {
	return m.kv.SpanSize(span, versionsMax)
}

// Counter returns the value of a durable counter, zero if it was never raised.
func (m *Manager) Counter(key []byte) (uint64, error) { return m.kv.Counter(key) }

// RaiseCounter raises a durable counter to at least v and returns once that is
// synced. Counters never fall, and are not transactional.
func (m *Manager) RaiseCounter(key []byte, v uint64) error {
	t := m.Begin(Options{Level: ReadCommitted})
	defer t.Release()
	if err := t.RaiseCounter(key, v); err != nil {
		return err
	}
	return t.Commit()
}

// AllocCounter takes n numbers of a durable counter, none below least, and
// returns the first of them once that is synced. Nobody else gets one of them,
// whichever node asks. At the end of the numbers there may be fewer.
func (m *Manager) AllocCounter(key []byte, least, n uint64) (first uint64, err error) {
	return m.kv.AllocCounter(&kvapi.CounterAllocRequest{Key: key, Least: least, N: n})
}

// DropCounters deletes the durable counters whose keys lie in a bounded span,
// and returns once that is synced. Nobody may raise one of them any more.
func (m *Manager) DropCounters(span kvapi.Span) error { return m.kv.DropCounters(span) }

// DropSpan deletes every version in a bounded span for good, without writing
// tombstones, once nobody reads below ts any more: the data of a
// table that was dropped or truncated by a transaction committed at ts. done is
// false while an older snapshot is open; try again later. It returns once the
// deletion is durable. Nobody may write in the span any more.
func (m *Manager) DropSpan(span kvapi.Span, ts clock.Timestamp) (done bool, err error) {
	return m.kv.DropSpan(span, ts)
}

// Timestamp issues a timestamp above all commits so far, normally without I/O.
func (m *Manager) Timestamp() (clock.Timestamp, error) { return m.kv.Timestamp() }

// Snapshot is a registered timestamp for reads outside a transaction. Garbage
// collection keeps what it can see until Close, or until the store's
// max_snapshot_age, after which reads return ErrSnapshotTooOld.
type Snapshot struct {
	m   *Manager
	reg kv.Snapshot
}

// OpenSnapshot registers a snapshot at the watermark. Close it exactly once.
func (m *Manager) OpenSnapshot() *Snapshot {
	s, _ := m.snaps.Get().(*Snapshot)
	if s == nil {
		s = new(Snapshot)
	}
	s.m = m
	m.kv.Register(&s.reg)
	return s
}

// TS returns the snapshot's timestamp.
func (s *Snapshot) TS() clock.Timestamp { return s.reg.TS() }

// Fill writes versions of the past from what was read at a snapshot, without locks and the log; see package store.
type Fill = kv.Fill

// NewFill returns a Fill of a bounded span, whose keys have the first common bytes in common, for versions up to the snapshot's timestamp, which
// nobody reads yet. The snapshot must stay open until Apply has returned. In a cluster it or Apply returns kvapi.ErrNotAlone.
func (s *Snapshot) NewFill(span kvapi.Span, common int) (*Fill, error) {
	return s.m.kv.NewFill(span, common, s.TS())
}

// Sorter puts pairs in the order of their keys, in memory and temporary files; see package store.
type Sorter = kv.Sorter

// NewSorter begins to sort pairs, which are nobody else's. It ends with Discard.
func (m *Manager) NewSorter() *Sorter { return m.kv.NewSorter() }

// Close releases the snapshot, which must not be used afterwards. A second Close
// panics, because the object may have been reused by then.
func (s *Snapshot) Close() {
	m := s.m
	if m == nil {
		panic("txn: snapshot closed twice")
	}
	m.kv.Unregister(&s.reg)
	s.m = nil
	m.snaps.Put(s)
}
