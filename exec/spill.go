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

// spillTable is what error 1114 calls the spill files: MySQL names its temporary table there.
const spillTable = "temporary files (tmp-storage-quota)"

// spillHeld is from which size on the buffer of a record is counted.
const spillHeld = 64 << 10

// spillFile is a temporary file of length-prefixed records, written once and then
// read from the start, any number of times. The file loses its name as soon as it is
// open, so that no crash leaves it behind; where the system refuses that, close
// removes it.
type spillFile struct {
	rt      *Runtime
	file    *os.File
	named   bool
	w       *bufio.Writer
	r       *bufio.Reader
	record  []byte
	records int
	held    int64 // bytes that are counted for the buffers of its records
	size    int64 // bytes written, also those that are still in the buffer
	taken   int64 // of the runtime's SpillSpace
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
	rt.Work.Add(TmpFiles, 1)
	return &spillFile{rt: rt, file: f, named: os.Remove(f.Name()) != nil}, nil
}

// spillError classifies a failure of the file system.
func spillError(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return kvapi.ErrDiskFull
	}
	return types.NewError(types.ErErrorOnWrite, "Error writing a temporary file: "+err.Error())
}

// spills counts bytes that are about to be written, for the node that runs and for the space that there is.
func (s *spillFile) spills(n int) error {
	if s.size += int64(n); s.size > s.taken && s.rt.Spill != nil {
		more := (s.size - s.taken + spillStep - 1) / spillStep * spillStep
		if !s.rt.Spill.take(more) {
			return types.Errorf(types.ErRecordFileFull, spillTable)
		}
		s.taken += more
	}
	if c := s.rt.running; c != nil {
		c.Spilled += int64(n)
	}
	return nil
}

// write appends one record made of parts.
func (s *spillFile) write(parts ...[]byte) error {
	if s.w == nil {
		if err := s.rt.Mem.lend(spillBufferBytes); err != nil {
			return err
		}
		s.w = bufio.NewWriterSize(s.file, spillBufferBytes)
	}
	var head [binary.MaxVarintLen64]byte
	for _, p := range parts {
		n := binary.PutUvarint(head[:], uint64(len(p)))
		if err := s.spills(n + len(p)); err != nil {
			return err
		}
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
	s.dropWriter()
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
		if err := s.rt.Mem.lend(spillBufferBytes); err != nil {
			return err
		}
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
		room := size + size/4
		if size >= spillHeld {
			if err := s.hold(int64(size) - int64(cap(dst))); err != nil {
				return dst, false, err
			}
			room = size
		}
		dst = make([]byte, size, room)
	}
	dst = dst[:size]
	if _, err := io.ReadFull(s.r, dst); err != nil {
		return dst, false, spillError(err)
	}
	return dst, true, nil
}

// hold counts what the buffer of a long record takes, for as long as the file is open.
func (s *spillFile) hold(n int64) error {
	s.held += n
	return s.rt.Mem.Grow(n)
}

func (s *spillFile) dropWriter() {
	if s.w != nil {
		_ = s.rt.Mem.lend(-spillBufferBytes)
		s.w = nil
	}
}

func (s *spillFile) close() {
	if s == nil || s.file == nil {
		return
	}
	_ = s.rt.Mem.Grow(-s.held) // giving back never fails
	s.dropWriter()
	if s.r != nil {
		_ = s.rt.Mem.lend(-spillBufferBytes)
		s.r = nil
	}
	gone := &spillFile{file: s.file, named: s.named, taken: s.taken}
	s.file, s.taken, s.size = nil, 0, 0
	if space := s.rt.Spill; space != nil && gone.taken >= spillCloseLater {
		space.removeLater(gone)
	} else {
		gone.remove(space)
	}
}
