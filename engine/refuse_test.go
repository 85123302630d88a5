package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/pandodb/pando/engine"
)

// sizedFS reports as much free space as it is told.
type sizedFS struct {
	engine.FS
	free atomic.Uint64
}

// GetDiskUsage implements engine.FS.
func (s *sizedFS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: s.free.Load(), TotalBytes: 2 << 30}, nil
}

func filled(t *testing.T) string {
	t.Helper()
	dir := t.TempDir() + "/data"
	e := open(t, engine.Options{Dir: dir})
	put(t, e, local("a"), "1", true)
	if err := errors.Join(e.Flush(), e.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func glob(t *testing.T, dir, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(names) == 0 {
		t.Fatalf("no %s in %s: %v", pattern, dir, err)
	}
	return names[len(names)-1]
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRefusals: every directory that must not be opened is refused with its reason and a sentence that says what to do.
func TestRefusals(t *testing.T) {
	cases := []struct {
		name  string
		spoil func(t *testing.T, dir string)
		fresh bool
		want  error
		text  string
	}{
		{"foreign files", func(t *testing.T, dir string) { write(t, dir+"/ibdata1", "x") }, true, engine.ErrForeign, "choose an empty"},
		{"newer format", func(t *testing.T, dir string) {
			marker := glob(t, dir, "marker.format-version.*")
			if err := os.Rename(marker, dir+"/marker.format-version.000099.999"); err != nil {
				t.Fatal(err)
			}
		}, false, engine.ErrNewerFormat, "start that version"},
		{"manifest gone", func(t *testing.T, dir string) {
			if err := os.Remove(glob(t, dir, "MANIFEST-*")); err != nil {
				t.Fatal(err)
			}
		}, false, engine.ErrDamaged, "restore a backup"},
		{"markers gone", func(t *testing.T, dir string) {
			for _, m := range []string{"marker.manifest.*", "marker.format-version.*"} {
				if err := os.Remove(glob(t, dir, m)); err != nil {
					t.Fatal(err)
				}
			}
		}, false, engine.ErrDamaged, "restore a backup"},
		{"markers and tables gone, log left", func(t *testing.T, dir string) {
			e := open(t, engine.Options{Dir: dir})
			put(t, e, local("b"), "2", true)
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			for _, m := range []string{"marker.manifest.*", "marker.format-version.*", "*.sst"} {
				for names, _ := filepath.Glob(dir + "/" + m); len(names) > 0; names = names[1:] {
					if err := os.Remove(names[0]); err != nil {
						t.Fatal(err)
					}
				}
			}
		}, false, engine.ErrDamaged, "restore a backup"},
		{"manifest overwritten", func(t *testing.T, dir string) {
			write(t, glob(t, dir, "MANIFEST-*"), strings.Repeat("garbage", 100))
		}, false, engine.ErrDamaged, "restore a backup"},
		{"table gone", func(t *testing.T, dir string) {
			if err := os.Remove(glob(t, dir, "*.sst")); err != nil {
				t.Fatal(err)
			}
		}, false, engine.ErrDamaged, "restore a backup"},
		{"another program's Pebble", func(t *testing.T, dir string) {
			db, err := pebble.Open(dir, &pebble.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(db.Set([]byte("a"), nil, pebble.Sync), db.Close()); err != nil {
				t.Fatal(err)
			}
		}, true, engine.ErrForeign, "choose another directory"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if !c.fresh {
				dir = filled(t)
			}
			c.spoil(t, dir)
			e, err := engine.Open(engine.Options{Dir: dir})
			if err == nil {
				_ = e.Close()
				t.Fatal("it was opened")
			}
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), dir) {
				t.Errorf("refused with: %v", err)
			}
			t.Log(err)
			// The refusal has released the lock: a second attempt meets the same reason.
			if _, err := engine.Open(engine.Options{Dir: dir}); !errors.Is(err, c.want) {
				t.Errorf("second attempt: %v", err)
			}
		})
	}
}

// TestLocked: a directory that is open is refused, and free again after Close.
func TestLocked(t *testing.T) {
	dir := t.TempDir()
	e := open(t, engine.Options{Dir: dir})
	_, err := engine.Open(engine.Options{Dir: dir})
	if !errors.Is(err, engine.ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Errorf("second open: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := open(t, engine.Options{Dir: dir}).Close(); err != nil {
		t.Error(err)
	}
}

// TestInterruptedFirstStart: what a crash during the very first open leaves behind is no reason to refuse.
func TestInterruptedFirstStart(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/LOCK", "")
	write(t, dir+"/MANIFEST-000001", "")
	write(t, dir+"/000002.log", "")
	if err := os.Mkdir(dir+"/lost+found", 0o700); err != nil {
		t.Fatal(err)
	}
	e := open(t, engine.Options{Dir: dir})
	put(t, e, local("a"), "1", true)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestValidate: all faults of the options are named at once.
func TestValidate(t *testing.T) {
	_, err := engine.Open(engine.Options{CacheBytes: 1, MemTableBytes: 1, SpareLogBytes: -1, MaxCompactions: -1, MaxOpenFiles: 1, LowSpaceBytes: -2, BallastBytes: -2})
	if err == nil {
		t.Fatal("bad options were taken")
	}
	for _, word := range []string{"directory", "cache", "memtable", "spare log", "compactions", "open files", "watermark", "ballast"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q is not named in: %v", word, err)
		}
	}
}
