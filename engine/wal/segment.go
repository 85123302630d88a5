package wal

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine/aio"
)

const (
	// spareChunkBytes is synced at a time, so that the log in use never waits behind more. It is written past the page cache if that
	// can be, which spares the processor a copy; otherwise by sparePageBytes, because Linux keeps what one write brings in one folio,
	// and later has to look through all of it for each sync of the log.
	spareChunkBytes = 1 << 20
	sparePageBytes  = 4 << 10
	// spareChunkPause leaves the disk to the foreground between chunks.
	spareChunkPause = time.Millisecond
	// spareLateShare: a spare is made in any case when no more than one part in so many of the segment is left.
	spareLateShare = 4
	// spareFreeShare: no spare is made when it would take more than one part in so many of the free space.
	spareFreeShare = 8

	category vfs.DiskWriteCategory = "pando-wal"
)

// change ends the segment in hand and begins the next. The caller owns writer.
//
// fdatasync of a file that grows commits the file system's journal, for the new size and the new blocks, and on ext4 that commit
// first writes back whatever else was allocated meanwhile, such as the tables of a running flush. A segment over written blocks
// has only its own data to wait for.
func (l *Log) change(base Position) error {
	if l.writer.dirty {
		if err := l.syncSegment(); err != nil {
			return fmt.Errorf("sync the last one: %w", err)
		}
	}
	file := l.writer.file
	l.writer.file = nil
	if err := file.Close(); err != nil {
		return fmt.Errorf("close the last one: %w", err)
	}
	return l.begin(base, false)
}

// begin opens the segment of this base, from the spare if there is one, and makes its name durable. exists says that there is an
// empty file of its name. The caller owns writer.
func (l *Log) begin(base Position, exists bool) error {
	l.filesMu.Lock()
	defer l.filesMu.Unlock()
	name := l.path(segmentName(base))
	bytes := l.spareBytes
	if bytes > 0 {
		l.setSpare(0)
		if err := l.o.FS.Rename(l.path(spareName), name); err != nil {
			return fmt.Errorf("use the spare: %w", err)
		}
		exists = true
	}
	var file vfs.File
	var err error
	if exists {
		file, err = l.o.FS.OpenReadWrite(name, category)
	} else {
		file, err = l.o.FS.Create(name, category)
	}
	if err != nil {
		return err
	}
	w := &l.writer
	w.file, w.base, w.bytes, w.fresh, w.dirty, w.direct = file, base, bytes, true, true, false
	if _, err := file.Write(encodeSegmentHeader(base, l.salt)); err != nil {
		return err
	}
	// The mark tells of the header, so that is durable first, and so is the name.
	if err := file.SyncData(); err != nil {
		return err
	}
	if err := SyncDir(l.o.FS, l.o.Dir); err != nil {
		return err
	}
	l.setMark(mark{base, max(bytes, segmentHeaderBytes), base})
	if err := SyncDir(l.o.FS, l.o.Dir); err != nil {
		return err
	}
	l.mu.Lock()
	l.opened = base
	for i := range l.segments {
		if l.segments[i].base == base {
			l.segments[i].bytes = bytes
		}
	}
	l.mu.Unlock()
	l.Kick()
	return nil
}

// replace puts an empty file in the place of a segment that holds nothing but what a crash has torn. FS.Create might remove it
// first, and if it is the only segment a crash then leaves none. The keeper does not run yet.
func (l *Log) replace(base Position) error {
	f, err := l.o.FS.Create(l.path(sparePartName), category)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return l.o.FS.Rename(l.path(sparePartName), l.path(segmentName(base)))
}

// SyncDir makes the entries of a directory durable.
func SyncDir(fs vfs.FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (l *Log) path(name string) string { return l.o.FS.PathJoin(l.o.Dir, name) }

// Kick tells the log that Options.Released may return more than before. It does not wait.
func (l *Log) Kick() {
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

// keep is the goroutine that removes released segments and makes spares.
func (l *Log) keep() {
	defer close(l.done)
	for {
		select {
		case <-l.stop:
			return
		case <-l.kick:
		}
		l.reclaim(l.o.Released())
		if err := l.makeSpare(); err != nil {
			l.o.Logger.Warn("cannot make a spare segment of the log; segments grow as they are written", "error", err)
		}
	}
}

// nearEnd tells whether a spare will be needed soon. The caller holds mu.
func (l *Log) nearEnd() bool { return int64(l.end-l.base) > l.limit-l.limit/spareLateShare }

// sizeNow is the size of a spare made now. It begins small, so that a directory in which little has been written takes little of the disk,
// and doubles as the log grows: all spares together are about as long as the log, up to that of SegmentBytes. The caller holds mu.
func (l *Log) sizeNow() int64 {
	size := l.o.firstBytes()
	for size < l.o.SegmentBytes && size <= int64(l.end)/2 {
		size *= 2
	}
	return min(size, l.o.SegmentBytes)
}

// nextLimit is the size at which a segment that begins now will end: that of the spare that it is going to be made of, if there is one.
// The spare may be taken by a segment before it, or made later and be smaller; then the file grows. The caller holds mu.
func (l *Log) nextLimit() int64 {
	if l.spareBytes > 0 {
		return min(l.spareBytes, l.o.SegmentBytes)
	}
	return l.sizeNow()
}

// setSpare says how large the spare file is. The caller holds filesMu.
func (l *Log) setSpare(bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spareBytes = bytes
}

// reclaim drops the segments that end at or below released. One of the right size becomes the spare, if there is none; and while
// releases come late, another stays until it can become the next one. The newest file stays, whatever is in it: its successor may be
// in memory only, and a directory without a segment is taken for damaged.
func (l *Log) reclaim(released Position) {
	l.filesMu.Lock()
	l.mu.Lock()
	l.released = max(l.released, released)
	n := 0
	for n+1 < len(l.segments) && l.segments[n+1].base <= min(l.released, l.opened) && l.holds == 0 {
		n++
	}
	reuse, stays := -1, -1
	for i, s := range l.segments[:n] {
		used := segmentHeaderBytes + int64(l.segments[i+1].base-s.base)
		switch {
		case !l.fits(s) || used > s.bytes:
		case l.spareBytes == 0 && reuse < 0:
			reuse = i
		default:
			stays = i
		}
	}
	l.late = l.late && l.released < l.end // a log that nobody needs is not written to
	if l.late && stays >= 0 {
		n = stays
	}
	dropped := slices.Clone(l.segments[:n])
	l.segments = append(l.segments[:0], l.segments[n:]...)
	l.mu.Unlock()
	if l.o.Spares && reuse >= 0 && l.o.FS.Rename(l.path(segmentName(dropped[reuse].base)), l.path(spareName)) == nil {
		l.setSpare(dropped[reuse].bytes)
		dropped = slices.Delete(dropped, reuse, reuse+1)
	}
	l.filesMu.Unlock()
	for _, s := range dropped {
		l.remove(segmentName(s.base))
	}
}

// fits tells whether a segment's file has the size that a spare is to have. The caller holds mu.
func (l *Log) fits(s segment) bool { return s.bytes >= l.sizeNow() && s.bytes <= l.o.SegmentBytes }

// remove removes a file that is not needed. If that fails, the next Open will do it.
func (l *Log) remove(name string) {
	if err := l.o.FS.Remove(l.path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		l.o.Logger.Warn("cannot remove a file of the log", "name", name, "error", err)
	}
}

// wantSpare tells whether a spare is to be written: there is none, and none can be expected in time from the release of a segment
// that is one. To write one costs as much as what is logged meanwhile.
func (l *Log) wantSpare() bool {
	l.filesMu.Lock()
	defer l.filesMu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.spareBytes > 0 {
		return false
	}
	last := len(l.segments) - 1
	coming := slices.ContainsFunc(l.segments[:last], l.fits)
	l.expects = coming && l.segments[last].bytes != 0 && !l.nearEnd()
	l.late = l.late || coming && !l.expects
	return !l.expects
}

// makeSpare writes a spare unless none is wanted, there is no room for it, or no time.
func (l *Log) makeSpare() error {
	if !l.o.Spares || !l.wantSpare() {
		return nil
	}
	l.mu.Lock()
	size := l.sizeNow()
	l.mu.Unlock()
	if !l.o.Room(size * spareFreeShare) {
		return nil
	}
	done, err := l.fillSpare(size)
	if err != nil || !done {
		return errors.Join(err, l.removeSparePart())
	}
	l.filesMu.Lock()
	defer l.filesMu.Unlock()
	// The name needs no sync: it is worth nothing until it is a segment's, and begin syncs that.
	if err := l.o.Raw.Rename(l.path(sparePartName), l.path(spareName)); err != nil {
		return err
	}
	l.setSpare(size)
	// A segment that was made from nothing is left for the spare at once; one that is not a file yet will be made of it.
	l.mu.Lock()
	last := l.segments[len(l.segments)-1]
	l.leave = last.base == l.opened && last.bytes == 0
	l.mu.Unlock()
	return nil
}

// fillSpare writes the file of that size that becomes the spare. done is false if the log is being closed.
func (l *Log) fillSpare(size int64) (done bool, err error) {
	f, err := l.o.Raw.Create(l.path(sparePartName), category)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	zeros := aio.AlignedBytes(spareChunkBytes)
	fd := f.Fd()
	direct := fd != vfs.InvalidFd && setDirect(fd, true) == nil
	for written := int64(0); written < size; {
		select {
		case <-l.stop:
			return false, nil
		default:
		}
		chunk := zeros[:min(size-written, spareChunkBytes)]
		if direct && !fillDirect(fd, chunk, written) {
			direct = false
			if err := setDirect(fd, false); err != nil {
				return false, err
			}
		}
		if !direct {
			if err := fillPages(f, chunk, written); err != nil {
				return false, err
			}
		}
		if err := f.SyncData(); err != nil {
			return false, err
		}
		if !direct && fd != vfs.InvalidFd {
			dropCached(fd)
		}
		written += int64(len(chunk))
		clock.Sleep(spareChunkPause)
	}
	return true, nil
}

// fillDirect writes a chunk past the page cache. If that fails, whatever the reason, it is to be written otherwise.
func fillDirect(fd uintptr, chunk []byte, offset int64) bool {
	n, err := directWrite(fd, chunk, offset, false)
	return err == nil && n == len(chunk)
}

// fillPages writes a chunk by way of the page cache.
func fillPages(f vfs.File, chunk []byte, offset int64) error {
	for len(chunk) > 0 {
		page := chunk[:min(len(chunk), sparePageBytes)]
		if _, err := f.WriteAt(page, offset); err != nil {
			return err
		}
		chunk, offset = chunk[len(page):], offset+int64(len(page))
	}
	return nil
}

// removeSparePart removes what fillSpare has left unfinished.
func (l *Log) removeSparePart() error {
	if err := l.o.Raw.Remove(l.path(sparePartName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
