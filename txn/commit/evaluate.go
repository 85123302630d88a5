package commit

import (
	"bytes"
	"errors"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/mvcc"
)

// errLockedOnePhase refuses a request that no coordinator sends.
var errLockedOnePhase = errors.New("commit: a transaction of one phase that has locks")

// State is what a region's line reads: the region with all entries applied (C1). What it returns is borrowed until the next call.
type State interface {
	// Lock returns the lock of a key, nil if it has none. Its value may be missing.
	Lock(key []byte) (*mvcc.Lock, error)
	// Unchanged reports whether no version of a key has come since a moment (PrewriteRequest.AsOf). If not, nothing is known.
	Unchanged(key []byte, asOf uint64) bool
	// Newest returns the newest version of a key, without its row; the zero Head if it has none.
	Newest(key []byte) (Head, error)
	// CommitOf returns when the transaction that began at start wrote a version of key, zero if it has not.
	CommitOf(key []byte, start clock.Timestamp) (clock.Timestamp, error)
	// Record returns what became of the transaction that began at start, at key.
	Record(key []byte, start clock.Timestamp) (mvcc.Record, error)
	// Changed returns a key of an interval in which something has happened since that the check forbids, or that another transaction than
	// start may be about to do, by its lock; nil if there is none.
	Changed(c *kvapi.Check, start clock.Timestamp) ([]byte, error)
	// Floor is the timestamp at and below which records may be gone. Transactions that began there are refused.
	Floor() clock.Timestamp
}

// Head is a version without its row.
type Head struct {
	TS, Start clock.Timestamp
	Tombstone bool
	Len       int // of the row
}

// Kind says what a change does.
type Kind uint8

// The kinds of changes.
const (
	Nothing  Kind = iota // no change is needed
	Write                // versions of Mutations at the entry's timestamp, and Counters
	Lock                 // locks of Mutations with the entry's timestamp
	Finish               // locks of Keys become versions at TS, and the primary's a record
	Rollback             // locks of Keys go, and each key gets a marker
	Renew                // the lock of Keys[0] lives TTL
)

// Change is what an evaluation has decided. It aliases its request.
type Change struct {
	Kind      Kind
	Start     clock.Timestamp
	TS        clock.Timestamp
	Primary   []byte
	Mutations []kvapi.Mutation
	Counters  []kvapi.CounterRaise
	Keys      [][]byte

	Async       bool
	Secondaries [][]byte
	Coordinator kvapi.Coordinator
}

// Stamped reports whether the change needs a timestamp of its entry, and marks on the keys of its mutations before.
func (c *Change) Stamped() bool { return c.Kind == Write || c.Kind == Lock }

// own returns the lock that the transaction has on key, nil if it has none. A foreign lock is an error.
func own(st State, key []byte, start clock.Timestamp) (*mvcc.Lock, error) {
	l, err := st.Lock(key)
	if err != nil || l == nil {
		return nil, err
	}
	if l.Start != start {
		return nil, &kvapi.LockedError{Lock: Describe(key, l)}
	}
	return l, nil
}

// Describe returns what others may know of a lock.
func Describe(key []byte, l *mvcc.Lock) kvapi.LockInfo {
	return kvapi.LockInfo{Key: bytes.Clone(key), Primary: bytes.Clone(l.Primary), Start: l.Start, Least: l.Least, TTL: l.TTL,
		Node: l.Node, NodeEpoch: l.NodeEpoch, Async: l.Async}
}

// committedAt returns the timestamp at which the transaction is known to have committed at key, zero if it is not known to have. A marker is
// kvapi.ErrRolledBack. unchanged: the key has no version that has come since the transaction's first request.
func committedAt(st State, key []byte, start clock.Timestamp, unchanged bool) (clock.Timestamp, error) {
	switch r, err := st.Record(key, start); {
	case err != nil:
		return 0, err
	case r.Fate == mvcc.FateCommitted:
		return r.Commit, nil
	case r.Fate == mvcc.FateRolledBack:
		return 0, kvapi.ErrRolledBack
	case unchanged:
		return 0, nil
	}
	return st.CommitOf(key, start)
}

// Prewrite evaluates a PrewriteRequest. The mutations of the change know what they shadow. A request whose keys are all locked
// already, or whose transaction is committed, needs no change.
func Prewrite(st State, r *kvapi.PrewriteRequest) (Change, kvapi.PrewriteResult, error) {
	if r.Start <= st.Floor() {
		return Change{}, kvapi.PrewriteResult{}, kvapi.ErrSnapshotTooOld
	}
	var res kvapi.PrewriteResult
	c := Change{Kind: Lock, Start: r.Start, Primary: r.Primary, Async: r.Async, Secondaries: r.Secondaries, Coordinator: r.Coordinator}
	for i := range r.Mutations {
		m := r.Mutations[i]
		l, locked := own(st, m.Key, r.Start)
		if l != nil {
			c.Mutations = copied(c.Mutations, r.Mutations[:i])
			res.Least = max(res.Least, l.Least)
			continue
		}
		// Before a lock of somebody else refuses: it may be younger than what this transaction has committed.
		unchanged := st.Unchanged(m.Key, r.AsOf)
		commit, err := committedAt(st, m.Key, r.Start, unchanged)
		if err != nil || commit != 0 {
			return Change{}, kvapi.PrewriteResult{Commit: commit}, err
		}
		if locked != nil {
			return Change{}, res, locked
		}
		if !unchanged || m.Expect == kvapi.ExpectAbsent { // or else what was met is the newest version, and the client knows what it shadows
			newest, err := st.Newest(m.Key)
			if err == nil {
				err = expect(&m, newest)
			}
			if err != nil {
				return Change{}, res, err
			}
			c.Mutations = copied(c.Mutations, r.Mutations[:i])
			shadow(&m, newest)
		}
		if c.Mutations != nil {
			c.Mutations = append(c.Mutations, m)
		}
	}
	if c.Mutations == nil { // all are as they were asked for
		c.Mutations = r.Mutations
	}
	if r.OnePhase {
		if len(c.Mutations) != len(r.Mutations) {
			return Change{}, res, errLockedOnePhase
		}
		c.Kind, c.Counters = Write, r.Counters
		if err := checks(st, r.Checks, r.Start, r.AsOf); err != nil {
			return Change{}, res, err
		}
		return c, res, nil
	}
	if len(c.Mutations) == 0 {
		return Change{}, res, nil
	}
	return c, res, nil
}

// copied returns what mutations become that are not taken as they were asked for: a list of their own that begins with those in front.
func copied(own, front []kvapi.Mutation) []kvapi.Mutation {
	if own == nil {
		own = append(make([]kvapi.Mutation, 0, len(front)+1), front...)
	}
	return own
}

// expect refuses a mutation whose expectation does not hold.
func expect(m *kvapi.Mutation, newest Head) error {
	ok := true
	switch m.Expect {
	case kvapi.ExpectAbsent:
		ok = newest.TS == 0 || newest.Tombstone
	case kvapi.ExpectNotAbove:
		ok = newest.TS <= m.Prev
	case kvapi.ExpectVersion:
		ok = newest.TS == m.Prev && !newest.Tombstone
	}
	if !ok {
		return &kvapi.ConflictError{Key: bytes.Clone(m.Key), Newest: newest.TS}
	}
	return nil
}

// shadow notes what the mutation will shadow: nothing can come in between (C1).
func shadow(m *kvapi.Mutation, newest Head) {
	m.Shadow, m.Prev, m.PrevLen = kvapi.ShadowNone, 0, 0
	if newest.TS != 0 && !newest.Tombstone {
		m.Shadow, m.Prev, m.PrevLen = kvapi.ShadowAt, newest.TS, int32(newest.Len)
	}
}

// checks refuses if a key or span is not as it was read, or is locked by somebody else.
func checks(st State, checks []kvapi.Check, start clock.Timestamp, asOf uint64) error {
	for i := range checks {
		c := &checks[i]
		if !c.Span.IsPoint() {
			key, err := st.Changed(c, start)
			if err == nil && key != nil {
				err = &kvapi.ConflictError{Key: bytes.Clone(key)}
			}
			if err != nil {
				return err
			}
			continue
		}
		if _, err := own(st, c.Span.Start, start); err != nil {
			return err
		}
		if st.Unchanged(c.Span.Start, asOf) {
			continue
		}
		newest, err := st.Newest(c.Span.Start)
		if err == nil && (newest.TS > c.Seen || c.Live && newest.TS < c.Seen) { // what was seen may have been a deletion that is collected by now
			err = &kvapi.ConflictError{Key: bytes.Clone(c.Span.Start), Newest: newest.TS}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckAt evaluates a CheckRequest, at a leader that serves reads and has waited for the marks at or below its timestamp. A lock of somebody
// else is a conflict: its transaction may commit below. What is younger than the timestamp is no matter, but is not told apart: a
// transaction that meets it is refused needlessly, as one that meets any change is.
func CheckAt(st State, r *kvapi.CheckRequest) error {
	return checks(st, r.Checks, r.Start, 0)
}

// FinishKeys evaluates a FinishRequest.
func FinishKeys(st State, r *kvapi.FinishRequest) (Change, kvapi.FinishResult, error) {
	c := Change{Kind: Rollback, Start: r.Start, TS: r.Commit, Primary: r.Primary}
	if r.Commit != 0 {
		c.Kind = Finish
	}
	for _, key := range r.Keys {
		l, err := st.Lock(key)
		if err != nil {
			return Change{}, kvapi.FinishResult{}, err
		}
		if l != nil && l.Start == r.Start {
			assert.That(r.Commit == 0 || r.Commit >= l.Least, "commit: no transaction commits below its locks (C3)")
			c.Keys = append(c.Keys, key)
			continue
		}
		commit, err := committedAt(st, key, r.Start, false)
		switch {
		case err == kvapi.ErrRolledBack && r.Commit == 0:
			continue // it was rolled back before
		case err != nil:
			return Change{}, kvapi.FinishResult{}, err
		case commit != 0:
			assert.That(r.Commit == 0 || r.Commit == commit, "commit: a transaction commits at one timestamp (C3)")
			if r.Commit == 0 {
				return Change{}, kvapi.FinishResult{Commit: commit}, nil
			}
		case r.Commit == 0:
			c.Keys = append(c.Keys, key) // the marker
		case !bytes.Equal(key, r.Primary): // it was finished before, and what it left has been collected
		case r.Start > st.Floor():
			// Nothing is known of it, so it was never locked here: it cannot be committed.
			return Change{}, kvapi.FinishResult{}, kvapi.ErrRolledBack
		default:
			return Change{}, kvapi.FinishResult{}, kvapi.ErrUndetermined
		}
	}
	if len(c.Keys) == 0 {
		c.Kind = Nothing
	}
	return c, kvapi.FinishResult{Commit: r.Commit}, nil
}

// Status evaluates a StatusRequest. It rolls the transaction back where that is due and may be done at the primary alone (C4).
func Status(st State, r *kvapi.StatusRequest) (Change, kvapi.Status, error) {
	rollback := Change{Kind: Rollback, Start: r.Start, Primary: r.Primary, Keys: [][]byte{r.Primary}}
	l, err := st.Lock(r.Primary)
	if err != nil {
		return Change{}, kvapi.Status{}, err
	}
	if l != nil && l.Start == r.Start {
		switch {
		case !r.Dead && !l.Expired(r.Now):
			return Change{}, kvapi.Status{}, nil
		case l.Async:
			s := kvapi.Status{State: kvapi.TxnOrphaned, Least: l.Least}
			for _, key := range l.Secondaries {
				s.Secondaries = append(s.Secondaries, bytes.Clone(key))
			}
			return Change{}, s, nil
		}
		return rollback, kvapi.Status{State: kvapi.TxnRolledBack}, nil
	}
	commit, err := committedAt(st, r.Primary, r.Start, false)
	switch {
	case err == kvapi.ErrRolledBack:
		return Change{}, kvapi.Status{State: kvapi.TxnRolledBack}, nil
	case err != nil:
		return Change{}, kvapi.Status{}, err
	case commit != 0:
		return Change{}, kvapi.Status{State: kvapi.TxnCommitted, Commit: commit}, nil
	case r.Missing || r.Dead:
		return rollback, kvapi.Status{State: kvapi.TxnRolledBack}, nil
	}
	return Change{}, kvapi.Status{}, nil
}

// CheckSecondaries evaluates a SecondariesRequest.
func CheckSecondaries(st State, r *kvapi.SecondariesRequest) (Change, kvapi.Secondaries, error) {
	var s kvapi.Secondaries
	c := Change{Kind: Rollback, Start: r.Start}
	for _, key := range r.Keys {
		l, err := st.Lock(key)
		if err != nil {
			return Change{}, s, err
		}
		if l != nil && l.Start == r.Start {
			s.Least = max(s.Least, l.Least)
			continue
		}
		commit, err := committedAt(st, key, r.Start, false)
		switch {
		case err == kvapi.ErrRolledBack:
			return Change{}, kvapi.Secondaries{RolledBack: true}, nil
		case err != nil:
			return Change{}, s, err
		case commit != 0:
			return Change{}, kvapi.Secondaries{Commit: commit}, nil
		}
		c.Keys = append(c.Keys, key)
	}
	if len(c.Keys) > 0 {
		return c, kvapi.Secondaries{RolledBack: true}, nil
	}
	return Change{}, s, nil
}

// Heartbeat evaluates a HeartbeatRequest. kvapi.ErrRolledBack says that there is no lock any more, whatever became of it.
func Heartbeat(st State, r *kvapi.HeartbeatRequest) (Change, error) {
	l, err := st.Lock(r.Primary)
	if err != nil {
		return Change{}, err
	}
	if l == nil || l.Start != r.Start {
		return Change{}, kvapi.ErrRolledBack
	}
	if l.TTL >= r.TTL {
		return Change{}, nil
	}
	return Change{Kind: Renew, Start: r.Start, Primary: r.Primary, Keys: [][]byte{r.Primary}, Coordinator: kvapi.Coordinator{TTL: r.TTL}}, nil
}
