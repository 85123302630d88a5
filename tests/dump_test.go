package tests

import (
	"bytes"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
)

// client is a command line client, and how it reaches a server.
type client struct {
	t       *testing.T
	program []string
	server  []string
}

func (c client) run(input []byte, args ...string) ([]byte, error) {
	all := append(append(append([]string{}, c.program[1:]...), c.server...), args...)
	cmd := exec.Command(c.program[0], all...)
	cmd.Stdin = bytes.NewReader(input)
	var out, fault bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &fault
	err := cmd.Run()
	if err != nil {
		c.t.Logf("%s %s: %v\n%s", strings.Join(c.program, " "), strings.Join(args, " "), err, fault.String())
	}
	return out.Bytes(), err
}

func (c client) must(input []byte, args ...string) []byte {
	c.t.Helper()
	out, err := c.run(input, args...)
	if err != nil {
		c.t.FailNow()
	}
	return out
}

// mysqlScript is scripts/mysql.sh if a MySQL has been unpacked, else it is empty.
func mysqlScript(t *testing.T) string {
	t.Helper()
	script, err := filepath.Abs("../scripts/mysql.sh")
	if err != nil {
		t.Fatal(err)
	}
	if exec.Command(script, "have").Run() != nil {
		return ""
	}
	return script
}

func overTCP(n *node) []string {
	return []string{"--host=" + n.host(), "--port=" + n.port(), "--user=root"}
}

// dumpDatabases are the schemas under testdata/dump, each of which makes the database of its name.
var dumpDatabases = []string{"rental", "employees"}

// viewQuery matches the line of a dump that holds a view's query, which each server writes in its own way.
var viewQuery = regexp.MustCompile(`(?m)^/\*!50001 VIEW .*$`)

// parted are the lines of a dump without the queries of views, and those queries.
func parted(dump []byte) (rest, views string) {
	return viewQuery.ReplaceAllString(string(dump), "VIEW"), string(bytes.Join(viewQuery.FindAll(dump, -1), []byte("\n")))
}

func difference(a, b string) string {
	left, right := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(left), len(right)) {
		if left[i] != right[i] {
			return "-" + left[i] + "\n+" + right[i]
		}
	}
	return "one is longer"
}

// TestDumpsOfMySQL: what MySQL's own mysqldump takes out of Pando makes the same database in MySQL, whose dump is the same, and which makes
// the same database in Pando again, with the same rows in tables and views.
func TestDumpsOfMySQL(t *testing.T) {
	script := mysqlScript(t)
	if script == "" {
		t.Skip("no mysqldump of MySQL: scripts/mysql.sh fetch unpacks one")
	}
	socket := testkit.MySQL(t)
	n := startNode(t, "")
	pando := client{t, []string{script, "mysql", "--default-character-set=utf8mb4"}, overTCP(n)}
	pandoDump := client{t, []string{script, "mysqldump", "--set-gtid-purged=OFF", "--skip-comments"}, overTCP(n)}
	mysql, mysqlDump := pando, pandoDump
	mysql.server, mysqlDump.server = []string{"--socket=" + socket, "--user=root"}, []string{"--socket=" + socket, "--user=root"}
	for _, db := range dumpDatabases {
		schema, err := os.ReadFile(filepath.Join("testdata/dump", db+".sql"))
		if err != nil {
			t.Fatal(err)
		}
		pando.must(schema)
		out := pandoDump.must(nil, "--databases", db)
		mysql.must(out)
		back := mysqlDump.must(nil, "--databases", db)
		first, firstViews := parted(out)
		second, _ := parted(back)
		if first != second {
			t.Errorf("%s: Pando's dump and that of the MySQL that it made differ:\n%s", db, difference(first, second))
		}
		rows := viewRows(pando, db)
		if got := viewRows(mysql, db); got != rows {
			t.Errorf("%s: views in MySQL:\n%s\nin Pando:\n%s", db, got, rows)
		}
		pando.must([]byte("DROP DATABASE " + db))
		pando.must(back)
		third, _ := parted(pandoDump.must(nil, "--databases", db))
		if first != third {
			t.Errorf("%s: changed on the way to MySQL and back:\n%s", db, difference(first, third))
		}
		if got := viewRows(pando, db); got != rows {
			t.Errorf("%s: views changed on the way to MySQL and back:\n%s\nwere:\n%s", db, got, rows)
		}
		pando.must([]byte("CREATE DATABASE other"))
		pando.must(pandoDump.must(nil, db), "other")
		if _, views := parted(pandoDump.must(nil, "other")); strings.Contains(views, "`"+db+"`.") {
			t.Errorf("%s loaded into another database refers to the first one:\n%s", db, views)
		}
		pando.must([]byte("DROP DATABASE other"))
		if firstViews == "" {
			t.Errorf("%s has no views", db)
		}
	}
}

// viewRows are the rows of all views of a database.
func viewRows(c client, db string) string {
	var out bytes.Buffer
	names := c.must([]byte("SELECT table_name FROM information_schema.views WHERE table_schema='"+db+"' ORDER BY 1"), "--skip-column-names")
	for _, name := range strings.Fields(string(names)) {
		out.WriteString(name + "\n")
		out.Write(c.must([]byte("SELECT * FROM `"+db+"`.`"+name+"` ORDER BY 1"), "--skip-column-names"))
	}
	return out.String()
}

// TestDumpOptions: every common option of both dump programs, and that what they give can be loaded.
func TestDumpOptions(t *testing.T) {
	n := startNode(t, "")
	db := n.open("")
	for _, name := range dumpDatabases {
		schema, err := os.ReadFile(filepath.Join("testdata/dump", name+".sql"))
		if err != nil {
			t.Fatal(err)
		}
		multi, err := sql.Open("mysql", n.dsn("", "multiStatements=true"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := multi.Exec(string(schema)); err != nil {
			t.Fatal(err)
		}
		multi.Close()
	}
	programs := map[string][]string{}
	if path, err := exec.LookPath("mariadb-dump"); err == nil {
		programs["mariadb-dump"] = []string{path}
	}
	if script := mysqlScript(t); script != "" {
		programs["mysqldump"] = []string{script, "mysqldump"}
	}
	if len(programs) == 0 {
		t.Skip("neither mariadb-dump nor MySQL's mysqldump is installed: scripts/test-programs.sh and scripts/mysql.sh fetch")
	}
	for name, program := range programs {
		c := client{t, program, overTCP(n)}
		for _, args := range [][]string{
			{"rental"}, {"--databases", "rental", "employees"}, {"--all-databases", "--single-transaction", "--routines", "--events", "--triggers"},
			{"--all-databases", "--lock-all-tables"}, {"--lock-tables", "--hex-blob", "rental"}, {"--no-data", "--compact", "rental"},
			{"--no-create-info", "--complete-insert", "--order-by-primary", "--replace", "rental"}, {"--insert-ignore", "--skip-extended-insert", "rental"},
			{"--quick", "--no-autocommit", "--skip-tz-utc", "rental"}, {"--where=film_id<3", "rental", "film"}, {"--flush-logs", "--flush-privileges", "rental"},
			{"--add-drop-database", "--add-drop-table", "--databases", "rental"}, {"--ignore-table=rental.film", "rental"}, {"--xml", "rental"},
		} {
			out, err := c.run(nil, args...)
			if err != nil {
				t.Errorf("%s %v failed", name, args)
				continue
			}
			if len(out) < 1000 {
				t.Errorf("%s %v: only %d bytes:\n%s", name, args, len(out), out)
			}
		}
		for args, want := range map[string]string{"--all-databases": "CREATE DATABASE", "--xml rental": "<mysqldump"} {
			if out := c.must(nil, strings.Fields(args)...); !bytes.Contains(out, []byte(want)) {
				t.Errorf("%s %s has no %s", name, args, want)
			}
		}
		option := map[string]string{"mysqldump": "--source-data=2", "mariadb-dump": "--master-data=2"}[name]
		if _, err := c.run(nil, option, "rental"); err == nil {
			t.Errorf("%s %s finds a binary log where there is none", name, option)
		}
	}
	var locked int
	if err := db.QueryRow("SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE '%lock%'").Scan(&locked); err != nil || locked != 0 {
		t.Errorf("%d sessions wait for locks, %v", locked, err)
	}
}
