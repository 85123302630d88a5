package expr_test

import (
	"bufio"
	"database/sql"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/types"
)

// startOracle starts a private MariaDB for one test, or skips it.
func startOracle(t *testing.T) *sql.DB {
	t.Helper()
	socket := testkit.MariaDB(t, "--innodb=OFF", "--default-storage-engine=MyISAM", "--default-tmp-storage-engine=MyISAM")
	db, err := sql.Open("mysql", "root@unix("+socket+")/?collation=utf8mb4_general_ci")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	for _, s := range []string{
		"SET sql_mode = 'STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO'",
		"SET time_zone = '+00:00'", "SET timestamp = 1709212455.123456", "CREATE DATABASE test", "USE test",
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return db
}

// askOracle returns the text of one expression, or "error N".
func askOracle(t *testing.T, db *sql.DB, text string) string {
	t.Helper()
	var v sql.NullString
	err := db.QueryRow("SELECT " + text).Scan(&v)
	var refused *mysql.MySQLError
	switch {
	case errors.As(err, &refused):
		return "error " + strconv.Itoa(int(refused.Number))
	case err != nil:
		t.Fatalf("%s: %v", text, err)
	case !v.Valid:
		return "NULL"
	}
	return printable(v.String)
}

// askPando is the same question put to this package.
func askPando(x *binder, text string) string {
	e, err := x.parse(text)
	if err == nil {
		v, everr := e.Eval(x.newContext(), nil)
		if everr == nil {
			return show(v, e.Type())
		}
		err = everr
	}
	var refused *types.Error
	if errors.As(err, &refused) {
		return "error " + strconv.Itoa(int(refused.Number))
	}
	return err.Error()
}

// corpus returns the expressions of the "eval" blocks of a script.
func corpus(t *testing.T, path string) (lines []string) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := false
	for s := bufio.NewScanner(f); s.Scan(); {
		switch line := s.Text(); {
		case line == "eval":
			in = true
		case line == "----":
			in = false
		case in:
			lines = append(lines, line)
		}
	}
	return lines
}

// differences are the expressions where MariaDB is known to differ from MySQL 8, or this package from both; the file says why.
func differences(t *testing.T) map[string]bool {
	text, err := os.ReadFile("testdata/oracle_differences.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, line := range strings.Split(string(text), "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			known[line] = true
		}
	}
	return known
}

// TestOracle puts the expressions of the scripts to a real server. A listed difference that has gone must leave the list.
func TestOracle(t *testing.T) {
	db := startOracle(t)
	known := differences(t)
	x := newBinder()
	x.b.Collation = types.Utf8mb4GeneralCI
	asked := 0
	for _, name := range []string{"arith", "compare", "logic", "string", "like", "numeric", "date", "json"} {
		for _, text := range corpus(t, "testdata/eval/"+name+".txt") {
			want, got := askOracle(t, db, text), askPando(x, text)
			asked++
			switch {
			case want == got && known[text]:
				t.Errorf("%s: no longer a difference, remove it from the list", text)
			case want != got && !known[text]:
				t.Errorf("%s\n  server %s\n  pando  %s", text, want, got)
			}
		}
	}
	t.Logf("%d expressions, %d listed differences", asked, len(known))
}
