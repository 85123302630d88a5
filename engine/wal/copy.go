package wal

import (
	"errors"
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// copyChunkBytes is how many bytes are copied at a time.
const copyChunkBytes = 1 << 20

// Hold keeps the present segments from being removed and from becoming spares, until the function that it returns is called. Meanwhile
// the log only grows, so a hold should be short.
func (l *Log) Hold() (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holds++
	return func() {
		l.mu.Lock()
		l.holds--
		l.mu.Unlock()
		l.Kick()
	}
}

// CopyTo copies the log from one position up to another, which must be durable, into a directory without a log, with a mark of its own: Open
// finds it there as a log that ends at that position. Segments are copied, never linked, because their files are reused later. The caller has
// called Hold. An error of poll ends it early.
func (l *Log) CopyTo(dir string, from, end Position, poll func() error) error {
	l.mu.Lock()
	segments := append([]segment(nil), l.segments...)
	l.mu.Unlock()
	first, last := 0, 0
	for i, s := range segments {
		if s.base <= from {
			first = i
		}
		if s.base <= end {
			last = i
		}
	}
	if len(segments) == 0 || segments[first].base > from {
		return fmt.Errorf("wal: copy: what is at position %d is not there any more", from)
	}
	size := int64(0)
	for i := first; i <= last; i++ {
		until := end
		if i < last {
			until = segments[i+1].base
		}
		size = segmentHeaderBytes + int64(until-segments[i].base)
		if err := l.copySegment(dir, segments[i].base, size, poll); err != nil {
			return fmt.Errorf("wal: copy %s: %w", segmentName(segments[i].base), err)
		}
	}
	f, err := l.o.Raw.Create(l.o.Raw.PathJoin(dir, mark{segments[last].base, size, end}.name()), category)
	if err != nil {
		return fmt.Errorf("wal: copy: %w", err)
	}
	return errors.Join(f.Sync(), f.Close(), SyncDir(l.o.Raw, dir))
}

// copySegment copies the first size bytes of a segment, durably, and checks the records of the copy.
func (l *Log) copySegment(dir string, base Position, size int64, poll func() error) (err error) {
	name := segmentName(base)
	from, err := l.o.Raw.Open(l.path(name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	path := l.o.Raw.PathJoin(dir, name)
	to, err := l.o.Raw.Create(path, category)
	if err != nil {
		return err
	}
	if err = copyBytes(to, from, size, poll); err == nil {
		err = to.Sync()
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	end, err := checkSegment(l.o.Raw, path, base, base, poll)
	if want := base + Position(size-segmentHeaderBytes); err == nil && end != want {
		err = fmt.Errorf("%w: the record at position %d is not intact", ErrDamaged, end)
	}
	return err
}

func copyBytes(to io.Writer, from io.ReaderAt, size int64, poll func() error) error {
	chunk := make([]byte, copyChunkBytes)
	for at := int64(0); at < size; {
		if err := poll(); err != nil {
			return err
		}
		n := min(size-at, copyChunkBytes)
		if got, err := from.ReadAt(chunk[:n], at); int64(got) < n {
			return errors.Join(err, io.ErrUnexpectedEOF)
		}
		if _, err := to.Write(chunk[:n]); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// checkSegment reads the records of a segment's file from a position on, and returns where the intact ones end. A file without header has none.
func checkSegment(fs vfs.FS, path string, base, from Position, poll func() error) (end Position, err error) {
	f, err := fs.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r, err := newReader(f, base)
	if err != nil {
		return 0, err
	}
	header, err := r.at(0, segmentHeaderBytes)
	if err != nil {
		return 0, err
	}
	var present bool
	if r.salt, present, err = decodeSegmentHeader(header, base); err != nil || !present {
		return from, err
	}
	for end = from; ; {
		if err := poll(); err != nil {
			return 0, err
		}
		content, err := r.record(end)
		if err != nil || content == nil {
			return end, err
		}
		end += RecordBytes(len(content))
	}
}
