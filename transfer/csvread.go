package transfer

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// fieldsMax bounds the fields of a line. MySQL's tables have 4096 columns at most.
const fieldsMax = 1 << 16

var (
	errRecordTooLong = errors.New("a line is longer than 64 MiB, or has more than 65536 fields")
	errOpenQuote     = errors.New("a quote has no end")
	errBehindQuote   = errors.New("what follows the end of a quote is neither a separator nor the end of the line")
)

// record is one line of a file of CSV.
type record struct {
	line   int   // in which it begins, from 1
	start  int64 // where in the file it begins
	data   []byte
	fields []field
}

// field is one value: what is in the record's data from the end of the one before it on.
type field struct {
	end  int
	null bool
}

// value is the text of a field.
func (r *record) value(i int) []byte {
	begin := 0
	if i > 0 {
		begin = r.fields[i-1].end
	}
	return r.data[begin:r.fields[i].end]
}

// csvReader cuts a file of CSV into records. What next returns is its own, until it is called again.
type csvReader struct {
	r      *bufio.Reader
	format *CSV
	line   int
	offset int64
	record record

	plain, quoted [256]bool // bytes that mean something outside and inside of quotes
}

func newCSVReader(src io.Reader, format *CSV) *csvReader {
	r := &csvReader{r: bufio.NewReaderSize(src, splitBufferBytes), format: format, line: 1}
	for _, c := range []byte{format.Separator[0], '\r', '\n'} {
		r.plain[c] = true
	}
	for _, c := range []byte(format.Escape) {
		r.plain[c], r.quoted[c] = true, true
	}
	for _, c := range []byte(format.Quote) {
		r.quoted[c] = true
	}
	const mark = "\ufeff" // which programs of Windows begin files with
	if r.sees(mark) {
		r.skip(len(mark))
	}
	return r
}

// sees reports whether the file goes on with text.
func (r *csvReader) sees(text string) bool {
	got, _ := r.r.Peek(len(text))
	return string(got) == text
}

// skip passes over bytes that were peeked, none of which ends a line.
func (r *csvReader) skip(n int) {
	_, _ = r.r.Discard(n) // they are in the buffer
	r.offset += int64(n)
}

// run takes bytes up to one that means something.
func (r *csvReader) run(stops *[256]bool) error {
	for {
		chunk, err := r.r.Peek(max(1, r.r.Buffered()))
		if len(chunk) == 0 {
			return err
		}
		n := 0
		for n < len(chunk) && !stops[chunk[n]] {
			n++
		}
		if len(r.record.data)+n > statementBytesMax {
			return errRecordTooLong
		}
		r.record.data = append(r.record.data, chunk[:n]...)
		r.line += bytes.Count(chunk[:n], []byte{'\n'})
		end := n < len(chunk)
		r.skip(n)
		if end {
			return nil
		}
	}
}

// take makes n bytes that were peeked a part of the value.
func (r *csvReader) take(n int) {
	chunk, _ := r.r.Peek(n)
	r.record.data = append(r.record.data, chunk...)
	r.line += bytes.Count(chunk, []byte{'\n'})
	r.skip(len(chunk))
}

// next returns the next record, io.EOF behind the last. After an error the line is that in which what is wrong begins.
func (r *csvReader) next() (*record, error) {
	if _, err := r.r.Peek(1); err != nil {
		return nil, err
	}
	r.record = record{line: r.line, start: r.offset, data: r.record.data[:0], fields: r.record.fields[:0]}
	for {
		null, err := r.value()
		if err != nil {
			r.line = r.record.line
			return nil, err
		}
		if len(r.record.fields) == fieldsMax {
			r.line = r.record.line
			return nil, errRecordTooLong
		}
		r.record.fields = append(r.record.fields, field{len(r.record.data), null})
		if r.sees(r.format.Separator) {
			r.skip(len(r.format.Separator))
			continue
		}
		switch {
		case r.sees("\n"):
			r.skip(1)
		case r.sees("\r\n"):
			r.skip(2)
		default: // the end of the file, or a fault of reading that the next call meets
			return &r.record, nil
		}
		r.line++
		return &r.record, nil
	}
}

// ends reports whether a value ends n bytes from here.
func (r *csvReader) ends(n int) bool {
	got, err := r.r.Peek(n + max(len(r.format.Separator), 2))
	if len(got) < n {
		return false
	}
	rest := got[n:]
	return len(rest) == 0 && err == io.EOF || bytes.HasPrefix(rest, []byte(r.format.Separator)) || bytes.HasPrefix(rest, []byte{'\n'}) || bytes.HasPrefix(rest, []byte("\r\n"))
}

// value takes one value.
func (r *csvReader) value() (null bool, err error) {
	if r.sees(r.format.Null) && r.ends(len(r.format.Null)) {
		r.skip(len(r.format.Null))
		return true, nil
	}
	if r.format.Quote != "" && r.sees(r.format.Quote) {
		r.skip(1)
		return false, r.inQuotes()
	}
	for {
		if err := r.run(&r.plain); err == io.EOF {
			return false, nil
		} else if err != nil {
			return false, err
		}
		switch {
		case r.format.Escape != "" && r.sees(r.format.Escape):
			r.escaped()
		case r.ends(0):
			return false, nil
		default: // a part of a separator, or of an end of a line
			r.take(1)
		}
	}
}

func (r *csvReader) inQuotes() error {
	for {
		if err := r.run(&r.quoted); err == io.EOF {
			return errOpenQuote
		} else if err != nil {
			return err
		}
		if r.format.Escape != "" && r.sees(r.format.Escape) {
			r.escaped()
			continue
		}
		r.skip(1)
		if r.sees(r.format.Quote) {
			r.take(1)
			continue
		}
		if !r.ends(0) {
			return errBehindQuote
		}
		return nil
	}
}

// escapes are the letters that mean another byte behind an escape, as in LOAD DATA.
var escapes = map[byte]byte{'0': 0, 'b': '\b', 'n': '\n', 'r': '\r', 't': '\t', 'Z': 26}

// escaped takes an escape and the byte behind it. At the end of the file it is itself.
func (r *csvReader) escaped() {
	pair, _ := r.r.Peek(2)
	if len(pair) < 2 {
		r.take(1)
		return
	}
	if c, is := escapes[pair[1]]; is {
		r.skip(2)
		r.record.data = append(r.record.data, c)
		return
	}
	r.skip(1)
	r.take(1)
}
