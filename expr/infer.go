package expr

import (
	"slices"

	"github.com/pandodb/pando/types"
)

// class is how values are computed or compared. The order matters: of two numeric classes the larger is that of the result.
type class uint8

const (
	classNull class = iota
	classInt
	classDecimal
	classFloat
	classString
	classTemporal // DATE, DATETIME, TIMESTAMP
	classTime
	classJSON
)

// classOf returns the class in which values of type t are compared with each other.
func classOf(t *types.Type) class {
	switch t.Kind() {
	case types.KindInt, types.KindUint, types.KindBit:
		return classInt
	case types.KindDecimal:
		return classDecimal
	case types.KindFloat:
		return classFloat
	case types.KindDate, types.KindDatetime, types.KindTimestamp:
		return classTemporal
	case types.KindTime:
		return classTime
	case types.KindJSON:
		return classJSON
	case types.KindNull:
		return classNull
	}
	return classString
}

// numericClass returns the class in which e takes part in arithmetic: strings, enums, JSON and NULL count as doubles, temporals as integers
// or, with fractional seconds, as decimals; hexadecimal literals as integers.
func numericClass(e Expr) class {
	switch classOf(&e.typ) {
	case classInt:
		return classInt
	case classNull:
		if _, ok := Unwrap(e).ParamOrdinal(); ok { // a placeholder is what stands beside it
			return classInt
		}
	case classDecimal:
		return classDecimal
	case classTemporal, classTime:
		if e.typ.Scale > 0 {
			return classDecimal
		}
		return classInt
	case classString:
		if e.isHexLiteral() {
			return classInt
		}
	}
	return classFloat
}

// isHexLiteral reports whether e is x'..' or b'..', which are numbers where numbers are wanted.
func (n *Node) isHexLiteral() bool { return n.kind == kindConst && n.name == hexLiteralName }

const hexLiteralName = "hex"

// HexLiteral is x'..', 0x.. or b'..': a binary string that numeric operators read as an unsigned integer.
func HexLiteral(b []byte) Expr {
	n := Const(types.Bytes(b), types.Type{ID: types.TypeVarbinary, Length: int32(len(b)), Coll: types.Binary})
	n.name = hexLiteralName
	return n
}

const truthLiteralName = "truth"

// TruthLiteral is TRUE or FALSE: the number 1 or 0, which JSON shows as true and false.
func TruthLiteral(truth bool) Expr {
	n := Const(types.Bool(truth), types.Type{ID: types.TypeBigInt, Length: 1, Scale: 0})
	n.name = truthLiteralName
	return n
}

// hexNumber returns the number that a hexadecimal literal stands for.
func hexNumber(b []byte) uint64 {
	var n uint64
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return n
}

// AsNumber turns a hexadecimal literal into its number and leaves other expressions alone.
func AsNumber(e Expr) Expr {
	if e.isHexLiteral() && len(e.value.B) <= 8 {
		return Literal(types.Uint(hexNumber(e.value.B)))
	}
	return e
}

// AsCondition returns e where a truth value is read from it: whether the number that it is is not 0. A document is compared with the document 0.
func AsCondition(e Expr) Expr {
	if e.typ.ID == types.TypeJSON {
		return e
	}
	return asNumber(e)
}

// numbersOf returns args with AsCondition applied, for operators that read them as numbers or truth values.
func numbersOf(args []Expr) []Expr {
	out := make([]Expr, len(args))
	for i, a := range args {
		out[i] = AsCondition(a)
	}
	return out
}

// literalType returns the type of a literal of value v.
func literalType(v types.Value) types.Type {
	t := types.Type{Length: -1}
	switch v.K {
	case types.KindInt:
		t.ID, t.Length = types.TypeBigInt, int32(digits(magnitude(v.N)))+1
	case types.KindUint:
		t.ID, t.Unsigned, t.Length = types.TypeBigInt, true, int32(digits(uint64(v.N)))
	case types.KindFloat:
		t.ID, t.Scale = types.TypeDouble, -1
	case types.KindDecimal:
		t.ID, t.Length, t.Scale = types.TypeDecimal, int32(max(types.DecPrecision(v), int(v.Scale), 1)), int8(v.Scale)
	case types.KindString, types.KindEnum, types.KindSet:
		return stringType(int32(v.Coll.Charset().CountChars(v.B)), v.Coll)
	case types.KindDate:
		t.ID = types.TypeDate
	case types.KindDatetime:
		t.ID, t.Scale = types.TypeDatetime, int8(v.Scale)
	case types.KindTimestamp:
		t.ID, t.Scale = types.TypeTimestamp, int8(v.Scale)
	case types.KindTime:
		t.ID, t.Scale = types.TypeTime, int8(v.Scale)
	case types.KindBit:
		t.ID, t.Length = types.TypeBit, int32(v.Scale)*8
	case types.KindJSON:
		t.ID, t.Coll = types.TypeJSON, types.Utf8mb4Bin
	default:
		t.ID, t.Length, t.Coll = types.TypeNull, 0, types.Binary
	}
	return t
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

func digits(n uint64) int {
	d := 1
	for n >= 10 {
		n /= 10
		d++
	}
	return d
}

// blobBytes is the most bytes of a BLOB or TEXT.
const blobBytes = 65535

// varcharMaxChars is the most characters of a VARCHAR expression, as in MySQL (of utf8mb4, at 4 bytes each); longer results are LONGTEXT.
const varcharMaxChars = 65535 / 4

// stringType returns the type of a string expression of at most chars characters; a negative number is unbounded.
func stringType(chars int32, coll types.CollationID) types.Type {
	t := types.Type{ID: types.TypeVarchar, Length: chars, Coll: coll}
	limit := int32(varcharMaxChars)
	if coll == types.Binary {
		t.ID, limit = types.TypeVarbinary, 65535
	}
	if chars < 0 || chars > limit {
		t.ID, t.Length = types.TypeLongText, -1
		if coll == types.Binary {
			t.ID = types.TypeLongBlob
		}
	}
	return t
}

func intType(length int32) types.Type { return types.Type{ID: types.TypeBigInt, Length: length} }

func uintType(length int32) types.Type {
	return types.Type{ID: types.TypeBigInt, Unsigned: true, Length: length}
}

// Wide reports whether CREATE TABLE … SELECT makes a BIGINT column of the integer e even if its display length is that of an INT, as MySQL
// does: for literals of nine or more digits without a sign, and for IFNULL with an argument of type BIGINT.
func Wide(e Expr) bool {
	if v, ok := e.ConstValue(); ok && integral(v.K) {
		text := types.AppendText(nil, nil, &v)
		return len(text) >= 9 && text[0] != '-' && int(e.typ.Length) == len(text)+1
	}
	return e.IsCall("ifnull") && slices.ContainsFunc(e.args, func(a Expr) bool { return a.typ.ID == types.TypeBigInt })
}

func boolType() types.Type { return intType(1) }

func doubleType() types.Type { return types.Type{ID: types.TypeDouble, Length: -1, Scale: -1} }

func decimalType(precision, scale int) types.Type {
	scale = min(scale, types.MaxDecimalScale)
	precision = max(min(precision, types.MaxDecimalPrecision), scale, 1)
	return types.Type{ID: types.TypeDecimal, Length: int32(precision), Scale: int8(scale)}
}

// charLength returns the most characters that a value of t has as text; -1 is unbounded. For BLOBs it is bytes.
func charLength(t *types.Type) int32 {
	fraction := func(base int32) int32 {
		if t.Scale > 0 {
			return base + 1 + int32(t.Scale)
		}
		return base
	}
	switch t.ID {
	case types.TypeNull:
		return 0
	case types.TypeDouble:
		return doubleWidth
	case types.TypeFloat:
		if t.Scale >= 0 && t.Length > 0 {
			return t.Length
		}
		return floatWidth
	case types.TypeDecimal:
		n := t.Length
		if !t.Unsigned {
			n++
		}
		if t.Scale > 0 {
			n++
		}
		return n
	case types.TypeBit:
		return max(t.Length, 1)
	case types.TypeYear:
		return 4
	case types.TypeDate:
		return 10
	case types.TypeTime:
		return fraction(10)
	case types.TypeDatetime, types.TypeTimestamp:
		return fraction(19)
	case types.TypeEnum, types.TypeSet:
		n := int32(0)
		for _, e := range t.Elems {
			c := int32(t.Coll.Charset().CountChars([]byte(e)))
			if t.ID == types.TypeSet {
				n += c + 1
			} else {
				n = max(n, c)
			}
		}
		if t.ID == types.TypeSet && n > 0 {
			n-- // there is one comma less than members
		}
		return n
	case types.TypeTinyText, types.TypeTinyBlob:
		return 255
	case types.TypeText, types.TypeBlob:
		return 65535
	case types.TypeMediumText, types.TypeMediumBlob, types.TypeLongText, types.TypeLongBlob, types.TypeJSON:
		return -1
	}
	if t.IsInteger() {
		if bare := *t; t.ID != types.TypeBigInt { // a column's display width does not limit its values
			bare.Length = 0
			return intWidth(&bare)
		}
		return intWidth(t)
	}
	return t.Length
}

// intWidth returns the display width of an integer type, including the sign.
func intWidth(t *types.Type) int32 {
	if t.Length > 0 {
		return t.Length
	}
	width := map[types.TypeID]int32{types.TypeTinyInt: 3, types.TypeSmallInt: 5, types.TypeMediumInt: 8, types.TypeInt: 10, types.TypeBigInt: 19}[t.ID]
	if !t.Unsigned || t.ID == types.TypeBigInt {
		width++
	}
	return width
}

// precisionOf returns precision and scale of e as a decimal.
func precisionOf(e Expr) (precision, scale int) {
	t := &e.typ
	switch {
	case t.ID == types.TypeDecimal:
		return int(t.Length), int(t.Scale)
	case t.IsInteger():
		bare := *t
		if e.kind == kindColumn {
			bare.Length = 0 // a display width does not limit the values
		}
		w := int(intWidth(&bare))
		if !t.Unsigned {
			w--
		}
		return max(w, 1), 0
	case t.ID == types.TypeYear:
		return 4, 0
	case t.ID == types.TypeBit:
		return 20, 0
	case t.ID == types.TypeDate:
		return 8, 0
	case t.ID == types.TypeTime:
		return 7 + int(t.Scale), int(t.Scale)
	case t.ID == types.TypeDatetime, t.ID == types.TypeTimestamp:
		return 14 + int(t.Scale), int(t.Scale)
	case t.ID == types.TypeNull:
		return 1, 0
	}
	return types.MaxDecimalPrecision, types.MaxDecimalScale
}

// unsignedNumber reports whether e's type has no negative values.
func unsignedNumber(e Expr) bool {
	return e.typ.Unsigned || e.typ.ID == types.TypeBit || e.typ.ID == types.TypeYear || e.isHexLiteral()
}

// commonType returns the type and collation of a CASE, IF, COALESCE or UNION column whose values come from es. It fails with 1267 if their
// collations do not mix; op is named by the message.
func (b *BuildContext) commonType(op string, es []Expr) (types.Type, derivation, error) {
	live := es[:0:0]
	for _, e := range es {
		if e.typ.ID != types.TypeNull {
			live = append(live, e)
		}
	}
	none := derivation{coll: types.Binary, coer: CoerIgnorable, ascii: true}
	if len(live) == 0 {
		return types.Type{ID: types.TypeNull, Coll: types.Binary}, none, nil
	}
	first := &live[0].typ
	same, numeric := true, true
	for _, e := range live {
		same = same && e.typ.ID == first.ID
		numeric = numeric && (e.typ.IsNumeric() || e.typ.ID == types.TypeBit)
	}
	number := derivation{coll: b.collation(), coer: CoerNumeric, ascii: true}
	switch {
	case same && first.ID == types.TypeJSON:
		return *first, derivation{coll: types.Utf8mb4Bin, coer: CoerImplicit}, nil
	case same && first.ID == types.TypeBit:
		t, _ := widestBits(live)
		return t, derivation{coll: types.Binary, coer: CoerImplicit}, nil
	case same && first.ID == types.TypeYear:
		return *first, number, nil
	case numeric:
		return commonNumber(live), number, nil
	case allTemporal(live):
		return commonTemporal(live), number, nil
	}
	d, err := b.aggregate(op, false, live...)
	if err != nil {
		return types.Type{}, none, err
	}
	chars := int32(0)
	for _, e := range live {
		n := charLength(&e.typ)
		if e.typ.ID == types.TypeFloat && e.kind != kindColumn && !e.fixed() { // its text is that of a double
			n = computedFloatLength
		}
		if n < 0 || n >= blobBytes && e.typ.IsBlob() { // a BLOB or larger does not become VARBINARY
			chars = -1
			break
		}
		if d.coll == types.Binary && isTextual(&e.typ) {
			n *= int32(e.typ.Coll.MaxCharLen())
		}
		chars = max(chars, n)
	}
	return stringType(chars, d.coll), d, nil
}

// signedDigits is how many digits an unsigned number needs so that it may be too large for a signed one.
const signedDigits = 19

func commonNumber(es []Expr) types.Type {
	if singlePrecision(es) {
		return types.Type{ID: types.TypeFloat, Length: -1, Scale: -1}
	}
	integers, unsigned, signed, large := 0, false, false, false
	precision, scale, width := 0, 0, int32(0)
	for _, e := range es {
		switch numericClass(e) {
		case classFloat:
			return doubleOf(0, es...)
		}
		if e.typ.ID != types.TypeDecimal {
			integers++
		}
		p, s := precisionOf(e)
		precision, scale = max(precision, p-s), max(scale, s)
		width = max(width, charLength(&e.typ))
		if signed = signed || !unsignedNumber(e); unsignedNumber(e) {
			unsigned, large = true, large || p >= signedDigits
		}
	}
	switch {
	case integers < len(es) || large && signed:
		return decimalType(precision+scale, scale)
	case unsigned && !signed:
		return uintType(width)
	}
	return intType(width)
}

// singlePrecision reports whether the common type of es is FLOAT. MySQL's table of result types has FLOAT for FLOAT with any integer type but
// INT, with which it is DOUBLE, as it is with a BIGINT that stands before the FLOAT.
func singlePrecision(es []Expr) bool {
	floats := 0
	for _, e := range es {
		switch {
		case e.typ.ID == types.TypeFloat:
			floats++
		case e.typ.ID == types.TypeYear:
		case !e.typ.IsInteger() || e.typ.ID == types.TypeInt || e.typ.ID == types.TypeBigInt && floats == 0:
			return false
		}
	}
	return floats > 0
}

func allTemporal(es []Expr) bool {
	for _, e := range es {
		if !e.typ.IsTemporal() {
			return false
		}
	}
	return true
}

// computedFloatLength is how many characters a column of texts has for a FLOAT that is computed.
const computedFloatLength = 23

func commonTemporal(es []Expr) types.Type {
	t := es[0].typ
	for _, e := range es[1:] {
		if e.typ.ID != t.ID {
			t.ID = types.TypeDatetime
		}
		t.Scale = max(t.Scale, e.typ.Scale)
	}
	return t
}
