package types

// Batch is up to MaxBatchRows rows in typed columns. If Sel is not nil, it lists the
// selected rows in ascending order; the others stay in the columns but are not part of
// the batch. A Batch is used by one goroutine at a time.
type Batch struct {
	Cols []Vector
	Len  int // physical rows
	Sel  []uint16

	sel []uint16 // memory for Sel
}

// NewBatch returns an empty batch of columns of the types.
func NewBatch(ts []Type) *Batch {
	b := new(Batch)
	b.Init(ts)
	return b
}

// Init removes all rows and sets the types of the columns. It keeps the memory.
func (b *Batch) Init(ts []Type) {
	if cap(b.Cols) < len(ts) {
		b.Cols = append(b.Cols[:cap(b.Cols)], make([]Vector, len(ts)-cap(b.Cols))...)
	}
	b.Cols = b.Cols[:len(ts)]
	for i := range ts {
		b.Cols[i].Init(ts[i])
	}
	b.Len, b.Sel = 0, nil
}

// Reset removes all rows and keeps the memory.
func (b *Batch) Reset() {
	for i := range b.Cols {
		b.Cols[i].Reset()
	}
	b.Len, b.Sel = 0, nil
}

// SetRoom calls Vector.SetRoom of all columns.
func (b *Batch) SetRoom(room Room) {
	for i := range b.Cols {
		b.Cols[i].SetRoom(room)
	}
}

// Rows returns the number of selected rows.
func (b *Batch) Rows() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return b.Len
}

// Row returns the physical row of the selected row i.
func (b *Batch) Row(i int) int {
	if b.Sel != nil {
		return int(b.Sel[i])
	}
	return i
}

// BatchBytesMax is how many bytes of text make a Batch full.
const BatchBytesMax = 1 << 20

// Full reports whether b should take no more rows, because it has MaxBatchRows rows or
// BatchBytesMax bytes of text. A thousand rows of the longest texts would have 64 GB.
func (b *Batch) Full() bool {
	if b.Len >= MaxBatchRows {
		return true
	}
	return b.TextBytes() >= BatchBytesMax
}

// TextBytes returns the bytes of text in all columns.
func (b *Batch) TextBytes() (n int) {
	for i := range b.Cols {
		n += len(b.Cols[i].Data)
	}
	return n
}

// AppendRow appends copies of the values as a row.
func (b *Batch) AppendRow(row []Value) {
	for i := range b.Cols {
		b.Cols[i].Append(&row[i])
	}
	b.Len++
}

// EndRow counts a row whose columns the caller appended one by one.
func (b *Batch) EndRow() { b.Len++ }

// ReadRow sets row to the values of physical row i, which borrow from b.
func (b *Batch) ReadRow(i int, row []Value) {
	for c := range b.Cols {
		row[c] = b.Cols[c].Value(i)
	}
}

// AppendFrom appends physical row i of a batch of the same types.
func (b *Batch) AppendFrom(src *Batch, i int) {
	for c := range b.Cols {
		b.Cols[c].AppendFrom(&src.Cols[c], i)
	}
	b.Len++
}

// Filter removes the selected rows for which keep returns false from the selection.
func (b *Batch) Filter(keep func(row int) bool) {
	out := b.SelBuf()
	for i, n := 0, b.Rows(); i < n; i++ {
		// out may share the memory of b.Sel, but never has more rows than were read.
		if r := b.Row(i); keep(r) {
			out = append(out, uint16(r))
		}
	}
	b.Sel = out
}

// SelBuf returns an empty slice with room for a selection, which belongs to b. Sel may
// use the same memory.
func (b *Batch) SelBuf() []uint16 {
	if b.sel == nil {
		b.sel = make([]uint16, 0, MaxBatchRows)
	}
	return b.sel[:0]
}

// MemSize returns the memory of b in bytes.
func (b *Batch) MemSize() int {
	n := 2 * cap(b.sel)
	for i := range b.Cols {
		n += b.Cols[i].MemSize()
	}
	return n
}
