package store

import (
	"bytes"
	"slices"

	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
)

// spanList is a set of keys: spans in key order that neither overlap nor touch, none of them a point (kvapi.Span). It owns their bytes.
type spanList []kvapi.Span

// after returns the position of the first span that ends behind key.
func (l spanList) after(key []byte) int {
	lo, hi := 0, len(l)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if end := l[mid].End; len(end) == 0 || bytes.Compare(end, key) > 0 {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// contains reports whether a key is in the set.
func (l spanList) contains(key []byte) bool {
	at := l.after(key)
	return at < len(l) && bytes.Compare(l[at].Start, key) <= 0
}

// covers reports whether all keys of a span are in the set.
func (l spanList) covers(s kvapi.Span) bool {
	at := l.after(s.Start)
	return at < len(l) && bytes.Compare(l[at].Start, s.Start) <= 0 && compareEnds(s.End, l[at].End) <= 0
}

// compareEnds orders ends of spans, of which an empty one is the last.
func compareEnds(a, b []byte) int {
	switch {
	case len(a) == 0 && len(b) == 0:
		return 0
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	}
	return bytes.Compare(a, b)
}

// add puts the keys of a span, which it copies, into the set.
func (l spanList) add(s kvapi.Span) spanList {
	// from is the first span that ends at or after the start, to the first that begins after the end.
	from, hi := 0, len(l)
	for from < hi {
		mid := int(uint(from+hi) / 2)
		if end := l[mid].End; len(end) > 0 && bytes.Compare(end, s.Start) < 0 {
			from = mid + 1
		} else {
			hi = mid
		}
	}
	to := from
	for to < len(l) && (len(s.End) == 0 || bytes.Compare(l[to].Start, s.End) <= 0) {
		to++
	}
	joined := kvapi.Span{Start: s.Start, End: s.End}
	if from < to {
		if bytes.Compare(l[from].Start, s.Start) < 0 {
			joined.Start = l[from].Start
		}
		if compareEnds(l[to-1].End, s.End) > 0 {
			joined.End = l[to-1].End
		}
	}
	joined = kvapi.Span{Start: bytes.Clone(joined.Start), End: append([]byte{}, joined.End...)}
	return slices.Replace(l, from, to, joined)
}

// widen halves the list by joining pairs of neighbours, with what lies between them: pairs in one index, or with any all pairs.
func (l spanList) widen(any bool) spanList {
	out := l[:0]
	for i := 0; i < len(l); i++ {
		s := l[i]
		if i+1 < len(l) && (any || bytes.Equal(indexOf(s.Start), indexOf(l[i+1].Start))) {
			i++
			s.End = l[i].End
		}
		out = append(out, s)
	}
	clear(l[len(out):])
	return out
}

// indexOf returns the part of a key that names an index, or the rows of a table; nil for other keys.
func indexOf(key []byte) []byte {
	_, rest, ok := keys.DecodeTablePrefix(key)
	if !ok || len(rest) == 0 {
		return nil
	}
	if _, _, columns, ok := keys.DecodeIndexPrefix(key); ok {
		rest = columns
	} else {
		rest = rest[1:]
	}
	return key[:len(key)-len(rest)]
}
