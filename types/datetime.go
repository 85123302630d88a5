package types

import (
	"fmt"
	"time"
	_ "time/tzdata" // so that the machine need not have a tz database
)

// Packed dates and datetimes (Value.N of KindDate and KindDatetime):
//
//	year*13+month | day 5 bits | hour 5 | minute 6 | second 6 | microsecond 20
//
// so that integers have the order of time, and months and days can be 0.
const (
	packedMicroBits = 20
	packedMicroMask = 1<<packedMicroBits - 1
	packedTimeBits  = 17
	packedDateShift = packedMicroBits + packedTimeBits
	monthsPerYear   = 13 // from 0 to 12
)

// MaxTimeMicros is 838:59:59, the bound of TIME on both sides.
const MaxTimeMicros = (838*3600 + 59*60 + 59) * int64(1e6)

const (
	microsPerSecond = int64(1e6)
	microsPerMinute = 60 * microsPerSecond
	microsPerHour   = 60 * microsPerMinute
	microsPerDay    = 24 * microsPerHour
)

// DateTime is a datetime in parts. Month and Day may be 0.
type DateTime struct {
	Year, Month, Day     int
	Hour, Minute, Second int
	Micro                int
}

// PackDatetime returns the packed number of d.
func PackDatetime(d DateTime) int64 {
	ymd := int64(d.Year*monthsPerYear+d.Month)<<5 | int64(d.Day)
	hms := int64(d.Hour)<<12 | int64(d.Minute)<<6 | int64(d.Second)
	return (ymd<<packedTimeBits|hms)<<packedMicroBits | int64(d.Micro)
}

// PackDate returns the packed number of a date.
func PackDate(year, month, day int) int64 {
	return (int64(year*monthsPerYear+month)<<5 | int64(day)) << packedDateShift
}

// UnpackDatetime is the inverse of PackDatetime.
func UnpackDatetime(n int64) DateTime {
	ymd, hms := n>>packedDateShift, n>>packedMicroBits&(1<<packedTimeBits-1)
	ym := int(ymd >> 5)
	return DateTime{
		Year: ym / monthsPerYear, Month: ym % monthsPerYear, Day: int(ymd & 31),
		Hour: int(hms >> 12), Minute: int(hms >> 6 & 63), Second: int(hms & 63),
		Micro: int(n & packedMicroMask),
	}
}

// AppendDate appends a packed date as YYYY-MM-DD.
func AppendDate(dst []byte, n int64) []byte {
	d := UnpackDatetime(n)
	dst = appendPadded(dst, d.Year, 4)
	dst = append(dst, '-')
	dst = appendPadded(dst, d.Month, 2)
	dst = append(dst, '-')
	return appendPadded(dst, d.Day, 2)
}

// AppendDatetime appends a packed datetime with fsp fraction digits.
func AppendDatetime(dst []byte, n int64, fsp uint8) []byte {
	d := UnpackDatetime(n)
	dst = append(AppendDate(dst, n), ' ')
	dst = appendClock(dst, d.Hour, d.Minute, d.Second)
	return appendFraction(dst, d.Micro, fsp)
}

// AppendTime appends a TIME of us microseconds with fsp fraction digits.
func AppendTime(dst []byte, us int64, fsp uint8) []byte {
	if us < 0 {
		dst = append(dst, '-')
		us = -us
	}
	sec := us / microsPerSecond
	dst = appendClock(dst, int(sec/3600), int(sec/60%60), int(sec%60))
	return appendFraction(dst, int(us%microsPerSecond), fsp)
}

func appendClock(dst []byte, h, m, s int) []byte {
	dst = appendPadded(dst, h, 2)
	dst = append(dst, ':')
	dst = appendPadded(dst, m, 2)
	dst = append(dst, ':')
	return appendPadded(dst, s, 2)
}

func appendFraction(dst []byte, micro int, fsp uint8) []byte {
	if fsp == 0 {
		return dst
	}
	fsp = min(fsp, MaxFsp)
	dst = append(dst, '.')
	return appendPadded(dst, micro/int(microsPerUnit[fsp]), int(fsp))
}

// appendPadded appends n with at least width digits.
func appendPadded(dst []byte, n, width int) []byte {
	div := 1
	for i := 1; i < width; i++ {
		div *= 10
	}
	for n/div >= 10 {
		div *= 10
	}
	for ; div > 0; div /= 10 {
		dst = append(dst, '0'+byte(n/div%10))
	}
	return dst
}

// IsZeroDate reports whether all of year, month and day are 0.
func IsZeroDate(packed int64) bool { return packed>>packedDateShift == 0 }

// HasZeroInDate reports whether month or day is 0 in a date that is not zero.
func HasZeroInDate(packed int64) bool {
	if IsZeroDate(packed) {
		return false
	}
	d := UnpackDatetime(packed)
	return d.Month == 0 || d.Day == 0
}

// IsLeapYear reports whether year has a 29th of February. In MySQL the year 0 has none.
func IsLeapYear(year int) bool {
	return year%4 == 0 && (year%100 != 0 || year%400 == 0 && year != 0)
}

var monthDays = [13]int{31, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// DaysInMonth returns the number of days of a month; month 0 has 31.
func DaysInMonth(year, month int) int {
	if month == 2 && IsLeapYear(year) {
		return 29
	}
	return monthDays[month]
}

// ToTimeIn returns the instant of a packed datetime in a zone. ok is false if month or day
// is 0. In a gap, where clocks are put forward, it is the instant of the change, as in
// MySQL; where clocks are put back, the first of the two instants.
func ToTimeIn(packed int64, loc *time.Location) (t time.Time, ok bool) {
	t, _, ok = instantOf(packed, loc)
	return t, ok
}

// instantOf is ToTimeIn; gap is true if the local time is in a gap.
func instantOf(packed int64, loc *time.Location) (t time.Time, gap, ok bool) {
	d := UnpackDatetime(packed)
	if d.Month == 0 || d.Day == 0 {
		return time.Time{}, false, false
	}
	t = time.Date(d.Year, time.Month(d.Month), d.Day, d.Hour, d.Minute, d.Second, d.Micro*1000, loc)
	if t.Hour() == d.Hour && t.Minute() == d.Minute {
		return firstOf(t), false, true
	}
	// time.Date has returned an instant beside the gap: the nearer bound of its zone is the change.
	start, end := t.ZoneBounds()
	if start.IsZero() || !end.IsZero() && end.Sub(t) < t.Sub(start) {
		return end, true, true
	}
	return start, true, true
}

// firstOf returns the first instant with t's local time: where clocks are put back, there are two.
func firstOf(t time.Time) time.Time {
	start, _ := t.ZoneBounds()
	if start.IsZero() {
		return t
	}
	_, after := t.Zone()
	_, before := start.Add(-time.Nanosecond).Zone()
	back := time.Duration(before-after) * time.Second
	if back > 0 && t.Sub(start) < back {
		return t.Add(-back)
	}
	return t
}

// PackTime returns the packed datetime of t in its zone.
func PackTime(t time.Time) int64 {
	y, mo, da := t.Date()
	h, mi, s := t.Clock()
	return PackDatetime(DateTime{y, int(mo), da, h, mi, s, t.Nanosecond() / 1000})
}

// packedFromUnix returns the packed datetime of a KindTimestamp number.
func packedFromUnix(us int64, loc *time.Location) int64 {
	if us == 0 {
		return 0
	}
	return PackTime(time.UnixMicro(us).In(loc))
}

// MaxTimestampMicros is the largest TIMESTAMP: 2038-01-19 03:14:07.999999 UTC.
const MaxTimestampMicros = (int64(1)<<31)*microsPerSecond - 1

// MaxUnixMicros is the last instant of UNIX_TIMESTAMP, FROM_UNIXTIME and
// CONVERT_TZ: 3001-01-18 23:59:59.999999 UTC.
const MaxUnixMicros = 32536771200*microsPerSecond - 1

// unixFromPacked returns the KindTimestamp number of a packed datetime in loc, 0 for the
// zero datetime. ok is false before the first TIMESTAMP and after last; gap is true if the
// local time is in a gap.
func unixFromPacked(n int64, loc *time.Location, last int64) (us int64, gap, ok bool) {
	if n == 0 {
		return 0, false, true
	}
	t, gap, ok := instantOf(n, loc)
	if !ok {
		return 0, false, false
	}
	us = t.UnixMicro()
	return us, gap, us >= microsPerSecond && us <= last
}

// zoneNameMax is the most bytes of the name of a zone.
const zoneNameMax = 64

// ParseTimeZone returns the zone for a value of time_zone: an offset such as +05:30, UTC, or
// a name of the tz database. The caller handles SYSTEM. The error is 1298.
func ParseTimeZone(name string) (*time.Location, error) {
	if len(name) > zoneNameMax {
		return nil, Errorf(ErUnknownTimeZone, name)
	}
	if len(name) > 0 && (name[0] == '+' || name[0] == '-') {
		h, m, rest, ok := clockOffset(name[1:])
		if short := len(name) - 1; short > 1 && name[short-1] == ':' { // its minutes may have one digit
			h, m, rest, ok = clockOffset(name[1:short] + "0" + name[short:])
		}
		secs := h*3600 + m*60
		if !ok || rest || m > 59 || secs > 14*3600 || name[0] == '-' && secs >= 14*3600 {
			return nil, Errorf(ErUnknownTimeZone, name)
		}
		if name[0] == '-' {
			secs = -secs
		}
		sign := name[:1]
		if secs == 0 {
			sign = "+"
		}
		return time.FixedZone(fmt.Sprintf("%s%02d:%02d", sign, h, m), secs), nil
	}
	if name == "" || name == "Local" {
		return nil, Errorf(ErUnknownTimeZone, name)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, Errorf(ErUnknownTimeZone, name)
	}
	return loc, nil
}

func clockOffset(s string) (h, m int, rest, ok bool) {
	i := 0
	for ; i < len(s) && i < 2 && s[i] >= '0' && s[i] <= '9'; i++ {
		h = h*10 + int(s[i]-'0')
	}
	if i == 0 || i == len(s) || s[i] != ':' {
		return 0, 0, false, false
	}
	j := i + 1
	for ; j < len(s) && j < i+3 && s[j] >= '0' && s[j] <= '9'; j++ {
		m = m*10 + int(s[j]-'0')
	}
	return h, m, j != len(s), j == i+3
}
