package wire

import (
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

const (
	sqlStateBytes = 5
	errorTextMax  = 4 << 10 // MySQL cuts at 512; longer texts of ours are kept
)

// response writes the answers of one connection's commands. All bytes are collected in enc.Buf, which is also the buffer that
// rows are encoded into, and are sent in one write at the end of the command, or earlier when Flush finds flushBytes of them or
// RowDone flushLastBytes. It belongs to the connection's goroutine.
type response struct {
	c     *conn
	enc   types.RowEncoder
	small []byte  // the connection's own buffer while big is in use
	big   *buffer // pooled; enc.Buf began in it
	seq   byte    // of the next packet
	// head is where the answer to the current statement begins in enc.Buf; headSeq its sequence number. sent says that some
	// of that answer has been sent.
	head    int
	headSeq byte
	sent    bool
	// rowStart is where the next row's packet begins while inRows.
	rowStart int
	inRows   bool
	eofAt    int   // where the flags of the EOF after the column definitions are in enc.Buf; 0 if there is none
	done     bool  // the last statement has been answered
	stmt     *stmt // of the current EXECUTE or FETCH, else nil
	written  int   // bytes of this command's answers that have been sent
	large    bool  // the last answer did not fit a small buffer, so the next one starts with a big one
	err      error // of the socket; nothing can be written after it
}

// begin starts the answer to a command.
func (r *response) begin(s *stmt) {
	r.stmt, r.enc.Binary = s, s != nil
	r.done, r.written = false, 0
	if r.large && r.big == nil {
		r.growBig()
	}
	r.startStatement()
}

func (r *response) startStatement() {
	r.head, r.headSeq, r.sent = len(r.enc.Buf), r.seq, false
	r.inRows, r.eofAt = false, 0
}

// end gives back what an idle connection need not hold. The buffer is empty by now.
func (r *response) end() {
	r.stmt = nil
	r.large = r.written > outKeepBytes/2
	if r.big != nil {
		if cap(r.enc.Buf) == cap(r.big.b) {
			r.c.srv.pool.put(r.big)
		}
		r.enc.Buf, r.small, r.big = r.small, nil, nil
	}
	if cap(r.enc.Buf) > outKeepBytes {
		r.enc.Buf = nil
	}
	_ = r.c.held.set(heldRow, 0)
	r.enc.Buf = r.enc.Buf[:0]
}

// growBig moves the answer to a pooled buffer.
func (r *response) growBig() {
	big := r.c.srv.pool.get(outBigBytes)
	r.small = r.enc.Buf[:0]
	r.enc.Buf = append(big.b[:0], r.enc.Buf...)
	r.big = big
}

// room is RowEncoder.Room: before a large value makes enc.Buf n bytes long, that is charged to the connection. The charge stays until end.
func (r *response) room(n int) error { return r.c.held.set(heldRow, max(n, cap(r.enc.Buf))) }

// poll is RowEncoder.Poll: it stops the character set conversion of a long text when the statement has been interrupted.
func (r *response) poll() error {
	if r.c.intr == nil || r.c.intr.Reason() == kvapi.ReasonNone {
		return nil
	}
	return kvapi.ErrInterrupted
}

// Columns implements sqlapi.Sink.
func (r *response) Columns(cols []sqlapi.ColumnInfo) (*types.RowEncoder, error) {
	if _, err := r.FetchRows(); err != nil {
		return nil, err
	}
	if err := r.appendHead(cols); err != nil {
		return nil, err
	}
	if r.c.caps&capDeprecateEOF == 0 {
		r.appendEOF(r.c.sess.Status(), 0)
		r.eofAt = len(r.enc.Buf) - 2
	}
	r.rowStart = len(r.enc.Buf)
	return &r.enc, nil
}

// FetchRows implements Response.
func (r *response) FetchRows() (*types.RowEncoder, error) {
	if r.err != nil {
		return nil, r.err
	}
	if r.inRows {
		panic("wire: Columns called twice for one result set")
	}
	r.inRows = true
	r.enc.Loc, r.enc.Results = r.c.sess.ResultEncoding()
	r.rowStart = len(r.enc.Buf)
	return &r.enc, nil
}

func (r *response) appendHead(cols []sqlapi.ColumnInfo) (err error) {
	if r.stmt == nil || len(cols) == 0 {
		r.enc.Buf, r.seq, err = appendResultHead(r.enc.Buf, r.seq, cols, r.enc.Results)
		return err
	}
	block := r.stmt.block
	if block == nil || !block.matches(cols, r.enc.Results) {
		if block, err = r.c.srv.columns.get(cols, r.enc.Results); err != nil {
			return err
		}
		r.stmt.block = block
	}
	at := len(r.enc.Buf)
	r.enc.Buf = append(r.enc.Buf, block.b...)
	if r.seq != 1 {
		renumber(r.enc.Buf[at:], r.seq)
	}
	r.seq += byte(block.packets)
	return nil
}

// renumber numbers the packets of b from seq.
func renumber(b []byte, seq byte) {
	for len(b) > 0 {
		b[3] = seq
		seq++
		b = b[headerBytes+int(b[0])+int(b[1])<<8+int(b[2])<<16:]
	}
}

// RowDone implements sqlapi.Sink.
//
// It sends only when a producer that does not call Flush has let flushLastBytes accumulate: others call Flush between pages of
// storage, so that no iterator is open while a slow client is written to.
func (r *response) RowDone() error {
	end := len(r.enc.Buf)
	n := end - r.rowStart - headerBytes
	if n < 0 || !r.inRows {
		panic("wire: RowDone without a row")
	}
	if err := r.enc.Full(); err != nil {
		return err
	}
	if n >= payloadMax {
		return r.splitRow(n)
	}
	h := r.enc.Buf[r.rowStart : r.rowStart+headerBytes]
	h[0], h[1], h[2], h[3] = byte(n), byte(n>>8), byte(n>>16), r.seq
	r.seq++
	r.rowStart = end
	switch {
	case end >= flushLastBytes:
		return r.flush()
	case end > outKeepBytes/2 && r.big == nil:
		r.growBig()
	}
	return r.err
}

// Flush sends the finished rows if enough have gathered.
func (r *response) Flush() error {
	if r.err == nil && r.rowStart >= flushBytes {
		return r.flush()
	}
	return r.err
}

// splitRow sends a row of payloadMax bytes or more as several packets. The header of each but the first overwrites the last bytes
// of the packet before, which has been sent.
func (r *response) splitRow(n int) error {
	row := r.enc.Buf[r.rowStart:]
	r.enc.Buf = r.enc.Buf[:r.rowStart]
	if err := r.flush(); err != nil {
		return err
	}
	for at := 0; ; at += payloadMax {
		part := min(n-at, payloadMax)
		packet := row[at : at+headerBytes+part]
		packet[0], packet[1], packet[2], packet[3] = byte(part), byte(part>>8), byte(part>>16), r.seq
		r.seq++
		if err := r.c.write(packet); err != nil {
			r.err = err
			return err
		}
		if part < payloadMax {
			break
		}
	}
	r.enc.Buf = r.enc.Buf[:0]
	r.rowStart = 0
	return nil
}

// Done implements Response.
func (r *response) Done(res sqlapi.Result, more bool) error {
	if r.err != nil {
		return r.err
	}
	status := res.Status
	if more {
		status |= sqlapi.StatusMoreResults
	}
	switch {
	case !r.inRows:
		r.appendOK(headerOK, res.AffectedRows, res.InsertID, status, res.Warnings, res.Info, res.State)
	case res.Status&sqlapi.StatusCursorExists != 0 && r.eofAt > 0:
		// An opened cursor has no rows yet: the EOF after the columns ends the answer.
		r.enc.Buf[r.eofAt], r.enc.Buf[r.eofAt+1] = byte(status), byte(status>>8)
	default:
		r.appendEnd(status, res.Warnings, res.State)
	}
	if !more {
		r.done = true
		return nil
	}
	if len(r.enc.Buf) >= flushBytes { // a packet may hold millions of statements
		if err := r.flush(); err != nil {
			return err
		}
	}
	r.startStatement()
	return nil
}

// flush sends all of enc.Buf. Its error is kept: nothing can be sent after it.
func (r *response) flush() error {
	if r.err != nil {
		return r.err
	}
	if len(r.enc.Buf) == 0 {
		return nil
	}
	if err := r.c.write(r.enc.Buf); err != nil {
		r.err = err
		return err
	}
	r.written += len(r.enc.Buf)
	r.sent = r.sent || len(r.enc.Buf) > r.head
	r.enc.Buf = r.enc.Buf[:0]
	r.head, r.rowStart, r.eofAt = 0, 0, 0
	return nil
}

// cut drops what has not been sent of the current answer; if part of it was sent, only the unfinished row.
func (r *response) cut() {
	switch {
	case !r.sent:
		r.enc.Buf, r.seq = r.enc.Buf[:r.head], r.headSeq
	case r.inRows:
		r.enc.Buf = r.enc.Buf[:r.rowStart]
	}
	r.inRows, r.eofAt = false, 0
}

// appendOK appends an OK packet; header headerEOF makes it the end of a result set for clients of CLIENT_DEPRECATE_EOF.
func (r *response) appendOK(header byte, affected, insertID uint64, status, warnings uint16, info string, state []byte) {
	start := len(r.enc.Buf)
	b := append(r.enc.Buf, 0, 0, 0, 0, header)
	b = appendLenenc(appendLenenc(b, affected), insertID)
	b = appendUint16(appendUint16(b, status), warnings)
	if info != "" || len(state) > 0 {
		b = appendLenencString(b, info)
	}
	if len(state) > 0 { // only for clients with SESSION_TRACK
		b = appendLenencString(b, string(state))
	}
	r.enc.Buf = b
	r.finishPacket(start)
}

// appendEOF appends the old EOF packet.
func (r *response) appendEOF(status, warnings uint16) {
	start := len(r.enc.Buf)
	b := append(r.enc.Buf, 0, 0, 0, 0, headerEOF)
	r.enc.Buf = appendUint16(appendUint16(b, warnings), status)
	r.finishPacket(start)
}

// appendEnd ends a list of rows in the form the client asked for.
func (r *response) appendEnd(status, warnings uint16, state []byte) {
	if r.c.caps&capDeprecateEOF != 0 {
		r.appendOK(headerEOF, 0, 0, status, warnings, "", state)
		return
	}
	r.appendEOF(status, warnings)
}

// appendError appends an ERR packet.
func (r *response) appendError(e *types.Error) {
	start := len(r.enc.Buf)
	b := append(r.enc.Buf, 0, 0, 0, 0, headerErr)
	b = appendUint16(b, e.Number)
	if len(e.State) == sqlStateBytes {
		b = append(append(b, '#'), e.State...)
	} else {
		b = append(append(b, '#'), "HY000"...)
	}
	message := e.Message
	if r.c.sess != nil {
		_, results := r.c.sess.ResultEncoding()
		message = types.FromUTF8(message, results)
	}
	r.enc.Buf = append(b, message[:min(len(message), errorTextMax)]...)
	r.finishPacket(start)
}

// appendPayload appends a packet of given bytes.
func (r *response) appendPayload(parts ...[]byte) {
	start := len(r.enc.Buf)
	r.enc.Buf = append(r.enc.Buf, 0, 0, 0, 0)
	for _, part := range parts {
		r.enc.Buf = append(r.enc.Buf, part...)
	}
	r.finishPacket(start)
}

func (r *response) finishPacket(start int) {
	putHeader(r.enc.Buf, start, r.seq)
	r.seq++
}
