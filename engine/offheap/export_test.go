package offheap

import "unsafe"

const (
	SlotMin, SlotMax = slotMin, slotMax
	Classes          = classes
	IdleMax          = idleMax
	ChangeBytes      = changeBytes
)

var (
	ClassOf   = classOf
	SlotBytes = slotBytes
)

// Outside tells whether the system has such memory.
func Outside() bool {
	start()
	return memory.base != nil
}

// Chunks returns how many chunks have been made, how many of these are in nobody's use and have their memory, and how many gave it back.
func Chunks() (made, idle, bare int) {
	memory.mu.Lock()
	defer memory.mu.Unlock()
	return memory.made, len(memory.idle), len(memory.bare)
}

// Arena is one of its own, for what the process's does not come to.
type Arena struct{ a arena }

// NoArena returns one of which the system has refused the range of addresses.
func NoArena() *Arena {
	var a Arena
	a.a.init(nil, nil)
	return &a
}

// FullArena returns one all of whose chunks are in use.
func FullArena() *Arena {
	var a Arena
	a.a.init(memory.base, unsafe.Pointer(unsafe.SliceData(make([]chunk, chunksMax))))
	a.a.made = chunksMax
	return &a
}

func (a *Arena) Take(n int) unsafe.Pointer { return a.a.take(n) }
func (a *Arena) Give(p unsafe.Pointer)     { a.a.give(p) }
