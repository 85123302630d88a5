package engine

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// tableFile is an open table. A read that misses the page cache starts a prefetch of the blocks and yields to other goroutines before it
// blocks: a goroutine in a blocking system call holds its processor (a P of Go's scheduler) until the runtime's monitor takes it away, 20
// to 100 µs later, which is as long as a read of a fast disk takes. With two processors, the disk got at most two reads at a time, and no
// other goroutine ran meanwhile (docs/design/measured/disk-reads.md). If no other goroutine is runnable, the read blocks at once.
//
// While memory is free the blocks around are prefetched as well, see fillBytes.
//
// If the tables are larger than the page cache, most reads that miss it go past it, see directReads.
//
// File's descriptor is read directly: a file system whose contents differ from the bytes on disk, such as an encrypting one, must not have
// one. Pebble keeps a table open while it is being read.
type tableFile struct {
	File
	e  *Engine
	fd uintptr // of File, kept because File.Fd goes through several wrappers

	open sync.Once // guards the setting of what follows, before the first direct read
	past uintptr   // a descriptor for direct reads
	unit int64     // their offsets and lengths are multiples of it, a power of two; 0: there is no descriptor
}

// Open implements vfs.FS. It does not wrap the files of compactions, which read sequentially.
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
		// Some file systems, and kernels before 4.14, have no reads that do not block.
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
	// If this fails, nothing was prefetched, and the read below blocks for longer.
	_ = f.File.Prefetch(start, end-start)
	runtime.Gosched()
	rest, err := f.File.ReadAt(p[n:], offset+int64(n))
	return n + rest, err
}

// Close implements vfs.File. It is called after the last read has ended.
func (f *tableFile) Close() error {
	var err error
	if f.unit != 0 {
		err = closeDirect(f.past)
	}
	return errors.Join(err, f.File.Close())
}
