package sqltest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/tests/inproc"
)

// notInRows is how many rows each table of TestNotIn has: enough for a join to spill with notInQuota.
const (
	notInRows  = 20000
	notInQuota = 1 << 20
)

// TestNotIn compares NOT IN as a null-aware anti join, which reads its rows in memory, from disk, or for several workers, with NOT IN as an expression.
func TestNotIn(t *testing.T) {
	n := inproc.Open(t, inproc.Options{Workers: exec.NewEagerWorkerPool(3, workerRows)})
	t.Cleanup(n.Close)
	c := n.Root("")
	defer c.Close()
	for _, sql := range []string{
		"CREATE DATABASE d", "USE d", "SET cte_max_recursion_depth = 1000000",
		"CREATE TABLE l (id INT PRIMARY KEY, a INT, s VARCHAR(100), de DECIMAL(10,2), KEY (a))", "CREATE TABLE r LIKE l", "CREATE TABLE nothing LIKE l",
		fmt.Sprintf("INSERT INTO l WITH RECURSIVE c AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM c WHERE i < %d) "+
			"SELECT i, IF(i %% 9 = 0, NULL, i * 7919 %% 30000), IF(i %% 11 = 0, NULL, CONCAT(REPEAT(CHAR(65 + i %% 3), 50), i)), i / 4 FROM c", notInRows),
		"INSERT INTO r SELECT id, IF(a % 2, a, a + 1), LOWER(s), de * 3 FROM l",
		"ANALYZE TABLE l, r, nothing",
	} {
		c.Must(sql)
	}
	for _, q := range []struct {
		left, right string
		some        bool // rows are in the result
	}{
		{"a", "a FROM r WHERE a > 0", true},
		{"a", "a FROM r", false},
		{"a", "a FROM nothing", true},
		{"a + 1", "a FROM r WHERE a IS NOT NULL", true},
		{"s", "s FROM r WHERE s IS NOT NULL AND id > 300", true},
		{"s", "s FROM r", false},
		{"NULLIF(s, 'x')", "CONCAT(s, '') FROM r WHERE s > 'b'", true},
		{"de", "a FROM r WHERE a > 5", true},
		{"a", "de FROM r", true},
		{"a", "a FROM r WHERE a > 9 UNION ALL SELECT id FROM l WHERE id < 5", true},
		{"a", "MAX(a) FROM r GROUP BY de", false},
	} {
		apart := rowsOf(c, "SELECT id FROM l WHERE %s NOT IN (SELECT /*+ NO_SEMIJOIN() */ %s)", q.left, q.right)
		if (len(apart) > 0) != q.some {
			t.Errorf("%s NOT IN (%s): %d rows", q.left, q.right, len(apart))
		}
		for _, quota := range []int{1 << 30, notInQuota} {
			c.Must(fmt.Sprintf("SET tidb_mem_quota_query = %d", quota))
			joined := fmt.Sprintf("SELECT id FROM l WHERE %s NOT IN (SELECT %s)", q.left, q.right)
			if plan := c.Value("EXPLAIN FORMAT=TREE " + joined); !strings.Contains(plan, "anti, NULL-aware") {
				t.Errorf("%s has no null-aware anti join:\n%s", joined, plan)
			}
			if got := rowsOf(c, "%s", joined); !slices.Equal(got, apart) {
				t.Errorf("%s, %d bytes of memory: %d rows, %d as an expression", joined, quota, len(got), len(apart))
			}
		}
		c.Must("SET tidb_mem_quota_query = DEFAULT")
	}
	c.Must(fmt.Sprintf("SET tidb_mem_quota_query = %d", notInQuota))
	if ran := c.Value("EXPLAIN ANALYZE SELECT id FROM l WHERE s NOT IN (SELECT s FROM r WHERE s > '')"); !strings.Contains(ran, "spill") {
		t.Errorf("nothing spills, the test compares too little:\n%s", ran)
	}
}

// rowsOf returns the values of the first column, sorted.
func rowsOf(c *inproc.Conn, format string, args ...any) (rows []string) {
	for _, row := range c.Must(fmt.Sprintf(format, args...)).Rows {
		rows = append(rows, row[0])
	}
	slices.Sort(rows)
	return rows
}
