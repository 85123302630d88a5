package syntax

// columnDef parses a column with its attributes.
func (p *parser) columnDef() *ColumnDef {
	p.refuseEmpty(codeNoColumnName, "column")
	c := &ColumnDef{Pos: p.pos(), Name: p.ident()}
	p.columnBody(c)
	return c
}

// columnBody parses the type and attributes of a column.
func (p *parser) columnBody(c *ColumnDef) {
	p.dataType(&c.Type)
	for {
		o := ColumnOption{Pos: p.pos()}
		if !p.columnOption(&o) {
			return
		}
		c.Options = append(c.Options, o)
	}
}

// columnOption parses one attribute of a column, or returns false.
func (p *parser) columnOption(o *ColumnOption) bool {
	if p.tok.kind != tWord {
		return false
	}
	if p.tok.kw == kwNone {
		return p.columnWordOption(o)
	}
	switch p.tok.kw {
	case kwNot:
		p.next()
		o.Kind = ColNotNull
		if p.needOneOf("NULL", "SECONDARY") == "SECONDARY" {
			o.Kind = ColNotSecondary
		}
	case kwNull:
		p.next()
		o.Kind = ColNull
	case kwDefault:
		p.next()
		o.Kind, o.Expr = ColDefault, p.defaultValue()
	case kwOn:
		p.next()
		p.expectKw(kwUpdate)
		o.Kind, o.Expr = ColOnUpdate, p.nowExpr()
	case kwUnique:
		p.next()
		o.Kind, o.Word = ColUnique, "UNIQUE"
		if p.acceptKw(kwKey) {
			o.Word = "UNIQUE KEY"
		}
	case kwPrimary, kwKey:
		o.Kind, o.Word = ColPrimary, "KEY"
		if p.next().kw == kwPrimary {
			p.expectKw(kwKey)
			o.Word = "PRIMARY KEY"
		}
	case kwCollate:
		p.next()
		o.Kind, o.Word = ColCollate, p.collation(p.nameOrString())
	case kwGenerated, kwAs:
		p.generated(o)
	case kwConstraint, kwCheck:
		o.Kind, o.Check = ColCheck, p.checkDef()
	case kwReferences:
		o.Kind, o.Ref = ColReferences, p.references()
	default:
		return false
	}
	return true
}

// columnWordOption parses the attributes whose words are not reserved.
func (p *parser) columnWordOption(o *ColumnOption) bool {
	switch word := p.oneOf("AUTO_INCREMENT", "COMMENT", "COLUMN_FORMAT", "STORAGE", "VISIBLE", "INVISIBLE",
		"ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE", "SRID", "SERIAL", "CLUSTERED", "NONCLUSTERED",
		"AUTO_RANDOM"); word {
	case "AUTO_INCREMENT":
		o.Kind = ColAutoIncrement
	case "COMMENT":
		o.Kind, o.Expr = ColComment, p.stringLiteral()
	case "COLUMN_FORMAT":
		o.Kind, o.Word = ColFormat, p.needOneOf("FIXED", "DYNAMIC", "DEFAULT")
	case "STORAGE":
		o.Kind, o.Word = ColStorage, p.needOneOf("DISK", "MEMORY", "DEFAULT")
	case "VISIBLE":
		o.Kind = ColVisible
	case "INVISIBLE":
		o.Kind = ColInvisible
	case "ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE":
		o.Kind = ColEngineAttr
		if word != "ENGINE_ATTRIBUTE" {
			o.Kind = ColSecondaryAttr
		}
		o.Equals = p.accept(tEq)
		o.Expr = p.stringLiteral()
	case "SRID":
		o.Kind, o.Expr = ColSRID, p.number()
	case "SERIAL":
		p.expectWord("DEFAULT", "VALUE")
		o.Kind = ColSerialDefault
	case "CLUSTERED":
		o.Kind = ColClustered
	case "NONCLUSTERED":
		o.Kind = ColNonclustered
	case "AUTO_RANDOM":
		o.Kind = ColAutoRandom
		if p.accept(tLParen) {
			o.Expr = p.number()
			p.expect(tRParen)
		}
	default:
		return false
	}
	return true
}

// defaultValue parses the value of DEFAULT: a signed literal, NOW, or an
// expression in parentheses.
func (p *parser) defaultValue() Expr {
	switch {
	case p.is(tLParen):
		pos := Pos(p.next().pos)
		x := &Paren{Pos: pos, X: p.expr()}
		p.expect(tRParen)
		return x
	case p.isNow():
		return p.nowExpr()
	case p.is(tMinus) || p.is(tPlus):
		op := OpNeg
		if p.is(tPlus) {
			op = OpPlus
		}
		u := &Unary{Pos: Pos(p.next().pos), Op: op}
		if !p.is(tInt) && !p.is(tDecimal) && !p.is(tFloat) {
			p.fail()
		}
		u.X = p.simpleLiteral()
		return u
	}
	m := p.pos()
	switch x := p.primary().(type) {
	case *Literal, *Introduced:
		return x
	}
	p.failAt(int32(m))
	return nil
}

// isNow reports whether the current token is CURRENT_TIMESTAMP or a synonym.
func (p *parser) isNow() bool {
	switch p.tok.kw {
	case kwCurrentTimestamp, kwLocaltime, kwLocaltimestamp:
		return true
	}
	return p.isWord("NOW") && p.peek(1).kind == tLParen
}

// nowExpr parses CURRENT_TIMESTAMP[(n)] and its synonyms.
func (p *parser) nowExpr() Expr {
	if !p.isNow() {
		p.fail()
	}
	return p.primary()
}

// generated parses [GENERATED ALWAYS] AS (expr) [VIRTUAL|STORED].
func (p *parser) generated(o *ColumnOption) {
	o.Kind = ColGenerated
	if p.acceptKw(kwGenerated) {
		p.expectWord("ALWAYS")
		o.Always = true
	}
	p.expectKw(kwAs)
	p.expect(tLParen)
	o.Expr = p.expr()
	p.expect(tRParen)
	o.Word = p.oneOf("VIRTUAL", "STORED")
}

// checkDef parses [CONSTRAINT [name]] CHECK (expr) [[NOT] ENFORCED].
func (p *parser) checkDef() *CheckDef {
	c := &CheckDef{Pos: p.pos()}
	if p.acceptKw(kwConstraint) {
		c.HasConstraint = true
		if p.isIdent() {
			c.Constraint = p.name()
		}
	}
	p.checkBody(c)
	return c
}

// checkBody parses CHECK (expr) [[NOT] ENFORCED].
func (p *parser) checkBody(c *CheckDef) {
	p.expectKw(kwCheck)
	p.expect(tLParen)
	c.Expr = p.expr()
	p.expect(tRParen)
	switch {
	case p.acceptWord("ENFORCED"):
		c.Enforced = "ENFORCED"
	case p.acceptWords("NOT", "ENFORCED"):
		c.Enforced = "NOT ENFORCED"
	}
}

// references parses REFERENCES t [(columns)] [MATCH x] [ON DELETE x] [ON UPDATE x].
func (p *parser) references() *References {
	r := &References{Pos: Pos(p.next().pos)}
	r.Table = p.objectName()
	if p.accept(tLParen) {
		for {
			r.Columns = append(r.Columns, KeyPart{Column: p.ident(), Length: -1})
			if !p.accept(tComma) {
				break
			}
		}
		p.expect(tRParen)
	}
	if p.acceptKw(kwMatch) {
		r.Match = p.needOneOf("FULL", "PARTIAL", "SIMPLE")
	}
	for p.isKw(kwOn) && (p.peek(1).kw == kwDelete || p.peek(1).kw == kwUpdate) {
		p.next()
		update := p.next().kw == kwUpdate
		action := p.refAction()
		switch {
		case update && r.OnUpdate == "":
			r.OnUpdate = action
			r.UpdateFirst = r.OnDelete == ""
		case !update && r.OnDelete == "":
			r.OnDelete = action
		default:
			p.fail()
		}
	}
	return r
}

// refAction parses the action of a foreign key.
func (p *parser) refAction() string {
	switch w := p.needOneOf("RESTRICT", "CASCADE", "SET", "NO"); w {
	case "SET":
		return "SET " + p.needOneOf("NULL", "DEFAULT")
	case "NO":
		p.expectWord("ACTION")
		return "NO ACTION"
	default:
		return w
	}
}
