package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
)

const counterLen = 8

// counters are durable numbers that only grow, such as upper bounds of
// AUTO_INCREMENT values. They have no versions and are not transactional, though a
// raise may be written in a commit's batch. All stay in memory once used, until
// DropCounters.
type counters struct {
	engine *engine.Engine
	// mu guards what follows. It is a leaf, and nobody reads from the disk under it: the sequencer's leader takes it.
	mu sync.Mutex
	// values holds what was loaded or raised. A counter that it lacks is on disk, or zero.
	values map[string]uint64
	drops  uint64 // calls of drop and dropSpan
}

// load returns a counter, reading it on first use; zero if it was never raised.
func (c *counters) load(key []byte) (uint64, error) {
	for {
		c.mu.Lock()
		v, ok := c.values[string(key)]
		drops := c.drops
		c.mu.Unlock()
		if ok {
			return v, nil
		}
		b, found, err := c.engine.Get(nil, keys.CounterKey(nil, key))
		if err != nil {
			return 0, fmt.Errorf("store: read counter: %w", err)
		}
		if found && len(b) != counterLen {
			return 0, corrupt(fmt.Sprintf("counter of %d bytes", len(b)))
		}
		c.mu.Lock()
		if newer, ok := c.values[string(key)]; ok {
			v, drops = newer, c.drops
		} else if drops == c.drops && found {
			v = binary.BigEndian.Uint64(b)
			c.values[string(key)] = v
		}
		settled := drops == c.drops
		c.mu.Unlock()
		if settled {
			return v, nil
		}
		// What was read may have been dropped since, and must not come back.
	}
}

// stored returns the keys of a span's counters.
func (c *counters) stored(span kvapi.Span) (found [][]byte, err error) {
	it, err := c.engine.NewIter(engine.IterOptions{Lower: keys.CounterKey(nil, span.Start), Upper: keys.CounterKey(nil, span.End)})
	if err != nil {
		return nil, fmt.Errorf("store: find counters: %w", err)
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok; ok = it.Next() {
		_, logical, ok := keys.DecodeBare(it.Key())
		if !ok {
			return nil, corrupt("key of a counter")
		}
		found = append(found, bytes.Clone(logical))
	}
	return found, it.Error()
}

func (c *counters) drop(found [][]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range found {
		delete(c.values, string(key))
	}
	c.drops++
}

// raise raises a counter to at least r.Value, and writes it into the batch. It
// runs in the sequencer, so values on disk ascend; the committer has loaded the
// counter. A raise that changes nothing is written too: an earlier one may not be
// synced yet, and the committer learns of durability by the sync of this batch.
func (c *counters) raise(b *engine.Batch, r kvapi.CounterRaise) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := max(r.Value, c.values[string(r.Key)])
	c.values[string(r.Key)] = v
	b.Set(keys.CounterKey(nil, r.Key), binary.BigEndian.AppendUint64(nil, v))
}

// counterAlloc is an allocation on its way through the sequencer.
type counterAlloc struct {
	req   *kvapi.CounterAllocRequest
	first uint64 // the result, once it is in a batch
}

// alloc takes a.req.N numbers of a counter and writes its new value into the batch. It runs in the sequencer, as raise does. At the largest
// number the counter stays, and the caller gets fewer numbers than it asked for.
func (c *counters) alloc(b *engine.Batch, a *counterAlloc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.values[string(a.req.Key)]
	a.first = max(before, a.req.Least)
	v := a.first + a.req.N
	if v < a.first {
		v = math.MaxUint64
	}
	assert.That(v >= before, "store: counters do not fall")
	c.values[string(a.req.Key)] = v
	b.Set(keys.CounterKey(nil, a.req.Key), binary.BigEndian.AppendUint64(nil, v))
}

// AllocCounter takes numbers of a counter; it returns the first of them once that is durable.
func (s *Store) AllocCounter(r *kvapi.CounterAllocRequest) (first uint64, err error) {
	// The sequencer must not wait for the disk, so the value is loaded here.
	if _, err := s.counters.load(r.Key); err != nil {
		return 0, err
	}
	n := &commitNode{req: &kvapi.CommitRequest{}, alloc: &counterAlloc{req: r}, wake: make(chan commitSignal, 1)}
	if err := s.enqueue(n); err != nil {
		return 0, err
	}
	return n.alloc.first, nil
}

// Counter returns the value of a counter as far as it was raised, synced or not.
func (s *Store) Counter(key []byte) (uint64, error) { return s.counters.load(key) }

// DropCounters deletes the counters in a span of logical keys and returns once
// that is durable. Nobody may raise one of them any more.
func (s *Store) DropCounters(span kvapi.Span) error {
	if span.IsPoint() || len(span.End) == 0 || span.Empty() {
		return fmt.Errorf("store: drop needs a bounded span, not [%x, %x)", span.Start, span.End)
	}
	found, err := s.counters.stored(span)
	if err != nil || len(found) == 0 {
		return err
	}
	return s.administer(&adminCommit{
		prepare: func(b *engine.Batch) error {
			for _, key := range found {
				b.Delete(keys.CounterKey(nil, key))
			}
			return nil
		},
		applied: func() { s.counters.drop(found) },
	})
}

// dropSpan forgets the counters in a span whose deletion is being applied.
func (c *counters) dropSpan(span kvapi.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.values {
		if span.Contains([]byte(key)) {
			delete(c.values, key)
		}
	}
	c.drops++
}
