package types

import (
	"bytes"
	"math"
)

// parseFlags say what a parser has found in a text.
type parseFlags uint8

const (
	parsedDate     parseFlags = 1 << iota // the text has a date
	parsedTime                            // the text has a time of day
	parsedTrailing                        // text follows that was ignored
	parsedOverflow                        // a TIME beyond 838:59:59 was limited to that
	parsedOffset                          // the text ends with a zone offset
	parsedUnspaced                        // fields have delimiters, and there is no white space between date and time
	parsedOdd                             // there may be a delimiter that MySQL warns of
	parsedClock                           // the text was read as a TIME
)

// maxTwoDigitYear is the last two-digit year that MySQL takes for one of this century.
const maxTwoDigitYear = 69

func fullYear(y int) int {
	if y <= maxTwoDigitYear {
		return y + 2000
	}
	return y + 1900
}

// datetimeText is the result of parseDatetimeText.
type datetimeText struct {
	DateTime
	nanos  int // the seventh fraction digit: 0 to 9 tenths of a microsecond
	digits int // number of fraction digits, at most 6
	offset int // minutes east of UTC if parsedOffset
	flags  parseFlags
}

func isPunct(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

// HasClock reports whether a text is a date with a time of day.
func HasClock(s []byte) bool {
	d, ok := parseDatetimeText(s)
	return ok && d.flags&parsedTime != 0
}

// WholeTime reports whether a text is a TIME and nothing follows.
func WholeTime(s []byte) bool {
	_, t, ok := parseTimeText(s)
	return ok && t.flags&parsedTrailing == 0
}

// HasDate reports whether a text that may be a date or a TIME is a date: 10:11:12, 2 10:11:12 and 12.0102 are times, although they could be parsed as dates. What
// is around a time makes it a date: 10:11:12x.
func HasDate(s []byte) bool {
	if _, ok := parseDatetimeText(s); !ok {
		return false
	}
	_, t, ok := parseTimeText(s)
	return !ok || t.flags&(parsedTrailing|parsedOverflow|parsedOdd) != 0 || !clockFirst(s)
}

// HasPlainDate is HasDate for EXTRACT, for which dates have but the delimiters of the standard and nothing around them.
func HasPlainDate(s []byte) bool {
	d, ok := parseDatetimeText(s)
	return ok && d.flags&(parsedTrailing|parsedOdd) == 0 && !clockFirst(s)
}

// clockFirst reports whether a text of digits is rather a time: there is a colon or a space behind the first digits, or a point that neither follows the
// digits of a date nor a single one.
func clockFirst(s []byte) bool {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n < len(s) && (s[n] == ':' || isSpace(s[n]) || s[n] == '.' && (n > 1 && n < 5 || n == 7))
}

// parseDatetimeText parses MySQL's lenient forms of a date or datetime (str_to_datetime
// in its my_time.cc): fields separated by any punctuation, or 6, 8, 12 or 14 digits in a
// row, two-digit years, an optional fraction, an optional zone offset. ok is false if it
// is none. The ranges of month, day and time are checked, but not whether the month has
// the day.
func parseDatetimeText(s []byte) (d datetimeText, ok bool) {
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	odd := i > 0
	s = s[i:]
	if len(s) == 0 || !isDigit(s[0]) {
		return d, false
	}
	var f [6]int
	n, used, yearDigits := 0, 0, 0
	unspaced := false
	var other bool
	if digits := undelimited(s); digits > 0 {
		n, used, yearDigits, unspaced = splitDigits(s, digits, &f)
		other = clockFirst(s)
	} else {
		n, used, yearDigits, unspaced, other = splitSeparated(s, &f)
	}
	odd = odd || other
	if n < 3 {
		return d, false
	}
	d.flags = parsedDate
	if n > 3 {
		d.flags |= parsedTime
	}
	if unspaced {
		d.flags |= parsedUnspaced
	}
	d.Year, d.Month, d.Day, d.Hour, d.Minute, d.Second = f[0], f[1], f[2], f[3], f[4], f[5]
	if yearDigits == 2 && f != [6]int{} {
		d.Year = fullYear(f[0])
	}
	if n == 6 && used < len(s) && s[used] == '.' {
		used += 1 + d.fraction(s[used+1:])
	}
	if n > 3 {
		zone := d.zone(s[used:])
		if zone == 0 && n == 6 && used < len(s) && (s[used] == '+' || s[used] == '-') {
			return datetimeText{}, false // a sign begins the offset of a zone and nothing else
		}
		used += zone
	}
	if !onlySpace(s[used:]) {
		d.flags |= parsedTrailing
	}
	if odd || used < len(s) {
		d.flags |= parsedOdd
	}
	return d, d.Month <= 12 && d.Day <= 31 && d.Hour <= 23 && d.Minute <= 59 && d.Second <= 59
}

// undelimited returns how many characters a text begins with that has the fields of a date in two digits each, with whatever between them: digits and T,
// and then a point or nothing. It is 0 for others.
func undelimited(s []byte) int {
	i := 0
	for i < len(s) && (isDigit(s[i]) || s[i] == 'T') {
		i++
	}
	if i < len(s) && s[i] != '.' {
		return 0
	}
	return i
}

// splitDigits splits such a text. The year has four digits if it begins with 4, 8 or at least 14 characters. Fields may be shorter and have punctuation
// behind them, and day and time a T or white space between them. unspaced is true if there is punctuation, and no white space.
func splitDigits(s []byte, digits int, f *[6]int) (n, used, yearDigits int, unspaced bool) {
	yearDigits = 2
	if digits == 4 || digits == 8 || digits >= 14 {
		yearDigits = 4
	}
	width, spaced := yearDigits, false
	for n < 6 && used < len(s) && isDigit(s[used]) {
		for end := min(used+width, len(s)); used < end && isDigit(s[used]); used++ {
			f[n] = f[n]*10 + int(s[used]-'0')
		}
		n++
		width = 2
		if n == 3 && used < len(s) && s[used] == 'T' {
			used++
			continue
		}
		for ; n < 6 && used < len(s) && (isPunct(s[used]) || n == 3 && isSpace(s[used])); used++ {
			unspaced = unspaced || isPunct(s[used])
			spaced = spaced || isSpace(s[used])
		}
	}
	return n, used, yearDigits, unspaced && !spaced
}

// datePartMax is the largest number that may stand between separators.
const datePartMax = 9999

// delimiters are those of the standard behind year, month, day, hour and minute.
const delimiters = "?-- ::"

// splitSeparated parses separated fields, of any number of digits. unspaced is true if there is no white space between date
// and time, odd if delimiters are not those of the standard.
func splitSeparated(s []byte, f *[6]int) (n, used, yearDigits int, unspaced, odd bool) {
	i := 0
	for n < 6 {
		start := i
		for i < len(s) && isDigit(s[i]) {
			if f[n] = f[n]*10 + int(s[i]-'0'); f[n] > datePartMax {
				return 0, i, 0, false, false
			}
			i++
		}
		if i == start {
			break
		}
		if n == 0 {
			yearDigits = i - start
		}
		n++
		used = i
		if n == 6 {
			break
		}
		j := i
		if n == 3 {
			// Between date and time: white space, a T, or punctuation.
			unspaced = true
			if j < len(s) && s[j] == 'T' {
				j++
			} else {
				for j < len(s) && (isSpace(s[j]) || isPunct(s[j])) {
					unspaced = unspaced && !isSpace(s[j])
					j++
				}
			}
		} else {
			for j < len(s) && isPunct(s[j]) {
				j++
			}
		}
		if j == i {
			break
		}
		odd = odd || j != i+1 || s[i] != delimiters[n] && s[i] != 'T'
		i = j
	}
	return n, used, max(yearDigits, 1), unspaced && n > 3, odd
}

// impossiblePart is above all numbers for which a text may still be a date, if a broken one.
const impossiblePart = 1000000

// brokenDatetime reports whether s, a text long enough for a date and time, begins as one and is none, so that it is no time either: digits with a letter
// behind them, or three numbers and white space with something else behind it than a time of day, or that are no date.
func brokenDatetime(s []byte) bool {
	var f [6]int
	i, n := 0, 0
	for n < 6 && i < len(s) && isDigit(s[i]) {
		for ; i < len(s) && isDigit(s[i]); i++ {
			f[n] = min(f[n]*10+int(s[i]-'0'), impossiblePart)
		}
		if f[n] == impossiblePart {
			return false
		}
		if n == 0 && (i == len(s) || s[i] == '.' || s[i] == 'T') { // digits in a row
			return false
		}
		n++
		for ; i < len(s) && (isSpace(s[i]) || isPunct(s[i])); i++ {
			if isSpace(s[i]) {
				return n == 3 && (f[1] > 12 || f[2] > 31 || f[0] > datePartMax || i+1 < len(s) && !isDigit(s[i+1]) && !isSpace(s[i+1]))
			}
		}
		if n == 1 && isDigit(s[i-1]) {
			return true
		}
	}
	return false
}

// fraction parses the digits after the point and returns their number.
func (d *datetimeText) fraction(s []byte) int {
	i := 0
	for ; i < len(s) && isDigit(s[i]); i++ {
		switch {
		case i < MaxFsp:
			d.Micro = d.Micro*10 + int(s[i]-'0')
		case i == MaxFsp:
			d.nanos = int(s[i] - '0')
		}
	}
	d.digits = min(i, MaxFsp)
	for n := i; n < MaxFsp; n++ {
		d.Micro *= 10
	}
	return i
}

// zone parses [+-]hh:mm at the end of the text and returns its length, 0 if there is none.
func (d *datetimeText) zone(s []byte) int {
	s = bytes.TrimRight(s, " \t\n\v\f\r")
	if len(s) != 6 || s[0] != '+' && s[0] != '-' {
		return 0
	}
	h, m, rest, ok := clockOffset(string(s[1:]))
	if !ok || rest || m > 59 || h*60+m > 14*60 || s[0] == '-' && h*60+m == 0 {
		return 0
	}
	d.offset = h*60 + m
	if s[0] == '-' {
		d.offset = -d.offset
	}
	d.flags |= parsedOffset
	return len(s)
}

// datetimeFromNumber converts a number YYMMDD, YYYYMMDD, YYMMDDhhmmss or YYYYMMDDhhmmss.
func datetimeFromNumber(n int64) (d DateTime, hasTime, ok bool) {
	switch {
	case n == 0:
		return d, false, true
	case n < 101, n > 99991231235959:
		return d, false, false
	case n <= 691231:
		n += 20000000
	case n < 700101:
		return d, false, false
	case n <= 991231:
		n += 19000000
	case n < 10000101:
		return d, false, false
	case n <= 99991231:
	case n < 101000000:
		return d, false, false
	default:
		hasTime = true
		switch {
		case n <= 691231235959:
			n += 20000000000000
		case n < 700101000000:
			return d, false, false
		case n <= 991231235959:
			n += 19000000000000
		}
	}
	ymd := n
	if hasTime {
		ymd = n / 1e6
		hms := int(n % 1e6)
		d.Hour, d.Minute, d.Second = hms/10000, hms/100%100, hms%100
	}
	d.Year, d.Month, d.Day = int(ymd/10000), int(ymd/100%100), int(ymd%100)
	return d, hasTime, d.Month <= 12 && d.Day <= 31 && d.Hour <= 23 && d.Minute <= 59 && d.Second <= 59
}

// timeText is the result of parseTimeText.
type timeText struct {
	neg                  bool
	day, hour, min, sec  int64
	micro, nanos, digits int
	flags                parseFlags
	spaces               bool // more than one behind the days
}

// fullDatetimeChars is the fewest characters of a datetime in a text that should be a TIME.
const fullDatetimeChars = 12

// parseTimeText parses [-][D ]hh:mm:ss.ffffff, hh:mm, hhmmss, mmss or ss. Of a full
// datetime it returns the time of day, if that stands behind white space: of
// 2020-01-01T10:00:00 it takes 2020, which is 20 minutes and 20 seconds (str_to_time
// in MySQL's my_time.cc). us is not rounded.
func parseTimeText(s []byte) (us int64, t timeText, ok bool) {
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	odd := i > 0
	s = s[i:]
	if len(s) > 0 && s[0] == '-' {
		t.neg = true
		s = s[1:]
	}
	if len(s) >= fullDatetimeChars && isDigit(s[0]) {
		if d, ok := parseDatetimeText(s); d.flags&parsedTime != 0 && d.flags&parsedUnspaced == 0 {
			t.flags = d.flags
			if odd {
				t.flags |= parsedOdd | parsedClock
			}
			t.nanos, t.digits = d.nanos, d.digits
			return d.timeOfDay(), t, ok
		}
		if brokenDatetime(s) {
			return 0, t, false
		}
	}
	if len(s) == 0 || !isDigit(s[0]) && s[0] != ':' && s[0] != '.' {
		return 0, t, false
	}
	used, ok := t.clock(s)
	if max(t.day, t.hour) > math.MaxUint32 {
		t.flags |= parsedOverflow
		ok = false
	}
	if !ok {
		return 0, t, false
	}
	if used < len(s) && s[used] == '.' {
		var d datetimeText
		n := d.fraction(s[used+1:])
		used += 1 + n
		if t.micro, t.nanos, t.digits = d.Micro, d.nanos, d.digits; n > MaxFsp {
			t.nanos = int(s[used-1] - '0') // by the last digit MySQL decides about the microseconds, and not by the seventh
		}
	}
	t.flags |= parsedTime | parsedClock
	if hasExponent(s[used:]) {
		return 0, t, false // '1e9' is not one second
	}
	if !onlySpace(s[used:]) {
		t.flags |= parsedTrailing
	}
	if odd || t.spaces || used < len(s) {
		t.flags |= parsedOdd
	}
	if t.min > 59 || t.sec > 59 {
		t.flags |= parsedOverflow
		return 0, t, false
	}
	sec := t.day*86400 + t.hour*3600 + t.min*60 + t.sec
	us = min(sec, maxTimeSeconds)*microsPerSecond + int64(t.micro)
	if us > MaxTimeMicros {
		us, t.nanos = MaxTimeMicros, 0
		t.flags |= parsedOverflow
	}
	if t.neg {
		us = -us
	}
	return us, t, true
}

func hasExponent(s []byte) bool {
	if len(s) < 2 || s[0]|0x20 != 'e' {
		return false
	}
	return isDigit(s[1]) || len(s) > 2 && (s[1] == '+' || s[1] == '-') && isDigit(s[2])
}

// maxTimeSeconds limits the seconds of a text so that they do not overflow as microseconds.
const maxTimeSeconds = 1e9

// readNumber parses digits. A number beyond 32 bits, with which the text is no time, is returned as 1<<32.
func readNumber(s []byte) (n int64, used int) {
	for used < len(s) && isDigit(s[used]) {
		n = min(n*10+int64(s[used]-'0'), math.MaxUint32+1)
		used++
	}
	return n, used
}

// clock parses the part of a time before the fraction.
func (t *timeText) clock(s []byte) (used int, ok bool) {
	first, i := readNumber(s)
	days := false
	if i > 0 && i < len(s) && isSpace(s[i]) {
		j := i
		for j < len(s) && isSpace(s[j]) {
			j++
		}
		t.spaces = j > i+1
		if j < len(s) && isDigit(s[j]) {
			days = true
			t.day = first
			var n int
			t.hour, n = readNumber(s[j:])
			i = j + n
		}
	}
	if i == len(s) || s[i] != ':' || i+1 == len(s) || !isDigit(s[i+1]) {
		if first > math.MaxUint32 {
			t.hour = first
			return i, false
		}
		if days {
			return i, true
		}
		t.hour, t.min, t.sec = first/10000, first/100%100, first%100
		return i, true
	}
	if !days {
		t.hour = first
	}
	n := 0
	t.min, n = readNumber(s[i+1:])
	i += 1 + n
	if i+1 < len(s) && s[i] == ':' && isDigit(s[i+1]) {
		t.sec, n = readNumber(s[i+1:])
		i += 1 + n
	}
	return i, true
}

// timeOfDay returns the microseconds since midnight.
func (d *DateTime) timeOfDay() int64 {
	return int64(d.Hour)*microsPerHour + int64(d.Minute)*microsPerMinute +
		int64(d.Second)*microsPerSecond + int64(d.Micro)
}

// timeFromNumber converts a number hhmmss, or one of a datetime.
func timeFromNumber(n int64) (us int64, flags parseFlags, ok bool) {
	neg := n < 0
	if neg {
		n = max(-n, 0) // the lowest one has no opposite
	}
	if n > 8385959 || neg && n == 0 {
		if n >= 10000000000 && !neg {
			if d, hasTime, ok := datetimeFromNumber(n); ok && hasTime {
				return d.timeOfDay(), parsedDate | parsedTime, true
			}
		}
		us, flags = MaxTimeMicros, parsedOverflow
	} else {
		h, m, s := n/10000, n/100%100, n%100
		if m > 59 || s > 59 {
			return 0, parsedOverflow, false
		}
		us = (h*3600 + m*60 + s) * microsPerSecond
	}
	if neg {
		us = -us
	}
	return us, flags | parsedTime, true
}
