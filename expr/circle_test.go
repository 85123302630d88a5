package expr

import (
	"math"
	"testing"
)

// TestCircle compares with results of the C library, that MySQL showed.
func TestCircle(t *testing.T) {
	for _, c := range []struct{ got, want float64 }{
		{arcTangent(-2.25), -1.1525719972156676}, {arcTangent(-3.5), -1.2924966677897853}, {arcTangent(1e15), 1.5707963267948957}, {arcTangent(7), 1.4288992721907328},
		{1 / tangent(5), -0.2958129155327455}, {1 / tangent(1), 0.6420926159343306},
		{arcTangent2(1, -1), 3 * math.Pi / 4}, {arcTangent2(-1, -1), -3 * math.Pi / 4}, {arcTangent2(1, 1), math.Pi / 4}, {tangent(1e-300), 1e-300}, {arcTangent(1e-300), 1e-300},
	} {
		if c.got != c.want {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
	for x := -20.0; x < 20; x += 0.37 {
		for _, p := range [][2]float64{{arcTangent(x), math.Atan(x)}, {tangent(x), math.Tan(x)}, {arcTangent2(x, 3-x), math.Atan2(x, 3-x)}} {
			if math.Abs(p[0]-p[1]) > 1e-14*max(math.Abs(p[1]), 1e-3) {
				t.Errorf("of %v: %v, and Go's %v", x, p[0], p[1])
			}
		}
	}
}
