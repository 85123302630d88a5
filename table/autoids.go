package table

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// rowIDColumn is the column part of the counter of hidden row ids.
const rowIDColumn = 0

// AutoIDs owns the counters of this node's tables: AUTO_INCREMENT columns and
// hidden row ids. It is safe for concurrent use.
type AutoIDs struct {
	txns *txn.Manager

	mu sync.Mutex
	// byKey is guarded by mu, which is taken before AutoID.mu.
	byKey  map[autoKey]*AutoID
	closed bool
}

type autoKey struct {
	physID   uint64
	column   uint32
	counting uint32 // catalog.Table.Counting; 0 for row ids
}

// autoKeyOf is the key of the counter of t's AUTO_INCREMENT column.
func autoKeyOf(t *catalog.Table) autoKey { return autoKey{t.PhysID, t.AutoInc.ID, t.Counting} }

// NewAutoIDs returns the registry of counters kept in m.
func NewAutoIDs(m *txn.Manager) *AutoIDs {
	return &AutoIDs{txns: m, byKey: make(map[autoKey]*AutoID)}
}

// For returns the generator of t's AUTO_INCREMENT column. t must have one.
func (a *AutoIDs) For(t *catalog.Table) *AutoID {
	return a.get(autoKeyOf(t), &t.AutoInc.Type)
}

func (a *AutoIDs) rowIDs(t *catalog.Table) *AutoID {
	return a.get(autoKey{t.PhysID, rowIDColumn, 0}, &rowIDType)
}

func (a *AutoIDs) get(k autoKey, typ *types.Type) *AutoID {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := a.byKey[k]
	if id == nil {
		id = a.open(k, typ)
		a.byKey[k] = id
	}
	return id
}

func (a *AutoIDs) open(k autoKey, typ *types.Type) *AutoID {
	id := &AutoID{typ: *typ, max: maxAutoValue(typ), block: autoBlockMin}
	if !catalog.IsTemporary(k.physID) {
		id.txns, id.key, id.exactKey = a.txns, counterKey(catalog.KindAutoInc, k), counterKey(catalog.KindAutoExact, k)
	}
	return id
}

// Peek returns t's next id without taking it: what SHOW CREATE TABLE and
// information_schema print. The caller need not have entered the table, which may
// be dropped: it keeps no AutoID of a table for which there was none.
func (a *AutoIDs) Peek(t *catalog.Table) (uint64, error) {
	k := autoKeyOf(t)
	a.mu.Lock()
	id := a.byKey[k]
	a.mu.Unlock()
	if id == nil {
		id = a.open(k, &t.AutoInc.Type)
	}
	return id.Peek()
}

// Begin makes first the first id of a new table, in the commit that creates it:
// a counter without its table would stay for ever. t must not be published yet.
func (a *AutoIDs) Begin(tx *txn.Txn, t *catalog.Table, first uint64) error {
	id := a.open(autoKeyOf(t), &t.AutoInc.Type)
	return tx.RaiseCounter(id.key, min(first, id.top()))
}

// Forget removes the counters of a dropped physical table from memory.
func (a *AutoIDs) Forget(physID uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for k := range a.byKey {
		if k.physID == physID {
			delete(a.byKey, k)
		}
	}
}

// ForgetTemporary removes the counters of a temporary table, which are not stored.
func (a *AutoIDs) ForgetTemporary(t *catalog.Table) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.byKey, autoKey{t.PhysID, rowIDColumn, 0})
	if t.AutoInc != nil {
		delete(a.byKey, autoKeyOf(t))
	}
}

// Retire drops the AUTO_INCREMENT counter of t after a newer version of the table has got another one (catalog.Table.Counting). Nobody may use t
// any more. If a crash prevents it, the counter is dropped with the table.
func (a *AutoIDs) Retire(t *catalog.Table) error {
	k := autoKeyOf(t)
	a.mu.Lock()
	delete(a.byKey, k)
	a.mu.Unlock()
	key := counterKey(catalog.KindAutoInc, k)
	return a.txns.DropCounters(kvapi.Span{Start: key, End: append(bytes.Clone(key), 0)})
}

// Drop deletes the stored counters of a dropped physical table, whose id is never
// used again. It may be repeated after a crash.
func (a *AutoIDs) Drop(physID uint64) error {
	var found keyCatcher
	span := counterSpan(catalog.KindAutoExact, physID)
	for span.Start != nil {
		resume, err := a.txns.Scan(&txn.ScanRequest{Span: span, Sink: &found})
		if err != nil {
			return fmt.Errorf("table: drop auto-increment counters: %w", err)
		}
		span.Start = bytes.Clone(resume)
	}
	tx := a.txns.Begin(txn.Options{Level: txn.ReadCommitted})
	defer tx.Release()
	for _, key := range found.keys {
		if _, _, err := tx.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
			return fmt.Errorf("table: drop auto-increment counters: %w", err)
		}
		if err := tx.Delete(key); err != nil {
			return fmt.Errorf("table: drop auto-increment counters: %w", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("table: drop auto-increment counters: %w", err)
	}
	return a.txns.DropCounters(counterSpan(catalog.KindAutoInc, physID))
}

// keyCatcher keeps the keys of a scan.
type keyCatcher struct{ keys [][]byte }

func (c *keyCatcher) Pair(key, _ []byte) (bool, error) {
	c.keys = append(c.keys, bytes.Clone(key))
	return true, nil
}

// counterSpan holds the keys of one kind of all columns of a physical table.
func counterSpan(kind byte, physID uint64) kvapi.Span {
	prefix := keys.SystemKey(nil, kind, catalog.IDPart(physID))
	return kvapi.Span{Start: prefix, End: keys.PrefixEnd(nil, prefix)}
}

// Close stores the exact counters of a clean shutdown in one transaction, so
// that no gap remains. No ids may be taken afterwards.
func (a *AutoIDs) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil
	}
	a.closed = true
	tx := a.txns.Begin(txn.Options{Level: txn.ReadCommitted})
	defer tx.Release()
	for _, id := range a.byKey {
		if err := id.storeExact(tx); err != nil {
			tx.Rollback()
			return fmt.Errorf("table: store auto-increment counters: %w", err)
		}
	}
	return tx.Commit()
}
