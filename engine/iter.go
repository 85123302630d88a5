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
	// ExpectAbsent says that most seeks by prefix will find nothing, as in uniqueness checks: then the bloom filters of the last
	// level are used, too.
	ExpectAbsent bool
	// Only, if not nil, is a logical key. SeekPrefixGE may be called for it, and for keys that Iter.Shows says yes to, and no other
	// positioning method may be called. If no memtable can hold a version of it, the iterator reads tables only. It is borrowed for the call.
	Only []byte
	// MinTS and MaxTS, if MaxTS is not zero, let the iterator skip blocks without a version in [MinTS, MaxTS]. Other versions
	// may still appear. Only for finding candidates: what such an iterator does not show may exist.
	MinTS, MaxTS clock.Timestamp
}

// Iter iterates over the engine's keys as they were when it was made; it does not show later batches. Iterators are pooled, cost
// about a microsecond to make, and hold back the deletion of files, so they are kept for one page of a statement at most. An Iter is
// used by one goroutine at a time.
type Iter struct {
	it      *pebble.Iterator
	e       *Engine
	scratch []byte
	scanned bool   // positioned otherwise than by SeekPrefixGE since the bounds were set, so noteGarbage has to look
	reverse bool   // the last positioning was by Last or SeekLT
	walked  int    // steps of its scans over entries that were not shown
	lower   []byte // the bounds, for noteGarbage
	upper   []byte
	filters [2]pebble.BlockPropertyFilter // room for one more, which Pebble appends in place
	// leftOut is set if the iterator leaves out memtables: the filters of the keys that these held when it was made.
	leftOut []*keyFilter
}

// NewIter returns an iterator that is not positioned. The caller calls Close.
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
		// The filters are loaded before the iterator is made: see unflushed.
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

// TablesOnly reports whether the iterator leaves memtables out.
func (i *Iter) TablesOnly() bool { return i.leftOut != nil }

// Shows reports whether SeekPrefixGE may be called for a logical key. That is false only if the iterator leaves memtables out and one of them
// may have held a version of the key when it was made.
func (i *Iter) Shows(logical []byte) bool {
	return i.leftOut == nil || !mayHold(i.leftOut, i.e.unflushed.hash(logical), logical)
}

// SetBounds changes the bounds, as in IterOptions. The iterator is not positioned afterwards.
func (i *Iter) SetBounds(lower, upper []byte) {
	if lower == nil {
		lower = firstKey
	}
	i.leave()
	i.it.ResetStats()
	i.it.SetBounds(lower, upper)
	i.keepBounds(lower, upper)
}

// leave ends a scan within the present bounds, and notes the garbage that it had to skip.
func (i *Iter) leave() {
	if i.scanned {
		i.scanned = false
		i.e.noteGarbage(i)
	}
}

// First moves to the first key within the bounds. Like every move it reports whether there is one; if not, see Error.
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

// Valid reports whether the iterator is positioned on a key.
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

// ValueLen returns the length of the current value without reading it: that of an older version may be in another block.
func (i *Iter) ValueLen() int {
	v := i.it.LazyValue()
	return v.Len()
}

// Shed frees the buffer in which Pebble's iterator copies values when it moves backwards, and which otherwise keeps the size of the longest
// value until Close. The iterator shows the same state, and is not positioned afterwards.
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

// Error returns the error that ended the iteration, nil if that was the bounds.
func (i *Iter) Error() error {
	if err := i.it.Error(); err != nil {
		return i.e.explainRead(err)
	}
	return nil
}

// Scratch returns a buffer that lives with the iterator, for building seek keys without allocating.
func (i *Iter) Scratch() *[]byte { return &i.scratch }

// Close ends the iterator, which must not be used afterwards.
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
