package table_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

func autoTable(phys uint64, typ types.Type, unique bool) *catalog.Table {
	cols := []*catalog.Column{{Name: "id", Type: typ, NotNull: true, AutoInc: true}}
	if unique {
		return build(phys, cols, primary(0))
	}
	return build(phys, cols, index("xid", false, 0))
}

// generate inserts one row with a generated id, as exec does.
func generate(n *node, w *table.Writer) (types.Value, error) {
	var v types.Value
	err := n.do(func(tx *txn.Txn) error {
		first, err := w.AutoID().Next(1)
		if err != nil {
			return err
		}
		v = w.AutoID().Value(first, 0)
		return w.Insert(tx, []types.Value{v}, table.InsertCheck)
	})
	return v, err
}

func explicit(n *node, w *table.Writer, v types.Value) error {
	return n.do(func(tx *txn.Txn) error { return w.Insert(tx, []types.Value{v}, table.InsertCheck) })
}

func unsigned(id types.TypeID) types.Type { return types.Type{ID: id, Unsigned: true, Length: -1} }

func TestAutoIDExplicitRaises(t *testing.T) {
	n := openNode(t, nil)
	defer n.close()
	w := table.NewWriter(autoTable(1, intType(types.TypeInt), true), n.ids)
	expect := func(want int64) {
		t.Helper()
		if v, err := generate(n, w); err != nil || v.Int64() != want {
			t.Fatalf("generated %d, %v; want %d", v.Int64(), err, want)
		}
	}
	expect(1)
	expect(2)
	if err := explicit(n, w, types.Int(10)); err != nil {
		t.Fatal(err)
	}
	expect(11)
	for _, v := range []int64{-5, 5, -2147483648} {
		if err := explicit(n, w, types.Int(v)); err != nil {
			t.Fatal(err)
		}
	}
	expect(12)
	// A statement's rows are consecutive.
	first, err := w.AutoID().Next(3)
	if err != nil || first != 13 {
		t.Fatalf("three ids begin with %d, %v", first, err)
	}
	expect(16)
	// An update raises the counter too.
	err = n.do(func(tx *txn.Txn) error {
		_, err := w.Update(tx, []types.Value{types.Int(16)}, []types.Value{types.Int(40)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	expect(41)
	if next, err := w.AutoID().Peek(); err != nil || next != 42 {
		t.Fatalf("peek %d, %v", next, err)
	}
}

func TestAutoIDNeedsID(t *testing.T) {
	null, zero, one, fzero := types.Null(), types.Int(0), types.Int(1), types.Float(0)
	for _, c := range []struct {
		v    *types.Value
		mode types.SQLMode
		want bool
	}{
		{&null, 0, true}, {&zero, 0, true}, {&one, 0, false}, {&fzero, 0, true},
		{&null, types.ModeNoAutoValueOnZero, true}, {&zero, types.ModeNoAutoValueOnZero, false},
		{&fzero, types.ModeNoAutoValueOnZero, false},
	} {
		if got := table.NeedsID(c.v, c.mode); got != c.want {
			t.Errorf("NeedsID(%v, %x) = %v", *c.v, c.mode, got)
		}
	}
}

// TestAutoIDExhausted: the last id is handed out once; then the unique key
// refuses it, as MySQL does, and a BIGINT UNSIGNED counter fails with 1467.
func TestAutoIDExhausted(t *testing.T) {
	n := openNode(t, nil)
	defer n.close()
	for i, typ := range []types.Type{
		intType(types.TypeTinyInt), unsigned(types.TypeTinyInt), intType(types.TypeSmallInt), unsigned(types.TypeSmallInt),
		intType(types.TypeMediumInt), unsigned(types.TypeMediumInt), intType(types.TypeInt), unsigned(types.TypeInt),
		intType(types.TypeBigInt), {ID: types.TypeFloat, Length: -1, Scale: -1}, {ID: types.TypeDouble, Length: -1, Scale: -1},
	} {
		w := table.NewWriter(autoTable(uint64(10+i), typ, true), n.ids)
		last := uint64(1) << 24
		if typ.ID == types.TypeDouble {
			last = 1 << 53
		} else if typ.ID != types.TypeFloat {
			_, last = typ.IntRange()
		}
		before := types.Int(int64(last - 1))
		if typ.Unsigned {
			before = types.Uint(last - 1)
		} else if typ.Kind() == types.KindFloat {
			before = types.Float(float64(last - 1))
		}
		if err := explicit(n, w, before); err != nil {
			t.Fatal(err)
		}
		v, err := generate(n, w)
		if err != nil {
			t.Fatalf("%s: last id: %v", typ, err)
		}
		if show([]types.Value{v}) != show([]types.Value{w.AutoID().Value(last, 0)}) {
			t.Fatalf("%s: generated %s", typ, show([]types.Value{v}))
		}
		for range 3 {
			if _, err := generate(n, w); !errors.Is(err, types.Errorf(types.ErDupEntry)) {
				t.Fatalf("%s: past the end: %v", typ, err)
			}
		}
	}
	w := table.NewWriter(autoTable(99, unsigned(types.TypeBigInt), true), n.ids)
	if err := explicit(n, w, types.Uint(math.MaxUint64-1)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := generate(n, w); !errors.Is(err, types.Errorf(types.ErAutoincReadFailed)) {
			t.Fatalf("bigint unsigned past the end: %v", err)
		}
	}
}

// TestAutoIDNotUnique is sysbench's --secondary=on: ids may repeat.
func TestAutoIDNotUnique(t *testing.T) {
	n := openNode(t, nil)
	defer n.close()
	desc := autoTable(1, intType(types.TypeInt), false)
	w := table.NewWriter(desc, n.ids)
	for range 3 {
		if err := explicit(n, w, types.Int(7)); err != nil {
			t.Fatal(err)
		}
	}
	if v, err := generate(n, w); err != nil || v.Int64() != 8 {
		t.Fatalf("generated %d, %v", v.Int64(), err)
	}
	if r := n.check(desc); r.Rows != 4 || r.Indexes[0].Entries != 4 {
		t.Fatalf("%+v", r)
	}
}

func TestAutoIDConcurrent(t *testing.T) {
	n := openNode(t, nil)
	defer n.close()
	id := n.ids.For(autoTable(1, intType(types.TypeBigInt), true))
	var mu sync.Mutex
	seen := map[uint64]bool{}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			last := uint64(0)
			for i := range 3000 {
				count := uint64(1 + (i+g)%3)
				first, err := id.Next(count)
				if err != nil || first <= last {
					t.Errorf("next: %d after %d, %v", first, last, err)
					return
				}
				last = first + count - 1
				mu.Lock()
				for v := first; v <= last; v++ {
					if seen[v] {
						t.Errorf("id %d twice", v)
					}
					seen[v] = true
				}
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	if len(seen) != 8*3000*2 {
		t.Fatalf("%d ids", len(seen))
	}
}

// TestAutoIDRestart ends the process in clean and unclean ways between inserts:
// ids never repeat, and after a clean shutdown none is skipped.
func TestAutoIDRestart(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	fs := engine.NewMemFS()
	desc := autoTable(1, intType(types.TypeBigInt), true)
	// exact: the next generated id must be highest+1. Only a crash spoils that.
	highest, exact := int64(0), true
	for life := range 30 {
		n := openNode(t, fs)
		w := table.NewWriter(desc, n.ids)
		for range r.IntN(4) {
			if r.IntN(3) == 0 {
				v := highest + int64(r.IntN(600))
				if v > highest {
					if err := explicit(n, w, types.Int(v)); err != nil {
						t.Fatal(err)
					}
					highest = v
				}
				continue
			}
			v, err := generate(n, w)
			if err != nil {
				t.Fatalf("life %d: %v", life, err)
			}
			if v.Int64() <= highest {
				t.Fatalf("life %d: id %d after %d", life, v.Int64(), highest)
			}
			if exact && v.Int64() != highest+1 {
				t.Fatalf("life %d: id %d after %d and a clean shutdown", life, v.Int64(), highest)
			}
			highest, exact = v.Int64(), true
		}
		if r.IntN(2) == 0 {
			if err := n.ids.Close(); err != nil {
				t.Fatal(err)
			}
			n.close()
			continue
		}
		exact = false
		crashed := fs.CrashClone(engine.CrashConfig{UnsyncedDataPercent: r.IntN(101), RNG: testkit.Rand(r.Uint64(), 2)})
		n.close()
		fs = crashed
	}
}

// TestAutoIDRolledBack: an id below one that only a transaction gave which rolled back raises the durable counter itself.
func TestAutoIDRolledBack(t *testing.T) {
	for _, clean := range []bool{false, true} {
		fs := engine.NewMemFS()
		desc := autoTable(1, intType(types.TypeBigInt), true)
		n := openNode(t, fs)
		w := table.NewWriter(desc, n.ids)
		failed := errors.New("the statement fails")
		err := n.do(func(tx *txn.Txn) error {
			if err := w.Insert(tx, []types.Value{types.Int(200)}, table.InsertCheck); err != nil {
				return err
			}
			return failed
		})
		if !errors.Is(err, failed) {
			t.Fatal(err)
		}
		for _, id := range []int64{150, 100, 120} {
			if err := explicit(n, w, types.Int(id)); err != nil {
				t.Fatal(err)
			}
		}
		want := int64(151)
		if clean {
			want = 201 // as in MySQL: nobody has taken the counter back
			if err := n.ids.Close(); err != nil {
				t.Fatal(err)
			}
		}
		n.close()
		n = openNode(t, fs)
		v, err := generate(n, table.NewWriter(desc, n.ids))
		if err != nil || v.Int64() != want {
			t.Errorf("after a restart, clean %v, the next id is %d, %v; want %d", clean, v.Int64(), err, want)
		}
		n.close()
	}
}

// TestAutoIDRecordAtTheEnd: what a clean shutdown has recorded counts once, even if the counter has no room to rise within the type.
func TestAutoIDRecordAtTheEnd(t *testing.T) {
	for _, c := range []struct {
		typ           types.Type
		counter, next uint64
	}{
		{intType(types.TypeTinyInt), 128, 4}, {unsigned(types.TypeTinyInt), 256, 4}, {intType(types.TypeBigInt), 1 << 63, 1<<63 - 20},
		{unsigned(types.TypeBigInt), math.MaxUint64, math.MaxUint64 - 20},
	} {
		for _, use := range []string{"generate", "explicit", "set", "commit", "commit and set"} {
			fs := engine.NewMemFS()
			desc := autoTable(1, c.typ, true)
			n := openNode(t, fs)
			column := binary.BigEndian.AppendUint32(nil, desc.AutoInc.ID)
			part := func(kind byte) []byte { return keys.SystemKey(nil, kind, catalog.IDPart(desc.PhysID), column) }
			record := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64([]byte{1}, c.counter), c.next)
			err := n.do(func(tx *txn.Txn) error {
				if err := tx.RaiseCounter(part(catalog.KindAutoInc), c.counter); err != nil {
					return err
				}
				return tx.Put(part(catalog.KindAutoExact), record)
			})
			if err != nil {
				t.Fatal(err)
			}
			n.close()
			n = openNode(t, fs)
			w := table.NewWriter(desc, n.ids)
			given := c.next
			switch use {
			case "generate":
				var v types.Value
				if v, err = generate(n, w); c.counter == math.MaxUint64 && errors.Is(err, types.Errorf(types.ErAutoincReadFailed)) {
					err = nil
				} else if err == nil && uint64(v.N) != c.next {
					t.Errorf("%s: the first id is %d", c.typ, uint64(v.N))
				}
			case "explicit":
				given += 2
				v := types.Int(int64(given))
				if c.typ.Unsigned {
					v = types.Uint(given)
				}
				err = explicit(n, w, v)
			case "set":
				given += 2
				err = w.AutoID().SetNext(given + 1)
			case "commit", "commit and set":
				given += 2
				was, _ := w.AutoID().Peek()
				err = n.do(func(tx *txn.Txn) error { return w.AutoID().CommitNext(tx, given+1) })
				if next, peek := w.AutoID().Peek(); next != was || peek != nil {
					t.Errorf("%s: the next id is %d before it is set, %v", c.typ, next, peek)
				}
				if err == nil && use == "commit and set" {
					if err = w.AutoID().SetNext(given + 1); err == nil {
						if next, peek := w.AutoID().Peek(); next != max(was, given+1) || peek != nil {
							t.Errorf("%s: the next id is %d, %v", c.typ, next, peek)
						}
					}
				}
			}
			if err != nil {
				t.Fatalf("%s, %s: %v", c.typ, use, err)
			}
			crashed := fs.CrashClone(engine.CrashConfig{})
			n.close()
			n = openNode(t, crashed)
			if next, err := n.ids.For(desc).Peek(); err != nil || next <= given {
				t.Errorf("%s, %s: %d was given before the crash, and the next id is %d, %v", c.typ, use, given, next, err)
			}
			n.close()
		}
	}
}

// TestAutoIDCrashCost: a crash costs a small part of the ids that are left, after however many clean restarts, and TINYINT none; a
// statement of many ids still gets them.
func TestAutoIDCrashCost(t *testing.T) {
	for _, typ := range []types.Type{intType(types.TypeTinyInt), unsigned(types.TypeTinyInt), intType(types.TypeSmallInt), unsigned(types.TypeSmallInt),
		intType(types.TypeMediumInt), intType(types.TypeInt)} {
		for _, clean := range []int{0, 1, 40} {
			fs := engine.NewMemFS()
			desc := autoTable(1, typ, true)
			_, last := typ.IntRange()
			next := uint64(1)
			for life := range 3 * (clean + 1) {
				n := openNode(t, fs)
				for range 2 {
					v, err := generate(n, table.NewWriter(desc, n.ids))
					if err != nil || uint64(v.N) < next || uint64(v.N) > next+last/32 || last < 128 && uint64(v.N) != next {
						t.Fatalf("%s, %d clean restarts: after %d came %d, %v", typ, clean, next-1, v.N, err)
					}
					next = uint64(v.N) + 1
					if next > last-20 {
						break
					}
				}
				if life%(clean+1) == clean {
					crashed := fs.CrashClone(engine.CrashConfig{})
					n.close()
					fs = crashed
					continue
				}
				if err := n.ids.Close(); err != nil {
					t.Fatal(err)
				}
				n.close()
				if next > last-20 {
					break
				}
			}
		}
	}
	n := openNode(t, nil)
	defer n.close()
	id := n.ids.For(autoTable(1, intType(types.TypeTinyInt), true))
	for want := uint64(1); want <= 101; want += 100 {
		if first, err := id.Next(100); err != nil || first != want {
			t.Errorf("100 ids begin with %d, %v; want %d", first, err, want)
		}
	}
}

// TestAutoIDReservations: a load of an INT or BIGINT column reserves ids in blocks that grow, and so waits for the disk seldom.
func TestAutoIDReservations(t *testing.T) {
	n := openNode(t, nil)
	defer n.close()
	for i, typ := range []types.Type{intType(types.TypeInt), unsigned(types.TypeInt), intType(types.TypeBigInt), unsigned(types.TypeBigInt)} {
		desc := autoTable(uint64(1+i), typ, true)
		key := keys.SystemKey(nil, catalog.KindAutoInc, catalog.IDPart(desc.PhysID), binary.BigEndian.AppendUint32(nil, desc.AutoInc.ID))
		id := n.ids.For(desc)
		reservations, last := 0, uint64(0)
		for range 3000 {
			if _, err := id.Next(100); err != nil {
				t.Fatal(err)
			}
			counter, err := n.txns.Counter(key)
			if err != nil {
				t.Fatal(err)
			}
			if counter != last {
				reservations++
				last = counter
			}
		}
		if reservations != 12 { // 256, 512, … 65536, and three more of these
			t.Errorf("%s: %d reservations for 300,000 ids", typ, reservations)
		}
	}
}

// TestAutoIDNextIsDurable: AUTO_INCREMENT=n outlives a crash, though a transaction that rolled back had taken the next id above n before.
func TestAutoIDNextIsDurable(t *testing.T) {
	for name, set := range map[string]func(*node, *table.Writer) error{
		"alone": func(_ *node, w *table.Writer) error { return w.AutoID().SetNext(4000) },
		"with other changes": func(n *node, w *table.Writer) error {
			return n.do(func(tx *txn.Txn) error { return w.AutoID().CommitNext(tx, 4000) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			fs := engine.NewMemFS()
			desc := autoTable(1, intType(types.TypeBigInt), true)
			n := openNode(t, fs)
			w := table.NewWriter(desc, n.ids)
			if _, err := generate(n, w); err != nil {
				t.Fatal(err)
			}
			failed := errors.New("the statement fails")
			if err := n.do(func(tx *txn.Txn) error {
				if err := w.Insert(tx, []types.Value{types.Int(5000)}, table.InsertCheck); err != nil {
					return err
				}
				return failed
			}); !errors.Is(err, failed) {
				t.Fatal(err)
			}
			if err := set(n, w); err != nil {
				t.Fatal(err)
			}
			crashed := fs.CrashClone(engine.CrashConfig{})
			if v, err := generate(n, w); err != nil || v.Int64() != 5001 {
				t.Errorf("the next id is %d, %v; it never falls", v.Int64(), err)
			}
			n.close()
			n = openNode(t, crashed)
			defer n.close()
			if v, err := generate(n, table.NewWriter(desc, n.ids)); err != nil || v.Int64() < 4000 || v.Int64() > 5001 {
				t.Errorf("after a crash, the next id is %d, %v", v.Int64(), err)
			}
		})
	}
}

// TestAutoIDTwoNodes: no id is handed out twice by two nodes, or two lives, that share the durable counter: blocks of many sizes, explicit
// ids, clean shutdowns of both.
func TestAutoIDTwoNodes(t *testing.T) {
	n := openNode(t, nil)
	defer n.close()
	seed := testkit.Seed(t)
	for i, typ := range []types.Type{intType(types.TypeBigInt), intType(types.TypeInt), unsigned(types.TypeSmallInt)} {
		desc := autoTable(uint64(1+i), typ, true)
		var mu sync.Mutex
		seen := map[uint64]string{}
		claim := func(who string, first, count uint64) {
			mu.Lock()
			defer mu.Unlock()
			for id := first; id < first+count; id++ {
				if other := seen[id]; other != "" {
					t.Errorf("%s: %d for %s and %s", typ, id, other, who)
				}
				seen[id] = who
			}
		}
		for life := range 4 {
			var nodes sync.WaitGroup
			registries := []*table.AutoIDs{table.NewAutoIDs(n.txns), table.NewAutoIDs(n.txns)}
			for node, ids := range registries {
				for worker := range 2 {
					rng := testkit.Rand(seed, uint64(100*i+10*life+2*node+worker))
					who := fmt.Sprintf("node %d in life %d", node, life)
					nodes.Go(func() {
						for range 100 {
							count := 1 + rng.Uint64N(3)
							if rng.IntN(20) == 0 {
								count = 300
							}
							if typ.ID == types.TypeSmallInt {
								count = 1
							}
							first, err := ids.For(desc).Next(count)
							if err != nil {
								t.Error(err)
								return
							}
							claim(who, first, count)
							if rng.IntN(30) > 0 {
								continue
							}
							above := types.Int(int64(first + rng.Uint64N(100)))
							if err := n.do(func(tx *txn.Txn) error { return ids.For(desc).Raise(tx, &above) }); err != nil {
								t.Error(err)
							}
						}
					})
				}
			}
			nodes.Wait()
			for _, ids := range registries {
				if err := ids.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
