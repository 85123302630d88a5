package table_test

import (
	"strings"
	"testing"

	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

var (
	benchC   = strings.Repeat("12345678901-", 10)[:119]
	benchPad = strings.Repeat("98765432109-", 5)[:59]
)

func sbRow(id int) []types.Value {
	return []types.Value{types.Int(int64(id)), types.Int(int64(id * 7 % 1000)), text(benchC), text(benchPad)}
}

// keep is a sink that copies the value into memory of its own.
type keep struct{ value []byte }

func (k *keep) Pair(_, v []byte) (bool, error) {
	k.value = append(k.value[:0], v...)
	return true, nil
}

// fill inserts rows 1..n.
func fill(tb testing.TB, n *node, w *table.Writer, rows int) {
	for id := 1; id <= rows; {
		err := n.do(func(tx *txn.Txn) error {
			for i := 0; i < 1000 && id <= rows; i++ {
				if err := w.Insert(tx, sbRow(id), table.InsertCheck); err != nil {
					return err
				}
				id++
			}
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// pointUpdate is what exec does for UPDATE … SET col = ? WHERE id = ?.
type pointUpdate struct {
	n    *node
	w    *table.Writer
	key  []byte
	sink keep
	pk   [1]types.Value
	cols [1]int
	vals [1]types.Value
}

func (u *pointUpdate) run(id, col int, v types.Value) error {
	u.pk[0] = types.Int(int64(id))
	u.key = table.AppendIndexKey(u.key[:0], u.w.Table(), nil, u.pk[:])
	tx := u.n.txns.Begin(txn.Options{Level: txn.ReadCommitted})
	defer tx.Release()
	if _, _, err := tx.Lock(u.key, kvapi.LockExclusive, kvapi.WaitDefault, &u.sink); err != nil {
		return err
	}
	u.cols[0], u.vals[0] = col, v
	if _, err := u.w.Patch(tx, u.key, u.sink.value, u.cols[:], u.vals[:]); err != nil {
		return err
	}
	return tx.Commit()
}

func BenchmarkInsertRow(b *testing.B) {
	n := openNode(b, nil)
	defer n.close()
	w := table.NewWriter(sbtest(1), n.ids)
	row := sbRow(1)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		row[0], row[1] = types.Int(int64(i+1)), types.Int(int64(i%1000))
		tx := n.txns.Begin(txn.Options{Level: txn.ReadCommitted})
		if err := w.Insert(tx, row, table.InsertCheck); err != nil {
			b.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
		tx.Release()
	}
}

func benchUpdate(b *testing.B, col int, value func(i int) types.Value) {
	n := openNode(b, nil)
	defer n.close()
	u := &pointUpdate{n: n, w: table.NewWriter(sbtest(1), n.ids)}
	fill(b, n, u.w, 10000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := u.run(i%10000+1, col, value(i)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUpdateNonIndexed(b *testing.B) {
	a, c := text(benchC), text(strings.ReplaceAll(benchC, "1", "2"))
	benchUpdate(b, 2, func(i int) types.Value {
		if i/10000%2 == 0 {
			return c
		}
		return a
	})
}

func BenchmarkUpdateIndexed(b *testing.B) {
	benchUpdate(b, 1, func(i int) types.Value { return types.Int(int64(i)) })
}

func BenchmarkDecodeRow(b *testing.B) {
	t := sbtest(1)
	n := openNode(b, nil)
	defer n.close()
	fill(b, n, table.NewWriter(t, n.ids), 1)
	p := n.scan(table.RowSpan(t))
	for _, bc := range []struct {
		name string
		cols []int
	}{{"c", []int{2}}, {"all", []int{0, 1, 2, 3}}} {
		b.Run(bc.name, func(b *testing.B) {
			var r table.Reader
			r.Init(t, bc.cols)
			b.ReportAllocs()
			for b.Loop() {
				if err := r.Decode(p.keys[0], p.values[0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecodeIndexEntry(b *testing.B) {
	t := sbtest(1)
	n := openNode(b, nil)
	defer n.close()
	fill(b, n, table.NewWriter(t, n.ids), 1)
	p := n.scan(table.IndexSpan(t, t.Index("k_1")))
	var r table.Reader
	r.Reset(table.NewShape(t, t.Index("k_1"), []int{1, 0}))
	var key []byte
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Decode(p.keys[0], p.values[0]); err != nil {
			b.Fatal(err)
		}
		var err error
		if key, err = r.AppendRowKeyOf(key[:0]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAutoIDNext(b *testing.B) {
	n := openNode(b, nil)
	defer n.close()
	id := n.ids.For(sbtest(1))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := id.Next(1); err != nil {
			b.Fatal(err)
		}
	}
}

// TestAllocations caps what the fast paths allocate beyond the transaction.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("allocations are not counted under the race detector")
	}
	n := openNode(t, nil)
	defer n.close()
	desc := sbtest(1)
	u := &pointUpdate{n: n, w: table.NewWriter(desc, n.ids)}
	fill(t, n, u.w, 1000)
	id := 0
	other := text(strings.Repeat("x", 119))
	measure := func(what string, most float64, f func() error) {
		t.Helper()
		got := testing.AllocsPerRun(500, func() {
			if err := f(); err != nil {
				t.Fatal(err)
			}
		})
		if got > most {
			t.Errorf("%s allocates %v times, at most %v are allowed", what, got, most)
		}
	}
	measure("update of a column without index", 1, func() error { id++; return u.run(id, 2, other) })
	id = 0
	measure("update of an indexed column", 2, func() error { id++; return u.run(id, 1, types.Int(int64(-id))) })
	next, row := 5000, sbRow(1)
	measure("insert", 4, func() error {
		next++
		row[0] = types.Int(int64(next))
		tx := n.txns.Begin(txn.Options{Level: txn.ReadCommitted})
		defer tx.Release()
		if err := u.w.Insert(tx, row, table.InsertCheck); err != nil {
			return err
		}
		return tx.Commit()
	})
	p := n.scan(table.RowSpan(desc))
	var r table.Reader
	r.Init(desc, []int{0, 1, 2, 3})
	measure("decoding a row", 0, func() error { return r.Decode(p.keys[0], p.values[0]) })
}
