package engine

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/cockroachkvs"
	"github.com/cockroachdb/pebble/v2/sstable"

	"github.com/pandodb/pando/clock"
)

// IterOptions narrows an iterator.
type IterOptions struct {
	// Lower (inclusive) and Upper (exclusive) bound the iterator; nil means unbounded. They are engine keys without timestamp
	// and are copied.
	Lower, Upper []byte
	// ExpectAbsent says that most seeks by prefix will find nothing, as uniqueness checks do: the filters of the last level
	// are then worth their place in the cache.
	ExpectAbsent bool
	// Only, if not nil, is the one logical key that SeekPrefixGE will be called for, and nothing else will, but for the keys that
	// Iter.Shows tells of. Memtables that hold nothing of it are left out. It is borrowed for the call.
	Only []byte
	// MinTS and MaxTS, if MaxTS is not zero, let the iterator skip blocks without a version in [MinTS, MaxTS]. Other versions
	// may still appear. Only for finding candidates: what such an iterator does not show may exist.
	MinTS, MaxTS clock.Timestamp
}

// Iter walks engine keys as they were when it was made; later batches do not show. Iterators are pooled, cost about a
// microsecond to make, and hold back the deletion of files, so they live for one statement's page at most. One goroutine at a
// time.
type Iter struct {
	it      *pebble.Iterator
	e       *Engine
	scratch []byte
	scanned bool   // moved otherwise than by SeekPrefixGE since the bounds were set, so it may have met garbage
	reverse bool   // the last such move was to the last key, or to one before another
	walked  int    // steps that its scans did not ask for
	lower   []byte // the bounds, for who looks for garbage
	upper   []byte
	filters [2]pebble.BlockPropertyFilter // room for one more, which Pebble appends in place
	// leftOut, of an iterator of tables alone, tells of what memtables held when it was made.
	leftOut []*keyFilter
}

// NewIter returns an iterator that is positioned nowhere. Close gives it back.
func (e *Engine) NewIter(o IterOptions) (*Iter, error) {
	i, _ := e.iters.Get().(*Iter)
	if i == nil {
		i = &Iter{e: e}
	}
	if o.Lower == nil {
		o.Lower = firstKey
	}
	po := pebble.IterOptions{LowerBound: o.Lower, UpperBound: o.Upper, UseL6Filters: o.ExpectAbsent}
	if o.Only != nil {
		// Before the iterator is made: see unflushed.
		if filters := *e.unflushed.filters.Load(); !mayHold(filters, e.unflushed.hash(o.Only), o.Only) {
			po.OnlyReadGuaranteedDurable, i.leftOut = true, filters
		}
	}
	if o.MaxTS != 0 {
		i.filters[0] = timeFilter(o.MinTS, o.MaxTS)
		po.PointKeyFilters = i.filters[:1:2]
	}
	it, err := e.db.NewIter(&po)
	if err != nil {
		i.leftOut = nil
		e.iters.Put(i)
		return nil, fmt.Errorf("engine: new iterator: %w", err)
	}
	i.it = it
	if o.Only == nil { // a lookup never scans
		i.keepBounds(o.Lower, o.Upper)
	}
	return i, nil
}

func (i *Iter) keepBounds(lower, upper []byte) {
	i.lower, i.upper = append(i.lower[:0], lower...), append(i.upper[:0], upper...)
}

func timeFilter(minTS, maxTS clock.Timestamp) sstable.BlockPropertyFilter {
	return cockroachkvs.NewMVCCTimeIntervalFilter(uint64(minTS), uint64(maxTS))
}

// TablesOnly tells whether the iterator leaves memtables out.
func (i *Iter) TablesOnly() bool { return i.leftOut != nil }

// Shows tells whether SeekPrefixGE may be called for a logical key: always, unless the iterator leaves memtables out and one may have
// held something of the key when it was made.
func (i *Iter) Shows(logical []byte) bool {
	return i.leftOut == nil || !mayHold(i.leftOut, i.e.unflushed.hash(logical), logical)
}

// SetBounds changes the bounds, as in IterOptions. The iterator is positioned nowhere afterwards.
func (i *Iter) SetBounds(lower, upper []byte) {
	if lower == nil {
		lower = firstKey
	}
	i.leave()
	i.it.ResetStats()
	i.it.SetBounds(lower, upper)
	i.keepBounds(lower, upper)
}

// leave looks at what a scan within the present bounds has met.
func (i *Iter) leave() {
	if i.scanned {
		i.scanned = false
		i.e.noteGarbage(i)
	}
}

// First moves to the first key within the bounds. Like every move it tells whether there is one; if not, see Error.
func (i *Iter) First() bool {
	i.scanned, i.reverse = true, false
	return i.it.First()
}

// Last moves to the last key within the bounds.
func (i *Iter) Last() bool {
	i.scanned, i.reverse = true, true
	return i.it.Last()
}

// SeekGE moves to the first key at or after key.
func (i *Iter) SeekGE(key []byte) bool {
	i.scanned, i.reverse = true, false
	return i.it.SeekGE(key)
}

// SeekPrefixGE moves to the first key at or after key that has the same logical key, consulting bloom filters. Afterwards
// only Next may be called, until the next seek.
func (i *Iter) SeekPrefixGE(key []byte) bool { return i.it.SeekPrefixGE(key) }

// SeekLT moves to the last key before key.
func (i *Iter) SeekLT(key []byte) bool {
	i.scanned, i.reverse = true, true
	return i.it.SeekLT(key)
}

// Next moves to the next key.
func (i *Iter) Next() bool { return i.it.Next() }

// NextPrefix moves to the first key with another logical key.
func (i *Iter) NextPrefix() bool { return i.it.NextPrefix() }

// Prev moves to the previous key.
func (i *Iter) Prev() bool { return i.it.Prev() }

// Valid tells whether the iterator stands on a key.
func (i *Iter) Valid() bool { return i.it.Valid() }

// Key returns the current engine key, borrowed until the next move.
func (i *Iter) Key() []byte { return i.it.Key() }

// Value returns the current value, borrowed until the next move.
func (i *Iter) Value() ([]byte, error) {
	v, err := i.it.ValueAndErr()
	if err != nil {
		return nil, i.e.explainRead(err)
	}
	return v, nil
}

// ValueLen returns the length of the current value without reading it; older versions may lie in another block.
func (i *Iter) ValueLen() int {
	v := i.it.LazyValue()
	return v.Len()
}

// Shed gives back the copy of the current value, and of others, that moves to earlier keys make: Pebble copies each value that it meets
// backwards, and keeps the memory of the longest until it is closed. The iterator shows the same state, and is positioned nowhere afterwards.
func (i *Iter) Shed() error {
	i.leave()
	i.walked = 0
	it, err := i.it.Clone(pebble.CloneOptions{})
	if err != nil {
		return fmt.Errorf("engine: clone iterator: %w", err)
	}
	err = i.it.Close()
	i.it = it
	if err != nil {
		return i.e.explainRead(err)
	}
	return nil
}

// Error returns what ended the iteration, nil when it was the bounds.
func (i *Iter) Error() error {
	if err := i.it.Error(); err != nil {
		return i.e.explainRead(err)
	}
	return nil
}

// Scratch returns a buffer that lives with the iterator, for building seek keys without allocating.
func (i *Iter) Scratch() *[]byte { return &i.scratch }

// Close gives the iterator back. It must not be used afterwards.
func (i *Iter) Close() error {
	i.leave()
	i.walked = 0
	err := i.it.Close()
	i.it, i.leftOut = nil, nil
	i.filters[0] = nil
	e := i.e
	e.iters.Put(i)
	if err != nil {
		return e.explainRead(err)
	}
	return nil
}
