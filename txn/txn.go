package txn

import (
	"bytes"
	"slices"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/kv"
	"github.com/pandodb/pando/kvapi"
)

// state is where a transaction is in its life.
type state uint8

const (
	stateReleased state = iota // in the pool; nobody may use it
	stateActive
	stateFinished // committed or rolled back; only Release is allowed
)

// Txn is one transaction. One goroutine at a time may use it; its Interrupt
// may be set from anywhere. Objects are pooled: Release ends their use.
type Txn struct {
	m        *Manager
	id       uint64
	state    state
	o        Options
	lockWait time.Duration

	buf buffer
	// commitTS is set by a successful Commit that wrote something.
	commitTS clock.Timestamp
	// seen is the highest timestamp of a version that a locking read has read (T4).
	seen clock.Timestamp
	// snap is the transaction's snapshot; in READ COMMITTED the statement's.
	snap kv.Snapshot
	// stmtSnap is the fresh timestamp of the statement's ScanLatest, apart from
	// snap because a REPEATABLE READ snapshot stays where it is.
	stmtSnap kv.Snapshot
	// rangeTS is the timestamp of the statement's last read of a locked span, zero if there was none.
	rangeTS clock.Timestamp
	// stmt numbers the statements: Unlock drops only locks that carry it.
	stmt     uint32
	stmtMark Savepoint
	// conflict is set when a lock of this statement met a version newer than
	// the statement's candidates; see StatementConflict.
	conflict bool
	// later and early are of optimistic transactions (optimistic.go).
	later laterKeys
	early bool

	marks    uint64 // MarkRanges: the last mark
	owner    kv.Owner
	counters []kvapi.CounterRaise
	// The scratch below spares allocations; it holds nothing between calls.
	lockReq   kvapi.LockRequest
	commitReq kvapi.CommitRequest
	scanReq   kvapi.ScanRequest
	rangeReq  kvapi.RangeLockRequest
	merge     mergeSink
}

// Begin starts a transaction. It does no I/O and takes no timestamp.
func (m *Manager) Begin(o Options) *Txn {
	t, _ := m.txns.Get().(*Txn)
	if t == nil {
		t = &Txn{m: m}
	}
	t.id = m.lastID.Add(1)
	t.state = stateActive
	t.o = o
	if o.Optimistic {
		t.o.Level, t.o.Optimistic, t.o.SnapshotConflict = max(o.Level, RepeatableRead), o.Level != Serializable, o.Level != Serializable || o.SnapshotConflict
	}
	t.lockWait = o.LockWait
	if t.lockWait <= 0 {
		t.lockWait = m.o.LockWait
	}
	t.buf.bytesMax, t.buf.entryBytesMax, t.buf.memory, t.buf.intr = m.o.TxnBytesMax, m.o.EntryBytesMax, m.o.Memory, o.Interrupt
	t.kv().OpenOwner(&t.owner, t.id)
	t.owner.SetSession(o.Session)
	return t
}

func (t *Txn) kv() *kv.Client { return t.m.kv }

// ID returns a number that is unique among this node's transactions since start.
func (t *Txn) ID() uint64 { return t.id }

// Active reports whether the transaction can still be used.
func (t *Txn) Active() bool { return t.state == stateActive }

// HasWrites reports whether Commit has something to write.
func (t *Txn) HasWrites() bool { return t.buf.len() > 0 || len(t.counters) > 0 }

// HasLocks reports whether the transaction holds row locks.
func (t *Txn) HasLocks() bool { return t.owner.Locks() > 0 }

// Waiting reports whether the transaction waits for a lock. Unlike the other
// methods it may be called from any goroutine, for the process list.
func (t *Txn) Waiting() bool { return t.owner.Waiting() }

// Level returns the isolation level.
func (t *Txn) Level() Level { return t.o.Level }

// SetInterrupt replaces the interrupt, for a session that makes one per statement.
func (t *Txn) SetInterrupt(i *kvapi.Interrupt) { t.o.Interrupt = i }

// ReadTS returns the timestamp of plain reads and, on first use, takes and
// registers it: once per transaction, in READ COMMITTED once per statement.
// If locking reads came first it waits until the watermark covers what they saw
// (T5).
func (t *Txn) ReadTS() clock.Timestamp {
	if !t.snap.Registered() {
		t.register(&t.snap)
	}
	return t.snap.TS()
}

// register takes a snapshot that is not older than what was seen. The wait for
// that is not interruptible, since an older snapshot would stay with the
// transaction: it is as long as a sync. It fails only when the store is closed,
// which the next operation reports.
func (t *Txn) register(sn *kv.Snapshot) {
	var err error
	if t.seen > t.kv().Watermark() {
		err = t.kv().WaitDurable(t.seen, nil)
	}
	t.kv().Register(sn)
	assert.That(err != nil || sn.TS() >= t.seen, "txn: a snapshot shows what was seen under locks (T5)")
}

// StatementTS returns the statement's fresh timestamp, the one that ScanLatest
// reads at. In READ COMMITTED it is ReadTS.
func (t *Txn) StatementTS() clock.Timestamp {
	if t.o.Level == ReadCommitted {
		return t.ReadTS()
	}
	if !t.stmtSnap.Registered() {
		t.register(&t.stmtSnap)
	}
	return t.stmtSnap.TS()
}

// BeginStatement begins a statement: it sets the mark of RollbackStatement, and
// the next read takes a fresh snapshot where the level wants one.
func (t *Txn) BeginStatement() {
	t.stmt++
	t.conflict, t.rangeTS = false, 0
	t.stmtMark = t.buf.savepoint()
	if t.stmtSnap.Registered() {
		t.kv().Unregister(&t.stmtSnap)
	}
	if t.o.Level == ReadCommitted && t.snap.Registered() {
		t.kv().Unregister(&t.snap)
	}
}

// RollbackStatement undoes the writes since BeginStatement. It keeps locks and
// counter raises.
func (t *Txn) RollbackStatement() {
	if t.state == stateActive {
		t.kv().Rest(&t.owner)
		t.buf.rollbackTo(t.stmtMark)
	}
}

// Savepoint is a point that RollbackTo returns to: a plain value, of use only
// to the transaction that made it.
type Savepoint struct {
	undo  int
	arena arenaMark
}

// Savepoint marks the present state of the writes. Savepoints nest; going back
// to one makes the later ones invalid. Names are the session's.
func (t *Txn) Savepoint() Savepoint { return t.buf.savepoint() }

// RollbackTo undoes the writes since the savepoint, which stays usable. It
// keeps locks, as InnoDB does.
func (t *Txn) RollbackTo(s Savepoint) {
	if t.state == stateActive {
		t.buf.rollbackTo(s)
		t.stmtMark = s
	}
}

// UndoTo undoes the writes since a savepoint that was made after the statement's mark, as the writes of one row; see RollbackTo.
func (t *Txn) UndoTo(s Savepoint) {
	if t.state == stateActive {
		t.kv().Rest(&t.owner)
		t.buf.rollbackTo(s)
	}
}

// Put buffers a write. key and value are copied (T9). If it is a row or a unique
// entry the caller must hold its exclusive lock. After ErrTxnTooLarge nothing of
// this write is buffered.
func (t *Txn) Put(key, value []byte) error {
	if err := t.writable(); err != nil {
		return err
	}
	if t.kv().Ranged() && !t.Deferred() {
		if err := t.intend(key); err != nil {
			return err
		}
	}
	return t.buf.put(key, value, kvapi.ShadowUnknown, kvapi.ExpectAnything)
}

// PutNew is Put for a key that the caller knows to have no live version, such
// as a non-unique index entry of a new row: then the garbage collector need not
// read the key. If that is wrong, the old version stays until the key is written
// again, and a cluster refuses the commit.
func (t *Txn) PutNew(key, value []byte) error { return t.putNew(key, value, kvapi.ExpectAbsent) }

// PutLikelyNew is PutNew for a key that may have a live version, which then equals
// the new one, such as an index entry that the writer of its row has made, too. The old
// version stays until the key is written again. It is also for an entry whose key
// contains its row's key and that is written together with the row: the commit checks
// the row, which covers the entry.
func (t *Txn) PutLikelyNew(key, value []byte) error {
	return t.putNew(key, value, kvapi.ExpectAnything)
}

func (t *Txn) putNew(key, value []byte, expect kvapi.Expect) error {
	if err := t.writable(); err != nil {
		return err
	}
	if t.kv().Ranged() && !t.Deferred() {
		if err := t.intend(key); err != nil {
			return err
		}
	}
	return t.buf.put(key, value, kvapi.ShadowNone, expect)
}

// Delete buffers a deletion. The key is copied.
func (t *Txn) Delete(key []byte) error {
	if err := t.writable(); err != nil {
		return err
	}
	return t.buf.delete(key)
}

// RaiseCounter raises a durable counter to at least v as part of the commit
// batch. A statement rollback does not undo it, since counters never fall; a
// rollback of the transaction drops it. The key is copied.
func (t *Txn) RaiseCounter(key []byte, v uint64) error {
	if err := t.writable(); err != nil {
		return err
	}
	for i := range t.counters {
		if string(t.counters[i].Key) == string(key) {
			t.counters[i].Value = max(t.counters[i].Value, v)
			return nil
		}
	}
	// Counter keys are not in the arena, because a rollback to a savepoint
	// rewinds it and a counter raise survives that.
	t.counters = append(t.counters, kvapi.CounterRaise{Key: append([]byte(nil), key...), Value: v})
	return nil
}

func (t *Txn) writable() error {
	switch {
	case t.state != stateActive:
		return kvapi.ErrFinished
	case t.o.ReadOnly:
		return kvapi.ErrReadOnly
	}
	return nil
}

// WaitSeen returns once the durable watermark covers every version that this
// transaction's locking reads have read (T4): one comparison if it does already.
// Sessions call it at the end of each statement that has locked, so it also closes
// the iterator that the store keeps for a statement's locking reads.
func (t *Txn) WaitSeen() error {
	t.kv().Rest(&t.owner)
	if t.seen <= t.kv().Watermark() {
		return nil
	}
	return t.kv().WaitDurable(t.seen, t.o.Interrupt)
}

// Commit makes the writes durable and visible as one atomic step and ends the
// transaction whatever it returns; only Release may follow. It returns when the
// watermark covers the commit and all that the transaction saw. On
// ErrUndetermined the outcome is unknown and the client must be disconnected;
// any other error means that nothing was written.
func (t *Txn) Commit() error {
	if t.state != stateActive {
		return kvapi.ErrFinished
	}
	if len(t.later.keys) > 0 {
		if err := t.lockNoted(); err != nil {
			t.finish()
			return err
		}
	}
	if !t.HasWrites() {
		t.finish()
		return t.WaitSeen()
	}
	if t.buf.largest > 0 {
		if err := t.settle(); err != nil {
			t.finish()
			return err
		}
	}
	r := &t.commitReq
	r.Mutations = t.buf.mutations(r.Mutations[:0])
	r.Counters = t.counters
	r.Relaxed, r.Timeout, r.Interrupt = t.o.Relaxed, t.lockWait, t.o.Interrupt
	r.NoOnePhase, r.NoAsync = t.o.NoOnePhase, t.o.NoAsync
	if assert.Expensive {
		assert.That(slices.IsSortedFunc(r.Mutations, func(a, b kvapi.Mutation) int { return bytes.Compare(a.Key, b.Key) }), "txn: a commit's keys ascend (T10)")
	}
	ts, err := t.kv().Commit(&t.owner, r)
	assert.That(err != nil || ts > t.seen && ts > t.snap.TS(), "txn: a commit is above all that its transaction read (T7)")
	t.finish()
	if err == nil && t.o.Optimistic {
		t.kv().Optimistic().Commits.Add(1)
	}
	t.commitTS = ts
	if t.o.Relaxed {
		t.seen = 0 // a relaxed commit has chosen not to wait
	}
	return err
}

// settle waits, before the commit of a large value, until storage has room for what it will hold of that.
func (t *Txn) settle() error {
	if t.kv().Clustered() {
		return t.buf.settle(storedCopies + loggedCopies)
	}
	return t.buf.settle(storedCopies)
}

// CommitTS returns the timestamp at which Commit made the writes visible, zero
// if there were none or it failed.
func (t *Txn) CommitTS() clock.Timestamp { return t.commitTS }

// Rollback drops the writes and releases the locks. It does nothing to a
// finished transaction.
func (t *Txn) Rollback() {
	if t.state == stateActive {
		t.finish()
	}
}

// finish releases locks and snapshots; the commit, if any, has been applied.
func (t *Txn) finish() {
	t.state = stateFinished
	t.kv().ReleaseLocks(&t.owner)
	if t.snap.Registered() {
		t.kv().Unregister(&t.snap)
	}
	if t.stmtSnap.Registered() {
		t.kv().Unregister(&t.stmtSnap)
	}
}

// Release rolls back if need be and returns the object to the pool. Nothing may
// be called on it afterwards. Releasing twice panics.
func (t *Txn) Release() {
	if t.state == stateReleased {
		panic("txn: released twice")
	}
	t.Rollback()
	t.state = stateReleased
	t.buf.reset()
	t.later.reset(t.m.o.Memory)
	t.o, t.early = Options{}, false
	t.commitTS, t.seen, t.rangeTS, t.stmt, t.stmtMark, t.conflict = 0, 0, 0, 0, Savepoint{}, false
	clear(t.counters)
	t.counters = t.counters[:0]
	t.resetScratch()
	t.m.txns.Put(t)
}

// resetScratch drops references to foreign memory and oversized slices.
func (t *Txn) resetScratch() {
	t.lockReq = kvapi.LockRequest{}
	r := &t.commitReq
	*r = kvapi.CommitRequest{Mutations: emptied(r.Mutations), Regions: r.Regions[:0]}
	t.scanReq = kvapi.ScanRequest{Regions: t.scanReq.Regions[:0]}
	t.rangeReq = kvapi.RangeLockRequest{Regions: t.rangeReq.Regions[:0]}
	t.merge = mergeSink{pos: t.merge.pos}
}
