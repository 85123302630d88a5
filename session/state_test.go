package session_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/pandodb/pando/tests/inproc"
)

// TestStatesOfWaits: the process list says what a statement waits for.
func TestStatesOfWaits(t *testing.T) {
	node, watcher := inproc.OpenDatabase(t)
	watcher.Must("CREATE TABLE t (a INT PRIMARY KEY)")
	holder := node.Root("d")
	holder.Must("SELECT GET_LOCK('held', 0)")
	holder.Must("BEGIN")
	holder.Must("SELECT * FROM t")
	for statement, state := range map[string]string{
		"SELECT GET_LOCK('held', 60)": "User lock",
		"SELECT SLEEP(60)":            "User sleep",
		"SELECT (SELECT MAX(SLEEP(60 + a)) FROM (SELECT d.n AS a FROM (SELECT 1 AS n UNION SELECT 2) d) e)": "User sleep",
		"ALTER TABLE t ADD b INT": "Waiting for table metadata lock",
		"DROP TABLE t":            "Waiting for table metadata lock",
		"LOCK TABLES t WRITE":     "Waiting for table metadata lock",
	} {
		waiter := node.Root("d")
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			waiter.Exec(statement)
		}()
		ask := fmt.Sprintf("SELECT state FROM information_schema.processlist WHERE id = %d", waiter.ID)
		const hang = 30 * time.Second
		for begun := time.Now(); watcher.Value(ask) != state; time.Sleep(time.Millisecond) {
			if time.Since(begun) > hang {
				t.Fatalf("%s: the state stays %q, want %q", statement, watcher.Value(ask), state)
			}
		}
		watcher.Must(fmt.Sprintf("KILL QUERY %d", waiter.ID))
		<-ended
		if got := watcher.Value(ask); got != "" {
			t.Errorf("%s: the state is %q after it has ended", statement, got)
		}
		waiter.Close()
	}
}
