package syntax

import "strings"

// typeShape says which parts may follow the name of a type.
type typeShape uint8

const (
	shapePlain   typeShape = iota
	shapeInt               // [(n)] [UNSIGNED] [ZEROFILL]
	shapeReal              // [(n[,m])] [UNSIGNED] [ZEROFILL]
	shapeLength            // [(n)]
	shapeText              // [(n)] [charset]
	shapeLob               // [charset], no length
	shapeNeedLen           // (n) [charset]
	shapeElems             // ('a', ...) [charset]
)

// typeRule is a type name's meaning.
type typeRule struct {
	kind  TypeKind
	shape typeShape
}

// typeRules holds the one-word type names.
var typeRules = map[string]typeRule{
	"TINYINT": {TypeTinyInt, shapeInt}, "INT1": {TypeTinyInt, shapeInt}, "SMALLINT": {TypeSmallInt, shapeInt},
	"INT2": {TypeSmallInt, shapeInt}, "MEDIUMINT": {TypeMediumInt, shapeInt}, "INT3": {TypeMediumInt, shapeInt},
	"MIDDLEINT": {TypeMediumInt, shapeInt}, "INT": {TypeInt, shapeInt}, "INTEGER": {TypeInt, shapeInt},
	"INT4": {TypeInt, shapeInt}, "BIGINT": {TypeBigInt, shapeInt}, "INT8": {TypeBigInt, shapeInt},
	"BOOL": {TypeBool, shapePlain}, "BOOLEAN": {TypeBool, shapePlain}, "SERIAL": {TypeSerial, shapePlain},
	"FLOAT": {TypeFloat, shapeReal}, "FLOAT4": {TypeFloat, shapeReal}, "DOUBLE": {TypeDouble, shapeReal},
	"FLOAT8": {TypeDouble, shapeReal}, "REAL": {TypeDouble, shapeReal}, "DECIMAL": {TypeDecimal, shapeReal},
	"DEC": {TypeDecimal, shapeReal}, "NUMERIC": {TypeDecimal, shapeReal}, "FIXED": {TypeDecimal, shapeReal},
	"BIT": {TypeBit, shapeLength}, "DATE": {TypeDate, shapePlain}, "TIME": {TypeTime, shapeLength},
	"DATETIME": {TypeDatetime, shapeLength}, "TIMESTAMP": {TypeTimestamp, shapeLength},
	"YEAR": {TypeYear, shapeInt}, "CHAR": {TypeChar, shapeText}, "CHARACTER": {TypeChar, shapeText},
	"NCHAR": {TypeChar, shapeText}, "VARCHAR": {TypeVarchar, shapeNeedLen},
	"VARCHARACTER": {TypeVarchar, shapeNeedLen}, "NVARCHAR": {TypeVarchar, shapeNeedLen},
	"BINARY": {TypeBinary, shapeLength}, "VARBINARY": {TypeVarbinary, shapeLength},
	"TINYBLOB": {TypeTinyBlob, shapePlain}, "BLOB": {TypeBlob, shapeLength},
	"MEDIUMBLOB": {TypeMediumBlob, shapePlain}, "LONGBLOB": {TypeLongBlob, shapePlain},
	"TINYTEXT": {TypeTinyText, shapeLob}, "TEXT": {TypeText, shapeText}, "MEDIUMTEXT": {TypeMediumText, shapeLob},
	"LONGTEXT": {TypeLongText, shapeLob}, "LONG": {TypeMediumText, shapeLob}, "ENUM": {TypeEnum, shapeElems},
	"SET": {TypeSet, shapeElems}, "JSON": {TypeJSON, shapePlain}, "GEOMETRY": {TypeGeometry, shapePlain},
	"POINT": {TypePoint, shapePlain}, "LINESTRING": {TypeLineString, shapePlain},
	"POLYGON": {TypePolygon, shapePlain}, "MULTIPOINT": {TypeMultiPoint, shapePlain},
	"MULTILINESTRING": {TypeMultiLineString, shapePlain}, "MULTIPOLYGON": {TypeMultiPolygon, shapePlain},
	"GEOMETRYCOLLECTION": {TypeGeomCollection, shapePlain}, "GEOMCOLLECTION": {TypeGeomCollection, shapePlain},
	"VECTOR": {TypeVector, shapeLength},
}

// dataType parses a column's type with its attributes up to COLLATE, which is
// a column attribute.
func (p *parser) dataType(d *DataType) {
	d.Pos, d.Length, d.Scale = p.pos(), -1, -1
	if p.tok.kind != tWord {
		p.fail()
	}
	word := toUpperASCII(p.text(p.tok))
	if word == "NATIONAL" {
		p.next()
		d.National = true
		word = "NATIONAL " + p.needOneOf("CHAR", "CHARACTER", "VARCHAR")
		p.typeRest(d, word, typeRules[word[len("NATIONAL "):]])
		return
	}
	rule, ok := typeRules[word]
	if !ok {
		p.fail()
	}
	p.next()
	d.National = word == "NCHAR" || word == "NVARCHAR"
	p.typeRest(d, word, rule)
}

// typeRest parses what follows the first word of a type.
func (p *parser) typeRest(d *DataType, word string, rule typeRule) {
	switch word {
	case "DOUBLE":
		if p.acceptKw(kwPrecision) {
			word += " PRECISION"
		}
	case "CHAR", "CHARACTER", "NCHAR", "NATIONAL CHAR", "NATIONAL CHARACTER":
		if w := p.oneOf("VARYING", "VARCHAR"); w != "" {
			word += " " + w
			rule = typeRule{TypeVarchar, shapeNeedLen}
		}
	case "LONG":
		w := p.oneOf("VARCHAR", "VARBINARY")
		if w != "" {
			word += " " + w
		} else if p.isKw(kwChar) || p.isKw(kwCharacter) {
			if p.peek(1).kw == kwVarying {
				word += " " + p.oneOf("CHAR", "CHARACTER") + " " + p.oneOf("VARYING")
			}
		}
		if w == "VARBINARY" {
			rule = typeRule{TypeMediumBlob, shapePlain}
		}
	}
	double := rule.kind == TypeDouble
	if word == "REAL" && p.opt.RealAsFloat {
		rule, word = typeRules["FLOAT"], "FLOAT"
	}
	d.Kind, d.Spelling = rule.kind, word
	switch rule.shape {
	case shapeInt, shapeLength:
		p.typeLength(d)
	case shapeReal:
		p.typePrecision(d, double)
	case shapeText:
		p.typeLength(d)
		p.typeCharset(d)
	case shapeLob:
		p.typeCharset(d)
	case shapeNeedLen:
		if !p.is(tLParen) {
			p.fail()
		}
		p.typeLength(d)
		p.typeCharset(d)
	case shapeElems:
		p.expect(tLParen)
		d.Elems = p.elements()
		p.expect(tRParen)
		p.typeCharset(d)
	}
	if rule.shape == shapeInt || rule.shape == shapeReal {
		p.typeSigns(d)
		p.noticeSigns(d, rule.shape)
	}
	if d.National {
		p.notice(CodeNational, national)
	}
}

// elements parses the strings of ENUM and SET.
func (p *parser) elements() []*Literal {
	var list []*Literal
	for {
		if !p.is(tHex) && !p.is(tBit) && !p.is(tString) {
			p.fail()
		}
		list = append(list, p.literal().(*Literal))
		if !p.accept(tComma) {
			return list
		}
	}
}

// typeLength parses an optional (n).
func (p *parser) typeLength(d *DataType) {
	if p.accept(tLParen) {
		switch d.Kind {
		case TypeTime, TypeDatetime, TypeTimestamp:
			d.Length = p.smallNumber()
		default:
			d.Length, _ = p.lengthNumber()
		}
		p.expect(tRParen)
	}
}

// typePrecision parses an optional (n[,m]); DOUBLE needs both numbers.
func (p *parser) typePrecision(d *DataType, double bool) {
	if !p.accept(tLParen) {
		return
	}
	var whole bool
	if double && !p.is(tInt) {
		p.fail()
	}
	if d.Length, whole = p.lengthNumber(); whole && (double || p.is(tComma)) {
		p.expect(tComma)
		d.Scale = p.smallNumber()
	}
	p.expect(tRParen)
}

// lengthNumber parses the length of a type, of which MySQL's grammar lets the digits after a decimal point pass.
func (p *parser) lengthNumber() (n int64, whole bool) {
	if !p.is(tDecimal) {
		return p.smallNumber(), true
	}
	digits, _, _ := strings.Cut(p.text(p.next()), ".")
	return boundedNumber(digits), false
}

// smallNumber parses an integer. Larger ones than 63 bits become the largest, which
// is refused with the error of the type.
func (p *parser) smallNumber() int64 { return boundedNumber(p.text(p.expect(tInt))) }

func boundedNumber(digits string) int64 {
	const largest = 1<<63 - 1
	var n int64
	for _, c := range []byte(digits) {
		digit := int64(c - '0')
		if n > (largest-digit)/10 {
			return largest
		}
		n = n*10 + digit
	}
	return n
}

// typeSigns parses UNSIGNED, SIGNED and ZEROFILL in any order.
func (p *parser) typeSigns(d *DataType) {
	for {
		w := p.oneOf("UNSIGNED", "SIGNED", "ZEROFILL")
		if w == "" {
			return
		}
		d.Unsigned = d.Unsigned || w == "UNSIGNED" || w == "ZEROFILL"
		d.Signed = d.Signed || w == "SIGNED"
		d.Zerofill = d.Zerofill || w == "ZEROFILL"
		d.Attrs = append(d.Attrs, w)
	}
}

// typeCharset parses the character set attributes of a string type.
func (p *parser) typeCharset(d *DataType) {
	if p.acceptKw(kwBinary) {
		d.Binary, d.BinaryFirst = true, true
	}
	switch {
	case p.acceptWord("ASCII"):
		d.ASCII = true
		p.noticeBinary(d)
		p.instead("ASCII", "CHARACTER SET charset_name")
	case p.acceptWord("UNICODE"):
		d.Unicode = true
		p.noticeBinary(d)
		p.instead("UNICODE", "CHARACTER SET charset_name")
	case !d.Binary && p.acceptWord("BYTE"):
		d.Byte = true
		return
	default:
		if d.CharsetWord = p.charsetWord(); d.CharsetWord != "" {
			d.Charset = p.charset(p.nameOrString())
		}
		p.noticeBinary(d)
	}
	if !d.Binary && p.isKw(kwBinary) {
		p.next()
		d.Binary = true
		p.noticeBinary(d)
	}
}

func (p *parser) noticeBinary(d *DataType) {
	if d.Binary {
		p.notice(CodeDeprecated, binaryAttr)
	}
}

// charsetWord consumes CHARSET, CHARACTER SET or CHAR SET and returns it.
func (p *parser) charsetWord() string {
	switch {
	case p.acceptWord("CHARSET"):
		return "CHARSET"
	case p.acceptWords("CHARACTER", "SET"):
		return "CHARACTER SET"
	case p.acceptWords("CHAR", "SET"):
		return "CHAR SET"
	}
	return ""
}

// castType parses the type of a CAST, a smaller set than that of columns.
func (p *parser) castType(d *DataType) {
	d.Pos, d.Length, d.Scale = p.pos(), -1, -1
	switch w := p.oneOf("SIGNED", "UNSIGNED"); w {
	case "SIGNED", "UNSIGNED":
		d.Kind, d.Spelling = TypeSigned, w
		if w == "UNSIGNED" {
			d.Kind = TypeUnsigned
		}
		if i := p.oneOf("INTEGER", "INT"); i != "" {
			d.Spelling += " " + i
		}
		return
	}
	p.dataType(d)
	switch d.Kind {
	case TypeBinary, TypeChar, TypeDate, TypeTime, TypeDatetime, TypeYear, TypeDecimal, TypeFloat, TypeDouble,
		TypeJSON, TypeTimestamp, TypePoint, TypeLineString, TypePolygon, TypeMultiPoint, TypeMultiLineString,
		TypeMultiPolygon, TypeGeomCollection, TypeVector:
		return
	}
	p.failAt(int32(d.Pos))
}
