package store

import (
	"bytes"
	"math"
	"slices"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/mvcc"
)

// pageDataKept bounds the memory that a pooled page keeps for undone rows.
const pageDataKept = 64 << 10

// pageRows walks the rows of a page: what the scanner shows, merged with the
// rows that have been deleted for good since (package doc, S13).
type pageRows struct {
	scanner mvcc.Scanner
	reverse bool
	ahead   bool // the scanner stands on a row that has not been returned
	ended   bool // the scanner has none left
	undone  []undoneRow
	at      int    // the next of them
	data    []byte // theirs; what has been outgrown stays with those that alias it
}

type undoneRow struct{ key, row []byte }

// init collects what was deleted for good in the span and is visible at ts. The
// scanner's iterator was made before.
func (p *pageRows) init(s *Store, span kvapi.Span, ts clock.Timestamp, reverse bool) error {
	p.reverse, p.ahead, p.ended = reverse, false, false
	if !s.undo.above(ts) {
		return nil
	}
	first, last := keys.Head(span.Start), uint64(math.MaxUint64)
	if len(span.End) > 0 {
		last = keys.Head(span.End)
	}
	s.undo.visit(ts, func(e *undone) bool {
		if e.head >= first && e.head <= last && e.prev <= ts && span.Contains(e.key()) {
			n := len(p.data)
			p.data = append(p.data, e.data...)
			data := p.data[n:len(p.data):len(p.data)]
			p.undone = append(p.undone, undoneRow{key: data[:e.keyLen], row: data[e.keyLen:]})
		}
		return true
	})
	slices.SortFunc(p.undone, p.compare)
	return s.passed(ts)
}

// compare orders rows as the page does.
func (p *pageRows) compare(a, b undoneRow) int {
	c := bytes.Compare(a.key, b.key)
	if p.reverse {
		return -c
	}
	return c
}

// next returns the next row, borrowed until the next call. If there is none, the
// scanner's error tells why.
func (p *pageRows) next() (key, row []byte, ok bool) {
	undone := p.undone[p.at:]
	if !p.ahead && !p.ended {
		p.ahead = p.scanner.Next()
		p.ended = !p.ahead
	}
	switch {
	case p.ended && (len(undone) == 0 || p.scanner.Err() != nil):
		return nil, nil, false
	case len(undone) == 0:
	case p.ended || p.compare(undone[0], undoneRow{key: p.scanner.Key()}) < 0:
		p.at++
		return undone[0].key, undone[0].row, true
	case bytes.Equal(undone[0].key, p.scanner.Key()):
		p.at++ // the iterator is older than the deletion and shows it, too
	}
	p.ahead = false
	return p.scanner.Key(), p.scanner.Row(), true
}

// drop forgets everything but buffers.
func (p *pageRows) drop() {
	p.scanner.Drop()
	if p.at = 0; len(p.undone) == 0 {
		return
	}
	clear(p.undone)
	p.undone = p.undone[:0]
	if p.data = p.data[:0]; cap(p.data) > pageDataKept {
		p.data, p.undone = nil, nil
	}
}
