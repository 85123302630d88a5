package plan

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/pandodb/pando/syntax"
)

// special writes the expressions that have a syntax of their own.
func (p *clausePrinter) special(e syntax.Expr) {
	switch e := e.(type) {
	case *syntax.Cast:
		p.cast(e)
	case *syntax.ConvertUsing:
		p.text("convert(")
		p.expr(e.X)
		p.text(" using " + strings.ToLower(e.Charset) + ")")
	case *syntax.Collate:
		p.text("(")
		p.expr(e.X)
		p.text(" collate " + strings.ToLower(e.Collation) + ")")
	case *syntax.Case:
		p.caseOf(e)
	case *syntax.Trim:
		p.text("trim(")
		if e.Side != "" {
			p.text(strings.ToLower(e.Side) + " ")
		}
		if e.Remove != nil {
			p.expr(e.Remove)
			p.text(" ")
		}
		if e.Remove != nil || e.Side != "" { // without a text to remove MySQL leaves FROM out, too, and cannot read it any more
			p.text("from ")
		}
		p.expr(e.X)
		p.text(")")
	case *syntax.WeightString:
		p.weightString(e)
	case *syntax.JSONValue:
		if e.Returning != nil || e.OnEmpty != nil || e.OnError != nil {
			p.text(syntax.String(e))
			return
		}
		p.text("json_value(")
		p.expr(e.Doc)
		p.text(", ")
		p.expr(e.Path)
		p.text(" returning char(512))")
	case *syntax.Default:
		p.text("default(")
		p.expr(e.Column)
		p.text(")")
	default:
		p.text(syntax.String(e))
	}
}

func (p *clausePrinter) weightString(e *syntax.WeightString) {
	if len(e.Rest) > 0 {
		p.text(syntax.String(e))
		return
	}
	p.text("weight_string(")
	switch e.As {
	case "":
		p.expr(e.X)
	case "CHAR":
		p.expr(e.X)
		p.text(" as char(" + syntax.String(e.N) + ")")
	default: // MySQL keeps it as the conversion
		p.text("cast(")
		p.expr(e.X)
		p.text(" as char(" + syntax.String(e.N) + ") charset binary)")
	}
	p.text(")")
}

// cast writes CAST and CONVERT to a type. Types that castText does not know are printed by package syntax.
func (p *clausePrinter) cast(e *syntax.Cast) {
	kind, ok := castText(&e.Type)
	if !ok || e.Array || e.TimeZone != nil {
		p.text(syntax.String(e))
		return
	}
	p.text("cast(")
	p.expr(e.X)
	p.text(" as " + kind + ")")
}

func castText(t *syntax.DataType) (string, bool) {
	sized := func(word string) string {
		if t.Length < 0 {
			return word
		}
		return word + "(" + strconv.FormatInt(t.Length, 10) + ")"
	}
	switch t.Kind {
	case syntax.TypeSigned:
		return "signed", true
	case syntax.TypeUnsigned:
		return "unsigned", true
	case syntax.TypeBinary:
		return sized("char") + " charset binary", true
	case syntax.TypeChar:
		if t.Binary && !t.National {
			return "", false
		}
		charset := strings.ToLower(namedCharset(t))
		if charset == "" {
			charset = "utf8mb4"
		}
		return sized("char") + " charset " + charset, true
	case syntax.TypeDecimal:
		return fmt.Sprintf("decimal(%d,%d)", orDefault(t.Length, 10), orDefault(t.Scale, 0)), true
	case syntax.TypeDate:
		return "date", true
	case syntax.TypeTime:
		return sized("time"), true
	case syntax.TypeDatetime:
		return sized("datetime"), true
	case syntax.TypeYear:
		return "year", true
	case syntax.TypeJSON:
		return "json", true
	case syntax.TypeDouble:
		return "double", true
	case syntax.TypeFloat:
		return "float", t.Length < 0
	}
	return "", false
}

// orDefault is n, or otherwise if n was left out and is negative.
func orDefault(n, otherwise int64) int64 {
	if n < 0 {
		return otherwise
	}
	return n
}

func (p *clausePrinter) caseOf(e *syntax.Case) {
	p.text("(case ")
	if e.Operand != nil {
		p.expr(e.Operand)
		p.text(" ")
	}
	for _, when := range e.Whens {
		p.text("when ")
		p.expr(when.Cond)
		p.text(" then ")
		p.expr(when.Then)
		p.text(" ")
	}
	if e.Else != nil {
		p.text("else ")
		p.expr(e.Else)
		p.text(" ")
	}
	p.text("end)")
}

// arrow writes column -> path and column ->> path as the functions for which they stand.
func (p *clausePrinter) arrow(e *syntax.Binary) {
	if e.Op == syntax.OpJSONUnquoteExtract {
		p.text("json_unquote(")
		defer p.text(")")
	}
	p.text("json_extract")
	p.list([]syntax.Expr{e.L, e.R})
}

// moved writes x + INTERVAL … or x - INTERVAL ….
func (p *clausePrinter) moved(x syntax.Expr, word string, by *syntax.Interval) {
	p.text("(")
	p.expr(x)
	p.text(" " + word + " interval ")
	p.expr(by.Value)
	p.text(" " + strings.ToLower(by.Unit) + ")")
}

// bits writes a bit literal as whole bytes in hexadecimal, as MySQL does.
func (p *clausePrinter) bits(e *syntax.Literal) {
	n, ok := new(big.Int).SetString(e.Value, 2)
	if !ok {
		p.text(syntax.String(e))
		return
	}
	digits := n.Text(16)
	p.text("0x" + strings.Repeat("0", max((len(e.Value)+7)/8*2-len(digits), 0)) + digits)
}

// synonyms maps functions to the names under which MySQL keeps them.
var synonyms = map[string]string{
	"substring": "substr", "mid": "substr", "current_date": "curdate", "current_time": "curtime", "current_timestamp": "now", "localtime": "now",
	"localtimestamp": "now", "ucase": "upper", "lcase": "lower", "day": "dayofmonth", "session_user": "user", "system_user": "user", "schema": "database",
	"power": "pow", "ceil": "ceiling", "sha1": "sha", "character_length": "char_length", "octet_length": "length",
}

// completed maps functions of one argument to the functions that they are with more of them, and completions to what follows then.
var (
	completed   = map[string]string{"oct": "conv", "bin": "conv", "round": "round", "weekofyear": "week", "yearweek": "yearweek"}
	completions = map[string]string{"oct": ",10,8)", "bin": ",10,2)", "round": ",0)", "weekofyear": ",3)", "yearweek": ",0)"}
)

// viewSynonym writes the calls that MySQL keeps as other calls or operators. Only a view's text is only shown: a condition uses an index over an
// expression if both are the same call, so that these stay what they are.
func (p *clausePrinter) viewSynonym(name string, args []syntax.Expr) bool {
	switch {
	case completed[name] != "" && len(args) == 1:
		p.text(completed[name] + "(")
		p.expr(args[0])
		p.text(completions[name])
	case name == "atan2" && len(args) == 2:
		p.text("atan")
		p.list(args)
	case name == "date" && len(args) == 1:
		p.text("cast(")
		p.expr(args[0])
		p.text(" as date)")
	case name == "datediff" && len(args) == 2:
		p.text("(to_days(")
		p.expr(args[0])
		p.text(") - to_days(")
		p.expr(args[1])
		p.text("))")
	default:
		return false
	}
	return true
}

// unitCall writes the functions whose first argument is a word.
func (p *clausePrinter) unitCall(name string, e *syntax.FuncCall) bool {
	switch {
	case name == "timestampadd" && len(e.Args) == 2 && p.view != nil:
		p.moved(e.Args[1], "+", &syntax.Interval{Value: e.Args[0], Unit: e.Unit})
	case (name == "timestampadd" || name == "timestampdiff") && len(e.Args) == 2:
		p.text(name + "(" + strings.ToUpper(e.Unit) + ",")
		p.expr(e.Args[0])
		p.text(",")
		p.expr(e.Args[1])
		p.text(")")
	case name == "get_format" && len(e.Args) == 1:
		p.text("get_format(" + strings.ToUpper(e.Unit) + ", ")
		p.expr(e.Args[0])
		p.text(")")
	default:
		return false
	}
	return true
}

// synonym writes the calls that MySQL keeps as something else, and reports whether e is one.
func (p *clausePrinter) synonym(e *syntax.FuncCall) bool {
	name := strings.ToLower(e.Name)
	switch e.Syntax {
	case syntax.CallPlain, syntax.CallFromFor, syntax.CallNoParen:
	case syntax.CallExtract:
		p.text("extract(" + strings.ToLower(e.Unit) + " from ")
		p.expr(e.Args[0])
		p.text(")")
		return true
	case syntax.CallIn:
		p.text("locate")
		p.list(e.Args)
		return true
	case syntax.CallUnit:
		return p.unitCall(name, e)
	default:
		return false
	}
	if len(e.Args) == 2 {
		if interval, ok := e.Args[1].(*syntax.Interval); ok {
			return p.intervalCall(name, e.Args[0], interval)
		}
	}
	switch {
	case name == "mod" && len(e.Args) == 2:
		p.binary(&syntax.Binary{Op: syntax.OpMod, L: e.Args[0], R: e.Args[1]})
	case name == "isnull" && len(e.Args) == 1:
		p.test(&syntax.IsTest{X: e.Args[0], Test: syntax.IsNull})
	case name == "instr" && len(e.Args) == 2:
		p.text("locate")
		p.list([]syntax.Expr{e.Args[1], e.Args[0]})
	case (name == "adddate" || name == "subdate") && len(e.Args) == 2:
		return p.intervalCall(name, e.Args[0], &syntax.Interval{Value: e.Args[1], Unit: "DAY"})
	case synonyms[name] != "":
		p.text(synonyms[name])
		p.list(e.Args)
	case p.view != nil && p.viewSynonym(name, e.Args):
	case e.Syntax != syntax.CallPlain:
		p.text(name)
		p.list(e.Args)
	default:
		return false
	}
	return true
}

func (p *clausePrinter) intervalCall(name string, x syntax.Expr, by *syntax.Interval) bool {
	switch name {
	case "date_add", "adddate":
		p.moved(x, "+", by)
	case "date_sub", "subdate":
		p.moved(x, "-", by)
	default:
		return false
	}
	return true
}
