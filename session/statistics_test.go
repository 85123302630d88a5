package session_test

import (
	"strconv"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/stats"
	"github.com/pandodb/pando/tests/inproc"
	"github.com/pandodb/pando/txn"
)

// pairs counts the records of a span.
type pairs int

func (p *pairs) Pair(_, _ []byte) (bool, error) { *p++; return true, nil }

// TestStatisticsGoWithTheirTable: what ANALYZE TABLE has learnt is kept neither in memory nor on disk once the rows are gone, not even
// if it has learnt that from a table that was dropped meanwhile.
func TestStatisticsGoWithTheirTable(t *testing.T) {
	o := inproc.Options{FS: engine.NewMemFS()}
	node := inproc.Open(t, o)
	c := node.Root("")
	c.Must("CREATE DATABASE d")
	c.Must("USE d")
	table := func() *catalog.Table {
		t.Helper()
		found, err := node.Catalog.Current().Table("d", "t")
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	var seen []*catalog.Table
	known := func(want int) {
		t.Helper()
		testkit.Await(t, "the jobs end", func() bool { return len(node.DDL.Jobs()) == 0 })
		inMemory, stored := 0, pairs(0)
		for _, version := range seen {
			if _, ok := node.Stats.RowCount(version); ok {
				inMemory++
			}
		}
		start := keys.SystemKey(nil, 's')
		if _, err := node.Txns.Scan(&txn.ScanRequest{Span: kvapi.Span{Start: start, End: keys.PrefixEnd(nil, start)}, Sink: &stored}); err != nil {
			t.Fatal(err)
		}
		if inMemory != want || int(stored) != want {
			t.Errorf("statistics of %d tables in memory and of %d on disk, want %d", inMemory, stored, want)
		}
	}
	c.Must("CREATE TABLE t (id INT PRIMARY KEY)")
	for _, end := range []string{"TRUNCATE t", "TRUNCATE t", "DROP TABLE t"} {
		c.Must("INSERT INTO t VALUES (1),(2)")
		c.Must("ANALYZE TABLE t")
		seen = append(seen, table())
		known(1)
		c.Must(end)
		known(0)
	}
	// An ANALYZE that began before.
	if err := node.Stats.Put(seen[0], &stats.Table{Rows: 5}); err != nil {
		t.Fatal(err)
	}
	known(0)
	c.Must("CREATE TABLE t (id INT PRIMARY KEY)")
	c.Must("ANALYZE TABLE t")
	seen = append(seen, table())
	c.Close()
	node.Close()
	node = inproc.Open(t, o)
	t.Cleanup(node.Close)
	known(1)
}

// TestStatisticsRefreshThemselves: enough changed rows bring statistics, which drop the plans made without them; STATS_AUTO_RECALC=0 keeps a table out.
func TestStatisticsRefreshThemselves(t *testing.T) {
	n, c := inproc.OpenDatabase(t)
	n.Stats.Start(n.Plans.Forget)
	t.Cleanup(n.Stats.Close)
	c.Must("CREATE TABLE numbers (n INT PRIMARY KEY)")
	c.Must("INSERT INTO numbers WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 500) SELECT n FROM r")
	for _, ddl := range []string{"CREATE TABLE kept (id INT PRIMARY KEY, a INT) STATS_AUTO_RECALC=0", "CREATE TABLE one (id INT PRIMARY KEY, a INT)",
		"CREATE TABLE many (id INT PRIMARY KEY, a INT)"} {
		c.Must(ddl)
	}
	count := func(name string) (float64, bool) {
		table, err := n.Catalog.Current().Table("d", name)
		if err != nil {
			t.Fatal(err)
		}
		return n.Stats.RowCount(table)
	}
	query := "SELECT COUNT(*) FROM many x JOIN many y ON x.a = y.a"
	c.Must(query)
	c.Must("INSERT INTO kept SELECT n, n FROM numbers")
	c.Must("INSERT INTO many SELECT n, n FROM numbers")
	testkit.Await(t, "statistics after one large statement", func() bool {
		rows, ok := count("many")
		return ok && rows == 500
	})
	before := n.Plans.Stats().Misses // the plan is dropped a moment after the statistics are there
	testkit.Await(t, "the plan made without statistics to be made anew", func() bool {
		c.Must(query)
		return n.Plans.Stats().Misses > before
	})
	for i := range 256 {
		c.Must("INSERT INTO one VALUES (" + strconv.Itoa(i) + ", 1)")
	}
	testkit.Await(t, "statistics after many small statements", func() bool {
		_, ok := count("one")
		return ok
	})
	if _, ok := count("kept"); ok {
		t.Error("STATS_AUTO_RECALC=0 was not heard")
	}
}

// TestSpillsAreCounted: SHOW STATUS and the digests tell of sorts and groups that do not fit in memory.
func TestSpillsAreCounted(t *testing.T) {
	_, c := inproc.OpenDatabase(t)
	c.Must("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a CHAR(200))")
	c.Must("INSERT INTO t (a) VALUES (REPEAT('x', 200)), (REPEAT('y', 200))")
	for range 13 {
		c.Must("INSERT INTO t (a) SELECT CONCAT(LEFT(a, 150), RAND()) FROM t")
	}
	c.Must("SET tidb_mem_quota_query = 2097152")
	counter := func(name string) string {
		return c.Must("SHOW SESSION STATUS LIKE '" + name + "'").Rows[0][1]
	}
	c.Must("FLUSH STATUS")
	c.Must("SELECT COUNT(*) FROM (SELECT a FROM t ORDER BY a, id LIMIT 1000000) d")
	if files, passes, disk := counter("Created_tmp_files"), counter("Sort_merge_passes"), counter("Created_tmp_disk_tables"); files == "0" || passes == "0" || disk != "0" {
		t.Errorf("a sort on disk has %s files, %s merge passes, %s tables", files, passes, disk)
	}
	c.Must("FLUSH STATUS")
	c.Must("SELECT COUNT(*) FROM (SELECT a, COUNT(*) FROM t GROUP BY a) d")
	if files, passes, disk := counter("Created_tmp_files"), counter("Sort_merge_passes"), counter("Created_tmp_disk_tables"); files == "0" || passes != "0" || disk != "1" {
		t.Errorf("groups on disk have %s files, %s merge passes, %s tables", files, passes, disk)
	}
	if got := c.Value("SELECT SUM(SUM_SORT_MERGE_PASSES) > 0 AND SUM(SUM_CREATED_TMP_DISK_TABLES) = 1 FROM performance_schema.events_statements_summary_by_digest"); got != "1" {
		t.Errorf("the digests say nothing of either: %s", got)
	}
}
