package exec

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/types"
)

// share is a part of a scan: one worker reads it, and what that yields reaches the
// operator above the Gather when all of the shares before it have. Its fields belong to
// shareList.mu, but for spans, which do not change.
type share struct {
	spans   []kvapi.Span
	next    *share // the one after it in key order
	taken   bool
	ended   bool
	parcels []*parcel
	notes   *types.Context // the diagnostics of its rows, once it has ended
	err     error
}

// shareList are the shares of a scan in the order of their keys. Workers take the first
// that nobody has taken; one that finds its share too large puts the rest back as several,
// right after it. The first share never waits for a worker whose batches are not used yet:
// the next free worker takes it, at the latest the one that has put it there.
type shareList struct {
	mu      sync.Mutex // guards the other fields, those of shares, and gatherWorker.free
	change  sync.Cond  // of whatever the mutex guards
	head    *share     // the first that has not been used up
	working int        // shares taken and not ended
	stopped bool
	panic   error // of a worker
}

// begin makes the list anew.
func (l *shareList) begin(first *share) {
	l.change.L = &l.mu
	l.head, l.working, l.stopped, l.panic = first, 0, false, nil
}

// take waits for a share and returns it; nil when there are and will be none.
func (l *shareList) take() *share {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.stopped {
		for s := l.head; s != nil; s = s.next {
			if !s.taken {
				s.taken = true
				l.working++
				return s
			}
		}
		if l.working == 0 {
			return nil
		}
		l.change.Wait()
	}
	return nil
}

// end notes that a share has been read: up to more, which follows it, or to an error,
// after which nothing is wanted.
func (l *shareList) end(s *share, notes *types.Context, more []kvapi.Span, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.working--
	s.ended, s.notes, s.err = true, notes, err
	if err != nil {
		s.next = nil
	}
	for _, span := range slices.Backward(more) {
		s.next = &share{spans: []kvapi.Span{span}, next: s.next}
	}
	l.change.Broadcast()
}

// parcel waits until the worker has one to fill for a share; nil once nobody wants any. For
// the first share it may make more of them: those that the worker has filled of later shares
// come back only when the first one is used up.
func (l *shareList) parcel(w *gatherWorker, s *share) *parcel {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.stopped {
		if n := len(w.free); n > 0 {
			p := w.free[n-1]
			w.free = w.free[:n-1]
			return p
		}
		if w.made < workerBatches || s == l.head && len(s.parcels) < workerBatches {
			w.made++
			return &parcel{worker: w}
		}
		l.change.Wait()
	}
	return nil
}

// pass adds a filled parcel to its share.
func (l *shareList) pass(s *share, p *parcel) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.parcels = append(s.parcels, p)
	l.change.Broadcast()
}

// give returns a parcel to its worker.
func (l *shareList) give(p *parcel) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.worker.free = append(p.worker.free, p)
	l.change.Broadcast()
}

// next waits for the next parcel in the order of the shares; nil is the end. A share's
// diagnostics go to notes when its rows have been used.
func (l *shareList) next(notes *types.Context) (*parcel, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.head != nil {
		s := l.head
		switch {
		case l.panic != nil:
			panic(l.panic)
		case len(s.parcels) > 0:
			p := s.parcels[0]
			s.parcels = s.parcels[1:]
			return p, nil
		case !s.ended:
			l.change.Wait()
		default:
			notes.Absorb(s.notes)
			if s.err != nil {
				return nil, s.err
			}
			l.head = s.next
			l.change.Broadcast()
		}
	}
	return nil, nil
}

// fail notes a worker's panic, which goes on in the statement's goroutine.
func (l *shareList) fail(p error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.panic = p
	l.change.Broadcast()
}

// stop ends all waiting. Parcels that nobody has used are lost.
func (l *shareList) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	l.change.Broadcast()
}

func (l *shareList) hasStopped() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stopped
}

// portion is what the scan of a Gather reads between open and its end. The statement's
// goroutine begins with all of the scan and a worker with a share; both end after rows
// rows, and leave the rest, if stop agrees. Otherwise they go on for as many.
type portion struct {
	whole bool // the scan's own ranges, else spans
	spans []kvapi.Span
	rows  int
	stop  func() bool
	quit  func() bool // the rows are no longer wanted

	from   []byte // where the span began in which the scan ended
	rest   []kvapi.Span
	unread bool // the first span of rest has not been begun
}

// cutsMax bounds the parts that one span is cut into.
const cutsMax = 256

// cut divides what is left of a span, from resume to its end, into at least least parts
// if keys allow, of about each rows if the keys go on as densely as between from and
// resume, where there were rows rows. Nothing is known of keys but that they are bytes in
// order: they are cut as numbers, by the eight bytes after those that all have in common.
func cut(from, resume, end []byte, rows, each, least int) []kvapi.Span {
	common := 0
	for common < len(resume) && common < len(end) && resume[common] == end[common] {
		common++
	}
	prefix := resume[:common]
	low, high := leading(resume[common:]), leading(end[common:])
	n := float64(least)
	if bytes.HasPrefix(from, prefix) && bytes.Compare(from, resume) < 0 {
		if read := float64(low) - float64(leading(from[common:])); read > 0 {
			n = max(n, float64(high-low)/read*float64(rows)/float64(each))
		}
	}
	parts := uint64(min(n, cutsMax))
	var out []kvapi.Span
	for i := uint64(1); i < parts; i++ {
		width := high - low
		at := low + width/parts*i + width%parts*i/parts
		key := binary.BigEndian.AppendUint64(slices.Clone(prefix), at)
		if bytes.Compare(key, resume) > 0 && bytes.Compare(key, end) < 0 {
			out = append(out, kvapi.Span{Start: resume, End: key})
			resume = key
		}
	}
	return append(out, kvapi.Span{Start: resume, End: end})
}

// leading is the number in the first eight bytes of a key, as if zeros came behind it.
func leading(key []byte) uint64 {
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}
