package syntax

// programStatement parses a statement of a stored program: any statement, or
// one of those that exist only there.
func (p *parser) programStatement() Statement {
	p.enter()
	p.program++
	defer func() { p.program--; p.leave() }()
	pos := p.pos()
	switch p.tok.kw {
	case kwIf:
		return p.ifStatement()
	case kwCase:
		return p.caseStatement()
	case kwLoop, kwWhile, kwRepeat:
		return p.loop(pos, "")
	case kwReturn:
		p.next()
		return &Return{Pos: pos, Value: p.expr()}
	case kwIterate, kwLeave:
		return &Jump{Pos: pos, Iterate: p.next().kw == kwIterate, Label: p.ident()}
	case kwFetch:
		return p.fetch()
	case kwDeclare:
		return p.declare()
	}
	switch {
	case p.isWord("BEGIN"):
		return p.block(pos, "")
	case p.isIdent() && p.peek(1).kind == tColon:
		label := p.name()
		p.next()
		if p.isWord("BEGIN") {
			return p.block(pos, label)
		}
		return p.loop(pos, label)
	case p.isWord("OPEN") && isIdentToken(p.peek(1)):
		p.next()
		return &CursorOp{Pos: pos, Verb: "OPEN", Name: p.ident()}
	case p.isWord("CLOSE") && isIdentToken(p.peek(1)):
		p.next()
		return &CursorOp{Pos: pos, Verb: "CLOSE", Name: p.ident()}
	}
	return p.statement()
}

// statements parses `stmt; stmt; ...` up to a word that ends them.
func (p *parser) statements(stops ...string) []Statement {
	var list []Statement
	for {
		for _, w := range stops {
			if p.isWord(w) {
				return list
			}
		}
		list = append(list, p.programStatement())
		p.expect(tSemi)
	}
}

// block parses BEGIN ... END [label].
func (p *parser) block(pos Pos, label string) Statement {
	p.next()
	b := &Block{Pos: pos, Label: label}
	b.Body = p.statements("END")
	p.next()
	b.EndLabel = p.endLabel(label)
	return b
}

// endLabel parses the label that may repeat the opening one.
func (p *parser) endLabel(label string) string {
	if label == "" || !p.isIdent() {
		return ""
	}
	return p.name()
}

// ifStatement parses IF ... END IF.
func (p *parser) ifStatement() Statement {
	s := &If{Pos: p.pos()}
	for p.isKw(kwIf) || p.isKw(kwElseif) {
		p.next()
		b := CondBody{Cond: p.expr()}
		p.expectKw(kwThen)
		b.Body = p.someStatements("ELSEIF", "ELSE", "END")
		s.Branches = append(s.Branches, b)
	}
	if p.acceptKw(kwElse) {
		s.HasElse = true
		s.Else = p.someStatements("END")
	}
	p.expectWord("END", "IF")
	return s
}

// someStatements is statements that demands at least one.
func (p *parser) someStatements(stops ...string) []Statement {
	list := p.statements(stops...)
	if len(list) == 0 {
		p.fail()
	}
	return list
}

// caseStatement parses CASE ... END CASE.
func (p *parser) caseStatement() Statement {
	s := &CaseStmt{Pos: Pos(p.next().pos)}
	if !p.isKw(kwWhen) {
		s.Operand = p.expr()
	}
	for p.acceptKw(kwWhen) {
		b := CondBody{Cond: p.expr()}
		p.expectKw(kwThen)
		b.Body = p.someStatements("WHEN", "ELSE", "END")
		s.Branches = append(s.Branches, b)
	}
	if len(s.Branches) == 0 {
		p.fail()
	}
	if p.acceptKw(kwElse) {
		s.HasElse = true
		s.Else = p.someStatements("END")
	}
	p.expectWord("END", "CASE")
	return s
}

// loop parses LOOP, WHILE and REPEAT.
func (p *parser) loop(pos Pos, label string) Statement {
	s := &Loop{Pos: pos, Label: label, Kind: p.needOneOf("LOOP", "WHILE", "REPEAT")}
	switch s.Kind {
	case "LOOP":
		s.Body = p.someStatements("END")
		p.expectWord("END", "LOOP")
	case "WHILE":
		s.Cond = p.expr()
		p.expectWord("DO")
		s.Body = p.someStatements("END")
		p.expectWord("END", "WHILE")
	case "REPEAT":
		s.Body = p.someStatements("UNTIL")
		p.next()
		s.Cond = p.expr()
		p.expectWord("END", "REPEAT")
	}
	s.EndLabel = p.endLabel(label)
	return s
}

// fetch parses FETCH [[NEXT] FROM] cursor INTO variables.
func (p *parser) fetch() Statement {
	s := &CursorOp{Pos: Pos(p.next().pos), Verb: "FETCH"}
	s.Next = p.acceptWords("NEXT", "FROM")
	s.From = s.Next || p.acceptKw(kwFrom)
	s.Name = p.ident()
	p.expectKw(kwInto)
	s.Into = p.varTargets()
	return s
}

// declare parses the declarations of variables, conditions, cursors and handlers.
func (p *parser) declare() Statement {
	pos := Pos(p.next().pos)
	if w := p.oneOf("CONTINUE", "EXIT", "UNDO"); w != "" {
		h := &DeclareHandler{Pos: pos, Action: w}
		p.expectWord("HANDLER", "FOR")
		for {
			h.Conditions = append(h.Conditions, p.conditionValue())
			if !p.accept(tComma) {
				break
			}
		}
		h.Body = p.programStatement()
		return h
	}
	switch n := p.peek(1); n.kw {
	case kwCursor:
		c := &DeclareCursor{Pos: pos, Name: p.ident()}
		p.next()
		p.expectKw(kwFor)
		c.Query = p.query()
		return c
	case kwCondition:
		c := &DeclareCondition{Pos: pos, Name: p.ident()}
		p.next()
		p.expectKw(kwFor)
		c.Value = p.conditionValue()
		return c
	}
	v := &DeclareVar{Pos: pos, Names: p.identList()}
	p.dataType(&v.Type)
	p.typeCollate(&v.Type)
	if p.acceptKw(kwDefault) {
		v.Default = p.expr()
	}
	return v
}

// conditionValue parses what a handler or condition names.
func (p *parser) conditionValue() ConditionValue {
	switch {
	case p.acceptKw(kwSqlstate):
		c := ConditionValue{Kind: "SQLSTATE"}
		if p.acceptWord("VALUE") {
			c.Kind = "SQLSTATE VALUE"
		}
		c.Value = p.stringLiteral()
		return c
	case p.is(tInt):
		return ConditionValue{Kind: "CODE", Value: p.number()}
	case p.acceptKw(kwSqlwarning):
		return ConditionValue{Kind: "SQLWARNING"}
	case p.acceptKw(kwSqlexception):
		return ConditionValue{Kind: "SQLEXCEPTION"}
	case p.acceptWords("NOT", "FOUND"):
		return ConditionValue{Kind: "NOT FOUND"}
	}
	return ConditionValue{Kind: "NAME", Name: p.ident()}
}
