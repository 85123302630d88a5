package engine

import (
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2/cockroachkvs"

	"github.com/pandodb/pando/keys"
)

const (
	// loadsMax bounds the SQL tables that are known to be loaded, each of which adds up to three files to a flush.
	loadsMax = 64
	// loadFlushes is for how many flushes a table is remembered after the last load into it.
	loadFlushes = 8
)

// loads knows the SQL tables that are being bulk loaded, mostly in the order of their rows. Pebble's files end at the borders of
// these tables. A file across a border, with the last rows of one table and the first of the next, would span all rows that are loaded
// later: the files of each flush would overlap those of the one before, and compactions would write everything once more
// (docs/design/measured/loads.md).
type loads struct {
	mu      sync.Mutex // a leaf; guards what follows
	tables  []load     // in the order in which they were first noted
	flushes int        // so far
}

// load is one table.
type load struct {
	physID  uint64
	flushes int  // loads.flushes when it was last noted
	rests   bool // since then the sinker has met a flush, see sink, and leaves the table alone
	// borders are bare engine keys: where the table begins and ends, and where its rows begin, behind its index entries.
	borders [3][]byte
}

// NoteLoad notes that the commit with this logical key is part of a bulk load: flushes and compactions that begin later give its table
// files of its own. Keys that are not a table's are ignored.
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

// flushed counts a flush, and forgets tables that have not been noted for loadFlushes.
func (l *loads) flushed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flushes++
	l.tables = slices.DeleteFunc(l.tables, func(t load) bool { return l.flushes-t.flushes > loadFlushes })
}

// active returns the tables whose files may be moved, and how many flushes there have been.
func (l *loads) active() (tables []load, flushes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.tables), func(t load) bool { return t.rests }), l.flushes
}

// rest excludes all tables from active until they are noted again.
func (l *loads) rest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.tables {
		l.tables[i].rests = true
	}
}

// covers reports whether all of s lies in the table.
func (l *load) covers(s keySlice) bool {
	return cockroachkvs.Compare(l.borders[0], s.start) <= 0 && cockroachkvs.Compare(s.end, l.borders[2]) < 0
}

// next returns the first border above an engine key, nil if there is none. Callers must not change it. Pebble asks once per file.
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
