package exec

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"strings"

	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

const (
	// fileBufferBytes gathers what INTO OUTFILE writes.
	fileBufferBytes = 64 << 10
	// escapeLetters mean another character after an escape, and numberLetters are the characters of numbers: a separator that begins with one of
	// them makes fields ambiguous.
	escapeLetters = "ntrb0ZN"
	numberLetters = ".0123456789e+-"
)

// IntoFile writes the rows of its input to a file: SELECT … INTO OUTFILE or DUMPFILE. It stands only at the root of a plan.
type IntoFile struct {
	Base
	Input Node
	Path  string
	// Dump is INTO DUMPFILE: the values of one row, as they are.
	Dump    bool
	Format  FileFormat // Charset nil writes text as it is stored
	Columns []sqlapi.ColumnInfo
}

// NewFile is a file that a statement makes. Abort, instead of Close or after one that failed, removes it.
type NewFile interface {
	io.WriteCloser
	Abort()
}

// Children returns the query.
func (n *IntoFile) Children() []Node { return []Node{n.Input} }

// Describe says what EXPLAIN shows.
func (n *IntoFile) Describe() Description { return n.describe("IntoFile") }

func (n *IntoFile) outputs() []types.Type            { return nil }
func (n *IntoFile) build(*builder) (operator, error) { return nil, errNotOperator }

// runIntoFile runs the query and writes its rows. The file is made before the first one is read; a statement that fails removes it.
func (rt *Runtime) runIntoFile(n *IntoFile) (sqlapi.Result, error) {
	file, err := rt.CreateFile(n.Path)
	if err != nil {
		return sqlapi.Result{}, err
	}
	w := newFileWriter(rt, n, file)
	if err = rt.drain(n.Input, w.batch); err == nil {
		err = w.out.Flush()
	}
	if err != nil {
		file.Abort()
		return sqlapi.Result{}, err
	}
	if err := file.Close(); err != nil {
		file.Abort() // what an earlier write has not reported may be missing from it
		return sqlapi.Result{}, types.NewError(types.ErUnknownError, "closing '"+n.Path+"' failed")
	}
	rt.FoundRowsCount = w.rows
	return sqlapi.Result{AffectedRows: w.rows, Warnings: rt.warnings()}, nil
}

// fileWriter writes rows as a FileFormat says.
type fileWriter struct {
	rt   *Runtime
	n    *IntoFile
	out  *bufio.Writer
	enc  types.RowEncoder
	rows uint64

	enclosed  []bool // by column
	widths    []int  // by column, of lines without separators; nil with them
	escape    int    // -1 for none
	separator int    // what a value must not hold unescaped either: the quote or, without one, the first byte between fields
	// doubled says that the separator is escaped by itself, because after the escape it would mean something else.
	doubled bool
	// ambiguous says that not even that helps: the separator stays as it is.
	ambiguous bool
}

func newFileWriter(rt *Runtime, n *IntoFile, file io.Writer) *fileWriter {
	f := &n.Format
	w := &fileWriter{rt: rt, n: n, out: bufio.NewWriterSize(file, fileBufferBytes), escape: -1, separator: -1}
	w.enc.Loc, w.enc.Results = rt.Ctx.Location(), f.Charset
	if len(f.Escape) > 0 {
		w.escape = int(f.Escape[0])
	}
	if s := f.separator(); len(s) > 0 {
		w.separator = int(s[0])
		w.doubled = strings.IndexByte(escapeLetters, s[0]) >= 0
	}
	w.ambiguous = n.Ambiguous()
	w.enclosed = make([]bool, len(n.Columns))
	blobs := false
	for i := range n.Columns {
		t := &n.Columns[i].Type
		w.enclosed[i] = len(f.Enclosed) > 0 && (!f.Optionally || !isNumber(t))
		blobs = blobs || t.IsBlob() || t.ID == types.TypeJSON
	}
	if f.Fixed() && !blobs {
		for i := range n.Columns {
			w.widths = append(w.widths, fixedWidth(&n.Columns[i].Type))
		}
	}
	return w
}

// separator is what separates values: the quote or, without one, the mark between fields.
func (f *FileFormat) separator() []byte {
	if len(f.Enclosed) > 0 {
		return f.Enclosed
	}
	return f.FieldEnd
}

// isNumber reports whether OPTIONALLY ENCLOSED leaves out the quotes.
func isNumber(t *types.Type) bool { return t.IsNumeric() && t.ID != types.TypeBit }

func fixedWidth(t *types.Type) int { return int(t.WireLength(t.Coll.Charset())) }

// Ambiguous reports whether the mark between fields begins with a character that values may have with another meaning, for which MySQL warns.
func (n *IntoFile) Ambiguous() bool {
	f := &n.Format
	text, number := false, false
	for i := range n.Columns {
		is := isNumber(&n.Columns[i].Type)
		text, number = text || !is, number || is
	}
	begins := func(mark []byte, letters string) bool {
		return len(mark) > 0 && strings.IndexByte(letters, mark[0]) >= 0
	}
	bare := len(f.Enclosed) == 0
	optional := bare || f.Optionally && len(f.FieldEnd) > 0
	return bare && begins(f.FieldEnd, escapeLetters) && (text || begins(f.FieldEnd, numberLetters)) || optional && number && begins(f.FieldEnd, numberLetters)
}

// batch writes rows.
func (w *fileWriter) batch(b *types.Batch) error {
	if err := w.rt.waitSeen(); err != nil {
		return err
	}
	for i, rows := 0, b.Rows(); i < rows; i++ {
		if w.rows++; w.n.Dump && w.rows > 1 {
			return types.Errorf(types.ErTooManyRows)
		}
		if err := w.row(b, b.Row(i)); err != nil {
			return err
		}
	}
	return w.rt.poll()
}

func (w *fileWriter) row(b *types.Batch, row int) error {
	w.enc.Buf = w.enc.Buf[:0]
	w.enc.StartRow(len(w.n.Columns))
	at := len(w.enc.Buf)
	for c := range w.n.Columns {
		b.Cols[c].Encode(&w.enc, row)
	}
	w.enc.EndRow()
	f, rest := &w.n.Format, w.enc.Buf[at:]
	if !w.n.Dump {
		w.write(f.LineStart)
	}
	for c := range w.n.Columns {
		var value []byte
		var null bool
		value, null, rest = cutValue(rest)
		switch {
		case w.n.Dump && null:
			w.write([]byte{0})
		case w.n.Dump:
			w.write(value)
		default:
			w.field(c, value, null)
			if c+1 < len(w.n.Columns) {
				w.write(f.FieldEnd)
			}
		}
	}
	if !w.n.Dump {
		w.write(f.lineEnd())
	}
	return w.failed()
}

// lineEnd is what ends a line of a file that is written.
func (f *FileFormat) lineEnd() []byte {
	if len(f.LineEnd) == 0 {
		return f.FieldEnd
	}
	return f.LineEnd
}

// failed is the error of an earlier write, which bufio keeps.
func (w *fileWriter) failed() error {
	_, err := w.out.Write(nil)
	return err
}

// write writes bytes; failed returns errors.
func (w *fileWriter) write(b []byte) { _, _ = w.out.Write(b) }

// cutValue takes the first value of a row in the text protocol's form.
func cutValue(b []byte) (value []byte, null bool, rest []byte) {
	n, head := uint64(b[0]), 1
	switch b[0] {
	case 0xfb:
		return nil, true, b[1:]
	case 0xfc:
		n, head = uint64(binary.LittleEndian.Uint16(b[1:])), 3
	case 0xfd:
		n, head = uint64(b[1])|uint64(b[2])<<8|uint64(b[3])<<16, 4
	case 0xfe:
		n, head = binary.LittleEndian.Uint64(b[1:]), 9
	}
	end := head + int(n)
	return b[head:end], false, b[end:]
}

// field writes one value of a line.
func (w *fileWriter) field(c int, value []byte, null bool) {
	if null {
		switch {
		case w.widths != nil:
			w.pad(w.widths[c])
		case w.escape >= 0:
			w.write([]byte{byte(w.escape), 'N'})
		default:
			w.write([]byte("NULL"))
		}
		return
	}
	if w.enclosed[c] {
		w.write(w.n.Format.Enclosed)
		defer w.write(w.n.Format.Enclosed)
	}
	if w.widths != nil {
		value = value[:min(len(value), w.widths[c])]
		defer w.pad(w.widths[c] - len(value))
	}
	unsafe := w.separator >= 0 && strings.IndexByte(numberLetters, byte(w.separator)) >= 0
	if w.escape < 0 || isNumber(&w.n.Columns[c].Type) && !unsafe {
		w.write(value)
		return
	}
	w.escaped(c, value)
}

func (w *fileWriter) pad(n int) { w.write(bytes.Repeat([]byte{' '}, max(n, 0))) }

// escaped writes a value and escapes bytes with a special meaning; characters of several bytes are copied whole.
func (w *fileWriter) escaped(c int, value []byte) {
	cs := w.n.Format.Charset
	if coll := w.n.Columns[c].Type.Coll; cs == nil || coll == types.Binary {
		cs = coll.Charset()
	}
	lineEnd, fieldEnd := w.n.Format.lineEnd(), w.n.Format.FieldEnd
	special := fieldEnd
	if w.enclosed[c] {
		special = w.n.Format.Enclosed
	}
	start := 0
	for i := 0; i < len(value); i++ {
		x := value[i]
		if x >= 0x80 {
			if n := cs.StartBytes(value[i:]); n > 1 && i+n <= len(value) && cs.Valid(value[i:i+n]) {
				i += n - 1
				continue
			}
		}
		if int(x) != w.escape && x != 0 && !begins(special, x) && !begins(lineEnd, x) {
			continue
		}
		if !w.enclosed[c] && w.ambiguous && begins(fieldEnd, x) {
			continue // doubling means something only between quotes
		}
		w.write(value[start:i])
		mark, as := byte(w.escape), x
		if int(x) == w.separator && w.doubled {
			mark = x
		}
		if x == 0 {
			as = '0'
		}
		w.write([]byte{mark, as})
		start = i + 1
	}
	w.write(value[start:])
}
