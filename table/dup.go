package table

import (
	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// duplicate returns 1062 for a row that would take a key of ix twice.
func (w *Writer) duplicate(ix *catalog.Index, row []types.Value) error {
	_, parts := partsFor(w.in.table, ix)
	return duplicateError(w.in.table, ix, parts, row)
}

// duplicateError returns MySQL's 1062: the key's columns joined with '-', and
// the key's name behind the table's.
func duplicateError(t *catalog.Table, ix *catalog.Index, parts []keyPart, row []types.Value) error {
	var text []byte
	for i := range parts {
		if i > 0 {
			text = append(text, '-')
		}
		text = appendKeyText(text, &parts[i], *parts[i].of(row))
	}
	return types.Errorf(types.ErDupEntry, string(text), t.Name+"."+t.NameOf(ix))
}

// appendKeyText appends a key column as MySQL shows it in 1062: cut to the
// prefix, and bytes of binary strings outside printable ASCII as \xHH.
func appendKeyText(dst []byte, p *keyPart, v types.Value) []byte {
	if v.IsNull() {
		return append(dst, "NULL"...)
	}
	if p.prefix > 0 && v.IsString() {
		v.B = v.B[:v.Coll.Charset().CharPrefix(v.B, p.prefix)]
	}
	if !v.IsBinary() && v.K != types.KindBit {
		return types.AppendText(dst, nil, &v)
	}
	const hex = "0123456789ABCDEF"
	for _, c := range types.AppendText(nil, nil, &v) {
		if c >= 0x20 && c <= 0x7e {
			dst = append(dst, c)
			continue
		}
		dst = append(dst, '\\', 'x', hex[c>>4], hex[c&15])
	}
	return dst
}

// Conflict is an existing row that has a key of a new row.
type Conflict struct {
	Index *catalog.Index // the key that both rows would have
	// Key and Value are the existing row, locked exclusively; borrowed from the
	// Writer until its next FindConflict.
	Key, Value []byte
}

// FindConflict serves REPLACE and ON DUPLICATE KEY UPDATE: it locks the keys
// that row would take, the primary key first and then the unique indexes in
// catalog order, and returns the first existing row that holds one. Without a
// conflict, Insert with InsertChecked completes the statement for this row. A
// conflict in an index that is being built is 1062: the build may fail, and then
// no row may have been replaced because of it.
func (w *Writer) FindConflict(tx *txn.Txn, row []types.Value) (c Conflict, found bool, err error) {
	in := w.in
	copy(w.new, row[:len(in.table.Columns)])
	if err := w.computeVirtual(w.new, true); err != nil {
		return c, false, err
	}
	w.patch.old, w.catch.room = w.patch.old[:0], w.Room
	if w.rows == nil {
		w.rowKey = w.appendRowKey(w.rowKey[:0], w.new)
		found, err = tx.LockNew(w.rowKey, &w.catch)
		if err != nil || found {
			return w.conflict(in.pkDesc, w.rowKey), found, err
		}
	}
	var building *catalog.Index
	for i := range in.secondary {
		x, e := &in.secondary[i], &w.entries[i]
		if !x.desc.Unique || x.desc.State < catalog.StateWriteOnly {
			continue
		}
		var unique bool
		e.newKey, unique = w.appendEntryKey(e.newKey[:0], x, w.new, w.rowKeyOrPrefix())
		if !unique {
			continue
		}
		found, err = tx.LockNew(e.newKey, &w.catch)
		if err != nil {
			return Conflict{}, false, err
		}
		switch {
		case found && x.desc.Building:
			building = x.desc // unless a later key conflicts, too
		case found:
			return w.rowOfEntry(tx, x, e.newKey)
		}
	}
	if building != nil {
		err = w.duplicate(building, w.new)
	}
	return Conflict{}, false, err
}

// rowKeyOrPrefix stands in for the row key of a row that has none yet: entries
// that need the primary key are not unique and not looked at here.
func (w *Writer) rowKeyOrPrefix() []byte {
	if w.rows == nil {
		return w.rowKey
	}
	return w.in.rowPrefix
}

// rowOfEntry locks and reads the row that the caught entry points to.
func (w *Writer) rowOfEntry(tx *txn.Txn, x *indexInfo, key []byte) (Conflict, bool, error) {
	rowKey, err := x.appendRowKey(nil, w.in, key, w.catch.value)
	if err != nil {
		return Conflict{}, false, err
	}
	found, _, err := tx.Lock(rowKey, kvapi.LockExclusive, kvapi.WaitDefault, &w.catch)
	if err != nil {
		return Conflict{}, false, err
	}
	if !found {
		// A delete locks the row before the entry, and this transaction holds the
		// entry's lock, so an entry without its row is corruption.
		return Conflict{}, false, errRow("unique entry without its row")
	}
	return w.conflict(x.desc, rowKey), true, nil
}

func (w *Writer) conflict(ix *catalog.Index, key []byte) Conflict {
	w.patch.old = append(append(w.patch.old[:0], key...), w.catch.value...)
	n := len(key)
	return Conflict{Index: ix, Key: w.patch.old[:n:n], Value: w.patch.old[n:]}
}
