package syntax

// tableRefs parses the comma-separated list of FROM into one left-deep tree.
func (p *parser) tableRefs() TableExpr {
	return p.commaJoins(p.joined())
}

// commaJoins continues a FROM list after its first element.
func (p *parser) commaJoins(left TableExpr) TableExpr {
	for n := 0; p.is(tComma); n++ {
		p.link(n)
		j := &Join{Pos: Pos(p.next().pos), Kind: JoinComma, Left: left}
		j.Right = p.joined()
		left = j
	}
	return left
}

// joined parses a table with the joins that follow it.
func (p *parser) joined() TableExpr { return p.joins(p.tableFactor()) }

// joinOp consumes a join operator. ok is false when none is there.
func (p *parser) joinOp() (j Join, ok bool) {
	j.Pos = p.pos()
	switch p.tok.kw {
	case kwJoin:
		j.Kind = JoinPlain
	case kwInner:
		p.next()
		j.Kind = JoinInner
	case kwCross:
		p.next()
		j.Kind = JoinCross
	case kwStraightJoin:
		p.next()
		j.Kind = JoinStraight
		return j, true
	case kwLeft, kwRight:
		j.Kind = JoinLeft
		if p.next().kw == kwRight {
			j.Kind = JoinRight
		}
		j.Outer = p.acceptKw(kwOuter)
	case kwNatural:
		p.next()
		j.Kind = JoinNaturalPlain
		switch {
		case p.acceptKw(kwInner):
			j.Kind = JoinNaturalInner
		case p.isKw(kwLeft) || p.isKw(kwRight):
			j.Kind = JoinNaturalLeft
			if p.next().kw == kwRight {
				j.Kind = JoinNaturalRight
			}
			j.Outer = p.acceptKw(kwOuter)
		}
	default:
		return j, false
	}
	p.expectKw(kwJoin)
	return j, true
}

// startsJoin reports whether the current token begins a join operator.
func (p *parser) startsJoin() bool {
	switch p.tok.kw {
	case kwJoin, kwInner, kwCross, kwStraightJoin, kwLeft, kwRight, kwNatural:
		return true
	}
	return false
}

// joins parses the join operators that follow left.
func (p *parser) joins(left TableExpr) TableExpr {
	for n := 0; ; n++ {
		op, ok := p.joinOp()
		if !ok {
			return left
		}
		p.link(n)
		j := &op
		j.Left, j.Right = left, p.tableFactor()
		if j.Kind >= JoinNaturalPlain {
			left = j
			continue
		}
		if p.startsJoin() && !p.isKw(kwOn) {
			left = p.nestedJoin(j)
			continue
		}
		p.joinCondition(j)
		left = j
	}
}

// nestedJoin handles `a JOIN b JOIN c ...`, where an ON further right decides
// whether the second join nests (a LEFT JOIN b JOIN c ON x ON y) or the first
// one simply has no condition, in which case joins associate to the left.
func (p *parser) nestedJoin(j *Join) TableExpr {
	p.enter()
	right := j.Right
	nested := p.joins(right)
	p.leave()
	if p.isKw(kwOn) || p.isKw(kwUsing) || j.Kind == JoinLeft || j.Kind == JoinRight {
		j.Right = nested
		p.joinCondition(j)
		return j
	}
	// Put `left JOIN right` where right stands in the nested joins.
	leaf, ok := nested.(*Join)
	for ok {
		if leaf.Left == right {
			leaf.Left = j
			return nested
		}
		leaf, ok = leaf.Left.(*Join)
	}
	p.fail()
	return nil
}

// joinCondition parses ON and USING. Outer joins must have one.
func (p *parser) joinCondition(j *Join) {
	switch {
	case p.acceptKw(kwOn):
		j.On = p.expr()
	case p.isKw(kwUsing):
		p.next()
		j.Using = p.parenIdents()
	case j.Kind == JoinLeft || j.Kind == JoinRight:
		p.fail()
	}
}

// tableFactor parses one table, derived table or parenthesised join.
func (p *parser) tableFactor() TableExpr {
	switch {
	case p.isIdent():
		return p.tableRef()
	case p.is(tLParen):
		q, t := p.tableParen()
		if q != nil {
			return p.derived(Pos(q.Pos), false, q)
		}
		return t
	case p.isKw(kwLateral):
		pos := Pos(p.next().pos)
		p.expect(tLParen)
		q := p.query()
		p.expect(tRParen)
		return p.derived(pos, true, q)
	case p.isKw(kwJsonTable):
		return p.jsonTable()
	case p.is(tLBrace):
		t := &ParenTable{Pos: Pos(p.next().pos), ODBC: true}
		p.expectWord("OJ")
		p.enter()
		t.Inner = p.joined()
		p.leave()
		p.expect(tRBrace)
		return t
	}
	p.fail()
	return nil
}

// tableParen parses a parenthesis in FROM. It returns either a query, whose
// alias follows, or a table expression.
func (p *parser) tableParen() (*Query, TableExpr) {
	p.enter()
	defer p.leave()
	pos := Pos(p.next().pos)
	if p.is(tLParen) {
		q, t := p.tableParen()
		switch {
		case q != nil && (continuesQuery(&p.tok) || p.is(tRParen)):
			outer := &Query{Pos: q.Pos, Body: q}
			p.continueQuery(outer)
			p.expect(tRParen)
			return outer, nil
		case q != nil:
			t = p.derived(q.Pos, false, q)
		}
		t = p.commaJoins(p.joins(t))
		p.expect(tRParen)
		return nil, &ParenTable{Pos: pos, Inner: t}
	}
	if p.isKw(kwSelect) || p.isKw(kwWith) || p.isKw(kwTable) || p.isKw(kwValues) {
		q := p.query()
		p.expect(tRParen)
		return q, nil
	}
	t := p.tableRefs()
	p.expect(tRParen)
	return nil, &ParenTable{Pos: pos, Inner: t}
}

// derived parses the alias and column names of a derived table. The grammar
// demands the alias: MySQL reports 1248 without it, and so does the binder.
func (p *parser) derived(pos Pos, lateral bool, q *Query) TableExpr {
	d := &DerivedTable{Pos: pos, Lateral: lateral, Query: q}
	d.Alias = p.tableAlias()
	if d.Alias != "" && p.is(tLParen) {
		d.Columns = p.parenIdents()
	}
	return d
}

// tableAlias parses [AS] alias.
func (p *parser) tableAlias() string {
	if p.acceptKw(kwAs) {
		if !p.isIdent() {
			p.fail()
		}
		return p.nameOf(p.next(), aliasCharsMax)
	}
	if p.isIdent() {
		return p.nameOf(p.next(), aliasCharsMax)
	}
	return ""
}

// tableRef parses a named table with partitions, AS OF, alias and index hints.
func (p *parser) tableRef() *TableRef {
	t := &TableRef{}
	p.tableName(t)
	if p.isKw(kwPartition) {
		p.next()
		t.Partitions = p.parenIdents()
	}
	if p.isKw(kwAs) && p.peek(1).kw == kwOf {
		p.next()
		p.next()
		p.expectWord("TIMESTAMP")
		t.AsOf = p.expr()
	}
	t.Alias = p.tableAlias()
	for p.isKw(kwUse) || p.isKw(kwForce) || p.isKw(kwIgnore) {
		t.Hints = append(t.Hints, p.indexHint())
	}
	return t
}

// tableName parses the name of a table into t.
func (p *parser) tableName(t *TableRef) {
	t.Pos, t.Name = p.pos(), p.name()
	if p.is(tDot) {
		p.next()
		t.Schema, t.Name = t.Name, p.name()
	}
}

// indexHint parses USE|FORCE|IGNORE INDEX|KEY [FOR ...] (names).
func (p *parser) indexHint() IndexHint {
	var h IndexHint
	switch p.next().kw {
	case kwForce:
		h.Kind = ForceIndex
	case kwIgnore:
		h.Kind = IgnoreIndex
	}
	h.Key = p.needOneOf("INDEX", "KEY") == "KEY"
	if p.acceptKw(kwFor) {
		switch p.needOneOf("JOIN", "ORDER", "GROUP") {
		case "JOIN":
			h.For = HintForJoin
		case "ORDER":
			p.expectKw(kwBy)
			h.For = HintForOrderBy
		case "GROUP":
			p.expectKw(kwBy)
			h.For = HintForGroupBy
		}
	}
	p.expect(tLParen)
	if p.is(tRParen) && h.Kind != UseIndex {
		p.fail()
	}
	for more := !p.is(tRParen); more; more = p.accept(tComma) {
		h.Names = append(h.Names, p.indexName())
	}
	p.expect(tRParen)
	return h
}

// indexName parses the name of an index, or PRIMARY.
func (p *parser) indexName() Ident {
	pos := p.pos()
	if p.acceptKw(kwPrimary) {
		return Ident{Name: "PRIMARY", Pos: pos}
	}
	p.refuseEmpty(codeNoIndexName, "index")
	return p.ident()
}

// jsonTable parses JSON_TABLE(doc, path COLUMNS (...)) [AS] alias.
func (p *parser) jsonTable() TableExpr {
	t := &JSONTable{Pos: Pos(p.next().pos)}
	p.expect(tLParen)
	p.enter()
	t.Doc = p.expr()
	p.expect(tComma)
	t.Path = p.expr()
	t.Columns = p.jsonColumns()
	p.leave()
	p.expect(tRParen)
	t.Alias = p.tableAlias()
	return t
}

// jsonColumns parses COLUMNS (column, ...).
func (p *parser) jsonColumns() []JSONTableColumn {
	p.enter()
	defer p.leave()
	p.expectWord("COLUMNS")
	p.expect(tLParen)
	var list []JSONTableColumn
	for {
		list = append(list, p.jsonColumn())
		if !p.accept(tComma) {
			break
		}
	}
	p.expect(tRParen)
	return list
}

// jsonColumn parses one column of JSON_TABLE.
func (p *parser) jsonColumn() JSONTableColumn {
	var c JSONTableColumn
	if p.isWord("NESTED") && (p.tokenIs(p.peek(1), "PATH") || p.peek(1).kind == tString) {
		p.next()
		c.IsNested = true
		c.NestedWord = p.acceptWord("PATH")
		c.Path = p.stringLiteral()
		c.Nested = p.jsonColumns()
		return c
	}
	c.Name = p.ident()
	if p.acceptKw(kwFor) {
		p.expectWord("ORDINALITY")
		c.Ordinality = true
		return c
	}
	c.Type = new(DataType)
	p.dataType(c.Type)
	if p.acceptKw(kwCollate) {
		c.Type.Collate = p.collation(p.nameOrString())
	}
	c.Exists = p.acceptKw(kwExists)
	p.expectWord("PATH")
	c.Path = p.stringLiteral()
	c.OnEmpty, c.OnError, c.ErrorFirst = p.jsonOnClauses()
	return c
}

// jsonOnClauses parses ... ON EMPTY and ... ON ERROR in either order.
func (p *parser) jsonOnClauses() (empty, failure *JSONOnClause, errorFirst bool) {
	for {
		action := p.oneOf("NULL", "ERROR", "DEFAULT")
		if action == "" {
			return empty, failure, errorFirst
		}
		c := &JSONOnClause{Action: action}
		if action == "DEFAULT" {
			c.Default = p.bits(0)
		}
		p.expectKw(kwOn)
		switch {
		case p.needOneOf("EMPTY", "ERROR") == "EMPTY":
			if empty != nil {
				p.fail()
			}
			empty = c
			errorFirst = failure != nil
		case failure != nil:
			p.fail()
		default:
			failure = c
		}
	}
}
