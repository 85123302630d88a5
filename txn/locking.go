package txn

import (
	"github.com/pandodb/pando/kvapi"
)

// Bounds of one round of a locking scan.
const (
	lockingPageRows  = 128
	lockingPageBytes = 256 << 10
)

// lockingPage collects the keys of one round of a SERIALIZABLE scan. Locks are
// taken after the iterator is gone, since a lock wait may last most of a minute
// and an open iterator pins memtables and files.
type lockingPage struct {
	arena arena
	keys  [][]byte
}

// Pair copies the key.
func (p *lockingPage) Pair(key, _ []byte) (more bool, err error) {
	p.keys = append(p.keys, p.arena.copy(key))
	return true, nil
}

// clear empties the page for its next round.
func (p *lockingPage) clear() {
	p.arena.reset()
	clear(p.keys)
	p.keys = p.keys[:0]
}

// reset empties the page for another transaction.
func (p *lockingPage) reset() {
	p.clear()
	p.keys = emptied(p.keys)
}

// limitSink counts what reaches the reader of a locking scan, since rows may
// vanish between the candidates and their locks.
type limitSink struct {
	out         kvapi.Sink
	rows, bytes int
	stop        bool
}

// Pair passes a pair on.
func (s *limitSink) Pair(key, value []byte) (more bool, err error) {
	more, err = s.out.Pair(key, value)
	s.rows++
	s.bytes += len(key) + len(value)
	s.stop = !more
	return more, err
}

// scanLocking is a SERIALIZABLE plain scan: rounds of candidates, each of which
// is locked in shared mode and then read anew.
func (t *Txn) scanLocking(r *ScanRequest) (resume []byte, err error) {
	round := *r
	round.Hold = nil // what it keeps must not be kept while a lock is waited for
	out := limitSink{out: r.Sink}
	for {
		t.page.clear()
		round.Sink = &t.page
		round.LimitRows, round.LimitBytes = lockingPageRows, lockingPageBytes
		if r.LimitRows > 0 {
			round.LimitRows = min(lockingPageRows, r.LimitRows-out.rows)
		}
		resume, err = t.ScanLatest(&round)
		if err != nil {
			return nil, err
		}
		for i, key := range t.page.keys {
			if _, _, err = t.Lock(key, kvapi.LockShared, kvapi.WaitDefault, &out); err != nil {
				return nil, err
			}
			full := (r.LimitRows > 0 && out.rows >= r.LimitRows) || (r.LimitBytes > 0 && out.bytes >= r.LimitBytes)
			if !out.stop && !full {
				continue
			}
			if i == len(t.page.keys)-1 && resume == nil && !out.stop {
				return nil, nil
			}
			return kvapi.ResumeAfter(key, r.Reverse), nil
		}
		if resume == nil {
			return nil, nil
		}
		if r.Reverse {
			round.Span.End = resume
		} else {
			round.Span.Start = resume
		}
	}
}
