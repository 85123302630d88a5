package session_test

import (
	"strings"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/tests/inproc"
	"github.com/pandodb/pando/txn"
)

// TestHistogramsDecide: the planner goes by a histogram, and by the common values that ANALYZE TABLE finds; a histogram is there after a restart,
// and gone with its table. What it holds is compared with MySQL's in tests/sql/testdata/histogram.test.
func TestHistogramsDecide(t *testing.T) {
	o := inproc.Options{FS: engine.NewMemFS()}
	node := inproc.Open(t, o)
	c := node.Root("")
	for _, text := range []string{"CREATE DATABASE d", "USE d", "SET cte_max_recursion_depth = 10000", "CREATE TABLE t (id INT PRIMARY KEY, v INT, w INT, KEY v (v))",
		"INSERT INTO t WITH RECURSIVE n AS (SELECT 1 k UNION ALL SELECT k + 1 FROM n WHERE k < 6000) SELECT k, IF(k % 10, 1, k), k % 3 FROM n"} {
		c.Must(text)
	}
	// by tells which of the conditions are looked up by the index: v, or - for a scan.
	by := func(when, want string) {
		t.Helper()
		var got []string
		for _, where := range []string{"v = 1", "v = 70", "v > 1", "v < 1", "v > 5900", "v >= 1", "v IN (1, 70)", "v BETWEEN 20 AND 50"} {
			a := c.Must("EXPLAIN SELECT * FROM t WHERE " + where)
			key := a.Rows[0][6]
			if key == "NULL" {
				key = "-"
			}
			got = append(got, key)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %s, want %s", when, text, want)
		}
	}
	document := func() string {
		t.Helper()
		a := c.Must("SELECT HISTOGRAM FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'd'")
		if len(a.Rows) == 0 {
			return ""
		}
		return a.Rows[0][0]
	}
	const skewed = "- v - v v - - v"
	c.Must("ANALYZE TABLE t UPDATE HISTOGRAM ON v WITH 64 BUCKETS")
	by("with a histogram", skewed)
	before := document()
	if !strings.Contains(before, `"equi-height"`) {
		t.Errorf("the document is %s", before)
	}
	c.Close()
	node.Close()
	node = inproc.Open(t, o)
	c = node.Root("d")
	by("after a restart", skewed)
	if after := document(); after != before {
		t.Errorf("after a restart %s, before it %s", after, before)
	}
	c.Must("ANALYZE TABLE t DROP HISTOGRAM ON v")
	if a := c.Must("EXPLAIN SELECT * FROM t WHERE v = 1"); a.Rows[0][6] != "v" {
		t.Error("a histogram that was dropped still decides")
	}
	c.Must("ANALYZE TABLE t")
	by("after a plain ANALYZE", skewed)

	c.Must("ANALYZE TABLE t UPDATE HISTOGRAM ON v, w")
	stored := func(want int) {
		t.Helper()
		got, start := pairs(0), keys.SystemKey(nil, 'h')
		if _, err := node.Txns.Scan(&txn.ScanRequest{Span: kvapi.Span{Start: start, End: keys.PrefixEnd(nil, start)}, Sink: &got}); err != nil {
			t.Fatal(err)
		}
		if int(got) != want {
			t.Errorf("%d histograms are stored, want %d", got, want)
		}
	}
	stored(2)
	c.Must("ALTER TABLE t DROP COLUMN w")
	stored(1)
	c.Must("ALTER TABLE t MODIFY v INT") // the same, which MySQL takes for another one, too
	stored(0)
	c.Must("ALTER TABLE t ADD s VARCHAR(9), ADD e ENUM('x'), ADD b VARBINARY(9)")
	c.Must("ANALYZE TABLE t UPDATE HISTOGRAM ON v, s, e, b")
	c.Must("ALTER TABLE t CHANGE v v INT, COMMENT 'x'")
	stored(3)
	c.Must("CREATE TEMPORARY TABLE t (b VARBINARY(9))")
	c.Must("ALTER TABLE t MODIFY b VARBINARY(9)")
	stored(3)
	c.Must("DROP TEMPORARY TABLE t")
	c.Must("ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4")
	stored(2) // those of e and b, as in MySQL
	c.Must("DROP TABLE t")
	stored(0)
	c.Close()
	node.Close()
}
