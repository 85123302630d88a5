package engine

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"

	"github.com/pandodb/pando/keys"
)

// Bounds of a Sorter.
const (
	// sortRunBytes is the memory of a sorter's own. If several are open the second has half of it, the third a third and so on, down to
	// sortRunBytesMin: a hundred together have less than six times as much as one. Memory of SortMemory comes on top.
	sortRunBytes    = 32 << 20
	sortRunBytesMin = 512 << 10
	// sortRunsMax is how many files a sorter writes before it is Full. While they are read each has a buffer, a 128th of the sorter's memory.
	sortRunsMax   = 48
	sortReadPart  = 128
	sortPollPairs = 4096 // between two calls of poll
	// sortTakeBytes is what a sorter takes of SortMemory at a time.
	sortTakeBytes = 16 << 20
	// sortChunkBytes is the largest unit in which memory is allocated, except for larger pairs. No pair crosses a chunk.
	sortChunkBytes = 1 << 20
)

// Sorter sorts pairs by key. When its memory is full it writes them, sorted, to a file (a run); Each merges the files. It is used by one goroutine at a
// time.
type Sorter struct {
	e        *Engine // nil after Discard
	common   int     // leading bytes that all keys share
	runBytes int     // of its own memory
	lent     int     // bytes of SortMemory that it has taken
	refused  bool    // SortMemory has refused it more
	chunks   [][]byte
	free     [][]byte // empty chunks, for reuse
	inChunks int      // bytes in chunks
	pairs    []sortPair
	order    keys.Order
	runs     []sortRun
	taken    int64 // bytes of FileSpace that it has taken
	short    bool  // FileSpace has refused it more
}

// FileSpace is a budget of disk space that sorters share with other temporary files. Implemented by exec.SpillSpace.
type FileSpace interface {
	// Take takes n bytes, or gives them back if n is negative, and reports whether there were as many.
	Take(n int64) bool
}

// SortMemory is a memory budget that sorters may use beyond their own, so that they write fewer files. Implemented by exec.MemPool.
type SortMemory interface {
	// Take takes n bytes, or gives them back if n is negative. It fails if there are not as many.
	Take(n int64) error
}

// SetSortMemory lets sorters take memory of m, at most bytesMax together. It must be called before the first NewSorter.
func (e *Engine) SetSortMemory(m SortMemory, bytesMax int64) {
	e.sortMemory, e.sortBytesMax = m, bytesMax
}

// SetFileSpace bounds the files of sorters. It must be called before the first NewSorter.
func (e *Engine) SetFileSpace(s FileSpace) { e.fileSpace = s }

// sortPair is where a pair is in a chunk: the key, followed by the value.
type sortPair struct{ chunk, at, keyEnd, end uint32 }

// sortPairBytes is the memory that a pair needs besides its bytes.
const sortPairBytes = 16 + keys.PlaceBytes

// sortRun is a file of pairs in order: for each the lengths of key and value (unsigned LEB128), key, value.
type sortRun struct {
	path  string
	bytes int64
	sum   uint32 // CRC-32C of the file
}

var sortTable = crc32.MakeTable(crc32.Castagnoli)

// NewSorter returns a sorter of pairs whose keys have the first common bytes in common. The caller calls Discard at the end.
func (e *Engine) NewSorter(common int) *Sorter {
	return &Sorter{e: e, common: common, runBytes: max(sortRunBytes/int(e.sorters.Add(1)), sortRunBytesMin)}
}

// Add adds a pair, which it copies.
func (s *Sorter) Add(key, value []byte) error {
	size := len(key) + len(value)
	if n := len(s.pairs); n > 0 && s.inChunks+size+(n+1)*sortPairBytes > s.runBytes+s.lent && !s.borrow(size+sortPairBytes) {
		if err := s.writeRun(); err != nil {
			return err
		}
	}
	if n := len(s.chunks); n == 0 || cap(s.chunks[n-1])-len(s.chunks[n-1]) < size {
		s.addChunk(size)
	}
	last := len(s.chunks) - 1
	chunk := s.chunks[last]
	p := sortPair{chunk: uint32(last), at: uint32(len(chunk)), keyEnd: uint32(len(chunk) + len(key)), end: uint32(len(chunk) + size)}
	s.chunks[last] = append(append(chunk, key...), value...)
	s.inChunks += size
	s.pairs = append(s.pairs, p)
	return nil
}

// addChunk adds a chunk that has room for so many bytes.
func (s *Sorter) addChunk(size int) {
	if n := len(s.free); n > 0 && cap(s.free[n-1]) >= size {
		s.chunks, s.free = append(s.chunks, s.free[n-1]), s.free[:n-1]
		return
	}
	s.chunks = append(s.chunks, make([]byte, 0, max(s.chunkBytes(), size)))
}

// chunkBytes is the size of chunks, except for those of one larger pair.
func (s *Sorter) chunkBytes() int { return min(sortChunkBytes, s.runBytes) }

// borrow takes at least so many bytes of SortMemory, and reports whether there were as many. After a refusal, for which the memory pool runs Go's
// garbage collector, a sorter does not ask again.
func (s *Sorter) borrow(bytes int) bool {
	m := s.e.sortMemory
	if m == nil || s.refused {
		return false
	}
	n := int64(max(bytes, sortTakeBytes))
	if s.e.sortLent.Add(n) > s.e.sortBytesMax || m.Take(n) != nil {
		s.e.sortLent.Add(-n)
		s.refused = true
		return false
	}
	s.lent += int(n)
	return true
}

// giveBack frees the memory for pairs.
func (s *Sorter) giveBack() {
	s.chunks, s.free, s.inChunks, s.pairs, s.order = nil, nil, 0, nil, keys.Order{}
	if s.lent > 0 {
		_ = s.e.sortMemory.Take(-int64(s.lent)) // to give back does not fail
		s.e.sortLent.Add(-int64(s.lent))
		s.lent = 0
	}
}

// Full reports whether the sorter should be read, and another begun, before more is added: it has many files, or FileSpace has refused one. That is
// advice: callers may add some more, and the sorter then writes further files.
func (s *Sorter) Full() bool { return s.short || len(s.runs) >= sortRunsMax }

// Short reports whether there was no more space for files.
func (s *Sorter) Short() bool { return s.short }

// Empty reports whether nothing has been added.
func (s *Sorter) Empty() bool { return len(s.pairs) == 0 && len(s.runs) == 0 }

func (s *Sorter) key(i int) []byte {
	p := &s.pairs[i]
	return s.chunks[p.chunk][p.at:p.keyEnd]
}

// sorted calls f with the pairs in memory in their order.
func (s *Sorter) sorted(f func(key, value []byte) error) error {
	places := s.order.Sort(len(s.pairs), func(i int) uint64 { return keys.Head(s.key(i)[s.common:]) },
		func(i, j int) int { return bytes.Compare(s.key(i), s.key(j)) })
	for _, place := range places {
		p := &s.pairs[place.At]
		chunk := s.chunks[p.chunk]
		if err := f(chunk[p.at:p.keyEnd], chunk[p.keyEnd:p.end]); err != nil {
			return err
		}
	}
	return nil
}

// writeRun writes what is in memory to a file.
func (s *Sorter) writeRun() (err error) {
	path, err := s.e.newIncoming()
	if err != nil {
		return err
	}
	s.runs = append(s.runs, sortRun{path: path}) // which Discard removes
	run := &s.runs[len(s.runs)-1]
	f, err := s.e.fs.Create(path, compactionCategory)
	if err != nil {
		return fmt.Errorf("engine: sort: %w", err)
	}
	sum := &summedFile{File: f}
	w := bufio.NewWriterSize(sum, s.readBytes())
	var head [2 * binary.MaxVarintLen64]byte
	err = s.sorted(func(key, value []byte) error {
		b := binary.AppendUvarint(binary.AppendUvarint(head[:0], uint64(len(key))), uint64(len(value)))
		for _, part := range [][]byte{b, key, value} {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		return nil
	})
	if err = errors.Join(err, w.Flush(), f.Close()); err != nil {
		return fmt.Errorf("engine: sort: %w", err)
	}
	run.bytes, run.sum = sum.bytes, sum.sum
	if space := s.e.fileSpace; space != nil {
		if space.Take(run.bytes) {
			s.taken += run.bytes
		} else {
			s.short = true
		}
	}
	s.emptyChunks()
	return nil
}

// emptyChunks empties the memory for pairs, and keeps it.
func (s *Sorter) emptyChunks() {
	for _, chunk := range s.chunks {
		if cap(chunk) == s.chunkBytes() { // others were made for one larger pair
			s.free = append(s.free, chunk[:0])
		}
	}
	s.chunks, s.inChunks, s.pairs = s.chunks[:0], 0, s.pairs[:0]
}

// Each calls f with all pairs in the order of their keys. An error of poll ends it early. f must not keep its slices.
func (s *Sorter) Each(poll func() error, f func(key, value []byte) error) error {
	n := 0
	polled := func(key, value []byte) error {
		if n++; n%sortPollPairs == 0 {
			if err := poll(); err != nil {
				return err
			}
		}
		return f(key, value)
	}
	if len(s.runs) == 0 {
		return s.sorted(polled)
	}
	if len(s.pairs) > 0 {
		if err := s.writeRun(); err != nil {
			return err
		}
	}
	s.giveBack() // the buffers of the files take their place
	return s.merge(polled)
}

// merge calls f with the pairs of all files in order.
func (s *Sorter) merge(f func(key, value []byte) error) (err error) {
	var heap runHeap
	var files []File
	defer func() {
		for _, file := range files {
			err = errors.Join(err, file.Close())
		}
	}()
	for i := range s.runs {
		file, err := s.e.fs.Open(s.runs[i].path)
		if err != nil {
			return fmt.Errorf("engine: sort: %w", err)
		}
		files = append(files, file)
		sum := &summedFile{File: file}
		r := &runReader{run: &s.runs[i], file: sum, in: bufio.NewReaderSize(sum, s.readBytes()), common: s.common}
		more, err := r.next()
		if err != nil {
			return err
		}
		if more {
			heap = append(heap, r)
		}
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		heap.down(i)
	}
	for len(heap) > 0 {
		r := heap[0]
		if err := f(r.key, r.value); err != nil {
			return err
		}
		more, err := r.next()
		if err != nil {
			return err
		}
		if !more {
			last := len(heap) - 1
			heap[0], heap = heap[last], heap[:last]
		}
		heap.down(0)
	}
	return nil
}

// readBytes is the size of the buffer through which a file is written or read.
func (s *Sorter) readBytes() int { return s.runBytes / sortReadPart }

// Discard ends the sorter and removes its files. A second call does nothing.
func (s *Sorter) Discard() {
	if s.e == nil {
		return
	}
	for i := range s.runs {
		_ = s.e.fs.Remove(s.runs[i].path) // Open deletes what is left
	}
	s.e.sorters.Add(-1)
	s.giveBack()
	if s.taken > 0 {
		s.e.fileSpace.Take(-s.taken)
	}
	*s = Sorter{}
}

// runReader reads the file of a run.
type runReader struct {
	run        *sortRun
	file       *summedFile
	in         *bufio.Reader
	common     int
	read       int64
	pair       []byte
	key, value []byte // parts of pair
	head       uint64 // the first bytes of key after the common ones, as a number; see keys.Head
}

// next reads the next pair. more is false at the end of the file, whose checksum is right.
func (r *runReader) next() (more bool, err error) {
	if r.read == r.run.bytes {
		if r.file.bytes != r.run.bytes || r.file.sum != r.run.sum {
			return false, fmt.Errorf("%w: %s has other bytes than were written", ErrCorrupt, r.run.path)
		}
		return false, nil
	}
	keyLen, err1 := binary.ReadUvarint(r.in)
	valueLen, err2 := binary.ReadUvarint(r.in)
	n := keyLen + valueLen
	if err := errors.Join(err1, err2); err != nil {
		return false, fmt.Errorf("engine: sort: read %s: %w", r.run.path, err)
	}
	if max(keyLen, valueLen) > uint64(r.run.bytes) || keyLen < uint64(r.common) {
		return false, fmt.Errorf("%w: lengths %d and %d at %d of %s", ErrCorrupt, keyLen, valueLen, r.read, r.run.path)
	}
	if uint64(cap(r.pair)) < n {
		r.pair = make([]byte, n)
	}
	r.pair = r.pair[:n]
	if _, err := io.ReadFull(r.in, r.pair); err != nil {
		return false, fmt.Errorf("engine: sort: read %s: %w", r.run.path, err)
	}
	r.read += int64(n) + uvarintLen(keyLen) + uvarintLen(valueLen)
	r.key, r.value = r.pair[:keyLen], r.pair[keyLen:]
	r.head = keys.Head(r.key[r.common:])
	return true, nil
}

func uvarintLen(v uint64) int64 { return int64(max(7, bits.Len64(v)+6) / 7) }

// summedFile counts the bytes that are written or read, and computes their checksum.
type summedFile struct {
	File
	bytes int64
	sum   uint32
}

// Write computes the checksum first: a vfs.File may change p, and the one in memory does in builds with Pebble's invariants.
func (f *summedFile) Write(p []byte) (n int, err error) {
	f.add(p)
	return f.File.Write(p)
}

func (f *summedFile) Read(p []byte) (n int, err error) {
	n, err = f.File.Read(p)
	f.add(p[:n])
	return n, err
}

func (f *summedFile) add(p []byte) {
	f.bytes, f.sum = f.bytes+int64(len(p)), crc32.Update(f.sum, sortTable, p)
}

// runHeap is a binary heap of readers, the one with the lowest key first.
type runHeap []*runReader

func (h runHeap) less(i, j int) bool {
	if h[i].head != h[j].head {
		return h[i].head < h[j].head
	}
	return bytes.Compare(h[i].key, h[j].key) < 0
}

func (h runHeap) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child < min(2*i+3, len(h)); child++ {
			if h.less(child, least) {
				least = child
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
