package types

import "math/big"

// maxParsedDigits is how many significant digits of a text are read: those that a decimal
// can have, and one for rounding.
const maxParsedDigits = MaxDecimalPrecision + MaxDecimalScale + 1

// maxLiteralScale is the most fraction digits of a literal, which may have more than a
// column: as in MySQL, where only the size of the buffer limits them.
const maxLiteralScale = (bufferWords - 1) * wordDigits

// maxExponent is the largest exponent that is distinguished: with larger ones a number is
// zero or out of range.
const maxExponent = 4096

// decText is a parsed number.
type decText struct {
	digits   [maxParsedDigits]byte // significant digits
	n        int                   // number of digits
	scale    int                   // digits after the point; negative: zeros before the point
	scaleMax int                   // the most digits after the point to keep
	lost     int                   // digits before the point for which there was no room
	neg      bool
	buffer   bool // what fits MySQL's buffer is kept, and no more than that
}

func (d *decText) add(c byte, fraction bool) {
	if fraction && d.scale > d.scaleMax {
		return // digits beyond the one for rounding do not matter
	}
	if d.n == 0 && c == '0' {
		if fraction {
			d.scale++
		}
		return
	}
	if d.n == len(d.digits) {
		if !fraction {
			d.lost++
		}
		return
	}
	d.digits[d.n] = c
	d.n++
	if fraction {
		d.scale++
	}
}

// ParseDecimal parses the longest prefix of s that is a number, with fraction and
// exponent, after leading white space. rest is what follows; ok is false if there is no
// number. Fractions are rounded to 30 digits; numbers beyond 65 digits become the largest
// decimal.
func ParseDecimal(s []byte) (v Value, rest []byte, ok bool) {
	d := decText{scaleMax: MaxDecimalScale}
	return d.parse(s)
}

// ParseDecimalLiteral is ParseDecimal for a literal in SQL text, which may have as many digits as intermediate results.
func ParseDecimalLiteral(s []byte) (v Value, rest []byte, ok bool) {
	d := decText{scaleMax: maxLiteralScale, buffer: true}
	return d.parse(s)
}

// maxInteger is the most digits before the point.
func (d *decText) maxInteger() int {
	if d.buffer {
		return bufferWords * wordDigits
	}
	return MaxDecimalPrecision
}

func (d *decText) parse(s []byte) (v Value, rest []byte, ok bool) {
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		d.neg = s[i] == '-'
		i++
	}
	any := false
	for ; i < len(s) && isDigit(s[i]); i++ {
		d.add(s[i], false)
		any = true
	}
	if i < len(s) && s[i] == '.' {
		i++
		for ; i < len(s) && isDigit(s[i]); i++ {
			d.add(s[i], true)
			any = true
		}
	}
	if !any {
		return Decimal(0, 0), s, false
	}
	i += d.exponent(s[i:])
	return d.value(), s[i:], true
}

// exponent parses e[+-]digits and returns its length, 0 if there is none.
func (d *decText) exponent(s []byte) int {
	if len(s) < 2 || s[0] != 'e' && s[0] != 'E' {
		return 0
	}
	i := 1
	neg := s[1] == '-'
	if neg || s[1] == '+' {
		i++
	}
	if i == len(s) || !isDigit(s[i]) {
		return 0
	}
	exp := 0
	for ; i < len(s) && isDigit(s[i]); i++ {
		exp = min(exp*10+int(s[i]-'0'), maxExponent)
	}
	if neg {
		exp = -exp
	}
	d.scale -= exp
	return i
}

func (d *decText) value() Value {
	scale := d.scale
	if d.n == 0 {
		return Decimal(0, uint8(min(max(scale, 0), d.scaleMax)))
	}
	if d.lost > 0 || d.n-scale > d.maxInteger() {
		return saturated(MaxDecimalPrecision, 0, d.neg)
	}
	scaleMax := d.scaleMax
	if d.buffer {
		scaleMax = min(scaleMax, (bufferWords-words(max(d.n-scale, 1)))*wordDigits)
	}
	digits := d.digits[:d.n]
	up := false
	if drop := scale - scaleMax; drop > 0 {
		if drop > len(digits) {
			return Decimal(0, uint8(scaleMax))
		}
		up = !d.buffer && digits[len(digits)-drop] >= '5'
		digits = digits[:len(digits)-drop]
		scale = scaleMax
	}
	if len(digits) <= narrowDecimalDigits && scale >= 0 {
		n := int64(0)
		for _, c := range digits {
			n = n*10 + int64(c-'0')
		}
		if up {
			n++
		}
		if d.neg {
			n = -n
		}
		return Decimal(n, uint8(scale))
	}
	n, _ := new(big.Int).SetString("0"+string(digits), 10)
	if up {
		n.Add(n, big.NewInt(1))
	}
	if scale < 0 {
		n.Mul(n, bigPow10(-scale))
		scale = 0
	}
	if d.neg {
		n.Neg(n)
	}
	if d.buffer {
		return fromBig(n, scale)
	}
	return fitDecimal(n, scale)
}

// fitDecimal rounds n·10^-scale to fewer fraction digits so that it has at most 65 digits.
func fitDecimal(n *big.Int, scale int) Value {
	for n.CmpAbs(maxUnscaled(MaxDecimalPrecision)) > 0 && scale > 0 {
		over := 1
		if bits := n.BitLen() - 216; bits > 4 {
			over = min(bits/4, scale)
		}
		n = bigDivRound(n, bigPow10(over), roundHalfUp)
		scale -= over
	}
	return fromBig(n, scale)
}

// saturated returns the largest decimal of a precision and scale, or the smallest if neg.
func saturated(precision, scale int, neg bool) Value {
	n := maxUnscaled(precision)
	if neg {
		n.Neg(n)
	}
	return fromBig(n, scale)
}

// DecimalFromFloat returns the decimal with the digits of the double's shortest text, as
// MySQL does.
func DecimalFromFloat(f float64) Value {
	var buf [40]byte
	v, _, _ := ParseDecimal(AppendFloat(buf[:0], f))
	return v
}
