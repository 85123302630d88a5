package engine_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
)

// flip changes one bit of a file.
func flip(t *testing.T, name string, at int64) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b[at] ^= 0x10
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestBitFlip flips one bit at a random place of a table: each row is either read as it was written or refused as corrupt,
// and what is refused is counted. Nothing ends the process: the rest of the data stays readable.
func TestBitFlip(t *testing.T) {
	testkit.OneGoroutine(t)
	rng := testkit.Rand(testkit.Seed(t), 0)
	detected := 0
	// Pebble searches for the flipped bit at every failed read, so only some rows are read.
	const rows, rounds, stride = 500, 10, 20
	for range rounds {
		dir := t.TempDir()
		fatal := func(reason string) { t.Errorf("fatal: %s", reason) }
		e := open(t, engine.Options{Dir: dir, Fatal: fatal, BallastBytes: engine.NoSpace})
		b := e.NewBatch()
		for i := range rows {
			b.Set(local("%06d", i), []byte(strings.Repeat(string(rune('a'+i%26)), 100)))
		}
		if err := e.Apply(b, true); err != nil {
			t.Fatal(err)
		}
		b.Close()
		if err := errors.Join(e.Flush(), e.Close()); err != nil {
			t.Fatal(err)
		}
		table := glob(t, dir, "*.sst")
		info, err := os.Stat(table)
		if err != nil {
			t.Fatal(err)
		}
		flip(t, table, rng.Int64N(info.Size()))
		e, err = engine.Open(engine.Options{Dir: dir, Fatal: fatal, BallastBytes: engine.NoSpace})
		if err != nil {
			if !errors.Is(err, engine.ErrDamaged) {
				t.Errorf("refused without saying why: %v", err)
			}
			detected++
			continue
		}
		bad := 0
		for i := 0; i < rows; i += stride {
			v, found, err := e.Get(nil, local("%06d", i))
			switch {
			case errors.Is(err, engine.ErrCorrupt):
				bad++
			case err != nil:
				t.Errorf("row %d: %v", i, err)
			case !found || string(v) != strings.Repeat(string(rune('a'+i%26)), 100):
				t.Errorf("row %d is wrong: %q", i, v)
			}
		}
		if bad > 0 {
			detected++
			if e.Metrics().Corruptions == 0 {
				t.Error("corruption is not counted")
			}
			if err := e.Damaged(); err == nil || !strings.Contains(err.Error(), "sst") && !strings.Contains(err.Error(), "file 0") {
				t.Errorf("the damage that is known names no file: %v", err)
			}
		}
		_ = e.Close()
	}
	if detected == 0 {
		t.Error("no flip was detected: the test is blind")
	}
	t.Logf("%d of %d flips met a read", detected, rounds)
}

// TestDamagedLog: a log that is damaged before its last synced record is refused, a log that is torn at its end is not.
func TestDamagedLog(t *testing.T) {
	write := func() (dir string) {
		mem := engine.NewMemFS()
		e := open(t, engine.Options{Dir: "d", FS: mem})
		for i := range 200 {
			put(t, e, local("%06d", i), strings.Repeat("x", 300), true)
		}
		// A crash, so that the log stays; it is copied to where it can be spoiled.
		crashed := testkit.Crash(mem, 0, 0)
		dir = t.TempDir()
		names, err := crashed.List("d")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			copyOut(t, crashed, "d/"+name, dir+"/"+name)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	dir := write()
	flip(t, glob(t, dir, "*.wal"), 20_000)
	if e, err := engine.Open(engine.Options{Dir: dir}); !errors.Is(err, engine.ErrDamaged) {
		if err == nil {
			_ = e.Close()
		}
		t.Errorf("a log damaged in its middle: %v", err)
	}
	dir = write()
	log := glob(t, dir, "*.wal")
	info, err := os.Stat(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(log, info.Size()-100); err != nil {
		t.Fatal(err)
	}
	e := open(t, engine.Options{Dir: dir})
	if get(t, e, local("%06d", 100)) == "<none>" {
		t.Error("a torn log loses more than its end")
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func copyOut(t *testing.T, fs engine.FS, from, to string) {
	t.Helper()
	info, err := fs.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	if info.IsDir() {
		return
	}
	f, err := fs.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	content := make([]byte, info.Size())
	if _, err := f.ReadAt(content, 0); err != nil && info.Size() > 0 {
		t.Fatal(err)
	}
	if err := errors.Join(f.Close(), os.WriteFile(to, content, 0o600)); err != nil {
		t.Fatal(err)
	}
}
