package kv

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/rpc"
)

// retriesMax is how often a request is repeated with fresh regions. Each repeat
// means that a region has split in between.
const retriesMax = 16

// Owner is what stores keep of one transaction: its locks. It is embedded in
// the transaction.
type Owner = rpc.Owner

// Snapshot is a registered timestamp. It is embedded in its user.
type Snapshot = rpc.Snapshot

// Fill makes versions of the past.
type Fill = rpc.Fill

// Sorter sorts pairs; see store.Sorter.
type Sorter = rpc.Sorter

// Client is how the transaction layer reaches stores. It is safe for concurrent
// use.
type Client struct {
	peer    *rpc.Peer
	regions atomic.Pointer[regionCache]
	// refreshes counts how often the cache was read anew.
	refreshes atomic.Uint64
	routed    RouterStats
	// optimistic is package txn's.
	optimistic OptimisticStats
}

// OptimisticStats count what came of optimistic transactions that wrote.
type OptimisticStats struct {
	Commits   atomic.Uint64
	Conflicts atomic.Uint64 // refused for what others had written
}

// New returns a client of the peer.
func New(peer *rpc.Peer) *Client {
	c := &Client{peer: peer}
	c.refresh()
	return c
}

// refresh reads the regions anew.
func (c *Client) refresh() {
	c.refreshes.Add(1)
	next := &regionCache{}
	if c.peer.Clustered() {
		if old := c.regions.Load(); old != nil {
			next.cluster = old.cluster
		}
		if next.cluster == nil {
			next.cluster = newRouter(c)
		}
	}
	next.sorted = c.peer.Regions()
	c.regions.Store(next)
}

// Routed returns the counts of requests to a cluster.
func (c *Client) Routed() *RouterStats { return &c.routed }

// Optimistic returns the counts of optimistic transactions, which are kept here because a client outlives the managers above it.
func (c *Client) Optimistic() *OptimisticStats { return &c.optimistic }

// Clustered reports whether the store is one of a cluster.
func (c *Client) Clustered() bool { return c.router() != nil }

// router returns how regions with logs are reached, nil while the store is alone.
func (c *Client) router() *router { return c.regions.Load().cluster }

// The requests to a cluster. They are apart, and copy the request, so that those to a store that is alone stay on the stack.

//go:noinline
func (c *Client) clusterGet(r *kvapi.GetRequest) (found bool, err error) {
	q := *r
	return c.router().get(&q)
}

//go:noinline
func (c *Client) clusterScan(r *kvapi.ScanRequest) (resume []byte, err error) {
	q := *r
	return c.router().scan(&q)
}

//go:noinline
func (c *Client) clusterLock(o *Owner, r *kvapi.LockRequest) (res kvapi.LockResult, err error) {
	q := *r
	return c.router().lock(o, &q)
}

//go:noinline
func (c *Client) clusterCommit(o *Owner, r *kvapi.CommitRequest) (ts clock.Timestamp, err error) {
	return c.router().commit(o, r)
}

// Refreshes returns how often the region cache was read anew.
func (c *Client) Refreshes() uint64 { return c.refreshes.Load() }

// stale reports whether err asks for fresh regions, and fetches them.
func (c *Client) stale(err error) bool {
	if err == nil {
		return false
	}
	var epoch *kvapi.EpochError
	if !errors.As(err, &epoch) {
		return false
	}
	c.refresh()
	return true
}

// errUnstable is returned when regions change faster than requests are made.
var errUnstable = fmt.Errorf("kv: %w: regions changed under %d repeats of a request", kvapi.ErrUnavailable, retriesMax)

// Get reads one key; see kvapi.GetRequest.
func (c *Client) Get(r *kvapi.GetRequest) (found bool, err error) {
	for range retriesMax {
		cache := c.regions.Load()
		if cache.cluster != nil {
			return c.clusterGet(r)
		}
		r.Region = cache.sorted[cache.find(r.Key)].Ref()
		if found, err = c.peer.Get(r); !c.stale(err) {
			return found, err
		}
	}
	return false, errUnstable
}

// Scan reads one page; see kvapi.ScanRequest. A page may cross regions.
func (c *Client) Scan(r *kvapi.ScanRequest) (resume []byte, err error) {
	for range retriesMax {
		cache := c.regions.Load()
		if cache.cluster != nil {
			return c.clusterScan(r)
		}
		r.Regions = cache.cover(r.Regions[:0], r.Span)
		if resume, err = c.peer.Scan(r); !c.stale(err) {
			return resume, err
		}
	}
	return nil, errUnstable
}

// Lock locks one key for the owner and reads its newest version.
func (c *Client) Lock(o *Owner, r *kvapi.LockRequest) (res kvapi.LockResult, err error) {
	for range retriesMax {
		cache := c.regions.Load()
		if cache.cluster != nil {
			return c.clusterLock(o, r)
		}
		r.Region = cache.sorted[cache.find(r.Key)].Ref()
		if res, err = c.peer.Lock(o, r); !c.stale(err) {
			return res, err
		}
	}
	return kvapi.LockResult{}, errUnstable
}

// LockRange locks a span that the owner is about to read; see store.Store.LockRange.
func (c *Client) LockRange(o *Owner, r *kvapi.RangeLockRequest) (res kvapi.RangeLockResult, err error) {
	for range retriesMax {
		cache := c.regions.Load()
		if cache.cluster != nil {
			return c.peer.ClusterLockRange(o, r)
		}
		r.Regions = cache.cover(r.Regions[:0], r.Span)
		if res, err = c.peer.LockRange(o, r); !c.stale(err) {
			return res, err
		}
	}
	return kvapi.RangeLockResult{}, errUnstable
}

// KeepRange says how much of a locked span was read.
func (c *Client) KeepRange(o *Owner, s kvapi.Span) {
	if c.router() != nil {
		c.peer.ClusterKeepRange(o, s)
		return
	}
	c.peer.KeepRange(o, s)
}

// RevertRanges gives up the ranges that the owner has locked by requests with a mark; see store.Store.RevertRanges.
func (c *Client) RevertRanges(o *Owner, mark uint64) bool {
	if c.router() != nil {
		return c.peer.ClusterRevertRanges(o, mark)
	}
	return c.peer.RevertRanges(o, mark)
}

// Ranged reports whether writers have to call Intend.
func (c *Client) Ranged() bool { return c.peer.Ranged() }

// Intend waits for range locks before a key is made; see store.Store.Intend.
func (c *Client) Intend(o *Owner, r *kvapi.LockRequest) (err error) {
	for range retriesMax {
		cache := c.regions.Load()
		r.Region = cache.sorted[cache.find(r.Key)].Ref()
		intend := c.peer.Intend
		if cache.cluster != nil {
			intend = c.peer.ClusterIntend
		}
		if err = intend(o, r); !c.stale(err) {
			return err
		}
	}
	return errUnstable
}

// Unlock drops the owner's lock of a key if it carries the tag.
func (c *Client) Unlock(o *Owner, key []byte, tag uint32) { c.peer.Unlock(o, key, tag) }

// ReleaseLocks drops all locks of the owner.
func (c *Client) ReleaseLocks(o *Owner) { c.peer.ReleaseLocks(o) }

// Rest ends what the owner keeps for a run of locking reads.
func (c *Client) Rest(o *Owner) { c.peer.Rest(o) }

// OpenOwner readies an owner for a transaction.
func (c *Client) OpenOwner(o *Owner, id uint64) { c.peer.OpenOwner(o, id) }

// Locks lists locks of this node's store, at most so many.
func (c *Client) Locks(locksMax int) []kvapi.LockView { return c.peer.Locks(locksMax) }

// SpanSize estimates the size of a span at this node's store; see store.Store.SpanSize. The node that executes SQL has a copy of every region.
func (c *Client) SpanSize(span kvapi.Span, versionsMax int) (kvapi.SpanSize, error) {
	return c.peer.SpanSize(span, versionsMax)
}

// Writer tells which transaction wrote a version; see store.Store.Writer.
func (c *Client) Writer(key []byte, at clock.Timestamp) (commit, start clock.Timestamp, err error) {
	return c.peer.Writer(key, at)
}

// Commit makes a transaction durable as one batch; see store.Store.Commit. On
// success the owner's locks have been released.
func (c *Client) Commit(o *Owner, r *kvapi.CommitRequest) (ts clock.Timestamp, err error) {
	for range retriesMax {
		cache := c.regions.Load()
		if cache.cluster != nil {
			return c.clusterCommit(o, r)
		}
		r.Regions = cache.touch(r.Regions[:0], r.Mutations)
		if ts, err = c.peer.Commit(o, r); !c.stale(err) {
			return ts, err
		}
	}
	return 0, errUnstable
}

// Watermark returns the durable watermark: one atomic load. In a cluster, where all that anybody has seen is durable, it is a fresh
// timestamp, or zero if none can be had.
func (c *Client) Watermark() clock.Timestamp {
	if t := c.router(); t != nil {
		ts, err := t.peer.ClusterTimestamp()
		if err != nil {
			return 0
		}
		return ts
	}
	return c.peer.Watermark()
}

// Applied returns the timestamp of the last applied commit, which may not be durable yet: one atomic load. In a cluster what is applied is
// durable, and this is the watermark.
func (c *Client) Applied() clock.Timestamp {
	if c.router() != nil {
		return c.Watermark()
	}
	return c.peer.Applied()
}

// WaitDurable returns once the watermark covers ts. In a cluster nothing is seen that is not durable.
func (c *Client) WaitDurable(ts clock.Timestamp, i *kvapi.Interrupt) error {
	if c.router() != nil {
		return nil
	}
	return c.peer.WaitDurable(ts, i)
}

// Register takes a place in the snapshot registry and then a timestamp: the watermark, or a fresh one in a cluster.
func (c *Client) Register(sn *Snapshot) {
	if c.router() != nil {
		c.peer.ClusterRegister(sn)
		return
	}
	c.peer.Register(sn)
	if c.peer.Clustered() {
		// The store has become a cluster's meanwhile: the watermark of before shows nothing of what is committed from then on.
		c.peer.Unregister(sn)
		c.refresh()
		c.peer.ClusterRegister(sn)
	}
}

// Unregister gives the place up.
func (c *Client) Unregister(sn *Snapshot) { c.peer.Unregister(sn) }

// Counter returns a durable counter.
func (c *Client) Counter(key []byte) (uint64, error) {
	if t := c.router(); t != nil {
		return t.counter(key)
	}
	return c.peer.Counter(key)
}

// AllocCounter takes numbers of a durable counter; see kvapi.CounterAllocRequest.
func (c *Client) AllocCounter(r *kvapi.CounterAllocRequest) (first uint64, err error) {
	for range retriesMax {
		if t := c.router(); t != nil {
			return t.allocCounter(r)
		}
		if first, err = c.peer.AllocCounter(r); !c.stale(err) {
			return first, err
		}
	}
	return 0, errUnstable
}

// DropCounters deletes the durable counters in a span.
func (c *Client) DropCounters(span kvapi.Span) (err error) {
	for range retriesMax {
		if t := c.router(); t != nil {
			return t.dropCounters(span)
		}
		if err = c.peer.DropCounters(span); !c.stale(err) {
			return err
		}
	}
	return errUnstable
}

// Timestamp issues a timestamp above all commits so far.
func (c *Client) Timestamp() (clock.Timestamp, error) {
	if t := c.router(); t != nil {
		return t.peer.ClusterTimestamp()
	}
	return c.peer.Timestamp()
}

// NewFill begins to fill a span past the log; see store.Fill. A store of a cluster answers kvapi.ErrNotAlone.
func (c *Client) NewFill(span kvapi.Span, common int, at clock.Timestamp) (*Fill, error) {
	return c.peer.NewFill(span, common, at)
}

// NewSorter begins to sort pairs in this node's memory and files; see store.Sorter.
func (c *Client) NewSorter() *Sorter { return c.peer.NewSorter() }

// DropSpan deletes a span for good once nobody reads below ts; see
// store.Store.DropSpan.
func (c *Client) DropSpan(span kvapi.Span, ts clock.Timestamp) (done bool, err error) {
	for range retriesMax {
		if t := c.router(); t != nil {
			return t.dropSpan(span, ts)
		}
		if done, err = c.peer.DropSpan(span, ts); !c.stale(err) {
			return done, err
		}
	}
	return false, errUnstable
}
