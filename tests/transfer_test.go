package tests

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
)

// pandoTool runs a subcommand of the real binary against a node.
func (n *node) pandoTool(args ...string) ([]byte, error) {
	cmd := exec.Command(binary, append(args, "--host", n.host(), "--port", n.port())...)
	return cmd.CombinedOutput()
}

func (n *node) mustPandoTool(args ...string) {
	n.t.Helper()
	if out, err := n.pandoTool(args...); err != nil {
		n.t.Fatalf("pando %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// exported are the files of an export, one behind the other.
func exported(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	var out bytes.Buffer
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s\n%s", filepath.Base(f), text)
	}
	return out.String()
}

// TestExportImport: two realistic databases, whose schemas are loaded by pando import, go out by pando export and into another server by pando
// import, whose export is the same to the byte.
func TestExportImport(t *testing.T) {
	from, to := startNode(t, ""), startNode(t, "")
	for _, name := range dumpDatabases {
		from.mustPandoTool("import", filepath.Join("testdata/dump", name+".sql"))
	}
	first, second := t.TempDir(), t.TempDir()
	from.mustPandoTool("export", first, "--range-rows", "3")
	to.mustPandoTool("import", first, "--connections", "3")
	to.mustPandoTool("export", second, "--range-rows", "3", "--connections", "1")
	one, two := exported(t, first), exported(t, second)
	if one != two {
		t.Errorf("the export of an import differs:\n%s", difference(one, two))
	}
	if parts := strings.Count(one, ".00002.sql"); parts == 0 {
		t.Error("no table was cut into ranges")
	}
	if out, err := from.pandoTool("export", first); err == nil {
		t.Errorf("an export into a directory that has files: %s", out)
	}
}

// TestImportResumes: an import that is killed again and again loads every row once, and an error names file and line.
func TestImportResumes(t *testing.T) {
	n := startNode(t, "")
	db := n.open("")
	file := filepath.Join(t.TempDir(), "rows.sql")
	var text bytes.Buffer
	text.WriteString("CREATE DATABASE r;\nUSE r;\nCREATE TABLE t (id INT, pad VARCHAR(1000));\n") // without a key: a row loaded twice is there twice
	const inserts, perInsert = 400, 100
	for i := range inserts {
		for j := range perInsert {
			if j == 0 {
				text.WriteString("INSERT INTO t VALUES ")
			} else {
				text.WriteString(", ")
			}
			fmt.Fprintf(&text, "(%d, '%s')", i*perInsert+j, strings.Repeat("x", 300))
		}
		text.WriteString(";\n")
	}
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"import", file, "--connections", "2", "--host", n.host(), "--port", n.port()}
	count := func() (rows int) {
		_ = db.QueryRow("SELECT COUNT(*) FROM r.t").Scan(&rows) // none before there is a table
		return rows
	}
	for round := range 3 {
		cmd := exec.Command(binary, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		before, ended := count(), make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }()
		testkit.Await(t, fmt.Sprintf("rows of round %d", round), func() bool {
			select {
			case <-ended:
				return true
			default:
				return count() > before
			}
		})
		_ = cmd.Process.Kill() // it may have ended
		<-ended
	}
	if rows := count(); rows < inserts*perInsert {
		if out, err := exec.Command(binary, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if rows, ids := count(), queryInt(t, db, "SELECT COUNT(DISTINCT id) FROM r.t"); rows != inserts*perInsert || ids != inserts*perInsert {
		t.Errorf("%d rows and %d ids, want %d", rows, ids, inserts*perInsert)
	}
	bad := filepath.Join(t.TempDir(), "bad.sql")
	if err := os.WriteFile(bad, []byte("SELECT 1;\n\nINSERT INTO r.nope VALUES (1);\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := n.pandoTool("import", bad); err == nil || !strings.Contains(string(out), "bad.sql:3: Error 1146") {
		t.Errorf("a bad statement: %v %s", err, out)
	}
}
