package tests

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/pandodb/pando/internal/testkit"
)

const (
	capLocalFiles      = 1 << 7
	capMultiStatements = 1 << 16
	capMultiResults    = 1 << 17
	comQuery           = 3
)

// query sends a text.
func (c *rawClient) query(sql string) []byte {
	c.t.Helper()
	return c.command(append([]byte{comQuery}, sql...)...)
}

// wants checks that the server asks for a file.
func (c *rawClient) wants(answer []byte, name string) {
	c.t.Helper()
	if string(answer) != "\xfb"+name {
		c.t.Fatalf("the server answers %q, not with a wish for %s", answer, name)
	}
}

func loadNode(t *testing.T, args ...string) (*node, *sql.DB) {
	t.Helper()
	n := startNode(t, "", args...)
	db := n.open("")
	for _, statement := range []string{"CREATE DATABASE l", "CREATE TABLE l.t (id INT PRIMARY KEY, s VARCHAR(16000))", "SET GLOBAL local_infile = ON"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	return n, db
}

const loadT = "LOAD DATA LOCAL INFILE 'f' INTO TABLE l.t"

// TestLoadLocalDialogue: the sub-dialogue of LOAD DATA LOCAL, packet by packet: among other statements, when the statement fails in the middle
// of the file, and when the client stops, sends nonsense, goes away or is killed. A file that did not arrive whole leaves nothing.
func TestLoadLocalDialogue(t *testing.T) {
	n, db := loadNode(t)
	count := func(want int64) {
		t.Helper()
		if got := queryInt(t, db, "SELECT COUNT(*) FROM l.t"); got != want {
			t.Errorf("the table has %d rows, want %d", got, want)
		}
	}
	all := uint32(capLocalFiles | capMultiStatements | capMultiResults)
	c := n.loginWith(all)
	if answer := c.query("DO 1; " + loadT + "; SELECT 7; " + loadT); answer[0] != 0 {
		t.Fatalf("DO answers %q", answer)
	}
	c.wants(c.read(), "f")
	c.send([]byte("1\ta\n2\t"))
	c.send([]byte("b\n3"))
	c.send(nil)
	if answer := c.read(); answer[0] != 0 || !bytes.Contains(answer, []byte("Records: 3  Deleted: 0  Skipped: 0  Warnings: 1")) {
		t.Fatalf("the first file: %q", answer)
	}
	for _, what := range []string{"columns", "column", "EOF", "row", "EOF"} {
		if answer := c.read(); (what == "EOF") != (answer[0] == 0xfe) {
			t.Fatalf("%s of the SELECT: %q", what, answer)
		}
	}
	c.wants(c.read(), "f")
	c.send(nil)
	if answer := c.read(); answer[0] != 0 || !bytes.Contains(answer, []byte("Records: 0")) {
		t.Fatalf("the empty file: %q", answer)
	}
	c.alive()
	count(3)

	// A statement that fails reads what the client still sends before it answers.
	c.wants(c.query(strings.Replace(loadT, "INTO", "REPLACE INTO", 1)), "f")
	c.send([]byte("9\n"))
	for range 200 {
		c.send(bytes.Repeat([]byte("8\tx\n"), 1000))
	}
	c.send(nil)
	if answer := c.read(); number(answer) != 1261 {
		t.Errorf("a strict REPLACE of a short line: %q", answer)
	}
	c.alive()
	count(3)

	// One that fails before the file asks for none.
	if answer := c.query("LOAD DATA LOCAL INFILE 'f' INTO TABLE l.nope"); number(answer) != 1146 {
		t.Errorf("an unknown table: %q", answer)
	}
	if answer := n.login().query(loadT); number(answer) != 3948 {
		t.Errorf("a client that sends no files: %q", answer)
	}
	c.alive()

	// KILL QUERY takes effect while the client goes on sending.
	c.wants(c.query("LOAD /* slow */ DATA LOCAL INFILE 'f' INTO TABLE l.t"), "f")
	c.send([]byte("10\n"))
	var id int64
	testkit.Await(t, "the statement in the process list", func() bool {
		return db.QueryRow("SELECT id FROM information_schema.processlist WHERE info LIKE 'LOAD /*%'").Scan(&id) == nil
	})
	if _, err := db.Exec(fmt.Sprintf("KILL QUERY %d", id)); err != nil {
		t.Fatal(err)
	}
	c.send([]byte("11\n12\n"))
	c.send(nil)
	if answer := c.read(); number(answer) != 1317 {
		t.Errorf("KILL QUERY: %q", answer)
	}
	c.alive()
	count(3)

	for name, misbehave := range map[string]func(c *rawClient){
		"goes away":                  func(c *rawClient) { c.conn.Close() },
		"goes away within a packet":  func(c *rawClient) { _, _ = c.conn.Write([]byte{200, 0, 0, c.seq, 'x'}); c.conn.Close() },
		"sends packets out of order": func(c *rawClient) { c.seq += 5; c.send([]byte("21\n")); _, _ = c.tryRead() },
		"sends too large a packet":   func(c *rawClient) { _, _ = c.conn.Write([]byte{255, 255, 255, c.seq}); c.send(nil); c.conn.Close() },
		"sends nothing for long":     func(c *rawClient) { _, _ = c.tryRead() },
		"is killed while it sends nothing": func(c *rawClient) {
			var id int64
			testkit.Await(t, "the statement in the process list", func() bool {
				return db.QueryRow("SELECT id FROM information_schema.processlist WHERE info LIKE 'LOAD DATA%'").Scan(&id) == nil
			})
			_, _ = db.Exec(fmt.Sprintf("KILL %d", id))
			_, _ = c.tryRead()
		},
	} {
		c := n.loginWith(all)
		c.query("SET net_read_timeout = 1")
		c.wants(c.query(loadT), "f")
		c.send([]byte("20\tleft\n"))
		misbehave(c)
		testkit.Await(t, name+": the connection to end", func() bool {
			var left int
			return db.QueryRow("SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'LOAD DATA%'").Scan(&left) == nil && left == 0
		})
		count(3)
		if _, err := db.Exec("INSERT INTO l.t VALUES (20, NULL)"); err != nil {
			t.Errorf("a client that %s leaves a lock: %v", name, err)
		}
		if _, err := db.Exec("DELETE FROM l.t WHERE id = 20"); err != nil {
			t.Fatal(err)
		}
	}
	if log := n.logText(); strings.Contains(log, "unexpected error") || strings.Contains(log, "panic") {
		t.Errorf("the log speaks of errors:\n%s", log)
	}
}

// endlessLines are lines of about 10 KB, so many bytes of them.
type endlessLines struct {
	id   int
	left int64
	rest []byte
}

func (e *endlessLines) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		if e.left <= 0 {
			return 0, io.EOF
		}
		e.id++
		e.rest = fmt.Appendf(nil, "%d\t%s\n", e.id%50, strings.Repeat("x", 10000))
		e.left -= int64(len(e.rest))
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// TestLoadLocalDrivers: the files and readers of Go's driver, and command line clients, in the clear, over TLS and compressed.
func TestLoadLocalDrivers(t *testing.T) {
	n, db := loadNode(t)
	// Much more than the server may hold: rows that are there already are left out one by one.
	mysql.RegisterReaderHandler("endless", func() io.Reader { return &endlessLines{left: 150 << 20} })
	before := n.rssBytes()
	result, err := db.Exec("LOAD DATA LOCAL INFILE 'Reader::endless' INTO TABLE l.t")
	if err != nil {
		t.Fatal(err)
	}
	if rows, _ := result.RowsAffected(); rows != 50 {
		t.Errorf("%d rows of the long file", rows)
	}
	if grown := n.rssBytes() - before; grown > 100<<20 {
		t.Errorf("the server grew by %d MiB", grown>>20)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "u.txt")
	if err := os.WriteFile(file, []byte("1,\"a\"\n2,\"b,\"\"c\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mysql.RegisterLocalFile(file)
	load := "LOAD DATA LOCAL INFILE '" + file + "' INTO TABLE l.u FIELDS TERMINATED BY ',' ENCLOSED BY '\"'"
	check := func(name string) {
		t.Helper()
		if got := queryInt(t, db, "SELECT COUNT(*) FROM l.u WHERE s IN ('a', 'b,\"c')"); got != 2 {
			t.Errorf("%s loads %d rows", name, got)
		}
		if _, err := db.Exec("TRUNCATE l.u"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec("CREATE TABLE l.u (id INT PRIMARY KEY, s VARCHAR(20))"); err != nil {
		t.Fatal(err)
	}
	for _, params := range []string{"", "compress=true", "tls=skip-verify", "tls=skip-verify&compress=true"} {
		other, err := sql.Open("mysql", n.dsn("l", params))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.Exec(load); err != nil {
			t.Errorf("%s: %v", params, err)
		}
		other.Close()
		check("Go's driver with " + params)
	}
	programs := map[string][]string{}
	for _, name := range []string{"mariadb", "mysql"} {
		if path, err := exec.LookPath(name); err == nil {
			programs[name] = []string{path}
		}
	}
	if script := mysqlScript(t); script != "" {
		programs["MySQL's mysql"] = []string{script, "mysql"}
	}
	for name, program := range programs {
		for _, option := range []string{"--local-infile=1", "--compress"} {
			c := client{t, program, overTCP(n)}
			if out := c.must([]byte(load), "--local-infile=1", option, "-vvv", "l"); !bytes.Contains(out, []byte("Records: 2  Deleted: 0  Skipped: 0  Warnings: 0")) {
				t.Errorf("%s %s prints no counts:\n%s", name, option, out)
			}
			check(name + " " + option)
		}
	}
	for _, name := range []string{"mariadb-import", "mysqlimport"} {
		if path, err := exec.LookPath(name); err == nil {
			c := client{t, []string{path}, overTCP(n)}
			c.must(nil, "--local", "--fields-terminated-by=,", "--fields-enclosed-by=\"", "l", file)
			check(name)
		}
	}
}

// TestSecureFilePriv: statements reach only files whose real path is in the directory, and never the server's own.
func TestSecureFilePriv(t *testing.T) {
	allowed, elsewhere, data := t.TempDir(), t.TempDir(), t.TempDir()
	for path, text := range map[string]string{allowed + "/in.txt": "1\tin\n", elsewhere + "/out.txt": "2\tout\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"link": elsewhere + "/out.txt", "dir": elsewhere, "own": allowed + "/in.txt", "data": data} {
		if err := os.Symlink(target, filepath.Join(allowed, name)); err != nil {
			t.Fatal(err)
		}
	}
	shown := func(db *sql.DB) (v string) {
		if err := db.QueryRow("SELECT @@secure_file_priv").Scan(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	try := func(db *sql.DB, name, want string, numbers map[string]uint16) {
		t.Helper()
		if got := shown(db); got != want {
			t.Errorf("%s: the variable is %s, want %s", name, got, want)
		}
		for statement, number := range numbers {
			_, err := db.Exec(statement)
			if got := errorNumber(err); got != number || number == 0 && err != nil {
				t.Errorf("%s: %s answers %v, want %d", name, statement, err, number)
			}
		}
	}
	load := func(path string) string { return "LOAD DATA INFILE '" + path + "' REPLACE INTO TABLE l.t" }
	write := func(path string) string { return "SELECT 1 INTO OUTFILE '" + path + "'" }

	n, db := loadNode(t)
	try(db, "none", "NULL", map[string]uint16{load(allowed + "/in.txt"): 1290, write(allowed + "/no.txt"): 1290, "SELECT LOAD_FILE('" + allowed + "/in.txt') IS NULL INTO @x": 0})
	db.Close()
	n.stop()

	n = startNode(t, data, "--secure-file-priv", allowed)
	db = n.open("")
	for _, statement := range []string{"CREATE DATABASE l", "CREATE TABLE l.t (id INT PRIMARY KEY, s VARCHAR(20))"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	try(db, "a directory", allowed, map[string]uint16{
		load(allowed + "/in.txt"): 0, load(allowed + "/own"): 0, load(allowed + "/../" + filepath.Base(allowed) + "/in.txt"): 0,
		load(elsewhere + "/out.txt"): 1290, load(elsewhere + "/nothing"): 1290, load(allowed + "/link"): 1290, load(allowed + "/dir/out.txt"): 1290, load(allowed + "/../x"): 1290,
		load("in.txt"): 1290, load(allowed + "/nothing"): 13, load(allowed): 1085,
		write(allowed + "/new.txt"): 0, write(allowed + "/in.txt"): 1086, write(allowed + "/link"): 1086, write(elsewhere + "/new.txt"): 1290, write(allowed + "/dir/new.txt"): 1290,
		write("new.txt"): 1290, write(allowed + "/none/new.txt"): 1, write(allowed + "/data/new"): 1290,
	})
	if got := queryInt(t, db, "SELECT LOAD_FILE('"+allowed+"/in.txt') = '1\tin\n' AND LOAD_FILE('"+allowed+"/link') IS NULL"); got != 1 {
		t.Error("LOAD_FILE does not keep to the directory")
	}
	if info, err := os.Stat(allowed + "/new.txt"); err != nil || info.Mode() != 0o640 {
		t.Errorf("INTO OUTFILE makes %v, %v", info, err)
	}
	if _, err := os.Stat(elsewhere + "/new.txt"); err == nil {
		t.Error("a refused file is there")
	}
	db.Close()
	n.stop()

	n = startNode(t, data, "--secure-file-priv=")
	db = n.open("")
	numbers := map[string]uint16{load(elsewhere + "/out.txt"): 0, load(allowed + "/link"): 0, write(elsewhere + "/any.txt"): 0, write(data + "/own.txt"): 1290, write(allowed + "/data/own.txt"): 1290}
	entries, err := os.ReadDir(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		numbers[load(filepath.Join(data, e.Name()))] = 1290
		numbers[load(filepath.Join(allowed, "data", e.Name()))] = 1290
	}
	try(db, "anywhere", "", numbers)
}
