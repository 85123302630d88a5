package session_test

import (
	"slices"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/tests/inproc"
)

// TestGeneratedInCrashes crashes before every sync of a log while generated columns and indexes on expressions come and go: after each, no hidden
// column is without its index, columns yield what their expressions do, and indexes agree with their tables.
func TestGeneratedInCrashes(t *testing.T) {
	eachCrash(t, []string{
		"CREATE TABLE t (id INT PRIMARY KEY, a INT, v INT AS (a + 1))", "INSERT INTO t (id, a) VALUES (1, 1), (2, 2), (3, NULL)",
		"ALTER TABLE t ADD w INT AS (a * 2), ADD INDEX ((a * 3))", "CREATE INDEX f ON t ((a + 5), v)", "ALTER TABLE t ADD UNIQUE u ((a * 7)), ADD INDEX (v)",
		"ALTER TABLE t ADD s INT AS (v + w) STORED, ADD INDEX (s)", "INSERT INTO t (id, a) VALUES (4, 4)", "ALTER TABLE t MODIFY a BIGINT",
		"DROP INDEX f ON t", "ALTER TABLE t DROP INDEX u, DROP COLUMN s", "DELETE FROM t WHERE a * 3 = 6", "DROP TABLE t",
	}, func(i int, node *inproc.Node) {
		if table := node.Catalog.Current().Lookup("d", "t"); table != nil {
			wholeAfterCrash(t, i, node, table)
		}
	})
}

func wholeAfterCrash(t *testing.T, crash int, node *inproc.Node, table *catalog.Table) {
	t.Helper()
	for i, column := range table.Columns {
		if column.Hidden && !slices.ContainsFunc(table.Indexes, func(ix *catalog.Index) bool {
			return slices.ContainsFunc(ix.Columns, func(part catalog.IndexColumn) bool { return part.Col == i })
		}) {
			t.Errorf("crash %d: the hidden column %s has no index", crash, column.Name)
		}
	}
	c := node.Root("d")
	defer c.Close()
	conditions := []string{"NOT v <=> a + 1"}
	if table.Column("w") != nil {
		conditions = append(conditions, "NOT w <=> a * 2")
	}
	if table.Column("s") != nil {
		conditions = append(conditions, "NOT s <=> a * 3 + 1")
	}
	for _, condition := range conditions {
		if a := c.Exec("SELECT id FROM t WHERE " + condition); a.Err != nil || len(a.Rows) > 0 {
			t.Errorf("crash %d: %s: %v %v", crash, condition, a.Rows, a.Err)
		}
	}
	if a := c.Exec("CHECK TABLE t"); a.Err != nil || len(a.Rows) != 1 || a.Rows[0][3] != "OK" {
		t.Errorf("crash %d: CHECK TABLE: %v %v", crash, a.Rows, a.Err)
	}
}
