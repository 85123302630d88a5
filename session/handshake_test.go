package session_test

import (
	"testing"

	"github.com/pandodb/pando/session"
	"github.com/pandodb/pando/tests/inproc"
	"github.com/pandodb/pando/types"
)

// TestHandshakeOfServersCollation: a client whose collation is the default one of the server's character_set_client gets what is set for all
// sessions, and one of another collation its own, as in MySQL.
func TestHandshakeOfServersCollation(t *testing.T) {
	node, c := inproc.OpenDatabase(t)
	c.Must("SET GLOBAL collation_connection = utf8mb4_general_ci")
	other, err := types.LookupCollation("utf8mb4_unicode_ci")
	if err != nil {
		t.Fatal(err)
	}
	for collation, want := range map[types.CollationID]string{types.DefaultCollation: "utf8mb4_general_ci", other: "utf8mb4_unicode_ci"} {
		s, err := session.New(node.Node, session.Client{ID: 99, User: "root", Host: "localhost", Account: "root@localhost", Database: "d"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		if err := s.Handshake(collation, false, false); err != nil {
			t.Fatal(err)
		}
		if got := s.ParamCollation().Name(); got != want {
			t.Errorf("collation_connection after a handshake of %s: %s, want %s", collation.Name(), got, want)
		}
	}
}
