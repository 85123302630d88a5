package offheap

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"
)

const (
	chunkBytes = 2 << 20 // a huge page
	slotMin    = 64
	// slotMax is the largest slot, of which a chunk holds four.
	slotMax          = chunkBytes / 4
	classesPerDouble = 8
	classes          = 1 + 13*classesPerDouble // up to slotMax

	// arenaBytes is the size of the range of addresses. When it is used up, memory comes from Go's heap.
	arenaBytes = 512 << 30
	chunksMax  = arenaBytes / chunkBytes
	pageMax    = 64 << 10
	// idleMax is how many unused chunks keep their memory.
	idleMax = 4
)

// none ends lists of chunks. They link indexes, not pointers, because the headers are outside of Go's heap, too.
const none = -1

// chunk is the header of a chunk. It belongs to the class whose slots it has.
type chunk struct {
	free       uintptr // address of the first free slot that was used before; 0: none
	fresh      uint32  // offset from which on slots have never been used
	used       uint32  // slots in use
	slot       uint32  // size of the slots
	class      int32
	prev, next int32 // in the class's list of chunks with a free slot
}

// class has the chunks with slots of one size.
type class struct {
	mu     sync.Mutex
	open   int32 // the first of the chunks with a free slot
	chunks int
	_      [64 - 16]byte // fills a cache line
}

// arena is the range of addresses and its chunks.
type arena struct {
	base    unsafe.Pointer // nil if the system has refused it
	chunks  []chunk        // chunksMax headers, backed by memory as far as they are used
	classes [classes]class

	mu   sync.Mutex // guards what follows
	made int        // how many chunks, from the first on, have ever been used
	idle []int32    // unused chunks that have kept their memory
	bare []int32    // unused chunks whose memory was returned
}

// memory is the arena of the process.
var memory arena

// held is how many bytes outside of Go's heap are allocated and not freed, in whole slots.
var held atomic.Int64

// changeBytes is the change in bytes that Changes reports.
const changeBytes = 16 << 20

var (
	told    atomic.Int64 // held at the last send to changes
	changes = make(chan struct{}, 1)
)

// Bytes returns how much memory outside of Go's heap is in use.
func Bytes() int64 { return held.Load() }

// Changes has something to receive when a large allocation, or its end, has made Bytes much more or less since the last time. The sum of the small ones moves
// slowly enough to be looked at from time to time.
func Changes() <-chan struct{} { return changes }

// hold counts a large allocation, or a negative number for its end.
func hold(bytes int) {
	now := held.Add(int64(bytes))
	last := told.Load()
	if now-last < changeBytes && last-now < changeBytes || !told.CompareAndSwap(last, now) {
		return
	}
	select {
	case changes <- struct{}{}:
	default: // one that nobody has received yet tells of this one, too
	}
}

var start = sync.OnceFunc(func() {
	memory.init(mapMemory(arenaBytes, chunksMax*int(unsafe.Sizeof(chunk{}))))
})

// init takes the range of addresses and the memory of the headers, which are zero. If base is nil take returns nothing.
func (a *arena) init(base, headers unsafe.Pointer) {
	for i := range a.classes {
		a.classes[i].open = none
	}
	if base != nil {
		a.base, a.chunks = base, unsafe.Slice((*chunk)(headers), chunksMax)
	}
}

// New returns n zero bytes, n > 0, which the caller frees by Free with the same n. They may hold pointers to memory outside of Go's heap, but
// none to memory on it. It is safe for concurrent use, as is Free.
func New(n int) unsafe.Pointer {
	start()
	if n <= slotMax {
		if p := memory.take(n); p != nil {
			clear(unsafe.Slice((*byte)(p), n))
			return p
		}
	} else if memory.base != nil {
		if p := mapLarge(n); p != nil {
			hold(largeBytes(n))
			return p
		}
	}
	heap := make([]byte, n)
	p := unsafe.Pointer(unsafe.SliceData(heap))
	if memory.base != nil && n > slotMax {
		strays.Store(uintptr(p), struct{}{})
	}
	return p
}

// strays are the addresses of large allocations on Go's heap, for which the system has refused memory. They are uintptrs, so the map does not keep
// them alive: their owner does.
var strays sync.Map

// Free frees what New has returned for n bytes.
func Free(p unsafe.Pointer, n int) {
	switch {
	case memory.base == nil:
	case n <= slotMax:
		memory.give(p)
	default:
		if _, stray := strays.LoadAndDelete(uintptr(p)); !stray {
			unmapLarge(p, n)
			hold(-largeBytes(n))
		}
	}
}

// largeBytes is the size of a separate mapping for n bytes: whole pages, of 64 KiB on some systems.
func largeBytes(n int) int { return (n + pageMax - 1) &^ (pageMax - 1) }

// classOf returns the class for n bytes.
func classOf(n int) int {
	if n <= slotMin {
		return 0
	}
	// low is the exponent of the power of two below n, part which of the classesPerDouble parts up to the next one n lies in.
	low := bits.Len(uint(n-1)) - 1
	part := (n - 1 - 1<<low) >> (low - 3)
	return 1 + (low-6)*classesPerDouble + part
}

// slotBytes returns the size of a class's slots.
func slotBytes(class int) int {
	if class == 0 {
		return slotMin
	}
	low, part := 6+(class-1)/classesPerDouble, (class-1)%classesPerDouble
	return 1<<low + (part+1)<<(low-3)
}

// take returns a slot for n bytes, nil if there is none.
func (a *arena) take(n int) unsafe.Pointer {
	if a.base == nil {
		return nil
	}
	k := classOf(n)
	s := &a.classes[k]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == none {
		i := a.acquire(s.chunks > 0)
		if i == none {
			return nil
		}
		a.chunks[i] = chunk{slot: uint32(slotBytes(k)), class: int32(k), prev: none, next: none}
		s.open = i
		s.chunks++
	}
	i := s.open
	c := &a.chunks[i]
	start := unsafe.Add(a.base, int(i)*chunkBytes)
	var p unsafe.Pointer
	if c.free != 0 {
		p = unsafe.Add(start, c.free-uintptr(start))
		c.free = *(*uintptr)(p)
	} else {
		p = unsafe.Add(start, c.fresh)
		c.fresh += c.slot
	}
	c.used++
	if c.free == 0 && c.fresh+c.slot > chunkBytes {
		a.unlink(s, i)
	}
	held.Add(int64(c.slot))
	return p
}

// give takes a slot back.
func (a *arena) give(p unsafe.Pointer) {
	offset := uintptr(p) - uintptr(a.base)
	if offset >= arenaBytes {
		return // on Go's heap, allocated when there was no chunk
	}
	i := int32(offset / chunkBytes)
	c := &a.chunks[i]
	// The chunk belongs to this class while a slot of it is in use.
	s := &a.classes[c.class]
	s.mu.Lock()
	defer s.mu.Unlock()
	if full := c.free == 0 && c.fresh+c.slot > chunkBytes; full {
		a.link(s, i)
	}
	*(*uintptr)(p) = c.free
	c.free = uintptr(p)
	c.used--
	held.Add(-int64(c.slot))
	// The last chunk with a free slot is kept, so that a class does not acquire and release one again and again.
	if c.used == 0 && (c.prev != none || c.next != none) {
		a.unlink(s, i)
		s.chunks--
		a.release(i)
	}
}

func (a *arena) link(s *class, i int32) {
	c := &a.chunks[i]
	c.prev, c.next = none, s.open
	if s.open != none {
		a.chunks[s.open].prev = i
	}
	s.open = i
}

func (a *arena) unlink(s *class, i int32) {
	c := &a.chunks[i]
	if c.prev == none {
		s.open = c.next
	} else {
		a.chunks[c.prev].next = c.next
	}
	if c.next != none {
		a.chunks[c.next].prev = c.prev
	}
	c.prev, c.next = none, none
}

// acquire returns an unused chunk, none if the arena or the memory is used up. huge asks for a huge page: not for the first chunk of a
// class, which may remain nearly empty.
func (a *arena) acquire(huge bool) int32 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.idle); n > 0 {
		i := a.idle[n-1]
		a.idle = a.idle[:n-1]
		return i
	}
	i := int32(a.made)
	if n := len(a.bare); n > 0 {
		i = a.bare[n-1]
		a.bare = a.bare[:n-1]
	} else {
		if a.made == chunksMax {
			return none
		}
		if !openChunk(unsafe.Add(a.base, int(i)*chunkBytes)) {
			return none
		}
		a.made++
	}
	adviseChunk(unsafe.Add(a.base, int(i)*chunkBytes), huge)
	return i
}

// release makes an empty chunk unused.
func (a *arena) release(i int32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.idle) < idleMax {
		a.idle = append(a.idle, i)
		return
	}
	dropChunk(unsafe.Add(a.base, int(i)*chunkBytes))
	a.bare = append(a.bare, i)
}
