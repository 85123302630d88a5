package plan

import (
	"math"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// pointFraction estimates which part of the rows has given values in the leading columns of an index.
func (b *builder) pointFraction(t *catalog.Table, index *catalog.Index, columns, ranges int, total float64) float64 {
	one := math.Min(1, eqRowsUnknown/math.Max(total, 1)) / float64(columns)
	if index.Unique && columns == len(index.Columns) {
		one = 1 / math.Max(total, 1)
	} else if b.env.Stats != nil {
		if n := b.env.Stats.Distinct(t, index, columns); n > 0 {
			one = 1 / n
		}
	}
	return math.Min(1, one*float64(ranges))
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
		case r.low.Expr == nil && r.high.Expr == nil:
			return 1
		}
		one := -1.0
		if low, high, known := constants(r); known && b.env.Stats != nil {
			one = b.env.Stats.RangeFraction(t, s.column, low, high)
		}
		switch {
		case one >= 0:
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
	if w.locking {
		return all // conditions are checked again on the locked row
	}
	for _, e := range filter {
		expr.Columns(e, func(c int) { all = all && held[c] })
	}
	return all
}

// orderedBy reports whether a scan yields the wanted order, and whether backwards. Columns bound to one value order nothing.
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
