package wal

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestAsyncWriter: an asynchronous write arrives, allocates nothing, leaves it to the caller when it cannot be made, and steps aside
// when it is refused.
func TestAsyncWriter(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, make([]byte, 16*alignBytes), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	dropCached(f.Fd())
	if err := setDirect(f.Fd(), true); err != nil {
		t.Skip(err)
	}
	var a asyncWriter
	if err := a.open(); err != nil {
		t.Skip(err)
	}
	b := alignedBytes(2 * alignBytes)
	made := 0
	one := func() {
		b[0]++
		n, done, err := a.write(f.Fd(), b, 3*alignBytes)
		if err != nil || done && n != len(b) {
			t.Fatal(n, done, err)
		}
		if done {
			made++
			got := alignedBytes(alignBytes)
			if _, err := f.ReadAt(got, 3*alignBytes); err != nil || !bytes.Equal(got, b[:alignBytes]) {
				t.Fatalf("%d %d %v", got[0], b[0], err)
			}
		}
	}
	for range 200 {
		one()
	}
	if made < 10 { // the others would have had to wait for something
		t.Fatalf("%d of 200 writes were made", made)
	}
	if n := testing.AllocsPerRun(20, func() {
		if _, _, err := a.write(f.Fd(), b, 0); err != nil {
			t.Fatal(err)
		}
	}); n != 0 && !raceEnabled {
		t.Errorf("a write allocates %v times", n)
	}
	if n, done, err := a.write(f.Fd(), b[:alignBytes-1], 0); done && err == nil && n == alignBytes-1 {
		t.Skip("this file system takes any length")
	} else if done || err != nil {
		t.Errorf("a refused request: %v %v", done, err)
	}
	if _, done, _ := a.write(f.Fd(), b, 0); done {
		t.Error("it goes on after a refusal")
	}
	a.close()
	a.close()
	var c asyncWriter
	if err := c.open(); err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if _, done, err := c.write(1<<20, b, 0); done || err != nil {
		t.Errorf("no such file: %v %v", done, err)
	}
}

// fullFile is a file whose descriptor meets a full disk, while its methods find room, as those of the engine's do after a while.
type fullFile struct {
	vfs.File
	full   *os.File
	data   []byte
	synced bool
}

func (f *fullFile) Fd() uintptr { return f.full.Fd() }

func (f *fullFile) WriteAt(b []byte, offset int64) (int, error) {
	f.data = append(f.data[:offset], b...)
	return len(b), nil
}

func (f *fullFile) SyncData() error { f.synced = true; return nil }

// TestDirectFullDisk: a direct write that finds no room goes by way of the file, which can make some.
func TestDirectFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	f := &fullFile{full: full}
	l := &Log{}
	l.writer.file = f
	b := alignedBytes(alignBytes)
	b[0] = 1
	if err := l.writeBlocks(b, 0, false); err != nil || !bytes.Equal(f.data, b) || !f.synced {
		t.Errorf("%v, %d bytes, synced %v", err, len(f.data), f.synced)
	}
}
