package server

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/pandodb/pando/infoschema"
)

// logBuffer is a log that a test reads while the node writes it.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// TestPanicInOperator: a fault in an operator, however deep below others, answers that statement with 1105 and no word of what has happened, and
// is logged with its place. It ends its own connection, whose transaction and locks are gone with it (house rule 6); transactions of others go on.
func TestPanicInOperator(t *testing.T) {
	var log logBuffer
	o := testOptions(t)
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	n, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	const secret = "a fault of the test"
	n.shared().Regions = func() []infoschema.Region { panic(secret) }
	ctx := context.Background()
	db, err := sql.Open("mysql", "root@tcp("+n.MySQLAddr()+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxIdleConns(0) // a connection that the server ends is not used again
	connect := func() *sql.Conn {
		t.Helper()
		c, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	must := func(c *sql.Conn, statements ...string) {
		t.Helper()
		for _, s := range statements {
			if _, err := c.ExecContext(ctx, s); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
	}
	other, next := connect(), connect()
	defer other.Close()
	defer next.Close()
	must(other, "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, a INT)", "INSERT INTO d.t VALUES (1, 1), (2, 2), (3, 3)", "BEGIN", "UPDATE d.t SET a = 9 WHERE id = 3")
	regions := "(SELECT COUNT(*) FROM information_schema.TIKV_REGION_STATUS)"
	for i, query := range []string{
		"SELECT " + regions,
		"SELECT t.a, COUNT(*) FROM d.t JOIN information_schema.TIKV_REGION_STATUS r ON t.id <> r.REGION_ID GROUP BY t.a ORDER BY 2",
		"SELECT * FROM d.t WHERE EXISTS (SELECT 1 FROM information_schema.TIKV_REGION_STATUS r WHERE r.REGION_ID > t.id)",
		"UPDATE d.t SET a = " + regions + " WHERE id = 1",
		"INSERT INTO d.t SELECT 7, REGION_ID FROM information_schema.TIKV_REGION_STATUS",
	} {
		victim := connect()
		must(victim, "BEGIN", "UPDATE d.t SET a = 5 WHERE id = 2")
		_, err := victim.ExecContext(ctx, query)
		var answer *mysql.MySQLError
		if !errors.As(err, &answer) || answer.Number != 1105 || strings.Contains(answer.Message, secret) {
			t.Errorf("%s: %v", query, err)
		}
		victim.Close()
		logged := log.String()
		if strings.Count(logged, secret) != i+1 || !strings.Contains(logged, "panic_test.go") {
			t.Errorf("%s: the log says %s", query, logged)
		}
		if n.wire.Counters().Panics != uint64(i+1) {
			t.Errorf("%s: %d panics are counted", query, n.wire.Counters().Panics)
		}
		// The row that the victim has changed is free again, and as it was.
		must(next, "UPDATE d.t SET a = a + 10 WHERE id = 2")
	}
	must(other, "COMMIT")
	var sum int
	if err := other.QueryRowContext(ctx, "SELECT SUM(a) FROM d.t").Scan(&sum); err != nil || sum != 1+2+50+9 {
		t.Errorf("the rows add up to %d: %v", sum, err)
	}
}
