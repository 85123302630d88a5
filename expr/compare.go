package expr

import (
	"bytes"

	"github.com/pandodb/pando/types"
)

// Masks of the outcomes of a three-way comparison that make an operator true.
const (
	maskLess    = 1
	maskEqual   = 2
	maskGreater = 4
)

var compareMasks = map[string]uint8{
	"=": maskEqual, "<=>": maskEqual, "<>": maskLess | maskGreater, "!=": maskLess | maskGreater,
	"<": maskLess, "<=": maskLess | maskEqual, ">": maskGreater, ">=": maskGreater | maskEqual, opBetween: maskLess | maskEqual,
}

// opBetween is the operator that a half of BETWEEN is compared by: <=, of which each side may be no date.
const opBetween = "between"

// comparator compares two operands in a class that was chosen when the expression was built.
type comparator struct {
	class class
	mask  uint8 // the operator: see maskLess
	coll  types.CollationID
	bytes bool // coll orders strings by their bytes
	// date is what a text has to be that is compared with dates.
	date DateNeed
	// list is of IN, if its lists are compared otherwise: the first value is the operand, the second an item.
	list inAs
}

// compare orders two values that are not NULL: -1, 0 or 1. ok is false if one of them cannot be converted to the class: a value that is
// no date.
func (c *comparator) compare(ctx *Ctx, a, b *types.Value) (order int, ok bool) {
	switch c.class {
	case classInt:
		if a.K == types.KindInt && b.K == types.KindInt {
			return orderInts(a.N, b.N), true
		}
		if integral(a.K) && integral(b.K) {
			return orderMixedInts(a, b), true
		}
	case classFloat:
		x, y := ctx.float(a), ctx.float(b)
		return orderFloats(x, y), true
	case classDecimal:
		if a.K == types.KindDecimal && b.K == types.KindDecimal {
			if a.B == nil && b.B == nil && a.Scale == b.Scale {
				return orderInts(a.N, b.N), true
			}
			return sign(types.DecCompare(*a, *b)), true
		}
		return sign(types.DecCompare(ctx.decimal(a), ctx.decimal(b))), true
	case classString:
		if a.K == types.KindString && b.K == types.KindString {
			if c.bytes {
				return bytes.Compare(a.B, b.B), true
			}
			return sign(ctx.compareTexts(a.B, b.B, c.coll)), true
		}
		return sign(ctx.compareTexts(ctx.textOf(a), ctx.textOf(b), c.coll)), true
	case classTemporal:
		return c.compareTemporal(ctx, a, b)
	case classTime:
		if a.IsNumeric() || b.IsNumeric() {
			return compareUnadapted(ctx, a, b), true
		}
		switch c.list {
		case inTimeTexts:
			x, ok1 := ctx.listedTime(a)
			y, ok2 := ctx.listedTime(b)
			return max(orderInts(x, y), orderInts(y, x), orderTruths(ok1, ok2)), true
		case inTimes:
			x, ok := toTime(ctx, a)
			y, _ := toTime(ctx, b) // what is no time is 00:00:00
			return max(orderInts(x, y), orderInts(y, x), orderTruths(ok, true)), true
		}
		switch { // a lifted literal that is no time is compared as text, as it is elsewhere
		case a.K == types.KindString:
			return sign(ctx.compareTexts(a.B, ctx.textOf(b), a.Coll)), true
		case b.K == types.KindString:
			return sign(ctx.compareTexts(ctx.textOf(a), b.B, b.Coll)), true
		}
		x, ok1 := toTime(ctx, a)
		y, ok2 := toTime(ctx, b)
		return orderInts(x, y), ok1 && ok2
	case classJSON:
		if c.list == inJSON {
			return sign(types.CompareAsJSON(ctx.Context, a, b)), true
		}
	}
	return sign(types.CompareMixed(ctx.Context, *a, *b, c.coll)), true
}

// listedTime returns v as a TIME in a list of IN, where a date is its text.
func (ctx *Ctx) listedTime(v *types.Value) (int64, bool) {
	if v.K != types.KindTime && v.K != types.KindString {
		text := types.String(ctx.textOf(v), types.DefaultCollation)
		v = &text
	}
	t, ok := ctx.timeOf(v)
	if !ok {
		return 0, false
	}
	return t.N, true
}

// orderTruths is 0 if x and y are the same.
func orderTruths(x, y bool) int {
	if x == y {
		return 0
	}
	return 1
}

// compareTemporal orders dates. Two timestamps are compared as instants, everything else as local date and time.
func (c *comparator) compareTemporal(ctx *Ctx, a, b *types.Value) (int, bool) {
	if a.K == b.K && a.K != types.KindString {
		return orderInts(a.N, b.N), true
	}
	if c.list == inDates {
		return ctx.compareListedDate(a, b), true
	}
	if c.list != inDatetimes && (a.IsNumeric() || b.IsNumeric()) {
		return compareUnadapted(ctx, a, b), true
	}
	x, ok1 := c.toDate(ctx, a)
	y, ok2 := c.toDate(ctx, b)
	return orderInts(x, y), ok1 && ok2
}

// toDate converts a value; a text that is no date is the zero date, with a warning.
func (c *comparator) toDate(ctx *Ctx, v *types.Value) (int64, bool) {
	switch v.K {
	case types.KindDatetime, types.KindDate:
		return v.N, true
	case types.KindString, types.KindEnum, types.KindSet:
		t, ok, whole := types.TextDate(ctx.Context, v)
		if ok = ok && !(types.HasZeroInDate(t.N) && ctx.SQLMode&types.ModeNoZeroInDate != 0); !ok || !whole {
			c.date.warn(ctx, v)
		}
		if !ok {
			return 0, true
		}
		return t.N, true
	}
	t, ok := types.ToDatetime(ctx.Context, v)
	return t.N, ok || c.list == inDatetimes
}

// compareUnadapted orders a date or time and a number that is none, as doubles. The number can only be a parameter's value that evalAdapt could
// not convert; with a literal, compareClass would have chosen classFloat.
func compareUnadapted(ctx *Ctx, a, b *types.Value) int {
	return orderFloats(ctx.float(a), ctx.float(b))
}

// sign reduces an order to -1, 0 or 1, as comparator.test needs it.
func sign(order int) int { return orderInts(int64(order), 0) }

// toTime returns the N of v as a time.
func toTime(ctx *Ctx, v *types.Value) (int64, bool) {
	if v.K == types.KindTime {
		return v.N, true
	}
	t, ok := ctx.timeOf(v)
	return t.N, ok
}

func integral(k types.Kind) bool {
	return k == types.KindInt || k == types.KindUint || k == types.KindBit
}

func orderInts(a, b int64) int {
	if a < b {
		return -1
	}
	if a > b {
		return 1
	}
	return 0
}

// orderMixedInts compares integers of which one may be unsigned.
func orderMixedInts(a, b *types.Value) int {
	aNeg, bNeg := a.K == types.KindInt && a.N < 0, b.K == types.KindInt && b.N < 0
	if aNeg != bNeg {
		if aNeg {
			return -1
		}
		return 1
	}
	if aNeg {
		return orderInts(a.N, b.N)
	}
	return orderUints(uint64(a.N), uint64(b.N))
}

func orderUints(a, b uint64) int {
	if a < b {
		return -1
	}
	if a > b {
		return 1
	}
	return 0
}

// orderFloats orders doubles. A parameter may be NaN: as in MySQL, it is unequal to everything, itself included, and the result is 1 on either
// side.
func orderFloats(a, b float64) int {
	if a < b {
		return -1
	}
	if a == b {
		return 0
	}
	return 1
}

// test turns an order into the operator's truth value.
func (c *comparator) test(order int) bool { return c.mask>>uint(order+1)&1 != 0 }

// compareClass chooses the class in which a and b are compared.
func compareClass(a, b Expr) class {
	ca, cb := classOf(&a.typ), classOf(&b.typ)
	if ca > cb {
		ca, cb = cb, ca
	}
	switch {
	case ca == classNull:
		return cb
	case cb == classJSON:
		return classJSON
	case cb == classTemporal:
		if ca == classTemporal || ca == classString {
			return classTemporal
		}
		return classFloat
	case cb == classTime:
		// A TIME and a text are compared as texts, unless the text is a constant that adapt has converted to a TIME.
		switch ca {
		case classTemporal, classString, classTime:
			return ca
		}
		return classFloat
	case cb == classString:
		if ca == classString {
			return classString
		}
		return classFloat
	}
	return cb // int < decimal < float
}

// newComparator prepares the comparison of x with y and returns them with the conversions that it needs. A column that is compared in its own
// class is returned as it is, from which the planner can derive an index range.
func (b *BuildContext) newComparator(op string, x, y Expr) (*comparator, Expr, Expr, error) {
	return b.comparatorOf(op, x, y, false)
}

// comparatorOf is newComparator. With asIs constants are not converted to the type of a column, but for convertsAsIs: x and y are columns of rows that
// are ordered, or a CASE's value and a WHEN.
func (b *BuildContext) comparatorOf(op string, x, y Expr, asIs bool) (*comparator, Expr, Expr, error) {
	if isRow(x) || isRow(y) {
		return nil, x, y, operandColumns(x)
	}
	if (x.isHexLiteral() || isHexNullIf(x)) && numericSide(y) {
		x = asNumber(x)
	}
	if (y.isHexLiteral() || isHexNullIf(y)) && numericSide(x) {
		y = asNumber(y)
	}
	tolerant := b.NoDateFits || toleratesNoDate(op)
	if !tolerant {
		b.tellDateConst(x, y)
		b.tellDateConst(y, x)
	}
	x, y, err := b.adaptConstants(x, y, &adaption{tolerant: tolerant, placeholder: !tolerant && op != "<=>", stored: op != "in"}, asIs)
	if err != nil {
		return nil, x, y, err
	}
	if isYear(x) && classOf(&y.typ) == classTemporal {
		x = yearAsDate(x, 0)
	} else if isYear(y) && classOf(&x.typ) == classTemporal {
		y = yearAsDate(y, 0)
	}
	if !toleratesNoDate(op) && !asIs {
		x, y = b.besideDate(x, y), b.besideDate(y, x)
	}
	c := &comparator{class: compareClass(x, y), mask: compareMasks[op]}
	switch {
	case c.class == classFloat:
		x, y = inDouble(asNumber(x)), inDouble(asNumber(y))
	case c.class == classDecimal:
		x, y = withAllDigits(x), withAllDigits(y)
	case c.class == classTemporal && classOf(&x.typ) == classTemporal:
		c.date = dateNeed(x)
	case c.class == classTemporal:
		c.date = dateNeed(y)
	}
	if c.class == classJSON {
		x, y = jsonOperand(x), jsonOperand(y)
		c.coll = types.Utf8mb4Bin
	}
	if c.class == classString || c.class == classNull {
		d, err := b.mergeTwo(op, c.class == classString, x, y)
		if err != nil {
			return nil, x, y, err
		}
		c.coll = d.coll
		c.bytes = bytewise(d.coll)
		if c.class == classString {
			x, y = b.toCharset(x, d.coll), b.toCharset(y, d.coll)
		}
	}
	return c, x, y, nil
}

// isYear reports whether e is a YEAR beside dates: YEAR(x) is an integer elsewhere.
func isYear(e Expr) bool { return e.typ.ID == types.TypeYear || e.IsCall("year") }

// yearAsDate converts a YEAR to a date whose month and day are both part: 1 for CAST; 0 for comparisons, which is before all days of the year.
func yearAsDate(e Expr, part int) Expr {
	name := "year as date"
	if part > 0 {
		name = "first of year"
	}
	n := newCall(name, []Expr{e})
	n.hidden, n.coer, n.typ, n.notNull = true, CoerNumeric, dateType, e.notNull
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := n.args[0].eval(ctx, n.args[0], row)
		if err != nil || v.IsNull() {
			return types.Null(), err
		}
		return types.Date(types.PackDate(int(ctx.integer(&v)), part, part)), nil
	}
	return n
}

// bytewise reports whether a collation orders strings as bytes.Compare does.
func bytewise(c types.CollationID) bool { return c == types.Binary || c == types.Utf8mb40900Bin }

func numericSide(e Expr) bool {
	switch classOf(&e.typ) {
	case classInt, classDecimal, classFloat:
		return true
	}
	return false
}

// toleratesNoDate reports whether op may compare dates with a constant text that is no date. As in MySQL, operators with a list or two bounds
// may; others fail with 1525.
func toleratesNoDate(op string) bool { return op == "in" || op == "case" || op == opBetween }

// tellDateConst tells DateConst of text if a date is compared with it.
func (b *BuildContext) tellDateConst(date, text Expr) {
	if b.DateConst == nil || !IsDateText(date, text) {
		return
	}
	b.DateConst(text, dateNeed(date))
}

// IsDateText reports whether text is one without columns that has to be a date because it is compared with date. Literals and parameters are
// looked at elsewhere.
func IsDateText(date, text Expr) bool {
	if classOf(&date.typ) != classTemporal || classOf(&text.typ) != classString || text.flags&FlagColumn != 0 {
		return false
	}
	return text.kind == kindCall || text.kind == kindSubquery
}

// NeedOf is what a text has to be that is compared with e.
func NeedOf(e Expr) DateNeed { return dateNeed(e) }

// buildCompare is =, <>, <, <=, >, >= and <=>.
func buildCompare(b *BuildContext, n *Node) error {
	if n.name == "!=" {
		n.name = "<>"
	}
	x, y := n.args[0], n.args[1]
	if isRow(x) || isRow(y) {
		return buildRowCompare(b, n)
	}
	c, x, y, err := b.newComparator(n.name, x, y)
	if err != nil {
		return err
	}
	n.args, n.aux, n.typ = []Expr{x, y}, c, boolType()
	if n.name == "<=>" {
		n.eval, n.notNull = evalNullSafe, true
		return nil
	}
	n.notNull = x.notNull && y.notNull
	n.eval = evalCompare
	if c.class == classInt {
		n.eval = evalCompareInts
	}
	n.batch, n.filter = batchCompare(c, n.args)
	return nil
}

// evalCompareInts is evalCompare with a fast path for two signed integers.
func evalCompareInts(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	x, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || x.K == types.KindNull {
		return types.Null(), err
	}
	y, err := n.args[1].eval(ctx, n.args[1], row)
	if err != nil {
		return y, err
	}
	c := n.aux.(*comparator)
	if x.K == types.KindInt && y.K == types.KindInt {
		return types.Bool(c.test(orderInts(x.N, y.N))), nil
	}
	return c.verdict(ctx, &x, &y), nil
}

func evalCompare(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	x, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || x.K == types.KindNull {
		return types.Null(), err
	}
	y, err := n.args[1].eval(ctx, n.args[1], row)
	if err != nil {
		return y, err
	}
	return n.aux.(*comparator).verdict(ctx, &x, &y), nil
}

// verdict compares two values that may be NULL.
func (c *comparator) verdict(ctx *Ctx, x, y *types.Value) types.Value {
	if x.K == types.KindNull || y.K == types.KindNull {
		return types.Null()
	}
	order, ok := c.compare(ctx, x, y)
	if !ok {
		return types.Null()
	}
	return types.Bool(c.test(order))
}

func evalNullSafe(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	x, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil {
		return x, err
	}
	y, err := n.args[1].eval(ctx, n.args[1], row)
	if err != nil {
		return y, err
	}
	if x.K == types.KindNull || y.K == types.KindNull {
		return types.Bool(x.K == y.K), nil
	}
	order, ok := n.aux.(*comparator).compare(ctx, &x, &y)
	return types.Bool(ok && order == 0), nil
}
