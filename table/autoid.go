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
	// autoBlockShare is the part of the ids left in the column's type that a
	// block may have, and so the most that a crash costs. INT columns have room
	// for whole blocks until their last four million ids.
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
	txns          *txn.Manager // nil for a temporary table, whose counter is kept
	typ           types.Type
	key, exactKey []byte
	max           uint64

	// free is the next id to hand out; limit the first one that nobody has taken
	// of the durable counter for this AutoID. free only grows; it is moved by
	// compare-and-swap within the limit, and beyond it under mu. Zero limit: not
	// loaded yet.
	free, limit atomic.Uint64
	// covered is a value that the durable counter is known to have reached.
	covered atomic.Uint64

	mu sync.Mutex
	// Guarded by mu, which is held while a block is reserved: everybody else
	// who needs ids has to wait for that anyway.
	loaded bool
	// end is where the counter stands if nobody else has moved it: from limit to
	// there, if the type has so many, and from free with a clean shutdown behind us
	// (claim), ids are ours for the asking.
	end uint64
	// claim: a clean shutdown has left the ids from free to end. They are ours if the
	// counter still stands at end when the next ones are taken of it, and nobody's before.
	claim bool
	block uint64
	// kept is the counter of a temporary table: no storage has it.
	kept uint64
}

// stored returns the durable counter. The caller holds mu.
func (a *AutoID) stored() (uint64, error) {
	if a.txns == nil {
		return a.kept, nil
	}
	return a.txns.Counter(a.key)
}

// alloc takes n of the durable counter, from least on at least. The caller holds mu.
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

// raiseStored raises the durable counter with the commit of tx, or at once if tx is nil. The caller holds mu.
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
		// It takes no more than it needs, or restarts would use up a small type; but
		// some, even if what a clean shutdown has left would do: its record holds as
		// long as the counter stays.
		next := max(a.end, from)
		if err := a.take(max(limit, next+1) - next); err != nil {
			return true, 0, err
		}
	}
	a.block = min(a.block*2, autoBlockMax)
	if from, limit = a.free.Load(), a.limit.Load(); from <= limit && n <= limit-from || limit < top {
		return false, 0, nil // or others have taken what came next: once more
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

// take takes n ids more of the durable counter. If others have taken those that
// come next, what is left here is given up and ids go on with the new ones. The
// caller holds mu.
func (a *AutoID) take(n uint64) error {
	next := max(a.end, a.free.Load())
	first, err := a.alloc(next, n)
	if err != nil {
		return fmt.Errorf("table: reserve auto-increment ids: %w", err)
	}
	top := a.top()
	if first != next {
		// Before the limit rises, or an id in between could be handed out.
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
// counts only if nothing was taken of the counter since; beside the largest
// counter it never does, because nothing can be taken of that.
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

// settle loads the counter and makes what a clean shutdown has left ours, so
// that its record holds no more: explicit ids may be among it.
func (a *AutoID) settle() error {
	if err := a.load(); err != nil || !a.claim {
		return err
	}
	return a.take(1)
}

// Raise makes sure that later ids are above an explicit value, in memory at
// once and durably with tx's commit. Values that are NULL, not positive or below
// the durable counter change nothing. If tx rolls back, a gap remains. Being below
// the next id is not enough: who raised that may have rolled back, or may yet.
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

// covers tells whether the durable counter is at or above next. It asks storage
// if that is not known: raises ride in commits, and after a load of explicit ids
// in any order few raise it themselves.
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

// IDNumber is v as an id, 0 if it is none that a counter has to do with.
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

// CommitNext makes SetNext(next), which is to follow tx's commit, a matter of
// memory alone.
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
// durably, and never lowers it (see catalog.Table.Counting for that). That the next id is above it already is not
// enough, for the reason that Raise has.
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
		return nil // what the last shutdown has recorded still holds
	}
	// A raise may have ridden in a commit since: storage knows.
	durable, err := a.stored()
	if err != nil {
		return err
	}
	free := a.free.Load()
	a.limit.Store(0)
	switch {
	case free > durable:
		return tx.RaiseCounter(a.key, free) // it was raised by who rolled back
	case free == durable || durable != a.end:
		return nil // nothing is left, or somebody else has taken what follows
	}
	b := append(make([]byte, 0, exactLen), exactFormat)
	b = binary.BigEndian.AppendUint64(b, durable)
	b = binary.BigEndian.AppendUint64(b, free)
	if _, err := tx.LockKept(a.exactKey, kvapi.LockExclusive, nil); err != nil { // whoever has written it since the snapshot is in nobody's way
		return err
	}
	return tx.Put(a.exactKey, b)
}
