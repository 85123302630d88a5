package session_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/session"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/tests/inproc"
)

// TestTransactionsEnter: a transaction of several statements enters before it begins and leaves before it ends, and statements by themselves
// do neither.
func TestTransactionsEnter(t *testing.T) {
	_, c := inproc.OpenDatabase(t)
	c.Must("CREATE TABLE t (id INT PRIMARY KEY, a INT)")
	var calls []string
	note := func(what string) func() {
		return func() {
			if c.Session.Status()&sqlapi.StatusInTrans != 0 {
				what := what + " inside"
				calls = append(calls, what)
				return
			}
			calls = append(calls, what)
		}
	}
	err := c.Session.ChangeUser(session.Client{ID: c.ID, User: "root", Host: "localhost", Account: "root@localhost", Database: "d", MultiStatements: true,
		EnterTxn: note("enter"), LeaveTxn: note("leave")})
	if err != nil {
		t.Fatal(err)
	}
	prepared, err := c.Session.Prepare([]byte("UPDATE t SET a=a+1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ text, want string }{
		{"INSERT INTO t VALUES (1,1),(2,2)", ""},
		{"SELECT * FROM t", ""},
		{"SELECT * FROM t WHERE id=1 FOR UPDATE", ""},
		{"BEGIN", "enter"},
		{"UPDATE t SET a=3 WHERE id=1", ""},
		{"COMMIT", "leave inside"},
		{"COMMIT", ""},
		{"START TRANSACTION WITH CONSISTENT SNAPSHOT", "enter"},
		{"SELECT * FROM t", ""},
		{"BEGIN", "leave inside, enter"}, // which commits the one before
		{"INSERT INTO t VALUES (1,1)", ""},
		{"ROLLBACK", "leave inside"},
		{"ROLLBACK", ""},
		{"BEGIN; SELECT * FROM t; COMMIT", "enter, leave inside"},
		{"BEGIN", "enter"},
		{"CREATE TABLE u (id INT PRIMARY KEY)", "leave inside"},
		{"SET autocommit=0", ""},
		{"SELECT 1", "leave"}, // no table, no transaction; what has not entered may leave
		{"SELECT * FROM t", "enter"},
		{"UPDATE t SET a=5", ""},
		{"COMMIT", "leave inside"},
		{"EXECUTE", "enter"},
		{"ROLLBACK", "leave inside"},
		{"SELECT nothing FROM t", ""},
		{"SET TRANSACTION READ ONLY", ""},
		{"UPDATE t SET a=6", "enter"},        // refused with 1792, in a transaction that it has opened
		{"COMMIT AND CHAIN", "leave inside"}, // the next one has not entered
		{"SELECT * FROM t", ""},
		{"ROLLBACK", "leave inside"},
		{"SAVEPOINT s", "enter"},
		{"ROLLBACK", "leave inside"},
		{"killed", "enter, leave"}, // before it opened the transaction
		{"SELECT * FROM t", "enter"},
		{"SET autocommit=1", "leave inside"},
		{"UPDATE t SET a=6", ""},
		{"BEGIN", "enter"},
		{"reset", "leave inside"},
	} {
		calls = nil
		switch test.text {
		case "EXECUTE":
			err = c.Session.Execute(prepared.ID, nil, &discard{})
		case "reset":
			err = c.Session.Reset()
		case "killed":
			c.Interrupt().Set(kvapi.ReasonKillQuery)
			err = c.Session.Query([]byte("SELECT * FROM t"), &discard{})
			c.Interrupt().Reset()
		default:
			err = c.Session.Query([]byte(test.text), &discard{})
		}
		if got := strings.Join(calls, ", "); got != test.want {
			t.Errorf("%s: %q, want %q (%v)", test.text, got, test.want, err)
		}
	}
}

// TestEnterBeforeSchemaChange: a statement under autocommit=0 that finds its table closed by a schema change, and has the use of it when
// that is over, has not left meanwhile: to enter a second time is nothing then, and it waits for nobody.
func TestEnterBeforeSchemaChange(t *testing.T) {
	node, c := inproc.OpenDatabase(t)
	c.Must("CREATE TABLE t (id INT PRIMARY KEY, a INT)")
	reader, ddl, probe := node.Root("d"), node.Root("d"), node.Root("d")
	probe.Must("SET lock_wait_timeout=1")
	var mu sync.Mutex
	var calls []string
	note := func(what string) func() {
		return func() {
			mu.Lock()
			defer mu.Unlock()
			calls = append(calls, what)
		}
	}
	so := func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(calls, ", ")
	}
	if err := c.Session.ChangeUser(session.Client{ID: c.ID, User: "root", Host: "localhost", Account: "root@localhost", Database: "d",
		EnterTxn: note("enter"), LeaveTxn: note("leave")}); err != nil {
		t.Fatal(err)
	}
	c.Must("SET autocommit=0")
	prepared, err := c.Session.Prepare([]byte("SELECT a FROM t"))
	if err != nil {
		t.Fatal(err)
	}
	reader.Must("BEGIN")
	reader.Must("SELECT * FROM t")
	var wg sync.WaitGroup
	wg.Go(func() {
		if a := ddl.Exec("ALTER TABLE t ADD COLUMN b INT"); a.Err != nil {
			t.Errorf("ALTER TABLE: %v", a.Err)
		}
	})
	testkit.Await(t, "ALTER TABLE closes the table", func() bool { return probe.Exec("SELECT * FROM t").Err != nil })
	wg.Go(func() {
		if err := c.Session.Execute(prepared.ID, nil, &discard{}); err != nil {
			t.Errorf("SELECT: %v", err)
		}
	})
	testkit.Await(t, "the statement enters", func() bool { return so() != "" })
	time.Sleep(10 * time.Millisecond) // it comes to the table mostly by then; if it doesn't, it finds it changed
	reader.Must("COMMIT")
	wg.Wait()
	if got := so(); strings.Contains(got, "leave") {
		t.Errorf("%s", got)
	}
	c.Must("COMMIT")
	if got := so(); !strings.HasSuffix(got, "enter, leave") {
		t.Errorf("%s at the end", got)
	}
}
