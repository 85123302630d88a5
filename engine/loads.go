package engine

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

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
// (bench/results/2026-11-22-loads.md).
type loads struct {
	mu      sync.Mutex // a leaf; guards tables and flushes
	tables  []load     // the one that was noted first is the oldest
	flushes int
	// cuts are the borders as bare engine keys, in order. The slice is replaced, never changed.
	cuts atomic.Pointer[[][]byte]
}

// load is one table and the number of flushes when it was noted last.
type load struct {
	physID  uint64
	flushes int
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
		l.tables[at].flushes = l.flushes
		return
	}
	if len(l.tables) == loadsMax {
		l.tables = slices.Delete(l.tables, 0, 1)
	}
	l.tables = append(l.tables, load{physID, l.flushes})
	l.cut()
}

// flushed forgets tables that have not been noted for long.
func (l *loads) flushed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flushes++
	before := len(l.tables)
	l.tables = slices.DeleteFunc(l.tables, func(t load) bool { return l.flushes-t.flushes > loadFlushes })
	if len(l.tables) != before {
		l.cut()
	}
}

// cut computes the borders: of each table, and of its rows, which lie behind its index entries. The caller holds mu.
func (l *loads) cut() {
	cuts := make([][]byte, 0, 3*len(l.tables))
	for _, t := range l.tables {
		prefix := keys.TablePrefix(nil, t.physID)
		for _, border := range [][]byte{prefix, keys.RowPrefix(nil, t.physID), keys.PrefixEnd(nil, prefix)} {
			cuts = append(cuts, keys.VersionPrefix(nil, border))
		}
	}
	slices.SortFunc(cuts, cockroachkvs.Compare)
	cuts = slices.CompactFunc(cuts, bytes.Equal) // one table's end is its neighbour's start
	l.cuts.Store(&cuts)
}

// next returns the first border above an engine key, nil if there is none.
func (l *loads) next(key []byte) []byte {
	cuts := l.cuts.Load()
	if cuts == nil {
		return nil
	}
	at, found := slices.BinarySearchFunc(*cuts, key, cockroachkvs.Compare)
	if found {
		at++
	}
	if at == len(*cuts) {
		return nil
	}
	return (*cuts)[at]
}
