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
	// noteBytes of log are the most between two notes of the log's position, and so about the most that recovery reads in vain.
	noteBytes = 64 << 10
	// firstLogBytes is the size of the first segments of a new log: what a directory takes in which hardly anything is written.
	firstLogBytes = 4 << 20
	// tableSuffix is that of Pebble's tables.
	tableSuffix = ".sst"
	// slowSyncMin is how long a write or sync of the log must last to be told of.
	slowSyncMin = 5 * time.Second
)

// firstKey is below all keys of others.
var firstKey = keys.Bare(nil, keys.SpaceLocal, nil)

// noteKey holds a position of the log: everything below it has been applied before the note or with it. What a table has of it
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
	// From here on the log must exist, and what was replayed is not worth replaying again. The flush is waited for: after an I/O error
	// that ended the last process the kernel may hold records of the log that are not on the disk, and sync them with success.
	if err := e.db.Set(noteKey, binary.LittleEndian.AppendUint64(nil, uint64(end)), pebble.NoSync); err != nil {
		return errors.Join(fmt.Errorf("engine: note the log's position: %w", err), e.log.Close())
	}
	if err := e.db.Flush(); err != nil {
		return errors.Join(fmt.Errorf("engine: flush what was replayed: %w", err), e.log.Close())
	}
	return nil
}

// replay applies a record of the log. It keeps content.
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

// releasedLog tells the log what it may drop.
func (e *Engine) releasedLog() wal.Position {
	pos, _, err := e.notedInTables()
	if err != nil {
		// Nothing is dropped; the next flush asks again.
		e.opts.Logger.Error("cannot read the position of the log", "error", err)
	}
	return pos
}

// hasRoom tells whether the disk has so many bytes to spare.
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

// enterLog gives b its place in the log, with a note if asked, or if the last one is far behind. It returns where b begins.
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

// land is told that the batch which begins at start has reached the memtable, or what kept it from there.
func (e *Engine) land(err error, start wal.Position, noting bool) error {
	e.order.Lock()
	at := slices.Index(e.applying, start)
	assert.That(at >= 0 && (!noting || e.noting), "engine: a batch that lands was on its way")
	e.applying = slices.Delete(e.applying, at, at+1)
	e.noting = e.noting && !noting
	e.landed.Broadcast()
	e.order.Unlock()
	return e.inserted(err)
}

// insert puts b into the memtable.
func (e *Engine) insert(b *Batch) error {
	filter := e.unflushed.enter(b.hashes, b.ranges)
	// Applied, a batch has its sequence number in its header. One that is half as large as a memtable becomes one, and Pebble leaves
	// it nothing of its data.
	repr, count := b.b.Repr(), uint64(b.b.Count())
	err := e.db.Apply(b.b, pebble.NoSync)
	filter.leave(uint64(batchrepr.ReadSeqNum(repr)) + count - 1)
	return err
}

// inserted explains what came of insert.
func (e *Engine) inserted(err error) error {
	if err != nil {
		// The log has it, the memtable has not.
		e.fail("apply: " + err.Error())
		return fmt.Errorf("engine: apply: %w", err)
	}
	// Pebble reports a fatal error by its logger's Fatalf and returns nil; in the product Fatalf does not return.
	if e.failed.Load() {
		return ErrFailed
	}
	return nil
}

// ApplyUnlogged makes b visible without the log: a crash loses it unless a flush came before. It is for what the caller can apply
// again from something in the log, whose batch it has applied before (ApplyNoSync has returned). By invariant 9 no table then holds b
// without that something being durable. A key is written by logged batches or by unlogged ones, never by both without a Barrier in
// between: recovery would put the last logged value over an unlogged one that a table holds. SyncWait of b promises nothing.
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

// note adds to b, and returns, a position below which everything has been applied once b has: no batch begins below it that is on its
// way to the memtable, nor b itself, unless it is nothing but the note. One note is on its way at a time, so the positions of notes
// rise in the order in which they are applied, and a flush never leaves a lower one as the newest. The caller holds order.
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

// Barrier returns once recovery replays nothing of what was applied before it was called: that is in tables, and so is a note behind
// it. It must come before whatever puts tables into the engine or cuts a range out of it, because recovery would apply older records of
// the log over that, and between a key's logged writes and its unlogged ones. Flush is no such barrier beside other writers: the note
// that it flushes does not reach beyond a batch that another writer has in the log and not yet in the memtable.
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

// flushNoted begins a flush after which the log is needed no more, but for what is applied meanwhile. It does not wait: done is
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

// manifestMarker begins the name of the empty file whose name tells which manifest is in force.
const manifestMarker = "marker.manifest."

// compactionCategory is what Pebble writes the tables of compactions as.
const compactionCategory = "pebble-compaction"

// tableFS is the file system as Pebble sees it. No table is begun before the log is durable up to all that it can hold:
// otherwise a power loss could leave the table without the records, and recovery would apply older ones over it. No marker is
// made before the directory entry of its manifest is durable: Pebble syncs the directory once, with both in it, and a power loss
// before could leave the marker alone. (The fsync of a new file makes its entry durable on most file systems of Linux; POSIX
// does not promise it.)
type tableFS struct {
	FS
	e *Engine
}

// Unwrap implements vfs.FS.
func (t *tableFS) Unwrap() FS { return t.FS }

// Create implements vfs.FS.
func (t *tableFS) Create(name string, category WriteCategory) (File, error) {
	// What is replayed while the engine is being opened is durable, and so is what a compaction reads from tables: its thread, which
	// has a low priority, is not to sync for committers.
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
