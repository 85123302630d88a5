package inproc_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pandodb/pando/tests/inproc"
)

// caseFile is a file of testdata/cases. Its form is told at its top:
//
//	# id title        begins a case, in a fresh database, on a fresh connection, with the default settings
//	## text           is a comment
//	statement         one a line; it must succeed unless an expectation follows it
//	= a|b ; c|d       the rows: columns parted by |, rows by ;  (= alone: no rows)
//	! 1062 text       the error's number, and if given a part of its text
//	~                 any answer but an error
//	affected 2        the number of affected rows
//	warning 1062      the numbers of the warnings, parted by blanks, as SHOW WARNINGS lists them
//	name x            the first column's name
//	has x             a text within the answer
//	pending reason    an expectation of the case is not met yet; the test fails once all are
type caseFile struct {
	path  string
	cases []answerCase
}

type answerCase struct {
	id, title, pending string
	line               int
	steps              []caseStep
}

type caseStep struct {
	sql    string
	checks []string
}

var checkWords = []string{"= ", "! ", "~", "affected ", "warning ", "name ", "has "}

func isCheck(line string) bool {
	if line == "=" {
		return true
	}
	for _, w := range checkWords {
		if strings.HasPrefix(line, w) {
			return true
		}
	}
	return false
}

func readCases(t *testing.T, path string) caseFile {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := caseFile{path: path}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimRight(line, " ")
		reason, pending := strings.CutPrefix(line, "pending ")
		head, begins := strings.CutPrefix(line, "# ")
		switch {
		case line == "" || strings.HasPrefix(line, "##"):
		case begins:
			id, title, _ := strings.Cut(head, " ")
			f.cases = append(f.cases, answerCase{id: id, title: title, line: i + 1})
		case len(f.cases) == 0:
			t.Fatalf("%s:%d: a line before the first case", path, i+1)
		case pending:
			f.cases[len(f.cases)-1].pending = reason
		default:
			c := &f.cases[len(f.cases)-1]
			if !isCheck(line) {
				c.steps = append(c.steps, caseStep{sql: line})
				break
			}
			if len(c.steps) == 0 {
				t.Fatalf("%s:%d: an expectation before the first statement", path, i+1)
			}
			last := &c.steps[len(c.steps)-1]
			last.checks = append(last.checks, line)
		}
	}
	return f
}

// TestCases defends answers that were wrong once. Each was checked on a real MySQL 9.7.
func TestCases(t *testing.T) {
	paths, err := filepath.Glob("testdata/cases/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	n := inproc.Open(t, inproc.Options{})
	t.Cleanup(n.Close)
	databases := 0
	for _, path := range paths {
		f := readCases(t, path)
		for _, c := range f.cases {
			databases++
			database := fmt.Sprintf("case%d", databases)
			t.Run(c.id, func(t *testing.T) {
				complaint := runCase(n, database, &c)
				switch {
				case c.pending != "" && complaint == "":
					t.Errorf("%s:%d: %s is right now: remove its mark \"pending\"", path, c.line, c.id)
				case c.pending != "":
					t.Logf("pending (%s): %s", c.pending, complaint)
				case complaint != "":
					t.Errorf("%s:%d: %s %s\n%s", path, c.line, c.id, c.title, complaint)
				}
			})
		}
	}
}

// runCase returns what differs from the case's expectations, or "".
func runCase(n *inproc.Node, database string, c *answerCase) string {
	conn := n.Root("")
	defer conn.Close()
	for _, s := range []string{"CREATE DATABASE " + database, "USE " + database} {
		if a := conn.Exec(s); a.Err != nil {
			return fmt.Sprintf("%s: %v", s, a.Err)
		}
	}
	checked := false
	for _, step := range c.steps {
		a := conn.Exec(step.sql)
		if len(step.checks) == 0 && a.Err != nil {
			return fmt.Sprintf("%s\n got %v", step.sql, a.Err)
		}
		for _, check := range step.checks {
			checked = true
			if wrong := mismatch(conn, a, check); wrong != "" {
				return fmt.Sprintf("%s\nwant %s\n got %s", step.sql, check, wrong)
			}
		}
	}
	if !checked {
		return "the case expects nothing"
	}
	return ""
}

// mismatch returns what the answer is instead of what is expected, or "".
func mismatch(conn *inproc.Conn, a *inproc.Answer, check string) string {
	word, want, _ := strings.Cut(check, " ")
	got, fine := a.String(), false
	if word == "!" {
		number, text, _ := strings.Cut(want, " ")
		fine = a.Err != nil && fmt.Sprint(a.Number()) == number && strings.Contains(a.Err.Error(), text)
	} else if a.Err == nil {
		switch word {
		case "=":
			got = rowsLine(a.Rows)
			fine = got == want
		case "~":
			fine = true
		case "affected":
			got = fmt.Sprint(a.Result.AffectedRows)
			fine = got == want
		case "warning":
			got = warningNumbers(conn)
			fine = got == want
		case "name":
			got = "no column"
			if len(a.Columns) > 0 {
				got = a.Columns[0].Name
			}
			fine = got == want
		case "has":
			fine = strings.Contains(got, want)
		}
	}
	if fine {
		return ""
	}
	return got
}

func rowsLine(rows [][]string) string {
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = strings.Join(row, "|")
	}
	return strings.Join(lines, " ; ")
}

func warningNumbers(conn *inproc.Conn) string {
	var numbers []string
	for _, row := range conn.Exec("SHOW WARNINGS").Rows {
		numbers = append(numbers, row[1])
	}
	return strings.Join(numbers, " ")
}
