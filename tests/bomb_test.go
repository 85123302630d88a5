package tests

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/testkit"
)

const (
	bombGroupBytes = 512 << 20 // the cgroup of the server
	bombQuota      = 32 << 20  // tidb_mem_quota_query of the statements
	bombPacket     = 64 << 20  // max_allowed_packet, the default
	// bombLeft is what the heap may have grown by when all is over, collected: caches, and the buffers of the connections.
	bombLeft = 48 << 20
	// bombTime bounds one statement, so that one that nothing ends fails the test and not the machine.
	bombTime = 2 * time.Minute
)

// bombs are statements that took all memory, or all time, in some build.
var bombs = map[string]string{
	"JSON_LENGTH of a long array":  "SELECT JSON_LENGTH(CONCAT('[',REPEAT('1,',30000000),'1]'))",
	"JSON_PRETTY":                  "SELECT LENGTH(JSON_PRETTY(CONCAT('[',REPEAT('1,',10000000),'1]')))",
	"JSON_EXTRACT of everything":   "SELECT JSON_LENGTH(JSON_EXTRACT(CONCAT('[',REPEAT('[1],',3000000),'1]'),'$**[0]'))",
	"JSON_MERGE of long arrays":    "SELECT JSON_LENGTH(JSON_MERGE_PRESERVE(CONCAT('[',REPEAT('1,',3000000),'1]'),CONCAT('[',REPEAT('1,',3000000),'1]')))",
	"JSON_CONTAINS":                "SELECT JSON_CONTAINS(CONCAT('[',REPEAT('1,',3000000),'1]'),'2')",
	"an object in no order":        "SELECT JSON_LENGTH(CONCAT('{',REPEAT('\"b\":1,\"a\":2,',2000000),'\"c\":1}'))",
	"CAST as JSON":                 "SELECT JSON_TYPE(CAST(CONCAT('[',REPEAT('1,',12000000),'1]') AS JSON))",
	"IN list of a million texts":   "SELECT COUNT(*) FROM t WHERE s IN ('x'" + strings.Repeat(",'abcdefgh'", 1_000_000) + ")",
	"IN list of row pairs":         "SELECT COUNT(*) FROM t WHERE (id,s) IN ((1,'a')" + strings.Repeat(",(1,'b')", 500_000) + ")",
	"select list of two millions":  "SELECT 1" + strings.Repeat(",1", 2_000_000),
	"windows over many columns":    "SELECT x.*" + listed(300, ",SUM(a%d) OVER (ORDER BY a%[1]d+1)") + " FROM (SELECT 1" + listed(4000, ",id+%d AS a%[1]d") + " FROM t LIMIT 100) x",
	"nested REPEAT":                "SELECT LENGTH(REPEAT(REPEAT(REPEAT('a',1000),1000),60))",
	"CONCAT of REPEATs":            "SELECT LENGTH(CONCAT(REPEAT('a',60000000)" + strings.Repeat(",REPEAT('a',1000000)", 4) + "))",
	"many REPEATs in a row":        "SELECT LENGTH(REPEAT('a',16000000))" + strings.Repeat(",LENGTH(REPEAT('a',16000000))", 200),
	"LPAD":                         "SELECT LENGTH(LPAD('a',60000000,'xyz')),LENGTH(RPAD('a',60000000,'xyz'))",
	"REGEXP_REPLACE":               "SELECT LENGTH(REGEXP_REPLACE(REPEAT('a',60000000),'a','bc'))",
	"REGEXP that backtracks":       "SELECT REGEXP_LIKE(REPEAT('a',60000),'(a+)+b')",
	"REGEXP of a long pattern":     "SELECT 'a' REGEXP CONCAT('a',REPEAT('|(a|b)+[a-z]{3,9}',600000))",
	"REGEXP of many properties":    "SELECT 'a' REGEXP REPEAT('[\\\\p{L}&&\\\\p{Lu}]',5000)",
	"HEX of HEX":                   "SELECT LENGTH(HEX(HEX(REPEAT('a',15000000))))",
	"REPLACE":                      "SELECT LENGTH(REPLACE(REPEAT('a',10000000),'a','bcdef'))",
	"FIND_IN_SET":                  "SELECT FIND_IN_SET('b',REPEAT('a,',15000000))",
	"FROM_BASE64 of TO_BASE64":     "SELECT LENGTH(FROM_BASE64(TO_BASE64(REPEAT('a',20000000))))",
	"UPPER of LOWER":               "SELECT LENGTH(UPPER(LOWER(REPEAT('aé',10000000))))",
	"CONVERT to utf32":             "SELECT LENGTH(CONVERT(REPEAT('a',15000000) USING utf32))",
	"GROUP_CONCAT":                 "SELECT LENGTH(GROUP_CONCAT(REPEAT(s,100000))) FROM t",
	"JSON_ARRAYAGG":                "SELECT JSON_LENGTH(JSON_ARRAYAGG(REPEAT(s,1000000))) FROM t",
	"JSON_OBJECTAGG":               "SELECT JSON_LENGTH(JSON_OBJECTAGG(id,REPEAT(s,1000000))) FROM t",
	"sort of long texts":           "SELECT LENGTH(REPEAT(s,1000000)) AS x FROM t ORDER BY REPEAT(s,1000000)",
	"OR chain":                     "SELECT COUNT(*) FROM t WHERE id=0" + strings.Repeat(" OR id=1", 50_000),
	"sum of many":                  "SELECT 1" + strings.Repeat("+1", 90_000),
	"CASE of many":                 "SELECT CASE id" + strings.Repeat(" WHEN 1 THEN 2", 400_000) + " END FROM t",
	"INSERT of expressions":        "INSERT INTO t SELECT 1,'a' FROM t WHERE id IN (1" + strings.Repeat(",1+1", 900_000) + ")",
	"LIKE of a long pattern":       "SELECT REPEAT('a',20000) LIKE CONCAT(REPEAT('%a_',2000),'b%')",
	"text of 60 MB":                "SELECT LENGTH('" + strings.Repeat("a", 60_000_000) + "')",
	"user variables":               "SET @a0=1" + listed(200, ",@a%d=REPEAT('a',4000000)"),
	"optimizer hints":              "SELECT /*+ " + strings.Repeat("BKA(t) ", 4_000_000) + "*/ 1 FROM t",
	"optimizer hint of tables":     "SELECT /*+ BKA(t" + strings.Repeat(",t", 10_000_000) + ") */ 1 FROM t",
	"a join under chance":          "SELECT COUNT(*) FROM t a, t b WHERE a.id + b.id > RAND()",
	"variable that doubles itself": "SELECT @x:=REPEAT('a',8000000)" + strings.Repeat(",LENGTH(@x:=CONCAT(@x,@x))", 8),
}

// listed is a format applied to 0 to n-1, without anything in between.
func listed(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// bombErrors are the errors that may end a bomb.
var bombErrors = map[uint16]bool{8175: true, 8176: true, 3700: true, 3699: true, 3698: true, 1153: true, 1235: true, 1301: true, 1117: true, 4008: true, 1436: true, 3676: true, 3057: true}

// TestBombs: each statement runs in a server of a 512 MB memory cgroup and with a quota of 32 MB. It ends, with an answer or the error of a
// bound; the server lives, other clients go on meanwhile, and what was counted and allocated is given back.
func TestBombs(t *testing.T) {
	n := cagedNode(t, 64<<20)
	db := n.open("")
	mustExec(t, db, "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, s VARCHAR(20))")
	for i := range 100 {
		mustExec(t, db, fmt.Sprintf("INSERT INTO d.t VALUES (%d,'abcdefgh')", i))
	}
	dropBomb(t, n, "warm up", "SELECT JSON_LENGTH('[1]'), REGEXP_REPLACE('aé','\\\\w','b')")
	bombard(t, n, bombs, dropBomb, bombLeft)
}

// cagedNode starts a server in a memory cgroup of bombGroupBytes, or with a limit of so much where this machine has none to use.
func cagedNode(t *testing.T, cache int, args ...string) *node {
	t.Helper()
	n := &node{t: t, dir: t.TempDir(), args: append(args, "--cache-size", strconv.Itoa(cache))}
	if group, err := memoryGroup(t, bombGroupBytes); err != nil {
		t.Logf("no memory cgroup of this machine can be used (%v): the server has --memory-limit only", err)
		n.args = append(n.args, "--memory-limit", strconv.Itoa(bombGroupBytes))
	} else {
		n.enter = filepath.Join(group, "cgroup.procs")
	}
	t.Cleanup(func() {
		if t.Failed() {
			n.explain()
		}
		n.kill()
	})
	n.start()
	return n
}

// explain logs what can tell why a server of a memory cgroup ended: the group's figures and its own log.
func (n *node) explain() {
	for _, file := range []string{"memory.oom_control", "memory.max_usage_in_bytes", "memory.failcnt", "memory.events", "memory.peak", "memory.stat"} {
		if text, err := os.ReadFile(filepath.Join(filepath.Dir(n.enter), file)); err == nil { // versions of cgroups have different ones
			n.t.Logf("%s: %s", file, text)
		}
	}
	n.t.Logf("the server's log:\n%s", n.logText())
}

// bombard drops statements on a server, one after the other. Another client, which reads table t of database d, gets answers after each, and in the end
// no statement holds memory, and the heap is at most left bytes larger than before.
func bombard(t *testing.T, n *node, statements map[string]string, drop func(t *testing.T, n *node, name, text string), left int64) {
	t.Helper()
	stop := make(chan struct{})
	others := make(chan error, 1)
	var answered atomic.Int64
	go func() { others <- keepAsking(n.open("d"), stop, &answered) }()
	base := n.heapInUse()
	for name, text := range statements {
		drop(t, n, name, text)
		before := answered.Load()
		testkit.Await(t, name+": an answer to another client", func() bool {
			select {
			case err := <-others:
				t.Fatalf("%s: another client: %v", name, err)
			default:
			}
			return answered.Load() > before+1
		})
		if t.Failed() {
			t.FailNow()
		}
	}
	close(stop)
	if err := <-others; err != nil {
		t.Errorf("another client: %v", err)
	}
	testkit.Await(t, "the statements' memory is given back", func() bool {
		_, metrics := n.get("/metrics")
		return strings.Contains(metrics, "\npando_statement_bytes 0\n")
	})
	testkit.Await(t, "the heap is as small as it was", func() bool { return n.heapInUse() < base+left })
}

// TestTimeBombs: max_execution_time and KILL QUERY end statements that would run for minutes, while they are parsed, planned and run.
func TestTimeBombs(t *testing.T) {
	n := startNode(t, "")
	db := n.open("")
	mustExec(t, db, "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, s VARCHAR(20))", "INSERT INTO d.t VALUES (1,'a')")
	for name, text := range map[string]string{
		"regular expression": "SELECT REGEXP_REPLACE(REPEAT('a',60000000),'(?>a*)x','b')",
		"LIKE":               "SELECT REPEAT('a',30000000) LIKE CONCAT('%',REPEAT('a',1000000),'_b%')",
		"LOCATE":             "SELECT LOCATE(CONCAT(REPEAT('a',1000000),'b'),REPEAT('a',30000000))",
		"JSON_CONTAINS": "SELECT JSON_CONTAINS(CONCAT('[',REPEAT('1,',400000),'1]'),REPLACE(CONCAT('[',REPEAT('1,',400000),'1]'),'1','2'))," +
			"JSON_OVERLAPS(CONCAT('[',REPEAT('1,',400000),'1]'),REPLACE(CONCAT('[',REPEAT('1,',400000),'1]'),'1','2'))",
		"BENCHMARK":       "SELECT BENCHMARK(1000000000000,SHA1('a'))",
		"many of one row": "SELECT SHA2(REPEAT('a',30000000),512)" + strings.Repeat(",SHA2(REPEAT('a',30000000),512)", 2000),
	} {
		conn, pool := n.conn(t, "d")
		mustExec(t, execer{conn}, "SET max_execution_time=200", "SET tidb_mem_quota_query=4294967296")
		if err := drain(conn, text); errorNumber(err) != 3024 {
			t.Errorf("%s under max_execution_time: %v", name, err)
		}
		mustExec(t, execer{conn}, "SET max_execution_time=0")
		var id int64
		if err := conn.QueryRowContext(context.Background(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- drain(conn, text) }()
		testkit.Await(t, name+": it runs", func() bool {
			select {
			case err := <-ended:
				t.Fatalf("%s ended before it was killed: %v", name, err)
			default:
			}
			return queryInt(t, db, "SELECT COUNT(*) FROM information_schema.processlist WHERE id=? AND info IS NOT NULL", id) == 1
		})
		mustExec(t, db, fmt.Sprintf("KILL QUERY %d", id))
		if err := <-ended; errorNumber(err) != 1317 {
			t.Errorf("%s under KILL QUERY: %v", name, err)
		}
		_ = conn.Close()
		_ = pool.Close()
	}
}

// TestLimitedPlanning: max_execution_time acts while a text is parsed and planned.
func TestLimitedPlanning(t *testing.T) {
	n := startNode(t, "")
	conn, pool := n.conn(t, "")
	defer pool.Close()
	defer conn.Close()
	mustExec(t, execer{conn}, "SET max_execution_time=1", "SET tidb_mem_quota_query=4294967296")
	for name, text := range map[string]string{
		"parsing": "SELECT 1" + strings.Repeat(",1", 2_000_000) + " FROM", "planning": "SELECT 1" + strings.Repeat(" OR 1=2", 90_000),
	} {
		if err := drain(conn, text); errorNumber(err) != 3024 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// execer lets mustExec use a connection.
type execer struct{ *sql.Conn }

func (e execer) Exec(query string, args ...any) (sql.Result, error) {
	return e.ExecContext(context.Background(), query, args...)
}

// conn is a connection of its own, which ends with its pool.
func (n *node) conn(t *testing.T, db string) (*sql.Conn, *sql.DB) {
	t.Helper()
	pool, err := sql.Open("mysql", n.dsn(db, "maxAllowedPacket="+strconv.Itoa(bombPacket)))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pool.Conn(context.Background())
	if err != nil {
		t.Fatalf("connecting: %v", err)
	}
	return conn, pool
}

// drain runs a query and reads its rows.
func drain(conn *sql.Conn, text string) error {
	ctx, cancel := context.WithTimeout(context.Background(), bombTime)
	defer cancel()
	rows, err := conn.QueryContext(ctx, text)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}

// dropBomb runs one statement under the quota, on a connection of its own.
func dropBomb(t *testing.T, n *node, name, text string) {
	t.Helper()
	conn, pool := n.conn(t, "d")
	defer pool.Close()
	defer conn.Close()
	mustExec(t, execer{conn}, fmt.Sprintf("SET tidb_mem_quota_query=%d", bombQuota))
	if err := drain(conn, text); err != nil && !bombErrors[errorNumber(err)] {
		t.Errorf("%s: %v", name, err)
	} else {
		t.Logf("%s: %v", name, err)
	}
}

// keepAsking is a client that reads a row again and again.
func keepAsking(db *sql.DB, stop chan struct{}, answered *atomic.Int64) error {
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		var s string
		if err := db.QueryRow("SELECT s FROM t WHERE id=7").Scan(&s); err != nil {
			return err
		}
		answered.Add(1)
	}
}

var heapInUse = regexp.MustCompile(`(?m)^# HeapInuse = (\d+)$`)

// heapInUse collects the server's garbage and returns what is left.
func (n *node) heapInUse() int64 {
	n.t.Helper()
	n.get("/debug/pprof/heap?gc=1&debug=1") // what a collection finds in sync.Pools it frees at the next one
	_, page := n.get("/debug/pprof/heap?gc=1&debug=1")
	found := heapInUse.FindStringSubmatch(page)
	if found == nil {
		n.t.Fatal("the profile has no HeapInuse")
	}
	bytes, err := strconv.ParseInt(found[1], 10, 64)
	if err != nil {
		n.t.Fatal(err)
	}
	return bytes
}

// memoryGroup makes a memory cgroup with a limit, of either version, which is removed with the test.
func memoryGroup(t *testing.T, limit int64) (dir string, err error) {
	t.Helper()
	for _, kind := range []struct{ root, limit, swap string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"}, {"/sys/fs/cgroup", "memory.max", "memory.swap.max"},
	} {
		if dir, err = os.MkdirTemp(kind.root, "pando-test-"); err != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(dir) })
		if err = os.WriteFile(filepath.Join(dir, kind.limit), []byte(strconv.FormatInt(limit, 10)), 0o644); err != nil {
			continue
		}
		swap := "0"
		if kind.swap == "memory.memsw.limit_in_bytes" {
			swap = strconv.FormatInt(limit, 10)
		}
		_ = os.WriteFile(filepath.Join(dir, kind.swap), []byte(swap), 0o644) // not where there is no swap
		return dir, nil
	}
	return "", err
}
