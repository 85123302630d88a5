package exec

import (
	"encoding/binary"

	"github.com/pandodb/pando/types"
)

// The row codec turns values into bytes that this process alone reads back, within
// one statement: rows waiting in memory for a sort, a join or a loop, and the same
// rows in spill files. Per value: kind, and unless NULL, scale, N as a zigzag varint
// and the bytes with their length plus one (0 for none).

// appendValue appends v.
func appendValue(dst []byte, v *types.Value) []byte {
	dst = append(dst, byte(v.K))
	if v.K == types.KindNull {
		return dst
	}
	if v.K == types.KindString {
		dst = binary.AppendUvarint(dst, uint64(len(v.B)))
		return append(dst, v.B...)
	}
	dst = append(dst, v.Scale)
	dst = binary.AppendVarint(dst, v.N)
	if v.B == nil {
		return append(dst, 0)
	}
	dst = binary.AppendUvarint(dst, uint64(len(v.B))+1)
	return append(dst, v.B...)
}

// decodeValue reads what appendValue wrote; the value's bytes alias b. coll is the
// collation of the column, which the bytes do not repeat.
func decodeValue(b []byte, coll types.CollationID) (v types.Value, rest []byte) {
	v.K = types.Kind(b[0])
	b = b[1:]
	switch v.K {
	case types.KindNull:
		return v, b
	case types.KindString:
		size, n := binary.Uvarint(b)
		b = b[n:]
		return types.String(b[:size:size], coll), b[size:]
	}
	v.Scale = b[0]
	var n int
	v.N, n = binary.Varint(b[1:])
	b = b[1+n:]
	size, n := binary.Uvarint(b)
	b = b[n:]
	if size > 0 {
		v.B = b[: size-1 : size-1]
		b = b[size-1:]
	}
	if v.IsString() {
		v.Coll = coll
	}
	return v, b
}

// appendBatchRow appends physical row i of b.
func appendBatchRow(dst []byte, b *types.Batch, i int) []byte {
	for c := range b.Cols {
		v := b.Cols[c].Value(i)
		dst = appendValue(dst, &v)
	}
	return dst
}

// appendRow appends the values of row.
func appendRow(dst []byte, row []types.Value) []byte {
	for i := range row {
		dst = appendValue(dst, &row[i])
	}
	return dst
}

// decodeInto appends the row in b to the batch.
func decodeInto(out *types.Batch, b []byte) {
	for c := range out.Cols {
		var v types.Value
		v, b = decodeValue(b, out.Cols[c].Type.Coll)
		out.Cols[c].Append(&v)
	}
	out.Len++
}

// decodeRow fills row, whose columns are of the types ts, and returns the bytes after it.
func decodeRow(row []types.Value, ts []types.Type, b []byte) []byte {
	for c := range ts {
		row[c], b = decodeValue(b, ts[c].Coll)
	}
	return b
}
