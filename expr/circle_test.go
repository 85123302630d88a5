package expr

import (
	"math"
	"math/big"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
)

// TestCircle compares with results of the C library, that MySQL showed.
func TestCircle(t *testing.T) {
	for _, c := range []struct{ got, want float64 }{
		{arcTangent(-2.25), -1.1525719972156676}, {arcTangent(-3.5), -1.2924966677897853}, {arcTangent(1e15), 1.5707963267948957}, {arcTangent(7), 1.4288992721907328},
		{1 / tangent(5), -0.2958129155327455}, {1 / tangent(1), 0.6420926159343306},
		{arcTangent2(1, -1), 3 * math.Pi / 4}, {arcTangent2(-1, -1), -3 * math.Pi / 4}, {arcTangent2(1, 1), math.Pi / 4}, {tangent(1e-300), 1e-300}, {arcTangent(1e-300), 1e-300},
		{arcTangent2(0, -1), math.Pi}, {arcTangent2(math.Inf(1), 1), math.Pi / 2}, {arcTangent2(1, 0), math.Pi / 2}, {arcTangent(math.Inf(-1)), -math.Pi / 2},
		{arcTangent2(5e-324, 5e-324), math.Pi / 4}, {arcTangent2(1e-310, 3e-310), 0.3217505543966422}, {arcTangent2(1e308, 1e308), math.Pi / 4},
	} {
		if c.got != c.want {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
}

// TestCircleExact compares with the same functions of 200 bits: one result in a thousand may be rounded to the neighbour, where the exact one is
// nearly between both.
func TestCircleExact(t *testing.T) {
	rnd := testkit.Rand(testkit.Seed(t), 0)
	const values = 20_000
	any := func(digits float64) float64 { return rnd.NormFloat64() * math.Pow(10, digits*(2*rnd.Float64()-1)) }
	for _, f := range []struct {
		name       string
		got, exact func(x float64) float64
		digits     float64
	}{
		{"arc tangent", arcTangent, func(x float64) float64 { return exactArcTangent2(x, 1) }, 3},
		{"arc tangent", arcTangent, func(x float64) float64 { return exactArcTangent2(x, 1) }, 300},
		{"arc tangent of a point", func(x float64) float64 { return arcTangent2(x, 0.3-x) }, func(x float64) float64 { return exactArcTangent2(x, 0.3-x) }, 3},
		{"arc tangent of a point", func(x float64) float64 { return arcTangent2(x, -1e-290) }, func(x float64) float64 { return exactArcTangent2(x, -1e-290) }, 300},
		{"tangent", tangent, exactTangent, 1},
		{"tangent", tangent, exactTangent, 5},
	} {
		neighbours := 0
		for range values / 6 {
			x := any(f.digits)
			if f.name == "tangent" && math.Abs(x) > tangentMax {
				continue
			}
			got, want := f.got(x), f.exact(x)
			switch {
			case got == want:
			case got == math.Nextafter(want, got):
				neighbours++
			default:
				t.Errorf("%s of %v: %v, want %v", f.name, x, got, want)
			}
		}
		if neighbours > values/1000 {
			t.Errorf("%s: %d of %d are rounded to the neighbour", f.name, neighbours, values)
		}
	}
	for quarters := 1.0; quarters < 6e5; quarters += 997 { // next to the poles and zeros
		x := quarters * (math.Pi / 2)
		if got, want := tangent(x), exactTangent(x); got != want {
			t.Errorf("tangent of %v: %v, want %v", x, got, want)
		}
	}
}

const (
	circleBits  = 200 // of the numbers that are computed with
	circleExact = 140 // a term below 2^-circleExact of the sum is the last
)

var bigHalfPi = func() *big.Float {
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
		return new(big.Float).Sub(bigHalfPi, sum)
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

// exactArcTangent2 is the angle of the point (x, y), and exactTangent the tangent, rounded once.
func exactArcTangent2(y, x float64) float64 {
	a := bigAtan(new(big.Float).Quo(bigOf(math.Abs(y)), bigOf(math.Abs(x))))
	if x < 0 {
		a.Sub(new(big.Float).Add(bigHalfPi, bigHalfPi), a)
	}
	f, _ := a.Float64()
	return math.Copysign(f, y)
}

func exactTangent(x float64) float64 {
	quarters := math.Round(x / (math.Pi / 2))
	r := new(big.Float).Sub(bigOf(x), new(big.Float).Mul(bigHalfPi, bigOf(quarters)))
	sine := series(r, func(k int64) int64 { return max(2*k*(2*k+1), 1) }, true)
	cosine := new(big.Float).Mul(sine, sine)
	cosine.Sqrt(cosine.Sub(bigOf(1), cosine)) // r is at most π/4
	if int64(quarters)%2 != 0 {
		sine, cosine = cosine.Neg(cosine), sine
	}
	f, _ := new(big.Float).Quo(sine, cosine).Float64()
	return f
}
