package expr

import (
	"fmt"
	"strings"

	"github.com/pandodb/pando/types"
)

// String returns the expression as MySQL prints it in EXPLAIN and in messages: every operator in parentheses, names quoted.
func (n *Node) String() string {
	var p printer
	p.expr(n)
	return p.String()
}

type printer struct{ strings.Builder }

// infix maps the names of infix operators to how they are printed.
var infix = map[string]string{
	"+": "+", "-": "-", "*": "*", "/": "/", "div": "DIV", "%": "%", "=": "=", "<=>": "<=>", "<>": "<>", "<": "<", "<=": "<=", ">": ">",
	">=": ">=", "and": "and", "or": "or", "xor": "xor", "&": "&", "|": "|", "^": "^", "<<": "<<", ">>": ">>", "like": "like",
	"regexp": "regexp", "->": "->", "->>": "->>", "collate": "collate",
}

func (p *printer) expr(n *Node) {
	switch n.kind {
	case kindColumn, kindSubquery:
		p.name(n)
	case kindParam:
		if n.name != "" { // AsParam
			p.name(n)
			return
		}
		p.WriteByte('?')
	case kindConst:
		if f, ok := n.aux.(*folded); ok && !f.from.hidden {
			p.expr(f.from)
			return
		}
		p.literal(n)
	default:
		p.call(n)
	}
}

func (p *printer) name(n *Node) {
	if n.kind == kindSubquery || strings.ContainsAny(n.name, "`(") {
		p.WriteString(n.name)
		return
	}
	for i, part := range strings.Split(n.name, ".") {
		if i > 0 {
			p.WriteByte('.')
		}
		p.WriteString("`" + part + "`")
	}
}

func (p *printer) call(n *Node) {
	switch {
	case n.name == "avg":
		p.WriteString(n.aux.(*average).text)
	case n.hidden:
		p.expr(n.args[0])
	case infix[n.name] != "" && len(n.args) >= 2:
		p.WriteByte('(')
		for i, a := range n.args {
			if i == 2 && n.name == "like" {
				p.WriteString(" escape ")
			} else if i > 0 {
				p.WriteString(" " + infix[n.name] + " ")
			}
			p.expr(a)
		}
		p.WriteByte(')')
	case n.name == "neg":
		p.WriteString("-(")
		p.expr(n.args[0])
		p.WriteByte(')')
	case n.name == "not":
		p.WriteString("(not(")
		p.expr(n.args[0])
		p.WriteString("))")
	case n.name == "~":
		p.WriteString("~")
		p.expr(n.args[0])
	case strings.HasPrefix(n.name, "is "):
		p.WriteByte('(')
		p.expr(n.args[0])
		p.WriteString(" " + n.name + ")")
	case n.name == "between":
		p.WriteByte('(')
		p.expr(n.args[0])
		p.WriteString(" between ")
		p.expr(n.args[1])
		p.WriteString(" and ")
		p.expr(n.args[2])
		p.WriteByte(')')
	case n.name == "in":
		p.WriteByte('(')
		p.expr(n.args[0])
		p.WriteString(" in ")
		p.list(n.args[1:])
		p.WriteByte(')')
	case n.name == "row":
		p.list(n.args)
	default:
		p.function(n)
	}
}

// function prints calls that are not operators.
func (p *printer) function(n *Node) {
	switch n.name {
	case "case", "case_value":
		p.caseText(n)
	case "cast":
		p.WriteString("cast(")
		p.expr(n.args[0])
		p.WriteString(" as " + castTypeText(&n.typ) + ")")
	case "char_using":
		p.WriteString("char(")
		for i, a := range n.args[1:] {
			if i > 0 {
				p.WriteByte(',')
			}
			p.expr(a)
		}
		p.WriteByte(')')
	case "convert_using":
		p.WriteString("convert(")
		p.expr(n.args[0])
		p.WriteString(" using " + n.typ.Coll.Charset().Name + ")")
	case "date_add", "date_sub":
		p.WriteByte('(')
		p.expr(n.args[0])
		p.WriteString(map[string]string{"date_add": " + interval ", "date_sub": " - interval "}[n.name])
		p.expr(n.args[1])
		p.WriteByte(' ')
		p.unit(n.args[2])
		p.WriteByte(')')
	case "extract":
		p.WriteString("extract(")
		p.unit(n.args[0])
		p.WriteString(" from ")
		p.expr(n.args[1])
		p.WriteByte(')')
	case "timestampadd", "timestampdiff":
		p.WriteString(n.name + "(")
		p.unit(n.args[0])
		p.WriteByte(',')
		p.expr(n.args[1])
		p.WriteByte(',')
		p.expr(n.args[2])
		p.WriteByte(')')
	case "user_variable", "system_variable":
		p.WriteString(n.aux.(variable).text())
	case "set_user_variable":
		p.WriteString("(" + n.aux.(variable).text() + ":=")
		p.expr(n.args[0])
		p.WriteByte(')')
	case "binary":
		p.WriteString("cast(")
		p.expr(n.args[0])
		p.WriteString(" as char charset binary)")
	default:
		p.WriteString(n.name)
		p.list(n.args)
	}
}

func (p *printer) unit(e Expr) {
	v, _ := e.ConstValue()
	p.WriteString(strings.ToLower(string(v.B)))
}

func castTypeText(t *types.Type) string {
	switch {
	case t.IsInteger() && t.Unsigned:
		return "unsigned"
	case t.IsInteger():
		return "signed"
	case t.IsText() && t.Length >= 0:
		c := *t
		c.ID = types.TypeChar
		return c.String() + " charset " + t.Coll.Charset().Name
	case t.IsText():
		return "char charset " + t.Coll.Charset().Name
	case t.IsBinaryString():
		return "char charset binary"
	}
	return t.String()
}

func (p *printer) list(args []Expr) {
	p.WriteByte('(')
	for i, a := range args {
		if i > 0 {
			p.WriteByte(',')
		}
		p.expr(a)
	}
	p.WriteByte(')')
}

func (p *printer) caseText(n *Node) {
	args := n.args
	p.WriteString("(case")
	if n.name == "case_value" {
		p.WriteByte(' ')
		p.expr(args[0])
		args = args[1:]
	}
	for ; len(args) >= 2; args = args[2:] {
		p.WriteString(" when ")
		p.expr(args[0])
		p.WriteString(" then ")
		p.expr(args[1])
	}
	if len(args) == 1 {
		p.WriteString(" else ")
		p.expr(args[0])
	}
	p.WriteString(" end)")
}

func (p *printer) literal(n *Node) {
	v := n.value
	switch {
	case v.IsNull():
		p.WriteString("NULL")
	case n.isHexLiteral():
		p.WriteString("0x" + strings.ToLower(hexText(v.B)))
	case v.K == types.KindJSON:
		p.quote(types.ShownJSON(v.B))
	case v.K == types.KindString:
		p.quote(v.B)
	case v.IsTemporal():
		word := map[types.Kind]string{types.KindDate: "DATE", types.KindTime: "TIME"}[v.K]
		if word == "" {
			word = "TIMESTAMP"
		}
		p.WriteString(word)
		p.quote(types.AppendText(nil, nil, &v))
	default:
		p.Write(types.AppendText(nil, nil, &v))
	}
}

func hexText(b []byte) string {
	const digits = "0123456789ABCDEF"
	out := make([]byte, 0, 2*len(b))
	for _, c := range b {
		out = append(out, digits[c>>4], digits[c&15])
	}
	return string(out)
}

func (p *printer) quote(b []byte) {
	p.WriteByte('\'')
	for _, c := range b {
		switch c {
		case '\'', '\\':
			p.WriteByte('\\')
			p.WriteByte(c)
		case 0:
			p.WriteString(`\0`)
		case '\n':
			p.WriteString(`\n`)
		default:
			p.WriteByte(c)
		}
	}
	p.WriteByte('\'')
}

// String returns the aggregate as MySQL prints it.
func (s *AggSpec) String() string {
	var p printer
	p.WriteString(s.name + "(")
	if s.distinct {
		p.WriteString("distinct ")
	}
	if len(s.args) == 0 {
		p.WriteByte('0')
	}
	for i, a := range s.args {
		if i > 0 {
			p.WriteByte(',')
		}
		p.expr(a)
	}
	for i, o := range s.order {
		if i == 0 {
			p.WriteString(" order by ")
		} else {
			p.WriteByte(',')
		}
		p.expr(o.Expr)
		if o.Desc {
			p.WriteString(" desc")
		}
	}
	if s.kind == aggGroupConcat {
		p.WriteString(" separator ")
		p.quote(s.sep)
	}
	p.WriteByte(')')
	return p.String()
}

// auxText returns the part of e.aux that does not follow from name, arguments and type, for Equal.
func auxText(e Expr) string {
	switch aux := e.aux.(type) {
	case variable:
		return aux.text()
	case *likePattern:
		return string(aux.escape)
	case *ownDecimal:
		return "own digits"
	}
	if e.kind == kindSubquery {
		return fmt.Sprintf("%p", e.aux) // a subquery is equal only to itself
	}
	return ""
}

func sameAux(a, b Expr) bool { return auxText(a) == auxText(b) }
