package types

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Odd constants with about as many ones as zeros, for mix.
const (
	mixA = 0x9E3779B97F4A7C15
	mixB = 0xD1B54A32D192ED03
)

// mix returns the xor of both halves of the 128-bit product of a and b, as wyhash does.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^mixA, b^mixB)
	return hi ^ lo
}

// hashBytes returns a hash of b. It is the same in every process, so that plans, spills
// and tests are reproducible, and does not resist chosen collisions.
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

// Seeds that make the hashes of values differ whose kinds are never equal.
const (
	hashNull    = 0x6E756C6C
	hashNumber  = 0x6E756D62
	hashFloat   = 0x666C6F61
	hashWide    = 0x77696465
	hashTime    = 0x74696D65
	hashInstant = 0x696E7374
)

// Hash64 returns a hash of v that is the same for values that Compare finds equal:
// integers and decimals of any scale by their number; strings, ENUM and SET by their
// text under coll; dates and datetimes alike; JSON by its key. Only doubles have other
// hashes than equal integers and decimals: callers convert both sides of a join or
// union to one type first.
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

// hashDecimal removes trailing zeros of the fraction, so that 1.50 has the hash of 1.5,
// and 3.0 that of the integer 3.
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
