package txn

import (
	"errors"
	"testing"

	"github.com/pandodb/pando/kvapi"
)

// TestConflictTellsOfWriter: an optimistic transaction that meets a newer version says when that was committed and, in a cluster, when the transaction that wrote it began. So does one
// whose row is another now.
func TestConflictTellsOfWriter(t *testing.T) {
	defer func() { promoted = false }()
	for _, promoted = range []bool{false, true} {
		d := openDB(t, nil)
		key := rowKey("1/0")
		write := func(o Options) error {
			w := d.m.Begin(o)
			if _, err := w.LockNew(key, nil); err != nil {
				t.Fatal(err)
			}
			if err := w.Put(key, []byte("v")); err != nil {
				t.Fatal(err)
			}
			return w.Commit()
		}
		late := d.m.Begin(Options{Optimistic: true})
		if _, err := late.LockNew(key, nil); err != nil {
			t.Fatal(err)
		}
		if err := late.Put(key, []byte("w")); err != nil {
			t.Fatal(err)
		}
		if err := write(Options{Level: RepeatableRead}); err != nil {
			t.Fatal(err)
		}
		for what, err := range map[string]error{"commit": late.Commit(), "gone": late.Gone(key)} {
			var e *kvapi.NewerError
			if !errors.As(err, &e) {
				t.Fatalf("%s, promoted %t: %v", what, promoted, err)
			}
			if e.Commit <= e.Snapshot || (e.Start != 0) != promoted || e.Start >= e.Commit {
				t.Errorf("%s, promoted %t: snapshot %d, start %d, commit %d", what, promoted, e.Snapshot, e.Start, e.Commit)
			}
		}
	}
}
