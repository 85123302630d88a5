package types

import "math/big"

// maxParsedDigits bounds the digits that a text may contribute: what MySQL keeps
// and one more for rounding.
const maxParsedDigits = MaxDecimalPrecision + MaxDecimalScale + 1

// maxLiteralScale is how many decimals a literal keeps, of 65 digits in all: more than any column, as in MySQL, whose limit is that of its
// buffer.
const maxLiteralScale = MaxDecimalPrecision

// maxExponent bounds exponents; beyond it a number is zero or saturates.
const maxExponent = 4096

// decText is the parsed shape of a number.
type decText struct {
	digits   [maxParsedDigits]byte // without leading zeros
	n        int                   // digits held
	scale    int                   // digits after the point, negative for trailing zeros
	scaleMax int                   // of digits after the point
	lost     int                   // integer digits that did not fit
	neg      bool
}

func (d *decText) add(c byte, fraction bool) {
	if fraction && d.scale > d.scaleMax {
		return // far beyond any column's scale
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

// ParseDecimal reads the longest numeric prefix of s after leading white space,
// exponents included. rest is what follows; ok is false when there is no
// number. Fractions are rounded to 30 digits; numbers beyond 65 digits become
// the largest one, which no narrower column accepts.
func ParseDecimal(s []byte) (v Value, rest []byte, ok bool) { return parseDecimal(s, MaxDecimalScale) }

// ParseDecimalLiteral is ParseDecimal of a literal in SQL text, which may have more decimals than a column.
func ParseDecimalLiteral(s []byte) (v Value, rest []byte, ok bool) {
	return parseDecimal(s, maxLiteralScale)
}

func parseDecimal(s []byte, scale int) (v Value, rest []byte, ok bool) {
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	d := decText{scaleMax: scale}
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

// exponent reads e[+-]digits and returns its bytes, 0 if there is none.
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
	if d.lost > 0 || d.n-scale > MaxDecimalPrecision {
		return saturated(MaxDecimalPrecision, 0, d.neg)
	}
	digits := d.digits[:d.n]
	up := false
	if drop := scale - d.scaleMax; drop > 0 {
		if drop > len(digits) {
			return Decimal(0, uint8(d.scaleMax))
		}
		up = digits[len(digits)-drop] >= '5'
		digits = digits[:len(digits)-drop]
		scale = d.scaleMax
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
	return fitDecimal(n, scale)
}

// fitDecimal drops fraction digits until 65 remain.
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

// saturated returns the largest number of a precision and scale.
func saturated(precision, scale int, neg bool) Value {
	n := maxUnscaled(precision)
	if neg {
		n.Neg(n)
	}
	return fromBig(n, scale)
}

// DecimalFromFloat returns the decimal of a double's shortest text, as MySQL does.
func DecimalFromFloat(f float64) Value {
	var buf [40]byte
	v, _, _ := ParseDecimal(AppendFloat(buf[:0], f))
	return v
}
