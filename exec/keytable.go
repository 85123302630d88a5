package exec

import (
	"bytes"
	"hash/maphash"
	"math"
)

// keyTable numbers distinct byte keys densely from 0 in the order of their arrival:
// the hash table under DISTINCT, GROUP BY and the hash join. Keys are order keys
// (types.AppendKey), so equal bytes mean equal under the collation, NULLs equal.
//
// It is open addressing over 32-bit ids and one arena: inserting allocates only when
// either grows, and a million keys are three objects for the garbage collector.
type keyTable struct {
	seed  maphash.Seed
	slots []uint32 // id+1, 0 is free; a power of two, at most 3/4 full
	ends  []uint64 // end of key id in arena
	arena []byte
	tags  []uint32 // high half of each key's hash, so that most misses need no key
}

// keyTableMax is the number of keys after which a table is full; what a batch adds
// above it still has ids.
const keyTableMax = math.MaxUint32 - 1<<20

// keyTablePolled: with this many keys or more, doubling the slots takes so long that makeRoom polls the interrupt.
const keyTablePolled = 1 << 16

// keyTableMin is the number of slots of a table that has just begun.
const keyTableMin = 64

func (t *keyTable) init() {
	if t.slots == nil {
		t.seed = maphash.MakeSeed()
		t.slots = make([]uint32, keyTableMin)
	}
}

// reset empties the table and keeps its memory.
func (t *keyTable) reset() {
	clear(t.slots)
	t.ends, t.arena, t.tags = t.ends[:0], t.arena[:0], t.tags[:0]
}

// release empties the table and gives its memory back. Hashes stay the same.
func (t *keyTable) release() {
	*t = keyTable{seed: t.seed, slots: make([]uint32, keyTableMin)}
}

// full reports whether the table should take no more keys, because ids end at 2³².
func (t *keyTable) full() bool { return len(t.ends) >= keyTableMax }

func (t *keyTable) len() int { return len(t.ends) }

func (t *keyTable) bytes() int64 {
	return int64(cap(t.slots))*4 + int64(cap(t.ends))*8 + int64(cap(t.tags))*4 + int64(cap(t.arena))
}

func (t *keyTable) hash(key []byte) uint64 { return maphash.Bytes(t.seed, key) }

// key returns the key with that id; borrowed until the next insert.
func (t *keyTable) key(id uint32) []byte {
	start := uint64(0)
	if id > 0 {
		start = t.ends[id-1]
	}
	return t.arena[start:t.ends[id]]
}

// find returns the id of key and whether it is there.
func (t *keyTable) find(key []byte, h uint64) (id uint32, ok bool) {
	mask := uint64(len(t.slots) - 1)
	tag := uint32(h >> 32)
	for at := h & mask; ; at = (at + 1) & mask {
		s := t.slots[at]
		if s == 0 {
			return 0, false
		}
		if t.tags[s-1] == tag && bytes.Equal(t.key(s-1), key) {
			return s - 1, true
		}
	}
}

// insert returns the id of key, giving it one if it has none.
func (t *keyTable) insert(key []byte, h uint64) (id uint32, fresh bool) {
	if id, ok := t.find(key, h); ok {
		return id, false
	}
	if t.crowded(1) {
		t.slots = make([]uint32, 2*len(t.slots))
		for id := range t.ends {
			t.placeAgain(uint32(id))
		}
	}
	id = uint32(len(t.ends))
	t.arena = append(t.arena, key...)
	t.ends = append(t.ends, uint64(len(t.arena)))
	t.tags = append(t.tags, uint32(h>>32))
	t.place(id, h)
	return id, true
}

func (t *keyTable) place(id uint32, h uint64) {
	mask := uint64(len(t.slots) - 1)
	at := h & mask
	for t.slots[at] != 0 {
		at = (at + 1) & mask
	}
	t.slots[at] = id + 1
}

// placeAgain places a key that the table has already.
func (t *keyTable) placeAgain(id uint32) { t.place(id, t.hash(t.key(id))) }

// crowded reports whether the slots are too few for so many more keys.
func (t *keyTable) crowded(more int) bool { return (len(t.ends)+more)*4 > len(t.slots)*3 }

// makeRoom doubles the slots of a large table for up to MaxBatchRows keys that are about to be inserted, so that insert, which can't be
// interrupted, does not have to. An interrupt leaves the table as it was.
func (t *keyTable) makeRoom(rt *Runtime, keys int) error {
	if len(t.ends) < keyTablePolled || !t.crowded(keys) {
		return nil
	}
	before := t.slots
	t.slots = make([]uint32, 2*len(before))
	for id := range t.ends {
		if id%keyTablePolled == 0 {
			if err := rt.poll(); err != nil {
				t.slots = before
				return err
			}
		}
		t.placeAgain(uint32(id))
	}
	return nil
}
