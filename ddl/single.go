package ddl

import (
	"bytes"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
)

// checkSingles returns the 1062 of a single index among those that an ALTER is
// about to build if t has more rows already. Its build could not succeed, and
// would keep others from writing rows as long as it took.
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

// single reports whether an index that an ALTER adds has room for one of the
// rows that are there: it is unique, and all of its columns come with the ALTER
// and hold the same in every row.
func single(ix *catalog.Index) bool {
	for i := range ix.Columns {
		if c := ix.Columns[i].Added; c == nil || c.OriginalNull {
			return false
		}
	}
	return ix.Unique
}

// secondRow is a sink that ends with the second row.
type secondRow struct {
	entries *table.EntryBuilder
	rows    int
}

func (s *secondRow) Pair(key, value []byte) (bool, error) {
	s.rows++
	_, _, _, err := s.entries.Append(nil, key, value)
	return s.rows < 2, err
}
