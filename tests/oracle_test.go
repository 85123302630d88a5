package tests

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/pandodb/pando/internal/testkit"
)

// oracleMode is MySQL 8's sql_mode. MariaDB also gets roundMode: MySQL rounds fractions of a second, MariaDB only if told to.
const (
	oracleMode = "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
	roundMode  = ",TIME_ROUND_FRACTIONAL"
)

// oracleSettings make both servers speak of the same things: one zone, one collation, one time.
var oracleSettings = []string{
	"SET NAMES utf8mb4 COLLATE utf8mb4_general_ci",
	"SET time_zone = '+00:00'", "SET timestamp = 1709212455", "CREATE DATABASE oracle COLLATE utf8mb4_general_ci", "USE oracle",
}

// startOracle starts a private MariaDB. Here a missing one fails the test.
func startOracle(t *testing.T) *sql.Conn {
	t.Helper()
	if testkit.MariaDBProgram() == "" {
		t.Fatal("install mariadb-server, or run scripts/test-programs.sh, which does")
	}
	socket := testkit.MariaDB(t, "--innodb-buffer-pool-size=32M", "--innodb-log-file-size=8M")
	db, err := sql.Open("mysql", "root@unix("+socket+")/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return oracleConn(t, db, oracleMode+roundMode)
}

// pandoConn starts a node and returns a connection with the oracle's settings.
func pandoConn(t *testing.T) *sql.Conn {
	t.Helper()
	return oracleConn(t, startNode(t, "").open(""), oracleMode)
}

func oracleConn(t *testing.T, db *sql.DB, mode string) *sql.Conn {
	t.Helper()
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	for _, statement := range append([]string{"SET sql_mode = '" + mode + "'"}, oracleSettings...) {
		if _, err := conn.ExecContext(context.Background(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return conn
}

// answer is all that a client sees of a statement, as text: rows or counts, or an error's number.
func answer(t *testing.T, conn *sql.Conn, statement string) string {
	t.Helper()
	word, _, _ := strings.Cut(strings.TrimLeft(statement, "( \n"), " ")
	switch strings.ToUpper(word) {
	case "SELECT", "SHOW", "DESCRIBE":
		return queryAnswer(t, conn, statement)
	}
	done, err := conn.ExecContext(context.Background(), statement)
	if err != nil {
		return errorAnswer(t, statement, err)
	}
	rows, err := done.RowsAffected()
	if err != nil {
		t.Fatal(err)
	}
	id, err := done.LastInsertId()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d rows, insert id %d", rows, id)
}

func errorAnswer(t *testing.T, statement string, err error) string {
	t.Helper()
	var refused *mysql.MySQLError
	if !errors.As(err, &refused) {
		t.Fatalf("%s: %v", statement, err)
	}
	return fmt.Sprintf("error %d", refused.Number)
}

// queryAnswer is the result as text; rows are sorted unless the statement orders them itself.
func queryAnswer(t *testing.T, conn *sql.Conn, statement string) string {
	t.Helper()
	rows, err := conn.QueryContext(context.Background(), statement)
	if err != nil {
		return errorAnswer(t, statement, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	cells, targets := make([]sql.RawBytes, len(names)), make([]any, len(names))
	for i := range cells {
		targets[i] = &cells[i]
	}
	var lines []string
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		var line strings.Builder
		for _, cell := range cells {
			if cell == nil {
				line.WriteString("NULL|")
				continue
			}
			fmt.Fprintf(&line, "%q|", cell)
		}
		lines = append(lines, line.String())
	}
	if err := rows.Err(); err != nil {
		return errorAnswer(t, statement, err)
	}
	if !strings.Contains(strings.ToUpper(statement), "ORDER BY") {
		sort.Strings(lines)
	}
	return strings.Join(names, "|") + "\n" + strings.Join(lines, "\n")
}

// oracleStatement is one statement of a script; differs tells why the two servers may give different answers.
type oracleStatement struct{ sql, differs string }

// oracleScript reads statements that end with a semicolon at a line's end. A line "-- differs: reason" speaks of the next statement.
func oracleScript(t *testing.T, name string) (out []oracleStatement) {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var current oracleStatement
	for _, line := range strings.Split(string(raw), "\n") {
		if why, ok := strings.CutPrefix(line, "-- differs: "); ok {
			current.differs = why
			continue
		}
		if strings.HasPrefix(line, "--") || strings.TrimSpace(line) == "" {
			continue
		}
		current.sql += line + "\n"
		if text, ok := strings.CutSuffix(strings.TrimSpace(current.sql), ";"); ok {
			current.sql = text
			out = append(out, current)
			current = oracleStatement{}
		}
	}
	return out
}

// TestOracle runs the scripts on MariaDB and on Pando and compares every answer. A listed difference that has gone must leave the list.
func TestOracle(t *testing.T) {
	oracle := startOracle(t)
	pando := pandoConn(t)
	names, err := filepath.Glob("testdata/oracle/*.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	asked, known := 0, 0
	for _, name := range names {
		for _, statement := range oracleScript(t, name) {
			asked++
			want, got := answer(t, oracle, statement.sql), answer(t, pando, statement.sql)
			if statement.differs != "" {
				known++
				if want == got {
					t.Errorf("%s: %s\n no longer differs: %s", name, statement.sql, statement.differs)
				}
				continue
			}
			if want != got {
				t.Errorf("%s: %s\n MariaDB: %s\n Pando:   %s", name, statement.sql, want, got)
			}
		}
	}
	t.Logf("%d statements, %d listed differences", asked, known)
}
