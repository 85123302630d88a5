package types

import (
	"math"
	"math/bits"
)

// DefaultDivIncrement is div_precision_increment's default.
const DefaultDivIncrement = 4

// NoDivIncrement is a DivPrecisionIncrement of 0.
const NoDivIncrement = -1

// pow10 has the powers of ten that fit a uint64.
var pow10 = [20]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13,
	1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// The functions of this file compute with int64 if the numbers fit, else with big integers
// (decimalwide.go), so that decimals of up to 18 digits never allocate.

// DecimalFromUint returns n with scale 0.
func DecimalFromUint(n uint64) Value {
	if n <= math.MaxInt64 {
		return Decimal(int64(n), 0)
	}
	return wideFromWords(false, 0, n, 0)
}

// DecimalFromInt128 returns (hi·2^64 + lo) · 10^-scale.
func DecimalFromInt128(hi int64, lo uint64, scale uint8) Value {
	if hi == int64(lo)>>63 {
		return Decimal(int64(lo), scale)
	}
	neg := hi < 0
	h := uint64(hi)
	if neg {
		var carry uint64
		lo, carry = bits.Sub64(0, lo, 0)
		h, _ = bits.Sub64(0, h, carry)
	}
	return wideFromWords(neg, h, lo, scale)
}

// scaleUp returns n·10^by; ok is false if that does not fit an int64.
func scaleUp(n int64, by uint8) (int64, bool) {
	if by == 0 || n == 0 {
		return n, true
	}
	if int(by) >= len(pow10) {
		return 0, false
	}
	hi, lo := bits.Mul64(absInt(n), pow10[by])
	if hi != 0 || lo > math.MaxInt64 {
		return 0, false
	}
	if n < 0 {
		return -int64(lo), true
	}
	return int64(lo), true
}

func absInt(n int64) uint64 {
	if n < 0 {
		return uint64(-n) // right for MinInt64 too
	}
	return uint64(n)
}

// align returns the unscaled integers of a and b at their larger scale; ok is false if they
// do not fit int64.
func align(a, b *Value) (x, y int64, scale uint8, ok bool) {
	if a.B != nil || b.B != nil {
		return 0, 0, 0, false
	}
	scale = max(a.Scale, b.Scale)
	x, ok1 := scaleUp(a.N, scale-a.Scale)
	y, ok2 := scaleUp(b.N, scale-b.Scale)
	return x, y, scale, ok1 && ok2
}

// DecAdd returns a+b, or error 1690 beyond MySQL's buffer of 81 digits.
func DecAdd(a, b Value) (Value, error) {
	if x, y, scale, ok := align(&a, &b); ok {
		if s := x + y; (s > x) == (y > 0) {
			return Decimal(s, scale), nil
		}
	}
	return wideAdd(&a, &b)
}

// DecSub returns a-b, or error 1690 beyond MySQL's buffer of 81 digits.
func DecSub(a, b Value) (Value, error) {
	if x, y, scale, ok := align(&a, &b); ok {
		if s := x - y; (s < x) == (y > 0) {
			return Decimal(s, scale), nil
		}
	}
	return wideAdd(&a, ptr(DecNeg(b)))
}

func ptr(v Value) *Value { return &v }

// DecMul returns a*b, or error 1690 beyond MySQL's buffer of 81 digits. The scale is the sum of both scales,
// but at most 30.
func DecMul(a, b Value) (Value, error) {
	scale := a.Scale + b.Scale
	if a.B == nil && b.B == nil && scale <= MaxDecimalScale {
		hi, lo := bits.Mul64(absInt(a.N), absInt(b.N))
		if hi == 0 && lo <= math.MaxInt64 {
			if (a.N < 0) != (b.N < 0) {
				return Decimal(-int64(lo), scale), nil
			}
			return Decimal(int64(lo), scale), nil
		}
	}
	return wideMul(&a, &b)
}

// DecDiv returns a/b with incr more fraction digits than a, but at most 30. The quotient
// is truncated, as in MySQL, so that rounding it to a smaller scale later rounds once.
// shown is that later scale: if it is 30, there are no more digits to round by, and the
// quotient is rounded at once. ok is false for a division by zero.
func DecDiv(a, b Value, incr, shown int) (v Value, ok bool, err error) {
	if DecSign(b) == 0 {
		return Value{}, false, nil
	}
	scale := min(int(a.Scale)+incr, MaxDecimalScale)
	shift := scale - int(a.Scale) + int(b.Scale)
	if a.B == nil && b.B == nil && shift >= 0 && shift < len(pow10) {
		hi, lo := bits.Mul64(absInt(a.N), pow10[shift])
		d := absInt(b.N)
		if hi < d {
			q, r := bits.Div64(hi, lo, d)
			if q < math.MaxInt64 {
				if shown >= MaxDecimalScale && r >= d-r {
					q++
				}
				n := int64(q)
				if (a.N < 0) != (b.N < 0) {
					n = -n
				}
				return Decimal(n, uint8(scale)), true, nil
			}
		}
	}
	mode := roundTruncate
	if shown >= MaxDecimalScale {
		mode = roundHalfUp
	}
	v, err = wideDiv(&a, &b, scale, mode)
	return v, true, err
}

// DecIntDiv returns a/b truncated towards zero, with scale 0. ok is false if b is 0.
func DecIntDiv(a, b Value) (v Value, ok bool) {
	if DecSign(b) == 0 {
		return Value{}, false
	}
	if x, y, _, ok := align(&a, &b); ok && !(x == math.MinInt64 && y == -1) {
		return Decimal(x/y, 0), true
	}
	return wideIntDiv(&a, &b), true
}

// DecMod returns a % b with the sign of a. ok is false if b is 0.
func DecMod(a, b Value) (v Value, ok bool) {
	if DecSign(b) == 0 {
		return Value{}, false
	}
	if x, y, scale, ok := align(&a, &b); ok && y != -1 {
		return Decimal(x%y, scale), true
	}
	return wideMod(&a, &b), true
}

// DecNeg returns -a.
func DecNeg(a Value) Value {
	if a.B == nil && a.N != math.MinInt64 {
		a.N = -a.N
		return a
	}
	return wideNeg(&a)
}

// DecAbs returns |a|.
func DecAbs(a Value) Value {
	if DecSign(a) < 0 {
		return DecNeg(a)
	}
	return a
}

// DecSign returns -1, 0 or 1.
func DecSign(a Value) int {
	switch {
	case a.B != nil:
		return int(a.B[0])*2 - 1
	case a.N < 0:
		return -1
	case a.N > 0:
		return 1
	}
	return 0
}

// roundMode is how a number is rounded.
type roundMode uint8

const (
	roundHalfUp   roundMode = iota // half away from zero
	roundTruncate                  // towards zero
	roundFloor
	roundCeil
)

// DecRound returns a with exactly scale fraction digits, rounded half away from zero. A
// negative scale rounds digits before the point; the result has scale 0 then.
func DecRound(a Value, scale int) Value { return rescale(&a, scale, roundHalfUp) }

// DecTruncate is DecRound that truncates instead.
func DecTruncate(a Value, scale int) Value { return rescale(&a, scale, roundTruncate) }

// DecFloor returns the largest integer not above a.
func DecFloor(a Value) Value { return rescale(&a, 0, roundFloor) }

// DecCeil returns the smallest integer not below a.
func DecCeil(a Value) Value { return rescale(&a, 0, roundCeil) }

func rescale(a *Value, scale int, mode roundMode) Value {
	scale = min(scale, MaxDecimalScale)
	drop := int(a.Scale) - scale
	if drop == 0 {
		return *a
	}
	if a.B == nil {
		if drop < 0 {
			if n, ok := scaleUp(a.N, uint8(-drop)); ok {
				return Decimal(n, uint8(scale))
			}
		} else if drop < len(pow10)-1 {
			q := divRound(a.N, int64(pow10[drop]), mode)
			if scale >= 0 {
				return Decimal(q, uint8(scale))
			}
			if n, ok := scaleUp(q, uint8(-scale)); ok {
				return Decimal(n, 0)
			}
		}
	}
	return wideRescale(a, scale, mode)
}

func divRound(n, d int64, mode roundMode) int64 {
	q, r := n/d, n%d
	switch mode {
	case roundHalfUp:
		if absInt(r) >= uint64(d)-absInt(r) {
			if n < 0 {
				return q - 1
			}
			return q + 1
		}
	case roundFloor:
		if r < 0 {
			return q - 1
		}
	case roundCeil:
		if r > 0 {
			return q + 1
		}
	}
	return q
}

// DecCompare returns -1, 0 or 1.
func DecCompare(a, b Value) int {
	if a.B == nil && b.B == nil && a.Scale == b.Scale {
		return compareInts(a.N, b.N)
	}
	if x, y, _, ok := align(&a, &b); ok {
		return compareInts(x, y)
	}
	return wideCompare(&a, &b)
}

func compareInts(x, y int64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// DecPrecision returns the number of digits of a's unscaled integer, but at least its
// scale and 1.
func DecPrecision(a Value) int {
	n := 0
	if a.B != nil {
		n = wideDigits(&a)
	} else {
		for m := absInt(a.N); m > 0; m /= 10 {
			n++
		}
	}
	return max(n, int(a.Scale), 1)
}

// exactFloatMax is 2^53. All integers below it are exact as doubles.
const exactFloatMax = 1 << 53

// DecToFloat returns the nearest double.
func DecToFloat(a Value) float64 {
	if a.B == nil && absInt(a.N) < exactFloatMax && a.Scale < 20 {
		return float64(a.N) / float64(pow10[a.Scale]) // both exact, so one rounding
	}
	return wideToFloat(&a)
}

// DecToInt returns a rounded half away from zero. Out of range it returns the bound, and ok
// is false.
func DecToInt(a Value) (n int64, ok bool) {
	r := rescale(&a, 0, roundHalfUp)
	if r.B == nil {
		return r.N, true
	}
	if DecSign(r) < 0 {
		return math.MinInt64, false
	}
	return math.MaxInt64, false
}

// DecToUint is DecToInt for unsigned numbers.
func DecToUint(a Value) (n uint64, ok bool) {
	r := rescale(&a, 0, roundHalfUp)
	if r.B == nil {
		if r.N < 0 {
			return 0, false
		}
		return uint64(r.N), true
	}
	if DecSign(r) < 0 {
		return 0, false
	}
	return wideToUint(&r)
}

// AppendDecimal appends the text of a, with as many fraction digits as its scale.
func AppendDecimal(dst []byte, a Value) []byte {
	var buf [96]byte
	var digits []byte
	if a.B != nil {
		digits = wideText(buf[:0], &a)
	} else {
		digits = appendUintText(buf[:0], absInt(a.N))
	}
	if DecSign(a) < 0 {
		dst = append(dst, '-')
	}
	scale := int(a.Scale)
	if len(digits) <= scale {
		dst = append(dst, '0', '.')
		for n := len(digits); n < scale; n++ {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	}
	dst = append(dst, digits[:len(digits)-scale]...)
	if scale > 0 {
		dst = append(dst, '.')
		dst = append(dst, digits[len(digits)-scale:]...)
	}
	return dst
}
