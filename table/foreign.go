package table

import (
	"bytes"
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

const (
	// matchPageRows and matchPageBytes bound the matching rows that are looked up at a time.
	matchPageRows  = 256
	matchPageBytes = 256 << 10
)

// ForeignKeyText is the description of a foreign key of child in the errors 1451 and 1452.
func ForeignKeyText(child *catalog.Table, key *catalog.ForeignKey) string {
	return catalog.QuoteIdent(child.Schema) + "." + catalog.QuoteIdent(child.Name) + ", " + catalog.ForeignKeyText(child, key)
}

// Match describes how to find the rows that a foreign key connects with a row of another table: the parent of a child, by an index over the
// columns referred to, or the children of a parent, by an index that begins with the foreign key's columns. It is immutable.
type Match struct {
	to     *catalog.Table
	index  *catalog.Index
	from   []*types.Type // of the values to match
	cols   []int         // of to, in the order of the index
	shape  *Shape        // of cols in the rows of to
	unique bool          // index has at most one entry for the values, which writers of its row lock
}

// NewMatch returns the Match by which the values of from's columns cols are looked up in the first columns of an index of to.
func NewMatch(from *catalog.Table, cols []int, to *catalog.Table, index *catalog.Index) *Match {
	m := &Match{to: to, index: index, unique: index.Keys(len(cols))}
	for i, col := range cols {
		m.from = append(m.from, &from.Columns[col].Type)
		m.cols = append(m.cols, index.Columns[i].Col)
	}
	m.shape = NewShape(to, nil, m.cols)
	return m
}

// Index returns the index by which m finds rows.
func (m *Match) Index() *catalog.Index { return m.index }

// AppendKey appends the key that all entries of the index with these values begin with. ok is false if no row can hold them, because one
// of them is NULL or does not fit into its column.
func (m *Match) AppendKey(dst []byte, vals []types.Value) (key []byte, ok bool) {
	prefix, parts := partsFor(m.to, m.index)
	dst = append(dst, prefix...)
	for i := range m.from {
		v := vals[i]
		if v.IsNull() {
			return dst, false
		}
		if v, ok = fitted(v, m.from[i], parts[i].typ); !ok {
			return dst, false
		}
		dst = types.AppendKey(dst, v, parts[i].typ, parts[i].desc, 0)
	}
	return dst, true
}

// fitted converts v, of a column of type from, to type to; false if no value of type to is equal to it.
func fitted(v types.Value, from, to *types.Type) (types.Value, bool) {
	text := from.IsText() && from.Coll != to.Coll
	if !text && (from.Scale == to.Scale || !from.IsTemporal() && from.ID != types.TypeDecimal) {
		return v, true
	}
	strict := types.Context{Strict: true}
	out, err := types.Convert(&strict, v, *to, "", 1)
	return out, err == nil && (text || types.Compare(v, out, types.Binary) == 0)
}

// Finder finds and locks the rows of a Match in a transaction. One goroutine at a time.
type Finder struct {
	reader Reader
	vals   []types.Value
	prefix []byte
	key    []byte
	row    catcher
	page   keyPage
	// Room is called before a long row is copied, with its size, and may return an error. The memory is needed as long as the Finder. May be nil.
	Room func(bytes int) error
}

// LockOne locks one row that m finds for vals in shared mode, so that it is not removed before the transaction ends. found is false if there
// is none.
func (f *Finder) LockOne(tx *txn.Txn, m *Match, vals []types.Value) (found bool, err error) {
	var ok bool
	if f.prefix, ok = m.AppendKey(f.prefix[:0], vals); !ok {
		return false, nil
	}
	if m.unique {
		// A transaction that removes the row or changes its key locks this key exclusively.
		return tx.LockKept(f.prefix, kvapi.LockShared, nil)
	}
	err = f.each(tx, m, kvapi.LockShared, func(_, _ []byte) (bool, error) {
		found = true
		return false, nil
	})
	return found, err
}

// LockKeys locks the entries of a row, whose lock the caller holds, in all unique indexes with one of cols, so that LockOne of other transactions
// waits, whichever of these indexes it uses.
func (w *Writer) LockKeys(tx *txn.Txn, row []types.Value, cols []int) error {
	copy(w.old, row)
	w.rowKey = w.appendRowKey(w.rowKey[:0], w.old)
	for i := range w.in.secondary {
		x, e := &w.in.secondary[i], &w.entries[i]
		if !x.desc.Unique || !slices.ContainsFunc(x.parts, func(p keyPart) bool { return slices.Contains(cols, p.col) }) {
			continue
		}
		var unique bool
		if e.oldKey, unique = w.appendEntryKey(e.oldKey[:0], x, w.old, w.rowKey); !unique {
			continue
		}
		if _, err := tx.LockKept(e.oldKey, kvapi.LockExclusive, nil); err != nil {
			return err
		}
	}
	return nil
}

// Each locks every row that m finds for vals and calls do with its key and value, which are borrowed. It finds all such rows provided that the
// caller holds a lock without which nobody stores further ones (F1).
func (f *Finder) Each(tx *txn.Txn, m *Match, vals []types.Value, mode kvapi.LockMode, do func(key, value []byte) (more bool, err error)) error {
	var ok bool
	if f.prefix, ok = m.AppendKey(f.prefix[:0], vals); !ok {
		return nil
	}
	return f.each(tx, m, mode, do)
}

func (f *Finder) each(tx *txn.Txn, m *Match, mode kvapi.LockMode, do func(key, value []byte) (more bool, err error)) error {
	f.reader.Reset(m.shape)
	f.row.room = f.Room
	f.vals = append(f.vals[:0], make([]types.Value, len(m.cols))...)
	prefix := bytes.Clone(f.prefix)
	for span := (kvapi.Span{Start: prefix, End: keys.PrefixEnd(nil, prefix)}); span.Start != nil; {
		f.page.reset(m)
		resume, err := tx.ScanNewest(&txn.ScanRequest{Span: span, LimitRows: matchPageRows, LimitBytes: matchPageBytes, Sink: &f.page})
		if err != nil {
			return err
		}
		start := 0
		for _, end := range f.page.ends {
			key := f.page.keys[start:end:end]
			start = end
			more, err := f.visit(tx, m, prefix, key, mode, do)
			if err != nil || !more {
				return err
			}
		}
		span.Start = bytes.Clone(resume)
	}
	return nil
}

// visit locks one row and calls do with it if it still matches.
func (f *Finder) visit(tx *txn.Txn, m *Match, prefix, key []byte, mode kvapi.LockMode, do func(key, value []byte) (bool, error)) (more bool, err error) {
	found, err := tx.LockKept(key, mode, &f.row)
	if err != nil || !found {
		return true, err
	}
	if err := f.reader.Decode(key, f.row.value); err != nil {
		return false, err
	}
	f.reader.Values(f.vals)
	head, parts := partsFor(m.to, m.index)
	f.key = append(f.key[:0], head...)
	for i := range m.cols {
		f.key = types.AppendKey(f.key, f.vals[i], parts[i].typ, parts[i].desc, 0)
	}
	if !bytes.Equal(f.key, prefix) {
		return true, nil
	}
	return do(key, f.row.value)
}

// keyPage collects the keys of the rows that entries point to.
type keyPage struct {
	m    *Match
	in   *info
	x    *indexInfo // nil for the primary key: the scanned pairs are the rows
	keys []byte
	ends []int
}

func (p *keyPage) reset(m *Match) {
	p.m, p.in, p.x = m, infoOf(m.to), nil
	if !m.index.Primary {
		p.x = p.in.index(m.index)
	}
	p.keys, p.ends = p.keys[:0], p.ends[:0]
}

// Pair implements kvapi.Sink.
func (p *keyPage) Pair(key, value []byte) (more bool, err error) {
	if p.x == nil {
		p.keys = append(p.keys, key...)
	} else if p.keys, err = p.x.appendRowKey(p.keys, p.in, key, value); err != nil {
		return false, err
	}
	p.ends = append(p.ends, len(p.keys))
	return true, nil
}

// Exists reports whether an entry that begins with key exists at the watermark.
func (m *Match) Exists(txns *txn.Manager, key []byte, intr *kvapi.Interrupt) (bool, error) {
	if m.unique {
		return txns.Get(key, intr, nil)
	}
	var one anyRow
	for span := (kvapi.Span{Start: key, End: keys.PrefixEnd(nil, key)}); span.Start != nil && !one.found; {
		resume, err := txns.Scan(&txn.ScanRequest{Span: span, LimitRows: 1, Sink: &one, Interrupt: intr})
		if err != nil {
			return false, err
		}
		span.Start = bytes.Clone(resume)
	}
	return one.found, nil
}
