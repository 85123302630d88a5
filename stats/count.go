package stats

import (
	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/table"
)

const (
	// rowsAssumed is the number of rows of a table if it is unknown: large enough for an index to be preferred to a scan.
	rowsAssumed = 1_000_000
	// countVersions is how many versions of rows are read to count a table without statistics, and countVersionsMax how many if all of it is in
	// memory, where no sizes of files tell how many there are.
	countVersions    = 1000
	countVersionsMax = 20_000
	// countsMax bounds the tables whose counts are kept.
	countsMax = 16_384
)

// rowCount is the number of rows that look has found in a table without statistics.
type rowCount struct {
	rows    float64
	changed int64 // rows that were written since; guarded by Store.mu
}

// stale reports whether as many rows have changed as would make auto analyse a table again.
func (c *rowCount) stale() bool { return float64(c.changed) >= autoRows+autoShare*c.rows }

// Rows estimates the number of rows of a table: that of its statistics, or without them that of look, whose cost is bounded and which waits for
// nobody. A result of look is kept until it is stale.
func (s *Store) Rows(t *catalog.Table) float64 {
	s.mu.RLock()
	stats, counted := s.tables[t.PhysID], s.counts[t.PhysID]
	s.mu.RUnlock()
	switch {
	case stats != nil:
		return stats.Rows
	case counted != nil:
		return counted.rows // only changed needs the lock
	case t.Temporary != nil:
		return temporaryRows(t)
	case t.View != nil: // no storage holds it
		return rowsAssumed
	}
	rows, known := s.look(t)
	if !known {
		return rowsAssumed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.counts) >= countsMax {
		for id := range s.counts { // an arbitrary one: the tables are mostly asked for all together
			delete(s.counts, id)
			break
		}
	}
	if s.counts == nil {
		s.counts = map[uint64]*rowCount{}
	}
	s.counts[t.PhysID] = &rowCount{rows: rows}
	return rows
}

const (
	// entryBytes is an assumed size of the key of a row or an index entry, columnBytes that of a column.
	entryBytes  = 12
	columnBytes = 4
)

// temporaryRows guesses the rows of a temporary table by the bytes that its entries take, which its session counts.
func temporaryRows(t *catalog.Table) float64 {
	row := entryBytes*len(t.Indexes) + columnBytes*len(t.Columns)
	return float64(t.Temporary.Bytes()) / float64(max(row, 2*entryBytes))
}

// look reads the beginning of a table: it counts the rows of a small one and estimates those of others. known is false if that fails, or if the
// beginning has only deleted rows.
func (s *Store) look(t *catalog.Table) (rows float64, known bool) {
	size, err := s.txns.SpanSize(table.RowSpan(t), countVersions)
	if err == nil && !size.Whole && size.Disk == 0 {
		size, err = s.txns.SpanSize(table.RowSpan(t), countVersionsMax)
	}
	if err != nil || !size.Whole && size.Keys == 0 {
		return 0, false // whoever reads the table for its rows meets the error, too
	}
	n, _ := size.Estimate()
	return float64(n), true
}

// countChanged counts written rows of a table without statistics. It reports whether that made its rowCount stale, which it deletes then.
func (s *Store) countChanged(t *catalog.Table, rows int64) bool {
	s.mu.RLock()
	c := s.counts[t.PhysID]
	s.mu.RUnlock()
	if c == nil { // as nearly always: it has been analysed
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.changed += rows; !c.stale() {
		return false
	}
	delete(s.counts, t.PhysID)
	return true
}
