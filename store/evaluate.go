package store

import (
	"bytes"
	"errors"
	"sync"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/mvcc"
	"github.com/pandodb/pando/replica"
	"github.com/pandodb/pando/txn/commit"
)

var (
	// errBusy: the entry in flight changes what the request reads. The request is evaluated again for the next entry.
	errBusy = errors.New("store: the entry in flight changes what is read")
	// errNothing: there is nothing to propose, and the answer is known.
	errNothing = errors.New("store: nothing to propose")
)

// proposal is a request of package commit in a region's line.
type proposal struct {
	c       *Cluster
	r       *clusterRegion
	request any
	state   regionState
	change  commit.Change
	result  any
	write   replica.Write // the command of most requests, so that it need not be allocated
	marks   marking       // that it has published
	busy    bool          // its keys are in clusterRegion.busy
	size    int
}

var proposals = sync.Pool{New: func() any { return new(proposal) }}

// Do evaluates a request of package commit at this store, and returns once its change, if there is one, is durable. An EpochError, a
// LockedError or a refusal mean that nothing happened; kvapi.ErrUndetermined that the outcome is unknown.
func (c *Cluster) Do(request any) (result any, err error) {
	if r, is := request.(*kvapi.CheckRequest); is {
		return nil, c.check(r)
	}
	ref := commit.Region(request)
	line := c.lines.Line(ref.ID)
	if line == nil {
		return nil, errEpoch
	}
	p := proposals.Get().(*proposal)
	p.c, p.request = c, request
	if w, is := request.(*kvapi.PrewriteRequest); is {
		for i := range w.Mutations {
			p.size += len(w.Mutations[i].Key) + len(w.Mutations[i].Value) + keys.VersionExtra
		}
		c.s.pace(p.size)
	}
	for {
		if err = line.Do(p); err != errBusy {
			break
		}
		c.stats.Busy.Inc() // no pause: the line takes the next group only after the entry that was in the way is applied
	}
	result = p.result
	p.release()
	switch {
	case err == errNothing:
		return result, c.mayAnswer() // as after a read: the answer comes from this store's state alone
	case err != nil:
		return nil, err
	}
	return result, nil
}

// release returns a proposal to the pool.
func (p *proposal) release() {
	*p = proposal{marks: p.marks.emptied(), state: regionState{key: p.state.key[:0]}}
	proposals.Put(p)
}

// Size implements replica.Proposal.
func (p *proposal) Size() int { return p.size + 64 }

// Alone implements replica.Proposal.
func (p *proposal) Alone() bool { return false }

// Prepare implements replica.Proposal: it evaluates the request, and publishes its marks.
func (p *proposal) Prepare(t replica.Turn) (timestamps int, err error) {
	p.change, p.result = commit.Change{}, nil
	// Looked up only now: a snapshot may have replaced the region while the request was in the line.
	if p.r = p.c.region(t.Region.ID); p.r == nil || commit.Region(p.request) != t.Region.Ref() {
		return 0, errEpoch
	}
	if _, writes := p.request.(*kvapi.PrewriteRequest); writes {
		if err := p.c.s.admissible(); err != nil {
			return 0, err
		}
	}
	p.c.stats.Evaluated.Inc()
	st := &p.state
	*st = regionState{c: p.c, r: p.r, pending: p.r.pending.Load(), inLine: true, key: st.key[:0]}
	defer st.close()
	if p.touched() {
		return 0, errBusy
	}
	if p.change, p.result, err = commit.Evaluate(st, p.request); err != nil {
		if err != errBusy {
			p.c.stats.Refused.Inc()
		}
		return 0, err
	}
	switch {
	case p.change.Kind == commit.Nothing:
		return 0, errNothing
	case p.change.Stamped():
		p.marks.publish(st.pending, p.change.Mutations)
		return 1, nil
	}
	p.busy = true
	for _, key := range p.change.Keys {
		p.r.busy[string(key)] = struct{}{}
	}
	return 0, nil
}

// touched reports whether the entry in flight changes a key that the request reads (S15). Spans are checked when they are evaluated.
func (p *proposal) touched() (touched bool) {
	if len(p.r.busy) == 0 && !p.state.pending.anyMarks() {
		return false
	}
	commit.Keys(p.request, func(key []byte) bool {
		_, busy := p.r.busy[string(key)]
		touched = busy || p.state.pending.marked(key)
		return !touched
	})
	return touched
}

// Command implements replica.Proposal: it notes the timestamp on the marks.
func (p *proposal) Command(first clock.Timestamp) (replica.Proposed, error) {
	c := &p.change
	if c.Stamped() {
		var err error
		if p.result, err = c.Stamp(first, p.request.(*kvapi.PrewriteRequest).MaxCommit, p.result); err != nil {
			return nil, err
		}
		p.marks.stamp(first)
	}
	switch c.Kind {
	case commit.Write:
		p.write = replica.Write{Start: c.Start, TS: c.TS, Mutations: c.Mutations, Counters: c.Counters}
		return &p.write, nil
	case commit.Lock:
		return &replica.Prewrite{Start: c.Start, Node: c.Coordinator.Node, NodeEpoch: c.Coordinator.NodeEpoch, TTL: c.Coordinator.TTL,
			Primary: c.Primary, Async: c.Async, Secondaries: c.Secondaries, Least: c.TS, Mutations: c.Mutations}, nil
	case commit.Finish:
		return &replica.Commit{Start: c.Start, TS: c.TS, Keys: c.Keys}, nil
	case commit.Rollback:
		return &replica.Rollback{Start: c.Start, Marker: true, Keys: c.Keys}, nil
	}
	return &replica.Renew{Start: c.Start, Key: c.Keys[0], TTL: c.Coordinator.TTL}, nil
}

// Finish implements replica.Proposal.
func (p *proposal) Finish(replica.Result, error) {
	p.marks.drop()
	if p.busy {
		for _, key := range p.change.Keys {
			delete(p.r.busy, string(key))
		}
		p.busy = false
	}
}

// check evaluates a CheckRequest at the present leader, as a read is served: it waits for marks at or below the request's timestamp, and does not
// go through the region's line. Entries in flight do not disturb it: changes are above that timestamp, and a lock is in pending until it has visibly ended.
func (c *Cluster) check(r *kvapi.CheckRequest) error {
	in, err := c.enter(r.Region)
	if err != nil {
		return err
	}
	st := &regionState{c: c, r: in.r, pending: in.r.pending.Load()}
	defer st.close()
	for i := range r.Checks {
		k := &r.Checks[i]
		for {
			o := st.pending.marksIn(k.Span, r.At)
			if o == nil {
				break
			}
			if _, err := st.pending.wait(o, markWait, nil, c.s.closing); err != nil {
				return err
			}
		}
	}
	if err := commit.CheckAt(st, r); err != nil {
		return err
	}
	return in.still()
}

// regionState gives evaluations the applied state of a region. It implements commit.State.
type regionState struct {
	c       *Cluster
	r       *clusterRegion
	pending *pending
	// inLine: the evaluation is in the region's line, so nothing is applied meanwhile. Otherwise it is, and a key is read from an iterator that was
	// made after its lock was looked for (S22).
	inLine bool
	it     *engine.Iter
	// key and head remember the last answer of Newest, if known.
	key   []byte
	head  commit.Head
	known bool
}

func (st *regionState) close() {
	if st.it != nil {
		_ = st.it.Close() // its error would repeat one that a read has returned
	}
}

// locked is called after locks have been looked for and before the keys are read: outside of the line an older iterator is given up (S22).
func (st *regionState) locked() {
	if !st.inLine {
		st.close()
		st.it, st.known = nil, false
	}
}

func (st *regionState) iter() (*engine.Iter, error) {
	if st.it == nil {
		it, err := st.c.s.engine.NewIter(engine.IterOptions{})
		if err != nil {
			return nil, st.c.s.readError(err)
		}
		st.it = it
	}
	return st.it, nil
}

// Lock implements commit.State.
func (st *regionState) Lock(key []byte) (*mvcc.Lock, error) {
	if l := st.pending.find(key); l != nil {
		return &l.Lock, nil
	}
	return nil, nil
}

// Unchanged implements commit.State.
func (st *regionState) Unchanged(key []byte, asOf uint64) bool {
	return asOf != 0 && st.c.s.rows.Unchanged(key, asOf)
}

// Newest implements commit.State.
func (st *regionState) Newest(key []byte) (commit.Head, error) {
	st.locked()
	if st.known && bytes.Equal(st.key, key) {
		return st.head, nil
	}
	it, err := st.iter()
	if err != nil {
		return commit.Head{}, err
	}
	st.c.stats.Looked.Inc()
	v, found, err := mvcc.Read(it, key, clock.MaxTimestamp)
	if err != nil {
		return commit.Head{}, st.c.s.readError(err)
	}
	st.key, st.head, st.known = append(st.key[:0], key...), commit.Head{}, true
	if found {
		st.head = commit.Head{TS: v.TS, Start: v.Start, Tombstone: v.Tombstone, Len: len(v.Row)}
	}
	return st.head, nil
}

// CommitOf implements commit.State.
func (st *regionState) CommitOf(key []byte, start clock.Timestamp) (clock.Timestamp, error) {
	switch newest, err := st.Newest(key); {
	case err != nil || newest.TS <= start:
		return 0, err
	case newest.Start == start:
		return newest.TS, nil
	}
	ts, err := mvcc.CommitOf(st.it, key, start)
	if err != nil {
		return 0, st.c.s.readError(err)
	}
	return ts, nil
}

// Record implements commit.State.
func (st *regionState) Record(key []byte, start clock.Timestamp) (mvcc.Record, error) {
	if !st.r.records.Load() {
		return mvcc.Record{}, nil
	}
	b, found, err := st.c.s.engine.Get(nil, keys.TxnKey(nil, key, start))
	if err != nil {
		return mvcc.Record{}, st.c.s.readError(err)
	}
	if !found {
		return mvcc.Record{}, nil
	}
	record, err := mvcc.DecodeRecord(b)
	if err != nil {
		return mvcc.Record{}, st.c.s.readError(err)
	}
	return record, nil
}

// Changed implements commit.State.
func (st *regionState) Changed(c *kvapi.Check, start clock.Timestamp) ([]byte, error) {
	span := c.Span
	if st.inLine && st.touched(span) {
		return nil, errBusy
	}
	others := st.pending.lockedIn(span, start)
	st.locked()
	for _, key := range others {
		if forbidden, err := st.forbids(c, []byte(key), true); err != nil || forbidden {
			return []byte(key), err
		}
	}
	upper := keys.SpaceEnd(nil, keys.SpaceVersion)
	if len(span.End) > 0 {
		upper = keys.VersionPrefix(nil, span.End)
	}
	it, err := st.c.s.engine.NewIter(engine.IterOptions{Lower: keys.VersionPrefix(nil, span.Start), Upper: upper, MinTS: c.Seen + 1, MaxTS: clock.MaxTimestamp})
	if err != nil {
		return nil, st.c.s.readError(err)
	}
	defer func() { _ = it.Close() }() // its error would repeat one of the walk
	var judged []byte
	for ok := it.First(); ok; ok = it.Next() {
		key, ts, is := keys.DecodeVersionKey(it.Key())
		if !is {
			return nil, corrupt("key of a version")
		}
		if ts <= c.Seen || bytes.Equal(key, judged) {
			continue
		}
		judged = append(judged[:0], key...)
		if forbidden, err := st.forbids(c, judged, false); err != nil || forbidden {
			return judged, err
		}
	}
	if err := it.Error(); err != nil {
		return nil, st.c.s.readError(err)
	}
	return nil, nil
}

// touched reports whether the entry in flight changes a key of a span (S15).
func (st *regionState) touched(span kvapi.Span) bool {
	for key := range st.r.busy {
		if span.Contains([]byte(key)) {
			return true
		}
	}
	return st.pending.marksWithin(span)
}

// forbids reports whether the check of a span fails because of one key: that has versions above c.Seen or, if locked, another transaction's lock,
// which may become one. A check of a whole span fails in any case. One of a gap fails if the key was inserted: if there is a state above c.Seen, or
// the one at c.Seen, in which it is absent, and a later one, or the lock, in which it is there. That the key was there at c.Seen does not help: the
// reader has not locked what is inserted after its deletion.
func (st *regionState) forbids(c *kvapi.Check, key []byte, locked bool) (bool, error) {
	if c.Kind != kvapi.RangeGap {
		return true, nil
	}
	it, err := st.iter()
	if err != nil {
		return false, err
	}
	there := locked // whether the key is there in any state later than the version that is looked at
	for ts := clock.MaxTimestamp; ; {
		v, found, err := mvcc.Read(it, key, ts)
		if err != nil {
			return false, st.c.s.readError(err)
		}
		gone := !found || v.Tombstone
		if gone && there {
			return true, nil
		}
		if !found || v.TS <= c.Seen {
			return false, nil
		}
		there, ts = there || !gone, v.TS.Prev()
	}
}

// Floor implements commit.State.
func (st *regionState) Floor() clock.Timestamp {
	return clock.Timestamp(max(st.r.floor.Load(), st.r.gcPoint.Load()))
}
