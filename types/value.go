package types

import (
	"math"
	"unsafe"
)

// Kind says how a Value is represented and computed with. A column type has
// exactly one kind (Type.Kind); several column types share a kind.
type Kind uint8

// The kinds. The zero Kind is NULL, so the zero Value is NULL.
const (
	KindNull      Kind = iota
	KindInt            // N: signed integer.
	KindUint           // N: bits of a uint64. YEAR is of this kind too.
	KindFloat          // N: bits of a float64; Scale: SinglePrecision if it is a FLOAT's rounded float32.
	KindDecimal        // Scale; N: unscaled integer if B == nil, otherwise B: wide decimal.
	KindString         // B: bytes in the character set of Coll; binary strings have Coll Binary.
	KindDate           // N: packed, time part zero, comparable with KindDatetime.
	KindDatetime       // N: packed (see PackDatetime); Scale: fsp.
	KindTimestamp      // N: microseconds since 1970 UTC, 0 for the zero timestamp; Scale: fsp.
	KindTime           // N: signed microseconds; Scale: fsp.
	KindEnum           // N: 1-based index, 0 for the error value ''; B: the member's text; Coll.
	KindSet            // N: bits; B: members joined with commas; Coll.
	KindBit            // N: bits of a uint64; Scale: length in bytes as a string.
	KindJSON           // B: normalised JSON text in utf8mb4.
)

// Value is one SQL value. It is 40 bytes and is copied freely. B belongs to a row
// buffer, an arena or a Vector, and is valid as long as that says.
type Value struct {
	K     Kind
	Scale uint8       // decimal scale, or fractional second digits, or bytes of a BIT
	Coll  CollationID // strings, enums, sets
	N     int64
	B     []byte
}

// Null returns the NULL value.
func Null() Value { return Value{} }

// Int returns a signed integer.
func Int(n int64) Value { return Value{K: KindInt, N: n} }

// Uint returns an unsigned integer.
func Uint(n uint64) Value { return Value{K: KindUint, N: int64(n)} }

// Bool returns MySQL's truth value: the integer 1 or 0.
func Bool(b bool) Value {
	if b {
		return Value{K: KindInt, N: 1}
	}
	return Value{K: KindInt}
}

// Float returns a double. Negative zero is kept; keys and comparison treat it as zero.
func Float(f float64) Value { return Value{K: KindFloat, N: int64(math.Float64bits(f))} }

// String returns a string whose bytes are in the character set of c. b is borrowed.
func String(b []byte, c CollationID) Value {
	if b == nil {
		b = emptyBytes
	}
	return Value{K: KindString, Coll: c, B: b}
}

// Text returns a utf8mb4 string in the default collation. B shares the memory of s
// and must not be written.
func Text(s string) Value { return String(bytesOf(s), DefaultCollation) }

// Bytes returns a binary string. b is borrowed.
func Bytes(b []byte) Value { return String(b, Binary) }

// SinglePrecision in Value.Scale marks a KindFloat of a FLOAT column: as text it
// has six significant digits. Arithmetic returns unmarked values.
const SinglePrecision = 1

// Float32 returns a FLOAT: f rounded to single precision.
func Float32(f float64) Value {
	v := Float(float64(float32(f)))
	v.Scale = SinglePrecision
	return v
}

// Decimal returns the exact number unscaled * 10^-scale.
func Decimal(unscaled int64, scale uint8) Value {
	return Value{K: KindDecimal, N: unscaled, Scale: scale}
}

// Time returns a TIME of us microseconds with fsp fraction digits as text.
func Time(us int64, fsp uint8) Value { return Value{K: KindTime, N: us, Scale: fsp} }

// Date returns a DATE from a packed number (see PackDatetime).
func Date(packed int64) Value { return Value{K: KindDate, N: packed} }

// Datetime returns a DATETIME from a packed number (see PackDatetime).
func Datetime(packed int64, fsp uint8) Value {
	return Value{K: KindDatetime, N: packed, Scale: fsp}
}

// Timestamp returns a TIMESTAMP, us microseconds after 1970-01-01 UTC.
func Timestamp(us int64, fsp uint8) Value {
	return Value{K: KindTimestamp, N: us, Scale: fsp}
}

// JSON returns a JSON document; b is its normalised text and is borrowed.
func JSON(b []byte) Value { return Value{K: KindJSON, Coll: Utf8mb4Bin, B: b} }

// IsNull reports whether v is NULL.
func (v *Value) IsNull() bool { return v.K == KindNull }

// Int64 returns N of an integer, bit, enum, set or temporal value unchanged.
func (v *Value) Int64() int64 { return v.N }

// Uint64 returns N as an unsigned number.
func (v *Value) Uint64() uint64 { return uint64(v.N) }

// Float64 returns the number of a KindFloat value.
func (v *Value) Float64() float64 { return math.Float64frombits(uint64(v.N)) }

// IsString reports whether B is v's text: a string, ENUM, SET or JSON.
func (v *Value) IsString() bool {
	switch v.K {
	case KindString, KindEnum, KindSet, KindJSON:
		return true
	}
	return false
}

// IsBinary reports whether v is a binary string.
func (v *Value) IsBinary() bool { return v.K == KindString && v.Coll == Binary }

// IsTemporal reports whether v is a date or time.
func (v *Value) IsTemporal() bool { return v.K >= KindDate && v.K <= KindTime }

// IsNumeric reports whether v is an integer, a float or a decimal.
func (v *Value) IsNumeric() bool { return v.K >= KindInt && v.K <= KindDecimal }

// Clone returns v with a copy of B.
func (v Value) Clone() Value {
	if v.B != nil {
		v.B = append(make([]byte, 0, len(v.B)), v.B...)
	}
	return v
}

// MemSize returns the bytes that v occupies, for memory accounting.
func (v *Value) MemSize() int { return int(unsafe.Sizeof(*v)) + len(v.B) }

// emptyBytes is B of an empty string, which is not nil.
var emptyBytes = []byte{}

// bytesOf returns the bytes of s without copying; they must not be written.
func bytesOf(s string) []byte {
	if s == "" {
		return emptyBytes
	}
	return unsafe.Slice(unsafe.StringData(s), len(s))
}

// stringOf returns b as a string without copying; valid while b is unchanged.
func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
