package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/status"
)

const (
	// truncateInterval is how often logs are looked at that may be truncated.
	truncateInterval = time.Second
	// startsMax is how many groups are started concurrently, so that they share syncs.
	startsMax = 16
)

// Options configure a Set.
type Options struct {
	Engine     *engine.Engine
	Machine    Machine
	Timestamps Timestamps
	Store      uint64 // the id of this store
	Logger     *slog.Logger
	Limits     Limits
	// Transport sends messages to other stores; nil if there are none.
	Transport Transport
	// LeaderChanged, which may be nil, is called when the known leader of a region changes. It must not block, nor call the set.
	LeaderChanged func(kvapi.RegionID)
	// Fail is called with the first error after which nothing may be acknowledged any more.
	Fail func(error)
}

// Stats count what groups do, and how long it takes.
type Stats struct {
	Proposals, Entries, EntryBytes, Truncations, Splits, Campaigns status.Counter
	// Elections won here, changes of members applied, replicas removed, messages sent.
	Elections, MemberChanges, Removals, Sent                      status.Counter
	SnapshotsSent, SnapshotsFailed, SnapshotsTaken, SnapshotBytes status.Counter
	GroupSize, AppendNanos, ApplyNanos                            status.Histogram
}

// Set is the replicas of one store. It is safe for concurrent use.
type Set struct {
	o       Options
	members atomic.Pointer[map[kvapi.RegionID]*member]
	listing sync.Mutex // guards replacing members; a leaf
	failed  atomic.Bool
	closing atomic.Bool
	ready   atomic.Bool // Start has applied what was committed before: messages are taken

	mu         sync.Mutex // guards what follows; taken before a member's mu
	strangers  map[kvapi.RegionID]stranger
	tombstones map[kvapi.RegionID]uint64        // peers up to it were removed
	arriving   map[kvapi.RegionID]*kvapi.Region // a snapshot of them is being received
	leaving    map[kvapi.RegionID]*kvapi.Region // their state is being deleted

	learned      sync.Map // peer id to store id, from messages
	learnedCount atomic.Int64
	sends        atomic.Int64 // snapshots being sent

	// entering is held to add to the next two, so that nothing is added once closing is set; a leaf.
	entering   sync.Mutex
	inFlight   sync.WaitGroup // proposals
	drivers    sync.WaitGroup // goroutines that drive groups, and those of snapshots
	ctx        context.Context
	cancel     context.CancelFunc
	stop       chan struct{}
	background sync.WaitGroup
	Stats      Stats

	// What groups read, and how they log; tests inject faults here.
	disk Disk
	log  func(b *engine.Batch, sync bool) error
	// beforeIngest, if not nil, is called before a snapshot is ingested. For tests.
	beforeIngest func()
}

// New returns a set without a replica, and starts its goroutines.
func New(o Options) *Set {
	o.Limits.EnsureDefaults()
	s := &Set{o: o, stop: make(chan struct{}), disk: disk{o.Engine}, log: logBatch, strangers: map[kvapi.RegionID]stranger{},
		tombstones: map[kvapi.RegionID]uint64{}, arriving: map[kvapi.RegionID]*kvapi.Region{}, leaving: map[kvapi.RegionID]*kvapi.Region{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.members.Store(&map[kvapi.RegionID]*member{})
	s.background.Go(s.keeper)
	s.background.Go(s.ticker)
	return s
}

// logBatch logs and applies a batch, waits for the sync if asked, and closes it.
func logBatch(b *engine.Batch, sync bool) error {
	defer b.Close()
	return b.Apply(sync)
}

// disk lets a group read the engine.
type disk struct{ e *engine.Engine }

// Get implements Disk.
func (d disk) Get(key []byte) ([]byte, bool, error) { return d.e.Get(nil, key) }

// Flushed implements Disk.
func (d disk) Flushed(key []byte) ([]byte, bool, error) { return d.e.GetFlushed(nil, key) }

// Scan implements Disk.
func (d disk) Scan(lower, upper []byte, f func(key, value []byte) bool) (err error) {
	it, err := d.e.NewIter(engine.IterOptions{Lower: lower, Upper: upper})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.Value()
		if err != nil {
			return err
		}
		if !f(append([]byte(nil), it.Key()...), append([]byte(nil), v...)) {
			return nil
		}
	}
	return it.Error()
}

// Load adds the replicas of all regions with a log that are on disk.
func (s *Set) Load() error {
	if err := s.o.Engine.Barrier(); err != nil { // L6
		return fmt.Errorf("replica: %w", err)
	}
	regions, err := LoadRegions(s.o.Engine)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tombstones, err = loadTombstones(s.o.Engine); err != nil {
		return err
	}
	s.listing.Lock()
	defer s.listing.Unlock()
	members := maps.Clone(*s.members.Load())
	for _, r := range regions {
		if r.Mode != kvapi.ModeRaft || members[r.ID] != nil {
			continue
		}
		if members[r.ID], err = s.open(r); err != nil {
			return err
		}
	}
	s.members.Store(&members)
	return nil
}

func (s *Set) open(r *kvapi.Region) (*member, error) {
	core, err := OpenGroup(s.disk, r, s.o.Store, &s.o.Limits, s.o.Logger)
	if err != nil {
		return nil, err
	}
	return &member{s: s, core: core, started: make(chan struct{})}, nil
}

// LoadRegions reads all descriptors on the disk, in the order of their ids.
func LoadRegions(e *engine.Engine) (regions []*kvapi.Region, err error) {
	it, err := e.NewIter(engine.IterOptions{Lower: keys.LocalKey(nil, []byte("r")), Upper: keys.LocalKey(nil, []byte("s"))})
	if err != nil {
		return nil, fmt.Errorf("replica: load regions: %w", err)
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok; {
		_, name, bare := keys.DecodeBare(it.Key())
		if !bare || len(name) < 10 {
			return nil, corrupt("name of a region's record")
		}
		id, isRegion := RegionOf(it.Key())
		if !isRegion {
			// A record of a region whose descriptor comes later in key order, or was lost with the split that made it (L3).
			of := kvapi.RegionID(beUint64(name[1:]))
			if name[9] < recordRegion {
				ok = it.SeekGE(RegionKey(of))
			} else {
				ok = it.SeekGE(keys.LocalKey(nil, recordName(of+1, 0)))
			}
			continue
		}
		value, err := it.Value()
		if err != nil {
			return nil, fmt.Errorf("replica: load regions: %w", err)
		}
		r, err := DecodeRegion(value)
		if err != nil {
			return nil, err
		}
		regions = append(regions, r)
		ok = it.SeekGE(keys.LocalKey(nil, recordName(id+1, 0)))
	}
	return regions, it.Error()
}

// Start applies the committed entries of all logs, campaigns for all groups of which this store has the only voter, and returns once it leads
// those: then all entries of their logs are applied. Region 0 is first, since the others need its timestamps. Messages of other stores are taken
// from then on.
func (s *Set) Start() error {
	members := *s.members.Load()
	begin := func(m *member) {
		m.drive() // this may apply a change after which this store has the only voter
		if m.sole() {
			m.campaign()
		}
	}
	if m := members[0]; m != nil {
		begin(m)
	}
	var wg sync.WaitGroup
	places := make(chan struct{}, startsMax)
	for id, m := range members {
		if id == 0 {
			continue
		}
		places <- struct{}{}
		wg.Go(func() {
			begin(m)
			<-places
		})
	}
	wg.Wait()
	for id, m := range *s.members.Load() { // with those that splits in the logs have made
		if _, ok := m.Term(); !ok && m.sole() {
			return fmt.Errorf("replica: region %d is not led: %w", id, kvapi.ErrClosed)
		}
	}
	s.ready.Store(true)
	return nil
}

// sole reports whether the replica is the only voter.
func (m *member) sole() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.core.sole()
}

// Line returns the line of a region; nil if it has no replica here.
func (s *Set) Line(id kvapi.RegionID) Line {
	if m := (*s.members.Load())[id]; m != nil {
		return m
	}
	return nil
}

// Len returns how many groups there are, and how many of them are led here.
func (s *Set) Len() (groups, led int) {
	members := *s.members.Load()
	for _, m := range members {
		if _, ok := m.Term(); ok {
			led++
		}
	}
	return len(members), led
}

// GroupStatus describes a replica.
type GroupStatus struct {
	Region                                   *kvapi.Region
	Peer, Term, Applied, Commit, First, Last uint64
	Leader                                   uint64 // the peer, 0 if it is not known
	LeaderStore                              uint64
	Leads                                    bool
	Deposed                                  bool // it has lost the lead, but acts as leader until its present write of the log has ended
	LogBytes                                 int64
	Waiting                                  int // proposals in line
	GCPoint                                  clock.Timestamp
	Peers                                    []PeerStatus // of a leader
	// Sending are the peers that a snapshot is being sent to. Receiving says that one is being received here.
	Sending   []uint64
	Receiving bool
}

// behindMax is how many entries a peer may lack and still count as caught up: as a voter it does not delay commits for long.
const behindMax = 1 << 10

// progress returns the index up to which a peer has the log, according to this replica, which leads; 0 if that is not known or the peer waits for a
// snapshot. active: it has answered since the last election timeout.
func (st *GroupStatus) progress(peer uint64) (match uint64, active bool) {
	for _, p := range st.Peers {
		switch {
		case p.Peer != peer:
		case p.Snapshot != 0:
			return 0, p.Active
		default:
			return p.Match, p.Active
		}
	}
	return 0, false
}

// Answers reports whether a peer has answered its leader, which this replica is, since the last election timeout.
func (st *GroupStatus) Answers(peer uint64) bool {
	_, active := st.progress(peer)
	return active || peer == st.Peer
}

// CaughtUp reports whether a peer answers and has nearly all of the log, as far as this replica, which leads, knows.
func (st *GroupStatus) CaughtUp(peer uint64) bool {
	match, active := st.progress(peer)
	return peer == st.Peer || active && match != 0 && match+behindMax >= st.Last
}

// Lag returns how many entries a peer lacks: all of the log if nothing is known of it.
func (st *GroupStatus) Lag(peer uint64) uint64 {
	if peer == st.Peer {
		return 0
	}
	match, _ := st.progress(peer)
	return st.Last - min(st.Last, match)
}

// Status returns the state of a region's replica.
func (s *Set) Status(id kvapi.RegionID) (st GroupStatus, ok bool) {
	m := (*s.members.Load())[id]
	if m == nil {
		return st, false
	}
	s.mu.Lock()
	receiving := s.arriving[id] != nil
	s.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.core
	l := m.leadership()
	st = GroupStatus{Region: c.region, Peer: c.peer, Applied: c.applied.index, Commit: c.hard.GetCommit(), First: c.log.trunc.index + 1, Last: c.log.last,
		LogBytes: c.log.held, Waiting: m.line.len(), GCPoint: c.applied.gcPoint, Term: c.hard.GetTerm(), Leader: l.Peer, LeaderStore: l.Store,
		Leads: l.Led, Deposed: c.Deposed(), Receiving: receiving, Sending: slices.Sorted(maps.Keys(m.sending)), Peers: c.Peers()}
	return st, true
}

// Regions returns the regions that have a replica here, in no order.
func (s *Set) Regions() (ids []kvapi.RegionID) {
	for id := range *s.members.Load() {
		ids = append(ids, id)
	}
	return ids
}

// Waiting returns how many proposals are queued.
func (s *Set) Waiting() (n int) {
	for _, m := range *s.members.Load() {
		n += m.line.len()
	}
	return n
}

// fail stops all proposals, and calls Options.Fail once.
func (s *Set) fail(err error) {
	if s.failed.CompareAndSwap(false, true) {
		s.o.Fail(err)
	}
}

// add opens and adds the right half of a split, whose records have just become visible.
func (s *Set) add(r *kvapi.Region) (*member, error) {
	m, err := s.open(r)
	if err != nil {
		return nil, err
	}
	s.enlist(m, r.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.strangers, r.ID)
	s.Stats.Splits.Inc()
	return m, nil
}

// Close refuses proposals and messages, waits for those in progress, and ends the goroutines.
func (s *Set) Close() {
	s.entering.Lock()
	s.closing.Store(true)
	s.entering.Unlock()
	s.cancel()
	for _, m := range *s.members.Load() {
		m.mu.Lock()
		if m.core.sole() {
			m.begin() // proposals must not wait for a start that does not come
		} else {
			m.halt() // its entry in flight may depend on other stores, and is not waited for
		}
		m.mu.Unlock()
	}
	s.inFlight.Wait()
	s.drivers.Wait()
	close(s.stop)
	s.background.Wait()
}

// enter adds a proposal to inFlight, unless the set is closing.
func (s *Set) enter() bool {
	s.entering.Lock()
	defer s.entering.Unlock()
	if s.closing.Load() {
		return false
	}
	s.inFlight.Add(1)
	return true
}

// enterDriver adds a driver, or a goroutine that sends or receives a snapshot, to drivers, unless the set is closing.
func (s *Set) enterDriver() bool {
	s.entering.Lock()
	defer s.entering.Unlock()
	if s.closing.Load() {
		return false
	}
	s.drivers.Add(1)
	return true
}

// keeper is the goroutine that truncates logs.
func (s *Set) keeper() {
	ticker := clock.NewTicker(truncateInterval)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
		}
		flush := false
		for _, m := range *s.members.Load() {
			if s.failed.Load() {
				return
			}
			held, err := m.truncate(s.o.Limits.TruncateEntries, s.o.Limits.TruncateBytes)
			if err != nil {
				s.fail(err)
				return
			}
			flush = flush || held >= s.o.Limits.HeldBytes
		}
		if flush {
			if err := s.o.Engine.Flush(); err != nil {
				s.fail(err)
				return
			}
		}
	}
}
