package expr

import (
	"strings"

	"github.com/pandodb/pando/types"
)

// buildTimestampDiff is TIMESTAMPDIFF(unit, a, b): the number of whole units from a to b.
func buildTimestampDiff(_ *BuildContext, n *Node) error {
	u, err := unitOf(n.args[0])
	if err != nil {
		return err
	}
	if u > types.UnitYear {
		return types.Errorf(types.ErWrongArguments, "timestampdiff")
	}
	n.aux, n.typ, n.coer = u, intType(21), CoerNumeric
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		a, ok, err := ctx.wholeDay(n.args[1], row)
		if !ok {
			return types.Null(), err
		}
		b, ok, err := ctx.wholeDay(n.args[2], row)
		if !ok {
			return types.Null(), err
		}
		return types.Int(types.DiffUnits(n.aux.(types.IntervalUnit), a, b)), nil
	}
	return nil
}

// buildTimestamp is TIMESTAMP(x) and TIMESTAMP(x, time).
func buildTimestamp(b *BuildContext, n *Node) error {
	n.typ, n.coer = types.Type{ID: types.TypeDatetime, Length: -1, Scale: b.fspOfDate(n.args[0])}, CoerNumeric
	if len(n.args) == 2 {
		n.typ.Scale = max(n.typ.Scale, b.fspOfTime(n.args[1]))
	}
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		d, ok, err := ctx.date(n.args[0], row)
		if !ok {
			return types.Null(), err
		}
		if v := types.Datetime(d, types.MaxFsp); !types.DateAllowed(ctx.Context, &v) { // as CAST
			ctx.badDate("datetime", &v)
			return types.Null(), nil
		}
		if len(n.args) == 2 {
			v, err := n.args[1].eval(ctx, n.args[1], row)
			if err != nil || v.IsNull() {
				return types.Null(), err
			}
			t, ok := ctx.timeOf(&v)
			if !ok || types.IsZeroDate(d) || types.HasZeroInDate(d) {
				return types.Null(), nil
			}
			if d, ok = types.PackedFromMicros(types.MicrosOf(d) + t.N); !ok {
				return ctx.dateOverflow("datetime"), nil
			}
		}
		return ctx.roundedDatetime(d, n), nil
	}
	return nil
}

// roundedDatetime returns a packed datetime rounded to the fraction digits of n's type.
func (ctx *Ctx) roundedDatetime(packed int64, n *Node) types.Value {
	r, ok := types.RoundDatetime(packed, uint8(n.typ.Scale), false)
	if !ok {
		return ctx.dateOverflow("datetime")
	}
	return types.Datetime(r, uint8(n.typ.Scale))
}

// fspOfDate is fspOfArg where a date is read: a constant text has as many digits as are written if it is a date.
func (b *BuildContext) fspOfDate(e Expr) int8 {
	return b.fspOfText(e, func(_ *Ctx, v *types.Value) (types.Value, bool) {
		d, ok, _ := types.TextDate(b.context(), v)
		return d, ok
	})
}

// fspOfTime is fspOfArg where a time is read.
func (b *BuildContext) fspOfTime(e Expr) int8 { return b.fspOfText(e, (*Ctx).timeOf) }

func (b *BuildContext) fspOfText(e Expr, read func(*Ctx, *types.Value) (types.Value, bool)) int8 {
	if classOf(&e.typ) != classString || e.flags != 0 {
		return fspOfArg(e)
	}
	ctx := b.quietCtx()
	defer ctx.ResetArena()
	v, err := e.eval(ctx, e, nil)
	if err != nil || v.IsNull() {
		return types.MaxFsp
	}
	if v, ok := read(ctx, &v); ok {
		return int8(v.Scale)
	}
	if e.isHexLiteral() {
		return 0
	}
	return types.MaxFsp
}

// fspOfArg returns how many fraction digits e has as a time; a text has six.
func fspOfArg(e Expr) int8 {
	if e.isHexLiteral() || isHexNullIf(e) {
		return 0
	}
	switch classOf(&e.typ) {
	case classTemporal, classTime:
		return max(e.typ.Scale, 0)
	case classDecimal:
		return min(e.typ.Scale, types.MaxFsp)
	case classInt, classNull:
		return 0
	}
	return types.MaxFsp
}

// buildUnixTimestamp is UNIX_TIMESTAMP: an integer, or a decimal if the argument has fraction digits.
func buildUnixTimestamp(b *BuildContext, n *Node) error {
	n.coer = CoerNumeric
	if len(n.args) == 0 {
		n.flags |= FlagStatement
		n.typ, n.notNull = intType(21), true
		n.eval = func(ctx *Ctx, _ *Node, _ []types.Value) (types.Value, error) {
			return types.Int(ctx.CurrentTime().Unix()), nil
		}
		return nil
	}
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.typ = intType(21)
	if fsp := b.fspOfDate(n.args[0]); fsp > 0 {
		n.typ = decimalType(11+int(fsp), int(fsp))
	}
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := n.args[0].eval(ctx, n.args[0], row)
		if err != nil || v.IsNull() {
			return types.Null(), err
		}
		us := v.N
		if v.K != types.KindTimestamp {
			d, ok := types.ToDatetime(ctx.Context, &v)
			switch {
			case ok:
				us = types.UnixMicros(ctx.Context, d.N)
			case n.args[0].IsCall("if", "case", "case_value", "nullif"):
				return types.Null(), nil
			default:
				us = 0
			}
		}
		if n.typ.ID == types.TypeDecimal {
			return types.DecTruncate(types.Decimal(us, 6), int(n.typ.Scale)), nil
		}
		return types.Int(us / microsPerSecond), nil
	}
	return nil
}

// nanoDigits is how many digits behind the point FROM_UNIXTIME looks at: -0.000000001 is before 1970, less is not.
const nanoDigits = 9

// buildFromUnixtime is FROM_UNIXTIME(n[, format]).
func buildFromUnixtime(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.typ, n.coer = types.Type{ID: types.TypeDatetime, Length: -1, Scale: fspOfArg(n.args[0])}, CoerNumeric
	if len(n.args) == 2 {
		n.typ, n.coer = stringType(255, b.collation()), CoerCoercible
		if f, ok := n.args[1].ConstValue(); ok && f.K == types.KindString && len(f.B) < knownFormatMax {
			n.typ.Length = formattedLength(f.B)
		}
	}
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := n.args[0].eval(ctx, n.args[0], row)
		if err != nil || v.IsNull() {
			return types.Null(), err
		}
		d := types.DecRound(ctx.decimal(&v), nanoDigits)
		if types.DecSign(d) < 0 {
			return types.Null(), nil
		}
		d = types.DecRound(d, types.MaxFsp)
		scaled, err := types.DecMul(d, types.Decimal(microsPerSecond, 0))
		if err != nil {
			return types.Null(), nil
		}
		us, ok := types.DecToInt(scaled)
		if !ok || us < 0 || us > types.MaxUnixMicros {
			return types.Null(), nil
		}
		packed := types.FromUnixMicros(ctx.Context, us)
		if len(n.args) == 1 {
			return ctx.roundedDatetime(packed, n), nil
		}
		f, err := ctx.textUTF8(n.args[1], row)
		if err != nil || f.IsNull() {
			return types.Null(), err
		}
		return ctx.formatted(n, nil, types.UnpackDatetime(packed), f.B), nil
	}
	return nil
}

// buildConvertTZ is CONVERT_TZ(x, from, to).
func buildConvertTZ(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.typ, n.coer = types.Type{ID: types.TypeDatetime, Length: -1, Scale: b.fspOfDate(n.args[0])}, CoerNumeric
	n.flags |= FlagStatement // what a zone's name means may change, so it is not folded into a plan
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		d, ok, err := ctx.wholeDay(n.args[0], row)
		if !ok {
			return types.Null(), err
		}
		from, err := ctx.text(n.args[1], row)
		if err != nil || from.IsNull() {
			return types.Null(), err
		}
		to, err := ctx.text(n.args[2], row)
		if err != nil || to.IsNull() {
			return types.Null(), err
		}
		a, err1 := types.ParseTimeZone(string(from.B))
		z, err2 := types.ParseTimeZone(string(to.B))
		if err1 != nil || err2 != nil {
			return types.Null(), nil
		}
		return types.Datetime(types.ConvertZone(d, a, z), uint8(n.typ.Scale)), nil
	}
	return nil
}

// dateFormats are the results of GET_FORMAT by country, for DATE, DATETIME and TIME.
var dateFormats = map[string][3]string{
	"USA": {"%m.%d.%Y", "%Y-%m-%d %H.%i.%s", "%h:%i:%s %p"}, "JIS": {"%Y-%m-%d", "%Y-%m-%d %H:%i:%s", "%H:%i:%s"},
	"ISO": {"%Y-%m-%d", "%Y-%m-%d %H:%i:%s", "%H:%i:%s"}, "EUR": {"%d.%m.%Y", "%Y-%m-%d %H.%i.%s", "%H.%i.%s"},
	"INTERNAL": {"%Y%m%d", "%Y%m%d%H%i%s", "%H%i%s"},
}

func evalGetFormat(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	kind, err := ctx.textUTF8(n.args[0], row)
	if err != nil {
		return kind, err
	}
	country, err := ctx.textUTF8(n.args[1], row)
	if err != nil || country.IsNull() {
		return types.Null(), err
	}
	formats, ok := dateFormats[strings.ToUpper(string(country.B))]
	if !ok {
		return types.Null(), nil
	}
	at := map[string]int{"DATE": 0, "DATETIME": 1, "TIMESTAMP": 1, "TIME": 2}[strings.ToUpper(string(kind.B))]
	return n.textResult([]byte(formats[at])), nil
}
