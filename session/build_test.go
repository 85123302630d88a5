package session_test

import (
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
