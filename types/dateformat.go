package types

import "strconv"

// The names that STR_TO_DATE accepts.
var (
	monthNames = [12]string{"January", "February", "March", "April", "May", "June", "July",
		"August", "September", "October", "November", "December"}
	dayNames = [7]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
)

// AppendDateFormat appends DATE_FORMAT(d, format), in UTF-8, with the names of locale. ok is false if the result is
// NULL, as for the name of a month or weekday that the date does not have.
func AppendDateFormat(dst []byte, d DateTime, format []byte, locale *Locale) (out []byte, ok bool) {
	for i := 0; i < len(format); i++ {
		c := format[i]
		if c != '%' || i+1 == len(format) {
			dst = append(dst, c)
			continue
		}
		i++
		if dst, ok = appendFormatted(dst, &d, format[i], locale); !ok {
			return nil, false
		}
	}
	return dst, true
}

func appendFormatted(dst []byte, d *DateTime, c byte, locale *Locale) ([]byte, bool) {
	switch c {
	case 'M', 'b':
		if d.Month < 1 || d.Month > 12 {
			return nil, false
		}
		names := locale.orEnglish().months
		if c == 'b' {
			names = locale.orEnglish().shortMonths
		}
		return append(dst, names[d.Month-1]...), true
	case 'W', 'a':
		if d.Month == 0 && d.Year == 0 {
			return nil, false
		}
		names := locale.orEnglish().days
		if c == 'a' {
			names = locale.orEnglish().shortDays
		}
		return append(dst, names[Weekday(DayNumber(d.Year, d.Month, d.Day))]...), true
	case 'D':
		dst = strconv.AppendInt(dst, int64(d.Day), 10)
		return append(dst, ordinalSuffix(d.Day)...), true
	case 'U', 'u', 'V', 'v', 'X', 'x':
		return appendWeek(dst, d, c), true
	case 'w':
		if d.Month == 0 && d.Year == 0 {
			return nil, false
		}
		return append(dst, '0'+byte(Weekday(DayNumber(d.Year, d.Month, d.Day)))), true
	case 'j':
		return appendPadded(dst, DayOfYear(*d), 3), true
	}
	return appendFormattedPart(dst, d, c), true
}

func ordinalSuffix(day int) string {
	if day >= 10 && day <= 19 {
		return "th"
	}
	switch day % 10 {
	case 1:
		return "st"
	case 2:
		return "nd"
	case 3:
		return "rd"
	}
	return "th"
}

// appendWeek appends the week for %U, %u, %V or %v, or its year for %X or %x, which belong to %V and %v.
func appendWeek(dst []byte, d *DateTime, c byte) []byte {
	mode := 0
	switch c {
	case 'u':
		mode = 1
	case 'V', 'X':
		mode = 2
	case 'v', 'x':
		mode = 3
	}
	week, year := Week(*d, mode)
	if c == 'X' || c == 'x' {
		return appendPadded(dst, year, 4)
	}
	return appendPadded(dst, week, 2)
}

func appendFormattedPart(dst []byte, d *DateTime, c byte) []byte {
	hour12 := (d.Hour%24+11)%12 + 1
	switch c {
	case 'Y':
		return appendPadded(dst, d.Year, 4)
	case 'y':
		return appendPadded(dst, d.Year%100, 2)
	case 'm':
		return appendPadded(dst, d.Month, 2)
	case 'c':
		return strconv.AppendInt(dst, int64(d.Month), 10)
	case 'd':
		return appendPadded(dst, d.Day, 2)
	case 'e':
		return strconv.AppendInt(dst, int64(d.Day), 10)
	case 'H':
		return appendPadded(dst, d.Hour, 2)
	case 'k':
		return strconv.AppendInt(dst, int64(d.Hour), 10)
	case 'h', 'I':
		return appendPadded(dst, hour12, 2)
	case 'l':
		return strconv.AppendInt(dst, int64(hour12), 10)
	case 'i':
		return appendPadded(dst, d.Minute, 2)
	case 's', 'S':
		return appendPadded(dst, d.Second, 2)
	case 'f':
		return appendPadded(dst, d.Micro, MaxFsp)
	case 'p':
		return append(dst, amPM(d.Hour)...)
	case 'r':
		dst = appendClock(dst, hour12, d.Minute, d.Second)
		return append(append(dst, ' '), amPM(d.Hour)...)
	case 'T':
		return appendClock(dst, d.Hour, d.Minute, d.Second)
	}
	return append(dst, c)
}

func amPM(hour int) string {
	if hour%24 < 12 {
		return "AM"
	}
	return "PM"
}
