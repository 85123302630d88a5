package exec

import (
	"bytes"
	"io"

	"github.com/pandodb/pando/types"
)

const (
	// lineBufferBytes is what a LineReader reads of the file at once.
	lineBufferBytes = 64 << 10
	// MarkBytesMax bounds the separators, which have to fit the buffer with room to spare.
	MarkBytesMax = 1 << 10
)

// FileFormat says how a file has fields and lines: the FIELDS and LINES clauses of LOAD DATA and INTO OUTFILE.
type FileFormat struct {
	FieldEnd, LineEnd, LineStart []byte
	// Enclosed and Escape have one byte or none.
	Enclosed, Escape []byte
	// Optionally is OPTIONALLY ENCLOSED: only strings are, in a file that is written.
	Optionally bool
	// Charset is that of the file's text.
	Charset *types.Charset
}

// Fixed reports whether fields have the widths of their columns and nothing between them.
func (f *FileFormat) Fixed() bool { return len(f.FieldEnd)+len(f.Enclosed) == 0 }

// LineReader cuts a file into lines and these into fields, exactly as MySQL does, also where the file does not follow its format. It reads
// characters of several bytes whole, because one of these may be the byte of a separator.
type LineReader struct {
	src   io.Reader
	f     FileFormat
	width int // of a line without separators; 0 where fields have ends
	max   int // bytes of one line's fields
	// plain marks bytes that mean nothing but themselves outside of quotes, plainQuoted within.
	plain, plainQuoted [256]bool

	buf  []byte
	r, w int   // unread bytes are buf[r:w]
	err  error // of src, io.EOF at its end; it is met after buf[:w]

	text      []byte // of the fields of the line, one after the other
	escapedN  bool   // the field has an escaped N
	lineStart bool   // the mark at the beginning of the line has yet to come
	lineEnded bool
	fileEnded bool
}

// NewLineReader returns a reader of src. width is the bytes of a line if the format is fixed, max bounds the bytes of the fields of a line.
func NewLineReader(src io.Reader, f FileFormat, width, max int) *LineReader {
	l := &LineReader{src: src, f: f, width: width, max: max, buf: make([]byte, lineBufferBytes), lineStart: len(f.LineStart) > 0}
	if bytes.Equal(l.f.FieldEnd, l.f.LineEnd) {
		l.f.LineEnd = nil // then lines end by the number of their fields
	}
	for i := range l.plain {
		c := byte(i)
		if l.f.Charset.LeadBytes(c) != 1 || begins(l.f.Escape, c) {
			continue
		}
		l.plainQuoted[i] = !begins(l.f.Enclosed, c)
		l.plain[i] = !begins(l.f.FieldEnd, c) && !begins(l.f.LineEnd, c)
	}
	return l
}

func begins(mark []byte, c byte) bool { return len(mark) > 0 && mark[0] == c }

// fill makes n bytes available, fewer at the end of the file.
func (l *LineReader) fill(n int) {
	for l.w-l.r < n && l.err == nil {
		if l.r > 0 {
			l.w = copy(l.buf, l.buf[l.r:l.w])
			l.r = 0
		}
		got, err := l.src.Read(l.buf[l.w:])
		l.w += got
		l.err = err
	}
}

// next takes a byte. It reports false at the end of the file.
func (l *LineReader) next() (byte, bool) {
	if l.r == l.w {
		if l.fill(1); l.r == l.w {
			return 0, false
		}
	}
	c := l.buf[l.r]
	l.r++
	return c, true
}

// at reports whether the file goes on with mark, and takes it.
func (l *LineReader) at(mark []byte) bool {
	if len(mark) == 0 || l.r < l.w && l.buf[l.r] != mark[0] {
		return false
	}
	if l.fill(len(mark)); !bytes.HasPrefix(l.buf[l.r:l.w], mark) {
		return false
	}
	l.r += len(mark)
	return true
}

// failed is the error of the file, which is none at its end.
func (l *LineReader) failed() error {
	if l.err == io.EOF || l.r < l.w {
		return nil
	}
	return l.err
}

// begin skips what comes before the line's fields. It reports false at the end of the file.
func (l *LineReader) begin() bool {
	if !l.lineStart {
		return true
	}
	l.lineStart = false
	for !l.at(l.f.LineStart) {
		if _, ok := l.next(); !ok {
			l.lineEnded, l.fileEnded = true, true
			return false
		}
	}
	return true
}

// StartLine forgets the fields of the line before.
func (l *LineReader) StartLine() { l.text = l.text[:0] }

// Field is one field of a line. Its text is valid until StartLine.
type Field struct {
	Text []byte
	Null bool
}

// Next reads a field. It reports false if the line has no more.
func (l *LineReader) Next() (f Field, ok bool, err error) {
	if l.lineEnded || !l.begin() || l.atEnd() {
		return f, false, l.failed()
	}
	from := len(l.text)
	quoted := l.at(l.f.Enclosed)
	if quoted {
		l.text = append(l.text, l.f.Enclosed[0]) // it stays if no other one ends the field
	}
	l.escapedN = false
	end, err := l.field(from, quoted)
	if err != nil {
		return f, false, err
	}
	l.lineEnded = end != endField
	if end == endFile {
		l.fileEnded, quoted = true, false
	} else if quoted {
		from++
	}
	f.Text = l.text[from:len(l.text):len(l.text)]
	f.Null = l.escapedN && len(f.Text) == 1 || !quoted && len(l.f.Enclosed) > 0 && string(f.Text) == "NULL"
	return f, true, l.failed()
}

// atEnd reports whether the file ends here, and the line with it.
func (l *LineReader) atEnd() bool {
	if l.fill(1); l.r < l.w {
		return false
	}
	l.lineEnded, l.fileEnded = true, true
	return true
}

// ending is what ends a field.
type ending uint8

const (
	endField ending = iota
	endLine
	endFile
)

// field appends the text of a field that began at from, up to its end.
func (l *LineReader) field(from int, quoted bool) (ending, error) {
	plain := &l.plain
	if quoted {
		plain = &l.plainQuoted
	}
	for {
		l.run(plain)
		if len(l.text) > l.max {
			return endFile, types.Errorf(types.ErNetPacketTooLarge)
		}
		if l.fill(1); l.r == l.w {
			return endFile, nil
		}
		c := l.buf[l.r]
		switch {
		case begins(l.f.Escape, c):
			if taken, ended := l.escaped(c); ended {
				return endFile, nil
			} else if taken {
				continue
			}
			// An escape that is the quote, too, and does not stand twice ends the field.
		case !quoted && l.at(l.f.LineEnd):
			return endLine, nil
		case !quoted && l.at(l.f.FieldEnd):
			return endField, nil
		}
		if quoted && begins(l.f.Enclosed, c) {
			l.r++
			switch l.fill(1); {
			case l.at(l.f.Enclosed):
			case l.r == l.w || l.at(l.f.LineEnd):
				return endLine, nil
			case l.at(l.f.FieldEnd):
				return endField, nil
			}
			l.text = append(l.text, c)
			continue
		}
		if whole, err := l.letter(from, false); err != nil || !whole {
			return endFile, err
		}
	}
}

// run takes bytes that mean themselves.
func (l *LineReader) run(plain *[256]bool) {
	for {
		i := l.r
		for i < l.w && plain[l.buf[i]] {
			i++
		}
		l.text = append(l.text, l.buf[l.r:i]...)
		l.r = i
		if i < l.w || len(l.text) > l.max {
			return
		}
		if l.fill(1); l.r == l.w {
			return
		}
	}
}

// escaped takes the escape c and what it escapes. It takes nothing if the escape is the quote, too, and does not stand twice. ended says that the
// file ended there.
func (l *LineReader) escaped(c byte) (taken, ended bool) {
	if l.fill(2); l.w-l.r < 2 {
		l.r++
		l.text = append(l.text, c)
		return true, true
	}
	next := l.buf[l.r+1]
	if begins(l.f.Enclosed, c) && next != c {
		return false, false
	}
	l.r++
	if l.f.Charset.LeadBytes(next) != 1 { // both bytes of a letter may be escaped
		whole, err := l.letter(len(l.text), true)
		return err == nil, !whole && err == nil
	}
	l.r++
	l.text = append(l.text, l.unescaped(next))
	return true, false
}

// letter takes a character of one or more bytes. Of an invalid one it takes the first byte only, and fails with 1300 if that can begin none; one that
// is cut off by the end of the file is dropped.
func (l *LineReader) letter(from int, escaped bool) (whole bool, err error) {
	l.fill(2)
	n := l.f.Charset.StartBytes(l.buf[l.r:l.w])
	if n == 0 {
		return false, types.Errorf(types.ErInvalidCharacterString, l.f.Charset.Name, string(l.text[from:]))
	}
	l.fill(2 * n)
	start, at := len(l.text), l.r
	for i := range n {
		if at == l.w {
			l.r, l.text = l.w, l.text[:start]
			return false, nil
		}
		c := l.buf[at]
		if at++; i > 0 && escaped && begins(l.f.Escape, c) && at < l.w {
			c = l.unescaped(l.buf[at])
			at++
		}
		l.text = append(l.text, c)
	}
	if n > 1 && !l.f.Charset.Valid(l.text[start:]) {
		l.text, at = l.text[:start+1], l.r+1
	}
	l.r = at
	return true, nil
}

// unescaped is the byte that an escape and c stand for.
func (l *LineReader) unescaped(c byte) byte {
	switch c {
	case '0':
		return 0
	case 'b':
		return '\b'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'Z':
		return 26
	case 'N':
		l.escapedN = true
	}
	return c
}

// Row reads a line of fields without separators, as far as they reach. It reports false at the end of the file.
func (l *LineReader) Row() (row []byte, ok bool, err error) {
	if l.lineEnded || !l.begin() || l.atEnd() {
		return nil, false, l.failed()
	}
	from := len(l.text)
	for len(l.text)-from < l.width {
		if l.fill(1); l.r == l.w {
			l.lineEnded, l.fileEnded = true, true
			return l.text[from:], len(l.text) > from, l.failed()
		}
		if c := l.buf[l.r]; begins(l.f.Escape, c) {
			if l.fill(2); l.w-l.r < 2 {
				l.text = append(l.text, c)
				l.r++
				continue
			}
			l.text = append(l.text, l.unescaped(l.buf[l.r+1]))
			l.r += 2
			continue
		}
		if l.at(l.f.LineEnd) {
			l.lineEnded = true
			break
		}
		l.text = append(l.text, l.buf[l.r])
		l.r++
	}
	return l.text[from:len(l.text):len(l.text)], true, nil
}

// NextLine skips the rest of the line. more is false at the end of the file; cut says that something was skipped.
func (l *LineReader) NextLine() (more, cut bool, err error) {
	l.lineStart = len(l.f.LineStart) > 0
	if l.lineEnded || l.fileEnded {
		l.lineEnded = false
		return !l.fileEnded, false, l.failed()
	}
	if len(l.f.LineEnd) == 0 {
		return true, false, nil
	}
	for {
		if l.atEnd() {
			return false, cut, l.failed()
		}
		if l.at(l.f.LineEnd) {
			return true, cut, nil
		}
		l.fill(2)
		c := l.buf[l.r]
		n := max(1, l.f.Charset.StartBytes(l.buf[l.r:l.w]))
		if begins(l.f.Escape, c) {
			n = 2
		}
		l.fill(n)
		l.r, cut = min(l.r+n, l.w), true
	}
}
