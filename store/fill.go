package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/mvcc"
)

const (
	// fillTableBytes is the size from which a Fill begins another table: that of Pebble's in the last level.
	fillTableBytes = 64 << 20
	// fillLookBytes is how much a Fill takes between two looks at the disk.
	fillLookBytes = 16 << 20
)

// Fill writes versions with timestamps of the past, in bulk and without the log: entries of an index that nobody reads yet. What others have written
// of a key since is newer and stays in force, so nothing has to be locked. The caller guarantees that
//
//   - the versions are made from what was read at a snapshot, which stays registered until Apply has returned. So no delete marker of since then has
//     been collected: without the marker the version that is put below it would be visible;
//   - at the snapshot each key is as its version says, or has no version yet: a version at the same timestamp is the same, and none lies between;
//   - writers of such a key do not claim to know the version below theirs (kvapi.ShadowAt), above all when they delete: they hold no lock of it.
//
// It writes tables, which are ingested into the engine in one step. It is used by one goroutine at a time.
type Fill struct {
	s      *Store
	at     clock.Timestamp // the snapshot's
	span   kvapi.Span
	sorter *engine.Sorter
	value  []byte
	bytes  int64
	looked int64 // bytes, at the last look at the disk
}

// fillSuffix is the length of the timestamp that follows each value in the sorter.
const fillSuffix = 8

// NewFill returns a Fill of a bounded span, all of whose keys have the given number of leading bytes in common, with versions read at a snapshot. The
// caller calls Discard at the end. A store of a cluster returns kvapi.ErrNotAlone.
func (s *Store) NewFill(span kvapi.Span, common int, at clock.Timestamp) (*Fill, error) {
	if span.IsPoint() || len(span.End) == 0 || span.Empty() {
		return nil, fmt.Errorf("store: fill needs a bounded span, not [%x, %x)", span.Start, span.End)
	}
	if s.regions.Load().closed || s.cluster.Load() != nil {
		return nil, kvapi.ErrNotAlone
	}
	return &Fill{s: s, at: at, span: span, sorter: s.engine.NewSorter(common)}, nil
}

// Add adds a key, which lies in the span and has not been added before, with its value as of a timestamp up to the snapshot's.
func (f *Fill) Add(key, value []byte, ts clock.Timestamp) error {
	if !f.span.Contains(key) {
		return fmt.Errorf("store: fill: key %x is outside of [%x, %x)", key, f.span.Start, f.span.End)
	}
	assert.That(ts != 0 && ts <= f.at, "store: a Fill's version is not above its snapshot")
	f.bytes += int64(len(key) + len(value) + keys.VersionExtra)
	if f.bytes-f.looked >= fillLookBytes {
		f.looked = f.bytes
		if err := f.mayWrite(); err != nil {
			return err
		}
	}
	f.value = binary.BigEndian.AppendUint64(append(f.value[:0], value...), uint64(ts))
	return f.s.fillError(f.sorter.Add(key, f.value))
}

// mayWrite returns an error if the disk is full, of which a Fill takes about twice what it adds, or the store has failed. It polls the disk itself, since
// maintenance sleeps while there are no commits.
func (f *Fill) mayWrite() error {
	f.s.engine.PollDisk()
	return f.s.admissible()
}

// Full reports whether it is time for Apply.
func (f *Fill) Full() bool { return f.sorter.Full() }

// Apply writes the versions, which are durable when it returns. On any error nothing has happened, unless the engine has failed.
func (f *Fill) Apply(i *kvapi.Interrupt) error {
	if f.sorter.Empty() {
		return nil
	}
	if err := f.mayWrite(); err != nil {
		return err
	}
	var tables []*engine.Table
	defer func() {
		for _, t := range tables {
			t.Discard()
		}
	}()
	err := f.sorter.Each(i.Err, f.writer(&tables))
	if n := len(tables); err == nil {
		err = tables[n-1].Finish()
	}
	if err != nil {
		return f.s.fillError(err)
	}
	return f.ingest(tables)
}

// writer returns a function that writes pairs, which come in key order, into tables; it finishes all but the last.
func (f *Fill) writer(tables *[]*engine.Table) func(key, value []byte) error {
	var version, stored []byte
	return func(key, value []byte) error {
		n := len(*tables)
		if n > 0 && (*tables)[n-1].Bytes() >= fillTableBytes {
			if err := (*tables)[n-1].Finish(); err != nil {
				return err
			}
			n = 0
		}
		if n == 0 {
			if err := f.mayWrite(); err != nil {
				return err
			}
			t, err := f.s.engine.NewTable()
			if err != nil {
				return err
			}
			*tables = append(*tables, t)
		}
		value, suffix := value[:len(value)-fillSuffix], value[len(value)-fillSuffix:]
		ts := clock.Timestamp(binary.BigEndian.Uint64(suffix))
		version = keys.VersionKey(version[:0], key, ts)
		stored = mvcc.AppendValue(stored[:0], ts, 0, value, false)
		return (*tables)[len(*tables)-1].Set(version, stored)
	}
}

// ingest puts the tables into the engine.
func (f *Fill) ingest(tables []*engine.Table) error {
	s := f.s
	// Ingesting first flushes memtables whose keys overlap the tables, and commits wait meanwhile. So they are flushed here, while nobody waits.
	it, err := s.engine.NewIter(engine.IterOptions{
		Lower: keys.VersionPrefix(nil, f.span.Start), Upper: keys.VersionPrefix(nil, f.span.End), MinTS: f.at + 1, MaxTS: clock.MaxTimestamp,
	})
	if err != nil {
		return err
	}
	written := it.First()
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		return s.readError(err)
	}
	if written {
		if err := s.engine.Flush(); err != nil {
			return err
		}
	}
	// The collector deletes nothing meanwhile, and Promote does not begin.
	s.collecting.Lock()
	defer s.collecting.Unlock()
	switch {
	case s.cluster.Load() != nil || s.regions.Load().closed:
		return kvapi.ErrNotAlone
	case s.failed.Load() || s.isClosing():
		return kvapi.ErrClosed
	case clock.Timestamp(s.safepoint.Load()) > f.at:
		return kvapi.ErrSnapshotTooOld
	}
	if err := s.engine.IngestBeside(tables); err != nil {
		return s.fillError(err)
	}
	f.count()
	return nil
}

// count adds the bytes to the regions' counts, in equal parts: they only decide which regions the housekeeper measures.
func (f *Fill) count() {
	var filled []*region
	for _, r := range f.s.regions.Load().sorted {
		if bytes.Compare(r.Start, f.span.End) < 0 && (len(r.End) == 0 || bytes.Compare(r.End, f.span.Start) > 0) {
			filled = append(filled, r)
		}
	}
	for _, r := range filled {
		r.written.Add(f.bytes / int64(len(filled)))
	}
}

// Sorter puts pairs in the order of their keys, in memory and files of this node; see engine.Sorter. It ends with Discard.
type Sorter struct {
	s      *Store
	sorter *engine.Sorter
}

// NewSorter begins to sort pairs of any keys.
func (s *Store) NewSorter() *Sorter { return &Sorter{s, s.engine.NewSorter(0)} }

// Add adds a pair.
func (t *Sorter) Add(key, value []byte) error { return t.s.fillError(t.sorter.Add(key, value)) }

// Short reports whether temporary files have no more space.
func (t *Sorter) Short() bool { return t.sorter.Short() }

// Each calls f with all pairs in the order of their keys. Slices are borrowed for the call.
func (t *Sorter) Each(i *kvapi.Interrupt, f func(key, value []byte) error) error {
	return t.s.fillError(t.sorter.Each(i.Err, f))
}

// Discard ends the sorter and removes its files.
func (t *Sorter) Discard() { t.sorter.Discard() }

// fillError marks a full disk as kvapi.ErrDiskFull.
func (s *Store) fillError(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w: %w", kvapi.ErrDiskFull, err)
	}
	return err
}

// Discard ends a fill, applied or not.
func (f *Fill) Discard() { f.sorter.Discard() }
