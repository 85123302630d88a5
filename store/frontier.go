package store

import (
	"bytes"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/mvcc"
	"github.com/pandodb/pando/status"
)

// frontiersMax bounds the tables whose frontier is kept. When there are more,
// all are forgotten: each costs one seek to find again.
const frontiersMax = 4096

// frontiers keep for a table a key above which it has no row, not even a delete
// marker that garbage collection has left. A row that is inserted above it, as
// with AUTO_INCREMENT, is known to be new without a lookup in the engine, which
// otherwise takes an eighth of the server's time under single-row inserts
// (docs/design/measured/frontier.md).
//
// The contract, by which a key above the frontier has no version if the caller
// holds its lock: commits apply new rows, then raise the frontiers, then release
// the locks; and learn adds the frontier to tables before it makes the iterator
// that finds the last row. So rows that the iterator does not show raise it.
type frontiers struct {
	tables atomic.Pointer[map[uint64]*frontier] // by physical id; replaced under mu, never changed
	mu     sync.Mutex                           // a leaf
	hits   status.Counter                       // keys that beyond said yes to
}

// frontier is that of one table.
type frontier struct {
	mu    sync.Mutex // guards what follows; a leaf
	known bool
	key   []byte // logical; no row of the table is above it, if known
}

// rowTable returns the physical id of the table that key is a row of.
func rowTable(key []byte) (physID uint64, ok bool) {
	physID, rest, ok := keys.DecodeTablePrefix(key)
	return physID, ok && len(rest) > 0 && rest[0] == keys.RowByte
}

// of returns the table's frontier, or nil.
func (f *frontiers) of(physID uint64) *frontier {
	if tables := f.tables.Load(); tables != nil {
		return (*tables)[physID]
	}
	return nil
}

// beyond reports whether key, whose lock the caller holds, is that of a row above
// all rows of its table.
func (f *frontiers) beyond(key []byte) bool {
	physID, ok := rowTable(key)
	if !ok {
		return false
	}
	t := f.of(physID)
	if t == nil {
		return false
	}
	t.mu.Lock()
	beyond := t.known && bytes.Compare(key, t.key) > 0
	t.mu.Unlock()
	if beyond {
		f.hits.Inc()
	}
	return beyond
}

// raise notes the new rows of a commit. Its mutations are in the order of keys,
// so one key per table is enough; a row that shadows a version is at or below
// the frontier, and so are those before it.
func (f *frontiers) raise(mutations []kvapi.Mutation) {
	if f.tables.Load() == nil {
		return
	}
	last, seen := uint64(0), false
	for i := len(mutations) - 1; i >= 0; i-- {
		m := &mutations[i]
		physID, ok := rowTable(m.Key)
		if !ok || seen && physID == last {
			continue
		}
		last, seen = physID, true
		if m.Shadow == kvapi.ShadowAt {
			continue
		}
		if t := f.of(physID); t != nil {
			t.raise(m.Key)
		}
	}
}

// raiseKey notes that a key has a version.
func (f *frontiers) raiseKey(key []byte) {
	if f.tables.Load() == nil {
		return
	}
	if physID, ok := rowTable(key); ok {
		if t := f.of(physID); t != nil {
			t.raise(key)
		}
	}
}

// forget drops all frontiers: rows have come otherwise than by commits.
func (f *frontiers) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tables.Store(nil)
}

func (t *frontier) raise(key []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if bytes.Compare(key, t.key) > 0 {
		t.key = append(t.key[:0], key...)
	}
}

// learn finds the frontier of the table that key is a row of, unless somebody
// has done that or is doing it. That is one seek, which skips the delete markers
// at the table's end.
func (f *frontiers) learn(e *engine.Engine, key []byte) error {
	physID, ok := rowTable(key)
	if !ok {
		return nil
	}
	t := f.add(physID)
	if t == nil {
		return nil
	}
	prefix := keys.RowPrefix(nil, physID)
	it, err := e.NewIter(engine.IterOptions{
		Lower: keys.VersionPrefix(nil, prefix), Upper: keys.VersionPrefix(nil, keys.PrefixEnd(nil, prefix)),
	})
	if err != nil {
		return err
	}
	defer it.Close() // its error would repeat one that the read has returned
	last, err := mvcc.LastKey(it)
	if err != nil {
		return err
	}
	t.raise(last)
	t.mu.Lock()
	t.known = true
	t.mu.Unlock()
	return nil
}

// add adds a frontier, not known yet, for a table: commits raise it from now on.
// It returns nil if there is one already.
func (f *frontiers) add(physID uint64) *frontier {
	f.mu.Lock()
	defer f.mu.Unlock()
	old := f.tables.Load()
	if old != nil && (*old)[physID] != nil {
		return nil
	}
	tables := map[uint64]*frontier{}
	if old != nil && len(*old) < frontiersMax {
		maps.Copy(tables, *old)
	}
	t := &frontier{}
	tables[physID] = t
	f.tables.Store(&tables)
	return t
}
