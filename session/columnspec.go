package session

import (
	"encoding/hex"
	"math"
	"math/big"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// displayWidthMax is the widest INT(n) and FLOAT(n,d).
const displayWidthMax = 255

// plainTypes maps the types that need no further thought.
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

// columnType resolves a column's type with its limits. explicit reports a character set or collation written at the column.
// client is the character set of the statement's text.
func columnType(name string, d *syntax.DataType, collation types.CollationID, client *types.Charset) (t types.Type, explicit bool, err error) {
	id, known := plainTypes[d.Kind]
	if !known {
		return t, false, types.Errorf(types.ErNotSupportedYet, "this column type; use BLOB or JSON")
	}
	t = types.Type{ID: id, Unsigned: d.Unsigned || d.Zerofill || d.Kind == syntax.TypeSerial, ZeroFill: d.Zerofill}
	// What is too large stays so, to be refused below.
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
	case id == types.TypeJSON:
		t.Coll, t.Length, t.Scale = types.Utf8mb4Bin, -1, 0
	default:
		t.Length, t.Scale = -1, 0
	}
	return t, explicit, err
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

// floatType reads FLOAT(p) as a size and FLOAT(m,d) as a rounding.
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
		if t.Coll, explicit, err = columnCollation(d, table); err != nil {
			return explicit, err
		}
		if t.Coll == types.Binary {
			binaryTwin(t) // CHAR … CHARACTER SET binary is BINARY
		}
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

func columnCollation(d *syntax.DataType, table types.CollationID) (id types.CollationID, explicit bool, err error) {
	id = table
	charset := d.Charset
	switch {
	case d.National:
		charset = "utf8mb3"
	case d.ASCII:
		charset = "latin1"
	case d.Unicode:
		charset = "ucs2"
	case d.Byte:
		charset = "binary"
	}
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

// binaryTwin turns a character type into the byte type of the same size.
func binaryTwin(t *types.Type) {
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

// memberList reads the members of an ENUM or SET into the character set of the column. What that lacks becomes a question mark, as in MySQL.
// memberText is the text of a member of ENUM or SET, which may be written as its bytes.
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

func memberList(name string, t *types.Type, d *syntax.DataType, client *types.Charset) error {
	limit := types.MaxEnumElems
	if t.ID == types.TypeSet {
		limit = types.MaxSetElems
	}
	if len(d.Elems) > limit {
		return types.Errorf(types.ErTooBigSet, name)
	}
	seen := map[string]bool{}
	for _, lit := range d.Elems {
		member := strings.TrimRight(memberText(lit), " ")
		if t.ID == types.TypeSet && strings.Contains(member, ",") {
			return types.Errorf(types.ErIllegalValueForType, "set", inUTF8(member, client))
		}
		if seen[member] {
			return types.Errorf(types.ErDuplicatedValueInType, name, inUTF8(member, client), strings.ToUpper(t.Name()))
		}
		seen[member] = true
		own, _ := types.ConvertCharset(nil, []byte(member), client, t.Coll.Charset())
		t.Elems = append(t.Elems, string(own))
	}
	t.Length = -1
	return nil
}

// columnSpec reads the definition of a column of table of. The keys written inside it are returned beside it.
func (s *Session) columnSpec(of ddl.Name, def *syntax.ColumnDef, collation types.CollationID) (spec ddl.ColumnSpec, keys []ddl.IndexSpec, err error) {
	spec.Name = def.Name.Name
	data := def.Type
	for i := range def.Options {
		if def.Options[i].Kind == syntax.ColCollate {
			data.Collate = def.Options[i].Word
		}
	}
	if spec.Type, spec.ExplicitCollation, err = columnType(spec.Name, &data, collation, s.clientCharset()); err != nil {
		return spec, nil, err
	}
	if data.Kind == syntax.TypeSerial {
		spec.NotNull, spec.AutoInc = true, true
		keys = append(keys, ddl.IndexSpec{Unique: true, Columns: []ddl.IndexColumnSpec{{Column: spec.Name}}})
	}
	// NOT NULL is read first, because DEFAULT NULL depends on it.
	for i := range def.Options {
		switch def.Options[i].Kind {
		case syntax.ColNotNull:
			spec.NotNull, spec.Null = true, false
		case syntax.ColNull:
			spec.NotNull, spec.Null = false, true
		}
	}
	for i := range def.Options {
		if err := s.columnOption(of, &spec, &def.Options[i], &keys); err != nil {
			return spec, nil, err
		}
	}
	return spec, keys, nil
}

func (s *Session) columnOption(of ddl.Name, spec *ddl.ColumnSpec, o *syntax.ColumnOption, keys *[]ddl.IndexSpec) error {
	own := []ddl.IndexColumnSpec{{Column: spec.Name}}
	switch o.Kind {
	case syntax.ColNotNull, syntax.ColNull, syntax.ColCollate, syntax.ColVisible, syntax.ColClustered:
	case syntax.ColDefault:
		def, err := s.columnDefault(of, spec, o.Expr)
		spec.Default = def
		return err
	case syntax.ColOnUpdate:
		if spec.Type.ID != types.TypeTimestamp && spec.Type.ID != types.TypeDatetime {
			return types.Errorf(types.ErInvalidOnUpdate, spec.Name)
		}
		spec.OnUpdateNow = true
	case syntax.ColAutoIncrement:
		spec.AutoInc = true
	case syntax.ColUnique:
		*keys = append(*keys, ddl.IndexSpec{Unique: true, Columns: own})
	case syntax.ColPrimary:
		*keys = append(*keys, ddl.IndexSpec{Primary: true, Unique: true, Columns: own})
	case syntax.ColComment:
		if lit, ok := o.Expr.(*syntax.Literal); ok {
			spec.Comment = inUTF8(lit.Value, s.clientCharset())
		}
	case syntax.ColInvisible:
		spec.Invisible = true
	case syntax.ColSerialDefault:
		spec.AutoInc, spec.NotNull = true, true
		*keys = append(*keys, ddl.IndexSpec{Unique: true, Columns: own})
	case syntax.ColFormat, syntax.ColStorage, syntax.ColEngineAttr, syntax.ColSecondaryAttr:
		s.context.AddError(types.LevelWarning, types.NewError(types.ErNotSupportedYet, "storage attributes of column "+spec.Name+" have no effect"))
	case syntax.ColGenerated:
		return types.Errorf(types.ErNotSupportedYet, "generated columns")
	case syntax.ColCheck:
		return types.Errorf(types.ErNotSupportedYet, "CHECK at a column in this statement; add it with ADD CHECK")
	case syntax.ColReferences:
		// MySQL parses an inline REFERENCES and ignores it; here the ignoring is said aloud.
		s.context.AddError(types.LevelWarning, types.NewError(types.ErNotSupportedYet, "REFERENCES at column "+spec.Name+" has no effect"))
	default:
		return types.Errorf(types.ErNotSupportedYet, "this attribute of column "+spec.Name)
	}
	return nil
}

// columnDefault evaluates a DEFAULT clause of a column of table of: a constant converted to the column's type, the current time, or an expression kept as text.
func (s *Session) columnDefault(of ddl.Name, spec *ddl.ColumnSpec, e syntax.Expr) (*catalog.Default, error) {
	if call, ok := e.(*syntax.FuncCall); ok && isNow(call.Name) {
		if spec.Type.ID != types.TypeTimestamp && spec.Type.ID != types.TypeDatetime {
			return nil, types.Errorf(types.ErInvalidDefault, spec.Name)
		}
		return &catalog.Default{Kind: catalog.DefaultNow}, nil
	}
	if paren, ok := e.(*syntax.Paren); ok {
		text, err := plan.DefaultText(paren.X, of.Schema, of.Table, s.clientCharset())
		return &catalog.Default{Kind: catalog.DefaultExpr, Expr: text}, err
	}
	v, err := s.scalar(e)
	if err != nil {
		return nil, err
	}
	if v.IsNull() {
		if spec.NotNull {
			return nil, types.Errorf(types.ErInvalidDefault, spec.Name)
		}
		return &catalog.Default{Kind: catalog.DefaultNull}, nil
	}
	if spec.Type.IsBlob() || spec.Type.ID == types.TypeJSON {
		e := types.Errorf(types.ErBlobCantHaveDefault, spec.Name)
		if s.context.SQLMode&types.ModeStrict == 0 && v.K == types.KindString && len(v.B) == 0 && spec.Type.IsBlob() {
			s.context.AddError(types.LevelWarning, e)
			return nil, nil
		}
		return nil, e
	}
	if lit, ok := e.(*syntax.Literal); ok && (lit.Kind == syntax.LitHex || lit.Kind == syntax.LitBit) && spec.Type.IsNumeric() {
		n := types.Type{ID: types.TypeBit, Length: 64}
		if v, err = types.Convert(&s.context, v, n, spec.Name, 1); err != nil {
			return nil, err
		}
		v.K = types.KindUint
	}
	strict := types.Context{SQLMode: s.context.SQLMode, Loc: s.context.Loc, Now: s.context.Now, Strict: true}
	converted, err := types.Convert(&strict, v, spec.Type, spec.Name, 1)
	if err != nil {
		return nil, types.Errorf(types.ErInvalidDefault, spec.Name)
	}
	return &catalog.Default{Kind: catalog.DefaultLiteral, Value: converted.Clone()}, nil
}

func isNow(name string) bool {
	switch strings.ToLower(name) {
	case "now", "current_timestamp", "localtime", "localtimestamp":
		return true
	}
	return false
}
