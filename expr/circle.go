package expr

import (
	"math"
	"math/big"
)

// Arc tangent and tangent are rounded once, as those of the C library, that MySQL calls, nearly always are. Go's have an error in the last digit of
// every tenth result, which a remainder by them makes visible.

const (
	circleBits  = 200 // of the numbers that are computed with
	circleExact = 140 // a term below 2^-circleExact of the sum is the last
	tangentMax  = 1e6 // the largest angle whose multiples of π/2 are taken off with enough digits
)

var halfPi = func() *big.Float {
	f, _, _ := big.ParseFloat("1.57079632679489661923132169163975144209858469968755291048747229615390820314310449931401741267105853399107", 10, circleBits, big.ToNearestEven)
	return f
}()

func bigOf(f float64) *big.Float { return new(big.Float).SetPrec(circleBits).SetFloat64(f) }

// bigAtan returns the arc tangent of t, which is not negative: of half the angle three times, by its series.
func bigAtan(t *big.Float) *big.Float {
	one := bigOf(1)
	inverse := t.Cmp(one) > 0
	if inverse {
		t = new(big.Float).Quo(one, t)
	}
	const halvings = 3
	for range halvings {
		square := new(big.Float).Mul(t, t)
		root := new(big.Float).Sqrt(square.Add(square, one))
		t = new(big.Float).Quo(t, root.Add(root, one))
	}
	sum := series(t, func(k int64) int64 { return 2*k + 1 }, false)
	sum.Mul(sum, bigOf(1<<halvings))
	if inverse {
		return new(big.Float).Sub(halfPi, sum)
	}
	return sum
}

// series returns the sum of the terms t^(2k+1)/divisor(k) with alternating signs; if product, divisor(k) divides the term before it, too.
func series(t *big.Float, divisor func(k int64) int64, product bool) *big.Float {
	sum, power := bigOf(0), new(big.Float).Set(t)
	square := new(big.Float).Mul(t, t)
	for k := int64(0); power.Sign() != 0; k++ {
		term := new(big.Float).Quo(power, new(big.Float).SetPrec(circleBits).SetInt64(divisor(k)))
		if product {
			power.Set(term)
		}
		sum.Add(sum, term)
		if sum.MantExp(nil)-term.MantExp(nil) > circleExact {
			break
		}
		power.Neg(power.Mul(power, square))
	}
	return sum
}

func arcTangent(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return math.Atan(x)
	}
	f, _ := bigAtan(bigOf(math.Abs(x))).Float64()
	return math.Copysign(f, x)
}

// arcTangent2 is the angle of the point (x, y).
func arcTangent2(y, x float64) float64 {
	if x == 0 || y == 0 || math.IsNaN(x+y) || math.IsInf(x, 0) || math.IsInf(y, 0) {
		return math.Atan2(y, x)
	}
	a := bigAtan(new(big.Float).Quo(bigOf(math.Abs(y)), bigOf(math.Abs(x))))
	if x < 0 {
		a.Sub(new(big.Float).Add(halfPi, halfPi), a)
	}
	f, _ := a.Float64()
	return math.Copysign(f, y)
}

func tangent(x float64) float64 {
	if x == 0 || !(math.Abs(x) <= tangentMax) {
		return math.Tan(x)
	}
	quarters := math.Round(x / (math.Pi / 2))
	r := new(big.Float).Sub(bigOf(x), new(big.Float).Mul(halfPi, bigOf(quarters)))
	if r.Sign() == 0 {
		return math.Tan(x)
	}
	sine := series(r, func(k int64) int64 { return max(2*k*(2*k+1), 1) }, true)
	cosine := new(big.Float).Mul(sine, sine)
	cosine.Sqrt(cosine.Sub(bigOf(1), cosine)) // r is at most π/4
	if int64(quarters)%2 != 0 {
		sine, cosine = cosine.Neg(cosine), sine
	}
	f, _ := new(big.Float).Quo(sine, cosine).Float64()
	return f
}
