package expr

import (
	"slices"

	"github.com/pandodb/pando/types"
)

// isChoice reports whether e is an IF, CASE or NULLIF whose type is text and of which a result is no constant.
func (n *Node) isChoice() bool {
	if !isTextual(&n.typ) {
		return false
	}
	switch {
	case n.IsCall("nullif"):
		return !IsConst(n.args[0])
	case n.IsCall("case", "case_value"):
		return true
	case n.IsCall("if"):
		return !IsConst(n.args[1]) || !IsConst(n.args[2])
	}
	return false
}

// origin returns e without conversions that are not in the SQL text, also if e is the constant that one made.
func origin(e Expr) Expr {
	for {
		if f, ok := e.aux.(*folded); ok && e.kind == kindConst && f.from.hidden {
			e = f.from
		}
		if !e.hidden || len(e.args) == 0 || e.loose { // Shown has a type of its own
			return e
		}
		e = e.args[0]
	}
}

// noteMixed sets mixed.
func (n *Node) noteMixed() {
	if isTextual(&n.typ) || n.typ.IsTemporal() || n.typ.ID == types.TypeJSON || n.typ.ID == types.TypeNull {
		return
	}
	for _, r := range n.results() {
		r = origin(r)
		t := &r.typ
		same := t.ID == n.typ.ID && t.ZeroFill == n.typ.ZeroFill && (t.ID != types.TypeDecimal || t.Scale == n.typ.Scale) && (t.Kind() != types.KindFloat || r.stored())
		n.mixed = n.mixed || r.mixed || !same && t.ID != types.TypeNull
	}
}

// mixedText evaluates a mixed IF, CASE or NULLIF, which is not NULL, as text: that of the result in its own type.
func (ctx *Ctx) mixedText(e Expr, row []types.Value) (types.Value, error) {
	choose := ctx.chosen
	switch e = computed(e); e.name {
	case "nullif":
		return ctx.text(e.args[0], row)
	case "case_value":
		choose = ctx.chosenByValue
	}
	r, err := choose(e, row)
	if r == nil {
		return types.Null(), err
	}
	return ctx.text(origin(r), row)
}

// momentArguments maps the names of functions that read dates or times to a bit set of those arguments.
var momentArguments = map[string]uint{
	"year": 1, "month": 1, "day": 1, "dayofmonth": 1, "dayofweek": 1, "weekday": 1, "dayofyear": 1, "week": 1, "yearweek": 1, "weekofyear": 1, "quarter": 1,
	"to_days": 1, "to_seconds": 1, "datediff": 1<<0 | 1<<1, "last_day": 1, "dayname": 1, "monthname": 1, "date": 1, "unix_timestamp": 1, "timestamp": 1<<0 | 1<<1,
	"date_add": 1, "date_sub": 1, "adddate": 1, "subdate": 1, "timestampadd": 1 << 2, "timestampdiff": 1<<1 | 1<<2, "convert_tz": 1, "date_format": 1, "extract": 1 << 1,
	"hour": 1, "minute": 1, "second": 1, "microsecond": 1, "time_to_sec": 1, "time": 1, "time_format": 1, "timediff": 1<<0 | 1<<1, "addtime": 1<<0 | 1<<1, "subtime": 1<<0 | 1<<1,
}

// readMoments makes the arguments of n that are read as dates or times what they are as such.
func (n *Node) readMoments(b *BuildContext) {
	where, texts := momentArguments[n.name], textArguments[n.name]
	for i := 0; where>>uint(i) != 0 && i < len(n.args); i++ {
		a := n.args[i]
		switch {
		case (texts>>uint(i)&1 != 0 || n.name == "time_format" && i == 0) && a.typ.ID == types.TypeJSON:
			a = b.coerced(a, stringType(-1, types.Utf8mb4Bin))
		case (texts>>uint(i)&1 != 0 || n.name == "time_format") && a.typ.ID == types.TypeYear: // the minutes and seconds that its digits are
		case texts>>uint(i)&1 != 0 && isCase(a) && (isTextual(&a.typ) || a.typ.IsTemporal()):
		case n.IsCall("extract", "time_format") && a.typ.IsTemporal(): // a datetime, also where the chosen value is a time
		case where>>uint(i)&1 != 0:
			a = asMoment(b, a)
		}
		if a != n.args[i] {
			n.args = slices.Clone(n.args)
			n.args[i] = a
		}
	}
}

// textArguments are those arguments of functions of times of which documents, and choices between values of several types, are read as texts.
var textArguments = map[string]uint{"addtime": 1, "subtime": 1, "timediff": 1<<0 | 1<<1}

// asMoment returns e where a date or time is read from it: of ADDTIME, SUBTIME and + INTERVAL over texts that is the date or time that they computed, of an
// IF or CASE what is chosen, and not their text; of a column of YEAR its first day; of a BIT that COALESCE chooses its number, of a document its text. Only what looks at the values may read
// it.
func asMoment(b *BuildContext, e Expr) Expr {
	c := computed(e)
	switch {
	case c.typ.ID == types.TypeVarchar && c.IsCall("addtime", "subtime", "date_add", "date_sub"):
		n := newCall("moment", []Expr{c})
		n.hidden, n.typ, n.coer, n.ascii, n.eval = true, c.typ, c.coer, true, evalMoment
		return foldHidden(b, n)
	case isCase(e) && slices.ContainsFunc(e.results(), func(r Expr) bool { r = origin(r); return r.typ.ID != e.typ.ID || asMoment(b, r) != r }):
		n := rawChoice(e)
		for i := n.firstResult(); i < len(n.args); i++ {
			if n.isResult(i) {
				n.args[i] = asMoment(b, n.args[i])
			}
		}
		return n
	case e.kind == kindColumn && e.typ.ID == types.TypeYear && !e.aggregated:
		return dayOfYear(e)
	case e.IsCall("nullif") && e.args[0].kind == kindColumn && e.typ.ID == types.TypeYear:
		return nullIfNumber(e, dayOfYear(e.args[0]))
	case e.IsCall("coalesce", "ifnull") && e.typ.ID == types.TypeBit:
		return b.coerced(e, uintType(21))
	case e.IsCall("coalesce", "ifnull") && e.typ.ID == types.TypeJSON:
		return b.coerced(e, stringType(-1, types.Utf8mb4Bin))
	}
	return e
}

// dayOfYear returns a column of YEAR as the first of January, with the type of the column: the result of + INTERVAL is a text, as of other numbers.
func dayOfYear(e Expr) Expr {
	n := newCall("first of year", []Expr{yearAsDate(e, 1)})
	n.hidden, n.coer, n.typ, n.ascii, n.notNull = true, CoerNumeric, e.typ, true, e.notNull
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := n.args[0].eval(ctx, n.args[0], row)
		if err != nil || v.IsNull() {
			return types.Null(), err
		}
		return types.Datetime(v.N, 0), nil
	}
	return n
}

// evalMoment evaluates a function whose result is a text as the date or time that it computed.
func evalMoment(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	c := n.args[0]
	if c.IsCall("addtime", "subtime") {
		return evalAddTimeTo(ctx, c, row, false)
	}
	return evalDateAddTo(ctx, c, row, false)
}

// rawChoice returns the choice e with its results as they are, of several types. Only what looks at the values may read it.
func rawChoice(e Expr) Expr {
	n := *e
	n.args = slices.Clone(e.args)
	n.batch, n.filter = nil, nil
	for i := n.firstResult(); i < len(n.args); i++ {
		if n.isResult(i) {
			if n.args[i] = origin(n.args[i]); n.args[i].isChoice() && n.args[i].name != "nullif" {
				n.args[i] = rawChoice(n.args[i])
			}
		}
	}
	return &n
}

// integerOf returns e where an operator or function reads an integer from it.
func integerOf(e Expr) Expr {
	if isCase(e) && (isTextual(&e.typ) || e.typ.IsTemporal()) && e.choosesNumbers() {
		return wholeChoice(e)
	}
	switch c := computed(e); {
	case isExtremeDate(c):
		return extremeNumber(c, intType(21))
	case isExtremeOfNumbers(c):
		return extremeOfNumbers(c, intType(21), toInteger)
	case c.IsCall("elt"):
		return eltNumber(c, intType(21), toInteger)
	case c.IsCall("nullif") && isTextual(&c.typ):
		if x := integerOf(c.args[0]); x != c.args[0] || isMember(x) {
			return nullIfNumber(c, x)
		}
	}
	return wholeNumber(asNumber(e))
}

// wholeChoice returns the choice e as the integer that the chosen value is.
func wholeChoice(e Expr) Expr {
	n := rawChoice(e)
	for i := n.firstResult(); i < len(n.args); i++ {
		if n.isResult(i) {
			n.args[i] = integerOf(n.args[i])
		}
	}
	if e.typ.IsNumeric() {
		return n
	}
	n.typ, n.coer, n.ascii = intType(21), CoerNumeric, true
	for i := n.firstResult(); i < len(n.args); i++ {
		if n.isResult(i) && n.args[i].typ.Kind() != n.typ.Kind() {
			n.args[i] = toNumber(n.args[i], n.typ)
		}
	}
	return n
}

// wholeNumber is integerOf that takes an IF or CASE whose result is a text as that text: of sums of dates and times, and of STR_TO_DATE, the digits are
// rounded, without a carry to minutes; of UNIX_TIMESTAMP the fraction is cut off.
func wholeNumber(e Expr) Expr {
	if c := computed(e); c != e && wholeNumber(c) != c {
		return wholeNumber(c)
	}
	if e.mixed && !e.typ.IsInteger() && e.name != "nullif" || e.typ.IsTemporal() && isCase(e) {
		return wholeChoice(e)
	}
	sum := e.IsCall("date_add", "date_sub", "addtime", "subtime") && e.typ.IsTemporal() || e.typ.ID == types.TypeDatetime && (e.IsCall("str_to_date") || e.IsCall("timestamp") && len(e.args) == 2)
	cut := e.IsCall("unix_timestamp")
	if e.typ.Scale <= 0 || !sum && !cut {
		return e
	}
	n := newCall("whole number", []Expr{e})
	n.hidden, n.typ, n.coer, n.ascii = true, intType(21), CoerNumeric, true
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := n.args[0].eval(ctx, n.args[0], row)
		if err != nil || v.IsNull() {
			return types.Null(), err
		}
		d := ctx.decimal(&v)
		if cut {
			d = types.DecTruncate(d, 0)
		}
		whole, _ := types.DecToInt(types.DecRound(d, 0))
		return types.Int(whole), nil
	}
	return n
}

// choiceAsDate returns the choice e with the chosen value read as a date of type t, and not as the date of its text: a TIME is one of today, and
// what is no date is NULL.
func (b *BuildContext) choiceAsDate(e Expr, t types.Type) Expr {
	if e.IsCall("nullif") {
		return b.coerced(e, t)
	}
	n := *e
	n.args = append([]Expr(nil), e.args...)
	n.typ, n.coer, n.ascii, n.notNull, n.batch, n.filter = t, CoerNumeric, true, false, nil, nil
	for i := n.firstResult(); i < len(n.args); i++ {
		if !n.isResult(i) {
			continue
		}
		switch r := asMoment(b, origin(n.args[i])); {
		case r.isChoice():
			n.args[i] = b.choiceAsDate(r, t)
		case r.typ.ID != types.TypeNull:
			n.args[i] = castTo(r, t)
		}
	}
	return &n
}

// besideDate converts e, which a comparison operator compares with other. As in MySQL, beside a date a choice that may be NULL is the date that the chosen
// value is, and NULL if that is none; any other text that is no constant is read without its time of day beside a DATE.
func (b *BuildContext) besideDate(e, other Expr) Expr {
	if classOf(&e.typ) != classString || classOf(&other.typ) != classTemporal || e.flags&other.flags&FlagColumn == 0 {
		return e
	}
	t := types.Type{ID: types.TypeDatetime, Length: -1, Scale: types.MaxFsp}
	if other.typ.ID == types.TypeDate {
		t = dateType
	}
	m := e
	if !isCase(e) {
		m = asMoment(b, e)
	}
	switch {
	case isTextual(&e.typ) && e.IsCall("if", "case", "case_value", "nullif") && e.MayBeNull():
		return b.choiceAsDate(e, t)
	case t.ID == types.TypeDate:
		return dayOfText(m, dateNeed(other))
	case m != e:
		return castTo(m, t)
	}
	return e
}

// castTo is a conversion that is not in the SQL text.
func castTo(e Expr, t types.Type) Expr {
	n := newCall("cast", []Expr{e})
	n.hidden, n.typ, n.coer, n.ascii, n.eval = true, t, CoerNumeric, true, evalCast
	return n
}

// IsDayOfText reports whether e is the date of a text that is compared with a DATE; without that conversion, the text would be a DATETIME.
func IsDayOfText(e Expr) bool { return e.IsCall("day of text") }

// dayOfText returns the date in the text e, and the zero date where there is none.
func dayOfText(e Expr, need DateNeed) Expr {
	n := newCall("day of text", []Expr{e})
	n.hidden, n.coer, n.typ, n.ascii, n.notNull, n.aux = true, CoerNumeric, dateType, true, e.notNull, &comparator{date: need}
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := n.args[0].eval(ctx, n.args[0], row)
		if err != nil || v.IsNull() {
			return types.Null(), err
		}
		packed, _ := n.aux.(*comparator).toDate(ctx, &v)
		d := types.Datetime(packed, 0)
		day, _ := types.ToDate(nil, &d)
		return day, nil
	}
	return n
}
