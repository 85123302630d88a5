package engine

import (
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2/cockroachkvs"

	"github.com/pandodb/pando/keys"
)

const (
	// loadsMax bounds the tables that are known to be loaded, and so what they add to a flush: three files each.
	loadsMax = 64
	// loadFlushes is for how many flushes a table is remembered that nothing more is loaded into.
	loadFlushes = 8
)

// loads knows the SQL tables that much is written into at once, mostly in the order of their rows. Files end at the borders of
// these tables. A file over the border, with the last rows of one table and the first of the next, would span all rows that come
// later: each flush would overlap the one before it, and compactions would write everything once more
// (docs/design/measured/loads.md).
type loads struct {
	mu      sync.Mutex // a leaf; guards what follows
	tables  []load     // the one that was noted first is the oldest
	flushes int
}

// load is one table.
type load struct {
	physID  uint64
	flushes int  // how many there had been when it was noted last
	rests   bool // since then something was written into what had been loaded
	// borders are bare engine keys: where the table begins and ends, and where its rows begin, behind its index entries.
	borders [3][]byte
}

// NoteLoad tells that the commit with this logical key is part of a load: its table is given files of its own by the flushes and
// compactions that begin after. Keys that are not a table's are ignored.
func (e *Engine) NoteLoad(logical []byte) {
	if physID, _, ok := keys.DecodeTablePrefix(logical); ok {
		e.loads.note(physID)
	}
}

func (l *loads) note(physID uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.IndexFunc(l.tables, func(t load) bool { return t.physID == physID })
	if at >= 0 {
		l.tables[at].flushes, l.tables[at].rests = l.flushes, false
		return
	}
	if len(l.tables) == loadsMax {
		l.tables = slices.Delete(l.tables, 0, 1)
	}
	prefix := keys.TablePrefix(nil, physID)
	l.tables = append(l.tables, load{physID, l.flushes, false, [3][]byte{
		keys.VersionPrefix(nil, prefix),
		keys.VersionPrefix(nil, keys.RowPrefix(nil, physID)),
		keys.VersionPrefix(nil, keys.PrefixEnd(nil, prefix)),
	}})
}

// flushed forgets tables that have not been noted for long.
func (l *loads) flushed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flushes++
	l.tables = slices.DeleteFunc(l.tables, func(t load) bool { return l.flushes-t.flushes > loadFlushes })
}

// active returns the tables that don't rest, and how many flushes there have been.
func (l *loads) active() (tables []load, flushes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.tables), func(t load) bool { return t.rests }), l.flushes
}

// rest tells that something was written into what had been loaded, it is not known where. Each table rests until it is noted again.
func (l *loads) rest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.tables {
		l.tables[i].rests = true
	}
}

// covers tells whether all of s belongs to the table.
func (l *load) covers(s keySlice) bool {
	return cockroachkvs.Compare(l.borders[0], s.start) <= 0 && cockroachkvs.Compare(s.end, l.borders[2]) < 0
}

// next returns the first border above an engine key, nil if there is none. Callers must not change it. It is asked once per file.
func (l *loads) next(key []byte) (next []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.tables {
		for _, border := range l.tables[i].borders {
			if cockroachkvs.Compare(border, key) > 0 && (next == nil || cockroachkvs.Compare(border, next) < 0) {
				next = border
			}
		}
	}
	return next
}
