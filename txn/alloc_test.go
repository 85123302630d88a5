package txn

import (
	"sync"
	"testing"
)

// poolsLeak reports whether sync.Pool drops objects at random, as it does under
// the race detector.
func poolsLeak() bool {
	var p sync.Pool
	for range 100 {
		p.Put(new(int))
		if p.Get() == nil {
			return true
		}
	}
	return false
}

// TestAllocations pins what the hot paths may allocate in steady state. The
// engine's memtables count too, so averages are rounded down.
func TestAllocations(t *testing.T) {
	if poolsLeak() {
		t.Skip("the race detector makes pools drop objects")
	}
	d := openDB(t, nil)
	for i := range 100 {
		d.mustWrite(string(rune('a'+i%26)), "value")
	}
	sink := &nullSink{}
	key, value := rowKey("a"), []byte("other")
	check := func(name string, most float64, f func() error) {
		t.Helper()
		if n := testing.AllocsPerRun(500, func() {
			if err := f(); err != nil {
				t.Error(err)
			}
		}); n > most {
			t.Errorf("%s: %v allocations, at most %v are allowed", name, n, most)
		}
	}
	check("autocommit get", 0, func() error {
		_, err := d.m.Get(key, nil, sink)
		return err
	})
	r := &ScanRequest{Span: rowSpan("a", "k"), Sink: sink}
	check("autocommit scan", 0, func() error {
		_, err := d.m.Scan(r)
		return err
	})
	check("autocommit update", 3, func() error { return updateOne(d, key, value, sink) })
	check("snapshot read in a transaction", 0, func() error {
		tx := d.m.Begin(Options{Level: RepeatableRead})
		defer tx.Release()
		_, err := tx.Get(key, nil, sink)
		return err
	})
}
