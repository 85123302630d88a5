package txn

import (
	"bytes"
	"slices"

	"github.com/pandodb/pando/kvapi"
	"github.com/tidwall/btree"
)

const (
	// smallEntries is the size up to which the buffer is a sorted slice whatever
	// is written. A slice beats the tree while an insertion moves less than a few
	// cache lines, and for a load in the order of keys, which moves none.
	smallEntries = 64
	// entryChunk is how many entries are allocated together.
	entryChunk = 64
	// entryOverhead is what an entry costs besides its key and value, for the
	// size limit: the entry itself, its place in the index, its undo record.
	entryOverhead = 160
	// bufferFree is the size in bytes up to which a write buffer is not charged to Memory, and the step in which it is charged beyond: so
	// short transactions charge nothing.
	bufferFree = 1 << 20
	// bufferCopies: memory is charged twice, since a commit passes a copy of the buffer to the storage engine.
	bufferCopies = 2
	// storedCopies is how often storage holds a large value for a while after its commit: in a flush and a compaction, which read and gather it, make a block of
	// it and compress that. loggedCopies come in addition where it is in an entry of a Raft log, too: the entry and its record.
	storedCopies = 11
	loggedCopies = 3
	// entriesKept bounds the entries, and the slices with an element per entry, that
	// a pooled buffer keeps: enough for a packet of short rows. The garbage collector
	// empties the pool, so nothing is kept for ever.
	entriesKept = 64 << 10
)

// entry is the last write of one key. key and value live in the arena.
type entry struct {
	key, value []byte
	kind       kvapi.MutationKind
	shadow     kvapi.Shadow
	expect     kvapi.Expect
	// undoAt is the index of the newest undo record of this key. A write since
	// the last mark needs no second record.
	undoAt int
}

// deliver passes the write to a reader's sink. found is false for a deletion.
func (e *entry) deliver(sink kvapi.Sink) (found bool, err error) {
	if e.kind == kvapi.MutationDelete {
		return false, nil
	}
	if sink != nil {
		_, err = sink.Pair(e.key, e.value)
	}
	return true, err
}

// undo says what a key's entry was before a write: there was none if before is 0,
// as for most writes, and otherwise it was buffer.befores[before-1].
type undo struct {
	e      *entry
	before int
}

// buffer holds a transaction's writes in key order, with an undo log for
// savepoints. Its memory is bounded by bytesMax.
type buffer struct {
	bytesMax, entryBytesMax int
	memory                  Memory           // nil: the buffer is not charged
	intr                    *kvapi.Interrupt // of the transaction, ends waits for memory
	taken                   int              // bytes beyond bufferFree that have been charged to memory
	largest                 int              // bytes of the largest value of those that are larger than bufferFree

	arena   arena
	chunks  [][]entry
	made    int // entries taken from chunks, in order
	small   []*entry
	tree    *btree.BTreeG[*entry] // replaces small once there are many entries, not in order
	probe   *entry                // scratch key of tree lookups
	last    *entry                // the tree's highest key: rows mostly arrive in order, above it
	undos   []undo
	befores []entry // in the order of the undo records that name them
	undoMin int     // undo records below it belong to an earlier mark
	count   int
}

func entryLess(a, b *entry) bool { return bytes.Compare(a.key, b.key) < 0 }

// len returns the number of keys written.
func (b *buffer) len() int { return b.count }

// find returns the position of the first small entry at or above key.
func (b *buffer) find(key []byte) (at int, found bool) {
	// Rows mostly arrive in order, so the end is tried first.
	if n := len(b.small); n == 0 || bytes.Compare(b.small[n-1].key, key) < 0 {
		return n, false
	}
	return slices.BinarySearchFunc(b.small, key, func(e *entry, k []byte) int { return bytes.Compare(e.key, k) })
}

// get returns the write of key, or nil.
func (b *buffer) get(key []byte) *entry {
	if b.count == 0 {
		return nil
	}
	if b.tree == nil {
		if at, found := b.find(key); found {
			return b.small[at]
		}
		return nil
	}
	if bytes.Compare(b.last.key, key) < 0 {
		return nil
	}
	b.probe.key = key
	e, _ := b.tree.Get(b.probe)
	b.probe.key = nil
	return e
}

// put buffers a value for key.
func (b *buffer) put(key, value []byte, shadow kvapi.Shadow, expect kvapi.Expect) error {
	return b.write(key, value, kvapi.MutationPut, shadow, expect)
}

// delete buffers a delete marker for key.
func (b *buffer) delete(key []byte) error {
	return b.write(key, nil, kvapi.MutationDelete, kvapi.ShadowUnknown, kvapi.ExpectAnything)
}

func (b *buffer) write(key, value []byte, kind kvapi.MutationKind, shadow kvapi.Shadow, expect kvapi.Expect) error {
	if len(key)+len(value) > b.entryBytesMax {
		return kvapi.ErrTxnTooLarge
	}
	need := b.bytes() + len(key) + len(value) + entryOverhead
	if need > b.bytesMax {
		return kvapi.ErrTxnTooLarge
	}
	if need > bufferFree+b.taken && b.memory != nil {
		if err := b.take(need); err != nil {
			return err
		}
		if len(value) > bufferFree {
			b.largest = max(b.largest, len(value))
		}
	}
	e := b.get(key)
	if e == nil {
		e = b.newEntry()
		e.key = b.arena.copy(key)
		e.value = b.arena.copy(value)
		e.kind, e.shadow, e.expect = kind, shadow, expect
		e.undoAt = len(b.undos)
		b.undos = append(b.undos, undo{e: e})
		b.insert(e)
		return nil
	}
	fresh := e.undoAt >= b.undoMin
	if !fresh {
		b.befores = append(b.befores, *e)
		b.undos = append(b.undos, undo{e: e, before: len(b.befores)})
		e.undoAt = len(b.undos) - 1
	}
	// A value written since the last mark is needed by no undo record, so its
	// bytes may be overwritten: counting one key up costs no memory.
	if fresh && len(value) <= len(e.value) {
		copy(e.value, value)
		e.value = e.value[:len(value)]
	} else {
		e.value = b.arena.copy(value)
	}
	// shadow and expect are about the version below the transaction's first write
	// of the key, so those of a later write do not replace them.
	e.kind = kind
	return nil
}

// bytes estimates the memory that the buffer holds. Undo records count, since
// every savepoint may add one per key.
func (b *buffer) bytes() int {
	return b.arena.used + (b.count+len(b.undos))*(entryOverhead/2)
}

// take charges memory for a buffer of need bytes.
func (b *buffer) take(need int) error {
	more := (need-bufferFree-b.taken)/bufferFree*bufferFree + bufferFree
	if err := b.memory.Ask(bufferCopies*int64(more), b.intr, true); err != nil {
		return err
	}
	b.taken += more
	return nil
}

// settle waits until storage has room for the largest value, of which it will hold so many copies.
func (b *buffer) settle(copies int) error {
	return b.memory.Settle(int64(b.largest)*int64(copies), b.intr)
}

// giveBack returns memory after the buffer has become smaller.
func (b *buffer) giveBack(needed int) {
	if spare := (b.taken - needed) / bufferFree * bufferFree; spare > 0 {
		_ = b.memory.Ask(-bufferCopies*int64(spare), nil, true) // giving back never fails
		b.taken -= spare
	}
}

// newEntry takes an entry from the chunks.
func (b *buffer) newEntry() *entry {
	chunk, at := b.made/entryChunk, b.made%entryChunk
	if chunk == len(b.chunks) {
		b.chunks = append(b.chunks, make([]entry, entryChunk))
	}
	b.made++
	return &b.chunks[chunk][at]
}

// freeEntry gives the newest entry back. Undoing goes backwards, so the entries
// of undone keys come back in reverse order of their making.
func (b *buffer) freeEntry(e *entry) {
	b.made--
	if e != &b.chunks[b.made/entryChunk][b.made%entryChunk] {
		panic("txn: write buffer undone out of order")
	}
	*e = entry{}
}

// insert adds a new key to the index.
func (b *buffer) insert(e *entry) {
	b.count++
	if b.tree != nil {
		if entryLess(b.last, e) {
			b.last = e
			b.tree.Load(e) // appends without a search
		} else {
			b.tree.Set(e)
		}
		return
	}
	if at, _ := b.find(e.key); at == len(b.small) || len(b.small) < smallEntries {
		b.small = slices.Insert(b.small, at, e)
		return
	}
	b.probe = new(entry)
	b.tree = btree.NewBTreeGOptions(entryLess, btree.Options{NoLocks: true})
	for _, s := range b.small {
		b.tree.Load(s)
	}
	clear(b.small)
	b.small = b.small[:0]
	b.tree.Set(e)
	b.last, _ = b.tree.Max()
}

// remove removes a key from the index.
func (b *buffer) remove(e *entry) {
	b.count--
	if b.tree != nil {
		b.tree.Delete(e)
		if e == b.last {
			if b.last, _ = b.tree.Max(); b.last == nil {
				b.tree, b.probe = nil, nil
			}
		}
		return
	}
	if at, found := b.find(e.key); found {
		b.small = slices.Delete(b.small, at, at+1)
	}
}

// savepoint marks the present state.
func (b *buffer) savepoint() Savepoint {
	b.undoMin = len(b.undos)
	return Savepoint{undo: b.undoMin, arena: b.arena.mark()}
}

// rollbackTo restores the state at the savepoint and keeps it as the last mark.
func (b *buffer) rollbackTo(s Savepoint) {
	if s.undo > len(b.undos) {
		panic("txn: rollback to a savepoint that an earlier rollback undid")
	}
	for i := len(b.undos) - 1; i >= s.undo; i-- {
		u := &b.undos[i]
		if u.before == 0 {
			b.remove(u.e)
			b.freeEntry(u.e)
		} else {
			*u.e = b.befores[u.before-1]
			b.befores[u.before-1] = entry{}
			b.befores = b.befores[:u.before-1]
		}
		*u = undo{}
	}
	b.undos = b.undos[:s.undo]
	b.undoMin = s.undo
	b.arena.rewind(s.arena)
	b.giveBack(b.bytes())
}

// mutations appends the writes in key order.
func (b *buffer) mutations(dst []kvapi.Mutation) []kvapi.Mutation {
	if b.tree == nil {
		for _, e := range b.small {
			dst = append(dst, e.mutation())
		}
		return dst
	}
	dst = slices.Grow(dst, b.count)
	b.tree.Scan(func(e *entry) bool {
		dst = append(dst, e.mutation())
		return true
	})
	return dst
}

func (e *entry) mutation() kvapi.Mutation {
	return kvapi.Mutation{Key: e.key, Value: e.value, Kind: e.kind, Shadow: e.shadow, Expect: e.expect}
}

// reset empties the buffer for its next transaction.
func (b *buffer) reset() {
	b.giveBack(0)
	b.arena.reset()
	b.tree, b.probe, b.last = nil, nil, nil
	b.small = emptied(b.small)
	if n := min(len(b.chunks), max(1, entriesKept/entryChunk)); n > 0 {
		clear(b.chunks[n:])
		b.chunks = b.chunks[:n]
		for i, left := 0, b.made; i < n && left > 0; i, left = i+1, left-entryChunk {
			clear(b.chunks[i][:min(left, entryChunk)])
		}
	}
	b.made = 0
	b.undos = emptied(b.undos)
	b.befores = emptied(b.befores)
	b.undoMin, b.count, b.largest = 0, 0, 0
}

// emptied returns s without elements, for reuse unless it is large.
func emptied[E any](s []E) []E {
	if cap(s) > entriesKept {
		return nil
	}
	clear(s)
	return s[:0]
}
