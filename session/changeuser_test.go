package session_test

import (
	"testing"

	"github.com/pandodb/pando/session"
	"github.com/pandodb/pando/tests/inproc"
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
