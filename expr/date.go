package expr

import (
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/types"
)

var dateTable = map[string]function{
	"now": {0, 1, FlagStatement, buildNow}, "current_timestamp": {0, 1, FlagStatement, buildNow}, "localtime": {0, 1, FlagStatement, buildNow},
	"localtimestamp": {0, 1, FlagStatement, buildNow}, "sysdate": {0, 1, FlagVolatile, buildNow}, "utc_timestamp": {0, 1, FlagStatement, buildNow},
	"curdate": {0, 0, FlagStatement, buildNow}, "current_date": {0, 0, FlagStatement, buildNow}, "utc_date": {0, 0, FlagStatement, buildNow},
	"curtime": {0, 1, FlagStatement, buildNow}, "current_time": {0, 1, FlagStatement, buildNow}, "utc_time": {0, 1, FlagStatement, buildNow},
	"date_add": {3, 3, 0, buildDateAdd}, "date_sub": {3, 3, 0, buildDateAdd}, "adddate": {2, 3, 0, buildDateAdd}, "subdate": {2, 3, 0, buildDateAdd},
	"timestampadd": {3, 3, 0, buildDateAdd}, "extract": {2, 2, 0, buildExtract}, "timestampdiff": {3, 3, 0, buildTimestampDiff},
	"year": {1, 1, 0, buildYear}, "month": {1, 1, 0, datePart(2, func(d types.DateTime) int { return d.Month })},
	"day": {1, 1, 0, datePart(2, dayOfMonth)}, "dayofmonth": {1, 1, 0, datePart(2, dayOfMonth)},
	"quarter": {1, 1, 0, datePart(2, func(d types.DateTime) int { return (d.Month + 2) / 3 })},
	"hour":    {1, 1, 0, clockPart(func(d types.DateTime) int { return d.Hour })}, "minute": {1, 1, 0, clockPart(func(d types.DateTime) int { return d.Minute })},
	"second":      {1, 1, 0, clockPart(func(d types.DateTime) int { return d.Second })},
	"microsecond": {1, 1, 0, clockPartOf(intType(21), func(d types.DateTime) int { return d.Micro })},
	"dayofweek":   {1, 1, 0, wholeDate(intType(1), func(d types.DateTime) int64 { return int64(types.Weekday(dayNumber(d))) + 1 })},
	"weekday":     {1, 1, 0, wholeDate(intType(1), func(d types.DateTime) int64 { return int64(types.Weekday(dayNumber(d))+6) % 7 })},
	"dayofyear":   {1, 1, 0, wholeDate(intType(3), func(d types.DateTime) int64 { return int64(types.DayOfYear(d)) })},
	"to_days":     {1, 1, 0, wholeDate(intType(7), func(d types.DateTime) int64 { return int64(dayNumber(d)) })},
	"to_seconds": {1, 1, 0, wholeDate(intType(21), func(d types.DateTime) int64 {
		return int64(dayNumber(d))*86400 + int64(d.Hour)*3600 + int64(d.Minute)*60 + int64(d.Second)
	})},
	"weekofyear": {1, 1, 0, wholeDate(intType(2), func(d types.DateTime) int64 { w, _ := types.Week(d, 3); return int64(w) })},
	"week":       {1, 2, 0, buildWeek}, "yearweek": {1, 2, 0, plain(intType(6), evalWeek)},
	"dayname": {1, 1, 0, buildDateName}, "monthname": {1, 1, 0, buildDateName},
	"last_day": {1, 1, 0, plain(dateType, evalLastDay)}, "makedate": {2, 2, 0, plain(dateType, evalMakeDate)},
	"from_days": {1, 1, 0, plain(dateType, evalFromDays)}, "date": {1, 1, 0, plain(dateType, evalDate)},
	"datediff": {2, 2, 0, plain(intType(7), evalDateDiff)}, "timestamp": {1, 2, 0, buildTimestamp},
	"unix_timestamp": {0, 1, 0, buildUnixTimestamp}, "from_unixtime": {1, 2, 0, buildFromUnixtime},
	"convert_tz": {3, 3, 0, buildConvertTZ}, "get_format": {2, 2, 0, asciiText(chars(17), evalGetFormat)},
	"period_add": {2, 2, 0, plain(intType(21), evalPeriod)}, "period_diff": {2, 2, 0, plain(intType(21), evalPeriod)},
	"time": {1, 1, 0, buildTime}, "timediff": {2, 2, 0, buildTimeDiff}, "addtime": {2, 2, 0, buildAddTime}, "subtime": {2, 2, 0, buildAddTime},
	"sec_to_time": {1, 1, 0, buildSecToTime}, "time_to_sec": {1, 1, 0, plain(intType(10), evalTimeToSec)}, "maketime": {3, 3, 0, buildMakeTime},
	"date_format": {2, 2, 0, buildDateFormat}, "time_format": {2, 2, 0, buildDateFormat}, "str_to_date": {2, 2, 0, buildStrToDate},
}

var dateType = types.Type{ID: types.TypeDate, Length: -1}

func dayOfMonth(d types.DateTime) int { return d.Day }

func dayNumber(d types.DateTime) int { return types.DayNumber(d.Year, d.Month, d.Day) }

// buildYear is YEAR(x), which has no sign, other than all other parts of dates: YEAR(a) - YEAR(b) below 0 is error 1690.
func buildYear(b *BuildContext, n *Node) error {
	if err := datePart(4, func(d types.DateTime) int { return d.Year })(b, n); err != nil {
		return err
	}
	part := n.eval
	n.typ = uintType(4)
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := part(ctx, n, row)
		if v.K == types.KindInt {
			v = types.Uint(uint64(v.N))
		}
		return v, err
	}
	return nil
}

// fspArg returns the argument of NOW(6), the number of fraction digits, which must be constant.
func fspArg(n *Node) (int8, error) {
	if len(n.args) == 0 {
		return 0, nil
	}
	v, ok := n.args[0].ConstValue()
	if !ok || !integral(v.K) || v.N < 0 || v.N > types.MaxFsp {
		return 0, types.NewError(1426, "Too-big precision "+n.args[0].String()+" specified for '"+n.name+"'. Maximum is 6.")
	}
	return int8(v.N), nil
}

// buildNow is NOW, SYSDATE, CURDATE, CURTIME and their UTC forms. All but SYSDATE return the same instant throughout a statement.
func buildNow(_ *BuildContext, n *Node) error {
	fsp, err := fspArg(n)
	if err != nil {
		return err
	}
	n.typ, n.coer, n.notNull = types.Type{ID: types.TypeDatetime, Length: -1, Scale: fsp}, CoerNumeric, true
	switch n.name {
	case "curdate", "current_date", "utc_date":
		n.typ = dateType
	case "curtime", "current_time", "utc_time":
		n.typ.ID = types.TypeTime
	}
	utc := n.name == "utc_timestamp" || n.name == "utc_date" || n.name == "utc_time"
	sys := n.name == "sysdate"
	n.eval = func(ctx *Ctx, n *Node, _ []types.Value) (types.Value, error) {
		t := ctx.CurrentTime()
		if sys {
			t = clock.Now().In(ctx.Location())
		}
		if utc {
			t = t.UTC()
		}
		unit := time.Second
		for range n.typ.Scale {
			unit /= 10
		}
		packed := types.PackTime(t.Truncate(unit))
		switch n.typ.ID {
		case types.TypeDate:
			d := types.UnpackDatetime(packed)
			return types.Date(types.PackDate(d.Year, d.Month, d.Day)), nil
		case types.TypeTime:
			return types.Time(timeOfDay(packed), uint8(n.typ.Scale)), nil
		}
		return types.Datetime(packed, uint8(n.typ.Scale)), nil
	}
	return nil
}

// date evaluates e as a packed datetime (see package types); ok is false for NULL and for a value that is no date.
func (ctx *Ctx) date(e Expr, row []types.Value) (packed int64, ok bool, err error) {
	v, err := e.eval(ctx, e, row)
	if err != nil || v.IsNull() {
		return 0, false, err
	}
	d, ok := ctx.datetimeOf(&v)
	return d.N, ok, nil
}

// datetimeOf is types.ToDatetime for functions of parts of a date. Under NO_ZERO_DATE the text of a zero date is not accepted; a zero date in a
// column is.
func (ctx *Ctx) datetimeOf(v *types.Value) (types.Value, bool) {
	d, ok := types.ToDatetime(ctx.Context, v)
	if ok && d.N == 0 && v.K == types.KindString && ctx.SQLMode&types.ModeNoZeroDate != 0 {
		ctx.badDate("datetime", v)
		return types.Null(), false
	}
	return d, ok
}

// datePart returns the builder of YEAR, MONTH, DAY or QUARTER, which accept dates whose month or day is zero.
func datePart(length int32, part func(types.DateTime) int) func(*BuildContext, *Node) error {
	return plain(intType(length), func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		packed, ok, err := ctx.date(n.args[0], row)
		if !ok {
			return types.Null(), err
		}
		return types.Int(int64(part(types.UnpackDatetime(packed)))), nil
	})
}

// clockPart returns the builder of HOUR, MINUTE or SECOND.
func clockPart(part func(types.DateTime) int) func(*BuildContext, *Node) error {
	return clockPartOf(intType(3), part)
}

func clockPartOf(t types.Type, part func(types.DateTime) int) func(*BuildContext, *Node) error {
	return plain(t, func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := n.args[0].eval(ctx, n.args[0], row)
		if err != nil || v.IsNull() {
			return types.Null(), err
		}
		t, ok := ctx.clockOf(&v)
		if !ok {
			return types.Null(), nil
		}
		return types.Int(int64(part(clockParts(max(t, -t))))), nil
	})
}

// wholeDate returns the builder of a function of a complete date: one whose month or day is zero gives NULL with warning 1292.
func wholeDate(t types.Type, f func(types.DateTime) int64) func(*BuildContext, *Node) error {
	return plain(t, func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		packed, ok, err := ctx.wholeDay(n.args[0], row)
		if !ok {
			return types.Null(), err
		}
		return types.Int(f(types.UnpackDatetime(packed))), nil
	})
}

// wholeDay is date for functions that need a complete date. For one whose month or day is zero it raises warning 1292.
func (ctx *Ctx) wholeDay(e Expr, row []types.Value) (packed int64, ok bool, err error) {
	packed, ok, err = ctx.date(e, row)
	if ok && (types.IsZeroDate(packed) || types.HasZeroInDate(packed)) {
		v := types.Datetime(packed, 0)
		ctx.badDate("datetime", &v)
		return 0, false, nil
	}
	return packed, ok, err
}

// buildWeek is WEEK, whose default mode is the variable default_week_format.
func buildWeek(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	if len(n.args) == 1 && b.SysVarType != nil {
		format, err := buildSysVar(b, ScopeAny, "default_week_format")
		if err != nil {
			return err
		}
		n.args = []Expr{n.args[0], format}
	}
	return plain(intType(2), evalWeek)(b, n)
}

// evalWeek is WEEK and YEARWEEK.
func evalWeek(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	packed, ok, err := ctx.wholeDay(n.args[0], row)
	if !ok {
		return types.Null(), err
	}
	mode := int64(0)
	if len(n.args) == 2 {
		var null bool
		if mode, null, err = ctx.int(n.args[1], row); err != nil || null && n.name == "week" {
			return types.Null(), err
		}
	}
	d := types.UnpackDatetime(packed)
	if n.name == "week" {
		week, _ := types.Week(d, int(mode&7))
		return types.Int(int64(week)), nil
	}
	week, year := types.Week(d, int(mode&7)|2)
	return types.Int(int64(year*100 + week)), nil
}

// buildDateName is DAYNAME and MONTHNAME.
func buildDateName(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	locale := b.locale()
	length := locale.DayLength()
	if n.name == "monthname" {
		length = locale.MonthLength()
	}
	n.typ, n.coer, n.ascii, n.eval = stringType(int32(length), b.collation()), CoerCoercible, locale.ASCII(), evalName
	return nil
}

func evalName(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	packed, ok, err := ctx.date(n.args[0], row)
	if !ok {
		return types.Null(), err
	}
	d := types.UnpackDatetime(packed)
	if n.name == "monthname" {
		if d.Month == 0 {
			return types.Null(), nil
		}
		return ctx.fromUTF8(n, []byte(ctx.Locale.Month(d.Month))), nil
	}
	if d.Month == 0 || d.Day == 0 {
		return ctx.badDate("datetime", &types.Value{K: types.KindDatetime, N: packed}), nil
	}
	return ctx.fromUTF8(n, []byte(ctx.Locale.Day(types.Weekday(dayNumber(d))))), nil
}

func evalLastDay(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	packed, ok, err := ctx.date(n.args[0], row)
	if !ok {
		return types.Null(), err
	}
	last, ok := types.LastDay(packed)
	if !ok {
		return ctx.badDate("datetime", &types.Value{K: types.KindDatetime, N: packed}), nil
	}
	return types.Date(last), nil
}

func evalMakeDate(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	year, null, err := ctx.int(n.args[0], row)
	if null {
		return types.Null(), err
	}
	day, null, err := ctx.int(n.args[1], row)
	if null || day <= 0 || year < 0 || year > 9999 || day > types.MaxDayNumber {
		return types.Null(), err
	}
	switch {
	case year < 70:
		year += 2000
	case year < 100:
		year += 1900
	}
	return dateOfDays(int64(types.DayNumber(int(year), 1, 1)) + day - 1), nil
}

// dateOfDays returns the date of a day number (types.DayNumber), or NULL if it is out of range.
func dateOfDays(n int64) types.Value {
	if n < 1 || n > types.MaxDayNumber {
		return types.Null()
	}
	return types.Date(types.PackDate(types.DateFromDays(int(n))))
}

func evalFromDays(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	days, null, err := ctx.int(n.args[0], row)
	if null {
		return types.Null(), err
	}
	if days < 1 || days > types.MaxDayNumber {
		return ctx.dateOverflow("date"), nil
	}
	return dateOfDays(days), nil
}

func evalDate(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || v.IsNull() {
		return types.Null(), err
	}
	return types.Cast(ctx.Context, v, dateType)
}

func evalDateDiff(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	a, ok, err := ctx.wholeDay(n.args[0], row)
	if !ok {
		return types.Null(), err
	}
	b, ok, err := ctx.wholeDay(n.args[1], row)
	if !ok {
		return types.Null(), err
	}
	return types.Int(int64(dayNumber(types.UnpackDatetime(a)) - dayNumber(types.UnpackDatetime(b)))), nil
}

// evalPeriod is PERIOD_ADD and PERIOD_DIFF; a month is written YYYYMM or YYMM.
func evalPeriod(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	p, null, err := ctx.int(n.args[0], row)
	if null {
		return types.Null(), err
	}
	q, null, err := ctx.int(n.args[1], row)
	if null {
		return types.Null(), err
	}
	valid := func(p int64) bool { return p > 0 && p%100 >= 1 && p%100 <= 12 }
	if !valid(p) || n.name == "period_diff" && !valid(q) {
		return types.Null(), types.Errorf(types.ErWrongArguments, n.name)
	}
	if n.name == "period_diff" {
		return types.Int(types.PeriodMonths(p) - types.PeriodMonths(q)), nil
	}
	return types.Int(types.MonthsPeriod(types.PeriodMonths(p) + q)), nil
}
