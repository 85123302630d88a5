package backup

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
)

func noPoll() error { return nil }

var (
	staged = map[string]string{"000004.sst": strings.Repeat("table", 300_000), "0000000000000000.wal": "log", "MANIFEST-000001": "manifest", "log-mark-0-0-0": ""}
	known  = Formats{Directory: 1, Records: 2, Engine: 3}
)

// stage makes a file system with a staged checkpoint, all of it durable.
func stage(t *testing.T) *engine.MemFS {
	t.Helper()
	mem := engine.NewMemFS()
	if err := mem.MkdirAll("staged", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range staged {
		if err := writeFile(mem, "staged/"+name, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(syncDir(mem, "staged"), syncDir(mem, "")); err != nil {
		t.Fatal(err)
	}
	return mem
}

// write makes a backup of what is staged.
func write(fs engine.FS, dir string) error {
	w, err := Begin(fs, dir, time.Unix(1, 0))
	if err != nil {
		return err
	}
	files, err := w.Take("staged", 0, noPoll)
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Finish(&Identity{Program: "0.0.0", Formats: known, Store: 7, Incarnation: 3, Timestamp: 99, Began: time.Unix(1, 0), Ended: time.Unix(2, 5), LogFrom: 1, LogEnd: 3, Files: files})
}

func mustWrite(t *testing.T, fs engine.FS, dir string) {
	t.Helper()
	if err := write(fs, dir); err != nil {
		t.Fatal(err)
	}
}

// restored makes a directory of a backup and compares it with what was staged.
func restored(fs engine.FS, from, to string) error {
	id, err := Read(fs, from, known)
	if err != nil {
		return err
	}
	r, err := Restore(fs, from, to, id, noPoll)
	if err != nil {
		return err
	}
	if err := r.Done(); err != nil {
		return err
	}
	for name, want := range staged {
		if got, err := readFile(fs, fs.PathJoin(to, storeName, name)); err != nil || string(got) != want {
			return fmt.Errorf("%s is not what it was: %d bytes, %v", name, len(got), err)
		}
	}
	names, err := fs.List(to)
	if err == nil && !slices.Equal(names, []string{storeName}) {
		err = fmt.Errorf("%v is in the directory", names)
	}
	return err
}

// TestWriteAndRestore: what was staged comes back, any number of times, linked where it may be; and the identity says what it was told.
func TestWriteAndRestore(t *testing.T) {
	mem := stage(t)
	mustWrite(t, mem, "a/b/backup")
	for _, to := range []string{"x", "y/z"} {
		if err := restored(mem, "a/b/backup", to); err != nil {
			t.Fatal(err)
		}
	}
	id, err := Read(mem, "a/b/backup", known)
	if err != nil {
		t.Fatal(err)
	}
	if id.Store != 7 || id.Incarnation != 3 || id.Timestamp != 99 || id.LogFrom != 1 || id.LogEnd != 3 || !id.Ended.Equal(time.Unix(2, 5)) || id.Program != "0.0.0" || id.Formats != known {
		t.Errorf("the identity says %+v", id)
	}
	if len(id.Files) != len(staged) || id.Bytes() != int64(5*300_000+len("log")+len("manifest")) {
		t.Errorf("the identity lists %v", id.Files)
	}
	if faults, err := Verify(mem, "a/b/backup", id, noPoll); err != nil || len(faults) > 0 {
		t.Errorf("a backup that was not touched: %v, %v", faults, err)
	}
	for _, dir := range []string{"a/b/backup", "x"} {
		if err := write(mem, dir); !errors.Is(err, ErrOccupied) {
			t.Errorf("a backup to %s: %v", dir, err)
		}
		if _, err := Restore(mem, "a/b/backup", dir, id, noPoll); !errors.Is(err, ErrOccupied) {
			t.Errorf("a restore to %s: %v", dir, err)
		}
	}
	stop := errors.New("stopped")
	if _, err := Restore(mem, "a/b/backup", "never", id, func() error { return stop }); !errors.Is(err, stop) {
		t.Errorf("who stops a restore got %v", err)
	}
	if _, err := mem.Stat("never"); err == nil {
		t.Error("a restore that was stopped has left something")
	}
}

// TestPowerLoss cuts the power at every sync and write of a backup and of a restore: what bears an identity then is whole, and what is not is
// told from it. The canary is a file system that does not sync what is in store/.
func TestPowerLoss(t *testing.T) {
	for _, canary := range []bool{false, true} {
		t.Run(fmt.Sprintf("canary=%v", canary), func(t *testing.T) {
			half, whole, torn := 0, 0, 0
			for at := 1; ; at++ {
				crashed := cutAt(t, at, canary)
				if crashed == nil {
					break
				}
				id, err := Read(crashed, "backup", known)
				switch {
				case err == nil:
					faults, err := Verify(crashed, "backup", id, noPoll)
					if err != nil {
						t.Fatal(err)
					}
					if len(faults) > 0 {
						torn++
					} else if whole++; restored(crashed, "backup", "new") != nil {
						t.Errorf("cut at %d: a whole backup does not restore", at)
					}
				case errors.Is(err, ErrHalf):
					half++
				case errors.Is(err, ErrNone) || absent(err):
				default:
					t.Errorf("cut at %d: %v", at, err)
				}
			}
			if half == 0 || whole == 0 && !canary {
				t.Errorf("%d cuts left half a backup and %d a whole one: too few to show anything", half, whole)
			}
			if (torn > 0) != canary {
				t.Errorf("%d cuts left a backup that looks whole and is not", torn)
			}
		})
	}
}

// cutAt cuts the power at the nth operation of a backup and returns what is left, or nil if there are fewer.
func cutAt(t *testing.T, n int, lie bool) (crashed *engine.MemFS) {
	mem := stage(t)
	var left atomic.Int64
	left.Store(int64(n))
	tick := func() {
		if left.Add(-1) == 0 {
			crashed = testkit.Crash(mem, 0, 1)
		}
	}
	inStore := func(name string) bool { return strings.HasPrefix(name, "backup/"+storeName) }
	fs := &testkit.HookFS{FS: mem,
		OnSync:    func(name string) (bool, error) { tick(); return lie && inStore(name), nil },
		OnSyncDir: func(name string) (bool, error) { tick(); return false, nil },
		OnWrite:   func(string, int) error { tick(); return nil }}
	mustWrite(t, fs, "backup")
	if crashed == nil && left.Load() == 1 {
		crashed = testkit.Crash(mem, 0, 1) // after the last
	}
	return crashed
}

// TestRestoreCutOff: a directory that the power left amid a restore is marked, and neither restored nor written to again.
func TestRestoreCutOff(t *testing.T) {
	mem := stage(t)
	mustWrite(t, mem, "backup")
	marked := 0
	for at := 1; at < 30; at++ {
		left := at
		var crashed *engine.MemFS
		tick := func() {
			if left--; left == 0 {
				crashed = testkit.Crash(mem, 0, 1)
			}
		}
		fs := &testkit.HookFS{FS: mem, OnSync: func(string) (bool, error) { tick(); return false, nil }, OnSyncDir: func(string) (bool, error) { tick(); return false, nil }}
		to := fmt.Sprintf("to%d", at)
		if err := restored(fs, "backup", to); err != nil {
			t.Fatal(err)
		}
		if crashed == nil {
			break
		}
		names, err := crashed.List(to)
		if err != nil || len(names) == 0 {
			continue
		}
		if slices.Contains(names, RestoringName) {
			marked++
			if _, err := makeDir(crashed, to); !errors.Is(err, ErrOccupied) || !strings.Contains(err.Error(), "never finished") {
				t.Errorf("cut at %d: %v", at, err)
			}
		} else if err := restored(crashed, "backup", "again"); err != nil {
			t.Errorf("cut at %d: %v", at, err)
		}
	}
	if marked == 0 {
		t.Error("no cut left a restore unfinished")
	}
}

// TestDamage: a byte changed in any file, a file that is gone, cut, or new, and an identity from the future are named.
func TestDamage(t *testing.T) {
	mem := stage(t)
	mustWrite(t, mem, "backup")
	whole := func() *engine.MemFS { return testkit.Crash(mem, 0, 1) }
	expect := func(what string, fs *engine.MemFS, sentinel error, names string) {
		t.Helper()
		id, err := Read(fs, "backup", known)
		if err == nil {
			_, err = Restore(fs, "backup", "new", id, noPoll)
			if _, left := fs.Stat("new"); left == nil {
				t.Errorf("%s: the refused restore has left its directory", what)
			}
			faults, verr := Verify(fs, "backup", id, noPoll)
			if verr != nil || len(faults) != 1 || !errors.Is(faults[0], sentinel) || !strings.Contains(faults[0].Error(), names) {
				t.Errorf("%s: verified with %v, %v", what, faults, verr)
			}
		}
		if !errors.Is(err, sentinel) || !strings.Contains(err.Error(), names) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for name, content := range staged {
		path := "backup/store/" + name
		if content != "" {
			fs := whole()
			b := []byte(content)
			b[len(b)/2] ^= 1
			replace(t, fs, path, b)
			expect("a changed byte", fs, ErrDamaged, name)
			fs = whole()
			replace(t, fs, path, []byte(content[:len(content)-1]))
			expect("a lost byte", fs, ErrDamaged, name)
		}
		fs := whole()
		if err := fs.Remove(path); err != nil {
			t.Fatal(err)
		}
		expect("a lost file", fs, ErrDamaged, name)
	}
	fs := whole()
	replace(t, fs, "backup/store/000009.sst", []byte("new"))
	expect("a file too many", fs, ErrDamaged, "000009.sst")
	text, err := readFile(mem, "backup/BACKUP")
	if err != nil {
		t.Fatal(err)
	}
	for i := range text {
		changed := slices.Clone(text)
		changed[i] ^= 1
		if _, err := decodeIdentity(changed); !errors.Is(err, ErrDamaged) {
			t.Fatalf("byte %d of the identity changed: %v", i, err)
		}
		if _, err := decodeIdentity(text[:i]); !errors.Is(err, ErrDamaged) {
			t.Fatalf("an identity cut at byte %d: %v", i, err)
		}
	}
	for _, v := range []Formats{{Directory: 0, Records: 2, Engine: 3}, {Directory: 1, Records: 1, Engine: 3}, {Directory: 1, Records: 2, Engine: 2}} {
		if _, err := Read(mem, "backup", v); !errors.Is(err, ErrNewer) {
			t.Errorf("a program that knows %+v: %v", v, err)
		}
	}
	if _, err := Read(mem, "staged", known); !errors.Is(err, ErrNone) {
		t.Errorf("no backup: %v", err)
	}
}

func replace(t *testing.T, fs engine.FS, path string, content []byte) {
	t.Helper()
	if err := writeFile(fs, path, content); err != nil {
		t.Fatal(err)
	}
}

// TestFullDisk: a disk without room is refused before anything is copied, and one that fills meanwhile leaves nothing.
func TestFullDisk(t *testing.T) {
	mem := stage(t)
	noLinks := &unlinked{FS: mem}
	space := &testkit.SpaceFS{FS: noLinks}
	for free, want := range map[uint64]error{0: ErrNoSpace, 1_400_000: ErrNoSpace, 1_600_000: nil} {
		space.Free.Store(free)
		dir := fmt.Sprintf("backup%d", free)
		err := write(space, dir)
		if !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%d bytes free: %v", free, err)
		}
		if _, left := mem.Stat(dir); (left == nil) != (want == nil) {
			t.Errorf("%d bytes free: the directory: %v", free, left)
		}
	}
	fills := &testkit.HookFS{FS: noLinks, OnWrite: func(name string, _ int) error {
		if strings.HasSuffix(name, ".sst") {
			return syscall.ENOSPC
		}
		return nil
	}}
	if err := write(fills, "filled"); !errors.Is(err, ErrNoSpace) || !strings.Contains(err.Error(), "000004.sst") {
		t.Errorf("a disk that fills: %v", err)
	}
	if _, err := mem.Stat("filled"); err == nil {
		t.Error("a disk that fills: something is left")
	}
	// Where links work a table needs no room.
	space = &testkit.SpaceFS{FS: mem}
	space.Free.Store(100)
	if err := write(space, "linked"); err != nil {
		t.Errorf("room for all but the tables, which are linked: %v", err)
	}
	if err := restored(noLinks, "linked", "copied"); err != nil {
		t.Errorf("a restore to a file system without links: %v", err)
	}
}

// unlinked is a file system without hard links, as one across two disks is.
type unlinked struct{ engine.FS }

func (u *unlinked) Unwrap() engine.FS { return u.FS }

func (u *unlinked) Link(string, string) error { return syscall.EXDEV }

// FuzzIdentity: no text makes the reader panic, and what it takes it writes again.
func FuzzIdentity(f *testing.F) {
	id := Identity{Program: "1", Formats: known, Store: 1, Began: time.Unix(1, 0), Ended: time.Unix(2, 0), Files: []File{{"a.sst", 3, 4}, {"b", 0, 0}}}
	f.Add(id.encode())
	f.Add([]byte("format = 2\nend = 00000000\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		id, err := decodeIdentity(text)
		if err != nil {
			return
		}
		if again, err := decodeIdentity(id.encode()); err != nil || len(again.Files) != len(id.Files) {
			t.Errorf("%q became %q: %v", text, id.encode(), err)
		}
	})
}
