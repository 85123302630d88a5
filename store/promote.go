package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/placement"
	"github.com/pandodb/pando/placement/meta"
	"github.com/pandodb/pando/replica"
)

// Reasons why Promote refuses; nothing has happened.
var (
	// ErrPromoted: the regions have logs.
	ErrPromoted = errors.New("the store is the first of a cluster already")
	// ErrRelaxed: commits would be acknowledged that are not in a majority's log.
	ErrRelaxed = errors.New("a cluster acknowledges what is in its logs: switch relaxed durability off (sync-log, innodb_flush_log_at_trx_commit)")
)

// Promote turns a store that is alone into the first of a cluster, under load: every region gets a log of its own, and region 0 is created
// (docs/design/0020 D10). Statements go on; those that arrive during the switch wait for its end. The switch is one record of the log:
// after a crash before it nothing has changed, and after a crash behind it the store opens as that of a cluster.
func (s *Store) Promote() error {
	s.promoting.Lock()
	defer s.promoting.Unlock()
	switch {
	case s.cluster.Load() != nil:
		return ErrPromoted
	case s.relaxed.Load():
		return ErrRelaxed
	case s.isClosing():
		return kvapi.ErrClosed
	}
	began := clock.Mono()
	if _, err := s.counters.load(regionIDs); err != nil { // the sequencer must not wait for the disk
		return err
	}
	// Most of what the barrier after the switch has to flush is flushed here, while nobody waits.
	if err := s.engine.Barrier(); err != nil {
		return fmt.Errorf("store: promote: %w", err)
	}
	s.collecting.Lock() // a store that is alone logs the collector's deletions, a cluster does not
	defer s.collecting.Unlock()
	s.switching.Lock()
	defer s.switching.Unlock()
	switched := s.ident
	switched.clustered = true
	if err := s.administer(&adminCommit{
		prepare: func(b *engine.Batch) error { return s.prepareSwitch(b, switched) },
		applied: func() { s.regions.Store(closedRegions()) },
	}); err != nil {
		if errors.Is(err, kvapi.ErrUndetermined) {
			return err // the log has failed, and the store with it
		}
		return fmt.Errorf("store: promote: %w", err)
	}
	s.ident = switched
	c, err := s.startCluster()
	if err == nil {
		// What was committed before waits for nothing any more.
		s.syncApplied()
		s.frontiers.forget()
		s.oracle.Move(c.meta)
		c.role.taken = true // nobody else has c yet
		s.Join(c)
		term := c.set.Leadership(0).Term
		c.lease.begin(term, false)
		c.serve(term)
		c.Start()
		groups, led := c.set.Len()
		s.o.Logger.Info("the store is the first of a cluster now", "groups", groups, "led", led, "took", clock.Since(began))
		return nil
	}
	// The switch is on disk and cannot be taken back; the next start completes it.
	s.fail(err)
	return fmt.Errorf("store: promote: %w", err)
}

// prepareSwitch writes the records that a cluster begins with. It runs in the sequencer, after all earlier commits.
func (s *Store) prepareSwitch(b *engine.Batch, switched ident) error {
	old := s.regions.Load()
	s.counters.mu.Lock()
	next := max(s.counters.values[string(regionIDs)], uint64(old.last())+1, s.ident.storeID+1)
	s.counters.mu.Unlock()
	safe := clock.Timestamp(s.safepoint.Load())
	peer := func() []kvapi.Peer {
		next++
		return []kvapi.Peer{{ID: next - 1, Store: s.ident.storeID}}
	}
	for _, r := range old.sorted {
		desc := r.Region
		desc.Mode, desc.Peers = kvapi.ModeRaft, peer()
		desc.Epoch.ConfVer++
		replica.Create(b, &desc, safe)
	}
	replica.Create(b, &kvapi.Region{Mode: kvapi.ModeRaft, Epoch: kvapi.Epoch{Version: 1, ConfVer: 1}, Peers: peer()}, 0)
	var state meta.State
	writeMeta(b, state.Begin(next, max(s.oracle.Mark(), s.oracle.Last()), clusterVersion,
		meta.Store{ID: s.ident.storeID, Incarnation: s.ident.incarnation, Oldest: oldestVersion, Newest: clusterVersion}))
	b.Set(identKey, switched.encode())
	return nil
}

// startCluster opens the groups that are on disk, leads those of which this store has the only voter, and returns once all committed entries of
// their logs are applied. All that was written before is in tables then, and recovery replays none of it (package replica, L6).
func (s *Store) startCluster() (*Cluster, error) {
	m := &metaRegion{s: s}
	if err := replica.CompleteRemovals(s.engine, s.ident.storeID); err != nil {
		return nil, err
	}
	if err := m.load(); err != nil {
		return nil, err
	}
	c, err := NewCluster(s, tso{s})
	if err != nil {
		return nil, err
	}
	c.meta = m
	c.set = replica.New(replica.Options{Engine: s.engine, Machine: machine{Cluster: c, meta: m}, Timestamps: tso{s}, Store: s.ident.storeID,
		Transport: s.o.Transport, LeaderChanged: c.leaderChanged, Logger: s.o.Logger, Limits: s.o.Limits.Replica, Fail: s.failCopy})
	m.set = c.set
	c.Lead(c.set)
	err = c.set.Load()
	if err == nil {
		err = c.set.Start()
	}
	if err != nil {
		c.set.Close()
		return nil, err
	}
	for _, r := range *c.regions.Load() {
		lower, upper := regionBounds(r.desc.Load())
		tables, err := s.engine.ApproxBytes(lower, upper)
		if err != nil {
			c.set.Close()
			return nil, s.readError(err)
		}
		r.size.Store(int64(tables))
	}
	return c, nil
}

// sole reports whether this store has the only voter of every region of its cluster.
func (c *Cluster) sole() bool {
	ids := c.set.Regions()
	for _, id := range ids {
		st, here := c.set.Status(id)
		if !here {
			return false // it was removed meanwhile
		}
		if p, mine := st.Region.On(c.s.ident.storeID); !mine || p.Learner || st.Region.Voters() > 1 {
			return false
		}
	}
	return len(ids) > 0
}

// recoverCluster opens a store of a cluster. A store with the only voter of all regions is the gateway when it returns; any other follows,
// until TakeOver makes it the gateway.
func (s *Store) recoverCluster() error {
	if s.o.Relaxed {
		return ErrRelaxed
	}
	if err := (&metaRegion{s: s}).load(); err != nil { // before anything is written
		return err
	}
	b := s.engine.NewBatch()
	defer b.Close()
	b.Set(identKey, s.ident.encode())
	if err := s.engine.Apply(b, true); err != nil {
		return fmt.Errorf("store: write identity: %w", err)
	}
	s.regions.Store(closedRegions())
	s.worker.s = s
	c, err := s.startCluster()
	if err != nil {
		return err
	}
	if err := s.startClock(c); err != nil {
		c.set.Close()
		return err
	}
	s.Join(c)
	c.Start()
	if c.sole() {
		if err := s.TakeOver(context.Background()); err != nil {
			return errors.Join(err, s.closeCluster(c))
		}
	}
	groups, led := c.set.Len()
	s.o.Logger.Info("store of a cluster is open", "store", s.ident.storeID, "incarnation", s.ident.incarnation, "groups", groups, "led", led)
	return nil
}

// startClock makes the timestamp oracle, which issues timestamps once the store is the gateway.
func (s *Store) startClock(c *Cluster) (err error) {
	var mark clock.Timestamp
	c.meta.view(func(m *meta.State) { mark = m.Mark() })
	if s.oracle, err = placement.NewOracle(placement.OracleOptions{Mark: mark, NowMillis: s.o.NowMillis, Store: c.meta, Window: s.o.Limits.TimestampWindow}); err != nil {
		return err
	}
	start := uint64(s.oracle.Last())
	s.applied.Store(start)
	s.synced.Store(start)
	s.durable.mark.Store(start)
	return nil
}

// closeCluster ends the groups. It flushes what they have applied, so that the next start need not apply it again.
func (s *Store) closeCluster(c *Cluster) error {
	c.Close()
	c.set.Close()
	if s.failed.Load() {
		return errFailed
	}
	return s.engine.Flush()
}
