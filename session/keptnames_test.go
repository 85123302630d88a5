package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/tests/inproc"
)

// TestKeptNames: locks of GET_LOCK and the descriptors of temporary tables count as the node's memory as long as their session keeps them.
func TestKeptNames(t *testing.T) {
	pool := exec.NewMemPool(4 << 20)
	n := inproc.Open(t, inproc.Options{Memory: pool})
	t.Cleanup(n.Close)
	c := n.Root("")
	c.Must("CREATE DATABASE d")
	c.Must("USE d")
	c.Must("SELECT 1")
	empty := pool.Used()
	for what, text := range map[string]func(i int) string{
		"locks": func(i int) string {
			var list []string
			for j := range 200 {
				list = append(list, fmt.Sprintf("GET_LOCK('%d_%d',0)", i, j))
			}
			return "DO " + strings.Join(list, ",")
		},
		"temporary tables": func(i int) string {
			var list []string
			for j := range 200 {
				list = append(list, fmt.Sprintf("c%d INT", j))
			}
			return fmt.Sprintf("CREATE TEMPORARY TABLE wide%d (%s)", i, strings.Join(list, ","))
		},
	} {
		made := 0
		for ; made < 200; made++ {
			if err := c.Exec(text(made)).Err; err != nil {
				if number(err) != 8176 {
					t.Errorf("%s: %v", what, err)
				}
				break
			}
		}
		if made < 4 || made == 200 {
			t.Errorf("%d statements of %s fit", made, what)
		}
		if err := c.Session.Reset(); err != nil {
			t.Fatal(err)
		}
		c.Must("USE d")
		if got := pool.Used(); got > empty+1<<19 {
			t.Errorf("%s: %d bytes after a reset, %d before", what, got, empty)
		}
	}
}

// TestLongAnswersAboutStatements: texts that grow faster than the statement that they are about are counted, and bounded where a client needs no more.
func TestLongAnswersAboutStatements(t *testing.T) {
	n := inproc.Open(t, inproc.Options{})
	t.Cleanup(n.Close)
	c := n.Root("")
	c.Must("CREATE DATABASE d")
	c.Must("USE d")
	c.Must("CREATE TABLE t (id INT PRIMARY KEY)")
	deep := strings.Repeat("SELECT id FROM t UNION ALL ", 1500) + "SELECT id FROM t"
	c.Must("SET tidb_mem_quota_query=33554432")
	if err := c.Exec("EXPLAIN FORMAT=TREE " + deep).Err; number(err) != 8175 {
		t.Errorf("a tree of 1,500 levels under 32 MB: %v", err)
	}
	c.Must("SET tidb_mem_quota_query=1073741824")
	if text := c.Must("EXPLAIN FORMAT=TREE " + deep).Rows[0][0]; strings.Count(text, "\n") < 3000 {
		t.Errorf("the tree has %d lines", strings.Count(text, "\n"))
	}
	long := strings.Repeat("%a", 100_000)
	c.Must("SHOW TABLES LIKE '" + long + "'")
	if _, err := c.Session.FieldList("t", long); err != nil {
		t.Error(err)
	}
	if err := c.Exec("DO GET_LOCK('" + long + "', 0)").Err; number(err) != 3057 || len(err.Error()) > 600 {
		t.Errorf("%d bytes of error: %.100v", len(err.Error()), err)
	}
}
