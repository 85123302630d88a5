package exec

import (
	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/types"
)

// rowLayout is how a node's output columns come out of the stored pairs of a table or
// index. Seal computes it once per plan; executions share it.
type rowLayout struct {
	shape *table.Shape
	field []int // output column → field of shape, -1 for RowKey
	key   bool  // some column is RowKey
	types []types.Type
}

// newRowLayout describes cols of the rows of t, or of the entries of ix.
func newRowLayout(t *catalog.Table, ix *catalog.Index, cols []int) rowLayout {
	l := rowLayout{field: make([]int, len(cols)), types: columnTypes(t, cols)}
	plain := make([]int, 0, len(cols))
	for i, c := range cols {
		if c == RowKey {
			l.field[i], l.key = -1, true
			continue
		}
		l.field[i] = len(plain)
		plain = append(plain, c)
	}
	l.shape = table.NewShape(t, ix, plain)
	return l
}

// sealer is a node that prepares something once per plan.
type sealer interface{ seal() }

func (n *PointGet) seal() {
	if n.Covering {
		n.layout = newRowLayout(n.Table, n.Index, n.Cols)
		return
	}
	n.layout = newRowLayout(n.Table, nil, n.Cols)
	// If only the key is wanted the row is not read: LockRows reads it under the lock. Without columns it is COUNT(*), which counts existing rows.
	n.keysOnly = n.Index.Primary && n.Filter == nil && len(n.Cols) > 0
	for _, c := range n.Cols {
		n.keysOnly = n.keysOnly && c == RowKey
	}
}

func (n *Scan) seal() { n.layout = newRowLayout(n.Table, n.Index, n.Cols) }

func (n *IndexLookup) seal() {
	t, _ := n.table()
	n.layout = newRowLayout(t, nil, n.Cols)
}

// seal runs after the input's own.
func (n *LockRows) seal() {
	// Keys that are collected before the first change must be of existing rows: another key may have got a row before it is locked.
	if get, ok := n.Input.(*PointGet); ok && n.Collect {
		get.keysOnly = false
	}
	n.whole = newRowLayout(n.Table, nil, AllCols(n.Table))
	n.layout = newRowLayout(n.Table, nil, n.Cols)
}

// AllCols returns the ordinals of a whole row of t: all its columns and, for a table
// without primary key, the hidden row id.
func AllCols(t *catalog.Table) []int {
	cols := make([]int, 0, len(t.Columns)+1)
	for i := range t.Columns {
		cols = append(cols, i)
	}
	if id := t.RowIDOrdinal(); id >= 0 {
		cols = append(cols, id)
	}
	return cols
}

// rowSink is the sink of reads that fill a batch.
type rowSink struct {
	layout *rowLayout
	reader table.Reader
	out    *types.Batch
	key    []byte // scratch for RowKey
	bytes  int    // of the pairs taken
}

func (s *rowSink) reset(l *rowLayout, out *types.Batch) {
	s.layout, s.out = l, out
	s.reader.Reset(l.shape)
}

// Pair appends one row to the batch.
func (s *rowSink) Pair(key, value []byte) (more bool, err error) {
	s.bytes += len(key) + len(value)
	if err := s.reader.Decode(key, value); err != nil {
		return false, err
	}
	return true, s.append()
}

// append adds the pair decoded last to the batch.
func (s *rowSink) append() (err error) {
	for i, f := range s.layout.field {
		col := &s.out.Cols[i]
		if f < 0 {
			if s.key, err = s.reader.AppendRowKeyOf(s.key[:0]); err != nil {
				return err
			}
			v := types.Bytes(s.key)
			col.Append(&v)
			continue
		}
		if b, null := s.reader.Field(f); null {
			col.AppendNull()
		} else {
			col.AppendStored(b)
		}
	}
	s.out.Len++
	return nil
}

// pairCopy is a sink that keeps one pair.
type pairCopy struct {
	key, value []byte
	mem        account // of a long value
}

// pairLong is the length beyond which the value of a pairCopy is counted.
const pairLong = 64 << 10

// Pair copies the pair.
func (s *pairCopy) Pair(key, value []byte) (more bool, err error) {
	if len(value) > max(cap(s.value), pairLong) {
		if err := s.widen(len(value)); err != nil {
			return false, err
		}
	}
	s.key, s.value = append(s.key[:0], key...), append(s.value[:0], value...)
	return true, nil
}

// widen counts a long value before it allocates memory for it, and no more than that: the next one may be short.
func (s *pairCopy) widen(length int) error {
	s.value = nil
	if s.mem.rt != nil {
		if err := s.mem.set(int64(length)); err != nil {
			return err
		}
	}
	s.value = make([]byte, 0, length)
	return nil
}

// drop releases the memory of a long value, and reports whether there was one.
func (s *pairCopy) drop() (long bool) {
	s.mem.close()
	if long = cap(s.value) > pairLong; long {
		s.value = nil
	}
	return long
}
