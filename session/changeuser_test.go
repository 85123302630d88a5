package session_test

import (
	"testing"

	"github.com/pandodb/pando/session"
	"github.com/pandodb/pando/tests/inproc"
	"github.com/pandodb/pando/types"
)

// TestChangeUserLeavesDatabase: the process list shows no database that the session has left.
func TestChangeUserLeavesDatabase(t *testing.T) {
	_, c := inproc.OpenDatabase(t)
	if got := c.DatabaseName(); got != "d" {
		t.Fatalf("in database %q", got)
	}
	if err := c.ChangeUser(session.Client{ID: c.ID, User: "root", Host: "localhost"}); err != nil {
		t.Fatal(err)
	}
	if now, shown := c.Database(), c.DatabaseName(); now != "" || shown != "" {
		t.Errorf("in database %q, shown %q", now, shown)
	}
}

// TestTrailingComment: a comment behind the closing semicolon is no second statement, for a client that may send one only; a statement is.
func TestTrailingComment(t *testing.T) {
	_, c := inproc.OpenDatabase(t)
	c.Must("CREATE TABLE note (id INT PRIMARY KEY)")
	if err := c.Session.ChangeUser(session.Client{ID: c.ID, User: "root", Host: "localhost", Account: "root@localhost", Database: "d"}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"INSERT INTO note VALUES (1); -- first", "INSERT INTO note VALUES (2); /* second */", "SELECT COUNT(*) FROM note; # all", "SELECT 1;;  ; ",
		"SHOW TABLES; -- those", "BEGIN; /* and no more */",
	} {
		if a := c.Query(text); len(a) != 1 || a[0].Err != nil {
			t.Errorf("%s: %v", text, a)
		}
	}
	for _, text := range []string{"SELECT 1; SELECT 2", "SELECT 1; /*!80000 SELECT 2 */", "SELECT 1; -- a\nSELECT 2", "SELECT 1; /* it never ends"} {
		wantNumber(t, text, c.Exec(text).Err, types.ErParseError)
	}
}
