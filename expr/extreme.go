package expr

import (
	"math"
	"slices"

	"github.com/pandodb/pando/types"
)

// buildExtreme is GREATEST and LEAST. They compare numbers with strings as strings; dates with strings and numbers as dates, of which the result is
// a string.
func buildExtreme(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	cls, dates := classNull, false
	var live []Expr
	for _, a := range n.args {
		cls, dates = max(cls, classOf(&a.typ)), dates || dated(&a.typ)
		if a.typ.ID != types.TypeNull {
			live = append(live, a)
		}
	}
	c := &comparator{class: cls}
	where := make([]int, len(n.args))
	for i := range where {
		where[i] = i
	}
	if dates && !allTemporal(live) {
		return b.buildExtremeDate(n, where)
	}
	if cls == classJSON {
		c.class = classString
	}
	if err := b.unify(n, where); err != nil {
		return err
	}
	if isTextual(&n.typ) {
		c.coll, c.bytes = n.typ.Coll, bytewise(n.typ.Coll)
		c.class = classString
	} else {
		c.class = classOf(&n.typ)
	}
	c.mask = extremeMask(n)
	n.aux, n.eval = c, evalExtreme
	return nil
}

// extremeMask is when a value takes the place of those before it: of equal ones LEAST has the first and GREATEST the last, as MySQL does.
func extremeMask(n *Node) uint8 {
	if n.name == "least" {
		return maskLess
	}
	return maskGreater | maskEqual
}

func evalExtreme(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	c := n.aux.(*comparator)
	best := types.Null()
	for i, a := range n.args {
		v, err := a.eval(ctx, a, row)
		if err != nil || v.IsNull() {
			return types.Null(), err
		}
		if i == 0 {
			best = v
			continue
		}
		if order, ok := c.compare(ctx, &v, &best); ok && c.test(order) {
			best = v
		}
	}
	return best, nil
}

// extremeDate is the aux of GREATEST and LEAST over dates and other values: DATE if no date among them has a time of day, else DATETIME. As in
// MySQL, a text that is no date is the last of all DATEs, and the zero DATETIME; if that is the result, it is the extreme of the texts instead. A
// DECIMAL that is no date is the zero DATE, and a document in a column; any other document is like a text.
type extremeDate struct {
	typ  types.Type
	text *comparator
	// number says that as a number the result is that of the date, 20240131, and not what its text begins with: MySQL looks whether it is a VARCHAR.
	number bool
}

// noDate is a text that is no date among DATEs; see extremeDate. As text and number it is the date whose bits are all set.
const (
	noDate       = math.MaxInt64
	noDateText   = "16383-15-31"
	noDateNumber = 163831531
)

// buildExtremeDate is GREATEST or LEAST of arguments of which some are dates, and not all.
func (b *BuildContext) buildExtremeDate(n *Node, where []int) error {
	x := &extremeDate{typ: dateType, number: true}
	for _, a := range n.args {
		if a.typ.ID == types.TypeDatetime || a.typ.ID == types.TypeTimestamp {
			x.typ.ID = types.TypeDatetime
		}
	}
	if x.typ.ID == types.TypeDatetime {
		x.typ.Scale = 0
		for _, a := range n.args {
			x.typ.Scale = max(x.typ.Scale, b.fspOfDate(a))
		}
	}
	own := make([]Expr, len(n.args))
	for i, a := range n.args {
		switch {
		case a.typ.ID == types.TypeChar || a.typ.ID == types.TypeBinary: // it becomes a VARCHAR where fraction digits make it longer
			x.number = x.number && x.typ.Scale > 0
		case a.typ.IsBlob() || a.typ.ID == types.TypeJSON || isTextOfMoment(a):
			x.number = false
		}
		if own[i] = a; a.typ.ID == types.TypeYear {
			own[i] = yearAsDate(a, 1)
		}
	}
	texts := newCall(n.name, b.asTexts(own, &x.typ))
	if err := b.unify(texts, where); err != nil {
		return err
	}
	n.typ, n.coer, n.ascii, n.notNull = texts.typ, texts.coer, texts.ascii, false
	x.text = &comparator{class: classString, mask: extremeMask(n), coll: n.typ.Coll, bytes: bytewise(n.typ.Coll)}
	for i, a := range own {
		switch {
		case x.typ.ID == types.TypeDate && a.isChoice():
			own[i] = b.choiceAsDate(a, x.typ)
		case isTextual(&a.typ):
			own[i] = b.toCharset(a, n.typ.Coll)
		}
	}
	n.args, n.aux, n.eval = own, x, evalExtremeDate
	return nil
}

// asTexts returns nodes of the types that args have as texts of dates of type t, for the type of the result; they are not evaluated.
func (b *BuildContext) asTexts(args []Expr, t *types.Type) []Expr {
	out := make([]Expr, len(args))
	for i, a := range args {
		if out[i] = a; a.typ.ID == t.ID && a.typ.Scale == t.Scale || a.typ.ID == types.TypeNull {
			continue
		}
		n := newCall("date text", []Expr{a})
		n.hidden, n.coer, n.ascii = true, CoerNumeric, true
		n.typ = stringType(max(charLength(t), charLength(&a.typ)), b.collation())
		switch {
		case isTextual(&a.typ):
			n.coer, n.typ.Coll, n.ascii = a.coer, a.typ.Coll, a.ascii
		case a.typ.ID == types.TypeJSON:
			n.coer, n.typ.Coll, n.ascii = CoerImplicit, types.Utf8mb4Bin, false
		}
		out[i] = n
	}
	return out
}

// packed evaluates the arguments of n as dates and returns the extreme one, which may be noDate. best is the extreme argument's text if that is
// what decides; null is true if an argument is NULL.
func (x *extremeDate) packed(ctx *Ctx, n *Node, row []types.Value) (packed int64, best types.Value, null bool, err error) {
	for i, a := range n.args {
		v, err := a.eval(ctx, a, row)
		if err != nil || v.IsNull() {
			return 0, v, true, err
		}
		if numericSide(a) && origin(a).IsCall("case", "case_value", "if", "nullif") { // of these MySQL asks for a date, which a number may not be
			_, ok := types.ToDatetime(ctx.Context, &v)
			if _, lenient := x.lenient(ctx, &v); !ok && !lenient && (ctx.float(&v) < 0 || ctx.float(&v) >= 1) {
				return 0, types.Null(), true, nil
			}
		}
		this := x.read(ctx, &v, a)
		if i == 0 || x.text.test(orderInts(this, packed)) {
			packed = this
		}
		if x.typ.ID == types.TypeDate {
			continue
		}
		text := ctx.fromUTF8(n, ctx.textOfTyped(&v, &a.typ))
		if isTextual(&a.typ) {
			text = types.String(v.B, n.typ.Coll)
		}
		if order, _ := x.text.compare(ctx, &text, &best); i == 0 || x.text.test(order) {
			best = text
		}
	}
	return packed, best, false, nil
}

// lenient returns the number v as the date that it is among DATEs only: it may have any month and day up to 12 and 31, of a year that a small
// number does not tell, and its time of day is not looked at.
func (x *extremeDate) lenient(ctx *Ctx, v *types.Value) (packed int64, ok bool) {
	f := ctx.float(v)
	if x.typ.ID != types.TypeDate || !(f > -1 && f < numbersEnd) {
		return 0, false
	}
	n := int(f)
	if n >= daysEnd {
		n /= 1e6
	}
	switch {
	case n < 700100:
		n += 20000000
	case n <= 991231:
		n += 19000000
	}
	year, month, day := n/10000, n/100%100, n%100
	return types.PackDate(year, month, day), month <= 12 && day <= 31
}

// daysEnd is after the numbers that are days, and numbersEnd after those that are days with a time.
const (
	daysEnd    = 100000000
	numbersEnd = 100000000000000
)

// read returns v, a value of e, as a packed date.
func (x *extremeDate) read(ctx *Ctx, v *types.Value, e Expr) int64 {
	day := x.typ.ID == types.TypeDate
	if v.IsNumeric() {
		if d, ok := x.lenient(ctx, v); ok {
			return d
		}
		if f := ctx.float(v); !day && f > 0 && f < 1 { // the zero date and a fraction of a second
			return int64(f*1e6 + 0.5)
		}
	}
	zero := v.K == types.KindDecimal && !ctx.fitsInt(v)
	if day && v.K == types.KindJSON { // not its text
		switch d, ok := types.ToDate(ctx.Context, v); {
		case ok:
			return d.N
		case e.kind == kindColumn:
			return 0
		}
		return noDate
	}
	text := v.K == types.KindString || v.K == types.KindEnum || v.K == types.KindSet
	if v.K == types.KindJSON || v.K == types.KindBit {
		*v, text = types.String(ctx.textOfTyped(v, &e.typ), textCollation(v)), true
	}
	d, ok := types.ToDatetime(ctx.Context, v)
	switch {
	case ok && day && text && types.IsZeroDate(d.N) && ctx.SQLMode&types.ModeNoZeroDate != 0:
		return noDate
	case ok && day:
		d, _ = types.ToDate(nil, &d)
		return d.N
	case ok && !(text && types.HasZeroInDate(d.N) && ctx.SQLMode&types.ModeNoZeroInDate != 0):
		return d.N
	case day && !zero:
		return noDate
	}
	return 0
}

// fitsInt reports whether the decimal v is in the range of BIGINT.
func (ctx *Ctx) fitsInt(v *types.Value) bool {
	_, ok := types.DecToInt(types.DecTruncate(*v, 0))
	return ok
}

func evalExtremeDate(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	x := n.aux.(*extremeDate)
	packed, best, null, err := x.packed(ctx, n, row)
	switch {
	case null:
		return types.Null(), err
	case packed == noDate:
		return ctx.fromUTF8(n, []byte(noDateText)), nil
	case x.typ.ID == types.TypeDate:
		return ctx.fromUTF8(n, ctx.keep(types.AppendDate(ctx.scratch(), packed))), nil
	case packed == 0:
		return best, nil
	}
	return ctx.fromUTF8(n, ctx.keep(types.AppendDatetime(ctx.scratch(), packed, uint8(x.typ.Scale)))), nil
}

// extremeNumber returns e, which is GREATEST or LEAST over dates and other values, as a number of type t; as an integer without its fraction.
func extremeNumber(e Expr, t types.Type) Expr {
	n := newCall("date as number", []Expr{e})
	n.hidden, n.typ, n.coer, n.ascii = true, t, CoerNumeric, true
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		e := n.args[0]
		x := e.aux.(*extremeDate)
		packed, _, null, err := x.packed(ctx, e, row)
		if null {
			return types.Null(), err
		}
		v := types.Datetime(packed, types.MaxFsp)
		switch {
		case packed == noDate:
			v = types.Int(noDateNumber)
		case x.typ.ID == types.TypeDate:
			v = types.Date(packed)
		}
		switch d := ctx.decimal(&v); n.typ.Kind() {
		case types.KindInt:
			whole, _ := types.DecToInt(types.DecTruncate(d, 0))
			return types.Int(whole), nil
		case types.KindDecimal:
			return types.DecRound(d, int(n.typ.Scale)), nil
		}
		return types.Float(ctx.float(&v)), nil
	}
	return n
}

// extremeOfNumbers returns GREATEST or LEAST of texts and other values as the extreme of the numbers of type t that convert makes of them.
func extremeOfNumbers(e Expr, t types.Type, convert func(e Expr) Expr) Expr {
	n := newCall(e.name, make([]Expr, 0, len(e.args)))
	n.flags = e.flags
	for _, a := range e.args {
		n.args = append(n.args, convert(a))
	}
	n.typ, n.coer, n.ascii = t, CoerNumeric, true
	n.aux, n.eval = &comparator{class: classOf(&t), mask: extremeMask(n)}, evalExtreme
	return n
}

// isExtremeOfNumbers reports whether e is GREATEST or LEAST of texts and times or years that is the extreme of numbers where one is expected.
func isExtremeOfNumbers(e Expr) bool {
	return (e.typ.ID == types.TypeVarchar || e.typ.ID == types.TypeVarbinary) && e.IsCall("greatest", "least") && slices.ContainsFunc(e.args, isTimeOrYear) &&
		!slices.ContainsFunc(e.args, isTextOfMoment)
}

// isTextOfMoment reports whether e is a text that a function computed of a text as a date or time: such a text is a CHAR to MySQL.
func isTextOfMoment(e Expr) bool {
	return isTextual(&e.typ) && computed(origin(e)).IsCall("date_add", "date_sub", "addtime", "subtime")
}

// isExtremeDate reports whether e is GREATEST or LEAST over dates and other values that is a date as a number.
func isExtremeDate(e Expr) bool {
	x, ok := e.aux.(*extremeDate)
	return ok && x.number && e.IsCall("greatest", "least")
}
