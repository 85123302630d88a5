package plan

import (
	"bytes"
	"math"
	"unicode/utf8"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// pointFraction estimates which part of the rows has given values in the leading columns of an index.
func (b *builder) pointFraction(t *catalog.Table, index *catalog.Index, columns, ranges int, total float64) float64 {
	one := math.Min(1, eqRowsUnknown/math.Pow(eqShrink, float64(columns-1))/math.Max(total, 1))
	if index.Unique && columns == len(index.Columns) {
		one = 1 / math.Max(total, 1)
	} else if b.env.Stats != nil {
		if n := b.env.Stats.Distinct(t, index, columns); n > 0 {
			one = 1 / n
		}
	}
	return math.Min(1, one*float64(ranges))
}

// alternativesSized is the largest OR whose alternatives are estimated one by one.
const alternativesSized = 16

// alternatives estimates a condition that is no sarg. An OR keeps the rows of any of its alternatives, and each of these is the product of its
// conditions.
func (b *builder) alternatives(t *catalog.Table, c expr.Expr, total float64) float64 {
	if c.IsCall("like") {
		return b.likeFraction(t, c, total)
	}
	if !c.IsCall("or") || len(c.Args()) > alternativesSized {
		return filterUnknown
	}
	none := 1.0
	for _, arm := range c.Args() {
		all := 1.0
		for _, part := range expr.SplitAnd(nil, arm) {
			s, usable := sargOf(b.env.Build, t, part)
			if !usable {
				all *= filterUnknown
				continue
			}
			all *= b.selectivity(t, part, &s, true, total)
		}
		none *= 1 - all
	}
	return math.Min(filterUnknown, 1-none)
}

// likeFraction estimates which part of the rows a LIKE keeps that no index decides.
func (b *builder) likeFraction(t *catalog.Table, c expr.Expr, total float64) float64 {
	column, plain := expr.Unwrap(c.Args()[0]).ColumnIndex()
	begin, _, _, known := expr.LikeBegin(b.env.Build, c)
	if !plain || !known || column < 0 || column >= len(t.Columns) || !t.Columns[column].Type.IsStringType() {
		return likeUnknown
	}
	if v, constant := begin.ConstValue(); constant && len(v.B) > 0 {
		if one := b.beginFraction(t, column, v, total); one >= 0 {
			return one
		}
	}
	return likeUnknown
}

// beginFraction estimates which part of the rows begins with a text in a column; negative is unknown. The interval is from the text to the text
// followed by the highest code point; that this is not exact in all collations does not matter for an estimate.
func (b *builder) beginFraction(t *catalog.Table, column int, begin types.Value, total float64) float64 {
	if b.env.Stats == nil {
		return -1
	}
	coll := t.Columns[column].Type.Coll
	low, high := types.String(begin.B, coll), types.String(append(bytes.Clone(begin.B), string(utf8.MaxRune)...), coll)
	if one := b.env.Stats.RangeFraction(t, column, low, high, true, true); one >= 0 {
		return math.Max(one, 1/math.Max(total, 1))
	}
	return -1
}

// beginsFraction is beginFraction of an interval's text, which may not be known yet because it comes from a parameter.
func (b *builder) beginsFraction(t *catalog.Table, column int, begin expr.Expr, total float64) float64 {
	v, known := begin.ConstValue()
	if !known {
		if b.opens(begin) {
			return beginUnknown
		}
		return 1
	}
	if one := b.beginFraction(t, column, v, total); one >= 0 {
		return one
	}
	// The longer the text, the fewer begin with it.
	return math.Max(beginUnknown/4, rangeUnknown/math.Pow(2, float64(v.Coll.Charset().CountChars(v.B)-1)))
}

// opens reports whether a pattern that is a parameter, or a concatenation beginning with one, is likely to begin with text and not with a wildcard.
func (b *builder) opens(e expr.Expr) bool {
	for e = expr.Unwrap(e); e.IsCall("like begin", "concat"); {
		e = expr.Unwrap(e.Args()[0])
	}
	if v, known := e.ConstValue(); known {
		return len(v.B) > 0 && v.B[0] != '%' && v.B[0] != '_'
	}
	n, is := e.ParamOrdinal()
	return is && n < len(b.env.ParamTypes) && (n >= 64 || b.env.OpenPatterns>>uint(n)&1 == 0)
}

// selectivity estimates which part of the rows a condition keeps, whatever way they are read: paths compare only if they all expect the
// same rows in the end.
func (b *builder) selectivity(t *catalog.Table, c expr.Expr, s *sarg, usable bool, total float64) float64 {
	switch {
	case !usable:
		return b.alternatives(t, c, total)
	case !s.points:
		return b.rangeFraction(t, s, total)
	}
	if known := b.equalFraction(t, s); known >= 0 {
		return math.Max(known, math.Min(1, 1/math.Max(total, 1)))
	}
	best := math.Min(filterUnknown, equalUnknown*float64(len(s.ranges)))
	for _, index := range t.Indexes {
		if index.Columns[0].Col == s.column {
			best = math.Min(best, b.pointFraction(t, index, 1, len(s.ranges), total))
		}
	}
	return best
}

// equalFraction estimates which part of the rows has one of the values of a condition on a column, by what is known of these values, or of the
// average one where they are not known yet; negative is unknown.
func (b *builder) equalFraction(t *catalog.Table, s *sarg) float64 {
	if b.env.Stats == nil {
		return -1
	}
	sum := 0.0
	for i := range s.ranges {
		r := &s.ranges[i]
		if r.eq == nil || r.null {
			return -1
		}
		v, _ := r.eq.ConstValue()
		one := b.env.Stats.EqualFraction(t, s.column, v)
		if one < 0 {
			return -1
		}
		sum += one
	}
	return math.Min(1, sum)
}

// skewed corrects fraction, the selectivity of the leading columns of an index for average values, by how much more or less frequent than
// average the values of the condition s on the first column are.
func (b *builder) skewed(t *catalog.Table, index *catalog.Index, s *sarg, columns int, fraction, total float64) float64 {
	if index.Unique && columns == len(index.Columns) {
		return fraction
	}
	known := b.equalFraction(t, s)
	if known < 0 {
		return fraction
	}
	least := math.Min(1, 1/math.Max(total, 1))
	if columns == 1 {
		return math.Max(known, least)
	}
	n := b.env.Stats.Distinct(t, index, 1)
	if n <= 0 {
		return fraction
	}
	return math.Max(least, math.Min(known, fraction*known*n/float64(len(s.ranges))))
}

// entryWidth is about the number of bytes of an index entry: its columns' and the primary key's.
func entryWidth(t *catalog.Table, index *catalog.Index) float64 {
	width := 0.0
	add := func(parts []catalog.IndexColumn) {
		for _, part := range parts {
			width += columnBytes(&t.Columns[part.Col].Type, part.PrefixLen)
		}
	}
	add(index.Columns)
	if t.PK != nil {
		add(t.PK.Columns)
	}
	return width
}

func columnBytes(t *types.Type, prefix int) float64 {
	switch {
	case prefix > 0:
		return float64(prefix)
	case t.IsStringType():
		return math.Min(64, float64(t.MaxBytes())/2)
	}
	return 8
}

// intervalRows is the largest number of rows that an interval of a unique integer column can hold; negative is unknown.
func intervalRows(t *catalog.Table, s *sarg, low, high types.Value) float64 {
	if !t.Columns[s.column].Type.IsInteger() || low.K != types.KindInt || high.K != types.KindInt {
		return -1
	}
	for _, index := range t.Indexes {
		if index.Unique && len(index.Columns) == 1 && index.Columns[0].Col == s.column {
			return math.Max(0, float64(high.N)-float64(low.N)+1)
		}
	}
	return -1
}

// rangeFraction estimates which part of the rows an interval condition keeps.
func (b *builder) rangeFraction(t *catalog.Table, s *sarg, total float64) float64 {
	sum := 0.0
	for i := range s.ranges {
		r := &s.ranges[i]
		switch {
		case r.eq != nil:
			sum += math.Min(1, eqRowsUnknown/math.Max(total, 1))
			continue
		case r.low.Begins:
			sum += b.beginsFraction(t, s.column, r.low.Expr, total)
			continue
		case r.low.Expr == nil && r.high.Expr == nil:
			return 1
		}
		one := -1.0
		if low, high, known := constants(r); known && b.env.Stats != nil {
			one = b.env.Stats.RangeFraction(t, s.column, low, high, r.low.Incl, r.high.Incl)
		}
		if low, high, known := constants(r); known {
			if rows := intervalRows(t, s, low, high); rows >= 0 && (one < 0 || rows/math.Max(total, 1) < one) {
				one = rows / math.Max(total, 1)
			}
		}
		switch {
		case one >= 0:
		case b.cautious:
			one = rangeCautious
		case r.low.Expr != nil && r.high.Expr != nil:
			one = rangeUnknown
		default:
			one = halfUnknown
		}
		sum += math.Max(one, 1/math.Max(total, 1))
	}
	return math.Min(1, sum)
}

// constants returns the values of an interval's ends, if both are known when the plan is made.
func constants(r *interval) (low, high types.Value, known bool) {
	known = true
	if r.low.Expr != nil {
		low, known = r.low.Expr.ConstValue()
	}
	if r.high.Expr != nil && known {
		high, known = r.high.Expr.ConstValue()
	}
	return low, high, known
}

// covers reports whether an index entry holds every column that is needed: its own, whole, and the primary key's.
func covers(w *want, index *catalog.Index, filter []expr.Expr) bool {
	held := map[int]bool{exec.RowKey: true}
	for _, part := range index.Columns {
		if part.PrefixLen == 0 {
			held[part.Col] = true
		}
	}
	if w.table.PK != nil {
		for _, part := range w.table.PK.Columns {
			held[part.Col] = held[part.Col] || part.PrefixLen == 0
		}
	}
	all := true
	for _, c := range w.needed {
		all = all && held[c]
	}
	for _, e := range filter {
		expr.Columns(e, func(c int) { all = all && held[c] })
	}
	return all
}

// orderedBy reports whether a scan yields the wanted order, and whether it has to run backwards for it. Columns bound to one value do not matter.
func orderedBy(w *want, index *catalog.Index, ranges []exec.Range) (ordered, reverse bool) {
	if len(w.order) == 0 {
		return true, false
	}
	if index == nil {
		return false, false
	}
	parts := index.Columns
	if !index.Primary && w.table.PK != nil {
		parts = append(append([]catalog.IndexColumn(nil), parts...), w.table.PK.Columns...)
	}
	fixed := 0
	if len(ranges) == 1 {
		fixed = len(ranges[0].Eq)
	}
	at, first := 0, true
	for _, o := range w.order {
		if isFixed(index, fixed, o.column) {
			continue
		}
		for at < fixed && parts[at].Col != o.column {
			at++
		}
		if at >= len(parts) || parts[at].Col != o.column || parts[at].PrefixLen > 0 {
			return false, false
		}
		back := o.desc != parts[at].Desc
		if !first && back != reverse {
			return false, false
		}
		reverse, first = back, false
		at++
	}
	return true, reverse
}

func isFixed(index *catalog.Index, fixed, column int) bool {
	for i := 0; i < fixed; i++ {
		if index.Columns[i].Col == column {
			return true
		}
	}
	return false
}
