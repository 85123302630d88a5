package txn

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
)

// TestBufferModel runs random writes, savepoints, rollbacks and merged scans
// over committed rows against a map.
func TestBufferModel(t *testing.T) {
	seed := testkit.Seed(t)
	for round := range uint64(testkit.Rounds(25, 5)) {
		rng := testkit.Rand(seed, round)
		d := openDB(t, nil)
		nkeys := 10 + rng.IntN(300)
		model := map[string]string{}
		for range nkeys {
			k := fmt.Sprintf("%04d", rng.IntN(nkeys))
			model[k] = "base" + k
		}
		for k, v := range model {
			d.mustWrite(k, v)
		}
		type saved struct {
			s     Savepoint
			model map[string]string
		}
		tx := d.m.Begin(Options{Level: RepeatableRead})
		tx.ReadTS()
		var saves []saved
		for step := range 200 + rng.IntN(400) {
			k := fmt.Sprintf("%04d", rng.IntN(nkeys))
			switch op := rng.IntN(20); {
			case op < 9:
				v := fmt.Sprint(step, "-", string(make([]byte, rng.IntN(30))))
				if err := tx.Put(rowKey(k), []byte(v)); err != nil {
					t.Fatal(err)
				}
				model[k] = v
			case op < 13:
				if err := tx.Delete(rowKey(k)); err != nil {
					t.Fatal(err)
				}
				delete(model, k)
			case op < 15:
				saves = append(saves, saved{tx.Savepoint(), maps.Clone(model)})
			case op < 16 && len(saves) > 0:
				at := rng.IntN(len(saves))
				tx.RollbackTo(saves[at].s)
				model = maps.Clone(saves[at].model)
				saves = saves[:at+1]
			default:
				checkMerged(t, tx, model, rng.IntN(nkeys), rng.IntN(nkeys), rng.IntN(2) == 0, rng.IntN(8))
			}
		}
		checkMerged(t, tx, model, 0, nkeys, false, 0)
		checkMerged(t, tx, model, 0, nkeys, true, 3)
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		tx.Release()
		after := d.m.Begin(Options{})
		checkMerged(t, after, model, 0, nkeys, false, 7)
		after.Release()
		if t.Failed() {
			return
		}
	}
}

// checkMerged compares a merged scan, page by page, and point reads with the model.
func checkMerged(t *testing.T, tx *Txn, model map[string]string, from, to int, reverse bool, page int) {
	t.Helper()
	lo, hi := fmt.Sprintf("%04d", from), fmt.Sprintf("%04d", to)
	var want []string
	for _, k := range slices.Sorted(maps.Keys(model)) {
		if k >= lo && k < hi {
			want = append(want, k+"="+model[k])
		}
	}
	if reverse {
		slices.Reverse(want)
	}
	got, err := scanAll(tx.Scan, rowSpan(lo, hi), reverse, page)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("scan [%s,%s) reverse=%v page=%d:\n got %q\nwant %q", lo, hi, reverse, page, got, want)
	}
	var s valueSink
	found, err := tx.Get(rowKey(lo), nil, &s)
	v, ok := model[lo]
	if err != nil || found != ok || (found && string(s.value) != v) {
		t.Fatalf("get %s: %v %q %v, want %v %q", lo, found, s.value, err, ok, v)
	}
}

func TestBufferLimits(t *testing.T) {
	d := openDB(t, nil)
	d.m.o.TxnBytesMax, d.m.o.EntryBytesMax = 64<<10, 8<<10
	tx := d.m.Begin(Options{})
	defer tx.Release()
	if err := tx.Put(rowKey("big"), make([]byte, 9<<10)); !errors.Is(err, kvapi.ErrTxnTooLarge) {
		t.Fatal(err)
	}
	var err error
	n := 0
	for ; err == nil; n++ {
		err = tx.Put(rowKey(fmt.Sprint(n)), make([]byte, 100))
	}
	if !errors.Is(err, kvapi.ErrTxnTooLarge) || n < 100 || n > 600 {
		t.Fatal(n, err)
	}
	// Rewriting one key for ever stays within the memory of one key.
	tx2 := d.m.Begin(Options{})
	defer tx2.Release()
	for i := range 100_000 {
		if err := tx2.Put(rowKey("one"), fmt.Appendf(nil, "%099d", i)); err != nil {
			t.Fatal(i, err)
		}
	}
	// The first transaction is still good: the refused write left no trace.
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// TestBufferUndoFrees: inserting and rolling back for ever does not grow.
func TestBufferUndoFrees(t *testing.T) {
	d := openDB(t, nil)
	tx := d.m.Begin(Options{})
	defer tx.Release()
	for i := range 50_000 {
		tx.BeginStatement()
		for j := range 3 {
			if err := tx.Put(rowKey(fmt.Sprint(i, j)), make([]byte, 50)); err != nil {
				t.Fatal(err)
			}
		}
		tx.RollbackStatement()
	}
	if tx.HasWrites() || len(tx.buf.chunks) > 1 || tx.buf.arena.used != 0 {
		t.Fatal(len(tx.buf.chunks), tx.buf.arena.used)
	}
}

func TestPooledTxnIsClean(t *testing.T) {
	d := openDB(t, nil)
	for range 10 {
		tx := d.m.Begin(Options{Level: RepeatableRead})
		tx.ReadTS()
		if _, _, err := tx.Lock(rowKey("k"), kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
			t.Fatal(err)
		}
		if err := tx.Put(rowKey("k"), []byte("v")); err != nil {
			t.Fatal(err)
		}
		if err := tx.RaiseCounter([]byte("c"), 5); err != nil {
			t.Fatal(err)
		}
		tx.Release()
	}
	tx := d.m.Begin(Options{})
	defer tx.Release()
	if tx.HasWrites() || tx.HasLocks() {
		t.Fatal("a pooled transaction remembers its past")
	}
	if v, err := d.read("k"); err != nil || v != "-" {
		t.Fatal(v, err)
	}
	if n, _ := d.s.Snapshots(); n != 0 {
		t.Fatal(n, "snapshots left")
	}
}

// room is a Memory of a limit.
type room struct {
	used, limit int64
	settled     []int64 // what Settle was asked for
	settling    error   // its answer
}

var errNoRoom = errors.New("no room")

func (r *room) Settle(n int64, _ *kvapi.Interrupt) error {
	r.settled = append(r.settled, n)
	return r.settling
}

func (r *room) Ask(n int64, _ *kvapi.Interrupt, _ bool) error {
	if r.used+n > r.limit {
		return errNoRoom
	}
	r.used += n
	return nil
}

// TestLargeValuesSettle: a commit with a value of more than bufferFree waits for what storage takes for it, and is undone if that is interrupted; others
// don't ask.
func TestLargeValuesSettle(t *testing.T) {
	d := openDB(t, nil)
	memory := &room{limit: 64 << 20}
	d.m.o.Memory = memory
	commit := func(size int, values ...string) error {
		tx := d.m.Begin(Options{})
		defer tx.Release()
		for _, name := range values {
			if err := tx.Put(rowKey(name), make([]byte, size)); err != nil {
				t.Fatal(err)
			}
		}
		return tx.Commit()
	}
	if err := commit(1000, "a"); err != nil || len(memory.settled) != 0 {
		t.Errorf("a short value: %v, %v", err, memory.settled)
	}
	if err := commit(bufferFree/2, "b", "c", "d", "e"); err != nil || len(memory.settled) != 0 {
		t.Errorf("many values: %v, %v", err, memory.settled)
	}
	if err := commit(3<<20, "f", "g"); err != nil || !slices.Equal(memory.settled, []int64{storedCopies * 3 << 20}) {
		t.Errorf("large values: %v, %v", err, memory.settled)
	}
	memory.settling = kvapi.ErrInterrupted
	if err := commit(3<<20, "a"); !errors.Is(err, kvapi.ErrInterrupted) {
		t.Errorf("an interrupted one: %v", err)
	}
	if v, err := d.read("a"); err != nil || len(v) != 1000 {
		t.Errorf("it left %d bytes, %v", len(v), err)
	}
	if memory.used != 0 {
		t.Errorf("%d bytes are held", memory.used)
	}
}

// TestBufferIsCounted: a large write buffer is taken from the node's memory before it grows, a short one is not, and all is given back.
func TestBufferIsCounted(t *testing.T) {
	d := openDB(t, nil)
	memory := &room{limit: 64 << 20}
	d.m.o.Memory = memory
	tx := d.m.Begin(Options{})
	put := func(name string, size int) error { return tx.Put(rowKey(name), make([]byte, size)) }
	if err := put("short", 1000); err != nil || memory.used != 0 {
		t.Fatal(err, memory.used)
	}
	if err := put("long", 8<<20); err != nil || memory.used < bufferCopies*7<<20 {
		t.Fatal(err, memory.used)
	}
	tx.BeginStatement()
	before := memory.used
	var err error
	for i := 0; err == nil && i < 100; i++ {
		err = put(fmt.Sprint("more", i), 1<<20)
	}
	if !errors.Is(err, errNoRoom) || memory.used < memory.limit/2 {
		t.Fatal(err, memory.used)
	}
	tx.RollbackStatement()
	if memory.used > before+bufferCopies*bufferFree {
		t.Errorf("%d bytes are held after the rollback of a statement, %d before it", memory.used, before)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	tx.Release()
	if memory.used != 0 {
		t.Errorf("%d bytes are held after the transaction", memory.used)
	}
}
