package expr

import (
	"bytes"

	"github.com/pandodb/pando/types"
)

// buildTime is TIME(x): the time of day of a date, or x as a TIME.
func buildTime(b *BuildContext, n *Node) error {
	n.typ, n.coer = types.Type{ID: types.TypeTime, Length: -1, Scale: b.fspOfTime(n.args[0])}, CoerNumeric
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := n.args[0].eval(ctx, n.args[0], row)
		if err != nil || v.IsNull() {
			return types.Null(), err
		}
		t, ok := ctx.clockOf(&v)
		if !ok {
			return types.Null(), nil
		}
		return types.Time(t, uint8(n.typ.Scale)), nil
	}
	return nil
}

// timeOf returns v as a TIME with as many fraction digits as v has; ok is false if v is none. A text with a fraction is converted by types.Cast,
// because types.ToTime would take the digits of "12:00:00.5" for those of a date.
func (ctx *Ctx) timeOf(v *types.Value) (types.Value, bool) {
	if v.K != types.KindString || bytes.IndexByte(v.B, '.') < 0 {
		return types.ToTime(ctx.Context, v)
	}
	t, err := types.Cast(ctx.Context, *v, types.Type{ID: types.TypeTime, Length: -1, Scale: types.MaxFsp})
	if err != nil || t.IsNull() {
		return types.Null(), false
	}
	t.Scale = types.TimeDigits(v)
	return t, true
}

// moment is a datetime or a TIME, an argument of ADDTIME and TIMEDIFF.
type moment struct {
	us   int64 // microseconds since day 0 (types.MicrosOf), or of the TIME
	d    int64 // the datetime, packed
	date bool
	fsp  uint8
}

// moment evaluates e as a datetime or TIME; ok is false for NULL and for other values.
func (ctx *Ctx) moment(e Expr, row []types.Value) (m moment, ok bool, err error) {
	v, err := e.eval(ctx, e, row)
	if err != nil || v.IsNull() {
		return m, false, err
	}
	m, ok = ctx.momentOf(&v)
	return m, ok, nil
}

// momentOf is moment for a value that is not NULL.
func (ctx *Ctx) momentOf(v *types.Value) (m moment, ok bool) {
	number := v.IsNumeric() && ctx.float(v) >= 1e7
	if v.K == types.KindDate || v.K == types.KindDatetime || v.K == types.KindTimestamp || number || v.K == types.KindString && types.HasDate(v.B) {
		d, ok := types.ToDatetime(ctx.Context, v)
		return moment{types.MicrosOf(d.N), d.N, true, d.Scale}, ok
	}
	t, ok := ctx.timeOf(v)
	return moment{t.N, 0, false, t.Scale}, ok
}

// clampTime returns a TIME of us microseconds, limited to the range of TIME, with warning 1292 if it is outside.
func (ctx *Ctx) clampTime(us int64, fsp uint8) types.Value {
	if us > types.MaxTimeMicros || us < -types.MaxTimeMicros {
		v := types.Time(us, 0)
		ctx.warnText(types.ErTruncatedWrongValue, "Truncated incorrect time value: '"+string(ctx.textOf(&v))+"'")
		us = max(min(us, types.MaxTimeMicros), -types.MaxTimeMicros)
	}
	return types.Time(us, fsp)
}

func buildTimeDiff(b *BuildContext, n *Node) error {
	fsp := max(b.fspOfTime(n.args[0]), b.fspOfTime(n.args[1]))
	n.typ, n.coer = types.Type{ID: types.TypeTime, Length: -1, Scale: fsp}, CoerNumeric
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		a, ok, err := ctx.moment(n.args[0], row)
		if !ok {
			return types.Null(), err
		}
		b, ok, err := ctx.moment(n.args[1], row)
		if !ok || a.date != b.date {
			return types.Null(), err
		}
		return ctx.clampTime(a.us-b.us, uint8(n.typ.Scale)), nil
	}
	return nil
}

// buildAddTime is ADDTIME and SUBTIME. The result is a DATETIME for a date or datetime, a TIME for a TIME, and else a text.
func buildAddTime(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	x := n.args[0]
	fsp := max(fspOfArg(x), b.fspOfTime(n.args[1]))
	n.coer, n.ascii = CoerNumeric, true
	switch classOf(&x.typ) {
	case classTemporal:
		n.typ = types.Type{ID: types.TypeDatetime, Length: -1, Scale: fsp}
	case classTime:
		n.typ = types.Type{ID: types.TypeTime, Length: -1, Scale: fsp}
	default:
		n.typ, n.coer = stringType(29, b.collation()), CoerCoercible
	}
	n.eval = evalAddTime
	return nil
}

func evalAddTime(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	return evalAddTimeTo(ctx, n, row, n.typ.ID == types.TypeVarchar)
}

// evalAddTimeTo is evalAddTime with the result as a text or not.
func evalAddTimeTo(ctx *Ctx, n *Node, row []types.Value, text bool) (types.Value, error) {
	a, ok, err := ctx.moment(n.args[0], row)
	if !ok || a.date && (types.IsZeroDate(a.d) || types.HasZeroInDate(a.d)) {
		return types.Null(), err
	}
	v, err := n.args[1].eval(ctx, n.args[1], row)
	if err != nil || v.IsNull() {
		return types.Null(), err
	}
	b, ok := ctx.clockOf(&v) // the time of day, if it is a datetime
	if !ok {
		return types.Null(), nil
	}
	if n.name == "subtime" {
		b = -b
	}
	us := a.us + b
	fsp := uint8(0)
	if us%microsPerSecond != 0 {
		fsp = 6
	}
	if n.typ.ID == types.TypeDatetime {
		fsp = uint8(n.typ.Scale)
	}
	if !a.date && n.typ.ID == types.TypeTime && (us > types.MaxTimeMicros || us < -types.MaxTimeMicros) {
		return ctx.dateOverflow("time"), nil // a text is limited instead
	}
	if !a.date { // as text, a time has six decimals or none
		t := ctx.clampTime(us, fsp)
		if text {
			return n.textResult(ctx.keep(types.AppendTime(ctx.scratch(), t.N, fsp))), nil
		}
		return t, nil
	}
	packed, ok := types.PackedFromMicros(us)
	if !ok {
		return ctx.dateOverflow("datetime"), nil
	}
	if text {
		return n.textResult(ctx.keep(types.AppendDatetime(ctx.scratch(), packed, fsp))), nil
	}
	return types.Datetime(packed, fsp), nil
}

func buildSecToTime(_ *BuildContext, n *Node) error {
	n.typ, n.coer = types.Type{ID: types.TypeTime, Length: -1, Scale: fspOfArg(n.args[0])}, CoerNumeric
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := n.args[0].eval(ctx, n.args[0], row)
		if err != nil || v.IsNull() {
			return types.Null(), err
		}
		us, ok := ctx.secondsToMicros(&v)
		if !ok {
			us = types.MaxTimeMicros + 1
			if types.DecSign(ctx.decimal(&v)) < 0 {
				us = -us
			}
		}
		return ctx.clampTime(us, uint8(n.typ.Scale)), nil
	}
	return nil
}

// secondsToMicros returns the number of seconds v in microseconds, rounded; ok is false if it is out of the range of an int64.
func (ctx *Ctx) secondsToMicros(v *types.Value) (int64, bool) {
	d, err := types.DecMul(types.DecRound(ctx.decimal(v), types.MaxFsp), types.Decimal(microsPerSecond, 0))
	if err != nil {
		return 0, false
	}
	return types.DecToInt(d)
}

func evalTimeToSec(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || v.IsNull() {
		return types.Null(), err
	}
	t, ok := ctx.clockOf(&v)
	if !ok {
		return types.Null(), nil
	}
	return types.Int(t / microsPerSecond), nil
}

// buildMakeTime is MAKETIME(hour, minute, second).
func buildMakeTime(_ *BuildContext, n *Node) error {
	n.typ, n.coer = types.Type{ID: types.TypeTime, Length: -1, Scale: fspOfArg(n.args[2])}, CoerNumeric
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		h, null1, err1 := ctx.int(n.args[0], row)
		m, null2, err2 := ctx.int(n.args[1], row)
		s, err3 := n.args[2].eval(ctx, n.args[2], row)
		if null1 || null2 || s.IsNull() {
			return types.Null(), firstError(err1, err2, err3)
		}
		us, ok := ctx.secondsToMicros(&s)
		if !ok || types.DecSign(types.DecTruncate(ctx.decimal(&s), nanoDigits)) < 0 || m < 0 || m > 59 || us > 60*microsPerSecond || us == 60*microsPerSecond && types.DecCompare(ctx.decimal(&s), types.Decimal(60, 0)) >= 0 {
			return types.Null(), nil
		}
		const far = 1000 // hours beyond any TIME
		neg := h < 0
		h = max(min(h, far), -far)
		total := max(h, -h)*microsPerHour + m*microsPerMinute + us
		if neg {
			total = -total
		}
		return ctx.clampTime(total, uint8(n.typ.Scale)), nil
	}
	return nil
}
