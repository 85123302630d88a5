package tests

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

const (
	crowdClients = 10
	crowdText    = 20_000_000 // bytes of a stored text
	crowdRows    = 4
	crowdCache   = 64 << 20
)

// crowds are statements that crowdClients clients send at the same time, none of which reads its answer. What stands before the last semicolon each
// of them sends before.
var crowds = map[string]string{
	"a long text":                  "SELECT REPEAT('a',60000000)",
	"a wide list":                  "SELECT 1" + strings.Repeat(",1", 60_000),
	"a wide list of a table":       "SELECT 1" + strings.Repeat(",t.*", 20_000) + " FROM t",
	"sixty texts":                  "SELECT REPEAT('a',1000000)" + strings.Repeat(",REPEAT('a',1000000)", 59),
	"another character set":        "SET character_set_results=utf32; SELECT REPEAT('a',15000000)",
	"stored texts":                 "SELECT s FROM long_texts",
	"stored texts, by an index":    "SELECT s FROM long_texts FORCE INDEX (n) WHERE n>=0",
	"stored texts, joined":         "SELECT l.s FROM long_texts l JOIN t ON t.id<4",
	"stored texts, sorted":         "SELECT s FROM long_texts ORDER BY s",
	"stored texts, grouped":        "SELECT s, COUNT(*) FROM long_texts GROUP BY s",
	"stored texts, backwards":      "SELECT s FROM long_texts ORDER BY id DESC",
	"a range, backwards":           "SELECT s FROM long_texts WHERE id BETWEEN 1 AND 3 ORDER BY id DESC",
	"an index, backwards":          "SELECT s FROM long_texts FORCE INDEX (n) WHERE n>=0 ORDER BY n DESC",
	"texts of texts":               "SELECT UPPER(s), REVERSE(s) FROM long_texts",
	"texts of texts, backwards":    "SELECT UPPER(s), REVERSE(s) FROM long_texts ORDER BY id DESC",
	"a long format":                "SELECT DATE_FORMAT('2000-09-06',REPEAT('%W',30000000))",
	"a quoted text":                "SELECT LENGTH(JSON_QUOTE(REPEAT(CHAR(1 USING utf8mb4),60000000)))",
	"a text in an array":           "SELECT JSON_LENGTH(JSON_ARRAY(REPEAT(CHAR(1 USING utf8mb4),60000000)))",
	"a long zone":                  "SELECT CONVERT_TZ('2000-01-01 00:00:00',REPEAT('a',60000000),'+00:00')",
	"a compressed text that lies":  "SELECT LENGTH(UNCOMPRESS(CONCAT(UNHEX('0000FF03'),SUBSTRING(COMPRESS(REPEAT('a',1000)),5))))",
	"a compressed text":            "SELECT LENGTH(UNCOMPRESS(COMPRESS(REPEAT('a',60000000))))",
	"a digest":                     "SELECT STATEMENT_DIGEST(REPEAT('a',60000000))",
	"a wrong number":               "SELECT CAST(REPEAT('a',60000000) AS SIGNED)",
	"another set":                  "SELECT LENGTH(CONVERT(CONVERT(REPEAT('é',15000000) USING utf16) USING utf8mb4))",
	"a window":                     "SELECT s, ROW_NUMBER() OVER (ORDER BY s), LAG(s) OVER (ORDER BY id) FROM long_texts",
	"stored texts, locked":         "SELECT s FROM long_texts FOR SHARE",
	"stored texts, locked by keys": "SELECT s FROM long_texts WHERE id IN (0,1,2,3) FOR SHARE",
	"an update":                    "UPDATE long_texts SET s=CONCAT(s,'a')",
	"an update, backwards":         "UPDATE long_texts SET n=n+1 ORDER BY id DESC",
	"an update of two tables":      "UPDATE long_texts l JOIN t ON t.id=l.id SET l.n=l.n+1, t.s='b'",
	"an update by key":             "UPDATE long_texts SET n=n+1 WHERE id=2",
	"a replacement":                "REPLACE INTO long_texts SELECT id, n+1, s FROM long_texts",
	"an upsert":                    "INSERT INTO long_texts (id,n,s) VALUES (1,1,'') ON DUPLICATE KEY UPDATE n=n+1",
	"a copy":                       "INSERT INTO long_copies SELECT s FROM long_texts",
	"a cascade":                    "UPDATE parents SET id=id+10 ORDER BY id DESC",
	"a deletion of no row":         "DELETE FROM long_texts WHERE id=3 AND s='b'",
	"a deletion of many values":    "DELETE FROM t WHERE id IN (-1" + strings.Repeat(",-2", 3_000_000) + ")",
	"a deletion in an order":       "DELETE FROM t WHERE id<0 ORDER BY id" + strings.Repeat(",id", 1_000_000),
	"many assignments":             "UPDATE t SET s='b'" + strings.Repeat(",s='b'", 1_000_000),
	"different stored texts":       "SELECT COUNT(DISTINCT s) FROM long_texts",
	"a deep plan":                  "EXPLAIN FORMAT=TREE SELECT id FROM t" + strings.Repeat(" UNION ALL SELECT id FROM t", 3000),
	"a wide plan":                  "EXPLAIN FORMAT=JSON SELECT 1" + strings.Repeat(",id+1", 300_000) + " FROM t",
	"a list of LOCK TABLES":        "LOCK TABLES t READ" + listed(300_000, ", t AS a%d READ"),
	"many warnings":                "SET max_error_count=65535; SELECT CAST(REPEAT('a',30000) AS SIGNED)" + strings.Repeat(",CAST(REPEAT('a',30000) AS SIGNED)", 3000),
	"a long pattern of SHOW":       "SHOW TABLES LIKE '" + strings.Repeat("%a", 10_000_000) + "'",
	"a name of a lock":             "SELECT GET_LOCK(REPEAT('a',15000000),0)",
	"a wide join":                  "SELECT a.*" + strings.Repeat(",a.id+b.id", 60_000) + " FROM t a JOIN t b ON a.id<b.id",
	"a comment":                    "/* " + strings.Repeat("x", 60_000_000) + " */ SELECT 1",
	"a long path":                  "SELECT JSON_EXTRACT('[1]',CONCAT('$.',REPEAT('a',9000000)))",
}

// TestCrowds: ten clients at once ask for stored texts of 20 MB, by every way that storage is read, and read nothing of the answers. The
// server of a 512 MB memory cgroup lives, other clients go on, and all memory is given back.
func TestCrowds(t *testing.T) {
	t.Parallel() // its clients wait much of the time
	n := cagedNode(t, crowdCache)
	db := n.open("")
	mustExec(t, db, "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, s VARCHAR(20))", "CREATE TABLE d.long_texts (id INT PRIMARY KEY, n INT, s LONGTEXT, KEY n (n))",
		"CREATE TABLE d.long_copies (s LONGTEXT)", "CREATE TABLE d.parents (id INT PRIMARY KEY)",
		"CREATE TABLE d.children (id INT PRIMARY KEY, parent INT, s LONGTEXT, FOREIGN KEY (parent) REFERENCES d.parents (id) ON UPDATE CASCADE)")
	for i := range 100 {
		mustExec(t, db, fmt.Sprintf("INSERT INTO d.t VALUES (%d,'abcdefgh')", i))
	}
	for i := range crowdRows {
		mustExec(t, db, fmt.Sprintf("INSERT INTO d.long_texts VALUES (%d,%d,REPEAT('x',%d))", i, i, crowdText), fmt.Sprintf("INSERT INTO d.parents VALUES (%d)", i),
			fmt.Sprintf("INSERT INTO d.children VALUES (%d,%d,REPEAT('y',%d))", i, i, crowdText))
	}
	// Blocks are on the heap in builds without package offheap, and one of a long text is as long as that.
	bombard(t, n, crowds, dropCrowd, crowdCache+crowdText+bombLeft)
}

// dropCrowd has clients send a statement at the same time, and leave when each has the head of an answer or an error.
func dropCrowd(t *testing.T, n *node, name, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bombTime)
	defer cancel()
	asked := make(chan error, crowdClients)
	before := ""
	if at := strings.LastIndex(text, "; "); at >= 0 {
		before, text = text[:at], text[at+2:]
	}
	t.Log(name)
	for range crowdClients {
		conn, pool := n.conn(t, "d")
		defer pool.Close()
		if before != "" {
			mustExec(t, execer{conn}, before)
		}
		go func() {
			rows, err := conn.QueryContext(ctx, text) // ends with ctx, which cuts the connection
			if err == nil {
				err = rows.Err()
			}
			asked <- err
		}()
	}
	answers := 0
	for range crowdClients {
		switch err := <-asked; {
		case err == nil:
			answers++
		case !bombErrors[errorNumber(err)]:
			t.Errorf("%s of many: %v", name, err)
		}
	}
	t.Logf("%s: %d of %d clients get an answer", name, answers, crowdClients)
}
