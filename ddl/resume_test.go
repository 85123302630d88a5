package ddl_test

import (
	"encoding/json"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// reopen closes the executor and opens another, which resumes the stored jobs after prepare.
func (n *node) reopen(prepare func(o *ddl.Options)) {
	n.tb.Helper()
	n.ex.Close()
	o := ddl.Options{Catalog: n.cat, Txns: n.txns, AutoIDs: n.ids}
	if prepare != nil {
		prepare(&o)
	}
	var err error
	n.ex, err = ddl.Open(o)
	n.must(err)
}

// halfBuilt takes a public index back to the state of a build that a crash has interrupted, with a job whose record has fields
// besides those of every job. The executor that is open does not know of it.
func (n *node) halfBuilt(tab, index string, state catalog.SchemaState, fields map[string]any) {
	n.tb.Helper()
	next := n.table(tab).Clone()
	next.Finish()
	ix := next.Index(index)
	ix.State, ix.Building, ix.ReadableFrom = state, true, 0
	id, err := n.cat.NextID()
	n.must(err)
	rec := map[string]any{
		"id": id, "kind": "create index", "table_id": next.ID, "phys_id": next.PhysID, "schema": next.Schema, "table": next.Name,
		"index_id": ix.ID, "index": ix.Name,
	}
	for k, v := range fields {
		rec[k] = v
	}
	b, err := json.Marshal(rec)
	n.must(err)
	n.must(n.cat.Apply(&catalog.Change{PutTables: []*catalog.Table{next}}, func(tx *txn.Txn) error {
		key := keys.SystemKey(nil, catalog.KindJob, catalog.IDPart(id))
		if _, _, err := tx.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
			return err
		}
		return tx.Put(key, append([]byte{1}, b...))
	}))
}

// dropLater drops a table whose data stays until the executor is opened again.
func (n *node) dropLater(tab string) {
	n.tb.Helper()
	n.reopen(func(o *ddl.Options) {
		o.Destroy = func(kvapi.Span, clock.Timestamp) (bool, error) { return false, nil }
	})
	n.must(n.ex.DropTables(&ddl.Call{}, []ddl.Name{name(tab)}, false))
}

func rowKeyOf(t *catalog.Table, id int) []byte {
	return table.AppendRowKey(nil, t, []types.Value{types.Int(int64(id))})
}

// TestTruncateBeforeResumedBuild: the checkpoint of a build says nothing about the rows after a TRUNCATE.
func TestTruncateBeforeResumedBuild(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.sbtest("x")
	n.sbtest("b")
	n.fill("x", 1, 11, func(id int) int { return id })
	n.fill("b", 1, 2001, func(id int) int { return id })
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("b"), key("i", false, "k")))
	n.dropLater("x")
	n.ex.Close()
	n.halfBuilt("b", "i", catalog.StateWriteOnly, map[string]any{"checkpoint": rowKeyOf(n.table("b"), 769), "rows": 768})
	// The job of x is ahead of the build until TRUNCATE is through.
	gate := make(chan struct{})
	var err error
	n.ex, err = ddl.Open(ddl.Options{Catalog: n.cat, Txns: n.txns, AutoIDs: n.ids, Destroy: func(s kvapi.Span, ts clock.Timestamp) (bool, error) {
		<-gate
		return n.txns.DropSpan(s, ts)
	}})
	n.must(err)
	n.must(n.ex.TruncateTable(&ddl.Call{}, name("b")))
	n.fill("b", 1, 11, func(id int) int { return id })
	close(gate)
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	if r := n.check("b"); r.Rows != 10 || len(r.Indexes) != 1 || r.Indexes[0].Entries != 10 {
		t.Fatalf("%+v", r)
	}
	if got := n.count(table.DataSpan(n.table("b").PhysID)); got != 20 {
		t.Fatalf("%d keys for 10 rows and an index", got)
	}
}
