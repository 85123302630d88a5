package engine

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/pandodb/pando/clock"
)

const (
	// spareLogName is the file that waits to become a WAL, and sparePartName what it is while it is being written.
	spareLogName  = "spare-log"
	sparePartName = "spare-log.part"
	// spareChunkBytes is synced at a time, so that the log in use never waits behind more, and sparePageBytes written: Linux
	// keeps what one write brings in one folio, and later has to look through all of it for each sync of the log.
	spareChunkBytes = 1 << 20
	sparePageBytes  = 4 << 10
	// spareChunkPause leaves the disk to the foreground between chunks.
	spareChunkPause = time.Millisecond
	// spareFreeShare: no spare is made when it would take more than one part in so many of the free space.
	spareFreeShare = 8

	walCategory WriteCategory = "pebble-wal"
)

// logSpace is the file system as Pebble sees it: a WAL is created from a spare file whose blocks have been written before.
//
// fdatasync of a log that grows commits the file system's journal, for the new size and the new blocks, and on ext4 that commit
// first writes back whatever else was allocated meanwhile, such as the tables of a running flush. A log over written blocks has
// only its own data to wait for. Pebble recycles old logs to this end; the spare serves the first ones after a start, and the
// ones that replace a recycled log which is too short.
//
// One goroutine, which Engine.Close ends, makes the spare. A spare is zeros all over, which Pebble's reader takes for the end of
// a log, as after preallocation.
type logSpace struct {
	FS
	e     *Engine
	raw   FS    // below the wrapper that reacts to a full disk: a spare that doesn't fit is done without
	bytes int64 // size of a spare
	want  chan struct{}
	stop  chan struct{}
	done  chan struct{}

	// mu guards what follows. It is held over renames, and is a leaf.
	mu    sync.Mutex
	ready bool // the spare file is complete
	plain bool // the log in use grows: it was made from nothing, or of a short one
}

func newLogSpace(e *Engine, fs FS) *logSpace {
	return &logSpace{FS: fs, e: e, raw: e.opts.FS, bytes: e.opts.SpareLogBytes, want: make(chan struct{}, 1),
		stop: make(chan struct{}), done: make(chan struct{})}
}

// Unwrap implements vfs.FS.
func (l *logSpace) Unwrap() FS { return l.FS }

// Create implements vfs.FS.
func (l *logSpace) Create(name string, category WriteCategory) (File, error) {
	if category != walCategory {
		return l.FS.Create(name, category)
	}
	f, err := l.take(name)
	if f == nil && err == nil {
		f, err = l.FS.Create(name, category)
	}
	return l.wrap(f, err)
}

// OpenDir implements vfs.FS.
func (l *logSpace) OpenDir(name string) (File, error) {
	f, err := l.FS.OpenDir(name)
	if err != nil || name != l.e.opts.Dir {
		return f, err
	}
	return &logFile{File: f, e: l.e}, nil
}

// wrap makes a file of the log from what the file system has given. A log that cannot be had ends the process, like one that
// cannot be written.
func (l *logSpace) wrap(f File, err error) (File, error) {
	if err != nil {
		err = l.e.logFailed("create", err)
		if f != nil {
			err = errors.Join(err, f.Close())
		}
		return nil, err
	}
	return &logFile{File: f, e: l.e}, nil
}

// ReuseForWrite implements vfs.FS.
func (l *logSpace) ReuseForWrite(oldname, newname string, category WriteCategory) (File, error) {
	if category != walCategory {
		return l.FS.ReuseForWrite(oldname, newname, category)
	}
	if info, err := l.FS.Stat(oldname); err == nil && info.Size() < l.bytes/2 {
		f, err := l.take(newname)
		if f != nil && err == nil {
			err = l.FS.Remove(oldname)
		}
		if f != nil || err != nil {
			return l.wrap(f, err)
		}
	} else {
		l.mu.Lock()
		l.plain = false
		l.mu.Unlock()
	}
	return l.wrap(l.FS.ReuseForWrite(oldname, newname, category))
}

// take makes the spare, if there is one, the log of this name, and asks for another.
func (l *logSpace) take(name string) (File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.want <- struct{}{}:
	default:
	}
	l.plain = !l.ready
	if !l.ready {
		return nil, nil
	}
	l.ready = false
	if err := l.FS.Rename(l.path(spareLogName), name); err != nil {
		return nil, fmt.Errorf("engine: use the spare log: %w", err)
	}
	return l.FS.OpenReadWrite(name, walCategory)
}

func (l *logSpace) path(name string) string { return l.FS.PathJoin(l.e.opts.Dir, name) }

// find looks for what an earlier process has left. It runs before Pebble opens the directory.
func (l *logSpace) find() error {
	if err := l.raw.Remove(l.path(sparePartName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("engine: remove an unfinished spare log: %w", err)
	}
	info, err := l.raw.Stat(l.path(spareLogName))
	l.ready = err == nil && l.bytes > 0 && info.Size() >= l.bytes
	return nil
}

// run is the goroutine that makes spares.
func (l *logSpace) run() {
	defer close(l.done)
	for {
		select {
		case <-l.stop:
			return
		case <-l.want:
		}
		err := l.fill()
		if err != nil {
			_ = l.raw.Remove(l.path(sparePartName)) // the next attempt truncates it anyway
			l.e.opts.Logger.Warn("cannot make a spare log; logs grow as they are written", "error", err)
			continue
		}
		l.mu.Lock()
		plain := l.ready && l.plain
		l.mu.Unlock()
		if plain && !l.e.Failed() {
			// Leave the growing log. Its memtable is young, for spares are made faster than memtables fill.
			if _, err := l.e.db.AsyncFlush(); err != nil {
				l.e.opts.Logger.Warn("cannot change to the spare log", "error", err)
			}
		}
	}
}

// fill writes a spare unless there is one, no room for it, or no time.
func (l *logSpace) fill() (err error) {
	l.mu.Lock()
	ready := l.ready
	l.mu.Unlock()
	if usage, err := l.raw.GetDiskUsage(l.e.opts.Dir); ready || l.bytes == 0 || (err == nil && usage.AvailBytes < l.e.disk.lowBytes+uint64(l.bytes)*spareFreeShare) {
		return nil
	}
	f, err := l.raw.Create(l.path(sparePartName), walCategory)
	if err != nil {
		return err
	}
	page := make([]byte, sparePageBytes)
	for written := int64(0); written < l.bytes && err == nil; {
		select {
		case <-l.stop:
			return errors.Join(f.Close(), l.raw.Remove(l.path(sparePartName)))
		default:
		}
		for end := min(l.bytes, written+spareChunkBytes); written < end && err == nil; written += sparePageBytes {
			_, err = f.Write(page)
		}
		if err == nil {
			err = f.SyncData()
		}
		clock.Sleep(spareChunkPause)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	// The name needs no sync: it is worth nothing until it is renamed to a log's, and Pebble syncs that.
	if err := l.raw.Rename(l.path(sparePartName), l.path(spareLogName)); err != nil {
		return err
	}
	l.mu.Lock()
	l.ready = true
	l.mu.Unlock()
	return nil
}

// close ends the goroutine. The spare stays for the next process.
func (l *logSpace) close() {
	close(l.stop)
	<-l.done
}

var _ vfs.FS = (*logSpace)(nil)
