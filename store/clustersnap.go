package store

import (
	"math/rand/v2"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/assert"
)

// Join makes c serve the store's requests from now on: the last step of a promotion. Requests that name regions without a log are refused.
func (s *Store) Join(c *Cluster) { s.cluster.Store(c) }

// Cluster returns the store's regions with a log, nil while the store is alone.
func (s *Store) Cluster() *Cluster { return s.cluster.Load() }

// Timestamp issues a timestamp above all that were issued before.
func (c *Cluster) Timestamp() (clock.Timestamp, error) { return c.timestamps.Next(1) }

// Register adds sn to the store's registry and then gives it its timestamp (S5): a new one or, if none can be issued, the last that was. That
// one covers all acknowledged commits of this gateway; and if another store is the gateway by now, this one's lease has ended, which each read
// at the snapshot checks.
func (c *Cluster) Register(sn *Snapshot) {
	if sn.shard != nil {
		panic("store: snapshot registered twice")
	}
	sh := &c.s.snapshots.shards[rand.Uint32()%snapshotShards]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	ts, err := c.timestamps.Next(1)
	if err != nil {
		ts = c.timestamps.Last()
	}
	assert.That(sh.tail == nil || sh.tail.ts <= ts, "store: a shard's snapshots are in the order of their timestamps")
	sn.shard, sn.linked, sn.ts = sh, true, ts
	sn.prev, sn.next = sh.tail, nil
	if sh.tail != nil {
		sh.tail.next = sn
	} else {
		sh.head = sn
	}
	sh.tail = sn
}

// Unregister removes sn from the registry.
func (c *Cluster) Unregister(sn *Snapshot) { c.s.Unregister(sn) }

// oldest returns a timestamp below which nobody on this node reads, or will read.
func (c *Cluster) oldest() (clock.Timestamp, error) {
	// The order matters: see snapshots.
	safe, err := c.timestamps.Next(1)
	if err != nil {
		return 0, err
	}
	for i := range c.s.snapshots.shards {
		sh := &c.s.snapshots.shards[i]
		sh.mu.Lock()
		if sh.head != nil {
			safe = min(safe, sh.head.ts)
		}
		sh.mu.Unlock()
	}
	return safe, nil
}
