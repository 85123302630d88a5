package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/pandodb/pando/internal/testkit"
)

// Long texts, and a mebibyte, that one client of a small server writes.
const (
	largeText   = 20_000_000 // bytes
	largeTimes  = 5
	largeRowMiB = 1 << 20
)

// TestLargeWrites: one client of a server of a 512 MB memory cgroup writes long texts by every way that there is, one statement after the other. None is
// refused, alone or in a cluster of one, where each text is also in a log.
func TestLargeWrites(t *testing.T) {
	t.Parallel() // its client waits much of the time
	for _, mode := range []string{"alone", "promoted"} {
		t.Run(mode, func(t *testing.T) { writeLarge(t, mode == "promoted") })
	}
}

func writeLarge(t *testing.T, promoted bool) {
	n := cagedNode(t, crowdCache)
	db := n.open("")
	mustExec(t, db, "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT, s LONGTEXT, KEY n (n))", "CREATE TABLE d.u (id INT PRIMARY KEY, s LONGTEXT)")
	if promoted {
		mustExec(t, db, "ADMIN PROMOTE")
	}
	lines := filepath.Join(t.TempDir(), "lines")
	mib := strings.Repeat("m", largeRowMiB)
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, "%d\t%s\n", 1000+i, mib)
	}
	if err := os.WriteFile(lines, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	mysql.RegisterLocalFile(lines)
	mustExec(t, db, "SET GLOBAL local_infile=ON")
	rows := "INSERT INTO d.u VALUES (%d,'" + mib + "')" + listed(19, ",(%%[1]d+%d+1,'"+mib+"')")
	for _, c := range []struct {
		what      string
		statement func(i int) string
	}{
		{"INSERT of an expression", func(i int) string {
			return fmt.Sprintf("INSERT INTO d.t VALUES (%d,%d,REPEAT('x',%d))", i, i, largeText)
		}},
		{"INSERT of a literal", func(i int) string {
			return fmt.Sprintf("INSERT INTO d.t VALUES (%d,%d,'%s')", 100+i, i, strings.Repeat("y", largeText))
		}},
		{"INSERT of half as long a text", func(i int) string {
			return fmt.Sprintf("INSERT INTO d.t VALUES (%d,%d,REPEAT('w',%d))", 200+i, i, largeText/2)
		}},
		{"UPDATE", func(i int) string { return fmt.Sprintf("UPDATE d.t SET s=CONCAT(s,'%d') WHERE id=%d", i, 200+i) }},
		{"UPDATE of another column", func(i int) string { return fmt.Sprintf("UPDATE d.t SET n=n+1 WHERE id=%d", i) }},
		{"REPLACE", func(i int) string {
			return fmt.Sprintf("REPLACE INTO d.t VALUES (%d,%d,REPEAT('z',%d))", i, i, largeText)
		}},
		{"INSERT ON DUPLICATE KEY", func(i int) string {
			return fmt.Sprintf("INSERT INTO d.t VALUES (%d,%d,'') ON DUPLICATE KEY UPDATE s=REPEAT('v',%d)", i, i, largeText)
		}},
		{"INSERT SELECT", func(i int) string {
			return fmt.Sprintf("INSERT INTO d.t SELECT id+100, n, s FROM d.t WHERE id=%d", 200+i)
		}},
		{"INSERT of twenty rows", func(i int) string { return fmt.Sprintf(rows, 20*i) }},
		{"UPDATE of twenty rows", func(i int) string {
			return fmt.Sprintf("UPDATE d.u SET s=CONCAT(s,'a') WHERE id BETWEEN %d AND %d", 20*i, 20*i+19)
		}},
		{"LOAD DATA of twenty rows", func(i int) string {
			return "LOAD DATA LOCAL INFILE '" + lines + "' REPLACE INTO TABLE d.u"
		}},
		{"DELETE", func(i int) string { return fmt.Sprintf("DELETE FROM d.t WHERE id=%d", i) }},
	} {
		for i := range largeTimes {
			if _, err := db.Exec(c.statement(i)); err != nil {
				t.Errorf("%s, number %d: %v", c.what, i, err)
			}
		}
	}
	if got := queryInt(t, db, "SELECT COUNT(*) FROM d.t"); got != 3*largeTimes {
		t.Errorf("%d rows are left", got)
	}
}

// TestLargeTextsOfCopies: three nodes with little memory take texts that are long for it, and start again with a log of them that is longer than
// their memory may be.
func TestLargeTextsOfCopies(t *testing.T) {
	if os.Getenv("TORTURE") == "" {
		t.Skip("takes minutes; make torture runs it")
	}
	c := &copies{t: t, start: func(args ...string) *node { return cagedNode(t, crowdCache, args...) }}
	c.nodes = append(c.nodes, c.start("--cluster-listen", clusterAddress(t)))
	c.grow(3)
	db := c.nodes[1].open("")
	mustExec(t, db, "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, s LONGTEXT)")
	const texts = 2 * bombGroupBytes / largeText
	for i := range texts {
		statement := fmt.Sprintf("REPLACE INTO d.t VALUES (%d,REPEAT('x',%d))", i, largeText)
		testkit.Await(t, fmt.Sprintf("text %d to be stored", i), func() bool { // on a machine without processor time another node may become the gateway
			_, err := db.Exec(statement)
			return err == nil
		})
	}
	for _, n := range c.nodes {
		n.kill()
	}
	for _, n := range c.nodes { // none is ready before a second one runs
		if err := n.launch(); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range c.nodes {
		if err := n.awaitReady(); err != nil {
			t.Fatal(err)
		}
	}
	c.complete()
	if got := queryInt(t, c.nodes[2].open("d"), "SELECT SUM(LENGTH(s)) FROM t"); got != texts*largeText {
		t.Errorf("%d bytes are there, not %d", got, texts*largeText)
	}
}
