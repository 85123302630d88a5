package engine_test

import (
	"fmt"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
)

// TestIngest: tables replace what a span had, and what a deletion in one of them covers, in one step that a crash leaves whole; what a
// crash leaves of tables that were not put in is gone after a start.
func TestIngest(t *testing.T) {
	mem := engine.NewMemFS()
	e := open(t, engine.Options{Dir: "d", FS: mem})
	for i := range 50 {
		setVersion(t, e, e.ApplyNoSync, fmt.Sprintf("a/%02d", i), "old")
	}
	b := e.NewBatch()
	b.Set(keys.CounterKey(nil, []byte("c1")), []byte("old"))
	b.Set(keys.CounterKey(nil, []byte("c2")), []byte("old"))
	if err := e.Apply(b, true); err != nil {
		t.Fatal(err)
	}
	b.Close()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	counters, err := e.NewTable()
	must(err)
	must(counters.DeleteRange(keys.CounterKey(nil, nil), keys.SpaceEnd(nil, keys.SpaceCounter)))
	must(counters.Set(keys.CounterKey(nil, []byte("c2")), []byte("new")))
	must(counters.Finish())
	versions, err := e.NewTable()
	must(err)
	must(versions.Set(versionKey("a/07"), []byte("new")))
	must(versions.Finish())
	left, err := e.NewTable() // which the crash meets half written
	must(err)
	must(left.Set(versionKey("b/1"), []byte("never")))
	must(e.Barrier())
	must(e.Ingest([]*engine.Table{counters, versions}, keys.VersionPrefix(nil, []byte("a/")), keys.VersionPrefix(nil, []byte("a0"))))
	check := func(e *engine.Engine, when string) {
		t.Helper()
		for key, want := range map[string]string{"a/07": "new", "a/08": "<none>", "a/49": "<none>", "b/1": "<none>"} {
			if got := get(t, e, versionKey(key)); got != want {
				t.Errorf("%s: %s is %s, want %s", when, key, got, want)
			}
		}
		for key, want := range map[string]string{"c1": "<none>", "c2": "new"} {
			if got := get(t, e, keys.CounterKey(nil, []byte(key))); got != want {
				t.Errorf("%s: %s is %s, want %s", when, key, got, want)
			}
		}
	}
	check(e, "at once")
	crashed := testkit.Crash(mem, 100, 1)
	left.Discard()
	must(e.Close())
	e = open(t, engine.Options{Dir: "d", FS: crashed})
	check(e, "after a crash")
	if names, err := crashed.List("d/incoming"); err == nil && len(names) > 0 {
		t.Errorf("tables are left: %v", names)
	}
	must(e.Close())
}
