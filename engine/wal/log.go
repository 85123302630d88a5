package wal

import (
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"math"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine/aio"
)

// Position is a place in the log, in bytes from its beginning.
type Position uint64

// ErrFailed is what everything gets after an error of a write or a sync.
var ErrFailed = errors.New("wal: the log has failed")

// Bounds of what is in memory only, and of what the disk has not been asked to keep.
const (
	// pendingWriteBytes: who appends beyond it writes, unless somebody writes already.
	pendingWriteBytes = 4 << 20
	// pendingBytesMax: who appends beyond it waits until there is room. A single record may be larger.
	pendingBytesMax = 16 << 20
	// pendingKeptBytes is the largest buffer that is kept for reuse.
	pendingKeptBytes = 8 << 20
	// unsyncedBytesMax: a write beyond it is synced though nobody has asked, so that the next who asks need not wait for all.
	unsyncedBytesMax = 16 << 20
)

// crowdMin records in a direct write make it a crowd's: who makes it parks, see package aio. A lone client is better served by a call
// that blocks, which has a wake-up less (docs/design/measured/direct.md).
const crowdMin = 2

// Options configures a Log. Everything but Logger and Room is required.
type Options struct {
	// Dir is the directory of the segments, which exists. It may hold other files.
	Dir string
	// FS is the file system. Raw is the same below any wrapper that reacts to a full disk: a spare that doesn't fit is done
	// without.
	FS, Raw vfs.FS
	// SegmentBytes is the size at which a segment ends; one with a larger record grows as it must.
	SegmentBytes int64
	// FirstBytes is the size of the first segments of a new log, from which they double as it grows; 0 means SegmentBytes.
	FirstBytes int64
	// Spares makes spares, so that segments lie over blocks that have been written before.
	Spares bool
	// Room tells whether the disk has room for so many bytes that could be done without; nil means always.
	Room func(bytes int64) bool
	// Released returns the position up to which the effects of all records are durable without the log. It is called after
	// each Kick, on the log's goroutine.
	Released func() Position
	// AcceptLost goes on where the newest part of the log was lost, with a warning.
	AcceptLost bool
	// Fail is told of an error of the log, once, before anybody else sees it.
	Fail func(what string, err error)
	// Logger takes warnings; nil discards them.
	Logger *slog.Logger
}

// firstBytes is the least size of a spare.
func (o *Options) firstBytes() int64 {
	if o.FirstBytes > 0 {
		return min(o.FirstBytes, o.SegmentBytes)
	}
	return o.SegmentBytes
}

// Log is an open log. All methods are safe for concurrent use.
type Log struct {
	o     Options
	stats counters
	salt  uint32 // of the segments begun since Open

	// mu guards what follows, up to the next comment. It is a leaf, and never held over I/O.
	mu        sync.Mutex
	pending   []byte    // records that nobody has begun to write
	cuts      []cut     // where in pending a new segment begins
	records   int       // in pending
	spare     []byte    // the buffer that pending takes turns with; nil while it is being written
	spareCuts []cut     // likewise
	base      Position  // of the segment that the next record goes to
	limit     int64     // bytes at which that segment ends
	end       Position  // of the last record appended
	synced    Position  // all below is durable
	released  Position  // all below is not needed any more
	segments  []segment // ascending; the last is base's
	opened    Position  // base of the newest segment that is a file already
	leave     bool      // the next record begins a new segment, because there is a spare and the present one is not made of one
	expects   bool      // no spare is made, since a segment will be released that can be one; unless that is late
	busy      bool      // somebody owns the fields of writer
	holds     int       // of Hold
	err       error     // ErrFailed, or closed
	head      *waiter   // those who wait for a sync, first in first out
	tail      *waiter

	// writer belongs to who has set busy.
	writer writer

	// filesMu is held while names change: to make, take and remove spares and segments. It is taken before mu.
	filesMu    sync.Mutex
	spareBytes int64 // of the complete spare file, 0: there is none; written under both filesMu and mu
	mark       mark  // guarded by filesMu
	marked     bool  // guarded by filesMu: there is a mark
	late       bool  // guarded by filesMu: a spare had to be made because no segment was released in time

	kick chan struct{} // wakes the keeper; room for one
	stop chan struct{}
	done chan struct{} // the keeper has ended
}

// writer is the open segment.
type writer struct {
	file    vfs.File // nil if a change of segments has failed
	base    Position
	bytes   int64 // of file when it was opened
	fresh   bool  // nothing but the header has been written to file
	dirty   bool  // something written to file may not be durable
	direct  bool  // file is written by blocks
	blocks  blocks
	records int          // in the write in hand
	queue   *aio.Queue   // nil: not open, or there is none
	request *aio.Request // of queue
	// openQueue opens queue when it is first of use: to close it takes the kernel tens of milliseconds.
	openQueue sync.Once
}

// open makes the writer's queue.
func (w *writer) open() error {
	queue, err := aio.Open(1)
	if err != nil {
		return err
	}
	if w.request, err = queue.NewRequest(); err != nil {
		queue.Close()
		return err
	}
	w.queue = queue
	return nil
}

// segment is a file of the log.
type segment struct {
	base  Position
	bytes int64 // of the file when it was opened
}

// cut says that a segment begins at an offset of the pending bytes.
type cut struct {
	offset int
	base   Position
}

// waiter is somebody who waits until the log is synced up to a position, or until he has to see to it himself.
type waiter struct {
	next   *waiter
	pos    Position
	wake   chan struct{} // room for one
	served bool          // the position is synced, or the log has failed; otherwise it is the waiter's turn to work
	err    error
}

var waiters = sync.Pool{New: func() any { return &waiter{wake: make(chan struct{}, 1)} }}

// counters are what Stats reads without the lock.
type counters struct {
	syncs, syncNanos, bytes atomic.Uint64
	since                   atomic.Int64 // clock.Mono when the write or sync in hand began; 0: none
}

// Append adds a record to the log, in memory, and returns the position of its end: Sync of that makes it durable. content is
// copied and must not be empty. It blocks only when very much is pending.
func (l *Log) Append(content []byte) (Position, error) {
	sum := crc32.Update(l.salt, castagnoli, content)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.makeRoom()
	if l.err != nil {
		return 0, l.err
	}
	size := recordBytes(len(content))
	used := int64(l.end - l.base)
	if used > 0 && (l.leave || segmentHeaderBytes+used+int64(size) > l.limit) {
		l.leave = false
		l.limit = l.nextLimit()
		l.base = l.end
		l.segments = append(l.segments, segment{base: l.base})
		l.cuts = append(l.cuts, cut{len(l.pending), l.base})
	}
	l.pending = appendRecord(l.pending, content, sum, l.end, l.synced)
	l.records++
	l.end += Position(size)
	return l.end, nil
}

// makeRoom keeps what is pending within its bounds. The caller holds mu.
func (l *Log) makeRoom() {
	waited := false
	for len(l.pending) >= pendingWriteBytes && l.err == nil {
		if !l.busy {
			l.work(false)
			continue
		}
		if len(l.pending) < pendingBytesMax {
			break
		}
		waited = true
		if served, _ := l.await(l.end); served {
			l.mu.Lock()
		}
	}
	// Who was given his turn while he waited for room may have found nothing to do.
	if waited && !l.busy {
		l.callNext()
	}
}

// End returns the position of the end of the last record.
func (l *Log) End() Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end
}

// RecordBytes returns by how much a record with so many bytes of content moves the end.
func RecordBytes(content int) Position { return Position(recordBytes(content)) }

// Sync returns once everything below pos is durable. The caller who finds nobody at work writes and syncs what has been
// appended by then, for all who wait; the first of those who came too late for that does it next.
func (l *Log) Sync(pos Position) error {
	l.mu.Lock()
	for l.synced < pos && l.err == nil {
		if !l.busy {
			l.work(true)
		} else if served, err := l.await(pos); served {
			return err
		}
	}
	var err error
	if l.synced < pos {
		err = l.err
	}
	l.mu.Unlock()
	return err
}

// await stands in line, with mu given up. If the caller was served, it returns what of, and mu is not held. Otherwise it is the
// caller's turn to look what is to do, and mu is held again.
func (l *Log) await(pos Position) (served bool, err error) {
	w := waiters.Get().(*waiter)
	w.next, w.pos, w.served, w.err = nil, pos, false, nil
	if l.tail != nil {
		l.tail.next = w
	} else {
		l.head = w
	}
	l.tail = w
	l.mu.Unlock()
	<-w.wake
	served, err = w.served, w.err
	waiters.Put(w)
	if !served {
		l.mu.Lock()
	}
	return served, err
}

// work writes what is pending, and syncs it if sync is set. The caller holds mu and has found busy unset; mu is given up
// meanwhile.
func (l *Log) work(sync bool) {
	l.busy = true
	if sync && l.records < crowdMin {
		l.yield()
	}
	records, cuts, end := l.pending, l.cuts, l.end
	l.writer.records, l.records = l.records, 0
	l.pending, l.cuts, l.spare, l.spareCuts = l.spare[:0], l.spareCuts[:0], nil, nil
	sync = sync || end-l.synced >= unsyncedBytesMax
	l.mu.Unlock()
	what, err := l.write(records, cuts, sync)
	if err != nil {
		err = l.named(err)
		l.o.Fail(what, err)
	}
	l.mu.Lock()
	l.busy = false
	if cap(records) <= pendingKeptBytes {
		l.spare = records[:0]
	}
	l.spareCuts = cuts[:0]
	switch {
	case err != nil:
		l.fail(fmt.Errorf("%w: %s: %w", ErrFailed, what, err))
	case sync:
		l.synced = end
	}
	if l.expects && l.nearEnd() {
		l.expects = false
		l.Kick()
	}
	l.serve()
	l.callNext()
}

// named adds the name of the segment in hand to an error that names no file. The caller owns writer.
func (l *Log) named(err error) error {
	if _, is := errors.AsType[*os.PathError](err); is {
		return err
	}
	if _, is := errors.AsType[*os.LinkError](err); is {
		return err
	}
	return fmt.Errorf("%s: %w", l.path(segmentName(l.writer.base)), err)
}

// yield lets those run first that are ready, before a call that blocks: it keeps its processor from them, for up to ten milliseconds until
// the runtime takes it away. Those among them that commit then share the sync. On one processor everyone would otherwise sync alone, since
// nobody can append while another's call blocks: 64 clients on one processor insert two to six times as many rows a second. The caller has
// set busy and holds mu, which is given up meanwhile.
func (l *Log) yield() {
	l.mu.Unlock()
	runtime.Gosched()
	l.mu.Lock()
}

// fail lets nobody through any more. The caller holds mu.
func (l *Log) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}

// serve wakes those whose position is durable or never will be. The caller holds mu.
func (l *Log) serve() {
	link := &l.head
	l.tail = nil
	for w := l.head; w != nil; {
		next := w.next // w is another's once it is awake
		if w.pos > l.synced && l.err == nil {
			*link, l.tail = w, w
			link = &w.next
		} else {
			w.served = true
			if w.pos > l.synced {
				w.err = l.err
			}
			w.wake <- struct{}{}
		}
		w = next
	}
	*link = nil
}

// callNext gives the first in line his turn. The caller holds mu and has seen to it that nobody is busy.
func (l *Log) callNext() {
	w := l.head
	if w == nil {
		return
	}
	l.head = w.next
	if l.head == nil {
		l.tail = nil
	}
	w.wake <- struct{}{}
}

// write hands records to the operating system, each to its segment, and makes them and what is before them durable if sync is set.
// The caller owns writer. On an error it says what has failed.
func (l *Log) write(records []byte, cuts []cut, sync bool) (what string, err error) {
	l.stats.bytes.Add(uint64(len(records)))
	from := 0
	for _, c := range cuts {
		if err := l.put(records[from:c.offset], false); err != nil {
			return "write", err
		}
		from = c.offset
		if err := l.change(c.base); err != nil {
			return "begin a segment of", err
		}
	}
	if err := l.put(records[from:], sync); err != nil {
		return "write", err
	}
	if sync && l.writer.dirty {
		return "sync", l.syncSegment()
	}
	return "", nil
}

// put writes records to the segment. If sync is set and they can be made durable along with that, they are, and writer is not dirty.
// The caller owns writer.
func (l *Log) put(records []byte, sync bool) error {
	w := &l.writer
	if len(records) == 0 {
		return nil
	}
	start := clock.Mono()
	l.stats.since.Store(int64(start))
	defer l.stats.since.Store(0)
	if w.fresh {
		w.fresh = false
		if segmentHeaderBytes+int64(len(records)) <= w.bytes {
			var err error
			if w.direct, err = l.goDirect(); err != nil {
				return err
			}
		}
	}
	if !w.direct {
		w.dirty = true
		_, err := w.file.Write(records)
		return err
	}
	// A synchronous write vouches for itself only.
	sync = sync && !w.dirty && w.blocks.fits(len(records))
	w.dirty = !sync
	err := w.blocks.write(records, sync)
	if sync {
		l.synchronized(start)
	}
	return err
}

// synchronized counts a sync that has just ended.
func (l *Log) synchronized(start time.Duration) {
	l.stats.syncs.Add(1)
	l.stats.syncNanos.Add(uint64(clock.Since(start)))
}

// syncSegment makes what has been written to the segment durable. The caller owns writer.
func (l *Log) syncSegment() (err error) {
	w := &l.writer
	start := clock.Mono()
	l.stats.since.Store(int64(start))
	defer l.stats.since.Store(0)
	err = w.file.SyncData()
	w.dirty = false
	l.synchronized(start)
	return err
}

// Close writes and syncs what is pending and ends the goroutine. Everything else fails from then on.
func (l *Log) Close() error {
	close(l.stop)
	<-l.done
	err := l.Sync(l.End())
	l.mu.Lock()
	for l.busy {
		if served, _ := l.await(math.MaxUint64); served {
			l.mu.Lock()
		}
	}
	l.busy = true // for good
	l.fail(errors.New("wal: the log is closed"))
	l.serve()
	l.mu.Unlock()
	if l.writer.queue != nil {
		l.writer.queue.Close()
	}
	if l.writer.file != nil {
		err = errors.Join(err, l.writer.file.Close())
	}
	if err == nil {
		l.markClean()
	}
	return err
}

// Stats are counts since Open, and sizes.
type Stats struct {
	Syncs       uint64
	SyncSeconds float64       // of syncs, and of the writes that are one with them
	Bytes       uint64        // of records written; a direct write fills up its last block
	LiveBytes   uint64        // from Released to the end: what recovery would read
	DiskBytes   uint64        // of the segments
	Busy        time.Duration // how long the write or sync in hand has lasted; 0: none
}

// Since returns when the write or sync in hand began, by clock.Mono; 0: there is none.
func (l *Log) Since() time.Duration { return time.Duration(l.stats.since.Load()) }

// Stats takes a snapshot.
func (l *Log) Stats() Stats {
	s := Stats{Syncs: l.stats.syncs.Load(), SyncSeconds: float64(l.stats.syncNanos.Load()) / 1e9, Bytes: l.stats.bytes.Load()}
	if since := l.stats.since.Load(); since != 0 {
		s.Busy = clock.Since(time.Duration(since))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s.LiveBytes = uint64(l.end - l.released)
	for i, f := range l.segments {
		until := l.end
		if i+1 < len(l.segments) {
			until = l.segments[i+1].base
		}
		s.DiskBytes += uint64(max(f.bytes, segmentHeaderBytes+int64(until-f.base)))
	}
	return s
}
