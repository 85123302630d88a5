package table_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// inRange is the definition of Range, over values. Prefix columns admit more.
func inRange(r *table.Range, vals []types.Value, coll []types.CollationID) bool {
	for i := range r.Eq {
		if r.Eq[i].IsNull() != vals[i].IsNull() || types.Compare(r.Eq[i], vals[i], coll[i]) != 0 {
			return false
		}
	}
	if len(r.Eq) == len(vals) {
		return true
	}
	v := vals[len(r.Eq)]
	if v.IsNull() {
		return !r.HasLow && !r.HasHigh && !r.NotNull
	}
	if r.HasLow {
		if c := types.Compare(v, r.Low, coll[len(r.Eq)]); r.Low.IsNull() || c < 0 || c == 0 && !r.LowInclusive {
			return false
		}
	}
	if r.HasHigh {
		if c := types.Compare(v, r.High, coll[len(r.Eq)]); r.High.IsNull() || c > 0 || c == 0 && !r.HighInclusive {
			return false
		}
	}
	return true
}

// TestSpanAgainstModel compares spans of random ranges with the definition, on
// every index of every model table.
func TestSpanAgainstModel(t *testing.T) {
	for name, desc := range modelTables() {
		t.Run(name, func(t *testing.T) {
			r := testkit.Rand(testkit.Seed(t), 1)
			n := openNode(t, nil)
			defer n.close()
			w := table.NewWriter(desc, n.ids)
			for range 150 {
				row := make([]types.Value, len(desc.Columns))
				for i, c := range desc.Columns {
					row[i] = randomValue(r, c)
				}
				// Duplicates are refused, which is fine.
				_ = n.do(func(tx *txn.Txn) error { return w.Insert(tx, row, table.InsertCheck) })
			}
			for _, ix := range desc.Indexes {
				if ix.State == catalog.StatePublic {
					checkSpans(t, n, desc, ix, r)
				}
			}
		})
	}
}

func checkSpans(t *testing.T, n *node, desc *catalog.Table, ix *catalog.Index, r *rand.Rand) {
	var cols []int
	var coll []types.CollationID
	prefix := false
	for _, ic := range ix.Columns {
		cols = append(cols, ic.Col)
		coll = append(coll, desc.Columns[ic.Col].Type.Coll)
		prefix = prefix || ic.PrefixLen > 0
	}
	whole := table.RowSpan(desc)
	if !ix.Primary {
		whole = table.IndexSpan(desc, ix)
	}
	all := n.scan(whole)
	// Values come from the rows, so that prefix columns are whole.
	rows := valuesOf(t, n, desc, ix, all, cols)
	var buf []byte
	for range 300 {
		rg := randomRange(r, desc, cols)
		var span kvapi.Span
		var empty bool
		span, buf, empty = table.Span(buf[:0], desc, ix, &rg)
		if empty && !span.Empty() && span.Start != nil {
			t.Fatalf("%+v: empty and not empty", rg)
		}
		for i, key := range all.keys {
			want := inRange(&rg, rows[i], coll)
			got := !empty && span.Contains(key)
			if got != want && !(prefix && got) {
				t.Fatalf("index %s, range %+v: row %s is in the span: %v, should be %v", ix.Name, rg, show(rows[i]), got, want)
			}
		}
	}
}

func valuesOf(t *testing.T, n *node, desc *catalog.Table, ix *catalog.Index, p *pairs, cols []int) [][]types.Value {
	var reader table.Reader
	reader.Init(desc, cols)
	var rows [][]types.Value
	for i := range p.keys {
		key, value := p.keys[i], p.values[i]
		if !ix.Primary {
			var err error
			if key, err = table.AppendRowKeyOfEntry(nil, desc, ix, key, value); err != nil {
				t.Fatal(err)
			}
			var row keep
			if _, err := n.txns.Get(key, nil, &row); err != nil {
				t.Fatal(err)
			}
			value = row.value
		}
		if err := reader.Decode(key, value); err != nil {
			t.Fatal(err)
		}
		vals := make([]types.Value, len(cols))
		reader.Values(vals)
		for c := range vals {
			vals[c] = vals[c].Clone()
		}
		rows = append(rows, vals)
	}
	return rows
}

func randomRange(r *rand.Rand, desc *catalog.Table, cols []int) table.Range {
	var rg table.Range
	eq := r.IntN(len(cols) + 1)
	for _, c := range cols[:eq] {
		rg.Eq = append(rg.Eq, randomValue(r, desc.Columns[c]))
	}
	if eq == len(cols) {
		return rg
	}
	c := desc.Columns[cols[eq]]
	rg.HasLow, rg.HasHigh, rg.NotNull = r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(4) == 0
	rg.LowInclusive, rg.HighInclusive = r.IntN(2) == 0, r.IntN(2) == 0
	if rg.HasLow {
		rg.Low = randomValue(r, c)
	}
	if rg.HasHigh {
		rg.High = randomValue(r, c)
	}
	return rg
}

// TestSpanOfUniqueKeyIsPoint: a whole unique key is read with one point read.
func TestSpanOfUniqueKeyIsPoint(t *testing.T) {
	desc := modelTables()["int key"]
	one, a := types.Int(1), types.Text("a")
	for _, c := range []struct {
		ix    string
		eq    []types.Value
		point bool
	}{
		{"PRIMARY", []types.Value{one}, true},
		{"u1", []types.Value{one, a}, true},
		{"u1", []types.Value{one}, false},
		{"u1", []types.Value{one, types.Null()}, false},
		{"i1", []types.Value{one}, false},
	} {
		span, _, empty := table.Span(nil, desc, desc.Index(c.ix), &table.Range{Eq: c.eq})
		if empty || span.IsPoint() != c.point {
			t.Errorf("%s %s: point %v, empty %v", c.ix, show(c.eq), span.IsPoint(), empty)
		}
		if c.point && !bytes.Equal(span.Start, table.AppendIndexKey(nil, desc, desc.Index(c.ix), c.eq)) {
			t.Errorf("%s: AppendIndexKey differs", c.ix)
		}
	}
}

// FuzzReader: no bytes make a reader panic.
func FuzzReader(f *testing.F) {
	n := openNode(f, nil)
	desc := modelTables()["int key"]
	w := table.NewWriter(desc, n.ids)
	rows := [][]types.Value{
		{types.Int(1), types.Int(2), text("abc"), types.Bytes([]byte("x")), text("e")},
		{types.Int(-1), types.Null(), types.Null(), types.Null(), text("")},
	}
	for _, row := range rows {
		if err := n.do(func(tx *txn.Txn) error { return w.Insert(tx, row, table.InsertCheck) }); err != nil {
			f.Fatal(err)
		}
	}
	for _, span := range []kvapi.Span{table.RowSpan(desc), table.IndexSpan(desc, desc.Index("i1")), table.IndexSpan(desc, desc.Index("u1"))} {
		p := n.scan(span)
		for i := range p.keys {
			f.Add(p.keys[i], p.values[i])
		}
	}
	n.close()
	f.Fuzz(func(t *testing.T, key, value []byte) {
		var r table.Reader
		r.Init(desc, []int{0, 1, 2, 3, 4})
		_ = r.Decode(key, value)
		for _, name := range []string{"i1", "u1"} {
			ix := desc.Index(name)
			r.Reset(table.NewShape(desc, ix, []int{0, 1}))
			_ = r.Decode(key, value)
			_, _ = table.AppendRowKeyOfEntry(nil, desc, ix, key, value)
		}
	})
}
