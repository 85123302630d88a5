package exec

import (
	"os"
	"sync"
	"sync/atomic"
)

const (
	// spillStep is what a spill file takes of its SpillSpace at once.
	spillStep = 1 << 20
	// spillCloseLater is the size from which on a spill file is removed in the background: giving 20 GB back to the file system takes ten seconds, in
	// which the client would wait for its answer.
	spillCloseLater = 64 << 20
)

// SpillSpace is the disk space that the spill files of all statements may take together. It may be used by any goroutine; nil bounds nothing.
type SpillSpace struct {
	limit int64
	used  atomic.Int64

	mu      sync.Mutex   // guards closing and works
	closing []*spillFile // large files to be removed; what they take still counts, so the limit bounds the list, too
	works   bool         // the remover's goroutine runs; Wait waits for its end
	remover sync.WaitGroup
}

// NewSpillSpace returns a space of so many bytes; 0 or less is no limit.
func NewSpillSpace(limit int64) *SpillSpace { return &SpillSpace{limit: limit} }

// Limit returns the limit in bytes.
func (s *SpillSpace) Limit() int64 { return s.limit }

// Used returns the bytes that spill files take, in steps of spillStep.
func (s *SpillSpace) Used() int64 { return s.used.Load() }

// take takes n bytes and reports whether there were as many.
func (s *SpillSpace) take(n int64) bool {
	if used := s.used.Add(n); s.limit > 0 && used > s.limit {
		s.used.Add(-n)
		return false
	}
	return true
}

// Take takes n bytes for files that are no statement's, negative to give them back, and reports whether there were as many.
func (s *SpillSpace) Take(n int64) bool {
	if n < 0 {
		s.used.Add(n)
		return true
	}
	return s.take(n)
}

// removeLater removes a large file on the remover's goroutine, which ends when nothing is left.
func (s *SpillSpace) removeLater(f *spillFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = append(s.closing, f)
	if !s.works {
		s.works = true
		s.remover.Go(s.remove)
	}
}

func (s *SpillSpace) remove() {
	for {
		s.mu.Lock()
		if len(s.closing) == 0 {
			s.works = false
			s.mu.Unlock()
			return
		}
		f := s.closing[0]
		s.closing = s.closing[1:]
		s.mu.Unlock()
		f.remove(s)
	}
}

// Wait returns once all files are removed, after the last statement.
func (s *SpillSpace) Wait() { s.remover.Wait() }

// remove gives the file's space back to the file system, and then to the others.
func (s *spillFile) remove(space *SpillSpace) {
	name := s.file.Name()
	_ = s.file.Close() // nothing depends on what the file held
	if s.named {
		_ = os.Remove(name)
	}
	if s.taken > 0 {
		space.used.Add(-s.taken)
	}
}
