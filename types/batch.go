package types

// Batch is up to MaxBatchRows rows of typed columns. Sel, when not nil, lists
// the live rows in order; the others stay in the columns but do not count. A
// Batch has one user at a time.
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

// Init empties b and gives it columns; memory is kept.
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

// Reset drops the rows and keeps the memory.
func (b *Batch) Reset() {
	for i := range b.Cols {
		b.Cols[i].Reset()
	}
	b.Len, b.Sel = 0, nil
}

// SetRoom gives all columns a Room; nil gives back what they have been given.
func (b *Batch) SetRoom(room Room) {
	for i := range b.Cols {
		b.Cols[i].SetRoom(room)
	}
}

// Rows returns the number of live rows.
func (b *Batch) Rows() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return b.Len
}

// Row returns the physical row of live row i.
func (b *Batch) Row(i int) int {
	if b.Sel != nil {
		return int(b.Sel[i])
	}
	return i
}

// BatchBytesMax is after how many bytes of text a Batch counts as full.
const BatchBytesMax = 1 << 20

// Full reports whether b shall take no further row: it has MaxBatchRows, or what
// it has is long. A thousand rows of the longest texts would be 64 GB.
func (b *Batch) Full() bool {
	if b.Len >= MaxBatchRows {
		return true
	}
	return b.TextBytes() >= BatchBytesMax
}

// TextBytes returns how long the texts of all columns are.
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

// ReadRow stores physical row i into row; bytes are borrowed.
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

// Filter keeps the live rows for which keep holds.
func (b *Batch) Filter(keep func(row int) bool) {
	out := b.SelBuf()
	for i, n := 0, b.Rows(); i < n; i++ {
		// out never overtakes the row being read: both are in order.
		if r := b.Row(i); keep(r) {
			out = append(out, uint16(r))
		}
	}
	b.Sel = out
}

// SelBuf returns b's own memory for a selection, empty. It may back Sel.
func (b *Batch) SelBuf() []uint16 {
	if b.sel == nil {
		b.sel = make([]uint16, 0, MaxBatchRows)
	}
	return b.sel[:0]
}

// MemSize returns the bytes that b holds.
func (b *Batch) MemSize() int {
	n := 2 * cap(b.sel)
	for i := range b.Cols {
		n += b.Cols[i].MemSize()
	}
	return n
}
