package transfer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	// statementBytesMax bounds one statement of a file.
	statementBytesMax = 64 << 20
	splitBufferBytes  = 256 << 10
	delimiterBytesMax = 16
)

// statement is one statement of a file.
type statement struct {
	text  []byte // without its delimiter and the comments before it; the caller's
	line  int    // in which it begins, from 1
	start int64  // where in the file what belongs to it begins

	rows []row // of an INSERT that was made of lines of CSV
	head int   // what of that one's text is in front of the first row
}

// row is a line of CSV as the last bytes of what has been written of an INSERT.
type row struct{ line, end int }

// splitter cuts a file of SQL into statements, as the mysql command line does.
type splitter struct {
	r         *bufio.Reader
	line      int
	offset    int64
	delimiter []byte
	text      []byte
}

func newSplitter(r io.Reader) *splitter {
	return &splitter{r: bufio.NewReaderSize(r, splitBufferBytes), line: 1, delimiter: []byte(";")}
}

var errStatementTooLong = errors.New("a statement is longer than 64 MiB")

// take reads a byte and, if keep, makes it part of the statement.
func (s *splitter) take(keep bool) (byte, error) {
	c, err := s.r.ReadByte()
	if err != nil {
		return 0, err
	}
	s.offset++
	if c == '\n' {
		s.line++
	}
	if keep {
		if len(s.text) == statementBytesMax {
			return 0, errStatementTooLong
		}
		s.text = append(s.text, c)
	}
	return c, nil
}

// sees reports whether the file goes on with word.
func (s *splitter) sees(word string) bool {
	got, _ := s.r.Peek(len(word))
	return string(got) == word
}

// next returns the next statement, io.EOF behind the last.
func (s *splitter) next() (statement, error) {
	s.text = nil
	found := statement{start: s.offset}
	for {
		if len(s.text) == 0 {
			found.line = s.line
		}
		if s.sees(string(s.delimiter)) {
			for range s.delimiter {
				if _, err := s.take(false); err != nil {
					return found, err
				}
			}
			if found.text = bytes.TrimSpace(s.text); len(found.text) > 0 {
				return found, nil
			}
			s.text, found.start = nil, s.offset
			continue
		}
		err := s.part()
		if err == io.EOF {
			if found.text = bytes.TrimSpace(s.text); len(found.text) > 0 {
				return found, nil
			}
		}
		if err != nil {
			return found, err
		}
	}
}

// part takes a character, a quoted text or a comment.
func (s *splitter) part() error {
	head, err := s.r.Peek(1)
	if err != nil {
		return err
	}
	c := head[0]
	comment, _ := s.r.Peek(3)
	switch {
	case len(s.text) == 0 && (c == ' ' || c == '\t' || c == '\r' || c == '\n'):
		_, err = s.take(false)
	case c == '\'' || c == '"' || c == '`':
		err = s.quoted(c)
	case c == '#' || bytes.HasPrefix(comment, []byte("--")) && (len(comment) < 3 || comment[2] <= ' '):
		err = s.until("\n", false)
		s.space()
	case bytes.HasPrefix(comment, []byte("/*")):
		kept := len(comment) == 3 && (comment[2] == '!' || comment[2] == '+')
		if err = s.until("*/", kept); !kept {
			s.space()
		}
	case len(s.text) == 0 && (c == 'D' || c == 'd') && s.changesDelimiter():
		err = s.newDelimiter()
	default:
		_, err = s.take(true)
	}
	return err
}

// space stands for a comment within a statement.
func (s *splitter) space() {
	if len(s.text) > 0 {
		s.text = append(s.text, ' ')
	}
}

// quoted takes a quoted text. A file that ends within it has no end of its statement, which the server will say.
func (s *splitter) quoted(quote byte) error {
	if _, err := s.take(true); err != nil {
		return err
	}
	for {
		c, err := s.take(true)
		switch {
		case err != nil:
			return err
		case c == '\\' && quote != '`':
			if _, err := s.take(true); err != nil {
				return err
			}
		case c == quote:
			return nil
		}
	}
}

// until takes everything up to mark and that.
func (s *splitter) until(mark string, keep bool) error {
	for !s.sees(mark) {
		if _, err := s.take(keep); err != nil {
			return err
		}
	}
	for range mark {
		if _, err := s.take(keep); err != nil {
			return err
		}
	}
	return nil
}

const delimiterWord = "delimiter "

func (s *splitter) changesDelimiter() bool {
	word, _ := s.r.Peek(len(delimiterWord))
	return strings.EqualFold(string(word), delimiterWord)
}

func (s *splitter) newDelimiter() error {
	line, err := s.r.ReadSlice('\n') // which the buffer bounds
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		return err
	}
	mark := bytes.TrimSpace(line[len(delimiterWord):])
	if len(mark) == 0 || len(mark) > delimiterBytesMax {
		return fmt.Errorf("%.40q is no delimiter", mark)
	}
	s.offset += int64(len(line))
	s.line += bytes.Count(line, []byte("\n"))
	s.delimiter = bytes.Clone(mark)
	return nil
}

// verb is the first word of a statement in capitals, looking into comments with a version (/*!40101 SET … */).
func (s *statement) verb() string {
	text := s.text
	if rest, versioned := bytes.CutPrefix(text, []byte("/*!")); versioned {
		text = bytes.TrimLeft(rest, "0123456789 ")
	}
	end := 0
	for end < len(text) && (text[end]|0x20 >= 'a' && text[end]|0x20 <= 'z') {
		end++
	}
	return strings.ToUpper(string(text[:end]))
}
