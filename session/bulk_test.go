package session_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/session"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/tests/inproc"
	"github.com/pandodb/pando/types"
)

// bulkText is a write of the row with this id and of a thousand others, large enough to be a bulk statement.
func bulkText(table string, id int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "REPLACE INTO %s VALUES ", table)
	for i := range 1000 {
		fmt.Fprintf(&b, "(%d,1,'%0100d'),", 1000*(id+1)+i, i)
	}
	fmt.Fprintf(&b, "(%d,1,'')", id)
	return b.String()
}

// TestBulk: bulk statements that are transactions by themselves run one after the other where their memory is bounded, and wait before they
// use a table. Others never wait for them, nor do bulk statements of sessions that hold what others may wait for.
func TestBulk(t *testing.T) {
	node, blocker := inproc.OpenDatabase(t)
	blocker.Must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(200))")
	blocker.Must("CREATE TABLE u LIKE t")
	blocker.Must("INSERT INTO t VALUES (1,1,'')")
	node.Bulk = session.NewBulk(1 << 20) // less than one statement
	var wg sync.WaitGroup
	defer wg.Wait()
	start := func(c *inproc.Conn, text string, number int) {
		wg.Go(func() {
			if a := c.Exec(text); a.Number() != number {
				t.Errorf("%.20s…: %v, want error %d", text, a.Err, number)
			}
		})
	}
	waits := func(n uint64) {
		t.Helper()
		testkit.Await(t, fmt.Sprintf("%d have waited", n), func() bool { return node.Bulk.Waits() == n })
	}
	first, second, killed, other := node.Root("d"), node.Root("d"), node.Root("d"), node.Root("d")
	for _, c := range []*inproc.Conn{first, second, killed, other} {
		t.Cleanup(c.Close)
	}

	blocker.Must("BEGIN")
	blocker.Must("UPDATE t SET a=2 WHERE id=1")
	start(first, bulkText("t", 1), 0) // it has the memory, and waits for the row
	testkit.Await(t, "the first locks rows", func() bool {
		return other.Exec("SELECT * FROM t WHERE id=2000 FOR UPDATE NOWAIT").Number() == int(types.ErLockNowait)
	})
	start(second, bulkText("u", 2), 0)
	waits(1)
	if info := second.Session.Info(); !strings.HasPrefix(info, "REPLACE INTO u") {
		t.Errorf("the process list shows %q of who waits", info)
	}
	start(killed, bulkText("u", 3), int(types.ErQueryInterrupted))
	waits(2)
	killed.Interrupt().Set(kvapi.ReasonKillQuery)

	other.Must("ALTER TABLE u COMMENT 'nobody uses it'")
	other.Must("REPLACE INTO u VALUES (1,1,'')")
	other.Must("BEGIN")
	other.Must(bulkText("u", 4))
	other.Must("COMMIT")
	other.Must("SET autocommit=0")
	other.Must(bulkText("u", 5))
	other.Must("COMMIT")
	other.Must("SET autocommit=1")
	other.Must("SELECT GET_LOCK('l', 0)")
	other.Must(bulkText("u", 6))
	other.Must("SELECT RELEASE_LOCK('l')")
	blocker.Must("ROLLBACK")
	wg.Wait()

	for _, id := range []int{1, 2, 4, 5, 6} {
		table := "u"
		if id == 1 {
			table = "t"
		}
		if a := blocker.Exec(fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE id DIV 1000 = %d", table, id+1)); a.Rows[0][0] != "1000" {
			t.Errorf("%s rows of statement %d", a.Rows[0][0], id)
		}
	}
	if a := blocker.Exec("SELECT COUNT(*) FROM u WHERE id DIV 1000 = 4"); a.Rows[0][0] != "0" {
		t.Errorf("%s rows of the statement that was killed", a.Rows[0][0])
	}
	if n := node.Bulk.Waits(); n != 2 {
		t.Errorf("%d have waited, want 2", n)
	}
}

// TestBulkReleased: a bulk statement gives its memory back however it ends.
func TestBulkReleased(t *testing.T) {
	node, c := inproc.OpenDatabase(t)
	c.Must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(200))")
	node.Bulk = session.NewBulk(1 << 20)
	long := strings.Repeat("x", 100_000)
	prepared, err := c.Session.Prepare([]byte("REPLACE INTO t VALUES (?,1,LEFT(?,10))"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		number int
		run    func() error
	}{
		{"success", 0, func() error { return c.Exec(bulkText("t", 1)).Err }},
		{"prepared", 0, func() error {
			return c.Session.Execute(prepared.ID, []types.Value{types.Int(1), types.String([]byte(long), types.Utf8mb40900AICI)}, &discard{})
		}},
		{"duplicate key", int(types.ErDupEntry), func() error { return c.Exec("INSERT" + strings.TrimPrefix(bulkText("t", 1), "REPLACE")).Err }},
		{"unknown table", int(types.ErNoSuchTable), func() error { return c.Exec(bulkText("nowhere", 1)).Err }},
		{"killed", int(types.ErQueryInterrupted), func() error {
			c.Interrupt().Set(kvapi.ReasonKillQuery)
			defer c.Interrupt().Reset()
			return c.Session.Query([]byte(bulkText("t", 2)), &discard{})
		}},
		{"read only", int(types.ErCantExecuteInReadOnlyTransaction), func() error {
			c.Must("SET SESSION TRANSACTION READ ONLY")
			defer c.Must("SET SESSION TRANSACTION READ WRITE")
			return c.Exec(bulkText("t", 2)).Err
		}},
		{"panic", 0, func() error {
			victim := node.Root("d")
			defer victim.Close()
			defer func() {
				if recover() == nil {
					t.Error("it does not panic")
				}
			}()
			return victim.Session.Query([]byte(bulkText("t", 2)), &faultyEnd{})
		}},
	} {
		if err := test.run(); test.number != 0 || err != nil {
			wantNumber(t, test.name, err, uint16(test.number))
		}
		if whole := node.Root("d"); !bulkRuns(whole, node.Bulk) {
			t.Fatalf("after %s the memory is not whole", test.name)
		}
	}
}

// bulkRuns runs a statement that takes all the memory there is, and tells whether it did not have to wait.
func bulkRuns(c *inproc.Conn, b *session.Bulk) bool {
	defer c.Close()
	done := make(chan struct{})
	defer func() { <-done }()
	go func() {
		defer close(done)
		_ = c.Session.Query([]byte(bulkText("t", 9)), &discard{}) // fails if it is interrupted
	}()
	for b.Waits() == 0 {
		select {
		case <-done:
			return b.Waits() == 0
		case <-time.After(time.Millisecond):
		}
	}
	c.Interrupt().Set(kvapi.ReasonKillConn)
	return false
}

// faultyEnd panics where a statement is answered.
type faultyEnd struct{ faulty }

func (f *faultyEnd) Done(sqlapi.Result, bool) error { panic("a fault") }
