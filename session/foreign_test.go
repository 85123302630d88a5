package session_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

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
