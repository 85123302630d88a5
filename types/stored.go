package types

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Dates and times are stored in units of the last fraction digit of their column. Both
// tables are indexed by its number of fraction digits.
var microsPerUnit = [MaxFsp + 1]int64{1e6, 1e5, 1e4, 1e3, 1e2, 10, 1}

var unitsPerSecond = [MaxFsp + 1]int64{1, 10, 1e2, 1e3, 1e4, 1e5, 1e6}

// compactInt returns the integer for v in keys and rows. It has the order of the values;
// expandInt is its inverse.
func compactInt(v *Value, t *Type) int64 {
	switch v.K {
	case KindDate:
		return v.N >> packedDateShift
	case KindDatetime:
		fsp := t.Scale
		return (v.N>>packedMicroBits)*unitsPerSecond[fsp] + (v.N&packedMicroMask)/microsPerUnit[fsp]
	case KindTimestamp, KindTime:
		return v.N / microsPerUnit[t.Scale]
	}
	return v.N
}

// expandInt returns the value of type t whose compactInt is n.
func expandInt(n int64, t *Type) Value {
	k := typeKinds[t.ID]
	switch k {
	case KindInt:
		if t.Unsigned {
			k = KindUint
		}
	case KindDecimal:
		return Value{K: KindDecimal, Scale: uint8(t.Scale), N: n}
	case KindDate:
		return Value{K: KindDate, N: n << packedDateShift}
	case KindDatetime:
		u := unitsPerSecond[t.Scale]
		return Datetime((n/u)<<packedMicroBits|(n%u)*microsPerUnit[t.Scale], uint8(t.Scale))
	case KindTimestamp, KindTime:
		return Value{K: k, Scale: uint8(t.Scale), N: n * microsPerUnit[t.Scale]}
	case KindEnum:
		return t.EnumValue(uint64(n))
	case KindSet:
		return t.SetValue(uint64(n))
	case KindBit:
		return Value{K: KindBit, Scale: uint8(t.BitBytes()), N: n}
	}
	return Value{K: k, N: n}
}

// BitBytes returns how many bytes a BIT column has as a string.
func (t *Type) BitBytes() int {
	if t.Length <= 0 || t.Length > 64 {
		return 8
	}
	return int(t.Length+7) / 8
}

// EnumValue returns the ENUM value of a 1-based index. Its text is empty if there is no
// such member.
func (t *Type) EnumValue(index uint64) Value {
	v := Value{K: KindEnum, Coll: t.Coll, N: int64(index), B: emptyBytes}
	if index >= 1 && index <= uint64(len(t.Elems)) {
		v.B = bytesOf(t.Elems[index-1])
	}
	return v
}

// SetValue returns the SET value of a bit mask. It allocates if more than one bit is set.
func (t *Type) SetValue(mask uint64) Value {
	v := Value{K: KindSet, Coll: t.Coll, N: int64(mask), B: emptyBytes}
	if bits.OnesCount64(mask) == 1 {
		if i := bits.TrailingZeros64(mask); i < len(t.Elems) {
			v.B = bytesOf(t.Elems[i])
		}
		return v
	}
	if mask != 0 {
		v.B = t.appendSet(nil, mask)
	}
	return v
}

func (t *Type) appendSet(dst []byte, mask uint64) []byte {
	first, cs := true, t.Coll.Charset()
	for i, e := range t.Elems {
		if mask>>uint(i)&1 == 0 {
			continue
		}
		if !first {
			dst, _ = cs.appendRune(dst, ',')
		}
		first = false
		dst = append(dst, e...)
	}
	return dst
}

// AppendStored appends the stored form of v (see the package documentation). v must not be
// NULL, and must have t's kind and scale, as a result of Convert.
func AppendStored(dst []byte, v Value, t *Type) []byte {
	switch v.K {
	case KindString, KindJSON:
		return append(dst, v.B...)
	case KindFloat:
		if t.ID == TypeFloat {
			return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(v.Float64())))
		}
		return binary.LittleEndian.AppendUint64(dst, uint64(v.N))
	case KindDecimal:
		if v.B != nil {
			return append(dst, v.B...)
		}
		return appendStoredInt(dst, v.N)
	case KindUint, KindEnum, KindSet, KindBit:
		return appendStoredUint(dst, uint64(v.N))
	}
	return appendStoredInt(dst, compactInt(&v, t))
}

// appendStoredInt appends n in two's complement, little-endian, in as few bytes as possible;
// zero has none.
func appendStoredInt(dst []byte, n int64) []byte {
	if n == 0 {
		return dst
	}
	for ; n < -128 || n > 127; n >>= 8 {
		dst = append(dst, byte(n))
	}
	return append(dst, byte(n))
}

func appendStoredUint(dst []byte, n uint64) []byte {
	for ; n != 0; n >>= 8 {
		dst = append(dst, byte(n))
	}
	return dst
}

// storedUint decodes at most 8 little-endian bytes.
func storedUint(b []byte) uint64 {
	switch len(b) {
	case 0:
		return 0
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	case 8:
		return binary.LittleEndian.Uint64(b)
	}
	var n uint64
	for i := min(len(b), 8) - 1; i >= 0; i-- {
		n = n<<8 | uint64(b[i])
	}
	return n
}

// storedInt decodes at most 8 little-endian bytes in two's complement.
func storedInt(b []byte) int64 {
	if len(b) == 0 {
		return 0
	}
	shift := uint(64 - 8*min(len(b), 8))
	return int64(storedUint(b)<<shift) >> shift
}

// DecodeStored returns the value of stored bytes; B shares the memory of b. For bytes that
// are not valid (ValidStored) it returns any value of the kind, without a panic.
func DecodeStored(b []byte, t *Type) Value {
	switch typeKinds[t.ID] {
	case KindString:
		return String(b, t.stringColl())
	case KindInt:
		if t.Unsigned {
			return Value{K: KindUint, N: int64(storedUint(b))}
		}
		return Value{K: KindInt, N: storedInt(b)}
	case KindFloat:
		v := Float(storedFloat(b, t))
		if t.ID == TypeFloat {
			v.Scale = SinglePrecision
		}
		return v
	case KindDecimal:
		if len(b) > 8 {
			return Value{K: KindDecimal, Scale: uint8(t.Scale), B: b}
		}
		return Value{K: KindDecimal, Scale: uint8(t.Scale), N: storedInt(b)}
	case KindUint, KindEnum, KindSet, KindBit:
		return expandInt(int64(storedUint(b)), t)
	case KindJSON:
		return JSON(b)
	case KindNull:
		return Value{}
	}
	return expandInt(storedInt(b), t)
}

func storedFloat(b []byte, t *Type) float64 {
	if t.ID == TypeFloat && len(b) >= 4 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	if len(b) < 8 {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// ValidStored reports whether b may be the stored form of a value of type t. It is for
// checks for corruption, not for every read.
func ValidStored(b []byte, t *Type) bool {
	switch typeKinds[t.ID] {
	case KindString, KindJSON:
		return true
	case KindFloat:
		return len(b) == 8 && t.ID == TypeDouble || len(b) == 4 && t.ID == TypeFloat
	case KindDecimal:
		if len(b) > 8 {
			return len(b) <= 1+maxWideBytes && b[0] <= widePositive && b[1] != 0
		}
		return len(b) == len(appendStoredInt(nil, storedInt(b)))
	case KindUint, KindEnum, KindSet, KindBit:
		return len(b) <= 8 && (len(b) == 0 || b[len(b)-1] != 0)
	case KindNull:
		return len(b) == 0
	}
	if t.Unsigned {
		return len(b) <= 8 && (len(b) == 0 || b[len(b)-1] != 0)
	}
	return len(b) <= 8 && len(b) == len(appendStoredInt(nil, storedInt(b)))
}
