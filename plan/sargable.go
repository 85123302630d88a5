package plan

import (
	"bytes"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// pointsMax bounds the ranges that lists and disjunctions may multiply to; beyond it the scan takes the whole interval and filters.
const pointsMax = 4096

// sarg is a condition on one column that an ordered index can decide: one of the intervals contains the value.
type sarg struct {
	column int
	points bool // every interval is one value
	ranges []interval
	// exact says that the intervals decide the condition fully, so that it needs no filter above the scan.
	exact bool
}

// interval is a set of values of one column. A set eq is a single value; otherwise low and high bound it, NULL excluded.
type interval struct {
	eq        expr.Expr
	null      bool // eq matches NULL too (<=>, IS NULL)
	low, high exec.Bound
}

// sargOf reads a conjunct as a condition on one column of t; ok is false when an index can't decide it.
func sargOf(b *expr.BuildContext, t *catalog.Table, e expr.Expr) (s sarg, ok bool) {
	switch {
	case e.IsCall("=", "<=>", "<", "<=", ">", ">="):
		return comparison(b, t, e.Name(), e.Args()[0], e.Args()[1])
	case e.IsCall("between"):
		return between(b, t, e.Args())
	case e.IsCall("in"):
		return inList(b, t, e.Args())
	case e.IsCall("is null"):
		if i, is := e.Args()[0].ColumnIndex(); is {
			return sarg{column: i, points: true, exact: true, ranges: []interval{{eq: expr.Literal(types.Null()), null: true}}}, true
		}
	case e.IsCall("is not null"):
		if i, is := e.Args()[0].ColumnIndex(); is {
			return sarg{column: i, exact: true, ranges: []interval{{}}}, true
		}
	case e.IsCall("like"):
		return beginning(b, t, e)
	case e.IsCall("or"):
		return disjunction(b, t, e.Args())
	}
	return sarg{}, false
}

var mirrored = map[string]string{"=": "=", "<=>": "<=>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

func comparison(b *expr.BuildContext, t *catalog.Table, op string, l, r expr.Expr) (sarg, bool) {
	column, is := expr.Unwrap(l).ColumnIndex()
	if !is {
		if column, is = expr.Unwrap(r).ColumnIndex(); !is {
			return sarg{}, false
		}
		l, r, op = r, l, mirrored[op]
	}
	value, exact, ok := bound(b, t, column, l, r)
	many := ok && oneDouble(&t.Columns[column].Type, value.TypeRef())
	if !ok || many && op == "<=>" {
		return sarg{}, false
	}
	s := sarg{column: column, exact: exact}
	var i interval
	switch {
	case op == "=" && many:
		i = within(value)
	case op == "=":
		s.points, i.eq = true, value
	case op == "<=>":
		s.points, i.eq, i.null = true, value, true
	case op == "<" || op == "<=":
		i.high = exec.Bound{Expr: value, Incl: op == "<="}
	default:
		i.low = exec.Bound{Expr: value, Incl: op == ">="}
	}
	s.ranges = []interval{i}
	return s, true
}

// within is the interval of the values that compare as equal to one.
func within(value expr.Expr) interval {
	return interval{low: exec.Bound{Expr: value, Incl: true}, high: exec.Bound{Expr: value, Incl: true}}
}

// oneDouble reports whether a value is compared with the column as a double, and several of the column's numbers may be equal to it. It is false
// for texts and integer columns, because texts that hold integers are compared as integers.
func oneDouble(ct, vt *types.Type) bool {
	const exactDigits = 15
	switch {
	case ct.ID == types.TypeBigInt:
		return vt.Kind() == types.KindFloat
	case ct.ID == types.TypeDecimal && ct.Length > exactDigits:
		return vt.Kind() == types.KindFloat || vt.IsStringType()
	}
	return false
}

func between(b *expr.BuildContext, t *catalog.Table, args []expr.Expr) (sarg, bool) {
	column, is := expr.Unwrap(args[0]).ColumnIndex()
	if !is {
		return sarg{}, false
	}
	low, exactLow, okLow := bound(b, t, column, args[0], args[1])
	high, exactHigh, okHigh := bound(b, t, column, args[0], args[2])
	if !okLow || !okHigh {
		return sarg{}, false
	}
	if double(low) != double(high) {
		// If one of the three is compared as a double, all are.
		var err1, err2 error
		low, err1 = asDouble(b, t, column, low)
		high, err2 = asDouble(b, t, column, high)
		if err1 != nil || err2 != nil {
			return sarg{}, false
		}
	}
	i := interval{low: exec.Bound{Expr: low, Incl: true}, high: exec.Bound{Expr: high, Incl: true}}
	return sarg{column: column, exact: exactLow && exactHigh, ranges: []interval{i}}, true
}

func double(e expr.Expr) bool {
	return e.TypeRef().Kind() == types.KindFloat || e.TypeRef().IsStringType()
}

// asDouble makes a number that is compared with a numeric column a double.
func asDouble(b *expr.BuildContext, t *catalog.Table, column int, e expr.Expr) (expr.Expr, error) {
	if !t.Columns[column].Type.IsNumeric() || !e.TypeRef().IsNumeric() {
		return e, nil
	}
	return expr.Call(b, "+", e, expr.Literal(types.Float(0)))
}

func inList(b *expr.BuildContext, t *catalog.Table, args []expr.Expr) (sarg, bool) {
	column, is := expr.Unwrap(args[0]).ColumnIndex()
	if !is || len(args)-1 > pointsMax {
		return sarg{}, false
	}
	s := sarg{column: column, points: true, exact: true}
	for _, arg := range args[1:] {
		value, exact, ok := bound(b, t, column, args[0], arg)
		if !ok {
			return sarg{}, false
		}
		s.exact = s.exact && exact
		if oneDouble(&t.Columns[column].Type, value.TypeRef()) {
			s.points = false
			s.ranges = append(s.ranges, within(value))
			continue
		}
		s.ranges = append(s.ranges, interval{eq: value})
	}
	return s, true
}

// disjunction joins the intervals of alternatives that are all conditions on the same column.
func disjunction(b *expr.BuildContext, t *catalog.Table, args []expr.Expr) (sarg, bool) {
	var whole sarg
	for i, arg := range args {
		one, ok := sargOf(b, t, arg)
		if !ok || i > 0 && one.column != whole.column || len(whole.ranges)+len(one.ranges) > pointsMax {
			return sarg{}, false
		}
		if i == 0 {
			whole = sarg{column: one.column, points: true, exact: true}
		}
		whole.points = whole.points && one.points
		whole.exact = whole.exact && one.exact
		whole.ranges = append(whole.ranges, one.ranges...)
	}
	return whole, len(args) > 0
}

// beginning reads LIKE as the interval of what begins with the pattern's text before its first wildcard. It stays as a filter: the interval
// holds more, such as 'abc' for LIKE 'ab_' or, as spaces at the end weigh nothing in most collations, for LIKE 'abc  %'.
func beginning(b *expr.BuildContext, t *catalog.Table, like expr.Expr) (sarg, bool) {
	column, plain := like.Args()[0].ColumnIndex()
	if !plain || column < 0 || column >= len(t.Columns) || !t.Columns[column].Type.IsStringType() {
		return sarg{}, false
	}
	begin, coll, whole, ok := expr.LikeBegin(b, like)
	own := t.Columns[column].Type.Coll
	if own == 0 {
		own = types.Binary
	}
	if !ok || coll != own || !coll.KeysBegin() {
		return sarg{}, false
	}
	s := sarg{column: column, ranges: []interval{{low: exec.Bound{Expr: begin, Incl: true, Begins: true}}}}
	if v, known := begin.ConstValue(); known {
		if v.K != types.KindString || len(v.B) == 0 && !whole {
			return sarg{}, false
		}
		if whole && !bytes.HasSuffix(v.B, []byte(" ")) { // a CHAR column may have lost spaces at the end
			s.points, s.ranges = true, []interval{{eq: begin}}
		}
	}
	return s, true
}

// bound decides whether comparing a column with a value follows the order of the column's index, and gives the value in
// the form that a scan takes. side is the column as it stands in the comparison, with the conversion that the binder gave it.
func bound(b *expr.BuildContext, t *catalog.Table, column int, side, value expr.Expr) (v expr.Expr, exact, ok bool) {
	if column >= len(t.Columns) || !expr.IsConstInStatement(value) {
		return nil, false, false
	}
	adapted := value
	if !expr.IsDayOfText(value) {
		value = expr.Unwrap(value)
	}
	ct, vt := &t.Columns[column].Type, value.TypeRef()
	_, plain := side.ColumnIndex()
	switch {
	case vt.ID == types.TypeNull:
		return value, false, true
	case ct.ID == types.TypeYear || ct.ID == types.TypeEnum || ct.ID == types.TypeSet || ct.ID == types.TypeJSON || ct.ID == types.TypeBit:
		return nil, false, false
	case ct.IsNumeric() && vt.IsNumeric():
		return value, ct.IsInteger() && vt.IsInteger(), true
	case ct.IsNumeric() && vt.IsStringType():
		// The binder has made an integer of the text if it can be one; exec takes others as doubles, as the comparison does.
		if ct.IsInteger() {
			value = adapted
		}
		return value, false, true
	case ct.IsStringType() && vt.IsStringType():
		// A VARBINARY compares bytes whatever the other side is. BINARY is padded when it is stored, so that bounds would be, too.
		same := ct.Coll == vt.Coll || ct.Coll == types.Binary && ct.ID != types.TypeBinary || ct.Coll != types.Binary && vt.Coll != types.Binary && value.Coercibility() >= expr.CoerCoercible
		return value, false, plain && same
	case ct.IsTemporal() && ct.ID != types.TypeTime && (vt.IsTemporal() && vt.ID != types.TypeTime || vt.IsStringType()):
		return value, false, true
	}
	return nil, false, false
}
