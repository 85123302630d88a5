package stats

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
)

// histogramSpace is the kind of the system keys that hold histograms, by the ids of the table and of the column. Other statistics are of a
// physical table; a histogram outlives TRUNCATE and copies of its table, as in MySQL.
const histogramSpace = 'h'

type columnKey struct {
	table  uint64
	column uint32
}

func (k columnKey) encode() []byte {
	return keys.SystemKey(nil, histogramSpace, catalog.IDPart(k.table), catalog.IDPart(uint64(k.column)))
}

// loadHistograms reads all histograms.
func (s *Store) loadHistograms() error {
	return s.load(histogramSpace, func(value []byte) error {
		h := &Histogram{}
		if err := json.Unmarshal(value, h); err != nil {
			return err
		}
		s.histograms[columnKey{h.TableID, h.ColumnID}] = h
		return nil
	})
}

// Histogram is that of a column, nil if it has none.
func (s *Store) Histogram(t *catalog.Table, column int) *Histogram {
	s.mu.RLock()
	h := s.histograms[columnKey{t.ID, t.Columns[column].ID}]
	s.mu.RUnlock()
	if h == nil {
		return nil
	}
	if _, ok := h.of(t); !ok {
		return nil
	}
	return h
}

// PutHistograms stores histograms of a table in place of those that their columns have.
func (s *Store) PutHistograms(t *catalog.Table, list []*Histogram) error {
	for _, h := range list {
		value, err := json.Marshal(h)
		if err != nil {
			return err
		}
		k := columnKey{h.TableID, h.ColumnID}
		if err := s.write(k.encode(), func(tx *txn.Txn, key []byte) error { return tx.Put(key, value) }); err != nil {
			return err
		}
		s.mu.Lock()
		s.histograms[k] = h
		s.mu.Unlock()
	}
	s.isFresh(t.PhysID)
	return s.TrimHistograms() // the table may have been dropped or changed meanwhile, and its change have been too early for these
}

// DropHistogram deletes that of a column, and tells whether there was one.
func (s *Store) DropHistogram(t *catalog.Table, column int) (bool, error) {
	if s.Histogram(t, column) == nil {
		return false, nil
	}
	if err := s.dropHistogram(columnKey{t.ID, t.Columns[column].ID}); err != nil {
		return false, err
	}
	s.isFresh(t.PhysID)
	return true, nil
}

func (s *Store) dropHistogram(k columnKey) error {
	if err := s.write(k.encode(), func(tx *txn.Txn, key []byte) error { return tx.Delete(key) }); err != nil {
		return err
	}
	s.mu.Lock()
	delete(s.histograms, k)
	s.mu.Unlock()
	return nil
}

// TrimHistograms deletes those of tables that are gone and of columns that are gone or have become others. Whoever changes a schema calls it
// afterwards; what a crash leaves behind is found at the next start.
func (s *Store) TrimHistograms() error {
	now := s.schema.Current()
	var gone []columnKey
	s.mu.RLock()
	for k, h := range s.histograms {
		if t := now.TableByID(k.table); t == nil {
			gone = append(gone, k)
		} else if _, ok := h.of(t); !ok {
			gone = append(gone, k)
		}
	}
	s.mu.RUnlock()
	for _, k := range gone {
		if err := s.dropHistogram(k); errors.Is(err, kvapi.ErrDiskFull) {
			return nil // nobody sees them any more; the next start tries again
		} else if err != nil {
			return err
		}
	}
	return nil
}

// renewHistograms makes those histograms of a table anew that were created with AUTO UPDATE.
func (s *Store) renewHistograms(t *catalog.Table, memory int64, now time.Time, intr *kvapi.Interrupt) error {
	byAsked := map[int][]int{}
	for i := range t.Columns {
		if h := s.Histogram(t, i); h != nil && h.Auto {
			byAsked[h.Asked] = append(byAsked[h.Asked], i)
		}
	}
	for asked, columns := range byAsked {
		list, err := s.BuildHistograms(t, columns, asked, true, memory, now, intr)
		if err != nil {
			return err
		}
		if err := s.PutHistograms(t, list); err != nil {
			return err
		}
	}
	return nil
}

// Refresh makes all statistics of a table anew: its own and the histograms that follow them.
func (s *Store) Refresh(t *catalog.Table, memory int64, now time.Time, intr *kvapi.Interrupt) error {
	found, err := s.Analyze(t, intr)
	if err != nil {
		return err
	}
	if err := s.Put(t, found); err != nil {
		return err
	}
	return s.renewHistograms(t, memory, now, intr)
}
