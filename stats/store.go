package stats

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
)

// statsSpace is the kind of the system keys that hold statistics, by physical table id.
const statsSpace = 's'

// Table are the statistics of one table.
type Table struct {
	Rows float64 `json:"rows"`
	// Columns by column id.
	Columns map[uint32]*Column `json:"columns"`
	// Distinct by index id: the number of distinct values of the first column, the first two, and so on.
	Distinct map[uint64][]float64 `json:"distinct"`
}

// Column are the statistics of one column.
type Column struct {
	Nulls float64 `json:"nulls"`
	// Distinct estimates the number of distinct values; 0 is unknown, as in records of earlier versions.
	Distinct float64 `json:"distinct,omitempty"`
	// Common are the values that are far more frequent than an average one, at most commonMax, the most frequent first.
	Common []Common `json:"common,omitempty"`
	// Bounds are order-preserving keys (types.AppendKey) at equal steps of rank, the smallest first and the largest last.
	Bounds [][]byte `json:"bounds"`
}

// Common is a value that many rows have.
type Common struct {
	Key  []byte  `json:"key"`  // types.AppendKey, the first keyPrefixBytes
	Part float64 `json:"part"` // of all rows, those with NULL included
}

// Store is the node's statistics. It is safe for concurrent use.
type Store struct {
	txns   *txn.Manager
	schema *catalog.Catalog
	mu     sync.RWMutex // guards tables, counts and histograms; no other lock is taken under it
	// tables by physical id. The values are immutable.
	tables     map[uint64]*Table
	counts     map[uint64]*rowCount // by physical id, of tables without statistics
	histograms map[columnKey]*Histogram
	auto       atomic.Pointer[auto] // nil unless started
}

// Open loads the statistics, and drops those of tables that are gone: an ANALYZE TABLE that was running may have left some, and so did
// earlier versions. No schema change may run yet.
func Open(m *txn.Manager, schema *catalog.Catalog) (*Store, error) {
	s := &Store{txns: m, schema: schema, tables: map[uint64]*Table{}, histograms: map[columnKey]*Histogram{}}
	err := s.load(statsSpace, func(value []byte) error {
		r := &record{}
		if err := json.Unmarshal(value, r); err != nil {
			return err
		}
		s.tables[r.PhysID] = &r.Table
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := s.loadHistograms(); err != nil {
		return nil, err
	}
	if err := s.TrimHistograms(); err != nil {
		return nil, err
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

// loader is a kvapi.Sink that calls itself with the values of records.
type loader func(value []byte) error

// Pair decodes one record.
func (l loader) Pair(_, value []byte) (bool, error) { return true, l(value) }

// load reads all records of a kind.
func (s *Store) load(space byte, decode loader) error {
	if err := s.scan(txn.ScanRequest{Span: catalog.KindSpan(space), Sink: decode}); err != nil {
		return fmt.Errorf("loading statistics: %w", err)
	}
	return nil
}

// scan reads a whole span, a page at a time.
func (s *Store) scan(request txn.ScanRequest) error {
	for {
		resume, err := s.txns.Scan(&request)
		if err != nil || resume == nil {
			return err
		}
		request.Span.Start = resume
	}
}

// record is a table's statistics with the id that the key encodes, so that loading needs no parsing of keys.
type record struct {
	PhysID uint64 `json:"phys_id"`
	Table
}

// Of returns the statistics of a table, nil if nobody has analysed it. They are immutable; new ones are another Table.
func (s *Store) Of(t *catalog.Table) *Table { return s.get(t) }

func (s *Store) get(t *catalog.Table) *Table {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.tables[t.PhysID]
}

// Put stores a table's statistics, unless the table was dropped meanwhile, which nothing prevents during an ANALYZE.
func (s *Store) Put(t *catalog.Table, stats *Table) error {
	value, err := json.Marshal(record{t.PhysID, *stats})
	if err != nil {
		return err
	}
	if err := s.write(tableKey(t.PhysID), func(tx *txn.Txn, key []byte) error { return tx.Put(key, value) }); err != nil {
		return err
	}
	s.mu.Lock()
	s.tables[t.PhysID] = stats
	delete(s.counts, t.PhysID)
	s.mu.Unlock()
	s.isFresh(t.PhysID)
	// A drop after this deletes the statistics; one before may have come too early for that.
	if now := s.schema.Current().TableByID(t.ID); now == nil || now.PhysID != t.PhysID {
		return s.remove(t.PhysID)
	}
	return nil
}

// isFresh calls the fresh of Start, which drops cached plans of a table whose statistics have changed.
func (s *Store) isFresh(physID uint64) {
	if a := s.auto.Load(); a != nil && a.fresh != nil {
		a.fresh(physID)
	}
}

// Drop deletes the statistics of a physical table that is gone, if there are any.
func (s *Store) Drop(physID uint64) error {
	s.mu.Lock()
	delete(s.counts, physID)
	found := s.tables[physID] != nil
	s.mu.Unlock()
	if !found {
		return nil
	}
	return s.remove(physID)
}

func (s *Store) remove(physID uint64) error {
	if err := s.write(tableKey(physID), func(tx *txn.Txn, key []byte) error { return tx.Delete(key) }); err != nil {
		return err
	}
	s.mu.Lock()
	delete(s.tables, physID)
	s.mu.Unlock()
	return nil
}

func tableKey(physID uint64) []byte {
	return keys.SystemKey(nil, statsSpace, []byte(strconv.FormatUint(physID, 10)))
}

// write changes a record in a transaction of its own.
func (s *Store) write(key []byte, change func(tx *txn.Txn, key []byte) error) error {
	tx := s.txns.Begin(txn.Options{Level: txn.ReadCommitted})
	defer tx.Release()
	if _, _, err := tx.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
		return err
	}
	if err := change(tx, key); err != nil {
		return err
	}
	return tx.Commit()
}
