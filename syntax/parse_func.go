package syntax

import "strings"

// funcParser parses a call of a function with a syntax of its own. The name is
// the current token and an opening parenthesis follows.
type funcParser func(p *parser) Expr

// funcRule describes a function with a syntax other than name(args).
type funcRule struct {
	parse funcParser
	// adjacent says that without IGNORE_SPACE the parenthesis must touch the
	// name; otherwise the name is an ordinary one.
	adjacent bool
}

// funcNameMax is the length of the longest name in funcRules.
const funcNameMax = 16

// funcRules holds the functions with syntaxes of their own, by upper-case name.
var funcRules map[string]funcRule

func init() {
	agg := (*parser).aggregate
	plain, date := (*parser).plainCall, (*parser).dateCall
	funcRules = map[string]funcRule{
		"COUNT": {agg, true}, "SUM": {agg, true}, "MIN": {agg, true}, "MAX": {agg, true}, "AVG": {agg, false},
		"BIT_AND": {agg, true}, "BIT_OR": {agg, true}, "BIT_XOR": {agg, true}, "GROUP_CONCAT": {agg, true},
		"STD": {agg, true}, "STDDEV": {agg, true}, "STDDEV_POP": {agg, true}, "STDDEV_SAMP": {agg, true},
		"VARIANCE": {agg, true}, "VAR_POP": {agg, true}, "VAR_SAMP": {agg, true},
		"JSON_ARRAYAGG": {agg, false}, "JSON_OBJECTAGG": {agg, false}, "ST_COLLECT": {agg, false},
		"CAST": {(*parser).cast, true}, "EXTRACT": {(*parser).extract, true},
		"POSITION": {(*parser).position, true}, "TRIM": {(*parser).trim, true},
		"SUBSTRING": {(*parser).substring, true}, "SUBSTR": {(*parser).substring, true},
		"MID": {(*parser).substring, true}, "CURDATE": {plain, true}, "CURTIME": {plain, true},
		"NOW": {plain, true}, "SYSDATE": {plain, true}, "ADDDATE": {date, true}, "SUBDATE": {date, true},
		"DATE_ADD": {date, true}, "DATE_SUB": {date, true},
		"SESSION_USER": {plain, true}, "SYSTEM_USER": {plain, true},
		"TIMESTAMPADD": {(*parser).unitCall, false}, "TIMESTAMPDIFF": {(*parser).unitCall, false},
		"GET_FORMAT": {(*parser).unitCall, false}, "WEIGHT_STRING": {(*parser).weightString, false},
		"JSON_VALUE": {(*parser).jsonValue, false},
	}
}

// wordCall parses a call whose name is a word that is not reserved.
func (p *parser) wordCall() Expr {
	var upper [funcNameMax]byte
	name := p.text(p.tok)
	if len(name) <= len(upper) {
		for i := 0; i < len(name); i++ {
			c := name[i]
			if c >= 'a' && c <= 'z' {
				c -= 'a' - 'A'
			}
			upper[i] = c
		}
		rule, ok := funcRules[string(upper[:len(name)])]
		if ok && (!rule.adjacent || !p.peek(1).spaced || p.opt.IgnoreSpace) {
			return rule.parse(p)
		}
		if ok {
			call := p.plainCall().(*FuncCall)
			call.Stored = true
			return call
		}
	}
	return p.plainCall()
}

// plainCall parses name(args).
func (p *parser) plainCall() Expr {
	call := &FuncCall{Pos: p.pos()}
	if p.tok.kw != kwNone {
		call.Name = p.text(p.next())
	} else {
		call.Stored = p.is(tQuoted)
		call.Name = p.name()
	}
	p.callArgs(call)
	p.noticeCall(call.Name)
	return call
}

// callArgs parses the parenthesised arguments of a call.
func (p *parser) callArgs(call *FuncCall) {
	p.expect(tLParen)
	a, ruled := arity{0, -1}, false
	if !call.Stored && call.Schema == "" {
		a, ruled = arityOf(call.Name)
	}
	aliased := call
	if ruled {
		aliased = nil
	}
	p.enter()
	call.Args = p.counted(a, aliased)
	p.leave()
	call.End = Pos(p.expect(tRParen).end)
}

// noParenCall parses CURRENT_TIMESTAMP and similar functions, with or without (n).
func (p *parser) noParenCall() Expr {
	t := p.next()
	call := &FuncCall{Pos: Pos(t.pos), End: Pos(t.end), Name: p.text(t), Syntax: CallNoParen}
	if p.is(tLParen) {
		call.Syntax = CallPlain
		p.callArgs(call)
	}
	return call
}

// charCall parses CHAR(1, 2 USING charset).
func (p *parser) charCall() Expr {
	t := p.next()
	call := &FuncCall{Pos: Pos(t.pos), Name: p.text(t)}
	p.expect(tLParen)
	p.enter()
	call.Args = p.exprList()
	p.leave()
	if p.acceptKw(kwUsing) {
		call.Syntax, call.Charset = CallUsing, p.charset(p.nameOrString())
	}
	call.End = Pos(p.expect(tRParen).end)
	return call
}

// unitCall parses TIMESTAMPADD(unit, ...), TIMESTAMPDIFF and GET_FORMAT.
func (p *parser) unitCall() Expr {
	t := p.next()
	call := &FuncCall{Pos: Pos(t.pos), Name: p.text(t), Syntax: CallUnit}
	p.expect(tLParen)
	if foldEqual(call.Name, "GET_FORMAT") {
		call.Unit = p.needOneOf("DATE", "TIME", "DATETIME", "TIMESTAMP")
	} else {
		call.Unit = p.intervalUnit()
	}
	p.expect(tComma)
	p.enter()
	a, _ := arityOf(call.Name)
	call.Args = p.counted(a, nil)
	p.leave()
	call.End = Pos(p.expect(tRParen).end)
	return call
}

// dateCall parses DATE_ADD(date, INTERVAL expr unit), DATE_SUB, ADDDATE and
// SUBDATE; the last two also take a number of days.
func (p *parser) dateCall() Expr {
	t := p.next()
	call := &FuncCall{Pos: Pos(t.pos), Name: p.text(t)}
	p.expect(tLParen)
	p.enter()
	call.Args = []Expr{p.expr()}
	p.expect(tComma)
	if !p.isKw(kwInterval) && len(call.Name) != len("ADDDATE") {
		p.fail()
	}
	p.intervalNext = p.isKw(kwInterval)
	call.Args = append(call.Args, p.expr())
	p.leave()
	call.End = Pos(p.expect(tRParen).end)
	return call
}

// extract parses EXTRACT(unit FROM expr).
func (p *parser) extract() Expr {
	t := p.next()
	call := &FuncCall{Pos: Pos(t.pos), Name: p.text(t), Syntax: CallExtract}
	p.expect(tLParen)
	call.Unit = p.intervalUnit()
	p.expectKw(kwFrom)
	p.enter()
	call.Args = []Expr{p.expr()}
	p.leave()
	call.End = Pos(p.expect(tRParen).end)
	return call
}

// position parses POSITION(a IN b). The left operand excludes IN.
func (p *parser) position() Expr {
	t := p.next()
	call := &FuncCall{Pos: Pos(t.pos), Name: p.text(t), Syntax: CallIn}
	p.expect(tLParen)
	p.enter()
	call.Args = []Expr{p.bits(0)}
	p.expectKw(kwIn)
	call.Args = append(call.Args, p.expr())
	p.leave()
	call.End = Pos(p.expect(tRParen).end)
	return call
}

// substring parses SUBSTRING(a, b [, c]) and SUBSTRING(a FROM b [FOR c]).
func (p *parser) substring() Expr {
	t := p.next()
	call := &FuncCall{Pos: Pos(t.pos), Name: p.text(t)}
	p.expect(tLParen)
	p.enter()
	call.Args = []Expr{p.expr()}
	switch {
	case p.acceptKw(kwFrom):
		call.Syntax = CallFromFor
		call.Args = append(call.Args, p.expr())
		if p.acceptKw(kwFor) {
			call.Args = append(call.Args, p.expr())
		}
	default:
		for p.accept(tComma) {
			call.Args = append(call.Args, p.expr())
		}
		if n := len(call.Args); n < 2 || n > 3 {
			p.fail()
		}
	}
	p.leave()
	call.End = Pos(p.expect(tRParen).end)
	return call
}

// trim parses the forms of TRIM.
func (p *parser) trim() Expr {
	tr := &Trim{Pos: Pos(p.next().pos)}
	p.expect(tLParen)
	p.enter()
	tr.Side = p.oneOf("LEADING", "TRAILING", "BOTH")
	switch {
	case tr.Side != "" && p.acceptKw(kwFrom):
		tr.X = p.expr()
	default:
		tr.X = p.expr()
		if p.acceptKw(kwFrom) {
			tr.Remove, tr.X = tr.X, p.expr()
		} else if tr.Side != "" {
			p.fail()
		}
	}
	p.leave()
	p.expect(tRParen)
	return tr
}

// cast parses CAST(expr [AT TIME ZONE zone] AS type [ARRAY]).
func (p *parser) cast() Expr {
	c := &Cast{Pos: Pos(p.next().pos)}
	p.expect(tLParen)
	p.enter()
	c.X = p.expr()
	if p.acceptWords("AT", "TIME", "ZONE") {
		c.ZoneInterval = p.acceptKw(kwInterval)
		c.TimeZone = p.textLiteral()
	}
	p.expectKw(kwAs)
	p.castType(&c.Type)
	c.Array = p.acceptWord("ARRAY")
	p.leave()
	p.expect(tRParen)
	return c
}

// convert parses CONVERT(expr, type) and CONVERT(expr USING charset).
func (p *parser) convert() Expr {
	pos := Pos(p.next().pos)
	p.expect(tLParen)
	p.enter()
	defer p.leave()
	x := p.expr()
	if p.acceptKw(kwUsing) {
		c := &ConvertUsing{Pos: pos, X: x, Charset: p.charset(p.nameOrString())}
		p.expect(tRParen)
		return c
	}
	p.expect(tComma)
	c := &Cast{Pos: pos, X: x, Convert: true}
	p.castType(&c.Type)
	p.expect(tRParen)
	return c
}

// weightString parses WEIGHT_STRING(expr [AS CHAR(n)]).
func (p *parser) weightString() Expr {
	w := &WeightString{Pos: Pos(p.next().pos)}
	p.expect(tLParen)
	p.enter()
	w.X = p.expr()
	if p.acceptKw(kwAs) {
		w.As = p.needOneOf("CHAR", "BINARY")
		p.expect(tLParen)
		if at := p.tok.pos; p.is(tInt) && strings.Trim(p.text(p.tok), "0") == "" {
			p.failAt(at)
		}
		w.N = p.number()
		p.expect(tRParen)
	}
	for p.accept(tComma) {
		w.Rest = append(w.Rest, p.number())
	}
	p.leave()
	p.expect(tRParen)
	return w
}

// jsonValue parses JSON_VALUE.
func (p *parser) jsonValue() Expr {
	v := &JSONValue{Pos: Pos(p.next().pos)}
	p.expect(tLParen)
	p.enter()
	v.Doc = p.expr()
	p.expect(tComma)
	if p.tok.kind == tWord && p.peek(1).kind == tString && introducerOf(p.text(p.tok)) != "" {
		v.Path = p.wordPrimary() // as MySQL writes it in the text of a table
	} else {
		v.Path = p.stringLiteral()
	}
	if p.acceptWord("RETURNING") {
		v.Returning = new(DataType)
		p.castType(v.Returning)
	}
	v.OnEmpty, v.OnError, _ = p.jsonOnClauses()
	p.leave()
	p.expect(tRParen)
	return v
}

// aggregate parses an aggregate function with its own clauses and OVER.
func (p *parser) aggregate() Expr {
	t := p.next()
	a := &AggCall{Pos: Pos(t.pos), Name: upperWord(p.text(t))}
	p.expect(tLParen)
	p.enter()
	switch {
	case p.accept(tStar):
		if a.Name != "COUNT" {
			p.failAt(p.prevEnd - 1)
		}
		a.Args = []Expr{&Star{Pos: Pos(p.prevEnd - 1)}}
	default:
		switch a.Name {
		case "COUNT", "SUM", "AVG", "MIN", "MAX", "GROUP_CONCAT": // MySQL's grammar has DISTINCT for no others
			a.Distinct = p.acceptKw(kwDistinct)
		}
		a.All = !a.Distinct && a.Name != "GROUP_CONCAT" && p.acceptKw(kwAll)
		a.Args = p.exprList()
		p.checkAggregate(a)
	}
	if a.Name == "GROUP_CONCAT" {
		if p.isKw(kwOrder) {
			a.OrderBy = p.orderBy()
		}
		if p.acceptKw(kwSeparator) {
			a.HasSeparator = true
			a.Separator = p.stringLiteral().Value
		}
	}
	p.leave()
	a.End = Pos(p.expect(tRParen).end)
	if p.isKw(kwOver) {
		a.Over = p.over()
	}
	return a
}

// checkAggregate checks the number of arguments, which MySQL's grammar fixes.
func (p *parser) checkAggregate(a *AggCall) {
	want := 1
	switch {
	case a.Name == "GROUP_CONCAT", a.Name == "COUNT" && a.Distinct:
		return
	case a.Name == "JSON_OBJECTAGG":
		want = 2
	}
	if len(a.Args) != want {
		p.fail()
	}
}

// windowArgs gives the least and most arguments of the window functions.
var windowArgs = map[string][2]int{
	"NTILE": {1, 1}, "LAG": {1, 3}, "LEAD": {1, 3}, "FIRST_VALUE": {1, 1}, "LAST_VALUE": {1, 1}, "NTH_VALUE": {2, 2},
}

// windowCall parses a window function, which requires OVER.
func (p *parser) windowCall() Expr {
	t := p.next()
	w := &WindowCall{Pos: Pos(t.pos), Name: upperWord(p.text(t))}
	p.expect(tLParen)
	if !p.is(tRParen) {
		p.enter()
		w.Args = p.exprList()
		p.leave()
	}
	if n := windowArgs[w.Name]; len(w.Args) < n[0] || len(w.Args) > n[1] {
		p.fail()
	}
	p.expect(tRParen)
	if p.acceptKw(kwFrom) {
		w.FromFirst = p.acceptWord("FIRST")
		if w.FromLast = !w.FromFirst; w.FromLast {
			p.expectWord("LAST")
		}
	}
	if w.Nulls = p.oneOf("RESPECT", "IGNORE"); w.Nulls != "" {
		p.expectWord("NULLS")
	}
	w.Over = p.over()
	return w
}

// upperWord returns the upper-case form of a name, without allocating for the
// spellings that occur most.
func upperWord(s string) string {
	for _, w := range [...]string{"COUNT", "SUM", "MIN", "MAX", "AVG"} {
		if foldEqual(s, w) {
			return w
		}
	}
	return toUpperASCII(s)
}

// toUpperASCII converts ASCII letters only, because keywords are ASCII.
func toUpperASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - ('a' - 'A')
		}
	}
	return string(b)
}
