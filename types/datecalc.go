package types

import "time"

// DayNumber returns TO_DAYS: days since the year 0, 0 for a date without month and year.
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

// DateFromDays undoes DayNumber; numbers below 1 and beyond 9999-12-31 give zeros.
func DateFromDays(n int) (year, month, day int) {
	if n < 1 || n > MaxDayNumber {
		return 0, 0, 0
	}
	dayOfYear := n
	if n > yearDays(0) { // of the year 0 the number is the day of the year itself
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

// Weekday returns 0 for Sunday … 6 for Saturday of a day number.
func Weekday(dayNumber int) int { return (dayNumber + 6) % 7 }

// DayOfYear returns 1..366.
func DayOfYear(d DateTime) int {
	return DayNumber(d.Year, d.Month, d.Day) - DayNumber(d.Year, 1, 1) + 1
}

// Week modes (bits of the second argument of WEEK).
const (
	weekMonday  = 1 // weeks start on Monday
	weekYear    = 2 // weeks 1..53, the year may be the neighbour
	weekFirst   = 4 // week 1 is the first one with its first weekday in the year
	weekModeMax = 7
)

// Week returns WEEK(d, mode) and the year that the week belongs to. mode is 0..7
// as in the manual.
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

// calcWeekday returns 0..6 from Monday, or from Sunday.
func calcWeekday(dayNr int, sundayFirst bool) int {
	if sundayFirst {
		return Weekday(dayNr)
	}
	return (dayNr + 5) % 7
}

// LastDay returns the packed last day of the month of a packed date; ok is false
// for a zero month.
func LastDay(packed int64) (int64, bool) {
	d := UnpackDatetime(packed)
	if d.Month == 0 {
		return 0, false
	}
	return PackDate(d.Year, d.Month, DaysInMonth(d.Year, d.Month)), true
}

// MicrosOf returns a packed datetime as microseconds since day number 0; dates
// with zero parts count as TO_DAYS has them.
func MicrosOf(packed int64) int64 {
	d := UnpackDatetime(packed)
	return int64(DayNumber(d.Year, d.Month, d.Day))*microsPerDay + d.timeOfDay()
}

// PackedFromMicros undoes MicrosOf; ok is false outside the years 0..9999.
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

// roundMicros rounds us to fsp digits, half up; with truncate it cuts.
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

// RoundDatetime rounds a packed datetime to fsp digits; ok is false when that
// leaves the year 9999.
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

// UnixMicros returns the instant of a packed datetime in the session zone, as
// UNIX_TIMESTAMP sees it; 0 before the first TIMESTAMP and behind MaxUnixMicros.
func UnixMicros(ctx *Context, packed int64) int64 {
	us, _, ok := unixFromPacked(packed, ctx.Location(), MaxUnixMicros)
	if !ok {
		return 0
	}
	return us
}

// FromUnixMicros returns the packed datetime of an instant in the session zone.
func FromUnixMicros(ctx *Context, us int64) int64 {
	return PackTime(time.UnixMicro(us).In(ctx.Location()))
}

// ConvertZone moves a packed datetime from one zone to another (CONVERT_TZ);
// before the first TIMESTAMP and behind MaxUnixMicros it stays.
func ConvertZone(packed int64, from, to *time.Location) int64 {
	us, _, ok := unixFromPacked(packed, from, MaxUnixMicros)
	if !ok || packed == 0 {
		return packed
	}
	return packedFromUnix(us, to)
}

// PeriodMonths turns YYMM or YYYYMM into months; MonthsPeriod undoes it.
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

// MonthsPeriod turns months into YYYYMM.
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
