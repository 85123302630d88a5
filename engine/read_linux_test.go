package engine

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"
)

// page is the unit of the page cache.
var page = os.Getpagesize()

// watched is a file that notes its plain reads.
type watched struct {
	File
	onRead func()
}

func (w *watched) ReadAt(p []byte, offset int64) (int, error) {
	w.onRead()
	return w.File.ReadAt(p, offset)
}

// coldTable writes a table's file, opens it as Pebble would, and returns it with its content and the function that takes it out of
// the page cache. What has no cache (tmpfs), no RWF_NOWAIT (some overlays) or no wait (a disk in memory) skips the test.
func coldTable(t *testing.T, e *Engine, onRead func()) (f *tableFile, content []byte, chill func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "1"+tableSuffix)
	for i := range 32 * page / 2 {
		content = append(content, byte(i), byte(i>>8))
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	fs := &tableFS{OSFS(), e}
	opened, err := fs.Open(path, vfs.RandomReadsOption)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	f = opened.(*tableFile)
	f.File = &watched{f.File, onRead}
	fd := int(f.Fd())
	mapped, err := unix.Mmap(fd, 0, len(content), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(mapped); err != nil {
			t.Error(err)
		}
	})
	// A look by readNoWait would not do: it may begin to read.
	cached := func() bool {
		pages := make([]byte, len(content)/page)
		_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&mapped[0])), uintptr(len(mapped)), uintptr(unsafe.Pointer(&pages[0])))
		return errno != 0 || slices.ContainsFunc(pages, func(b byte) bool { return b&1 != 0 })
	}
	// The kernel passes over pages that it has in hand, so it may need to be told again.
	const attempts = 1000
	chill = func() {
		t.Helper()
		for range attempts {
			if err := errors.Join(unix.Fsync(fd), unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED)); err != nil {
				t.Fatal(err)
			}
			if !cached() {
				return
			}
		}
		t.Skip("this file system keeps what it has read")
	}
	const probes = 20
	waits := 0
	for range probes {
		chill()
		_, wait, err := readNoWait(f.Fd(), make([]byte, 1), 0)
		if err != nil {
			t.Skipf("this file system can't tell whether a read waits: %v", err)
		}
		if wait {
			waits++
		}
	}
	if waits < probes/2 {
		t.Skipf("this disk is as fast as memory: of %d reads %d waited", probes, waits)
	}
	chill()
	return f, content, chill
}

// TestDiskReads: a read returns what the file holds, wherever the page cache has some of it, and counts if it has to wait.
func TestDiskReads(t *testing.T) {
	e := &Engine{}
	plain := 0
	f, content, chill := coldTable(t, e, func() { plain++ })
	// The first call begins to read, and the disk may be done before it looks: how often depends on both. So rounds go on until enough
	// reads have waited.
	const rounds, enough, roundsMax = 20, 5, 2000
	for _, tc := range []struct {
		name           string
		cached         int // bytes from the start that are read before
		offset, length int
		waits          bool
	}{
		{"cold", 0, 2 * page, page, true},
		{"cold and odd", 0, page - 1, 4*page + 1, true},
		{"cached", 16 * page, 2 * page, page, false},
		{"begins cached", 2 * page, page, 8 * page, true},
		{"the end", 0, len(content) - 100, 100, true},
		{"nothing", 0, 100, 0, false},
	} {
		plain = 0
		before, reads := e.counters.diskReads.Load(), e.TableReads()
		waits := func() int { return int(e.counters.diskReads.Load() - before) }
		done := 0
		for ; done < rounds || tc.waits && waits() < enough && done < roundsMax; done++ {
			chill()
			if _, err := f.File.(*watched).File.ReadAt(make([]byte, tc.cached), 0); err != nil {
				t.Fatal(err)
			}
			p := make([]byte, tc.length)
			n, err := f.ReadAt(p, int64(tc.offset))
			if n != tc.length || err != nil || !bytes.Equal(p, content[tc.offset:tc.offset+tc.length]) {
				t.Errorf("%s: %d bytes, %v, or not what was written", tc.name, n, err)
			}
		}
		if got := e.TableReads() - reads; got != uint64(done) {
			t.Errorf("%s: %d reads of a table, %d counted", tc.name, done, got)
		}
		if waits := waits(); plain != waits || tc.waits && waits < enough || !tc.waits && waits > 0 {
			t.Errorf("%s: of %d reads %d waited, %d were plain", tc.name, done, waits, plain)
		}
	}
	p := make([]byte, 200)
	if n, err := f.ReadAt(p, int64(len(content)-100)); n != 100 || err != io.EOF {
		t.Errorf("past the end: %d, %v", n, err)
	}
	chill()
	if n, err := f.ReadAt(p, int64(len(content)-100)); n != 100 || err != io.EOF {
		t.Errorf("past the end, cold: %d, %v", n, err)
	}
	if e.plainReads.Load() {
		t.Error("reads are plain from now on")
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = f.ReadAt(p[:100], 0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestIdleMemoryIsFilled: while memory lies idle, a read that waits for the disk brings what is around it into the page cache; otherwise it
// does not.
func TestIdleMemoryIsFilled(t *testing.T) {
	e := &Engine{}
	f, content, chill := coldTable(t, e, func() {})
	if len(content) < 3*fillBytes/2 {
		t.Fatal("the file is too small")
	}
	around := func(idle bool) bool {
		t.Helper()
		e.direct.idle.Store(idle)
		chill()
		if _, err := f.ReadAt(make([]byte, page), int64(3*page)); err != nil {
			t.Fatal(err)
		}
		// What the kernel is asked for is there, or locked, before the call returns; so is what a disk has not delivered yet.
		in, err := pagesCached(f.Fd(), 0, fillBytes)
		if err != nil {
			t.Skipf("this kernel can't tell: %v", err)
		}
		return in
	}
	filled := 0
	const rounds, enough, roundsMax = 20, 5, 2000
	for done := 0; done < rounds || filled < enough && done < roundsMax; done++ {
		if around(true) {
			filled++
		}
		if in, err := pagesCached(f.Fd(), fillBytes, page); err != nil || in {
			t.Fatalf("beyond the unit: %v, %v", in, err)
		}
		if around(false) {
			t.Fatal("a read fills the page cache though memory does not lie idle")
		}
	}
	// The disk may be done before the read looks, and nothing has to be asked for.
	if filled < enough {
		t.Errorf("%d of %d reads filled the page cache around them", filled, roundsMax)
	}
}

// TestDiskReadYields: others run before a read waits for the disk. Not each time: now and then Go's scheduler takes who has yielded
// at once. Nor does each read wait: now and then the disk is faster.
func TestDiskReadYields(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const waits, triesMax = 50, 5000
	var ran atomic.Bool
	reads, after := 0, 0
	f, _, chill := coldTable(t, &Engine{}, func() {
		if reads++; ran.Load() {
			after++
		}
	})
	for tries := 0; reads < waits && tries < triesMax; tries++ {
		chill()
		ran.Store(false)
		done := make(chan struct{})
		go func() { ran.Store(true); close(done) }()
		if _, err := f.ReadAt(make([]byte, page), int64(page)); err != nil {
			t.Fatal(err)
		}
		<-done
	}
	if reads < waits || after < waits/4 {
		t.Errorf("%d reads waited, %d of them after another goroutine had run", reads, after)
	}
}

// TestPlainReads: what can't tell whether a read waits is asked once.
func TestPlainReads(t *testing.T) {
	e := &Engine{}
	plain := 0
	f, content, _ := coldTable(t, e, func() { plain++ })
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(r.Close(), w.Close()); err != nil {
			t.Error(err)
		}
	})
	f.fd = r.Fd() // which can't be read at an offset
	for i := range 3 {
		p := make([]byte, 100)
		if n, err := f.ReadAt(p, 50); n != 100 || err != nil || !bytes.Equal(p, content[50:150]) {
			t.Errorf("%d, %v", n, err)
		}
		if plain != i+1 || !e.plainReads.Load() {
			t.Errorf("%d plain reads", plain)
		}
	}
}

// TestCompactionsReadPlainly: files that are read in order have the system's read-ahead, and files in memory have no descriptor.
func TestCompactionsReadPlainly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "1"+tableSuffix)
	other := filepath.Join(filepath.Dir(path), "MANIFEST-000001")
	for _, name := range []string{path, other} {
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fs := &tableFS{OSFS(), &Engine{}}
	for _, tc := range []struct {
		name string
		opts []OpenOption
		want bool
	}{
		{path, []OpenOption{vfs.RandomReadsOption}, true},
		{path, nil, true},
		{path, []OpenOption{vfs.SequentialReadsOption}, false},
		{other, nil, false},
	} {
		f, err := fs.Open(tc.name, tc.opts...)
		if err != nil {
			t.Fatal(err)
		}
		if _, is := f.(*tableFile); is != tc.want {
			t.Errorf("%s with %v: %T", filepath.Base(tc.name), tc.opts, f)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
