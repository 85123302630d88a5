package session_test

import (
	"fmt"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/tests/inproc"
	"github.com/pandodb/pando/txn"
)

// keyCount counts what it is given.
type keyCount struct{ n int }

func (p *keyCount) Pair(_, _ []byte) (bool, error) {
	p.n++
	return true, nil
}

// temporaryPairs counts the keys that the store has of temporary tables.
func temporaryPairs(t *testing.T, n *inproc.Node) int {
	t.Helper()
	first, end := catalog.TemporaryIDs()
	var found keyCount
	for span := (kvapi.Span{Start: keys.TablePrefix(nil, first), End: keys.TablePrefix(nil, end)}); span.Start != nil; {
		resume, err := n.Txns.Scan(&txn.ScanRequest{Span: span, Sink: &found})
		if err != nil {
			t.Fatal(err)
		}
		span.Start = append([]byte(nil), resume...)
		if resume == nil {
			break
		}
	}
	return found.n
}

// TestTemporaryLeavesNothing makes and ends temporary tables in every way, as an ORM does, and defends that neither tables nor keys nor bytes
// that are counted stay, while those of a session that goes on do.
func TestTemporaryLeavesNothing(t *testing.T) {
	script := inproc.NewScript(t, inproc.Options{})
	defer script.Close()
	n := script.Node()
	keeper := n.Root("test")
	keeper.Must("CREATE TEMPORARY TABLE kept (a INT PRIMARY KEY)")
	keeper.Must("INSERT INTO kept VALUES (1), (2), (3)")
	for i := range 40 {
		c := n.Root("test")
		c.Must("CREATE TEMPORARY TABLE x (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20), KEY (v))")
		c.Must("INSERT INTO x (v) VALUES ('a'), ('b'), ('c')")
		switch i % 5 {
		case 0:
			c.Must("DROP TABLE x")
		case 1:
			c.Must("BEGIN")
			c.Must("INSERT INTO x (v) VALUES ('d')")
			c.Must("DROP TEMPORARY TABLE x")
			c.Must("CREATE TEMPORARY TABLE x AS SELECT 1 AS one")
			c.Must("COMMIT")
		case 2:
			c.Must("ALTER TABLE x ADD COLUMN w INT")
			c.Must("TRUNCATE TABLE x")
			c.Must("INSERT INTO x (v) VALUES ('e')")
		case 3:
			if err := c.Session.Reset(); err != nil {
				t.Fatal(err)
			}
		}
		keeper.Must(fmt.Sprintf("INSERT INTO kept VALUES (%d)", 10+i))
		c.Close()
	}
	tables, bytes := n.DDL.TemporaryTables()
	if tables != 1 || bytes <= 0 {
		t.Fatalf("%d temporary tables with %d bytes are counted, of one that is there", tables, bytes)
	}
	testkit.Await(t, "the data of ended tables are there still", func() bool { return temporaryPairs(t, n) == 43 })
	if got := keeper.Must("SELECT COUNT(*) FROM kept").Rows[0][0]; got != "43" {
		t.Fatalf("%s rows are left in a table that goes on, not 43", got)
	}
	keeper.Close()
	if tables, bytes := n.DDL.TemporaryTables(); tables != 0 || bytes != 0 {
		t.Fatalf("%d temporary tables with %d bytes are counted, of none", tables, bytes)
	}
}

// TestTemporaryCounts defends that the bytes counted of a temporary table are those that it has, whatever changes its rows: without rows it has none.
func TestTemporaryCounts(t *testing.T) {
	script := inproc.NewScript(t, inproc.Options{})
	defer script.Close()
	n := script.Node()
	c := n.Root("test")
	defer c.Close()
	c.Must("CREATE TEMPORARY TABLE x (k VARCHAR(20) PRIMARY KEY, v VARCHAR(20), u VARCHAR(20), w VARCHAR(20), KEY (v), UNIQUE KEY (u))")
	for _, change := range []string{
		"UPDATE x SET v = 'á'", // of the same key in the index, a byte longer
		"UPDATE x SET u = 'á'",
		"UPDATE x SET v = 'á', u = 'Á', w = 'long'",
		"UPDATE x SET v = 'longer', u = 'longer'",
		"UPDATE x SET v = NULL, u = NULL",
		"UPDATE x SET k = 'á'",
		"UPDATE x SET k = 'a longer key'",
		"UPDATE x SET k = 'a longer key', v = 'á', u = 'á'",
		"REPLACE INTO x VALUES ('a', 'á', 'á', NULL)",
		"INSERT INTO x VALUES ('a', 'a', 'a', NULL) ON DUPLICATE KEY UPDATE k = 'longer', v = 'á', u = 'á'",
	} {
		c.Must("INSERT INTO x VALUES ('a', 'a', 'a', 'a')")
		c.Must(change)
		c.Must("DELETE FROM x")
		if _, bytes := n.DDL.TemporaryTables(); bytes != 0 {
			t.Errorf("after %s and DELETE %d bytes are counted", change, bytes)
		}
		c.Must("TRUNCATE TABLE x")
	}
}

// TestTemporaryRestart defends that a start deletes what is left of temporary tables: here of a session that has just ended, whose data
// wait for those of others.
func TestTemporaryRestart(t *testing.T) {
	fs := engine.NewMemFS()
	for range 2 {
		n := inproc.Open(t, inproc.Options{FS: fs})
		if left := temporaryPairs(t, n); left != 0 {
			t.Fatalf("%d keys of temporary tables are left after a restart", left)
		}
		c := n.Root("")
		c.Must("CREATE DATABASE IF NOT EXISTS test")
		c.Must("CREATE TEMPORARY TABLE test.x (a INT PRIMARY KEY, b INT, KEY (b))")
		c.Must("INSERT INTO test.x VALUES (1, 1), (2, 2)")
		if made := temporaryPairs(t, n); made != 4 {
			t.Fatalf("%d keys of a temporary table of two rows and an index, not 4", made)
		}
		n.Close()
	}
}
