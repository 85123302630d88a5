package store

import (
	"encoding/binary"
	"sync"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

const (
	// gcChunkBytes is the size of the queue's chunks.
	gcChunkBytes = 64 << 10
	// gcChunksFree is how many empty chunks are kept.
	gcChunksFree = 4
	// gcRecordHead is kind, ts, prev, row length and key length of a record.
	gcRecordHead = 1 + 8 + 8 + 4 + 4
)

// gcQueue holds the versions that commits have shadowed, in commit order. The
// sequencer appends, the collector takes chunks off. Its memory is bounded; of what
// does not fit only the range of timestamps is kept, which makes a scan necessary.
type gcQueue struct {
	bytesMax int
	wake     chan struct{} // gets a signal when the queue becomes non-empty

	// mu guards what follows. It is a leaf.
	mu     sync.Mutex
	chunks [][]byte
	free   [][]byte
	bytes  int
	// dropFirst and dropLast are the lowest and highest timestamps whose garbage
	// was dropped since the last takeDrops; zero if there is none.
	dropFirst, dropLast clock.Timestamp
}

// gcKind says what is known of a piece of garbage.
type gcKind uint8

const (
	gcLook   gcKind = iota // nothing: the collector has to look
	gcPrev                 // the version at prev can go
	gcMarker               // the version at prev and the delete marker at ts can go
)

// gcRecord is one piece of garbage, which can go once the safepoint has reached
// ts.
type gcRecord struct {
	kind     gcKind
	ts, prev clock.Timestamp
	rowLen   int // of the version at prev
	key      []byte
}

// enqueue adds the garbage of a group. It runs in the sequencer.
func (q *gcQueue) enqueue(head *commitNode) {
	q.mu.Lock()
	defer q.mu.Unlock()
	before := q.bytes
	for m := head; m != nil; m = m.next {
		if m.err != nil {
			continue
		}
		for i := range m.req.Mutations {
			w := &m.req.Mutations[i]
			// A new key has shadowed nothing.
			if w.Shadow == kvapi.ShadowNone && w.Kind == kvapi.MutationPut {
				continue
			}
			q.add(m.ts, w)
		}
	}
	if before == 0 && (q.bytes > 0 || q.dropFirst != 0) {
		select {
		case q.wake <- struct{}{}:
		default:
		}
	}
}

// add appends one record.
func (q *gcQueue) add(ts clock.Timestamp, w *kvapi.Mutation) {
	n := gcRecordHead + len(w.Key)
	if q.bytes+n > q.bytesMax {
		if q.dropFirst == 0 {
			q.dropFirst = ts
		}
		q.dropLast = ts
		return
	}
	last := len(q.chunks) - 1
	if last < 0 || cap(q.chunks[last])-len(q.chunks[last]) < n {
		q.chunks = append(q.chunks, q.newChunk(n))
		last++
	}
	kind := gcLook
	switch {
	case w.Shadow == kvapi.ShadowAt && w.Kind == kvapi.MutationDelete:
		kind = gcMarker
	case w.Shadow == kvapi.ShadowAt:
		kind = gcPrev
	}
	c := append(q.chunks[last], byte(kind))
	c = binary.BigEndian.AppendUint64(c, uint64(ts))
	c = binary.BigEndian.AppendUint64(c, uint64(w.Prev))
	c = binary.BigEndian.AppendUint32(c, uint32(w.PrevLen))
	c = binary.BigEndian.AppendUint32(c, uint32(len(w.Key)))
	q.chunks[last] = append(c, w.Key...)
	q.bytes += n
}

func (q *gcQueue) newChunk(n int) []byte {
	if last := len(q.free) - 1; last >= 0 && n <= gcChunkBytes {
		c := q.free[last]
		q.free[last] = nil
		q.free = q.free[:last]
		return c
	}
	return make([]byte, 0, max(n, gcChunkBytes))
}

// pop takes the oldest chunk off, nil if there is none.
func (q *gcQueue) pop() []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.chunks) == 0 {
		return nil
	}
	c := q.chunks[0]
	q.chunks[0] = nil
	if q.chunks = q.chunks[1:]; len(q.chunks) == 0 {
		q.chunks = nil
	}
	return c
}

// done returns a chunk whose garbage has been deleted. Until then its bytes count
// in size.
func (q *gcQueue) done(c []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes -= len(c)
	if len(q.free) < gcChunksFree && cap(c) == gcChunkBytes {
		q.free = append(q.free, c[:0])
	}
}

// takeDrops returns the range of dropped timestamps and forgets it.
func (q *gcQueue) takeDrops() (first, last clock.Timestamp) {
	q.mu.Lock()
	defer q.mu.Unlock()
	first, last = q.dropFirst, q.dropLast
	q.dropFirst, q.dropLast = 0, 0
	return first, last
}

// size returns the bytes queued and the lowest timestamp dropped, zero if none.
func (q *gcQueue) size() (bytes int, dropFirst clock.Timestamp) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes, q.dropFirst
}

// decodeGC takes the first record of a chunk; key aliases it.
func decodeGC(c []byte) (r gcRecord, rest []byte) {
	r.kind = gcKind(c[0])
	r.ts = clock.Timestamp(binary.BigEndian.Uint64(c[1:]))
	r.prev = clock.Timestamp(binary.BigEndian.Uint64(c[9:]))
	r.rowLen = int(binary.BigEndian.Uint32(c[17:]))
	n := gcRecordHead + int(binary.BigEndian.Uint32(c[21:]))
	r.key = c[gcRecordHead:n:n]
	return r, c[n:]
}
