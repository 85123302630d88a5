package txn

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/check"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
)

// predicateWorker runs transactions that look at sets of rows and add to them: at rows that writers lock, and at entries that they don't.
type predicateWorker struct {
	d     *db
	o     Options
	rng   *rand.Rand
	value *atomic.Int64
	// locking makes all reads locking ones.
	locking bool
}

// setsOfValue are how many values make one generation of sets, which are new to all.
const setsOfValue = 24

// setSpan covers the rows of a set. Names of sets have one length.
func setSpan(set string) kvapi.Span { return rowSpan(set, set+"~") }

// setSink collects the values of a set.
type setSink struct{ values []int }

func (s *setSink) Pair(key, _ []byte) (bool, error) {
	name := rowName(key)
	n, err := strconv.Atoi(name[len(name)-6:])
	s.values = append(s.values, n)
	return true, err
}

// find reads a set, in pages of two rows.
func (w *predicateWorker) find(tx *Txn, set string) ([]int, error) {
	sink := &setSink{values: []int{}}
	r := ScanRequest{Span: setSpan(set), Sink: sink, LimitRows: 2, Reverse: w.rng.IntN(3) == 0}
	scan := tx.Scan
	if w.locking {
		r.Locking, scan = true, tx.ScanLatest
	}
	for {
		resume, err := scan(&r)
		if err != nil || resume == nil {
			slices.Sort(sink.values)
			return sink.values, err
		}
		if r.Reverse {
			r.Span.End = resume
		} else {
			r.Span.Start = resume
		}
	}
}

// add puts a value into a set, as a row or as an entry.
func (w *predicateWorker) add(tx *Txn, set string, v int) error {
	key := rowKey(fmt.Sprintf("%s%06d", set, v))
	if set[0] == 'r' {
		if _, err := tx.LockNew(key, nil); err != nil {
			return err
		}
	}
	return tx.PutNew(key, []byte("v"))
}

func (w *predicateWorker) txn() (check.Txn, error) {
	rec := check.Txn{Begin: time.Now().UnixNano()}
	tx := w.d.m.Begin(w.o)
	defer tx.Release()
	var err error
	for range 1 + w.rng.IntN(4) {
		generation := int(w.value.Load()) / setsOfValue
		set := fmt.Sprintf("%c%04d%d", "re"[w.rng.IntN(2)], generation, w.rng.IntN(2))
		tx.BeginStatement()
		if w.rng.IntN(2) == 0 {
			var values []int
			if values, err = w.find(tx, set); err != nil {
				break
			}
			rec.Ops = append(rec.Ops, check.Op{Set: set, Read: values})
			continue
		}
		v := int(w.value.Add(1))
		if err = w.add(tx, set, v); err != nil {
			break
		}
		rec.Ops = append(rec.Ops, check.Op{Set: set, Append: v})
	}
	if err == nil {
		err = tx.WaitSeen()
	}
	if err == nil && w.rng.IntN(10) > 0 {
		err = tx.Commit()
	} else {
		rec.Outcome = check.Aborted
	}
	if err != nil {
		rec.Outcome = check.Aborted
	}
	rec.End = time.Now().UnixNano()
	return rec, err
}

// predicateHistory runs workers and returns what the checker finds.
func predicateHistory(t *testing.T, d *db, o Options, locking bool, seed uint64, txns int) []check.Anomaly {
	var value atomic.Int64
	var mu sync.Mutex
	var history []check.Txn
	var wg sync.WaitGroup
	for i := range uint64(8) {
		wg.Go(func() {
			w := &predicateWorker{d: d, o: o, rng: testkit.Rand(seed, i), value: &value, locking: locking}
			for range txns {
				rec, err := w.txn()
				if err != nil && !rolledBack(err) {
					t.Error(err)
					return
				}
				mu.Lock()
				history = append(history, rec)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	sets := map[string]*setSink{}
	for _, rec := range history {
		for _, op := range rec.Ops {
			sets[op.Set] = &setSink{values: []int{}}
		}
	}
	final := check.Txn{}
	last := d.m.Begin(Options{Level: Serializable}) // also what is not synced yet
	defer last.Release()
	for set, sink := range sets {
		if _, err := last.Scan(&ScanRequest{Span: setSpan(set), Sink: sink}); err != nil {
			t.Fatal(err)
		}
		final.Ops = append(final.Ops, check.Op{Set: set, Read: sink.values})
	}
	found := check.ListAppend(append(history, final))
	committed := 0
	for _, rec := range history {
		if rec.Outcome == check.Committed {
			committed++
		}
	}
	t.Logf("%d of %d transactions committed, found %v", committed, len(history), check.Names(found))
	return found
}

// TestPredicates: at SERIALIZABLE there are no phantoms, and at REPEATABLE READ none among transactions whose reads are locking ones.
func TestPredicates(t *testing.T) {
	for _, c := range []struct {
		name    string
		o       Options
		locking bool
		allowed []string
	}{
		{"read committed", Options{Level: ReadCommitted}, false, []string{"G-single", "G2-item", "G2"}},
		{"repeatable read", Options{Level: RepeatableRead}, false, []string{"G2-item", "G2"}},
		{"repeatable read, locking", Options{Level: RepeatableRead}, true, nil},
		{"serializable", Options{Level: Serializable}, false, nil},
		{"serializable, locking", Options{Level: Serializable}, true, nil},
		{"serializable, relaxed", Options{Level: Serializable, Relaxed: true}, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, a := range predicateHistory(t, openDB(t, nil), c.o, c.locking, testkit.Seed(t), testkit.Rounds(250, 100)) {
				if !slices.Contains(c.allowed, a.Name) {
					t.Error(a)
				}
			}
		})
	}
}

// TestPredicatesCanary: without range locks the checker finds phantoms.
func TestPredicatesCanary(t *testing.T) {
	seed := testkit.Seed(t)
	for round := range 20 {
		d := openDB(t, nil)
		d.m.unranged = true
		found := check.Names(predicateHistory(t, d, Options{Level: Serializable}, false, seed+uint64(round), 100))
		if slices.Contains(found, "G2") {
			return
		}
	}
	t.Error("phantoms went unnoticed")
}
