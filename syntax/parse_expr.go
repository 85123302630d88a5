package syntax

// Precedences of the operators that parseLogic handles, loosest first.
const (
	precOr = iota + 1
	precXor
	precAnd
)

// expr parses any expression.
func (p *parser) expr() Expr {
	// A literal followed by a separator is the bulk of INSERT and IN lists.
	if p.tok.kind >= tInt && p.tok.kind <= tString && p.separatorNext() {
		return p.simpleLiteral()
	}
	p.enter()
	x := p.logic(precOr)
	p.depth--
	return x
}

// separatorNext reports whether the next token ends any expression. It looks at
// the text instead of lexing ahead, and misses a separator after white space: then
// the expression is parsed the slower way with the same result.
func (p *parser) separatorNext() bool {
	if p.aheadLen > 0 {
		kind := p.peek(1).kind
		return kind == tComma || kind == tRParen
	}
	if p.lex.pos >= len(p.sql) {
		return false
	}
	c := p.sql[p.lex.pos]
	return c == ',' || c == ')'
}

// simpleLiteral parses a number or string that is known to stand alone.
func (p *parser) simpleLiteral() Expr {
	lit := p.slab.literal()
	t := p.next()
	lit.Pos, lit.End = Pos(t.pos), Pos(t.end)
	switch t.kind {
	case tString:
		lit.Kind, lit.Value = LitString, stringValue(p.sql, t, 0, p.lex.escapes)
		p.string(lit, false)
	case tDecimal:
		lit.Kind, lit.Value = LitDecimal, p.text(t)
	case tFloat:
		lit.Kind, lit.Value = LitFloat, p.text(t)
	default:
		lit.Kind, lit.Value = LitInt, p.text(t)
	}
	return lit
}

// logicOp returns the current token's logical operator and its precedence, or 0.
func (p *parser) logicOp() (BinaryOp, int) {
	switch p.tok.kind {
	case tWord:
		switch p.tok.kw {
		case kwAnd:
			return OpAnd, precAnd
		case kwOr:
			return OpOr, precOr
		case kwXor:
			return OpXor, precXor
		}
	case tAndAnd:
		return OpAnd, precAnd
	case tOrOr:
		if !p.opt.PipesAsConcat {
			return OpOr, precOr
		}
	}
	return 0, 0
}

// logic parses OR, XOR and AND chains by precedence climbing.
func (p *parser) logic(minPrec int) Expr {
	left := p.not()
	for n := 0; ; n++ {
		op, prec := p.logicOp()
		if prec == 0 || prec < minPrec {
			return left
		}
		p.link(n)
		t := p.next()
		left = &Binary{OpPos: Pos(t.pos), Op: op, L: left, R: p.logic(prec + 1)}
		switch t.kind {
		case tAndAnd:
			p.instead("&&", "AND")
		case tOrOr:
			p.instead("|| as a synonym for OR", "OR")
		}
	}
}

// not parses NOT expr, which binds looser than comparisons unless
// HIGH_NOT_PRECEDENCE is set.
func (p *parser) not() Expr {
	if !p.isKw(kwNot) || p.opt.HighNotPrecedence {
		return p.comparison()
	}
	pos := Pos(p.next().pos)
	p.enter()
	x := p.not()
	p.leave()
	return &Unary{Pos: pos, Op: OpNot, X: x}
}

// compareOp returns the comparison operator of a token kind.
func compareOp(kind tokenKind) (BinaryOp, bool) {
	switch kind {
	case tEq:
		return OpEq, true
	case tNullSafeEq:
		return OpNullSafeEq, true
	case tNe:
		return OpNe, true
	case tLt:
		return OpLt, true
	case tLe:
		return OpLe, true
	case tGt:
		return OpGt, true
	case tGe:
		return OpGe, true
	}
	return 0, false
}

// comparison parses comparisons and IS tests, left to right.
func (p *parser) comparison() Expr {
	left := p.predicate()
	for n := 0; ; n++ {
		if op, ok := compareOp(p.tok.kind); ok {
			p.link(n)
			left = p.compareWith(left, op)
			continue
		}
		if !p.isKw(kwIs) {
			return left
		}
		p.link(n)
		p.next()
		left = p.isTest(left)
	}
}

// compareWith parses the comparison operator op, the current token, and its right side.
func (p *parser) compareWith(left Expr, op BinaryOp) Expr {
	pos := Pos(p.next().pos)
	if p.tok.kind == tWord && p.peek(1).kind == tLParen {
		if quant := p.quantifier(); quant != "" {
			return &QuantCompare{OpPos: pos, Op: op, Quant: quant, L: left, Query: p.subquery()}
		}
	}
	return &Binary{OpPos: pos, Op: op, L: left, R: p.predicate()}
}

// quantifier consumes ANY, SOME or ALL before a subquery.
func (p *parser) quantifier() string {
	if !p.startsQuery(2) && p.peek(2).kind != tLParen {
		return ""
	}
	return p.oneOf("ANY", "SOME", "ALL")
}

// isTest parses what follows IS.
func (p *parser) isTest(left Expr) Expr {
	t := &IsTest{X: left, Not: p.acceptKw(kwNot)}
	switch p.needOneOf("NULL", "TRUE", "FALSE", "UNKNOWN") {
	case "TRUE":
		t.Test = IsTrue
	case "FALSE":
		t.Test = IsFalse
	case "UNKNOWN":
		t.Test = IsUnknown
	}
	return t
}

// predicate parses an operand with at most one of IN, BETWEEN, LIKE, REGEXP,
// SOUNDS LIKE and MEMBER OF.
func (p *parser) predicate() Expr {
	left := p.bits(0)
	if p.tok.kind != tWord {
		return left
	}
	not := false
	switch p.tok.kw {
	case kwNot:
		switch p.peek(1).kw {
		case kwIn, kwBetween, kwLike, kwRegexp, kwRlike:
			not = true
			p.next()
		default:
			return left
		}
	case kwNone:
		return p.wordPredicate(left)
	}
	switch p.tok.kw {
	case kwIn:
		return p.in(left, not)
	case kwBetween:
		p.next()
		b := &Between{X: left, Not: not, Lo: p.bits(0)}
		p.expectKw(kwAnd)
		p.enter()
		b.Hi = p.predicate()
		p.leave()
		return b
	case kwLike:
		p.next()
		l := &Like{X: left, Not: not, Pattern: p.bits(0)}
		if p.acceptWord("ESCAPE") {
			l.Escape = p.bits(0)
		}
		return l
	case kwRegexp, kwRlike:
		rlike := p.next().kw == kwRlike
		return &Regexp{X: left, Not: not, RLike: rlike, Pattern: p.bits(0)}
	}
	return left
}

// wordPredicate parses SOUNDS LIKE and MEMBER OF, whose words are not reserved.
func (p *parser) wordPredicate(left Expr) Expr {
	pos := p.pos()
	switch {
	case p.acceptWords("SOUNDS", "LIKE"):
		return &Binary{OpPos: pos, Op: OpSoundsLike, L: left, R: p.bits(0)}
	case p.isWord("MEMBER") && (p.peek(1).kw == kwOf || p.peek(1).kind == tLParen):
		p.next()
		p.acceptKw(kwOf)
		p.expect(tLParen)
		b := &Binary{OpPos: pos, Op: OpMemberOf, L: left, R: p.expr()}
		p.expect(tRParen)
		return b
	}
	return left
}

// in parses IN (list) or IN (subquery).
func (p *parser) in(left Expr, not bool) Expr {
	p.next()
	in := &In{X: left, Not: not}
	if !p.is(tLParen) {
		p.fail()
	}
	if p.startsQuery(1) {
		in.Query = p.subquery()
		return in
	}
	pos := Pos(p.next().pos)
	in.List = p.exprList()
	if sub, ok := in.List[0].(*Subquery); ok && len(in.List) == 1 {
		in.List, in.Query = nil, p.aroundQuery(pos, sub) // IN ((SELECT ...)) is a set, not one scalar.
		return in
	}
	p.expect(tRParen)
	return in
}

// exprList parses `a, b, c` into a list that shares a chunk with others.
func (p *parser) exprList() []Expr {
	base := len(p.slab.scratch)
	for {
		// expr may itself use the scratch list, after its present elements.
		x := p.expr()
		p.slab.scratch = append(p.slab.scratch, x)
		if !p.accept(tComma) {
			break
		}
	}
	return p.takeList(base)
}

// takeList moves the elements of the scratch list from base on to a chunk.
func (p *parser) takeList(base int) []Expr {
	list := p.slab.list(p.slab.scratch[base:])
	clear(p.slab.scratch[base:]) // The pooled parser must not pin the tree.
	p.slab.scratch = p.slab.scratch[:base]
	return list
}

// bitOps gives the operator and precedence of the arithmetic and bit tokens;
// 0 is no operator.
var bitOps = [256]struct {
	op   BinaryOp
	prec uint8
}{
	tPipe: {OpBitOr, 1}, tAmp: {OpBitAnd, 2}, tShl: {OpShiftLeft, 3}, tShr: {OpShiftRight, 3},
	tPlus: {OpAdd, 4}, tMinus: {OpSub, 4}, tStar: {OpMul, 5}, tSlash: {OpDiv, 5}, tPercent: {OpMod, 5},
	tCaret: {OpBitXor, 6},
}

// precConcat is the precedence of || under PIPES_AS_CONCAT, above ^.
const precConcat = 7

// bitOp returns the current token's arithmetic or bit operator and its precedence, or 0.
func (p *parser) bitOp() (BinaryOp, uint8) {
	if o := bitOps[p.tok.kind]; o.prec != 0 {
		return o.op, o.prec
	}
	switch {
	case p.tok.kind == tWord && p.tok.kw == kwDiv:
		return OpIntDiv, 5
	case p.tok.kind == tWord && p.tok.kw == kwMod:
		return OpMod, 5
	case p.tok.kind == tOrOr && p.opt.PipesAsConcat:
		return OpConcat, precConcat
	}
	return 0, 0
}

// bits parses arithmetic and bit operators that bind at least as minPrec.
func (p *parser) bits(minPrec uint8) Expr { return p.bitsFrom(p.unary(), minPrec) }

// bitsFrom continues after an operand that has been parsed already.
func (p *parser) bitsFrom(left Expr, minPrec uint8) Expr {
	for n := 0; ; n++ {
		op, prec := p.bitOp()
		if prec == 0 || prec < minPrec {
			return left
		}
		p.link(n)
		pos := Pos(p.next().pos)
		p.intervalNext = op == OpAdd || op == OpSub
		left = &Binary{OpPos: pos, Op: op, L: left, R: p.bits(prec + 1)}
	}
}

// unary parses prefix operators.
func (p *parser) unary() Expr {
	if p.isKw(kwInterval) {
		return p.interval()
	}
	p.intervalNext = false
	op, ok := p.unaryOp()
	if !ok {
		return p.postfix(p.primary())
	}
	token := p.next()
	pos := Pos(token.pos)
	p.enter()
	x := p.unary()
	p.leave()
	switch {
	case token.kind == tBang:
		p.instead("!", "NOT")
	case op == OpBinary:
		p.instead("BINARY expr", "CAST")
	}
	return &Unary{Pos: pos, Op: op, X: x}
}

// unaryOp returns the current token's prefix operator.
func (p *parser) unaryOp() (UnaryOp, bool) {
	switch p.tok.kind {
	case tMinus:
		return OpNeg, true
	case tPlus:
		return OpPlus, true
	case tTilde:
		return OpBitNot, true
	case tBang:
		return OpBang, true
	case tWord:
		if p.tok.kw == kwBinary {
			return OpBinary, true
		}
		if p.tok.kw == kwNot && p.opt.HighNotPrecedence {
			return OpBang, true
		}
	}
	return 0, false
}

// postfix parses COLLATE and the JSON arrows.
func (p *parser) postfix(x Expr) Expr {
	for n := 0; ; n++ {
		switch {
		case p.isKw(kwCollate):
			p.link(n)
			p.next()
			pos := p.pos()
			x = &Collate{X: x, CollPos: pos, Collation: p.nameOrString()}
		case p.is(tArrow) || p.is(tDoubleArrow):
			if _, ok := x.(*ColumnRef); !ok || p.peek(1).kind != tString {
				p.fail()
			}
			op := OpJSONExtract
			if p.is(tDoubleArrow) {
				op = OpJSONUnquoteExtract
			}
			pos := Pos(p.next().pos)
			x = &Binary{OpPos: pos, Op: op, L: x, R: p.simpleLiteral()}
		default:
			return x
		}
	}
}
