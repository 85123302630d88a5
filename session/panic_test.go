package session_test

import (
	"testing"

	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/tests/inproc"
	"github.com/pandodb/pando/types"
)

// faulty is a response that panics at the first row, as a fault in an operator would.
type faulty struct{ enc types.RowEncoder }

func (f *faulty) Columns([]sqlapi.ColumnInfo) (*types.RowEncoder, error) { return &f.enc, nil }
func (f *faulty) RowDone() error                                         { panic("a fault") }
func (f *faulty) Done(sqlapi.Result, bool) error                         { return nil }

// TestPanicReleasesLocks: a panic in a statement ends its connection, and closing the session gives back what the statement held, though
// it had a transaction of its own.
func TestPanicReleasesLocks(t *testing.T) {
	node, c := inproc.OpenDatabase(t)
	c.Must("CREATE TABLE t (id INT PRIMARY KEY, a INT)")
	c.Must("INSERT INTO t VALUES (1,1),(2,2)")
	for _, statement := range []string{"SELECT * FROM t FOR UPDATE", "SELECT * FROM t WHERE id=1 FOR UPDATE", "SELECT * FROM t WHERE a>0"} {
		victim := node.Root("d")
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic", statement)
				}
			}()
			_ = victim.Session.Query([]byte(statement), &faulty{})
		}()
		victim.Close()
		if a := c.Exec("SELECT * FROM t FOR UPDATE NOWAIT"); a.Err != nil {
			t.Errorf("after a panic in %s: %v", statement, a.Err)
		}
		if a := c.Exec("ALTER TABLE t COMMENT 'changed'"); a.Err != nil {
			t.Errorf("after a panic in %s: %v", statement, a.Err)
		}
	}
}
