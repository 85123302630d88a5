package tests

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// sysbench runs a command line as a report prints it; fields are split at white space.
func sysbench(t testing.TB, line string) string {
	t.Helper()
	out, err := exec.Command(need(t, "sysbench"), strings.Fields(line)...).CombinedOutput()
	if err != nil || strings.Contains(string(out), "FATAL") {
		t.Fatalf("sysbench %s: %v\n%s", line, err, out)
	}
	return string(out)
}

// TestReportV5 follows the v5.0 report: prepare as root with a password, the global variables, ANALYZE of each table, and runs that
// log in as sbtest without a password, since the report's command line names no user. Only sizes and times are smaller.
func TestReportV5(t *testing.T) {
	n := startNode(t, "")
	root := n.open("")
	mustExec(t, root, "CREATE DATABASE sbtest", "CREATE USER sbtest", "GRANT ALL ON sbtest.* TO sbtest", "ALTER USER root@localhost IDENTIFIED BY 'password'")
	if _, err := n.open("").Exec("SELECT 1"); errorNumber(err) != 1045 {
		t.Errorf("root without its new password got %v, not 1045", err)
	}
	address := fmt.Sprintf("--db-driver=mysql --mysql-db=sbtest --mysql-host=%s --mysql-port=%s ", n.host(), n.port())
	sysbench(t, "oltp_common --threads=16 --rand-type=uniform "+address+
		"--mysql-user=root --mysql-password=password prepare --tables=16 --table-size=1000")
	db := n.openAs("root", "password", "sbtest")
	mustExec(t, db, "set global tidb_hashagg_final_concurrency=1", "set global tidb_hashagg_partial_concurrency=1", "set global tidb_enable_async_commit = 1",
		"set global tidb_enable_1pc = 1", "set global tidb_guarantee_linearizability = 0", "set global tidb_enable_clustered_index = 1", "set global tidb_disable_txn_auto_retry=0")
	for i := 1; i <= 16; i++ {
		var table, op, kind, text string
		if err := db.QueryRow("ANALYZE TABLE sbtest"+strconv.Itoa(i)).Scan(&table, &op, &kind, &text); err != nil || text != "OK" {
			t.Errorf("ANALYZE answered %s %s %s %s: %v", table, op, kind, text, err)
		}
	}
	for _, name := range []string{"oltp_point_select", "oltp_read_write", "oltp_update_index", "oltp_update_non_index"} {
		out := sysbench(t, name+" --threads=32 --time=2 --report-interval=1 --rand-type=uniform "+address+"run --tables=16 --table-size=1000")
		t.Logf("%s: %d transactions", name, transactions(t, out))
	}
	for i := 1; i <= 16; i++ {
		if rows, _ := verifyTable(t, db, "sbtest"+strconv.Itoa(i), "k_"+strconv.Itoa(i)); rows != 1000 {
			t.Errorf("sbtest%d has %d rows, not 1000", i, rows)
		}
	}
}

// TestReportCloud follows the Cloud report: 32 tables, its list of ignored errors, --auto-inc=false over tables prepared with
// AUTO_INCREMENT, and no --rand-type, so that most accesses hit few rows.
func TestReportCloud(t *testing.T) {
	n := startNode(t, "")
	db := createSbtest(t, n)
	mustExec(t, db, "ALTER USER root@localhost IDENTIFIED BY 'secret'")
	db = n.openAs("root", "secret", "sbtest")
	address := fmt.Sprintf("--mysql-host=%s --mysql-port=%s --mysql-user=root --db-driver=mysql --mysql-db=sbtest --mysql-password=secret ", n.host(), n.port())
	sysbench(t, "oltp_common --threads=16 "+address+"prepare --tables=32 --table-size=1000")
	for _, name := range []string{"oltp_point_select", "oltp_update_non_index", "oltp_update_index", "oltp_insert"} {
		out := sysbench(t, name+" run "+address+"--threads=50 --time=1 --report-interval=10 --tables=32 --table-size=1000 "+
			"--mysql-ignore-errors=1062,2013,8028,9007 --auto-inc=false")
		t.Logf("%s: %d transactions", name, transactions(t, out))
	}
	// The report's list replaces sysbench's own, which ignores deadlocks. With tables this small they do occur, on MySQL too.
	sysbench(t, "oltp_read_write run "+address+"--threads=50 --time=1 --tables=32 --table-size=1000 --mysql-ignore-errors=1062,2013,8028,9007,1213 --auto-inc=false")
	for i := 1; i <= 32; i++ {
		verifyTable(t, db, "sbtest"+strconv.Itoa(i), "k_"+strconv.Itoa(i))
	}
}

// TestReportV1 creates the v1.0 report's table, whose defaults are quoted numbers of unsigned columns with a width.
func TestReportV1(t *testing.T) {
	n := startNode(t, "")
	db := createSbtest(t, n)
	mustExec(t, db, "CREATE TABLE `sbtest` (\n  `id` int(10) unsigned NOT NULL AUTO_INCREMENT,\n  `k` int(10) unsigned NOT NULL DEFAULT '0',\n"+
		"  `c` char(120) NOT NULL DEFAULT '',\n  `pad` char(60) NOT NULL DEFAULT '',\n  PRIMARY KEY (`id`),\n  KEY `k_1` (`k`)\n) ENGINE=InnoDB  ",
		"INSERT INTO sbtest (c) VALUES ('a'), ('b')", "INSERT INTO sbtest (id, k) VALUES (4294967295, 4294967295)")
	if sum := queryInt(t, db, "SELECT SUM(id+k) FROM sbtest WHERE id > 2"); sum != 2*4294967295 {
		t.Errorf("the sum of the largest unsigned values is %d", sum)
	}
	if _, err := db.Exec("INSERT INTO sbtest (k) VALUES (1)"); errorNumber(err) != 1467 && errorNumber(err) != 1062 {
		t.Errorf("an exhausted AUTO_INCREMENT gave %v", err)
	}
}
