package wire

import (
	"testing"

	"github.com/pandodb/pando/status"
)

// TestKindOf: the first word decides, and odd texts are "other" instead of a fault.
func TestKindOf(t *testing.T) {
	for sql, want := range map[string]Kind{
		"SELECT 1": KindSelect, " \n/* a */ /*b*/((select 1) union select 2)": KindSelect, "WITH x AS (SELECT 1) SELECT * FROM x": KindSelect, "insert into t values (1)": KindInsert,
		"REPLACE t VALUES (1)": KindReplace, "UPDATE t SET a=1": KindUpdate, "delete from t": KindDelete, "BEGIN": KindBegin, "START TRANSACTION": KindBegin, "COMMIT": KindCommit,
		"ROLLBACK": KindRollback, "SET@a=1": KindSet, "SHOW TABLES": KindShow, "DESC t": KindShow, "EXPLAIN SELECT 1": KindShow, "TRUNCATE t": KindDDL, "CREATE TABLE t (a INT)": KindDDL,
		"": KindOther, "/*": KindOther, "/* x": KindOther, "/**/": KindOther, "(((": KindOther, "SELECTED": KindOther, "selectselectselect 1": KindOther, "\xff": KindOther, "CALL p()": KindOther,
	} {
		if got := kindOf([]byte(sql)); got != want {
			t.Errorf("%q is %v, want %v", sql, got, want)
		}
	}
}

// TestLatencies: each statement is counted once under its kind, texts and prepared ones, failed ones too.
func TestLatencies(t *testing.T) {
	ts := startServer(t, nil)
	db := ts.open(t, "root", "", "")
	for _, sql := range []string{"SELECT 1", "FAIL", "UPDATE x"} {
		_, _ = db.Exec(sql) // the toy language knows none of the words
	}
	stmt, err := db.Prepare("INSERT ?")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := stmt.Exec(1); err != nil {
			t.Fatal(err)
		}
	}
	for kind, want := range map[Kind]uint64{KindSelect: 1, KindOther: 1, KindUpdate: 1, KindInsert: 2, KindDelete: 0} {
		var h status.Histogram
		eventually(t, "they are counted", func() bool { ts.Latencies(kind, &h); return h.Count() >= want })
		if h.Count() != want || (h.Sum() > 0) != (want > 0) {
			t.Errorf("%v: %d taking %d ns, want %d", kind, h.Count(), h.Sum(), want)
		}
	}
}
