package types

import (
	"bytes"
	"math/big"
	"math/bits"
	"strconv"
)

// Sign bytes of wide decimals. Value.B of a wide decimal is the sign byte and the
// magnitude of the unscaled integer, big-endian without leading zeros, which does not fit
// an int64. It is also the stored form. Numbers of one sign and scale are ordered by
// length, then by bytes.
//
// This uses math/big instead of a decimal library: MySQL's rules need only an unscaled
// integer with a scale, and known libraries return their coefficients only as text.
const (
	wideNegative = 0
	widePositive = 1
)

var bigTen = big.NewInt(10)

// bigPow10 returns 10^n.
func bigPow10(n int) *big.Int {
	if n < len(pow10) {
		return new(big.Int).SetUint64(pow10[n])
	}
	return new(big.Int).Exp(bigTen, big.NewInt(int64(n)), nil)
}

// maxUnscaled returns 10^precision - 1, the largest unscaled integer of a precision.
func maxUnscaled(precision int) *big.Int {
	n := bigPow10(precision)
	return n.Sub(n, big.NewInt(1))
}

func toBig(a *Value) *big.Int {
	if a.B == nil {
		return big.NewInt(a.N)
	}
	n := new(big.Int).SetBytes(a.B[1:])
	if a.B[0] == wideNegative {
		n.Neg(n)
	}
	return n
}

func fromBig(n *big.Int, scale int) Value {
	if n.IsInt64() {
		return Decimal(n.Int64(), uint8(scale))
	}
	b := make([]byte, 1+(n.BitLen()+7)/8)
	b[0] = widePositive
	if n.Sign() < 0 {
		b[0] = wideNegative
	}
	n.FillBytes(b[1:])
	return Value{K: KindDecimal, Scale: uint8(scale), B: b}
}

// MySQL computes decimals in buffers of nine words of nine digits, in which the words of the integer part and those of the fraction are apart.
const (
	wordDigits  = 9
	bufferWords = 9
)

func words(digits int) int { return (digits + wordDigits - 1) / wordDigits }

// checked returns n·10^-scale without the words of its fraction for which the buffer has no room, or error 1690 if it has none for the integer part.
func checked(n *big.Int, scale int) (Value, error) {
	// 2^215 is less than 10^65, and 65 digits fit however they are parted.
	if n.BitLen() <= 215 {
		return fromBig(n, scale), nil
	}
	digits := len(new(big.Int).Abs(n).Append(nil, 10))
	whole := words(max(digits-scale, 0))
	if whole > bufferWords {
		return Value{}, Errorf(ErDataOutOfRange, "DECIMAL", "")
	}
	if room := (bufferWords - whole) * wordDigits; room < scale {
		n, scale = new(big.Int).Quo(n, bigPow10(scale-room)), room
	}
	return fromBig(n, scale), nil
}

func wideFromWords(neg bool, hi, lo uint64, scale uint8) Value {
	n := new(big.Int).SetUint64(hi)
	n.Lsh(n, 64)
	n.Or(n, new(big.Int).SetUint64(lo))
	if neg {
		n.Neg(n)
	}
	return fromBig(n, int(scale))
}

func bigAlign(a, b *Value) (x, y *big.Int, scale int) {
	x, y = toBig(a), toBig(b)
	scale = int(max(a.Scale, b.Scale))
	if d := scale - int(a.Scale); d > 0 {
		x.Mul(x, bigPow10(d))
	}
	if d := scale - int(b.Scale); d > 0 {
		y.Mul(y, bigPow10(d))
	}
	return x, y, scale
}

func wideAdd(a, b *Value) (Value, error) {
	x, y, scale := bigAlign(a, b)
	return checked(x.Add(x, y), scale)
}

func wideMul(a, b *Value) (Value, error) {
	n := toBig(a)
	n.Mul(n, toBig(b))
	scale := int(a.Scale) + int(b.Scale)
	if scale > MaxDecimalScale {
		n = bigDivRound(n, bigPow10(scale-MaxDecimalScale), roundHalfUp)
		scale = MaxDecimalScale
	}
	return checked(n, scale)
}

func wideDiv(a, b *Value, scale int, mode roundMode) (Value, error) {
	x, y := toBig(a), toBig(b)
	if shift := scale - int(a.Scale) + int(b.Scale); shift >= 0 {
		x.Mul(x, bigPow10(shift))
	} else {
		y.Mul(y, bigPow10(-shift))
	}
	if y.Sign() < 0 {
		x.Neg(x)
		y.Neg(y)
	}
	return checked(bigDivRound(x, y, mode), scale)
}

// bigDivRound returns n/d, rounded, for d > 0. It does not change n and d.
func bigDivRound(n, d *big.Int, mode roundMode) *big.Int {
	q, r := new(big.Int).QuoRem(n, d, new(big.Int))
	step := int64(0)
	switch mode {
	case roundHalfUp:
		r.Lsh(r, 1)
		if r.CmpAbs(d) >= 0 {
			step = int64(n.Sign())
		}
	case roundFloor:
		if r.Sign() < 0 {
			step = -1
		}
	case roundCeil:
		if r.Sign() > 0 {
			step = 1
		}
	}
	if step != 0 {
		q.Add(q, big.NewInt(step))
	}
	return q
}

func wideIntDiv(a, b *Value) Value {
	x, y, _ := bigAlign(a, b)
	return fromBig(x.Quo(x, y), 0)
}

func wideMod(a, b *Value) Value {
	x, y, scale := bigAlign(a, b)
	return fromBig(x.Rem(x, y), scale)
}

func wideNeg(a *Value) Value {
	n := toBig(a)
	return fromBig(n.Neg(n), int(a.Scale))
}

func wideRescale(a *Value, scale int, mode roundMode) Value {
	n := toBig(a)
	drop := int(a.Scale) - scale
	if drop < 0 {
		n.Mul(n, bigPow10(-drop))
		return fromBig(n, scale)
	}
	if drop > 2*MaxDecimalPrecision {
		return Decimal(0, uint8(max(scale, 0)))
	}
	n = bigDivRound(n, bigPow10(drop), mode)
	if scale < 0 {
		n.Mul(n, bigPow10(-scale))
		scale = 0
	}
	return fromBig(n, scale)
}

func wideCompare(a, b *Value) int {
	if sa, sb := DecSign(*a), DecSign(*b); sa != sb {
		return compareInts(int64(sa), int64(sb))
	} else if a.Scale == b.Scale && a.B != nil && b.B != nil {
		r := compareInts(int64(len(a.B)), int64(len(b.B)))
		if r == 0 {
			r = bytes.Compare(a.B, b.B)
		}
		return r * sa
	}
	x, y, _ := bigAlign(a, b)
	return x.Cmp(y)
}

func wideText(dst []byte, a *Value) []byte {
	if len(a.B) <= 17 { // up to 128 bits, without allocation
		var hi, lo uint64
		for _, x := range a.B[1:] {
			hi = hi<<8 | lo>>56
			lo = lo<<8 | uint64(x)
		}
		return appendUint128Text(dst, hi, lo)
	}
	n := toBig(a)
	n.Abs(n)
	return n.Append(dst, 10)
}

func appendUint128Text(dst []byte, hi, lo uint64) []byte {
	const chunk = 1e19
	if hi == 0 {
		return appendUintText(dst, lo)
	}
	qh, rh := hi/chunk, hi%chunk
	ql, rem := bits.Div64(rh, lo, chunk)
	dst = appendUint128Text(dst, qh, ql)
	var buf [20]byte
	text := appendUintText(buf[:0], rem)
	for n := len(text); n < 19; n++ {
		dst = append(dst, '0')
	}
	return append(dst, text...)
}

func appendUintText(dst []byte, n uint64) []byte { return strconv.AppendUint(dst, n, 10) }

func wideDigits(a *Value) int {
	var buf [96]byte
	return len(wideText(buf[:0], a))
}

func wideToFloat(a *Value) float64 {
	var buf [128]byte
	f, _ := strconv.ParseFloat(string(AppendDecimal(buf[:0], *a)), 64)
	return f
}

func wideToUint(a *Value) (uint64, bool) {
	n := toBig(a)
	if n.IsUint64() {
		return n.Uint64(), true
	}
	return ^uint64(0), false
}

// trimWide returns a without trailing zeros of the fraction.
func trimWide(a *Value) Value {
	n := toBig(a)
	scale := int(a.Scale)
	q, r := new(big.Int), new(big.Int)
	for scale > 0 {
		if q.QuoRem(n, bigTen, r); r.Sign() != 0 {
			break
		}
		n, q = q, n
		scale--
	}
	return fromBig(n, scale)
}

// wideFromProduct returns a*b+c at scale 0.
func wideFromProduct(a, b, c int64) Value {
	n := big.NewInt(a)
	n.Mul(n, big.NewInt(b))
	return fromBig(n.Add(n, big.NewInt(c)), 0)
}
