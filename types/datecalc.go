package types

import "time"

// DayNumber returns the result of TO_DAYS: days since the year 0, by the algorithm of MySQL's calc_daynr. It is 0 if year and month are 0.
func DayNumber(year, month, day int) int {
	if year == 0 && month == 0 {
		return 0
	}
	n := 365*year + 31*(month-1) + day
	y := year
	if month <= 2 {
		y--
	} else {
		n -= (month*4 + 23) / 10
	}
	return n + y/4 - ((y/100+1)*3)/4
}

// MaxDayNumber is TO_DAYS('9999-12-31').
const MaxDayNumber = 3652424

// DateFromDays is the inverse of DayNumber. For numbers below 1 and beyond MaxDayNumber it returns zeros.
func DateFromDays(n int) (year, month, day int) {
	if n < 1 || n > MaxDayNumber {
		return 0, 0, 0
	}
	dayOfYear := n
	if n > yearDays(0) { // in the year 0, the number is the day of the year
		year = n * 100 / 36525
		first := (((year-1)/100 + 1) * 3) / 4
		dayOfYear = n - year*365 - (year-1)/4 + first
		for days := yearDays(year); dayOfYear > days; days = yearDays(year) {
			dayOfYear -= days
			year++
		}
	}
	month = 1
	for dayOfYear > DaysInMonth(year, month) {
		dayOfYear -= DaysInMonth(year, month)
		month++
	}
	return year, month, dayOfYear
}

func yearDays(year int) int {
	if IsLeapYear(year) {
		return 366
	}
	return 365
}

// Weekday returns the day of the week of a day number: 0 for Sunday to 6 for Saturday.
func Weekday(dayNumber int) int { return (dayNumber + 6) % 7 }

// DayOfYear returns the day of the year, from 1 to 366.
func DayOfYear(d DateTime) int {
	return DayNumber(d.Year, d.Month, d.Day) - DayNumber(d.Year, 1, 1) + 1
}

// Bits of the second argument of WEEK. weekFirst is inverted for weeks that start on Sunday.
const (
	weekMonday  = 1 // weeks start on Monday
	weekYear    = 2 // weeks are 1 to 53 and may belong to the year before or after; else 0 to 53
	weekFirst   = 4 // week 1 is the first whose first day is in the year; else the first with four days in it
	weekModeMax = 7
)

// Week returns WEEK(d, mode) and the year to which the week belongs, by the algorithm of
// MySQL's calc_week. mode is 0 to 7, as in MySQL's manual.
func Week(d DateTime, mode int) (week, year int) {
	mode &= weekModeMax
	if mode&weekMonday == 0 {
		mode ^= weekFirst
	}
	dayNr := DayNumber(d.Year, d.Month, d.Day)
	jan1 := DayNumber(d.Year, 1, 1)
	monday := mode&weekMonday != 0
	ownYear := mode&weekYear != 0
	firstWeekday := mode&weekFirst != 0
	year = d.Year
	weekday := calcWeekday(jan1, !monday)
	if d.Month == 1 && d.Day <= 7-weekday {
		if !ownYear && (firstWeekday && weekday != 0 || !firstWeekday && weekday >= 4) {
			return 0, year
		}
		ownYear = true
		year--
		days := yearDays(year)
		jan1 -= days
		weekday = (weekday + 53*7 - days) % 7
	}
	var days int
	if firstWeekday && weekday != 0 || !firstWeekday && weekday >= 4 {
		days = dayNr - (jan1 + (7 - weekday))
	} else {
		days = dayNr - (jan1 - weekday)
	}
	if ownYear && days >= 52*7 {
		weekday = (weekday + yearDays(year)) % 7
		if !firstWeekday && weekday < 4 || firstWeekday && weekday == 0 {
			return 1, year + 1
		}
	}
	return days/7 + 1, year
}

// calcWeekday returns the day of the week, from 0 for Monday, or for Sunday.
func calcWeekday(dayNr int, sundayFirst bool) int {
	if sundayFirst {
		return Weekday(dayNr)
	}
	return (dayNr + 5) % 7
}

// LastDay returns the last day of the month of a packed date; ok is false if the month is 0.
func LastDay(packed int64) (int64, bool) {
	d := UnpackDatetime(packed)
	if d.Month == 0 {
		return 0, false
	}
	return PackDate(d.Year, d.Month, DaysInMonth(d.Year, d.Month)), true
}

// MicrosOf returns a packed datetime as microseconds since day number 0 (DayNumber).
func MicrosOf(packed int64) int64 {
	d := UnpackDatetime(packed)
	return int64(DayNumber(d.Year, d.Month, d.Day))*microsPerDay + d.timeOfDay()
}

// PackedFromMicros is the inverse of MicrosOf; ok is false outside the years 0 to 9999.
func PackedFromMicros(us int64) (packed int64, ok bool) {
	day, rest := us/microsPerDay, us%microsPerDay
	if rest < 0 {
		day, rest = day-1, rest+microsPerDay
	}
	if day < 1 || day > MaxDayNumber {
		return 0, false
	}
	y, m, d := DateFromDays(int(day))
	sec := int(rest / microsPerSecond)
	return PackDatetime(DateTime{y, m, d, sec / 3600, sec / 60 % 60, sec % 60, int(rest % microsPerSecond)}), true
}

// roundMicros rounds us to fsp fraction digits of a second, half away from zero, or truncates.
func roundMicros(us int64, fsp uint8, truncate bool) int64 {
	unit := microsPerUnit[min(fsp, MaxFsp)]
	rest := us % unit
	us -= rest
	switch {
	case truncate:
	case rest*2 >= unit:
		us += unit
	case -rest*2 >= unit:
		us -= unit
	}
	return us
}

// RoundDatetime rounds or truncates a packed datetime to fsp fraction digits; ok is false if
// the result is after the year 9999.
func RoundDatetime(packed int64, fsp uint8, truncate bool) (out int64, ok bool) {
	micro := packed & packedMicroMask
	r := roundMicros(micro, fsp, truncate)
	if r < microsPerSecond {
		return packed - micro + r, true
	}
	packed -= micro
	d := UnpackDatetime(packed)
	if d.Second < 59 {
		return packed + 1<<packedMicroBits, true
	}
	if d.Month == 0 || d.Day == 0 {
		return packed, true
	}
	return PackedFromMicros(MicrosOf(packed) + microsPerSecond)
}

// UnixMicros returns a packed datetime in the session zone as microseconds since 1970, as
// UNIX_TIMESTAMP does: 0 before the first TIMESTAMP and after MaxUnixMicros.
func UnixMicros(ctx *Context, packed int64) int64 {
	us, _, ok := unixFromPacked(packed, ctx.Location(), MaxUnixMicros)
	if !ok {
		return 0
	}
	return us
}

// FromUnixMicros returns the packed datetime in the session zone of us microseconds since 1970.
func FromUnixMicros(ctx *Context, us int64) int64 {
	return PackTime(time.UnixMicro(us).In(ctx.Location()))
}

// ConvertZone converts a packed datetime from one zone to another (CONVERT_TZ). Before the
// first TIMESTAMP and after MaxUnixMicros it returns it unchanged, as MySQL does.
func ConvertZone(packed int64, from, to *time.Location) int64 {
	us, _, ok := unixFromPacked(packed, from, MaxUnixMicros)
	if !ok || packed == 0 {
		return packed
	}
	return packedFromUnix(us, to)
}

// PeriodMonths converts YYMM or YYYYMM to a number of months; MonthsPeriod is its inverse.
func PeriodMonths(p int64) int64 {
	if p == 0 {
		return 0
	}
	y := p / 100
	if y < 100 {
		y = int64(fullYear(int(y)))
	}
	return y*12 + p%100 - 1
}

// MonthsPeriod converts a number of months to YYYYMM.
func MonthsPeriod(m int64) int64 {
	if m == 0 {
		return 0
	}
	y := m / 12
	if y < 100 {
		y = int64(fullYear(int(y)))
	}
	return y*100 + m%12 + 1
}
