package tests

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/check"
	"github.com/pandodb/pando/internal/testkit"
)

// historyClient runs random transactions over the wire: it adds rows to groups and looks for the rows of a group, by an index, by the primary
// key or by a scan with a condition.
type historyClient struct {
	conn *sql.Conn
	rng  *rand.Rand
	next *atomic.Int64 // id of the last row
	// locking is what stands behind every SELECT.
	locking string
}

// groupRows is how many rows are added until the groups are new ones.
const groupRows = 30

// expected tells whether a transaction may end with this error: deadlock, wait timeout, snapshot conflict, conflict of an optimistic one.
func expected(err error) bool {
	return slices.Contains([]uint16{1213, 1205, 1020, 9007}, errorNumber(err))
}

// groupReads are how the rows of a group are found, each in a table of its own: by an index, by the primary key, and by a scan of a table that
// has neither.
var groupReads = []string{
	"SELECT id FROM indexed WHERE g=%d",
	"SELECT id FROM keyed WHERE id BETWEEN %[1]d*1000000 AND %[1]d*1000000+999999",
	"SELECT id FROM plain WHERE g+0=%d",
}

func (c *historyClient) txn(ctx context.Context) (rec check.Txn, err error) {
	rec.Begin = time.Now().UnixNano()
	defer func() { rec.End = time.Now().UnixNano() }()
	if _, err := c.conn.ExecContext(ctx, "BEGIN"); err != nil {
		return rec, err
	}
	for range 1 + c.rng.IntN(4) {
		way, g := c.rng.IntN(3), int(c.next.Load())/groupRows*2+c.rng.IntN(2)
		set := fmt.Sprint(way, "-", g)
		if c.rng.IntN(2) == 0 {
			rows, err := c.find(ctx, fmt.Sprintf(groupReads[way], g)+c.locking)
			if err != nil {
				return c.end(ctx, rec, err)
			}
			rec.Ops = append(rec.Ops, check.Op{Set: set, Read: rows})
			continue
		}
		id := int(c.next.Add(1))
		statement := "INSERT INTO " + [3]string{"indexed (id, g)", "keyed (id, g)", "plain (id, g)"}[way] + " VALUES (%d, %d)"
		if way == 1 {
			id += g * 1000000
		}
		if _, err := c.conn.ExecContext(ctx, fmt.Sprintf(statement, id, g)); err != nil {
			return c.end(ctx, rec, err)
		}
		rec.Ops = append(rec.Ops, check.Op{Set: set, Append: id})
	}
	if c.rng.IntN(10) == 0 {
		rec.Outcome = check.Aborted
		_, err = c.conn.ExecContext(ctx, "ROLLBACK")
		return rec, err
	}
	if _, err = c.conn.ExecContext(ctx, "COMMIT"); err != nil && !expected(err) {
		rec.Outcome = check.Unknown
		return rec, err
	}
	return c.end(ctx, rec, err)
}

// end ends a transaction that has failed.
func (c *historyClient) end(ctx context.Context, rec check.Txn, err error) (check.Txn, error) {
	if err == nil {
		return rec, nil
	}
	rec.Outcome = check.Aborted
	_, back := c.conn.ExecContext(ctx, "ROLLBACK")
	if expected(err) {
		err = back
	}
	return rec, err
}

func (c *historyClient) find(ctx context.Context, statement string) ([]int, error) {
	rows, err := c.conn.QueryContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []int{}
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	slices.Sort(out)
	return out, rows.Err()
}

// TestHistory: what transactions over the wire find by conditions has no anomalies but those of their level.
func TestHistory(t *testing.T) {
	n := startNode(t, "")
	mustExec(t, n.open(""), "CREATE DATABASE history")
	db := n.open("history")
	for _, c := range []struct {
		level, locking string
		allowed        []string
	}{
		{"READ COMMITTED", "", []string{"G-single", "G2"}},
		{"READ COMMITTED", " FOR UPDATE", []string{"G-single", "G2"}},
		{"REPEATABLE READ", "", []string{"G2"}},
		{"REPEATABLE READ", " FOR SHARE", nil},
		{"REPEATABLE READ", " FOR UPDATE", nil},
		{optimisticMode, "", []string{"G2"}},
		{optimisticMode, " FOR UPDATE", []string{"G2"}},
		{"SERIALIZABLE", "", nil},
		{"SERIALIZABLE", " FOR UPDATE", nil},
	} {
		t.Run(strings.ToLower(strings.ReplaceAll(c.level+c.locking, " ", "_")), func(t *testing.T) {
			mustExec(t, db, "DROP TABLE IF EXISTS indexed, keyed, plain", "CREATE TABLE indexed (id INT PRIMARY KEY, g INT, KEY (g))",
				"CREATE TABLE keyed (id INT PRIMARY KEY, g INT)", "CREATE TABLE plain (id INT, g INT)")
			for _, a := range runHistory(t, db, c.level, c.locking) {
				if !slices.Contains(c.allowed, a.Name) {
					t.Error(a)
				}
			}
		})
	}
}

// runHistory lets clients run transactions and returns what is wrong with them.
func runHistory(t *testing.T, db *sql.DB, level, locking string) []check.Anomaly {
	seed := testkit.Seed(t)
	var next atomic.Int64
	var mu sync.Mutex
	var history []check.Txn
	var workers sync.WaitGroup
	for i := range uint64(6) {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		runOn(t, conn, setLevel(level))
		c := &historyClient{conn: conn, rng: testkit.Rand(seed, i), next: &next, locking: locking}
		workers.Go(func() {
			for range 60 {
				rec, err := c.txn(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				history = append(history, rec)
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	final, committed := check.Txn{}, 0
	seen := map[string]bool{}
	for _, rec := range history {
		if rec.Outcome == check.Committed {
			committed++
		}
		for _, op := range rec.Ops {
			if seen[op.Set] {
				continue
			}
			seen[op.Set] = true
			var way, g int
			if _, err := fmt.Sscanf(op.Set, "%d-%d", &way, &g); err != nil {
				t.Fatal(err)
			}
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			rows, err := (&historyClient{conn: conn}).find(t.Context(), fmt.Sprintf(groupReads[way], g))
			if err != nil {
				t.Fatal(err)
			}
			conn.Close()
			final.Ops = append(final.Ops, check.Op{Set: op.Set, Read: rows})
		}
	}
	found := check.ListAppend(append(history, final))
	t.Logf("%d of %d transactions committed, found %v", committed, len(history), check.Names(found))
	return found
}
