package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"

	"github.com/pandodb/pando/engine/wal"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/keys"
)

const (
	// noteBytes is how many bytes of log there are at most between two notes, and so about how much recovery replays needlessly.
	noteBytes = 64 << 10
	// firstLogBytes is the size of the first segments of a new log, small so that a nearly empty directory takes little space.
	firstLogBytes = 4 << 20
	// tableSuffix is the suffix of Pebble's tables.
	tableSuffix = ".sst"
	// slowSyncMin is how long a write or sync of the log must last to be logged as slow.
	slowSyncMin = 5 * time.Second
)

// firstKey is below all keys but the engine's own.
var firstKey = keys.Bare(nil, keys.SpaceLocal, nil)

// noteKey holds a position of the log: all batches below it have been applied before the note or with it. The value in tables
// therefore says from where on the log is needed.
var noteKey = keys.Bare(nil, keys.SpaceEngine, []byte("log"))

// openLog opens the log and replays into Pebble what its tables don't hold.
func (e *Engine) openLog() error {
	from, noted, err := e.notedInTables()
	if errors.Is(err, ErrCorrupt) {
		return e.damaged(err)
	} else if err != nil {
		return err
	}
	segment := e.opts.SpareLogBytes
	if segment == 0 {
		segment = e.opts.MemTableBytes
	}
	e.log, err = wal.Open(wal.Options{
		Dir: e.opts.Dir, FS: e.fs, Raw: e.opts.FS, SegmentBytes: segment, FirstBytes: min(segment, firstLogBytes), Spares: e.opts.SpareLogBytes > 0,
		Room: e.hasRoom, Logger: e.opts.Logger, AcceptLost: e.opts.AcceptLostLog,
		Released: e.releasedLog,
		Fail:     func(what string, err error) { e.fail(what + " WAL: " + err.Error()) },
	}, from, noted, e.replay)
	if err != nil {
		return e.explainLog(err)
	}
	end := e.log.End()
	assert.That(from <= end, "engine: no table holds more than the log")
	e.lastNote = from
	e.end, e.noted, e.replayed = end, end, end-from
	if noted && end == from {
		return nil
	}
	// A note in a table says that the log exists, so that its loss is noticed, and that what was replayed need not be replayed again. The flush is
	// waited for: if an I/O error has ended the last process, the page cache may have records that are not on disk, and a sync would report success.
	if err := e.db.Set(noteKey, binary.LittleEndian.AppendUint64(nil, uint64(end)), pebble.NoSync); err != nil {
		return errors.Join(fmt.Errorf("engine: note the log's position: %w", err), e.log.Close())
	}
	if err := e.db.Flush(); err != nil {
		return errors.Join(fmt.Errorf("engine: flush what was replayed: %w", err), e.log.Close())
	}
	return nil
}

// replay applies a record of the log. It takes ownership of content.
func (e *Engine) replay(content []byte) error {
	b := e.db.NewBatch()
	if err := b.SetRepr(content); err != nil {
		return err
	}
	if err := e.db.Apply(b, pebble.NoSync); err != nil {
		return err
	}
	return b.Close()
}

// notedInTables returns the newest note that has been flushed to a table.
func (e *Engine) notedInTables() (pos wal.Position, found bool, err error) {
	it, err := e.db.NewIter(&pebble.IterOptions{LowerBound: noteKey, UpperBound: firstKey, OnlyReadGuaranteedDurable: true})
	if err != nil {
		return 0, false, e.explainRead(err)
	}
	if found = it.First(); found {
		v := it.Value()
		if len(v) != 8 {
			return 0, false, errors.Join(fmt.Errorf("%w: position of the log", ErrCorrupt), it.Close())
		}
		pos = wal.Position(binary.LittleEndian.Uint64(v))
	}
	if err := it.Close(); err != nil {
		return 0, false, e.explainRead(err)
	}
	return pos, found, nil
}

// releasedLog returns the position below which the log may be dropped.
func (e *Engine) releasedLog() wal.Position {
	pos, _, err := e.notedInTables()
	if err != nil {
		// Nothing is dropped; the next flush asks again.
		e.opts.Logger.Error("cannot read the position of the log", "error", err)
	}
	return pos
}

// hasRoom reports whether the disk has so many bytes free above the watermark.
func (e *Engine) hasRoom(bytes int64) bool {
	usage, err := e.opts.FS.GetDiskUsage(e.opts.Dir)
	return err != nil || usage.AvailBytes >= e.disk.lowBytes+uint64(bytes)
}

// apply appends b to the log and makes it visible.
func (e *Engine) apply(b *Batch, note bool) (err error) {
	if e.failed.Load() {
		return ErrFailed
	}
	if b.b.Empty() && !note {
		return nil
	}
	e.counters.applied.Inc()
	e.counters.appliedBytes.Add(uint64(b.b.Len()))
	start, noting, err := e.enterLog(b, note)
	if err != nil {
		return err
	}
	return e.land(e.insert(b), start, noting)
}

// enterLog appends b to the log, with a note if asked, or if the last note is noteBytes behind. It returns where b begins.
func (e *Engine) enterLog(b *Batch, note bool) (start wal.Position, noting bool, err error) {
	e.order.Lock()
	defer e.order.Unlock()
	for note && e.noting {
		e.landed.Wait()
	}
	start = e.end
	if noting = !e.noting && (note || e.end-e.noted >= noteBytes); noting {
		e.note(b)
	}
	if b.end, err = e.log.Append(b.b.Repr()); err != nil {
		return 0, false, ErrFailed
	}
	assert.That(b.end > start, "engine: positions of the log ascend")
	e.end = b.end
	e.applying = append(e.applying, start)
	e.noting = e.noting || noting
	return start, noting, nil
}

// land removes the batch that begins at start from applying. err is the result of its insertion into the memtable.
func (e *Engine) land(err error, start wal.Position, noting bool) error {
	e.order.Lock()
	at := slices.Index(e.applying, start)
	assert.That(at >= 0 && (!noting || e.noting), "engine: a batch that lands was being applied")
	e.applying = slices.Delete(e.applying, at, at+1)
	e.noting = e.noting && !noting
	e.landed.Broadcast()
	e.order.Unlock()
	return e.inserted(err)
}

// insert puts b into the memtable.
func (e *Engine) insert(b *Batch) error {
	filter := e.unflushed.enter(b.hashes, b.ranges)
	// Apply writes the batch's sequence number into the header of repr. repr is kept here because a batch of half a memtable's size or more
	// becomes a memtable itself, and loses its data.
	repr, count := b.b.Repr(), uint64(b.b.Count())
	err := e.db.Apply(b.b, pebble.NoSync)
	filter.leave(uint64(batchrepr.ReadSeqNum(repr)) + count - 1)
	return err
}

// inserted makes an error of insert fatal.
func (e *Engine) inserted(err error) error {
	if err != nil {
		// The batch is in the log and not in the memtable.
		e.fail("apply: " + err.Error())
		return fmt.Errorf("engine: apply: %w", err)
	}
	// Pebble reports a fatal error by its logger's Fatalf and returns nil; in the product Fatalf does not return.
	if e.failed.Load() {
		return ErrFailed
	}
	return nil
}

// ApplyUnlogged makes b visible without the log: a crash loses it unless a flush came before. It is for what the caller can make again
// from a batch in the log that it has applied before (ApplyNoSync has returned). By invariant 9 that batch is durable before a table
// holds b. A key is written by logged batches or by unlogged ones, never by both without a Barrier in between: recovery would apply the
// last logged value on top of an unlogged one in a table. SyncWait of b guarantees nothing.
func (e *Engine) ApplyUnlogged(b *Batch) error {
	if e.failed.Load() {
		return ErrFailed
	}
	if b.b.Empty() {
		return nil
	}
	e.counters.unlogged.Inc()
	e.counters.unloggedBytes.Add(uint64(b.b.Len()))
	return e.inserted(e.insert(b))
}

// note adds to b, and returns, a position below which all batches have been applied once b has been: that of the first batch in applying,
// or where b begins or, if b is nothing but the note, ends. At most one note is being applied at a time, so the positions of notes rise in
// the order in which they are applied, and a flush never leaves a lower one as the newest. The caller holds order.
func (e *Engine) note(b *Batch) wal.Position {
	alone := b.b.Empty()
	op := b.b.SetDeferred(len(noteKey), 8)
	copy(op.Key, noteKey)
	finish(op)
	e.noted = e.end + wal.RecordBytes(b.b.Len())
	pos := e.end
	if alone {
		pos = e.noted
	}
	for _, start := range e.applying {
		pos = min(pos, start)
	}
	assert.That(pos >= e.lastNote, "engine: positions of notes rise")
	e.lastNote = pos
	binary.LittleEndian.PutUint64(op.Value, uint64(pos))
	return pos
}

// Barrier returns once recovery replays nothing of what was applied before the call: that is in tables, and so is a note above it. It must be
// called before an Ingest, because recovery would apply older records of the log on top of the tables, and between a key's logged writes and
// its unlogged ones. With concurrent writers Flush does not guarantee that: the note that it flushes is not above a batch that another writer
// has in the log and not yet in the memtable.
func (e *Engine) Barrier() error {
	e.order.Lock()
	end := e.end
	for slices.ContainsFunc(e.applying, func(start wal.Position) bool { return start < end }) {
		e.landed.Wait()
	}
	e.order.Unlock()
	if err := e.Flush(); err != nil {
		return err
	}
	if e.failed.Load() {
		return ErrFailed
	}
	switch pos, found, err := e.notedInTables(); {
	case err != nil:
		return err
	case !found || pos < end:
		return fmt.Errorf("engine: barrier: the flushed note is at %d, below %d", pos, end)
	}
	return nil
}

// flushNoted begins a flush with a note, so that afterwards the log is needed only for what was applied meanwhile. It does not wait: done is
// closed when the flush has ended.
func (e *Engine) flushNoted() (done <-chan struct{}, err error) {
	b := e.NewBatch()
	defer b.Close()
	if err := e.apply(b, true); err != nil {
		return nil, err
	}
	return e.db.AsyncFlush()
}

// syncWAL makes everything below a position durable.
func (e *Engine) syncWAL(pos wal.Position) error {
	if err := e.log.Sync(pos); err != nil || e.failed.Load() {
		return ErrFailed
	}
	return nil
}

// explainLog turns the log's refusal into one of ours.
func (e *Engine) explainLog(err error) error {
	switch {
	case errors.Is(err, wal.ErrLost):
		return fmt.Errorf("%w: acknowledged commits of %s are gone (%v); if the files cannot be put back, start once with --accept-lost-log, which goes on without them",
			ErrLostLog, e.opts.Dir, err)
	case errors.Is(err, wal.ErrDamaged):
		return e.damaged(err)
	case errors.Is(err, wal.ErrVersion):
		return e.newerFormat(err.Error())
	}
	return e.explainOpen(err)
}

// manifestMarker begins the name of the empty file whose name says which manifest is the current one.
const manifestMarker = "marker.manifest."

// compactionCategory is the category under which Pebble creates the tables of compactions.
const compactionCategory = "pebble-compaction"

// tableFS is the file system that Pebble gets. It begins no table before the log is durable up to all that the table can hold:
// otherwise a power loss could leave the table without those records, and recovery would apply older ones on top. It makes no
// marker before the directory entry of its manifest is durable: Pebble syncs the directory once, with both in it, and a power loss
// before that could leave the marker alone. (The fsync of a new file makes its entry durable on most file systems of Linux; POSIX
// does not promise it.)
type tableFS struct {
	FS
	e *Engine
}

// Unwrap implements vfs.FS.
func (t *tableFS) Unwrap() FS { return t.FS }

// Create implements vfs.FS.
func (t *tableFS) Create(name string, category WriteCategory) (File, error) {
	// Not needed while the engine is being opened, since what is replayed is durable, nor for compactions, which read tables: their
	// thread has a low priority, and must not make committers wait for a sync.
	if strings.HasSuffix(name, tableSuffix) && category != compactionCategory && t.e.opened.Load() {
		if err := t.e.SyncWAL(); err != nil {
			return nil, err
		}
	}
	if strings.HasPrefix(t.FS.PathBase(name), manifestMarker) {
		if err := wal.SyncDir(t.FS, t.FS.PathDir(name)); err != nil {
			return nil, err
		}
	}
	return t.FS.Create(name, category)
}
