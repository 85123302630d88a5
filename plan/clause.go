package plan

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/syntax"
)

// clausePrinter writes a condition as MySQL keeps it in its dictionary: each operator in parentheses, words in lower case, strings with
// their character set. Everything else is printed by package syntax.
type clausePrinter struct {
	b    []byte
	view *viewNames // of the query of a view, nil for a condition
}

func (p *clausePrinter) text(s string) { p.b = append(p.b, s...) }

var clauseOperators = map[syntax.BinaryOp]string{
	syntax.OpXor: "xor", syntax.OpEq: "=", syntax.OpNullSafeEq: "<=>", syntax.OpNe: "<>", syntax.OpLt: "<", syntax.OpLe: "<=", syntax.OpGt: ">",
	syntax.OpGe: ">=", syntax.OpAdd: "+", syntax.OpSub: "-", syntax.OpMul: "*", syntax.OpDiv: "/", syntax.OpIntDiv: "DIV", syntax.OpMod: "%",
	syntax.OpBitAnd: "&", syntax.OpBitOr: "|", syntax.OpBitXor: "^", syntax.OpShiftLeft: "<<", syntax.OpShiftRight: ">>",
}

func (p *clausePrinter) expr(e syntax.Expr) {
	switch e := e.(type) {
	case *syntax.Paren:
		p.expr(e.X)
	case *syntax.ColumnRef:
		if p.view != nil {
			p.viewColumn(e)
			return
		}
		p.text(catalog.QuoteIdent(e.Column))
	case *syntax.Literal:
		p.literal(e)
	case *syntax.Unary:
		p.unary(e)
	case *syntax.Binary:
		p.binary(e)
	case *syntax.In:
		if e.Query != nil && p.view != nil {
			p.inQuery(e)
			return
		}
		if len(e.List) == 1 && p.inOne(e) {
			return
		}
		p.text("(")
		p.expr(e.X)
		p.negated(e.Not, " in ")
		p.list(e.List)
		p.text(")")
	case *syntax.Between:
		p.text("(")
		p.expr(e.X)
		p.negated(e.Not, " between ")
		p.expr(e.Lo)
		p.text(" and ")
		p.expr(e.Hi)
		p.text(")")
	case *syntax.Like:
		p.like(e)
	case *syntax.Regexp:
		p.regexp(e)
	case *syntax.IsTest:
		p.test(e)
	case *syntax.FuncCall:
		p.call(e)
	case *syntax.Introduced:
		p.introduced(e)
	case *syntax.Row:
		p.list(e.Elems)
	default:
		if p.view == nil || !p.viewExpr(e) {
			p.special(e)
		}
	}
}

// inOne writes IN of one value as the comparison that it is for MySQL; false if it is of rows.
func (p *clausePrinter) inOne(e *syntax.In) bool {
	if _, row := unparen(e.List[0]).(*syntax.Row); row {
		return false
	}
	op := syntax.OpEq
	if e.Not {
		op = syntax.OpNe
	}
	p.binary(&syntax.Binary{Op: op, L: e.X, R: e.List[0]})
	return true
}

func (p *clausePrinter) negated(not bool, word string) {
	if not {
		p.text(" not")
	}
	p.text(word)
}

func (p *clausePrinter) list(list []syntax.Expr) {
	p.text("(")
	for i, e := range list {
		if i > 0 {
			p.text(",")
		}
		p.expr(e)
	}
	p.text(")")
}

func (p *clausePrinter) literal(e *syntax.Literal) {
	switch e.Kind {
	case syntax.LitString, syntax.LitNString:
		plain := *e
		plain.Kind = syntax.LitString
		switch {
		case p.view != nil:
		case e.Kind == syntax.LitNString:
			p.text("_utf8mb3")
		default:
			p.text("_utf8mb4")
		}
		p.text(syntax.String(&plain))
	case syntax.LitDate, syntax.LitTime, syntax.LitTimestamp:
		text := syntax.String(e)
		if p.view != nil {
			text = strings.Replace(text, " '", "'", 1)
		}
		p.text(text)
	case syntax.LitTrue, syntax.LitFalse:
		p.text(strings.ToLower(syntax.String(e)))
	case syntax.LitHex:
		p.text("0x" + strings.ToLower(e.Value))
	case syntax.LitBit:
		p.bits(e)
	default:
		p.text(syntax.String(e))
	}
}

// introduced writes a string with its character set. UTF-8 that is kept as hexadecimal digits (DefaultText) is shown as text.
func (p *clausePrinter) introduced(e *syntax.Introduced) {
	if e.Lit.Kind == syntax.LitHex && strings.EqualFold(e.Charset, "utf8mb4") {
		if raw, err := hex.DecodeString(e.Lit.Value); err == nil && utf8.Valid(raw) {
			p.text("_utf8mb4" + syntax.String(&syntax.Literal{Kind: syntax.LitString, Value: string(raw)}))
			return
		}
	}
	if e.Lit.Kind == syntax.LitString {
		p.text("_" + strings.ToLower(e.Charset) + syntax.String(e.Lit))
		return
	}
	p.text(syntax.String(e))
}

func (p *clausePrinter) unary(e *syntax.Unary) {
	switch e.Op {
	case syntax.OpNot, syntax.OpBang:
		p.not(unparen(e.X))
	case syntax.OpNeg:
		p.text("-(")
		p.expr(e.X)
		p.text(")")
	case syntax.OpPlus:
		p.expr(e.X)
	case syntax.OpBitNot:
		p.text("~(")
		p.expr(e.X)
		p.text(")")
	default:
		p.text("cast(")
		p.expr(e.X)
		p.text(" as char charset binary)")
	}
}

func (p *clausePrinter) binary(e *syntax.Binary) {
	switch e.Op {
	case syntax.OpAnd, syntax.OpOr:
		p.text("(")
		p.chain(e, e.Op)
		p.text(")")
		return
	}
	if p.view != nil && p.viewBinary(e) {
		return
	}
	if e.Op == syntax.OpSoundsLike {
		p.text("(soundex(")
		p.expr(e.L)
		p.text(") = soundex(")
		p.expr(e.R)
		p.text("))")
		return
	}
	if e.Op == syntax.OpJSONExtract || e.Op == syntax.OpJSONUnquoteExtract {
		p.arrow(e)
		return
	}
	if interval, ok := e.R.(*syntax.Interval); ok && (e.Op == syntax.OpAdd || e.Op == syntax.OpSub) {
		p.moved(e.L, clauseOperators[e.Op], interval)
		return
	}
	if interval, ok := e.L.(*syntax.Interval); ok && e.Op == syntax.OpAdd {
		p.moved(e.R, "+", interval)
		return
	}
	word, known := clauseOperators[e.Op]
	if !known {
		p.text(syntax.String(e))
		return
	}
	operand := p.expr
	if e.Op == syntax.OpXor {
		operand = p.condition
	}
	p.text("(")
	operand(e.L)
	p.text(" " + word + " ")
	operand(e.R)
	p.text(")")
}

// condition writes an operand of AND and OR.
func (p *clausePrinter) condition(e syntax.Expr) {
	if p.view != nil {
		if test, ok := p.view.zeroDates[unparen(e)]; ok {
			p.zeroDate(test)
			return
		}
	}
	if isBoolean(e) {
		p.expr(e)
		return
	}
	p.text("(0 <> ")
	p.expr(e)
	p.text(")")
}

// opposite maps each comparison to its negation.
var opposite = map[syntax.BinaryOp]syntax.BinaryOp{
	syntax.OpEq: syntax.OpNe, syntax.OpNe: syntax.OpEq, syntax.OpLt: syntax.OpGe, syntax.OpGe: syntax.OpLt, syntax.OpGt: syntax.OpLe, syntax.OpLe: syntax.OpGt,
}

// not writes NOT of e, which is no Paren.
func (p *clausePrinter) not(e syntax.Expr) {
	switch x := e.(type) {
	case *syntax.Binary:
		if op, ok := opposite[x.Op]; ok {
			p.binary(&syntax.Binary{Op: op, L: x.L, R: x.R})
			return
		}
	case *syntax.Between:
		if !x.Not {
			p.expr(&syntax.Between{X: x.X, Not: true, Lo: x.Lo, Hi: x.Hi})
			return
		}
	case *syntax.In:
		if !x.Not {
			p.expr(&syntax.In{X: x.X, Not: true, List: x.List, Query: x.Query})
			return
		}
	}
	if !isBoolean(e) {
		p.text("(0 = ")
		p.expr(e)
		p.text(")")
		return
	}
	p.text("(not(")
	p.expr(e)
	p.text("))")
}

// chain writes nested ANDs, or nested ORs, as one list without inner parentheses.
func (p *clausePrinter) chain(e syntax.Expr, op syntax.BinaryOp) {
	both, ok := unparen(e).(*syntax.Binary)
	if ok && op == syntax.OpAnd && p.view != nil && p.rowsEqual(both) {
		return
	}
	if !ok || both.Op != op {
		p.condition(e)
		return
	}
	p.chain(both.L, op)
	if op == syntax.OpAnd {
		p.text(" and ")
	} else {
		p.text(" or ")
	}
	p.chain(both.R, op)
}

func (p *clausePrinter) like(e *syntax.Like) {
	if e.Not {
		p.text("(not(")
	}
	p.text("(")
	p.expr(e.X)
	p.text(" like ")
	p.expr(e.Pattern)
	if e.Escape != nil {
		p.text(" escape ")
		p.expr(e.Escape)
	}
	p.text(")")
	if e.Not {
		p.text("))")
	}
}

func (p *clausePrinter) regexp(e *syntax.Regexp) {
	if e.Not {
		p.text("(not(")
	}
	p.text("regexp_like(")
	p.expr(e.X)
	p.text(",")
	p.expr(e.Pattern)
	p.text(")")
	if e.Not {
		p.text("))")
	}
}

func (p *clausePrinter) test(e *syntax.IsTest) {
	if exists, ok := unparen(e.X).(*syntax.Exists); ok && p.view != nil && e.Test == syntax.IsTrue && !e.Not {
		p.where(exists) // it writes IS TRUE, too
		return
	}
	p.text("(")
	if e.Test == syntax.IsNull || e.Test == syntax.IsUnknown {
		p.expr(e.X)
	} else {
		p.condition(e.X)
	}
	p.text(" is ")
	if e.Not {
		p.text("not ")
	}
	switch e.Test {
	case syntax.IsTrue:
		p.text("true)")
	case syntax.IsFalse:
		p.text("false)")
	default:
		p.text("null)")
	}
}

func (p *clausePrinter) call(e *syntax.FuncCall) {
	if e.Schema == "" && !e.Stored && p.synonym(e) {
		return
	}
	if e.Syntax != syntax.CallPlain || e.Schema != "" || e.Stored {
		p.text(syntax.String(e))
		return
	}
	for _, arg := range e.Args {
		switch arg.(type) {
		case *syntax.Interval:
			if p.view != nil {
				continue
			}
		case *syntax.Star:
		default:
			continue
		}
		p.text(syntax.String(e))
		return
	}
	p.text(strings.ToLower(e.Name))
	p.list(e.Args)
}
