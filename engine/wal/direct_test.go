package wal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/engine/wal"
	"github.com/pandodb/pando/internal/testkit"
)

// memoryBlocks lets logs write directly to a file system in memory, and sees to it that a synchronous write is never taken to vouch for
// writes before it, which on a disk with a cache of its own it need not.
type memoryBlocks struct {
	t      *testing.T
	mu     sync.Mutex // guards what follows
	writes int
	dirty  map[string]bool // files with a write that no sync has followed
}

func directInMemory(t *testing.T) *memoryBlocks {
	m := &memoryBlocks{t: t, dirty: map[string]bool{}}
	t.Cleanup(wal.FixDirect(func(f engine.File) func([]byte, int64, bool) error {
		return func(b []byte, offset int64, sync bool) error {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.writes++
			info, err := f.Stat()
			if err != nil {
				return err
			}
			if _, err := f.WriteAt(slices.Clone(b), offset); err != nil {
				return err
			}
			if !sync {
				m.dirty[info.Name()] = true
				return nil
			}
			// The header is written once more when a file begins, and the file is synced after that.
			if m.dirty[info.Name()] {
				t.Errorf("a synchronous write of %s at %d after one that is not durable", info.Name(), offset)
			}
			m.mu.Unlock() // f asks m
			defer m.mu.Lock()
			return f.SyncData()
		}
	}))
	return m
}

func (m *memoryBlocks) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.writes
}

// fs lets m see the syncs of a file system.
func (m *memoryBlocks) fs(fs engine.FS) engine.FS {
	return &testkit.HookFS{FS: fs, OnSync: func(name string) (bool, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.dirty[name[strings.LastIndexByte(name, '/')+1:]] = false
		return false, nil
	}}
}

// TestDirect: a log that is written directly, on a real disk, holds what was appended, by one client and by many, in records of all
// sizes, and goes back to writing through the page cache for a record that is larger than its segment.
func TestDirect(t *testing.T) {
	t.Chdir(t.TempDir())
	r := newRig(t, engine.OSFS())
	r.segment = 8 << 20
	r.mustOpen()
	var want []string
	add := func(n int) wal.Position {
		want = append(want, fmt.Sprintf("%d/", len(want))+strings.Repeat("x", n))
		return r.append(want[len(want)-1])
	}
	// Nothing is released, so a spare is made when the segment is nearly full.
	spare := func() {
		testkit.Await(t, "a spare is made", func() bool {
			ready := r.spareReady()
			if !ready {
				r.sync(add(200 << 10))
			}
			return ready
		})
	}
	spare()
	r.sync(add(10))
	r.sync(add(10))
	if !r.log.Direct() {
		t.Skip("the file system of the test's directory takes no direct writes")
	}
	for _, n := range []int{1, 300, 4 << 10, 5000, 900 << 10, 1 << 20, 3 << 20, 7} {
		r.sync(add(n)) // alone
		add(n)
		r.sync(add(n)) // two in a write
	}
	spare()
	r.sync(add(9 << 20))
	if r.log.Direct() {
		t.Error("a segment that grows is written directly")
	}
	spare()
	r.sync(add(1))
	if !r.log.Direct() {
		t.Error("the segment after it isn't")
	}
	var order sync.Mutex
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				order.Lock()
				end := add(100)
				order.Unlock()
				if err := r.log.Sync(end); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	add(1) // not synced: Close does it
	r.closeWith(want)
}

// TestSpareOnDisk: a spare on a real disk has its size and holds zeros, also where its end is no multiple of a disk's block, which no
// direct write can bring.
func TestSpareOnDisk(t *testing.T) {
	for _, size := range []int{3 << 20, 1<<20 + 104} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Chdir(t.TempDir())
			r := newRig(t, engine.OSFS())
			r.segment = int64(size)
			r.mustOpen()
			testkit.Await(t, "a spare is made", r.spareReady)
			b, err := os.ReadFile("d/spare-wal")
			if err != nil || len(b) != size || len(bytes.Trim(b, "\x00")) != 0 {
				t.Errorf("%v, %d bytes, or not all zero", err, len(b))
			}
			r.close()
		})
	}
}

// TestDirectVouches: after records that had to be written before anybody asked for them, a sync is not left to the write of the last.
func TestDirectVouches(t *testing.T) {
	m := directInMemory(t)
	r := newRig(t, m.fs(engine.NewMemFS()))
	r.segment = 16 << 20
	r.mustOpen()
	testkit.Await(t, "a spare is made", r.spareReady)
	r.sync(r.append("x"))
	r.sync(r.append("x"))
	writes := m.count()
	r.append(strings.Repeat("y", 5<<20)) // more than may wait, so the next to append writes it
	r.append("z")
	if n := m.count() - writes; n < 5 {
		t.Errorf("%d direct writes of a large record", n)
	}
	r.sync(r.append("x"))
	r.close()
	r.mustOpen()
	if len(r.read) != 5 {
		t.Errorf("%d records", len(r.read))
	}
	r.close()
}

// TestDirectRefused: a file system that does not take such writes is written as usual.
func TestDirectRefused(t *testing.T) {
	defer wal.FixDirect(func(engine.File) func([]byte, int64, bool) error {
		return func([]byte, int64, bool) error { return &fs.PathError{Op: "write", Path: "f", Err: syscall.EINVAL} }
	})()
	r := newRig(t, engine.NewMemFS())
	r.mustOpen()
	var want []string
	for i := range 40 {
		want = append(want, fmt.Sprint(i)+strings.Repeat("x", 500))
		r.sync(r.append(want[i]))
	}
	r.closeWith(want)
	if n := r.failed.Load(); n != 0 {
		t.Errorf("%d failures", n)
	}
}

// TestDirectFails: an error of the disk in the write that finds out whether the file system takes direct writes is one like any other.
func TestDirectFails(t *testing.T) {
	defer wal.FixDirect(func(engine.File) func([]byte, int64, bool) error {
		return func([]byte, int64, bool) error { return syscall.EIO }
	})()
	r := newRig(t, engine.NewMemFS())
	r.mustOpen()
	testkit.Await(t, "a spare is made", r.spareReady)
	var err error
	for range 3 { // the first segment may have been begun without the spare
		if err == nil {
			err = r.log.Sync(r.append("x"))
		}
	}
	if !errors.Is(err, wal.ErrFailed) || r.failed.Load() != 1 {
		t.Errorf("%v, told of %d times", err, r.failed.Load())
	}
	_ = r.log.Close() // it has failed
}
