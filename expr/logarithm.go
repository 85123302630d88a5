package expr

import "math"

// Logarithms are right to the last digit, as those of the C library that MySQL uses. The functions of package math are not: math.Log10 goes by the logarithm to
// base 2, and one result in ten ends in another digit.

const (
	// ln2 in two parts, of which the first has zeros at its end, so that its multiples are exact.
	ln2High, ln2Low = 6.93147180369123816490e-01, 1.90821492927058770002e-10
	// log10(e) in two parts.
	log10eHigh, log10eLow = 0.4342944819032518, 1.098319650216765e-17
)

// logOf returns the natural logarithm of x > 0 in twice the precision: 2·artanh((m-1)/(m+1)) of a number m near 1 and k·ln 2, where x is m·2^k.
func logOf(x float64) double {
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	s := double{hi: m - 1}.over(sum(max(m, 1), min(m, 1)))
	z := s.hi * s.hi
	rest := 0.0
	for n := 25.0; n >= 3; n -= 2 {
		rest = z * (rest + 1/n)
	}
	l := sum(2*s.hi, 2*(s.lo+(s.hi*rest+s.lo*z)))
	if k == 0 {
		return l
	}
	return sum(float64(k)*ln2High, float64(k)*ln2Low).plus(l)
}

func logarithm(x float64) float64 {
	l := logOf(x)
	return l.hi + l.lo
}

func log2(x float64) float64 {
	l := logOf(x).over(double{0.6931471805599453, 2.3190468138462996e-17})
	return l.hi + l.lo
}

func log10(x float64) float64 {
	l := logOf(x)
	p := l.hi * log10eHigh
	return p + (math.FMA(l.hi, log10eHigh, -p) + l.hi*log10eLow + l.lo*log10eHigh)
}
