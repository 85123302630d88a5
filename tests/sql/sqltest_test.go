package sqltest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pandodb/pando/tests/inproc"
	sqltest "github.com/pandodb/pando/tests/sql"
	"github.com/pandodb/pando/types"
)

// complaintsShown bounds what one file prints.
const complaintsShown = 10

// ask runs one statement in a session.
func ask(c *inproc.Conn, sql string) *sqltest.Answer {
	got := c.Exec(sql)
	a := &sqltest.Answer{Affected: int(got.Result.AffectedRows), Number: got.Number()}
	if got.Err != nil {
		a.Message = got.Err.Error()
		return a
	}
	for _, column := range got.Columns {
		a.Types += letter(column.Type)
	}
	for _, row := range got.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = sqltest.Cell(v)
		}
		a.Rows = append(a.Rows, cells)
	}
	return a
}

func letter(t types.Type) string {
	switch name := strings.ToUpper(t.String()); {
	case strings.Contains(name, "INT") || strings.HasPrefix(name, "YEAR"):
		return "I"
	case strings.HasPrefix(name, "DOUBLE") || strings.HasPrefix(name, "FLOAT"):
		return "R"
	}
	return "T"
}

// difference is a statement that Pando answers otherwise than MySQL, with the reason.
type difference struct {
	reason string
	met    bool
}

// differences reads testdata/differences.txt: a line "reason: …" speaks of the lines below it, each "FILE: statement" with its white space folded.
func differences(t *testing.T) map[string]*difference {
	t.Helper()
	text, err := os.ReadFile("testdata/differences.txt")
	if err != nil {
		t.Fatal(err)
	}
	out, reason := map[string]*difference{}, ""
	for i, line := range strings.Split(string(text), "\n") {
		why, isReason := strings.CutPrefix(line, "reason: ")
		switch {
		case isReason:
			reason = why
		case line == "" || strings.HasPrefix(line, "#"):
		case reason == "":
			t.Fatalf("differences.txt:%d: no reason is given", i+1)
		default:
			out[line] = &difference{reason: reason}
		}
	}
	return out
}

func key(path, sql string) string {
	return filepath.Base(path) + ": " + strings.Join(strings.Fields(sql), " ")
}

// TestFiles runs every file. A listed difference that has gone must leave the list.
func TestFiles(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.test")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files: %v", err)
	}
	n := inproc.Open(t, inproc.Options{})
	t.Cleanup(n.Close)
	listed := differences(t)
	total := 0
	for i, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) { total += runFile(t, n, fmt.Sprintf("file%d", i), path, listed) })
	}
	if t.Failed() {
		return
	}
	for statement, d := range listed {
		if !d.met {
			t.Errorf("differences.txt lists what is right now, or in no file: %s (%s)", statement, d.reason)
		}
	}
	t.Logf("%d statements, %d listed differences", total, len(listed))
}

func runFile(t *testing.T, n *inproc.Node, database, path string, listed map[string]*difference) (ran int) {
	records, err := sqltest.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := n.Root("")
	defer c.Close()
	for _, s := range append([]string{"CREATE DATABASE " + database, "USE " + database}, sqltest.Settings...) {
		c.Must(s)
	}
	wrong := 0
	for _, r := range records {
		if r.Kind == sqltest.Halt {
			break
		}
		if r.Skipped("pando") {
			continue
		}
		ran++
		complaint := r.Mismatch(ask(c, r.SQL))
		if complaint == "" {
			continue
		}
		if d := listed[key(path, r.SQL)]; d != nil {
			d.met = true
			continue
		}
		if wrong++; wrong <= complaintsShown || testing.Verbose() {
			t.Errorf("%s:%d: %s\nwant %v %d %s\n got %s", path, r.Line, r.SQL, r.Kind, r.Number, strings.Join(r.Expected, "\n     "), complaint)
		}
	}
	if wrong > 0 {
		t.Errorf("%s: %d of %d statements differ", path, wrong, ran)
	}
	return ran
}
