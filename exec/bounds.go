package exec

import (
	"bytes"
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/types"
)

// spanSet turns ranges of expressions into disjoint spans of keys in key order.
type spanSet struct {
	spans []kvapi.Span
	buf   []byte
	eq    []types.Value
	quiet types.Context // conversions of bounds neither warn nor fail
}

// fill evaluates ranges over an index of t; nil or the primary key mean the rows.
func (s *spanSet) fill(rt *Runtime, t *catalog.Table, ix *catalog.Index, ranges []Range) error {
	s.spans, s.buf = s.spans[:0], s.buf[:0]
	if len(ranges) == 0 {
		if ix == nil || ix.Primary {
			s.spans = append(s.spans, table.RowSpan(t))
		} else {
			s.spans = append(s.spans, table.IndexSpan(t, ix))
		}
		return nil
	}
	columns := keyColumns(t, ix)
	for i := range ranges {
		if err := s.add(rt, t, ix, columns, &ranges[i]); err != nil {
			return err
		}
	}
	s.merge()
	return nil
}

// keyColumns returns the key columns of an index; none for hidden row ids.
func keyColumns(t *catalog.Table, ix *catalog.Index) []catalog.IndexColumn {
	switch {
	case ix != nil:
		return ix.Columns
	case t.PK != nil:
		return t.PK.Columns
	}
	return nil
}

// add appends the span of one range unless it is empty.
func (s *spanSet) add(rt *Runtime, t *catalog.Table, ix *catalog.Index, columns []catalog.IndexColumn, r *Range) error {
	var b table.Range
	s.eq = s.eq[:0]
	for i, e := range r.Eq {
		v, ok, err := s.point(rt, e, t.Columns[columns[i].Col], r.EqNull>>uint(i)&1 != 0)
		if !ok || err != nil {
			return err
		}
		s.eq = append(s.eq, v)
	}
	b.Eq, b.NotNull = s.eq, r.NotNull
	if r.Low.Expr != nil || r.High.Expr != nil {
		col := t.Columns[columns[len(r.Eq)].Col]
		var err error
		empty := false
		if r.Low.Expr != nil {
			b.HasLow = true
			if b.Low, b.LowInclusive, empty, err = s.bound(rt, &r.Low, col, true); empty || err != nil {
				return err
			}
		}
		if r.High.Expr != nil {
			b.HasHigh = true
			if b.High, b.HighInclusive, empty, err = s.bound(rt, &r.High, col, false); empty || err != nil {
				return err
			}
		}
	}
	span, buf, empty := table.Span(s.buf, t, ix, &b)
	s.buf = buf
	if !empty {
		s.spans = append(s.spans, span)
	}
	return nil
}

// point evaluates the value of an equality as a value of column c. ok=false means
// that no row can be equal to it.
func (s *spanSet) point(rt *Runtime, e expr.Expr, c *catalog.Column, null bool) (v types.Value, ok bool, err error) {
	if v, err = e.Eval(rt.Ctx, nil); err != nil {
		return v, false, err
	}
	if v.IsNull() {
		return v, null, nil
	}
	if fits(&v, &c.Type) {
		return v, true, nil
	}
	fitted, cmp, ok := s.fit(rt, v, c)
	return fitted, ok && cmp == 0, nil
}

// bound evaluates one end of an interval as a value of column c, moved inwards to the
// nearest value that the column can hold.
func (s *spanSet) bound(rt *Runtime, b *Bound, c *catalog.Column, low bool) (v types.Value, incl, empty bool, err error) {
	if v, err = b.Expr.Eval(rt.Ctx, nil); err != nil || v.IsNull() {
		return v, false, true, err
	}
	if fits(&v, &c.Type) {
		return v, b.Incl, false, nil
	}
	fitted, cmp, ok := s.fit(rt, v, c)
	switch {
	case !ok:
		return v, false, true, nil
	case cmp == 0:
		return fitted, b.Incl, false, nil
	case low:
		// The column's value next to the bound is itself inside when it lies above.
		return fitted, cmp > 0, false, nil
	}
	return fitted, cmp < 0, false, nil
}

// fits reports whether v is a value of type t as it stands, for the kinds that point
// statements use.
func fits(v *types.Value, t *types.Type) bool {
	k := t.Kind()
	if v.K != k {
		return false
	}
	switch k {
	case types.KindInt:
		lo, hi := t.IntRange()
		return v.N >= lo && v.N <= int64(hi)
	case types.KindUint:
		_, hi := t.IntRange()
		return t.IsInteger() && v.Uint64() <= hi
	case types.KindString:
		return t.Coll == v.Coll && (t.ID == types.TypeChar || t.ID == types.TypeVarchar) && len(v.B) <= int(t.Length)
	}
	return false
}

// fit converts v to the nearest value of the column and compares the two: cmp is the
// sign of converted − v. ok=false means that no value of the column compares with v.
func (s *spanSet) fit(rt *Runtime, v types.Value, c *catalog.Column) (fitted types.Value, cmp int, ok bool) {
	if rt.Ctx.Context != nil {
		s.quiet.Loc, s.quiet.Now = rt.Ctx.Loc, rt.Ctx.Now
		s.quiet.SQLMode = rt.Ctx.SQLMode &^ types.ModeStrict
	}
	s.quiet.MaxErrorCount = 1
	s.quiet.ResetWarnings()
	fitted, err := types.Convert(&s.quiet, v, c.Type, c.Name, 1)
	if err != nil || fitted.IsNull() {
		return v, 0, false
	}
	return fitted, types.CompareMixed(&s.quiet, fitted, v, c.Type.Coll), true
}

// merge sorts the spans and joins those that overlap or touch, so that each row comes
// once and in order.
func (s *spanSet) merge() {
	if len(s.spans) < 2 {
		return
	}
	slices.SortFunc(s.spans, func(a, b kvapi.Span) int { return bytes.Compare(a.Start, b.Start) })
	kept := s.spans[:1]
	for _, next := range s.spans[1:] {
		last := &kept[len(kept)-1]
		switch {
		case last.IsPoint():
			if bytes.Equal(last.Start, next.Start) {
				if !next.IsPoint() {
					*last = next
				}
				continue
			}
		case next.IsPoint():
			if last.Contains(next.Start) {
				continue
			}
		case len(last.End) == 0:
			continue // no upper bound
		case bytes.Compare(next.Start, last.End) <= 0:
			if len(next.End) == 0 || bytes.Compare(next.End, last.End) > 0 {
				last.End = next.End
			}
			continue
		}
		kept = append(kept, next)
	}
	s.spans = kept
}
