package exec

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/types"
)

// slowReader reads fields by MySQL's own rules, one character after the other, over a stack of characters that were put back.
type slowReader struct {
	f              FileFormat
	rest           []byte // read from the end
	lineEnd        []byte
	ended, eof     bool
	start, escaped bool
	null           bool
}

const noChar = -1

func (s *slowReader) get() int {
	if len(s.rest) == 0 {
		return noChar
	}
	c := s.rest[len(s.rest)-1]
	s.rest = s.rest[:len(s.rest)-1]
	return int(c)
}

func (s *slowReader) push(c int) {
	if c != noChar {
		s.rest = append(s.rest, byte(c))
	}
}

// terminator reports whether the rest of mark follows its first character, which has been taken.
func (s *slowReader) terminator(mark []byte) bool {
	for i := 1; i < len(mark); i++ {
		c := s.get()
		if c == int(mark[i]) {
			continue
		}
		s.push(c)
		for i--; i > 0; i-- {
			s.push(int(mark[i]))
		}
		return false
	}
	return true
}

func first(mark []byte) int {
	if len(mark) == 0 {
		return 1000
	}
	return int(mark[0])
}

func (s *slowReader) unescape(c int) byte {
	if c == 'N' {
		s.null = true
	}
	if at := strings.IndexByte("ntrb0Z", byte(c)); at >= 0 {
		return "\n\t\r\b\x00\x1a"[at]
	}
	return byte(c)
}

func (s *slowReader) findStart() bool {
	for {
		c := s.get()
		if c == noChar {
			s.ended, s.eof = true, true
			return false
		}
		if c == first(s.f.LineStart) && s.terminator(s.f.LineStart) {
			return true
		}
	}
}

func (s *slowReader) field() (text []byte, null, ok bool, err error) {
	s.null = false
	if s.ended {
		return nil, false, false, nil
	}
	if s.start {
		s.start = false
		if !s.findStart() {
			return nil, false, false, nil
		}
	}
	c := s.get()
	if c == noChar {
		s.ended, s.eof = true, true
		return nil, false, false, nil
	}
	quote := 1000
	if c == first(s.f.Enclosed) {
		quote = c
		text = append(text, byte(c))
	} else {
		s.push(c)
	}
	done := func(enclosed bool) ([]byte, bool, bool, error) {
		if enclosed {
			text = text[1:]
		}
		null := s.null && len(text) == 1 || !enclosed && len(s.f.Enclosed) > 0 && string(text) == "NULL"
		return text, null, true, nil
	}
	for {
		c := s.get()
		if c == noChar {
			s.ended, s.eof = true, true
			return done(false)
		}
		if c == first(s.f.Escape) {
			next := s.get()
			if next == noChar {
				text = append(text, byte(c))
				s.ended, s.eof = true, true
				return done(false)
			}
			if first(s.f.Escape) != first(s.f.Enclosed) || next == c {
				if s.f.Charset.LeadBytes(byte(next)) == 1 {
					text = append(text, s.unescape(next))
				} else {
					s.escaped = true
					s.push(next)
				}
				if !s.escaped {
					continue
				}
				c = s.get()
			} else {
				s.push(next)
			}
		}
		if !s.escaped && c == first(s.lineEnd) && quote == 1000 && s.terminator(s.lineEnd) {
			s.ended = true
			return done(false)
		}
		if !s.escaped && c == quote {
			next := s.get()
			if next == quote {
				text = append(text, byte(next))
				continue
			}
			if next == noChar || next == first(s.lineEnd) && s.terminator(s.lineEnd) {
				s.ended = true
				return done(true)
			}
			if next == first(s.f.FieldEnd) && s.terminator(s.f.FieldEnd) {
				return done(true)
			}
			s.push(next)
		} else if !s.escaped && c == first(s.f.FieldEnd) && quote == 1000 && s.terminator(s.f.FieldEnd) {
			return done(false)
		}
		n := s.bytes(c)
		if n == 0 {
			return nil, false, false, types.Errorf(types.ErInvalidCharacterString, s.f.Charset.Name, string(text))
		}
		escaped := s.escaped
		s.escaped = false
		letter, taken := []byte{byte(c)}, []byte(nil)
		for i := 1; i < n; i++ {
			x := s.get()
			if x == noChar {
				s.ended, s.eof = true, true
				return done(false)
			}
			taken = append(taken, byte(x))
			if escaped && x == first(s.f.Escape) && len(s.rest) > 0 {
				x = s.get()
				taken = append(taken, byte(x))
				x = int(s.unescape(x))
			}
			letter = append(letter, byte(x))
		}
		if n > 1 && !s.f.Charset.Valid(letter) {
			for i := len(taken) - 1; i >= 0; i-- {
				s.push(int(taken[i]))
			}
			letter = letter[:1]
		}
		text = append(text, letter...)
	}
}

// bytes is how many a character has that begins with c: some sets tell by the byte after it, too.
func (s *slowReader) bytes(c int) int {
	next := s.get()
	if next == noChar {
		return s.f.Charset.LeadBytes(byte(c))
	}
	s.push(next)
	return s.f.Charset.StartBytes([]byte{byte(c), byte(next)})
}

func (s *slowReader) nextLine() (more, cut bool) {
	s.start = len(s.f.LineStart) > 0
	if s.ended || s.eof {
		s.ended = false
		return !s.eof, false
	}
	if len(s.lineEnd) == 0 {
		return true, false
	}
	for {
		c := s.get()
		switch {
		case c == noChar:
			s.ended, s.eof = true, true
			return false, cut
		case c == first(s.lineEnd) && s.terminator(s.lineEnd):
			return true, cut
		}
		skip := max(s.bytes(c), 1) - 1
		if c == first(s.f.Escape) {
			skip = 1
		}
		for ; skip > 0; skip-- {
			s.get()
		}
		cut = true
	}
}

// readSlowly lists what the lines of a file with so many fields hold.
func readSlowly(f FileFormat, text []byte, fields int) string {
	s := &slowReader{f: f, lineEnd: f.LineEnd, start: len(f.LineStart) > 0}
	if bytes.Equal(f.FieldEnd, f.LineEnd) {
		s.lineEnd = nil
	}
	for i := len(text) - 1; i >= 0; i-- {
		s.rest = append(s.rest, text[i])
	}
	return list(fields, s.field, func() (bool, bool, error) {
		more, cut := s.nextLine()
		return more, cut, nil
	})
}

func readFast(l *LineReader, fields int) string {
	return list(fields, func() ([]byte, bool, bool, error) {
		f, ok, err := l.Next()
		return f.Text, f.Null, ok, err
	}, func() (bool, bool, error) {
		l.StartLine()
		return l.NextLine()
	})
}

func list(fields int, next func() ([]byte, bool, bool, error), nextLine func() (bool, bool, error)) string {
	var out strings.Builder
	for {
		got := 0
		for ; got < fields; got++ {
			text, null, ok, err := next()
			if err != nil {
				return out.String() + err.Error()
			}
			if !ok {
				break
			}
			fmt.Fprintf(&out, "%q %v|", text, null)
		}
		if got == 0 {
			return out.String() + "end"
		}
		more, cut, err := nextLine()
		fmt.Fprintf(&out, " %v %v %v\n", more, cut, err)
		if !more {
			return out.String()
		}
	}
}

// compareReaders makes a format and a file of a seed and reports where the two readers differ.
func compareReaders(t *testing.T, r *rand.Rand) {
	t.Helper()
	pick := func(of ...string) []byte { return []byte(of[r.IntN(len(of))]) }
	f := FileFormat{FieldEnd: pick("\t", ",", "<>", "ab", ";;;", "", "n"), LineEnd: pick("\n", "\r\n", "<=>", ";", "", ",", "abab"), LineStart: pick("", "", "", "xx", "x"),
		Enclosed: pick("", "\"", "'"), Escape: pick("\\", "\\", "", "\"", "'")}
	if f.Fixed() {
		f.FieldEnd = []byte(",")
	}
	name := []string{"utf8mb4", "latin1", "binary", "sjis", "ujis", "utf8mb3", "gbk", "gb18030", "big5"}[r.IntN(9)]
	cs, err := types.LookupCharset(name)
	if err != nil {
		t.Fatal(err)
	}
	f.Charset = cs
	var text []byte
	words := []string{"a", "b", "n", "x", "N", "NULL", "\\", "\\N", "\\n", "é", "\x83\\", "\xd5\\", "\x81n\x81,", "\x81,", "\x810\x810", "\xff", "\xe2\x82", "0", "long text without marks", "<", "=", ">", ";", ",", "\t", "\n", "\r", "'", "\"", "\x00"}
	for range r.IntN(40) {
		switch r.IntN(8) {
		case 0:
			text = append(text, f.FieldEnd...)
		case 1:
			text = append(text, f.LineEnd...)
		case 2:
			text = append(text, f.Enclosed...)
		case 3:
			text = append(text, f.LineStart...)
		default:
			text = append(text, words[r.IntN(len(words))]...)
		}
	}
	fields := 1 + r.IntN(4)
	want := readSlowly(f, text, fields)
	src := iotest.OneByteReader(bytes.NewReader(text))
	if r.IntN(2) == 0 {
		src = bytes.NewReader(text)
	}
	if got := readFast(NewLineReader(src, f, 0, 1<<20), fields); got != want {
		t.Fatalf("format %q %q %q %q %q in %s, %d fields of %q:\n%s\nby MySQL's rules:\n%s", f.FieldEnd, f.LineEnd, f.LineStart, f.Enclosed, f.Escape, name, fields, text, got, want)
	}
}

// TestLinesAgainstModel: the reader of files gives what MySQL's rules say, whatever the file and its format.
func TestLinesAgainstModel(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 0)
	for range 5000 {
		compareReaders(t, r)
	}
}

func FuzzLines(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) { compareReaders(t, testkit.Rand(a, b)) })
}

// TestLineTooLong: a line of which no end comes is refused before it takes more than it may.
func TestLineTooLong(t *testing.T) {
	cs, err := types.LookupCharset("utf8mb4")
	if err != nil {
		t.Fatal(err)
	}
	const most = 1 << 20
	l := NewLineReader(endless{}, FileFormat{FieldEnd: []byte("\t"), LineEnd: []byte("\n"), Charset: cs}, 0, most)
	if _, _, err := l.Next(); err == nil || cap(l.text) > 3*most {
		t.Errorf("%v, with %d bytes held", err, cap(l.text))
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}
