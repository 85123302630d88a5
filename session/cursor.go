package session

import (
	"encoding/binary"

	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

// rowHeaderBytes is the place of the packet header before each row (types.RowEncoder); a cursor keeps the row's length there.
const rowHeaderBytes = 4

// cursorChunkBytes is about the size of the pieces in which rows are kept.
const cursorChunkBytes = 256 << 10

// RowFetcher takes the rows of a cursor. wire implements it.
type RowFetcher interface {
	Response
	// FetchRows returns the encoder that takes the rows, like Columns, but nothing is said of columns.
	FetchRows() (*types.RowEncoder, error)
}

// openCursor is the result of a statement that was executed to be fetched in parts. All of its rows are in memory, in the form in which
// they are sent, and count as the session's (Session.cursorMemory) until they have been fetched: as in MySQL it shows what there was when
// it was opened, whatever becomes of the transaction.
type openCursor struct {
	chunks [][]byte // rows, each with its length before it; from the next one on
	bytes  int64    // that were counted
}

// cursorSink gathers the result set of a statement for a cursor. It answers with the columns and no rows; what is no result set it passes on.
type cursorSink struct {
	s       *Session
	out     Response
	columns []sqlapi.ColumnInfo
	enc     types.RowEncoder
	row     int // where the next row begins in enc.Buf
	counted int // bytes of that row which are counted already
	cursor  *openCursor
}

// Columns implements sqlapi.Sink.
func (c *cursorSink) Columns(columns []sqlapi.ColumnInfo) (*types.RowEncoder, error) {
	c.columns, c.cursor = columns, &openCursor{}
	c.enc.Binary = true
	c.enc.Loc, c.enc.Results = c.s.ResultEncoding()
	c.enc.Room, c.enc.Poll = c.room, c.s.poll
	return &c.enc, nil
}

// room accounts for the row being encoded, which so far ends at n in enc.Buf.
func (c *cursorSink) room(n int) error {
	more := n - c.row - c.counted
	c.counted += more
	c.cursor.bytes += int64(more)
	return c.s.cursorMemory.Grow(int64(more))
}

// RowDone implements sqlapi.Sink.
func (c *cursorSink) RowDone() error {
	row := c.enc.Buf[c.row:]
	binary.LittleEndian.PutUint32(row, uint32(len(row)-rowHeaderBytes))
	if err := c.room(len(c.enc.Buf)); err != nil {
		return err
	}
	if err := c.enc.Full(); err != nil {
		return err
	}
	c.counted = 0
	if c.row = len(c.enc.Buf); c.row >= cursorChunkBytes {
		c.endChunk()
	}
	return nil
}

// endChunk keeps the rows that are in the encoder's buffer.
func (c *cursorSink) endChunk() {
	c.cursor.chunks = append(c.cursor.chunks, c.enc.Buf)
	c.enc.Buf, c.row = nil, 0
}

// Done implements Response.
func (c *cursorSink) Done(r sqlapi.Result, more bool) error {
	if c.cursor == nil {
		return c.out.Done(r, more)
	}
	if c.row > 0 {
		c.endChunk()
	}
	if _, err := c.out.Columns(c.columns); err != nil {
		return err
	}
	r.Status |= sqlapi.StatusCursorExists
	return c.out.Done(r, more)
}

// ExecuteCursor is Execute for a client that fetches the rows afterwards, if there is a result set.
func (s *Session) ExecuteCursor(id uint32, args []types.Value, out Response) error {
	if len(s.cursors) == 0 {
		s.cursorMemory.Reset(s.memQuota)
	}
	sink := &cursorSink{s: s, out: out}
	err := s.Execute(id, args, sink)
	switch {
	case sink.cursor == nil:
	case err != nil:
		s.releaseCursor(sink.cursor)
	default:
		if s.cursors == nil {
			s.cursors = map[uint32]*openCursor{}
		}
		s.cursors[id] = sink.cursor
	}
	return err
}

// Fetch sends the next rows of a statement's cursor, and closes it when there are fewer than were asked for.
func (s *Session) Fetch(id, rows uint32, out RowFetcher) error {
	s.counts.add(commandStmtFetch)
	s.startStatement()
	c := s.cursors[id]
	if c == nil {
		return s.fail(types.Errorf(types.ErStmtHasNoOpenCursor, id))
	}
	enc, err := out.FetchRows()
	if err != nil {
		return err
	}
	sent := uint32(0)
	for ; sent < rows && len(c.chunks) > 0; sent++ {
		chunk := c.chunks[0]
		row := chunk[:rowHeaderBytes+int(binary.LittleEndian.Uint32(chunk))]
		enc.Row(row)
		if err := out.RowDone(); err != nil {
			return s.fail(err)
		}
		if c.chunks[0] = chunk[len(row):]; len(c.chunks[0]) == 0 {
			c.chunks[0] = nil
			c.chunks = c.chunks[1:]
			if err := s.poll(); err != nil {
				return s.fail(err)
			}
		}
	}
	s.rowCount = -1
	result := sqlapi.Result{AffectedRows: uint64(sent), HasRows: true, Status: s.status()}
	if sent < rows {
		result.Status |= sqlapi.StatusLastRowSent
		s.closeCursor(id)
	} else {
		result.Status |= sqlapi.StatusCursorExists
	}
	return out.Done(result, false)
}

// closeCursor closes a statement's cursor, if there is one.
func (s *Session) closeCursor(id uint32) {
	if c := s.cursors[id]; c != nil {
		delete(s.cursors, id)
		s.releaseCursor(c)
	}
}

// closeCursors closes all cursors of the session.
func (s *Session) closeCursors() {
	s.cursors = nil
	s.cursorMemory.Reset(0)
}

// releaseCursor releases the memory of a cursor that is closed.
func (s *Session) releaseCursor(c *openCursor) {
	_ = s.cursorMemory.Grow(-c.bytes) // it fails only where it grows
	s.cursorMemory.Trim()
}
