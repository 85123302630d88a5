package txn

import (
	"time"

	"github.com/pandodb/pando/kvapi"
)

// Level is a transaction's isolation level; doc.go says what each promises.
type Level uint8

// The levels. Package session runs READ UNCOMMITTED as ReadCommitted.
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
	// Optimistic makes the transaction take its locks when it commits. Commit fails with a kvapi.NewerError if others have committed, above its
	// snapshot, a version of what it writes or has read for writing (optimistic.go). READ COMMITTED becomes REPEATABLE READ then; SERIALIZABLE, which
	// locks what it reads, is never optimistic.
	Optimistic bool
	// LockWait bounds each lock wait; zero takes the manager's default.
	LockWait time.Duration
	// Interrupt may be nil. It is polled by reads and wakes lock waits. A commit
	// that has begun is not interruptible, as its outcome would be unknown.
	Interrupt *kvapi.Interrupt
	// Session is the id of the transaction's session, for lists of locks; 0 for the server's own transactions.
	Session uint64
	// Relaxed commits return once applied, without waiting for the sync. Their
	// writes show in plain reads only after the next sync, at most a second
	// later, unless the whole store is relaxed (store.Options.Relaxed).
	Relaxed bool
	// NoOnePhase and NoAsync forbid these paths of a commit in a cluster (package txn/commit).
	NoOnePhase, NoAsync bool
}

// Defaults of ManagerOptions.
const (
	lockWaitDefault      = 50 * time.Second // innodb_lock_wait_timeout
	txnBytesMaxDefault   = 100 << 20
	entryBytesMaxDefault = 64 << 20 // the default max_allowed_packet
)

// Memory is the budget that the write buffers of all transactions are charged to, shared with other users of memory. Implemented by exec.MemPool.
type Memory interface {
	// Ask charges n bytes, or gives them back if n is negative. It may wait for memory until intr is set; holds says that the asker holds other memory of this
	// budget, or may. It fails with the error that the statement ends with; giving back never fails.
	Ask(n int64, intr *kvapi.Interrupt, holds bool) error
	// Settle may wait, before a commit that makes the storage engine take n bytes for a while, until there is room for them. It fails if intr is set.
	Settle(n int64, intr *kvapi.Interrupt) error
}

// ManagerOptions bound the transactions of a manager. Zero fields take defaults.
type ManagerOptions struct {
	LockWait      time.Duration // default of Options.LockWait: 50 s
	TxnBytesMax   int           // keys, values and bookkeeping of one write buffer: 100 MiB
	EntryBytesMax int           // one key with its value: 64 MiB
	// Memory is the budget that large write buffers are charged to; nil sets no bound.
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
