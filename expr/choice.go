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
		if !e.hidden || len(e.args) == 0 {
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
		t := &origin(r).typ
		same := t.ID == n.typ.ID && t.ZeroFill == n.typ.ZeroFill && (t.ID != types.TypeDecimal || t.Scale == n.typ.Scale)
		n.mixed = n.mixed || r.mixed || !same && t.ID != types.TypeNull
	}
}

// mixedText evaluates a mixed IF or CASE as text, which is that of the result in its own type.
func (ctx *Ctx) mixedText(e Expr, row []types.Value) (types.Value, error) {
	choose := ctx.chosen
	if e.name == "case_value" {
		choose = ctx.chosenByValue
	}
	r, err := choose(e, row)
	if r == nil {
		return types.Null(), err
	}
	return ctx.text(origin(r), row)
}

// dateArguments maps the names of functions that read dates or times to a bit set of those arguments.
var dateArguments = map[string]uint{
	"year": 1, "month": 1, "day": 1, "dayofmonth": 1, "dayofweek": 1, "weekday": 1, "dayofyear": 1, "week": 1, "yearweek": 1, "weekofyear": 1, "quarter": 1,
	"to_days": 1, "to_seconds": 1, "datediff": 1<<0 | 1<<1, "last_day": 1, "dayname": 1, "monthname": 1, "date": 1, "unix_timestamp": 1, "timestamp": 1<<0 | 1<<1,
	"date_add": 1, "date_sub": 1, "adddate": 1, "subdate": 1, "timestampadd": 1 << 2, "timestampdiff": 1<<1 | 1<<2, "convert_tz": 1, "date_format": 1,
	"hour": 1, "minute": 1, "second": 1, "microsecond": 1, "time_to_sec": 1, "time": 1, "time_format": 1, "timediff": 1<<0 | 1<<1,
}

// readDates makes the choices among the arguments of n that are read as dates show the chosen value itself, and not its text: a TIME is one of today,
// and a number is no text.
func (n *Node) readDates() {
	n.readTimes()
	where := dateArguments[n.name]
	for i := 0; where>>uint(i) != 0 && i < len(n.args); i++ {
		if a := n.args[i]; where>>uint(i)&1 != 0 && a.isChoice() && a.name != "nullif" {
			n.args = slices.Clone(n.args)
			if n.args[i] = rawChoice(a); n.name == "unix_timestamp" { // what is no date is NULL, and not 0
				n.args[i] = (*BuildContext)(nil).choiceAsDate(a, types.Type{ID: types.TypeDatetime, Length: -1, Scale: types.MaxFsp})
			}
		}
	}
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

// wholeNumber returns e where an integer is read from it: of sums of dates and times the digits are rounded, without a carry to minutes; of UNIX_TIMESTAMP the fraction is cut
// off.
func wholeNumber(e Expr) Expr {
	sum := e.IsCall("date_add", "date_sub") && e.typ.ID == types.TypeDatetime || e.IsCall("addtime", "subtime") && e.typ.IsTemporal()
	if e.mixed && !e.typ.IsInteger() {
		return rawChoice(e) // the integer that the chosen value is
	}
	cut := e.IsCall("unix_timestamp") // which leaves the fraction away
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
		switch r := origin(n.args[i]); {
		case r.isChoice():
			n.args[i] = b.choiceAsDate(r, t)
		case r.typ.ID != types.TypeNull:
			c := newCall("cast", []Expr{r})
			c.hidden, c.typ, c.coer, c.ascii, c.eval = true, t, CoerNumeric, true, evalCast
			n.args[i] = c
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
	switch {
	case isTextual(&e.typ) && e.IsCall("if", "case", "case_value", "nullif") && e.MayBeNull():
		return b.choiceAsDate(e, t)
	case t.ID == types.TypeDate:
		return dayOfText(e, dateNeed(other))
	}
	return e
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

// timeArguments maps the names of functions that read times to a bit set of those arguments; of a CASE or IF that is a DATETIME because only some of
// its results are times they read the chosen one. documentArguments are those that they read as the texts of documents.
var (
	timeArguments     = map[string]uint{"hour": 1, "minute": 1, "second": 1, "microsecond": 1, "time_to_sec": 1, "time": 1, "addtime": 1 << 1, "subtime": 1 << 1}
	documentArguments = map[string]uint{"addtime": 1, "subtime": 1, "timediff": 1<<0 | 1<<1, "time_format": 1}
)

// readTimes is readDates for functions of times.
func (n *Node) readTimes() {
	for i, a := range n.args {
		switch {
		case documentArguments[n.name]>>uint(i)&1 != 0 && a.typ.ID == types.TypeJSON:
			a = (*BuildContext)(nil).coerced(a, stringType(-1, types.Utf8mb4Bin))
		case timeArguments[n.name]>>uint(i)&1 != 0:
			a = asTimeArgument(a)
		}
		if a != n.args[i] {
			n.args = slices.Clone(n.args)
			n.args[i] = a
		}
	}
}

// asTimeArgument returns e where a time is read from it.
func asTimeArgument(e Expr) Expr {
	switch {
	case e.typ.ID == types.TypeDatetime && e.IsCall("if", "case", "case_value"):
		if slices.ContainsFunc(e.results(), func(r Expr) bool { return origin(r).typ.ID == types.TypeTime }) {
			return rawChoice(e)
		}
	case e.typ.ID == types.TypeJSON && e.IsCall("coalesce", "ifnull"):
		return (*BuildContext)(nil).coerced(e, stringType(-1, types.Utf8mb4Bin))
	}
	return e
}
