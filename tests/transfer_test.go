package tests

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/transfer"
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
	first, second := filepath.Join(t.TempDir(), "first"), t.TempDir()
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
	if out, err := from.pandoTool("export", first); err == nil || string(out) != "pando: export: "+first+" is not an empty directory\n" {
		t.Errorf("an export into a directory that has files: %v %s", err, out)
	}
	err := filepath.Walk(first, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("others can read %s: %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestImportProgress: what is told of the progress never exceeds the whole, though a view that reads a later one is tried again.
func TestImportProgress(t *testing.T) {
	n, dir := startNode(t, ""), t.TempDir()
	for name, text := range map[string]string{
		"p-database.sql": "CREATE DATABASE p;\n", "p.a-view.sql": "USE p;\nCREATE VIEW a AS SELECT * FROM z;\n", "p.z-view.sql": "USE p;\nCREATE VIEW z AS SELECT 1;\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	port, err := strconv.Atoi(n.port())
	if err != nil {
		t.Fatal(err)
	}
	tried, last, whole := 0, int64(0), int64(0)
	err = transfer.Import(t.Context(), transfer.ImportOptions{
		Login: transfer.Login{Host: n.host(), Port: port, User: "root"}, Paths: []string{dir}, Connections: 1,
		Progress: func(file string, done, total int64) {
			if last, whole = done, total; done > total {
				t.Errorf("%d of %d with %s", done, total, file)
			}
			if filepath.Base(file) == "p.a-view.sql" {
				tried++
			}
		},
	})
	if err != nil || last != whole || whole == 0 {
		t.Errorf("%d of %d, %v", last, whole, err)
	}
	if tried < 4 { // three times by a try that succeeds
		t.Errorf("the first view was not tried again: it was told of %d times", tried)
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
	n.importKilled(db, "r", inserts*perInsert, "import", file, "--connections", "2")
	bad := filepath.Join(t.TempDir(), "bad.sql")
	if err := os.WriteFile(bad, []byte("SELECT 1;\n\nINSERT INTO r.nope VALUES (1);\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := n.pandoTool("import", bad); err == nil || !strings.Contains(string(out), "bad.sql:3: Error 1146") {
		t.Errorf("a bad statement: %v %s", err, out)
	}
}

// TestImportMeetsTheOneBefore: the server may still be at the last COMMIT of an import that was killed when the next one has begun.
func TestImportMeetsTheOneBefore(t *testing.T) {
	n := startNode(t, "")
	db := n.open("")
	mustExec(t, db, "CREATE DATABASE d", "CREATE TABLE d.t (id INT)", "CREATE TABLE d.keyed (id INT PRIMARY KEY)")
	for _, c := range []struct {
		name, text  string
		start       int // of the first batch
		table, rows string
		want        int64 // rows of the table at the end
	}{
		{"d.t.csv", "id\n1\n2\n", 3, "d.t", "(1), (2)", 2},
		{"d.keyed.csv", "id\n1\n2\n", 3, "d.keyed", "(1), (2)", 2},
		{"rows.sql", "INSERT INTO d.t VALUES (3), (4);\n", 0, "d.t", "(3), (4)", 4},
	} {
		file := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		mustExec(t, db, "CREATE DATABASE pando_import",
			"CREATE TABLE pando_import.done (file VARCHAR(700) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, start BIGINT, PRIMARY KEY (file, start))")
		before, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		mustExec(t, before, fmt.Sprintf("INSERT INTO pando_import.done VALUES ('%s', %d)", file, c.start), "INSERT INTO "+c.table+" VALUES "+c.rows)
		ended := make(chan error, 1)
		go func() {
			out, err := n.pandoTool("import", file)
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			ended <- err
		}()
		testkit.Await(t, "the import to wait", func() bool {
			return queryInt(t, db, "SELECT COUNT(*) FROM performance_schema.data_locks WHERE LOCK_STATUS = 'WAITING'") > 0
		})
		if err := before.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if rows := queryInt(t, db, "SELECT COUNT(*) FROM "+c.table); rows != c.want {
			t.Errorf("%s: %d rows, want %d", c.name, rows, c.want)
		}
	}
}

// importKilled kills an import into a table t, of a number of rows with different ids, three times before it lets it end; each row is there once.
func (n *node) importKilled(db *sql.DB, database string, want int, args ...string) {
	t := n.t
	t.Helper()
	args = append(args, "--host", n.host(), "--port", n.port())
	count := func() (rows int) {
		_ = db.QueryRow("SELECT COUNT(*) FROM " + database + ".t").Scan(&rows) // none before there is a table
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
	if rows := count(); rows < want {
		if out, err := exec.Command(binary, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if rows, ids := count(), int(queryInt(t, db, "SELECT COUNT(DISTINCT id) FROM "+database+".t")); rows != want || ids != want {
		t.Errorf("%d rows and %d ids, want %d", rows, ids, want)
	}
}
