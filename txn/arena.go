package txn

// Sizes of the arena's chunks: the first is kept by the pooled transaction, so
// that small transactions allocate nothing.
const (
	arenaChunkMin = 4 << 10
	arenaChunkMax = 1 << 20
)

// arena copies byte strings into chunks that never move. It can be rewound to
// an earlier mark, and costs one allocation per chunk.
type arena struct {
	chunks [][]byte // len is the used part of each
	used   int      // bytes handed out
}

// arenaMark is a point that the arena can be rewound to.
type arenaMark struct {
	chunks, last, used int
}

// copy returns a copy of b with no spare capacity.
func (a *arena) copy(b []byte) []byte {
	n := len(b)
	if n == 0 {
		return []byte{}
	}
	last := len(a.chunks) - 1
	if last < 0 || cap(a.chunks[last])-len(a.chunks[last]) < n {
		size := arenaChunkMin
		if last >= 0 {
			size = min(2*cap(a.chunks[last]), arenaChunkMax)
		}
		a.chunks = append(a.chunks, make([]byte, 0, max(size, n)))
		last++
	}
	c := a.chunks[last]
	from := len(c)
	c = append(c, b...)
	a.chunks[last] = c
	a.used += n
	return c[from:len(c):len(c)]
}

// mark returns the present end of the arena.
func (a *arena) mark() arenaMark {
	m := arenaMark{chunks: len(a.chunks), used: a.used}
	if m.chunks > 0 {
		m.last = len(a.chunks[m.chunks-1])
	}
	return m
}

// rewind frees everything copied since the mark.
func (a *arena) rewind(m arenaMark) {
	if m.chunks == 0 {
		a.reset()
		return
	}
	clear(a.chunks[m.chunks:])
	a.chunks = a.chunks[:m.chunks]
	a.chunks[m.chunks-1] = a.chunks[m.chunks-1][:m.last]
	a.used = m.used
}

// reset frees everything but a first chunk of ordinary size.
func (a *arena) reset() {
	a.used = 0
	if len(a.chunks) == 0 {
		return
	}
	clear(a.chunks[1:])
	a.chunks = a.chunks[:1]
	if cap(a.chunks[0]) > arenaChunkMin {
		a.chunks = a.chunks[:0]
		return
	}
	a.chunks[0] = a.chunks[0][:0]
}
