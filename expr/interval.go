package expr

import (
	"github.com/pandodb/pando/types"
)

// Microseconds per unit of time.
const (
	microsPerSecond = int64(1e6)
	microsPerMinute = 60 * microsPerSecond
	microsPerHour   = 60 * microsPerMinute
	microsPerDay    = 24 * microsPerHour
)

// unitOf returns the unit that the constant e names.
func unitOf(e Expr) (types.IntervalUnit, error) {
	v, ok := e.ConstValue()
	if ok && v.K == types.KindString {
		if u, ok := types.ParseIntervalUnit(string(v.B)); ok {
			return u, nil
		}
	}
	return 0, types.Errorf(types.ErWrongArguments, "INTERVAL")
}

// hasDate reports whether a unit has a part of days or longer.
func hasDate(u types.IntervalUnit) bool {
	switch u {
	case types.UnitDayMicrosecond, types.UnitDaySecond, types.UnitDayMinute, types.UnitDayHour:
		return true
	}
	return !u.HasTime()
}

// buildDateAdd is DATE_ADD, DATE_SUB, ADDDATE, SUBDATE and TIMESTAMPADD. The result is a DATE, DATETIME or TIME, depending on the type of the
// date and the unit; for other types of the date it is a text.
func buildDateAdd(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	args := append([]Expr(nil), n.args...)
	if n.name == "timestampadd" {
		args = []Expr{args[2], args[1], args[0]}
	}
	if len(args) == 2 { // ADDDATE(d, days)
		args = append(args, Literal(types.Text("DAY")))
	}
	u, err := unitOf(args[2])
	if err != nil {
		return err
	}
	x := args[0]
	t := types.Type{ID: types.TypeDatetime, Length: -1, Scale: max(x.typ.Scale, 0)}
	if u.HasMicros() {
		t.Scale = 6
	}
	switch d := fspOfArg(args[1]); {
	case u == types.UnitSecond && d > 0:
		t.Scale = max(t.Scale, d)
		args[1] = asDecimal(args[1])
	case !u.Composite():
		args[1] = integerOf(args[1])
	}
	switch {
	case x.typ.ID == types.TypeDate && !u.HasTime():
		t = types.Type{ID: types.TypeDate, Length: -1}
	case x.typ.ID == types.TypeTime && !hasDate(u):
		t.ID = types.TypeTime
	case !x.typ.IsTemporal():
		t = stringType(29, b.collation())
		n.coer = CoerCoercible
	}
	if t.ID != types.TypeVarchar {
		n.coer = CoerNumeric
	}
	n.args, n.typ, n.aux, n.ascii = args, t, u, true
	switch n.name {
	case "adddate", "timestampadd":
		n.name = "date_add"
	case "subdate":
		n.name = "date_sub"
	}
	n.eval = evalDateAdd
	return nil
}

func evalDateAdd(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	return evalDateAddTo(ctx, n, row, n.typ.ID == types.TypeVarchar)
}

// evalDateAddTo is evalDateAdd with the result as a text or not.
func evalDateAddTo(ctx *Ctx, n *Node, row []types.Value, text bool) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || v.IsNull() {
		return types.Null(), err
	}
	u := n.aux.(types.IntervalUnit)
	var k types.Value
	if u.Composite() { // a text of several numbers
		k, err = ctx.text(n.args[1], row)
	} else {
		k, err = n.args[1].eval(ctx, n.args[1], row)
	}
	if err != nil || k.IsNull() {
		return types.Null(), err
	}
	iv, ok := types.ParseInterval(ctx.Context, &k, u)
	if !ok {
		return ctx.dateOverflow("datetime"), nil
	}
	if n.name == "date_sub" {
		iv = iv.Neg()
	}
	if n.typ.ID == types.TypeTime {
		t, ok := ctx.timeOf(&v)
		sum := t.N + max(min(iv.Micros, 2*types.MaxTimeMicros), -2*types.MaxTimeMicros)
		if !ok || sum > types.MaxTimeMicros || sum < -types.MaxTimeMicros {
			return ctx.dateOverflow("time"), nil
		}
		fsp := uint8(0)
		if sum%microsPerSecond != 0 {
			fsp = 6
		}
		return types.Time(sum, fsp), nil // as text, it has six decimals or none
	}
	bare := v.K == types.KindDate && !(n.typ.ID == types.TypeVarchar && n.args[0].IsCall("if", "case", "case_value")) || !v.IsTemporal() && !hasClock(ctx.textOf(&v)) && !(v.K == types.KindJSON && types.JSONMarked(v.B))
	d, ok := types.ToDatetime(ctx.Context, &v)
	if !ok {
		return types.Null(), nil
	}
	if types.IsZeroDate(d.N) || types.HasZeroInDate(d.N) {
		if v.IsTemporal() {
			return types.Null(), nil // MySQL warns only if the date is not of a temporal type
		}
		return ctx.badDate("datetime", &v), nil
	}
	sum, ok := types.AddInterval(d.N, iv)
	if !ok {
		return ctx.dateOverflow("datetime"), nil
	}
	fsp := uint8(0)
	if types.UnpackDatetime(sum).Micro != 0 {
		fsp = 6
	}
	switch {
	case n.typ.ID == types.TypeDate:
		return types.Date(sum), nil
	case n.typ.ID == types.TypeDatetime:
		return types.Datetime(sum, uint8(n.typ.Scale)), nil
	case !text:
		return types.Datetime(sum, fsp), nil
	case bare && !u.HasTime():
		return n.textResult(ctx.keep(types.AppendDate(ctx.scratch(), sum))), nil
	}
	return n.textResult(ctx.keep(types.AppendDatetime(ctx.scratch(), sum, fsp))), nil
}

// hasClock reports whether the text of a date has a time of day, too.
func hasClock(s []byte) bool {
	digits := 0
	for i, c := range s {
		if c == ':' || (c == 'T' || c == ' ') && i > 0 && i < len(s)-1 {
			return true
		}
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	return digits > 8
}

// dateOverflow returns NULL and raises warning 1441.
func (ctx *Ctx) dateOverflow(what string) types.Value {
	ctx.warnText(1441, "Datetime function: "+what+" field overflow")
	return types.Null()
}

// badDate returns NULL and raises warning 1292.
func (ctx *Ctx) badDate(what string, v *types.Value) types.Value {
	ctx.warnText(types.ErTruncatedWrongValue, "Incorrect "+what+" value: '"+string(ctx.textOf(v))+"'")
	return types.Null()
}

// buildExtract is EXTRACT(unit FROM x).
func buildExtract(_ *BuildContext, n *Node) error {
	u, err := unitOf(n.args[0])
	if err != nil {
		return err
	}
	n.aux, n.typ, n.coer = u, intType(extractLength(u)), CoerNumeric
	n.eval = evalExtract
	return nil
}

// extractLength returns the display width that MySQL gives EXTRACT: BIGINT's for days with minutes or smaller units, and for hours or minutes
// with microseconds.
func extractLength(u types.IntervalUnit) int32 {
	switch {
	case u == types.UnitDayMinute, u == types.UnitDaySecond, u == types.UnitDayMicrosecond, u == types.UnitHourMicrosecond, u == types.UnitMinuteMicrosecond:
		return 21
	}
	return 9
}

func evalExtract(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[1].eval(ctx, n.args[1], row)
	if err != nil || v.IsNull() {
		return types.Null(), err
	}
	u := n.aux.(types.IntervalUnit)
	if hasDate(u) && !u.HasTime() || u.HasTime() && ctx.isPlainDate(&v) {
		d, ok := ctx.datetimeOf(&v)
		if !ok {
			return types.Null(), nil
		}
		return types.Int(types.Extract(u, types.UnpackDatetime(d.N))), nil
	}
	t, ok := ctx.clockOf(&v)
	if !ok {
		return types.Null(), nil
	}
	return types.Int(types.ExtractTime(u, t)), nil
}

// isPlainDate reports whether EXTRACT of units of time takes v for a date, and not for a time without one, in which days count as hours: a date, a text that is
// plainly one, and a number whose digits are.
func (ctx *Ctx) isPlainDate(v *types.Value) bool {
	switch v.K {
	case types.KindTime, types.KindJSON:
		return false
	case types.KindDate, types.KindDatetime, types.KindTimestamp:
		return true
	case types.KindString:
		return types.HasPlainDate(v.B)
	}
	if !types.HasPlainDate(ctx.textOf(v)) {
		return false
	}
	_, ok := types.ToDatetime(nil, v)
	return ok
}

// clockParts splits a TIME of us >= 0 microseconds; the hours may exceed 23.
func clockParts(us int64) types.DateTime {
	s := us / microsPerSecond
	return types.DateTime{Hour: int(s / 3600), Minute: int(s / 60 % 60), Second: int(s % 60), Micro: int(us % microsPerSecond)}
}

// clockOf returns v as the microseconds of a TIME; of a date and time, those since midnight.
func (ctx *Ctx) clockOf(v *types.Value) (int64, bool) {
	switch v.K {
	case types.KindDate:
		return 0, true
	case types.KindDatetime, types.KindTimestamp:
		d, ok := types.ToDatetime(ctx.Context, v)
		return timeOfDay(d.N), ok
	}
	t, ok := ctx.timeOf(v)
	return t.N, ok
}

// timeOfDay returns the microseconds since midnight of a packed datetime.
func timeOfDay(packed int64) int64 {
	d := types.UnpackDatetime(packed)
	return int64(d.Hour)*microsPerHour + int64(d.Minute)*microsPerMinute + int64(d.Second)*microsPerSecond + int64(d.Micro)
}
