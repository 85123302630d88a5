package table

// newEntriesBytes is the size of the index entries that Insert has prepared.
func (w *Writer) newEntriesBytes() (n int) {
	for i := range w.in.secondary {
		if e := &w.entries[i]; e.put {
			n += len(e.newKey) + len(e.value)
		}
	}
	return n
}

// oldEntryBytes is the size of the entry of the row in w.old, whose key is known.
func (w *Writer) oldEntryBytes(x *indexInfo, e *entryChange, rowKey []byte, unique bool) int {
	w.patch.entry = w.appendEntryValue(w.patch.entry[:0], x, w.old, rowKey, unique)
	return len(e.oldKey) + len(w.patch.entry)
}

// growEntries counts the change of the size of a temporary table's entries by an update that prepareUpdate has prepared. An entry that is written
// under the key that it has replaces the old one: its value holds the texts as they are, which a collation may hold for equal.
func (w *Writer) growEntries(oldRow []byte) error {
	n := 0
	for i := range w.in.secondary {
		e := &w.entries[i]
		if e.del || e.put {
			n -= w.oldEntryBytes(&w.in.secondary[i], e, oldRow, e.unique)
		}
		if e.put {
			n += len(e.newKey) + len(e.value)
		}
	}
	return w.in.table.Grow(n)
}
