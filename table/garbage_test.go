package table_test

import (
	"testing"
	"time"

	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/types"
)

// TestUpdateGarbageLooks: the collector looks for the old entry of a moved index entry and for nothing else. The row's old
// version is known from its lock, and the new entry has nothing below it.
func TestUpdateGarbageLooks(t *testing.T) {
	n := openNode(t, nil)
	defer n.close()
	const rows = 50
	u := &pointUpdate{n: n, w: table.NewWriter(sbtest(1), n.ids)}
	fill(t, n, u.w, rows)
	before := n.store.Metrics()
	for i := range rows {
		if err := u.run(i+1, 1, types.Int(int64(1_000_000+i))); err != nil {
			t.Fatal(err)
		}
	}
	deadline := time.Now().Add(2 * time.Minute)
	for m := n.store.Metrics(); ; m = n.store.Metrics() {
		deleted, looked := m.GCDeleted-before.GCDeleted, m.GCLooked-before.GCLooked
		// The old row, the old entry and its marker.
		if deleted == 3*rows {
			if looked != rows {
				t.Errorf("%d looks for %d updates", looked, rows)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d versions deleted, want %d", deleted, 3*rows)
		}
		n.store.CollectNow()
		time.Sleep(5 * time.Millisecond)
	}
}
