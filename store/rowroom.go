package store

import (
	"time"

	"github.com/pandodb/pando/clock"
)

// The row cache's part of the engine's cache. A quarter is its own. Above that it has what blocks leave, so that a database that is
// smaller than the cache has both its blocks and its rows there; when blocks come to need the room they get it back.
const (
	rowRoomInterval = time.Second
	rowRoomOwn      = 4 // one in so many bytes is its own
	// rowRoomLeave is what it leaves free, one in so many bytes: blocks that are read next, and those that a compaction makes anew,
	// should not have to wait for room.
	rowRoomLeave = 16
	// rowRoomLow is how little is free, one in so many, when blocks are taken to be pressed for room.
	rowRoomLow = 64
	// rowRoomGrow and rowRoomShrink bound how fast it grows and gives back, one in so many bytes each interval: a compaction empties
	// the cache of the blocks it has rewritten for a while, and to drop rows takes processor time.
	rowRoomGrow   = 64
	rowRoomShrink = 32
)

// rowRoomMost is the most that the row cache has of a cache of so many bytes.
func rowRoomMost(cache int64) int64 { return cache - cache/4 }

// rowRoom returns how many bytes the row cache may have of a cache of so many, which it was allowed limit of until now, uses used of,
// and which spare bytes are free of.
func rowRoom(cache, limit, used, spare int64) int64 {
	switch leave := cache / rowRoomLeave; {
	case spare > leave:
		limit = min(limit+cache/rowRoomGrow, used+spare-leave)
	case spare < cache/rowRoomLow:
		limit = min(limit, used) - cache/rowRoomShrink
	}
	return max(min(limit, rowRoomMost(cache)), cache/rowRoomOwn)
}

// balancer is the goroutine that looks at the use of memory, with commits or without: it gives the row cache what blocks leave of the
// engine's cache, and takes it back, unless that has a size of its own, and has the engine look at the page cache.
func (s *Store) balancer(rows bool) {
	defer s.background.Done()
	ticker := clock.NewTicker(rowRoomInterval)
	defer ticker.Stop()
	limit := s.o.RowCacheBytes
	for {
		select {
		case <-s.closing:
			return
		case <-ticker.C:
			s.engine.PollReads()
			if rows {
				limit = s.balance(limit)
			}
		}
	}
}

// balance looks at both caches once. It takes and returns the limit of the row cache.
func (s *Store) balance(limit int64) int64 {
	room := rowRoom(s.engine.CacheBytes(), limit, s.rows.Stats().Bytes, s.engine.CacheSpare())
	if room != limit {
		s.rows.Resize(room)
	}
	return room
}
