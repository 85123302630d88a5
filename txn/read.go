package txn

import (
	"errors"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

// Get is the plain read of one key: the own write if there is one, else the
// version at the snapshot. In SERIALIZABLE it locks the key in shared mode and
// returns the newest version. hold and sink may be nil.
func (t *Txn) Get(key []byte, hold *kvapi.Hold, sink kvapi.Sink) (found bool, err error) {
	if t.state != stateActive {
		return false, kvapi.ErrFinished
	}
	if t.o.Level == Serializable {
		found, _, err = t.Lock(key, kvapi.LockShared, kvapi.WaitDefault, sink)
		return found, err
	}
	// The first plain read fixes the snapshot, even if it finds an own write.
	ts := t.ReadTS()
	if e := t.buf.get(key); e != nil {
		return e.deliver(sink)
	}
	r := kvapi.GetRequest{Key: key, TS: ts, Interrupt: t.o.Interrupt, Sink: sink, Hold: hold}
	return t.kv().Get(&r)
}

// Scan is the plain read of one page of a span, own writes merged in. In
// SERIALIZABLE it locks the span as far as it reads, and what it returns may be unsynced: T4.
func (t *Txn) Scan(r *ScanRequest) (resume []byte, err error) {
	if t.state != stateActive {
		return nil, kvapi.ErrFinished
	}
	if t.o.Level == Serializable {
		if t.m.unranged {
			return t.ScanLatest(r)
		}
		return t.scanRanged(r, kvapi.RangeWhole, kvapi.WaitDefault)
	}
	return t.scanAt(r, t.ReadTS())
}

// ScanLatest is Scan at the statement's fresh timestamp, own writes merged in:
// it finds the candidates of a scanning write. The caller locks each candidate
// and checks the value that Lock returns against its condition, because it may
// be newer; StatementConflict tells whether one was.
//
// If Locking is set, at REPEATABLE READ and above, it locks the span as far as it reads, so that nobody inserts there; then it reads what is
// applied, so that even a result without rows needs WaitSeen. Otherwise it reads at the watermark, not at the newest applied version.
func (t *Txn) ScanLatest(r *ScanRequest) (resume []byte, err error) {
	if t.state != stateActive {
		return nil, kvapi.ErrFinished
	}
	if r.Locking && t.locksRanges(r.Wait) && !t.Deferred() {
		return t.scanRanged(r, t.rangeKind(r.Rows), r.Wait)
	}
	return t.scanAt(r, t.latestTS())
}

// GetLatest is ScanLatest for one key: the lookup of a row by a secondary index
// entry that a scanning write found.
func (t *Txn) GetLatest(key []byte, hold *kvapi.Hold, sink kvapi.Sink) (found bool, err error) {
	if t.state != stateActive {
		return false, kvapi.ErrFinished
	}
	ts := t.latestTS()
	if e := t.buf.get(key); e != nil {
		return e.deliver(sink)
	}
	r := kvapi.GetRequest{Key: key, TS: ts, Interrupt: t.o.Interrupt, Sink: sink, Hold: hold}
	return t.kv().Get(&r)
}

// scanAt reads one page at ts with own writes merged in.
func (t *Txn) scanAt(r *ScanRequest, ts clock.Timestamp) (resume []byte, err error) {
	q := &t.scanReq
	q.Span, q.Reverse = r.Span, r.Reverse
	q.LimitRows, q.LimitBytes = r.LimitRows, r.LimitBytes
	q.TS, q.Sink, q.Hold = ts, r.Sink, r.Hold
	q.Interrupt = r.Interrupt
	if q.Interrupt == nil {
		q.Interrupt = t.o.Interrupt
	}
	if !t.buf.overlaps(r.Span) {
		return t.kv().Scan(q)
	}
	return t.scanMerged(r, q)
}

// Lock locks a key, which may be absent, and reads its newest version under the
// lock, own writes first. acquired=false comes only with WaitSkip, and then the
// sink was not called. sink may be nil. What is returned may be unsynced: T4.
func (t *Txn) Lock(key []byte, mode kvapi.LockMode, wait kvapi.WaitPolicy, sink kvapi.Sink) (found, acquired bool, err error) {
	return t.lock(key, mode, wait, sink, 0)
}

// TryLock is Lock, or with remove LockDelete, for who has something to do before it waits: acquired=false says that others have the key locked.
func (t *Txn) TryLock(key []byte, mode kvapi.LockMode, remove bool, sink kvapi.Sink) (found, acquired bool, err error) {
	var purpose lockPurpose
	if remove {
		purpose = forDelete
	}
	return t.lock(key, mode, kvapi.WaitSkip, sink, purpose)
}

// LockNew is Lock in exclusive mode for a key that the caller will insert unless it exists: locking reads of ranges around it wait for that.
func (t *Txn) LockNew(key []byte, sink kvapi.Sink) (found bool, err error) {
	found, _, err = t.lock(key, kvapi.LockExclusive, kvapi.WaitDefault, sink, forCreate)
	return found, err
}

// lockPurpose is what a key is locked for; 0 says nothing.
type lockPurpose uint8

const (
	forDelete lockPurpose = 1 + iota
	forCreate
)

// LockDelete is Lock in exclusive mode for a key that the caller is about to
// delete: its row is not offered to the row cache.
func (t *Txn) LockDelete(key []byte, sink kvapi.Sink) (found bool, err error) {
	found, _, err = t.lock(key, kvapi.LockExclusive, kvapi.WaitDefault, sink, forDelete)
	return found, err
}

func (t *Txn) lock(key []byte, mode kvapi.LockMode, wait kvapi.WaitPolicy, sink kvapi.Sink, purpose lockPurpose) (found, acquired bool, err error) {
	if t.state != stateActive {
		return false, false, kvapi.ErrFinished
	}
	if t.Deferred() {
		return t.lockLater(key, mode, sink, purpose == forCreate)
	}
	own := t.buf.get(key)
	r := &t.lockReq
	r.Key, r.Mode, r.Wait, r.Tag, r.Delete, r.Create = key, mode, wait, t.stmt, purpose == forDelete, purpose == forCreate
	r.Timeout, r.Interrupt, r.Sink = t.lockWait, t.o.Interrupt, sink
	if own != nil {
		r.Sink = nil
	}
	res, err := t.kv().Lock(&t.owner, r)
	r.Key, r.Sink = nil, nil
	if err != nil || !res.Acquired {
		return false, false, err
	}
	v := res.Version
	t.seen = max(t.seen, res.Unsynced)
	if t.o.SnapshotConflict && t.snap.Registered() && v.TS > t.snap.TS() {
		return false, true, t.conflictWith(key, v.TS)
	}
	if v.TS > t.candidatesTS() {
		t.conflict = true
	}
	if own != nil {
		found, err = own.deliver(sink)
		return found, true, err
	}
	return v.Found, true, nil
}

// scanNewestRetries bounds how often ScanNewest repeats a page because garbage collection has passed its timestamp.
const scanNewestRetries = 16

// LockKept is Lock for keys that other rows depend on, such as the parent of a row that is written: Unlock never drops the lock, even if a
// statement took it first, and a newer version of the key counts neither for StatementConflict nor as a conflict with the snapshot.
func (t *Txn) LockKept(key []byte, mode kvapi.LockMode, sink kvapi.Sink) (found bool, err error) {
	if t.m.o.UnlockedKept && t.state == stateActive {
		return t.getNewest(key, sink)
	}
	stmt, conflict, strict, early := t.stmt, t.conflict, t.o.SnapshotConflict, t.early
	t.stmt, t.o.SnapshotConflict, t.early = 0, false, true
	found, _, err = t.lock(key, mode, kvapi.WaitDefault, sink, 0)
	t.stmt, t.conflict, t.o.SnapshotConflict, t.early = stmt, conflict, strict, early
	return found, err
}

// ScanNewest reads a page of what has been applied, own writes merged in: a transaction that holds a lock sees all that earlier holders of the
// lock have committed. What it returns may be unsynced: T4.
func (t *Txn) ScanNewest(r *ScanRequest) (resume []byte, err error) {
	if t.state != stateActive {
		return nil, kvapi.ErrFinished
	}
	for range scanNewestRetries {
		ts := t.kv().Applied()
		t.seen = max(t.seen, ts)
		if resume, err = t.scanAt(r, ts); !errors.Is(err, kvapi.ErrSnapshotTooOld) {
			return resume, err
		}
	}
	return nil, err
}

// getNewest is a locking read without the lock, for ManagerOptions.UnlockedKept.
func (t *Txn) getNewest(key []byte, sink kvapi.Sink) (found bool, err error) {
	if e := t.buf.get(key); e != nil {
		return e.deliver(sink)
	}
	t.seen = max(t.seen, t.kv().Applied())
	return t.kv().Get(&kvapi.GetRequest{Key: key, TS: t.kv().Applied(), Interrupt: t.o.Interrupt, Sink: sink})
}

// SnapshotBehind reports whether others have committed since the transaction took
// its snapshot. It is always false if that does not matter to statements that
// change rows (Options.SnapshotConflict).
func (t *Txn) SnapshotBehind() bool {
	return t.o.SnapshotConflict && !t.Deferred() && t.o.Level == RepeatableRead && t.snap.Registered() && t.StatementTS() > t.snap.TS()
}

// candidatesTS is the timestamp of the statement's last ScanLatest, or the
// end of time if there was none: nothing can be newer than that.
func (t *Txn) candidatesTS() clock.Timestamp {
	if t.rangeTS != 0 {
		return t.rangeTS
	}
	snap := &t.stmtSnap
	if t.o.Level == ReadCommitted {
		snap = &t.snap
	}
	if !snap.Registered() {
		return clock.MaxTimestamp
	}
	return snap.TS()
}

// StatementConflict reports whether a lock taken in this statement, after its
// ScanLatest, met a version newer than the candidates. The statement may have
// missed rows that the same commit made match; exec can then RollbackStatement,
// WaitSeen, BeginStatement and run it again.
func (t *Txn) StatementConflict() bool { return t.conflict }

// Unlock drops the lock of a row that failed the WHERE of a READ COMMITTED
// statement. It does nothing unless this statement took the lock and the key is
// not written, and nothing in the other levels. In an optimistic transaction the key is not locked at the commit either.
func (t *Txn) Unlock(key []byte) {
	if t.state == stateActive && t.Deferred() {
		t.forget(key)
		return
	}
	if t.state != stateActive || t.o.Level != ReadCommitted || t.buf.get(key) != nil {
		return
	}
	t.kv().Unlock(&t.owner, key, t.stmt)
}
