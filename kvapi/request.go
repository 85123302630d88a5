package kvapi

import (
	"io"
	"time"

	"github.com/pandodb/pando/clock"
)

// Latest as the timestamp of a read asks for the newest version, synced or not.
const Latest = clock.MaxTimestamp

// GetRequest reads one key at a timestamp. The region is filled in by kv.
type GetRequest struct {
	Region RegionRef
	Key    []byte
	// TS is the snapshot to read at. Zero asks for the durable watermark, which
	// needs no registration: the store retries with a fresh one should garbage
	// collection overtake the read.
	TS        clock.Timestamp
	Interrupt *Interrupt
	Sink      Sink  // may be nil, to ask only whether the key exists
	Hold      *Hold // may be nil; only with a TS
}

// ScanRequest reads one page of a span on one iterator. The regions are filled
// in by kv.
type ScanRequest struct {
	// Regions are the adjacent regions that cover Span, in key order.
	Regions []RegionRef
	Span    Span
	Reverse bool
	// LimitRows and LimitBytes end the page; zero means no limit. The pair that
	// reaches LimitBytes is still delivered, so that a page always progresses.
	LimitRows, LimitBytes int
	TS                    clock.Timestamp // as in GetRequest
	WithTS                bool            // the sink is a VersionSink
	Interrupt             *Interrupt
	Sink                  Sink
	Hold                  *Hold // as in GetRequest
}

// Hold is what a store keeps between the reads of one page of a statement, so
// that ten lookups don't open ten iterators. The zero value is ready. Its user
// calls Rest before it waits for anybody, because an iterator holds memory and
// files back. One goroutine at a time.
type Hold struct {
	// Iter is the store's, nil if nothing is held. It shows all commits at or
	// below TS, and garbage collection had not passed TS when it was made.
	Iter io.Closer
	// Tables is another, nil as well, that leaves memtables out: for keys of which
	// these held nothing when it was made.
	Tables io.Closer
	TS     clock.Timestamp
}

// Rest gives up what is held.
func (h *Hold) Rest() {
	for _, it := range []*io.Closer{&h.Iter, &h.Tables} {
		if *it != nil {
			_ = (*it).Close() // its error would repeat one that a read has returned
			*it = nil
		}
	}
}

// LockRequest locks one key and reads its newest version. The region is filled
// in by kv.
type LockRequest struct {
	Region    RegionRef
	Key       []byte
	Mode      LockMode
	Wait      WaitPolicy
	Tag       uint32        // the statement that asks; Unlock drops only locks of its own tag. 0: none drops it
	Timeout   time.Duration // longest wait in line
	Interrupt *Interrupt
	Sink      Sink // may be nil
	// Delete says that the key is about to be deleted, so that its row need not
	// be cached for other reads.
	Delete bool
	// Create says that the key is about to be made unless it is there already: a locking read of a range waits for that.
	Create bool
}

// LockResult tells how a lock request went.
type LockResult struct {
	// Version is what the newest version of the key was once the lock was held.
	Version Version
	// Acquired is false only if WaitSkip met a lock held elsewhere.
	Acquired bool
	// Waited is true if the request stood in line, so that what the statement
	// read before it may have changed.
	Waited bool
	// Unsynced is Version.TS if that may not be durable yet, else zero.
	Unsynced clock.Timestamp
}

// Version describes the newest version of a key as a locking read met it.
type Version struct {
	// TS is its commit timestamp, zero if the key has no version at all.
	TS clock.Timestamp
	// Found is false if the newest version is a delete marker or there is none.
	Found bool
	// Len is the length of its row in bytes.
	Len int32
}

// MutationKind says what a mutation does to its key.
type MutationKind uint8

// The mutation kinds.
const (
	MutationPut MutationKind = iota
	MutationDelete
)

// Shadow says what a committer knows about the version below the one it
// writes, so that garbage collection need not look.
type Shadow uint8

// Shadow hints. A wrong ShadowNone keeps the version below until its key is
// written again or a scan for garbage comes by, and in a store that is alone
// the key's row in the row cache, if it is there.
const (
	// ShadowUnknown: there may be older versions; the collector looks.
	ShadowUnknown Shadow = iota
	// ShadowNone: no live version lies below.
	ShadowNone
	// ShadowAt: exactly the version at Mutation.Prev lies below and is live.
	ShadowAt
)

// Mutation is one write of a commit. Key and Value are read until the commit
// has been applied.
type Mutation struct {
	Key, Value []byte
	Prev       clock.Timestamp // with ShadowAt
	PrevLen    int32           // with ShadowAt: bytes of the row at Prev
	Kind       MutationKind
	Shadow     Shadow
	// Expect is what a cluster's commit relies on. A store that is alone relies on its locks and never looks.
	Expect Expect
}

// CounterRaise lifts the durable counter at Key to at least Value.
type CounterRaise struct {
	Key   []byte
	Value uint64
}

// CounterAllocRequest takes N numbers of the durable counter at Key, none of them below Least. What is taken is computed where the
// request is applied, so whoever asks, from whichever node, gets numbers that nobody else gets.
type CounterAllocRequest struct {
	Key   []byte
	Least uint64
	N     uint64
}

// CommitRequest makes mutations and counter raises durable as one atomic batch.
type CommitRequest struct {
	// Regions are those that the mutations touch, in key order; kv fills them in.
	Regions []RegionRef
	// Mutations are in strictly ascending key order.
	Mutations []Mutation
	Counters  []CounterRaise
	// Relaxed commits return when applied, before the log is synced.
	Relaxed bool
	// Start is the timestamp that names the transaction, and is below the one it
	// commits at. It is kept with its versions, so that a commit that is sent again
	// recognises them. Zero: it is never sent again.
	Start clock.Timestamp
	// Timeout bounds the wait for range locks of others, and Interrupt ends it: nothing has happened by then.
	Timeout   time.Duration
	Interrupt *Interrupt
	// NoOnePhase and NoAsync forbid these paths to the commit of a cluster.
	NoOnePhase, NoAsync bool
}
