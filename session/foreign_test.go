package session_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/tests/inproc"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

const (
	foreignWorkers = 6
	foreignKeys    = 4 // parents are few, so that all meet
)

// foreignTables has a parent and children with all actions, by the primary key and by a unique one.
var foreignTables = []string{
	"CREATE TABLE p (id INT PRIMARY KEY, u INT, n INT, UNIQUE (u))",
	"CREATE TABLE r (id INT PRIMARY KEY AUTO_INCREMENT, a INT, b INT, FOREIGN KEY (a) REFERENCES p (id), FOREIGN KEY (b) REFERENCES p (u))",
	"CREATE TABLE c (id INT PRIMARY KEY AUTO_INCREMENT, a INT, b INT, FOREIGN KEY (a) REFERENCES p (id) ON DELETE CASCADE ON UPDATE CASCADE, " +
		"FOREIGN KEY (b) REFERENCES p (u) ON DELETE SET NULL ON UPDATE CASCADE)",
	"CREATE TABLE g (id INT PRIMARY KEY AUTO_INCREMENT, a INT, b INT, FOREIGN KEY (a) REFERENCES c (id) ON DELETE CASCADE, FOREIGN KEY (b) REFERENCES g (id) ON DELETE SET NULL)",
}

// foreignOrphans counts rows without their parents, in one statement and so in one snapshot.
const foreignOrphans = `SELECT (SELECT COUNT(*) FROM r LEFT JOIN p ON p.id = r.a WHERE r.a IS NOT NULL AND p.id IS NULL)
	+ (SELECT COUNT(*) FROM r LEFT JOIN p ON p.u = r.b WHERE r.b IS NOT NULL AND p.id IS NULL)
	+ (SELECT COUNT(*) FROM c LEFT JOIN p ON p.id = c.a WHERE c.a IS NOT NULL AND p.id IS NULL)
	+ (SELECT COUNT(*) FROM c LEFT JOIN p ON p.u = c.b WHERE c.b IS NOT NULL AND p.id IS NULL)
	+ (SELECT COUNT(*) FROM g LEFT JOIN c ON c.id = g.a WHERE g.a IS NOT NULL AND c.id IS NULL)
	+ (SELECT COUNT(*) FROM g LEFT JOIN g h ON h.id = g.b WHERE g.b IS NOT NULL AND h.id IS NULL)`

// foreignStatement draws a statement that makes or breaks ties.
func foreignStatement(r *rand.Rand) string {
	key := func() string {
		if r.IntN(8) == 0 {
			return "NULL"
		}
		return fmt.Sprint(r.IntN(foreignKeys) + 1)
	}
	child := []string{"r", "c"}[r.IntN(2)]
	switch r.IntN(13) {
	case 0, 1:
		return fmt.Sprintf("INSERT INTO p VALUES (%d, %s, 0)", r.IntN(foreignKeys)+1, key())
	case 2:
		return fmt.Sprintf("DELETE FROM p WHERE id = %s", key())
	case 3:
		return fmt.Sprintf("UPDATE p SET id = %d WHERE id = %s", r.IntN(foreignKeys)+1, key())
	case 4:
		return fmt.Sprintf("UPDATE p SET u = %s WHERE id = %s", key(), key())
	case 5:
		return fmt.Sprintf("REPLACE INTO p VALUES (%d, %s, 0)", r.IntN(foreignKeys)+1, key())
	case 6:
		return fmt.Sprintf("UPDATE p SET n = n + 1 WHERE id = %s", key())
	case 7:
		return fmt.Sprintf("UPDATE %s SET a = %s, b = %s WHERE id %% 3 = %d LIMIT 2", child, key(), key(), r.IntN(3))
	case 8:
		return fmt.Sprintf("DELETE FROM %s WHERE id %% 4 = %d", child, r.IntN(4))
	case 9:
		return fmt.Sprintf("INSERT INTO g (a, b) SELECT MAX(id), (SELECT MIN(id) FROM g) FROM c WHERE id %% 2 = %d", r.IntN(2))
	case 10:
		return fmt.Sprintf("DELETE FROM g WHERE id %% 3 = %d", r.IntN(3))
	}
	return fmt.Sprintf("INSERT IGNORE INTO %s (a, b) VALUES (%s, %s), (%s, NULL)", child, key(), key(), key())
}

// foreignErrors are what a transaction of these statements may meet.
var foreignErrors = map[int]bool{0: true, int(types.ErDupEntry): true, int(types.ErLockDeadlock): true, int(types.ErLockWaitTimeout): true,
	int(types.ErRowIsReferenced2): true, int(types.ErNoReferencedRow2): true, int(types.ErCheckRead): true, int(types.ErForeignDuplicateKey): true}

// foreignHistory runs random transactions at all isolation levels and returns how many orphans there were at most at any moment that was
// looked at.
func foreignHistory(t *testing.T, o inproc.Options, transactions int, seed uint64) int64 {
	node := inproc.Open(t, o)
	defer node.Close()
	root := node.Root("")
	root.Must("CREATE DATABASE d")
	root.Must("USE d")
	for _, text := range foreignTables {
		root.Must(text)
	}
	var most atomic.Int64
	judge := func() {
		var n int64
		if _, err := fmt.Sscan(root.Must(foreignOrphans).Rows[0][0], &n); err != nil {
			t.Error(err)
		}
		most.Store(max(most.Load(), n))
	}
	var workers sync.WaitGroup
	for w := range foreignWorkers {
		c := node.Root("d")
		c.Must("SET innodb_lock_wait_timeout = 1")
		workers.Go(func() { foreignWorker(t, c, testkit.Rand(seed, uint64(w)), transactions) })
	}
	done := make(chan struct{})
	go func() {
		workers.Wait()
		close(done)
	}()
	for {
		select {
		case <-done:
			judge()
			root.Must("CHECK TABLE p, r, c, g")
			return most.Load()
		default:
			judge()
		}
	}
}

func foreignWorker(t *testing.T, c *inproc.Conn, r *rand.Rand, transactions int) {
	levels := []string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}
	for range transactions {
		c.Exec("SET SESSION TRANSACTION ISOLATION LEVEL " + levels[r.IntN(len(levels))])
		c.Exec(fmt.Sprintf("SET innodb_snapshot_isolation = %d", r.IntN(2)))
		c.Exec("BEGIN")
		for range 1 + r.IntN(4) {
			text := foreignStatement(r)
			if a := c.Exec(text); !foreignErrors[a.Number()] {
				t.Errorf("%s: %v", text, a.Err)
			}
		}
		end := "COMMIT"
		if r.IntN(5) == 0 {
			end = "ROLLBACK"
		}
		c.Exec(end)
	}
}

// TestForeignHistories: no orphan is ever seen, whatever transactions do at whatever level; and the test would see one.
func TestForeignHistories(t *testing.T) {
	transactions := 150
	if testkit.SlowTests() {
		transactions = 3000
	}
	seed := testkit.Seed(t)
	if n := foreignHistory(t, inproc.Options{}, transactions, seed); n > 0 {
		t.Errorf("%d orphans", n)
	}
	if testkit.BriefRace() {
		return // the canary does what the test does
	}
	const canaries = 20
	for i := range uint64(canaries) {
		if foreignHistory(t, inproc.Options{Txns: txn.ManagerOptions{UnlockedKept: true}}, transactions, seed+i) > 0 {
			return
		}
	}
	t.Errorf("without the locks of parents there is no orphan in %d histories either", canaries)
}

// TestForeignNoNeedlessWaits: what InnoDB lets pass each other does so here. Statements fail at once where they would have to wait.
func TestForeignNoNeedlessWaits(t *testing.T) {
	node, a := inproc.OpenDatabase(t)
	for _, text := range foreignTables {
		a.Must(text)
	}
	a.Must("INSERT INTO p VALUES (1, 10, 0), (2, 20, 0)")
	b := node.Root("d")
	defer b.Close()
	b.Must("SET innodb_lock_wait_timeout = 1")
	b.Must("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
	for _, test := range []struct {
		first, second string
		number        int
	}{
		{"INSERT INTO r (a) VALUES (1)", "INSERT INTO r (a) VALUES (1)", 0},
		{"INSERT INTO r (a) VALUES (1)", "INSERT INTO c (a) VALUES (1)", 0},
		{"INSERT INTO r (b) VALUES (10)", "UPDATE p SET n = 1 WHERE id = 1", 0}, // only the unique key is held
		{"UPDATE p SET n = 2 WHERE id = 1", "INSERT INTO r (b) VALUES (10)", 0},
		{"INSERT INTO r (a) VALUES (1)", "DELETE FROM p WHERE id = 2", 0},
		{"INSERT INTO r (a) VALUES (NULL)", "DELETE FROM p WHERE id = 2", 0},
		{"INSERT INTO r (b) VALUES (20)", "DELETE FROM p WHERE id = 2", int(types.ErLockWaitTimeout)},
		{"DELETE FROM p WHERE id = 2", "INSERT INTO r (b) VALUES (20)", int(types.ErLockWaitTimeout)},
		{"DELETE FROM p WHERE id = 2", "INSERT INTO r (a) VALUES (1)", 0},
		{"UPDATE p SET u = 30 WHERE id = 2", "INSERT INTO r (b) VALUES (20)", int(types.ErLockWaitTimeout)},
	} {
		a.Must("BEGIN")
		a.Must(test.first)
		b.Must("BEGIN")
		if got := b.Exec(test.second); got.Number() != test.number {
			t.Errorf("%s, then %s: %v, want error %d", test.first, test.second, got.Err, test.number)
		}
		b.Must("ROLLBACK")
		a.Must("ROLLBACK")
	}
}

// TestForeignAlter: a foreign key that is added while rows are written holds from the moment when it is there.
func TestForeignAlter(t *testing.T) {
	t.Run("alone", alterForeign)
	t.Run("promoted", func(t *testing.T) {
		t.Setenv("PANDO_PROMOTED", "1")
		alterForeign(t)
	})
}

func alterForeign(t *testing.T) {
	seed := testkit.Seed(t)
	node, root := inproc.OpenDatabase(t)
	root.Must("CREATE TABLE p (id INT PRIMARY KEY)")
	root.Must("CREATE TABLE c (id INT PRIMARY KEY AUTO_INCREMENT, a INT)")
	root.Must("SET innodb_lock_wait_timeout = 1")
	var workers sync.WaitGroup
	stop := make(chan struct{})
	t.Cleanup(func() {
		close(stop)
		workers.Wait()
	})
	for w := range 3 {
		c := node.Root("d")
		c.Must("SET innodb_lock_wait_timeout = 1")
		workers.Go(func() {
			r := testkit.Rand(seed, uint64(w))
			for {
				select {
				case <-stop:
					return
				default:
				}
				c.Exec("BEGIN")
				for range 1 + r.IntN(3) {
					id := r.IntN(foreignKeys)
					text := []string{"INSERT INTO p VALUES (%d)", "DELETE FROM p WHERE id = %d", "INSERT INTO c (a) VALUES (%d)", "DELETE FROM c WHERE a = %d LIMIT 5"}[r.IntN(4)]
					if a := c.Exec(fmt.Sprintf(text, id)); !foreignErrors[a.Number()] {
						t.Errorf(text+": %v", id, a.Err)
					}
				}
				c.Exec("COMMIT")
			}
		})
	}
	added, refused := 0, 0
	for range 60 {
		switch a := root.Exec("ALTER TABLE c ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES p (id)"); a.Number() {
		case 0:
			added++
			for range 5 {
				if n := root.Must("SELECT COUNT(*) FROM c LEFT JOIN p ON p.id = c.a WHERE c.a IS NOT NULL AND p.id IS NULL").Rows[0][0]; n != "0" {
					t.Fatalf("%s orphans", n)
				}
			}
			root.Must("ALTER TABLE c DROP FOREIGN KEY f")
		case int(types.ErNoReferencedRow2):
			refused++
			// These may be the victims of a deadlock; the next round tries again.
			root.Exec("DELETE c FROM c LEFT JOIN p ON p.id = c.a WHERE p.id IS NULL")
			root.Exec("INSERT IGNORE INTO p VALUES (0), (1), (2), (3)")
		default:
			t.Fatal(a.Err)
		}
	}
	if added == 0 || refused == 0 {
		t.Errorf("added %d times and refused %d times: one of the two was not tried", added, refused)
	}
}

// TestForeignRestart: a foreign key binds after a restart as before, and tables without one keep the format that older versions read.
func TestForeignRestart(t *testing.T) {
	fs := engine.NewMemFS()
	node := inproc.Open(t, inproc.Options{FS: fs})
	c := node.Root("")
	c.Must("CREATE DATABASE d")
	c.Must("USE d")
	for _, text := range foreignTables {
		c.Must(text)
	}
	c.Must("CREATE TABLE plain (id INT PRIMARY KEY)")
	c.Must("SET foreign_key_checks = 0")
	c.Must("CREATE TABLE stray (id INT PRIMARY KEY, a INT, FOREIGN KEY (a) REFERENCES later (id))")
	c.Must("INSERT INTO p VALUES (1, 10, 0)")
	shown := c.Must("SHOW CREATE TABLE c").String()
	for kind, want := range map[string]byte{"p": 4, "c": 4, "stray": 4, "plain": 1} {
		if got := formatOf(t, node, kind); got != want {
			t.Errorf("the descriptor of %s has format %d, want %d", kind, got, want)
		}
	}
	node.Close()
	node = inproc.Open(t, inproc.Options{FS: fs})
	defer node.Close()
	c = node.Root("d")
	if again := c.Must("SHOW CREATE TABLE c").String(); again != shown {
		t.Errorf("SHOW CREATE TABLE is\n%s\nafter the restart, and was\n%s", again, shown)
	}
	for _, test := range []struct {
		text   string
		number int
	}{
		{"INSERT INTO c (a) VALUES (1)", 0},
		{"INSERT INTO c (a) VALUES (2)", int(types.ErNoReferencedRow2)},
		{"INSERT INTO r (a) VALUES (1)", 0},
		{"DELETE FROM p", int(types.ErRowIsReferenced2)},
		{"DROP TABLE p", int(types.ErFkCannotDropParent)},
		{"INSERT INTO stray VALUES (1, 1)", int(types.ErNoReferencedRow2)},
		{"CREATE TABLE later (id BIGINT PRIMARY KEY)", int(types.ErCannotAddForeign)},
		{"CREATE TABLE later (id INT PRIMARY KEY)", 0},
		{"INSERT INTO later VALUES (1)", 0},
		{"INSERT INTO stray VALUES (1, 1)", 0},
	} {
		if got := c.Exec(test.text); got.Number() != test.number {
			t.Errorf("%s: %v, want error %d", test.text, got.Err, test.number)
		}
	}
}

// formatOf returns the first byte of a table's stored descriptor.
func formatOf(t *testing.T, node *inproc.Node, name string) byte {
	t.Helper()
	all, err := catalog.ScanAll(node.Txns, catalog.KindTable)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		if strings.Contains(string(b), `"name":"`+name+`","columns"`) {
			return b[0]
		}
	}
	t.Fatalf("no descriptor of %s", name)
	return 0
}

// TestForeignSchemaInCrashes: a crash before any sync of the log leaves two tables that say the same of each other.
func TestForeignSchemaInCrashes(t *testing.T) {
	eachCrash(t, []string{
		"CREATE TABLE p (id INT PRIMARY KEY, u INT UNIQUE)", "INSERT INTO p VALUES (1, 1)",
		"CREATE TABLE c (id INT PRIMARY KEY, a INT, FOREIGN KEY (a) REFERENCES p (id))", "INSERT INTO c VALUES (1, 1)",
		"ALTER TABLE c ADD COLUMN b INT DEFAULT 1 REFERENCES p (u) ON DELETE CASCADE", "RENAME TABLE p TO q, c TO e", "ALTER TABLE q RENAME COLUMN u TO v",
		"ALTER TABLE e DROP FOREIGN KEY e_ibfk_1, MODIFY id BIGINT", "CREATE DATABASE other", "RENAME TABLE q TO other.q", "DROP TABLE e", "DROP DATABASE other",
	}, func(i int, node *inproc.Node) {
		for _, d := range node.Catalog.Current().Databases() {
			for _, table := range node.Catalog.Current().Tables(d.Name) {
				agree(t, i, node.Catalog.Current(), table)
			}
		}
	})
}

// agree judges what a table and those that it is tied to say of each other.
func agree(t *testing.T, crash int, snap *catalog.Snapshot, table *catalog.Table) {
	t.Helper()
	for i := range table.ForeignKeys {
		key := &table.ForeignKeys[i]
		parent := snap.Lookup(key.Parent.Schema, key.Parent.Name)
		if parent == nil || !slices.Contains(parent.Referrers, table.TableName()) || slices.Contains(key.RefOrdinals(parent), -1) {
			t.Errorf("crash %d: %s refers to %v, which does not know", crash, table.Name, key.Parent)
		}
	}
	for _, name := range table.Referrers {
		if child := snap.Lookup(name.Schema, name.Name); child == nil || !child.RefersTo(table.TableName()) {
			t.Errorf("crash %d: %s is not referred to by %v", crash, table.Name, name)
		}
	}
}
