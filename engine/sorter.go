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
	// sortRunBytes is its memory while pairs are added. Where several are open the second has half of it, the third a third and so on, down to
	// sortRunBytesMin: a hundred together have less than six times as much as one.
	sortRunBytes    = 32 << 20
	sortRunBytesMin = 512 << 10
	// sortRunsMax is how many files it has, but for a last one. While they are read each has a buffer, of a sortReadPart of that memory.
	sortRunsMax   = 48
	sortReadPart  = 128
	sortPollPairs = 4096 // between two looks at what may end the reading
)

// Sorter puts pairs in the order of their keys. What is too much for its memory it writes to files, which it merges when it is read. One goroutine at a
// time.
type Sorter struct {
	e        *Engine // nil once it has ended
	common   int     // leading bytes that all keys share
	runBytes int
	arena    []byte
	pairs    []sortPair
	order    keys.Order
	runs     []sortRun
	taken    int64 // bytes of files, of the space for them
	short    bool  // there was no more space for them
}

// FileSpace is what temporary files may take together with those of others. Implemented by exec.SpillSpace.
type FileSpace interface {
	// Take takes n bytes, negative to give them back, and reports whether there were as many.
	Take(n int64) bool
}

// SetFileSpace bounds the files of sorters. It is called before the first of them begins.
func (e *Engine) SetFileSpace(s FileSpace) { e.fileSpace = s }

// sortPair is a pair in the arena: the key, and behind it the value.
type sortPair struct{ at, keyEnd, end uint32 }

// sortPairBytes is what a pair needs beside its bytes.
const sortPairBytes = 12 + keys.PlaceBytes

// sortRun is a file of pairs in order: for each the lengths of key and value (unsigned LEB128), key, value.
type sortRun struct {
	path  string
	bytes int64
	sum   uint32 // CRC-32C of the file
}

var sortTable = crc32.MakeTable(crc32.Castagnoli)

// NewSorter begins to sort pairs whose keys have so many leading bytes in common. It ends with Discard.
func (e *Engine) NewSorter(common int) *Sorter {
	return &Sorter{e: e, common: common, runBytes: max(sortRunBytes/int(e.sorters.Add(1)), sortRunBytesMin)}
}

// Add adds a pair.
func (s *Sorter) Add(key, value []byte) error {
	if n := len(s.pairs); n > 0 && len(s.arena)+len(key)+len(value)+(n+1)*sortPairBytes > s.runBytes {
		if err := s.writeRun(); err != nil {
			return err
		}
	}
	p := sortPair{at: uint32(len(s.arena))}
	s.arena = append(s.arena, key...)
	p.keyEnd = uint32(len(s.arena))
	s.arena = append(s.arena, value...)
	p.end = uint32(len(s.arena))
	s.pairs = append(s.pairs, p)
	return nil
}

// Full reports whether what has been added ought to be read before more is added, because there are many files or no space for more of them. It is
// asked now and then, so that a sorter without space still writes a file or two.
func (s *Sorter) Full() bool { return s.short || len(s.runs) >= sortRunsMax }

// Empty reports whether nothing has been added.
func (s *Sorter) Empty() bool { return len(s.pairs) == 0 && len(s.runs) == 0 }

func (s *Sorter) key(i int) []byte {
	p := &s.pairs[i]
	return s.arena[p.at:p.keyEnd]
}

// sorted calls f with the pairs in memory in their order.
func (s *Sorter) sorted(f func(key, value []byte) error) error {
	places := s.order.Sort(len(s.pairs), func(i int) uint64 { return keys.Head(s.key(i)[s.common:]) },
		func(i, j int) int { return bytes.Compare(s.key(i), s.key(j)) })
	for _, place := range places {
		p := &s.pairs[place.At]
		if err := f(s.arena[p.at:p.keyEnd], s.arena[p.keyEnd:p.end]); err != nil {
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
	s.arena, s.pairs = s.arena[:0], s.pairs[:0]
	return nil
}

// Each calls f with all pairs in the order of their keys. poll ends it early. Slices are borrowed for the call.
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
	s.arena, s.pairs, s.order = nil, nil, keys.Order{} // the buffers of the files take their place
	return s.merge(polled)
}

// merge reads the files together.
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

// readBytes is the buffer of a file.
func (s *Sorter) readBytes() int { return s.runBytes / sortReadPart }

// Discard ends the sorter and removes its files. Again it does nothing.
func (s *Sorter) Discard() {
	if s.e == nil {
		return
	}
	for i := range s.runs {
		_ = s.e.fs.Remove(s.runs[i].path) // Open deletes what is left
	}
	s.e.sorters.Add(-1)
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
	key, value []byte // of pair
	head       uint64
}

// next goes to the next pair. more is false at the end of a file that is as it was written.
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

// summedFile sums up what is written, or read, in the sizes of a buffer.
type summedFile struct {
	File
	bytes int64
	sum   uint32
}

// Write sums up first: a file may change the bytes that it has taken (vfs.File), and with Pebble's invariants one in memory does.
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

// runHeap has the reader with the lowest key first.
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
