package wal

import (
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Check reads all records of the log in a directory that no Log has open; names are the directory's files. It calls fault for what Open would
// refuse, and for damage in segments that are no longer needed as well. An error of poll ends it early.
func Check(fs vfs.FS, dir string, names []string, poll func() error, fault func(name string, err error)) (segments int, bytes int64, err error) {
	var bases []Position
	var newest mark
	marked := false
	for _, name := range names {
		if base, ok := parseSegmentName(name); ok {
			bases = append(bases, base)
		}
		if m, ok := parseMark(name); ok && (!marked || m.base > newest.base || m.base == newest.base && m.bytes < newest.bytes) {
			newest, marked = m, true
		}
	}
	slices.Sort(bases)
	if len(bases) == 0 || marked && newest.base > bases[len(bases)-1] {
		fault("*"+segmentSuffix, fmt.Errorf("%w: the newest segment is gone", ErrLost))
	}
	for i, base := range bases {
		name := segmentName(base)
		path := fs.PathJoin(dir, name)
		info, err := fs.Stat(path)
		if err != nil {
			return segments, bytes, fmt.Errorf("wal: check %s: %w", name, err)
		}
		segments, bytes = segments+1, bytes+info.Size()
		end, err := checkSegment(fs, path, base, base, poll)
		if polled := poll(); polled != nil {
			return segments, bytes, polled
		}
		last := i == len(bases)-1
		switch {
		case err != nil:
		case !last && end != bases[i+1]:
			err = fmt.Errorf("%w: the record at position %d is not intact, and the log goes on at %d", ErrDamaged, end, bases[i+1])
		case last && marked && newest.base == base && info.Size() < newest.bytes:
			err = fmt.Errorf("%w: it has %d bytes of at least %d", ErrLost, info.Size(), newest.bytes)
		case last && marked && end < newest.end:
			err = fmt.Errorf("%w: the record at position %d is not intact, and the log was durable up to %d", ErrLost, end, newest.end)
		case last:
			err = checkTail(fs, path, base, end)
		}
		if err != nil {
			fault(name, err)
		}
	}
	return segments, bytes, nil
}

// checkTail is reader.checkTorn for the newest segment, whose intact records end at end.
func checkTail(fs vfs.FS, path string, base, end Position) error {
	f, err := fs.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was read only
	r, err := newReader(f, base)
	if err != nil {
		return err
	}
	header, err := r.at(0, segmentHeaderBytes)
	if err != nil {
		return err
	}
	var present bool
	if r.salt, present, err = decodeSegmentHeader(header, base); err != nil || !present {
		return err
	}
	if err := r.checkTorn(end); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}
