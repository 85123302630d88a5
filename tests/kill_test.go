package tests

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/testkit"
)

const (
	killCycles  = 10
	killWriters = 8
	killRows    = 400 // rows per writer that write_only updates
)

// ledger is the client's own record of what the server acknowledged. A row that was in flight when the server died may
// have either value, so it keeps both.
type ledger struct {
	mu       sync.Mutex      // guards all fields
	k        map[int64]int64 // acknowledged k by id
	doubtful map[int64]int64 // the k that an unanswered transaction would have given
	inserted map[int64]bool  // acknowledged autocommit inserts
	acks     int
	marks    int // given to inserts, acknowledged or not: their column is unique
}

func (b *ledger) acknowledged() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.acks
}

// TestKill9 kills the server ten times in the middle of write_only transactions and autocommit inserts; whatever was acknowledged
// must be there after the restart, and nothing half done.
func TestKill9(t *testing.T) {
	seed := testkit.Seed(t)
	random := testkit.Rand(seed, 1)
	n := startNode(t, "")
	db := createSbtest(t, n)
	mustExec(t, db,
		"CREATE TABLE sbtest1 (id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id))",
		"CREATE INDEX k_1 ON sbtest1(k)",
		"CREATE TABLE journal (id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER NOT NULL, c CHAR(120) NOT NULL, PRIMARY KEY (id), UNIQUE KEY u (c))")
	book := &ledger{k: map[int64]int64{}, doubtful: map[int64]int64{}, inserted: map[int64]bool{}}
	fillLedger(t, db, book)
	for cycle := 0; cycle < killCycles; cycle++ {
		before := book.acks
		writeUntilKilled(t, n, book, time.Duration(100+random.IntN(400))*time.Millisecond, seed+uint64(cycle))
		n.start()
		db = n.open("sbtest")
		compareLedger(t, db, book)
		if book.acks == before {
			t.Errorf("cycle %d acknowledged nothing", cycle)
		}
		if t.Failed() {
			t.Fatalf("cycle %d of seed %d", cycle, seed)
		}
	}
	t.Logf("%d acknowledged writes over %d kills", book.acks, killCycles)
}

func fillLedger(t *testing.T, db *sql.DB, book *ledger) {
	t.Helper()
	for id := int64(1); id <= killWriters*killRows; id += 100 {
		insert := "INSERT INTO sbtest1 (id, k, c, pad) VALUES "
		for i := int64(0); i < 100; i++ {
			if i > 0 {
				insert += ","
			}
			insert += fmt.Sprintf("(%d,%d,'c','p')", id+i, id+i)
			book.k[id+i] = id + i
		}
		mustExec(t, db, insert)
	}
}

// writeUntilKilled runs writers over their own ids, kills the server after a while and waits for the writers to notice.
func writeUntilKilled(t *testing.T, n *node, book *ledger, after time.Duration, seed uint64) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var writers sync.WaitGroup
	for w := 0; w < killWriters; w++ {
		writers.Add(1)
		go func() {
			defer writers.Done()
			random := testkit.Rand(seed, uint64(w)+2)
			pool, err := sql.Open("mysql", n.dsn("sbtest", "interpolateParams="+[]string{"true", "false"}[w%2]))
			if err != nil {
				t.Error(err)
				return
			}
			defer pool.Close()
			conn, err := pool.Conn(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			for ctx.Err() == nil {
				if !writeOnce(ctx, conn, book, random, int64(w)) || !insertOnce(ctx, conn, book) {
					return
				}
			}
		}()
	}
	before := book.acknowledged()
	time.Sleep(after)
	waitFor(t, "something is acknowledged", func() bool { return book.acknowledged() > before || t.Failed() })
	n.kill()
	stop()
	writers.Wait()
}

// writeOnce is sysbench's write_only event: update k, update c, delete and insert the same id, commit. It reports false
// when the server is gone.
func writeOnce(ctx context.Context, conn *sql.Conn, book *ledger, random *rand.Rand, writer int64) bool {
	id := writer*killRows + 1 + random.Int64N(killRows)
	again := writer*killRows + 1 + random.Int64N(killRows)
	book.mu.Lock()
	raised, k := book.k[id]+1, random.Int64N(1_000_000)
	book.mu.Unlock()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return false
	}
	doubt := map[int64]int64{id: raised, again: k}
	steps := []struct {
		query string
		args  []any
	}{
		{"UPDATE sbtest1 SET k=k+1 WHERE id=?", []any{id}},
		{"UPDATE sbtest1 SET c=? WHERE id=?", []any{fmt.Sprint("c", raised), id}},
		{"DELETE FROM sbtest1 WHERE id=?", []any{again}},
		{"INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?)", []any{again, k, fmt.Sprint("c", k), "p"}},
	}
	for _, step := range steps {
		if _, err := tx.ExecContext(ctx, step.query, step.args...); err != nil {
			return false // nothing was asked to commit, so nothing is in doubt
		}
	}
	err = tx.Commit()
	book.mu.Lock()
	defer book.mu.Unlock()
	if err != nil {
		for id, k := range doubt {
			book.doubtful[id] = k
		}
		return false
	}
	for id, k := range doubt {
		book.k[id] = k
	}
	book.acks++
	return true
}

func insertOnce(ctx context.Context, conn *sql.Conn, book *ledger) bool {
	book.mu.Lock()
	book.marks++
	mark := fmt.Sprint("m", book.marks)
	book.mu.Unlock()
	done, err := conn.ExecContext(ctx, "INSERT INTO journal (id, k, c) VALUES (0, ?, ?)", 1, mark)
	if err != nil {
		return false
	}
	id, err := done.LastInsertId()
	book.mu.Lock()
	defer book.mu.Unlock()
	if err != nil || id <= 0 || book.inserted[id] {
		panic(fmt.Sprintf("insert id %d given twice or not at all: %v", id, err))
	}
	book.inserted[id] = true
	book.acks++
	return true
}

// compareLedger checks the restarted server against the record and settles what was in doubt.
func compareLedger(t testing.TB, db *sql.DB, book *ledger) {
	t.Helper()
	rows, err := db.Query("SELECT id, k, c FROM sbtest1")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	seen := map[int64]int64{}
	for rows.Next() {
		var id, k int64
		var c string
		if err := rows.Scan(&id, &k, &c); err != nil {
			t.Fatal(err)
		}
		seen[id] = k
		if c != "c" && c != fmt.Sprint("c", k) {
			t.Errorf("row %d is half done: k %d with c %q", id, k, c)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for id, want := range book.k {
		got, there := seen[id]
		other, doubtful := book.doubtful[id]
		if !there || got != want && !(doubtful && got == other) {
			t.Errorf("row %d: acknowledged k %d, found %d (there: %v)", id, want, got, there)
		}
		book.k[id] = got
	}
	if len(seen) != len(book.k) {
		t.Errorf("%d rows, not %d", len(seen), len(book.k))
	}
	clear(book.doubtful)
	verifyTable(t, db, "sbtest1", "k_1")
	for id := range book.inserted {
		if queryInt(t, db, "SELECT COUNT(*) FROM journal WHERE id=?", id) != 1 {
			t.Errorf("acknowledged insert %d is lost", id)
		}
	}
	if total := queryInt(t, db, "SELECT COUNT(*) FROM journal"); total < int64(len(book.inserted)) || total > int64(len(book.inserted)+killWriters*killCycles) {
		t.Errorf("journal has %d rows for %d acknowledged inserts", total, len(book.inserted))
	}
}

// recorder stands in for the test of a checker that is expected to fail.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Errorf(string, ...any) { r.failed = true }

// TestKill9Canary proves that the ledger notices a lost write.
func TestKill9Canary(t *testing.T) {
	n := startNode(t, "")
	db := createSbtest(t, n)
	mustExec(t, db, "CREATE TABLE sbtest1 (id INT PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL, KEY k_1 (k))",
		"CREATE TABLE journal (id INT PRIMARY KEY)", "INSERT INTO sbtest1 VALUES (1, 5, 'c5')")
	for name, book := range map[string]*ledger{
		"changed row":   {k: map[int64]int64{1: 6}},
		"lost row":      {k: map[int64]int64{1: 5, 2: 7}},
		"lost insert":   {k: map[int64]int64{1: 5}, inserted: map[int64]bool{9: true}},
		"unasked value": {k: map[int64]int64{1: 4}, doubtful: map[int64]int64{1: 3}},
	} {
		probe := &recorder{TB: t}
		compareLedger(probe, db, book)
		if !probe.failed {
			t.Errorf("%s: not noticed", name)
		}
	}
}
