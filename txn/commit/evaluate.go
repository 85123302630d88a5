package commit

import (
	"bytes"
	"errors"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/mvcc"
)

// errLockedOnePhase refuses a request of one phase whose transaction has locks, which no coordinator sends.
var errLockedOnePhase = errors.New("commit: a transaction of one phase that has locks")

// State is what evaluations read: a region with all earlier entries applied (C1). What it returns is valid until the next call.
type State interface {
	// Lock returns the lock of a key, nil if it has none. Its value may be missing.
	Lock(key []byte) (*mvcc.Lock, error)
	// Unchanged reports whether key has no version newer than asOf (PrewriteRequest.AsOf). False says nothing.
	Unchanged(key []byte, asOf uint64) bool
	// Newest returns the newest version of a key, without its row; the zero Head if it has none.
	Newest(key []byte) (Head, error)
	// CommitOf returns when the transaction that began at start wrote a version of key, zero if it has not.
	CommitOf(key []byte, start clock.Timestamp) (clock.Timestamp, error)
	// Record returns what became of the transaction that began at start, at key.
	Record(key []byte, start clock.Timestamp) (mvcc.Record, error)
	// Changed returns a key in the check's span that has been changed since it was read in a way that the check forbids, or may be about to be
	// changed, since another transaction than start has it locked; nil if there is none.
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
	Renew                // the lock of Keys[0] gets a new TTL
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

// Stamped reports whether the change gets the timestamp of its entry, and needs marks on the keys of its mutations before that is fetched.
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

// Describe returns the parts of a lock that others need in order to resolve it.
func Describe(key []byte, l *mvcc.Lock) kvapi.LockInfo {
	return kvapi.LockInfo{Key: bytes.Clone(key), Primary: bytes.Clone(l.Primary), Start: l.Start, Least: l.Least, TTL: l.TTL,
		Node: l.Node, NodeEpoch: l.NodeEpoch, Async: l.Async}
}

// committedAt returns the timestamp at which the transaction has committed at key, according to its record or version; zero if there is neither. If
// there is a marker it returns kvapi.ErrRolledBack. unchanged: the key has no version since before the transaction's first request.
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

// Prewrite evaluates a PrewriteRequest. The mutations of the change say what they shadow. A request whose keys are all locked by it
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
		// This is asked before another transaction's lock is a reason to refuse: that may be newer than this transaction's own commit.
		unchanged := st.Unchanged(m.Key, r.AsOf)
		commit, err := committedAt(st, m.Key, r.Start, unchanged)
		if err != nil || commit != 0 {
			return Change{}, kvapi.PrewriteResult{Commit: commit}, err
		}
		if locked != nil {
			return Change{}, res, locked
		}
		if !unchanged || m.Expect == kvapi.ExpectAbsent { // otherwise the version that the client has read is the newest, and it has filled in what it shadows
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
	if c.Mutations == nil { // all mutations are as requested
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

// copied returns the change's own list of mutations, which is needed if they differ from the request's: at first a copy of those in front.
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

// shadow fills in what the mutation will shadow; no other version can be written before it (C1).
func shadow(m *kvapi.Mutation, newest Head) {
	m.Shadow, m.Prev, m.PrevLen = kvapi.ShadowNone, 0, 0
	if newest.TS != 0 && !newest.Tombstone {
		m.Shadow, m.Prev, m.PrevLen = kvapi.ShadowAt, newest.TS, int32(newest.Len)
	}
}

// checks returns an error if a key or span has changed since it was read, or is locked by another transaction.
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
		if err == nil && (newest.TS > c.Seen || c.Live && newest.TS < c.Seen) { // if it was not live, a delete marker at c.Seen may have been collected
			err = &kvapi.ConflictError{Key: bytes.Clone(c.Span.Start), Newest: newest.TS}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckAt evaluates a CheckRequest, at a leader that serves reads and has waited for the marks at or below its timestamp. Another transaction's
// lock is a conflict, since that one may commit below the timestamp. Changes above the timestamp would not matter, but are not distinguished:
// they refuse the transaction needlessly.
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
			c.Keys = append(c.Keys, key) // gets a marker
		case !bytes.Equal(key, r.Primary): // it was finished before, and its version has been collected
		case r.Start > st.Floor():
			// There is no trace of it, so the primary was never locked: the transaction cannot be committed.
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

// Status evaluates a StatusRequest. It rolls the transaction back if its coordinator counts as dead and the primary decides (C4).
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

// Heartbeat evaluates a HeartbeatRequest. kvapi.ErrRolledBack says only that the lock is gone; the transaction may be committed.
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
