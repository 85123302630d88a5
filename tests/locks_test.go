package tests

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/testkit"
)

// lockCase is a transaction of testdata/locks.txt that stays open, and what others may do meanwhile.
type lockCase struct {
	line        int
	level, hold string
	probes      []lockProbe
}

type lockProbe struct {
	line      int
	statement string
	pando     string // "ok", "waits" or the number of an error
	mysql     string
}

func readLockCases(t *testing.T) (cases []lockCase) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "locks.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		if level, statement, is := strings.Cut(line, ": "); is {
			cases = append(cases, lockCase{line: i + 1, level: level, hold: statement})
			continue
		}
		verdict, statement, _ := strings.Cut(line, " ")
		p := lockProbe{line: i + 1, statement: statement}
		var differs bool
		if p.pando, p.mysql, differs = strings.Cut(verdict, "/"); !differs {
			p.mysql = p.pando
		}
		c := &cases[len(cases)-1]
		c.probes = append(c.probes, p)
	}
	return cases
}

// TestLocks: which statements wait for a transaction is what testdata/locks.txt says of Pando.
func TestLocks(t *testing.T) {
	n := startNode(t, "")
	db := n.open("")
	mustExec(t, db, "CREATE DATABASE locks")
	testLocks(t, n.open("locks"), func(p *lockProbe) string { return p.pando })
}

// TestLocksOfMySQL: and of MySQL.
func TestLocksOfMySQL(t *testing.T) {
	socket := testkit.MySQL(t)
	db, err := sql.Open("mysql", "root@unix("+socket+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	mustExec(t, db, "CREATE DATABASE locks")
	in, err := sql.Open("mysql", "root@unix("+socket+")/locks")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	testLocks(t, in, func(p *lockProbe) string { return p.mysql })
}

func testLocks(t *testing.T, db *sql.DB, want func(*lockProbe) string) {
	ctx := t.Context()
	holder, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	prober, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer prober.Close()
	var id int64
	if err := prober.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	for _, c := range readLockCases(t) {
		mustExec(t, db, "DROP TABLE IF EXISTS t, other", "CREATE TABLE t (id INT PRIMARY KEY, u INT, k INT, c INT, UNIQUE (u), KEY (k))",
			"CREATE TABLE other LIKE t", "INSERT INTO t VALUES (10,10,10,0),(20,20,20,0),(30,30,20,1),(40,40,40,0)")
		runOn(t, holder, "SET SESSION TRANSACTION ISOLATION LEVEL "+c.level, "BEGIN", c.hold)
		for i := range c.probes {
			p := &c.probes[i]
			runOn(t, prober, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "BEGIN")
			if got := probeLock(t, db, prober, id, p.statement); got != want(p) {
				t.Errorf("locks.txt:%d: %s, behind %s: %s, %s", p.line, got, c.level, c.hold, p.statement)
			}
			runOn(t, prober, "ROLLBACK")
		}
		runOn(t, holder, "ROLLBACK")
	}
}

func runOn(t *testing.T, conn *sql.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := conn.ExecContext(context.Background(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// probeLock runs a statement; one that waits for a lock is killed.
func probeLock(t *testing.T, db *sql.DB, conn *sql.Conn, id int64, statement string) string {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := conn.ExecContext(context.Background(), statement)
		done <- err
	}()
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(2 * time.Millisecond) {
		select {
		case err := <-done:
			if err != nil {
				return strconv.Itoa(int(errorNumber(err)))
			}
			return "ok"
		default:
		}
		var name string
		var waits int
		if err := db.QueryRow("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'").Scan(&name, &waits); err != nil {
			t.Fatal(err)
		}
		if waits == 0 {
			continue
		}
		if _, err := db.Exec("KILL QUERY " + strconv.FormatInt(id, 10)); err != nil {
			t.Fatal(err)
		}
		if err := <-done; errorNumber(err) != 1317 {
			t.Fatalf("%s waited and ended with %v", statement, err)
		}
		return "waits"
	}
	t.Fatalf("%s neither waits nor ends", statement)
	return ""
}
