package txn

import (
	"time"

	"github.com/pandodb/pando/kvapi"
)

// Level is a transaction's isolation level; doc.go says what each promises.
type Level uint8

// The levels. READ UNCOMMITTED is session's business: it runs as ReadCommitted.
const (
	ReadCommitted Level = iota
	RepeatableRead
	Serializable
)

// String returns the name that @@transaction_isolation shows.
func (l Level) String() string {
	switch l {
	case ReadCommitted:
		return "READ-COMMITTED"
	case RepeatableRead:
		return "REPEATABLE-READ"
	default:
		return "SERIALIZABLE"
	}
}

// Options are those of one transaction.
type Options struct {
	Level    Level
	ReadOnly bool // Put, Delete and RaiseCounter fail with ErrReadOnly
	// SnapshotConflict is innodb_snapshot_isolation: locking a row that changed
	// after the snapshot fails with ErrWriteConflict.
	SnapshotConflict bool
	// Optimistic has the transaction lock when it commits, which fails with a kvapi.NewerError if others have committed a newer version of what it
	// writes or has read for writing than its snapshot's (optimistic.go). READ COMMITTED is REPEATABLE READ then; SERIALIZABLE, which locks what it
	// reads, is not optimistic.
	Optimistic bool
	// LockWait bounds each lock wait; zero takes the manager's default.
	LockWait time.Duration
	// Interrupt may be nil. It is polled by reads and wakes lock waits. A commit
	// that has begun is not interruptible, as its outcome would be unknown.
	Interrupt *kvapi.Interrupt
	// Session is whose transaction it is, for who looks at its locks; 0 for the server's own.
	Session uint64
	// Relaxed commits return once applied, without waiting for the sync. Their
	// writes show in plain reads only after the next sync, at most a second
	// later, unless the whole store is relaxed (store.Options.Relaxed).
	Relaxed bool
	// NoOnePhase and NoAsync forbid these paths to the commit, if the store is one of a cluster.
	NoOnePhase, NoAsync bool
}

// Defaults of ManagerOptions.
const (
	lockWaitDefault      = 50 * time.Second // innodb_lock_wait_timeout
	txnBytesMaxDefault   = 100 << 20
	entryBytesMaxDefault = 64 << 20 // the default max_allowed_packet
)

// Memory is what the write buffers of all transactions are taken from, together with what else takes of it. Implemented by exec.MemPool.
type Memory interface {
	// Take takes n bytes, negative to give them back, or fails with the error that the statement ends with.
	Take(n int64) error
}

// ManagerOptions bound the transactions of a manager. Zero fields take defaults.
type ManagerOptions struct {
	LockWait      time.Duration // default of Options.LockWait: 50 s
	TxnBytesMax   int           // keys, values and bookkeeping of one write buffer: 100 MiB
	EntryBytesMax int           // one key with its value: 64 MiB
	// Memory is what large write buffers are taken from; nil counts nothing.
	Memory Memory
	// UnlockedKept is a fault for tests: LockKept reads the newest version and locks nothing.
	UnlockedKept bool
}

// ensureDefaults fills the zero fields.
func (o *ManagerOptions) ensureDefaults() {
	if o.LockWait <= 0 {
		o.LockWait = lockWaitDefault
	}
	if o.TxnBytesMax <= 0 {
		o.TxnBytesMax = txnBytesMaxDefault
	}
	if o.EntryBytesMax <= 0 {
		o.EntryBytesMax = entryBytesMaxDefault
	}
}
