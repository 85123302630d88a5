package inproc_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/pandodb/pando/tests/inproc"
)

// TestIdleSessionsHoldNoRows: once a statement has ended, well or not, its session holds no text of the rows that it met: ten idle clients held
// 200 MB, which were counted by nobody any more.
func TestIdleSessionsHoldNoRows(t *testing.T) {
	const length = 8 << 20
	n, c := inproc.OpenDatabase(t)
	database := c.Value("SELECT DATABASE()")
	c.Must("CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20))")
	c.Must("CREATE TABLE l (id INT PRIMARY KEY, n INT, u INT UNIQUE, s LONGTEXT)")
	c.Must("INSERT INTO t VALUES (0,'a'),(1,'b'),(2,'c')")
	c.Must("CREATE TABLE other LIKE l")
	c.Must(fmt.Sprintf("INSERT INTO l VALUES (0,0,0,REPEAT('x',%d)),(1,1,1,REPEAT('y',%d))", length, length))
	const enough, little = 1 << 30, 20 << 20 // tidb_mem_quota_query
	for _, text := range []string{
		"SELECT s FROM l",
		"SELECT s FROM l WHERE id=1",
		"SELECT s FROM l WHERE u=1",
		"SELECT s FROM l ORDER BY id DESC",
		"SELECT UPPER(s), REVERSE(s) FROM l ORDER BY n",
		"SELECT l.s FROM l JOIN t ON t.id=l.id AND CONCAT(t.s,l.n)<>'x'",
		"SELECT COUNT(*) FROM l WHERE s LIKE 'x%' OR s='b'",
		"SELECT MAX(s), GROUP_CONCAT(s) FROM l GROUP BY n",
		"UPDATE l JOIN t ON t.id=l.id SET l.n=l.n+1, t.s='b'",
		"UPDATE l SET n=n+1 WHERE id=1",
		"UPDATE l SET u=0 WHERE id=1",
		"UPDATE l SET n=n+1, u=u+10 ORDER BY id DESC",
		"INSERT INTO l VALUES (1,1,1,'" + strings.Repeat("z", length) + "')",
		"INSERT INTO l VALUES (1,1,1,'') ON DUPLICATE KEY UPDATE n=n+1",
		"REPLACE INTO other SELECT * FROM l",
		"DELETE FROM other WHERE id=1",
		"DELETE FROM other",
	} {
		for _, quota := range []int{enough, little} {
			c := n.Root(database)
			c.Must(fmt.Sprintf("SET tidb_mem_quota_query=%d", quota))
			c.Exec(text)
			for _, held := range longIn(reflect.ValueOf(c.Session), length/2, "session", map[uintptr]bool{}) {
				t.Errorf("after %.60s with %d bytes: %s", text, quota, held)
			}
			c.Close()
		}
	}
}

// shared are types of what belongs to the node, beyond which nothing is the session's.
var shared = map[string]bool{"*session.Node": true, "*txn.Manager": true, "*table.AutoIDs": true, "*exec.MemPool": true, "*catalog.Catalog": true}

// longIn lists the texts of long bytes and more that can be reached from a value, by the fields that lead there.
func longIn(v reflect.Value, long int, path string, seen map[uintptr]bool) (found []string) {
	step := func(v reflect.Value, name string) { found = append(found, longIn(v, long, path+name, seen)...) }
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || seen[v.Pointer()] || shared[v.Type().String()] {
			return nil
		}
		seen[v.Pointer()] = true
		step(v.Elem(), "")
	case reflect.Interface:
		if !v.IsNil() {
			step(v.Elem(), "")
		}
	case reflect.Struct:
		for i := range v.NumField() {
			step(v.Field(i), "."+v.Type().Field(i).Name)
		}
	case reflect.String:
		if v.Len() >= long {
			found = []string{fmt.Sprintf("%s: %d bytes", path, v.Len())}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			if v.Cap() >= long {
				found = []string{fmt.Sprintf("%s: %d bytes", path, v.Cap())}
			}
			return found
		}
		for i := range v.Cap() { // also what lies beyond the length is held
			step(v.Slice(0, v.Cap()).Index(i), fmt.Sprintf("[%d]", i))
		}
	case reflect.Array:
		for i := range v.Len() {
			step(v.Index(i), fmt.Sprintf("[%d]", i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			step(v.MapIndex(key), "{}")
		}
	}
	return found
}
