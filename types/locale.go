package types

import (
	_ "embed" // the record of locales
	"strings"
	"sync"
)

// Locale is a locale of lc_time_names and of FORMAT's third argument: the names of
// months and days, and how numbers are grouped. It is immutable; nil is en_US.
// STR_TO_DATE knows only English names, as in MySQL.
type Locale struct {
	Name                   string
	months, shortMonths    []string // from January on
	days, shortDays        []string // from Sunday on
	point                  byte
	separator              string // between groups of digits; empty if digits are not grouped
	firstGroup, otherGroup int    // digits of the group before the point, and of the others
}

//go:embed record/locales.txt
var localeRecord string

// localeAliases are old names that MySQL still accepts.
var localeAliases = map[string]string{"sr_yu": "sr_rs"}

// locales returns the locales in the order of MySQL's numbers; en_US is the first.
var locales = sync.OnceValue(func() []*Locale {
	var list []*Locale
	for line := range strings.Lines(localeRecord) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		l := &Locale{Name: f[0], months: strings.Split(f[1], ","), shortMonths: strings.Split(f[2], ","),
			days: strings.Split(f[3], ","), shortDays: strings.Split(f[4], ",")}
		l.learnNumbers(strings.ReplaceAll(f[5], `\0`, "\x00"))
		list = append(list, l)
	}
	return list
})

// learnNumbers derives the format of numbers from how 1234567890.123 is written.
func (l *Locale) learnNumbers(sample string) {
	const decimals = 3
	whole := sample[:len(sample)-decimals-1]
	l.point = sample[len(whole)]
	isDigit := func(r rune) bool { return r >= '0' && r <= '9' }
	at := strings.LastIndexFunc(whole, func(r rune) bool { return !isDigit(r) })
	if at < 0 {
		return
	}
	groups := strings.FieldsFunc(whole, func(r rune) bool { return !isDigit(r) })
	l.firstGroup, l.otherGroup = len(groups[len(groups)-1]), len(groups[len(groups)-2])
	start := strings.LastIndexFunc(whole[:at+1], isDigit) + 1
	l.separator = whole[start : at+1]
}

// LookupLocale finds a locale by its name in any case, nil if there is none.
func LookupLocale(name string) *Locale {
	name = strings.ToLower(name)
	if now, old := localeAliases[name]; old {
		name = now
	}
	for _, l := range locales() {
		if strings.ToLower(l.Name) == name {
			return l
		}
	}
	return nil
}

// LocaleByNumber finds a locale by MySQL's number, nil if there is none.
func LocaleByNumber(n int64) *Locale {
	if list := locales(); n >= 0 && n < int64(len(list)) {
		return list[n]
	}
	return nil
}

func (l *Locale) orEnglish() *Locale {
	if l == nil {
		return locales()[0]
	}
	return l
}

// ASCII reports whether all names of days and months are ASCII.
func (l *Locale) ASCII() bool {
	for _, names := range [][]string{l.orEnglish().months, l.orEnglish().shortMonths, l.orEnglish().days, l.orEnglish().shortDays} {
		for _, name := range names {
			if len(name) != len([]rune(name)) {
				return false
			}
		}
	}
	return true
}

// Month returns the name of month 1..12.
func (l *Locale) Month(month int) string { return l.orEnglish().months[month-1] }

// Day returns the name of a day of the week, 0 for Sunday.
func (l *Locale) Day(weekday int) string { return l.orEnglish().days[weekday] }

// MonthLength returns the number of characters of the longest name of a month.
func (l *Locale) MonthLength() int { return longest(l.orEnglish().months) }

// DayLength returns the number of characters of the longest name of a day.
func (l *Locale) DayLength() int { return longest(l.orEnglish().days) }

func longest(names []string) int {
	n := 0
	for _, name := range names {
		n = max(n, len([]rune(name)))
	}
	return n
}

// AppendNumber appends text, a decimal number, as FORMAT writes it: with separators and so
// many decimals.
func (l *Locale) AppendNumber(dst, text []byte, decimals int) []byte {
	l = l.orEnglish()
	if len(text) > 0 && text[0] == '-' {
		dst, text = append(dst, '-'), text[1:]
	}
	whole, frac, _ := strings.Cut(string(text), ".")
	for i := range len(whole) {
		if left := len(whole) - i; i > 0 && l.separator != "" && left >= l.firstGroup && (left-l.firstGroup)%l.otherGroup == 0 {
			dst = append(dst, l.separator...)
		}
		dst = append(dst, whole[i])
	}
	if decimals <= 0 {
		return dst
	}
	dst = append(append(dst, l.point), frac...)
	for i := len(frac); i < decimals; i++ {
		dst = append(dst, '0')
	}
	return dst
}
