package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/tests/inproc"
	"github.com/pandodb/pando/types"
)

// TestReplaceBesideIndexBuild: REPLACE and ON DUPLICATE KEY UPDATE change no row for the sake of a unique index that is still being built,
// and may never be there; they fail as INSERT does.
func TestReplaceBesideIndexBuild(t *testing.T) {
	node, c := inproc.OpenDatabase(t)
	c.Must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, UNIQUE (b))")
	c.Must("INSERT INTO t VALUES (1,1,1),(2,2,2)")
	state := func(want catalog.SchemaState) {
		t.Helper()
		testkit.Await(t, want.String(), func() bool {
			table, err := node.Catalog.Current().Table("d", "t")
			if err != nil {
				t.Fatal(err)
			}
			ix := table.Index("u")
			return ix != nil && ix.State == want
		})
	}
	builder, old, older := node.Root("d"), node.Root("d"), node.Root("d")
	for _, c := range []*inproc.Conn{builder, old, older} {
		t.Cleanup(c.Close)
	}
	older.Must("BEGIN")
	older.Must("SELECT * FROM t")
	built := make(chan error, 1)
	go func() { built <- builder.Exec("ALTER TABLE t ADD UNIQUE INDEX u (a)").Err }()
	state(catalog.StateDeleteOnly)
	old.Must("BEGIN")
	old.Must("SELECT * FROM t")
	older.Must("COMMIT")
	state(catalog.StateWriteOnly)

	c.Must("INSERT INTO t VALUES (3,7,3)")
	for _, statement := range []string{"INSERT INTO t VALUES (4,7,4)", "REPLACE INTO t VALUES (4,7,4)", "INSERT INTO t VALUES (4,7,4) ON DUPLICATE KEY UPDATE a=8"} {
		if a := c.Exec(statement); a.Number() != int(types.ErDupEntry) {
			t.Errorf("%s answers %s", statement, a)
		}
	}
	// What other keys say still holds, wherever they stand.
	c.Must("REPLACE INTO t VALUES (3,7,3)")
	c.Must("REPLACE INTO t VALUES (5,7,3)")
	c.Must("INSERT INTO t VALUES (6,7,3) ON DUPLICATE KEY UPDATE a=9")
	old.Must("COMMIT")
	if err := <-built; err != nil {
		t.Fatal(err)
	}
	c.Must("REPLACE INTO t VALUES (7,2,7)")
	if got, want := c.Must("SELECT * FROM t").String(), "id\ta\tb\n1\t1\t1\n5\t9\t3\n7\t2\t7\n"; got != want {
		t.Errorf("the table holds %q, want %q", got, want)
	}
}

// TestReplaceBesideSecondBuild: a unique index binds nobody's rows while another one of its ALTER is built, and so may undo it.
func TestReplaceBesideSecondBuild(t *testing.T) {
	node := inproc.Open(t, inproc.Options{})
	t.Cleanup(node.Close)
	var conns [5]*inproc.Conn
	for i := range conns {
		conns[i] = node.Root("")
		t.Cleanup(conns[i].Close)
		conns[i].Must("CREATE DATABASE IF NOT EXISTS d")
		conns[i].Must("USE d")
	}
	c, builder, users := conns[0], conns[1], conns[2:]
	c.Must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT)")
	c.Must("INSERT INTO t VALUES (1,1,1),(2,2,1)")
	await := func(what string, f func(u, v *catalog.Index) bool) {
		t.Helper()
		testkit.Await(t, what, func() bool {
			table, err := node.Catalog.Current().Table("d", "t")
			if err != nil {
				t.Fatal(err)
			}
			return f(table.Index("u"), table.Index("v"))
		})
	}
	use := func(i int) {
		users[i].Must("BEGIN")
		users[i].Must("SELECT * FROM t")
	}
	use(0)
	built := make(chan int, 1)
	go func() { built <- builder.Exec("ALTER TABLE t ADD UNIQUE u (a), ADD UNIQUE v (b)").Number() }()
	await("u delete-only", func(u, _ *catalog.Index) bool { return u != nil && u.State == catalog.StateDeleteOnly })
	use(1)
	users[0].Must("COMMIT")
	await("u write-only", func(u, _ *catalog.Index) bool { return u.State == catalog.StateWriteOnly })
	use(2)
	users[1].Must("COMMIT")
	await("u built", func(u, v *catalog.Index) bool { return v != nil || u.State == catalog.StatePublic })
	for _, statement := range []string{"REPLACE INTO t VALUES (3,2,3)", "INSERT INTO t VALUES (3,2,3) ON DUPLICATE KEY UPDATE a=8"} {
		if a := c.Exec(statement); a.Number() != int(types.ErDupEntry) {
			t.Errorf("%s answers %s", statement, a)
		}
	}
	users[2].Must("COMMIT")
	if got := <-built; got != int(types.ErDupEntry) {
		t.Errorf("ALTER TABLE answers %d", got)
	}
	if got, want := c.Must("SELECT * FROM t").String(), "id\ta\tb\n1\t1\t1\n2\t2\t1\n"; got != want {
		t.Errorf("the table holds %q, want %q", got, want)
	}
}

// TestAlterBesideStatements: a column that is added, or renamed, with an index on it is there for nobody before the index is, and for
// everybody then, with what others have written meanwhile.
func TestAlterBesideStatements(t *testing.T) {
	node := inproc.Open(t, inproc.Options{})
	t.Cleanup(node.Close)
	var conns [5]*inproc.Conn
	for i := range conns {
		conns[i] = node.Root("")
		t.Cleanup(conns[i].Close)
		conns[i].Must("CREATE DATABASE IF NOT EXISTS d")
		conns[i].Must("USE d")
	}
	c, builder, users := conns[0], conns[1], conns[2:]
	c.Must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, UNIQUE (b))")
	c.Must("INSERT INTO t VALUES (1,1,1),(2,2,2)")
	before := c.Must("SHOW CREATE TABLE t").String()
	await := func(what string, f func(u *catalog.Index) bool) {
		t.Helper()
		testkit.Await(t, what, func() bool {
			table, err := node.Catalog.Current().Table("d", "t")
			if err != nil {
				t.Fatal(err)
			}
			return f(table.Index("u"))
		})
	}
	id := 2
	run := func() {
		t.Helper()
		id++
		c.Must(fmt.Sprintf("INSERT INTO t VALUES (%d,%d,%d)", id, id, id))
		c.Must(fmt.Sprintf("INSERT INTO t VALUES (%d,0,%d) ON DUPLICATE KEY UPDATE a=a+100", id+100, id))
		c.Must(fmt.Sprintf("REPLACE INTO t VALUES (%d,%d,%d)", id+1000, id+1000, id+1000))
		c.Must(fmt.Sprintf("UPDATE t SET a=a+1, id=id+10000 WHERE id=%d", id+1000))
		c.Must("ANALYZE TABLE t")
		if got := c.Must("SHOW CREATE TABLE t").String(); got != before {
			t.Errorf("the table is already %s", got)
		}
		if a := c.Exec("SELECT x FROM t"); a.Number() != int(types.ErBadField) {
			t.Errorf("the column answers %s", a)
		}
	}
	use := func(i int) {
		users[i].Must("BEGIN")
		users[i].Must("SELECT * FROM t")
	}
	use(0)
	built := make(chan error, 1)
	go func() {
		built <- builder.Exec("ALTER TABLE t ADD x VARCHAR(9) NOT NULL DEFAULT 'New' FIRST, RENAME COLUMN a TO c, ADD UNIQUE u (c, x), ADD KEY v (x), AUTO_INCREMENT=9").Err
	}()
	await("delete-only", func(u *catalog.Index) bool { return u != nil && u.State == catalog.StateDeleteOnly })
	run()
	use(1)
	users[0].Must("COMMIT")
	await("write-only", func(u *catalog.Index) bool { return u.State == catalog.StateWriteOnly })
	run()
	if a := c.Exec("INSERT INTO t VALUES (9,104,9)"); a.String() != "ERROR 1062 (23000): Duplicate entry '104-New' for key 't.u'\n" {
		t.Errorf("a row that the index refuses answers %s", a)
	}
	users[1].Must("COMMIT")
	if err := <-built; err != nil {
		t.Fatal(err)
	}
	c.Must("INSERT INTO t VALUES ('y', 5, 103, 33)")
	want := "x\tid\tc\tb\nNew\t1\t1\t1\nNew\t2\t2\t2\nNew\t3\t103\t3\nNew\t4\t104\t4\ny\t5\t103\t33\n"
	if got := c.Must("SELECT * FROM t ORDER BY id LIMIT 5").String(); got != want {
		t.Errorf("the table holds %q, want %q", got, want)
	}
	for _, index := range []string{"u", "v"} {
		if got := c.Must("SELECT COUNT(*), COUNT(DISTINCT id) FROM t FORCE INDEX (" + index + ") WHERE c > 0 AND x = 'new'").String(); !strings.Contains(got, "\n6\t6\n") {
			t.Errorf("index %s finds %q", index, got)
		}
	}
	if got := c.Must("CHECK TABLE t").String(); strings.Contains(got, "rror") {
		t.Error(got)
	}
	// What fails is as if it had not been.
	before = c.Must("SHOW CREATE TABLE t").String()
	use(2)
	go func() {
		built <- builder.Exec("ALTER TABLE t ADD y INT DEFAULT 5, ADD INDEX w (b), DROP INDEX v, ADD UNIQUE v (y, c)").Err
	}()
	testkit.Await(t, "a build", func() bool {
		table, err := node.Catalog.Current().Table("d", "t")
		return err == nil && table.Index("w") != nil
	})
	users[2].Must("COMMIT")
	if err := <-built; err == nil || err.Error() != "ERROR 1062 (23000): Duplicate entry '5-103' for key 't.v'" {
		t.Errorf("ALTER TABLE answers %v", err)
	}
	if got := c.Must("SHOW CREATE TABLE t").String(); got != before {
		t.Errorf("the table is now %s, was %s", got, before)
	}
}
