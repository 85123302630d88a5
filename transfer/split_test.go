package transfer

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestSplit: statements, the lines in which they begin and where they start in the file, among quotes, comments and other delimiters.
func TestSplit(t *testing.T) {
	const file = "-- a comment; with a mark\nSELECT 1;\n  INSERT INTO t VALUES ('a;b\\'', \"c;\"\"\", `d;`),\n('--', '/*');;\n" +
		"/*!40101 SET NAMES utf8 */;\n/* gone; */ # gone;\nDELIMITER //\nCREATE TRIGGER x BEGIN; END//\nDELIMITER ;\n--\nSELECT 2 -- end;\n, 3--1; REPLACE x"
	want := []string{
		"2@0 SELECT: SELECT 1",
		"3@35 INSERT: INSERT INTO t VALUES ('a;b\\'', \"c;\"\"\", `d;`),\n('--', '/*')",
		"5@98 SET: /*!40101 SET NAMES utf8 */",
		"8@126 CREATE: CREATE TRIGGER x BEGIN; END",
		"11@189 SELECT: SELECT 2  , 3--1",
		"12@229 REPLACE: REPLACE x",
	}
	for name, src := range map[string]io.Reader{"whole": strings.NewReader(file), "byte by byte": iotest.OneByteReader(strings.NewReader(file))} {
		s := newSplitter(src)
		var got []string
		for {
			st, err := s.next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%d@%d %s: %s", st.line, st.start, st.verb(), st.text))
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s\nwant:\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// endless is a file that goes on, and counts what was read of it.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	if e.read += len(b); e.read > 100*splitBufferBytes {
		return 0, io.ErrUnexpectedEOF
	}
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// TestBounded (TR3): what is no delimiter is refused before all of it is in memory.
func TestBounded(t *testing.T) {
	rest := &endless{}
	_, err := newSplitter(io.MultiReader(strings.NewReader("DELIMITER "), rest)).next()
	if err == nil || !strings.Contains(err.Error(), "is no delimiter") || len(err.Error()) > 100 {
		t.Errorf("%.200v", err)
	}
	if rest.read > 2*splitBufferBytes {
		t.Errorf("%d bytes were read", rest.read)
	}
}
