package tests

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/testkit"
)

// anomaly is one case of Hermitage (M. Kleppmann, https://github.com/ept/hermitage): statements of two or three transactions over a table
// of two rows, and what tells that the anomaly has happened.
type anomaly struct {
	name  string
	steps []string // "1 statement": of which transaction
	// happened looks at the answers, one for each step: rows as "id=value", "n affected", or "error 1213".
	happened func(answers []string) bool
}

// failed tells whether a transaction was refused anywhere.
func failed(answers []string) bool {
	return slices.ContainsFunc(answers, func(a string) bool { return strings.HasPrefix(a, "error") })
}

func saw(answer, row string) bool { return slices.Contains(strings.Fields(answer), row) }

// The anomalies. Each begins with (1,10), (2,20); all transactions have begun.
var anomalies = []anomaly{
	{"G0", []string{"1 UPDATE test SET value=11 WHERE id=1", "2 UPDATE test SET value=12 WHERE id=1", "1 UPDATE test SET value=21 WHERE id=2", "1 COMMIT",
		"1 SELECT * FROM test", "2 UPDATE test SET value=22 WHERE id=2", "2 COMMIT", "1 SELECT * FROM test"},
		func(a []string) bool { return saw(a[7], "1=12") != saw(a[7], "2=22") }},
	{"G1a", []string{"1 UPDATE test SET value=101 WHERE id=1", "2 SELECT * FROM test", "1 ROLLBACK", "2 SELECT * FROM test", "2 COMMIT"},
		func(a []string) bool { return saw(a[1], "1=101") || saw(a[3], "1=101") }},
	{"G1b", []string{"1 UPDATE test SET value=101 WHERE id=1", "2 SELECT * FROM test", "1 UPDATE test SET value=11 WHERE id=1", "1 COMMIT", "2 SELECT * FROM test", "2 COMMIT"},
		func(a []string) bool { return saw(a[1], "1=101") || saw(a[4], "1=101") }},
	{"G1c", []string{"1 UPDATE test SET value=11 WHERE id=1", "2 UPDATE test SET value=22 WHERE id=2", "1 SELECT * FROM test WHERE id=2", "2 SELECT * FROM test WHERE id=1", "1 COMMIT", "2 COMMIT"},
		func(a []string) bool { return saw(a[2], "2=22") && saw(a[3], "1=11") }},
	{"OTV", []string{"1 UPDATE test SET value=11 WHERE id=1", "1 UPDATE test SET value=19 WHERE id=2", "2 UPDATE test SET value=12 WHERE id=1", "1 COMMIT",
		"3 SELECT * FROM test WHERE id=1", "2 UPDATE test SET value=18 WHERE id=2", "3 SELECT * FROM test WHERE id=2", "2 COMMIT", "3 SELECT * FROM test WHERE id=2", "3 SELECT * FROM test WHERE id=1", "3 COMMIT"},
		func(a []string) bool {
			return saw(a[4], "1=12") && saw(a[6], "2=19") || saw(a[8], "2=18") && saw(a[9], "1=11")
		}},
	{"PMP", []string{"1 SELECT * FROM test WHERE value=30", "2 INSERT INTO test VALUES (3,30)", "2 COMMIT", "1 SELECT * FROM test WHERE value%3=0", "1 COMMIT"},
		func(a []string) bool { return saw(a[3], "3=30") }},
	{"PMP, write", []string{"1 UPDATE test SET value=value+10", "2 SELECT * FROM test WHERE value=20", "2 DELETE FROM test WHERE value=20", "1 COMMIT", "2 COMMIT", "1 SELECT * FROM test"},
		func(a []string) bool { return saw(a[1], "2=20") && !failed(a) }},
	{"P4", []string{"1 SELECT * FROM test WHERE id=1", "2 SELECT * FROM test WHERE id=1", "1 UPDATE test SET value=11 WHERE id=1", "2 UPDATE test SET value=11 WHERE id=1", "1 COMMIT", "2 COMMIT"},
		func(a []string) bool { return !failed(a) }},
	{"G-single", []string{"1 SELECT * FROM test WHERE id=1", "2 SELECT * FROM test", "2 UPDATE test SET value=12 WHERE id=1", "2 UPDATE test SET value=18 WHERE id=2", "2 COMMIT", "1 SELECT * FROM test WHERE id=2", "1 COMMIT"},
		func(a []string) bool { return saw(a[0], "1=10") && saw(a[5], "2=18") && !failed(a) }},
	{"G-single, dependencies", []string{"1 SELECT * FROM test WHERE value%5=0", "2 UPDATE test SET value=12 WHERE value=10", "2 COMMIT", "1 SELECT * FROM test WHERE value%3=0", "1 COMMIT"},
		func(a []string) bool { return saw(a[3], "1=12") && !failed(a) }},
	{"G-single, write", []string{"1 SELECT * FROM test WHERE id=1", "2 SELECT * FROM test", "2 UPDATE test SET value=12 WHERE id=1", "2 UPDATE test SET value=18 WHERE id=2", "2 COMMIT", "1 DELETE FROM test WHERE value=20", "1 COMMIT", "1 SELECT * FROM test"},
		func(a []string) bool { return saw(a[0], "1=10") && saw(a[7], "2=18") && !failed(a) }},
	{"G2-item", []string{"1 SELECT * FROM test WHERE id IN (1,2)", "2 SELECT * FROM test WHERE id IN (1,2)", "1 UPDATE test SET value=11 WHERE id=1", "2 UPDATE test SET value=21 WHERE id=2", "1 COMMIT", "2 COMMIT"},
		func(a []string) bool { return !failed(a) }},
	{"G2", []string{"1 SELECT * FROM test WHERE value%3=0", "2 SELECT * FROM test WHERE value%3=0", "1 INSERT INTO test VALUES (3,30)", "2 INSERT INTO test VALUES (4,42)", "1 COMMIT", "2 COMMIT"},
		func(a []string) bool { return !failed(a) }},
}

// isolationLevels are the columns of docs/transactions.md that the test measures.
var isolationLevels = []struct {
	name     string
	settings []string
}{
	{"READ COMMITTED", []string{"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET innodb_snapshot_isolation=OFF"}},
	{"REPEATABLE READ", []string{"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SET innodb_snapshot_isolation=OFF"}},
	{"with innodb_snapshot_isolation", []string{"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SET innodb_snapshot_isolation=ON"}},
	{"SERIALIZABLE", []string{"SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SET innodb_snapshot_isolation=OFF"}},
}

// TestHermitage: which anomalies happen at which level, over the wire, is what docs/transactions.md says.
func TestHermitage(t *testing.T) {
	t.Run("alone", hermitage)
	t.Run("promoted", func(t *testing.T) {
		t.Setenv("PANDO_PROMOTED", "1")
		hermitage(t)
	})
}

func hermitage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "transactions.md"))
	if err != nil {
		t.Fatal(err)
	}
	n := startNode(t, "")
	db := n.open("")
	mustExec(t, db, "CREATE DATABASE hermitage")
	db = n.open("hermitage")
	for i := range anomalies {
		c := &anomalies[i]
		var verdicts []string
		for _, level := range isolationLevels {
			answers := runAnomaly(t, db, c, level.settings)
			verdict := "prevented"
			if c.happened(answers) {
				verdict = "**happens**"
			}
			verdicts = append(verdicts, verdict)
			t.Logf("%s, %s: %s: %q", c.name, level.name, verdict, answers)
		}
		if row := "| " + c.name + " | " + strings.Join(verdicts, " | ") + " |"; !strings.Contains(string(text), row) {
			t.Errorf("docs/transactions.md says something else than %s", row)
		}
	}
}

// runAnomaly runs one case on fresh rows and returns the answers of its steps. What comes after a statement that waits for a lock stands
// behind it; what comes after an error in the same transaction is skipped, but for reads.
func runAnomaly(t *testing.T, db *sql.DB, c *anomaly, settings []string) []string {
	t.Helper()
	mustExec(t, db, "DROP TABLE IF EXISTS test", "CREATE TABLE test (id INT PRIMARY KEY, value INT)", "INSERT INTO test VALUES (1,10),(2,20)")
	answers := make([]string, len(c.steps))
	var workers sync.WaitGroup
	queues := map[byte]chan int{}       // of places in steps
	pending := map[byte]*atomic.Int64{} // steps without an answer
	for _, who := range []byte("123") {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for _, s := range append(slices.Clone(settings), "BEGIN") {
			if _, err := conn.ExecContext(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		queue, left := make(chan int, len(c.steps)), new(atomic.Int64)
		queues[who], pending[who] = queue, left
		workers.Go(func() {
			broken := false
			for i := range queue {
				statement := c.steps[i][2:]
				answers[i] = "skipped"
				if !broken || strings.HasPrefix(statement, "SELECT") {
					answers[i] = ask(t.Context(), conn, statement)
				}
				broken = broken || strings.HasPrefix(answers[i], "error")
				left.Add(-1)
			}
		})
	}
	settled := func() bool {
		busy := 0
		for _, left := range pending {
			if left.Load() > 0 {
				busy++
			}
		}
		if busy == 0 {
			return true
		}
		time.Sleep(5 * time.Millisecond)
		var name string
		var waits int
		if err := db.QueryRow("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'").Scan(&name, &waits); err != nil {
			t.Fatal(err)
		}
		if waits != busy {
			return false
		}
		// Who has got a lock counts there until it runs again; in this table it waits no more once the other's COMMIT is answered.
		return queryInt(t, db, "SELECT COUNT(DISTINCT THREAD_ID) FROM performance_schema.data_locks WHERE LOCK_STATUS = 'WAITING'") == int64(busy)
	}
	for i, step := range c.steps {
		pending[step[0]].Add(1)
		queues[step[0]] <- i
		testkit.Await(t, "an answer to "+step+", or a wait", settled)
	}
	for _, queue := range queues {
		close(queue)
	}
	workers.Wait()
	return answers
}

// ask runs a statement and renders its answer.
func ask(ctx context.Context, conn *sql.Conn, statement string) string {
	if !strings.HasPrefix(statement, "SELECT") {
		res, err := conn.ExecContext(ctx, statement)
		if err != nil {
			return fmt.Sprint("error ", errorNumber(err))
		}
		n, _ := res.RowsAffected()
		return fmt.Sprint(n, " affected")
	}
	rows, err := conn.QueryContext(ctx, statement)
	if err != nil {
		return fmt.Sprint("error ", errorNumber(err))
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var id, value int
		if err := rows.Scan(&id, &value); err != nil {
			return err.Error()
		}
		out = append(out, fmt.Sprintf("%d=%d", id, value))
	}
	if err := rows.Err(); err != nil {
		return fmt.Sprint("error ", errorNumber(err))
	}
	return strings.Join(out, " ")
}

// TestHermitageCanary: the judges see the anomalies that no level lets happen.
func TestHermitageCanary(t *testing.T) {
	for name, answers := range map[string]map[int]string{
		"G0": {7: "1=12 2=21"}, "G1a": {1: "1=101 2=20"}, "G1b": {4: "1=101 2=20"}, "G1c": {2: "2=22", 3: "1=11"}, "OTV": {8: "2=18", 9: "1=11"},
	} {
		i := slices.IndexFunc(anomalies, func(c anomaly) bool { return c.name == name })
		all := make([]string, len(anomalies[i].steps))
		if anomalies[i].happened(all) {
			t.Errorf("%s happens without any answer", name)
		}
		for at, answer := range answers {
			all[at] = answer
		}
		if !anomalies[i].happened(all) {
			t.Errorf("%s is not seen", name)
		}
	}
}
