package types

// Column flags of the protocol that follow from a type.
const (
	FlagBlob      = 1 << 4
	FlagUnsigned  = 1 << 5
	FlagZeroFill  = 1 << 6
	FlagBinary    = 1 << 7
	FlagEnum      = 1 << 8
	FlagTimestamp = 1 << 10
	FlagSet       = 1 << 11
)

var wireTypes = [numTypes]byte{
	TypeNull: wireNull, TypeTinyInt: wireTiny, TypeSmallInt: wireShort, TypeMediumInt: wireInt24,
	TypeInt: wireLong, TypeBigInt: wireLongLong, TypeFloat: wireFloat, TypeDouble: wireDouble,
	TypeDecimal: wireNewDecimal, TypeBit: wireBit, TypeYear: wireYear, TypeDate: wireDate,
	TypeTime: wireTime, TypeDatetime: wireDatetime, TypeTimestamp: wireTimestamp,
	TypeChar: wireString, TypeVarchar: wireVarString, TypeBinary: wireString,
	TypeVarbinary: wireVarString, TypeTinyText: wireBlob, TypeText: wireBlob,
	TypeMediumText: wireBlob, TypeLongText: wireBlob, TypeTinyBlob: wireBlob, TypeBlob: wireBlob,
	TypeMediumBlob: wireBlob, TypeLongBlob: wireBlob, TypeEnum: wireString, TypeSet: wireString,
	TypeJSON: wireJSON,
}

// WireType returns the protocol's MYSQL_TYPE_* of a column of t.
func (t *Type) WireType() byte { return wireTypes[t.ID] }

// intWidths are the display widths of TINYINT … BIGINT, signed and unsigned.
var intWidths = [...][2]uint32{{4, 3}, {6, 5}, {9, 8}, {11, 10}, {20, 20}}

// WireLength returns the length in a column definition of the client protocol: in bytes of
// character_set_results for text, else in characters.
func (t *Type) WireLength(results *Charset) uint32 {
	fraction := uint32(0)
	if t.Scale > 0 {
		fraction = 1 + uint32(t.Scale)
	}
	width := uint64(1)
	if cs := t.textCharset(results); cs != nil {
		width = uint64(cs.MaxLen)
	}
	switch t.ID {
	case TypeTinyInt, TypeSmallInt, TypeMediumInt, TypeInt, TypeBigInt:
		if t.Length > 0 {
			return uint32(t.Length)
		}
		w := intWidths[t.ID-TypeTinyInt]
		if t.Unsigned {
			return w[1]
		}
		return w[0]
	case TypeYear:
		return 4
	case TypeFloat, TypeDouble:
		if t.Length > 0 && t.Scale >= 0 {
			return uint32(t.Length)
		}
		if t.ID == TypeFloat {
			return 12
		}
		return 22
	case TypeDecimal:
		n := uint32(t.Length)
		if t.Scale > 0 {
			n++
		}
		if !t.Unsigned {
			n++
		}
		return n
	case TypeBit:
		return uint32(t.Length)
	case TypeDate:
		return 10
	case TypeTime:
		return 10 + fraction
	case TypeDatetime, TypeTimestamp:
		return 19 + fraction
	case TypeEnum, TypeSet:
		return uint32(t.elemChars() * width)
	case TypeChar, TypeVarchar, TypeBinary, TypeVarbinary:
		return uint32(min(uint64(max(t.Length, 0))*width, 1<<32-1))
	case TypeNull:
		return 0
	case TypeTinyText, TypeText, TypeMediumText, TypeLongText:
		if results == nil || results.class == csBinary {
			width = 1 // text is sent as it is stored: drivers distinguish MEDIUMTEXT from LONGTEXT by this length
		}
	}
	return uint32(min(uint64(t.MaxBytes())*width, 1<<32-1))
}

// elemChars returns the characters of the longest text of an ENUM or SET.
func (t *Type) elemChars() uint64 {
	longest, sum := 0, 0
	for _, e := range t.Elems {
		n := t.Coll.Charset().CountChars(bytesOf(e))
		longest = max(longest, n)
		sum += n
	}
	if t.ID == TypeSet {
		return uint64(sum + max(len(t.Elems)-1, 0))
	}
	return uint64(longest)
}

// textCharset returns the character set in which text of type t is sent to the client, nil
// if t is no text.
func (t *Type) textCharset(results *Charset) *Charset {
	if !t.IsText() && t.ID != TypeEnum && t.ID != TypeSet || t.stringColl() == Binary {
		return nil
	}
	if results == nil || results.class == csBinary {
		return t.stringColl().Charset()
	}
	return results
}

// WireCharset returns the collation in a column definition: that of the text as it is sent,
// 63 (binary) for other types.
func (t *Type) WireCharset(results *Charset) uint16 {
	cs := t.textCharset(results)
	switch {
	case cs == nil:
		return uint16(Binary)
	case results == nil || results.class == csBinary:
		return uint16(t.stringColl())
	}
	return uint16(cs.Default)
}

// WireFlags returns the flags in a column definition that follow from the type. Callers add
// those of keys, NOT NULL and AUTO_INCREMENT.
func (t *Type) WireFlags() uint16 {
	f := uint16(0)
	if t.Unsigned || t.ID == TypeYear || t.ID == TypeBit {
		f |= FlagUnsigned
	}
	if t.ZeroFill || t.ID == TypeYear {
		f |= FlagZeroFill
	}
	if t.IsBlob() || t.ID == TypeJSON {
		f |= FlagBlob
	}
	switch {
	case t.ID == TypeEnum:
		f |= FlagEnum
	case t.ID == TypeSet:
		f |= FlagSet
	case t.ID == TypeTimestamp:
		f |= FlagTimestamp | FlagBinary
	case t.IsTemporal() || t.ID == TypeJSON || t.ID == TypeNull || t.IsBinaryString():
		f |= FlagBinary
	}
	if t.IsText() && t.stringColl().IsBin() {
		f |= FlagBinary
	}
	return f
}

// wireNotFixed is the number of decimals in the protocol for doubles without a fixed one.
const wireNotFixed = 31

// WireDecimals returns the number of decimals in a column definition.
func (t *Type) WireDecimals() byte {
	switch t.ID {
	case TypeFloat, TypeDouble:
		if t.Scale < 0 || t.Length <= 0 {
			return wireNotFixed
		}
		return byte(t.Scale)
	case TypeDecimal, TypeTime, TypeDatetime, TypeTimestamp:
		return byte(max(t.Scale, 0))
	}
	return 0
}
