package table

import (
	"encoding/binary"
	"fmt"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/fsst"
	"github.com/pandodb/pando/kvapi"
)

// The first byte of a row or an index value; doc.go has the byte tables.
const (
	formatMask = 0x0f
	formatV1   = 0x01
	// formatPacked is a row with packed columns, a format of its own so that
	// versions from before it refuse such rows.
	formatPacked = 0x02
	// formatTyped and formatTypedPacked are the same with JSON documents that may
	// have marks in them: what versions from before those would show to clients.
	formatTyped       = 0x03
	formatTypedPacked = 0x04

	rowHasNulls   = 0x10
	rowWidthShift = 5
	rowWidthMask  = 0x60 // offsets of 1, 2 or 4 bytes: 0, 1, 2

	entryHasPK        = 0x10
	entryHasOriginals = 0x20
)

const (
	// minPackLen is the shortest string that is packed, and minPackGain what
	// packing must save: the dictionary's number and the bitmap cost two bytes of
	// a row with up to eight columns, and unpacking some time.
	minPackLen  = 12
	minPackGain = 4
	// maxPackBytes bounds the unpacked length of the packed strings of one row, and
	// so how far a row in memory exceeds the size that the limits of the layers below
	// count. Long strings compress well in the store's blocks anyway.
	maxPackBytes = 256 << 10
)

// rowView is a parsed row header. It borrows the value.
type rowView struct {
	dictionary uint32 // that packed columns need
	packed     []byte // nil when no column is packed
	nulls      []byte // nil when the row has none
	ends       []byte // end offsets into data, width bytes each
	data       []byte
	width      int
	typed      bool // its documents may have marks
}

// errRow reports a row that does not decode.
func errRow(what string) error { return fmt.Errorf("table: %w: row: %s", kvapi.ErrCorrupt, what) }

// readLayout returns the layout version of a row value and what follows it.
func readLayout(value []byte) (version uint32, rest []byte, err error) {
	if len(value) < 2 || value[0]&formatMask-formatV1 > formatTypedPacked-formatV1 {
		return 0, nil, errRow("unknown format")
	}
	if value[1] < 0x80 {
		return uint32(value[1]), value[2:], nil
	}
	v, n := binary.Uvarint(value[1:])
	if n <= 0 || v > 1<<32-1 {
		return 0, nil, errRow("bad layout version")
	}
	return uint32(v), value[1+n:], nil
}

// parse splits a row value of a layout with n columns; rest is what readLayout
// returned. It checks that every column lies inside the value.
func (r *rowView) parse(value, rest []byte, n int) error {
	flags := value[0]
	size := (n + 7) / 8
	r.packed = nil
	r.typed = flags&formatMask >= formatTyped
	if flags&formatMask == formatPacked || flags&formatMask == formatTypedPacked {
		number, used := binary.Uvarint(rest)
		if used <= 0 || number > 1<<32-1 || len(rest) < used+size {
			return errRow("short packing bitmap")
		}
		r.dictionary, r.packed, rest = uint32(number), rest[used:used+size], rest[used+size:]
	}
	r.nulls = nil
	if flags&rowHasNulls != 0 {
		if len(rest) < size {
			return errRow("short null bitmap")
		}
		r.nulls, rest = rest[:size], rest[size:]
	}
	r.width = 1 << (flags & rowWidthMask >> rowWidthShift)
	if r.width > 4 || len(rest) < n*r.width {
		return errRow("short offsets")
	}
	r.ends, r.data = rest[:n*r.width], rest[n*r.width:]
	if n > 0 && r.end(n-1) != len(r.data) {
		return errRow("length differs from last offset")
	}
	return nil
}

func (r *rowView) end(i int) int {
	switch r.width {
	case 1:
		return int(r.ends[i])
	case 2:
		return int(binary.LittleEndian.Uint16(r.ends[2*i:]))
	}
	return int(binary.LittleEndian.Uint32(r.ends[4*i:]))
}

// isPacked reports whether what column returns of the i-th column is packed.
func (r *rowView) isPacked(i int) bool {
	return r.packed != nil && r.packed[i>>3]>>(i&7)&1 != 0
}

// unpack appends the stored form of a packed column.
func (r *rowView) unpack(dst, packed []byte, all *catalog.Dictionaries) ([]byte, error) {
	d := all.At(r.dictionary)
	if d == nil {
		return dst, errRow("no such dictionary")
	}
	dst, err := d.Unpack(dst, packed)
	if err != nil {
		return dst, errRow("packed column")
	}
	return dst, nil
}

// column returns the bytes of the i-th column of the layout.
func (r *rowView) column(i int) (b []byte, null bool, err error) {
	if r.nulls != nil && r.nulls[i>>3]>>(i&7)&1 != 0 {
		return nil, true, nil
	}
	start := 0
	if i > 0 {
		start = r.end(i - 1)
	}
	end := r.end(i)
	if start > end || end > len(r.data) {
		return nil, false, errRow("offsets out of order")
	}
	return r.data[start:end:end], false, nil
}

// rowBuilder assembles a row value. It is reused from row to row.
type rowBuilder struct {
	dictionary *fsst.Table // nil: nothing is packed
	number     uint32
	room       int // bytes of strings that may still be packed
	strings    int // bytes of strings that were or could have been packed

	data          []byte
	ends          []uint32
	nulls, packed []byte
	anyNull       bool
	anyPacked     bool
	typed         bool // there is a document with marks
	out           []byte
}

// reset begins a row whose strings are packed by a dictionary, if there is one.
func (b *rowBuilder) reset(dictionary *fsst.Table, number uint32) {
	b.dictionary, b.number, b.room, b.strings = dictionary, number, maxPackBytes, 0
	b.data, b.ends, b.nulls, b.packed = b.data[:0], b.ends[:0], b.nulls[:0], b.packed[:0]
	b.anyNull, b.anyPacked, b.typed = false, false, false
}

// null adds a NULL column.
func (b *rowBuilder) null() {
	b.done(true, false)
}

// stored adds a column by its stored form, packed if that gains enough.
func (b *rowBuilder) stored(stored []byte, packable bool) {
	if packable && len(stored) >= minPackLen && len(stored) <= b.room {
		b.strings += len(stored)
		if b.dictionary != nil {
			var ok bool
			if b.data, ok = b.dictionary.Pack(b.data, stored, minPackGain); ok {
				b.room -= len(stored)
				b.done(false, true)
				return
			}
		}
	}
	b.copied(stored, false)
}

// copied adds a column as it is in a row packed by the same dictionary.
func (b *rowBuilder) copied(bytes []byte, packed bool) {
	b.data = append(b.data, bytes...)
	b.done(false, packed)
}

// done ends a column whose bytes were appended to b.data.
func (b *rowBuilder) done(null, packed bool) {
	i := len(b.ends)
	if i&7 == 0 {
		b.nulls, b.packed = append(b.nulls, 0), append(b.packed, 0)
	}
	if null {
		b.nulls[i>>3] |= 1 << (i & 7)
		b.anyNull = true
	}
	if packed {
		b.packed[i>>3] |= 1 << (i & 7)
		b.anyPacked = true
	}
	b.ends = append(b.ends, uint32(len(b.data)))
}

// finish returns the row value, valid until the next reset.
func (b *rowBuilder) finish(layout uint32) []byte {
	flags := byte(formatV1)
	if b.anyPacked {
		flags = formatPacked
	}
	if b.typed {
		flags += formatTyped - formatV1
	}
	code := 0
	switch {
	case len(b.data) >= 1<<16:
		code = 2
	case len(b.data) >= 1<<8:
		code = 1
	}
	flags |= byte(code << rowWidthShift)
	if b.anyNull {
		flags |= rowHasNulls
	}
	out := append(b.out[:0], flags)
	out = binary.AppendUvarint(out, uint64(layout))
	if b.anyPacked {
		out = binary.AppendUvarint(out, uint64(b.number))
		out = append(out, b.packed...)
	}
	if b.anyNull {
		out = append(out, b.nulls...)
	}
	for _, e := range b.ends {
		switch code {
		case 0:
			out = append(out, byte(e))
		case 1:
			out = binary.LittleEndian.AppendUint16(out, uint16(e))
		default:
			out = binary.LittleEndian.AppendUint32(out, e)
		}
	}
	b.out = append(out, b.data...)
	return b.out
}
