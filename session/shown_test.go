package session_test

import (
	"strings"
	"testing"

	"github.com/pandodb/pando/tests/inproc"
)

// TestPasswordsAreNotShown: while a statement that sets a password runs, the process list has it without the password.
func TestPasswordsAreNotShown(t *testing.T) {
	node, c := inproc.OpenDatabase(t)
	seen := ""
	hash := node.HashPassword
	node.HashPassword = func(plugin string, password []byte) []byte {
		seen = c.Session.Info()
		return hash(plugin, password)
	}
	for _, text := range []string{"CREATE USER u IDENTIFIED BY 's3cret'", "ALTER USER u IDENTIFIED BY 's3cret'", "SET PASSWORD FOR u = 's3cret'"} {
		seen = ""
		c.Must(text)
		if seen == "" || strings.Contains(seen, "s3cret") {
			t.Errorf("%s: the process list has %q", text, seen)
		}
	}
	c.Must("PREPARE p FROM 'ALTER USER u IDENTIFIED BY \\'s3cret\\''")
	seen = ""
	c.Must("EXECUTE p")
	if seen == "" || strings.Contains(seen, "s3cret") {
		t.Errorf("EXECUTE: the process list has %q", seen)
	}
}
