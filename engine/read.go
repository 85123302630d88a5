package engine

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// tableFile is an open table. A read that the page cache can't serve asks for the blocks and lets other goroutines run before it
// waits: a goroutine in a blocking system call holds its processor until the runtime's monitor takes it away, 20 to 100 µs later,
// which is as long as a read of a fast disk takes. With two processors, two such reads at a time were all that the disk got, and
// nobody ran meanwhile (docs/design/measured/disk-reads.md). Where nobody else wants to run, the wait begins at once.
//
// While memory lies idle the kernel is asked for what is around the block as well, see fillBytes.
//
// Of tables that are too many for the page cache most of what it does not have is read past it, see directReads.
//
// Descriptors are read past File: a file system that shows something else than the disk holds, such as an encrypting one, must not
// give them out. Pebble keeps a table open while anybody reads it.
type tableFile struct {
	File
	e  *Engine
	fd uintptr // of File, which is asked once: it is some calls away

	open sync.Once // guards what follows: it is set when the file is first read past the page cache
	past uintptr   // a descriptor for that
	unit int64     // what its offsets and lengths are a multiple of, a power of two; 0: there is none
}

// Open implements vfs.FS. Compactions read ahead through files of their own, which stay as they are.
func (t *tableFS) Open(name string, opts ...OpenOption) (File, error) {
	f, err := t.FS.Open(name, opts...)
	if err != nil || !strings.HasSuffix(name, tableSuffix) || slices.Contains(opts, vfs.SequentialReadsOption) {
		return f, err
	}
	fd := f.Fd()
	if fd == InvalidFd {
		return f, nil
	}
	return &tableFile{File: f, e: t.e, fd: fd}, nil
}

// ReadAt implements vfs.File.
func (f *tableFile) ReadAt(p []byte, offset int64) (int, error) {
	f.e.counters.tableReads.Inc()
	if f.e.plainReads.Load() {
		return f.File.ReadAt(p, offset)
	}
	if f.e.direct.on.Load() && f.readDirect(p, offset) {
		f.e.counters.diskReads.Inc()
		return len(p), nil
	}
	n, wait, err := readNoWait(f.fd, p, offset)
	switch {
	case err != nil:
		// Some file systems, and kernels before 4.14, have no other reads.
		f.e.plainReads.Store(true)
		return f.File.ReadAt(p, offset)
	case !wait:
		return n, nil
	}
	f.e.counters.diskReads.Inc()
	start, end := offset+int64(n), offset+int64(len(p))
	if f.e.direct.idle.Load() {
		start, end = start&^(fillBytes-1), (end+fillBytes-1)&^(fillBytes-1)
	}
	// Failing, it has asked for nothing, and the read below does.
	_ = f.File.Prefetch(start, end-start)
	runtime.Gosched()
	rest, err := f.File.ReadAt(p[n:], offset+int64(n))
	return n + rest, err
}

// Close implements vfs.File. It comes after the last read.
func (f *tableFile) Close() error {
	var err error
	if f.unit != 0 {
		err = closeDirect(f.past)
	}
	return errors.Join(err, f.File.Close())
}
