package table

import (
	"bytes"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/fsst"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// patchScratch is the memory of Patch.
type patchScratch struct {
	entry  []byte // of oldEntryBytes
	reader Reader // the old row in full, apart from Writer.reader
	// set[ordinal] is the index into the assigned values plus one; 0: unchanged.
	set []int
	// bytes holds the stored form of the assigned values, ends their bounds.
	bytes []byte
	ends  []int
	old   []byte
}

// Patch updates a row read under the exclusive lock of its row key: the columns
// cols (ordinals, each at most once) take vals. Columns are compared in stored
// form, so 'a' to 'A' is a change in any collation. It reports whether the row
// changed; nothing is written otherwise, and only the indexes that name a
// changed column are touched. key and value are not kept.
func (w *Writer) Patch(tx *txn.Txn, key, value []byte, cols []int, vals []types.Value) (changed bool, err error) {
	in := w.in
	version, rest, err := readLayout(value)
	if err != nil {
		return false, err
	}
	keyChanged := false
	for _, col := range cols {
		keyChanged = keyChanged || in.inKey[col]
	}
	if keyChanged || version != in.table.Layout().Version {
		return w.patchSlow(tx, key, value, cols, vals)
	}
	if err := w.view.parse(value, rest, len(in.stored)); err != nil {
		return false, err
	}
	changed, err = w.comparePatch(cols, vals)
	if err != nil || !changed {
		return false, err
	}
	if touched := w.touched(); touched {
		// Old and new values of every column that an index or the key names.
		if err := w.readNeeded(key, value, w.old); err != nil {
			return false, err
		}
		copy(w.new, w.old)
		for i, col := range cols {
			w.new[col] = vals[i]
		}
		if err := w.computeVirtual(w.new, true); err != nil {
			return false, err
		}
		if w.pkTouched() {
			return w.patchSlow(tx, key, value, cols, vals)
		}
		if err := w.updateEntries(tx, key, key); err != nil {
			return false, err
		}
	}
	row, err := w.spliceRow()
	if err != nil {
		return false, err
	}
	if in.table.Temporary != nil {
		if err := in.table.Grow(len(row) - len(value)); err != nil {
			return false, err
		}
	}
	if err := tx.Put(key, row); err != nil {
		return false, err
	}
	return true, w.raisePatched(tx, cols, vals)
}

func (w *Writer) raisePatched(tx *txn.Txn, cols []int, vals []types.Value) error {
	if w.auto == nil {
		return nil
	}
	for i, col := range cols {
		if col == w.in.table.AutoInc.Ordinal {
			return w.raise(tx, &vals[i])
		}
	}
	return nil
}

// comparePatch encodes the assigned values and marks those that differ from the
// row in w.view.
func (w *Writer) comparePatch(cols []int, vals []types.Value) (changed bool, err error) {
	p, in := &w.patch, w.in
	p.bytes, p.ends = p.bytes[:0], p.ends[:0]
	if cap(p.set) < len(in.table.Columns) {
		p.set = make([]int, len(in.table.Columns))
	}
	p.set = p.set[:len(in.table.Columns)]
	clear(p.set)
	long := 0
	for i := range vals {
		long += len(vals[i].B)
	}
	if err := w.room(long + len(w.view.data)); err != nil {
		return false, err
	}
	for i, col := range cols {
		start := len(p.bytes)
		if !vals[i].IsNull() {
			p.bytes = types.AppendStored(p.bytes, vals[i], &in.table.Columns[col].Type)
		}
		p.ends = append(p.ends, len(p.bytes))
		if in.isVirtual(col) {
			continue
		}
		pos := in.storedPos[col]
		old, null, err := w.view.column(pos)
		if err != nil {
			return false, err
		}
		if !null && w.view.isPacked(pos) {
			if w.stored, err = w.view.unpack(w.stored[:0], old, in.table.Dictionaries()); err != nil {
				return false, err
			}
			old = w.stored
		}
		if null != vals[i].IsNull() || !bytes.Equal(old, p.bytes[start:]) {
			p.set[col] = i + 1
			if vals[i].IsNull() {
				p.set[col] = -1
			}
			changed = true
		}
	}
	return changed, nil
}

// touched reports whether a changed column is part of an index or of the
// primary key.
func (w *Writer) touched() bool {
	for _, col := range w.in.needed {
		if col < len(w.patch.set) && w.patch.set[col] != 0 {
			return true
		}
	}
	return false
}

// pkTouched reports whether a primary key column that is stored in the row
// changed: a string key may move the row or only change its letters' case.
func (w *Writer) pkTouched() bool {
	for i := range w.in.pk {
		if col := w.in.pk[i].col; col < len(w.patch.set) && w.patch.set[col] != 0 {
			return true
		}
	}
	return false
}

// spliceRow builds the new row value: changed columns from the patch, the
// others as they are, unless they are packed by a dictionary that is not the
// newest any more, or from a time when there was none.
func (w *Writer) spliceRow() ([]byte, error) {
	b, view := &w.build, &w.view
	dictionary, number := w.in.table.Dictionaries().Newest()
	b.reset(dictionary, number)
	if view.packed != nil {
		b.room -= fsst.MaxSize * len(view.data) // at most, for what is copied
	}
	for pos, col := range w.in.stored {
		if w.patch.set[col] < 0 {
			b.null()
			continue
		}
		if changed, ok := w.patch.assigned(col); ok {
			b.stored(changed, w.in.packable[col])
			continue
		}
		old, null, err := view.column(pos)
		if err != nil {
			return nil, err
		}
		switch packed := view.isPacked(pos); {
		case null:
			b.null()
		case view.packed == nil:
			b.stored(old, w.in.packable[col])
		case packed && view.dictionary != number:
			if w.stored, err = view.unpack(w.stored[:0], old, w.in.table.Dictionaries()); err != nil {
				return nil, err
			}
			b.stored(w.stored, true)
		default:
			b.copied(old, packed)
		}
	}
	b.typed = view.typed && len(w.in.documents) > 0
	for _, col := range w.in.documents {
		changed, _ := w.patch.assigned(col)
		b.typed = b.typed || types.JSONMarked(changed)
	}
	err := w.learn(func(col int) []byte {
		stored, ok := w.patch.assigned(col)
		if !ok && view.packed == nil && w.patch.set[col] == 0 {
			stored, _, _ = view.column(w.in.storedPos[col]) // which was read above
		}
		return stored
	})
	if err != nil {
		return nil, err
	}
	return b.finish(w.in.table.Layout().Version), nil
}

// assigned returns the stored form of the value that a column changes to; not ok
// if it does not change or becomes NULL.
func (p *patchScratch) assigned(col int) (stored []byte, ok bool) {
	s := p.set[col]
	if s <= 0 {
		return nil, false
	}
	start := 0
	if s > 1 {
		start = p.ends[s-2]
	}
	return p.bytes[start:p.ends[s-1]], true
}

// patchSlow handles rows of old layouts and changes of the primary key: it
// decodes the whole row. The patch memory keeps the old bytes alive, since
// value may be borrowed from a buffer that the writes below reuse.
func (w *Writer) patchSlow(tx *txn.Txn, key, value []byte, cols []int, vals []types.Value) (bool, error) {
	r := &w.patch.reader
	r.Reset(w.in.allShape)
	w.patch.old = append(append(w.patch.old[:0], key...), value...)
	n := len(key)
	if err := r.Decode(w.patch.old[:n:n], w.patch.old[n:]); err != nil {
		return false, err
	}
	r.Values(w.old)
	copy(w.new, w.old)
	for i, col := range cols {
		w.new[col] = vals[i]
	}
	return w.updateFull(tx)
}

// Update replaces the full row old, read under the exclusive lock of its row
// key, by new (without or with the hidden row id, which does not change). It
// reports whether anything changed.
func (w *Writer) Update(tx *txn.Txn, old, new []types.Value) (changed bool, err error) {
	copy(w.old, old)
	copy(w.new, new)
	if n := len(w.in.table.Columns); w.in.table.PK == nil {
		w.new[n] = w.old[n]
	}
	return w.updateFull(tx)
}

// updateFull writes the change from w.old to w.new.
func (w *Writer) updateFull(tx *txn.Txn) (bool, error) {
	if !w.differs() {
		return false, nil
	}
	if err := w.computeVirtual(w.old, true); err != nil {
		return false, err
	}
	if err := w.computeVirtual(w.new, false); err != nil {
		return false, err
	}
	oldKey := w.appendRowKey(w.rowKey[:0], w.old)
	split := len(oldKey)
	w.rowKey = w.appendRowKey(oldKey, w.new)
	oldKey, newKey := w.rowKey[:split:split], w.rowKey[split:]
	moved := !bytes.Equal(oldKey, newKey)
	if moved {
		if err := w.claim(tx, newKey, w.in.pkDesc, w.new); err != nil {
			return false, err
		}
	}
	if err := w.updateEntries(tx, oldKey, newKey); err != nil {
		return false, err
	}
	old := 0
	if w.in.table.Temporary != nil {
		stored, err := w.encodeRow(w.old)
		if err != nil {
			return false, err
		}
		old = len(oldKey) + len(stored)
	}
	row, err := w.encodeRow(w.new)
	if err != nil {
		return false, err
	}
	if w.in.table.Temporary != nil {
		if err := w.in.table.Grow(len(newKey) + len(row) - old); err != nil {
			return false, err
		}
	}
	if moved {
		if err := tx.Delete(oldKey); err != nil {
			return false, err
		}
		if err := tx.PutNew(newKey, row); err != nil {
			return false, err
		}
	} else if err := tx.Put(newKey, row); err != nil {
		return false, err
	}
	return true, w.raise(tx, &w.new[w.autoCol()])
}

// differs compares the stored forms of w.old and w.new.
func (w *Writer) differs() bool {
	for i, c := range w.in.table.Columns {
		if c.Virtual() {
			continue // it follows the others
		}
		a, b := &w.old[i], &w.new[i]
		if a.IsNull() || b.IsNull() {
			if a.IsNull() != b.IsNull() {
				return true
			}
			continue
		}
		w.stored = types.AppendStored(w.stored[:0], *a, &c.Type)
		n := len(w.stored)
		w.stored = types.AppendStored(w.stored, *b, &c.Type)
		if !bytes.Equal(w.stored[:n], w.stored[n:]) {
			return true
		}
	}
	return false
}

// updateEntries brings every secondary index from w.old to w.new: first all
// locks and checks, then all writes, so that a duplicate leaves nothing behind.
func (w *Writer) updateEntries(tx *txn.Txn, oldRow, newRow []byte) error {
	for i := range w.in.secondary {
		if err := w.prepareUpdate(tx, i, oldRow, newRow); err != nil {
			return err
		}
	}
	if w.Before != nil {
		if err := w.Before(); err != nil {
			return err
		}
	}
	if w.in.table.Temporary != nil {
		if err := w.growEntries(oldRow); err != nil {
			return err
		}
	}
	for i := range w.in.secondary {
		x, e := &w.in.secondary[i], &w.entries[i]
		if e.del {
			if err := w.dropEntry(tx, x, e.oldKey, oldRow, e.unique); err != nil {
				return err
			}
		}
		if e.put {
			put := tx.Put
			if e.del {
				// The entry moves, to a key that holds this row's primary key or that
				// claim found free and has locked. The row has no other live entry.
				put = tx.PutLikelyNew
			}
			if err := put(e.newKey, e.value); err != nil {
				return err
			}
		}
	}
	return nil
}

// prepareUpdate decides what happens to the i-th index. It sets e.unique for the
// old key.
func (w *Writer) prepareUpdate(tx *txn.Txn, i int, oldRow, newRow []byte) error {
	x, e := &w.in.secondary[i], &w.entries[i]
	var oldUnique, newUnique bool
	e.oldKey, oldUnique = w.appendEntryKey(e.oldKey[:0], x, w.old, oldRow)
	e.newKey, newUnique = w.appendEntryKey(e.newKey[:0], x, w.new, newRow)
	e.del, e.put, e.unique = false, false, oldUnique
	same := bytes.Equal(e.oldKey, e.newKey)
	writes := x.desc.State >= catalog.StateWriteOnly
	if same {
		// Only the originals or the primary key in the value can differ. While
		// the index is being built the entry may be missing; writing it is right.
		old := w.appendEntryValue(e.value[:0], x, w.old, oldRow, oldUnique)
		n := len(old)
		e.value = w.appendEntryValue(old, x, w.new, newRow, newUnique)
		if bytes.Equal(e.value[:n], e.value[n:]) {
			return nil
		}
		e.value = append(e.value[:0], e.value[n:]...)
		if !writes {
			// Delete-only: remove the stale entry and write none; the backfill
			// writes it after this state.
			e.del = true
			return nil
		}
		e.put = true
		if newUnique {
			return w.claimOwn(tx, x, e.newKey, oldRow)
		}
		return nil
	}
	e.del = true
	if !writes {
		return nil
	}
	e.put = true
	e.value = w.appendEntryValue(e.value[:0], x, w.new, newRow, newUnique)
	if newUnique {
		return w.claim(tx, e.newKey, x.desc, w.new)
	}
	return nil
}

// claimOwn locks a unique entry that the row keeps, and returns 1062 if another
// row has it, which can only be while the index is being built.
func (w *Writer) claimOwn(tx *txn.Txn, x *indexInfo, key, oldRow []byte) error {
	found, err := tx.LockNew(key, &w.catch)
	if err != nil || !found {
		return err
	}
	pk, _, err := splitEntry(w.catch.value)
	if err != nil {
		return err
	}
	if !bytes.Equal(pk, oldRow[len(w.in.rowPrefix):]) {
		return w.duplicate(x.desc, w.new)
	}
	return nil
}
