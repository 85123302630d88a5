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

// ErrFailed is returned by all calls after an error of a write or a sync.
var ErrFailed = errors.New("wal: the log has failed")

// Bounds of records that are only in memory, and of those that are written but not synced.
const (
	// pendingWriteBytes: an Append beyond it writes what is pending, unless another goroutine is writing.
	pendingWriteBytes = 4 << 20
	// pendingBytesMax: an Append beyond it waits until there is room. A single record may be larger.
	pendingBytesMax = 16 << 20
	// pendingKeptBytes is the size of the largest buffer that is kept for reuse.
	pendingKeptBytes = 8 << 20
	// unsyncedBytesMax: when there are more unsynced bytes a write syncs them unasked, so that the next Sync need not wait for all of them.
	unsyncedBytesMax = 16 << 20
)

// crowdMin is the number of records from which a direct write parks its goroutine instead of blocking a thread, see package aio. For a
// single client a blocking call is better, since it needs one wake-up less (docs/design/measured/direct.md).
const crowdMin = 2

// Options configures a Log. Dir, FS, Raw, SegmentBytes, Released and Fail are required.
type Options struct {
	// Dir is the directory of the segments, which exists. It may hold other files.
	Dir string
	// FS is the file system. Raw is the same without the wrapper that frees the ballast on a full disk: a spare is not worth
	// that.
	FS, Raw vfs.FS
	// SegmentBytes is the size at which a segment ends; one with a larger record is larger.
	SegmentBytes int64
	// FirstBytes is the size of the first segments of a new log, from which they double as it grows; 0 means SegmentBytes.
	FirstBytes int64
	// Spares keeps a spare ready, so that segments consist of blocks that have been written before.
	Spares bool
	// Room reports whether the disk has so many bytes free for a spare; nil means always.
	Room func(bytes int64) bool
	// Released returns the position up to which the effects of all records are durable without the log. It is called after
	// each Kick, on the log's goroutine.
	Released func() Position
	// AcceptLost makes Open go on, with a warning, where the newest part of the log was lost.
	AcceptLost bool
	// Fail is called once with an error of the log, before any call returns it. what says what has failed, such as "write".
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
	pending   []byte    // encoded records that are not being written yet
	cuts      []cut     // where in pending a new segment begins
	records   int       // in pending
	spare     []byte    // the other buffer for pending; nil while it is being written
	spareCuts []cut     // likewise for cuts
	base      Position  // of the segment that the next record goes to
	limit     int64     // bytes at which that segment ends
	end       Position  // of the last record appended
	synced    Position  // everything below is durable
	released  Position  // everything below is not needed any more
	segments  []segment // ascending; the last is that of base
	opened    Position  // base of the newest segment whose file exists
	leave     bool      // the next record begins a new segment, because there is a spare and the present segment is not made of one
	expects   bool      // no spare is made, since a segment will be released that can be one; nearEnd ends that
	busy      bool      // a goroutine owns writer
	holds     int       // calls of Hold that are not released
	err       error     // wraps ErrFailed, or says that the log is closed
	head      *waiter   // the queue of await, first in first out
	tail      *waiter

	// writer belongs to the goroutine that has set busy.
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
	fresh   bool  // only the header has been written to file
	dirty   bool  // something written to file may not be durable
	direct  bool  // file is written by blocks
	blocks  blocks
	records int          // in the present write
	queue   *aio.Queue   // nil if it is not open, or not available
	request *aio.Request // of queue
	// openQueue opens queue when it is first needed: closing it takes the kernel tens of milliseconds.
	openQueue sync.Once
}

// open opens the writer's queue.
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

// waiter is a goroutine that waits until the log is synced up to a position, or until it is its turn to do that.
type waiter struct {
	next   *waiter
	pos    Position
	wake   chan struct{} // room for one
	served bool          // when woken: the position is synced, or the log has failed; otherwise it is the waiter's turn to work
	err    error
}

var waiters = sync.Pool{New: func() any { return &waiter{wake: make(chan struct{}, 1)} }}

// counters are what Stats reads without the lock.
type counters struct {
	syncs, syncNanos, bytes atomic.Uint64
	since                   atomic.Int64 // clock.Mono when the running write or sync began; 0: none
}

// Append adds a record to the log, in memory, and returns the position of its end: Sync of that makes it durable. content is
// copied and must not be empty. It blocks only to keep pending records within their bounds.
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

// makeRoom writes pending records, or waits, if there are too many. The caller holds mu, which may be released meanwhile.
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
	// A goroutine that got its turn to work while it waited for room, and then had no reason to, passes the turn on.
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

// RecordBytes returns how many positions a record with so many bytes of content takes.
func RecordBytes(content int) Position { return Position(recordBytes(content)) }

// Sync returns once everything below pos is durable (group commit). A caller that finds nobody at work writes and syncs what has been
// appended by then, for all waiters; the first of those that came too late for that does it next.
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

// await waits in the queue; it releases mu. If served is true, pos is synced or err says why not, and mu is not held. Otherwise it is the
// caller's turn to work, and mu is held again.
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

// work writes what is pending, and syncs it if sync is set. The caller holds mu and has found busy unset; mu is released
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

// named adds the open segment's name to an error that names no file. The caller owns writer.
func (l *Log) named(err error) error {
	if _, is := errors.AsType[*os.PathError](err); is {
		return err
	}
	if _, is := errors.AsType[*os.LinkError](err); is {
		return err
	}
	return fmt.Errorf("%s: %w", l.path(segmentName(l.writer.base)), err)
}

// yield lets runnable goroutines run before a call that blocks, which occupies the processor for up to ten milliseconds until the runtime takes
// it away. Those among them that commit then share the sync. Otherwise, on one processor, every commit would be synced alone, since nobody can
// append while another's call blocks: with yield 64 clients on one processor insert two to six times as many rows a second. The caller has
// set busy and holds mu, which is released meanwhile.
func (l *Log) yield() {
	l.mu.Unlock()
	runtime.Gosched()
	l.mu.Lock()
}

// fail makes all later calls return err, or an earlier error. The caller holds mu.
func (l *Log) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}

// serve wakes the waiters whose position is durable or never will be. The caller holds mu.
func (l *Log) serve() {
	link := &l.head
	l.tail = nil
	for w := l.head; w != nil; {
		next := w.next // w may be reused once it is awake
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

// callNext gives the first waiter its turn to work. The caller holds mu, and busy is not set.
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

// write writes records to their segments, and if sync is set makes them and all before them durable. The caller owns writer. With an error it
// returns what has failed.
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

// put writes records to the segment. If sync is set it makes them durable by the same call where it can; then writer is not dirty. The caller
// owns writer.
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
	// A synchronous write makes only its own bytes durable, not those of earlier writes.
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

// Close writes and syncs what is pending and ends the log's goroutine. All later calls fail.
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
	SyncSeconds float64       // of syncs, and of writes that sync by the same call
	Bytes       uint64        // of records written, without the padding of blocks
	LiveBytes   uint64        // from Released to the end: what recovery would read
	DiskBytes   uint64        // of the segments
	Busy        time.Duration // how long the running write or sync has lasted; 0: none
}

// Since returns when the running write or sync began, by clock.Mono; 0 if there is none.
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
