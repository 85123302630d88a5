package ddl

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
)

const (
	// exclusiveRun is how many rows are read and sorted together while nobody else uses the table: the memory table takes neighbours
	// much faster than keys that lie far apart. The reading ends early when a session arrives, which waits for what was read to be
	// written, some tens of milliseconds, or a second while the store slows large commits down.
	exclusiveRun = 64 << 10
	// exclusiveChunk is how many entries of a run are written per commit, which other tables' commits wait for.
	exclusiveChunk = 4096
	// lockedChunk is how many rows are locked at once while the table is in use.
	lockedChunk = 256
	// lockedBeforeRetry is how many locked chunks pass before the build looks
	// again whether it is alone, so that short lulls do not stall sessions.
	lockedBeforeRetry = 32
	// skipPause is the pause before a row that is locked elsewhere is tried again.
	skipPause = time.Millisecond
)

// buildSlice is how long the worker builds before it lets go of the table's name
// and looks after its other jobs. A variable for tests.
var buildSlice = time.Second

// backfill writes the index entries of all rows, from the job's checkpoint on.
//
// It runs after the barrier of WriteOnly: writers index every row that they write
// since, so the backfill only has to index older, unchanged rows. Three ways:
//
//   - Filled: the entries of an index that is not unique, in a store that is not
//     replicated, are made from a snapshot, without locks and without the log (fill.go).
//   - Alone: the table's gate is closed while nobody uses the table. The rows at
//     the watermark are then the newest there are, and no locks are needed. The
//     gate opens between chunks as soon as somebody waits.
//   - Shared: each row is locked (shared) and indexed as Lock returns it, newest
//     version. Rows locked elsewhere are skipped and indexed one by one afterwards,
//     without holding another row lock: the build is never part of a deadlock.
//
// Commits are relaxed, each with the checkpoint, and a durable commit ends the
// build: the log is ordered, so that makes all commits before it durable.
//
// slice bounds the time of one call, 0 is no bound: then it returns errSliceOver,
// or ErrLockTimeout at a locked row, and the next call resumes at the checkpoint.
func (e *Executor) backfill(j *job, t *catalog.Table, ix *catalog.Index, p catalog.Patience, slice time.Duration) error {
	b := &backfiller{e: e, j: j, t: t, ix: ix, p: p, entries: table.NewEntryBuilder(t, ix)}
	j.setPhase("backfilling")
	b.wait = p.Wait
	b.span = table.RowSpan(t)
	// After a TRUNCATE since the last attempt the checkpoint is a key of the old rows and means nothing among the new ones.
	if from := j.rec.Checkpoint; j.rec.PhysID == t.PhysID && bytes.Compare(from, b.span.Start) >= 0 && bytes.Compare(from, b.span.End) <= 0 {
		b.span.Start = from
		b.done = bytes.Equal(from, b.span.End)
	} else {
		j.rec.PhysID, j.rec.Checkpoint, j.rec.Rows = t.PhysID, nil, 0
	}
	j.rows.Store(j.rec.Rows)
	// Users of older versions may have committed without waiting for the disk.
	// This durable commit raises the watermark, at which the scans read, above them.
	fence, err := e.commit(j.put)
	if err != nil {
		return err
	}
	if slice > 0 {
		b.until = clock.Mono() + slice
	}
	if !ix.Unique {
		if j.rec.Since == 0 {
			j.rec.Since = fence
			if err := e.inTxn(j.put); err != nil {
				return err
			}
		}
		if err := b.fill(); !errors.Is(err, kvapi.ErrNotAlone) {
			if err != nil {
				return err
			}
			return e.inTxn(j.put)
		}
	}
	for locked := 0; !b.done; {
		if err := b.rest(); err != nil {
			return err
		}
		if locked == 0 {
			if x := e.catalog.TryClose(t, p.Self); x != nil {
				err := b.alone(x)
				x.Open()
				if err != nil {
					return err
				}
			}
			locked = lockedBeforeRetry
			continue
		}
		locked--
		if err := b.chunkLocked(); err != nil {
			return err
		}
		if b.over() && !b.done {
			return errSliceOver
		}
	}
	// The fence.
	return e.inTxn(j.put)
}

// errSliceOver: the build is not complete, and the worker's other jobs come first.
var errSliceOver = errors.New("ddl: the slice of the build is over")

// backfiller is the state of one backfill.
type backfiller struct {
	e       *Executor
	j       *job
	t       *catalog.Table
	ix      *catalog.Index
	p       catalog.Patience
	entries *table.EntryBuilder
	span    kvapi.Span // what is left
	// wait is the most that the build waits for one locked row. It starts anew
	// for each row: lock_wait_timeout is no limit on how long a build takes.
	wait time.Duration
	// until is when the slice is over, 0 if there is none.
	until time.Duration
	done  bool

	arena []byte
	list  []entryRef
	keys  []byte // row keys of a locked chunk
	ends  []int
	value []byte

	order  keys.Order // for sort
	sorted []entryRef
}

// entryRef is an entry in the arena, with the row key it came from if it is unique.
type entryRef struct {
	at, keyEnd, valueEnd int
	rowEnd               int // the row key lies between valueEnd and rowEnd
	unique               bool
}

func (b *backfiller) key(r *entryRef) []byte { return b.arena[r.at:r.keyEnd] }
func (b *backfiller) val(r *entryRef) []byte { return b.arena[r.keyEnd:r.valueEnd] }
func (b *backfiller) row(r *entryRef) []byte { return b.arena[r.valueEnd:r.rowEnd] }
func (b *backfiller) reset() {
	b.arena, b.list, b.keys, b.ends = b.arena[:0], b.list[:0], b.keys[:0], b.ends[:0]
}
func (b *backfiller) interrupted() error { return b.p.Interrupt.Err() }
func (b *backfiller) over() bool         { return b.until > 0 && clock.Mono() >= b.until }
func (b *backfiller) relaxed() txn.Options {
	return txn.Options{Level: txn.ReadCommitted, Relaxed: true, Interrupt: b.p.Interrupt}
}

// alone indexes chunk after chunk while the gate is closed and nobody waits.
func (b *backfiller) alone(x *catalog.Exclusive) error {
	// As in backfill: a durable commit, for what users have committed since.
	if err := b.e.inTxn(b.j.put); err != nil {
		return err
	}
	for !b.done && !x.Contended() && !b.over() && !b.j.paused.Load() {
		if err := b.runAlone(x); err != nil {
			return err
		}
	}
	return nil
}

// collect is the sink of runAlone: it computes the entries of a page, which ends when a session waits.
type collect struct {
	b *backfiller
	x *catalog.Exclusive
}

func (c collect) Pair(key, value []byte) (bool, error) {
	err := c.b.add(key, value)
	return len(c.b.list)%exclusiveChunk != 0 || !c.x.Contended(), err
}

// add appends the entry of a row to the chunk.
func (b *backfiller) add(rowKey, row []byte) error {
	at := len(b.arena)
	out, keyLen, unique, err := b.entries.Append(b.arena, rowKey, row)
	if err != nil {
		return err
	}
	valueEnd := len(out)
	if unique { // other keys hold the row's primary key anyway
		out = append(out, rowKey...)
	}
	b.arena = out
	b.list = append(b.list, entryRef{at: at, keyEnd: at + keyLen, valueEnd: valueEnd, rowEnd: len(b.arena), unique: unique})
	return nil
}

// runAlone indexes one run of rows. Its last commit carries the checkpoint: a build that is interrupted in between writes the
// same entries again.
func (b *backfiller) runAlone(x *catalog.Exclusive) error {
	b.reset()
	resume, err := b.scan(collect{b, x}, exclusiveRun)
	if err != nil {
		return err
	}
	b.sort()
	list := b.list
	for ; len(list) > exclusiveChunk; list = list[exclusiveChunk:] {
		if err := b.commitAlone(list[:exclusiveChunk], (*txn.Txn).Commit); err != nil {
			return err
		}
		b.j.rows.Add(exclusiveChunk)
	}
	return b.commitAlone(list, func(tx *txn.Txn) error { return b.finish(tx, resume, len(b.list)) })
}

// commitAlone writes some entries of a run in a transaction of their own, which commit ends.
func (b *backfiller) commitAlone(list []entryRef, commit func(tx *txn.Txn) error) error {
	if err := b.interrupted(); err != nil {
		return err
	}
	tx := b.e.txns.Begin(b.relaxed())
	defer tx.Release()
	if _, err := b.write(tx, list); err != nil {
		return err
	}
	return commit(tx)
}

func (b *backfiller) scan(sink kvapi.Sink, rows int) ([]byte, error) {
	return b.e.txns.Scan(&txn.ScanRequest{Span: b.span, LimitRows: rows, Sink: sink, Interrupt: b.p.Interrupt})
}

// sort puts the entries in key order, which is the cheap order for the buffer and the store.
func (b *backfiller) sort() {
	places := b.order.Sort(len(b.list), func(i int) uint64 { return b.entries.Head(b.key(&b.list[i])) },
		func(i, j int) int { return bytes.Compare(b.key(&b.list[i]), b.key(&b.list[j])) })
	b.sorted = b.sorted[:0]
	for i := range places {
		b.sorted = append(b.sorted, b.list[places[i].At])
	}
	b.list, b.sorted = b.sorted, b.list
}

// write buffers sorted entries. skipped are those whose key is locked elsewhere.
func (b *backfiller) write(tx *txn.Txn, list []entryRef) (skipped []*entryRef, err error) {
	for i := range list {
		r := &list[i]
		if r.unique {
			taken, acquired, err := b.claim(tx, r)
			if err != nil {
				return nil, err
			}
			if !acquired {
				skipped = append(skipped, r)
				continue
			}
			if taken {
				continue // its writer indexed it already
			}
		}
		if err := tx.PutLikelyNew(b.key(r), b.val(r)); err != nil {
			return nil, err
		}
	}
	return skipped, nil
}

// claim locks a unique entry. taken means that it exists and is this row's own;
// another row's is 1062.
func (b *backfiller) claim(tx *txn.Txn, r *entryRef) (taken, acquired bool, err error) {
	found, acquired, err := tx.Lock(b.key(r), kvapi.LockExclusive, kvapi.WaitSkip, (*keepValue)(b))
	if err != nil || !acquired || !found {
		return false, acquired, err
	}
	same, err := b.entries.SameRow(b.value, b.row(r))
	if err == nil && !same {
		err = b.duplicate(r)
	}
	return true, true, err
}

// duplicate makes the 1062 of an entry, whose row has to be read again for it.
func (b *backfiller) duplicate(r *entryRef) error {
	rowKey := slices.Clone(b.row(r))
	tx := b.e.txns.Begin(txn.Options{Level: txn.ReadCommitted})
	defer tx.Release()
	if found, err := tx.Get(rowKey, nil, (*keepValue)(b)); err != nil || !found {
		return err
	}
	if _, _, _, err := b.entries.Append(nil, rowKey, b.value); err != nil {
		return err
	}
	return b.entries.Duplicate()
}

// keepValue is a sink that copies the value to b.value.
type keepValue backfiller

func (k *keepValue) Pair(_, value []byte) (bool, error) {
	k.value = append(k.value[:0], value...)
	return true, nil
}

// finish commits a chunk with its checkpoint and moves on.
func (b *backfiller) finish(tx *txn.Txn, resume []byte, rows int) error {
	b.j.rec.Rows += uint64(rows)
	b.done = resume == nil
	b.span.Start = resume
	before := b.j.rec.Checkpoint
	b.j.rec.Checkpoint = resume
	if b.done {
		// The job may be resumed between here and the next step: nothing is left.
		b.j.rec.Checkpoint = b.span.End
	}
	err := b.j.put(tx)
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		// The worker resumes with this record: its checkpoint must not be after rows whose entries are not written.
		b.j.rec.Checkpoint = before
		b.j.rec.Rows -= uint64(rows)
		return err
	}
	b.j.rows.Store(b.j.rec.Rows)
	return nil
}

// rowKeys is the sink of chunkLocked.
type rowKeys struct{ b *backfiller }

func (c rowKeys) Pair(key, _ []byte) (bool, error) {
	c.b.keys = append(c.b.keys, key...)
	c.b.ends = append(c.b.ends, len(c.b.keys))
	return true, nil
}

// chunkLocked indexes one page of rows under their locks.
func (b *backfiller) chunkLocked() error {
	if err := b.interrupted(); err != nil {
		return err
	}
	b.reset()
	resume, err := b.scan(rowKeys{b}, lockedChunk)
	if err != nil {
		return err
	}
	tx := b.e.txns.Begin(b.relaxed())
	defer tx.Release()
	var later [][]byte
	start := 0
	for _, end := range b.ends {
		key := b.keys[start:end]
		start = end
		acquired, err := b.lockRow(tx, key, kvapi.WaitSkip)
		if err != nil {
			return err
		}
		if !acquired {
			later = append(later, slices.Clone(key))
		}
	}
	rows := len(b.ends)
	b.sort()
	skipped, err := b.write(tx, b.list)
	if err != nil {
		return err
	}
	for _, r := range skipped {
		later = append(later, slices.Clone(b.row(r)))
	}
	// The skipped rows come first: the checkpoint must not pass them.
	if len(later) > 0 {
		if err := tx.Commit(); err != nil {
			return err
		}
		for _, key := range later {
			if err := b.single(key); err != nil {
				return err
			}
		}
		last := b.e.txns.Begin(b.relaxed())
		defer last.Release()
		return b.finish(last, resume, rows)
	}
	return b.finish(tx, resume, rows)
}

// lockRow locks a row and adds the entry of its newest version, if it exists.
func (b *backfiller) lockRow(tx *txn.Txn, key []byte, wait kvapi.WaitPolicy) (acquired bool, err error) {
	found, acquired, err := tx.Lock(key, kvapi.LockShared, wait, (*keepValue)(b))
	if err != nil || !acquired || !found {
		return acquired, err
	}
	return true, b.add(key, b.value)
}

// single indexes one row that was locked elsewhere. It waits for the row while
// holding nothing; if then the unique entry is locked, it lets go and tries again.
func (b *backfiller) single(key []byte) error {
	deadline := clock.Mono() + b.wait
	if b.until > 0 {
		// A chunk of many such rows gets on as long as none takes too long.
		deadline = max(b.until, clock.Mono()+workerPatience)
	}
	for {
		if err := b.interrupted(); err != nil {
			return err
		}
		left := deadline - clock.Mono()
		if left <= 0 {
			return kvapi.ErrLockTimeout
		}
		ok, err := b.trySingle(key, left)
		if ok || err != nil {
			return err
		}
		clock.Sleep(skipPause)
	}
}

func (b *backfiller) trySingle(key []byte, left time.Duration) (ok bool, err error) {
	o := b.relaxed()
	o.LockWait = left
	tx := b.e.txns.Begin(o)
	defer tx.Release()
	b.reset()
	if _, err := b.lockRow(tx, key, kvapi.WaitDefault); err != nil {
		return false, err
	}
	b.sort()
	skipped, err := b.write(tx, b.list)
	if err != nil || len(skipped) > 0 {
		return false, err
	}
	return true, tx.Commit()
}
