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
	// keyFilterShare is the memory of one filter as a share of a memtable's. A version takes a memtable 100 bytes and more, so
	// that one filter is enough for most.
	keyFilterShare = 128
	// keyFilterFill is how many keys a filter takes for each of its words of 64 bits. Each sets at most four of them: that is one
	// lookup in some two hundred that goes to the memtables in vain.
	keyFilterFill = 4
	// keyFiltersMax bounds the filters. The last takes what comes when there are that many, and tells less and less.
	keyFiltersMax = 16
	// keyRangesMax bounds the deleted ranges that a filter knows one by one: tables dropped or truncated between two flushes.
	keyRangesMax = 64
)

// unflushed tells which logical keys memtables hold no version of, so that a lookup need not search them: their skip lists cost
// it about as much as all tables together, and a row that is not in the row cache has mostly not been written for long
// (docs/design/measured/unflushed.md).
//
// Keys enter the last filter before their batch is applied. A filter that takes no more keys goes when a flush has made tables of
// all batches that it knows. So who looks here and then makes an iterator of the tables alone misses nothing that was applied
// before the look: it was in a filter, or in a table.
type unflushed struct {
	seed  maphash.Seed
	words int // of a filter
	// filters holds at least one. The slice is replaced under mu, never changed: lookups read it without.
	filters atomic.Pointer[[]*keyFilter]
	mu      sync.Mutex // a leaf
}

// keyFilter is a Bloom filter with one word per key (Putze, Sanders, Singler: Cache-, hash- and space-efficient Bloom filters,
// 2007, §3), which batches fill at the same time.
type keyFilter struct {
	words []uint64
	keys  atomic.Int64 // that set a bit
	// ranges are those that batches have deleted; more than keyRangesMax make all true. The slice is replaced, never changed.
	ranges atomic.Pointer[[]keyRange]
	all    atomic.Bool
	// A batch counts itself in users, then looks whether the filter is closed. Who closes it looks at users after.
	users  atomic.Int64
	closed atomic.Bool
	last   atomic.Uint64 // highest sequence number of the batches that were users
}

// keyRange are the engine keys from start to end, both bare.
type keyRange struct{ start, end []byte }

// holds tells whether a version of the logical key may lie in the range. The key behind the end may be taken for a part of it.
func (r *keyRange) holds(logical []byte) bool {
	return compareBare(logical, r.start) >= 0 && compareBare(logical, r.end) <= 0
}

// compareBare compares a logical key of the versions' space with a bare engine key of any.
func compareBare(logical, bare []byte) int {
	return cmp.Or(cmp.Compare(keys.SpaceVersion, bare[0]), bytes.Compare(logical, bare[1:len(bare)-1]))
}

func (u *unflushed) init(memTableBytes int64) {
	u.seed = maphash.MakeSeed()
	u.words = int(memTableBytes / keyFilterShare / 8)
	u.filters.Store(&[]*keyFilter{u.newFilter()})
}

func (u *unflushed) newFilter() *keyFilter { return &keyFilter{words: make([]uint64, u.words)} }

// hash is what the filters know of a logical key.
func (u *unflushed) hash(logical []byte) uint64 { return maphash.Bytes(u.seed, logical) }

// mayHold tells whether a memtable may hold something of the key, whose hash is h. False is certain for what was applied before the
// filters were loaded, and stays so while they are filled further.
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

// enter notes the keys of a batch that is about to be applied. The caller leaves the filter afterwards.
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

// addRanges notes deleted ranges. The caller holds the mutex of the filters.
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

// use returns the last filter, which stays until the caller has left it.
func (u *unflushed) use() *keyFilter {
	for {
		filters := *u.filters.Load()
		f := filters[len(filters)-1]
		f.users.Add(1)
		if !f.closed.Load() {
			return f
		}
		f.users.Add(-1) // its successor is there by now or about to be
	}
}

// leave says that a batch, whose last sequence number it takes, has been applied.
func (f *keyFilter) leave(last uint64) {
	for old := f.last.Load(); old < last && !f.last.CompareAndSwap(old, last); old = f.last.Load() {
	}
	f.users.Add(-1)
}

// closeLast makes a new filter the last one, if f is that still. The caller holds mu.
func (u *unflushed) closeLast(f *keyFilter) {
	filters := *u.filters.Load()
	if filters[len(filters)-1] != f || len(filters) >= keyFiltersMax {
		return
	}
	filters = append(slices.Clone(filters), u.newFilter())
	u.filters.Store(&filters)
	f.closed.Store(true)
}

// flushed drops what is in tables now: every batch up to the highest sequence number of what a flush has written, because
// memtables hold batches in their order and are flushed in it. Iterators made from here on show those tables.
func (u *unflushed) flushed(info *pebble.FlushInfo) {
	last := uint64(0)
	for i := range info.Output {
		last = max(last, uint64(info.Output[i].LargestSeqNum))
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	filters := *u.filters.Load()
	// The last filter knows keys of the next flush, too. It is closed so that it goes with that one.
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

// word returns where the bits of a key are. The low half of the hash chooses it, the high half its bits.
func (f *keyFilter) word(h uint64) *uint64 {
	return &f.words[uint64(uint32(h))*uint64(len(f.words))>>32]
}

func filterMask(h uint64) uint64 {
	return 1<<(h>>32&63) | 1<<(h>>38&63) | 1<<(h>>44&63) | 1<<(h>>50&63)
}
