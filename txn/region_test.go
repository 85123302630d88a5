package txn

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/store"
)

// TestSplitUnderLoad splits regions all the time while transactions span them,
// scans cross them and a power loss strikes at the end.
func TestSplitUnderLoad(t *testing.T) {
	seed := testkit.Seed(t)
	fs := engine.NewMemFS()
	d := openOn(t, openMemEngine(t, fs), fastGC)
	const accounts = 40
	for i := range accounts {
		d.mustWrite(fmt.Sprintf("%02d", i), "100")
	}
	var wg sync.WaitGroup
	for w := range uint64(4) {
		wg.Go(func() {
			rng := testkit.Rand(seed, w)
			for range testkit.Rounds(150, 60) {
				if err := transfer(d, rng, accounts); err != nil && !rolledBack(err) {
					t.Error(err)
					return
				}
				rows, err := readAccounts(d, rng.IntN(3))
				if err != nil {
					t.Error(err)
					return
				}
				sum := 0
				for _, n := range rows {
					sum += n
				}
				if len(rows) != accounts || sum != accounts*100 {
					t.Errorf("read %d accounts, sum %d", len(rows), sum)
					return
				}
			}
		})
	}
	wg.Go(func() {
		rng := testkit.Rand(seed, 99)
		for range 30 {
			err := d.split(rowKey(fmt.Sprintf("%02d", rng.IntN(accounts))))
			if err != nil && !errors.Is(err, store.ErrNoCut) {
				t.Error(err)
			}
			time.Sleep(time.Millisecond)
		}
	})
	wg.Wait()
	regions := d.s.Regions()
	if len(regions) < 10 {
		t.Errorf("only %d regions", len(regions))
	}
	clone := testkit.Crash(fs, 0, seed)
	d.close()

	again := openOn(t, openMemEngine(t, clone), nil)
	defer again.close()
	after := again.s.Regions()
	if len(after) != len(regions) {
		t.Fatalf("%d regions after the crash, %d before", len(after), len(regions))
	}
	for i := range after {
		if after[i].ID != regions[i].ID || after[i].Epoch != regions[i].Epoch || string(after[i].Start) != string(regions[i].Start) {
			t.Errorf("region %d: %+v, was %+v", i, after[i], regions[i])
		}
	}
	rows, err := readAccounts(again, 0)
	if err != nil || len(rows) != accounts {
		t.Error(len(rows), err)
	}
}

// TestSplitBySize: regions split on their own as data grows, and every key is found.
func TestSplitBySize(t *testing.T) {
	d := openDB(t, func(o *store.Options) {
		o.RegionBytesMax = 64 << 10
		o.SampleInterval = time.Millisecond
	})
	value := make([]byte, 500)
	const rows = 2000 // a megabyte
	for i := 0; i < rows; i += 100 {
		tx := d.m.Begin(Options{})
		for j := range 100 {
			if err := tx.PutNew(rowKey(fmt.Sprintf("%05d", i+j)), value); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		tx.Release()
	}
	deadline := time.Now().Add(patience)
	for len(d.s.Regions()) < 12 {
		if time.Now().After(deadline) {
			t.Fatalf("%d regions for a megabyte at 64 KiB each", len(d.s.Regions()))
		}
		d.mustWrite("00000", "x") // maintenance sleeps while nothing is written
		time.Sleep(10 * time.Millisecond)
	}
	for _, reverse := range []bool{false, true} {
		for _, page := range []int{0, 333} {
			got, err := scanAll(d.m.Scan, rowSpan("", ""), reverse, page)
			if err != nil || len(got) != rows {
				t.Fatal(len(got), err)
			}
		}
	}
	for i := range rows {
		if found, err := d.m.Get(rowKey(fmt.Sprintf("%05d", i)), nil, nil); !found || err != nil {
			t.Fatal(i, found, err)
		}
	}
	if m := d.s.Metrics(); m.Regions > 64 {
		t.Errorf("%d regions: too many", m.Regions)
	}
}

// TestCounters: counters only grow, survive, and ride in commits.
func TestCounters(t *testing.T) {
	fs := engine.NewMemFS()
	d := openOn(t, openMemEngine(t, fs), nil)
	key := []byte("t1")
	for _, v := range []uint64{10, 5, 30, 20} {
		if err := d.m.RaiseCounter(key, v); err != nil {
			t.Fatal(err)
		}
	}
	tx := d.m.Begin(Options{})
	if err := tx.RaiseCounter(key, 40); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	tx.Release()
	lost := d.m.Begin(Options{})
	if err := lost.RaiseCounter(key, 99); err != nil {
		t.Fatal(err)
	}
	lost.Release()
	clone := testkit.Crash(fs, 0, 1)
	d.close()
	again := openOn(t, openMemEngine(t, clone), nil)
	defer again.close()
	if v, err := again.m.Counter(key); v != 40 || err != nil {
		t.Fatal(v, err)
	}
	if v, err := again.m.Counter([]byte("never")); v != 0 || err != nil {
		t.Fatal(v, err)
	}
}

// relaxedCommit commits one key without a sync.
func relaxedCommit(t *testing.T, d *db) {
	t.Helper()
	tx := d.m.Begin(Options{Relaxed: true})
	defer tx.Release()
	if _, _, err := tx.Lock(rowKey("k"), kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
		t.Fatal(err)
	}
	if err := tx.Put(rowKey("k"), []byte("v")); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// TestRelaxed: relaxed commits return before the sync; WaitSeen asks for it.
func TestRelaxed(t *testing.T) {
	// What nobody asks for is synced a second after the commit, never sooner. A machine without time for this process may take
	// longer now and then, but not always. A fresh store each time, so that no earlier sync can help.
	var d *db
	took := time.Duration(0)
	for end := time.Now().Add(patience); ; {
		d = openDB(t, nil)
		began := time.Now()
		relaxedCommit(t, d)
		reader := d.m.Begin(Options{})
		var s valueSink
		if found, _, err := reader.Lock(rowKey("k"), kvapi.LockShared, kvapi.WaitDefault, &s); !found || err != nil {
			t.Fatal(found, err)
		}
		if err := reader.WaitSeen(); err != nil {
			t.Fatal(err)
		}
		took = time.Since(began)
		reader.Release()
		if took < 500*time.Millisecond {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("WaitSeen waited %v for a sync that it should have asked for", took)
		}
	}
	if v, err := d.read("k"); v != "v" || err != nil {
		t.Fatal(v, err)
	}
	if err := d.s.SetRelaxed(true); err != nil {
		t.Fatal(err)
	}
	d.mustWrite("k", "w")
	if v, err := d.read("k"); v != "w" || err != nil {
		t.Fatal("a relaxed store hides its own commits:", v, err)
	}
	if err := d.s.SetRelaxed(false); err != nil {
		t.Fatal(err)
	}
}

// TestUndetermined: a log that cannot be synced yields ErrUndetermined for those
// under way and a definite refusal for later ones.
func TestUndetermined(t *testing.T) {
	broken := make(chan struct{})
	hook := &testkit.HookFS{FS: engine.NewMemFS(), OnSync: func(name string) (bool, error) {
		select {
		case <-broken:
			if testkit.IsWAL(name) {
				return false, errors.New("injected EIO")
			}
		default:
		}
		return false, nil
	}}
	e, err := engine.Open(engine.Options{
		Dir: "data", FS: hook, CacheBytes: 4 << 20, MemTableBytes: 1 << 20,
		LowSpaceBytes: engine.NoSpace, BallastBytes: engine.NoSpace, Fatal: func(string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	d := openOn(t, e, nil)
	d.mustWrite("k", "1")
	close(broken)
	if err := d.write("k", "2"); !errors.Is(err, kvapi.ErrUndetermined) {
		t.Fatal(err)
	}
	if err := d.write("k", "3"); !errors.Is(err, kvapi.ErrClosed) {
		t.Fatal(err)
	}
	// What was never acknowledged is not shown to plain reads either.
	if v, err := d.read("k"); v != "1" || err != nil {
		t.Fatal(v, err)
	}
	if err := d.s.Close(); err == nil {
		t.Fatal("a failed store closes without a word")
	}
}

// TestDiskFull: writes are refused, reads go on.
func TestDiskFull(t *testing.T) {
	var once atomic.Bool
	hook := &testkit.HookFS{FS: engine.NewMemFS(), OnWrite: func(name string, _ int) error {
		if testkit.IsWAL(name) && once.CompareAndSwap(true, false) {
			return syscall.ENOSPC
		}
		return nil
	}}
	d := openOn(t, openMemEngine(t, hook), nil)
	defer d.close()
	d.mustWrite("k", "1")
	once.Store(true)
	// The engine gives up its ballast and tries again, so this one succeeds.
	d.mustWrite("k", "2")
	if err := d.write("k", "3"); !errors.Is(err, kvapi.ErrDiskFull) {
		t.Fatal(err)
	}
	if v, err := d.read("k"); v != "2" || err != nil {
		t.Fatal(v, err)
	}
	// The refused transaction left no lock behind.
	tx := d.m.Begin(Options{})
	defer tx.Release()
	if _, acquired, err := tx.Lock(rowKey("k"), kvapi.LockExclusive, kvapi.WaitNone, nil); !acquired || err != nil {
		t.Fatal(acquired, err)
	}
}

// TestLargeTxn commits more than a memtable holds, beside small commits.
func TestLargeTxn(t *testing.T) {
	d := openOn(t, openMemEngine(t, engine.NewMemFS()), fastGC)
	defer d.close()
	tx := d.m.Begin(Options{})
	defer tx.Release()
	rows := testkit.Rounds(20_000, 5_000)
	value := make([]byte, 500) // ten megabytes
	for i := range rows {
		if err := tx.PutNew(rowKey(fmt.Sprintf("big%06d", i)), value); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 50 {
				if err := d.write(fmt.Sprint("small", w), fmt.Sprint(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	got, err := scanAll(d.m.Scan, rowSpan("big", "bigz"), false, 0)
	if err != nil || len(got) != rows {
		t.Fatal(len(got), err)
	}
	for w := range 4 {
		if v, err := d.read(fmt.Sprint("small", w)); v != "49" || err != nil {
			t.Fatal(v, err)
		}
	}
}

// TestDropCounters: dropped counters are gone from memory and disk and leave the others alone, which others read and raise meanwhile.
func TestDropCounters(t *testing.T) {
	fs := engine.NewMemFS()
	d := openOn(t, openMemEngine(t, fs), nil)
	const rounds, raisers = 100, 4
	name := func(prefix string, i int) []byte { return fmt.Appendf(nil, "%s%03d", prefix, i) }
	for i := range rounds {
		for _, prefix := range []string{"a", "b", "c"} {
			if err := d.m.RaiseCounter(name(prefix, i), uint64(100+i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.close()
	d = openOn(t, openMemEngine(t, fs), nil) // nothing is in memory
	var wg sync.WaitGroup
	for g := range raisers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range rounds {
				// The first to come reads what is on disk, and a lower value must not win over it.
				if err := d.m.RaiseCounter(name("a", i), uint64(1+g)); err != nil {
					t.Error(err)
				}
				if v, err := d.m.Counter(name("c", i)); v < uint64(100+i) || err != nil {
					t.Error(i, v, err)
				}
				if _, err := d.m.Counter(name("b", i)); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	for i := range rounds {
		key := name("b", i)
		if err := d.m.DropCounters(kvapi.Span{Start: key, End: keys.PrefixEnd(nil, key)}); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	if err := d.m.DropCounters(kvapi.Span{Start: []byte("b")}); err == nil {
		t.Error("an unbounded span is dropped")
	}
	clone := testkit.Crash(fs, 0, 1)
	again := openOn(t, openMemEngine(t, clone), nil)
	for _, m := range []*Manager{d.m, again.m} {
		for i := range rounds {
			for prefix, want := range map[string]uint64{"a": uint64(100 + i), "b": 0, "c": uint64(100 + i)} {
				if v, err := m.Counter(name(prefix, i)); v != want || err != nil {
					t.Fatal(prefix, i, v, err)
				}
			}
		}
	}
	if err := again.m.RaiseCounter(name("b", 0), 7); err != nil {
		t.Fatal(err)
	}
	if v, err := again.m.Counter(name("b", 0)); v != 7 || err != nil {
		t.Fatal(v, err)
	}
	again.close()
	d.close()
}

// TestAllocCounter: what is taken of a counter is nobody else's, lies above what was raised, is durable when it is told, and ends with the
// largest number.
func TestAllocCounter(t *testing.T) {
	fs := engine.NewMemFS()
	d := openOn(t, openMemEngine(t, fs), nil)
	key := []byte("t1")
	for _, c := range []struct{ least, n, want uint64 }{
		{1, 10, 1}, {0, 5, 11}, {5, 1, 16}, {100, 20, 100}, {100, 1, 120},
	} {
		if first, err := d.m.AllocCounter(key, c.least, c.n); first != c.want || err != nil {
			t.Errorf("%d from %d on: %d, %v; want %d", c.n, c.least, first, err, c.want)
		}
	}
	if err := d.m.RaiseCounter(key, 1000); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	taken := map[uint64]bool{}
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for range 50 {
				first, err := d.m.AllocCounter(key, 0, 3)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for id := first; id < first+3; id++ {
					if taken[id] || id < 1000 {
						t.Errorf("%d is taken twice, or below what was raised", id)
					}
					taken[id] = true
				}
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	clone := testkit.Crash(fs, 0, 1)
	d.close()
	d = openOn(t, openMemEngine(t, clone), nil)
	defer d.close()
	if first, err := d.m.AllocCounter(key, 0, 1); first != 2200 || err != nil {
		t.Errorf("after a crash: %d, %v", first, err)
	}
	for _, want := range []uint64{math.MaxUint64 - 5, math.MaxUint64} {
		if first, err := d.m.AllocCounter(key, math.MaxUint64-5, 10); first != want || err != nil {
			t.Errorf("at the end: %d, %v", first, err)
		}
	}
}
