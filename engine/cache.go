package engine

import (
	"sync"

	"github.com/pandodb/pando/engine/offheap"
)

// cacheRoomSteps is in how many steps the block cache shrinks and grows, as a fraction of its full size: each step is expensive, since it
// visits all of the cache's shards.
const cacheRoomSteps = 1024

// cacheRoom is the part of the cache's memory that the engine's owner uses for something else.
type cacheRoom struct {
	// mu guards what follows. Under it only the block cache's own locks are taken.
	mu       sync.Mutex
	used     int64    // bytes
	releases []func() // one for each step that the block cache has shrunk by
}

// OutsideBytes is how much memory outside of Go's heap the process uses for blocks and memtables; 0 in builds that have those on the
// heap, see package offheap.
func OutsideBytes() int64 { return offheap.Bytes() }

// OutsideChanges has something to receive when large blocks or memtables have made OutsideBytes much more or less since the last time. It is for one receiver.
func OutsideChanges() <-chan struct{} { return offheap.Changes() }

// CacheBytes is the configured size of the block cache, which includes memtables and what ReserveCache has taken.
func (e *Engine) CacheBytes() int64 { return e.opts.CacheBytes }

// ReserveCache shrinks the block cache by so many bytes, which the caller uses for something else; a negative number gives them
// back.
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
