package plan

import (
	"encoding/hex"
	"math"
	"math/big"
	"strings"

	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// displayWidthMax is the widest INT(n) and FLOAT(n,d), memberCharsMax the longest member of an ENUM or SET.
const (
	displayWidthMax = 255
	memberCharsMax  = 255
)

// Errors that only definitions of columns raise: ER_INVALID_YEAR_COLUMN_LENGTH and ER_TOO_LONG_SET_ENUM_VALUE.
const (
	erYearLength = 1818
	erLongMember = 3505
)

// plainTypes maps the types of the syntax to those of columns; what is missing is not supported.
var plainTypes = map[syntax.TypeKind]types.TypeID{
	syntax.TypeTinyInt: types.TypeTinyInt, syntax.TypeSmallInt: types.TypeSmallInt, syntax.TypeMediumInt: types.TypeMediumInt,
	syntax.TypeInt: types.TypeInt, syntax.TypeBigInt: types.TypeBigInt, syntax.TypeFloat: types.TypeFloat, syntax.TypeDouble: types.TypeDouble,
	syntax.TypeDecimal: types.TypeDecimal, syntax.TypeBit: types.TypeBit, syntax.TypeDate: types.TypeDate, syntax.TypeTime: types.TypeTime,
	syntax.TypeDatetime: types.TypeDatetime, syntax.TypeTimestamp: types.TypeTimestamp, syntax.TypeYear: types.TypeYear,
	syntax.TypeChar: types.TypeChar, syntax.TypeVarchar: types.TypeVarchar, syntax.TypeBinary: types.TypeBinary,
	syntax.TypeVarbinary: types.TypeVarbinary, syntax.TypeTinyBlob: types.TypeTinyBlob, syntax.TypeBlob: types.TypeBlob,
	syntax.TypeMediumBlob: types.TypeMediumBlob, syntax.TypeLongBlob: types.TypeLongBlob, syntax.TypeTinyText: types.TypeTinyText,
	syntax.TypeText: types.TypeText, syntax.TypeMediumText: types.TypeMediumText, syntax.TypeLongText: types.TypeLongText,
	syntax.TypeEnum: types.TypeEnum, syntax.TypeSet: types.TypeSet, syntax.TypeJSON: types.TypeJSON, syntax.TypeBool: types.TypeTinyInt,
	syntax.TypeSerial: types.TypeBigInt,
}

// ColumnType resolves a column's type with its limits. explicit reports a character set or collation written at the column.
// client is the character set of the statement's text.
func ColumnType(name string, d *syntax.DataType, collation types.CollationID, client *types.Charset) (t types.Type, explicit bool, err error) {
	id, known := plainTypes[d.Kind]
	if !known {
		return t, false, types.Errorf(types.ErNotSupportedYet, "the column type "+syntax.BriefType(d)+"; use BLOB or JSON")
	}
	t = types.Type{ID: id, Unsigned: d.Unsigned || d.Zerofill || d.Kind == syntax.TypeSerial, ZeroFill: d.Zerofill}
	// A value beyond the field's size becomes the largest one, which is refused below.
	t.Length, t.Scale = int32(min(d.Length, math.MaxInt32)), int8(min(d.Scale, math.MaxInt8))
	switch {
	case d.Kind == syntax.TypeBool:
		t.Length = 1
	case t.IsInteger():
		t.Scale = 0
		if d.Length > displayWidthMax {
			err = types.Errorf(types.ErTooBigDisplaywidth, name, displayWidthMax)
		}
	case id == types.TypeDecimal:
		err = decimalType(name, &t, d)
	case id == types.TypeFloat || id == types.TypeDouble:
		err = floatType(name, &t, d)
	case id == types.TypeBit:
		t.Length, t.Scale = max(t.Length, 1), 0
		if d.Length < 0 {
			t.Length = 1
		}
		if t.Length > 64 {
			err = types.Errorf(types.ErTooBigDisplaywidth, name, 64)
		}
	case id == types.TypeTime || id == types.TypeDatetime || id == types.TypeTimestamp:
		t.Scale, t.Length = int8(max(d.Length, 0)), -1
		if d.Length > types.MaxFsp {
			err = types.Errorf(types.ErTooBigPrecision, d.Length, name, types.MaxFsp)
		}
	case t.IsText() || t.IsBinaryString() || id == types.TypeEnum || id == types.TypeSet:
		explicit, err = stringType(name, &t, d, collation, client)
	case id == types.TypeYear:
		t.Length, t.Scale = -1, 0
		if d.Length >= 0 && d.Length != 4 {
			err = types.NewError(erYearLength, "Invalid display width. Use YEAR instead.")
		}
	case id == types.TypeJSON:
		t.Coll, t.Length, t.Scale = types.Utf8mb4Bin, -1, 0
	default:
		t.Length, t.Scale = -1, 0
	}
	return t, explicit, err
}

// LongVarchar returns the TEXT or BLOB that holds a VARCHAR or VARBINARY which is too long for its kind, and both words; ok is false if d is
// none, or longer than a text can be. MySQL makes such columns unless the mode is strict, and so come dumps of other servers in.
func LongVarchar(d *syntax.DataType, table types.CollationID) (long syntax.DataType, from, to string, ok bool) {
	if d.Kind != syntax.TypeVarchar && d.Kind != syntax.TypeVarbinary || d.Length > math.MaxUint32 {
		return *d, "", "", false
	}
	long, from, to = *d, "VARCHAR", "TEXT"
	long.Kind = syntax.TypeText
	coll, _, err := ColumnCollation(d, table)
	if d.Kind == syntax.TypeVarbinary || coll == types.Binary {
		coll, from, to = types.Binary, "VARBINARY", "BLOB"
	}
	if d.Kind == syntax.TypeVarbinary {
		long.Kind = syntax.TypeBlob
	}
	return long, from, to, err == nil && d.Length > int64(types.MaxVarcharBytes/max(coll.MaxCharLen(), 1))
}

func decimalType(name string, t *types.Type, d *syntax.DataType) error {
	if d.Length < 0 {
		t.Length = 10
	}
	t.Scale = int8(min(max(d.Scale, 0), 127))
	switch {
	case t.Length > types.MaxDecimalPrecision:
		return types.Errorf(types.ErTooBigPrecision, d.Length, name, types.MaxDecimalPrecision)
	case d.Scale > types.MaxDecimalScale:
		return types.Errorf(types.ErTooBigScale, d.Scale, name, types.MaxDecimalScale)
	case int32(t.Scale) > t.Length:
		return types.Errorf(types.ErMBiggerThanD, name)
	}
	if t.Length == 0 {
		t.Length = 10
	}
	return nil
}

// floatType reads FLOAT(p), where the precision p chooses between FLOAT and DOUBLE, and FLOAT(m,d), which rounds to d digits.
func floatType(name string, t *types.Type, d *syntax.DataType) error {
	if d.Scale < 0 {
		if d.Length > 53 {
			return types.Errorf(types.ErWrongFieldSpec, name)
		}
		if d.Length > 24 {
			t.ID = types.TypeDouble
		}
		t.Length, t.Scale = -1, -1
		return nil
	}
	switch {
	case d.Length > displayWidthMax:
		return types.Errorf(types.ErTooBigDisplaywidth, name, displayWidthMax)
	case d.Scale > types.MaxDecimalScale:
		return types.Errorf(types.ErTooBigScale, d.Scale, name, types.MaxDecimalScale)
	case d.Scale > d.Length:
		return types.Errorf(types.ErMBiggerThanD, name)
	}
	return nil
}

func stringType(name string, t *types.Type, d *syntax.DataType, table types.CollationID, client *types.Charset) (explicit bool, err error) {
	t.Scale, t.Coll = 0, types.Binary
	if t.IsText() || t.ID == types.TypeEnum || t.ID == types.TypeSet {
		if t.Coll, explicit, err = ColumnCollation(d, table); err != nil {
			return explicit, err
		}
		if t.Coll == types.Binary {
			BinaryTwin(t) // CHAR … CHARACTER SET binary is BINARY
		}
	}
	if d.Length > math.MaxUint32 {
		return explicit, types.Errorf(types.ErTooBigDisplaywidth, name, uint32(math.MaxUint32))
	}
	switch t.ID {
	case types.TypeChar, types.TypeBinary:
		if d.Length < 0 {
			t.Length = 1
		}
		if t.Length > types.MaxCharLength {
			return explicit, types.Errorf(types.ErTooBigFieldLength, name, types.MaxCharLength)
		}
	case types.TypeVarchar, types.TypeVarbinary:
		if limit := types.MaxVarcharBytes / max(t.Coll.MaxCharLen(), 1); d.Length > int64(limit) {
			return explicit, types.Errorf(types.ErTooBigFieldLength, name, limit)
		}
	case types.TypeEnum, types.TypeSet:
		return explicit, memberList(name, t, d, client)
	default:
		if d.Length >= 0 {
			sizedBlob(t, d.Length)
		}
		t.Length = -1
	}
	return explicit, nil
}

// namedCharset is the character set that a type names, by its name or by NATIONAL, ASCII, UNICODE or BYTE; empty for none.
func namedCharset(d *syntax.DataType) string {
	switch {
	case d.National:
		return "utf8mb3"
	case d.ASCII:
		return "latin1"
	case d.Unicode:
		return "ucs2"
	case d.Byte:
		return "binary"
	}
	return d.Charset
}

// WithDefault is the type of a column, with the default collation of utf8mb4 where its definition names that character set alone.
func WithDefault(d syntax.DataType, utf8mb4 types.CollationID) syntax.DataType {
	if utf8mb4 != 0 && utf8mb4 != types.DefaultCollation && d.Collate == "" && !d.Binary && strings.EqualFold(namedCharset(&d), utf8mb4.Charset().Name) {
		d.Collate = utf8mb4.Name()
	}
	return d
}

// ColumnCollation returns the collation of a column or of the result of CAST: the one that its definition names (then explicit is true), else
// table, which is that of the table or connection.
func ColumnCollation(d *syntax.DataType, table types.CollationID) (id types.CollationID, explicit bool, err error) {
	id = table
	charset := namedCharset(d)
	if charset != "" {
		found, err := types.LookupCharset(charset)
		if err != nil {
			return 0, true, err
		}
		id, explicit = found.Default, true
		if d.Binary {
			id = found.Bin
		}
	} else if d.Binary {
		id, explicit = id.Charset().Bin, true
	}
	if d.Collate == "" {
		return id, explicit, nil
	}
	named, err := types.LookupCollation(d.Collate)
	if err == nil && charset != "" && named.Charset() != id.Charset() {
		err = types.Errorf(types.ErCollationCharsetMismatch, d.Collate, charset)
	}
	return named, true, err
}

// BinaryTwin turns a character type into the byte type of the same size.
func BinaryTwin(t *types.Type) {
	twins := map[types.TypeID]types.TypeID{types.TypeChar: types.TypeBinary, types.TypeVarchar: types.TypeVarbinary, types.TypeTinyText: types.TypeTinyBlob,
		types.TypeText: types.TypeBlob, types.TypeMediumText: types.TypeMediumBlob, types.TypeLongText: types.TypeLongBlob}
	if twin, ok := twins[t.ID]; ok {
		t.ID = twin
	}
}

// sizedBlob picks the smallest of the four sizes that holds n characters: TEXT(1000) is TEXT, TEXT(70000) MEDIUMTEXT.
func sizedBlob(t *types.Type, n int64) {
	if t.ID != types.TypeText && t.ID != types.TypeBlob {
		return
	}
	bytes := n * int64(max(t.Coll.MaxCharLen(), 1))
	offset := types.TypeID(0)
	switch {
	case bytes < 1<<8:
		offset = 0
	case bytes < 1<<16:
		offset = 1
	case bytes < 1<<24:
		offset = 2
	default:
		offset = 3
	}
	first := types.TypeTinyText
	if t.ID == types.TypeBlob {
		first = types.TypeTinyBlob
	}
	t.ID = first + offset
}

// memberText is the text of a member of ENUM or SET, which may be written as a hexadecimal or bit literal.
func memberText(lit *syntax.Literal) string {
	switch lit.Kind {
	case syntax.LitHex:
		digits := lit.Value
		if len(digits)%2 == 1 {
			digits = "0" + digits
		}
		text, _ := hex.DecodeString(digits) // the lexer has checked them
		return string(text)
	case syntax.LitBit:
		n, _ := new(big.Int).SetString(lit.Value, 2)
		return string(n.Bytes())
	}
	return lit.Value
}

// memberList reads the members of an ENUM or SET into the character set of the column. Characters that it lacks become question marks, as in MySQL.
func memberList(name string, t *types.Type, d *syntax.DataType, client *types.Charset) error {
	limit := types.MaxEnumElems
	if t.ID == types.TypeSet {
		limit = types.MaxSetElems
	}
	if len(d.Elems) > limit {
		return types.Errorf(types.ErTooBigSet, name)
	}
	for _, lit := range d.Elems {
		member := strings.TrimRight(memberText(lit), " ")
		if t.ID == types.TypeSet && strings.Contains(member, ",") {
			return types.Errorf(types.ErIllegalValueForType, "set", types.InUTF8(member, client))
		}
		own, _ := types.ConvertCharset(nil, []byte(member), client, t.Coll.Charset())
		if t.Coll.Charset().CountChars(own) > memberCharsMax {
			return types.NewError(erLongMember, "Too long enumeration/set value for column "+name+".")
		}
		t.Elems = append(t.Elems, string(own))
	}
	t.Length = -1
	return nil
}
