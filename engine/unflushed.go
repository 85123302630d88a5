package engine

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/pandodb/pando/keys"
)

const (
	// keyFilterShare: one filter takes a 128th of the memory of a memtable. A version takes 100 bytes or more of a memtable, so
	// that normally one filter is enough for one memtable.
	keyFilterShare = 128
	// keyFilterFill is how many keys a filter takes for each of its words of 64 bits. A key sets at most four bits: so about one
	// lookup in two hundred reads the memtables needlessly.
	keyFilterFill = 4
	// keyFiltersMax bounds the filters. When there are as many the last takes all further keys, and gets less and less selective.
	keyFiltersMax = 16
	// keyRangesMax bounds the deleted ranges that a filter lists: of tables dropped or truncated between two flushes.
	keyRangesMax = 64
)

// unflushed knows, by Bloom filters, which logical keys have no version in memtables, so that a lookup need not search them: their skip
// lists cost as much as all tables together, and a row that is not in the row cache has mostly not been written for long
// (docs/design/measured/unflushed.md).
//
// Keys are added to the last filter before their batch is applied. A closed filter is dropped when all batches that it knows have been
// flushed. So a lookup that first consults the filters and then makes an iterator of tables only misses nothing that was applied before
// it consulted them: that was in a filter, or in a table.
type unflushed struct {
	seed  maphash.Seed
	words int // of a filter
	// filters holds at least one. The slice is replaced under mu, never changed: lookups read it without.
	filters atomic.Pointer[[]*keyFilter]
	mu      sync.Mutex // a leaf
}

// keyFilter is a Bloom filter in which each key has its bits in one word (Putze, Sanders, Singler: Cache-, hash- and space-efficient
// Bloom filters, 2007, §3). Batches add keys concurrently.
type keyFilter struct {
	words []uint64
	keys  atomic.Int64 // keys that have set a new bit
	// ranges are those that batches have deleted. If there are more than keyRangesMax, all is set instead. The slice is replaced, never changed.
	ranges atomic.Pointer[[]keyRange]
	all    atomic.Bool // the filter matches every key
	// A batch counts itself in users, and then checks closed. flushed checks closed first, and then users.
	users  atomic.Int64
	closed atomic.Bool
	last   atomic.Uint64 // highest sequence number of the batches that were users
}

// keyRange is the interval of engine keys from start to end, both bare, the end excluded.
type keyRange struct{ start, end []byte }

// holds reports whether a version of the logical key may lie in the range. It may say so of the end, too.
func (r *keyRange) holds(logical []byte) bool {
	return compareBare(logical, r.start) >= 0 && compareBare(logical, r.end) <= 0
}

// compareBare compares a logical key in the space of versions with a bare engine key of any space.
func compareBare(logical, bare []byte) int {
	return cmp.Or(cmp.Compare(keys.SpaceVersion, bare[0]), bytes.Compare(logical, bare[1:len(bare)-1]))
}

func (u *unflushed) init(memTableBytes int64) {
	u.seed = maphash.MakeSeed()
	u.words = int(memTableBytes / keyFilterShare / 8)
	u.filters.Store(&[]*keyFilter{u.newFilter()})
}

func (u *unflushed) newFilter() *keyFilter { return &keyFilter{words: make([]uint64, u.words)} }

// hash is the hash of a logical key for mayHold and enter.
func (u *unflushed) hash(logical []byte) uint64 { return maphash.Bytes(u.seed, logical) }

// mayHold reports whether a memtable may hold a version of the key, whose hash is h, or a deletion of it. False is certain for batches that
// were applied before the filters were loaded, and remains so while more keys are added to them.
func mayHold(filters []*keyFilter, h uint64, logical []byte) bool {
	mask := filterMask(h)
	for _, f := range filters {
		if w := atomic.LoadUint64(f.word(h)); w&mask == mask || f.all.Load() {
			return true
		}
		if ranges := f.ranges.Load(); ranges != nil {
			for i := range *ranges {
				if (*ranges)[i].holds(logical) {
					return true
				}
			}
		}
	}
	return false
}

// enter adds the keys of a batch that is about to be applied. The caller calls leave of the filter after that.
func (u *unflushed) enter(hashes []uint64, ranges []keyRange) *keyFilter {
	f := u.use()
	fresh := int64(0)
	for _, h := range hashes {
		mask := filterMask(h)
		if w := f.word(h); atomic.LoadUint64(w)&mask != mask {
			atomic.OrUint64(w, mask)
			fresh++
		}
	}
	if len(ranges) > 0 {
		u.mu.Lock()
		f.addRanges(ranges)
		u.mu.Unlock()
	}
	if fresh > 0 && f.keys.Add(fresh) >= int64(u.words)*keyFilterFill {
		u.mu.Lock()
		u.closeLast(f)
		u.mu.Unlock()
	}
	return f
}

// addRanges adds deleted ranges. The caller holds unflushed.mu.
func (f *keyFilter) addRanges(ranges []keyRange) {
	var all []keyRange
	if old := f.ranges.Load(); old != nil {
		all = *old
	}
	if len(all)+len(ranges) > keyRangesMax {
		f.all.Store(true)
		return
	}
	all = append(slices.Clone(all), ranges...)
	f.ranges.Store(&all)
}

// use returns the last filter, which is not dropped before the caller calls leave.
func (u *unflushed) use() *keyFilter {
	for {
		filters := *u.filters.Load()
		f := filters[len(filters)-1]
		f.users.Add(1)
		if !f.closed.Load() {
			return f
		}
		f.users.Add(-1) // its successor was added before f was closed
	}
}

// leave notes that a batch, whose last sequence number is last, has been applied.
func (f *keyFilter) leave(last uint64) {
	for old := f.last.Load(); old < last && !f.last.CompareAndSwap(old, last); old = f.last.Load() {
	}
	f.users.Add(-1)
}

// closeLast adds a new filter and closes f, if f is the last one. The caller holds mu.
func (u *unflushed) closeLast(f *keyFilter) {
	filters := *u.filters.Load()
	if filters[len(filters)-1] != f || len(filters) >= keyFiltersMax {
		return
	}
	filters = append(slices.Clone(filters), u.newFilter())
	u.filters.Store(&filters)
	f.closed.Store(true)
}

// flushed drops the filters whose batches are all in tables now: those up to the highest sequence number that a flush has written, because
// memtables hold batches in order and are flushed in order. Iterators made from here on show those tables.
func (u *unflushed) flushed(info *pebble.FlushInfo) {
	last := uint64(0)
	for i := range info.Output {
		last = max(last, uint64(info.Output[i].LargestSeqNum))
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	filters := *u.filters.Load()
	// The last filter may have keys of this flush and of the next. It is closed so that it can be dropped after the next one.
	if f := filters[len(filters)-1]; f.keys.Load() > 0 || f.ranges.Load() != nil || f.all.Load() {
		u.closeLast(f)
		filters = *u.filters.Load()
	}
	kept := make([]*keyFilter, 0, len(filters))
	for _, f := range filters {
		if !f.closed.Load() || f.users.Load() > 0 || f.last.Load() > last {
			kept = append(kept, f)
		}
	}
	u.filters.Store(&kept)
}

// word returns the word of a key. The low half of the hash selects it, the high half the bits in it.
func (f *keyFilter) word(h uint64) *uint64 {
	return &f.words[uint64(uint32(h))*uint64(len(f.words))>>32]
}

func filterMask(h uint64) uint64 {
	return 1<<(h>>32&63) | 1<<(h>>38&63) | 1<<(h>>44&63) | 1<<(h>>50&63)
}
