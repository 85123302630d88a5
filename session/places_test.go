package session_test

import (
	"fmt"
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

// TestTransactionsEnter: a transaction of several statements enters before it begins and leaves before it ends, and a statement that is one
// by itself enters as a write. Plain reads by themselves do not enter.
func TestTransactionsEnter(t *testing.T) {
	_, c := inproc.OpenDatabase(t)
	c.Must("CREATE TABLE t (id INT PRIMARY KEY, a INT)")
	var calls []string
	note := func(what string) func() {
		return func() {
			if strings.HasPrefix(what, "write") && c.Session.Info() == "" {
				t.Error("the process list does not show who waits")
			}
			if c.Session.Status()&sqlapi.StatusInTrans != 0 {
				what := what + " inside"
				calls = append(calls, what)
				return
			}
			calls = append(calls, what)
		}
	}
	err := c.Session.ChangeUser(session.Client{ID: c.ID, User: "root", Host: "localhost", Account: "root@localhost", Database: "d", MultiStatements: true,
		EnterTxn: note("enter"), LeaveTxn: note("leave"), EnterWrite: func(rows int) { note(fmt.Sprintf("write %d", rows))() }})
	if err != nil {
		t.Fatal(err)
	}
	prepared, err := c.Session.Prepare([]byte("UPDATE t SET a=a+1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ text, want string }{
		{"INSERT INTO t VALUES (1,1),(2,2)", "write 2"},
		{"REPLACE INTO t VALUES " + strings.Repeat("(1,1),", 2999) + "(2,2)", "write 3000"},
		{"REPLACE INTO t VALUES " + strings.Repeat("(1,1+0),", 99) + "(2,2)", "write 100"},
		{"INSERT INTO t SELECT id+10, a FROM t", "write 0"},
		{"SELECT * FROM t", ""},
		{"SELECT * FROM t WHERE id=1 FOR UPDATE", "write 0"},
		{"DELETE FROM t WHERE id=7; DO 1; DELETE FROM t WHERE id=8", "write 0, write 0"},
		{"SET max_execution_time=10000", ""},
		{"SELECT * FROM t WHERE id=1 FOR UPDATE", ""}, // to wait would not be a part of its time
		{"DELETE FROM t WHERE id=7", "write 0"},
		{"SET max_execution_time=0", ""},
		{"SELECT GET_LOCK('l', 0)", ""},
		{"DELETE FROM t WHERE id=7", ""}, // others may wait for the lock
		{"BEGIN", ""},
		{"ROLLBACK", "leave inside"},
		{"SELECT RELEASE_LOCK('l')", ""},
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
		{"UPDATE t SET a=6", "write 0"},
		{"EXECUTE", "write 0"},
		{"BEGIN", "enter"},
		{"EXECUTE", ""},
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
		if text := c.Session.Info(); text != "" {
			t.Errorf("%s: the process list still shows %q", test.text, text)
		}
	}
}

// TestEnterBeforeSchemaChange: a statement that finds its table closed by a schema change, and has the use of it when that is over, has
// entered before and does not do so again, nor has it left meanwhile: it might have to wait for those who wait for the table.
func TestEnterBeforeSchemaChange(t *testing.T) {
	t.Run("transaction", func(t *testing.T) {
		enterBeforeSchemaChange(t, "SET autocommit=0", "SELECT a FROM t", "enter", "enter, leave")
	})
	t.Run("write", func(t *testing.T) {
		enterBeforeSchemaChange(t, "SET autocommit=1", "UPDATE t SET a=a+1", "write", "write")
	})
}

// enterBeforeSchemaChange runs a statement, and then COMMIT, and checks the calls by either.
func enterBeforeSchemaChange(t *testing.T, mode, text, first, all string) {
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
		EnterTxn: note("enter"), LeaveTxn: note("leave"), EnterWrite: func(int) { note("write")() }}); err != nil {
		t.Fatal(err)
	}
	c.Must(mode)
	prepared, err := c.Session.Prepare([]byte(text))
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
			t.Errorf("%s: %v", text, err)
		}
	})
	testkit.Await(t, "the statement enters", func() bool { return so() != "" })
	time.Sleep(10 * time.Millisecond) // it comes to the table mostly by then; if it doesn't, it finds it changed
	reader.Must("COMMIT")
	wg.Wait()
	if got := so(); got != first {
		t.Errorf("%s, want %s", got, first)
	}
	c.Must("COMMIT")
	if got := so(); got != all {
		t.Errorf("%s at the end, want %s", got, all)
	}
}
