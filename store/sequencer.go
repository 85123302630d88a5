package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/mvcc"
	"github.com/pandodb/pando/status"
)

// Bounds of what is held back under pressure.
const (
	// paceFrom is the engine's pressure from which committers are slowed down,
	// and paceMax the delay of a commit of up to paceBytes just before the
	// engine stops writes. A larger one waits as many times longer, up to
	// paceLongest: pressure comes from bytes, and a few loaders would otherwise
	// bring everybody to the stop.
	paceFrom    = 0.5
	paceMax     = 20 * time.Millisecond
	paceBytes   = 64 << 10
	paceLongest = 500 * time.Millisecond
)

// commitSignal is what a waiting committer is woken with, exactly once.
type commitSignal uint8

const (
	signalDone commitSignal = iota // your commit is finished, look at the node
	signalLead                     // you are first in line: lead the next group
)

// commitNode is a commit in the queue. Between enqueue and the signal it belongs
// to the leader.
type commitNode struct {
	next  *commitNode
	owner *Owner
	req   *kvapi.CommitRequest
	admin *adminCommit
	alloc *counterAlloc
	// barrier says that the node is no commit: see Store.barrier.
	barrier bool
	// ranged is the version of rangeTable at which no range conflicts with the commit.
	ranged uint64
	bytes  int
	ts     clock.Timestamp
	err    error
	wake   chan commitSignal
}

// adminCommit is a change of the store itself, ordered among the commits.
type adminCommit struct {
	// prepare adds to the batch, or refuses. It runs in the sequencer.
	prepare func(b *engine.Batch) error
	// applied, which may be nil, publishes the change, before any later commit.
	applied func()
}

// sequencer is the queue of all commits of a store (group commit). It has no
// goroutine: a committer that finds no leader leads a group, and then hands
// leadership to the first commit that arrived meanwhile.
type sequencer struct {
	// mu guards what follows. It is a leaf.
	mu         sync.Mutex
	head, tail *commitNode
	leading    bool // there is a leader, or one has been signalled to lead

	commitsMax, bytesMax int // of a group: Limits.GroupCommits and GroupBytes

	inFlight sync.WaitGroup // commits between enqueue and return, for Close
	stats    commitStats
}

// commitStats count commits and groups.
type commitStats struct {
	commits, groups, syncs status.Counter
	bytes                  status.Counter
	groupSize              status.Histogram
}

// Commit makes a transaction durable. It returns its commit timestamp when the
// watermark covers it, or when it is applied if it is relaxed. On success the
// owner's locks have been released. EpochError, ErrDiskFull and ErrClosed mean
// that nothing happened; ErrUndetermined that the outcome is unknown.
func (s *Store) Commit(o *Owner, r *kvapi.CommitRequest) (clock.Timestamp, error) {
	n := &o.commit
	o.rest()
	bytes := 0
	for i := range r.Mutations {
		m := &r.Mutations[i]
		bytes += len(m.Key) + len(m.Value) + keys.VersionExtra
		if m.Shadow == kvapi.ShadowUnknown {
			o.shadow(s.locks.hash(m.Key), m)
		}
	}
	for _, c := range r.Counters {
		// The sequencer must not wait for the disk, so the value is loaded here.
		if _, err := s.counters.load(c.Key); err != nil {
			return 0, err
		}
	}
	s.pace(bytes)
	n.owner, n.req, n.admin, n.alloc, n.bytes, n.ranged = o, r, nil, nil, bytes, 0
	err := s.commit(n)
	n.req = nil
	if err != nil {
		return 0, err
	}
	return n.ts, nil
}

// commit enqueues a commit, again each time that it is refused because of range locks of others.
func (s *Store) commit(n *commitNode) error {
	for {
		if s.locks.ranges.on.Load() {
			if err := s.awaitCommit(n.owner, n.req, &n.ranged); err != nil {
				return err
			}
		}
		if err := s.enqueue(n); err != errRanged {
			return err
		}
	}
}

// pace slows committers down before the engine would stop them all.
func (s *Store) pace(bytes int) {
	if d := paceDelay(s.engine.Pressure(), bytes); d > 0 {
		clock.Sleep(d)
	}
}

// paceDelay is how long a commit of so many bytes waits under a pressure.
func paceDelay(pressure float64, bytes int) time.Duration {
	if pressure <= paceFrom {
		return 0
	}
	p := (pressure - paceFrom) / (1 - paceFrom)
	size := max(1, float64(bytes)/paceBytes)
	return min(time.Duration(p*p*size*float64(paceMax)), paceLongest)
}

// enqueue adds a node to the queue, leads a group if it is this node's turn, and returns when the node is finished.
func (s *Store) enqueue(n *commitNode) error {
	n.ts, n.err, n.next = 0, nil, nil
	q := &s.seq
	q.mu.Lock()
	if s.isClosing() {
		q.mu.Unlock()
		return kvapi.ErrClosed
	}
	q.inFlight.Add(1)
	defer q.inFlight.Done()
	if q.tail != nil {
		q.tail.next = n
	} else {
		q.head = n
	}
	q.tail = n
	lead := !q.leading
	q.leading = true
	q.mu.Unlock()
	if lead || <-n.wake == signalLead {
		s.lead(n)
	}
	return n.err
}

// takeGroup takes the next group off the queue, as a chain of n nodes. The first is the leader.
func (q *sequencer) takeGroup() (head *commitNode, n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	head = q.head
	last := head
	bytes := head.bytes
	n = 1
	// An adminCommit is a group of its own, because later commits have to be checked
	// against what it changes.
	for head.admin == nil && last.next != nil && last.next.admin == nil && n < q.commitsMax {
		if bytes += last.next.bytes; bytes > q.bytesMax {
			break
		}
		last = last.next
		n++
	}
	q.head = last.next
	if q.head == nil {
		q.tail = nil
	}
	last.next = nil
	return head, n
}

// handOver makes the first node of the queue the next leader.
func (q *sequencer) handOver() {
	q.mu.Lock()
	next := q.head
	q.leading = next != nil
	q.mu.Unlock()
	if next != nil {
		next.wake <- signalLead // room for one, and it has no signal yet
	}
}

// lead runs one group, of which the leader is the first: apply, publish, hand
// over, release locks, sync, acknowledge. doc.go says why in this order.
func (s *Store) lead(leader *commitNode) {
	head, n := s.seq.takeGroup()
	if head != leader {
		panic("store: the leader is not first in line")
	}
	s.seq.stats.groups.Inc()
	s.seq.stats.groupSize.Observe(uint64(n))
	b := s.engine.NewBatch()
	defer b.Close()
	g := s.encodeGroup(b, head)
	applied := !b.Empty()
	if applied {
		if err := s.applyGroup(b, &g); err != nil {
			s.fail(err)
			failGroup(head)
			applied = false
		}
	}
	s.seq.handOver()
	waiting := s.settleGroup(leader, head, g.sync)
	if applied && g.sync {
		if err := b.SyncWait(); err != nil {
			s.fail(err)
			failGroup(waiting)
			if !g.relaxed(leader) {
				failGroup(leader)
			}
		} else {
			s.seq.stats.syncs.Inc()
			s.noteSynced(g.last)
			assert.That(uint64(g.last) <= s.applied.Load(), "store: what is synced was applied")
			s.durable.raise(g.last)
		}
	}
	for m := waiting; m != nil; {
		next := m.next // m belongs to its waiter again once it is signalled
		m.wake <- signalDone
		m = next
	}
}

// group is what the leader knows about its group.
type group struct {
	head *commitNode
	last clock.Timestamp // the highest commit timestamp, zero if there is none
	// sync is true if a member has to wait for the sync.
	sync bool
	// relaxedAll says that the store was relaxed when the group was encoded.
	relaxedAll bool
}

// relaxed reports whether m returns at apply.
func (g *group) relaxed(m *commitNode) bool {
	return g.relaxedAll || (m.admin == nil && m.req.Relaxed)
}

// encodeGroup checks every member and writes what passes into the batch.
// Members that do not pass get their error and take no part.
func (s *Store) encodeGroup(b *engine.Batch, head *commitNode) group {
	g := group{head: head, relaxedAll: s.relaxed.Load()}
	if head.admin != nil {
		// Changes of the store itself are always synced.
		g.relaxedAll = false
		g.sync = true
		if head.err = s.admissible(); head.err == nil && s.regions.Load().closed {
			head.err = errEpoch
		}
		if head.err == nil {
			head.err = head.admin.prepare(b)
		}
		return g
	}
	regions := s.regions.Load()
	ranged := s.locks.ranges.on.Load()
	n := 0
	for m := head; m != nil; m = m.next {
		if m.barrier {
			continue
		}
		if m.err = s.admissible(); m.err == nil {
			m.err = checkRegions(regions, m)
		}
		if ranged && m.err == nil && s.locks.ranges.admit(m.owner, m.req.Mutations, &m.ranged) >= 0 {
			m.err = errRanged
		}
		if m.err == nil && m.req.Start != 0 && m.req.Start > s.oracle.Last() {
			m.err = errFuture
		}
		if m.err == nil {
			n++
		}
	}
	if n == 0 {
		return g
	}
	ts, mark := s.oracle.NextInBatch(n)
	if mark != 0 {
		b.Set(markKey, encodeMark(mark))
	}
	for m := head; m != nil; m = m.next {
		if m.err != nil || m.barrier {
			continue
		}
		m.ts = ts
		ts++
		assert.That(m.ts > g.last, "store: timestamps of a group ascend")
		g.last = m.ts
		g.sync = g.sync || !g.relaxed(m)
		s.encodeCommit(b, m)
	}
	return g
}

// admissible refuses writes on a failed store or a full disk.
func (s *Store) admissible() error {
	if s.failed.Load() {
		return errFailed
	}
	if s.engine.DiskFull() {
		if s.idle.Load() {
			s.signal(s.busy) // maintain, which polls the disk, went to sleep before it was full, and has to notice when there is space again
		}
		return kvapi.ErrDiskFull
	}
	return nil
}

// checkRegions compares the epochs of a commit's regions and counts its bytes.
func checkRegions(regions *regionMap, m *commitNode) error {
	refs := m.req.Regions
	for _, ref := range refs {
		r := regions.check(ref)
		if r == nil {
			return errEpoch
		}
		// A commit over several regions is counted in equal parts: the sum only
		// decides when to look at the region's size.
		r.written.Add(int64(m.bytes / len(refs)))
	}
	if len(refs) == 0 && (len(m.req.Mutations) > 0 || regions.closed) {
		return errEpoch
	}
	return nil
}

// encodeCommit writes one transaction into the batch.
func (s *Store) encodeCommit(b *engine.Batch, m *commitNode) {
	for i := range m.req.Mutations {
		w := &m.req.Mutations[i]
		assert.That(i == 0 || bytes.Compare(m.req.Mutations[i-1].Key, w.Key) < 0, "store: keys of a commit ascend")
		assert.That(w.Shadow != kvapi.ShadowAt || w.Prev < m.ts, "store: a version shadows an older one")
		if w.Kind == kvapi.MutationPut {
			mvcc.Put(b, w.Key, m.ts, m.req.Start, w.Value)
		} else {
			mvcc.Delete(b, w.Key, m.ts, m.req.Start)
		}
	}
	for _, c := range m.req.Counters {
		s.counters.raise(b, c)
	}
	if m.alloc != nil {
		s.counters.alloc(b, m.alloc)
	}
	if n := len(m.req.Mutations); n > 0 && m.bytes >= loadCommitBytes {
		s.engine.NoteLoad(m.req.Mutations[n-1].Key) // behind the records of an index build
	}
	s.seq.stats.commits.Inc()
	s.seq.stats.bytes.Add(uint64(m.bytes))
}

// applyGroup makes the batch visible and publishes that it is.
func (s *Store) applyGroup(b *engine.Batch, g *group) error {
	var err error
	if g.sync {
		err = s.engine.ApplyNoSync(b)
	} else {
		err = s.engine.Apply(b, false)
	}
	if err != nil {
		return err
	}
	if a := g.head.admin; a != nil {
		if a.applied != nil {
			a.applied()
		}
		return nil
	}
	assert.That(uint64(g.last) > s.applied.Load(), "store: groups are applied in the order of their timestamps (S1)")
	s.recordGroup(g.head)
	// The garbage must be in the queue before the watermark, and with it the
	// safepoint, can reach the commit: see gcWorker.
	s.gc.enqueue(g.head)
	s.applied.Store(uint64(g.last))
	if !g.sync {
		s.relaxedTS.Store(uint64(g.last))
		s.signal(s.syncSoon)
	}
	if g.relaxedAll {
		s.durable.raise(g.last)
	}
	if s.idle.Load() {
		s.signal(s.busy)
	}
	return nil
}

// recordGroup brings the row cache and the frontiers up to date, before anybody
// may read at the group's timestamps: before applied, the watermark and the locks
// tell of it.
func (s *Store) recordGroup(head *commitNode) {
	for m := head; m != nil; m = m.next {
		if m.err != nil {
			continue
		}
		for i := range m.req.Mutations {
			switch w := &m.req.Mutations[i]; {
			case w.Kind == kvapi.MutationDelete:
				s.rows.Delete(w.Key, uint64(m.ts))
			case w.Shadow != kvapi.ShadowNone: // nobody can have read what was not there
				s.rows.Put(w.Key, w.Value, m.ts, uint64(m.ts))
			}
		}
		s.frontiers.raise(m.req.Mutations)
	}
}

// settleGroup releases the locks of all members that were applied and wakes
// those that need not wait for the sync. The others, except the leader, are
// returned as a chain.
func (s *Store) settleGroup(leader, head *commitNode, sync bool) (waiting *commitNode) {
	relaxedAll := !sync
	tail := &waiting
	for m := head; m != nil; {
		next := m.next // m belongs to its waiter again once it is signalled
		if m.err == nil && m.owner != nil {
			m.owner.releaseAll()
		}
		switch {
		case m == leader:
		case m.err != nil || relaxedAll || m.req.Relaxed:
			m.wake <- signalDone
		default:
			m.next = nil
			*tail = m
			tail = &m.next
		}
		m = next
	}
	leader.next = nil
	return waiting
}

// failGroup sets ErrUndetermined for the members of a chain that have no error.
func failGroup(head *commitNode) {
	for m := head; m != nil; m = m.next {
		if m.err == nil {
			m.err = kvapi.ErrUndetermined
		}
	}
}

// fail stops all writing: after an error of the log nothing may be acknowledged.
func (s *Store) fail(err error) {
	if s.failed.CompareAndSwap(false, true) {
		s.o.Logger.Error("storage has failed; nothing will be acknowledged any more", "error", err)
	}
}

// failCopy ends a node of a cluster if its copy of some region cannot go on: otherwise the node would still count as alive, and might even be the
// gateway, while the others can go on without it.
func (s *Store) failCopy(err error) {
	s.fail(err)
	s.engine.Fail(err.Error())
}

// administer runs a change of the store through the sequencer and waits until
// it is durable.
func (s *Store) administer(a *adminCommit) error {
	n := &commitNode{admin: a, wake: make(chan commitSignal, 1)}
	return s.enqueue(n)
}

// errFailed is what writes get after a failure of the log; nothing happened.
var errFailed = fmt.Errorf("%w: storage has failed", kvapi.ErrClosed)

// errFuture refuses a commit whose start timestamp is above all that this store has issued.
var errFuture = errors.New("store: a transaction that starts in the future")

// errEpoch is the one EpochError, so that a refusal allocates nothing.
var errEpoch error = &kvapi.EpochError{}

func encodeMark(ts clock.Timestamp) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(ts))
}
