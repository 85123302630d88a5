package table_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// sbRandom is a row as sysbench fills its tables.
func sbRandom(r *rand.Rand, id int) []types.Value {
	digits := func(n int) types.Value {
		b := make([]byte, n)
		for i := range b {
			if b[i] = byte('0' + r.IntN(10)); i%12 == 11 {
				b[i] = '-'
			}
		}
		return types.String(b, types.DefaultCollation)
	}
	return []types.Value{types.Int(int64(id)), types.Int(int64(r.IntN(1000))), digits(119), digits(59)}
}

// valueSizes returns the length of each row's value in key order.
func valueSizes(n *node, desc *catalog.Table) (sizes []int) {
	for _, v := range n.scan(table.RowSpan(desc)).values {
		sizes = append(sizes, len(v))
	}
	return sizes
}

func insertRows(t *testing.T, n *node, w *table.Writer, from, to int, row func(id int) []types.Value) {
	t.Helper()
	for id := from; id < to; id++ {
		if err := n.do(func(tx *txn.Txn) error { return w.Insert(tx, row(id), table.InsertCheck) }); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDictionaryIsLearnt: a table's first rows make its dictionary, by which later rows take half, and updated ones too.
func TestDictionaryIsLearnt(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	n := openNode(t, nil)
	defer n.close()
	desc := sbtest(1)
	w := table.NewWriter(desc, n.ids)
	var rows [][]types.Value
	insertRows(t, n, w, 0, 1000, func(id int) []types.Value {
		rows = append(rows, sbRandom(r, id))
		return rows[id]
	})
	if _, number := desc.Dictionaries().Newest(); number != 1 {
		t.Fatalf("%d dictionaries after %d rows", number, len(rows))
	}
	sizes := valueSizes(n, desc)
	first, last := sizes[0], sizes[len(sizes)-1]
	if first < 178 || last > 100 {
		t.Errorf("the first row takes %d bytes, the last one %d", first, last)
	}
	// 64 KiB of strings are seen before the dictionary is there.
	for i := 64<<10/178 + 2; i < len(sizes); i++ {
		if sizes[i] > 100 {
			t.Fatalf("row %d takes %d bytes", i, sizes[i])
		}
	}
	for _, c := range []struct {
		id, col int
		val     types.Value
		most    int
	}{
		{0, 1, types.Int(7), 100},               // the strings of an old row, which stay, are packed
		{1, 2, sbRandom(r, 0)[2], 100},          // and those that change
		{2, 2, text("short"), 60},               // too short to be packed
		{999, 1, types.Int(7), 100},             // packed strings are copied
		{998, 3, sbRandom(r, 0)[3], 100},        // one copied, one packed
		{997, 2, text("UNLIKE THE SAMPLE"), 60}, // one copied, one not worth it
	} {
		rows[c.id][c.col] = c.val
		old := append([]types.Value(nil), rows[c.id]...)
		if err := n.do(func(tx *txn.Txn) error { return patch(tx, w, desc, old, []int{c.col}, []types.Value{c.val}) }); err != nil {
			t.Fatal(err)
		}
		if size := valueSizes(n, desc)[c.id]; size > c.most {
			t.Errorf("row %d takes %d bytes after its column %d has changed", c.id, size, c.col)
		}
	}
	compareRows(t, n, desc, rows)
	// What is as it was is not written again.
	err := n.do(func(tx *txn.Txn) error {
		key := rowKey(desc, rows[500])
		value, _, err := locked(tx, key)
		if err != nil {
			return err
		}
		changed, err := w.Patch(tx, key, value, []int{2, 3}, rows[500][2:4])
		if changed {
			t.Error("the same strings count as a change")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNoDictionary: tables that would not gain get none.
func TestNoDictionary(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	noise := func(id int) []types.Value {
		row := sbRandom(r, id)
		for _, v := range row[2:] {
			for i := range v.B {
				v.B[i] = byte(r.IntN(128))
			}
		}
		return row
	}
	short := func(id int) []types.Value {
		row := sbRandom(r, id)
		row[2].B, row[3].B = row[2].B[:11], row[3].B[:11]
		return row
	}
	for what, row := range map[string]func(id int) []types.Value{"noise": noise, "short": short} {
		t.Run(what, func(t *testing.T) {
			n := openNode(t, nil)
			defer n.close()
			desc := sbtest(1)
			insertRows(t, n, table.NewWriter(desc, n.ids), 0, 2000, row)
			if _, number := desc.Dictionaries().Newest(); number != 0 {
				t.Error("it has a dictionary")
			}
			n.check(desc)
		})
	}
}

// TestNewerDictionary: rows change and a better dictionary follows; older rows stay readable.
func TestNewerDictionary(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	n := openNode(t, nil)
	defer n.close()
	desc := sbtest(1)
	w := table.NewWriter(desc, n.ids)
	var rows [][]types.Value
	words := func(id int) []types.Value {
		row := sbRandom(r, id)
		from := r.IntN(30)
		row[2] = text(vocabularies[0][from : from+119])
		rows = append(rows, row)
		return row
	}
	insertRows(t, n, w, 0, 1000, func(id int) []types.Value {
		rows = append(rows, sbRandom(r, id))
		return rows[id]
	})
	insertRows(t, n, w, 1000, 10_000, words)
	if _, number := desc.Dictionaries().Newest(); number != 2 {
		t.Fatalf("dictionary %d is the newest", number)
	}
	sizes := valueSizes(n, desc)
	if before, after := sizes[1500], sizes[len(sizes)-1]; after > before*3/4 {
		t.Errorf("a row of words takes %d bytes, and %d by the newer dictionary", before, after)
	}
	rows[900][1] = types.Int(-1)
	if err := n.do(func(tx *txn.Txn) error { return patch(tx, w, desc, rows[900], []int{1}, rows[900][1:2]) }); err != nil {
		t.Fatal(err)
	}
	compareRows(t, n, desc, rows)
}

// TestOldRowsAreLearnt: a table that was filled before there were dictionaries makes one when other columns are updated.
func TestOldRowsAreLearnt(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	n := openNode(t, nil)
	defer n.close()
	var rows [][]types.Value
	for id := range 1000 {
		rows = append(rows, sbRandom(r, id))
	}
	for _, row := range rows { // a descriptor of its own for each, whose dictionaries learn nothing
		if err := n.do(func(tx *txn.Txn) error { return table.NewWriter(sbtest(1), n.ids).Insert(tx, row, table.InsertCheck) }); err != nil {
			t.Fatal(err)
		}
	}
	desc := sbtest(1)
	w := table.NewWriter(desc, n.ids)
	for id, row := range rows {
		row[1] = types.Int(int64(-id - 1))
		if err := n.do(func(tx *txn.Txn) error { return patch(tx, w, desc, row, []int{1}, row[1:2]) }); err != nil {
			t.Fatal(err)
		}
	}
	sizes := valueSizes(n, desc)
	if sizes[0] < 178 || sizes[999] > 100 {
		t.Errorf("after updates of another column the first row takes %d bytes, the last %d", sizes[0], sizes[999])
	}
	compareRows(t, n, desc, rows)
}

// TestLongStringsStay: what would be much larger in memory than its stored form says is not packed.
func TestLongStringsStay(t *testing.T) {
	n := openNode(t, nil)
	defer n.close()
	desc := sbtest(1)
	w := table.NewWriter(desc, n.ids)
	long := func(id, size int) []types.Value {
		row := sbRow(id)
		row[3] = text(strings.Repeat("1234567890", size/10))
		return row
	}
	insertRows(t, n, w, 0, 500, sbRow)
	insertRows(t, n, w, 500, 501, func(id int) []types.Value { return long(id, 250<<10) })
	insertRows(t, n, w, 501, 502, func(id int) []types.Value { return long(id, 260<<10) })
	if sizes := valueSizes(n, desc); sizes[500] > 100<<10 || sizes[501] < 260<<10 {
		t.Errorf("strings of 250 and 260 KiB take %d and %d bytes", sizes[500], sizes[501])
	}
	// Nor does a row come to that by changes of one column after the other.
	if err := n.do(func(tx *txn.Txn) error {
		return patch(tx, w, desc, long(500, 250<<10), []int{2}, []types.Value{text(strings.Repeat("1234567890", 2500))})
	}); err != nil {
		t.Fatal(err)
	}
	if sizes := valueSizes(n, desc); sizes[500] < 25_000+30<<10 {
		t.Errorf("both strings take %d bytes", sizes[500])
	}
	n.check(desc)
}

// TestPackedRowDamage: a row whose dictionary or bytes are not there is corrupt, whatever byte is damaged nothing worse happens.
func TestPackedRowDamage(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	n := openNode(t, nil)
	defer n.close()
	desc := sbtest(1)
	w := table.NewWriter(desc, n.ids)
	insertRows(t, n, w, 0, 500, func(id int) []types.Value { return sbRandom(r, id) })
	p := n.scan(table.RowSpan(desc))
	key, value := p.keys[499], p.values[499]
	decode := func(desc *catalog.Table, value []byte) error {
		var reader table.Reader
		reader.Init(desc, []int{0, 1, 2, 3})
		return reader.Decode(key, value)
	}
	if err := decode(desc, value); err != nil {
		t.Fatal(err)
	}
	if err := decode(sbtest(1), value); !errors.Is(err, kvapi.ErrCorrupt) {
		t.Errorf("without its dictionary: %v", err)
	}
	for i := range value {
		if err := decode(desc, value[:i]); !errors.Is(err, kvapi.ErrCorrupt) {
			t.Errorf("the first %d bytes of %d: %v", i, len(value), err)
		}
	}
	for range 5000 {
		damaged := append([]byte(nil), value...)
		damaged[r.IntN(len(damaged))] = byte(r.Uint32())
		if err := decode(desc, damaged); err != nil && !errors.Is(err, kvapi.ErrCorrupt) {
			t.Fatalf("%x: %v", damaged, err)
		}
	}
}
