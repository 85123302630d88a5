package txn

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/store"
)

// versions counts the versions in the engine, tombstones included.
func versions(t *testing.T, e *engine.Engine) (n int) {
	t.Helper()
	it, err := e.NewIter(engine.IterOptions{
		Lower: keys.VersionPrefix(nil, nil), Upper: keys.SpaceEnd(nil, keys.SpaceVersion),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		n++
	}
	return n
}

// patience is how long a test waits for what the background has to do. It is no
// measure of anything: a machine that has no time for this process for some
// seconds is not a fault.
const patience = 2 * time.Minute

// awaitVersions waits until exactly want versions are left.
func awaitVersions(t *testing.T, d *db, want int) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		d.s.CollectNow()
		late := time.Now().After(deadline) // before the count, which may take its time
		n := versions(t, d.e)
		if n == want {
			return
		}
		if late {
			t.Fatalf("%d versions are left, want %d; %+v", n, want, d.s.Metrics())
		}
	}
}

func fastGC(o *store.Options) { o.GCInterval = time.Millisecond }

func (d *db) mustDelete(name string) {
	d.t.Helper()
	tx := d.m.Begin(Options{})
	defer tx.Release()
	if _, err := tx.LockDelete(rowKey(name), nil); err != nil {
		d.t.Fatal(err)
	}
	if err := tx.Delete(rowKey(name)); err != nil {
		d.t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		d.t.Fatal(err)
	}
}

// TestGCKeepsScansShort: after many updates and deletes a scan meets no more
// versions than there are rows. The measure is versions, not time.
func TestGCKeepsScansShort(t *testing.T) {
	d := openDB(t, fastGC)
	const rows, updates = 50, 4000
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range updates / 4 {
				d.mustWrite(fmt.Sprintf("%02d", (i*4+w)%rows), fmt.Sprint(i))
			}
		})
	}
	wg.Wait()
	awaitVersions(t, d, rows)
	if m := d.s.Metrics(); m.GCDeleted < updates-rows || m.GCLooked > rows {
		t.Errorf("updates under locks need no look: %+v", m)
	}
	for i := range rows {
		d.mustDelete(fmt.Sprintf("%02d", i))
	}
	awaitVersions(t, d, 0)
	// Keys that come and go, as index entries do, with and without hints.
	for i := range 300 {
		tx := d.m.Begin(Options{})
		key := rowKey("idx")
		var err error
		switch i % 3 {
		case 0:
			err = tx.PutNew(key, nil)
		case 1:
			err = tx.Put(key, []byte("x"))
		default:
			err = tx.Delete(key)
		}
		if err == nil {
			err = tx.Commit()
		}
		if err != nil {
			t.Fatal(err)
		}
		tx.Release()
	}
	awaitVersions(t, d, 0)
}

// TestGCBacklog: once the backlog is empty, all that was superseded is gone, now
// and not soon: of many writers and deleters of few rows nothing leaks, and the
// gauge says nothing that is not so.
func TestGCBacklog(t *testing.T) {
	d := openDB(t, fastGC)
	const rows = 7
	for round := range testkit.Rounds(60, 20) {
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for i := range 40 {
					name := fmt.Sprint((i*4 + w) % rows)
					if (i+w+round)%9 == 0 {
						d.mustDelete(name)
					} else {
						d.mustWrite(name, fmt.Sprint(i))
					}
				}
			})
		}
		wg.Wait()
		for deadline := time.Now().Add(patience); d.s.GCBacklog() > 0; runtime.Gosched() {
			if time.Now().After(deadline) {
				t.Fatalf("the backlog stays: %+v", d.s.Metrics())
			}
		}
		n := versions(t, d.e)
		live, err := scanAll(d.m.Scan, rowSpan("", ""), false, 0)
		if err != nil || n != len(live) {
			t.Fatalf("round %d: %d versions of %d rows, %v; %+v", round, n, len(live), err, d.s.Metrics())
		}
	}
}

// TestGCUnderSnapshot: a snapshot and a transaction keep what they can see, and
// nothing more than that once they end.
func TestGCUnderSnapshot(t *testing.T) {
	d := openDB(t, fastGC)
	for i := range 10 {
		d.mustWrite(fmt.Sprint(i), "old")
	}
	sn := d.m.OpenSnapshot()
	tx := d.m.Begin(Options{Level: RepeatableRead})
	tx.ReadTS()
	for n := range 30 {
		for i := range 10 {
			d.mustWrite(fmt.Sprint(i), fmt.Sprint("new", n))
		}
		d.s.CollectNow()
		var s listSink
		if _, err := d.m.Scan(&ScanRequest{Span: rowSpan("", ""), TS: sn.TS(), Sink: &s}); err != nil {
			t.Fatal(err)
		}
		if len(s.out) != 10 || s.out[9] != "9=old" {
			t.Fatal(s.out)
		}
		var v valueSink
		if found, err := tx.Get(rowKey("3"), nil, &v); !found || err != nil || string(v.value) != "old" {
			t.Fatal(found, err, string(v.value))
		}
	}
	if n := versions(t, d.e); n != 10*31 {
		t.Fatalf("%d versions while a snapshot is open", n)
	}
	sn.Close()
	tx.Release()
	awaitVersions(t, d, 10)
}

// TestGCOverflow: a queue that is too small leads to a scan, not to a leak.
func TestGCOverflow(t *testing.T) {
	d := openDB(t, func(o *store.Options) { fastGC(o); o.GCQueueBytesMax = 2000 })
	sn := d.m.OpenSnapshot()
	for n := range 20 {
		for i := range 30 {
			d.mustWrite(fmt.Sprintf("%02d", i), fmt.Sprint(n))
		}
	}
	for i := range 10 {
		d.mustDelete(fmt.Sprintf("%02d", i))
	}
	sn.Close()
	awaitVersions(t, d, 20)
	if d.s.Metrics().GCScans == 0 {
		t.Fatal("no scan")
	}
}

// TestGCAfterCrash: a crash forgets the queue; the next life scans what was
// written since the marker. A clean end needs no scan.
func TestGCAfterCrash(t *testing.T) {
	fs := engine.NewMemFS()
	d := openOn(t, openMemEngine(t, fs), fastGC)
	for i := range 100 {
		d.mustWrite(fmt.Sprintf("%03d", i), "old")
	}
	sn := d.m.OpenSnapshot()
	for i := range 100 {
		d.mustWrite(fmt.Sprintf("%03d", i), "new")
	}
	d.mustDelete("007")
	clone := testkit.Crash(fs, 0, 1)
	sn.Close()
	awaitVersions(t, d, 99)
	d.close()

	crashed := openOn(t, openMemEngine(t, clone), fastGC)
	if m := crashed.s.Metrics(); m.GCScans != 1 {
		t.Fatalf("%+v", m)
	}
	awaitVersions(t, crashed, 99)
	crashed.close()

	again := openOn(t, openMemEngine(t, clone), fastGC)
	defer again.close()
	if m := again.s.Metrics(); m.GCScans != 0 {
		t.Fatal("a scan after a clean end")
	}
	if v, err := again.read("008"); v != "new" || err != nil {
		t.Fatal(v, err)
	}
	if again.s.Incarnation() != 3 {
		t.Fatal(again.s.Incarnation())
	}
}

// TestSnapshotTooOld: a forgotten snapshot that holds back garbage is ended.
func TestSnapshotTooOld(t *testing.T) {
	d := openDB(t, func(o *store.Options) { fastGC(o); o.SnapshotAgeMax = 50 * time.Millisecond })
	d.mustWrite("1", "old")
	sn := d.m.OpenSnapshot()
	defer sn.Close()
	tx := d.m.Begin(Options{Level: RepeatableRead})
	defer tx.Release()
	tx.ReadTS()
	d.mustWrite("1", "new")
	awaitVersions(t, d, 1)
	if _, err := d.m.Scan(&ScanRequest{Span: rowSpan("", ""), TS: sn.TS(), Sink: &listSink{}}); !errors.Is(err, kvapi.ErrSnapshotTooOld) {
		t.Fatal(err)
	}
	if _, err := tx.Get(rowKey("1"), nil, nil); !errors.Is(err, kvapi.ErrSnapshotTooOld) {
		t.Fatal(err)
	}
	if v, err := d.read("1"); v != "new" || err != nil {
		t.Fatal(v, err)
	}
	if n := d.s.Metrics().SnapshotsExpired; n != 2 {
		t.Fatal(n)
	}
}

// TestDropSpan: a dropped table's data goes once older snapshots are gone, and
// for good.
func TestDropSpan(t *testing.T) {
	fs := engine.NewMemFS()
	d := openOn(t, openMemEngine(t, fs), fastGC)
	for i := range 20 {
		d.mustWrite(fmt.Sprintf("%02d", i), "x")
	}
	sn := d.m.OpenSnapshot()
	tx := d.m.Begin(Options{})
	if err := tx.Put(keys.SystemKey(nil, 'x'), []byte("dropped")); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	ts := tx.CommitTS()
	tx.Release()
	span := rowSpan("05", "15")
	if done, err := d.m.DropSpan(span, ts); done || err != nil {
		t.Fatal("dropped under a snapshot:", done, err)
	}
	sn.Close()
	if done, err := d.m.DropSpan(span, ts); !done || err != nil {
		t.Fatal(done, err)
	}
	if _, err := d.m.DropSpan(kvapi.Span{Start: rowKey("1")}, ts); err == nil {
		t.Fatal("an unbounded drop")
	}
	clone := testkit.Crash(fs, 0, 1)
	d.close()
	again := openOn(t, openMemEngine(t, clone), nil)
	defer again.close()
	if rows, err := scanAll(again.m.Scan, rowSpan("", ""), false, 0); len(rows) != 10 || err != nil {
		t.Fatal(rows, err)
	}
}
