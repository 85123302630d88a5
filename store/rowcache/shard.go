package rowcache

import (
	"bytes"
	"encoding/binary"
	"sync"

	"github.com/pandodb/pando/clock"
)

const (
	// chunkBytes is what is allocated, and evicted, at a time: some hundred rows, so that a reader that has to evict holds up
	// others for a short time.
	chunkBytes = 32 << 10
	// spareBytesMax of a chunk survive its eviction, so that it always makes room.
	spareBytesMax = chunkBytes / 2

	headerBytes = 24
	unit        = 16 // entries are aligned to it

	stamps   = 64 // per shard; more make fewer false refusals
	slotsMin = 64
)

const (
	flagLive uint16 = 1 << iota
	flagRead
)

// shard is one part of a cache.
type shard struct {
	// mu guards everything here; a leaf.
	mu      sync.Mutex
	limit   int64
	used    int64 // chunks and slots
	reserve func(bytes int64)

	slots   []uint64 // a power of two of them, at most three quarters taken
	entries int
	chunks  [][]byte // the ring; nil where one was given back
	held    int      // chunks that are not nil
	current int      // the chunk that is written to
	end     int      // where the next entry of the current chunk goes
	// ends are the same for the other chunks.
	ends []int
	// last are the stamps, by bits of the key's hash.
	last  [stamps]uint64
	stats Stats
}

// stamp notes that a commit has been recorded.
func (s *shard) stamp(hash, number uint64) {
	l := &s.last[hash>>32%stamps]
	*l = max(*l, number)
}

// entry returns the entry at a place, up to the end of its chunk.
func (s *shard) entry(at int) []byte { return s.chunks[at/chunkBytes][at%chunkBytes:] }

// Fields of an entry; doc.go has the table.

func entrySize(e []byte) int           { return int(binary.LittleEndian.Uint32(e)) }
func entryTag(e []byte) uint32         { return binary.LittleEndian.Uint32(e[4:]) }
func entryTS(e []byte) clock.Timestamp { return clock.Timestamp(binary.LittleEndian.Uint64(e[8:])) }
func entryRowLen(e []byte) int         { return int(binary.LittleEndian.Uint32(e[16:])) }
func entryKeyLen(e []byte) int         { return int(binary.LittleEndian.Uint16(e[20:])) }
func entryFlags(e []byte) uint16       { return binary.LittleEndian.Uint16(e[22:]) }
func setEntryFlags(e []byte, f uint16) { binary.LittleEndian.PutUint16(e[22:], f) }
func entryKey(e []byte) []byte         { return e[headerBytes : headerBytes+entryKeyLen(e)] }
func entryRow(e []byte) []byte         { k := headerBytes + entryKeyLen(e); return e[k : k+entryRowLen(e)] }
func sizeFor(key, row []byte) int {
	return (headerBytes + len(key) + len(row) + unit - 1) &^ (unit - 1)
}
func slotFor(tag uint32, at int) uint64 { return uint64(tag)<<32 | uint64(at/unit+1) }
func slotPlace(slot uint64) (at int)    { return (int(uint32(slot)) - 1) * unit }
func (s *shard) home(tag uint32) int    { return int(tag) & (len(s.slots) - 1) }
func (s *shard) next(i int) int         { return (i + 1) & (len(s.slots) - 1) }
func setEntryRow(e, row []byte, ts clock.Timestamp) {
	binary.LittleEndian.PutUint64(e[8:], uint64(ts))
	binary.LittleEndian.PutUint32(e[16:], uint32(len(row)))
	copy(e[headerBytes+entryKeyLen(e):], row)
}

// find returns where key's entry is and its slot, negative if it has none.
func (s *shard) find(key []byte, hash uint64) (at, slot int) {
	if s.entries == 0 {
		return -1, 0
	}
	tag := uint32(hash)
	for i := s.home(tag); s.slots[i] != 0; i = s.next(i) {
		if uint32(s.slots[i]>>32) != tag {
			continue
		}
		at := slotPlace(s.slots[i])
		if bytes.Equal(entryKey(s.entry(at)), key) {
			return at, i
		}
	}
	return -1, 0
}

func (s *shard) get(dst, key []byte, hash uint64, at clock.Timestamp) (row []byte, ts clock.Timestamp, ok bool) {
	place, _ := s.find(key, hash)
	if place < 0 {
		s.stats.Misses++
		return dst, 0, false
	}
	e := s.entry(place)
	if ts = entryTS(e); ts > at {
		s.stats.Misses++
		return dst, 0, false
	}
	s.stats.Hits++
	if f := entryFlags(e); f&flagRead == 0 {
		setEntryFlags(e, f|flagRead)
	}
	return append(dst, entryRow(e)...), ts, true
}

func (s *shard) fill(key, row []byte, hash uint64, ts clock.Timestamp, bound uint64) {
	if s.last[hash>>32%stamps] > bound {
		s.stats.Refused++
		return
	}
	if at, _ := s.find(key, hash); at >= 0 {
		return // another reader has inserted the same version
	}
	s.insert(key, row, hash, ts)
}

func (s *shard) put(key, row []byte, hash uint64, ts clock.Timestamp, number uint64) {
	s.stamp(hash, number)
	at, slot := s.find(key, hash)
	if at < 0 {
		return
	}
	if e := s.entry(at); sizeFor(key, row) <= entrySize(e) {
		setEntryRow(e, row, ts)
		return
	}
	s.forget(at, slot)
	if len(key)+len(row) <= RowMax {
		s.insert(key, row, hash, ts)
	}
}

// insert writes a new entry; the key must have none.
func (s *shard) insert(key, row []byte, hash uint64, ts clock.Timestamp) {
	size := sizeFor(key, row)
	if s.held == 0 || s.end+size > chunkBytes {
		s.nextChunk()
	}
	if 4*(s.entries+1) > 3*len(s.slots) {
		s.setSlots(max(2*len(s.slots), slotsMin))
	}
	tag := uint32(hash)
	at := s.current*chunkBytes + s.end
	s.end += size
	e := s.entry(at)
	binary.LittleEndian.PutUint32(e, uint32(size))
	binary.LittleEndian.PutUint32(e[4:], tag)
	binary.LittleEndian.PutUint16(e[20:], uint16(len(key)))
	setEntryFlags(e, flagLive)
	copy(e[headerBytes:], key)
	setEntryRow(e, row, ts)
	i := s.home(tag)
	for s.slots[i] != 0 {
		i = s.next(i)
	}
	s.slots[i] = slotFor(tag, at)
	s.entries++
	s.stats.Filled++
}

// forget removes an entry, whose bytes stay until its chunk is evicted.
func (s *shard) forget(at, slot int) {
	e := s.entry(at)
	setEntryFlags(e, entryFlags(e)&^flagLive)
	s.clearSlot(slot)
	s.entries--
}

// clearSlot frees a slot and closes the gap: what was displaced over it moves back (Knuth, TAOCP volume 3, 6.4, algorithm R).
func (s *shard) clearSlot(hole int) {
	mask := len(s.slots) - 1
	for i := s.next(hole); s.slots[i] != 0; i = s.next(i) {
		home := s.home(uint32(s.slots[i] >> 32))
		// It may move if its home is not between the hole and itself, cyclically.
		if (i-home)&mask >= (i-hole)&mask {
			s.slots[hole] = s.slots[i]
			hole = i
		}
	}
	s.slots[hole] = 0
}

// setSlots rebuilds the table with n slots, which must have room for the entries.
func (s *shard) setSlots(n int) {
	old := s.slots
	s.take(int64(8 * (n - len(old))))
	s.slots = make([]uint64, n)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		i := s.home(uint32(slot >> 32))
		for s.slots[i] != 0 {
			i = s.next(i)
		}
		s.slots[i] = slot
	}
}

// take accounts for memory, or for its return if bytes is negative.
func (s *shard) take(bytes int64) {
	s.used += bytes
	if s.reserve != nil {
		s.reserve(bytes)
	}
}

// nextChunk makes room for the largest entry: in a new chunk, or in the oldest.
func (s *shard) nextChunk() {
	if s.held > 0 {
		s.ends[s.current] = s.end
	}
	if s.held > 0 && s.used+chunkBytes > s.limit {
		s.current = s.oldest()
		s.end = s.evict(s.current)
		return
	}
	s.take(chunkBytes)
	s.current, s.end = s.hole(), 0
	s.chunks[s.current] = make([]byte, chunkBytes)
	s.held++
}

// hole returns a place in the ring without a chunk: the next, or a new one.
func (s *shard) hole() int {
	if n := len(s.chunks); s.held < n {
		i := s.current
		for s.chunks[i] != nil {
			i = (i + 1) % n
		}
		return i
	}
	s.chunks = append(s.chunks, nil)
	s.ends = append(s.ends, 0)
	return len(s.chunks) - 1
}

// oldest returns the chunk after the current one in the ring, which is the current one if there is no other.
func (s *shard) oldest() int {
	i := (s.current + 1) % len(s.chunks)
	for s.chunks[i] == nil {
		i = (i + 1) % len(s.chunks)
	}
	return i
}

// evict empties a chunk whose end is in ends, except for up to spareBytesMax of entries that were read, which it moves to the front. It
// returns how many bytes it has kept.
func (s *shard) evict(chunk int) (kept int) {
	c := s.chunks[chunk]
	base := chunk * chunkBytes
	for off, end := 0, s.ends[chunk]; off < end; {
		e := c[off:]
		size, flags := entrySize(e), entryFlags(e)
		if flags&flagLive != 0 {
			slot := s.slotOf(entryTag(e), base+off)
			if flags&flagRead != 0 && kept+size <= spareBytesMax {
				setEntryFlags(e, flagLive)
				copy(c[kept:kept+size], e[:size])
				s.slots[slot] = slotFor(uint32(s.slots[slot]>>32), base+kept)
				kept += size
			} else {
				s.clearSlot(slot)
				s.entries--
				s.stats.Evicted++
			}
		}
		off += size
	}
	return kept
}

// drop forgets the doomed rows of a chunk, and gives it back if it has no others and is not the current one.
func (s *shard) drop(chunk int, doomed func(key []byte) bool) {
	c := s.chunks[chunk]
	if c == nil {
		return
	}
	end := s.ends[chunk]
	if chunk == s.current {
		end = s.end
	}
	live := false
	for off := 0; off < end; off += entrySize(c[off:]) {
		e := c[off:]
		if entryFlags(e)&flagLive == 0 {
			continue
		}
		if at := chunk*chunkBytes + off; doomed(entryKey(e)) {
			s.forget(at, s.slotOf(entryTag(e), at))
		} else {
			live = true
		}
	}
	switch {
	case live:
	case chunk == s.current:
		s.end = 0
	default:
		s.chunks[chunk], s.ends[chunk] = nil, 0
		s.held--
		s.take(-chunkBytes)
	}
}

// slotOf returns the slot of the live entry at a place.
func (s *shard) slotOf(tag uint32, at int) int {
	want := slotFor(tag, at)
	i := s.home(tag)
	for s.slots[i] != want {
		i = s.next(i)
	}
	return i
}
