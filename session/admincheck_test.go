package session_test

import (
	"strings"
	"testing"

	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/tests/inproc"
	"github.com/pandodb/pando/txn"
)

// firstKey keeps the first key of a scan.
type firstKey struct{ key []byte }

func (f *firstKey) Pair(key, _ []byte) (bool, error) {
	if f.key == nil {
		f.key = append(f.key, key...)
	}
	return true, nil
}

// TestAdminCheck: ADMIN CHECK TABLE answers OK for tables whose indexes are as they are, and an error for one that lacks an entry, for none that
// is there, and for one that the account may not read.
func TestAdminCheck(t *testing.T) {
	node, c := inproc.OpenDatabase(t)
	c.Must("CREATE TABLE t (id INT PRIMARY KEY, n INT, m INT, KEY (n), KEY (m))")
	c.Must("CREATE TABLE u (id INT)")
	c.Must("INSERT INTO t VALUES (1, 10, 5), (2, 20, 6)")
	answer := func(sql string) string { return firstRow(c.Exec(sql)) }
	for _, sql := range []string{"ADMIN CHECK TABLE t", "ADMIN CHECK TABLE t, d.u", "admin check table `t`", "ADMIN CHECK INDEX t n", "ADMIN CHECK INDEX d.t `M`", "ADMIN CHECK INDEX t `primary`"} {
		if got := answer(sql); got != "ok" {
			t.Errorf("%s: %s", sql, got)
		}
	}
	if got := answer("ADMIN CHECK TABLE u, nope"); !strings.HasPrefix(got, "ERROR 1146 (42S02): Table 'd.nope' doesn't exist") {
		t.Errorf("no table: %s", got)
	}
	if got := answer("ADMIN CHECK INDEX t nope"); !strings.HasPrefix(got, "ERROR 1176 (42000): Key 'nope' doesn't exist in table 't'") {
		t.Errorf("no index: %s", got)
	}
	for _, sql := range []string{"ADMIN CHECK INDEX t n (1, 2)", "ADMIN CHECKSUM TABLE t", "ADMIN RECOVER INDEX t n"} {
		if got := answer(sql); !strings.HasPrefix(got, "ERROR 1235 (42000)") {
			t.Errorf("%s: %s", sql, got)
		}
	}
	desc, err := node.Catalog.Current().Table("d", "t")
	if err != nil {
		t.Fatal(err)
	}
	for _, ix := range desc.Indexes {
		if ix.Name != "n" {
			continue
		}
		found := &firstKey{}
		if _, err := node.Node.Txns.Scan(&txn.ScanRequest{Span: table.IndexSpan(desc, ix), Sink: found}); err != nil || found.key == nil {
			t.Fatal("no entry", err)
		}
		tx := node.Node.Txns.Begin(txn.Options{Level: txn.ReadCommitted})
		defer tx.Release()
		if err := tx.Delete(found.key); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if got := answer("ADMIN CHECK TABLE u, t"); !strings.HasPrefix(got, "ERROR 8223 (HY000): data inconsistency in table: t, ") {
		t.Errorf("an index without an entry: %s", got)
	}
	if got := answer("ADMIN CHECK INDEX t n"); !strings.HasPrefix(got, "ERROR 8223 (HY000): data inconsistency in table: t, ") {
		t.Errorf("that index: %s", got)
	}
	if got := answer("ADMIN CHECK INDEX t m"); got != "ok" {
		t.Errorf("the other index: %s", got)
	}
	if got := answer("SELECT COUNT(*) FROM t IGNORE INDEX (n)"); got != "2" {
		t.Errorf("behind it: %s", got)
	}
}
