package syntax

import "strings"

// Codes of notices.
const (
	CodeRemovedSpaces     = 1466
	CodeBecomesEmpty      = 1474
	CodeDelayed           = 3005
	CodeDeprecated        = 1287
	CodeDeprecatedNoOther = 1681
	CodeUtf8Alias         = 3719
	CodeNational          = 3720
	CodeUtf8mb3Collation  = 3778
	CodeDeprecatedInto    = 3962
)

// noticesMax bounds how many of a text are kept: as many as sessions keep warnings by default.
const noticesMax = 1024

// Notice is a warning that a text deserves for how it is written, whatever becomes of the statement: it uses what MySQL has deprecated, or a name that is
// taken otherwise.
type Notice struct {
	Code int
	Text string
}

const (
	goes       = " is deprecated and will be removed in a future release."
	binaryAttr = "'BINARY as attribute of a type'" + goes + " Please use a CHARACTER SET clause with _bin collation instead"
	noZerofill = "The ZEROFILL attribute" + goes + " Use the LPAD function to zero-pad numbers, or store the formatted numbers in a CHAR column."
	noWidth    = "Integer display width" + goes
	noDigits   = "Specifying number of digits for floating point data types" + goes
	noUnsigned = "UNSIGNED for decimal and floating point data types is deprecated and support for it will be removed in a future release."
	national   = "NATIONAL/NCHAR/NVARCHAR implies the character set UTF8MB3, which will be replaced by UTF8MB4 in a future release. " +
		"Please consider using CHAR(x) CHARACTER SET UTF8MB4 in order to be unambiguous."
	utf8Alias = "'utf8' is currently an alias for the character set UTF8MB3, but will be an alias for UTF8MB4 in a future release. " +
		"Please consider using UTF8MB4 in order to be unambiguous."
	setInside = "Setting user variables within expressions" + goes +
		" Consider alternatives: 'SET variable=expression, ...', or 'SELECT expression(s) INTO variables(s)'."
	intoInside = "The INTO clause is deprecated inside query blocks of query expressions and will be removed in a future release. " +
		"Please move the INTO clause to the end of statement instead."
	valuesOfRow = "'VALUES function'" + goes + " Please use an alias (INSERT INTO ... VALUES (...) AS alias) and replace VALUES(col)" +
		" in the ON DUPLICATE KEY UPDATE clause with alias.col instead"
	noCalcRows  = "SQL_CALC_FOUND_ROWS" + goes + " Consider using two separate queries instead."
	noFoundRows = "FOUND_ROWS()" + goes + " Consider using COUNT(*) instead."
)

// notice adds a notice, if anybody wants them.
func (p *parser) notice(code int, text string) {
	if p.opt.Notices != nil && len(*p.opt.Notices) < noticesMax {
		*p.opt.Notices = append(*p.opt.Notices, Notice{code, text})
	}
}

// instead is the notice that what goes in favour of other.
func (p *parser) instead(what, other string) {
	if p.opt.Notices != nil {
		p.notice(CodeDeprecated, "'"+what+"'"+goes+" Please use "+other+" instead")
	}
}

// charset takes note of the name of a character set, and returns it.
func (p *parser) charset(name string) string {
	if p.opt.Notices == nil {
		return name
	}
	switch lower := strings.ToLower(name); lower {
	case "utf8":
		p.notice(CodeUtf8Alias, utf8Alias)
	case "utf8mb3", "ucs2", "macce", "macroman", "dec8", "hp8":
		p.instead(lower, "utf8mb4")
	}
	return name
}

// collation is charset of a collation, where one is declared; the COLLATE of an expression is none.
func (p *parser) collation(name string) string {
	if p.opt.Notices == nil {
		return name
	}
	lower := strings.ToLower(name)
	if rest, ok := strings.CutPrefix(lower, "utf8_"); ok {
		lower = "utf8mb3_" + rest
	}
	if strings.HasPrefix(lower, "utf8mb3_") {
		p.notice(CodeUtf8mb3Collation, "'"+lower+"' is a collation of the deprecated character set UTF8MB3. "+
			"Please consider using UTF8MB4 with an appropriate collation instead.")
	}
	return name
}

// noticeSigns is about UNSIGNED, ZEROFILL and the numbers of a numeric type.
func (p *parser) noticeSigns(d *DataType, shape typeShape) {
	if p.opt.Notices == nil {
		return
	}
	if d.Zerofill {
		p.notice(CodeDeprecatedNoOther, noZerofill)
	}
	switch {
	case d.Kind == TypeYear:
		if d.Length == 4 {
			p.instead("YEAR(4)", "YEAR")
		}
	case shape == shapeInt:
		if d.Length >= 0 {
			p.notice(CodeDeprecatedNoOther, noWidth)
		}
	case d.Scale >= 0 && d.Kind != TypeDecimal:
		p.notice(CodeDeprecatedNoOther, noDigits)
	}
	if shape != shapeReal {
		return
	}
	for _, a := range d.Attrs {
		if a == "UNSIGNED" {
			p.notice(CodeDeprecatedNoOther, noUnsigned)
		}
	}
}

// noticeCall is about functions that go.
func (p *parser) noticeCall(name string) {
	if p.opt.Notices == nil || len(name) != len("FOUND_ROWS") {
		return
	}
	switch toUpperASCII(name) {
	case "FOUND_ROWS":
		p.notice(CodeDeprecated, noFoundRows)
	case "JSON_MERGE":
		p.instead("JSON_MERGE", "JSON_MERGE_PRESERVE/JSON_MERGE_PATCH")
	}
}

// noticeVariable is about the character set or collation that SET gives a system variable.
func (p *parser) noticeVariable(v *SetVar) {
	if p.opt.Notices == nil {
		return
	}
	var value string
	switch x := v.Value.(type) {
	case *ColumnRef:
		value = x.Column
	case *Literal:
		if x.Kind == LitString {
			value = x.Value
		}
	}
	switch name := strings.ToLower(v.Name); {
	case strings.HasPrefix(name, "character_set_"):
		p.charset(value)
	case strings.HasPrefix(name, "collation_"):
		p.collation(value)
	}
}

// Visible is a column's name from its first character on that is neither white space nor a control character, as MySQL has them.
func Visible(name string) string {
	return strings.TrimLeftFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

// visibleName is Visible of a name that the text gives, which is told if it has become another.
func (p *parser) visibleName(name string) string {
	visible := Visible(name)
	switch {
	case visible == name:
	case visible == "" && p.view:
		return name // an error of the view, which names it as it is
	case visible == "":
		p.notice(CodeBecomesEmpty, "Name '"+name+"' has become ''")
	default:
		p.notice(CodeRemovedSpaces, "Leading spaces are removed from name '"+name+"'")
	}
	return visible
}
