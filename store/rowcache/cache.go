package rowcache

import (
	"hash/maphash"
	"math/bits"

	"github.com/pandodb/pando/clock"
)

const (
	// The cache has as many shards as its size allows, so that growing a table of slots, or evicting a chunk, holds up few callers for a
	// short time.
	shardsMax     = 4096
	shardBytesMin = 8 * chunkBytes
	// RowMax is the longest key and row together, in bytes, that is kept. For longer ones a lookup in the engine costs little in comparison.
	RowMax = chunkBytes/4 - headerBytes
)

// Cache is the cache. The zero value and nil keep nothing. It is safe for concurrent use.
type Cache struct {
	seed   maphash.Seed
	shards []shard // a power of two of them
	shift  uint8   // the high bits of a hash from here on choose the shard
}

// Stats are a cache's counts since New, and its present size.
type Stats struct {
	Hits, Misses uint64
	Filled       uint64 // rows inserted
	Refused      uint64 // rows that Fill refused because they may not have been the newest
	Evicted      uint64
	Entries      int
	Bytes        int64 // of memory
}

// New returns a cache of about limit bytes; with too few for one shard it keeps nothing. reserve, which may be nil, is called with the
// bytes of memory before they are allocated, and with a negative number when memory is given back.
func New(limit int64, reserve func(bytes int64)) *Cache {
	c := &Cache{seed: maphash.MakeSeed(), shift: 64}
	n := min(limit/shardBytesMin, shardsMax)
	if n < 1 {
		return c
	}
	log := bits.Len64(uint64(n)) - 1
	c.shift = uint8(64 - log)
	c.shards = make([]shard, 1<<log)
	for i := range c.shards {
		s := &c.shards[i]
		s.limit, s.reserve = limit>>log, reserve
	}
	return c
}

// Drop removes all rows whose keys are doomed, and gives back the chunks that no row is left in. It holds a shard's lock for one chunk at a
// time, and calls rest between two shards; it ends early when that returns false.
func (c *Cache) Drop(doomed func(key []byte) bool, rest func() bool) {
	for i := range c.shards {
		s := &c.shards[i]
		for chunk, more := 0, true; more; chunk++ {
			s.mu.Lock()
			if more = chunk < len(s.chunks); more {
				s.drop(chunk, doomed)
			}
			s.mu.Unlock()
		}
		if !rest() {
			return
		}
	}
}

// Forget is Drop, and makes sure that readers that have such a row already cannot bring it back: every Fill with a bound below the number is
// refused from now on. It is for keys whose state was replaced otherwise than by commits that are recorded.
func (c *Cache) Forget(doomed func(key []byte) bool, number uint64) {
	if c == nil {
		return
	}
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		for j := range s.last {
			s.last[j] = max(s.last[j], number)
		}
		s.mu.Unlock()
	}
	c.Drop(doomed, func() bool { return true })
}

// shard returns the shard of a key and the key's hash, nil if nothing is kept.
func (c *Cache) shard(key []byte) (*shard, uint64) {
	if c == nil || len(c.shards) == 0 {
		return nil, 0
	}
	h := maphash.Bytes(c.seed, key)
	return &c.shards[h>>c.shift], h // a shift by 64 gives 0
}

// Get appends the row of key to dst if its newest version is here and visible at the timestamp, and returns that version's
// timestamp. If ok is false nothing is known about the key.
func (c *Cache) Get(dst, key []byte, at clock.Timestamp) (row []byte, ts clock.Timestamp, ok bool) {
	s, h := c.shard(key)
	if s == nil {
		return dst, 0, false
	}
	s.mu.Lock()
	row, ts, ok = s.get(dst, key, h, at)
	s.mu.Unlock()
	return row, ts, ok
}

// Fill offers the newest version of key that a reader with this bound has seen. Both slices are copied.
func (c *Cache) Fill(key, row []byte, ts clock.Timestamp, bound uint64) {
	s, h := c.shard(key)
	if s == nil || len(key)+len(row) > RowMax {
		return
	}
	s.mu.Lock()
	s.fill(key, row, h, ts, bound)
	s.mu.Unlock()
}

// Unchanged reports whether no commit above a reader's bound has been recorded of key, nor of one that shares its stamp. False says nothing.
func (c *Cache) Unchanged(key []byte, bound uint64) bool {
	s, h := c.shard(key)
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last[h>>32%stamps] <= bound
}

// Put records that a commit has written a version of key. Both slices are copied.
func (c *Cache) Put(key, row []byte, ts clock.Timestamp, number uint64) {
	s, h := c.shard(key)
	if s == nil {
		return
	}
	s.mu.Lock()
	s.put(key, row, h, ts, number)
	s.mu.Unlock()
}

// Delete records that a commit has deleted key.
func (c *Cache) Delete(key []byte, number uint64) {
	s, h := c.shard(key)
	if s == nil {
		return
	}
	s.mu.Lock()
	s.stamp(h, number)
	if at, slot := s.find(key, h); at >= 0 {
		s.forget(at, slot)
	}
	s.mu.Unlock()
}

// Stats returns the counts. It visits every shard.
func (c *Cache) Stats() (t Stats) {
	if c == nil {
		return t
	}
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		t.Hits += s.stats.Hits
		t.Misses += s.stats.Misses
		t.Filled += s.stats.Filled
		t.Refused += s.stats.Refused
		t.Evicted += s.stats.Evicted
		t.Entries += s.entries
		t.Bytes += s.used
		s.mu.Unlock()
	}
	return t
}
