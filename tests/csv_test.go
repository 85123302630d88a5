package tests

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// csvTypes are tables with each type, and with values that files of CSV could confuse.
var csvTypes = []string{
	"CREATE DATABASE `odd.name d`", "USE `odd.name d`",
	"CREATE TABLE ints (id BIGINT PRIMARY KEY AUTO_INCREMENT, a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, d INT UNSIGNED ZEROFILL, e BIGINT UNSIGNED, f DECIMAL(30,10), g FLOAT, h DOUBLE, i YEAR, j BIT(13), k BOOL)",
	"INSERT INTO ints VALUES (-9223372036854775808, -128, 65535, -8388608, 7, 18446744073709551615, -12345678901234567890.0123456789, 1.5, -2.5e-300, 1901, b'1000000000001', TRUE), (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (4, 0, 0, 0, 0, 0, 0, 0, 0, 0, b'0', FALSE)",
	"CREATE TABLE texts (id INT PRIMARY KEY, a CHAR(9), b VARCHAR(90) CHARACTER SET utf8mb4, c TEXT, d ENUM('x','y,z'), e SET('a','b'), f JSON, g VARCHAR(20) CHARACTER SET latin1, h INT AS (id + 1) VIRTUAL, i LONGTEXT)",
	`INSERT INTO texts (id, a, b, c, d, e, f, g, i) VALUES
		(1, '', '\\N', 'a,b;c\td|e', 'y,z', 'a,b', '{"a": "b,\\"c\\""}', 'äöü', REPEAT('long ', 100000)), (2, NULL, 'NULL', 'quote " two "" and ''', 'x', '', '[]', '', '\n'),
		(3, '\\', 'a\\', 'line\nline\r\nline\rend', NULL, NULL, NULL, NULL, NULL), (4, '"', '😀\0ä', '"quoted"', 'x', 'b', '"\\\\N"', 'x', ',"'), (5, ' a', ' b ', '\t', NULL, NULL, 'null', ' ', '\Z\b')`,
	"CREATE TABLE bytes (a BINARY(3), b VARBINARY(300), c BLOB, d LONGBLOB)", // and no key
	"INSERT INTO bytes VALUES (X'0A0D00', X'225C2C', X'', X'FFFE00'), (NULL, NULL, NULL, NULL), (X'5C4E', X'5C4E', X'5C', X'0A'), (X'EFBBBF', X'0D0A', X'2C2C', X'22')",
	"CREATE TABLE times (a DATE, b DATETIME(6), c TIMESTAMP(3) NULL, d TIME(2))",
	"INSERT INTO times VALUES ('2024-02-29', '9999-12-31 23:59:59.999999', '2038-01-19 03:14:07.999', '-838:59:59'), (NULL, NULL, NULL, NULL)",
	"CREATE TABLE one (a VARCHAR(10))", "INSERT INTO one VALUES (''), (NULL), ('x'), ('\\n')",
	"CREATE TABLE nothing (`a,b` INT, `c\"d` INT)",
}

// TestCSV: databases go out as CSV in several formats, and into another server, whose SQL export is then the same to the byte.
func TestCSV(t *testing.T) {
	from, to := startNode(t, ""), startNode(t, "")
	db := from.open("")
	db.SetMaxOpenConns(1)
	mustExec(t, db, csvTypes...)
	mustExec(t, db, "CREATE TABLE zparent (id INT PRIMARY KEY)", "INSERT INTO zparent VALUES (1)", // which is loaded behind what refers to it
		"CREATE TABLE child (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES zparent (id))", "INSERT INTO child VALUES (1, 1)")
	for _, name := range dumpDatabases {
		from.mustPandoTool("import", filepath.Join("testdata/dump", name+".sql"))
	}
	plain := t.TempDir()
	from.mustPandoTool("export", plain)
	want := exported(t, plain)
	for _, format := range [][]string{
		nil,
		{"--null", "", "--no-header"},
		{"--separator", `\t`, "--quote", "", "--escape", `\`},
		{"--separator", "||", "--quote", "'", "--escape", "^", "--null", "0"},
	} {
		format = append(format, "--format", "csv")
		dir, back := t.TempDir(), t.TempDir()
		from.mustPandoTool(append([]string{"export", dir, "--connections", "3"}, format...)...)
		if files, err := filepath.Glob(dir + "/*.csv"); err != nil || len(files) < 20 {
			t.Errorf("%d files of CSV, %v", len(files), err)
		}
		to.mustPandoTool(append([]string{"import", dir, "--connections", "3"}, format...)...)
		to.mustPandoTool("export", back)
		if got := exported(t, back); got != want {
			t.Errorf("%q: what was imported from CSV differs:\n%s", format, difference(want, got))
		}
		db := to.open("")
		for _, name := range append(dumpDatabases, "odd.name d") {
			mustExec(t, db, "DROP DATABASE `"+name+"`")
		}
	}
	ranges := t.TempDir()
	from.mustPandoTool("export", ranges, "--format", "csv", "--range-rows", "100", "--databases", "employees")
	to.mustPandoTool("import", ranges)
	if rows := queryInt(t, to.open(""), "SELECT COUNT(*) FROM employees.employees"); rows != 1000 {
		t.Errorf("%d rows of a table in ranges", rows)
	}
	if out, err := from.pandoTool("export", t.TempDir(), "--null", "x"); err == nil || !strings.Contains(string(out), "--null says how CSV is written: it needs --format csv") {
		t.Errorf("an option of CSV for an export of SQL: %v %s", err, out)
	}
}

// TestCSVLoadData: what an export writes is for LOAD DATA what it is for an import.
func TestCSVLoadData(t *testing.T) {
	n := startNode(t, "")
	db := n.open("")
	db.SetMaxOpenConns(1)
	mustExec(t, db, csvTypes...)
	dir := t.TempDir()
	n.mustPandoTool("export", dir, "--format", "csv", "--escape", `\`)
	file := filepath.Join(dir, "odd@2ename@20d.texts.csv")
	mysql.RegisterLocalFile(file)
	defer mysql.DeregisterLocalFile(file)
	mustExec(t, db, "SET GLOBAL local_infile = ON", "CREATE TABLE copy LIKE texts",
		"LOAD DATA LOCAL INFILE '"+file+`' INTO TABLE copy CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' ESCAPED BY '\\' LINES TERMINATED BY '\n' IGNORE 1 LINES (id, a, b, c, d, e, f, g, i)`)
	same := queryInt(t, db, `SELECT COUNT(*) FROM texts t JOIN copy c ON t.id = c.id AND BINARY t.a <=> BINARY c.a AND BINARY t.b <=> BINARY c.b AND BINARY t.c <=> BINARY c.c
		AND t.d <=> c.d AND t.e <=> c.e AND t.f <=> c.f AND BINARY t.g <=> BINARY c.g AND BINARY t.i <=> BINARY c.i`)
	if rows := queryInt(t, db, "SELECT COUNT(*) FROM copy"); rows != 5 || same != 5 {
		t.Errorf("%d rows, %d of them the same, want 5", rows, same)
	}
}

// TestCSVFaults: faults of files name the file, the line and MySQL's error, and leave what was committed before.
func TestCSVFaults(t *testing.T) {
	n := startNode(t, "")
	db := n.open("")
	mustExec(t, db, "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, name VARCHAR(5), g INT AS (id * 2) STORED, CHECK (id <> 13))")
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for i, c := range []struct {
		file, text string
		args       []string
		want       string // a fault, or else how many rows there are
	}{
		{"d.t.csv", "id,name\n1,a\n2,b\n", nil, "2"},
		{"d.t.csv", "NAME,ID\r\n\"a\nb\",1\r\n\\N,2", nil, "2"},
		{"t.csv", "id\n1\n", []string{"--database", "d"}, "1"},
		{"anything", "1;\xe4\n", []string{"--table", "d.t", "--format", "csv", "--no-header", "--separator", ";", "--charset", "latin1"}, "1"},
		{"d.t.csv", "x,y\n1,a\n", []string{"--columns", "id,name"}, "1"},
		{"d.t.csv", "", []string{"--no-header"}, "0"},
		{"d.t.csv", "id,name\n1,a\n\n2,b\n", nil, "d.t.csv:3: Error 1261 (01000): Row 2 doesn't contain data for all columns"},
		{"d.t.csv", "id,name\n1,\"a\na\"\n2,b,c\n", nil, "d.t.csv:4: Error 1262 (01000): Row 2 was truncated; it contained more data than there were input columns"},
		{"d.t.csv", "id,name\n1,a\n2,b\n1,c\n", nil, "d.t.csv:4: Error 1062 (23000): Duplicate entry '1' for key 't.PRIMARY'"},
		{"d.t.csv", "id,name\n1,a\nx,b\n", nil, "d.t.csv:3: Error 1366 (HY000): Incorrect integer value: 'x' for column 'id' at row 1"},
		{"d.t.csv", "id,name\n1,a\n2,toolong\n", nil, "d.t.csv:3: Error 1406 (22001): Data too long for column 'name' at row 1"},
		{"d.t.csv", "id,name\n1,a\n2,\xff\n", nil, "d.t.csv:3: Error 1366 (HY000): Incorrect string value: '\\xFF' for column 'name' at row 1"},
		{"d.t.csv", "id,name\n1,a\n13,b\n", nil, "d.t.csv:3: Error 3819 (HY000): Check constraint 't_chk_1' is violated."},
		{"d.t.csv", "id,nope\n1,a\n", nil, "d.t.csv:1: Error 1054 (42S22): Unknown column 'nope' in 'field list'"},
		{"d.t.csv", "id,g\n1,2\n", nil, "d.t.csv:2: Error 3105 (HY000): The value specified for generated column 'g' in table 't' is not allowed."},
		{"d.nope.csv", "id\n1\n", nil, "d.nope.csv:1: Error 1146 (42S02): Table 'd.nope' doesn't exist"},
		{"d.nope.csv", "1\n", []string{"--no-header"}, "d.nope.csv:1: Error 1146 (42S02): Table 'd.nope' doesn't exist"},
		{"d.t.csv", "id,name\n1,a\n2,\"b\n", nil, "d.t.csv:3: a quote has no end"},
		{"d.t.csv", "", nil, "d.t.csv:1: the file is empty, and has no line that names the columns"},
		{"t.csv", "id\n1\n", nil, "t.csv:1: the database of the table t is not known"},
		{"a.b.c.csv", "id\n1\n", nil, "a.b.c.csv:1: the file's name says no table"},
		{"d.t.csv", "id\n1\n", []string{"--charset", "nope"}, "d.t.csv:1: Error 1115 (42000): Unknown character set: 'nope'"},
		{"d.t.csv", "id\n1\n", []string{"--separator", ""}, "the separator"},
		{"d.t.csv", "id\n1\n", []string{"--format", "sql", "--quote", "'"}, "--quote says how CSV is written: it needs --format csv"},
		{"x.sql", "SELECT 1", []string{"--table", "t"}, "a table or columns are said, and no file is CSV"},
	} {
		mustExec(t, db, "DELETE FROM d.t")
		out, err := n.pandoTool(append([]string{"import", write(c.file, c.text), "--restart"}, c.args...)...)
		rows := fmt.Sprint(queryInt(t, db, "SELECT COUNT(*) FROM d.t"))
		if strings.Contains(c.want, ":") || strings.Contains(c.want, " ") {
			if err == nil || !strings.Contains(string(out), c.want) || rows != "0" {
				t.Errorf("%d: %v %s, %s rows, want %s", i, err, out, rows, c.want)
			}
		} else if err != nil || rows != c.want {
			t.Errorf("%d: %v %s, %s rows, want %s", i, err, out, rows, c.want)
		}
	}
	mustExec(t, db, "DELETE FROM d.t", "CREATE TABLE d.c (id INT, FOREIGN KEY (id) REFERENCES d.t (id))")
	if out, err := n.pandoTool("import", write("d.c.csv", "id\n\\N\n1\n"), "--restart"); err == nil || !strings.Contains(string(out), "d.c.csv:3: Error 1452 (23000)") {
		t.Errorf("a row without a parent: %v %s", err, out)
	}
}

// TestCSVResumes: an import of CSV that is killed again and again loads every row once.
func TestCSVResumes(t *testing.T) {
	n := startNode(t, "")
	db := n.open("")
	mustExec(t, db, "CREATE DATABASE r", "CREATE TABLE r.t (id INT, pad VARCHAR(1000))") // without a key: a row loaded twice is there twice
	var text bytes.Buffer
	text.WriteString("id,pad\n")
	const rows = 40_000
	for i := range rows {
		fmt.Fprintf(&text, "%d,\"%s\n\"\n", i, strings.Repeat("x", 300))
	}
	file := filepath.Join(t.TempDir(), "r.t.csv")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	n.importKilled(db, "r", rows, "import", file, "--connections", "2")
}
