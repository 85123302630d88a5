package mvcc

import (
	"bytes"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/keys"
)

const (
	// stepsMax is how many versions of one key are skipped one by one before a seek. A step costs a tenth to a
	// twentieth of a seek, and more than a few dead versions of one key are rare once garbage is collected.
	stepsMax = 6
	// pollSteps is the number of moves between two polls of the interrupt.
	pollSteps = 256
	// longValue is the length from which on a scan backwards does not copy a value. A seek costs less than the two copies that would be made.
	longValue = 64 << 10
)

// Scanner walks the rows visible at a timestamp, in key order or against it. Its zero value must be initialised; it keeps its
// buffers between uses, so a pooled scanner allocates nothing. It is positioned by Seek or by the first Next, within the bounds
// of the iterator.
type Scanner struct {
	it      Iterator
	ts      clock.Timestamp
	reverse bool
	poll    func() error

	started bool
	valid   bool // the iterator is on a key that has not been looked at
	parked  bool // the iterator is on the row last returned: forward always, in reverse only on a long row
	moves   int
	err     error
	key     []byte
	row     []byte
	vts     clock.Timestamp
	keyBuf  []byte
	rowBuf  []byte
	last    []byte // the key of the previous row, with expensive assertions only
}

// Init prepares s for a scan at ts over the iterator's bounds. poll, which may be nil, is called now and then during long walks
// over invisible versions; its error ends the scan.
func (s *Scanner) Init(it Iterator, ts clock.Timestamp, reverse bool, poll func() error) {
	*s = Scanner{it: it, ts: ts, reverse: reverse, poll: poll, keyBuf: s.keyBuf[:0], rowBuf: s.rowBuf[:0], last: s.last[:0]}
}

// Drop forgets the iterator and frees large buffers, so that the scanner can be pooled.
func (s *Scanner) Drop() {
	const keepBytes = 64 << 10
	keyBuf, rowBuf := s.keyBuf[:0], s.rowBuf[:0]
	if cap(rowBuf) > keepBytes {
		rowBuf = nil
	}
	*s = Scanner{keyBuf: keyBuf, rowBuf: rowBuf, last: s.last[:0]}
}

// Seek positions the scan: the next row is the first at or after logical, or in reverse the last before it.
func (s *Scanner) Seek(logical []byte) {
	scratch := s.it.Scratch()
	*scratch = keys.VersionPrefix((*scratch)[:0], logical)
	s.started, s.parked, s.last = true, false, s.last[:0]
	if s.reverse {
		s.valid = s.it.SeekLT(*scratch)
	} else {
		s.valid = s.it.SeekGE(*scratch)
	}
}

// Next moves to the next visible row and reports whether there is one; if not, see Err.
func (s *Scanner) Next() bool {
	if s.err != nil {
		return false
	}
	if s.reverse {
		return s.prev()
	}
	return s.next()
}

// Key returns the logical key of the current row, borrowed until the next call of Next, Seek or Drop.
func (s *Scanner) Key() []byte { return s.key }

// Row returns the current row, borrowed like the key.
func (s *Scanner) Row() []byte { return s.row }

// TS returns the commit timestamp of the current row.
func (s *Scanner) TS() clock.Timestamp { return s.vts }

// Err returns the error that ended the scan, nil if that was the bounds.
func (s *Scanner) Err() error { return s.err }

// next finds the first visible row at or after the iterator's position. The first version met of each key that is not newer
// than ts is the visible one; NextPrefix then skips what it shadows.
func (s *Scanner) next() bool {
	switch {
	case s.parked:
		s.parked = false
		s.valid = s.it.NextPrefix()
	case !s.started:
		s.started = true
		s.valid = s.it.First()
	}
	tooNew := 0
	for s.valid {
		logical, ts, err := currentKey(s.it)
		if err != nil {
			return s.fail(err)
		}
		if ts > s.ts {
			tooNew++
			s.valid = s.skipNewer(logical, tooNew)
		} else {
			tooNew = 0
			v, err := current(s.it)
			if err != nil {
				return s.fail(err)
			}
			if !v.Tombstone {
				if assert.Expensive {
					assert.That(len(s.last) == 0 || bytes.Compare(s.last, logical) < 0, "mvcc: a scan's keys ascend")
					s.last = append(s.last[:0], logical...)
				}
				s.key, s.row, s.vts = logical, v.Row, ts
				s.parked = true
				return true
			}
			s.valid = s.it.NextPrefix()
		}
		if !s.tick() {
			return false
		}
	}
	return s.end()
}

// skipNewer moves from a version above ts towards the visible one: by steps at first, by a seek if there are many.
func (s *Scanner) skipNewer(logical []byte, steps int) bool {
	if steps%stepsMax != 0 {
		return s.it.Next()
	}
	scratch := s.it.Scratch()
	*scratch = keys.VersionKey((*scratch)[:0], logical, s.ts)
	return s.it.SeekGE(*scratch)
}

// prev finds the last visible row at or before the iterator's position. Versions come oldest first in this direction, so the
// visible one is only known when a version above ts or another key is reached; the candidate is copied meanwhile, unless it is long.
func (s *Scanner) prev() bool {
	switch {
	case s.parked:
		s.parked = false
		s.valid = s.seekBefore()
	case !s.started:
		s.started = true
		s.valid = s.it.Last()
	}
	for s.valid {
		logical, ts, err := currentKey(s.it)
		if err != nil {
			return s.fail(err)
		}
		s.keyBuf = append(s.keyBuf[:0], logical...)
		if ts > s.ts {
			// Even the oldest version is above ts: the key did not exist at ts.
			s.valid = s.leaveKey()
		} else {
			v, err := s.newestVisible()
			if err != nil {
				return s.fail(err)
			}
			if !v.Tombstone {
				s.key, s.row, s.vts = s.keyBuf, v.Row, v.TS
				return true
			}
		}
		if !s.tick() {
			return false
		}
	}
	return s.end()
}

// newestVisible returns the version of keyBuf that is visible at ts. The iterator must be on the oldest version, which must not be
// above ts. It leaves the iterator on the previous key, or parked on the version.
func (s *Scanner) newestVisible() (Version, error) {
	for steps := 0; ; steps++ {
		_, ts, err := currentKey(s.it)
		if err != nil {
			return Version{}, err
		}
		if s.it.ValueLen() >= longValue {
			if err := s.it.Shed(); err != nil {
				return Version{}, err
			}
			return s.seekVisible()
		}
		value, err := s.it.Value()
		if err != nil {
			return Version{}, err
		}
		s.rowBuf = append(s.rowBuf[:0], value...)
		if steps == stepsMax {
			return s.seekVisible()
		}
		s.valid = s.it.Prev()
		same, newer, err := s.compare()
		if err != nil {
			return Version{}, err
		}
		if !same || newer > s.ts {
			if same {
				s.valid = s.leaveKey()
			}
			return DecodeValue(s.rowBuf, ts)
		}
	}
}

// seekVisible is newestVisible by a seek, for many or long versions.
func (s *Scanner) seekVisible() (Version, error) {
	scratch := s.it.Scratch()
	*scratch = keys.VersionKey((*scratch)[:0], s.keyBuf, s.ts)
	if !s.it.SeekGE(*scratch) {
		return Version{}, s.it.Error()
	}
	v, err := current(s.it)
	if err != nil {
		return Version{}, err
	}
	if len(v.Row) >= longValue {
		s.parked = true
		return v, nil
	}
	s.rowBuf = append(s.rowBuf[:0], v.Row...)
	v.Row = s.rowBuf
	s.valid = s.seekBefore()
	return v, nil
}

// compare reports whether the iterator is still on a version of keyBuf, and returns its timestamp.
func (s *Scanner) compare() (same bool, ts clock.Timestamp, err error) {
	if !s.valid {
		return false, 0, s.it.Error()
	}
	logical, ts, err := currentKey(s.it)
	if err != nil {
		return false, 0, err
	}
	return bytes.Equal(logical, s.keyBuf), ts, nil
}

// leaveKey moves backwards to a version of another key than keyBuf, and reports whether there is one.
func (s *Scanner) leaveKey() bool {
	for range stepsMax {
		if !s.it.Prev() {
			return false
		}
		// A malformed key counts as another one; the caller looks at it next.
		if logical, _, ok := keys.DecodeVersionKey(s.it.Key()); !ok || !bytes.Equal(logical, s.keyBuf) {
			return true
		}
	}
	return s.seekBefore()
}

func (s *Scanner) seekBefore() bool {
	scratch := s.it.Scratch()
	*scratch = keys.VersionPrefix((*scratch)[:0], s.keyBuf)
	return s.it.SeekLT(*scratch)
}

// tick counts a move and polls the interrupt now and then. It returns false when the scan is over.
func (s *Scanner) tick() bool {
	s.moves++
	if s.moves%pollSteps != 0 || s.poll == nil {
		return true
	}
	if err := s.poll(); err != nil {
		return s.fail(err)
	}
	return true
}

func (s *Scanner) end() bool {
	s.key, s.row, s.vts = nil, nil, 0
	s.err = s.it.Error()
	return false
}

func (s *Scanner) fail(err error) bool {
	s.key, s.row, s.vts = nil, nil, 0
	s.valid, s.err = false, err
	return false
}
