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

// Histogram returns the histogram of a column, nil if it has none.
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

// PutHistograms stores histograms of a table. They replace those of the same columns.
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
	return s.TrimHistograms() // a change of the table meanwhile may have trimmed histograms before these were stored
}

// DropHistogram deletes the histogram of a column, and reports whether there was one.
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

// TrimHistograms deletes the histograms of dropped tables and of dropped or changed columns. It is called after each schema change, and by Open for
// those that a crash has left.
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
			return nil // they are not used any more; the next start tries again
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

// Refresh makes the statistics of a table anew, and its histograms with AUTO UPDATE.
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
