package table

import (
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
	// autoBlockShare: a block has at most 1/autoBlockShare of the ids that are left
	// in the column's type, and a crash loses no more. An INT column gets blocks of
	// autoBlockMax until its last four million ids.
	autoBlockShare = 64
)

func counterKey(kind byte, k autoKey) []byte {
	parts := [][]byte{catalog.IDPart(k.physID), binary.BigEndian.AppendUint32(nil, k.column)}
	if k.counting != 0 {
		parts = append(parts, binary.BigEndian.AppendUint32(nil, k.counting))
	}
	return keys.SystemKey(nil, kind, parts...)
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
// order; they are unique, whichever node hands them out, as long as explicit ids
// raise the counter, and a crash may leave a gap but never a repeat. It is safe
// for concurrent use.
type AutoID struct {
	txns          *txn.Manager // nil for a temporary table, whose counter is only in kept
	typ           types.Type
	key, exactKey []byte
	max           uint64

	// free is the next id to hand out; ids below limit are reserved for this AutoID
	// in the durable counter. free only grows; it is moved by compare-and-swap within
	// the limit, and beyond it under mu. A limit of 0 means not loaded yet.
	free, limit atomic.Uint64
	// covered is a value that the durable counter is known to have reached.
	covered atomic.Uint64

	mu sync.Mutex
	// Guarded by mu, which is held while a block is reserved: everybody else
	// who needs ids has to wait for that anyway.
	loaded bool
	// end is the value of the durable counter as this AutoID has last seen or set it.
	// If nobody has moved it since, the ids below it are this AutoID's.
	end uint64
	// claim: a clean shutdown has recorded the ids from free to end as unused. They may
	// be used if the counter is still end when the next ones are reserved, not before.
	claim bool
	block uint64
	// kept is the counter of a temporary table, which is not stored.
	kept uint64
}

// stored returns the durable counter. The caller holds mu.
func (a *AutoID) stored() (uint64, error) {
	if a.txns == nil {
		return a.kept, nil
	}
	return a.txns.Counter(a.key)
}

// alloc reserves n ids in the durable counter, none of them below least. The caller holds mu.
func (a *AutoID) alloc(least, n uint64) (first uint64, err error) {
	if a.txns != nil {
		return a.txns.AllocCounter(a.key, least, n)
	}
	first = max(a.kept, least)
	if a.kept = first + n; a.kept < first {
		a.kept = math.MaxUint64
	}
	return first, nil
}

// raiseStored raises the durable counter to next with the commit of tx, or at once if tx is nil. The caller holds mu.
func (a *AutoID) raiseStored(tx *txn.Txn, next uint64) error {
	switch {
	case a.txns == nil:
		a.kept = max(a.kept, next)
		return nil
	case tx != nil:
		return tx.RaiseCounter(a.key, next)
	}
	return a.txns.RaiseCounter(a.key, next)
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

// reserve raises limit so that there are n ids. If done, first is the result of
// Next; else Next tries again.
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
		// It reserves no more than it needs, or restarts would use up a small type; but
		// at least one, even if the ids of a clean shutdown would do: their record is
		// valid until the counter moves.
		next := max(a.end, from)
		if err := a.take(max(limit, next+1) - next); err != nil {
			return true, 0, err
		}
	}
	a.block = min(a.block*2, autoBlockMax)
	if from, limit = a.free.Load(), a.limit.Load(); from <= limit && n <= limit-from || limit < top {
		return false, 0, nil // there are enough, or others have taken the next ones: try again
	}
	// The statement wants more ids than are left: it gets those, and the rows
	// beyond them see the end of the range.
	for {
		from = a.free.Load()
		if a.free.CompareAndSwap(from, max(from, limit)) {
			return true, from, nil
		}
	}
}

// take reserves n more ids in the durable counter. If others have reserved those
// after end, the rest of this AutoID's ids is given up for the new ones. The caller
// holds mu.
func (a *AutoID) take(n uint64) error {
	next := max(a.end, a.free.Load())
	first, err := a.alloc(next, n)
	if err != nil {
		return fmt.Errorf("table: reserve auto-increment ids: %w", err)
	}
	top := a.top()
	if first != next {
		// Before the limit rises, or an id of others could be handed out.
		a.lift(min(first, top))
	}
	if a.end = first + n; a.end < first {
		a.end = math.MaxUint64
	}
	a.claim = false
	a.covered.Store(a.end)
	a.limit.Store(min(a.end, top))
	return nil
}

// lift moves the next id to at least next.
func (a *AutoID) lift(next uint64) {
	for {
		free := a.free.Load()
		if free >= next || a.free.CompareAndSwap(free, next) {
			return
		}
	}
}

// top is the exclusive upper bound of the ids. The counter can be above it.
func (a *AutoID) top() uint64 {
	if a.max < math.MaxUint64 {
		return a.max + 1
	}
	return a.max
}

// exhausted is the result of Next for a counter that has passed the end of its range.
func (a *AutoID) exhausted() (uint64, error) {
	if a.max == math.MaxUint64 {
		return 0, types.Errorf(types.ErAutoincReadFailed)
	}
	return a.max, nil
}

// load reads the durable counter once. The caller holds mu. The record of a clean
// shutdown is used only if the counter has not moved since; never with the largest
// counter, which cannot move.
func (a *AutoID) load() error {
	if a.loaded {
		return nil
	}
	durable, err := a.stored()
	if err != nil {
		return fmt.Errorf("table: load auto-increment counter: %w", err)
	}
	free := min(max(durable, 1), a.top())
	var c catcher
	found := false
	if a.txns != nil {
		found, err = a.txns.Get(a.exactKey, nil, &c)
	}
	if err != nil {
		return fmt.Errorf("table: load auto-increment counter: %w", err)
	}
	if found && durable < math.MaxUint64 && len(c.value) == exactLen && c.value[0] == exactFormat &&
		binary.BigEndian.Uint64(c.value[1:]) == durable {
		free = max(binary.BigEndian.Uint64(c.value[9:]), 1)
		a.claim = true
	}
	a.end, a.loaded = durable, true
	a.covered.Store(durable)
	a.lift(free)
	a.limit.Store(a.free.Load())
	return nil
}

// settle loads the counter and reserves the ids that a clean shutdown has left,
// which makes its record invalid: an explicit id may be among them. The caller
// holds mu.
func (a *AutoID) settle() error {
	if err := a.load(); err != nil || !a.claim {
		return err
	}
	return a.take(1)
}

// Raise makes sure that later ids are above an explicit value, in memory at
// once and durably with tx's commit. Values that are NULL, not positive or below
// the durable counter change nothing. If tx rolls back, a gap remains. Being below
// the next id is not enough: the transaction that raised it may roll back.
func (a *AutoID) Raise(tx *txn.Txn, v *types.Value) error {
	n, ok := autoNumber(v)
	if !ok || n < a.free.Load() && n < a.covered.Load() {
		return nil
	}
	return a.raise(tx, min(n, a.max))
}

func (a *AutoID) raise(tx *txn.Txn, n uint64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.settle(); err != nil {
		return err
	}
	next := n
	if n < math.MaxUint64 {
		next++
	}
	a.lift(next)
	switch covers, err := a.covers(next); {
	case err != nil:
		return err
	case covers:
		return nil
	}
	return a.raiseStored(tx, next)
}

// covers reports whether the durable counter is at or above next. It reads storage
// if that is not known, because commits raise the counter, too. The caller holds mu.
func (a *AutoID) covers(next uint64) (bool, error) {
	if next <= a.covered.Load() {
		return true, nil
	}
	durable, err := a.stored()
	if err != nil {
		return false, fmt.Errorf("table: read auto-increment counter: %w", err)
	}
	a.covered.Store(max(durable, a.covered.Load()))
	return next <= durable, nil
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

// IDNumber is v as an id that can raise a counter, 0 if it is none.
func IDNumber(v *types.Value) uint64 {
	if n, ok := autoNumber(v); ok {
		return n
	}
	return 0
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

// CommitNext raises the durable counter to next with tx's commit, so that SetNext(next)
// after the commit changes memory only.
func (a *AutoID) CommitNext(tx *txn.Txn, next uint64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.settle(); err != nil {
		return err
	}
	next = min(next, a.top())
	if covers, err := a.covers(next); covers || err != nil {
		return err
	}
	return a.raiseStored(tx, next)
}

// SetNext raises the counter to next (AUTO_INCREMENT=n of ALTER TABLE),
// durably, and never lowers it (see catalog.Table.Counting for that). It does so
// even if the next id is above it already, for the reason given at Raise.
func (a *AutoID) SetNext(next uint64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.settle(); err != nil {
		return err
	}
	next = min(next, a.top())
	covers, err := a.covers(next)
	if err == nil && !covers {
		err = a.raiseStored(nil, next)
	}
	if err != nil {
		return err
	}
	a.covered.Store(max(next, a.covered.Load()))
	a.lift(next)
	return nil
}

const (
	exactFormat = 1
	exactLen    = 17 // format, durable counter, exact counter
)

func (a *AutoID) storeExact(tx *txn.Txn) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.txns == nil || !a.loaded || a.claim {
		return nil // the record of the last shutdown is still valid
	}
	// A commit may have raised it since.
	durable, err := a.stored()
	if err != nil {
		return err
	}
	free := a.free.Load()
	a.limit.Store(0)
	switch {
	case free > durable:
		return tx.RaiseCounter(a.key, free) // a transaction that has rolled back raised free
	case free == durable || durable != a.end:
		return nil // nothing is left, or somebody else has taken what follows
	}
	b := append(make([]byte, 0, exactLen), exactFormat)
	b = binary.BigEndian.AppendUint64(b, durable)
	b = binary.BigEndian.AppendUint64(b, free)
	if _, err := tx.LockKept(a.exactKey, kvapi.LockExclusive, nil); err != nil { // LockKept, so that a record written after the snapshot is no conflict
		return err
	}
	return tx.Put(a.exactKey, b)
}
