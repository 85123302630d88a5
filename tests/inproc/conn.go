package inproc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/session"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

// Conn is one session with what a connection would keep.
type Conn struct {
	*session.Session
	ID       uint64
	node     *Node
	client   session.Client
	killed   atomic.Bool
	prepared map[string]uint32 // by the name that a script gives
}

// Close ends the session.
func (c *Conn) Close() {
	c.node.mu.Lock()
	delete(c.node.conns, c.ID)
	c.node.mu.Unlock()
	c.Session.Close()
}

// Answer is what one statement sent.
type Answer struct {
	Columns []sqlapi.ColumnInfo
	Rows    [][]string // NULL is the string "NULL"
	Result  sqlapi.Result
	Err     error
}

// Number is the MySQL number of the answer's error; 0 without one, -1 for an error that is not a client's.
func (a *Answer) Number() int {
	var e *types.Error
	switch {
	case a.Err == nil:
		return 0
	case errors.As(a.Err, &e):
		return int(e.Number)
	}
	return -1
}

// String prints an answer: headings and rows parted by tabs, or ok; what differs from the usual follows in brackets.
func (a *Answer) String() string {
	var b strings.Builder
	if a.Result.HasRows || a.Columns != nil && a.Err != nil {
		for i := range a.Columns {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(a.Columns[i].Name)
		}
		b.WriteByte('\n')
		for _, row := range a.Rows {
			b.WriteString(strings.Join(row, "\t") + "\n")
		}
	}
	if a.Err != nil {
		var e *types.Error
		if errors.As(a.Err, &e) {
			return b.String() + e.Error() + "\n"
		}
		return b.String() + "INTERNAL: " + a.Err.Error() + "\n"
	}
	notes := ""
	if !a.Result.HasRows {
		b.WriteString("ok")
		notes = note(notes, "affected", a.Result.AffectedRows)
		notes = note(notes, "id", a.Result.InsertID)
	}
	notes = note(notes, "warnings", uint64(a.Result.Warnings))
	if a.Result.Info != "" {
		notes += " info=" + strconv.Quote(a.Result.Info)
	}
	if notes != "" || !a.Result.HasRows {
		b.WriteString(notes + "\n")
	}
	return b.String()
}

func note(notes, name string, n uint64) string {
	if n == 0 {
		return notes
	}
	return fmt.Sprintf("%s %s=%d", notes, name, n)
}

// response gathers the answers to one command. It checks sqlapi's invariants as it goes.
type response struct {
	enc     types.RowEncoder
	answers []*Answer
	open    *Answer
	more    bool
	binary  bool
	files   *Files
}

func (r *response) answer() *Answer {
	if r.open == nil {
		r.open = &Answer{}
		r.answers = append(r.answers, r.open)
	}
	return r.open
}

// Columns implements sqlapi.Sink.
func (r *response) Columns(columns []sqlapi.ColumnInfo) (*types.RowEncoder, error) {
	a := r.answer()
	if a.Columns != nil {
		return nil, errors.New("columns were announced twice")
	}
	a.Columns = append([]sqlapi.ColumnInfo{}, columns...)
	return &r.enc, nil
}

// RowDone implements sqlapi.Sink.
func (r *response) RowDone() error {
	a := r.answer()
	row := make([]string, 0, len(a.Columns))
	const header = 4 // of the packet
	for b := r.enc.Buf[header:]; len(b) > 0; {
		if b[0] == 0xfb {
			row, b = append(row, "NULL"), b[1:]
			continue
		}
		n, used := lenEnc(b)
		row, b = append(row, Printable(string(b[used:used+n]))), b[used+n:]
	}
	if len(row) != len(a.Columns) {
		return fmt.Errorf("a row of %d values under %d columns", len(row), len(a.Columns))
	}
	a.Rows = append(a.Rows, row)
	r.enc.Buf = r.enc.Buf[:0]
	return nil
}

// Printable keeps a value on one line of a script and its bytes legible.
func Printable(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' && s[i] != '\n' || s[i] == 0x7f {
			return strconv.Quote(s)
		}
	}
	return strings.TrimRight(s, "\n")
}

func lenEnc(b []byte) (n, used int) {
	switch b[0] {
	case 0xfc:
		return int(binary.LittleEndian.Uint16(b[1:])), 3
	case 0xfd:
		return int(b[1]) | int(b[2])<<8 | int(b[3])<<16, 4
	case 0xfe:
		return int(binary.LittleEndian.Uint64(b[1:])), 9
	}
	return int(b[0]), 1
}

// Done implements session.Response.
func (r *response) Done(result sqlapi.Result, more bool) error {
	a := r.answer()
	a.Result, r.more = result, more
	r.open = nil
	return nil
}

func (r *response) end(err error) []*Answer {
	if err != nil {
		r.answer().Err = err
	}
	return r.answers
}

// newResponse fits the encoder to the session, as wire does for each command.
func (c *Conn) newResponse() *response {
	r := &response{files: &c.node.Files}
	r.enc.Loc, r.enc.Results = c.ResultEncoding()
	return r
}

// Query runs a text of one or more statements.
func (c *Conn) Query(sql string) []*Answer {
	if c.killed.Load() {
		return []*Answer{{Err: errors.New("the connection was killed")}}
	}
	c.Interrupt().Reset() // as wire does before each command
	r := c.newResponse()
	buf, start := []byte(sql), clock.Mono()
	err := c.Session.Query(buf, r)
	c.Measured(start, clock.Since(start))
	// wire reuses its buffer for the next command: whatever still points into it must show.
	for i := range buf {
		buf[i] = '~'
	}
	return r.end(err)
}

// Exec runs one statement and returns its (last) answer.
func (c *Conn) Exec(sql string) *Answer {
	all := c.Query(sql)
	return all[len(all)-1]
}

// Must runs one statement and fails the test on an error.
func (c *Conn) Must(sql string) *Answer {
	c.node.tb.Helper()
	a := c.Exec(sql)
	if a.Err != nil {
		c.node.tb.Fatalf("%s: %v", sql, a.Err)
	}
	return a
}

// Value runs a query and returns the first column of its first row.
func (c *Conn) Value(sql string) string {
	c.node.tb.Helper()
	a := c.Must(sql)
	if len(a.Rows) == 0 {
		return ""
	}
	return a.Rows[0][0]
}

// Execute runs a prepared statement by id, as COM_STMT_EXECUTE does.
func (c *Conn) Execute(id uint32, args ...types.Value) *Answer {
	c.Interrupt().Reset()
	r := c.newResponse()
	start := clock.Mono()
	all := r.end(c.Session.Execute(id, args, r))
	c.Measured(start, clock.Since(start))
	return all[len(all)-1]
}
