package expr

import (
	"bytes"
	"math"
	"math/bits"

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

// adaptConstants converts a constant that is compared with a column to the column's type if no information is lost, as MySQL does. A parameter
// gets a node that does so in each execution.
func (b *BuildContext) adaptConstants(x, y Expr, how *adaption, asIs bool) (Expr, Expr, error) {
	var err error
	switch {
	case asIs && !b.convertsAsIs(x, y) && !b.convertsAsIs(y, x):
	case b.comparesAsColumn(x, y) && IsConst(y):
		y, err = b.adapt(x, y, how)
	case b.comparesAsColumn(y, x) && IsConst(x):
		x, err = b.adapt(y, x, how)
	}
	return x, y, err
}

// comparesAsColumn reports whether the constant k is converted for e: for columns, and texts for all dates, because MySQL compares those as dates
// anyway. Beside a number, a date that is no column is a number. A placeholder beside a time is a time.
func (b *BuildContext) comparesAsColumn(e, k Expr) bool {
	c := classOf(&e.typ)
	placeholder := b.isPlaceholder(k)
	return e.kind == kindColumn || c == classTemporal && (textClass(k) || placeholder) || c == classTime && placeholder
}

// isPlaceholder reports whether e is a question mark of the statement, and no literal that was taken out of it.
func (b *BuildContext) isPlaceholder(e Expr) bool { return e.kind == kindParam && b.DateParam == nil }

// convertsAsIs reports whether the constant k is converted for e all the same: placeholders, which have e's type, and texts beside dates and
// decimals. As in MySQL other constants stay what they are: a TIME and '12:00:00' are compared as texts, a DATETIME and 20240131 as numbers.
func (b *BuildContext) convertsAsIs(e, k Expr) bool {
	if b.isPlaceholder(k) {
		return e.typ.ID != types.TypeYear
	}
	c := classOf(&e.typ)
	return (c == classTemporal || c == classDecimal) && classOf(&k.typ) == classString
}

// adapt converts the constant k for a comparison with col, see adaptConstants. how has the fields of an adaption that are known to the caller.
func (b *BuildContext) adapt(col, k Expr, how *adaption) (Expr, error) {
	target, own := classOf(&col.typ), classOf(&k.typ)
	if own == classNull || target == classString || target == classJSON || own == classJSON || target == own && target == classInt && col.typ.ID != types.TypeYear {
		return k, nil
	}
	if (target == classTemporal || target == classTime) && own == target {
		if t, ok := k.ConstValue(); ok && !how.tolerant && target == classTime && col.kind == kindColumn && computed(k).IsCall() && !t.IsNull() {
			rounded, err := types.Cast(b.quietCtx().Context, t, types.Type{ID: types.TypeTime, Length: -1, Scale: max(col.typ.Scale, 0)})
			return Const(rounded, col.typ), err // and not a literal, as in MySQL
		}
		if k.typ.ID == col.typ.ID || col.typ.ID == types.TypeDatetime {
			return k, nil
		}
	}
	if own == classString && col.typ.ID == types.TypeBit && !b.BitBytes {
		number := *col // a BIT is compared as the number that it is, but would take a text's bytes for its own
		number.typ = uintType(20)
		col = &number
	}
	if target == classInt && (own == classTemporal || own == classTime) {
		return k, nil // compared as doubles or dates
	}
	if target == classDecimal && (own == classFloat || own == classString && col.kind != kindColumn) {
		return k, nil // no conversion: they are compared as doubles, which a node of the column's type would prevent
	}
	wantsDate := own == classString && target == classTemporal && !how.tolerant
	if ordinal, ok := k.ParamOrdinal(); ok && wantsDate && b.DateParam != nil {
		b.DateParam(ordinal, dateNeed(col))
	}
	if v, ok := k.ConstValue(); ok {
		if v.IsNull() { // CAST(NULL AS …)
			return k, nil
		}
		ctx := b.quietCtx()
		if wantsDate {
			need := dateNeed(col)
			if err := need.Check(ctx.Context, v); err != nil {
				return nil, err
			}
		}
		nv, fits := adaptValue(ctx, v, &col.typ, how.stored)
		if !fits {
			return k, nil
		}
		n := Const(nv, constTypeFor(&nv, &col.typ))
		return n, nil
	}
	// The node has the column's type although a value that cannot be converted without loss stays as it is (invariant 3).
	n := newCall("adapt", []Expr{k})
	to := &adaption{typ: col.typ, need: dateNeed(col), placeholder: how.placeholder && b.isPlaceholder(k), stored: how.stored}
	if to.placeholder {
		to.need = DateNeed{Type: types.TypeDate}
	}
	n.hidden, n.coer, n.aux, n.eval = true, k.coer, to, evalAdapt
	n.typ = col.typ
	n.typ.ZeroFill = false
	return n, nil
}

// Unadapted is e without the conversion that the comparison with a column has given it.
func Unadapted(e Expr) Expr {
	if e.IsCall("adapt") {
		return e.args[0]
	}
	return e
}

func constTypeFor(v *types.Value, col *types.Type) types.Type {
	if v.K == types.KindDecimal || v.K == types.KindFloat || integral(v.K) {
		return literalType(*v)
	}
	t := *col
	if v.K == types.KindDatetime {
		t = types.Type{ID: types.TypeDatetime, Scale: int8(v.Scale), Length: -1}
	}
	return t
}

func evalAdapt(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || v.K == types.KindNull {
		return v, err
	}
	to := n.aux.(*adaption)
	if to.placeholder && v.K == types.KindString && classOf(&to.typ) == classTime {
		t, ok := ctx.timeOf(&v)
		if !ok {
			ctx.Warn(types.LevelWarning, types.ErTruncatedWrongValue, "time", ctx.textOf(&v))
			return types.Null(), nil
		}
		return t, nil
	}
	if v.K != types.KindString || classOf(&to.typ) != classTemporal {
		if nv, ok := adaptValue(ctx, v, &to.typ, to.stored); ok {
			return nv, nil
		}
		return v, nil
	}
	dt, ok, whole := types.TextDate(ctx.Context, &v)
	if ok && !to.placeholder && types.HasZeroInDate(dt.N) && ctx.SQLMode&types.ModeNoZeroInDate != 0 {
		ok = false
	}
	if !ok && to.placeholder { // it is converted to its own type, in which February may have 30 days
		dt, ok, whole = types.TextDate(&types.Context{SQLMode: types.ModeAllowInvalidDates}, &v)
	}
	if ok && !whole || !ok && to.placeholder {
		to.need.warn(ctx, &v)
	}
	switch {
	case ok:
		return fitDate(ctx, dt, &to.typ), nil
	case to.placeholder:
		return types.Null(), nil
	}
	return v, nil
}

// adaption is what a constant is converted to for a comparison, and how.
type adaption struct {
	typ         types.Type
	need        DateNeed
	placeholder bool // as in MySQL it is of that type: a text that is no date makes it NULL
	tolerant    bool // a text that is no date is not error 1525
	stored      bool // a number loses what a column of dates has no place for, as if it were stored there; not in the list of IN
}

// bitsOf returns the bytes of a text as a big-endian number, as a BIT column of type t stores it; ok is false if it has more bits than the
// column.
func bitsOf(v types.Value, t *types.Type) (types.Value, bool) {
	text := bytes.TrimLeft(v.B, "\x00")
	if len(text) > 8 {
		return v, false
	}
	n := types.Uint(hexNumber(text))
	return n, bits.Len64(n.Uint64()) <= int(t.Length)
}

// yearOf returns a number or text as a YEAR column stores it: 22 is 2022.
func yearOf(ctx *Ctx, v types.Value, t *types.Type) (types.Value, bool) {
	if v.K == types.KindDecimal || v.K == types.KindFloat {
		v = types.DecRound(ctx.decimal(&v), 0)
	}
	n, ok := exactInteger(ctx, v)
	if !ok || n.K == types.KindDecimal {
		return begunYear(ctx, v)
	}
	if v.K != types.KindString {
		v = n
	}
	year, err := types.Cast(nil, v, *t)
	if err != nil || year.IsNull() {
		return n, v.K == types.KindString
	}
	return year, true
}

// begunYear returns the year with which a text begins, as a YEAR column stores it where nobody asks for what is cut off: that of '2008-01-01' is 2008.
func begunYear(ctx *Ctx, v types.Value) (types.Value, bool) {
	if v.K != types.KindString || v.Coll.Charset().MinLen > 1 {
		return v, false
	}
	d, _, ok := types.ParseDecimal(bytes.TrimLeft(v.B, " \t\n\v\f\r"))
	if !ok {
		return v, false
	}
	n, ok := exactInteger(ctx, types.DecRound(d, 0))
	if !ok || !integral(n.K) {
		return v, false
	}
	switch year := n.N; {
	case year == 0 && len(v.B) == 4:
		return types.Int(0), true
	case year >= 0 && year < 70:
		return types.Int(2000 + year), true
	case year >= 70 && year < 100:
		return types.Int(1900 + year), true
	case year > 1900 && year <= 2155:
		return types.Int(year), true
	}
	return v, false
}

// adaptValue converts v to the kind of t. ok is false if that is not possible without loss.
func adaptValue(ctx *Ctx, v types.Value, t *types.Type, stored bool) (types.Value, bool) {
	switch classOf(t) {
	case classInt:
		switch {
		case t.ID == types.TypeBit && v.K == types.KindString:
			return bitsOf(v, t)
		case t.ID == types.TypeYear:
			return yearOf(ctx, v, t)
		}
		return exactInteger(ctx, v)
	case classFloat:
		if v.K == types.KindInt || v.K == types.KindUint || v.K == types.KindDecimal {
			return types.Float(ctx.float(&v)), true
		}
	case classDecimal:
		if v.K == types.KindString {
			// The exact number: as doubles, different decimals can be equal.
			d, rest, ok := types.ParseDecimal(bytes.TrimLeft(v.B, " \t\n\v\f\r"))
			return d, ok && len(bytes.TrimRight(rest, " ")) == 0 && v.Coll.Charset().MinLen == 1
		}
		if v.K == types.KindInt || v.K == types.KindUint || v.K == types.KindDecimal {
			d := ctx.decimal(&v)
			r := types.DecRound(d, int(t.Scale))
			return r, types.DecCompare(d, r) == 0
		}
	case classTime:
		return adaptTime(ctx, v, t)
	case classTemporal:
		if d, ok := adaptTemporal(ctx, v, t, stored); !ok || !stored || !v.IsNumeric() {
			return d, ok
		}
		return storedDate(ctx, v, t)
	}
	return v, false
}

// storedDate returns the number v as a column of type t, of dates, would hold it.
func storedDate(ctx *Ctx, v types.Value, t *types.Type) (types.Value, bool) {
	to := types.Type{ID: t.ID, Length: -1, Scale: max(t.Scale, 0)}
	if to.ID == types.TypeTimestamp {
		to.ID = types.TypeDatetime
	}
	d, err := types.Convert(&types.Context{SQLMode: ctx.SQLMode, Loc: ctx.Location(), Strict: true}, v, to, "", 1)
	if err != nil {
		return v, false
	}
	return fitDate(ctx, d, t), true
}

// adaptTime converts v to the TIME type t of a column, rounded to its scale: a date to its time of day, a text only if nothing else is in it.
func adaptTime(ctx *Ctx, v types.Value, t *types.Type) (types.Value, bool) {
	if v.K == types.KindBit || v.K == types.KindJSON || v.K == types.KindTime {
		return v, v.K == types.KindTime
	}
	quiet := NewCtx(&types.Context{SQLMode: ctx.SQLMode, Loc: ctx.Location()})
	time, ok := quiet.timeOf(&v)
	if !ok || v.K == types.KindString && quiet.WarningCount() > 0 {
		return v, false
	}
	rounded, err := types.Cast(quiet.Context, time, types.Type{ID: types.TypeTime, Length: -1, Scale: max(t.Scale, 0)})
	return rounded, err == nil && !rounded.IsNull()
}

func adaptTemporal(ctx *Ctx, v types.Value, t *types.Type, doubles bool) (types.Value, bool) {
	if v.K == types.KindFloat && !doubles || v.K == types.KindTime && ctx.Context == nil {
		return v, false
	}
	dt, ok := types.ToDatetime(ctx.Context, &v)
	if !ok || v.K == types.KindString && types.HasZeroInDate(dt.N) && ctx.SQLMode&types.ModeNoZeroInDate != 0 {
		return v, false
	}
	return fitDate(ctx, dt, t), true
}

// fitDate converts a date and time to a type of dates if nothing is lost.
func fitDate(ctx *Ctx, dt types.Value, t *types.Type) types.Value {
	switch t.ID {
	case types.TypeDate:
		if d, ok := types.ToDate(nil, &dt); ok && d.N == dt.N {
			return d
		}
	case types.TypeTimestamp:
		to := types.Type{ID: types.TypeTimestamp, Scale: 6, Length: -1}
		strict := types.Context{Loc: ctx.Location(), Strict: true}
		if ts, err := types.Convert(&strict, dt, to, "", 1); err == nil {
			ts.Scale = dt.Scale
			return ts
		}
	}
	return dt
}

// exactInteger returns v as an integer if it is one, and a text of another number as a decimal.
func exactInteger(ctx *Ctx, v types.Value) (types.Value, bool) {
	switch v.K {
	case types.KindInt, types.KindUint, types.KindBit:
		return v, true
	case types.KindFloat:
		f := v.Float64()
		if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return types.Int(int64(f)), true
		}
	case types.KindDecimal:
		if r := types.DecRound(v, 0); types.DecCompare(r, v) == 0 {
			if n, ok := types.DecToInt(r); ok {
				return types.Int(n), true
			}
			if n, ok := types.DecToUint(r); ok {
				return types.Uint(n), true
			}
		}
	case types.KindString:
		d, rest, ok := types.ParseDecimal(bytes.TrimLeft(v.B, " \t\n\v\f\r"))
		if ok && len(bytes.TrimRight(rest, " ")) == 0 {
			if n, whole := exactInteger(ctx, d); whole {
				return n, true
			}
			return d, true // a double could round to an integer that is not equal to it
		}
	}
	return v, false
}

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
