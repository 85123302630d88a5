package store

import (
	"bytes"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/mvcc"
)

const (
	// gapMissesMin is how many keys in ascending order must turn out to be free before the owner looks how far it is to the next
	// key that is not. The look costs a seek without filters.
	gapMissesMin = 8
	// gapMissesMax bounds the doubling of that number after looks that were of no use.
	gapMissesMax = 4096
	// gapKeyKept bounds the memory that a pooled owner keeps for each key here.
	gapKeyKept = 1 << 10
)

// keyGap is a stretch of the key space in which no key has a version. A bulk load in the order of keys, which has to lock and to
// look up each of them, then looks once.
//
// It holds for the iterator it was found with, and so as long as that shows the newest version of everything (Owner.bulk).
type keyGap struct {
	known    bool
	from, to []byte // from ≤ key < to; an empty to is above all keys
	last     []byte // the key that was found to be free last
	misses   int    // how many were, in ascending order
	need     int    // how many it takes for a look
	hits     int    // keys that the gap of the last look has answered for
	looked   bool
}

// has tells whether key is free because it lies in the gap.
func (g *keyGap) has(key []byte) bool {
	if !g.covers(key) {
		return false
	}
	g.hits++
	return true
}

// covers is has without the count.
func (g *keyGap) covers(key []byte) bool {
	return g.known && bytes.Compare(key, g.from) >= 0 && (len(g.to) == 0 || bytes.Compare(key, g.to) < 0)
}

// missed says that key has no version, as it shows, and that no gap told. It moves it.
func (g *keyGap) missed(it *engine.Iter, key []byte) error {
	if bytes.Compare(g.last, key) < 0 {
		g.misses++
	} else {
		g.misses = 0
	}
	g.last = append(g.last[:0], key...)
	if g.need = max(g.need, gapMissesMin); g.misses < g.need {
		return nil
	}
	if g.looked && g.hits < gapMissesMin {
		g.need = min(2*g.need, gapMissesMax)
	} else {
		g.need = gapMissesMin
	}
	g.looked, g.hits = true, 0
	next, err := mvcc.NextKey(it, key)
	if err != nil {
		return err
	}
	g.known = true
	g.from = append(g.from[:0], key...)
	g.to = append(g.to[:0], next...)
	return nil
}

// reset forgets everything, for the next transaction.
func (g *keyGap) reset() {
	for _, b := range []*[]byte{&g.from, &g.to, &g.last} {
		if *b = (*b)[:0]; cap(*b) > gapKeyKept {
			*b = nil
		}
	}
	g.known, g.looked, g.hits, g.misses, g.need = false, false, 0, 0, 0
}
