package session_test

import (
	"fmt"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/tests/inproc"
)

// TestExplainForConnection shows what another connection runs, and tells who may not see it, or finds it idle, so.
func TestExplainForConnection(t *testing.T) {
	n, c := inproc.OpenDatabase(t)
	c.Must("CREATE TABLE t (id INT PRIMARY KEY, a INT)")
	c.Must("INSERT INTO t VALUES (1,1)")
	c.Must("CREATE USER u")
	c.Must("GRANT SELECT ON d.* TO u")
	other := n.Root("d")
	t.Cleanup(other.Close)
	explain := fmt.Sprintf("EXPLAIN FOR CONNECTION %d", other.ID)
	if a := c.Exec(explain); a.Number() != 3012 {
		t.Errorf("an idle connection: %v", a.Err)
	}
	done := make(chan *inproc.Answer, 1)
	go func() { done <- other.Exec("SELECT SLEEP(60) FROM t WHERE id = 1") }()
	var shown *inproc.Answer
	testkit.Await(t, "the other statement runs", func() bool {
		shown = c.Exec(explain)
		return shown.Err == nil
	})
	if len(shown.Rows) != 1 || shown.Rows[0][2] != "t" || shown.Rows[0][4] != "const" || shown.Rows[0][6] != "PRIMARY" {
		t.Errorf("got %v", shown.Rows)
	}
	u, err := n.Connect("u", "localhost", "d")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(u.Close)
	if a := u.Exec(explain); a.Number() != 1094 {
		t.Errorf("without PROCESS: %v", a.Err)
	}
	c.Must(fmt.Sprintf("KILL QUERY %d", other.ID))
	<-done
}
