package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

const (
	// Blocks of ids that one durable write reserves. They double while a table
	// is loaded, so that a crash after a single insert loses few ids and a bulk
	// load does not wait for the disk often.
	autoBlockMin = 1 << 8
	autoBlockMax = 1 << 16
	// autoBlockShare is the part of the ids left in the column's type that a
	// block may have, and so the most that a crash costs. INT columns have room
	// for whole blocks until their last four million ids.
	autoBlockShare = 64
	// rowIDColumn is the column part of the counter of hidden row ids.
	rowIDColumn = 0
)

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
	physID uint64
	column uint32
}

// NewAutoIDs returns the registry of counters kept in m.
func NewAutoIDs(m *txn.Manager) *AutoIDs {
	return &AutoIDs{txns: m, byKey: make(map[autoKey]*AutoID)}
}

// For returns the generator of t's AUTO_INCREMENT column. t must have one.
func (a *AutoIDs) For(t *catalog.Table) *AutoID {
	return a.get(autoKey{t.PhysID, t.AutoInc.ID}, &t.AutoInc.Type)
}

func (a *AutoIDs) rowIDs(t *catalog.Table) *AutoID {
	return a.get(autoKey{t.PhysID, rowIDColumn}, &rowIDType)
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
	return &AutoID{txns: a.txns, typ: *typ, key: counterKey(catalog.KindAutoInc, k), exactKey: counterKey(catalog.KindAutoExact, k),
		max: maxAutoValue(typ), block: autoBlockMin}
}

// Peek returns t's next id without taking it: what SHOW CREATE TABLE and
// information_schema print. Who asks need not use the table, which may be gone:
// nothing is kept of one that nobody has taken ids of.
func (a *AutoIDs) Peek(t *catalog.Table) (uint64, error) {
	k := autoKey{t.PhysID, t.AutoInc.ID}
	a.mu.Lock()
	id := a.byKey[k]
	a.mu.Unlock()
	if id == nil {
		id = a.open(k, &t.AutoInc.Type)
	}
	return id.Peek()
}

// Begin makes first the first id of a new table, in the commit that creates it:
// a counter without its table would stay for ever. Nobody may know t yet.
func (a *AutoIDs) Begin(tx *txn.Txn, t *catalog.Table, first uint64) error {
	id := a.open(autoKey{t.PhysID, t.AutoInc.ID}, &t.AutoInc.Type)
	return tx.RaiseCounter(id.key, min(first, id.top()))
}

// Forget drops the counters of a physical table that is gone from memory.
func (a *AutoIDs) Forget(physID uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for k := range a.byKey {
		if k.physID == physID {
			delete(a.byKey, k)
		}
	}
}

// Drop deletes what is stored of the counters of a physical table that is gone
// and whose id is never used again. It may be repeated after a crash.
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

func counterKey(kind byte, k autoKey) []byte {
	return keys.SystemKey(nil, kind, catalog.IDPart(k.physID), binary.BigEndian.AppendUint32(nil, k.column))
}

// maxAutoValue is the largest number that a column of type t can count to. For
// floating point it is where every integer is still exact, as in MySQL.
func maxAutoValue(t *types.Type) uint64 {
	switch t.ID {
	case types.TypeFloat:
		return 1 << 24
	case types.TypeDouble:
		return 1 << 53
	}
	_, hi := t.IntRange()
	return hi
}

// AutoID generates the ids of one column. Ids are handed out in ascending
// order; they are unique as long as explicit ids raise the counter, and a crash
// may leave a gap but never a repeat. It is safe for concurrent use.
type AutoID struct {
	txns          *txn.Manager
	typ           types.Type
	key, exactKey []byte
	max           uint64

	// free is the next id to hand out; limit the first one that no durable
	// counter covers. free only grows; it is moved by compare-and-swap within
	// the limit, and beyond it under mu. Zero limit: not loaded yet.
	free, limit atomic.Uint64

	mu sync.Mutex
	// Guarded by mu, which is held while a block is reserved: everybody else
	// who needs ids has to wait for that anyway.
	loaded bool
	// durable is the value of the counter in storage. After a clean shutdown it
	// lies above limit, and the next reservation must exceed it.
	durable uint64
	block   uint64
}

// Next returns the first of n consecutive ids. At the end of the column's range
// it returns the largest value again, so that a unique key reports 1062, as
// MySQL does; a BIGINT UNSIGNED column gets 1467.
func (a *AutoID) Next(n uint64) (first uint64, err error) {
	for {
		from := a.free.Load()
		if to := from + n; to >= from && to <= a.limit.Load() {
			if a.free.CompareAndSwap(from, to) {
				return from, nil
			}
			continue
		}
		if done, first, err := a.reserve(n); done || err != nil {
			return first, err
		}
	}
}

// reserve makes room for n ids. done means that first is the answer already.
func (a *AutoID) reserve(n uint64) (done bool, first uint64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.load(); err != nil {
		return true, 0, err
	}
	from := a.free.Load()
	if from > a.max || a.max == math.MaxUint64 && from == math.MaxUint64 {
		first, err := a.exhausted()
		return true, first, err
	}
	if to := from + n; to >= from && to <= a.limit.Load() {
		return false, 0, nil
	}
	top := a.top()
	left := top - from
	limit := from + min(left, max(n, min(a.block, max(1, left/autoBlockShare))))
	if limit > a.limit.Load() {
		// The counter rises even if it covers the block or is at the top: what a
		// clean shutdown has recorded holds as long as the counter stays. It rises
		// by no more than that takes, or restarts would use up a small type.
		raised := max(limit, a.durable+1)
		limit = min(raised, top)
		if err := a.txns.RaiseCounter(a.key, raised); err != nil {
			return true, 0, fmt.Errorf("table: reserve auto-increment ids: %w", err)
		}
		a.durable = raised
	}
	a.block = min(a.block*2, autoBlockMax)
	a.limit.Store(limit)
	if n > limit-from {
		// The statement wants more ids than are left: it gets those, and the
		// rows beyond them see the end of the range.
		for {
			from = a.free.Load()
			if a.free.CompareAndSwap(from, max(from, limit)) {
				return true, from, nil
			}
		}
	}
	return false, 0, nil
}

// top bounds the ids from above: the one that no id may reach. The counter can
// stand above it.
func (a *AutoID) top() uint64 {
	if a.max < math.MaxUint64 {
		return a.max + 1
	}
	return a.max
}

// exhausted answers for a counter that has passed the end of its range.
func (a *AutoID) exhausted() (uint64, error) {
	if a.max == math.MaxUint64 {
		return 0, types.Errorf(types.ErAutoincReadFailed)
	}
	return a.max, nil
}

// load reads the durable counter once. The exact value of a clean shutdown
// counts only if no block was reserved since; beside the largest counter it
// never does, because no block could end it.
func (a *AutoID) load() error {
	if a.loaded {
		return nil
	}
	durable, err := a.txns.Counter(a.key)
	if err != nil {
		return fmt.Errorf("table: load auto-increment counter: %w", err)
	}
	free := min(max(durable, 1), a.top())
	var c catcher
	found, err := a.txns.Get(a.exactKey, nil, &c)
	if err != nil {
		return fmt.Errorf("table: load auto-increment counter: %w", err)
	}
	if found && durable < math.MaxUint64 && len(c.value) == exactLen && c.value[0] == exactFormat &&
		binary.BigEndian.Uint64(c.value[1:]) == durable {
		free = max(binary.BigEndian.Uint64(c.value[9:]), 1)
	}
	a.durable, a.loaded = durable, true
	a.free.Store(max(free, a.free.Load()))
	a.limit.Store(a.free.Load())
	return nil
}

// Raise makes sure that later ids are above an explicit value, in memory at
// once and durably with tx's commit. Values that are NULL, not positive or below
// the durable counter change nothing. If tx rolls back, a gap remains. Being below
// the next id is not enough: who raised that may have rolled back, or may yet.
func (a *AutoID) Raise(tx *txn.Txn, v *types.Value) error {
	n, ok := autoNumber(v)
	if !ok || n < a.free.Load() && n < a.limit.Load() {
		return nil
	}
	return a.raise(tx, min(n, a.max))
}

func (a *AutoID) raise(tx *txn.Txn, n uint64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.load(); err != nil {
		return err
	}
	next := n
	if n < math.MaxUint64 {
		next++
	}
	for {
		free := a.free.Load()
		if free >= next {
			break
		}
		if a.free.CompareAndSwap(free, next) {
			break
		}
	}
	if next > a.limit.Load() {
		if err := a.learn(); err != nil {
			return err
		}
	}
	if next <= a.limit.Load() {
		return nil // the durable counter is above it already
	}
	// Above the durable counter too, or the exact value of a clean shutdown
	// would be believed after a crash.
	return tx.RaiseCounter(a.key, max(next, a.durable+1))
}

// learn moves the limit to what raises have made of the counter that rode in
// commits: a load of explicit ids in any order then asks for few of its own.
func (a *AutoID) learn() error {
	durable, err := a.txns.Counter(a.key)
	if err != nil || durable <= a.durable {
		return err
	}
	a.durable = durable
	a.limit.Store(max(min(durable, a.top()), a.limit.Load()))
	return nil
}

// autoNumber returns v as an id that can raise the counter.
func autoNumber(v *types.Value) (n uint64, ok bool) {
	switch v.K {
	case types.KindInt:
		return uint64(v.N), v.N > 0
	case types.KindUint:
		return uint64(v.N), v.N != 0
	case types.KindFloat:
		f := v.Float64()
		if f < 1 || f >= math.MaxUint64 {
			return 0, false
		}
		return uint64(f), true
	}
	return 0, false
}

// NeedsID reports whether an AUTO_INCREMENT column given v gets a generated id:
// for NULL, and for 0 unless sql_mode has NO_AUTO_VALUE_ON_ZERO.
func NeedsID(v *types.Value, mode types.SQLMode) bool {
	switch v.K {
	case types.KindNull:
		return true
	case types.KindInt, types.KindUint:
		return v.N == 0 && mode&types.ModeNoAutoValueOnZero == 0
	case types.KindFloat:
		return v.Float64() == 0 && mode&types.ModeNoAutoValueOnZero == 0
	}
	return false
}

// Value returns the i-th of the ids that Next began with first, as a value of
// the column. Past the end of the range it is the largest value again.
func (a *AutoID) Value(first, i uint64) types.Value {
	id := first + i
	if id < first || id > a.max {
		id = a.max
	}
	switch a.typ.Kind() {
	case types.KindFloat:
		return types.Float(float64(id))
	case types.KindUint:
		return types.Uint(id)
	}
	return types.Int(int64(id))
}

// Peek returns the next id without taking it.
func (a *AutoID) Peek() (uint64, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.load(); err != nil {
		return 0, err
	}
	return a.free.Load(), nil
}

// CommitNext makes SetNext(next), which is to follow tx's commit, a matter of
// memory alone.
func (a *AutoID) CommitNext(tx *txn.Txn, next uint64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.load(); err != nil {
		return err
	}
	if next = min(next, a.top()); next <= a.free.Load() && next <= a.limit.Load() {
		return nil
	}
	return tx.RaiseCounter(a.key, max(next, a.durable+1)) // see raise
}

// SetNext raises the counter to next (AUTO_INCREMENT=n of ALTER TABLE),
// durably, and never lowers it. That the next id is above it already is not
// enough, for the reason that Raise has.
func (a *AutoID) SetNext(next uint64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.load(); err != nil {
		return err
	}
	next = min(next, a.top())
	if next > a.limit.Load() {
		if err := a.learn(); err != nil {
			return err
		}
	}
	if next > a.limit.Load() {
		// The counter must pass both: next, and what an old exact value names.
		raised := max(next, a.durable+1)
		if err := a.txns.RaiseCounter(a.key, raised); err != nil {
			return err
		}
		a.durable = raised
		a.limit.Store(max(min(raised, a.top()), a.limit.Load()))
	}
	for {
		free := a.free.Load()
		if free >= next || a.free.CompareAndSwap(free, next) {
			return nil
		}
	}
}

const (
	exactFormat = 1
	exactLen    = 17 // format, durable counter, exact counter
)

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

func (a *AutoID) storeExact(tx *txn.Txn) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.loaded {
		return nil
	}
	// A raise may have ridden in a commit since: storage knows.
	durable, err := a.txns.Counter(a.key)
	if err != nil {
		return err
	}
	free := a.free.Load()
	a.limit.Store(0)
	if free > durable {
		return tx.RaiseCounter(a.key, free) // it was raised by who rolled back
	}
	if free == durable {
		return nil
	}
	b := append(make([]byte, 0, exactLen), exactFormat)
	b = binary.BigEndian.AppendUint64(b, durable)
	b = binary.BigEndian.AppendUint64(b, free)
	if _, _, err := tx.Lock(a.exactKey, kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
		return err
	}
	return tx.Put(a.exactKey, b)
}
