package types

import "bytes"

// MySQL accepts any punctuation between the parts of a date, and white space around it, and warns of what is not the standard's: 4095 of another
// delimiter, 4096 of one too many. The parsers set parsedOdd where they meet something of the kind; what it is, is found out here.

// oddity is the first delimiter of a text that MySQL warns of.
type oddity struct {
	at       int
	needless bool // there should be none
	standard byte // else what there should be
}

// warnOdd warns of v's delimiters if its parser has found odd ones. A value read from a text of a row other than the first has that row's number.
func warnOdd(ctx *Context, v *Value, flags parseFlags, row int) {
	if ctx == nil || flags&parsedOdd == 0 || v.K != KindString && v.K != KindEnum && v.K != KindSet {
		return
	}
	text := plainText(v)
	var odd *oddity
	if flags&parsedClock != 0 {
		text, odd = oddInTime(text)
	} else {
		odd = oddInDate(text)
	}
	if odd == nil {
		return
	}
	shown := string(text[odd.at : odd.at+1])
	if i := bytes.IndexByte([]byte("\n\t\f\r\v"), text[odd.at]); i >= 0 {
		shown = `\` + "ntfrv"[i:i+1]
	}
	if odd.needless {
		ctx.Warn(LevelWarning, ErWarnDeprecatedSuperfluousDelimiter, shown, odd.at, text, row)
		return
	}
	ctx.Warn(LevelWarning, ErWarnDeprecatedDatetimeDelimiter, shown, odd.at, text, row, string(odd.standard))
}

// oddInDate finds what is odd in a text that is a date.
func oddInDate(s []byte) *oddity {
	if isSpace(s[0]) {
		return &oddity{needless: true}
	}
	run := 0
	for run < len(s) && (isDigit(s[run]) || s[run] == 'T') {
		run++
	}
	plain := run == len(s) || s[run] == '.' // digits without delimiters
	short := plain && run == 1              // 4.12.3 is no other date than 4-12-3 would be
	i := 0
	for part := 0; part < 7 && i < len(s) && isDigit(s[i]); part++ {
		for i < len(s) && isDigit(s[i]) {
			i++
		}
		switch {
		case i == len(s):
			return nil
		case part == 2 && s[i] == 'T', part == 5 && s[i] == '.':
			i++
			continue
		case part == 5:
			return oddAtEnd(s, i)
		case part == 6:
			return oddAtEnd(s, i)
		}
		start := i
		for ; i < len(s) && (isPunct(s[i]) || isSpace(s[i])); i++ {
			if i > start {
				return &oddity{at: i, needless: true}
			}
			if odd := oddBetween(s, i, part, plain, short); odd != nil {
				return odd
			}
		}
		if part == 2 && i == len(s) && isSpace(s[i-1]) {
			return &oddity{at: i - 1, needless: true}
		}
	}
	return oddAtEnd(s, i)
}

// oddBetween judges the delimiter at i, which follows a part of a date: year, month, day, hour or minute.
func oddBetween(s []byte, i, part int, plain, short bool) *oddity {
	c := s[i]
	switch {
	case part == 2:
		if c != ' ' && (c != '.' || !plain) {
			return &oddity{at: i, standard: ' '}
		}
	case short, part < 2 && c == '-', part > 2 && c == ':':
	case part < 2:
		return &oddity{at: i, standard: '-'}
	default:
		return &oddity{at: i, standard: ':'}
	}
	return nil
}

func oddAtEnd(s []byte, i int) *oddity {
	if i < len(s) && isSpace(s[i]) {
		return &oddity{at: i, needless: true}
	}
	return nil
}

// oddInTime finds what is odd in a text that is a TIME. If the text is a whole datetime, that is what is shown.
func oddInTime(s []byte) ([]byte, *oddity) {
	if isSpace(s[0]) {
		return s, &oddity{needless: true}
	}
	i := 0
	if s[0] == '-' {
		i++
	}
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	end := i
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	if i-end > 1 || i > end && i == len(s) {
		return s, &oddity{at: end, needless: true}
	}
	for i < len(s) && !isSpace(s[i]) {
		i++
	}
	return s, oddAtEnd(s, i)
}
