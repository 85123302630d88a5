package types

import (
	"strconv"
	"strings"
)

// TypeID names a column type.
type TypeID uint8

// The column types. The zero TypeID is the type of the literal NULL. The numbers
// are stored in table descriptors: add new ones at the end only.
const (
	TypeNull TypeID = iota
	TypeTinyInt
	TypeSmallInt
	TypeMediumInt
	TypeInt
	TypeBigInt
	TypeFloat
	TypeDouble
	TypeDecimal
	TypeBit
	TypeYear
	TypeDate
	TypeTime
	TypeDatetime
	TypeTimestamp
	TypeChar
	TypeVarchar
	TypeBinary
	TypeVarbinary
	TypeTinyText
	TypeText
	TypeMediumText
	TypeLongText
	TypeTinyBlob
	TypeBlob
	TypeMediumBlob
	TypeLongBlob
	TypeEnum
	TypeSet
	TypeJSON
	numTypes
)

// Type is the type of a column or an expression.
type Type struct {
	ID       TypeID
	Unsigned bool
	ZeroFill bool
	// Scale is the number of decimals (DECIMAL, FLOAT(m,d), DOUBLE(m,d)) or
	// fractional second digits. -1 on FLOAT and DOUBLE means unspecified.
	Scale int8
	// Length is the precision of numbers (DECIMAL, BIT, FLOAT(m,d)), the display
	// width of integers, the length in characters (bytes for binary types) of
	// strings; -1 when unspecified. TEXT and BLOB types ignore it.
	Length int32
	Coll   CollationID // strings, enums, sets
	Elems  []string    // ENUM and SET members in the character set of Coll
}

// Limits of column types.
const (
	MaxDecimalPrecision  = 65
	MaxDecimalScale      = 30
	MaxFsp               = 6
	MaxCharLength        = 255
	MaxVarcharBytes      = 65535
	MaxEnumElems         = 65535
	MaxSetElems          = 64
	narrowDecimalDigits  = 18 // largest precision whose unscaled values all fit an int64
	maxLongBytes         = 1<<32 - 1
	defaultDecimalDigits = 10
)

var typeNames = [numTypes]string{
	TypeNull: "null", TypeTinyInt: "tinyint", TypeSmallInt: "smallint", TypeMediumInt: "mediumint",
	TypeInt: "int", TypeBigInt: "bigint", TypeFloat: "float", TypeDouble: "double",
	TypeDecimal: "decimal", TypeBit: "bit", TypeYear: "year", TypeDate: "date", TypeTime: "time",
	TypeDatetime: "datetime", TypeTimestamp: "timestamp", TypeChar: "char", TypeVarchar: "varchar",
	TypeBinary: "binary", TypeVarbinary: "varbinary", TypeTinyText: "tinytext", TypeText: "text",
	TypeMediumText: "mediumtext", TypeLongText: "longtext", TypeTinyBlob: "tinyblob",
	TypeBlob: "blob", TypeMediumBlob: "mediumblob", TypeLongBlob: "longblob", TypeEnum: "enum",
	TypeSet: "set", TypeJSON: "json",
}

var typeKinds = [numTypes]Kind{
	TypeNull: KindNull, TypeTinyInt: KindInt, TypeSmallInt: KindInt, TypeMediumInt: KindInt,
	TypeInt: KindInt, TypeBigInt: KindInt, TypeFloat: KindFloat, TypeDouble: KindFloat,
	TypeDecimal: KindDecimal, TypeBit: KindBit, TypeYear: KindUint, TypeDate: KindDate,
	TypeTime: KindTime, TypeDatetime: KindDatetime, TypeTimestamp: KindTimestamp,
	TypeChar: KindString, TypeVarchar: KindString, TypeBinary: KindString,
	TypeVarbinary: KindString, TypeTinyText: KindString, TypeText: KindString,
	TypeMediumText: KindString, TypeLongText: KindString, TypeTinyBlob: KindString,
	TypeBlob: KindString, TypeMediumBlob: KindString, TypeLongBlob: KindString,
	TypeEnum: KindEnum, TypeSet: KindSet, TypeJSON: KindJSON,
}

// Kind returns the kind of the values of t.
func (t *Type) Kind() Kind {
	k := typeKinds[t.ID]
	if k == KindInt && t.Unsigned {
		return KindUint
	}
	return k
}

// Name returns the bare name of the type, as in information_schema's DATA_TYPE.
func (t *Type) Name() string { return typeNames[t.ID] }

// IsInteger reports whether t is one of the five integer types.
func (t *Type) IsInteger() bool { return t.ID >= TypeTinyInt && t.ID <= TypeBigInt }

// IsText reports whether t holds characters in a character set.
func (t *Type) IsText() bool {
	switch t.ID {
	case TypeChar, TypeVarchar, TypeTinyText, TypeText, TypeMediumText, TypeLongText:
		return true
	}
	return false
}

// IsBinaryString reports whether t is BINARY, VARBINARY or a BLOB.
func (t *Type) IsBinaryString() bool {
	switch t.ID {
	case TypeBinary, TypeVarbinary, TypeTinyBlob, TypeBlob, TypeMediumBlob, TypeLongBlob:
		return true
	}
	return false
}

// IsBlob reports whether t is a TEXT or BLOB type, whose index needs a prefix length.
func (t *Type) IsBlob() bool { return t.ID >= TypeTinyText && t.ID <= TypeLongBlob }

// IsStringType reports whether t is of KindString.
func (t *Type) IsStringType() bool { return typeKinds[t.ID] == KindString }

// IsTemporal reports whether t is a date or time type (YEAR is not).
func (t *Type) IsTemporal() bool { return t.ID >= TypeDate && t.ID <= TypeTimestamp }

// IsNumeric reports whether t is an integer, FLOAT, DOUBLE, DECIMAL or YEAR.
func (t *Type) IsNumeric() bool {
	return t.ID >= TypeTinyInt && t.ID <= TypeDecimal || t.ID == TypeYear
}

// String returns t as SHOW CREATE TABLE prints it, without a character set clause.
func (t Type) String() string { return string(t.appendText(nil)) }

func (t *Type) appendText(dst []byte) []byte {
	dst = append(dst, typeNames[t.ID]...)
	switch {
	case t.IsInteger():
		// MySQL 8 shows a display width only for ZEROFILL and for tinyint(1).
		if t.ZeroFill {
			dst = appendParen(dst, int32(t.ZeroFillWidth()))
		} else if t.Length > 0 && t.ID == TypeTinyInt && t.Length == 1 && !t.Unsigned {
			dst = appendParen(dst, t.Length)
		}
	case t.ID == TypeDecimal:
		dst = append(dst, '(')
		dst = strconv.AppendInt(dst, int64(t.Length), 10)
		dst = append(dst, ',')
		dst = strconv.AppendInt(dst, int64(t.Scale), 10)
		dst = append(dst, ')')
	case t.ID == TypeFloat || t.ID == TypeDouble:
		if t.Length > 0 && t.Scale >= 0 {
			dst = append(dst, '(')
			dst = strconv.AppendInt(dst, int64(t.Length), 10)
			dst = append(dst, ',')
			dst = strconv.AppendInt(dst, int64(t.Scale), 10)
			dst = append(dst, ')')
		}
	case t.ID == TypeChar || t.ID == TypeVarchar || t.ID == TypeBinary || t.ID == TypeVarbinary || t.ID == TypeBit:
		dst = appendParen(dst, t.Length)
	case t.ID == TypeTime || t.ID == TypeDatetime || t.ID == TypeTimestamp:
		if t.Scale > 0 {
			dst = appendParen(dst, int32(t.Scale))
		}
	case t.ID == TypeEnum || t.ID == TypeSet:
		dst = append(dst, '(')
		for i, e := range t.Elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, '\'')
			dst = append(dst, strings.ReplaceAll(t.MemberText(e), "'", "''")...)
			dst = append(dst, '\'')
		}
		dst = append(dst, ')')
	}
	if t.Unsigned && t.IsNumeric() {
		dst = append(dst, " unsigned"...)
	}
	if t.ZeroFill && t.IsNumeric() {
		dst = append(dst, " zerofill"...)
	}
	return dst
}

// MemberText returns a member of an ENUM or SET in utf8mb4.
func (t *Type) MemberText(member string) string {
	from, to := t.Coll.Charset(), DefaultCollation.Charset()
	if SameBytes(from, to) {
		return member
	}
	out, _ := ConvertCharset(nil, bytesOf(member), from, to)
	return string(out)
}

func appendParen(dst []byte, n int32) []byte {
	dst = append(dst, '(')
	dst = strconv.AppendInt(dst, int64(n), 10)
	return append(dst, ')')
}

// Equal reports whether a and b are the same type in every respect.
func (t *Type) Equal(o *Type) bool {
	if t.ID != o.ID || t.Unsigned != o.Unsigned || t.ZeroFill != o.ZeroFill || t.Scale != o.Scale ||
		t.Length != o.Length || t.Coll != o.Coll || len(t.Elems) != len(o.Elems) {
		return false
	}
	for i := range t.Elems {
		if t.Elems[i] != o.Elems[i] {
			return false
		}
	}
	return true
}

// MaxBytes returns the largest number of bytes that a string value of t may
// have, 0 for types that are not strings. A length of -1 is no limit.
func (t *Type) MaxBytes() int64 {
	if t.Length < 0 && t.IsStringType() && !t.IsBlob() {
		return maxLongBytes
	}
	switch t.ID {
	case TypeTinyText, TypeTinyBlob:
		return 1<<8 - 1
	case TypeText, TypeBlob:
		return 1<<16 - 1
	case TypeMediumText, TypeMediumBlob:
		return 1<<24 - 1
	case TypeLongText, TypeLongBlob, TypeJSON:
		return maxLongBytes
	case TypeBinary, TypeVarbinary:
		return int64(t.Length)
	case TypeChar, TypeVarchar:
		return int64(t.Length) * int64(t.Coll.MaxCharLen())
	}
	return 0
}

// FixedBytes returns how many bytes MySQL stores a value of t in, which is not a
// string type. MySQL's limits of row and key lengths count these.
func (t *Type) FixedBytes() int {
	fraction := (int(max(t.Scale, 0)) + 1) / 2
	switch t.ID {
	case TypeTinyInt, TypeYear:
		return 1
	case TypeSmallInt:
		return 2
	case TypeMediumInt, TypeDate:
		return 3
	case TypeInt, TypeFloat:
		return 4
	case TypeTime:
		return 3 + fraction
	case TypeTimestamp:
		return 4 + fraction
	case TypeDatetime:
		return 5 + fraction
	case TypeBit:
		return (int(t.Length) + 7) / 8
	case TypeDecimal:
		return digitBytes(int(t.Length)-int(t.Scale)) + digitBytes(int(t.Scale))
	case TypeEnum:
		return 1 + len(t.Elems)/256
	case TypeSet:
		if n := (len(t.Elems) + 7) / 8; n <= 4 {
			return n
		}
	}
	return 8
}

// digitBytes returns how many bytes MySQL stores so many digits of a DECIMAL in:
// four per nine digits, and fewer for the rest.
func digitBytes(digits int) int {
	digits = max(digits, 0)
	rest := [...]int{0, 1, 1, 2, 2, 3, 3, 4, 4}
	return digits/9*4 + rest[digits%9]
}

// IntRange returns the smallest and largest value of an integer type.
func (t *Type) IntRange() (lo int64, hi uint64) {
	bits := t.intBits()
	if t.Unsigned {
		return 0, 1<<(bits-1)<<1 - 1
	}
	return -1 << (bits - 1), 1<<(bits-1) - 1
}

func (t *Type) intBits() uint {
	switch t.ID {
	case TypeTinyInt:
		return 8
	case TypeSmallInt:
		return 16
	case TypeMediumInt:
		return 24
	case TypeInt:
		return 32
	}
	return 64
}
