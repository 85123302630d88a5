package table_test

import (
	"encoding/hex"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// TestRowsOfDocuments: a row says in its first byte whether its JSON documents may have marks, so that versions that don't know them refuse
// it; rows of plain documents are what they were.
func TestRowsOfDocuments(t *testing.T) {
	n := openNode(t, nil)
	defer n.close()
	desc := build(1, []*catalog.Column{
		{Name: "id", Type: intType(types.TypeInt), NotNull: true},
		{Name: "j", Type: types.Type{ID: types.TypeJSON, Coll: types.Utf8mb4Bin}},
		{Name: "k", Type: intType(types.TypeInt)},
	}, primary(0))
	w := table.NewWriter(desc, n.ids)
	decimal := types.Decimal(150, 2)
	marked := types.JSONFrom(nil, &decimal, &types.Type{ID: types.TypeDecimal, Length: 3, Scale: 2})
	plain := types.JSON([]byte("1.5"))
	insertRows(t, n, w, 0, 3, func(id int) []types.Value {
		return []types.Value{types.Int(int64(id)), []types.Value{plain, marked, types.Null()}[id], types.Int(7)}
	})
	// patch changes columns of a row where it stands.
	patch := func(id int, cols []int, vals ...types.Value) {
		t.Helper()
		p := n.scan(table.RowSpan(desc))
		if err := n.do(func(tx *txn.Txn) error {
			value, _, err := locked(tx, p.keys[id])
			if err == nil {
				_, err = w.Patch(tx, p.keys[id], value, cols, vals)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(when string, want ...string) {
		t.Helper()
		p := n.scan(table.RowSpan(desc))
		for i := range want {
			if got := hex.EncodeToString(p.values[i]); got != want[i] {
				t.Errorf("%s: row %d is %s, not %s", when, i, got, want[i])
			}
		}
		var r table.Reader
		r.Init(desc, []int{0, 1, 2})
		for i := range p.keys {
			if err := r.Decode(p.keys[i], p.values[i]); err != nil {
				t.Errorf("%s: row %d: %v", when, i, err)
			}
		}
	}
	expect("inserted", "01"+"01"+"0304"+hex.EncodeToString([]byte("1.5"))+"07", "03"+"01"+"0607"+hex.EncodeToString([]byte("\x01n1.50"))+"07", "11"+"01"+"01"+"0001"+"07")
	patch(0, []int{1}, marked)
	patch(1, []int{2}, types.Int(8))
	expect("changed", "03"+"01"+"0607"+hex.EncodeToString([]byte("\x01n1.50"))+"07", "03"+"01"+"0607"+hex.EncodeToString([]byte("\x01n1.50"))+"08")
	p := n.scan(table.RowSpan(desc))
	p.values[0][0] = 0x05
	var r table.Reader
	r.Init(desc, []int{1})
	if err := r.Decode(p.keys[0], p.values[0]); err == nil {
		t.Error("a row of an unknown format is read")
	}
}
