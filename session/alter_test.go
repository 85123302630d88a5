package session_test

import (
	"strings"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/tests/inproc"
)

// TestAlterThatRenamesInCrashes: a crash before any sync of the log leaves all that an ALTER TABLE with RENAME does or nothing, whether it
// builds an index or copies the table; the tables that foreign keys tie to it know the same of it.
func TestAlterThatRenamesInCrashes(t *testing.T) {
	states := []string{"", "c p", "c q", "e q"}
	eachCrash(t, []string{
		"CREATE TABLE p (id INT PRIMARY KEY, k INT, CHECK (k > 0))", "CREATE TABLE c (id INT PRIMARY KEY, a INT, FOREIGN KEY (a) REFERENCES p (id))",
		"INSERT INTO p VALUES (1, 10)", "INSERT INTO p VALUES (2, 20)", "INSERT INTO p VALUES (3, 30)", "INSERT INTO p VALUES (4, 40)", "INSERT INTO c VALUES (1, 2)",
		"ALTER TABLE p RENAME TO x, ADD COLUMN y INT DEFAULT 3, ADD INDEX (k, y), RENAME AS q",
		"ALTER TABLE c ADD COLUMN b INT DEFAULT (a * 10), RENAME e, ADD COLUMN b2 INT AS (b + 1) STORED",
	}, func(i int, node *inproc.Node) {
		c := node.Root("")
		defer c.Close()
		var names []string
		for _, table := range node.Catalog.Current().Tables("d") {
			names = append(names, table.Name)
			agree(t, i, node.Catalog.Current(), table)
			c.Must("ADMIN CHECK TABLE d." + table.Name)
			want := map[string]int{"p": 1, "q": 2, "c": 2, "e": 2}[table.Name]
			if len(table.Indexes) != want {
				t.Errorf("crash %d: %s has %d indexes", i, table.Name, len(table.Indexes))
			}
		}
		switch at := strings.Join(names, " "); at {
		case "p": // c comes
		case "e q":
			if got := c.Value("SELECT CONCAT_WS(',', id, a, b, b2) FROM d.e"); got != "1,2,20,21" {
				t.Errorf("crash %d: %s", i, got)
			}
		default:
			for _, state := range states {
				if at == state {
					return
				}
			}
			t.Errorf("crash %d: tables %q", i, at)
		}
	})
}

// TestLoweredCounterInCrashes: a crash before any sync of the log leaves a counter that is above all rows, lowered or not, and one that a
// clean restart does not move.
func TestLoweredCounterInCrashes(t *testing.T) {
	lowered := 0
	eachCrash(t, []string{
		"CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)", "INSERT INTO t (v) VALUES (1), (2), (3)", "INSERT INTO t VALUES (5000, 4)",
		"DELETE FROM t WHERE id = 5000", "ALTER TABLE t AUTO_INCREMENT = 10", "INSERT INTO t (v) VALUES (5)", "INSERT INTO t VALUES (9000, 6)",
		"DELETE FROM t WHERE id > 3", "ALTER TABLE t AUTO_INCREMENT = 1, ADD COLUMN w INT, ADD KEY (v)", "INSERT INTO t (v) VALUES (7)",
		"INSERT INTO t VALUES (8000, 8, 8)", "DELETE FROM t WHERE id = 8000", "ALTER TABLE t AUTO_INCREMENT = 1", "INSERT INTO t (v) VALUES (9)",
		"INSERT INTO t (v) VALUES (10)", "INSERT INTO t (v) VALUES (11)", "INSERT INTO t (v) VALUES (12)",
	}, func(i int, node *inproc.Node) {
		c := node.Root("")
		defer c.Close()
		if node.Catalog.Current().Lookup("d", "t") == nil {
			return
		}
		c.Must("ADMIN CHECK TABLE d.t")
		c.Must("INSERT INTO d.t (v) VALUES (100)")
		c.Must("ADMIN CHECK TABLE d.t")
		if node.Catalog.Current().Lookup("d", "t").Counting > 0 {
			lowered++
		}
	})
	if lowered == 0 {
		t.Error("no crash after an ALTER")
	}
	fs := engine.NewMemFS()
	node := inproc.Open(t, inproc.Options{FS: fs})
	c := node.Root("")
	c.Must("CREATE DATABASE d")
	c.Must("USE d")
	c.Must("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)")
	c.Must("INSERT INTO t VALUES (5000, 1)")
	c.Must("DELETE FROM t")
	c.Must("ALTER TABLE t AUTO_INCREMENT = 7")
	c.Must("INSERT INTO t (v) VALUES (2)")
	node.Close()
	node = inproc.Open(t, inproc.Options{FS: fs})
	defer node.Close()
	c = node.Root("d")
	c.Must("INSERT INTO t (v) VALUES (3)")
	if got := c.Value("SELECT GROUP_CONCAT(id ORDER BY id) FROM t"); got != "7,8" {
		t.Errorf("ids %s", got)
	}
}
