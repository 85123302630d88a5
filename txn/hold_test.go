package txn

import (
	"fmt"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
)

// TestWaitsHoldNoIterators: who waits for a row's lock, for up to innodb_lock_wait_timeout, keeps no iterator meanwhile, because one
// keeps memtables and files of its moment.
func TestWaitsHoldNoIterators(t *testing.T) {
	d := openDB(t, nil)
	for i := range 50 {
		d.mustWrite(fmt.Sprintf("%02d", i), "v")
	}
	if err := d.e.Flush(); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(*Txn) error{
		"a SERIALIZABLE scan": func(tx *Txn) error {
			var hold kvapi.Hold
			defer hold.Rest()
			var sink listSink
			r := ScanRequest{Span: rowSpan("00", ""), Sink: &sink, Hold: &hold}
			for { // the first page ends where it would have to wait
				resume, err := tx.Scan(&r)
				if err != nil || resume == nil {
					return err
				}
				r.Span.Start = resume
			}
		},
		"locking reads in a row": func(tx *Txn) error {
			for i := range 50 {
				if _, _, err := tx.Lock(rowKey(fmt.Sprintf("%02d", i)), kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		holder, waiter := d.m.Begin(Options{}), d.m.Begin(Options{Level: Serializable})
		if _, _, err := holder.Lock(rowKey("40"), kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- read(waiter) }()
		testkit.Await(t, name+" to wait", func() bool { return d.s.Metrics().LockWaiting > 0 })
		// The compaction that the flush has begun has some for a moment; one of the waiter's would stay as long as it waits.
		testkit.Await(t, name+" to wait without iterators of tables", func() bool { return d.e.Metrics().OpenIters == 0 })
		if d.s.Metrics().LockWaiting == 0 {
			t.Errorf("%s: the wait is over", name)
		}
		holder.Rollback()
		if err := <-done; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		waiter.Rollback()
		holder.Release()
		waiter.Release()
	}
}
