package types

import "strings"

// IntervalUnit is the unit of INTERVAL, EXTRACT and TIMESTAMPDIFF.
type IntervalUnit uint8

// The units. Those after UnitYear are composite.
const (
	UnitMicrosecond IntervalUnit = iota
	UnitSecond
	UnitMinute
	UnitHour
	UnitDay
	UnitWeek
	UnitMonth
	UnitQuarter
	UnitYear
	UnitSecondMicrosecond
	UnitMinuteMicrosecond
	UnitMinuteSecond
	UnitHourMicrosecond
	UnitHourSecond
	UnitHourMinute
	UnitDayMicrosecond
	UnitDaySecond
	UnitDayMinute
	UnitDayHour
	UnitYearMonth
	numUnits
)

var unitNames = [numUnits]string{"MICROSECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH",
	"QUARTER", "YEAR", "SECOND_MICROSECOND", "MINUTE_MICROSECOND", "MINUTE_SECOND",
	"HOUR_MICROSECOND", "HOUR_SECOND", "HOUR_MINUTE", "DAY_MICROSECOND", "DAY_SECOND",
	"DAY_MINUTE", "DAY_HOUR", "YEAR_MONTH"}

// String returns the unit's name in SQL.
func (u IntervalUnit) String() string { return unitNames[u] }

// ParseIntervalUnit finds a unit by name, in any case and with SQL_TSI_ before it or not.
func ParseIntervalUnit(name string) (IntervalUnit, bool) {
	n := strings.TrimPrefix(strings.ToUpper(name), "SQL_TSI_")
	for u, s := range unitNames {
		if s == n {
			return IntervalUnit(u), true
		}
	}
	return 0, false
}

// HasTime reports whether the unit has a part shorter than a day, so that a DATE plus such
// an interval is a DATETIME.
func (u IntervalUnit) HasTime() bool {
	switch u {
	case UnitDay, UnitWeek, UnitMonth, UnitQuarter, UnitYear, UnitYearMonth:
		return false
	}
	return true
}

// HasMicros reports whether the unit includes microseconds.
func (u IntervalUnit) HasMicros() bool {
	switch u {
	case UnitMicrosecond, UnitSecondMicrosecond, UnitMinuteMicrosecond, UnitHourMicrosecond, UnitDayMicrosecond:
		return true
	}
	return false
}

// Composite reports whether the unit has several fields, as DAY_HOUR has.
func (u IntervalUnit) Composite() bool { return composites[u] != nil }

// Interval is an amount of time: calendar months and microseconds.
type Interval struct {
	Months int64
	Micros int64
}

// Neg returns the negative interval.
func (iv Interval) Neg() Interval { return Interval{-iv.Months, -iv.Micros} }

// unitMicros are the lengths of the simple units up to UnitWeek.
var unitMicros = [...]int64{1, microsPerSecond, microsPerMinute, microsPerHour, microsPerDay, 7 * microsPerDay}

// unitMonths are the months of the simple units from UnitMonth on.
var unitMonths = [...]int64{1, 3, 12}

// composites has the lengths of the fields of composite units, in microseconds or months.
var composites = map[IntervalUnit][]int64{
	UnitSecondMicrosecond: {microsPerSecond, 1},
	UnitMinuteMicrosecond: {microsPerMinute, microsPerSecond, 1},
	UnitMinuteSecond:      {microsPerMinute, microsPerSecond},
	UnitHourMicrosecond:   {microsPerHour, microsPerMinute, microsPerSecond, 1},
	UnitHourSecond:        {microsPerHour, microsPerMinute, microsPerSecond},
	UnitHourMinute:        {microsPerHour, microsPerMinute},
	UnitDayMicrosecond:    {microsPerDay, microsPerHour, microsPerMinute, microsPerSecond, 1},
	UnitDaySecond:         {microsPerDay, microsPerHour, microsPerMinute, microsPerSecond},
	UnitDayMinute:         {microsPerDay, microsPerHour, microsPerMinute},
	UnitDayHour:           {microsPerDay, microsPerHour},
	UnitYearMonth:         {12, 1},
}

// maxIntervalUnits is the largest number of months, so that products fit 64 bits. A sum with
// a larger one would be outside of the calendar anyway.
const maxIntervalUnits = 1 << 40

// compositeMax is the largest amount of each field of a composite unit, in microseconds or months, so that the sum of five fits 64 bits. It is
// 36 thousand years.
const compositeMax = 1 << 60

// ParseInterval returns INTERVAL v unit. For a composite unit, v is a text such as
// '1 10:20'. ok is false if the amount is too large.
func ParseInterval(ctx *Context, v *Value, unit IntervalUnit) (iv Interval, ok bool) {
	if fields := composites[unit]; fields != nil {
		p := scratch.Get().(*[]byte)
		text := AppendText((*p)[:0], ctx, v)
		iv, ok = parseComposite(text, fields, unit)
		putScratch(p, text)
		return iv, ok && iv.Months >= -maxIntervalUnits && iv.Months <= maxIntervalUnits
	}
	if unit == UnitSecond && v.K != KindInt && v.K != KindUint {
		return secondsInterval(ctx, v)
	}
	n := ToInt(ctx, v)
	switch {
	case unit >= UnitMonth:
		if n > maxIntervalUnits || n < -maxIntervalUnits {
			return iv, false
		}
		return Interval{Months: n * unitMonths[unit-UnitMonth]}, true
	case n != 0 && absInt(n) > uint64(1<<62)/uint64(unitMicros[unit]):
		return iv, false
	}
	return Interval{Micros: n * unitMicros[unit]}, true
}

// secondsInterval is ParseInterval for SECOND, whose amount may have a fraction; what is shorter than a microsecond is cut off.
func secondsInterval(ctx *Context, v *Value) (iv Interval, ok bool) {
	d := ToDecimal(ctx, v)
	if d.B != nil {
		return iv, false
	}
	d = rescale(&d, MaxFsp, roundTruncate)
	return Interval{Micros: d.N}, d.B == nil
}

// parseComposite parses up to len(fields) numbers, separated by any characters. Fewer
// numbers are the fields from the right; with more, ok is false. The last number of a unit
// with microseconds is a decimal fraction.
func parseComposite(s []byte, fields []int64, unit IntervalUnit) (iv Interval, ok bool) {
	var nums [5]uint64
	i, n := 0, 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	neg := i < len(s) && s[i] == '-'
	lastDigits := 0
	for n < len(fields) {
		for i < len(s) && !isDigit(s[i]) {
			i++
		}
		if i == len(s) {
			break
		}
		start := i
		for ; i < len(s) && isDigit(s[i]); i++ {
			nums[n] = min(nums[n]*10+uint64(s[i]-'0'), compositeMax+1)
		}
		lastDigits = i - start
		n++
	}
	if unit.HasMicros() && n > 0 {
		for ; lastDigits < MaxFsp; lastDigits++ {
			nums[n-1] *= 10 // it has at most five digits, so this does not overflow
		}
	}
	for ; i < len(s); i++ {
		if isDigit(s[i]) {
			return iv, false
		}
	}
	total := int64(0)
	for k := range n {
		length := fields[len(fields)-n+k]
		if nums[k] > compositeMax/uint64(length) {
			return iv, false
		}
		total += int64(nums[k]) * length
	}
	if neg {
		total = -total
	}
	if unit == UnitYearMonth {
		return Interval{Months: total}, true
	}
	return Interval{Micros: total}, true
}

// AddInterval adds iv to a packed datetime: first months, where the day is at most the last
// of the month, then microseconds. ok is false outside the years 0 to 9999 and for zero
// dates; the result in SQL is NULL then.
func AddInterval(packed int64, iv Interval) (out int64, ok bool) {
	if iv.Months != 0 {
		d := UnpackDatetime(packed)
		m := int64(d.Year)*12 + int64(d.Month) - 1 + iv.Months
		if m < 0 || m >= 10000*12 || d.Month == 0 {
			return 0, false
		}
		d.Year, d.Month = int(m/12), int(m%12)+1
		d.Day = min(d.Day, DaysInMonth(d.Year, d.Month))
		packed = PackDatetime(d)
	}
	if iv.Micros == 0 {
		return packed, iv.Months != 0 || !IsZeroDate(packed)
	}
	d := UnpackDatetime(packed)
	if d.Month == 0 || d.Day == 0 {
		return 0, false
	}
	return PackedFromMicros(MicrosOf(packed) + iv.Micros)
}

// DiffUnits returns TIMESTAMPDIFF(unit, a, b), the number of whole units from a to b, for a
// simple unit and packed datetimes.
func DiffUnits(unit IntervalUnit, a, b int64) int64 {
	if unit < UnitMonth {
		return (MicrosOf(b) - MicrosOf(a)) / unitMicros[unit]
	}
	neg := b < a
	if neg {
		a, b = b, a
	}
	x, y := UnpackDatetime(a), UnpackDatetime(b)
	months := int64(y.Year-x.Year)*12 + int64(y.Month-x.Month)
	if y.Day < x.Day || y.Day == x.Day && y.timeOfDay() < x.timeOfDay() {
		months--
	}
	if neg {
		months = -months
	}
	return months / unitMonths[unit-UnitMonth]
}

// Extract returns EXTRACT(unit FROM d).
func Extract(unit IntervalUnit, d DateTime) int64 {
	h, m, s, us := int64(d.Hour), int64(d.Minute), int64(d.Second), int64(d.Micro)
	day := int64(d.Day)
	switch unit {
	case UnitYear:
		return int64(d.Year)
	case UnitYearMonth:
		return int64(d.Year)*100 + int64(d.Month)
	case UnitQuarter:
		return int64(d.Month+2) / 3
	case UnitMonth:
		return int64(d.Month)
	case UnitWeek:
		w, _ := Week(d, 0)
		return int64(w)
	case UnitDay:
		return day
	case UnitDayHour:
		return day*100 + h
	case UnitDayMinute:
		return day*10000 + h*100 + m
	case UnitDaySecond:
		return day*1000000 + h*10000 + m*100 + s
	case UnitDayMicrosecond:
		return (day*1000000+h*10000+m*100+s)*1000000 + us
	case UnitHour:
		return h
	case UnitHourMinute:
		return h*100 + m
	case UnitHourSecond:
		return h*10000 + m*100 + s
	case UnitHourMicrosecond:
		return (h*10000+m*100+s)*1000000 + us
	case UnitMinute:
		return m
	case UnitMinuteSecond:
		return m*100 + s
	case UnitMinuteMicrosecond:
		return (m*100+s)*1000000 + us
	case UnitSecond:
		return s
	case UnitSecondMicrosecond:
		return s*1000000 + us
	}
	return us
}

// ExtractTime is Extract for a TIME of us microseconds. Hours can be more than 23, days are
// 0, and the result has the sign of the TIME.
func ExtractTime(unit IntervalUnit, us int64) int64 {
	neg := us < 0
	if neg {
		us = -us
	}
	sec := us / microsPerSecond
	d := DateTime{Hour: int(sec / 3600), Minute: int(sec / 60 % 60), Second: int(sec % 60), Micro: int(us % microsPerSecond)}
	n := Extract(unit, d)
	if neg {
		return -n
	}
	return n
}
