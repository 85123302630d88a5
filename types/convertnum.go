package types

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// float converts to FLOAT and DOUBLE, with (m,d) or without.
func (c *conversion) float(v *Value) (Value, error) {
	var f float64
	var err error
	saturated := false
	if v.K == KindString {
		b := plainText(v)
		var used int
		f, used = ParseFloat(b)
		saturated = math.Abs(f) == math.MaxFloat64 && isBeyondFloat(b[:used])
		if used == 0 || !onlySpace(b[used:]) {
			err = c.incorrect(strings.ToUpper(c.to.Name()), b)
		}
	} else {
		f = ToFloat(c.ctx, v)
	}
	if err != nil {
		return Value{}, err
	}
	limit := math.MaxFloat64
	if c.to.ID == TypeFloat {
		limit = math.MaxFloat32
	}
	if c.to.Length > 0 && c.to.Scale >= 0 {
		scale := math.Pow10(int(c.to.Scale))
		limit = math.Pow10(int(c.to.Length)-int(c.to.Scale)) - 1/scale
		whole := math.Floor(f) // MySQL rounds the fraction alone: 1.5 is 1 without decimals
		if r := whole + math.RoundToEven((f-whole)*scale)/scale; !math.IsInf(r, 0) && !math.IsNaN(r) {
			f = r
		}
	}
	switch {
	case f != f:
		f, err = 0, c.outOfRange()
	case c.to.Unsigned && f < 0:
		f, err = 0, c.outOfRange()
	case f > limit:
		f, err = limit, c.outOfRange()
	case f < -limit:
		f, err = -limit, c.outOfRange()
	case saturated:
		err = c.outOfRange()
	}
	if c.to.ID == TypeFloat {
		return Float32(f), err
	}
	return Float(f), err
}

// isBeyondFloat reports whether a number is beyond the largest double, which ParseFloat
// returns for both.
func isBeyondFloat(number []byte) bool {
	number = bytes.TrimSpace(number)
	if len(number) > floatTextMax {
		number = shortFloat(number)
	}
	_, err := strconv.ParseFloat(stringOf(number), 64)
	return err != nil
}

// decimal converts to DECIMAL(p,s). More than s fraction digits are rounded, with a note;
// more than p-s digits before the point are out of range.
func (c *conversion) decimal(v *Value) (Value, error) {
	d := *v
	switch v.K {
	case KindDecimal:
	case KindInt:
		d = Decimal(v.N, 0)
	case KindString:
		b := plainText(v)
		var rest []byte
		var ok bool
		if d, rest, ok = ParseDecimal(b); !ok || !onlySpace(rest) {
			if err := c.incorrect("decimal", b); err != nil {
				return Value{}, err
			}
		}
	default:
		d = ToDecimal(c.ctx, v)
	}
	scale := int(c.to.Scale)
	whole := d
	if int(d.Scale) != scale {
		d = rescale(&d, scale, roundHalfUp)
	}
	if c.to.Unsigned && DecSign(d) < 0 {
		return Decimal(0, uint8(scale)), c.outOfRange()
	}
	if !decimalFits(&d, int(c.to.Length)) {
		return saturated(int(c.to.Length), scale, DecSign(d) < 0), c.outOfRange()
	}
	if int(whole.Scale) > scale && v.K != KindFloat && DecCompare(whole, d) != 0 {
		c.note()
	}
	return d, nil
}

// decimalFits reports whether the unscaled integer of d has at most precision digits.
func decimalFits(d *Value, precision int) bool {
	if d.B == nil {
		return precision >= len(pow10) || absInt(d.N) < pow10[precision]
	}
	if precision <= narrowDecimalDigits {
		return false
	}
	return wideDigits(d) <= precision
}
