package tests

import (
	"database/sql"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// bench is one sysbench command line's common part.
type bench struct {
	t      testing.TB
	node   *node
	tables int
	rows   int
	user   string
	extra  []string
}

func (b *bench) args(script, command string, more ...string) []string {
	user := b.user
	if user == "" {
		user = "root"
	}
	args := []string{script, "--db-driver=mysql", "--mysql-host=" + b.node.host(), "--mysql-port=" + b.node.port(), "--mysql-user=" + user,
		"--mysql-db=sbtest", "--rand-type=uniform", "--tables=" + strconv.Itoa(b.tables), "--table-size=" + strconv.Itoa(b.rows)}
	args = append(args, b.extra...)
	args = append(args, more...)
	return append(args, command)
}

// run executes sysbench and returns what it printed; an exit code other than 0 fails the test.
func (b *bench) run(script, command string, more ...string) string {
	b.t.Helper()
	args := b.args(script, command, more...)
	out, err := exec.Command(need(b.t, "sysbench"), args...).CombinedOutput()
	if err != nil || strings.Contains(string(out), "FATAL") {
		b.t.Fatalf("sysbench %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

var transactionsLine = regexp.MustCompile(`transactions:\s+(\d+)`)

// transactions is the number of events that sysbench counts; a run without one fails.
func transactions(t testing.TB, out string) int {
	t.Helper()
	found := transactionsLine.FindStringSubmatch(out)
	if found == nil {
		t.Fatalf("no transactions line in\n%s", out)
	}
	n, err := strconv.Atoi(found[1])
	if err != nil || n == 0 {
		t.Fatalf("sysbench ran nothing:\n%s", out)
	}
	return n
}

// verifyTable compares every path to the same rows: the primary key, the secondary index, and order by each.
func verifyTable(t testing.TB, db *sql.DB, table string, index string) (rows, sumK int64) {
	t.Helper()
	rows = queryInt(t, db, "SELECT COUNT(*) FROM "+table)
	sumK = queryInt(t, db, "SELECT SUM(k) FROM "+table)
	if index == "" {
		return rows, sumK
	}
	low := "k BETWEEN -2147483648 AND 2147483647"
	byIndex := queryInt(t, db, "SELECT COUNT(*) FROM "+table+" FORCE INDEX ("+index+") WHERE "+low)
	sumIndex := queryInt(t, db, "SELECT SUM(k) FROM "+table+" FORCE INDEX ("+index+") WHERE "+low)
	if rows != byIndex || sumK != sumIndex {
		t.Errorf("%s: the table has %d rows with sum %d, its index %s has %d with sum %d", table, rows, sumK, index, byIndex, sumIndex)
	}
	// Every row is found through the index by its own k, and every entry leads to a row that has that k.
	if bad := mismatches(t, db, table, index); bad != "" {
		t.Errorf("%s: %s", table, bad)
	}
	return rows, sumK
}

// mismatches compares the (k, id) pairs in the index with those in the table, both read in full.
func mismatches(t testing.TB, db *sql.DB, table, index string) string {
	t.Helper()
	read := func(query string) map[[2]int64]int {
		pairs := map[[2]int64]int{}
		rows, err := db.Query(query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		defer rows.Close()
		for rows.Next() {
			var pair [2]int64
			if err := rows.Scan(&pair[0], &pair[1]); err != nil {
				t.Fatal(err)
			}
			pairs[pair]++
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return pairs
	}
	inTable := read("SELECT k, id FROM " + table)
	inIndex := read("SELECT k, id FROM " + table + " FORCE INDEX (" + index + ") WHERE k BETWEEN -2147483648 AND 2147483647")
	for pair, n := range inTable {
		if inIndex[pair] != n {
			return fmt.Sprintf("row (k %d, id %d) is in the table %d times, in the index %d times", pair[0], pair[1], n, inIndex[pair])
		}
	}
	for pair, n := range inIndex {
		if inTable[pair] != n {
			return fmt.Sprintf("entry (k %d, id %d) is in the index %d times, in the table %d times", pair[0], pair[1], n, inTable[pair])
		}
	}
	return ""
}

func createSbtest(t testing.TB, n *node) *sql.DB {
	t.Helper()
	mustExec(t, n.open(""), "CREATE DATABASE sbtest")
	return n.open("sbtest")
}

// TestSysbenchScripts runs every stock script in both statement modes over one prepared set of tables, and checks the tables after each.
func TestSysbenchScripts(t *testing.T) {
	for _, mode := range []string{"auto", "disable"} {
		t.Run("ps-mode="+mode, func(t *testing.T) {
			n := startNode(t, "")
			db := createSbtest(t, n)
			b := &bench{t: t, node: n, tables: 4, rows: 3000, extra: []string{"--db-ps-mode=" + mode}}
			b.run("oltp_common", "prepare", "--threads=4")
			b.run("oltp_common", "prewarm", "--threads=4")
			sums := map[string]int64{}
			for i := 1; i <= b.tables; i++ {
				table := "sbtest" + strconv.Itoa(i)
				rows, sum := verifyTable(t, db, table, "k_"+strconv.Itoa(i))
				if rows != int64(b.rows) {
					t.Errorf("%s has %d rows after prepare, not %d", table, rows, b.rows)
				}
				sums[table] = sum
			}
			read := []string{"--threads=4", "--events=400", "--time=0"}
			for _, script := range []string{"oltp_point_select", "oltp_read_only", "select_random_points", "select_random_ranges"} {
				if got := transactions(t, b.run(script, "run", read...)); got != 400 {
					t.Errorf("%s ran %d events, not 400", script, got)
				}
			}
			checkUnchanged(t, db, b, sums)
			checkUpdates(t, db, b, sums)
			checkWrites(t, db, b)
			b.run("oltp_common", "cleanup")
			if left := queryInt(t, db, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema='sbtest'"); left != 0 {
				t.Errorf("%d tables are left after cleanup", left)
			}
			if code := n.stop(); code != 0 {
				t.Errorf("SIGTERM ended with code %d", code)
			}
		})
	}
}

func checkUnchanged(t *testing.T, db *sql.DB, b *bench, sums map[string]int64) {
	t.Helper()
	for i := 1; i <= b.tables; i++ {
		table := "sbtest" + strconv.Itoa(i)
		if rows, sum := verifyTable(t, db, table, "k_"+strconv.Itoa(i)); rows != int64(b.rows) || sum != sums[table] {
			t.Errorf("%s: reads changed it: %d rows, sum %d, was %d rows, sum %d", table, rows, sum, b.rows, sums[table])
		}
	}
}

// checkUpdates runs the update scripts: k=k+1 raises the sum by exactly one for each event; a non-index update changes c alone.
func checkUpdates(t *testing.T, db *sql.DB, b *bench, sums map[string]int64) {
	t.Helper()
	total := func() (rows, sum int64) {
		for i := 1; i <= b.tables; i++ {
			r, s := verifyTable(t, db, "sbtest"+strconv.Itoa(i), "k_"+strconv.Itoa(i))
			rows, sum = rows+r, sum+s
		}
		return rows, sum
	}
	rows, before := total()
	events := transactions(t, b.run("oltp_update_index", "run", "--threads=8", "--events=800", "--time=0"))
	if got, after := total(); got != rows || after != before+int64(events) {
		t.Errorf("after %d updates of k the sum went from %d to %d with %d rows (were %d)", events, before, after, got, rows)
	}
	_, before = total()
	transactions(t, b.run("oltp_update_non_index", "run", "--threads=8", "--events=800", "--time=0"))
	if got, after := total(); got != rows || after != before {
		t.Errorf("updates of c changed the sum of k from %d to %d, or the rows to %d", before, after, got)
	}
}

// checkWrites runs the scripts that delete and insert. Delete-and-insert pairs keep the row count; inserts raise it by one each.
func checkWrites(t *testing.T, db *sql.DB, b *bench) {
	t.Helper()
	count := func() (rows int64) {
		for i := 1; i <= b.tables; i++ {
			r, _ := verifyTable(t, db, "sbtest"+strconv.Itoa(i), "k_"+strconv.Itoa(i))
			rows += r
		}
		return rows
	}
	before := count()
	transactions(t, b.run("oltp_read_write", "run", "--threads=8", "--events=300", "--time=0"))
	transactions(t, b.run("oltp_write_only", "run", "--threads=8", "--events=300", "--time=0"))
	if after := count(); after != before {
		t.Errorf("read_write and write_only changed the row count from %d to %d", before, after)
	}
	// Without a transaction around delete and insert, another thread may insert the same id first: 1062 is legitimate then.
	transactions(t, b.run("oltp_read_write", "run", "--threads=4", "--events=200", "--time=0", "--skip_trx=on", "--mysql-ignore-errors=1213,1020,1205,1062"))
	before = count()
	events := transactions(t, b.run("oltp_insert", "run", "--threads=8", "--events=500", "--time=0"))
	if after := count(); after != before+int64(events) {
		t.Errorf("%d inserts took the row count from %d to %d", events, before, after)
	}
	before = count()
	transactions(t, b.run("oltp_delete", "run", "--threads=8", "--events=500", "--time=0"))
	if after := count(); after >= before || after < before-500 {
		t.Errorf("500 deletes took the row count from %d to %d", before, after)
	}
}

// TestSysbenchVariants runs the options that change the schema or the ids.
func TestSysbenchVariants(t *testing.T) {
	n := startNode(t, "")
	db := createSbtest(t, n)
	t.Run("auto_inc=off", func(t *testing.T) {
		b := &bench{t: t, node: n, tables: 16, rows: 500, extra: []string{"--auto_inc=off"}}
		b.run("oltp_common", "prepare", "--threads=16")
		rows, _ := verifyTable(t, db, "sbtest16", "k_16")
		if rows != 500 {
			t.Errorf("%d rows, not 500", rows)
		}
		transactions(t, b.run("oltp_read_write", "run", "--threads=16", "--events=200", "--time=0"))
		b.run("oltp_common", "cleanup")
	})
	t.Run("auto_inc=off insert", func(t *testing.T) {
		b := &bench{t: t, node: n, tables: 2, rows: 100, extra: []string{"--auto_inc=off"}}
		b.run("oltp_insert", "prepare")
		transactions(t, b.run("oltp_insert", "run", "--threads=4", "--events=500", "--time=0", "--mysql-ignore-errors=1062"))
		verifyTable(t, db, "sbtest1", "k_1")
		b.run("oltp_common", "cleanup")
	})
	t.Run("secondary=on", func(t *testing.T) {
		b := &bench{t: t, node: n, tables: 2, rows: 500, extra: []string{"--secondary=on"}}
		b.run("oltp_common", "prepare", "--threads=2")
		transactions(t, b.run("oltp_read_write", "run", "--threads=4", "--events=100", "--time=0"))
		verifyTable(t, db, "sbtest1", "k_1")
		b.run("oltp_common", "cleanup")
	})
	t.Run("create_secondary=off", func(t *testing.T) {
		b := &bench{t: t, node: n, tables: 32, rows: 200, extra: []string{"--create_secondary=off"}}
		b.run("oltp_common", "prepare", "--threads=16")
		transactions(t, b.run("oltp_write_only", "run", "--threads=8", "--events=200", "--time=0"))
		verifyTable(t, db, "sbtest32", "")
		b.run("oltp_common", "cleanup")
	})
	t.Run("bulk_insert", func(t *testing.T) {
		b := &bench{t: t, node: n, tables: 1, rows: 1000}
		b.run("bulk_insert", "prepare", "--threads=4")
		events := transactions(t, b.run("bulk_insert", "run", "--threads=4", "--events=200000", "--time=0"))
		var rows int64
		for i := 1; i <= 4; i++ {
			rows += queryInt(t, db, "SELECT COUNT(*) FROM sbtest"+strconv.Itoa(i))
		}
		if rows == 0 || rows > int64(events) {
			t.Errorf("%d rows after %d bulk inserts", rows, events)
		}
		b.run("bulk_insert", "cleanup", "--threads=4")
	})
}
