package ddl

import (
	"bytes"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
)

// checkSingles returns 1062 if t has more than one row and one of the indexes that
// an ALTER is about to build can hold only one (see single). The build would fail
// anyhow, after it had refused other sessions' rows for as long as it took.
func (e *Executor) checkSingles(t *catalog.Table, add []*catalog.Index, intr *kvapi.Interrupt) error {
	for _, ix := range add {
		if !single(ix) {
			continue
		}
		next := t.Clone()
		hidden := *ix
		hidden.State = catalog.StateDeleteOnly
		next.AddIndex(&hidden)
		next.Finish()
		second := secondRow{entries: table.NewEntryBuilder(next, &hidden)}
		for span := table.RowSpan(t); span.Start != nil && second.rows < 2; {
			resume, err := e.txns.Scan(&txn.ScanRequest{Span: span, LimitRows: 2, Sink: &second, Interrupt: intr})
			if err != nil {
				return err
			}
			span.Start = bytes.Clone(resume)
		}
		if second.rows == 2 {
			return second.entries.Duplicate()
		}
	}
	return nil
}

// single reports whether an index that an ALTER adds can hold only one of the
// existing rows: it is unique, and all its columns are added by the same ALTER, so
// that all existing rows have the same values, which are not NULL.
func single(ix *catalog.Index) bool {
	for i := range ix.Columns {
		if c := ix.Columns[i].Added; c == nil || c.OriginalNull {
			return false
		}
	}
	return ix.Unique
}

// secondRow is a sink that stops at the second row.
type secondRow struct {
	entries *table.EntryBuilder
	rows    int
}

func (s *secondRow) Pair(key, value []byte) (bool, error) {
	s.rows++
	_, _, _, err := s.entries.Append(nil, key, value)
	return s.rows < 2, err
}
