package store

import (
	"math/rand/v2"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/assert"
)

// Join makes c what the store serves from now on: the last step of the switch. Requests that name the store's regions of before are refused.
func (s *Store) Join(c *Cluster) { s.cluster.Store(c) }

// Cluster returns the store's regions with a log, nil while the store is alone.
func (s *Store) Cluster() *Cluster { return s.cluster.Load() }

// Timestamp issues a timestamp above all that were issued before.
func (c *Cluster) Timestamp() (clock.Timestamp, error) { return c.timestamps.Next(1) }

// Register takes a place for sn in the store's registry and then its timestamp (S5): a new one, or the last that was issued where none can be.
// That covers all commits that were acknowledged; and if another store issues them by now, the lease of this one is over, which each read at the
// snapshot asks for.
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

// Unregister gives the place up.
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
