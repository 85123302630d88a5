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

// growEntries counts the change of the size of a temporary table's entries by an update that prepareUpdate has prepared. An entry that keeps
// its key is counted with its old size.
func (w *Writer) growEntries(oldRow []byte) error {
	n := 0
	for i := range w.in.secondary {
		e := &w.entries[i]
		if e.del {
			n -= w.oldEntryBytes(&w.in.secondary[i], e, oldRow, e.unique)
		}
		if e.put && e.del {
			n += len(e.newKey) + len(e.value)
		}
	}
	return w.in.table.Grow(n)
}
