package ddl

import (
	"errors"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
)

// fillPage is how many rows one scan reads; between scans the build looks for interrupts and the end of its slice.
const fillPage = 1024

// fillRowsMax bounds the rows of a batch, and so how long its snapshot holds back garbage collection: some half a minute. A variable for tests.
var fillRowsMax = 16 << 20

// fill writes the entries of rows as they are at a snapshot, with the timestamps of the rows' versions, batch after batch. It locks nothing, and
// concurrent writers need not be kept away:
//
//   - A row that was not written since the snapshot has this entry.
//   - A writer of a row since the snapshot has deleted this entry, or written it again, or left it unchanged. What it wrote or deleted has a newer
//     timestamp than the row's version in the snapshot and so wins, whichever came first. All writers since the snapshot know the index (WriteOnly),
//     and they delete entries without checking that they exist.
//   - If a writer has made the same entry already, this is the same version again. For rows older than WriteOnly the timestamp is jobRecord.Since:
//     whoever wrote one while the index was delete-only may have deleted, at the row's timestamp, the entry that is made here.
//
// That holds for entries that have their row's key in their own. Those of a unique index are also claims of a value, which need locks: see backfill.
//
// Readers see nothing of it: whoever reads the index has a snapshot after the build (catalog.Index.ReadableFrom). If a crash loses the checkpoint of
// an applied batch, the batch is made again: from unchanged rows come the same versions of entries, and changed rows have left a newer deletion or entry.
//
// It returns kvapi.ErrNotAlone in a replicated store, where all writes must go through the log.
func (b *backfiller) fill() error {
	for !b.done {
		if err := b.rest(); err != nil {
			return err
		}
		err := b.fillBatch()
		if errors.Is(err, kvapi.ErrSnapshotTooOld) {
			continue // the snapshot was closed because it held back garbage collection for too long; nothing was written
		}
		if err != nil {
			return err
		}
		if b.over() && !b.done {
			return errSliceOver
		}
	}
	return nil
}

// fillBatch makes the entries of as many rows as fit, and then the checkpoint.
func (b *backfiller) fillBatch() error {
	at := b.e.txns.OpenSnapshot()
	defer at.Close()
	f, err := at.NewFill(table.EntrySpan(b.t.PhysID, b.ix.ID), b.entries.Common())
	if err != nil {
		return err
	}
	defer f.Discard()
	sink, rest := &fillSink{b: b, f: f}, b.span
	b.j.rows.Store(b.j.rec.Rows)
	for more := true; more; {
		if err := b.interrupted(); err != nil {
			return err
		}
		read := sink.rows
		r := txn.ScanRequest{Span: rest, LimitRows: min(fillPage, fillRowsMax), Sink: sink, WithTS: true, Interrupt: b.p.Interrupt, TS: at.TS()}
		if rest.Start, err = b.e.txns.Scan(&r); err != nil {
			return err
		}
		b.j.rows.Add(uint64(sink.rows - read))
		more = rest.Start != nil && !f.Full() && sink.rows < fillRowsMax && !b.over() && !b.j.paused.Load()
	}
	if b.e.beforeFill != nil {
		b.e.beforeFill()
	}
	if err := f.Apply(b.p.Interrupt); err != nil {
		return err
	}
	tx := b.e.txns.Begin(b.relaxed())
	defer tx.Release()
	return b.finish(tx, rest.Start, sink.rows)
}

// fillSink makes entries of rows.
type fillSink struct {
	b    *backfiller
	f    *txn.Fill
	rows int
	ts   clock.Timestamp // of the entry that comes next
}

// Version implements kvapi.VersionSink.
func (s *fillSink) Version(ts clock.Timestamp) { s.ts = max(ts, s.b.j.rec.Since) }

// Pair implements kvapi.Sink.
func (s *fillSink) Pair(key, value []byte) (bool, error) {
	b := s.b
	out, keyLen, _, err := b.entries.Append(b.arena[:0], key, value)
	if err != nil {
		return false, err
	}
	b.arena = out
	s.rows++
	return true, s.f.Add(out[:keyLen], out[keyLen:], s.ts)
}
