package txn

import (
	"bytes"
	"maps"
	"slices"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

// An optimistic transaction (Options.Optimistic) takes its locks when it commits. Where other transactions make a locking read, its statements read
// at the snapshot and note the key. Commit locks the noted keys in ascending order, so that two such transactions never deadlock, and fails if one of
// them has a version above the snapshot. So a commit holds the same locks as that of any other transaction, and both kinds can run concurrently.
//
// LockKept and, after LockEarly, all locks of a statement are taken at once, because they protect more than the key's own versions: the lock of a
// parent row protects a foreign key, and locks of rows protect an index that is being built.

// laterOverhead is what a noted key costs in bytes besides the key.
const laterOverhead = 128

// later is how a noted key will be locked.
type later struct {
	mode   kvapi.LockMode
	create bool
	stmt   uint32 // number of the statement that noted it first
	times  int    // how often it was noted since, less how often that statement has taken it back (forget)
}

// laterKeys are the noted keys of a transaction. The zero value is empty.
type laterKeys struct {
	keys  map[string]later
	bytes int
	taken int // bytes charged to Memory
}

// Optimistic reports whether the transaction locks at its commit.
func (t *Txn) Optimistic() bool { return t.o.Optimistic }

// LockEarly makes the statements of an optimistic transaction lock at once from now on, or at the commit again.
func (t *Txn) LockEarly(on bool) { t.early = on }

// Deferred reports whether statements read at the snapshot what they would lock.
func (t *Txn) Deferred() bool { return t.o.Optimistic && !t.early }

// lockLater is lock for Deferred: it reads at the snapshot and notes the key.
func (t *Txn) lockLater(key []byte, mode kvapi.LockMode, sink kvapi.Sink, create bool) (found, acquired bool, err error) {
	ts := t.ReadTS()
	if err := t.note(key, mode, create); err != nil {
		return false, false, err
	}
	if e := t.buf.get(key); e != nil {
		found, err = e.deliver(sink)
		return found, err == nil, err
	}
	r := kvapi.GetRequest{Key: key, TS: ts, Interrupt: t.o.Interrupt, Sink: sink}
	found, err = t.kv().Get(&r)
	return found, err == nil, err
}

// note remembers a key to be locked.
func (t *Txn) note(key []byte, mode kvapi.LockMode, create bool) error {
	l := &t.later
	e, known := l.keys[string(key)]
	if known {
		e.mode, e.create = max(e.mode, mode), e.create || create
		e.times++
		l.keys[string(key)] = e
		return nil
	}
	need := l.bytes + len(key) + laterOverhead
	if need > t.m.o.TxnBytesMax {
		return kvapi.ErrLockTableFull
	}
	if over := need - bufferFree - l.taken; over > 0 && t.m.o.Memory != nil {
		over = over/bufferFree*bufferFree + bufferFree
		if err := t.m.o.Memory.Ask(int64(over), t.o.Interrupt, true); err != nil {
			return err
		}
		l.taken += over
	}
	if l.keys == nil {
		l.keys = map[string]later{}
	}
	l.keys[string(key)], l.bytes = later{mode: mode, create: create, stmt: t.stmt, times: 1}, need
	return nil
}

// forget undoes one note of a key by the current statement, because the row failed its condition.
func (t *Txn) forget(key []byte) {
	e, known := t.later.keys[string(key)]
	switch {
	case !known || e.stmt != t.stmt || t.buf.get(key) != nil:
	case e.times > 1:
		e.times--
		t.later.keys[string(key)] = e
	default:
		delete(t.later.keys, string(key))
		t.later.bytes -= len(key) + laterOverhead
	}
}

// lockNoted locks the noted keys. It fails if another transaction has committed a version of one above the snapshot.
func (t *Txn) lockNoted() error {
	for _, key := range slices.SortedFunc(maps.Keys(t.later.keys), func(a, b string) int { return bytes.Compare([]byte(a), []byte(b)) }) {
		e := t.later.keys[key]
		r := &t.lockReq
		*r = kvapi.LockRequest{Key: []byte(key), Mode: e.mode, Wait: kvapi.WaitDefault, Tag: t.stmt, Create: e.create, Timeout: t.lockWait, Interrupt: t.o.Interrupt}
		res, err := t.kv().Lock(&t.owner, r)
		if err != nil {
			return err
		}
		t.seen = max(t.seen, res.Unsynced)
		if res.Version.TS > t.snap.TS() {
			return t.conflictWith([]byte(key), res.Version.TS)
		}
	}
	return nil
}

// conflictWith returns the error for a version of key, committed at at, that is above the snapshot.
func (t *Txn) conflictWith(key []byte, at clock.Timestamp) error {
	if !t.o.Optimistic {
		return kvapi.ErrWriteConflict
	}
	t.kv().Optimistic().Conflicts.Add(1)
	commit, start, err := t.kv().Writer(key, at)
	if err != nil {
		return err
	}
	return &kvapi.NewerError{Snapshot: t.snap.TS(), Start: start, Commit: commit, Key: bytes.Clone(key)}
}

// Gone returns the error for a row of the snapshot that has changed since.
func (t *Txn) Gone(key []byte) error { return t.conflictWith(key, clock.MaxTimestamp) }

// reset forgets all keys.
func (l *laterKeys) reset(m Memory) {
	if l.taken > 0 {
		_ = m.Ask(-int64(l.taken), nil, true) // giving back never fails
	}
	*l = laterKeys{}
}
