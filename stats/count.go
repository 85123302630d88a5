package stats

import (
	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/table"
)

const (
	// rowsAssumed is the size of a table of which nothing can be known: large enough that an index wins over a scan.
	rowsAssumed = 1_000_000
	// countVersions is how many versions of rows are looked at to count a table that nobody has analysed, and countVersionsMax how many if nothing
	// of it has left memory, where nothing else tells how many there are.
	countVersions    = 1000
	countVersionsMax = 20_000
	// countsMax bounds the tables whose counts are kept.
	countsMax = 16_384
)

// rowCount is what a look at a table that nobody has analysed has found.
type rowCount struct {
	rows    float64
	changed int64 // rows that were written since; guarded by Store.mu
}

// stale reports that the table may be another size by now: as many changes as would have it analysed again.
func (c *rowCount) stale() bool { return float64(c.changed) >= autoRows+autoShare*c.rows }

// Rows estimates the number of rows of a table: as many as at the last analysis, or without one those that a look finds, which is bounded, waits
// for nobody, and is made once until enough rows have changed.
func (s *Store) Rows(t *catalog.Table) float64 {
	s.mu.RLock()
	stats, counted := s.tables[t.PhysID], s.counts[t.PhysID]
	s.mu.RUnlock()
	switch {
	case stats != nil:
		return stats.Rows
	case counted != nil:
		return counted.rows // never written
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
		for id := range s.counts { // any one: most are of tables that are asked for together
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
	// entryBytes is what the key of a row or an index entry takes, columnBytes what a column does.
	entryBytes  = 12
	columnBytes = 4
)

// temporaryRows guesses the rows of a temporary table by the bytes that its entries take, which its session counts.
func temporaryRows(t *catalog.Table) float64 {
	row := entryBytes*len(t.Indexes) + columnBytes*len(t.Columns)
	return float64(t.Temporary.Bytes()) / float64(max(row, 2*entryBytes))
}

// look looks at the beginning of a table: a small one it counts. known is false where that says nothing, as at a great many deleted rows.
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

// countChanged notes that rows of a table were written. It reports whether what was counted has become worthless by that.
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
