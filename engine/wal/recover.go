package wal

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Reasons why Open refuses.
var (
	// ErrDamaged: a part of the log that was durable is missing or cannot be read.
	ErrDamaged = errors.New("wal: the log is damaged")
	// ErrLost: the newest part of the log was durable and is gone. Options.AcceptLost goes on without it.
	ErrLost = errors.New("wal: the end of the log is lost")
	// ErrVersion: a newer program wrote the log.
	ErrVersion = errors.New("wal: unknown version of the log")
)

// newSalt returns a random salt; tests replace it.
var newSalt = func() uint32 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint32(b[:])
}

// readWindowBytes is how many bytes are read from a segment at a time.
const readWindowBytes = 1 << 20

// Open opens the log of a directory and calls replay with every record at or above released, in order. replay may keep the content.
// released is the position up to which the owner has the effects of all records. If there is no log one is begun at released, unless
// must says that there was one: then Open returns ErrLost.
func Open(o Options, released Position, must bool, replay func(content []byte) error) (*Log, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Room == nil {
		o.Room = func(int64) bool { return true }
	}
	l := &Log{o: o, salt: newSalt(), released: released, kick: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	end, err := l.recover(must, replay)
	if err != nil {
		return nil, err
	}
	l.base, l.end, l.synced = end, end, end
	l.limit = l.nextLimit()
	// A torn record stays where it is, in a segment that is not written any more. If a segment has nothing else, it is replaced by an
	// empty file or by the spare.
	n := len(l.segments)
	exists := n > 0 && l.segments[n-1].base == end
	if !exists {
		l.segments = append(l.segments, segment{base: end})
	} else if err = l.retractMark(); err == nil && l.spareBytes == 0 {
		err = l.replace(end)
	}
	if err == nil {
		err = l.begin(end, exists)
	}
	if err != nil {
		if l.writer.file != nil {
			err = errors.Join(err, l.writer.file.Close())
		}
		return nil, fmt.Errorf("wal: begin a segment: %w", err)
	}
	go l.keep()
	return l, nil
}

// recover reads and replays the segments, and returns where the log ends.
func (l *Log) recover(must bool, replay func([]byte) error) (end Position, err error) {
	if err := l.removeSparePart(); err != nil {
		return 0, fmt.Errorf("wal: remove an unfinished spare: %w", err)
	}
	names, err := l.o.FS.List(l.o.Dir)
	if err != nil {
		return 0, fmt.Errorf("wal: %w", err)
	}
	var bases []Position
	for _, name := range names {
		if base, ok := parseSegmentName(name); ok {
			bases = append(bases, base)
		}
	}
	slices.Sort(bases)
	l.readMark(names)
	if info, err := l.o.FS.Stat(l.path(spareName)); err == nil {
		if l.o.Spares && info.Size() >= l.o.firstBytes() {
			l.spareBytes = info.Size()
		} else {
			l.remove(spareName) // the options have changed
		}
	}
	if len(bases) == 0 {
		if must {
			if err := l.lost("its files (*%s) are gone", segmentSuffix); err != nil {
				return 0, err
			}
		}
		return l.released, nil
	}
	first := 0
	for first+1 < len(bases) && bases[first+1] <= l.released {
		first++
	}
	if bases[first] > l.released {
		return 0, fmt.Errorf("%w: it begins with %s, and what comes before it is gone", ErrDamaged, segmentName(bases[first]))
	}
	end = l.released
	for i, base := range bases[first:] {
		next := bases[first:][min(i+1, len(bases)-first-1)]
		if end, err = l.readSegment(base, max(end, base), next, replay); err != nil {
			return 0, err
		}
	}
	// A loss that is accepted here is not noticed again at the next start, since the mark is changed when the next segment begins.
	if err := l.checkEnd(end, must || end > bases[0]); err != nil {
		return 0, err
	}
	for _, base := range bases[:first] {
		l.remove(segmentName(base))
	}
	return end, nil
}

// readSegment replays the records of the segment with this base from a position on. next is the base of the segment after it, or
// its own base if it is the last. It returns where the segment's records end.
func (l *Log) readSegment(base, from, next Position, replay func([]byte) error) (end Position, err error) {
	name := segmentName(base)
	f, err := l.o.FS.OpenReadWrite(l.path(name), category)
	if err != nil {
		return 0, fmt.Errorf("wal: open %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if next == base {
		// An earlier process may have written this without syncing it. What is replayed must be durable.
		if err := f.SyncData(); err != nil {
			return 0, fmt.Errorf("wal: sync %s: %w", name, err)
		}
	}
	r, err := newReader(f, base)
	if err != nil {
		return 0, fmt.Errorf("wal: read %s: %w", name, err)
	}
	l.segments = append(l.segments, segment{base: base, bytes: r.size})
	header, err := r.at(0, segmentHeaderBytes)
	if err != nil {
		return 0, fmt.Errorf("wal: read %s: %w", name, err)
	}
	var present bool
	if r.salt, present, err = decodeSegmentHeader(header, base); err != nil {
		return 0, err
	}
	if next == base {
		if err := l.checkNewest(base, from, r.size, present); err != nil {
			return 0, err
		}
	}
	for end = from; present && (next == base || end < next); {
		content, err := r.record(end)
		if err != nil {
			return 0, fmt.Errorf("wal: read %s: %w", name, err)
		}
		if content == nil {
			break
		}
		end += RecordBytes(len(content))
		if err := replay(content); err != nil {
			return 0, fmt.Errorf("wal: replay %s: %w", name, err)
		}
	}
	switch {
	case next == base:
		// No intact record further on may say that the log was synced beyond this position.
		err = r.checkTorn(end)
	case end != next:
		err = fmt.Errorf("the record at position %d is not intact, and the log goes on at %d", end, next)
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %s: %w", ErrDamaged, name, err)
	}
	return end, nil
}

// reader reads a segment through a window.
type reader struct {
	f      vfs.File
	base   Position
	salt   uint32
	size   int64
	window []byte
	start  int64 // offset of window
}

func newReader(f vfs.File, base Position) (*reader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return &reader{f: f, base: base, size: info.Size()}, nil
}

// at returns n bytes at an offset, or fewer at the file's end. They are valid until the next call.
func (r *reader) at(offset int64, n int) ([]byte, error) {
	n = int(max(0, min(int64(n), r.size-offset)))
	if offset < r.start || offset+int64(n) > r.start+int64(len(r.window)) {
		want := int(min(int64(max(n, readWindowBytes)), max(0, r.size-offset)))
		r.window = slices.Grow(r.window[:0], want)[:want]
		r.start = offset
		if got, err := r.f.ReadAt(r.window, offset); got < want {
			return nil, fmt.Errorf("at offset %d: %w", offset, errors.Join(err, io.ErrUnexpectedEOF))
		}
	}
	at := offset - r.start
	return r.window[at : at+int64(n)], nil
}

func (r *reader) offset(pos Position) int64 { return segmentHeaderBytes + int64(pos-r.base) }

// record returns a copy of the content of the record at a position, or nil if there is none that is intact.
func (r *reader) record(pos Position) ([]byte, error) {
	offset := r.offset(pos)
	b, err := r.at(offset, recordHeaderBytes)
	if err != nil || len(b) < recordHeaderBytes {
		return nil, err
	}
	h := decodeRecordHeader(b)
	if h.pos != pos || h.length == 0 || int64(h.length) > r.size-offset-recordHeaderBytes {
		return nil, nil
	}
	if b, err = r.at(offset, recordHeaderBytes+h.length); err != nil {
		return nil, err
	}
	if !h.intact(r.salt, b, b[recordHeaderBytes:]) {
		return nil, nil
	}
	return slices.Clone(b[recordHeaderBytes:]), nil
}

// checkTorn checks that a crash can be the reason why the intact records end at a position: it searches the rest of the file for a
// record that was appended when the log was already synced beyond that, which would mean damage.
func (r *reader) checkTorn(end Position) error {
	for offset := r.offset(end); offset < r.size; {
		b, err := r.at(offset, readWindowBytes)
		if err != nil {
			return err
		}
		i := 0
		for ; i+recordHeaderBytes <= len(b); i += recordAlign {
			pos := r.base + Position(offset+int64(i)-segmentHeaderBytes)
			if Position(binary.LittleEndian.Uint64(b[i+8:])) != pos || Position(binary.LittleEndian.Uint64(b[i+16:])) <= end {
				continue
			}
			content, err := r.record(pos)
			if err != nil {
				return err
			}
			if content != nil {
				return fmt.Errorf("the record at position %d is not intact, though it was durable according to the one at %d", end, pos)
			}
			// record has moved the window.
			if b, err = r.at(offset, readWindowBytes); err != nil {
				return err
			}
		}
		if i == 0 {
			return nil
		}
		offset += int64(i)
	}
	return nil
}
