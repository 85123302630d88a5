package expr

import "math"

// Arc tangent and tangent are rounded once, as those of the C library, that MySQL calls, nearly always are. Go's have an error in the last digit of
// every tenth result, which a remainder by them makes visible. So they are computed as a sum of two doubles, of which the second has the digits
// beyond the first: the argument's distance from the next eighth is at most a sixteenth, where a few terms of the series are enough and all but the
// first of them are so small that a double holds them. That takes two to three times as long as Go's. Numbers of 200 bits, without their tables, took
// two thousand times as long and made a hundred allocations.

// double is the sum of two doubles; lo is at most half a digit of hi.
type double struct{ hi, lo float64 }

const (
	eighths    = 8
	tangentMax = 1e6    // the largest angle of which multiples of π/2 are taken off with enough digits
	tinyMax    = 1e-270 // below it the remainder of a division could be too small for a double
	tinyScale  = 1e40
)

// halfPiParts add up to π/2. A multiple of the first two by 20 bits is exact.
var halfPiParts = [4]float64{0x1.921fb544p+00, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69, 0x1.129024e088a68p-123}

var halfPi, wholePi = double{0x1.921fb54442d18p+00, 0x1.1a62633145c07p-54}, double{0x1.921fb54442d18p+01, 0x1.1a62633145c07p-53}

// arcTangents are those of 0, 1/8, …, 1.
var arcTangents = [eighths + 1]double{
	{}, {0x1.fd5ba9aac2f6ep-04, -0x1.cd37686760c17p-59}, {0x1.f5b75f92c80ddp-03, 0x1.8ab6e3cf7afbdp-57}, {0x1.6f61941e4def1p-02, -0x1.c63aae6f6e918p-56},
	{0x1.dac670561bb4fp-02, 0x1.a2b7f222f65e2p-56}, {0x1.1e00babdefeb4p-01, -0x1.928df287a668fp-58}, {0x1.4978fa3269ee1p-01, 0x1.2419a87f2a458p-56},
	{0x1.700a7c5784634p-01, -0x1.8c34d25aadef6p-56}, {0x1.921fb54442d18p-01, 0x1.1a62633145c07p-55},
}

// tangents are those of 0, 1/8, …, 6/8; π/4 is next to the last.
var tangents = [...]double{
	{}, {0x1.01577af1511a5p-03, -0x1.fba60a478d2bp-59}, {0x1.05785a43c4c56p-02, -0x1.9c6bfe7769a3dp-58}, {0x1.9312d859bf8bp-02, -0x1.de9ddeb7d418p-57},
	{0x1.17b4f5bf3474ap-01, 0x1.0c5e59201e209p-55}, {0x1.7166689d41efp-01, -0x1.f44ffce65ed2bp-55}, {0x1.dcfa36110eeecp-01, -0x1.f3cf665127fd2p-57},
}

// sum returns a+b without an error.
func sum(a, b float64) double {
	s := a + b
	part := s - a
	return double{s, (a - (s - part)) + (b - part)}
}

// over returns a divided by b.
func (a double) over(b double) double {
	q := a.hi / b.hi
	return double{q, (math.FMA(-q, b.hi, a.hi) + a.lo - q*b.lo) / b.hi}
}

// plus returns a+b.
func (a double) plus(b double) double {
	s := sum(a.hi, b.hi)
	return double{s.hi, s.lo + a.lo + b.lo}
}

// atan returns the arc tangent of q, which is from 0 to 1: of the next eighth c, and of (q-c)/(1+qc).
func (q double) atan() double {
	i := int(q.hi*eighths + 0.5)
	if i > 0 {
		c := float64(i) / eighths
		p := q.hi * c
		one := sum(1, p)
		q = double{q.hi - c, q.lo}.over(double{one.hi, one.lo + math.FMA(q.hi, c, -p) + q.lo*c})
	}
	z := q.hi * q.hi
	rest := z * (-1.0/3 + z*(1.0/5+z*(-1.0/7+z*(1.0/9+z*(-1.0/11+z*(1.0/13-z*(1.0/15)))))))
	return arcTangents[i].plus(double{q.hi, q.lo + (q.hi*rest - q.lo*z)})
}

func arcTangent(x float64) float64 {
	a := math.Abs(x)
	switch {
	case a <= 1:
		f := double{hi: a}.atan()
		return math.Copysign(f.hi+f.lo, x)
	case a < 1e20:
		f := double{hi: 1}.over(double{hi: a}).atan()
		f = halfPi.plus(double{-f.hi, -f.lo})
		return math.Copysign(f.hi+f.lo, x)
	}
	return math.Atan(x) // π/2, or NaN
}

// arcTangent2 is the angle of the point (x, y).
func arcTangent2(y, x float64) float64 {
	a, b := math.Abs(y), math.Abs(x)
	if !(a > 0 && b > 0 && a <= math.MaxFloat64 && b <= math.MaxFloat64) {
		return math.Atan2(y, x)
	}
	base, sign := double{}, 1.0
	if a > b {
		a, b, base, sign = b, a, halfPi, -math.Copysign(1, x)
	} else if x < 0 {
		base, sign = wholePi, -1
	}
	if b < tinyMax {
		a, b = a*tinyScale, b*tinyScale
	}
	f := double{hi: a}.over(double{hi: b}).atan()
	f = base.plus(double{sign * f.hi, sign * f.lo})
	return math.Copysign(f.hi+f.lo, y)
}

// tangent takes multiples of π/2 off, and makes tan(c+d) = (tan c + tan d)/(1 - tan c · tan d) of the next eighth c and the distance d from it.
func tangent(x float64) float64 {
	if x == 0 || !(math.Abs(x) <= tangentMax) {
		return math.Tan(x)
	}
	quarters := math.Round(x / (math.Pi / 2))
	second, third := quarters*halfPiParts[1], quarters*halfPiParts[2]
	near := sum(x-quarters*halfPiParts[0], -second)
	r := sum(near.hi, -third)
	r = sum(r.hi, r.lo+near.lo-math.FMA(quarters, halfPiParts[2], -third)-quarters*halfPiParts[3])
	negative := r.hi < 0
	if negative {
		r = double{-r.hi, -r.lo}
	}
	i := int(r.hi*eighths + 0.5)
	r.hi -= float64(i) / eighths
	z := r.hi * r.hi
	rest := z * (1.0/3 + z*(2.0/15+z*(17.0/315+z*(62.0/2835+z*(1382.0/155925+z*(21844.0/6081075+z*(929569.0/638512875)))))))
	c, d := tangents[i], sum(r.hi, r.lo+(r.hi*rest+r.lo*z))
	p := c.hi * d.hi
	above, below := c.plus(d), sum(1, -p)
	below.lo -= math.FMA(c.hi, d.hi, -p) + c.hi*d.lo + c.lo*d.hi
	if int64(quarters)%2 != 0 {
		above, below, negative = below, above, !negative
	}
	f := above.over(below)
	if negative {
		return -f.hi - f.lo
	}
	return f.hi + f.lo
}
