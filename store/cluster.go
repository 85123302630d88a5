package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/mvcc"
	"github.com/pandodb/pando/replica"
	"github.com/pandodb/pando/status"
)

// Cluster is the regions of a store that have a Raft log: it applies their commands, and serves reads and commits. It shares the store's
// engine, lock table, counters and row cache. It is safe for concurrent use.
type Cluster struct {
	s          *Store
	lines      Lines
	timestamps Timestamps

	mu      sync.Mutex // guards replacing regions; a leaf
	regions atomic.Pointer[map[kvapi.RegionID]*clusterRegion]
	// recorded is the last number of a group of commands whose rows were recorded in the row cache. A group gets its number after it is visible:
	// so one that an iterator does not show has a higher number than recorded had before the iterator was made. It never falls, and begins
	// above the numbers from the time when the store was alone, which are timestamps.
	recorded   atomic.Uint64
	stats      ClusterStats
	lease      lease
	role       role
	closing    chan struct{} // closed when Close begins
	ctx        context.Context
	cancel     context.CancelFunc
	background sync.WaitGroup

	// set and meta are started by Promote and Open; nil in tests that drive the groups themselves.
	set  *replica.Set
	meta *metaRegion
}

// Timestamps is the cluster's source of timestamps.
type Timestamps interface {
	replica.Timestamps
	// Last returns the highest that was issued.
	Last() clock.Timestamp
}

// Lines are where changes of regions are proposed: a replica.Set.
type Lines interface {
	// Line returns the line of a region, nil if it has no replica here.
	Line(id kvapi.RegionID) replica.Line
	// Status returns the state of a region's replica.
	Status(id kvapi.RegionID) (st replica.GroupStatus, ok bool)
}

// ClusterStats count what a cluster's store does.
type ClusterStats struct {
	Evaluated, Refused, Busy status.Counter // requests: evaluated, refused, and evaluated again because the entry in flight was in the way (S15)
	Looked                   status.Counter // keys whose newest version an evaluation looked for
	MarkWaits, LockWaits     status.Counter // of readers
	Applied                  status.Counter // commands
	CollectFailed            status.Counter // rounds of the garbage collector
	Leases, LeasesMissed     status.Counter // attempts to extend the lease of region 0 that succeeded, and that failed
}

// clusterRegion is a region with a log.
type clusterRegion struct {
	desc    atomic.Pointer[kvapi.Region]
	pending atomic.Pointer[pending]
	// gcPoint: nobody reads below it. floor, which only the leader raises: no transaction that began at or below it gets a lock. floor may be
	// above gcPoint; it is the higher of both that counts (regionState.Floor).
	gcPoint, floor atomic.Uint64
	garbage        garbage
	collected      atomic.Uint64 // the garbage of commits at or below it has been deleted
	sizing
	// records says that there may be transaction records. noted counts calls of noteRecord. Both are changed under recordsMu, a leaf.
	recordsMu sync.Mutex
	records   atomic.Bool
	noted     atomic.Uint64
	// busy are the keys that the entry in flight changes without marks: those of commits, rollbacks and renewals. Only the leader of the line uses it.
	busy map[string]struct{}
	// ended are the locks that applied commits have turned into versions which are not visible yet, in the order of application. Only the goroutine
	// that applies uses it. pending cannot be asked instead: when several entries become visible at once, another transaction may have locked the key.
	ended []endedLock
}

// endedLock is a lock that a commit has turned into a version.
type endedLock struct {
	key []byte
	row *intent
}

// NewCluster loads the regions with a log from the store's engine, and their locks. Their Raft groups are started afterwards: what those
// apply comes on top.
func NewCluster(s *Store, timestamps Timestamps) (*Cluster, error) {
	c := &Cluster{s: s, timestamps: timestamps, closing: make(chan struct{}), lease: lease{length: s.o.Lease}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.role.init()
	c.recorded.Store(s.applied.Load())
	found, err := replica.LoadRegions(s.engine)
	if err != nil {
		return nil, err
	}
	regions := make(map[kvapi.RegionID]*clusterRegion, len(found))
	for _, desc := range found {
		if desc.ID == 0 || desc.Mode != kvapi.ModeRaft {
			continue
		}
		if regions[desc.ID], err = c.load(desc); err != nil {
			return nil, err
		}
	}
	c.regions.Store(&regions)
	return c, nil
}

// Lead sets where changes are proposed. It is called before the first request, and before the groups apply anything.
func (c *Cluster) Lead(lines Lines) { c.lines = lines }

func newClusterRegion(desc *kvapi.Region, p *pending) *clusterRegion {
	r := &clusterRegion{busy: map[string]struct{}{}}
	r.desc.Store(desc)
	r.pending.Store(p)
	return r
}

// load reads what a region keeps in memory.
func (c *Cluster) load(desc *kvapi.Region) (r *clusterRegion, err error) {
	r = newClusterRegion(desc, newPending())
	lower, upper := spaceBounds(keys.SpaceLock, desc)
	it, err := c.s.engine.NewIter(engine.IterOptions{Lower: lower, Upper: upper})
	if err != nil {
		return nil, c.s.readError(err)
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok; ok = it.Next() {
		_, key, bare := keys.DecodeBare(it.Key())
		value, err := it.Value()
		if err != nil {
			return nil, c.s.readError(err)
		}
		l, err := mvcc.DecodeLock(bytes.Clone(value))
		if err != nil || !bare {
			return nil, corrupt(fmt.Sprintf("lock of key %x: %v", key, err))
		}
		r.pending.Load().lock(key, l)
		r.pending.Load().shown(key)
	}
	if err := it.Error(); err != nil {
		return nil, c.s.readError(err)
	}
	some, err := c.any(keys.SpaceTxn, desc)
	if err != nil {
		return nil, err
	}
	r.records.Store(some)
	return r, c.loadCollected(r)
}

// any reports whether a region has something in a space.
func (c *Cluster) any(space byte, desc *kvapi.Region) (some bool, err error) {
	lower, upper := spaceBounds(space, desc)
	it, err := c.s.engine.NewIter(engine.IterOptions{Lower: lower, Upper: upper})
	if err != nil {
		return false, c.s.readError(err)
	}
	some = it.First()
	return some, errors.Join(it.Error(), it.Close())
}

// spaceBounds returns the engine keys around what a region has in a space.
func spaceBounds(space byte, r *kvapi.Region) (lower, upper []byte) {
	lower = keys.Bare(nil, space, r.Start)
	if len(r.End) == 0 {
		return lower, keys.SpaceEnd(nil, space)
	}
	return lower, keys.Bare(nil, space, r.End)
}

// region returns a region of this store, nil if it is not here.
func (c *Cluster) region(id kvapi.RegionID) *clusterRegion { return (*c.regions.Load())[id] }

// Regions returns the regions in key order. Callers must not change them.
func (c *Cluster) Regions() []*kvapi.Region { return sorted(*c.regions.Load()) }

func sorted(all map[kvapi.RegionID]*clusterRegion) []*kvapi.Region {
	out := make([]*kvapi.Region, 0, len(all))
	for _, r := range all {
		out = append(out, r.desc.Load())
	}
	slices.SortFunc(out, func(a, b *kvapi.Region) int { return cmp.Or(bytes.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID)) })
	return out
}

// Apply implements replica.Machine.
func (c *Cluster) Apply(b *engine.Batch, at replica.Position, command replica.Command) (replica.Result, error) {
	r := c.region(at.Region.ID)
	switch cmd := command.(type) {
	case *replica.Write:
		for i := range cmd.Mutations {
			m := &cmd.Mutations[i]
			putVersion(b, m.Key, cmd.TS, cmd.Start, m.Value, m.Kind == kvapi.MutationDelete)
		}
		for _, raise := range cmd.Counters {
			if _, err := c.s.counters.load(raise.Key); err != nil {
				return replica.Result{}, err
			}
			c.s.counters.raise(b, raise)
		}
	case *replica.Prewrite:
		c.applyPrewrite(b, r, cmd)
	case *replica.Commit:
		return replica.Result{}, c.applyCommit(b, r, cmd)
	case *replica.Rollback:
		p := r.pending.Load()
		for _, key := range cmd.Keys {
			if l := p.find(key); l != nil && l.Start == cmd.Start {
				b.Delete(keys.LockKey(nil, key))
				p.leave(key)
			}
			if cmd.Marker {
				c.setRecord(b, r, key, cmd.Start, mvcc.Record{Fate: mvcc.FateRolledBack})
			}
		}
	case *replica.Renew:
		l, err := c.stored(r, cmd.Key, cmd.Start)
		if err != nil || l == nil {
			return replica.Result{}, err
		}
		l.TTL = cmd.TTL
		b.Set(keys.LockKey(nil, cmd.Key), l.Append(nil))
		r.pending.Load().renew(cmd.Key, cmd.TTL)
	case *replica.Alloc:
		if _, err := c.s.counters.load(cmd.Key); err != nil {
			return replica.Result{}, err
		}
		a := counterAlloc{req: &kvapi.CounterAllocRequest{Key: cmd.Key, Least: cmd.Least, N: cmd.N}}
		c.s.counters.alloc(b, &a)
		return replica.Result{Number: a.first}, nil
	case *replica.DropCounters:
		b.DeleteRange(keys.CounterKey(nil, cmd.Span.Start), keys.CounterKey(nil, cmd.Span.End))
		c.s.counters.dropSpan(cmd.Span)
	case *replica.DropSpan:
		b.DeleteRange(keys.VersionPrefix(nil, cmd.Span.Start), keys.VersionPrefix(nil, cmd.Span.End))
	default:
		return replica.Result{}, fmt.Errorf("store: a command of kind %d in region %d", command.Kind(), at.Region.ID)
	}
	return replica.Result{}, nil
}

func putVersion(b *engine.Batch, key []byte, ts, start clock.Timestamp, row []byte, deleted bool) {
	if deleted {
		mvcc.Delete(b, key, ts, start)
		return
	}
	mvcc.Put(b, key, ts, start, row)
}

func (c *Cluster) applyPrewrite(b *engine.Batch, r *clusterRegion, cmd *replica.Prewrite) {
	for i := range cmd.Mutations {
		m := &cmd.Mutations[i]
		l := mvcc.Lock{Start: cmd.Start, Least: cmd.Least, TTL: cmd.TTL, Node: cmd.Node, NodeEpoch: cmd.NodeEpoch,
			Primary: bytes.Clone(cmd.Primary), Async: cmd.Async, Delete: m.Kind == kvapi.MutationDelete}
		if !l.Delete {
			l.Value = bytes.Clone(m.Value)
		}
		if bytes.Equal(m.Key, cmd.Primary) {
			for _, key := range cmd.Secondaries {
				l.Secondaries = append(l.Secondaries, bytes.Clone(key))
			}
		}
		b.Set(keys.LockKey(nil, m.Key), l.Append(nil))
		r.pending.Load().lock(m.Key, l)
	}
}

// applyCommit turns locks into versions. A key without a lock was finished before.
func (c *Cluster) applyCommit(b *engine.Batch, r *clusterRegion, cmd *replica.Commit) error {
	for _, key := range cmd.Keys {
		l, err := c.stored(r, key, cmd.Start)
		if err != nil {
			return err
		}
		if l == nil {
			continue
		}
		putVersion(b, key, cmd.TS, cmd.Start, l.Value, l.Delete)
		b.Delete(keys.LockKey(nil, key))
		p := r.pending.Load()
		r.ended = append(r.ended, endedLock{key, p.find(key)})
		p.leave(key)
		if bytes.Equal(key, l.Primary) {
			c.setRecord(b, r, key, cmd.Start, mvcc.Record{Fate: mvcc.FateCommitted, Commit: cmd.TS})
		}
	}
	return nil
}

func (c *Cluster) setRecord(b *engine.Batch, r *clusterRegion, key []byte, start clock.Timestamp, record mvcc.Record) {
	b.Set(keys.TxnKey(nil, key, start), record.Append(nil))
	r.noteRecord()
}

// stored returns a transaction's lock of a key with its row, from the engine if it is not in memory; nil if it has none.
func (c *Cluster) stored(r *clusterRegion, key []byte, start clock.Timestamp) (*mvcc.Lock, error) {
	l := r.pending.Load().find(key)
	if l == nil || l.Start != start {
		return nil, nil
	}
	found := l.Lock
	if !l.dropped {
		return &found, nil
	}
	b, ok, err := c.s.engine.Get(nil, keys.LockKey(nil, key))
	if err != nil {
		return nil, c.s.readError(err)
	}
	if !ok {
		return nil, corrupt(fmt.Sprintf("the lock of key %x is not where it was", key))
	}
	stored, err := mvcc.DecodeLock(b)
	if err != nil {
		return nil, c.s.readError(err)
	}
	found.Value = stored.Value
	return &found, nil
}

// Applied implements replica.Machine: it records what is visible now in the row cache, and then lets those go on who wait for it.
func (c *Cluster) Applied(at replica.Position, commands []replica.Command) {
	r := c.region(at.Region.ID)
	number := c.recorded.Add(1)
	c.stats.Applied.Add(uint64(len(commands)))
	for _, command := range commands {
		switch cmd := command.(type) {
		case *replica.Write:
			for i := range cmd.Mutations {
				m := &cmd.Mutations[i]
				c.record(m.Key, m.Value, cmd.TS, m.Kind == kvapi.MutationDelete, number)
				if m.Shadow != kvapi.ShadowNone || m.Kind == kvapi.MutationDelete {
					r.garbage.add(m.Key, cmd.TS, c.s.o.Limits.GarbageBytes)
				}
				r.written.Add(int64(len(m.Key) + len(m.Value) + keys.VersionExtra))
			}
			c.s.frontiers.raise(cmd.Mutations)
		case *replica.Prewrite:
			for i := range cmd.Mutations {
				r.pending.Load().shown(cmd.Mutations[i].Key)
			}
		case *replica.Commit:
			r.noteRecord()
			c.recordEnded(r, cmd, number)
		case *replica.Rollback:
			r.noteRecord()
			for _, key := range cmd.Keys {
				r.pending.Load().unlock(key, cmd.Start)
			}
		case *replica.DropCounters:
			// Again: a reader of the engine between Apply and now may have loaded a counter whose deletion was not visible yet.
			c.s.counters.dropSpan(cmd.Span)
		case *replica.GCPoint:
			r.gcPoint.Store(max(r.gcPoint.Load(), uint64(cmd.TS)))
		}
	}
	if c.s.idle.Load() {
		c.s.signal(c.s.busy)
	}
}

// recordEnded records the versions that a commit has made of locks, once they are visible.
func (c *Cluster) recordEnded(r *clusterRegion, cmd *replica.Commit, number uint64) {
	p := r.pending.Load()
	n := 0
	for _, key := range cmd.Keys {
		if n == len(r.ended) {
			break
		}
		l := &r.ended[n]
		if l.row.Start != cmd.Start || !bytes.Equal(l.key, key) {
			continue // it was finished before
		}
		n++
		c.record(key, l.row.Value, cmd.TS, l.row.Delete || l.row.dropped, number)
		c.s.frontiers.raiseKey(key)
		r.garbage.add(key, cmd.TS, c.s.o.Limits.GarbageBytes)
		r.written.Add(int64(len(key) + len(l.row.Value) + keys.VersionExtra))
		p.unlock(key, cmd.Start)
	}
	r.ended = slices.Delete(r.ended, 0, n)
}

// record tells the row cache of a commit.
func (c *Cluster) record(key, row []byte, ts clock.Timestamp, gone bool, number uint64) {
	if gone {
		c.s.rows.Delete(key, number)
		return
	}
	c.s.rows.Put(key, row, ts, number)
}

// Split implements replica.Machine.
func (c *Cluster) Split(left, right *kvapi.Region) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.region(left.ID)
	// The new epoch is published before the locks are moved: a reader that has looked for locks already is refused after it has its iterator, and
	// one that begins now is refused before it looks (S17).
	old.desc.Store(left)
	half := newClusterRegion(right, old.pending.Load().cutAt(right.Start))
	half.gcPoint.Store(old.gcPoint.Load())
	half.floor.Store(old.floor.Load())
	half.records.Store(old.records.Load())
	old.garbage.cutAt(right.Start, &half.garbage)
	// These are guesses. The gateway, which has measured, notes the real sizes after this (noteSizes); other replicas keep the guesses.
	written := old.written.Swap(0)
	size := old.size.Load() + written
	most := max(size, old.most.Load()+written)
	half.size.Store(size / 2)
	old.size.Store(size - size/2)
	half.most.Store(most)
	old.most.Store(most)
	next := maps.Clone(*c.regions.Load())
	next[right.ID] = half
	c.regions.Store(&next)
	c.s.splits.Inc()
}

// Stats returns the counts.
func (c *Cluster) Stats() *ClusterStats { return &c.stats }

// Pending returns how many marks and locks there are.
func (c *Cluster) Pending() (marks, locks int) {
	for _, r := range *c.regions.Load() {
		m, l := r.pending.Load().counts()
		marks, locks = marks+m, locks+l
	}
	return marks, locks
}
