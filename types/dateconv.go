package types

import (
	"bytes"
	"math"
	"strings"
	"time"
)

// truncates reports whether fractions of seconds are truncated instead of rounded.
func (c *Context) truncates() bool { return c.mode()&ModeTimeTruncateFrac != 0 }

// today returns the packed current date, which is added to a TIME that is converted to a datetime.
func (c *Context) today() int64 {
	n := PackTime(c.CurrentTime())
	return n >> packedDateShift << packedDateShift
}

// dateProblem says why a value is not accepted as a date.
type dateProblem uint8

const (
	dateFine      dateProblem = iota
	dateIncorrect             // not a date at all
	dateInvalid               // a day that the month does not have
	dateZero                  // refused by NO_ZERO_DATE
	dateZeroPart              // refused by NO_ZERO_IN_DATE
	dateRange                 // outside the range of the type
)

// readDate converts v to a packed datetime with up to seven fraction digits: tenths is the
// digit after the microseconds.
func readDate(ctx *Context, v *Value) (packed int64, tenths int, flags parseFlags, p dateProblem) {
	switch v.K {
	case KindDate:
		return v.N, 0, parsedDate, dateFine
	case KindDatetime:
		return v.N, 0, parsedDate | parsedTime, dateFine
	case KindTimestamp:
		return packedFromUnix(v.N, ctx.Location()), 0, parsedDate | parsedTime, dateFine
	case KindTime:
		us := MicrosOf(ctx.today()) + v.N
		packed, ok := PackedFromMicros(us)
		if !ok {
			return 0, 0, 0, dateRange
		}
		return packed, 0, parsedDate | parsedTime, dateFine
	case KindString, KindEnum, KindSet:
		return readDateText(ctx, plainText(v))
	case KindBit: // its bytes
		return readDateText(ctx, AppendText(nil, ctx, v))
	case KindJSON:
		switch n := viewJSON(v.B); n.kind {
		case jsonString: // nothing may follow
			if packed, tenths, flags, p = readDateText(ctx, n.str); p == dateFine && flags&parsedTrailing != 0 {
				p = dateIncorrect
			}
			return packed, tenths, flags, p
		case jsonDate, jsonDatetime:
			return readDate(ctx, &n.num)
		}
		return 0, 0, 0, dateIncorrect
	}
	return readDateNumber(ctx, v)
}

func readDateText(ctx *Context, s []byte) (packed int64, tenths int, flags parseFlags, p dateProblem) {
	d, ok := parseDatetimeText(s)
	if !ok {
		return 0, 0, d.flags, dateIncorrect
	}
	packed = PackDatetime(d.DateTime)
	if p = checkDays(ctx, &d.DateTime); p != dateFine {
		return 0, 0, d.flags, p
	}
	if d.flags&parsedOffset != 0 {
		us, ok := PackedFromMicros(MicrosOf(packed) - int64(d.offset)*microsPerMinute)
		if !ok {
			return 0, 0, d.flags, dateRange
		}
		t, ok := ToTimeIn(us, time.UTC)
		if !ok {
			return 0, 0, d.flags, dateIncorrect
		}
		packed = PackTime(t.In(ctx.Location()))
	}
	return packed, d.nanos, d.flags, dateFine
}

func readDateNumber(ctx *Context, v *Value) (packed int64, tenths int, flags parseFlags, p dateProblem) {
	dec := ToDecimal(nil, v)
	whole, ok := DecToInt(DecTruncate(dec, 0))
	if !ok || whole < 0 {
		return 0, 0, 0, dateIncorrect
	}
	d, hasTime, ok := datetimeFromNumber(whole)
	if !ok {
		return 0, 0, 0, dateIncorrect
	}
	flags = parsedDate
	if hasTime {
		flags |= parsedTime
		n := fractionOf(v, &dec, whole)
		d.Micro, tenths = int(n/10), int(n%10)
	}
	if p = checkDays(ctx, &d); p != dateFine {
		return 0, 0, flags, p
	}
	return PackDatetime(d), tenths, flags, dateFine
}

// fractionOf returns the fraction of the number v, which is dec and has whole before its point, in tenths of microseconds: that of a double is rounded to
// nanoseconds first, as in MySQL.
func fractionOf(v, dec *Value, whole int64) int64 {
	if v.K == KindFloat {
		const nanos = 1e9
		n := math.RoundToEven((v.Float64() - float64(whole)) * nanos)
		return int64(max(min(n, nanos-1), 1-nanos)) / 100
	}
	rest, _ := DecSub(*dec, Decimal(whole, 0))
	n, _ := DecToInt(rescale(&rest, 7, roundTruncate).shifted(7))
	return n
}

// shifted returns the unscaled integer of v at the given scale.
func (v Value) shifted(scale uint8) Value {
	if v.Scale != scale {
		v = rescale(&v, int(scale), roundTruncate)
	}
	v.Scale = 0
	return v
}

// checkDays returns dateInvalid for a day that the month does not have, unless sql_mode allows it.
func checkDays(ctx *Context, d *DateTime) dateProblem {
	if d.Month == 0 || d.Day <= 28 || ctx.mode()&ModeAllowInvalidDates != 0 {
		return dateFine
	}
	if d.Day > DaysInMonth(d.Year, d.Month) {
		return dateInvalid
	}
	return dateFine
}

// checkZero applies NO_ZERO_DATE and NO_ZERO_IN_DATE.
func checkZero(mode SQLMode, packed int64) dateProblem {
	switch {
	case IsZeroDate(packed):
		if mode&ModeNoZeroDate != 0 {
			return dateZero
		}
	case HasZeroInDate(packed):
		if mode&ModeNoZeroInDate != 0 {
			return dateZeroPart
		}
	}
	return dateFine
}

// DateAllowed reports whether v begins with a date that ctx's sql_mode lets be stored. It warns of delimiters alone.
func DateAllowed(ctx *Context, v *Value) bool {
	packed, tenths, flags, p := readDate(ctx, v)
	if p != dateFine {
		return false
	}
	warnOdd(ctx, v, flags, 1)
	if checkZero(ctx.mode(), packed) != dateFine {
		return false
	}
	_, ok := roundDate(ctx, packed, tenths, fspOf(v))
	return ok
}

// roundDate rounds a packed datetime to fsp fraction digits; tenths is its seventh digit. As in MySQL it is rounded to microseconds first, so that
// 1.9994999 is 2 with three digits.
func roundDate(ctx *Context, packed int64, tenths int, fsp uint8) (int64, bool) {
	if ctx.truncates() {
		return RoundDatetime(packed, fsp, true)
	}
	if tenths >= 5 {
		if packed&packedMicroMask < microsPerSecond-1 {
			packed++
		} else {
			var ok bool
			if packed, ok = PackedFromMicros(MicrosOf(packed) + 1); !ok {
				return 0, false
			}
		}
	}
	return RoundDatetime(packed, fsp, false)
}

// fspOf returns how many fraction digits v has as a datetime.
func fspOf(v *Value) uint8 {
	switch v.K {
	case KindDatetime, KindTimestamp, KindTime, KindDecimal:
		return min(v.Scale, MaxFsp)
	case KindString:
		b := plainText(v)
		if d, ok := parseDatetimeText(b); ok && d.flags&parsedTime != 0 {
			return uint8(d.digits)
		}
		if _, t, ok := parseTimeText(b); ok {
			return uint8(t.digits)
		}
	case KindFloat:
		return MaxFsp
	case KindJSON:
		switch n := viewJSON(v.B); n.kind {
		case jsonString:
			s := String(n.str, Utf8mb4Bin)
			return fspOf(&s)
		case jsonTime, jsonDatetime:
			return MaxFsp
		}
	}
	return 0
}

func warnIncorrect(ctx *Context, what string, v *Value) {
	if v.K == KindJSON {
		ctx.Warn(LevelWarning, ErInvalidJSONValueForCast, jsonCastName(what), ctx.jsonName(), 1)
		return
	}
	if ctx != nil {
		text := textOf(ctx, v)
		ctx.AddError(LevelWarning, incorrectValue(what, text))
	}
}

// jsonCastName returns the name of a type in warnings about JSON values.
func jsonCastName(what string) string {
	if what == "datetime" {
		return "DATETIME/TIMESTAMP"
	}
	return strings.ToUpper(what)
}

// incorrectValue returns error 1292 with its other text, "Incorrect" instead of "Truncated incorrect".
func incorrectValue(what string, text any) *Error {
	return NewError(ErTruncatedWrongValue, string(appendFormat(nil, "Incorrect %.32s value: '%.128s'", []any{what, text})))
}

// ToDatetime returns v as KindDatetime, with as many fraction digits as v has. If v is no
// date, ok is false and there is a warning, 1292 or 3156; the result in SQL is NULL. Zero
// dates are accepted.
func ToDatetime(ctx *Context, v *Value) (out Value, ok bool) {
	if v.K == KindDatetime {
		return *v, true
	}
	packed, tenths, flags, p := readDate(ctx, v)
	if p != dateFine {
		warnIncorrect(ctx, "datetime", v)
		return Value{}, false
	}
	warnOdd(ctx, v, flags, 1)
	if flags&parsedTrailing != 0 {
		ctx.Warn(LevelWarning, ErTruncatedWrongValue, "datetime", v.B)
	}
	fsp := fspOf(v)
	if packed, ok = roundDate(ctx, packed, tenths, fsp); !ok {
		warnIncorrect(ctx, "datetime", v)
		return Value{}, false
	}
	return Datetime(packed, fsp), true
}

// TextDate is ToDatetime of a text that is compared with a date, without warnings: whole says that it is nothing but a date.
func TextDate(ctx *Context, v *Value) (out Value, ok, whole bool) {
	packed, tenths, flags, p := readDate(ctx, v)
	fsp := fspOf(v)
	if ok = p == dateFine; ok {
		packed, ok = roundDate(ctx, packed, tenths, fsp)
	}
	if !ok {
		return Value{}, false, false
	}
	return Datetime(packed, fsp), true, flags&parsedTrailing == 0
}

// ToDate is ToDatetime without the time of day: it returns KindDate.
func ToDate(ctx *Context, v *Value) (out Value, ok bool) {
	if v.K == KindDate {
		return *v, true
	}
	packed, tenths, flags, p := readDate(ctx, v)
	if p == dateFine && hasText(v.K) { // a number is not rounded to the next day
		if packed, ok = roundDate(ctx, packed, tenths, MaxFsp); !ok {
			p = dateRange
		}
	}
	if p != dateFine {
		what := "datetime"
		if v.K == KindJSON {
			what = "date"
		}
		warnIncorrect(ctx, what, v)
		return Value{}, false
	}
	warnOdd(ctx, v, flags, 1)
	if flags&parsedTrailing != 0 {
		ctx.Warn(LevelWarning, ErTruncatedWrongValue, "datetime", v.B)
	}
	return Date(packed >> packedDateShift << packedDateShift), true
}

// readTime converts v to microseconds of a TIME. tenths is the digit after the microseconds, fsp the number of fraction digits of v.
func readTime(ctx *Context, v *Value) (us int64, tenths int, fsp uint8, flags parseFlags, ok bool) {
	switch v.K {
	case KindTime:
		return v.N, 0, fspOf(v), parsedTime, true
	case KindDate:
		return 0, 0, 0, parsedDate, true
	case KindDatetime:
		d := UnpackDatetime(v.N)
		return d.timeOfDay(), 0, fspOf(v), parsedDate | parsedTime, true
	case KindTimestamp:
		d := UnpackDatetime(packedFromUnix(v.N, ctx.Location()))
		return d.timeOfDay(), 0, fspOf(v), parsedDate | parsedTime, true
	case KindString, KindEnum, KindSet:
		return readTimeText(ctx, plainText(v))
	case KindBit: // its bytes
		return readTimeText(ctx, AppendText(nil, ctx, v))
	case KindJSON:
		switch n := viewJSON(v.B); n.kind {
		case jsonString: // nothing may follow, so that a date is no time; and a time has a colon
			us, tenths, fsp, flags, ok = readTimeText(ctx, n.str)
			return us, tenths, fsp, flags, ok && flags&(parsedTrailing|parsedOverflow) == 0 && (flags&parsedDate != 0 || bytes.IndexByte(n.str, ':') >= 0)
		case jsonTime:
			return readTime(ctx, &n.num)
		}
		return 0, 0, 0, 0, false
	}
	dec := ToDecimal(nil, v)
	whole, _ := DecToInt(DecTruncate(dec, 0))
	us, flags, ok = timeFromNumber(whole)
	if ok && flags&parsedOverflow == 0 {
		n := fractionOf(v, &dec, whole)
		us += n / 10
		if tenths = int(n % 10); tenths < 0 {
			tenths = -tenths
		}
	}
	return us, tenths, fspOf(v), flags, ok
}

// readTimeText is readTime for a text. It does not use fspOf, which takes 10:11:12.5 for a date.
func readTimeText(ctx *Context, text []byte) (us int64, tenths int, fsp uint8, flags parseFlags, ok bool) {
	us, t, ok := parseTimeText(text)
	if t.flags&parsedOffset != 0 { // the time of day in the session's zone
		packed, _, _, p := readDateText(ctx, text)
		d := UnpackDatetime(packed)
		us, ok = d.timeOfDay(), p == dateFine
	}
	return us, t.nanos, uint8(t.digits), t.flags, ok
}

// TimeDigits returns how many fraction digits the text v has that is read as a time.
func TimeDigits(v *Value) uint8 {
	_, t, _ := parseTimeText(plainText(v))
	return uint8(t.digits)
}

// roundTime rounds a TIME to fsp fraction digits and limits it to its range; cut is true if it is outside.
func roundTime(ctx *Context, us int64, tenths int, fsp uint8) (out int64, cut bool) {
	if tenths >= 5 && !ctx.truncates() { // then microseconds, see roundDate
		if us < 0 {
			us--
		} else {
			us++
		}
		cut = us > MaxTimeMicros || us < -MaxTimeMicros
	}
	us = roundMicros(us, fsp, ctx.truncates())
	switch {
	case us > MaxTimeMicros:
		return MaxTimeMicros, true
	case us < -MaxTimeMicros:
		return -MaxTimeMicros, true
	}
	return us, cut
}

// ToTime returns v as KindTime, with as many fraction digits as v has; see ToDatetime.
func ToTime(ctx *Context, v *Value) (out Value, ok bool) {
	if v.K == KindTime {
		return *v, true
	}
	us, tenths, fsp, flags, ok := readTime(ctx, v)
	if !ok || flags&parsedOverflow != 0 && v.IsNumeric() {
		warnIncorrect(ctx, "time", v)
		return Value{}, false
	}
	warnOdd(ctx, v, flags, 1)
	if flags&(parsedTrailing|parsedOverflow) != 0 {
		ctx.Warn(LevelWarning, ErTruncatedWrongValue, "time", textOf(ctx, v))
	}
	us, _ = roundTime(ctx, us, tenths, fsp)
	return Time(us, fsp), true
}
