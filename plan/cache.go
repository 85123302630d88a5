package plan

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
)

const (
	cacheShards = 16
	// entryBytes is what an entry costs besides its key and plan.
	entryBytes = 256
	// entryShareMax bounds an entry: one that takes more than 1/entryShareMax of a shard is not cached.
	entryShareMax = 4
)

// Cache holds the plans of the node, shared by all sessions and bounded in bytes. Keys are the whole normalised text and all that the
// plan's meaning depends on, never only a digest. It is safe for concurrent use.
type Cache struct {
	seed   maphash.Seed
	shards [cacheShards]shard

	hits, misses, stale atomic.Uint64
}

// shard is one part of the cache. mu guards its fields; it is held for map operations only and no other lock is taken under it.
type shard struct {
	mu       sync.RWMutex
	entries  map[string]*Entry
	ring     []*Entry // in order of arrival, for the clock hand
	hand     int
	bytes    int
	bytesMax int
}

// Entry is one cached plan.
type Entry struct {
	Plan *exec.Plan
	// Text is the statement that the plan was made for; others of the same normalised text share it.
	Text string
	// Digest is the statement digest under which executions are counted; nil for the server's own queries.
	Digest *Digest
	key    string
	size   int
	// checked is the newest catalog version that the entry was found valid for.
	checked atomic.Uint64
	// used marks entries for the clock: set on use, cleared by the passing hand.
	used atomic.Bool
	gone atomic.Bool
}

// NewCache returns an empty cache of at most bytesMax bytes; 0 caches nothing.
func NewCache(bytesMax int64) *Cache {
	c := &Cache{seed: maphash.MakeSeed()}
	for i := range c.shards {
		c.shards[i].entries = map[string]*Entry{}
		c.shards[i].bytesMax = int(bytesMax / cacheShards)
	}
	return c
}

func (c *Cache) shard(key []byte) *shard {
	return &c.shards[maphash.Bytes(c.seed, key)%cacheShards]
}

// Get finds a plan that is valid in the snapshot. It allocates nothing. A plan of tables that have changed is removed.
func (c *Cache) Get(key []byte, snapshot *catalog.Snapshot) *Entry {
	s := c.shard(key)
	s.mu.RLock()
	e := s.entries[string(key)]
	s.mu.RUnlock()
	if e == nil {
		c.misses.Add(1)
		return nil
	}
	if !e.Valid(snapshot) {
		if !snapshot.Private() || !e.Valid(snapshot.Public()) { // otherwise it is still valid for sessions without temporary tables
			c.stale.Add(1)
			s.remove(e)
		} else {
			c.misses.Add(1)
		}
		return nil
	}
	if !e.used.Load() {
		e.used.Store(true)
	}
	c.hits.Add(1)
	return e
}

// Valid reports whether the plan's tables are those of the snapshot. Whoever keeps an Entry asks before each use: one comparison, unless
// the schema has changed since.
func (e *Entry) Valid(snapshot *catalog.Snapshot) bool {
	if snapshot.Private() {
		return e.validIn(snapshot)
	}
	version := snapshot.Version()
	if e.checked.Load() == version {
		return true
	}
	if !e.validIn(snapshot) {
		return false
	}
	// Sessions on an older snapshot may set this back; that costs them a comparison, no more.
	e.checked.Store(version)
	return true
}

// validIn compares the tables. Those reached through views and foreign keys are looked up among the public ones, because a temporary table of
// the same name is not meant there.
func (e *Entry) validIn(snapshot *catalog.Snapshot) bool {
	for i := range e.Plan.Tables {
		ref := &e.Plan.Tables[i]
		if ref.Table.Temporary == nil && (ref.Via != nil || ref.Foreign) {
			if !snapshot.HasPublic(ref.Table) {
				return false
			}
		} else if !snapshot.Has(ref.Table) {
			return false
		} else if m := ref.Table.Temporary; m != nil && m.Bytes() > temporaryGrowth+4*ref.Bytes {
			return false
		}
	}
	return true
}

// temporaryGrowth: statements on a temporary table are planned anew once it has more than four times the bytes that it had, and these on top. They
// are about what rowsMin rows take.
const temporaryGrowth = 64 << 10

// Forget drops the plans over a table whose statistics have changed, so that they are made again. Programs of point statements stay: statistics
// do not change them. Sessions that hold an entry go on with it until they look it up again.
func (c *Cache) Forget(physID uint64) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		for _, e := range s.entries {
			if e.Plan.Program != nil {
				continue
			}
			for k := range e.Plan.Tables {
				if e.Plan.Tables[k].Table.PhysID == physID {
					s.drop(e)
					break
				}
			}
		}
		s.mu.Unlock()
	}
}

// Put adds a plan and returns its entry, or a valid one that another session has put there meanwhile.
func (c *Cache) Put(key []byte, text string, d *Digest, p *exec.Plan, snapshot *catalog.Snapshot) *Entry {
	e := &Entry{Plan: p, Text: text, Digest: d, key: string(key), size: entryBytes + len(key) + len(text) + p.Bytes + d.bytes()}
	e.checked.Store(snapshot.Version())
	s := c.shard(key)
	if e.size*entryShareMax > s.bytesMax {
		return e
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if other := s.entries[e.key]; other != nil && other.Valid(snapshot) {
		return other
	} else if other != nil {
		s.drop(other)
	}
	for s.bytes+e.size > s.bytesMax && len(s.ring) > 0 {
		s.evict()
	}
	s.entries[e.key] = e
	s.ring = append(s.ring, e)
	s.bytes += e.size
	return e
}

// evict moves the clock hand to the next entry that was not used since it last passed, and drops that one. s.mu is held.
func (s *shard) evict() {
	for {
		if s.hand >= len(s.ring) {
			s.hand = 0
		}
		e := s.ring[s.hand]
		if !e.gone.Load() && e.used.Swap(false) {
			s.hand++
			continue
		}
		last := len(s.ring) - 1
		s.ring[s.hand] = s.ring[last]
		s.ring[last] = nil
		s.ring = s.ring[:last]
		if !e.gone.Load() {
			s.drop(e)
			return
		}
		if len(s.ring) == 0 {
			return
		}
	}
}

// drop takes an entry out of the map; the ring forgets it when the hand passes. s.mu is held.
func (s *shard) drop(e *Entry) {
	if e.gone.Swap(true) {
		return
	}
	s.bytes -= e.size
	if s.entries[e.key] == e {
		delete(s.entries, e.key)
	}
}

func (s *shard) remove(e *Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(e)
}

// CacheStats are the cache's counters since start, and its present size.
type CacheStats struct {
	Hits, Misses, Stale uint64
	Entries, Bytes      int
}

// Stats returns the counters for the status port.
func (c *Cache) Stats() CacheStats {
	st := CacheStats{Hits: c.hits.Load(), Misses: c.misses.Load(), Stale: c.stale.Load()}
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.RLock()
		st.Entries += len(s.entries)
		st.Bytes += s.bytes
		s.mu.RUnlock()
	}
	return st
}
