package wal

import (
	"errors"
	"io"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/pandodb/pando/engine/aio"
)

// stagingBytes is the size of the largest direct write.
const stagingBytes = 1 << 20

// blocks writes a segment in whole blocks, past the page cache (direct writes). The last block is padded with zeros, and written again
// together with what comes next.
//
// A segment is written so if it was made of a spare, whose blocks exist. Then write and sync are one call, and the kernel has no dirty
// pages to look for: that saves a fifth of the time of a sync, and 19 µs of processor time (docs/design/measured/direct.md). If a block is
// torn while it is written again it still has the records that it had before, because their bytes do not change.
type blocks struct {
	to     blockWriter
	size   int    // of a block, a power of two
	buf    []byte // of stagingBytes, aligned; it begins with what the block at offset holds already
	used   int    // length of that, less than a block
	offset int64  // where buf begins in the file
}

// begin starts a file with blocks of this size. head is its first bytes, less than a block, which write writes.
func (b *blocks) begin(to blockWriter, size int, head []byte) {
	if b.buf == nil {
		b.buf = aio.AlignedBytes(stagingBytes)
	}
	b.to, b.size, b.offset = to, size, 0
	b.used = copy(b.buf, head)
}

// blockWriter writes whole blocks at an offset of a file. With sync these blocks, but not earlier ones, are durable when it returns.
type blockWriter interface {
	writeBlocks(b []byte, offset int64, sync bool) error
}

// fits reports whether n more bytes fit into a single write.
func (b *blocks) fits(n int) bool { return n <= len(b.buf)-b.used }

// write appends p, in one call of to if it fits. sync is passed to each call.
func (b *blocks) write(p []byte, sync bool) error {
	for {
		n := copy(b.buf[b.used:], p)
		p = p[n:]
		end := b.used + n
		whole := (end + b.size - 1) &^ (b.size - 1)
		clear(b.buf[end:whole])
		if err := b.to.writeBlocks(b.buf[:whole], b.offset, sync); err != nil {
			return err
		}
		full := end &^ (b.size - 1)
		b.used = copy(b.buf, b.buf[full:end])
		b.offset += int64(full)
		if len(p) == 0 {
			return nil
		}
	}
}

// goDirect switches the segment, which has only its header so far, to direct writes, and reports whether the system supports them. The
// segment stays dirty. The caller owns writer.
func (l *Log) goDirect() (bool, error) {
	w := &l.writer
	to, size := directWriter(l, w.file)
	if to == nil {
		return false, nil
	}
	w.blocks.begin(to, size, encodeSegmentHeader(w.base, l.salt))
	// The header is written once more, to find out whether the file system supports direct writes.
	err := w.blocks.write(nil, true)
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		_ = setDirect(w.file.Fd(), false) // if it fails, so will the writes
		return false, nil
	}
	return err == nil, err
}

// directWriter returns what writes blocks of the open segment past the page cache, and the size of blocks, or nil if that is not possible;
// tests replace it.
//
// Small blocks keep what is written for one commit small. A disk with larger sectors of its own has to merge a block into one, but that is
// so for a larger block that is written again, too: neither is safer if the disk fails at it.
var directWriter = func(l *Log, file vfs.File) (to blockWriter, size int) {
	fd := file.Fd()
	if fd == vfs.InvalidFd || setDirect(fd, true) != nil {
		return nil, 0
	}
	return l, aio.Unit(fd)
}

// writeBlocks implements blockWriter on the segment. The caller owns writer.
func (l *Log) writeBlocks(b []byte, offset int64, sync bool) error {
	w := &l.writer
	fd := w.file.Fd()
	if sync && w.records >= crowdMin && w.direct { // not goDirect's own write, which must return the file system's error
		w.openQueue.Do(func() {
			if err := w.open(); err != nil {
				l.o.Logger.Info("the log is written by blocking calls", "reason", err)
			}
		})
		if w.request != nil {
			n, done, err := w.request.Write(fd, b, offset)
			if done && err == nil && n == len(b) {
				return nil
			}
			if done && err != nil && !errors.Is(err, syscall.ENOSPC) {
				return err
			}
			// Otherwise all of it is written again below, the same bytes at the same place.
		}
	}
	for {
		n, err := directWrite(fd, b, offset, sync)
		switch {
		case errors.Is(err, syscall.ENOSPC):
			return l.writeOnFullDisk(b, offset)
		case err != nil:
			return err
		case n == len(b):
			return nil
		}
		if n &^= w.blocks.size - 1; n == 0 {
			return io.ErrShortWrite
		}
		b, offset = b[n:], offset+int64(n)
	}
}

// writeOnFullDisk writes and syncs blocks through the vfs.File, whose wrapper frees the engine's ballast on ENOSPC. A file system that
// copies on write, or compresses, may need space even to overwrite.
func (l *Log) writeOnFullDisk(b []byte, offset int64) error {
	file := l.writer.file
	if err := setDirect(file.Fd(), false); err != nil {
		return err
	}
	if _, err := file.WriteAt(b, offset); err != nil {
		return err
	}
	if err := file.SyncData(); err != nil {
		return err
	}
	_ = setDirect(file.Fd(), true) // if it fails, the blocks go through the page cache and are as durable
	return nil
}
