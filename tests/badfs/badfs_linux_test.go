package badfs_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine/aio"
	"github.com/pandodb/pando/tests/badfs"
)

func TestMain(m *testing.M) {
	if code, is := badfs.Serve(); is {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestPassThrough: without rules a program finds what a disk's file system does: direct and synchronous writes, preallocation, hard links, renames,
// locks and mappings; and it is all in the directory behind.
func TestPassThrough(t *testing.T) {
	f := badfs.Mount(t, t.TempDir(), t.TempDir())
	name := filepath.Join(f.Dir, "d", "a.wal")
	must(t, os.Mkdir(filepath.Dir(name), 0o700))
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	must(t, err)
	defer file.Close()
	fd := int(file.Fd())
	must(t, unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB))
	must(t, unix.FcntlFlock(uintptr(fd), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}))
	must(t, unix.Fallocate(fd, 0, 0, 1<<20))
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	must(t, err)
	_, err = unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags|unix.O_DIRECT)
	must(t, err)
	block := aio.AlignedBytes(4096)
	copy(block, "direct")
	f.Set(badfs.Rule{Files: "a.wal", Ops: []badfs.Op{badfs.Sync}})
	if n, err := unix.Pwritev2(fd, [][]byte{block}, 4096, unix.RWF_DSYNC); n != 4096 || err != nil {
		t.Fatalf("a direct write: %d, %v", n, err)
	}
	if !slices.Equal(f.Hits(), []int{1}) {
		t.Errorf("a synchronous write was synced %d times", f.Hits())
	}
	_, err = unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags)
	must(t, err)
	_, err = file.WriteAt([]byte("cached"), 0)
	must(t, err)
	must(t, file.Sync())
	mapped, err := unix.Mmap(fd, 0, 8192, unix.PROT_READ, unix.MAP_SHARED)
	must(t, err)
	if !bytes.HasPrefix(mapped, []byte("cached")) || !bytes.HasPrefix(mapped[4096:], []byte("direct")) {
		t.Errorf("mapped: %q, %q", mapped[:10], mapped[4096:4106])
	}
	must(t, unix.Munmap(mapped))
	must(t, os.Link(name, filepath.Join(f.Dir, "linked")))
	must(t, os.Rename(name, filepath.Join(f.Dir, "d", "b.wal")))
	must(t, file.Close())
	for _, at := range []string{"linked", "d/b.wal"} {
		b, err := os.ReadFile(filepath.Join(f.Behind, at))
		must(t, err)
		if len(b) != 1<<20 || !bytes.HasPrefix(b, []byte("cached")) || !bytes.HasPrefix(b[4096:], []byte("direct")) {
			t.Errorf("%s: %d bytes, %q, %q", at, len(b), b[:10], b[4096:4106])
		}
	}
}

// TestRules: each fault comes to the operations that it is for, and to no others.
func TestRules(t *testing.T) {
	f := badfs.Mount(t, t.TempDir(), t.TempDir())
	name, other := filepath.Join(f.Dir, "a.sst"), filepath.Join(f.Dir, "b.log")
	plain := bytes.Repeat([]byte("x"), 4096)
	must(t, os.WriteFile(name, plain, 0o600))
	must(t, os.WriteFile(other, plain, 0o600))
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	must(t, err)
	defer file.Close()
	only := func(op badfs.Op, r badfs.Rule) badfs.Rule {
		r.Files, r.Ops = "*.sst", []badfs.Op{op}
		return r
	}
	read := func(name string) ([]byte, error) { return os.ReadFile(name) }

	f.Set(only(badfs.Sync, badfs.Rule{Errno: syscall.EIO, After: 1, Times: 2}))
	for i, want := range []error{nil, syscall.EIO, syscall.EIO, nil} {
		if err := file.Sync(); !errors.Is(err, want) {
			t.Errorf("sync %d: %v", i, err)
		}
	}
	if hits := f.Hits(); !slices.Equal(hits, []int{2}) {
		t.Errorf("hits %d", hits)
	}
	f.Set(only(badfs.Write, badfs.Rule{Errno: syscall.EIO}))
	if _, err := file.WriteAt([]byte("y"), 0); !errors.Is(err, syscall.EIO) {
		t.Errorf("write: %v", err)
	}
	f.Set(only(badfs.Read, badfs.Rule{Errno: syscall.EIO}))
	if _, err := read(name); !errors.Is(err, syscall.EIO) {
		t.Errorf("read: %v", err)
	}
	if b, err := read(other); err != nil || !bytes.Equal(b, plain) {
		t.Errorf("read of another file: %v", err)
	}
	f.Set(only(badfs.Read, badfs.Rule{Flip: true}))
	if b, err := read(name); err != nil || differ(b, plain) != 1 {
		t.Errorf("read with a flipped bit: %v, %d bytes differ", err, differ(b, plain))
	}
	f.Set()
	if b, err := read(name); err != nil || !bytes.Equal(b, plain) {
		t.Errorf("read again: %v", err)
	}
	f.Set(only(badfs.Write, badfs.Rule{Flip: true}))
	_, err = file.WriteAt(plain, 0)
	must(t, err)
	f.Set()
	if b, err := read(name); err != nil || differ(b, plain) != 1 {
		t.Errorf("what was written with a flipped bit: %v, %d bytes differ", err, differ(b, plain))
	}
	f.Set(only(badfs.Sync, badfs.Rule{Delay: 300 * time.Millisecond}))
	began := clock.Mono()
	must(t, file.Sync())
	if took := clock.Since(began); took < 300*time.Millisecond {
		t.Errorf("a slow sync took %v", took)
	}
	f.Set(badfs.Rule{Ops: []badfs.Op{badfs.Write, badfs.Make}, Errno: syscall.ENOSPC})
	var stat unix.Statfs_t
	must(t, unix.Statfs(f.Dir, &stat))
	if err := os.WriteFile(filepath.Join(f.Dir, "c"), plain, 0o600); !errors.Is(err, syscall.ENOSPC) || stat.Bavail != 0 {
		t.Errorf("a full disk has %d blocks: %v", stat.Bavail, err)
	}
}

// differ counts the bytes that differ.
func differ(a, b []byte) (n int) {
	if len(a) != len(b) {
		return -1
	}
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}
