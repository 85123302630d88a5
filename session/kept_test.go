package session_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/tests/inproc"
	"github.com/pandodb/pando/types"
)

// TestKeptMemory: user variables and the texts of prepared statements, which outlive statements, count as the node's memory: what does not
// fit is refused, a failed SET keeps what was, and a reset gives all back.
func TestKeptMemory(t *testing.T) {
	pool := exec.NewMemPool(32 << 20)
	n := inproc.Open(t, inproc.Options{Memory: pool})
	t.Cleanup(n.Close)
	c := n.Root("")
	number := func(err error) uint16 {
		var e *types.Error
		errors.As(err, &e)
		if e == nil {
			return 0
		}
		return e.Number
	}
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
