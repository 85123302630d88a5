package types

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Odd constants with well spread bits, for multiplicative mixing.
const (
	mixA = 0x9E3779B97F4A7C15
	mixB = 0xD1B54A32D192ED03
)

// mix folds the 128-bit product of its arguments.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^mixA, b^mixB)
	return hi ^ lo
}

// hashBytes hashes b. It is the same in every process, so that plans, spills
// and tests are reproducible; it is no defence against chosen collisions.
func hashBytes(seed uint64, b []byte) uint64 {
	h := seed ^ uint64(len(b))*mixA
	for len(b) >= 8 {
		h = mix(h, binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	var tail uint64
	for i := len(b) - 1; i >= 0; i-- {
		tail = tail<<8 | uint64(b[i])
	}
	return mix(h, tail)
}

// Seeds that keep NULL and the kinds apart where they never compare equal.
const (
	hashNull    = 0x6E756C6C
	hashNumber  = 0x6E756D62
	hashFloat   = 0x666C6F61
	hashWide    = 0x77696465
	hashTime    = 0x74696D65
	hashInstant = 0x696E7374
)

// Hash64 hashes v so that values which Compare finds equal hash alike: integers,
// decimals of any scale and enums by number; strings under coll; dates and
// datetimes together; JSON by its order. Floats hash apart from exact numbers: callers bring the
// two sides of a join or a union to one type first.
func Hash64(seed uint64, v Value, coll CollationID) uint64 {
	switch v.K {
	case KindNull:
		return mix(seed, hashNull)
	case KindInt, KindUint, KindBit:
		return mix(seed^hashNumber, uint64(v.N))
	case KindEnum, KindSet, KindString:
		if coll == 0 {
			coll = v.Coll
		}
		return hashString(seed, v.B, coll)
	case KindFloat:
		f := v.Float64()
		if f == 0 {
			return mix(seed^hashFloat, 0) // -0 equals 0
		}
		return mix(seed^hashFloat, math.Float64bits(f))
	case KindDecimal:
		return hashDecimal(seed, &v)
	case KindDate, KindDatetime:
		return mix(seed^hashTime, uint64(v.N))
	case KindTimestamp:
		return mix(seed^hashInstant, uint64(v.N))
	case KindTime:
		return mix(seed^hashTime, uint64(v.N))
	}
	return hashJSON(seed, v.B)
}

// hashDecimal drops trailing zeros, so that 1.50 and 1.5 and the integer 3 and
// 3.0 hash alike.
func hashDecimal(seed uint64, v *Value) uint64 {
	d := *v
	for d.Scale > 0 && d.B == nil && d.N%10 == 0 {
		d.N /= 10
		d.Scale--
	}
	if d.B != nil {
		d = trimWide(&d)
	}
	h := seed
	if d.Scale > 0 {
		h = mix(seed, uint64(d.Scale))
	}
	if d.B == nil {
		return mix(h^hashNumber, uint64(d.N))
	}
	if n, ok := wideToUint(&d); ok && DecSign(d) > 0 {
		return mix(h^hashNumber, n) // as the unsigned integer of that value
	}
	return hashBytes(h^hashWide, d.B)
}
