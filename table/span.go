package table

import (
	"bytes"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// Range selects entries of an index, or rows by primary key: the first columns
// equal to Eq, the next one between Low and High. Values are of the columns'
// kinds (types.Convert), and bounds are in value order whatever the direction
// of the column in the key.
type Range struct {
	// Eq holds values of the first columns. NULL selects NULLs (IS NULL, <=>);
	// the planner answers "= NULL" without a scan.
	Eq []types.Value
	// Low and High bound the column after Eq. A NULL bound selects nothing.
	Low, High                   types.Value
	HasLow, HasHigh             bool
	LowInclusive, HighInclusive bool
	// Begins says that the column after Eq begins with the text Low, in the sense of types.AppendKeyBegin; there is no High then.
	Begins bool
	// NotNull leaves out NULLs of the column after Eq (IS NOT NULL). Any bound
	// implies it, since no comparison with NULL is true.
	NotNull bool
}

// Span builds the span of keys that r selects in the entries of ix, or in the
// rows of t when ix is nil or the primary key. Start and End are appended to
// dst; buf is the extended dst, for the next call. empty: nothing can match.
// A range that names one key (all columns of a primary or unique key, none
// NULL) gives a point span (End nil).
//
// Columns indexed by a prefix give a superset: bounds count as inclusive. The
// statement's filter decides.
func Span(dst []byte, t *catalog.Table, ix *catalog.Index, r *Range) (span kvapi.Span, buf []byte, empty bool) {
	prefix, parts := partsFor(t, ix)
	from := len(dst)
	dst = append(dst, prefix...)
	point := ix == nil || ix.Unique
	for i := range r.Eq {
		p := &parts[i]
		dst = types.AppendKey(dst, r.Eq[i], p.typ, p.desc, p.prefix)
		point = point && !r.Eq[i].IsNull()
	}
	eqEnd := len(dst)
	if len(r.Eq) == len(parts) && point {
		return kvapi.Span{Start: dst[from:eqEnd:eqEnd]}, dst, false
	}
	if len(r.Eq) == len(parts) || !r.HasLow && !r.HasHigh && !r.NotNull {
		dst = keys.PrefixEnd(dst, dst[from:eqEnd])
		return kvapi.Span{Start: dst[from:eqEnd:eqEnd], End: dst[eqEnd:len(dst):len(dst)]}, dst, false
	}
	if r.HasLow && r.Low.IsNull() || r.HasHigh && r.High.IsNull() {
		return kvapi.Span{}, dst, true
	}
	p := &parts[len(r.Eq)]
	if r.Begins {
		at := len(dst)
		begun, ok := types.AppendKeyBegin(append(dst, dst[from:eqEnd]...), r.Low, p.typ, p.desc, p.prefix)
		if ok {
			dst = keys.PrefixEnd(begun, begun[at:])
			end := len(begun)
			return kvapi.Span{Start: dst[at:end:end], End: dst[end:len(dst):len(dst)]}, dst, false
		}
		dst, r = begun[:at], &Range{Eq: r.Eq, NotNull: true}
	}
	lo := edge{has: r.HasLow, v: &r.Low, inclusive: r.LowInclusive || p.prefix > 0, null: true}
	hi := edge{has: r.HasHigh, v: &r.High, inclusive: r.HighInclusive || p.prefix > 0}
	if p.desc {
		lo, hi = hi, lo
	}
	// The end is built first, from the Eq bytes at the front of dst; then the
	// start follows, both as separate copies behind them.
	dst = hi.appendEnd(dst, from, eqEnd, p)
	endAt := len(dst)
	dst = lo.appendStart(dst, from, eqEnd, p)
	end, start := dst[eqEnd:endAt:endAt], dst[endAt:len(dst):len(dst)]
	span = kvapi.Span{Start: start, End: end}
	return span, dst, span.Empty()
}

// edge is one side of a range. null marks the side on which NULLs lie in value
// order: there, an absent bound becomes "not NULL".
type edge struct {
	has, inclusive, null bool
	v                    *types.Value
}

// bytes appends the Eq bytes and the bound's column.
func (e *edge) bytes(dst []byte, from, eqEnd int, p *keyPart) []byte {
	dst = append(dst, dst[from:eqEnd]...)
	v := types.Null()
	if e.has {
		v = *e.v
	}
	return types.AppendKey(dst, v, p.typ, p.desc, p.prefix)
}

func (e *edge) appendStart(dst []byte, from, eqEnd int, p *keyPart) []byte {
	at := len(dst)
	if !e.has && !e.null {
		return append(dst, dst[from:eqEnd]...)
	}
	dst = e.bytes(dst, from, eqEnd, p)
	if e.has && e.inclusive {
		return dst
	}
	return above(dst, at)
}

func (e *edge) appendEnd(dst []byte, from, eqEnd int, p *keyPart) []byte {
	at := len(dst)
	if !e.has && !e.null {
		dst = append(dst, dst[from:eqEnd]...)
		return above(dst, at)
	}
	dst = e.bytes(dst, from, eqEnd, p)
	if e.has && e.inclusive {
		return above(dst, at)
	}
	return dst
}

// above replaces the key that begins at dst[at] by the smallest key above all
// that begin with it.
func above(dst []byte, at int) []byte {
	for len(dst) > at && dst[len(dst)-1] == 0xff {
		dst = dst[:len(dst)-1]
	}
	dst[len(dst)-1]++
	return dst
}

// RowSpan returns the span of all rows of t.
func RowSpan(t *catalog.Table) kvapi.Span {
	prefix := infoOf(t).rowPrefix
	return kvapi.Span{Start: prefix, End: keys.PrefixEnd(nil, prefix)}
}

// Empty reports whether t has no row at the watermark.
func Empty(m *txn.Manager, t *catalog.Table, intr *kvapi.Interrupt) (bool, error) {
	var one anyRow
	for span := RowSpan(t); span.Start != nil && !one.found; {
		resume, err := m.Scan(&txn.ScanRequest{Span: span, LimitRows: 1, Sink: &one, Interrupt: intr})
		if err != nil {
			return false, err
		}
		span.Start = bytes.Clone(resume)
	}
	return !one.found, nil
}

// anyRow is a sink that records whether there is a row.
type anyRow struct{ found bool }

// Pair implements kvapi.Sink.
func (a *anyRow) Pair(_, _ []byte) (bool, error) {
	a.found = true
	return false, nil
}

// IndexSpan returns the span of all entries of ix.
func IndexSpan(t *catalog.Table, ix *catalog.Index) kvapi.Span {
	prefix := keys.IndexPrefix(nil, t.PhysID, ix.ID)
	return kvapi.Span{Start: prefix, End: keys.PrefixEnd(nil, prefix)}
}

// DataSpan returns the span of all keys of t: rows and entries of every index.
func DataSpan(physID uint64) kvapi.Span {
	prefix := keys.TablePrefix(nil, physID)
	return kvapi.Span{Start: prefix, End: keys.PrefixEnd(nil, prefix)}
}

// EntrySpan returns the span of all entries of an index by its ids.
func EntrySpan(physID, indexID uint64) kvapi.Span {
	prefix := keys.IndexPrefix(nil, physID, indexID)
	return kvapi.Span{Start: prefix, End: keys.PrefixEnd(nil, prefix)}
}
