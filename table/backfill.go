package table

import (
	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/types"
)

// EntryBuilder computes the entries of one index from rows: for the index
// backfill and the consistency check. One goroutine at a time.
type EntryBuilder struct {
	w      Writer
	x      *indexInfo
	reader Reader
	cols   []int
}

// NewEntryBuilder returns a builder of the entries of ix, in whatever state it is.
func NewEntryBuilder(t *catalog.Table, ix *catalog.Index) *EntryBuilder {
	in := infoOf(t)
	b := &EntryBuilder{w: Writer{in: in}, x: in.index(ix)}
	seen := map[int]bool{}
	for _, list := range [][]keyPart{b.x.parts, b.x.originals} {
		for _, p := range list {
			if p.added == nil && !seen[p.col] {
				seen[p.col] = true
				b.cols = append(b.cols, p.col)
			}
		}
	}
	b.w.new = make([]types.Value, len(t.Columns)+1)
	b.reader.Reset(newRowShape(in, b.cols))
	return b
}

// Append appends the key and the value of the row's entry to dst. unique is set
// when the entry's key must not exist for any other row.
func (b *EntryBuilder) Append(dst, rowKey, row []byte) (out []byte, keyLen int, unique bool, err error) {
	if err := b.reader.Decode(rowKey, row); err != nil {
		return dst, 0, false, err
	}
	for i, col := range b.cols {
		b.w.new[col] = b.reader.Value(i)
	}
	start := len(dst)
	dst, unique = b.w.appendEntryKey(dst, b.x, b.w.new, rowKey)
	keyLen = len(dst) - start
	dst = b.w.appendEntryValue(dst, b.x, b.w.new, rowKey, unique)
	return dst, keyLen, unique, nil
}

// Common is how many leading bytes the keys of all entries of the index have in common.
func (b *EntryBuilder) Common() int { return len(b.x.prefix) }

// Head returns the first bytes of an entry's key after the prefix of all entries of the index, filled up with zeros. Where two heads differ,
// their keys are in the same order.
func (b *EntryBuilder) Head(key []byte) uint64 {
	return keys.Head(key[len(b.x.prefix):])
}

// Duplicate returns the 1062 of the row that was appended last.
func (b *EntryBuilder) Duplicate() error {
	return duplicateError(b.w.in.table, b.x.desc, b.x.parts, b.w.new)
}

// SameRow reports whether an entry value of a unique index points to rowKey.
func (b *EntryBuilder) SameRow(value, rowKey []byte) (bool, error) {
	pk, _, err := splitEntry(value)
	return err == nil && string(pk) == string(rowKey[len(b.w.in.rowPrefix):]), err
}
