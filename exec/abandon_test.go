package exec

import (
	"testing"

	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

// faulty is a sink that panics at the first row.
type faulty struct{ enc types.RowEncoder }

func (f *faulty) Columns([]sqlapi.ColumnInfo) (*types.RowEncoder, error) { return &f.enc, nil }
func (f *faulty) RowDone() error                                         { panic("a fault") }

// TestAbandon: what a statement holds that a panic ends is given back by Abandon: its snapshot, without which old versions could never be
// collected again, and the locks of its own transaction.
func TestAbandon(t *testing.T) {
	k := newKit(t)
	sb := sbtest(100)
	k.fill(k.runtime(), sb, 10)
	scan := queryPlan(&Scan{Table: sb, Cols: []int{0}})
	locking := queryPlan(k.lockByPK(sb, lit(3)))
	locking.NeedsTxn = true
	for _, p := range []*Plan{scan, locking} {
		rt := k.runtime()
		func() {
			defer func() { _ = recover() }()
			_, _ = Run(rt, p, &faulty{})
		}()
		if rt.snapshot == nil && rt.own == nil {
			t.Fatal("the statement held nothing when it panicked")
		}
		own := rt.own
		rt.Abandon()
		rt.Abandon()
		if rt.snapshot != nil || rt.own != nil {
			t.Error("the runtime still holds something")
		}
		if own != nil && own.Commit() == nil {
			t.Error("the statement's transaction could still commit")
		}
		other := k.lockByPK(sb, lit(3))
		other.Wait = WaitNone
		again := queryPlan(other)
		again.NeedsTxn = true
		if _, err := k.tryQuery(k.runtime(), again); err != nil {
			t.Error("the row after a panic:", err)
		}
	}
}
