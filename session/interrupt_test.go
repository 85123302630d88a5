package session_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/tests/inproc"
	"github.com/pandodb/pando/types"
)

// killer is a response during which KILL QUERY comes: behind the answer to a statement that another one follows.
type killer struct {
	discard
	intr     *kvapi.Interrupt
	answered int
}

func (k *killer) Done(_ sqlapi.Result, more bool) error {
	k.answered++
	if more {
		k.intr.Set(kvapi.ReasonKillQuery)
	}
	return nil
}

func wantNumber(t *testing.T, what string, err error, want uint16) {
	t.Helper()
	var e *types.Error
	if !errors.As(err, &e) || e.Number != want {
		t.Errorf("%s: %v, want error %d", what, err, want)
	}
}

// TestKillBeforeExecution: wire takes back an interrupt before a command, and nobody does afterwards. A KILL QUERY that comes while the text
// is parsed, or between two statements of it, ends what has not run yet; TestKillBeforeTransactionStatement tells of the exceptions.
func TestKillBeforeExecution(t *testing.T) {
	_, c := inproc.OpenDatabase(t)
	c.Must("CREATE TABLE t (id INT PRIMARY KEY, a INT)")
	c.Must("INSERT INTO t VALUES (1,1)")
	intr := c.Interrupt()
	for _, text := range []string{
		"SELECT SLEEP(0)", "SELECT a FROM t WHERE id=1", "UPDATE t SET a=2 WHERE id=1",
		"INSERT INTO t VALUES (2,2)", "SHOW TABLES", "SHOW WARNINGS", "CREATE TABLE u (a INT)", "DO 1",
	} {
		intr.Set(kvapi.ReasonKillQuery) // as during the parsing
		wantNumber(t, text, c.Session.Query([]byte(text), &discard{}), types.ErQueryInterrupted)
	}
	intr.Reset()
	info, err := c.Session.Prepare([]byte("SELECT a FROM t WHERE id=?"))
	if err != nil {
		t.Fatal(err)
	}
	intr.Set(kvapi.ReasonKillQuery)
	wantNumber(t, "EXECUTE", c.Session.Execute(info.ID, []types.Value{types.Int(1)}, &discard{}), types.ErQueryInterrupted)
	for _, text := range []string{"SELECT 1; SELECT 2", "SET @a=1; SET @a=2", "SELECT 1; SHOW WARNINGS; SELECT 3",
		"UPDATE t SET a=1 WHERE id=1; COMMIT", "SET @a=1; BEGIN"} {
		intr.Reset()
		out := &killer{intr: intr}
		wantNumber(t, text, c.Session.Query([]byte(text), out), types.ErQueryInterrupted)
		if out.answered != 1 {
			t.Errorf("%s: %d statements were answered", text, out.answered)
		}
	}
	if got := c.Value("SELECT GROUP_CONCAT(id, ':', a) FROM t"); got != "1:1" {
		t.Errorf("something ran: %s", got)
	}
}

// TestKillBeforeTransactionStatement: KILL QUERY refuses no statement that ends or marks a transaction. After a refused ROLLBACK the next
// BEGIN would commit what the client gave up.
func TestKillBeforeTransactionStatement(t *testing.T) {
	_, c := inproc.OpenDatabase(t)
	c.Must("CREATE TABLE t (id INT PRIMARY KEY)")
	c.Must("PREPARE p FROM 'ROLLBACK'")
	info, err := c.Session.Prepare([]byte("ROLLBACK"))
	if err != nil {
		t.Fatal(err)
	}
	killed := func(text string) {
		t.Helper()
		c.Interrupt().Set(kvapi.ReasonKillQuery) // as during the parsing
		if err := c.Session.Query([]byte(text), &discard{}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	rows := func(want string) {
		t.Helper()
		c.Must("BEGIN") // commits what is still open
		if got := c.Value("SELECT IFNULL(GROUP_CONCAT(id), '') FROM t"); got != want {
			t.Errorf("rows %q, want %q", got, want)
		}
		c.Must("COMMIT")
	}
	for _, rollback := range []string{"ROLLBACK", "EXECUTE p", "ROLLBACK AND NO CHAIN"} {
		c.Must("BEGIN")
		c.Must("INSERT INTO t VALUES (1)")
		killed(rollback)
		rows("")
	}
	c.Must("BEGIN")
	c.Must("INSERT INTO t VALUES (1)")
	c.Interrupt().Set(kvapi.ReasonKillQuery)
	if err := c.Session.Execute(info.ID, nil, &discard{}); err != nil {
		t.Error(err)
	}
	rows("")

	killed("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
	killed("BEGIN")
	c.Must("INSERT INTO t VALUES (1)")
	killed("SAVEPOINT a")
	c.Must("INSERT INTO t VALUES (2)")
	killed("ROLLBACK TO SAVEPOINT a")
	killed("RELEASE SAVEPOINT a")
	killed("COMMIT")
	c.Must("ROLLBACK")
	rows("1")

	killed("SET autocommit=0")
	c.Must("INSERT INTO t VALUES (2)")
	killed("SET autocommit=1")
	c.Must("ROLLBACK")
	rows("1,2")

	// What a killed text has not come to does not run: its changes are still open.
	c.Interrupt().Reset()
	c.Must("BEGIN")
	out := &killer{intr: c.Interrupt()}
	wantNumber(t, "text", c.Session.Query([]byte("INSERT INTO t VALUES (3); COMMIT"), out), types.ErQueryInterrupted)
	c.Must("ROLLBACK")
	rows("1,2")
}

// TestTimeLimitOfOneStatement: a limit that SLEEP has taken for an early waking is not the next statement's.
func TestTimeLimitOfOneStatement(t *testing.T) {
	node := inproc.Open(t, inproc.Options{})
	t.Cleanup(node.Close)
	c := node.Root("")
	t.Cleanup(c.Close)
	for limit := 8; limit < 1<<15; limit *= 2 {
		c.Must(fmt.Sprintf("SET max_execution_time=%d", limit))
		answers := c.Query("SELECT SLEEP(60); SET max_execution_time=0; SELECT 2")
		if answers[0].Err != nil {
			continue // on a busy machine the limit may pass before SLEEP has begun
		}
		if last := answers[len(answers)-1]; len(answers) != 3 || last.Err != nil {
			t.Errorf("statement %d: %v", len(answers), last.Err)
		}
		return
	}
	t.Error("SLEEP never began")
}

// TestPlanningIsShown: a statement is in the process list while it is planned, which computes its constants, and a KILL ends that.
func TestPlanningIsShown(t *testing.T) {
	_, c := inproc.OpenDatabase(t)
	c.Must("SET tidb_mem_quota_query = 4294967296")
	done := make(chan *inproc.Answer, 1)
	go func() { done <- c.Exec("SELECT " + strings.Repeat("SHA2(REPEAT('a', 5000000), 512), ", 12000) + "1") }() // minutes of constants
	testkit.Await(t, "it is shown", func() bool { return strings.HasPrefix(c.Info(), "SELECT") })
	c.Interrupt().Set(kvapi.ReasonKillQuery)
	if a := <-done; a.Number() != int(types.ErQueryInterrupted) {
		t.Errorf("%v, want error %d", a.Err, types.ErQueryInterrupted)
	}
	if c.Info() != "" {
		t.Errorf("%.80q is shown after its end", c.Info())
	}
}
