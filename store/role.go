package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/placement/meta"
	"github.com/pandodb/pando/replica"
)

const (
	// roleInterval is how often a store checks who leads region 0, and the gateway takes back regions that others lead.
	roleInterval = 100 * time.Millisecond
	// The gateway extends its lease leaseTries times in its length, and waits for a majority's answer for 1/leaseTimeoutShare of it.
	leaseTries        = 6
	leaseTimeoutShare = 2
)

// Reasons why a store does not serve.
var (
	// ErrNotGateway: region 0 is led elsewhere, or by nobody.
	ErrNotGateway = errors.New("store: another node of the cluster is the gateway, or none is")
	// ErrAlone: the store is not in a cluster.
	ErrAlone = errors.New("store: the store is alone")
)

// lease allows the gateway to answer reads (docs/design/0021 D2).
type lease struct {
	length replica.Lease
	// on: the lease is needed, as region 0 has other voters, which could elect another leader.
	on    atomic.Bool
	until atomic.Int64 // when it ends, by clock.Boot; meaningful while on

	mu   sync.Mutex // guards term, and changes of on and until; a leaf
	term uint64     // the term of region 0 that it is for
}

// interval is how often the lease is extended, and timeout how long an attempt may take.
func (l *lease) interval() time.Duration { return time.Duration(l.length / leaseTries) }
func (l *lease) timeout() time.Duration  { return time.Duration(l.length / leaseTimeoutShare) }

// held reports whether the store may still answer reads.
func (l *lease) held() bool {
	return !l.on.Load() || int64(clock.Boot()) < l.until.Load()
}

// begin makes it a lease for a term; if others is true it is not held until it is extended.
func (l *lease) begin(term uint64, others bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.term = term
	l.until.Store(0)
	l.on.Store(others)
}

// shared is called when region 0, of which this store may have been the only voter, is about to get others. They cannot elect another leader
// before this has returned and raft has been given the change; so the lease runs from now on, if none was needed until now.
func (l *lease) shared(now time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.on.Load() {
		l.until.Store(int64(l.length.End(now)))
		l.on.Store(true)
	}
}

// extend notes that a majority has confirmed the term after the time asked.
func (l *lease) extend(term uint64, asked time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if term == l.term && term != 0 {
		l.until.Store(max(l.until.Load(), int64(l.length.End(asked))))
	}
}

// end ends the lease: no read is answered until it begins again.
func (l *lease) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.term = 0
	l.until.Store(0)
	l.on.Store(true)
}

// role says whether a store is the gateway of its cluster.
type role struct {
	taking sync.Mutex  // held by TakeOver and StepDown
	taken  bool        // it was the gateway before, since Open; guarded by taking
	serves atomic.Bool // it is the gateway

	wake chan struct{} // region 0 may have another leader

	mu      sync.Mutex         // guards what follows; taken before lease.mu, and before the locks of package replica
	term    uint64             // that the store serves in, or last did
	now     replica.Leadership // of region 0
	changed chan struct{}      // closed, and replaced, when now changes
	lost    chan struct{}      // closed when the store has stopped being the gateway
	over    bool               // lost is closed
}

func (r *role) init() {
	r.wake = make(chan struct{}, 1)
	r.changed, r.lost = make(chan struct{}), make(chan struct{})
}

// Role returns which store leads region 0, and so is or is about to be the cluster's gateway, as far as this store knows, 0 if it does not
// know; whether it is this one; in which term; and a channel that is closed when that changes, nil for a store that is alone.
func (s *Store) Role() (gateway uint64, here bool, term uint64, changed <-chan struct{}) {
	c := s.cluster.Load()
	if c == nil || c.set == nil {
		return s.ident.storeID, true, 0, nil
	}
	r := &c.role
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now.Store, r.now.Led, r.now.Term, r.changed
}

// Lost returns a channel that is closed when the store stops being the gateway: it lost the lead of region 0, or could not extend its lease. The
// caller stops serving SQL then; StepDown and another TakeOver may follow. It is nil for a store that is alone.
func (s *Store) Lost() <-chan struct{} {
	c := s.cluster.Load()
	if c == nil || c.set == nil {
		return nil
	}
	c.role.mu.Lock()
	defer c.role.mu.Unlock()
	return c.role.lost
}

// Serves reports whether the store is the gateway of its cluster, or alone.
func (s *Store) Serves() bool {
	c := s.cluster.Load()
	return c == nil || c.set == nil || c.role.serves.Load()
}

// SteppedDown reports whether the store has stopped being the gateway: until it takes over again all requests get an EpochError.
func (s *Store) SteppedDown() bool {
	c := s.cluster.Load()
	if c == nil || c.set == nil {
		return false
	}
	c.role.mu.Lock()
	defer c.role.mu.Unlock()
	return c.role.over
}

// Receive takes a message of another store's replica of a region.
func (s *Store) Receive(from uint64, region kvapi.RegionID, message []byte) error {
	if c := s.cluster.Load(); c != nil && c.set != nil {
		return c.set.Receive(from, region, message)
	}
	return nil // dropped: raft sends it again
}

// ReceiveSnapshot takes in a region's state from another store, and returns once it is this store's.
func (s *Store) ReceiveSnapshot(from uint64, region kvapi.RegionID, r io.Reader) error {
	if c := s.cluster.Load(); c != nil && c.set != nil {
		return c.set.ReceiveSnapshot(from, region, r)
	}
	return kvapi.ErrClosed
}

// TakeOver makes the store, which must lead region 0, the gateway: it waits until the previous gateway serves no more, leads all regions, and
// issues timestamps above all earlier ones. It returns when the store serves. It does nothing for a store that is alone, or serves already.
func (s *Store) TakeOver(ctx context.Context) error {
	c := s.cluster.Load()
	if c == nil || c.set == nil {
		return nil
	}
	r := &c.role
	r.taking.Lock()
	defer r.taking.Unlock()
	if r.serves.Load() {
		return nil
	}
	began := clock.Mono()
	first := c.set.Leadership(0)
	if !first.Led {
		return ErrNotGateway
	}
	others := c.voters(0) > 1
	c.lease.begin(first.Term, others)
	released := c.released()
	if err := c.leadAll(ctx, first, others && !released); err != nil {
		return err
	}
	if err := c.tellService(meta.Serve(first.Term)); err != nil { // before the lease is held, by which reads are answered
		return err
	}
	if err := c.confirm(ctx, first.Term); err != nil {
		return err
	}
	if err := s.beginService(c, r.taken); err != nil {
		return err
	}
	r.taken = true
	c.serve(first.Term)
	groups, led := c.set.Len()
	s.o.Logger.Info("this node is the cluster's gateway", "region", 0, "term", first.Term, "groups", groups, "led", led, "released", released,
		"took", clock.Since(began))
	return nil
}

// gap tells of keys of which this store has no copy, nil if there are none. regions ascend. A node that was away while regions were split has no copies of the right
// halves until it has got their snapshots.
func gap(regions []*kvapi.Region) error {
	var at []byte
	for i, r := range regions {
		switch c := bytes.Compare(r.Start, at); {
		case c < 0 || i > 0 && len(at) == 0:
			return corrupt(fmt.Sprintf("region %d: begins at %x, and the one before ends at %x", r.ID, r.Start, at))
		case c > 0:
			return fmt.Errorf("store: there is no copy here yet of the keys between %x and region %d", at, r.ID)
		}
		at = r.End
	}
	if len(regions) == 0 || len(at) != 0 {
		return fmt.Errorf("store: there is no copy here yet of the keys from %x on", at)
	}
	return nil
}

// leadAll returns once all regions are here and led here and, if an earlier gateway may still hold a lease, that has ended.
func (c *Cluster) leadAll(ctx context.Context, first replica.Leadership, leased bool) error {
	var missing error
	for {
		now := c.set.Leadership(0)
		if !now.Led || now.Term != first.Term {
			return ErrNotGateway
		}
		led := true
		for _, id := range c.set.Regions() {
			led = c.set.Lead(id) && led
		}
		if led && (!leased || clock.Boot() >= c.lease.length.Over(first.Since)) {
			if missing = gap(c.Regions()); missing == nil {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrNotGateway, cmp.Or(missing, ctx.Err()))
		case <-c.closing:
			return kvapi.ErrClosed
		case <-clock.After(roleInterval / 4):
		}
	}
}

// confirm returns once a majority has confirmed the term, so that the lease is held.
func (c *Cluster) confirm(ctx context.Context, term uint64) error {
	for {
		asked := clock.Boot()
		ask, cancel := context.WithTimeout(ctx, c.lease.timeout())
		now, err := c.set.Confirm(ask, 0)
		cancel()
		switch {
		case err == nil && now == term:
			c.lease.extend(term, asked)
			return nil
		case err == nil || ctx.Err() != nil || !c.set.Leadership(0).Led:
			return fmt.Errorf("%w: %w", ErrNotGateway, errors.Join(err, ctx.Err()))
		}
	}
}

// beginService prepares the timestamp oracle and writes this store's incarnation to region 0. again: the store was the gateway before, and gets a
// new incarnation, so that transactions of that time have a dead coordinator.
func (s *Store) beginService(c *Cluster, again bool) error {
	var mark clock.Timestamp
	me := meta.Store{ID: s.ident.storeID, Oldest: oldestVersion, Newest: clusterVersion}
	c.meta.view(func(m *meta.State) {
		mark = m.Mark()
		for _, known := range m.Stores() {
			if known.ID == me.ID {
				me = known
			}
		}
	})
	s.oracle.Restart(mark)
	if again {
		next := s.ident
		next.incarnation = s.incarnation.Load() + 1
		b := s.engine.NewBatch()
		defer b.Close()
		b.Set(identKey, next.encode())
		if err := s.engine.Apply(b, true); err != nil {
			return fmt.Errorf("store: write identity: %w", err)
		}
		s.incarnation.Store(next.incarnation)
	}
	me.Incarnation = s.incarnation.Load()
	if _, err := c.meta.do(meta.PutStore(me)); err != nil {
		return fmt.Errorf("store: name this store to region 0: %w", err)
	}
	return nil
}

// serve makes the store the gateway.
func (c *Cluster) serve(term uint64) {
	r := &c.role
	r.mu.Lock()
	defer r.mu.Unlock()
	r.term = term
	if r.over {
		r.lost, r.over = make(chan struct{}), false
	}
	c.lookAtLead() // who asks a store that serves for the gateway must not learn that there is none yet
	r.serves.Store(true)
}

// lookAtLead notes who leads region 0, and returns that. The caller holds role.mu.
func (c *Cluster) lookAtLead() replica.Leadership {
	r, now := &c.role, c.set.Leadership(0)
	if now.Store != r.now.Store || now.Led != r.now.Led || now.Term != r.now.Term {
		r.now = now
		close(r.changed)
		r.changed = make(chan struct{})
	}
	return now
}

// StepDown makes the store stop being the gateway. No read is answered any more until it takes over again.
func (s *Store) StepDown() {
	c := s.cluster.Load()
	if c == nil || c.set == nil {
		return
	}
	r := &c.role
	r.taking.Lock()
	defer r.taking.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	c.stepDown("asked to")
}

// stepDown is StepDown with the reason. The caller holds role.mu.
func (c *Cluster) stepDown(reason string) {
	r := &c.role
	if r.serves.Swap(false) {
		c.s.o.Logger.Info("this node is not the cluster's gateway any more", "region", 0, "term", r.term, "reason", reason)
	}
	c.lease.end()
	if !r.over {
		r.over = true
		close(r.lost)
	}
}

// voters returns how many voters a region has, as far as this store has applied.
func (c *Cluster) voters(id kvapi.RegionID) int {
	if st, here := c.set.Status(id); here {
		return st.Region.Voters()
	}
	return 0
}

// keepRole is the goroutine that follows who leads region 0 and, on the gateway, takes back the lead of regions.
func (c *Cluster) keepRole() {
	defer c.background.Done()
	ticker := clock.NewTicker(roleInterval)
	defer ticker.Stop()
	var disk badDisk
	for {
		c.lookAtRole(&disk)
		select {
		case <-c.closing:
			return
		case <-ticker.C:
		case <-c.role.wake:
		}
	}
}

func (c *Cluster) lookAtRole(disk *badDisk) {
	if !c.keepService() {
		disk.slow = slowDisk{}
		return
	}
	c.leaveBadDisk(disk)
	for _, id := range c.set.Regions() {
		c.set.Lead(id)
	}
}

// keepService notes who leads region 0, and makes a gateway step down that has lost the lead or its lease. It reports whether the store serves.
// It looks and acts under one lock, so that it never ends a TakeOver because of what it saw before that.
func (c *Cluster) keepService() (serves bool) {
	r := &c.role
	r.mu.Lock()
	defer r.mu.Unlock()
	now := c.lookAtLead()
	switch {
	case !r.serves.Load():
		return false
	case !now.Led || now.Term != r.term:
		c.stepDown("region 0 is led by another, or by nobody")
	case !c.lease.held():
		c.stepDown("no majority of region 0 has answered for the length of the lease")
	}
	return r.serves.Load()
}

// keepLease is the goroutine that extends the gateway's lease, by asking region 0's voters whether this store still leads it.
func (c *Cluster) keepLease() {
	defer c.background.Done()
	ticker := clock.NewTicker(c.lease.interval())
	defer ticker.Stop()
	for {
		select {
		case <-c.closing:
			return
		case <-ticker.C:
		}
		if !c.lease.on.Load() || !c.role.serves.Load() {
			continue
		}
		asked := clock.Boot()
		ctx, cancel := context.WithTimeout(c.ctx, c.lease.timeout())
		if term, err := c.set.Confirm(ctx, 0); err == nil {
			c.lease.extend(term, asked)
			c.stats.Leases.Inc()
		} else {
			c.stats.LeasesMissed.Inc()
		}
		cancel()
	}
}

// mayAnswer returns an error unless the lease is held, so that what was read before the call may be answered.
func (c *Cluster) mayAnswer() error {
	if !c.lease.held() {
		return errEpoch
	}
	return nil
}

// leaderChanged is replica.Options.LeaderChanged.
func (c *Cluster) leaderChanged(id kvapi.RegionID) {
	if id == 0 {
		c.s.signal(c.role.wake)
	}
}

// Changed implements replica.Machine.
func (c *Cluster) Changed(region *kvapi.Region) {
	if region.ID == 0 {
		if region.Voters() > 1 {
			c.lease.shared(clock.Boot())
		}
		return
	}
	c.region(region.ID).desc.Store(region)
}

// coordinator reports whether a transaction's coordinator may be alive: only those of the gateway's present incarnation are.
func (s *Store) coordinator(node, epoch uint64) bool {
	assert.That(s.ident.storeID != 0, "store: a store has an id")
	return node == s.ident.storeID && epoch == s.incarnation.Load()
}
