package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/placement"
	"github.com/pandodb/pando/replica"
	"github.com/pandodb/pando/status"
	"github.com/pandodb/pando/store/rowcache"
)

// Store is the regions of one node over one engine. It is safe for concurrent use.
type Store struct {
	o      Options
	engine *engine.Engine
	ident  ident
	// incarnation is ident's at first, and grows each time that the store becomes the gateway again, so that locks of before have a dead coordinator.
	incarnation atomic.Uint64
	oracle      *placement.Oracle

	regions atomic.Pointer[regionMap]
	// cluster is nil while the store is alone.
	cluster atomic.Pointer[Cluster]
	// Locks, in this order: promoting is held by Promote, Checkpoint and SetRelaxed; collecting by Promote, by the collector during a round and by
	// Fill; switching by Promote while the regions of before are closed and the cluster does not serve yet, which Regions waits for.
	promoting, collecting sync.Mutex
	switching             sync.RWMutex
	locks                 lockTable
	seq                   sequencer
	durable               durable
	// applied is the timestamp of the last applied commit, synced the highest
	// known to be synced, relaxedTS the highest applied without asking for a sync.
	applied, synced, relaxedTS atomic.Uint64
	relaxed                    atomic.Bool
	counters                   counters
	snapshots                  snapshots
	scans                      sync.Pool // *scanState
	// rows holds the newest versions of rows that were read by key.
	rows       *rowcache.Cache
	frontiers  frontiers
	rowBuffers sync.Pool // *[]byte, for copies of cached rows

	// safepoint: no version is deleted that a reader at or above it can see.
	safepoint atomic.Uint64
	gc        gcQueue
	gcNow     chan struct{} // asks for a round at once
	gcStats   gcStats
	worker    gcWorker // the collector's, and Close's after the collector has ended

	syncNow, syncSoon chan struct{} // wake the syncer
	busy              chan struct{} // wakes maintenance
	house             housekeeping
	idle              atomic.Bool // maintenance sleeps until busy
	failed            atomic.Bool

	closing chan struct{} // closed when Close begins
	// settling is cancelled when Close begins, too.
	settling     context.Context
	stopSettling context.CancelFunc
	stopped      chan struct{} // closed when Close has synced the log for the last time
	closingFlag  atomic.Bool
	background   sync.WaitGroup
	splits       status.Counter
	borderSplits status.Counter // of them, those around a table
}

// Open opens the store in an engine, creating it in an empty one, and starts
// its goroutines: load regions, start the oracle, serve. A refusal is a
// sentence that wraps ErrNewerFormat, ErrForeign or kvapi.ErrCorrupt.
func Open(o Options) (*Store, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s := &Store{o: o, engine: o.Engine}
	s.scans.New = newScanState
	s.rows = rowcache.New(o.RowCacheBytes, o.Engine.ReserveCache)
	s.rowBuffers.New = func() any { return new([]byte) }
	s.locks.init(o.LocksMax)
	s.counters = counters{engine: o.Engine, values: make(map[string]uint64)}
	for _, c := range []*chan struct{}{&s.gcNow, &s.syncNow, &s.syncSoon, &s.busy, &s.gc.wake, &s.house.sample, &s.house.settle} {
		*c = make(chan struct{}, 1)
	}
	s.gc.bytesMax = o.GCQueueBytesMax
	s.seq.commitsMax, s.seq.bytesMax = o.Limits.GroupCommits, o.Limits.GroupBytes
	s.closing, s.stopped = make(chan struct{}), make(chan struct{})
	s.settling, s.stopSettling = context.WithCancel(context.Background())
	s.relaxed.Store(o.Relaxed)
	s.house.settled.Store(notSettled)
	if err := s.recover(); err != nil {
		return nil, err
	}
	s.background.Add(1)
	go s.syncer()
	if !o.Inspect {
		s.background.Add(3)
		go s.collector(&s.worker)
		go s.maintain()
		go s.housekeeper()
	}
	return s, nil
}

// recover reads the store's own records and writes the identity record with a new incarnation.
func (s *Store) recover() error {
	id, first, err := loadIdent(s.engine, s.o.ID)
	if err != nil {
		return err
	}
	if s.o.Join {
		if !first && !id.clustered {
			return fmt.Errorf("store: %w: the directory holds the data of a store that is alone; a cluster is joined with an empty one", ErrOther)
		}
		id.clustered = true
	}
	id.incarnation++
	s.ident = id
	s.incarnation.Store(id.incarnation)
	if id.clustered {
		return s.recoverCluster()
	}
	b := s.engine.NewBatch()
	defer b.Close()
	b.Set(identKey, id.encode())
	var regions *regionMap
	if first {
		r := &region{Region: kvapi.Region{
			ID: firstRegionID, Epoch: kvapi.Epoch{Version: 1, ConfVer: 1}, Mode: kvapi.ModeSolo,
		}}
		b.Set(replica.RegionKey(r.ID), replica.AppendRegion(nil, &r.Region))
		regions = newRegionMap([]*region{r})
	} else if regions, err = loadRegions(s.engine); err != nil {
		return err
	}
	for _, r := range regions.sorted {
		lower, upper := regionBounds(&r.Region)
		tables, err := s.engine.ApproxBytes(lower, upper)
		if err != nil {
			return s.readError(err)
		}
		r.size.Store(int64(tables))
	}
	s.regions.Store(regions)
	if err := s.startOracle(); err != nil {
		return err
	}
	w := &s.worker
	w.s = s
	if w.floor, w.scan, err = loadGC(s.engine, s.Watermark()); err != nil {
		return err
	}
	if w.scan.on {
		s.gcStats.scans.Inc()
	}
	b.Set(gcKey, w.marker(false))
	// One sync for all of it. What recovery has replayed from the log, synced or not,
	// is in tables by now, so that a second power loss cannot lose it.
	if err := s.engine.Apply(b, true); err != nil {
		return fmt.Errorf("store: write identity: %w", err)
	}
	s.o.Logger.Info("store is open", "store", id.storeID, "incarnation", id.incarnation,
		"regions", len(regions.sorted), "first", first, "collect_after_crash", w.scan.on)
	return nil
}

// startOracle starts the timestamps above all that the engine may hold: every
// commit timestamp is at or below a mark that was written in its batch.
func (s *Store) startOracle() error {
	var mark clock.Timestamp
	for _, key := range [][]byte{markKey, savedMarkKey} {
		b, found, err := s.engine.Get(nil, key)
		if err != nil {
			return fmt.Errorf("store: read timestamp mark: %w", err)
		}
		if !found {
			continue
		}
		if len(b) != 8 {
			return corrupt("timestamp mark")
		}
		mark = max(mark, clock.Timestamp(binary.BigEndian.Uint64(b)))
	}
	oracle, err := placement.NewOracle(placement.OracleOptions{Mark: mark, NowMillis: s.o.NowMillis, Store: markStore{s.engine}, Window: s.o.Limits.TimestampWindow})
	if err != nil {
		return err
	}
	s.oracle = oracle
	start := uint64(oracle.Last())
	s.applied.Store(start)
	s.synced.Store(start)
	s.durable.mark.Store(start)
	return nil
}

// savedMarkKey holds the mark that the oracle saves on its own. It is separate from
// the one in commit batches, because the two are written concurrently and neither
// may lower the other.
var savedMarkKey = keys.LocalKey(nil, []byte("T"))

// markStore saves the oracle's mark directly: the sequencer may be waiting for
// the oracle meanwhile.
type markStore struct{ e *engine.Engine }

// SaveMark implements placement.MarkStore.
func (m markStore) SaveMark(mark clock.Timestamp) error {
	b := m.e.NewBatch()
	defer b.Close()
	b.Set(savedMarkKey, encodeMark(mark))
	return m.e.Apply(b, true)
}

// Timestamp issues a timestamp above all commits so far. Commits take theirs in
// the sequencer; this is for those who need one outside, such as schema changes.
func (s *Store) Timestamp() (clock.Timestamp, error) { return s.oracle.Next() }

// Incarnation counts the opens of this directory, and in a cluster how often it has become the gateway again.
func (s *Store) Incarnation() uint64 { return s.incarnation.Load() }

// ID is the store's id in its cluster.
func (s *Store) ID() uint64 { return s.ident.storeID }

// Limits returns the store's limits, which do not change.
func (s *Store) Limits() *Limits { return &s.o.Limits }

// SetRelaxed switches relaxed durability on or off; see Options.Relaxed. When
// it goes off, what was committed before is synced first.
func (s *Store) SetRelaxed(on bool) error {
	s.promoting.Lock() // a cluster is not relaxed, nor becomes one of a store that is
	defer s.promoting.Unlock()
	if s.cluster.Load() != nil {
		if on {
			return ErrRelaxed
		}
		return nil
	}
	s.relaxed.Store(on)
	if on {
		return nil
	}
	// A group that has seen the old mode may be under way, and raises the watermark when it is applied. Its leader hands over
	// after that. What the line answers to this empty change does not matter: a full disk, say, does not keep the store relaxed.
	_ = s.administer(&adminCommit{prepare: func(*engine.Batch) error { return nil }})
	s.syncApplied()
	if s.failed.Load() {
		return errFailed
	}
	return nil
}

func (s *Store) isClosing() bool { return s.closingFlag.Load() }

// Close refuses new commits and locks, lets those under way finish, wakes lock
// waiters, syncs the log and ends the goroutines. Reads must have ended before,
// and the engine is closed after.
func (s *Store) Close() error {
	s.seq.mu.Lock()
	if s.closingFlag.Swap(true) {
		s.seq.mu.Unlock()
		return kvapi.ErrClosed
	}
	s.seq.mu.Unlock()
	close(s.closing)
	s.stopSettling()
	s.seq.inFlight.Wait()
	s.background.Wait()
	s.syncApplied()
	close(s.stopped)
	if c := s.cluster.Load(); c != nil && c.set != nil {
		return s.closeCluster(c)
	}
	if s.failed.Load() {
		return errFailed
	}
	return s.worker.drainAtClose()
}

// activity grows with everything that is written.
func (s *Store) activity() uint64 {
	n := s.applied.Load()
	if c := s.cluster.Load(); c != nil {
		n += c.recorded.Load()
	}
	return n
}

// Maintenance intervals while there are commits.
const (
	pressureInterval = 100 * time.Millisecond
	extendTicks      = 5   // the mark of a cluster's timestamps is looked at once per so many ticks
	diskTicks        = 10  // the disk is polled once per so many ticks
	loadedTicks      = 10  // ticks without commits after which a bulk load counts as ended
	idleTicks        = 100 // ticks without commits after which memtables are flushed: pauses between requests are shorter
	settleTicks      = 200 // ticks without commits after which it compacts and sleeps: the flush is done by then

	// loadCommitBytes is the mean size of commits from which on they count as a bulk load: inserts of many rows, or entries of an index.
	loadCommitBytes = 16 << 10
	// loadBytesMin is how much a load must have written for a flush at its end: the size of a memtable. So there are at most twice as many
	// flushes as without this rule, however loads and pauses alternate.
	loadBytesMin = 64 << 20
)

// maintain is the goroutine that polls the disk and the engine's write pressure,
// and requests housekeeping. It does nothing that takes long, since commits are
// slowed down by the pressure as last polled. It sleeps while there are no commits,
// unless the disk is full.
func (s *Store) maintain() {
	defer s.background.Done()
	ticker := clock.NewTicker(pressureInterval)
	defer ticker.Stop()
	sampled := clock.Mono()
	quiet, ticks, seen := 0, 0, uint64(0)
	var loads loadWatch
	for {
		if quiet == loadedTicks && loads.ended() && !s.engine.DiskFull() {
			// What a load leaves in the memtable is flushed in the pause after it, not during the statements that come next. After other commits
			// it waits for idleTicks: many short pauses would make many small tables.
			s.engine.FlushIdle()
		}
		if quiet == idleTicks && !s.engine.DiskFull() {
			s.engine.FlushIdle() // if the disk is full now, settle does it later
		}
		if quiet > 0 && quiet%settleTicks == 0 && !s.engine.DiskFull() {
			s.house.seen.Store(seen)
			s.signal(s.house.settle)
		}
		if quiet > settleTicks && !s.engine.DiskFull() && s.house.settled.Load() == seen {
			ticker.Stop()
			s.idle.Store(true)
			if s.activity() != seen { // a commit came before idle was set, and sent no signal
				s.signal(s.busy)
			}
			select {
			case <-s.closing:
				return
			case <-s.busy:
			}
			s.idle.Store(false)
			ticker.Reset(pressureInterval)
			quiet = 0
		}
		select {
		case <-s.closing:
			return
		case <-ticker.C:
		}
		s.engine.PollPressure()
		s.locks.ranges.rest()
		if ticks++; ticks%diskTicks == 0 {
			s.engine.PollDisk()
		}
		if clock.Since(sampled) >= s.o.SampleInterval {
			s.signal(s.house.sample)
			sampled = clock.Mono()
		}
		loads.tick(s.seq.stats.commits.Load(), s.seq.stats.bytes.Load())
		if c := s.cluster.Load(); c != nil && c.set != nil && c.role.serves.Load() && ticks%extendTicks == 0 {
			if err := s.oracle.Extend(); err != nil && !s.isClosing() {
				s.o.Logger.Warn("cannot save the mark of timestamps ahead", "error", err)
			}
		}
		now := s.activity()
		quiet++
		if now != seen {
			quiet, seen = 0, now
		}
	}
}

// loadWatch recognises bulk loads by the mean size of the commits in each tick.
type loadWatch struct {
	commits, bytes uint64 // their counts at the last tick
	loaded         uint64 // bytes of loads since the last pause
}

// tick takes the counts of commits and their bytes.
func (l *loadWatch) tick(commits, bytes uint64) {
	n, size := commits-l.commits, bytes-l.bytes
	l.commits, l.bytes = commits, bytes
	if size > n*loadCommitBytes {
		l.loaded += size
	}
}

// ended reports at a pause whether there was a load worth a flush since the last one.
func (l *loadWatch) ended() bool {
	was := l.loaded >= loadBytesMin
	l.loaded = 0
	return was
}
