package syntax

// begin parses BEGIN [WORK], and TiDB's BEGIN OPTIMISTIC and BEGIN PESSIMISTIC. Within stored programs BEGIN opens a block.
func (p *parser) begin() Statement {
	s := &Begin{Pos: Pos(p.next().pos)}
	switch {
	case p.acceptWord("WORK"):
		s.Work = true
	case p.acceptWord("OPTIMISTIC"):
		s.Modes = []string{"OPTIMISTIC"}
	case p.acceptWord("PESSIMISTIC"):
		s.Modes = []string{"PESSIMISTIC"}
	}
	return s
}

// startTransaction parses START TRANSACTION; other STARTs are loose.
func (p *parser) startTransaction() Statement {
	s := &Begin{Pos: Pos(p.next().pos), Start: true}
	p.expectWord("TRANSACTION")
	for {
		switch {
		case p.acceptWords("WITH", "CONSISTENT", "SNAPSHOT"):
			s.Modes = append(s.Modes, "WITH CONSISTENT SNAPSHOT")
		case p.acceptWords("READ", "ONLY"):
			s.Modes = append(s.Modes, "READ ONLY")
		case p.acceptWords("READ", "WRITE"):
			s.Modes = append(s.Modes, "READ WRITE")
		case len(s.Modes) > 0:
			p.fail()
		default:
			return s
		}
		if !p.accept(tComma) {
			return s
		}
	}
}

// commit parses COMMIT.
func (p *parser) commit() Statement {
	s := &Commit{Pos: Pos(p.next().pos), Work: p.acceptWord("WORK")}
	s.End = p.txnEnd()
	return s
}

// txnEnd parses [AND [NO] CHAIN] [[NO] RELEASE].
func (p *parser) txnEnd() TxnEnd {
	var e TxnEnd
	switch {
	case p.acceptWords("AND", "CHAIN"):
		e.Chain = "AND CHAIN"
	case p.acceptWords("AND", "NO", "CHAIN"):
		e.Chain = "AND NO CHAIN"
	}
	switch {
	case p.acceptKw(kwRelease):
		e.Release = "RELEASE"
	case p.acceptWords("NO", "RELEASE"):
		e.Release = "NO RELEASE"
	}
	if e.Chain == "AND CHAIN" && e.Release == "RELEASE" {
		p.fail()
	}
	return e
}

// rollback parses ROLLBACK.
func (p *parser) rollback() Statement {
	s := &Rollback{Pos: Pos(p.next().pos), Work: p.acceptWord("WORK")}
	if p.acceptKw(kwTo) {
		s.ToSavepoint = true
		if p.isWord("SAVEPOINT") && isIdentToken(p.peek(1)) {
			p.next()
			s.SavepointWord = true
		}
		s.Savepoint = p.ident()
		return s
	}
	s.End = p.txnEnd()
	return s
}

// set parses the statements that begin with SET.
func (p *parser) set() Statement {
	pos := Pos(p.next().pos)
	switch {
	case p.isWord("PASSWORD") && (p.peek(1).kind == tEq || p.peek(1).kw == kwFor || p.peek(1).kw == kwTo):
		return p.setPassword(pos)
	case p.isWord("ROLE") && p.peek(1).kind != tEq && p.peek(1).kind != tAssign:
		p.next()
		return p.setRole(pos)
	case p.isWords("DEFAULT", "ROLE"):
		p.next()
		p.next()
		return p.setDefaultRole(pos)
	case p.isWords("RESOURCE", "GROUP"):
		return p.loose(pos, "SET RESOURCE GROUP")
	}
	if s := p.setTransaction(pos); s != nil {
		return s
	}
	s := &Set{Pos: pos}
	for {
		s.Items = append(s.Items, p.setItem())
		if !p.accept(tComma) {
			return s
		}
	}
}

// setTransaction parses SET [scope] TRANSACTION, or returns nil.
func (p *parser) setTransaction(pos Pos) Statement {
	s := &SetTransaction{Pos: pos}
	switch {
	case p.isWord("TRANSACTION") && p.peek(1).kind == tWord:
		p.next()
	case p.peek(1).kind == tWord && p.tokenIs(p.peek(1), "TRANSACTION") && p.peek(2).kind == tWord:
		s.Scope = p.scopeWord()
		if s.Scope == ScopeDefault || s.Scope >= ScopePersist {
			p.fail()
		}
		p.next()
	default:
		return nil
	}
	for {
		if p.acceptWords("ISOLATION", "LEVEL") {
			s.Modes = append(s.Modes, "ISOLATION LEVEL "+p.isolation())
		} else {
			p.expectKw(kwRead)
			s.Modes = append(s.Modes, "READ "+p.needOneOf("ONLY", "WRITE"))
		}
		if !p.accept(tComma) {
			return s
		}
	}
}

// isolation parses the name of an isolation level.
func (p *parser) isolation() string {
	switch p.needOneOf("REPEATABLE", "READ", "SERIALIZABLE") {
	case "REPEATABLE":
		p.expectKw(kwRead)
		return "REPEATABLE READ"
	case "READ":
		return "READ " + p.needOneOf("COMMITTED", "UNCOMMITTED")
	}
	return "SERIALIZABLE"
}

// setItem parses one assignment of SET.
func (p *parser) setItem() SetItem {
	pos := p.pos()
	switch {
	case p.is(tUserVar):
		v := &SetUserVar{Pos: pos, Name: userVarName(p.sql, p.next(), p.lex.escapes)}
		v.Assign = p.assignOp()
		v.Value = p.expr()
		return v
	case p.isWord("NAMES") && p.peek(1).kind != tEq && p.peek(1).kind != tAssign:
		p.next()
		n := &SetNames{Pos: pos}
		if p.acceptKw(kwDefault) {
			n.Default = true
			return n
		}
		n.Charset = p.charset(p.nameOrString())
		if p.acceptKw(kwCollate) {
			n.Collate = p.collation(p.nameOrString())
		}
		return n
	case p.isKw(kwCharacter) || p.isKw(kwChar) || p.isWord("CHARSET"):
		c := &SetCharset{Pos: pos, Word: p.charsetWord()}
		if c.Word == "" {
			p.fail()
		}
		if c.Default = p.acceptKw(kwDefault); !c.Default {
			c.Charset = p.nameOrString()
		}
		return c
	}
	return p.setVar(pos)
}

// assignOp parses = or :=, and reports the latter.
func (p *parser) assignOp() bool {
	if p.accept(tAssign) {
		return true
	}
	p.expect(tEq)
	return false
}

// setVar parses the assignment of a system or local variable.
func (p *parser) setVar(pos Pos) SetItem {
	v := &SetVar{Pos: pos}
	if p.accept(tAtAt) {
		v.AtAt = true
		if p.peek(1).kind == tDot {
			if v.Scope = p.scopeWord(); v.Scope != ScopeDefault {
				p.expect(tDot)
			}
		}
	} else if n := p.peek(1); n.kind == tDot && (p.isWord("GLOBAL") || p.isWord("SESSION") || p.isWord("LOCAL")) {
		p.fail() // @@ is missing
	} else if n.kind == tWord || n.kind == tQuoted || n.kind == tAtAt {
		if v.Scope = p.scopeWord(); v.Scope == ScopeDefault {
			p.next()
			p.fail()
		}
		if p.is(tAtAt) {
			p.fail()
		}
	}
	v.Name = p.variableName()
	if p.accept(tDot) {
		v.Prefix, v.Name = v.Name, p.variableName()
	}
	v.Assign = p.assignOp()
	v.Value = p.setValue()
	p.noticeVariable(v)
	return v
}

// setValue parses the value of a variable. ON, ALL and other words that are
// reserved stand for themselves here.
func (p *parser) setValue() Expr {
	switch p.tok.kw {
	case kwDefault:
		if p.peek(1).kind != tLParen {
			return &Default{Pos: Pos(p.next().pos)}
		}
	case kwBinary:
		if n := p.peek(1).kind; n == tEOF || n == tComma || n == tSemi {
			return p.wordValue()
		}
	case kwOn, kwAll, kwRow, kwSystem:
		return p.wordValue()
	}
	if p.tok.kind == tQuoted && p.tok.end-p.tok.pos == 2 {
		return &ColumnRef{Pos: Pos(p.next().pos)} // "" with ANSI_QUOTES: no name is empty but one that stands for its text
	}
	return p.expr()
}

// wordValue makes a reserved word into the reference that stands for its text.
func (p *parser) wordValue() Expr {
	t := p.next()
	return &ColumnRef{Pos: Pos(t.pos), Column: p.text(t)}
}

// setPassword parses SET PASSWORD [FOR account] = 'x' or TO RANDOM.
func (p *parser) setPassword(pos Pos) Statement {
	p.next()
	s := &SetPassword{Pos: pos}
	if p.acceptKw(kwFor) {
		a := p.account()
		s.For = &a
	}
	if p.acceptKw(kwTo) {
		p.expectWord("RANDOM")
		s.Random = true
	} else {
		p.expect(tEq)
		s.Password = p.stringLiteral()
	}
	if p.acceptKw(kwReplace) {
		s.Replace = p.stringLiteral()
	}
	s.Retain = p.acceptWords("RETAIN", "CURRENT", "PASSWORD")
	return s
}

// setRole parses what follows SET ROLE.
func (p *parser) setRole(pos Pos) *SetRole {
	s := &SetRole{Pos: pos}
	switch s.Kind = p.oneOf("DEFAULT", "NONE", "ALL"); s.Kind {
	case "ALL":
		if p.acceptKw(kwExcept) {
			s.Kind = "ALL EXCEPT"
			s.Roles = p.accounts()
		}
	case "":
		s.Roles = p.accounts()
	}
	return s
}

// setDefaultRole parses what follows SET DEFAULT ROLE.
func (p *parser) setDefaultRole(pos Pos) Statement {
	s := &SetDefaultRole{Pos: pos}
	if s.Kind = p.oneOf("NONE", "ALL"); s.Kind == "" {
		s.Roles = p.accounts()
	}
	p.expectKw(kwTo)
	s.To = p.accounts()
	return s
}
