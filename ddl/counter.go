package ddl

import (
	"math"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// lowers reports whether AUTO_INCREMENT = n asks for less than the counter of t has reached.
func (e *Executor) lowers(t *catalog.Table, n uint64) (bool, error) {
	at, err := e.ids.Peek(t)
	return n < at, err
}

// firstID is the next id of next, the new version of t, after AUTO_INCREMENT = n: n, or the id after those of the rows. The gate of t is closed.
// If that is less than the counter has reached, next gets a new counter (catalog.Table.Counting): no counter is ever lowered, because other nodes
// may have reserved ids of it.
func (e *Executor) firstID(t, next *catalog.Table, n uint64, intr *kvapi.Interrupt) (uint64, error) {
	if lower, err := e.lowers(t, n); err != nil || !lower || next.AutoInc.ID != t.AutoInc.ID {
		return n, err
	}
	next.Counting++
	next.Finish()
	// A durable commit, so that the watermark covers what the table's users have committed without waiting for the disk. No counter begins below 1.
	fence := func(tx *txn.Txn) error { return e.ids.Begin(tx, next, 1) }
	if err := e.inTxn(fence); err != nil {
		return 0, err
	}
	last, err := e.lastID(t, intr)
	if err != nil {
		return 0, err
	}
	if last < math.MaxUint64 {
		n = max(n, last+1)
		if lower, err := e.lowers(t, n); err != nil || lower {
			return n, err
		}
	}
	next.Counting = t.Counting // the rows reach up to the counter
	next.Finish()
	return n, nil
}

// countFrom finishes AUTO_INCREMENT = n after the commit that made first the next id of next, the new version of t.
func (e *Executor) countFrom(t, next *catalog.Table, first uint64) {
	if err := e.ids.For(next).SetNext(first); err != nil {
		// The next start reads the stored value.
		e.log.Warn("the new AUTO_INCREMENT value is not in use yet", "table", next.Name, "error", err)
	}
	if next.Counting == t.Counting {
		return
	}
	if err := e.ids.Retire(t); err != nil {
		e.log.Warn("the former AUTO_INCREMENT counter stays until the table goes", "table", next.Name, "error", err)
	}
}

// lastID returns the largest id of t's rows, 0 if none is above 0.
func (e *Executor) lastID(t *catalog.Table, intr *kvapi.Interrupt) (uint64, error) {
	for _, ix := range t.Indexes {
		if ix.State != catalog.StatePublic || ix.Columns[0].Col != t.AutoInc.Ordinal {
			continue
		}
		last := lastID{}
		last.reader.Reset(table.NewShape(t, ix, []int{t.AutoInc.Ordinal}))
		span := table.IndexSpan(t, ix)
		if ix.Primary {
			span = table.RowSpan(t)
		}
		for span.Start != nil && !last.found {
			resume, err := e.txns.Scan(&txn.ScanRequest{Span: span, Reverse: !ix.Columns[0].Desc, LimitRows: 1, Sink: &last, Interrupt: intr})
			if err != nil {
				return 0, err
			}
			if resume == nil {
				break
			}
			if ix.Columns[0].Desc {
				span.Start = resume
			} else {
				span.End = resume
			}
		}
		return table.IDNumber(&last.value), nil
	}
	return 0, types.Errorf(types.ErWrongAutoKey) // cannot happen: see checkAutoColumn
}

// lastID is the sink of the first pair.
type lastID struct {
	reader table.Reader
	value  types.Value
	found  bool
}

// Pair implements kvapi.Sink.
func (l *lastID) Pair(key, value []byte) (bool, error) {
	if err := l.reader.Decode(key, value); err != nil {
		return false, err
	}
	l.value, l.found = l.reader.Value(0), true
	return false, nil
}
