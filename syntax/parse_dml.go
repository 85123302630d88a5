package syntax

// priority parses the modifier of a writing statement.
func (p *parser) priority() Priority {
	switch {
	case p.acceptKw(kwLowPriority):
		return PriorityLow
	case p.acceptKw(kwHighPriority):
		return PriorityHigh
	case p.acceptKw(kwDelayed):
		return PriorityDelayed
	}
	return PriorityDefault
}

// insert parses INSERT and REPLACE.
func (p *parser) insert() Statement {
	s := &Insert{Pos: p.pos(), Replace: p.isKw(kwReplace)}
	p.next()
	s.Hints = p.hints()
	s.Priority = p.priority()
	if s.Priority == PriorityDelayed {
		verb := "INSERT"
		if s.Replace {
			verb = "REPLACE"
		}
		p.notice(CodeDelayed, verb+" DELAYED is no longer supported. The statement was converted to "+verb+".")
	}
	s.Ignore = !s.Replace && p.acceptKw(kwIgnore)
	s.NoInto = !p.acceptKw(kwInto)
	p.tableName(&s.Table)
	if p.acceptKw(kwPartition) {
		s.Table.Partitions = p.parenIdents()
	}
	if p.is(tLParen) && !p.startsQuery(1) && p.peek(1).kind != tLParen {
		s.HasColumns = true
		s.Columns = p.columnList()
	}
	p.insertSource(s)
	if s.Replace {
		return s
	}
	if s.Query == nil && p.acceptKw(kwAs) {
		s.RowAlias = p.name()
		if p.is(tLParen) {
			s.ColAliases = p.parenIdents()
		}
	}
	if p.acceptKw(kwOn) {
		p.expectWord("DUPLICATE", "KEY", "UPDATE")
		was := p.onDuplicate
		p.onDuplicate = true
		s.OnDup = p.assignments()
		p.onDuplicate = was
	}
	return s
}

// columnList parses the possibly empty (columns) of INSERT.
func (p *parser) columnList() []ColumnRef {
	p.expect(tLParen)
	var list []ColumnRef
	for more := !p.is(tRParen); more; more = p.accept(tComma) {
		list = append(list, ColumnRef{})
		p.columnRefInto(&list[len(list)-1])
	}
	p.expect(tRParen)
	return list
}

// insertSource parses VALUES, SET or a query.
func (p *parser) insertSource(s *Insert) {
	switch {
	case p.isKw(kwValues) || p.isWord("VALUE"):
		if p.isKw(kwValues) && p.peek(1).kw == kwRow {
			s.RowWord = true
			m := p.mark()
			p.next()
			p.insertRows(s)
			if continuesQuery(&p.tok) {
				// VALUES ROW(...) was the beginning of a larger query.
				p.reset(&m)
				s.Rows, s.RowWord = nil, false
				s.Query = p.query()
			}
			return
		}
		s.ValueWord = !p.isKw(kwValues)
		p.next()
		if s.Literals = p.literalRows(); s.Literals == nil {
			p.insertRows(s)
		}
	case p.isKw(kwSet) && !s.HasColumns:
		p.next()
		s.Set = p.assignments()
	default:
		s.Query = p.query()
	}
}

// insertRows parses (a, b), (c, d), ....
func (p *parser) insertRows(s *Insert) {
	for {
		if s.RowWord {
			p.expectKw(kwRow)
		}
		p.expect(tLParen)
		row := noExprs
		if !p.is(tRParen) {
			row = p.exprList()
		}
		p.expect(tRParen)
		s.Rows = append(s.Rows, row)
		if !p.accept(tComma) {
			return
		}
	}
}

// noExprs is the row of INSERT INTO t VALUES ().
var noExprs = []Expr{}

// assignments parses a = 1, b = DEFAULT.
func (p *parser) assignments() []Assignment {
	list := make([]Assignment, 0, 1)
	for {
		list = append(list, Assignment{})
		a := &list[len(list)-1]
		p.columnRefInto(&a.Column)
		if !p.accept(tAssign) {
			p.expect(tEq)
		}
		a.Value = p.expr()
		if !p.accept(tComma) {
			return list
		}
	}
}

// update parses UPDATE.
func (p *parser) update(with *With) Statement {
	s := &Update{Pos: p.pos(), With: with}
	p.next()
	s.Hints = p.hints()
	if p.acceptKw(kwLowPriority) {
		s.Priority = PriorityLow
	}
	s.Ignore = p.acceptKw(kwIgnore)
	s.Tables = p.tableRefs()
	p.expectKw(kwSet)
	s.Set = p.assignments()
	if p.acceptKw(kwWhere) {
		s.Where = p.expr()
	}
	s.OrderBy, s.Limit = p.orderAndLimit() // with several tables error 1221, which the binder reports
	return s
}

// orderAndLimit parses [ORDER BY ...] [LIMIT n] of UPDATE and DELETE.
func (p *parser) orderAndLimit() (order []OrderItem, limit *Limit) {
	if p.isKw(kwOrder) {
		order = p.orderBy()
	}
	if p.isKw(kwLimit) {
		p.next()
		limit = &Limit{Count: p.limitValue()}
	}
	return order, limit
}

// delete parses DELETE in its three forms.
func (p *parser) delete(with *With) Statement {
	s := &Delete{Pos: p.pos(), With: with}
	p.next()
	s.Hints = p.hints()
	for {
		switch {
		case p.acceptKw(kwLowPriority):
			s.Priority = PriorityLow
			continue
		case p.isWord("QUICK") && !p.tokenIsDot(1):
			p.next()
			s.Quick = true
			continue
		case p.acceptKw(kwIgnore):
			s.Ignore = true
			continue
		}
		break
	}
	if p.acceptKw(kwFrom) {
		if n := p.peek(1); n.kind == tComma || n.kind == tDot || n.kw == kwUsing {
			m := p.mark()
			targets := p.deleteTargets()
			if p.acceptKw(kwUsing) {
				s.Targets, s.Using = targets, true
				s.From = p.tableRefs()
				p.deleteWhere(s)
				return s
			}
			p.reset(&m)
		}
		t := &TableRef{}
		p.tableName(t)
		t.Alias = p.tableAlias()
		if p.acceptKw(kwPartition) {
			t.Partitions = p.parenIdents()
		}
		s.From = t
		p.deleteWhere(s)
		s.OrderBy, s.Limit = p.orderAndLimit()
		return s
	}
	s.Targets = p.deleteTargets()
	p.expectKw(kwFrom)
	s.From = p.tableRefs()
	p.deleteWhere(s)
	return s
}

// tokenIsDot reports whether the n-th token after the current one is a dot.
func (p *parser) tokenIsDot(n int) bool { return p.peek(n).kind == tDot }

// deleteWhere parses the WHERE clause of DELETE.
func (p *parser) deleteWhere(s *Delete) {
	if p.acceptKw(kwWhere) {
		s.Where = p.expr()
	}
}

// deleteTargets parses t, s.u.*, ....
func (p *parser) deleteTargets() []DeleteTarget {
	var list []DeleteTarget
	for {
		t := DeleteTarget{Name: ObjectName{Pos: p.pos(), Name: p.name()}}
		if p.accept(tDot) {
			if t.Star = p.accept(tStar); !t.Star {
				t.Name.Schema, t.Name.Name = t.Name.Name, p.name()
				if p.accept(tDot) {
					p.expect(tStar)
					t.Star = true
				}
			}
		}
		list = append(list, t)
		if !p.accept(tComma) {
			return list
		}
	}
}

// loadData parses LOAD DATA and LOAD XML.
func (p *parser) loadData() Statement {
	s := &LoadData{Pos: Pos(p.next().pos)}
	s.XML = p.needOneOf("DATA", "XML") == "XML"
	switch p.oneOf("LOW_PRIORITY", "CONCURRENT") {
	case "LOW_PRIORITY":
		s.Priority = PriorityLow
	case "CONCURRENT":
		s.Priority = PriorityConcurrent
	}
	s.Local = p.acceptWord("LOCAL")
	p.expectKw(kwInfile)
	s.File = p.stringLiteral()
	s.OnDup = p.oneOf("REPLACE", "IGNORE")
	p.expectWord("INTO", "TABLE")
	s.Table = p.objectName()
	if p.acceptKw(kwPartition) {
		s.Partitions = p.parenIdents()
	}
	s.Charset = p.charset(p.fileCharset())
	if s.XML && p.acceptWords("ROWS", "IDENTIFIED", "BY") {
		s.RowsBy = p.stringLiteral()
	}
	s.Format = p.fileFormat()
	if p.acceptKw(kwIgnore) {
		s.Skip = p.number()
		s.SkipRows = p.needOneOf("LINES", "ROWS") == "ROWS"
	}
	if p.accept(tLParen) {
		s.HasColumns = true
		if !p.is(tRParen) {
			s.Columns = p.varTargets()
		}
		p.expect(tRParen)
	}
	if p.acceptKw(kwSet) {
		s.Set = p.assignments()
	}
	return s
}

// call parses CALL name[(args)].
func (p *parser) call() Statement {
	s := &Call{Pos: Pos(p.next().pos)}
	s.Name = p.objectName()
	if p.accept(tLParen) {
		s.Parens = true
		if !p.is(tRParen) {
			s.Args = p.exprList()
		}
		p.expect(tRParen)
	}
	return s
}

// do parses DO expr, ....
func (p *parser) do() Statement {
	d := &Do{Pos: Pos(p.next().pos)}
	for {
		d.Exprs = append(d.Exprs, SelectItem{})
		p.selectItem(&d.Exprs[len(d.Exprs)-1], false)
		if !p.accept(tComma) {
			return d
		}
	}
}
