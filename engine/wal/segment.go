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
	// spareChunkBytes is how much of a spare is synced at a time, so that syncs of the log never wait for more. It is written past the page
	// cache if possible, which saves a copy; otherwise by sparePageBytes, because Linux keeps the pages of one write in one folio, and
	// later has to search all of it for dirty pages at each sync of the log.
	spareChunkBytes = 1 << 20
	sparePageBytes  = 4 << 10
	// spareChunkPause is the pause between chunks, in which the disk serves others.
	spareChunkPause = time.Millisecond
	// spareLateShare: a spare is made in any case when less than a quarter of the segment is left.
	spareLateShare = 4
	// spareFreeShare: no spare is made if it would take more than an eighth of the free space.
	spareFreeShare = 8

	category vfs.DiskWriteCategory = "pando-wal"
)

// change ends the open segment and begins the next. The caller owns writer.
//
// fdatasync of a file that grows commits the file system's journal, for the new size and the new blocks, and on ext4 that commit
// first writes back whatever else was allocated meanwhile, such as the tables of a running flush. A segment made of a spare, whose
// blocks have been written before, only waits for its own data.
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
	// The mark says that header and name are durable, so they are synced first.
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

// replace replaces a segment that has nothing but a torn record by an empty file. It renames one over it, since FS.Create might remove the
// old file first, and a crash could then leave no segment at all. The keeper does not run yet.
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

// nearEnd reports whether a spare will be needed soon. The caller holds mu.
func (l *Log) nearEnd() bool { return int64(l.end-l.base) > l.limit-l.limit/spareLateShare }

// sizeNow is the size of a spare made now. It begins small, so that a nearly empty directory takes little space, and doubles as the log
// grows, up to SegmentBytes: so all spares together have been about as long as the log. The caller holds mu.
func (l *Log) sizeNow() int64 {
	size := l.o.firstBytes()
	for size < l.o.SegmentBytes && size <= int64(l.end)/2 {
		size *= 2
	}
	return min(size, l.o.SegmentBytes)
}

// nextLimit is the size at which a segment that begins now will end: that of the spare that it will be made of, if there is one. If an
// earlier segment takes the spare, or the spare is smaller than expected, the file grows. The caller holds mu.
func (l *Log) nextLimit() int64 {
	if l.spareBytes > 0 {
		return min(l.spareBytes, l.o.SegmentBytes)
	}
	return l.sizeNow()
}

// setSpare sets the size of the spare file. The caller holds filesMu.
func (l *Log) setSpare(bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spareBytes = bytes
}

// reclaim removes the segments that end at or below released. One of the right size becomes the spare, if there is none; and if releases
// have come late before (Log.late), another one is kept to become the next spare. The newest file always stays: its successor may exist
// in memory only, and a directory without a segment would count as damaged.
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
	l.late = l.late && l.released < l.end // if all of it is released, there are no writes, and no spare is kept for them
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

// fits reports whether a segment's file has the right size for a spare. The caller holds mu.
func (l *Log) fits(s segment) bool { return s.bytes >= l.sizeNow() && s.bytes <= l.o.SegmentBytes }

// remove removes a file that is not needed. If that fails, the next Open will do it.
func (l *Log) remove(name string) {
	if err := l.o.FS.Remove(l.path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		l.o.Logger.Warn("cannot remove a file of the log", "name", name, "error", err)
	}
}

// wantSpare reports whether a spare is to be written: there is none, and no segment of the right size can be expected to be released in
// time. Writing one costs as much as writing a segment's worth of records.
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

// makeSpare writes a spare, unless none is wanted, there is no space for it, or the log is being closed.
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
	// The rename needs no sync: a spare may be lost, and begin syncs the name when it becomes a segment.
	if err := l.o.Raw.Rename(l.path(sparePartName), l.path(spareName)); err != nil {
		return err
	}
	l.setSpare(size)
	// If the present segment's file was not made of a spare, the next record begins a new segment; if it has no file yet, it will be made of the spare.
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

// fillDirect writes a chunk past the page cache. It returns false if that fails for whatever reason; the caller then uses fillPages.
func fillDirect(fd uintptr, chunk []byte, offset int64) bool {
	n, err := directWrite(fd, chunk, offset, false)
	return err == nil && n == len(chunk)
}

// fillPages writes a chunk through the page cache.
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
