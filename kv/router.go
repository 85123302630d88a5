package kv

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/rpc"
	"github.com/pandodb/pando/status"
	"github.com/pandodb/pando/txn/commit"
)

const (
	// pauseMin and pauseMax are the first and the longest pause before a request is repeated with fresh regions, after the first repeat,
	// which is made at once.
	pauseMin = time.Millisecond
	pauseMax = 200 * time.Millisecond
	// readPatience is how long a read waits for the lock of a transaction that stays undecided: longer than one lives without a word.
	readPatience = 30 * time.Second
	// cleanersMax bounds the commits that are acknowledged and still being finished; beyond it they are finished first.
	cleanersMax = 256
	// heartbeatInterval is how often a long commit is asked whether it has to speak.
	heartbeatInterval = time.Second
)

// router is how a client reaches regions with logs. The regions are those of its client's cache.
type router struct {
	c        *Client
	peer     *rpc.Peer
	cleaners chan struct{}
	stats    *RouterStats
	// beforeFinish, if not nil, is called before a commit that is acknowledged is finished; tests wait there.
	beforeFinish func()

	mu sync.Mutex // guards what follows; a leaf
	// finishing are the commits that are acknowledged and still being finished, by their start. Each channel is closed when that is done.
	finishing map[clock.Timestamp]chan struct{}
}

// RouterStats count what a router does.
type RouterStats struct {
	Paths        [commit.Paths]status.Counter // commits acknowledged
	Checked      status.Counter               // those of them that relied on what they had read
	Undetermined status.Counter
	Conflicts    status.Counter // commits refused because something had changed
	Resolved     status.Counter // locks of other transactions that were found out about
	Repeats      status.Counter // requests repeated with fresh regions
}

// PathName names the path of a count in RouterStats.Paths.
func PathName(path int) string { return commit.Path(path).String() }

func newRouter(c *Client) *router {
	return &router{c: c, peer: c.peer, cleaners: make(chan struct{}, cleanersMax), stats: &c.routed, finishing: map[clock.Timestamp]chan struct{}{}}
}

// attempt calls try with fresh regions until it does not ask for others, and with locks that it met out of the way.
func (t *router) attempt(patience time.Duration, i *kvapi.Interrupt, try func(cache *regionCache) error) error {
	began := clock.Mono()
	for n := range retriesMax {
		for {
			err := error(&kvapi.EpochError{}) // a store that has just joined has no regions
			if cache := t.c.regions.Load(); len(cache.sorted) > 0 {
				err = try(cache)
			}
			if err == nil {
				return nil
			}
			var locked *kvapi.LockedError
			if !errors.As(err, &locked) {
				if t.deposed(err) {
					return errDeposed
				}
				if !t.c.stale(err) {
					return err
				}
				break
			}
			if err := t.resolve(locked.Lock, patience-clock.Since(began), i); err != nil {
				return err
			}
		}
		t.stats.Repeats.Inc()
		if n > 0 {
			clock.Sleep(min(pauseMin<<min(n, 10), pauseMax))
		}
		if err := i.Err(); err != nil {
			return err
		}
	}
	return errUnstable
}

// get reads one key. Without a timestamp it reads the latest version, which needs none.
func (t *router) get(r *kvapi.GetRequest) (found bool, err error) {
	if r.TS == 0 {
		r.TS = kvapi.Latest
	}
	r.Hold = nil // what it holds may be older than a mark that is gone by now
	err = t.attempt(readPatience, r.Interrupt, func(cache *regionCache) (err error) {
		r.Region = cache.sorted[cache.find(r.Key)].Ref()
		found, err = t.peer.ClusterGet(r)
		return err
	})
	return found, err
}

// pageSink counts what reaches the sink of a page that crosses regions.
type pageSink struct {
	out         kvapi.Sink
	rows, bytes int
	stopped     bool
}

// Version implements kvapi.VersionSink.
func (s *pageSink) Version(ts clock.Timestamp) { s.out.(kvapi.VersionSink).Version(ts) }

// Pair implements kvapi.Sink.
func (s *pageSink) Pair(key, value []byte) (more bool, err error) {
	s.rows++
	s.bytes += len(key) + len(value)
	more, err = s.out.Pair(key, value)
	s.stopped = s.stopped || !more
	return more, err
}

// scan reads one page, region by region.
func (t *router) scan(r *kvapi.ScanRequest) (resume []byte, err error) {
	if r.Span.Empty() {
		return nil, nil
	}
	if r.TS == 0 {
		sn := t.snapshot()
		defer t.forget(sn)
		r.TS = sn.TS()
	}
	return t.scanPage(r, &pageSink{out: r.Sink})
}

// alive reports whether the coordinator of a lock may be alive: all are on this node, which is the gateway, in this life.
func (t *router) alive(node, epoch uint64) bool {
	ownNode, ownEpoch := t.peer.Identity()
	return node == ownNode && epoch == ownEpoch
}

var snapshots = sync.Pool{New: func() any { return new(Snapshot) }}

// snapshot returns a registered snapshot, which forget takes back.
func (t *router) snapshot() *Snapshot {
	sn := snapshots.Get().(*Snapshot)
	t.peer.ClusterRegister(sn)
	return sn
}

func (t *router) forget(sn *Snapshot) {
	t.peer.Unregister(sn)
	snapshots.Put(sn)
}

func (t *router) scanPage(r *kvapi.ScanRequest, sink *pageSink) (resume []byte, err error) {
	part := *r
	part.Sink, part.Hold = sink, nil
	rest := r.Span
	for {
		var next []byte // where the page goes on in the region behind, nil if there is none
		err := t.attempt(readPatience, r.Interrupt, func(cache *regionCache) (err error) {
			part.Span, next = cache.clip(rest, r.Reverse, &part.Regions)
			resume, err = t.peer.ClusterScan(&part)
			return err
		})
		if err != nil || resume != nil || next == nil {
			return resume, err
		}
		if sink.stopped || r.LimitRows > 0 && sink.rows >= r.LimitRows || r.LimitBytes > 0 && sink.bytes >= r.LimitBytes {
			return next, nil
		}
		if r.LimitRows > 0 {
			part.LimitRows = r.LimitRows - sink.rows
		}
		if r.LimitBytes > 0 {
			part.LimitBytes = r.LimitBytes - sink.bytes
		}
		if r.Reverse {
			rest.End = next
		} else {
			rest.Start = next
		}
	}
}

// clip returns the part of a span that lies in the region where a scan of it begins, and the bound of that part if there is more behind it.
func (c *regionCache) clip(s kvapi.Span, reverse bool, refs *[]kvapi.RegionRef) (part kvapi.Span, next []byte) {
	at := c.find(s.Start)
	if reverse && !s.IsPoint() {
		at = len(c.sorted) - 1
		if len(s.End) > 0 {
			if at = c.find(s.End); bytes.Equal(c.sorted[at].Start, s.End) && at > 0 {
				at--
			}
		}
	}
	region := c.sorted[at]
	*refs = append((*refs)[:0], region.Ref())
	if s.IsPoint() {
		return s, nil
	}
	part = s
	if reverse {
		if bytes.Compare(region.Start, s.Start) > 0 {
			part.Start, next = region.Start, region.Start
		}
		return part, next
	}
	if len(region.End) > 0 && (len(s.End) == 0 || bytes.Compare(region.End, s.End) < 0) {
		part.End, next = region.End, region.End
	}
	return part, next
}

// lock locks one key for the owner and reads its newest version.
func (t *router) lock(o *Owner, r *kvapi.LockRequest) (res kvapi.LockResult, err error) {
	patience := r.Timeout
	if r.Wait != kvapi.WaitDefault {
		patience = 0
	}
	waited := false
	err = t.attempt(patience, r.Interrupt, func(cache *regionCache) (err error) {
		r.Region = cache.sorted[cache.find(r.Key)].Ref()
		res, err = t.peer.ClusterLock(o, r)
		var locked *kvapi.LockedError
		waited = waited || res.Waited || errors.As(err, &locked)
		return err
	})
	res.Waited = waited
	if errors.Is(err, kvapi.ErrLockTimeout) {
		switch r.Wait { // it met the lock of a commit that is not decided
		case kvapi.WaitNone:
			err = kvapi.ErrLockNoWait
		case kvapi.WaitSkip:
			return kvapi.LockResult{}, nil
		}
	}
	return res, err
}

// allocCounter takes numbers of a counter.
func (t *router) allocCounter(r *kvapi.CounterAllocRequest) (first uint64, err error) {
	err = t.attempt(readPatience, nil, func(cache *regionCache) (err error) {
		first, err = t.peer.ClusterAlloc(cache.sorted[cache.find(r.Key)].Ref(), r)
		return err
	})
	return first, err
}

func (t *router) counter(key []byte) (n uint64, err error) {
	err = t.attempt(readPatience, nil, func(cache *regionCache) (err error) {
		n, err = t.peer.ClusterCounter(cache.sorted[cache.find(key)].Ref(), key)
		return err
	})
	return n, err
}

// eachPart calls f with the parts of a bounded span, region by region.
func (t *router) eachPart(span kvapi.Span, f func(ref kvapi.RegionRef, part kvapi.Span) error) error {
	if span.IsPoint() || len(span.End) == 0 || span.Empty() {
		return fmt.Errorf("kv: a drop needs a bounded span, not [%x, %x)", span.Start, span.End)
	}
	for {
		var next []byte
		err := t.attempt(readPatience, nil, func(cache *regionCache) error {
			var refs []kvapi.RegionRef
			var part kvapi.Span
			part, next = cache.clip(span, false, &refs)
			return f(refs[0], part)
		})
		if err != nil || next == nil {
			return err
		}
		span.Start = next
	}
}

func (t *router) dropCounters(span kvapi.Span) error {
	return t.eachPart(span, t.peer.ClusterDropCounters)
}

func (t *router) dropSpan(span kvapi.Span, ts clock.Timestamp) (done bool, err error) {
	waits := false
	err = t.eachPart(span, func(ref kvapi.RegionRef, part kvapi.Span) error {
		if waits {
			return nil
		}
		done, err := t.peer.ClusterDropSpan(ref, part, ts)
		waits = !done && err == nil // with an error the part is asked for again
		return err
	})
	return !waits && err == nil, err
}
