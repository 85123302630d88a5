package types

import "strings"

// abbreviated is the length of the names for %a and %b.
const abbreviated = 3

// formatPollBytes is how many bytes of a format are processed between two polls of the
// interrupt.
const formatPollBytes = 64 << 10

// strToDate is the state of one STR_TO_DATE.
type strToDate struct {
	d          DateTime
	s          []byte // text that is not parsed yet
	clock      []byte // what %r or %T did not match
	pm         bool
	hour12     bool // there was an hour of the 12-hour clock
	dayOfYear  int  // 0: none
	week       int  // -1: none
	weekMonday bool // from %u or %v
	weekStrict bool // from %V or %v, which need %X or %x
	weekYear   int  // from %X or %x; -1: none
	yearMonday bool // weekYear is from %x
	weekday    int  // 1 Monday to 7 Sunday, 0 none
}

// DateByFormat parses s by a format of DATE_FORMAT's letters, as STR_TO_DATE does. trailing is
// true if text is left. ok is false if the text does not match the format, or if poll, which
// may be nil, returned an error; clock is then the text that %r or %T did not match, and nil if
// it was another field. Whether the month has the day is not checked.
func DateByFormat(s, format []byte, poll func() error) (d DateTime, clock []byte, trailing, ok bool) {
	p := strToDate{s: s, week: -1, weekYear: -1}
	if !p.all(format, poll) || !p.finish() {
		return d, p.clock, false, false
	}
	return p.d, nil, !onlySpace(p.s), true
}

// all parses by a format as long as there is text.
func (p *strToDate) all(format []byte, poll func() error) bool {
	polled := 0
	for i := 0; i < len(format); i++ {
		if i-polled >= formatPollBytes && poll != nil {
			if polled = i; poll() != nil {
				return false
			}
		}
		for len(p.s) > 0 && isSpace(p.s[0]) {
			p.s = p.s[1:]
		}
		if len(p.s) == 0 {
			break
		}
		c := format[i]
		switch {
		case isSpace(c):
		case c == '%' && i+1 < len(format):
			i++
			if !p.field(format[i]) {
				return false
			}
		case p.s[0] == c:
			p.s = p.s[1:]
		default:
			return false
		}
	}
	return true
}

// clockFields parses %r or %T, which are formats of their own: an hour of the 12-hour clock and PM in %r say nothing of
// the hours around it, and an hour around it with %h is read again when all is parsed, whatever hour is the last.
func (p *strToDate) clockFields(format string) bool {
	pm, hour12, begin := p.pm, p.hour12, p.s
	p.pm, p.hour12 = false, false
	if !p.all([]byte(format), nil) || !p.twelve() {
		p.clock = begin
		return false
	}
	p.pm, p.hour12 = pm, hour12
	return true
}

// twelve makes the hour one of the 24-hour clock, if any hour was one of the 12-hour clock.
func (p *strToDate) twelve() bool {
	if !p.hour12 {
		return true
	}
	if p.d.Hour > 12 || p.d.Hour < 1 {
		return false
	}
	p.d.Hour %= 12
	if p.pm {
		p.d.Hour += 12
	}
	return true
}

// FormatParts reports which parts a format of STR_TO_DATE has, which decides about the type
// of the result.
func FormatParts(format []byte) (date, clock, micros bool) {
	found := formatPart(0)
	for i := 0; i+1 < len(format) && found != partDate|partClock|partMicros; i++ {
		if format[i] != '%' {
			continue
		}
		i++
		found |= formatLetters[format[i]]
	}
	return found&partDate != 0, found&partClock != 0, found&partMicros != 0
}

// formatPart is a set of the parts of a date and time.
type formatPart uint8

const (
	partDate formatPart = 1 << iota
	partClock
	partMicros
)

// formatLetters has the parts for the letters of formats.
var formatLetters = func() (parts [256]formatPart) {
	for _, c := range []byte("MVUXYWabcjmvuxyw") { // not d, e and D: in a TIME, a day is 24 hours
		parts[c] = partDate
	}
	for _, c := range []byte("HISThiklrs") {
		parts[c] = partClock
	}
	parts['f'] = partClock | partMicros
	return parts
}()

// number parses at most width characters, digits that may follow a plus sign; ok is false if there is no digit.
func (p *strToDate) number(width int) (n int, ok bool) {
	i := 0
	if p.s[0] == '+' {
		i++
	}
	for ; i < len(p.s) && i < width && isDigit(p.s[i]); i++ {
		n, ok = n*10+int(p.s[i]-'0'), true
	}
	p.s = p.s[i:]
	return n, ok
}

// name parses letters that are one of the names, or the beginning of exactly one of them, and returns its index.
func (p *strToDate) name(names []string) (int, bool) {
	n := 0
	for n < len(p.s) && p.s[n]|0x20 >= 'a' && p.s[n]|0x20 <= 'z' {
		n++
	}
	found := -1
	for i, name := range names {
		if n == 0 || n > len(name) || !strings.EqualFold(string(p.s[:n]), name[:n]) {
			continue
		}
		if n == len(name) { // May
			found = i
			break
		}
		if found >= 0 {
			return -1, false
		}
		found = i
	}
	if found >= 0 {
		p.s = p.s[n:]
	}
	return found, found >= 0
}

// abbreviation parses the first letters of a name and returns its index.
func (p *strToDate) abbreviation(names []string) (int, bool) {
	for i, name := range names {
		if len(p.s) >= abbreviated && strings.EqualFold(string(p.s[:abbreviated]), name[:abbreviated]) {
			p.s = p.s[abbreviated:]
			return i, true
		}
	}
	return -1, false
}

func (p *strToDate) field(c byte) (ok bool) {
	d := &p.d
	switch c {
	case 'Y':
		before := len(p.s)
		if d.Year, ok = p.number(4); before-len(p.s) <= 2 {
			d.Year = fullYear(d.Year)
		}
	case 'y':
		d.Year, ok = p.number(2)
		d.Year = fullYear(d.Year)
	case 'm', 'c':
		d.Month, ok = p.number(2)
	case 'M':
		n, found := p.name(monthNames[:])
		d.Month, ok = n+1, found
	case 'b':
		n, found := p.abbreviation(monthNames[:])
		d.Month, ok = n+1, found
	case 'd', 'e':
		d.Day, ok = p.number(2)
	case 'D':
		if d.Day, ok = p.number(2); ok {
			p.s = p.s[min(2, len(p.s)):]
		}
	case 'h', 'I', 'l':
		p.hour12 = true
		d.Hour, ok = p.number(2)
	case 'H', 'k':
		d.Hour, ok = p.number(2)
	case 'i':
		d.Minute, ok = p.number(2)
	case 's', 'S':
		d.Second, ok = p.number(2)
	case 'f':
		before := len(p.s)
		if d.Micro, ok = p.number(MaxFsp); ok {
			for n := before - len(p.s); n < MaxFsp; n++ {
				d.Micro *= 10
			}
		}
	case 'p':
		if len(p.s) < 2 || !p.hour12 { // it must come after an hour of the 12-hour clock
			return false
		}
		switch strings.ToUpper(string(p.s[:2])) {
		case "PM":
			p.pm = true
		case "AM":
		default:
			return false
		}
		p.s, ok = p.s[2:], true
	case 'r':
		return p.clockFields("%I:%i:%S %p")
	case 'T':
		return p.clockFields("%H:%i:%S")
	default:
		return p.rareField(c)
	}
	return ok
}

// rareField parses weeks, weekdays, and text that is skipped.
func (p *strToDate) rareField(c byte) (ok bool) {
	switch c {
	case 'j':
		p.dayOfYear, ok = p.number(3)
	case 'W', 'a':
		read := p.abbreviation
		if c == 'W' {
			read = p.name
		}
		n, found := read(dayNames[:])
		p.weekday, ok = n, found
		if n == 0 {
			p.weekday = 7
		}
	case 'w':
		n, found := p.number(1)
		if n > 6 {
			return false
		}
		if p.weekday, ok = n, found; n == 0 {
			p.weekday = 7
		}
	case 'U', 'u', 'V', 'v':
		p.week, ok = p.number(2)
		p.weekMonday = c == 'u' || c == 'v'
		p.weekStrict = c == 'V' || c == 'v'
		if p.week > 53 || p.weekStrict && p.week == 0 {
			return false
		}
	case 'X', 'x':
		p.weekYear, ok = p.number(4)
		p.yearMonday = c == 'x'
	case '.':
		for len(p.s) > 0 && isPunct(p.s[0]) {
			p.s = p.s[1:]
		}
		return true
	case '@':
		for len(p.s) > 0 && (p.s[0]|0x20 >= 'a' && p.s[0]|0x20 <= 'z') {
			p.s = p.s[1:]
		}
		return true
	case '#':
		for len(p.s) > 0 && isDigit(p.s[0]) {
			p.s = p.s[1:]
		}
		return true
	default:
		if len(p.s) > 0 && p.s[0] == c {
			p.s, ok = p.s[1:], true
		}
	}
	return ok
}

// finish computes the date from AM and PM, the day of the year and the week, and checks ranges.
func (p *strToDate) finish() bool {
	d := &p.d
	if !p.twelve() {
		return false
	}
	if p.dayOfYear > 0 {
		n := DayNumber(d.Year, 1, 1) + p.dayOfYear - 1
		if p.dayOfYear > 366 || n > MaxDayNumber {
			return false
		}
		d.Year, d.Month, d.Day = DateFromDays(n)
	}
	if p.week >= 0 && p.weekday > 0 && !p.fromWeek() {
		return false
	}
	return d.Month <= 12 && d.Day <= 31 && d.Hour <= 23 && d.Minute <= 59 && d.Second <= 59
}

func (p *strToDate) fromWeek() bool {
	d := &p.d
	year := d.Year
	switch { // %V belongs to %X, %v to %x, and %U and %u to %Y
	case p.weekStrict && (p.weekYear < 0 || p.yearMonday != p.weekMonday), !p.weekStrict && p.weekYear >= 0:
		return false
	case p.weekStrict:
		year = p.weekYear
	}
	jan1 := DayNumber(year, 1, 1)
	first := calcWeekday(jan1, !p.weekMonday)
	n := jan1 - first + (p.week-1)*7
	if p.weekMonday {
		if first > 3 {
			n += 7
		}
		n += p.weekday - 1
	} else {
		if first != 0 {
			n += 7
		}
		n += p.weekday % 7
	}
	if n <= 0 || n > MaxDayNumber {
		return false
	}
	d.Year, d.Month, d.Day = DateFromDays(n)
	return true
}
