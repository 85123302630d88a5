package wal

import (
	"errors"
	"io"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/pandodb/pando/engine/aio"
)

// stagingBytes is the most that one direct write brings.
const stagingBytes = 1 << 20

// blocks writes a segment in whole blocks, past the page cache. The last one is padded with zeros, and written again with what comes
// next.
//
// A segment is written so if it was made of a spare, whose blocks exist. The write and the sync are then one call, and the kernel has no
// dirty pages to look for: that takes a fifth of the time off a sync, and 19 µs of the processors' (docs/design/measured/direct.md).
// A block that is torn while it is written again holds the records that it held before, because their bytes do not change.
type blocks struct {
	to     blockWriter
	size   int    // of a block, a power of two
	buf    []byte // of stagingBytes, aligned; it begins with what the block at offset holds already
	used   int    // bytes of that, less than a block
	offset int64  // in the file, of buf
}

// begin starts a file with blocks of this size. Its first bytes are head, which is less than a block and not written yet.
func (b *blocks) begin(to blockWriter, size int, head []byte) {
	if b.buf == nil {
		b.buf = aio.AlignedBytes(stagingBytes)
	}
	b.to, b.size, b.offset = to, size, 0
	b.used = copy(b.buf, head)
}

// blockWriter writes whole blocks at an offset of a file; with sync they are durable when it returns, which says nothing of others.
type blockWriter interface {
	writeBlocks(b []byte, offset int64, sync bool) error
}

// fits tells whether so many bytes more make a single write.
func (b *blocks) fits(n int) bool { return n <= len(b.buf)-b.used }

// write appends p, in one call of to if it fits. sync makes what each call brings durable.
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

// goDirect has the segment, which holds its header only, written by blocks from now on, and tells whether that can be. The segment
// stays dirty, for the header's sake. The caller owns writer.
func (l *Log) goDirect() (bool, error) {
	w := &l.writer
	to, size := directWriter(l, w.file)
	if to == nil {
		return false, nil
	}
	w.blocks.begin(to, size, encodeSegmentHeader(w.base, l.salt))
	// The header once more, to see whether the file system takes such writes.
	err := w.blocks.write(nil, true)
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		_ = setDirect(w.file.Fd(), false) // if it fails, so will the writes
		return false, nil
	}
	return err == nil, err
}

// directWriter returns what writes blocks of the segment in hand past the page cache, and their size, or nil if nothing does; tests
// replace it.
//
// Small blocks keep what is written for one commit small. A disk whose own blocks are larger has to put them together, which it
// does as well for a larger block that is written again: neither is safer if it fails at that.
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
	if sync && w.records >= crowdMin && w.direct { // the first write, which finds out about the file system, blocks
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
			// Otherwise all of it is written again, the same bytes at the same place.
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

// writeOnFullDisk writes and syncs blocks by way of the file, which makes room where the engine keeps some. A file system that copies
// on write, or compresses, may need room to overwrite.
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
