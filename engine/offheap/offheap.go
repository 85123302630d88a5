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

	// arenaBytes is the range of addresses. Beyond it memory is Go's.
	arenaBytes = 512 << 30
	chunksMax  = arenaBytes / chunkBytes
	pageMax    = 64 << 10
	// idleMax is how many chunks in nobody's use keep their memory.
	idleMax = 4
)

// none stands for no chunk in lists, which are of numbers of chunks: headers are no part of Go's heap either.
const none = -1

// chunk is the header of a chunk. It belongs to the class whose slots it has.
type chunk struct {
	free       uintptr // the first free slot, by its address; 0: none
	fresh      uint32  // the offset from which on no slot was ever taken
	used       uint32  // slots in use
	slot       uint32  // their size
	class      int32
	prev, next int32 // in the class's list, if there is a slot to take
}

// class has the chunks of one size.
type class struct {
	mu     sync.Mutex
	open   int32 // the first of the chunks that have a slot to take
	chunks int
	_      [64 - 16]byte // a processor's cache line each
}

// arena is the range of addresses and what has been made of it.
type arena struct {
	base    unsafe.Pointer // nil: there is none
	chunks  []chunk        // chunksMax, backed by memory as far as they are used
	classes [classes]class

	mu   sync.Mutex // guards what follows
	made int        // chunks that have been in use, from the first on
	idle []int32    // chunks in nobody's use that have their memory
	bare []int32    // those that gave it back
}

// memory is the process's.
var memory arena

// held is what is allocated outside of Go's heap and has not been freed, as slots are.
var held atomic.Int64

// Bytes returns how much memory outside of Go's heap is in use.
func Bytes() int64 { return held.Load() }

var start = sync.OnceFunc(func() {
	memory.init(mapMemory(arenaBytes, chunksMax*int(unsafe.Sizeof(chunk{}))))
})

// init takes the range of addresses and the memory of the headers, both zero. Without them it gives nothing.
func (a *arena) init(base, headers unsafe.Pointer) {
	for i := range a.classes {
		a.classes[i].open = none
	}
	if base != nil {
		a.base, a.chunks = base, unsafe.Slice((*chunk)(headers), chunksMax)
	}
}

// New returns n zero bytes, n > 0, which the caller gives back by Free with the same n. It may keep pointers to what is outside of Go's
// heap in them, but none to what is in it. It is safe for concurrent use, as is Free.
func New(n int) unsafe.Pointer {
	start()
	if n <= slotMax {
		if p := memory.take(n); p != nil {
			clear(unsafe.Slice((*byte)(p), n))
			return p
		}
	} else if memory.base != nil {
		if p := mapLarge(n); p != nil {
			held.Add(int64(largeBytes(n)))
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

// strays are the large allocations on Go's heap, by address, where the system refused the memory.
var strays sync.Map

// Free takes back what New returned for n bytes.
func Free(p unsafe.Pointer, n int) {
	switch {
	case memory.base == nil:
	case n <= slotMax:
		memory.give(p)
	default:
		if _, stray := strays.LoadAndDelete(uintptr(p)); !stray {
			unmapLarge(p, n)
			held.Add(-int64(largeBytes(n)))
		}
	}
}

// largeBytes is what n bytes mapped by themselves take: whole pages, of 64 KiB on some systems.
func largeBytes(n int) int { return (n + pageMax - 1) &^ (pageMax - 1) }

// classOf returns the class for n bytes.
func classOf(n int) int {
	if n <= slotMin {
		return 0
	}
	// The power of two below n, and in which of the parts up to the next one it lies.
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
		return // of Go's heap, taken when there was no chunk
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
	// The last chunk with a slot to take stays, lest a class gets and loses one by turns.
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

// acquire returns a chunk in nobody's use, none if the arena or the memory is used up. The first one of a class may remain
// nearly empty, so only others are asked for as a huge page.
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

// release takes a chunk that is empty.
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
