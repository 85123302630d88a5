package stats

import (
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

const (
	// statsSpace is the kind of the system keys that hold statistics, by physical table id.
	statsSpace = 's'
	// rowsAssumed is the size of a table nobody has analysed: large enough that an index wins over a scan.
	rowsAssumed = 1_000_000
)

// Table are the statistics of one table.
type Table struct {
	Rows float64 `json:"rows"`
	// Columns by column id: the histogram's values in the column's stored form, and the fraction of NULLs.
	Columns map[uint32]*Column `json:"columns"`
	// Distinct by index id: the number of distinct values of the first column, the first two, and so on.
	Distinct map[uint64][]float64 `json:"distinct"`
}

// Column are the statistics of one column.
type Column struct {
	Nulls float64 `json:"nulls"`
	// Bounds are order-preserving keys (types.AppendKey) at equal steps of rank, the smallest first and the largest last.
	Bounds [][]byte `json:"bounds"`
}

// Store is the node's statistics. It is safe for concurrent use.
type Store struct {
	txns   *txn.Manager
	schema *catalog.Catalog
	mu     sync.RWMutex // guards tables; a leaf lock
	// tables by physical id. The values are immutable.
	tables map[uint64]*Table
	auto   atomic.Pointer[auto] // nil unless started
}

// Open loads the statistics, and drops those of tables that are gone: an ANALYZE TABLE that was running may have left some, and so did
// earlier versions. No schema change may run yet.
func Open(m *txn.Manager, schema *catalog.Catalog) (*Store, error) {
	s := &Store{txns: m, schema: schema, tables: map[uint64]*Table{}}
	start := keys.SystemKey(nil, statsSpace)
	request := txn.ScanRequest{Span: kvapi.Span{Start: start, End: keys.PrefixEnd(nil, start)}, Sink: &loader{s}}
	for {
		resume, err := m.Scan(&request)
		if err != nil {
			return nil, fmt.Errorf("loading statistics: %w", err)
		}
		if resume == nil {
			break
		}
		request.Span.Start = resume
	}
	live := map[uint64]bool{}
	snapshot := schema.Current()
	for _, d := range snapshot.Databases() {
		for _, t := range snapshot.Tables(d.Name) {
			live[t.PhysID] = true
		}
	}
	for physID := range s.tables {
		if live[physID] {
			continue
		}
		if err := s.Drop(physID); errors.Is(err, kvapi.ErrDiskFull) {
			return s, nil // the next start tries again
		} else if err != nil {
			return nil, err
		}
	}
	return s, nil
}

type loader struct{ store *Store }

// record is a table's statistics with the id that the key encodes, so that loading needs no parsing of keys.
type record struct {
	PhysID uint64 `json:"phys_id"`
	Table
}

// Pair decodes one record.
func (l *loader) Pair(_, value []byte) (bool, error) {
	r := &record{}
	if err := json.Unmarshal(value, r); err != nil {
		return false, err
	}
	l.store.tables[r.PhysID] = &r.Table
	return true, nil
}

func (s *Store) get(t *catalog.Table) *Table {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.tables[t.PhysID]
}

// Put stores a table's statistics. Who analyses a table does not keep others from dropping it: if it is gone meanwhile, so are they.
func (s *Store) Put(t *catalog.Table, stats *Table) error {
	value, err := json.Marshal(record{t.PhysID, *stats})
	if err != nil {
		return err
	}
	if err := s.write(t.PhysID, func(tx *txn.Txn, key []byte) error { return tx.Put(key, value) }); err != nil {
		return err
	}
	s.mu.Lock()
	s.tables[t.PhysID] = stats
	s.mu.Unlock()
	if a := s.auto.Load(); a != nil && a.fresh != nil {
		a.fresh(t.PhysID)
	}
	// A later drop finds the statistics; who dropped the table before this may have been too early for them.
	if now := s.schema.Current().TableByID(t.ID); now == nil || now.PhysID != t.PhysID {
		return s.remove(t.PhysID)
	}
	return nil
}

// Drop deletes the statistics of a physical table that is gone, if there are any.
func (s *Store) Drop(physID uint64) error {
	s.mu.RLock()
	found := s.tables[physID] != nil
	s.mu.RUnlock()
	if !found {
		return nil
	}
	return s.remove(physID)
}

func (s *Store) remove(physID uint64) error {
	if err := s.write(physID, func(tx *txn.Txn, key []byte) error { return tx.Delete(key) }); err != nil {
		return err
	}
	s.mu.Lock()
	delete(s.tables, physID)
	s.mu.Unlock()
	return nil
}

// write changes the record of a physical table in a transaction of its own.
func (s *Store) write(physID uint64, change func(tx *txn.Txn, key []byte) error) error {
	tx := s.txns.Begin(txn.Options{Level: txn.ReadCommitted})
	defer tx.Release()
	key := keys.SystemKey(nil, statsSpace, []byte(strconv.FormatUint(physID, 10)))
	if _, _, err := tx.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
		return err
	}
	if err := change(tx, key); err != nil {
		return err
	}
	return tx.Commit()
}

// Rows estimates the number of rows of a table.
func (s *Store) Rows(t *catalog.Table) float64 {
	if rows, ok := s.RowCount(t); ok {
		return rows
	}
	return rowsAssumed
}

// RowCount is the number of rows at the last ANALYZE; ok is false if there was none.
func (s *Store) RowCount(t *catalog.Table) (rows float64, ok bool) {
	if stats := s.get(t); stats != nil {
		return stats.Rows, true
	}
	return 0, false
}

// Distinct estimates the number of different values of the leading columns of an index; 0 is unknown.
func (s *Store) Distinct(t *catalog.Table, index *catalog.Index, columns int) float64 {
	stats := s.get(t)
	if stats == nil {
		return 0
	}
	if counts := stats.Distinct[index.ID]; columns >= 1 && columns <= len(counts) {
		return counts[columns-1]
	}
	return 0
}

// RangeFraction estimates which part of the rows lies between two values of a column, NULL bounds being open; negative is unknown.
func (s *Store) RangeFraction(t *catalog.Table, column int, low, high types.Value) float64 {
	stats := s.get(t)
	if stats == nil {
		return -1
	}
	c := t.Columns[column]
	h := stats.Columns[c.ID]
	if h == nil || len(h.Bounds) < 2 {
		return -1
	}
	from, to := 0.0, 1.0
	if !low.IsNull() {
		at, ok := h.rank(low, &c.Type)
		if !ok {
			return -1
		}
		from = at
	}
	if !high.IsNull() {
		at, ok := h.rank(high, &c.Type)
		if !ok {
			return -1
		}
		to = at
	}
	return max(0, to-from) * (1 - h.Nulls)
}

// rank is the fraction of values below v.
func (c *Column) rank(v types.Value, t *types.Type) (float64, bool) {
	converted, err := types.Convert(&types.Context{}, v, *t, "", 1)
	if err != nil || converted.IsNull() {
		return 0, false
	}
	key := string(types.AppendKey(nil, converted, t, false, 0))
	at := sort.Search(len(c.Bounds), func(i int) bool { return string(c.Bounds[i]) >= key })
	return float64(at) / float64(len(c.Bounds)), true
}
