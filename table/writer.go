package table

import (
	"encoding/binary"
	"fmt"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// InsertMode says how much Insert checks.
type InsertMode uint8

// The modes of Insert.
const (
	// InsertCheck locks every key that the row takes and returns 1062 if one is
	// taken. Nothing is written then, so that INSERT IGNORE may go on.
	InsertCheck InsertMode = iota
	// InsertChecked is for rows for which FindConflict has just found nothing:
	// the locks are held and the keys known to be free.
	InsertChecked
)

// Writer changes rows and their index entries. It is reused from statement to
// statement and keeps its buffers; one goroutine at a time. Rows are slices of
// len(Columns) values converted to the column types, and one more for the
// hidden row id where the doc comment says "full row".
//
// Buffers returned or borrowed are valid until the next call.
type Writer struct {
	in   *info
	ids  *AutoIDs
	auto *AutoID // of the AUTO_INCREMENT column, nil without one
	rows *AutoID // hidden row ids, nil with a primary key

	build   rowBuilder
	rowKey  []byte
	old     []types.Value // by ordinal, only in.needed (or all) filled
	new     []types.Value
	entries []entryChange // one per secondary index
	reader  Reader
	view    rowView
	stored  []byte
	wrote   uint64   // bytes of strings not reported to the table's dictionaries yet
	sample  [][]byte // of learn
	catch   catcher
	patch   patchScratch
	virtual computing
	// Before is called by Insert and Update once the row's keys are locked and
	// known to be free, before anything is written: its error leaves nothing
	// behind. May be nil.
	Before func() error
	// Room is called before a long row is encoded, with the bytes needed, and may return an error. The memory is needed until the statement ends; then
	// the writer must be dropped, because it keeps its buffers. May be nil.
	Room func(bytes int) error
}

// A row of longRow bytes is a long one; while it is written there are rowCopies of it besides the transaction's: the values in stored form, their row,
// and the old row where there is one.
const (
	longRow   = 64 << 10
	rowCopies = 3
	// caughtCopies is how many copies there are of a row that conflicts with another: one of the read, one that is kept, and then those of an old
	// row.
	caughtCopies = 2 + rowCopies
)

// room asks for memory to encode a row of that many bytes.
func (w *Writer) room(bytes int) error {
	if bytes < longRow || w.Room == nil {
		return nil
	}
	return w.Room(rowCopies * bytes)
}

// entryChange holds what a statement does to one index for one row.
type entryChange struct {
	oldKey, newKey []byte
	value          []byte
	del, put       bool
	unique         bool // Insert: newKey must be free; an update: oldKey is a unique one
}

// catcher is a sink that keeps the last pair's value.
type catcher struct {
	value []byte
	room  func(bytes int) error // see Writer.Room
}

// Pair implements kvapi.Sink.
func (c *catcher) Pair(_, value []byte) (bool, error) {
	if len(value) >= longRow && c.room != nil {
		if err := c.room(caughtCopies * len(value)); err != nil {
			return false, err
		}
	}
	c.value = append(c.value[:0], value...)
	return true, nil
}

// NewWriter returns a writer of t. ids serves generated ids.
func NewWriter(t *catalog.Table, ids *AutoIDs) *Writer {
	w := &Writer{ids: ids}
	w.Reset(t)
	return w
}

// Reset points w to another table or version and keeps its memory.
func (w *Writer) Reset(t *catalog.Table) {
	if w.wrote > 0 {
		w.in.table.Dictionaries().Wrote(w.wrote)
		w.wrote = 0
	}
	w.in = infoOf(t)
	w.auto, w.rows = nil, nil
	if t.AutoInc != nil {
		w.auto = w.ids.For(t)
	}
	if t.PK == nil {
		w.rows = w.ids.rowIDs(t)
	}
	n := len(t.Columns) + 1
	if cap(w.old) < n {
		w.old, w.new = make([]types.Value, n), make([]types.Value, n)
	}
	w.old, w.new = w.old[:n], w.new[:n]
	for len(w.entries) < len(w.in.secondary) {
		w.entries = append(w.entries, entryChange{})
	}
}

// Table returns the table version that w writes.
func (w *Writer) Table() *catalog.Table { return w.in.table }

// AutoID returns the generator of the AUTO_INCREMENT column, nil without one.
func (w *Writer) AutoID() *AutoID { return w.auto }

// LastRowKey returns the key of the row that Insert wrote last; borrowed.
func (w *Writer) LastRowKey() []byte { return w.rowKey }

// Insert adds a row. It raises the AUTO_INCREMENT counter over an explicit id.
// The error may be 1062 (see duplicate) or one of txn's.
func (w *Writer) Insert(tx *txn.Txn, row []types.Value, mode InsertMode) error {
	in := w.in
	n := len(in.table.Columns)
	copy(w.new, row[:n])
	if w.rows != nil {
		id, err := w.rows.Next(1)
		if err != nil {
			return err
		}
		w.new[n] = types.Uint(id)
	}
	if err := w.computeVirtual(w.new, true); err != nil {
		return err
	}
	w.rowKey = w.appendRowKey(w.rowKey[:0], w.new)
	if mode == InsertCheck && w.rows == nil {
		// A hidden row id is fresh: nobody else can know the key before commit,
		// so there is nothing to lock or to check.
		if err := w.claim(tx, w.rowKey, in.pkDesc, w.new); err != nil {
			return err
		}
	}
	for i := range in.secondary {
		if err := w.prepareInsert(tx, i, mode); err != nil {
			return err
		}
	}
	if w.Before != nil {
		if err := w.Before(); err != nil {
			return err
		}
	}
	value, err := w.encodeRow(w.new)
	if err != nil {
		return err
	}
	if in.table.Temporary != nil {
		if err := in.table.Grow(len(w.rowKey) + len(value) + w.newEntriesBytes()); err != nil {
			return err
		}
	}
	if err := tx.PutNew(w.rowKey, value); err != nil {
		return err
	}
	for i := range in.secondary {
		if e := &w.entries[i]; e.put {
			put := tx.PutLikelyNew
			if e.unique {
				put = tx.PutNew
			}
			if err := put(e.newKey, e.value); err != nil {
				return err
			}
		}
	}
	return w.raise(tx, &w.new[w.autoCol()])
}

// autoCol returns the ordinal of the AUTO_INCREMENT column, 0 without one.
func (w *Writer) autoCol() int {
	if w.auto == nil {
		return 0
	}
	return w.in.table.AutoInc.Ordinal
}

func (w *Writer) raise(tx *txn.Txn, v *types.Value) error {
	if w.auto == nil {
		return nil
	}
	return w.auto.Raise(tx, v)
}

// claim locks a key that must be free, and returns 1062 if it is not.
func (w *Writer) claim(tx *txn.Txn, key []byte, ix *catalog.Index, row []types.Value) error {
	found, err := tx.LockNew(key, nil)
	if err != nil {
		return err
	}
	if found {
		return w.duplicate(ix, row)
	}
	return nil
}

// prepareInsert builds the new row's entry of the i-th secondary index.
func (w *Writer) prepareInsert(tx *txn.Txn, i int, mode InsertMode) error {
	x, e := &w.in.secondary[i], &w.entries[i]
	e.put = x.desc.State >= catalog.StateWriteOnly
	if !e.put {
		return nil
	}
	e.newKey, e.unique = w.appendEntryKey(e.newKey[:0], x, w.new, w.rowKey)
	e.value = w.appendEntryValue(e.value[:0], x, w.new, w.rowKey, e.unique)
	if e.unique && mode == InsertCheck {
		return w.claim(tx, e.newKey, x.desc, w.new)
	}
	return nil
}

func (w *Writer) appendRowKey(dst []byte, row []types.Value) []byte {
	dst = append(dst, w.in.rowPrefix...)
	for i := range w.in.pk {
		p := &w.in.pk[i]
		dst = types.AppendKey(dst, row[p.col], p.typ, p.desc, p.prefix)
	}
	return dst
}

// appendEntryKey appends the key of a row's entry. unique is set when the key
// alone must be free; otherwise the primary key makes it the row's own.
func (w *Writer) appendEntryKey(dst []byte, x *indexInfo, row []types.Value, rowKey []byte) (key []byte, unique bool) {
	unique = x.desc.Unique
	dst = append(dst, x.prefix...)
	for i := range x.parts {
		p := &x.parts[i]
		v := p.of(row)
		unique = unique && !v.IsNull()
		dst = types.AppendKey(dst, *v, p.typ, p.desc, p.prefix)
	}
	if !unique {
		dst = append(dst, rowKey[len(w.in.rowPrefix):]...)
	}
	return dst, unique
}

func (w *Writer) appendEntryValue(dst []byte, x *indexInfo, row []types.Value, rowKey []byte, unique bool) []byte {
	flags := byte(formatV1)
	if unique {
		flags |= entryHasPK
	}
	if len(x.originals) > 0 {
		flags |= entryHasOriginals
	}
	dst = append(dst, flags)
	if unique {
		pk := rowKey[len(w.in.rowPrefix):]
		dst = binary.AppendUvarint(dst, uint64(len(pk)))
		dst = append(dst, pk...)
	}
	for i := range x.originals {
		o := &x.originals[i]
		v := o.of(row)
		if v.IsNull() {
			dst = append(dst, 0)
			continue
		}
		w.stored = types.AppendStored(w.stored[:0], *v, o.typ)
		dst = binary.AppendUvarint(dst, uint64(len(w.stored))+1)
		dst = append(dst, w.stored...)
	}
	return dst
}

// encodeRow returns the row value of a row in the current layout.
func (w *Writer) encodeRow(row []types.Value) ([]byte, error) {
	bytes := 0
	for _, col := range w.in.stored {
		bytes += len(row[col].B)
	}
	if err := w.room(bytes); err != nil {
		return nil, err
	}
	b := &w.build
	b.reset(w.in.table.Dictionaries().Newest())
	for _, col := range w.in.stored {
		v := &row[col]
		switch {
		case v.IsNull():
			b.null()
		case w.in.packable[col]:
			b.stored(v.B, true) // a string is its own stored form
		default:
			b.data = types.AppendStored(b.data, *v, &w.in.table.Columns[col].Type)
			b.done(false, false)
		}
	}
	for _, col := range w.in.documents {
		b.typed = b.typed || types.JSONMarked(row[col].B)
	}
	if err := w.learn(func(col int) []byte { return row[col].B }); err != nil {
		return nil, err
	}
	return b.finish(w.in.table.Layout().Version), nil
}

// wroteStep is how many bytes of strings a writer counts by itself before it
// reports them.
const wroteStep = 4 << 10

// learn reports the strings of the row just built to the table's dictionaries, and
// offers them for a sample if wanted. stored returns them by ordinal, or nil.
func (w *Writer) learn(stored func(col int) []byte) error {
	if w.build.strings == 0 {
		return nil
	}
	d := w.in.table.Dictionaries()
	w.wrote += uint64(w.build.strings)
	if w.wrote >= wroteStep || w.build.dictionary == nil {
		d.Wrote(w.wrote)
		w.wrote = 0
	}
	if !d.Wanted() {
		return nil
	}
	w.sample = w.sample[:0]
	for _, col := range w.in.stored {
		if w.in.packable[col] {
			if s := stored(col); len(s) >= minPackLen {
				w.sample = append(w.sample, s)
			}
		}
	}
	return d.Offer(w.ids.txns, w.sample...)
}

// Delete removes a row that the caller read under the exclusive lock of its
// row key, given as the full row.
func (w *Writer) Delete(tx *txn.Txn, old []types.Value) error {
	copy(w.old, old)
	if err := w.computeVirtual(w.old, true); err != nil {
		return err
	}
	w.rowKey = w.appendRowKey(w.rowKey[:0], w.old)
	value := 0
	if w.in.table.Temporary != nil {
		stored, err := w.encodeRow(w.old)
		if err != nil {
			return err
		}
		value = len(stored)
	}
	return w.deleteOld(tx, w.rowKey, value)
}

// DeleteRow removes the row with this key and value, read under the row key's
// exclusive lock. It decodes index columns only.
func (w *Writer) DeleteRow(tx *txn.Txn, key, value []byte) error {
	if len(w.in.secondary) > 0 {
		if err := w.readNeeded(key, value, w.old); err != nil {
			return err
		}
	}
	return w.deleteOld(tx, key, len(value))
}

// deleteOld removes the row in w.old, whose value has value bytes, and its entries.
func (w *Writer) deleteOld(tx *txn.Txn, rowKey []byte, value int) error {
	for i := range w.in.secondary {
		x, e := &w.in.secondary[i], &w.entries[i]
		var unique bool
		e.oldKey, unique = w.appendEntryKey(e.oldKey[:0], x, w.old, rowKey)
		if err := w.dropEntry(tx, x, e.oldKey, rowKey, unique); err != nil {
			return err
		}
		if w.in.table.Temporary != nil {
			value += w.oldEntryBytes(x, e, rowKey, unique)
		}
	}
	if w.in.table.Temporary != nil {
		if err := w.in.table.Grow(-len(rowKey) - value); err != nil {
			return err
		}
	}
	return tx.Delete(rowKey)
}

// dropEntry deletes the old row's entry. A unique entry is locked first. While
// the index is being built it may be missing or, for a duplicate that the build
// will report, belong to another row: then it stays.
func (w *Writer) dropEntry(tx *txn.Txn, x *indexInfo, key, rowKey []byte, unique bool) error {
	if !unique {
		return tx.Delete(key)
	}
	found, err := tx.LockDelete(key, &w.catch)
	if err != nil || !found {
		return err
	}
	pk, _, err := splitEntry(w.catch.value)
	if err != nil {
		return err
	}
	if string(pk) != string(rowKey[len(w.in.rowPrefix):]) {
		if x.desc.State == catalog.StatePublic {
			return fmt.Errorf("table: %w: unique entry of another row in index %s", kvapi.ErrCorrupt, x.desc.Name)
		}
		return nil
	}
	return tx.Delete(key)
}

// readNeeded decodes the key and index columns of a row into row.
func (w *Writer) readNeeded(key, value []byte, row []types.Value) error {
	w.reader.Reset(w.in.neededShape)
	if err := w.reader.Decode(key, value); err != nil {
		return err
	}
	for i, col := range w.in.needed {
		row[col] = w.reader.Value(i)
	}
	return nil
}
