package session_test

import (
	"strings"
	"testing"

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
		{"UPDATE t SET a=6", "enter"}, // refused with 1792, in a transaction that it has opened
		{"SET autocommit=1", "leave inside"},
		{"UPDATE t SET a=6", ""},
	} {
		calls = nil
		if test.text == "EXECUTE" {
			err = c.Session.Execute(prepared.ID, nil, &discard{})
		} else {
			err = c.Session.Query([]byte(test.text), &discard{})
		}
		if got := strings.Join(calls, ", "); got != test.want {
			t.Errorf("%s: %q, want %q (%v)", test.text, got, test.want, err)
		}
	}
}
