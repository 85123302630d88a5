package exec

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/types"
)

// spillBufferBytes is the read and write buffer of one spill file.
const spillBufferBytes = 64 << 10

// spillFile is a temporary file of length-prefixed records, written once and then
// read from the start, any number of times. The file loses its name as soon as it is
// open, so that no crash leaves it behind; where the system refuses that, close
// removes it.
type spillFile struct {
	file    *os.File
	named   bool
	w       *bufio.Writer
	r       *bufio.Reader
	record  []byte
	records int
}

// newSpill creates a spill file in the runtime's directory.
func (rt *Runtime) newSpill() (*spillFile, error) {
	if rt.TempDir == "" {
		return nil, types.Errorf(types.ErOutOfSortMemory)
	}
	f, err := os.CreateTemp(rt.TempDir, "pando-spill-*")
	if err != nil {
		return nil, spillError(err)
	}
	return &spillFile{file: f, named: os.Remove(f.Name()) != nil}, nil
}

// spillError classifies a failure of the file system.
func spillError(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return kvapi.ErrDiskFull
	}
	return types.NewError(types.ErErrorOnWrite, "Error writing a temporary file: "+err.Error())
}

// write appends one record made of parts.
func (s *spillFile) write(parts ...[]byte) error {
	if s.w == nil {
		s.w = bufio.NewWriterSize(s.file, spillBufferBytes)
	}
	var head [binary.MaxVarintLen64]byte
	for _, p := range parts {
		n := binary.PutUvarint(head[:], uint64(len(p)))
		if _, err := s.w.Write(head[:n]); err != nil {
			return spillError(err)
		}
		if _, err := s.w.Write(p); err != nil {
			return spillError(err)
		}
	}
	s.records++
	return nil
}

// finish ends writing and gives back the buffer, for a file that waits for its turn.
func (s *spillFile) finish() error {
	if s.w == nil {
		return nil
	}
	err := s.w.Flush()
	s.w = nil
	if err != nil {
		return spillError(err)
	}
	return nil
}

// rewind ends writing and starts reading from the beginning.
func (s *spillFile) rewind() error {
	if err := s.finish(); err != nil {
		return err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return spillError(err)
	}
	if s.r == nil {
		s.r = bufio.NewReaderSize(s.file, spillBufferBytes)
	} else {
		s.r.Reset(s.file)
	}
	return nil
}

// read returns the next part, appended to dst[:0], or ok=false at the end.
func (s *spillFile) read(dst []byte) (part []byte, ok bool, err error) {
	size, err := binary.ReadUvarint(s.r)
	if err == io.EOF {
		return dst, false, nil
	}
	if err != nil {
		return dst, false, spillError(err)
	}
	if uint64(cap(dst)) < size {
		dst = make([]byte, size, size+size/4)
	}
	dst = dst[:size]
	if _, err := io.ReadFull(s.r, dst); err != nil {
		return dst, false, spillError(err)
	}
	return dst, true, nil
}

func (s *spillFile) close() {
	if s == nil || s.file == nil {
		return
	}
	name := s.file.Name()
	_ = s.file.Close() // nothing depends on what the file held
	if s.named {
		_ = os.Remove(name)
	}
	s.file = nil
}

// rowList is a list of rows that are written once and read any number of times. It
// lives in memory until the statement runs short of it, then in one spill file.
type rowList struct {
	rt    *Runtime
	mem   account
	types []types.Type
	arena []byte
	count int // rows in the list, wherever they are
	file  *spillFile

	out  *types.Batch
	rest []byte // rows of arena not yet read
	left int
	part []byte
}

func (l *rowList) init(rt *Runtime, ts []types.Type) {
	l.rt, l.types = rt, ts
	l.mem.mem = rt.Mem
}

// reset empties the list.
func (l *rowList) reset() error {
	l.file.close()
	l.file = nil
	l.arena, l.count = l.arena[:0], 0
	return l.mem.set(int64(cap(l.arena)))
}

func (l *rowList) addBatch(b *types.Batch) error {
	for i, n := 0, b.Rows(); i < n; i++ {
		l.arena = appendBatchRow(l.arena, b, b.Row(i))
		if err := l.added(); err != nil {
			return err
		}
	}
	return l.account()
}

func (l *rowList) addRow(row []types.Value) error {
	l.arena = appendRow(l.arena, row)
	if err := l.added(); err != nil {
		return err
	}
	if l.count%types.MaxBatchRows == 0 {
		return l.account()
	}
	return nil
}

// addEncoded adds a row that is in the row codec.
func (l *rowList) addEncoded(row []byte) error {
	l.arena = append(l.arena, row...)
	if err := l.added(); err != nil {
		return err
	}
	if l.count%types.MaxBatchRows == 0 {
		return l.account()
	}
	return nil
}

// added takes the row at the end of the arena into the list.
func (l *rowList) added() error {
	l.count++
	if l.file == nil {
		return nil
	}
	err := l.file.write(l.arena)
	l.arena = l.arena[:0]
	return err
}

// account books the memory and moves to a file when it is short.
func (l *rowList) account() error {
	err := l.mem.set(int64(cap(l.arena)))
	if l.file != nil || err == nil && !l.mem.tight() || l.rt.TempDir == "" {
		return err
	}
	if l.file, err = l.rt.newSpill(); err != nil {
		return err
	}
	row := make([]types.Value, len(l.types))
	for rest := l.arena; len(rest) > 0; {
		after := decodeRow(row, l.types, rest)
		if err := l.file.write(rest[:len(rest)-len(after)]); err != nil {
			return err
		}
		rest = after
	}
	l.arena = nil
	return l.mem.set(0)
}

// rewind starts reading at the first row.
func (l *rowList) rewind() error {
	l.rest, l.left = l.arena, l.count
	if l.out == nil {
		l.out = l.rt.getBatch(l.types)
	}
	if l.file != nil {
		return l.file.rewind()
	}
	return nil
}

// next returns the next batch of rows, nil at the end.
func (l *rowList) next() (*types.Batch, error) {
	if l.left == 0 {
		return nil, nil
	}
	if err := l.rt.poll(); err != nil {
		return nil, err
	}
	l.out.Reset()
	row := l.rt.scratch.row(len(l.types))
	for l.left > 0 && !l.out.Full() {
		l.left--
		if l.file == nil {
			l.rest = decodeRow(row, l.types, l.rest)
			l.out.AppendRow(row)
			continue
		}
		part, ok, err := l.file.read(l.part)
		l.part = part
		if err != nil || !ok {
			return nil, err
		}
		decodeInto(l.out, part)
	}
	return l.out, nil
}

func (l *rowList) close() {
	l.file.close()
	l.file, l.arena = nil, nil
	l.rt.putBatch(l.out)
	l.out = nil
	l.mem.close()
}
