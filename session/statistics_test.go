package session_test

import (
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
