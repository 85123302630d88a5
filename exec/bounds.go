package exec

import (
	"bytes"
	"cmp"
	"math"
	"time"

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
		if err := pollEvery(rt, i); err != nil {
			return err
		}
		if err := s.add(rt, t, ix, columns, &ranges[i]); err != nil {
			return err
		}
	}
	return s.merge(rt)
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
			b.HasLow, b.Begins = true, r.Low.Begins
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
	if v, err = e.EvalFull(rt.Ctx, nil); err != nil { // a filter would compare all digits of a long literal, too
		return v, false, err
	}
	if v.IsNull() {
		return v, null, nil
	}
	if fits(&v, &c.Type) {
		return v, true, nil
	}
	if err = refuseText(&v, &c.Type); err != nil {
		return v, false, err
	}
	fitted, cmp, ok := s.fit(rt, v, c)
	return fitted, ok && cmp == 0, nil
}

// bound evaluates one end of an interval as a value of column c, moved inwards to the
// nearest value that the column can hold.
func (s *spanSet) bound(rt *Runtime, b *Bound, c *catalog.Column, low bool) (v types.Value, incl, empty bool, err error) {
	if v, err = b.Expr.EvalFull(rt.Ctx, nil); err != nil || v.IsNull() {
		return v, false, true, err
	}
	if fits(&v, &c.Type) {
		return v, b.Incl, false, nil
	}
	incl = b.Incl
	if v.K == types.KindString && c.Type.IsNumeric() {
		v = asDouble(rt, v)
	}
	if v.K == types.KindFloat && math.IsNaN(v.Float64()) {
		// NaN bounds nothing: which values compare with it depends on the side of the comparison, which the filter above the scan knows.
		v = types.Float(math.Inf(1))
		if low {
			v = types.Float(math.Inf(-1))
		}
	}
	if v.K == types.KindFloat {
		var wide bool
		v, wide = widened(v, &c.Type, low)
		incl = incl || wide
	}
	if err = refuseText(&v, &c.Type); err != nil {
		return v, false, false, err
	}
	fitted, cmp, ok := s.fit(rt, v, c)
	switch {
	case !ok:
		return v, false, true, nil
	case cmp == 0:
		return fitted, incl, false, nil
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

// fit finds the value of the column next to v in the comparison's order and compares the two: cmp is the sign of fitted − v. No value
// of the column lies between them. ok=false means that no value of the column compares with v.
func (s *spanSet) fit(rt *Runtime, v types.Value, c *catalog.Column) (fitted types.Value, cmp int, ok bool) {
	s.quiet = types.Context{MaxErrorCount: 1}
	if rt.Ctx.Context != nil {
		// Neither strictness nor the modes that refuse zero dates: the column may hold values stored under another sql_mode.
		s.quiet.Loc, s.quiet.Now = rt.Ctx.Loc, rt.Ctx.Now
		s.quiet.SQLMode = rt.Ctx.SQLMode &^ (types.ModeStrict | types.ModeNoZeroDate | types.ModeNoZeroInDate)
	}
	switch t := &c.Type; {
	case t.IsStringType() && v.K == types.KindString:
		return fitText(v, t), 0, true
	case t.IsNumeric() && v.K == types.KindString:
		v = asDouble(rt, v)
	case v.K == types.KindFloat && math.IsNaN(v.Float64()):
		return v, 0, false
	case t.ID == types.TypeTimestamp && v.K == types.KindTimestamp:
	case t.IsTemporal() && t.ID != types.TypeTime:
		return s.fitDate(v, c)
	}
	fitted, err := types.Convert(&s.quiet, v, c.Type, c.Name, 1)
	if err != nil || fitted.IsNull() {
		return v, 0, false
	}
	return fitted, types.CompareMixed(&s.quiet, fitted, v, c.Type.Coll), true
}

// asDouble converts a text that is compared with a number, unless the planner has made an integer of it. It warns of text that is no number,
// because a point has no filter that would.
func asDouble(rt *Runtime, v types.Value) types.Value {
	return types.Float(types.ToFloat(rt.Ctx.Context, &v))
}

// fitText brings a text to the column's character set, and neither cuts nor pads it: keys of texts order texts of any length. The longest
// text that the column holds would not do, because one letter may weigh as much as two (ß lies between s and st).
func fitText(v types.Value, t *types.Type) types.Value {
	if t.Coll == 0 || t.Coll == types.Binary {
		return types.String(v.B, types.Binary)
	}
	if from, to := v.Coll.Charset(), t.Coll.Charset(); from != to {
		v.B, _ = types.ConvertCharset(nil, v.B, from, to)
	}
	return types.String(v.B, t.Coll)
}

// refuseText is error 3854 for a text with characters that the column's character set lacks, as the comparison that the bound stands for has it.
func refuseText(v *types.Value, t *types.Type) error {
	if v.K != types.KindString || !t.IsStringType() || t.Coll == v.Coll || t.Coll == 0 || t.Coll == types.Binary || v.Coll == types.Binary {
		return nil
	}
	from, to := v.Coll.Charset(), t.Coll.Charset()
	if types.SameBytes(from, to) {
		return nil
	}
	if _, bad := types.ConvertCharset(nil, v.B, from, to); bad > 0 {
		return types.Errorf(types.ErImpossibleStringConversion, types.PrintableBytes(v.B), from.Name, to.Name)
	}
	return nil
}

// fitDate is fit for DATE, DATETIME and TIMESTAMP. A value out of the column's range, of which assignment would make the zero date, becomes here
// the end of the range that is next to it.
func (s *spanSet) fitDate(v types.Value, c *catalog.Column) (fitted types.Value, cmp int, ok bool) {
	at, ok := types.ToDatetime(&s.quiet, &v)
	if !ok {
		if v.K != types.KindString {
			return v, 0, false
		}
		at = types.Datetime(0, 0) // as comparisons take a text that is no date
	}
	s.quiet.SQLMode |= types.ModeTimeTruncateFrac // rounding up may leave the last year
	fitted, err := types.Convert(&s.quiet, at, c.Type, c.Name, 1)
	if err != nil || fitted.IsNull() {
		return v, 0, false
	}
	if fitted.K == types.KindTimestamp {
		last := types.Timestamp(types.MaxTimestampMicros, uint8(c.Type.Scale))
		switch {
		case fitted.N != 0 || at.N == 0:
		case s.compareDates(at, last) > 0:
			fitted = last
		case inCalendar(at), types.UnpackDatetime(at.N).Year == 0: // before the first instant, next to the zero date
		default:
			// No instant has a month 0 or a day 31 of February: the last one before it is next to it.
			if before, err := types.Convert(&s.quiet, lastBefore(at), c.Type, c.Name, 1); err == nil {
				fitted = before
			}
		}
	}
	return fitted, s.compareDates(fitted, at), true
}

func inCalendar(at types.Value) bool {
	d := types.UnpackDatetime(at.N)
	return d.Month > 0 && d.Day > 0 && d.Day <= types.DaysInMonth(d.Year, d.Month)
}

// lastBefore returns the last moment before a date that is in no calendar.
func lastBefore(at types.Value) types.Value {
	d := types.UnpackDatetime(at.N)
	first := time.Date(d.Year, time.Month(max(d.Month, 1)), 1, 0, 0, 0, 0, time.UTC)
	if d.Month > 0 && d.Day > 0 {
		first = first.AddDate(0, 1, 0)
	}
	return types.Datetime(types.PackTime(first.Add(-time.Microsecond)), types.MaxFsp)
}

// compareDates orders dates, datetimes and timestamps by civil time.
func (s *spanSet) compareDates(a, b types.Value) int {
	x, _ := types.ToDatetime(&s.quiet, &a)
	y, _ := types.ToDatetime(&s.quiet, &b)
	return cmp.Compare(x.N, y.N)
}

// exactDigits is how many decimal digits every double keeps; below exactInts doubles represent all integers.
const (
	exactDigits = 15
	exactInts   = 1 << 53
)

// widened moves a double outwards to its neighbour if several numbers of the column may convert to the same double. The comparison takes them as
// equal, and the index does not.
func widened(v types.Value, t *types.Type, low bool) (types.Value, bool) {
	f := v.Float64()
	if t.IsInteger() && math.Abs(f) < exactInts || !t.IsInteger() && (t.ID != types.TypeDecimal || t.Length <= exactDigits) {
		return v, false
	}
	next := math.Nextafter(f, math.Inf(1))
	if low {
		next = math.Nextafter(f, math.Inf(-1))
	}
	if math.IsInf(next, 0) {
		next = f // beyond every decimal already
	}
	return types.Float(next), true
}

// merge sorts the spans and joins those that overlap or touch, so that each row comes
// once and in order.
func (s *spanSet) merge(rt *Runtime) error {
	if len(s.spans) < 2 {
		return nil
	}
	if err := s.sort(rt); err != nil {
		return err
	}
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
	return nil
}

func (s *spanSet) sort(rt *Runtime) error {
	return sortPolled(rt, s.spans, func(a, b kvapi.Span) int { return bytes.Compare(a.Start, b.Start) })
}
