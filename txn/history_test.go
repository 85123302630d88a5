package txn

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/check"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/store"
)

// appendValue is a locking read and a write: the append of table code.
func appendValue(tx *Txn, key string, v int) error {
	var s valueSink
	if _, _, err := tx.Lock(rowKey(key), kvapi.LockExclusive, kvapi.WaitDefault, &s); err != nil {
		return err
	}
	return tx.Put(rowKey(key), append(s.value, fmt.Sprintf("%d ", v)...))
}

// rolledBack reports whether an error says that a transaction has not happened.
func rolledBack(err error) bool {
	return errors.Is(err, kvapi.ErrDeadlock) || errors.Is(err, kvapi.ErrWriteConflict) || errors.Is(err, kvapi.ErrLockTimeout)
}

// listWorker runs random list-append transactions and records them.
func listWorker(t *testing.T, d *db, o Options, rng *rand.Rand, txns int, value *atomic.Int64) []check.Txn {
	var out []check.Txn
	for range txns {
		rec := check.Txn{Begin: time.Now().UnixNano()}
		tx := d.m.Begin(o)
		var err error
		for range 1 + rng.IntN(4) {
			key := fmt.Sprint("k", rng.IntN(4))
			tx.BeginStatement()
			if rng.IntN(2) == 0 {
				var s valueSink
				if _, err = tx.Get(rowKey(key), nil, &s); err != nil {
					break
				}
				rec.Ops = append(rec.Ops, check.Op{Key: key, Read: check.Numbers(string(s.value))})
				continue
			}
			v := int(value.Add(1))
			if err = appendValue(tx, key, v); err != nil {
				break
			}
			rec.Ops = append(rec.Ops, check.Op{Key: key, Append: v})
		}
		if err == nil && rng.IntN(10) > 0 {
			err = tx.Commit()
		} else {
			rec.Outcome = check.Aborted
		}
		tx.Release()
		if err != nil {
			rec.Outcome = check.Aborted
			if !rolledBack(err) {
				t.Error(err)
			}
		}
		rec.End = time.Now().UnixNano()
		out = append(out, rec)
	}
	return out
}

// TestListAppend checks each level for what it promises (doc.go). What a level
// allows need not happen in a run; what it forbids must not.
func TestListAppend(t *testing.T) {
	for _, c := range []struct {
		name    string
		o       Options
		allowed []string
	}{
		// A statement of READ COMMITTED reads one key, and each has its snapshot.
		{"read committed", Options{Level: ReadCommitted}, []string{"G-single", "G2-item", "lost-update"}},
		// Appends are current reads beside the snapshot, as in InnoDB.
		{"repeatable read", Options{Level: RepeatableRead}, []string{"G-single", "G2-item", "lost-update"}},
		{"snapshot isolation", Options{Level: RepeatableRead, SnapshotConflict: true}, []string{"G2-item"}},
		{"optimistic", Options{Optimistic: true}, []string{"G2-item"}},
		{"serializable", Options{Level: Serializable}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			seed := testkit.Seed(t)
			d := openDB(t, nil)
			var value atomic.Int64
			var mu sync.Mutex
			var history []check.Txn
			var wg sync.WaitGroup
			for w := range uint64(8) {
				wg.Go(func() {
					h := listWorker(t, d, c.o, testkit.Rand(seed, w), 60, &value)
					mu.Lock()
					history = append(history, h...)
					mu.Unlock()
				})
			}
			wg.Wait()
			final := check.Txn{}
			for k := range 4 {
				var s valueSink
				if _, err := d.m.Get(rowKey(fmt.Sprint("k", k)), nil, &s); err != nil {
					t.Fatal(err)
				}
				final.Ops = append(final.Ops, check.Op{Key: fmt.Sprint("k", k), Read: check.Numbers(string(s.value))})
			}
			found := check.ListAppend(append(history, final))
			for _, a := range found {
				if !slices.Contains(c.allowed, a.Name) {
					t.Error(a)
				}
			}
			t.Logf("%d transactions, found %v", len(history), check.Names(found))
		})
	}
}

// TestListAppendCanary breaks a promise on purpose: appends without locks lose
// updates, and the checker must say so.
func TestListAppendCanary(t *testing.T) {
	d := openDB(t, nil)
	a, b := d.m.Begin(Options{}), d.m.Begin(Options{})
	for i, tx := range []*Txn{a, b} {
		if err := tx.Put(rowKey("k"), fmt.Appendf(nil, "%d ", i+1)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tx := range []*Txn{a, b} {
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		tx.Release()
	}
	var s valueSink
	if _, err := d.m.Get(rowKey("k"), nil, &s); err != nil {
		t.Fatal(err)
	}
	found := check.ListAppend([]check.Txn{
		{Ops: []check.Op{{Key: "k", Append: 1}}}, {Ops: []check.Op{{Key: "k", Append: 2}}},
		{Ops: []check.Op{{Key: "k", Read: check.Numbers(string(s.value))}}},
	})
	if !slices.Contains(check.Names(found), "lost-append") {
		t.Fatal("lost appends went unnoticed:", found)
	}
}

// TestBank moves money between accounts while snapshots, transactions and scans
// add it up.
func TestBank(t *testing.T) {
	seed := testkit.Seed(t)
	// The collector runs all the time, right behind the watermark.
	d := openDB(t, func(o *store.Options) { o.GCInterval = 100 * time.Microsecond })
	const accounts, each = 20, 100
	for i := range accounts {
		d.mustWrite(fmt.Sprintf("%02d", i), fmt.Sprint(each))
	}
	stop := make(chan struct{})
	var movers, readers sync.WaitGroup
	for w := range uint64(6) {
		movers.Go(func() {
			rng := testkit.Rand(seed, w)
			for range testkit.Rounds(300, 100) {
				if err := transfer(d, rng, accounts); err != nil && !rolledBack(err) {
					t.Error(err)
					return
				}
			}
		})
	}
	for r := range 3 {
		readers.Go(func() {
			var readings [][]int
			for {
				select {
				case <-stop:
					if at := check.Bank(readings, accounts*each); at >= 0 {
						t.Errorf("reader %d saw %v", r, readings[at])
					}
					t.Logf("reader %d: %d readings", r, len(readings))
					return
				default:
				}
				rows, err := readAccounts(d, r)
				if err != nil {
					t.Error(err)
					return
				}
				readings = append(readings, rows)
			}
		})
	}
	movers.Wait()
	close(stop)
	readers.Wait()
}

func transfer(d *db, rng *rand.Rand, accounts int) error {
	tx := d.m.Begin(Options{Level: RepeatableRead})
	defer tx.Release()
	from, to := rng.IntN(accounts), rng.IntN(accounts)
	if from == to {
		return nil
	}
	for i, account := range []int{from, to} {
		var s valueSink
		key := rowKey(fmt.Sprintf("%02d", account))
		if _, _, err := tx.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, &s); err != nil {
			return err
		}
		n, _ := strconv.Atoi(string(s.value))
		if err := tx.Put(key, fmt.Append(nil, n+2*i-1)); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// readAccounts reads all accounts in one of three ways.
func readAccounts(d *db, way int) ([]int, error) {
	scan := d.m.Scan
	page := 7
	switch way {
	case 0: // one page at the watermark, without registration
		page = 0
	case 1: // pages of one open snapshot
		sn := d.m.OpenSnapshot()
		defer sn.Close()
		scan = func(r *ScanRequest) ([]byte, error) { r.TS = sn.TS(); return d.m.Scan(r) }
	default: // a transaction
		tx := d.m.Begin(Options{Level: RepeatableRead})
		defer tx.Release()
		scan = tx.Scan
	}
	rows, err := scanAll(scan, rowSpan("", ""), false, page)
	var out []int
	for _, row := range rows {
		n, _ := strconv.Atoi(row[strings.IndexByte(row, '=')+1:])
		out = append(out, n)
	}
	return out, err
}

// TestMonotonic: what one client reads of a growing counter never falls, whether
// it reads plainly or under a lock.
func TestMonotonic(t *testing.T) {
	d := openDB(t, nil)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 400 {
				tx := d.m.Begin(Options{})
				var s valueSink
				_, _, err := tx.Lock(rowKey("n"), kvapi.LockExclusive, kvapi.WaitDefault, &s)
				n, _ := strconv.Atoi(string(s.value))
				if err == nil {
					err = tx.Put(rowKey("n"), fmt.Append(nil, n+1))
				}
				if err == nil {
					err = tx.Commit()
				}
				if err != nil {
					t.Error(err)
				}
				tx.Release()
			}
		})
	}
	for way := range 2 {
		wg.Go(func() {
			var reads []int
			for range 2000 {
				n, err := readCounter(d, way)
				if err != nil {
					t.Error(err)
					return
				}
				reads = append(reads, n)
			}
			if at := check.Monotonic(reads); at >= 0 {
				t.Errorf("way %d: %d after %d", way, reads[at], reads[at-1])
			}
		})
	}
	wg.Wait()
	if n, err := readCounter(d, 0); n != 1200 || err != nil {
		t.Fatal(n, err)
	}
}

// readCounter alternates between plain reads and shared locking reads that wait
// for what they saw.
func readCounter(d *db, way int) (int, error) {
	var s valueSink
	if way == 0 {
		_, err := d.m.Get(rowKey("n"), nil, &s)
		n, _ := strconv.Atoi(string(s.value))
		return n, err
	}
	tx := d.m.Begin(Options{})
	defer tx.Release()
	if _, _, err := tx.Lock(rowKey("n"), kvapi.LockShared, kvapi.WaitDefault, &s); err != nil {
		return 0, err
	}
	n, _ := strconv.Atoi(string(s.value))
	if err := tx.WaitSeen(); err != nil {
		return 0, err
	}
	// What it saw under the lock is there for everybody now (T4).
	var plain valueSink
	if _, err := d.m.Get(rowKey("n"), nil, &plain); err != nil {
		return 0, err
	}
	if m, _ := strconv.Atoi(string(plain.value)); m < n {
		return 0, fmt.Errorf("locked read saw %d, a plain read after WaitSeen %d", n, m)
	}
	return n, nil
}

// TestLinearizable checks concurrent autocommit reads and writes per key.
func TestLinearizable(t *testing.T) {
	seed := testkit.Seed(t)
	d := openDB(t, nil)
	var mu sync.Mutex
	var history []check.RegisterOp
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Go(func() {
			rng := testkit.Rand(seed, uint64(w))
			for i := range 150 {
				op := check.RegisterOp{Client: w, Key: fmt.Sprint("r", rng.IntN(5)), Write: rng.IntN(3) == 0}
				op.Call = time.Now().UnixNano()
				var err error
				if op.Write {
					op.Value = w*1000 + i + 1
					err = d.write(op.Key, fmt.Sprint(op.Value))
				} else {
					var v string
					v, err = d.read(op.Key)
					op.Value, _ = strconv.Atoi(strings.TrimPrefix(v, "-"))
				}
				op.Done = time.Now().UnixNano()
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				history = append(history, op)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if ok, decided := check.Linearizable(history, patience); !ok {
		t.Fatalf("not linearizable (decided: %v)", decided)
	}
}
