package replica

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
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
	// truncateInterval is how often logs are looked at that have grown by truncateEntries or truncateBytes.
	truncateInterval = time.Second
	truncateEntries  = 1024
	truncateBytes    = 4 << 20
	// heldBytesMax of a log that cannot be truncated, because what it made is not in tables yet, make the engine flush.
	heldBytesMax = 256 << 20
	// startsMax is how many groups are started at a time: their first syncs are then one.
	startsMax = 16
)

// Options say what a Set needs. All are required.
type Options struct {
	Engine     *engine.Engine
	Machine    Machine
	Timestamps Timestamps
	Store      uint64 // whose replicas they are
	Logger     *slog.Logger
	// Fail is told of the first error after which nothing may be acknowledged any more.
	Fail func(error)
}

// Stats count what groups do, and how long it takes.
type Stats struct {
	Proposals, Entries, EntryBytes, Truncations, Splits, Campaigns status.Counter
	GroupSize, AppendNanos, ApplyNanos                             status.Histogram
}

// Set is the replicas of one store. It is safe for concurrent use.
type Set struct {
	o       Options
	members atomic.Pointer[map[kvapi.RegionID]*member]
	mu      sync.Mutex // guards replacing members; taken before a member's mu
	failed  atomic.Bool
	closing atomic.Bool

	inFlight   sync.WaitGroup // proposals
	stop       chan struct{}
	background sync.WaitGroup
	Stats      Stats

	// What groups read and how they log; tests put faults there.
	disk Disk
	log  func(b *engine.Batch, sync bool) error
}

// New returns a set without a replica, and starts its goroutine.
func New(o Options) *Set {
	s := &Set{o: o, stop: make(chan struct{}), disk: disk{o.Engine}, log: logBatch}
	s.members.Store(&map[kvapi.RegionID]*member{})
	s.background.Go(s.keeper)
	return s
}

// logBatch gives a batch its place in the log, waits for the sync if asked, and closes it.
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

// Load adds the replicas of all descriptors on the disk that are of regions with a log.
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
	core, err := OpenGroup(s.disk, r, s.o.Store, s.o.Logger)
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
			// Raft state of a region whose descriptor comes behind it, or was lost with the application that made it.
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

// Start campaigns for all groups of which this store has the only voter, and returns once it leads them: all that their logs hold is
// applied then. Region 0 is first, since the others need its timestamps.
func (s *Set) Start() error {
	members := *s.members.Load()
	if m := members[0]; m != nil {
		m.campaign()
	}
	var wg sync.WaitGroup
	places := make(chan struct{}, startsMax)
	for id, m := range members {
		if id == 0 {
			continue
		}
		places <- struct{}{}
		wg.Go(func() {
			m.campaign()
			<-places
		})
	}
	wg.Wait()
	for id, m := range *s.members.Load() { // with those that splits in the logs have made
		if _, ok := m.Term(); !ok && m.core.sole() {
			return fmt.Errorf("replica: region %d is not led: %w", id, kvapi.ErrClosed)
		}
	}
	return nil
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
	Region                           *kvapi.Region
	Peer, Term, Applied, First, Last uint64
	Leads                            bool
	LogBytes                         int64
	Waiting                          int // proposals in line
	GCPoint                          clock.Timestamp
}

// Status returns the state of a region's replica.
func (s *Set) Status(id kvapi.RegionID) (st GroupStatus, ok bool) {
	m := (*s.members.Load())[id]
	if m == nil {
		return st, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.core
	st = GroupStatus{Region: c.region, Peer: c.peer, Applied: c.applied.index, First: c.log.trunc.index + 1, Last: c.log.last,
		LogBytes: c.log.held, Waiting: m.line.len(), GCPoint: c.applied.gcPoint, Term: c.hard.GetTerm()}
	_, st.Leads = c.Leads()
	return st, true
}

// Waiting returns how many proposals stand in line.
func (s *Set) Waiting() (n int) {
	for _, m := range *s.members.Load() {
		n += m.line.len()
	}
	return n
}

// fail ends all proposing.
func (s *Set) fail(err error) {
	if s.failed.CompareAndSwap(false, true) {
		s.o.Fail(err)
	}
}

// add takes in the right half of a split, whose records have just become visible.
func (s *Set) add(r *kvapi.Region) (*member, error) {
	m, err := s.open(r)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	members := maps.Clone(*s.members.Load())
	members[r.ID] = m
	s.members.Store(&members)
	s.Stats.Splits.Inc()
	return m, nil
}

// Close refuses proposals, waits for those under way and ends the goroutine.
func (s *Set) Close() {
	s.mu.Lock()
	s.closing.Store(true)
	s.mu.Unlock()
	for _, m := range *s.members.Load() {
		m.mu.Lock()
		m.begin() // nobody is to wait for what was never started
		m.mu.Unlock()
	}
	s.inFlight.Wait()
	close(s.stop)
	s.background.Wait()
}

// enter counts a proposal in, unless the set is closing.
func (s *Set) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return false
	}
	s.inFlight.Add(1)
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
			held, err := m.truncate(truncateEntries, truncateBytes)
			if err != nil {
				s.fail(err)
				return
			}
			flush = flush || held >= heldBytesMax
		}
		if flush {
			if err := s.o.Engine.Flush(); err != nil {
				s.fail(err)
				return
			}
		}
	}
}
