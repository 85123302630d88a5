package sqltest_test

import (
	"strings"
	"testing"

	sqltest "github.com/pandodb/pando/tests/sql"
)

const everyRecord = `# a comment

statement ok
CREATE TABLE t (a INT,
b INT)

statement count 2
INSERT INTO t VALUES (1, 2), (3, NULL)

statement error 1054
SELECT c FROM t

statement error
SELECT

onlyif mysql
query I nosort
SELECT 1
----
1

skipif mariadb
query IT rowsort label-1
SELECT a, b FROM t
----
1	2
3	NULL

query II valuesort
SELECT a, b FROM t
----
1
2
3
NULL

halt
`

func TestFormat(t *testing.T) {
	records, err := sqltest.Parse(everyRecord)
	if err != nil {
		t.Fatal(err)
	}
	if got := sqltest.Format(records); got != everyRecord {
		t.Errorf("a file that is read and written:\n%s", got)
	}
	if len(records) != 8 || !records[4].Skipped("pando") || records[4].Skipped("mysql") || !records[5].Skipped("mariadb") || records[5].Skipped("pando") {
		t.Errorf("%d records, or wrong conditions", len(records))
	}
	for _, bad := range []string{"query\nSELECT 1\n", "query X\nSELECT 1\n", "query I sideways\nSELECT 1\n", "statement maybe\nSELECT 1\n", "statement ok\n\n", "statement count x\nSELECT 1\n"} {
		if _, err := sqltest.Parse(bad); err == nil {
			t.Errorf("no complaint about %q", bad)
		}
	}
}

func TestMismatch(t *testing.T) {
	rows := func(types string, rows ...string) *sqltest.Answer {
		a := &sqltest.Answer{Types: types}
		for _, row := range rows {
			a.Rows = append(a.Rows, strings.Split(row, "\t"))
		}
		return a
	}
	for _, c := range []struct {
		record string
		answer *sqltest.Answer
		same   bool
	}{
		{"query II nosort\nq\n----\n1\t2\n3\t4\n", rows("II", "1\t2", "3\t4"), true},
		{"query II nosort\nq\n----\n1\n2\n3\n4\n", rows("II", "1\t2", "3\t4"), true},
		{"query II nosort\nq\n----\n1\t2\n3\t4\n", rows("II", "3\t4", "1\t2"), false},
		{"query II rowsort\nq\n----\n1\t2\n3\t4\n", rows("II", "3\t4", "1\t2"), true},
		{"query II rowsort\nq\n----\n1\t2\n3\t4\n", rows("II", "4\t3", "1\t2"), false},
		{"query II valuesort\nq\n----\n1\n2\n3\n4\n", rows("II", "4\t3", "1\t2"), true},
		{"query I nosort\nq\n----\n1\n", rows("I", "1", "1"), false},
		{"query I nosort\nq\n----\n", rows("I"), true},
		{"query I nosort\nq\n----\n", rows("I", "1"), false},
		{"query I nosort\nq\n----\n1\n", rows("II", "1\t1"), false},
		{"query R nosort\nq\n----\n0.1\n", rows("R", "0.10000000000000002"), true},
		{"query R nosort\nq\n----\n0.1\n", rows("R", "0.1001"), false},
		{"query T nosort\nq\n----\n0.1\n", rows("T", "0.10"), false},
		{"query I nosort\nq\n----\n3 values hashing to fd6b8a0ffe1b1e6fe1ec9d0f6cc4a6e8\n", rows("I", "1", "2", "3"), false},
		{"query I nosort\nq\n----\n3 values hashing to c0710d6b4f15dfa88f600b0e6b624077\n", rows("I", "1", "2", "3"), true},
		{"statement ok\nq\n", &sqltest.Answer{}, true},
		{"statement ok\nq\n", &sqltest.Answer{Number: 1054}, false},
		{"statement count 2\nq\n", &sqltest.Answer{Affected: 2}, true},
		{"statement count 2\nq\n", &sqltest.Answer{Affected: 1}, false},
		{"statement error 1054\nq\n", &sqltest.Answer{Number: 1054}, true},
		{"statement error 1054\nq\n", &sqltest.Answer{Number: 1052}, false},
		{"statement error\nq\n", &sqltest.Answer{Number: 1052}, true},
		{"statement error\nq\n", &sqltest.Answer{Number: -1}, false},
		{"statement error\nq\n", &sqltest.Answer{}, false},
	} {
		records, err := sqltest.Parse(c.record)
		if err != nil {
			t.Fatal(err)
		}
		if got := records[0].Mismatch(c.answer); (got == "") != c.same {
			t.Errorf("%q against %v: %q", c.record, c.answer, got)
		}
	}
}
