package exec

import (
	"encoding/binary"
	"io"

	"github.com/pandodb/pando/types"
)

// listTailBytes is how much of a spilled list waits in memory to be written. Like the
// buffers of spill files, it is not accounted: the least of quotas has room for files.
const listTailBytes = 64 << 10

// rowList is a list of rows that are added at its end and read any number of times, by
// several cursors at a time, also while it grows. It lives in memory until the
// statement runs short of it, then in a file, but for its last rows. A row is its
// length and the row codec; its offset is the same in memory and in the file, so a
// cursor does not notice that the list has moved.
type rowList struct {
	rt      *Runtime
	mem     account
	types   []types.Type
	arena   []byte // rows from offset flushed on
	flushed int64  // bytes in the file
	count   int    // rows in the list, wherever they are
	file    *spillFile
	row     []byte // scratch

	cursor rowCursor // of rewind and next
}

// listMark is a place between two rows.
type listMark struct {
	offset int64
	row    int
}

func (l *rowList) init(rt *Runtime, ts []types.Type) {
	l.rt, l.types = rt, ts
	l.mem = rt.account()
}

// reset empties the list.
func (l *rowList) reset() error {
	if l.file != nil || l.mem.tight() {
		l.arena = nil // memory that is short, or that was not accounted
	}
	l.file.close()
	l.file = nil
	l.arena, l.count, l.flushed = l.arena[:0], 0, 0
	return l.mem.set(int64(cap(l.arena)))
}

// end returns the place behind the last row.
func (l *rowList) end() listMark { return listMark{l.flushed + int64(len(l.arena)), l.count} }

func (l *rowList) addBatch(b *types.Batch) error {
	for i, n := 0, b.Rows(); i < n; i++ {
		if err := l.addBatchRow(b, b.Row(i)); err != nil {
			return err
		}
	}
	return l.account()
}

// addBatchRow adds physical row i of b.
func (l *rowList) addBatchRow(b *types.Batch, i int) error {
	l.row = appendBatchRow(l.row[:0], b, i)
	return l.addEncoded(l.row)
}

func (l *rowList) addRow(row []types.Value) error {
	l.row = appendRow(l.row[:0], row)
	return l.addEncoded(l.row)
}

// addEncoded adds a row that is in the row codec.
func (l *rowList) addEncoded(row []byte) error {
	if need := len(l.arena) + len(row) + binary.MaxVarintLen64; need > max(cap(l.arena), arenaLarge) && l.file == nil {
		if err := l.widen(need); err != nil {
			return err
		}
	}
	l.arena = binary.AppendUvarint(l.arena, uint64(len(row)))
	l.arena = append(l.arena, row...)
	l.count++
	if l.file != nil && len(l.arena) >= listTailBytes {
		return l.flush()
	}
	if l.count%types.MaxBatchRows == 0 || len(row) >= listTailBytes {
		return l.account()
	}
	return nil
}

// widen makes a large arena larger, or moves it to a file.
func (l *rowList) widen(need int) (err error) {
	if l.arena, err = l.mem.widen(l.arena, need); err == nil || l.rt.TempDir == "" {
		return err
	}
	return l.toFile()
}

// account books the memory and moves to a file when it is short.
func (l *rowList) account() error {
	if l.file != nil {
		return nil
	}
	err := l.mem.set(int64(cap(l.arena)))
	if err == nil && !l.mem.tight() || l.rt.TempDir == "" {
		return err
	}
	return l.toFile()
}

func (l *rowList) toFile() (err error) {
	if l.file, err = l.rt.newSpill(); err != nil {
		return err
	}
	l.rt.Work.Add(TmpDiskTables, 1)
	return l.flush()
}

// flush writes what is in memory to the file.
func (l *rowList) flush() error {
	if err := l.file.spills(len(l.arena)); err != nil {
		return err
	}
	if _, err := l.file.file.Write(l.arena); err != nil {
		return spillError(err)
	}
	l.flushed += int64(len(l.arena))
	l.arena = l.arena[:0]
	if cap(l.arena) > 2*listTailBytes {
		l.arena = nil
	}
	return l.mem.set(0)
}

// rewind starts reading at the first row.
func (l *rowList) rewind() error {
	l.cursor.start(l, listMark{}, l.end())
	return nil
}

// next returns the next batch of rows, nil at the end.
func (l *rowList) next() (*types.Batch, error) { return l.cursor.next() }

func (l *rowList) close() {
	l.cursor.close()
	l.file.close()
	l.file, l.arena = nil, nil
	l.mem.close()
}

// rowCursor reads rows of a list from one place to another, in order.
type rowCursor struct {
	list   *rowList
	offset int64  // of the next row
	left   int    // rows to read
	end    int    // the row behind the last
	window []byte // bytes of the file
	from   int64  // where the window begins
	out    *types.Batch
	mem    account // of a window beyond spillBufferBytes
}

// start sets the cursor to the rows between two places.
func (c *rowCursor) start(l *rowList, from, to listMark) {
	if c.list != l {
		c.close()
	}
	c.list, c.offset, c.left, c.end = l, from.offset, to.row-from.row, to.row
	c.window, c.from = c.window[:0], 0
	if c.mem.rt == nil {
		c.mem = l.rt.account()
	}
}

// mark returns the cursor's place.
func (c *rowCursor) mark() listMark { return listMark{c.offset, c.end - c.left} }

// encoded returns the next row in the row codec; it is valid until the cursor or the
// list is used again. There must be one.
func (c *rowCursor) encoded() ([]byte, error) {
	l := c.list
	rest := []byte(nil)
	if c.offset >= l.flushed {
		rest = l.arena[c.offset-l.flushed:]
	} else if rest = c.buffered(); !wholeRow(rest) {
		if err := c.read(); err != nil {
			return nil, err
		}
		rest = c.buffered()
	}
	size, n := binary.Uvarint(rest)
	c.offset += int64(n) + int64(size)
	c.left--
	return rest[n : n+int(size)], nil
}

// buffered returns what the window has from the cursor's place on.
func (c *rowCursor) buffered() []byte {
	if at := c.offset - c.from; at >= 0 && at < int64(len(c.window)) {
		return c.window[at:]
	}
	return nil
}

// wholeRow reports whether b begins with all of a row.
func wholeRow(b []byte) bool {
	size, n := binary.Uvarint(b)
	return n > 0 && uint64(len(b)-n) >= size
}

// read fills the window from the cursor's place on, with one whole row at least.
func (c *rowCursor) read() error {
	for size := spillBufferBytes; ; size = c.missing() {
		have := int(min(int64(size), c.list.flushed-c.offset))
		if cap(c.window) < have {
			c.window = nil
			if err := c.mem.set(int64(max(have-spillBufferBytes, 0))); err != nil {
				return err
			}
			c.window = make([]byte, have)
		}
		c.window, c.from = c.window[:have], c.offset
		if n, err := c.list.file.file.ReadAt(c.window, c.offset); n < have {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return spillError(err)
		}
		if wholeRow(c.window) {
			return nil
		}
		if c.missing() <= have {
			panic("exec: a spilled row is cut off")
		}
	}
}

// missing returns how long the row is that the window begins with.
func (c *rowCursor) missing() int {
	size, n := binary.Uvarint(c.window)
	return n + int(size)
}

// nextRow reads a row into values that borrow from the cursor; ok=false at the end.
func (c *rowCursor) nextRow(row []types.Value) (ok bool, err error) {
	if c.left == 0 {
		return false, nil
	}
	b, err := c.encoded()
	if err != nil {
		return false, err
	}
	decodeRow(row, c.list.types, b)
	return true, nil
}

// skip passes over n rows, or all if there are fewer.
func (c *rowCursor) skip(n uint64) error {
	for ; n > 0 && c.left > 0; n-- {
		if _, err := c.encoded(); err != nil {
			return err
		}
		if n%types.MaxBatchRows == 0 {
			if err := c.list.rt.poll(); err != nil {
				return err
			}
		}
	}
	return nil
}

// next returns the next batch of rows, nil at the end.
func (c *rowCursor) next() (*types.Batch, error) {
	if c.left == 0 {
		return nil, nil
	}
	if err := c.list.rt.poll(); err != nil {
		return nil, err
	}
	if c.out == nil {
		c.out = c.list.rt.getBatch(c.list.types)
	}
	c.out.Reset()
	for c.left > 0 && !c.out.Full() {
		b, err := c.encoded()
		if err != nil {
			return nil, err
		}
		decodeInto(c.out, b)
	}
	return c.out, nil
}

func (c *rowCursor) close() {
	if c.list != nil {
		c.list.rt.putBatch(c.out)
	}
	c.list, c.out, c.window = nil, nil, nil
	c.mem.close()
}
