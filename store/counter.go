package store

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
)

const counterLen = 8

// counters are durable numbers that only grow: upper bounds of AUTO_INCREMENT
// values. They have no versions and stand outside transactions, though a raise
// may ride in one's batch. There is one per table, and all stay in memory once
// used.
type counters struct {
	engine *engine.Engine
	// mu guards values. It is a leaf, and nobody reads from the disk under it: the sequencer's leader takes it.
	mu     sync.Mutex
	values map[string]uint64
}

// load returns a counter, reading it on first use; zero if it was never raised.
func (c *counters) load(key []byte) (uint64, error) {
	c.mu.Lock()
	v, ok := c.values[string(key)]
	c.mu.Unlock()
	if ok {
		return v, nil
	}
	b, found, err := c.engine.Get(nil, keys.CounterKey(nil, key))
	if err != nil {
		return 0, fmt.Errorf("store: read counter: %w", err)
	}
	if found {
		if len(b) != counterLen {
			return 0, corrupt(fmt.Sprintf("counter of %d bytes", len(b)))
		}
		v = binary.BigEndian.Uint64(b)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if newer, ok := c.values[string(key)]; ok {
		return newer, nil
	}
	c.values[string(key)] = v
	return v, nil
}

// raise writes the counter into the batch, lifted by r. It runs in the
// sequencer, so batches carry ascending values; the committer has loaded it. A
// raise that lifts nothing is written too: an earlier one may not be synced yet,
// and the committer is told of durability by this batch.
func (c *counters) raise(b *engine.Batch, r kvapi.CounterRaise) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := max(r.Value, c.values[string(r.Key)])
	c.values[string(r.Key)] = v
	b.Set(keys.CounterKey(nil, r.Key), binary.BigEndian.AppendUint64(nil, v))
}

// Counter returns the value of a counter as far as it was raised, synced or not.
func (s *Store) Counter(key []byte) (uint64, error) { return s.counters.load(key) }
