package tests

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// compatClient is a program under tests/compat/NAME that uses a real client package. Its setup installs the package into $CACHE, and run runs
// the trial, which prints a line for each step.
type compatClient struct {
	name, title string
	always      bool // part of make test; the others are part of make compat
}

// compatClients in the order of the table.
var compatClients = []compatClient{
	{"go-sql-driver", "go-sql-driver/mysql", true},
	{"gorm", "GORM", false},
	{"go-tools", "Atlas, Bun, xorm, golang-migrate, goose", false},
	{"pymysql", "PyMySQL", true},
	{"mysqlclient", "mysqlclient", false},
	{"connector-python", "mysql-connector-python", false},
	{"sqlalchemy", "SQLAlchemy 2, Alembic, pandas", false},
	{"django", "Django 5 with migrations and admin", false},
	{"peewee", "Peewee", false},
	{"asyncio", "aiomysql, asyncmy, SQLAlchemy's asynchronous sessions", false},
	{"mysql2", "Node mysql2, mysql, mariadb", false},
	{"sequelize", "Sequelize 6", false},
	{"knex", "Knex", false},
	{"typeorm", "TypeORM", false},
	{"mikro-orm", "MikroORM 6", false},
	{"drizzle", "Drizzle", false},
	{"prisma", "Prisma's client, without its migrations", false},
	{"connector-j", "Connector/J (MySQL's JDBC driver)", false},
	{"mariadb-j", "MariaDB Connector/J", false},
	{"php", "PHP: mysqli, PDO, WordPress' schema and queries", false},
	{"eloquent", "Laravel's Eloquent and its migrations", false},
	{"doctrine", "Doctrine ORM and DBAL", false},
	{"perl", "Perl DBI: DBD::mysql, DBD::MariaDB", false},
	{"ruby", "Ruby mysql2, with ActiveRecord's statements", false},
	{"sqlx", "Rust sqlx with migrations and compiled queries", false},
	{"hibernate", "Hibernate 6", false},
	{"flyway", "Flyway", false},
	{"liquibase", "Liquibase", false},
	{"mysqld-exporter", "Prometheus' mysqld_exporter, all its collectors", false},
}

var compatTable = flag.String("compat-table", "", "write the compatibility table to this file")

const (
	compatSetupMax = 10 * time.Minute
	compatRunMax   = 10 * time.Minute
	compatWaitMax  = time.Minute // for output that the children of a script that was ended still hold
	compatPassword = "compat password"
)

// TestCompat runs real clients against the real server: those of make test, or all of them with COMPAT=all. A step that fails is a
// failure; a client whose packages can't be installed here is a skip that says so.
func TestCompat(t *testing.T) {
	all := os.Getenv("COMPAT") == "all"
	n := startNode(t, "")
	db := n.open("")
	for _, statement := range []string{
		"CREATE USER compat IDENTIFIED BY '" + compatPassword + "'", "GRANT ALL ON *.* TO compat",
		"CREATE USER compat_native IDENTIFIED WITH mysql_native_password BY '" + compatPassword + "'", "GRANT ALL ON *.* TO compat_native",
		"SET GLOBAL local_infile = ON",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	cache, err := compatCache()
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	for _, c := range compatClients {
		if !all && !c.always {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			if _, err := db.Exec("CREATE DATABASE `" + c.database() + "`"); err != nil {
				t.Fatal(err)
			}
			own := filepath.Join(cache, c.name)
			if text, err := c.setup(t.Context(), own); err != nil {
				fmt.Fprintf(&table, "| %s | untested: not available where this was run |\n", c.title)
				t.Skipf("%s is not available here: %v\n%s", c.title, err, text)
			}
			ok, failed := c.run(t, n, own)
			result := fmt.Sprintf("%d of %d steps", ok, ok+len(failed))
			for _, line := range failed {
				result += "; fails: " + strings.ReplaceAll(line, "|", "\\|")
				t.Error(line)
			}
			if ok+len(failed) == 0 {
				t.Error("no step has run")
			}
			fmt.Fprintf(&table, "| %s | %s |\n", c.title, result)
		})
	}
	if *compatTable != "" {
		head := "# Clients that were tried\n\nMade by `make compat`, which runs the programs in `tests/compat` against a real server: each creates tables, relates, pages, upserts, locks, rolls back,\nmigrates and reads the dictionary. Not tried: Prisma's migrations (the engine for them is not in its npm packages, and the one in WebAssembly\nthat is knows no MySQL); the tables are those that they would make. The command-line clients and the dump programs have tests of their own.\n\n| client | result |\n|---|---|\n"
		if err := os.WriteFile(*compatTable, append([]byte(head), table.Bytes()...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// compatCache is the folder that keeps the installed packages from run to run.
func compatCache() (string, error) {
	base, err := os.UserCacheDir()
	return filepath.Join(base, "pando-compat"), err
}

func (c *compatClient) database() string { return "compat_" + c.name }

func (c *compatClient) command(ctx context.Context, script string, env ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "bash", "-eu", "-o", "pipefail", script)
	cmd.Dir = filepath.Join("compat", c.name)
	cmd.Env = append(os.Environ(), append(env, "PYTHONDONTWRITEBYTECODE=1", "GOFLAGS=-mod=mod")...)
	cmd.WaitDelay = compatWaitMax
	return cmd
}

// setup installs what the client needs, once for each text of its setup. It returns what was printed.
func (c *compatClient) setup(ctx context.Context, cache string) (string, error) {
	want, err := os.ReadFile(filepath.Join("compat", c.name, "setup"))
	if err != nil {
		return "", err
	}
	mark := filepath.Join(cache, "setup.done")
	if have, err := os.ReadFile(mark); err == nil && bytes.Equal(have, want) {
		return "", nil
	}
	if err := os.RemoveAll(cache); err != nil {
		return "", err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, compatSetupMax)
	defer cancel()
	text, err := c.command(ctx, "setup", "CACHE="+cache).CombinedOutput()
	if err != nil {
		return string(text[max(0, len(text)-2000):]), err
	}
	return "", os.WriteFile(mark, want, 0o644)
}

// run runs the trial and counts its steps.
func (c *compatClient) run(t *testing.T, n *node, cache string) (ok int, failed []string) {
	t.Helper()
	host, port, err := net.SplitHostPort(n.mysql)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), compatRunMax)
	defer cancel()
	cmd := c.command(ctx, "run", "CACHE="+cache, "HOST="+host, "PORT="+port, "DBUSER=compat", "NATIVE_USER=compat_native", "PASSWORD="+compatPassword, "DATABASE="+c.database())
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "ok - "):
			ok++
		case strings.HasPrefix(line, "not ok - "):
			failed = append(failed, strings.TrimPrefix(line, "not ok - "))
		}
	}
	if err != nil && len(failed) == 0 {
		failed = append(failed, "the program: "+err.Error())
	}
	if len(failed) > 0 {
		text := errors.Bytes()
		t.Logf("%s", text[max(0, len(text)-4000):])
	}
	return ok, failed
}

// TestCompatLists: each folder of tests/compat is a client of the list.
func TestCompatLists(t *testing.T) {
	entries, err := os.ReadDir("compat")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !slices.ContainsFunc(compatClients, func(c compatClient) bool { return c.name == e.Name() }) {
			t.Errorf("tests/compat/%s is not run", e.Name())
		}
	}
	for _, c := range compatClients {
		for _, script := range []string{"setup", "run"} {
			if _, err := os.Stat(filepath.Join("compat", c.name, script)); err != nil {
				t.Error(err)
			}
		}
	}
}
