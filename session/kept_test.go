package session_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/session"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/tests/inproc"
	"github.com/pandodb/pando/types"
)

// number is that of a MySQL error, 0 of nil.
func number(err error) uint16 {
	var e *types.Error
	errors.As(err, &e)
	if e == nil {
		return 0
	}
	return e.Number
}

// TestKeptMemory: user variables and the texts of prepared statements, which outlive statements, count as the node's memory: what does not
// fit is refused, a failed SET keeps what was, and a reset gives all back.
func TestKeptMemory(t *testing.T) {
	pool := exec.NewMemPool(32 << 20)
	n := inproc.Open(t, inproc.Options{Memory: pool})
	t.Cleanup(n.Close)
	c := n.Root("")
	empty := pool.Used()
	var err error
	set := 0
	for ; set < 40 && err == nil; set++ {
		err = c.Exec(fmt.Sprintf("SET @v%d = REPEAT('a', 2000000)", set)).Err
	}
	if number(err) != 8176 || set < 8 {
		t.Fatalf("after %d variables: %v", set, err)
	}
	held := pool.Used()
	if err := c.Exec("SET @v0 = 'b', @v1 = REPEAT('c', 3000000), @w = REPEAT('d', 14000000), @x = REPEAT('e', 14000000)").Err; number(err) != 8176 {
		t.Errorf("a SET beyond the memory: %v", err)
	}
	if got := c.Value("SELECT CONCAT(LENGTH(@v0), ' ', LENGTH(@v1))"); got != "2000000 2000000" {
		t.Errorf("the variables are %s", got)
	}
	if got := pool.Used(); got > held {
		t.Errorf("%d bytes, %d before the SET that failed", got, held)
	}
	c.Must("SET @v0 = NULL, @v1 = NULL, @v2 = NULL")
	if got := pool.Used(); got > held-5_000_000 {
		t.Errorf("%d bytes, %d before three variables were dropped", got, held)
	}
	if err := c.Session.Reset(); err != nil {
		t.Fatal(err)
	}
	if got := pool.Used(); got > empty+1<<20 {
		t.Errorf("%d bytes after a reset, %d before all", got, empty)
	}
	text := "SELECT '" + strings.Repeat("a", 2_000_000) + "'"
	var ids []uint32
	for err = nil; len(ids) < 40; {
		info, fault := c.Session.Prepare([]byte(text))
		if err = fault; err != nil {
			break
		}
		ids = append(ids, info.ID)
	}
	if number(err) != 8176 || len(ids) < 8 {
		t.Errorf("after %d statements: %v", len(ids), err)
	}
	for _, id := range ids {
		c.Session.CloseStmt(id)
	}
	if err := c.Exec("SELECT 1").Err; err != nil {
		t.Error(err)
	}
	if got := pool.Used(); got > empty+1<<20 {
		t.Errorf("%d bytes after the statements are closed, %d before all", got, empty)
	}
}

// TestKeptMemoryIsGivenBack: what a session keeps no more counts no more, also while it keeps something else.
func TestKeptMemoryIsGivenBack(t *testing.T) {
	pool := exec.NewMemPool(80 << 20) // a value on its way to a variable is counted up to four times
	n := inproc.Open(t, inproc.Options{Memory: pool})
	t.Cleanup(n.Close)
	c := n.Root("")
	c.Must("SET @small = 'x'")
	free := func(what string) {
		t.Helper()
		if used := pool.Used(); used != 0 {
			t.Errorf("%s: %d bytes are still taken", what, used)
		}
	}
	c.Must("SET @v = REPEAT('a', 2500000)")
	if pool.Used() == 0 {
		t.Error("a variable of 2.5 MB counts as nothing")
	}
	c.Must("SET @v = NULL")
	free("a variable")
	for range 80 {
		c.Must("SET @v = (SELECT REPEAT('a', 1000000))")
	}
	c.Must("SET @v = NULL")
	free("values of subqueries")
	if err := c.Exec("SET @v = 'b', @w = (SELECT REPEAT('a', 17000000))").Err; number(err) != types.ErOutOfResources {
		t.Errorf("a value of a subquery that is too large for a variable: %v", err)
	}
	if got := c.Value("SELECT @v IS NULL AND @w IS NULL"); got != "1" {
		t.Error("a SET that failed has set something")
	}
	free("a SET that failed")
	text := "SELECT '" + strings.Repeat("a", 2_500_000) + "'"
	info, err := c.Session.Prepare([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c.Session.CloseStmt(info.ID)
	free("a prepared text")
	if err := c.Exec("PREPARE p FROM '" + strings.Repeat("x", 2_500_000) + "'").Err; number(err) != types.ErParseError {
		t.Error(err)
	}
	free("a text that could not be prepared")
	c.Must("SET @v = REPEAT('a', 2500000)")
	if err := c.Session.ChangeUser(session.Client{ID: c.ID, User: "root", Host: "localhost", Account: "root@localhost"}); err != nil {
		t.Fatal(err)
	}
	free("another user")
}

// fetched takes the rows of cursors.
type fetched struct {
	enc  types.RowEncoder
	rows int
}

func (f *fetched) Columns([]sqlapi.ColumnInfo) (*types.RowEncoder, error) { return &f.enc, nil }
func (f *fetched) FetchRows() (*types.RowEncoder, error)                  { return &f.enc, nil }
func (f *fetched) Done(sqlapi.Result, bool) error                         { return nil }
func (f *fetched) RowDone() error {
	f.rows++
	return f.enc.Full()
}

// TestCursorMemory: the rows of cursors count as the node's memory until their cursor is closed, whichever else is open, and a row for which
// the client's connection has no room is an error of that fetch alone.
func TestCursorMemory(t *testing.T) {
	pool := exec.NewMemPool(32 << 20)
	n := inproc.Open(t, inproc.Options{Memory: pool})
	t.Cleanup(n.Close)
	c := n.Root("")
	var ids [2]uint32
	for i := range ids {
		info, err := c.Session.Prepare([]byte("SELECT REPEAT('a', 3000000)"))
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = info.ID
		if err := c.Session.ExecuteCursor(info.ID, nil, &fetched{}); err != nil {
			t.Fatal(err)
		}
	}
	if used := pool.Used(); used < 5_000_000 {
		t.Errorf("two cursors take %d bytes", used)
	}
	if err := c.Session.ResetStmt(ids[0]); err != nil {
		t.Fatal(err)
	}
	if used := pool.Used(); used < 2_000_000 || used > 3_000_000 {
		t.Errorf("one cursor takes %d bytes", used)
	}
	refused := types.NewError(8176, "no room")
	room := refused
	client := &fetched{enc: types.RowEncoder{Binary: true, Room: func(int) error {
		if room != nil {
			return room
		}
		return nil
	}}}
	if err := c.Session.Fetch(ids[1], 1, client); number(err) != 8176 {
		t.Errorf("a fetch without room: %v", err)
	}
	room = nil
	client.rows = 0
	if err := c.Session.Fetch(ids[1], 1, client); err != nil || client.rows != 1 || len(client.enc.Buf) < 3_000_000 {
		t.Errorf("the next fetch: %v, %d rows", err, client.rows)
	}
	c.Session.CloseStmt(ids[1])
	if used := pool.Used(); used != 0 {
		t.Errorf("%d bytes are taken when all cursors are closed", used)
	}
}

// TestWideListsCount: what planning takes for the elements of a select list is counted before it is taken, whether they are written or a star stands for them.
func TestWideListsCount(t *testing.T) {
	_, c := inproc.OpenDatabase(t)
	c.Must("CREATE TABLE t (a INT, b INT, c INT, d INT)")
	c.Must("SET tidb_mem_quota_query = 8388608")
	for name, text := range map[string]string{
		"literals": "SELECT 1" + strings.Repeat(",1", 10_000), "stars": "SELECT 1" + strings.Repeat(",t.*", 2_500) + " FROM t",
		"a derived table": "SELECT 1 FROM (SELECT 1 AS c0" + manyNames(10_000) + ") q",
	} {
		if err := c.Exec(text).Err; number(err) != 8175 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.Session.Prepare([]byte("SELECT 1" + strings.Repeat(",?", 10_000))); number(err) != 8175 {
		t.Errorf("parameters: %v", err)
	}
	c.Must("SELECT 1" + strings.Repeat(",1", 1000))
}

// TestManyKeysCount: the keys of a batch, and the values of a select list, are counted before they are computed where a statement has thousands of them.
func TestManyKeysCount(t *testing.T) {
	_, c := inproc.OpenDatabase(t)
	c.Must("CREATE TABLE t (a INT)")
	c.Must("INSERT INTO t VALUES (1)" + strings.Repeat(", (2)", 499))
	var keys strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&keys, "a+%d,", i)
	}
	c.Must("SET tidb_mem_quota_query = 25165824")
	for _, text := range []string{"SELECT 1 FROM t GROUP BY " + keys.String() + "1", "SELECT a FROM t ORDER BY " + keys.String() + "a LIMIT 3",
		"SELECT " + keys.String() + "1 FROM t", "SELECT 1" + strings.Repeat(",t.*", 5000) + " FROM t"} {
		if err := c.Exec(text).Err; number(err) != 8175 {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}

func manyNames(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, ",1 AS c%d", i)
	}
	return b.String()
}
