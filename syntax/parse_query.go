package syntax

// startsQuery reports whether a query begins n tokens ahead. VALUES begins one
// only before ROW: elsewhere it is the function VALUES(col).
func (p *parser) startsQuery(n int) bool {
	switch p.peek(n).kw {
	case kwSelect, kwWith, kwTable:
		return true
	case kwValues:
		return p.peek(n+1).kw == kwRow
	}
	return false
}

// continuesQuery reports whether a token continues a query that was
// parenthesised so far.
func continuesQuery(t *token) bool {
	switch t.kw {
	case kwUnion, kwExcept, kwIntersect, kwOrder, kwLimit, kwFor, kwLock, kwInto:
		return true
	}
	return false
}

// queryBlock is a Query and the Select that is its body nearly always; one
// allocation serves both.
type queryBlock struct {
	q Query
	s Select
}

// query parses a whole query expression.
func (p *parser) query() *Query {
	p.enter()
	defer p.leave()
	b := &queryBlock{}
	q := &b.q
	q.Pos = p.pos()
	if p.isKw(kwWith) {
		q.With = p.with()
	}
	q.Body = p.queryTerm(q, &b.s)
	p.continueQuery(q)
	return q
}

// continueQuery parses what may follow the first operand of a query: set
// operators, ORDER BY, LIMIT, INTO and locking clauses.
func (p *parser) continueQuery(q *Query) {
	q.Body = p.setOps(q, q.Body, 1)
	if p.isKw(kwOrder) {
		q.OrderBy = p.orderBy()
	}
	if p.isKw(kwLimit) {
		q.Limit = p.limit()
	}
	last := p.isKw(kwInto) // and not behind the select list
	if last {
		p.into(q, IntoAtEnd)
	}
	for p.isKw(kwFor) || p.isKw(kwLock) {
		if q.Into != nil && q.IntoPlace == IntoAtEnd {
			q.IntoPlace = IntoBeforeLock
		}
		if last {
			p.notice(CodeDeprecatedInto, intoInside)
			last = false
		}
		q.Locks = append(q.Locks, p.lockClause())
	}
	if p.isKw(kwInto) && len(q.Locks) > 0 {
		p.into(q, IntoAtEnd)
	}
}

// setOps parses UNION, EXCEPT (precedence 1) and INTERSECT (precedence 2).
func (p *parser) setOps(q *Query, left QueryBody, minPrec int) QueryBody {
	for n := 0; ; n++ {
		op, prec := Union, 1
		switch p.tok.kw {
		case kwUnion:
		case kwExcept:
			op = Except
		case kwIntersect:
			op, prec = Intersect, 2
		default:
			return left
		}
		if prec < minPrec {
			return left
		}
		if q.Into != nil {
			q.IntoPlace = IntoBeforeSetOp
		}
		p.link(n)
		s := &SetOp{Pos: Pos(p.next().pos), Op: op, Left: left}
		switch {
		case p.acceptKw(kwAll):
			s.Quant = DistinctAll
		case p.acceptKw(kwDistinct):
			s.Quant = Distinct
		}
		right := p.queryTerm(q, nil)
		if prec == 1 {
			right = p.setOps(q, right, 2)
		}
		if inner, ok := right.(*Query); ok && inner.Into != nil {
			p.notice(CodeDeprecatedInto, intoInside)
		}
		s.Right = right
		left = s
	}
}

// queryTerm parses one operand of a query expression. spare is a Select to
// use, or nil.
func (p *parser) queryTerm(q *Query, spare *Select) QueryBody {
	switch {
	case p.isKw(kwSelect):
		if spare == nil {
			spare = new(Select)
		}
		p.selectBlock(q, spare)
		return spare
	case p.isKw(kwTable):
		t := &TableQuery{Pos: Pos(p.next().pos)}
		t.Name = p.objectName()
		return t
	case p.isKw(kwValues) && p.peek(1).kw == kwRow:
		return p.valuesRows()
	case p.is(tLParen):
		p.enter()
		p.next()
		inner := p.query()
		p.expect(tRParen)
		p.leave()
		return inner
	}
	p.fail()
	return nil
}

// valuesRows parses VALUES ROW(...), ROW(...).
func (p *parser) valuesRows() *ValuesRows {
	v := &ValuesRows{Pos: Pos(p.next().pos)}
	for {
		p.expectKw(kwRow)
		p.expect(tLParen)
		var row []Expr
		if !p.is(tRParen) {
			row = p.exprList()
		}
		p.expect(tRParen)
		v.Rows = append(v.Rows, row)
		if !p.accept(tComma) {
			return v
		}
	}
}

// with parses WITH [RECURSIVE] name [(columns)] AS (query), ....
func (p *parser) with() *With {
	w := &With{Pos: Pos(p.next().pos)}
	w.Recursive = p.acceptKw(kwRecursive)
	for {
		c := CTE{Name: p.ident()}
		if p.is(tLParen) {
			c.Columns = p.parenIdents()
		}
		p.expectKw(kwAs)
		p.expect(tLParen)
		c.Query = p.query()
		p.expect(tRParen)
		w.CTEs = append(w.CTEs, c)
		if !p.accept(tComma) {
			return w
		}
	}
}

// selectBlock parses one SELECT up to its WINDOW clause.
func (p *parser) selectBlock(q *Query, s *Select) {
	s.Pos = Pos(p.next().pos)
	s.Hints = p.hints()
	p.selectOptions(s)
	p.selectItems(s)
	if p.isKw(kwInto) && q.Into == nil {
		p.into(q, IntoBeforeFrom)
		if !p.isKw(kwFrom) {
			q.IntoPlace = IntoAtEnd
		}
	}
	if p.acceptKw(kwFrom) {
		if p.acceptKw(kwDual) {
			s.FromDual = true
		} else {
			s.From = p.tableRefs()
		}
	}
	if p.acceptKw(kwWhere) {
		s.Where = p.expr()
	}
	if p.isKw(kwGroup) {
		p.groupBy(s)
	}
	if p.acceptKw(kwHaving) {
		s.Having = p.expr()
	}
	if p.acceptKw(kwWindow) {
		for {
			w := NamedWindow{Name: p.ident()}
			p.expectKw(kwAs)
			w.Spec = *p.windowSpec()
			s.Windows = append(s.Windows, w)
			if !p.accept(tComma) {
				break
			}
		}
	}
}

// hints consumes an optimizer hint comment.
func (p *parser) hints() string {
	if !p.is(tHint) {
		return ""
	}
	t := p.next()
	return p.sql[t.pos+3 : t.end-2]
}

// selectOptions parses the words of SelectOption and DistinctKind, in any order.
func (p *parser) selectOptions(s *Select) {
	for {
		before := s.Distinct
		switch p.tok.kw {
		case kwAll:
			s.Distinct = DistinctAll
		case kwDistinct, kwDistinctrow:
			s.Distinct, s.DistinctRow = Distinct, p.isKw(kwDistinctrow)
		case kwHighPriority:
			s.Options |= SelectHighPriority
		case kwStraightJoin:
			s.Options |= SelectStraightJoin
		case kwSqlSmallResult:
			s.Options |= SelectSmallResult
		case kwSqlBigResult:
			s.Options |= SelectBigResult
		case kwSqlCalcFoundRows:
			s.Options |= SelectCalcFoundRows
			p.notice(CodeDeprecated, noCalcRows)
		default:
			switch {
			case p.tok.kind != tWord || len(p.text(p.tok)) < len("SQL_CACHE"):
				return
			case p.isWord("SQL_BUFFER_RESULT"):
				s.Options |= SelectBufferResult
			case p.isWord("SQL_NO_CACHE"):
				s.Options |= SelectNoCache
				p.notice(CodeDeprecatedNoOther, "'SQL_NO_CACHE'"+goes)
			default:
				return
			}
		}
		if before != DistinctDefault && before != s.Distinct {
			p.failWith(CodeWrongUsage, p.tok.pos, "Incorrect usage of ALL and DISTINCT")
		}
		p.next()
	}
}

// selectItems parses the select list.
func (p *parser) selectItems(s *Select) {
	s.Items = make([]SelectItem, 0, 1)
	for {
		s.Items = append(s.Items, SelectItem{})
		p.selectItem(&s.Items[len(s.Items)-1], len(s.Items) == 1)
		if !p.accept(tComma) {
			return
		}
	}
}

// selectItem parses one element of the select list.
func (p *parser) selectItem(item *SelectItem, first bool) {
	item.Start = p.pos()
	switch {
	case p.is(tStar) && first:
		item.Expr = &Star{Pos: Pos(p.next().pos)}
		item.End = Pos(p.prevEnd)
		return
	case p.isIdent() && p.peek(1).kind == tDot && p.qualifiedStar(item):
		item.End = Pos(p.prevEnd)
		return
	}
	item.Expr = p.expr()
	item.End = Pos(p.prevEnd)
	as := p.acceptKw(kwAs)
	if p.isIdent() || p.is(tString) {
		item.HasAlias, item.AliasPos = true, p.pos()
		item.Alias = p.visibleName(p.aliasName())
	} else if as {
		p.fail()
	}
}

// aliasName parses an alias, which may be a string and longer than a name.
func (p *parser) aliasName() string {
	if p.is(tString) {
		return p.inUTF8(stringValue(p.sql, p.next(), 0, p.lex.escapes))
	}
	return p.nameOf(p.next(), aliasCharsMax)
}

// qualifiedStar parses t.* and s.t.*, or returns false.
func (p *parser) qualifiedStar(item *SelectItem) bool {
	star := &Star{Pos: p.pos()}
	switch {
	case p.peek(2).kind == tStar:
		star.Table = p.name()
	case p.peek(3).kind == tDot && p.peek(4).kind == tStar:
		star.Schema = p.name()
		p.next()
		star.Table = p.name()
	default:
		return false
	}
	p.next()
	p.next()
	item.Expr = star
	return true
}

// groupBy parses GROUP BY.
func (p *parser) groupBy(s *Select) {
	p.next()
	p.expectKw(kwBy)
	if p.isWord("ROLLUP") && p.peek(1).kind == tLParen {
		p.next()
		p.next()
		s.RollupFunc, s.WithRollup = true, true
	}
	for {
		s.GroupBy = append(s.GroupBy, OrderItem{Expr: p.expr()})
		if !p.accept(tComma) {
			break
		}
	}
	if s.RollupFunc {
		p.expect(tRParen)
		return
	}
	s.WithRollup = p.acceptWords("WITH", "ROLLUP")
}

// orderBy parses ORDER BY.
func (p *parser) orderBy() []OrderItem {
	p.next()
	p.expectKw(kwBy)
	var items []OrderItem
	for {
		items = append(items, OrderItem{Expr: p.expr(), Order: p.direction()})
		if !p.accept(tComma) {
			return items
		}
	}
}

// direction parses ASC and DESC.
func (p *parser) direction() Direction {
	switch {
	case p.acceptKw(kwAsc):
		return OrderAsc
	case p.acceptKw(kwDesc):
		return OrderDesc
	}
	return OrderDefault
}

// limit parses LIMIT.
func (p *parser) limit() *Limit {
	p.next()
	l := &Limit{Count: p.limitValue()}
	switch {
	case p.accept(tComma):
		l.Offset, l.Comma = l.Count, true
		l.Count = p.limitValue()
	case p.acceptWord("OFFSET"):
		l.Offset = p.limitValue()
	}
	return l
}

// limitValue parses a number, a placeholder or a local variable.
func (p *parser) limitValue() Expr {
	switch {
	case p.is(tInt):
		return p.simpleLiteral()
	case p.is(tHex), p.is(tBit):
		return p.literal()
	case p.is(tParam):
		return p.param()
	case p.isIdent() && p.program > 0:
		return p.columnRef()
	}
	p.fail()
	return nil
}

// lockClause parses FOR UPDATE, FOR SHARE and LOCK IN SHARE MODE.
func (p *parser) lockClause() LockClause {
	var c LockClause
	if p.acceptKw(kwLock) {
		p.expectWord("IN", "SHARE", "MODE")
		c.Kind = LockInShareMode
		return c
	}
	p.next()
	if p.needOneOf("UPDATE", "SHARE") == "SHARE" {
		c.Kind = LockForShare
	}
	if p.acceptKw(kwOf) {
		c.Of = p.objectNames()
	}
	switch {
	case p.acceptWord("NOWAIT"):
		c.Wait = LockNoWait
	case p.acceptWords("SKIP", "LOCKED"):
		c.Wait = LockSkipLocked
	}
	return c
}
