package table_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// modelTables are the shapes that the model test runs on.
func modelTables() map[string]*catalog.Table {
	cols := func() []*catalog.Column {
		return []*catalog.Column{
			{Name: "a", Type: intType(types.TypeInt), NotNull: true},
			{Name: "b", Type: intType(types.TypeBigInt)},
			{Name: "c", Type: charType(types.TypeVarchar, 20, types.DefaultCollation)},
			{Name: "d", Type: charType(types.TypeVarbinary, 20, types.Binary)},
			{Name: "e", Type: charType(types.TypeVarchar, 20, types.Utf8mb4Bin), NotNull: true},
		}
	}
	prefix := index("pre", false, 2)
	prefix.Columns[0].PrefixLen = 2
	long := index("long", false, 5)
	long.Columns[0].PrefixLen = 30
	desc := index("dsc", true, 1, 0)
	desc.Columns[0].Desc = true
	return map[string]*catalog.Table{
		"int key":    build(1, cols(), primary(0), index("i1", false, 1), index("u1", true, 1, 2), prefix),
		"string key": build(2, cols(), primary(4), index("i1", false, 2), index("u1", true, 0)),
		"ci key":     build(3, []*catalog.Column{{Name: "a", Type: charType(types.TypeVarchar, 9, types.DefaultCollation), NotNull: true}, {Name: "b", Type: intType(types.TypeInt)}}, primary(0), index("i1", false, 1)),
		"composite":  build(4, cols(), primary(4, 0), index("i1", true, 3), desc),
		"no key":     build(5, cols(), index("i1", false, 1), index("u1", true, 2)),
		"texts": build(8, append(cols(),
			&catalog.Column{Name: "f", Type: charType(types.TypeVarchar, 500, types.DefaultCollation)},
			&catalog.Column{Name: "g", Type: charType(types.TypeBlob, 500, types.Binary), NotNull: true},
			&catalog.Column{Name: "h", Type: charType(types.TypeVarchar, 500, types.Utf8mb4Bin), NotNull: true},
		), primary(7, 0), index("i1", false, 6), index("u1", true, 5, 0), long),
		"write only":  build(6, cols(), primary(0), index("i1", false, 1), &catalog.Index{Name: "w", Unique: true, State: catalog.StateWriteOnly, Columns: []catalog.IndexColumn{{Col: 1}, {Col: 2}}}),
		"delete only": build(7, cols(), primary(0), index("i1", false, 1), &catalog.Index{Name: "x", State: catalog.StateDeleteOnly, Columns: []catalog.IndexColumn{{Col: 1}}}),
	}
}

func randomValue(r *rand.Rand, c *catalog.Column) types.Value {
	if !c.NotNull && r.IntN(5) == 0 {
		return types.Null()
	}
	switch {
	case c.Type.Kind() == types.KindInt:
		return types.Int(int64(r.IntN(12) - 4))
	case c.Type.Length >= 500:
		return types.String(randomText(r), c.Type.Coll)
	default:
		words := []string{"", "a", "A", "b", "ab", "aB", "abc", "é", "zz"}
		return types.String([]byte(words[r.IntN(len(words))]), c.Type.Coll)
	}
}

var vocabularies = []string{strings.Repeat("the_quick_brown_fox_jumps_over_", 8), strings.Repeat("pack_my_box_with_liquor_jugs_", 8)}

// randomText returns digits, letters that no dictionary helps with, or a part of a vocabulary.
func randomText(r *rand.Rand) []byte {
	s := make([]byte, r.IntN(200))
	switch kind := r.IntN(2 + len(vocabularies)); kind {
	case 0, 1:
		alphabet := []int{10, 64}[kind]
		for i := range s {
			s[i] = byte('0' + r.IntN(alphabet))
		}
	default:
		copy(s, vocabularies[kind-2][r.IntN(30):])
	}
	return s
}

// teach makes a table's next dictionary, of the vocabulary with its number.
func teach(t *testing.T, n *node, desc *catalog.Table, r *rand.Rand) {
	t.Helper()
	d := desc.Dictionaries()
	_, before := d.Newest()
	d.Wrote(32 << 20)
	for range 10_000 {
		if !d.Wanted() {
			continue
		}
		from := r.IntN(100)
		if err := d.Offer(n.txns, []byte(vocabularies[before][from:from+50])); err != nil {
			t.Fatal(err)
		}
		if _, number := d.Newest(); number == before+1 {
			return
		}
	}
	t.Fatalf("no dictionary follows %d", before)
}

// uniqueKey is the model's idea of a row's key in ix; "" if it may repeat.
func uniqueKey(t *catalog.Table, ix *catalog.Index, row []types.Value) string {
	if !ix.Unique || ix.State < catalog.StateWriteOnly {
		return ""
	}
	k := ix.Name
	for _, ic := range ix.Columns {
		v := row[ic.Col]
		if v.IsNull() {
			return ""
		}
		s := string(types.AppendText(nil, nil, &v))
		if v.Coll == types.DefaultCollation {
			s = strings.ToLower(strings.ReplaceAll(s, "é", "e"))
		}
		k += fmt.Sprintf("|%q", s)
	}
	return k
}

// conflicts returns the model's verdict on row, ignoring the row at skip.
func conflicts(t *catalog.Table, rows [][]types.Value, row []types.Value, skip int) bool {
	for _, ix := range t.Indexes {
		k := uniqueKey(t, ix, row)
		for i := range rows {
			if k != "" && i != skip && uniqueKey(t, ix, rows[i]) == k {
				return true
			}
		}
	}
	return false
}

func TestWriterAgainstModel(t *testing.T) {
	for name, desc := range modelTables() {
		t.Run(name, func(t *testing.T) { runModel(t, openNode(t, nil), desc, testkit.Rand(testkit.Seed(t), 1)) })
	}
}

// TestWriterInCluster is the same in a cluster. What writers say of what their writes shadow must leave no garbage that is never found.
func TestWriterInCluster(t *testing.T) {
	for name, desc := range modelTables() {
		t.Run(name, func(t *testing.T) {
			n := openNode(t, nil)
			if err := n.store.Promote(); err != nil {
				t.Fatal(err)
			}
			runModel(t, n, desc, testkit.Rand(testkit.Seed(t), 1))
		})
	}
}

func runModel(t *testing.T, n *node, desc *catalog.Table, r *rand.Rand) {
	defer n.close()
	w := table.NewWriter(desc, n.ids)
	var rows [][]types.Value
	width := len(desc.Columns)
	random := func() []types.Value {
		row := make([]types.Value, width, width+1)
		for i, c := range desc.Columns {
			row[i] = randomValue(r, c)
		}
		return row
	}
	for step := range 400 {
		if step == 100 || step == 250 {
			teach(t, n, desc, r)
		}
		switch op := r.IntN(10); {
		case op < 4 || len(rows) == 0:
			row := random()
			want := conflicts(desc, rows, row, -1)
			err := n.do(func(tx *txn.Txn) error { return w.Insert(tx, row, table.InsertCheck) })
			if checkDup(t, step, err, want); err == nil {
				if desc.PK == nil {
					row = append(row, rowID(t, desc, w))
				}
				rows = append(rows, row)
			}
		case op < 6:
			i := r.IntN(len(rows))
			next := append([]types.Value(nil), rows[i]...)
			var cols []int
			var vals []types.Value
			for c := range desc.Columns {
				if r.IntN(3) == 0 {
					next[c] = randomValue(r, desc.Columns[c])
					cols, vals = append(cols, c), append(vals, next[c])
				}
			}
			want := conflicts(desc, rows, next, i)
			err := n.do(func(tx *txn.Txn) error { return patch(tx, w, desc, rows[i], cols, vals) })
			if checkDup(t, step, err, want); err == nil {
				rows[i] = next
			}
		case op < 8:
			i := r.IntN(len(rows))
			next := append(random(), rows[i][width:]...)
			want := conflicts(desc, rows, next, i)
			between := append(random(), rows[i][width:]...)
			err := n.do(func(tx *txn.Txn) error {
				if !conflicts(desc, rows, between, i) && r.IntN(2) == 0 { // to and fro in one transaction
					if err := errors.Join(update(tx, w, rows[i], between), update(tx, w, between, rows[i])); err != nil {
						return err
					}
				}
				return update(tx, w, rows[i], next)
			})
			if checkDup(t, step, err, want); err == nil {
				rows[i] = next
			}
		case op == 8:
			row := random()
			var gone []int
			err := n.do(func(tx *txn.Txn) error { return replace(tx, w, desc, row) })
			if err != nil {
				t.Fatalf("step %d: replace: %v", step, err)
			}
			for i := range rows {
				if conflicts(desc, rows[i:i+1], row, -1) {
					gone = append(gone, i)
				}
			}
			for k := len(gone) - 1; k >= 0; k-- {
				rows = append(rows[:gone[k]], rows[gone[k]+1:]...)
			}
			if desc.PK == nil {
				row = append(row, rowID(t, desc, w))
			}
			rows = append(rows, row)
		default:
			i := r.IntN(len(rows))
			err := n.do(func(tx *txn.Txn) error {
				if r.IntN(2) == 0 {
					return w.Delete(tx, rows[i])
				}
				key := rowKey(desc, rows[i])
				value, _, err := locked(tx, key)
				if err != nil {
					return err
				}
				return w.DeleteRow(tx, key, value)
			})
			if err != nil {
				t.Fatalf("step %d: delete: %v", step, err)
			}
			rows = append(rows[:i], rows[i+1:]...)
		}
		if step%40 == 39 {
			compareRows(t, n, desc, rows)
			compareCovering(t, n, desc, rows)
		}
	}
	if c := n.store.Cluster(); c != nil {
		prefix := keys.TablePrefix(nil, desc.PhysID)
		span := kvapi.Span{Start: prefix, End: keys.PrefixEnd(nil, prefix)}
		seen := len(n.scan(span).keys)
		if seen < len(rows) {
			t.Errorf("%d entries of %d rows", seen, len(rows))
		}
		testkit.Await(t, "one version is left of each row and entry", func() bool { // the store collects by itself, and has taken what it has not yet deleted
			if _, err := c.Collect(); err != nil {
				t.Fatal(err)
			}
			return n.versions(span) == seen
		})
	}
}

func update(tx *txn.Txn, w *table.Writer, from, to []types.Value) error {
	_, err := w.Update(tx, from, to)
	return err
}

func checkDup(t *testing.T, step int, err error, want bool) {
	t.Helper()
	dup := errors.Is(err, types.Errorf(types.ErDupEntry))
	if err != nil && !dup {
		t.Fatalf("step %d: %v", step, err)
	}
	if dup != want {
		t.Fatalf("step %d: error %v, the model expects a duplicate: %v", step, err, want)
	}
}

func rowKey(desc *catalog.Table, row []types.Value) []byte {
	if desc.PK == nil {
		return table.AppendIndexKey(nil, desc, nil, row[len(desc.Columns):])
	}
	var pk []types.Value
	for _, ic := range desc.PK.Columns {
		pk = append(pk, row[ic.Col])
	}
	return table.AppendIndexKey(nil, desc, nil, pk)
}

func rowID(t *testing.T, desc *catalog.Table, w *table.Writer) types.Value {
	v, _, err := types.DecodeKey(w.LastRowKey()[len(table.RowPrefix(desc)):], &types.Type{ID: types.TypeBigInt, Unsigned: true, Length: -1}, false)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func patch(tx *txn.Txn, w *table.Writer, desc *catalog.Table, row []types.Value, cols []int, vals []types.Value) error {
	key := rowKey(desc, row)
	value, found, err := locked(tx, key)
	if err != nil || !found {
		return fmt.Errorf("row is gone: %v", err)
	}
	_, err = w.Patch(tx, key, value, cols, vals)
	return err
}

func replace(tx *txn.Txn, w *table.Writer, desc *catalog.Table, row []types.Value) error {
	for {
		c, found, err := w.FindConflict(tx, row)
		if err != nil {
			return err
		}
		if !found {
			return w.Insert(tx, row, table.InsertChecked)
		}
		if err := w.DeleteRow(tx, c.Key, c.Value); err != nil {
			return err
		}
	}
}

// compareRows reads the table back and checks indexes against rows.
func compareRows(t *testing.T, n *node, desc *catalog.Table, rows [][]types.Value) {
	t.Helper()
	cols := make([]int, len(desc.Columns))
	for i := range cols {
		cols[i] = i
	}
	if id := desc.RowIDOrdinal(); id >= 0 {
		cols = append(cols, id)
	}
	cols = append(cols, cols...) // SELECT may name a column twice
	var r table.Reader
	r.Init(desc, cols)
	got := readAll(t, &r, n.scan(table.RowSpan(desc)), len(cols))
	sameRows(t, "rows", got, rows, cols)
	if report := n.check(desc); report.Rows != uint64(len(rows)) {
		t.Fatalf("check counts %d rows of %d", report.Rows, len(rows))
	}
}

func readAll(t *testing.T, r *table.Reader, p *pairs, width int) [][]types.Value {
	t.Helper()
	var got [][]types.Value
	for i := range p.keys {
		if err := r.Decode(p.keys[i], p.values[i]); err != nil {
			t.Fatal(err)
		}
		row := make([]types.Value, width)
		r.Values(row)
		for c := range row {
			row[c] = row[c].Clone()
		}
		got = append(got, row)
	}
	return got
}

func sameRows(t *testing.T, what string, got, rows [][]types.Value, cols []int) {
	t.Helper()
	var a, b []string
	for _, row := range got {
		a = append(a, show(row))
	}
	for _, row := range rows {
		sub := make([]types.Value, len(cols))
		for i, c := range cols {
			sub[i] = row[c]
		}
		b = append(b, show(sub))
	}
	sort.Strings(a)
	sort.Strings(b)
	if strings.Join(a, "\n") != strings.Join(b, "\n") {
		t.Fatalf("%s differ:\ngot\n%s\nwant\n%s", what, strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
}

// compareCovering reads every index alone, and the rows through it.
func compareCovering(t *testing.T, n *node, desc *catalog.Table, rows [][]types.Value) {
	t.Helper()
	for _, ix := range desc.Indexes {
		if ix.Primary || ix.State != catalog.StatePublic {
			continue
		}
		var cols []int
		for c := 0; c <= len(desc.Columns); c++ {
			if (c < len(desc.Columns) || desc.PK == nil) && table.Covers(desc, ix, []int{c}) {
				cols = append(cols, c)
			}
		}
		cols = append(cols, cols...)
		p := n.scan(table.IndexSpan(desc, ix))
		var r table.Reader
		r.Reset(table.NewShape(desc, ix, cols))
		sameRows(t, "index "+ix.Name, readAll(t, &r, p, len(cols)), rows, cols)
		for i := range p.keys {
			key, err := table.AppendRowKeyOfEntry(nil, desc, ix, p.keys[i], p.values[i])
			if err != nil {
				t.Fatal(err)
			}
			if found, err := n.txns.Get(key, nil, nil); err != nil || !found {
				t.Fatalf("index %s points to a missing row: %v", ix.Name, err)
			}
		}
	}
}
