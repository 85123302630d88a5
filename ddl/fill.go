package ddl

import (
	"errors"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
)

// fillPage is how many rows are read at a time: between two looks at what may end the build, and on one iterator.
const fillPage = 1024

// fillRowsMax bounds the rows of a batch, and so how long its snapshot holds back garbage collection: some half a minute. A variable for tests.
var fillRowsMax = 16 << 20

// fill writes the entries of rows as they are at a snapshot, with the timestamps of the rows' versions, batch after batch. It locks nothing and is in
// nobody's way:
//
//   - A row that nobody has written since has this entry.
//   - Of one that somebody has, the writer has deleted this entry, or written it anew, or found that it stays as it is. What it wrote or deleted is
//     newer than the row's version of before and so in force, whichever came first. All who write since the snapshot know the index (WriteOnly), and they
//     delete entries without looking whether they are there.
//   - Where the writer has made the same entry already, this is that version once more. Versions of rows of before WriteOnly count as of jobRecord.Since:
//     who wrote one of those while the index was delete-only may have deleted, at that timestamp, the entry that is made here.
//
// That holds for entries that have their row's key in their own. Those of a unique index are also claims of a value, which need locks: see backfill.
//
// No reader is disturbed: who reads the index has a snapshot of after the build (catalog.Index.ReadableFrom). A batch that was put in and whose
// checkpoint was lost in a crash is made again, from rows that are the same versions still, and so are the entries, or have left a deletion or a newer
// entry above.
//
// It ends with kvapi.ErrNotAlone where everything written has to go through logs.
func (b *backfiller) fill() error {
	for !b.done {
		err := b.fillBatch()
		if errors.Is(err, kvapi.ErrSnapshotTooOld) {
			continue // nothing has happened: it held back garbage for too long
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
		more = rest.Start != nil && !f.Full() && sink.rows < fillRowsMax && !b.over()
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
