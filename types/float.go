package types

import (
	"bytes"
	"math"
	"strconv"
)

// Properties of the text of MySQL's floating-point numbers.
const (
	floatDigits   = 6  // significant digits of a FLOAT (FLT_DIG)
	maxFixedPoint = 15 // the most digits before the point without an exponent (DBL_DIG)
)

// AppendFloat appends a double as MySQL does: the shortest text that is parsed to the same
// double, with an exponent beyond 15 digits (1e20, 1.5e-16).
func AppendFloat(dst []byte, f float64) []byte {
	return appendFloatText(dst, f, -1)
}

// AppendFloat32 appends a FLOAT with six significant digits.
func AppendFloat32(dst []byte, f float64) []byte {
	return appendFloatText(dst, f, floatDigits-1)
}

// Most characters of the texts that expressions make of doubles: MySQL gives one of a column 24 of them, and one that is computed 22.
const (
	columnWidth   = 24
	computedWidth = 22
)

// FloatTextLength is the most characters of the text that an expression makes of a FLOAT of a column or of CAST.
const FloatTextLength = 12

// AppendComputedFloat appends the text that an expression makes of a double which is no column's: that of AppendFloat, with fewer digits or an exponent
// where it is too long. single says that it is a FLOAT of a column or of CAST, which has six digits.
func AppendComputedFloat(dst []byte, f float64, single bool) []byte {
	width := computedWidth
	if single {
		var buf [32]byte
		f, _ = strconv.ParseFloat(stringOf(strconv.AppendFloat(buf[:0], f, 'e', floatDigits-1, 64)), 64)
		width = FloatTextLength
	}
	return AppendShortFloat(dst, f, width)
}

// AppendColumnFloat appends the text that an expression makes of a column's double, and GROUP_CONCAT of every one. A client is sent that of AppendFloat.
func AppendColumnFloat(dst []byte, f float64) []byte { return AppendShortFloat(dst, f, columnWidth) }

// AppendShortFloat appends the text of AppendFloat, with fewer digits or an exponent where it is longer than width.
func AppendShortFloat(dst []byte, f float64, width int) []byte {
	at := len(dst)
	if dst = AppendFloat(dst, f); len(dst)-at <= width {
		return dst
	}
	dst, _ = appendFloatWithin(dst[:at], f, width)
	return dst
}

func appendFloatText(dst []byte, f float64, prec int) []byte {
	if f == 0 {
		if math.Signbit(f) {
			dst = append(dst, '-')
		}
		return append(dst, '0')
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strconv.AppendFloat(dst, f, 'g', -1, 64) // never stored; shown for debugging
	}
	if f < 0 {
		dst = append(dst, '-')
	}
	var buf [32]byte
	digits, point := floatParts(buf[:0], math.Abs(f), prec)
	return appendDigits(dst, digits, point)
}

// floatParts returns the digits of f, which is above 0: it is 0.digits * 10^point. prec is
// how many digits follow the first, -1 for as many as distinguish f from other numbers.
// The digits are in the memory of buf.
func floatParts(buf []byte, f float64, prec int) (digits []byte, point int) {
	s := strconv.AppendFloat(buf, f, 'e', prec, 64) // d.ddde±xx
	digits = s[:0]
	i := 0
	for ; s[i] != 'e'; i++ {
		if s[i] != '.' {
			digits = append(digits, s[i])
		}
	}
	exp := 0
	for _, c := range s[i+2:] {
		exp = exp*10 + int(c-'0')
	}
	if s[i+1] == '-' {
		exp = -exp
	}
	for len(digits) > 1 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	return digits, exp + 1
}

// appendFloatWithin appends f in at most width characters, as MySQL stores numbers in
// CHAR and VARCHAR columns (my_gcvt in its strings/dtoa.cc): rounded to fewer digits, and
// with an exponent if there is room for more digits then. cut is true if it does not fit.
func appendFloatWithin(dst []byte, f float64, width int) (out []byte, cut bool) {
	start := len(dst)
	if f < 0 {
		dst = append(dst, '-')
		f, width = -f, width-1
	}
	if width <= 0 || f == 0 || math.IsInf(f, 0) || math.IsNaN(f) {
		return append(dst, '0'), f != 0
	}
	var buf [400]byte
	digits, point := floatParts(buf[:0], f, -1)
	if len(digits) > width {
		digits, point = floatParts(buf[:0], f, width-1)
	}
	n := len(digits)
	fits := width >= max(n, point)+max(1-point, 0)+boolBit(point < n)
	// Without an exponent, four characters have no room for a digit of 0.001, with one
	// they have; with more characters there is no difference.
	unscaled := fits || point <= width && (point >= -1 || point == -2 && width != 4)
	if !unscaled || point <= -maxFixedPoint || point > maxFixedPoint {
		return appendExponent(dst, f, digits, point-1, width)
	}
	room := width - boolBit(point < n) - max(1-point, 0)
	if room >= n {
		return appendDigits(dst, digits, point), false
	}
	if cut = room < point; cut {
		room = point
	}
	text := strconv.AppendFloat(buf[:0], f, 'f', max(room-point, 0), 64)
	if bytes.IndexByte(text, '.') >= 0 {
		text = bytes.TrimRight(bytes.TrimRight(text, "0"), ".")
	}
	if string(text) == "0" {
		return append(dst[:start], text...), cut
	}
	return append(dst, text...), cut
}

// appendExponent is appendFloatWithin for a number that is written with an exponent.
func appendExponent(dst []byte, f float64, digits []byte, exp, width int) (out []byte, cut bool) {
	room := width - len("e") - len(strconv.Itoa(exp))
	if len(digits) > 1 {
		room-- // the point
	}
	if cut = room <= 0; cut {
		room = 1
	}
	if room < len(digits) {
		digits, exp = floatParts(digits[:0], f, room-1)
		exp--
	}
	dst = append(dst, digits[0])
	if len(digits) > 1 {
		dst = append(append(dst, '.'), digits[1:]...)
	}
	return strconv.AppendInt(append(dst, 'e'), int64(exp), 10), cut
}

func boolBit(b bool) int { return int(boolInt(b)) }

// appendDigits appends the number 0.digits * 10^point.
func appendDigits(dst, digits []byte, point int) []byte {
	switch {
	case point > maxFixedPoint && len(digits) <= point || point <= -maxFixedPoint:
		return appendScaled(dst, digits, point)
	case point <= 0:
		dst = append(dst, '0', '.')
		for ; point < 0; point++ {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	case point >= len(digits):
		dst = append(dst, digits...)
		for n := len(digits); n < point; n++ {
			dst = append(dst, '0')
		}
		return dst
	}
	dst = append(dst, digits[:point]...)
	dst = append(dst, '.')
	return append(dst, digits[point:]...)
}

// appendScaled appends 0.digits * 10^point with an exponent.
func appendScaled(dst, digits []byte, point int) []byte {
	dst = append(dst, digits[0])
	if len(digits) > 1 {
		dst = append(dst, '.')
		dst = append(dst, digits[1:]...)
	}
	dst = append(dst, 'e')
	return strconv.AppendInt(dst, int64(point-1), 10)
}

// isSpace reports whether c is white space to MySQL's number and date parsers.
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// ParseFloat parses the longest prefix of s that is a number, after leading white space.
// used is the length of both; 0 if there is no number. A number out of range becomes the
// largest double of its sign.
func ParseFloat(s []byte) (f float64, used int) {
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	start := i
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	digits := 0
	for i < len(s) && isDigit(s[i]) {
		i++
		digits++
	}
	if i < len(s) && s[i] == '.' {
		i++
		for i < len(s) && isDigit(s[i]) {
			i++
			digits++
		}
	}
	if digits == 0 {
		return 0, 0
	}
	end := i
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if j < len(s) && isDigit(s[j]) {
			for j < len(s) && isDigit(s[j]) {
				j++
			}
			end = j
		}
	}
	number := s[start:end]
	if len(number) > floatTextMax {
		number = shortFloat(number)
	}
	f, _ = strconv.ParseFloat(stringOf(number), 64)
	if math.IsInf(f, 0) {
		f = math.Copysign(math.MaxFloat64, f)
	}
	return f, end
}

// floatTextMax is the most bytes of a number that strconv parses as it is. No more than 767
// significant digits, and whether there are others but zeros, decide about a double.
const floatTextMax = 1 << 10

// shortFloat returns a short text of the same double as the number s, which may be as long
// as a packet: strconv reads each digit several times, and does not poll.
func shortFloat(s []byte) []byte {
	out := make([]byte, 0, floatTextMax)
	if s[0] == '-' {
		out = append(out, '-')
	}
	first, sticky, point, exp := len(out), false, false, 0 // the number is out * 10^exp
	i := 0
	for ; i < len(s) && s[i]|0x20 != 'e'; i++ {
		switch c := s[i]; {
		case c == '.':
			point = true
			continue
		case !isDigit(c): // the sign
			continue
		case len(out) == first && c == '0':
		case len(out)-first < floatTextMax/2+floatTextMax/4+32:
			out = append(out, c)
		default:
			sticky = sticky || c != '0'
			exp++
		}
		if point {
			exp--
		}
	}
	if len(out) == first {
		out = append(out, '0')
	}
	if sticky {
		out = append(out, '1')
		exp--
	}
	if i < len(s) {
		const exponentMax = 1 << 40 // more than the length of any text
		given, neg := 0, false
		for _, c := range s[i+1:] {
			if !isDigit(c) {
				neg = c == '-'
			} else if given < exponentMax {
				given = given*10 + int(c-'0')
			}
		}
		if neg {
			given = -given
		}
		exp += given
	}
	return strconv.AppendInt(append(out, 'e'), int64(exp), 10)
}

// ParseInt parses the longest prefix of s that is an integer, after leading white space.
// If overflow is true, n is the bound; used is the length of both, 0 if there is no digit.
func ParseInt(s []byte) (n int64, used int, overflow bool) {
	u, neg, used, over := parseDigits(s)
	switch {
	case neg && (over || u > 1<<63):
		return math.MinInt64, used, true
	case neg:
		return -int64(u), used, false
	case over || u > math.MaxInt64:
		return math.MaxInt64, used, true
	}
	return int64(u), used, false
}

// parseDigits parses white space, a sign and digits, see ParseInt; u is the magnitude.
func parseDigits(s []byte) (u uint64, neg bool, used int, overflow bool) {
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		neg = s[i] == '-'
		i++
	}
	start := i
	for ; i < len(s) && isDigit(s[i]); i++ {
		d := uint64(s[i] - '0')
		if u > (math.MaxUint64-d)/10 {
			overflow = true
			u = math.MaxUint64
			continue
		}
		if !overflow {
			u = u*10 + d
		}
	}
	if i == start {
		return 0, false, 0, false
	}
	return u, neg, i, overflow
}

// AppendFixed appends f with a number of decimals. As in MySQL, the digits behind those that tell f from all other doubles are zeros: 0.1 with twenty
// decimals is 0.10000000000000000000.
func AppendFixed(dst []byte, f float64, decimals int) []byte {
	at := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	point := bytes.IndexByte(dst[at:], '.')
	have := 0
	if point >= 0 {
		have = len(dst) - at - point - 1
	}
	if have > decimals || f-f != 0 {
		return strconv.AppendFloat(dst[:at], f, 'f', decimals, 64)
	}
	if point < 0 && decimals > 0 {
		dst = append(dst, '.')
	}
	for ; have < decimals; have++ {
		dst = append(dst, '0')
	}
	return dst
}
