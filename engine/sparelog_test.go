package engine_test

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
)

// TestSpareLog: soon after the start the log lies over blocks that have been written, later logs do too, and what they hold
// survives a crash and a restart.
func TestSpareLog(t *testing.T) {
	mem := engine.NewMemFS()
	options := engine.Options{Dir: "d", FS: mem, MemTableBytes: 256 << 10, SpareLogBytes: 300_000}
	e := open(t, options)
	sized := func() (logs, full int) {
		names, err := mem.List("d")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			info, err := mem.Stat("d/" + name)
			if err != nil || !testkit.IsWAL(name) {
				continue
			}
			logs++
			if info.Size() >= options.SpareLogBytes {
				full++
			}
		}
		return logs, full
	}
	spareReady := func() bool {
		_, err := mem.Stat("d/spare-wal")
		return err == nil
	}
	testkit.Await(t, "a log over a spare, and the next spare", func() bool {
		put(t, e, local("first"), "x", false) // the log changes when something is written
		_, full := sized()
		return full > 0 && spareReady()
	})
	const n = 600
	for i := range n {
		put(t, e, local("%06d", i), strings.Repeat("x", 1000), i == n-1) // several memtables
	}
	testkit.Await(t, "the newest log does not grow", func() bool {
		put(t, e, local("first"), "x", false)
		names, err := mem.List("d")
		if err != nil {
			t.Fatal(err)
		}
		newest := slices.MaxFunc(names, func(a, b string) int {
			return cmp.Or(cmp.Compare(btoi(testkit.IsWAL(a)), btoi(testkit.IsWAL(b))), cmp.Compare(a, b))
		})
		info, err := mem.Stat("d/" + newest)
		return err == nil && testkit.IsWAL(newest) && info.Size() >= options.SpareLogBytes
	})
	crashed := open(t, engine.Options{Dir: "d", FS: testkit.Crash(mem, 0, 0), SpareLogBytes: options.SpareLogBytes})
	for i := range n {
		if len(get(t, crashed, local("%06d", i))) != 1000 {
			t.Fatalf("row %d is lost", i)
		}
	}
	if err := errors.Join(crashed.Close(), e.Close()); err != nil {
		t.Error(err)
	}
	if !spareReady() {
		t.Error("the spare does not wait for the next start")
	}
	e = open(t, options)
	if logs, full := sized(); full == 0 {
		t.Errorf("of %d logs none lies over the spare", logs)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestSpareLogNeedless: a disk that refuses the spare costs nothing but the spare.
func TestSpareLogNeedless(t *testing.T) {
	var refused atomic.Int64
	fs := &testkit.HookFS{FS: engine.NewMemFS(), OnWrite: func(name string, _ int) error {
		if strings.Contains(name, "spare") {
			refused.Add(1)
			return errors.New("no room")
		}
		return nil
	}}
	e := open(t, engine.Options{Dir: "d", FS: fs, MemTableBytes: 256 << 10, SpareLogBytes: 256 << 10})
	for i := range 600 {
		put(t, e, local("%06d", i), strings.Repeat("x", 1000), i%100 == 0)
	}
	testkit.Await(t, "the spare is tried", func() bool { return refused.Load() > 0 })
	if names, err := fs.List("d"); err != nil || strings.Contains(strings.Join(names, " "), "spare-wal ") {
		t.Errorf("%v %v", names, err)
	}
	if got := len(get(t, e, local("%06d", 7))); got != 1000 {
		t.Errorf("read %d bytes", got)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
