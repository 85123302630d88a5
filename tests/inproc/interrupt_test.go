package inproc_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/tests/inproc"
	"github.com/pandodb/pando/types"
)

// hangLimit is how long a statement may take to notice that it has to end before the test calls it hung: far more than it needs on any machine.
const hangLimit = 2 * time.Minute

// product is a FROM clause of a million times a million rows, in the order in which it stands.
const product = "n a STRAIGHT_JOIN n b STRAIGHT_JOIN n c STRAIGHT_JOIN n d"

// endless are statements that would run for days, one for each operator at work; plan has to stand in EXPLAIN, so that a test of an operator that
// the optimizer doesn't choose any more is noticed. little is memory with which the operator spills.
var endless = []struct {
	name, plan, sql string
	little          bool
}{
	{"nested loops", "Apply", "SELECT COUNT(*) FROM " + product + " WHERE a.v + b.v + c.v + d.v < 0", false},
	{"filter over a scan", "filter", "SELECT COUNT(*) FROM n WHERE v < BENCHMARK(1000000000000, MD5(pad))", false},
	{"lookup join", "IndexLookup", "SELECT /*+ INL_JOIN(e) */ COUNT(*) FROM " + product + " STRAIGHT_JOIN n e ON e.v = d.k WHERE e.pad > 'z'", false},
	{"hash join, build", "HashJoin", "SELECT /*+ HASH_JOIN() */ COUNT(*) FROM n e STRAIGHT_JOIN (SELECT DISTINCT a.v + b.v + c.v + d.v AS s FROM " + product + ") x ON x.s = e.v", false},
	{"hash join, probe", "HashJoin", "SELECT /*+ HASH_JOIN() */ COUNT(*) FROM " + product + " STRAIGHT_JOIN n e ON e.v = a.v + d.v WHERE e.pad > d.pad", false},
	{"hash join, spilled", "HashJoin", "SELECT /*+ HASH_JOIN() NO_MERGE(x) */ COUNT(*) FROM n e STRAIGHT_JOIN (SELECT a.v + d.v AS s, a.pad AS p, b.pad AS q FROM " + product + " LIMIT 1000000000) x ON x.s = e.v WHERE x.p > x.q", true},
	{"null-aware anti join, build", "NULL-aware", "SELECT COUNT(*) FROM n e WHERE e.v NOT IN (SELECT a.v + d.v FROM " + product + ")", false},
	{"null-aware anti join, probe", "NULL-aware", "SELECT COUNT(*) FROM (SELECT a.v + d.v AS s FROM " + product + " LIMIT 1000000000000) x WHERE s NOT IN (SELECT v FROM n)", false},
	{"merge join", "MergeJoin", "SELECT /*+ MERGE_JOIN() */ COUNT(*) FROM same a STRAIGHT_JOIN same b ON a.v = b.v STRAIGHT_JOIN same c ON b.v = c.v STRAIGHT_JOIN same d ON c.v = d.v WHERE a.k + d.k < 0", false},
	{"hash aggregate", "HashAgg", "SELECT COUNT(*), SUM(a.v) FROM " + product + " GROUP BY a.v + b.v", false},
	{"hash aggregate, spilled", "HashAgg", "SELECT COUNT(*) FROM " + product + " GROUP BY a.k, b.k, c.k, d.k", true},
	{"stream aggregate", "StreamAgg", "SELECT /*+ STREAM_AGG() */ COUNT(*) FROM n a STRAIGHT_JOIN n b STRAIGHT_JOIN n c STRAIGHT_JOIN n d GROUP BY a.k", false},
	{"distinct", "Distinct", "SELECT COUNT(*) FROM (SELECT DISTINCT a.v + b.v FROM " + product + ") x", false},
	{"window", "Window", "SELECT SUM(r) FROM (SELECT SUM(b.v) OVER (PARTITION BY a.k ORDER BY b.k, c.k ROWS 2 PRECEDING) AS r FROM " + product + ") x", true},
	{"recursive CTE", "CTE", "WITH RECURSIVE c AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM c WHERE i < 1000000000000) SELECT COUNT(*) FROM c", false},
	{"recursive CTE, distinct", "CTE", "WITH RECURSIVE c AS (SELECT 1 AS i UNION SELECT (i + 1) % 1000000000000 FROM c) SELECT COUNT(*) FROM c", true},
	{"UNION", "Distinct", "SELECT a.v + d.v FROM " + product + " UNION SELECT b.v FROM " + product, false},
	{"UNION ALL", "UnionAll", "SELECT COUNT(*) FROM (SELECT a.v FROM " + product + " UNION ALL SELECT b.v FROM " + product + ") x", false},
	{"INTERSECT", "SetOp", "SELECT a.v + d.v FROM " + product + " INTERSECT ALL SELECT b.v FROM " + product, true},
	{"sort", "Sort", "SELECT a.k FROM " + product + " ORDER BY a.v + d.v, b.pad", true},
	{"top n", "TopN", "SELECT a.k FROM " + product + " ORDER BY a.v + d.v, b.pad LIMIT 10", false},
	{"subquery of each row", "dependent subquery", "SELECT SUM((SELECT COUNT(*) FROM n b STRAIGHT_JOIN n c STRAIGHT_JOIN n d STRAIGHT_JOIN n e WHERE b.v + c.v + d.v + e.v < a.v - 100000)) FROM n a", false},
	{"JSON_TABLE", "RowSource", "SELECT COUNT(*) FROM " + product + " STRAIGHT_JOIN JSON_TABLE(CONCAT('[', d.v, ',2]'), '$[*]' COLUMNS (y INT PATH '$')) j WHERE j.y < 0", false},
	{"EXPLAIN ANALYZE", "", "EXPLAIN ANALYZE SELECT COUNT(*) FROM " + product + " WHERE a.v + b.v + c.v + d.v < 0", false},
	{"rows to the client", "", "SELECT a.pad, d.pad FROM " + product, false},
	{"INSERT of a query", "", "INSERT INTO target (v) SELECT a.v FROM " + product + " WHERE a.v + b.v + c.v + d.v < 0", false},
	{"REPLACE of a query", "", "REPLACE INTO target (v) SELECT a.v FROM " + product, true},
	{"CREATE TABLE of a query", "", "CREATE TABLE made AS SELECT a.v FROM " + product + " WHERE a.v + b.v + c.v + d.v < 0", false},
	{"UPDATE of several tables", "", "UPDATE target t JOIN (" + product + ") SET t.v = d.v WHERE a.v + b.v + c.v + d.v < 0", false},
	{"UPDATE", "", "UPDATE target SET v = 1 WHERE v < BENCHMARK(1000000000000, MD5(v))", false},
	{"DELETE of several tables", "", "DELETE t FROM target t JOIN (" + product + ") WHERE a.v + b.v + c.v + d.v < 0", false},
}

// interrupts are what ends a statement, and the number of the error that the client sees; 0 is any, for one whose connection ends may see none.
var interrupts = []struct {
	name   string
	reason kvapi.Reason
	number int
}{
	{"KILL QUERY", kvapi.ReasonKillQuery, 1317},
	{"time limit", kvapi.ReasonTimeout, 3024},
	{"KILL CONNECTION", kvapi.ReasonKillConn, 0},
	{"client gone", kvapi.ReasonClientGone, 0},
}

// TestInterrupts: whatever operator is at work, a statement that is killed, whose time is over, whose connection is killed or whose client has left ends, and holds neither
// memory nor files afterwards.
func TestInterrupts(t *testing.T) {
	n := inproc.Open(t, inproc.Options{})
	n.Memory = exec.NewMemPool(1 << 30)
	defer n.Close()
	root := n.Root("")
	for _, sql := range []string{
		"CREATE DATABASE d", "USE d", "CREATE TABLE n (k INT PRIMARY KEY, v INT, pad VARCHAR(100), KEY (v))", "CREATE TABLE same (k INT PRIMARY KEY, v INT, KEY (v))",
		"SET cte_max_recursion_depth = 100000",
		"INSERT INTO n WITH RECURSIVE c AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM c WHERE i < 1000) SELECT i, i, REPEAT('x', 100) FROM c",
		"INSERT INTO same SELECT k, 1 FROM n", "CREATE TABLE target (id INT AUTO_INCREMENT PRIMARY KEY, v INT)", "INSERT INTO target (v) SELECT v FROM n",
		"ANALYZE TABLE n, same, target",
	} {
		root.Must(sql)
	}
	for _, e := range endless {
		for _, i := range interrupts {
			t.Run(e.name+"/"+i.name, func(t *testing.T) {
				conn := n.Root("d")
				defer conn.Close()
				conn.Must("SET cte_max_recursion_depth = 4294967295")
				if e.little {
					conn.Must("SET tidb_mem_quota_query = 8388608")
				}
				if e.plan != "" {
					if plan := conn.Value("EXPLAIN FORMAT=TREE " + e.sql); !strings.Contains(plan, e.plan) {
						t.Errorf("the plan has no %s:\n%s", e.plan, plan)
					}
				}
				conn.Must("DO 0")
				base := n.Memory.Used()
				if a := interrupted(t, conn, e.sql, i.reason); a.Err == nil || i.number != 0 && a.Number() != i.number {
					t.Errorf("%s: %v", e.sql, a)
				}
				conn.Interrupt().Reset()
				if i.reason >= kvapi.ReasonKillConn {
					conn.Close()
				} else {
					conn.Must("DO 0")
				}
				if used := n.Memory.Used(); used > base {
					t.Errorf("%d bytes of memory are still counted, %d before", used, base)
				}
				if files, err := os.ReadDir(n.TempDir); err != nil || len(files) > 0 {
					t.Errorf("temporary files are left: %v, %v", files, err)
				}
			})
		}
	}
	if rows := root.Value("SELECT COUNT(*) FROM target WHERE v > 0"); rows != "1000" {
		t.Errorf("interrupted statements have left %s rows", rows)
	}
	if a := root.Exec("SELECT * FROM made"); a.Number() != int(types.ErNoSuchTable) {
		t.Errorf("an interrupted CREATE TABLE … SELECT has left its table: %v", a)
	}
}

// interrupted runs a statement and raises the interrupt until it ends: what comes before it has begun is taken back by its beginning.
func interrupted(t *testing.T, conn *inproc.Conn, sql string, reason kvapi.Reason) *inproc.Answer {
	t.Helper()
	done := make(chan *inproc.Answer, 1)
	go func() { done <- conn.Exec(sql) }()
	again, hung := time.NewTicker(20*time.Millisecond), time.NewTimer(hangLimit)
	defer again.Stop()
	defer hung.Stop()
	for {
		select {
		case a := <-done:
			return a
		case <-again.C:
			conn.Interrupt().Set(reason)
		case <-hung.C:
			t.Fatalf("still at work: %s", sql)
		}
	}
}
