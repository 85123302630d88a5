package engine

import (
	"runtime"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// tableFile is an open table. A read that the page cache can't serve asks for the blocks and lets other goroutines run before it
// waits: a goroutine in a blocking system call holds its processor until the runtime's monitor takes it away, 20 to 100 µs later,
// which is as long as a read of a fast disk takes. With two processors, two such reads at a time were all that the disk got, and
// nobody ran meanwhile (bench/results/2026-11-22-disk-reads.md). Where nobody else wants to run, the wait begins at once.
//
// Descriptors are read past File: a file system that shows something else than the disk holds, such as an encrypting one, must not
// give them out. Pebble keeps a table open while anybody reads it.
type tableFile struct {
	File
	e *Engine
}

// Open implements vfs.FS. Compactions read ahead through files of their own, which stay as they are.
func (t *tableFS) Open(name string, opts ...OpenOption) (File, error) {
	f, err := t.FS.Open(name, opts...)
	if err != nil || !strings.HasSuffix(name, tableSuffix) || f.Fd() == InvalidFd || slices.Contains(opts, vfs.SequentialReadsOption) {
		return f, err
	}
	return &tableFile{f, t.e}, nil
}

// ReadAt implements vfs.File.
func (f *tableFile) ReadAt(p []byte, offset int64) (int, error) {
	if f.e.plainReads.Load() {
		return f.File.ReadAt(p, offset)
	}
	n, wait, err := readNoWait(f.Fd(), p, offset)
	switch {
	case err != nil:
		// Some file systems, and kernels before 4.14, have no other reads.
		f.e.plainReads.Store(true)
		return f.File.ReadAt(p, offset)
	case !wait:
		return n, nil
	}
	f.e.counters.diskReads.Inc()
	// Failing, it has asked for nothing, and the read below does.
	_ = f.File.Prefetch(offset+int64(n), int64(len(p)-n))
	runtime.Gosched()
	rest, err := f.File.ReadAt(p[n:], offset+int64(n))
	return n + rest, err
}
