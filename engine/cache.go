package engine

import (
	"sync"

	"github.com/pandodb/pando/engine/offheap"
)

// cacheRoomSteps is in how many steps the whole of the cache could be reserved: the block cache gives way, and comes back, by one of
// them, since each passes through all of its shards.
const cacheRoomSteps = 1024

// cacheRoom is the part of the cache's memory that the engine's owner has put to another use.
type cacheRoom struct {
	// mu guards what follows. Under it only the block cache's own locks are taken.
	mu       sync.Mutex
	used     int64
	releases []func() // one for each step that the block cache has given way by
}

// OutsideBytes is how much of the process's memory outside of Go's heap is in use, for blocks and memtables; 0 in builds that have
// them on it, see package offheap.
func OutsideBytes() int64 { return offheap.Bytes() }

// CacheBytes is the size of the cache of blocks, with the room for memtables and what is reserved.
func (e *Engine) CacheBytes() int64 { return e.opts.CacheBytes }

// ReserveCache makes the block cache smaller by so many bytes, for memory that the caller uses in its place, or larger by what the
// caller gives back, which is a negative number.
func (e *Engine) ReserveCache(bytes int64) {
	r := &e.room
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used += bytes
	step := e.opts.CacheBytes / cacheRoomSteps
	for int64(len(r.releases))*step < r.used {
		r.releases = append(r.releases, e.cache.Reserve(int(step)))
	}
	for n := len(r.releases) - 1; n >= 0 && int64(n)*step >= r.used; n-- {
		r.releases[n]()
		r.releases = r.releases[:n]
	}
}
