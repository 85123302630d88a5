package expr

import (
	"bytes"
	"strings"

	"github.com/pandodb/pando/types"
)

// buildDateFormat is DATE_FORMAT and TIME_FORMAT.
func buildDateFormat(b *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	length := int32(255)
	if l := charLength(&n.args[1].typ); l >= 0 && l < 1000 {
		length = l * 10
	}
	if f, ok := n.args[1].ConstValue(); ok && f.K == types.KindString && len(f.B) < knownFormatMax {
		length = formattedLength(f.B)
	}
	n.typ, n.coer = stringType(length, b.collation()), CoerCoercible
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := n.args[0].eval(ctx, n.args[0], row)
		if err != nil || v.IsNull() {
			return types.Null(), err
		}
		f, err := ctx.textUTF8(n.args[1], row)
		if err != nil || f.IsNull() || len(f.B) == 0 {
			return types.Null(), err
		}
		var d types.DateTime
		neg := false
		if n.name == "time_format" {
			m, ok := ctx.momentOf(&v)
			if !ok || hasCalendar(f.B) {
				return types.Null(), nil
			}
			if d = types.UnpackDatetime(m.d); !m.date {
				neg, d = m.us < 0, clockParts(max(m.us, -m.us))
			}
		} else {
			packed, ok := ctx.datetimeOf(&v)
			if !ok {
				return types.Null(), nil
			}
			d = types.UnpackDatetime(packed.N)
		}
		var out []byte
		if neg {
			out = append(out, '-')
		}
		return ctx.formatted(n, out, d, f.B), nil
	}
	return nil
}

// hasCalendar reports whether a format has a part that TIME_FORMAT has no value for, even of a date: of the week, the day of the year, and the day with a suffix.
func hasCalendar(format []byte) bool {
	for i := 0; i+1 < len(format); i++ {
		if format[i] == '%' {
			if i++; bytes.IndexByte([]byte("WwaDjUuVvXx"), format[i]) >= 0 {
				return true
			}
		}
	}
	return false
}

// formatPieceBytes is how many bytes of a format are processed between two polls.
const formatPieceBytes = 16 << 10

// formatted appends d in the given format (DATE_FORMAT) to out and returns the text. A format can be as long as a packet, and the result several
// times that, so it works piece by piece.
func (ctx *Ctx) formatted(n *Node, out []byte, d types.DateTime, format []byte) types.Value {
	var part []byte
	for len(format) > 0 {
		k := formatPiece(format)
		var ok bool
		if part, ok = types.AppendDateFormat(part[:0], d, format[:k], ctx.Locale); !ok {
			return types.Null()
		}
		if format = format[k:]; len(format) == 0 && len(out) == 0 {
			return ctx.fromUTF8(n, part)
		}
		if ctx.tooLong(n, len(out)+len(part)) || !ctx.charge(0) {
			return types.Null()
		}
		out = ctx.extend(out, part)
	}
	return ctx.fromUTF8(n, ctx.fit(out))
}

// formatPiece returns the length of the first piece of a format, which does not end within a specifier.
func formatPiece(format []byte) int {
	k := min(len(format), formatPieceBytes)
	if percents := k - len(bytes.TrimRight(format[:k], "%")); percents%2 == 1 && k < len(format) {
		k++
	}
	return k
}

// knownFormatMax is the most bytes of a format for which the length of the result is computed.
const knownFormatMax = 1000

// formatLengths are the lengths in characters that MySQL assumes for the results of specifiers.
var formatLengths = map[byte]int32{'M': 64, 'W': 64, 'a': 32, 'b': 32, 'D': 4, 'Y': 4, 'x': 4, 'X': 4, 'j': 3, 'f': 6, 'H': 7, 'k': 7, 'r': 11, 'T': 8}

// formattedLength returns the most characters of a date in a constant format, as MySQL computes it.
func formattedLength(format []byte) (length int32) {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i == len(format)-1 {
			length++
			continue
		}
		i++
		switch known, listed := formatLengths[format[i]]; {
		case listed:
			length += known
		case strings.IndexByte("cdehIilmpSsUuVvy", format[i]) >= 0:
			length += 2
		default:
			length++
		}
	}
	return length
}

// buildStrToDate is STR_TO_DATE. The result is a DATE, TIME or DATETIME depending on the specifiers of the format; DATETIME(6) if the format is
// not constant.
func buildStrToDate(_ *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.typ, n.coer = types.Type{ID: types.TypeDatetime, Length: -1, Scale: types.MaxFsp}, CoerNumeric
	if f, ok := n.args[1].ConstValue(); ok && f.K == types.KindString {
		date, clock, micros := types.FormatParts(f.B)
		if !micros {
			n.typ.Scale = 0
		}
		switch {
		case !clock:
			n.typ = dateType
		case clock && !date:
			n.typ.ID = types.TypeTime
		}
	}
	n.eval = evalStrToDate
	return nil
}

func evalStrToDate(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	f, err := ctx.text(n.args[1], row)
	if err != nil || f.IsNull() {
		return types.Null(), err
	}
	d, clock, trailing, ok := types.DateByFormat(s.B, f.B, func() error {
		ctx.failed = ctx.poll()
		return ctx.failed
	})
	switch {
	case ctx.failed != nil:
		return types.Null(), ctx.failed
	case !ok:
	case n.typ.ID == types.TypeTime:
		if d.Minute > 59 || d.Second > 59 || d.Day > 0 && ctx.Context != nil && ctx.SQLMode&types.ModeNoZeroDate != 0 {
			ok = false
		}
	case d.Month > 12 || d.Hour > 23 || d.Minute > 59 || d.Second > 59 || d.Day > types.DaysInMonth(d.Year, max(d.Month, 0)):
		ok = false
	case ctx.Context != nil && ctx.SQLMode&types.ModeNoZeroDate != 0 && (d.Month == 0 || d.Day == 0):
		ok = false
	}
	if !ok {
		what, wrong := "datetime", s.B // "datetime" even for DATE and TIME
		if clock != nil {
			what, wrong = "time", clock
		}
		ctx.Warn(types.LevelWarning, types.ErWrongValueForType, what, wrong, n.name)
		return types.Null(), nil
	}
	if trailing {
		ctx.Warn(types.LevelWarning, types.ErTruncatedWrongValue, n.typ.Name(), s.B)
	}
	packed := types.PackDatetime(d)
	switch n.typ.ID {
	case types.TypeDate:
		return types.Date(types.PackDate(d.Year, d.Month, d.Day)), nil
	case types.TypeTime:
		ofDay := timeOfDay(types.PackDatetime(types.DateTime{Hour: d.Hour, Minute: d.Minute, Second: d.Second, Micro: d.Micro}))
		return types.Time(ofDay+int64(d.Day)*24*microsPerHour, uint8(n.typ.Scale)), nil
	}
	return types.Datetime(packed, uint8(n.typ.Scale)), nil
}
