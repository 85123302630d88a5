package syntax

import "strings"

// primary parses an operand without operators.
func (p *parser) primary() Expr {
	switch p.tok.kind {
	case tWord:
		if p.tok.kw == kwNone {
			return p.wordPrimary()
		}
		return p.keywordPrimary()
	case tQuoted:
		return p.nameExpr()
	case tInt, tDecimal, tFloat:
		return p.simpleLiteral()
	case tString, tNString, tHex, tBit:
		return p.literal()
	case tParam:
		return p.param()
	case tLParen:
		return p.parenExpr()
	case tUserVar:
		return p.userVariable()
	case tAtAt:
		return p.systemVariable()
	case tLBrace:
		return p.odbcEscape()
	}
	p.fail()
	return nil
}

// param parses a placeholder.
func (p *parser) param() Expr {
	if p.opt.NoParams {
		p.fail()
	}
	t := p.next()
	if p.params >= paramsMax {
		p.failWith(CodeTooManyParams, t.pos, "Prepared statement contains too many placeholders")
	}
	x := &Param{Pos: Pos(t.pos), Ordinal: p.params}
	p.params++
	return x
}

// literal parses a string, hex or bit literal; adjacent strings join.
func (p *parser) literal() Expr {
	lit := p.plainLiteral()
	p.string(lit, false)
	return lit
}

// string tells of a string literal.
func (p *parser) string(lit *Literal, introduced bool) {
	if p.opt.Strings != nil && (lit.Kind == LitString || lit.Kind == LitNString) {
		p.opt.Strings(lit, introduced)
	}
}

func (p *parser) plainLiteral() *Literal {
	lit := p.slab.literal()
	t := p.next()
	lit.Pos, lit.End = Pos(t.pos), Pos(t.end)
	switch t.kind {
	case tHex:
		lit.Kind, lit.Value = LitHex, digitsOf(p.sql, t)
		return lit
	case tBit:
		lit.Kind, lit.Value = LitBit, digitsOf(p.sql, t)
		return lit
	case tNString:
		p.notice(CodeNational, national)
		lit.Kind, lit.Value = LitNString, stringValue(p.sql, t, 1, p.lex.escapes)
	default:
		lit.Kind, lit.Value = LitString, stringValue(p.sql, t, 0, p.lex.escapes)
	}
	if p.is(tString) {
		joined := []byte(lit.Value)
		lit.Head = int32(len(joined)) + 1
		for p.is(tString) {
			t = p.next()
			joined = append(joined, stringValue(p.sql, t, 0, p.lex.escapes)...)
		}
		lit.Value, lit.End = string(joined), Pos(t.end)
	}
	return lit
}

// stringLiteral parses a string where only a string may stand.
func (p *parser) stringLiteral() *Literal {
	if !p.is(tString) {
		p.fail()
	}
	return p.literal().(*Literal)
}

// number parses an unsigned integer literal.
func (p *parser) number() *Literal {
	if !p.is(tInt) {
		p.fail()
	}
	return p.simpleLiteral().(*Literal)
}

// textLiteral parses a string, hex or bit literal.
func (p *parser) textLiteral() Expr {
	if !p.is(tString) && !p.is(tHex) && !p.is(tBit) {
		p.fail()
	}
	return p.literal()
}

// wordLiteral parses NULL, TRUE and FALSE.
func (p *parser) wordLiteral(kind LiteralKind) Expr {
	t := p.next()
	lit := p.slab.literal()
	*lit = Literal{Pos: Pos(t.pos), End: Pos(t.end), Kind: kind}
	return lit
}

// userVariable parses @name and @name := expr.
func (p *parser) userVariable() Expr {
	v := p.userVariableName()
	if p.accept(tAssign) {
		p.enter()
		v.Value = p.expr()
		p.leave()
		p.notice(CodeDeprecated, setInside)
	}
	return v
}

// userVariableName parses @name.
func (p *parser) userVariableName() *UserVariable {
	t := p.next()
	if t.end == t.pos+1 {
		p.failAt(t.pos)
	}
	return &UserVariable{Pos: Pos(t.pos), Name: userVarName(p.sql, t, p.lex.escapes)}
}

// systemVariable parses @@[scope.][prefix.]name.
func (p *parser) systemVariable() Expr {
	v := &SystemVariable{Pos: Pos(p.next().pos)}
	if p.peek(1).kind == tDot {
		v.Scope = p.scopeWord()
		if v.Scope != ScopeDefault {
			p.expect(tDot)
		}
	}
	v.Name = p.variableName()
	if p.accept(tDot) {
		v.Prefix, v.Name = v.Name, p.variableName()
	}
	return v
}

// variableName parses a part of a system variable's name, which may be the
// reserved word DEFAULT in @@default.key_buffer_size.
func (p *parser) variableName() string {
	if p.isKw(kwDefault) {
		return p.text(p.next())
	}
	return p.name()
}

// scopeWord consumes a word such as GLOBAL.
func (p *parser) scopeWord() VarScope {
	switch p.oneOf("GLOBAL", "SESSION", "LOCAL", "PERSIST_ONLY", "PERSIST") {
	case "GLOBAL":
		return ScopeGlobal
	case "SESSION":
		return ScopeSession
	case "LOCAL":
		return ScopeLocal
	case "PERSIST":
		return ScopePersist
	case "PERSIST_ONLY":
		return ScopePersistOnly
	}
	return ScopeDefault
}

// odbcLiterals are the words that make a string in braces a date or time literal. With any other word the braces mean the expression in them.
var odbcLiterals = map[string]LiteralKind{"d": LitDate, "t": LitTime, "ts": LitTimestamp}

// odbcEscape parses {d '...'}, {t '...'}, {ts '...'} and {fn expr}.
func (p *parser) odbcEscape() Expr {
	pos := Pos(p.expect(tLBrace).pos)
	name := p.name()
	p.enter()
	call := &FuncCall{Pos: pos, Name: name, Syntax: CallODBC, Args: []Expr{p.expr()}}
	p.leave()
	if lit, ok := call.Args[0].(*Literal); ok && lit.Kind == LitString {
		if kind, ok := odbcLiterals[strings.ToLower(name)]; ok {
			lit.Kind = kind
		}
	}
	call.End = Pos(p.expect(tRBrace).end)
	return call
}

// parenExpr parses (expr), (a, b) and (subquery).
func (p *parser) parenExpr() Expr {
	pos := p.pos()
	if p.startsQuery(1) {
		return p.subquery()
	}
	p.enter()
	defer p.leave()
	p.next()
	x := p.expr()
	if sub, ok := x.(*Subquery); ok && (continuesQuery(&p.tok) || p.is(tRParen)) {
		return p.aroundQuery(pos, sub)
	}
	if !p.is(tComma) {
		p.expect(tRParen)
		return &Paren{Pos: pos, X: x}
	}
	row := &Row{Pos: pos, Elems: []Expr{x}}
	for p.accept(tComma) {
		row.Elems = append(row.Elems, p.expr())
	}
	p.expect(tRParen)
	return row
}

// aroundQuery parses the rest of a parenthesis that was opened at pos and begins with the parenthesised query sub: ((SELECT ...) UNION ...), or
// redundant parentheses.
func (p *parser) aroundQuery(pos Pos, sub *Subquery) *Subquery {
	q := &Query{Pos: sub.Pos, Body: sub.Query}
	p.continueQuery(q)
	p.expect(tRParen)
	return &Subquery{Pos: pos, Query: q}
}

// subquery parses a parenthesised query.
func (p *parser) subquery() *Subquery {
	p.enter()
	s := &Subquery{Pos: Pos(p.expect(tLParen).pos)}
	s.Query = p.query()
	p.expect(tRParen)
	p.leave()
	return s
}

// nameExpr parses a column reference or the call of a stored function whose
// name is quoted.
func (p *parser) nameExpr() Expr {
	if p.peek(1).kind == tLParen {
		return p.plainCall()
	}
	return p.columnRef()
}

// columnRef parses [[schema.]table.]column; schema.function(...) comes out of
// it as a call.
func (p *parser) columnRef() Expr {
	c := &ColumnRef{}
	p.columnRefInto(c)
	if c.Table != "" && c.Schema == "" && p.is(tLParen) {
		call := &FuncCall{Pos: c.Pos, Schema: c.Table, Name: c.Column}
		p.callArgs(call)
		return call
	}
	return c
}

// columnRefInto parses a column reference into c.
func (p *parser) columnRefInto(c *ColumnRef) {
	c.Pos = p.pos()
	c.Column = p.name()
	if !p.is(tDot) {
		return
	}
	p.next()
	c.Table, c.Column = c.Column, p.name()
	if p.is(tDot) {
		p.next()
		c.Schema, c.Table, c.Column = c.Table, c.Column, p.name()
	}
}

// wordPrimary parses an operand that begins with a word that is not reserved.
func (p *parser) wordPrimary() Expr {
	switch next := p.peek(1); next.kind {
	case tLParen:
		return p.wordCall()
	case tString, tHex, tBit:
		if cs := introducerOf(p.text(p.tok)); cs != "" {
			pos := Pos(p.next().pos)
			in := &Introduced{Pos: pos, Charset: p.charset(cs), Lit: p.plainLiteral()}
			p.string(in.Lit, true)
			return in
		}
		if next.kind == tString {
			if kind, ok := p.temporalWord(); ok {
				pos := Pos(p.next().pos)
				lit := p.stringLiteral()
				lit.Pos, lit.Kind = pos, kind
				return lit
			}
		}
	}
	if introducerOf(p.text(p.tok)) != "" {
		p.next()
		p.fail() // _latin1 is not a name: a string must follow.
	}
	return p.columnRef()
}

// temporalWord recognises DATE, TIME and TIMESTAMP before a string.
func (p *parser) temporalWord() (LiteralKind, bool) {
	switch {
	case p.isWord("DATE"):
		return LitDate, true
	case p.isWord("TIME"):
		return LitTime, true
	case p.isWord("TIMESTAMP"):
		return LitTimestamp, true
	}
	return 0, false
}

// keywordPrimary parses an operand that begins with a reserved word.
func (p *parser) keywordPrimary() Expr {
	pos := p.pos()
	switch p.tok.kw {
	case kwNull:
		return p.wordLiteral(LitNull)
	case kwTrue:
		return p.wordLiteral(LitTrue)
	case kwFalse:
		return p.wordLiteral(LitFalse)
	case kwExists:
		p.next()
		return &Exists{Pos: pos, Query: p.subquery()}
	case kwCase:
		return p.caseExpr()
	case kwConvert:
		return p.convert()
	case kwMatch:
		return p.match()
	case kwRow:
		return p.rowConstructor()
	case kwDefault:
		return p.defaultExpr()
	case kwValues:
		p.next()
		p.expect(tLParen)
		v := &ValuesFunc{Pos: pos, Column: new(ColumnRef)}
		p.columnRefInto(v.Column)
		p.expect(tRParen)
		if p.onDuplicate {
			p.notice(CodeDeprecated, valuesOfRow)
		} else {
			p.notice(CodeDeprecatedNoOther, "'VALUES function'"+goes)
		}
		return v
	case kwCurrentDate, kwCurrentTime, kwCurrentTimestamp, kwCurrentUser, kwLocaltime, kwLocaltimestamp,
		kwUtcDate, kwUtcTime, kwUtcTimestamp:
		return p.noParenCall()
	case kwRowNumber, kwRank, kwDenseRank, kwPercentRank, kwCumeDist, kwNtile, kwLag, kwLead,
		kwFirstValue, kwLastValue, kwNthValue:
		return p.windowCall()
	case kwIf, kwLeft, kwRight, kwMod, kwRepeat, kwReplace, kwInsert, kwDatabase, kwSchema, kwGrouping:
		if p.peek(1).kind == tLParen {
			return p.plainCall()
		}
	case kwChar:
		return p.charCall()
	}
	p.fail()
	return nil
}

// caseExpr parses CASE ... END.
func (p *parser) caseExpr() Expr {
	c := &Case{Pos: Pos(p.next().pos)}
	p.enter()
	if !p.isKw(kwWhen) {
		c.Operand = p.expr()
	}
	if !p.isKw(kwWhen) {
		p.fail()
	}
	for p.acceptKw(kwWhen) {
		w := When{Cond: p.expr()}
		p.expectKw(kwThen)
		w.Then = p.expr()
		c.Whens = append(c.Whens, w)
	}
	if p.acceptKw(kwElse) {
		c.Else = p.expr()
	}
	p.expectWord("END")
	p.leave()
	return c
}

// interval parses INTERVAL expr unit, or the function INTERVAL(a, b, ...).
func (p *parser) interval() Expr {
	alone := p.intervalNext
	p.intervalNext = false
	pos := Pos(p.next().pos)
	p.enter()
	defer p.leave()
	i := &Interval{Pos: pos}
	if p.is(tLParen) && !p.startsQuery(1) {
		open := Pos(p.next().pos)
		x := p.expr()
		if p.is(tComma) {
			call := &FuncCall{Pos: pos, Name: "INTERVAL", Args: []Expr{x}}
			for p.accept(tComma) {
				call.Args = append(call.Args, p.expr())
			}
			call.End = Pos(p.expect(tRParen).end)
			return p.postfix(call)
		}
		p.expect(tRParen)
		i.Value = p.bitsFrom(p.postfix(&Paren{Pos: open, X: x}), 0)
	} else {
		i.Value = p.expr()
	}
	i.Unit = p.intervalUnit()
	if !alone && !p.is(tPlus) {
		p.fail()
	}
	return i
}

// intervalUnits are the words that may follow the value of an interval.
var intervalUnits = []string{
	"DAY", "SECOND", "MINUTE", "HOUR", "MONTH", "YEAR", "WEEK", "QUARTER", "MICROSECOND",
	"DAY_HOUR", "DAY_MINUTE", "DAY_SECOND", "DAY_MICROSECOND", "HOUR_MINUTE", "HOUR_SECOND",
	"HOUR_MICROSECOND", "MINUTE_SECOND", "MINUTE_MICROSECOND", "SECOND_MICROSECOND", "YEAR_MONTH",
	"SQL_TSI_SECOND", "SQL_TSI_MINUTE", "SQL_TSI_HOUR", "SQL_TSI_DAY", "SQL_TSI_WEEK", "SQL_TSI_MONTH",
	"SQL_TSI_QUARTER", "SQL_TSI_YEAR",
}

// intervalUnit consumes a unit.
func (p *parser) intervalUnit() string { return p.needOneOf(intervalUnits...) }

// rowConstructor parses ROW(a, b).
func (p *parser) rowConstructor() Expr {
	r := &Row{Pos: Pos(p.next().pos), Explicit: true}
	p.expect(tLParen)
	p.enter()
	r.Elems = p.exprList()
	p.leave()
	if len(r.Elems) < 2 {
		p.fail()
	}
	p.expect(tRParen)
	return r
}

// defaultExpr parses DEFAULT and DEFAULT(col).
func (p *parser) defaultExpr() Expr {
	d := &Default{Pos: Pos(p.next().pos)}
	if p.accept(tLParen) {
		d.Column = new(ColumnRef)
		p.columnRefInto(d.Column)
		p.expect(tRParen)
	}
	return d
}

// match parses MATCH (columns) AGAINST (expr [modifier]).
func (p *parser) match() Expr {
	m := &Match{Pos: Pos(p.next().pos)}
	m.Parens = p.accept(tLParen)
	for {
		c := new(ColumnRef)
		p.columnRefInto(c)
		m.Columns = append(m.Columns, c)
		if !p.accept(tComma) {
			break
		}
	}
	if m.Parens {
		p.expect(tRParen)
	}
	p.expectWord("AGAINST")
	p.expect(tLParen)
	m.Against = p.bits(0)
	switch {
	case p.acceptWords("IN", "BOOLEAN", "MODE"):
		m.Modifier = "IN BOOLEAN MODE"
	case p.acceptWords("IN", "NATURAL", "LANGUAGE", "MODE"):
		m.Modifier = "IN NATURAL LANGUAGE MODE"
		if p.acceptWords("WITH", "QUERY", "EXPANSION") {
			m.Modifier += " WITH QUERY EXPANSION"
		}
	case p.acceptWords("WITH", "QUERY", "EXPANSION"):
		m.Modifier = "WITH QUERY EXPANSION"
	}
	p.expect(tRParen)
	return m
}
