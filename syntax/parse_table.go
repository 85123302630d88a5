package syntax

import "slices"

// createTable parses CREATE [TEMPORARY] TABLE; the current token is TABLE.
func (p *parser) createTable(pos Pos, temporary bool) Statement {
	p.next()
	s := &CreateTable{Pos: pos, Temporary: temporary, IfNotExists: p.ifNotExists()}
	s.Name = p.objectName()
	switch {
	case p.acceptKw(kwLike):
		name := p.objectName()
		s.Like = &name
		return s
	case p.is(tLParen) && p.peek(1).kw == kwLike:
		p.next()
		p.next()
		name := p.objectName()
		s.Like, s.LikeParen = &name, true
		p.expect(tRParen)
		return s
	case p.is(tLParen) && !p.startsQuery(1) && p.peek(1).kind != tLParen:
		p.next()
		s.Elements = p.tableElements()
		p.expect(tRParen)
	}
	s.Options = p.tableOptions()
	if p.isKw(kwPartition) {
		s.Partition = p.partitionBy()
	}
	s.OnConflict = p.oneOf("IGNORE", "REPLACE")
	s.AsWord = p.acceptKw(kwAs)
	if s.AsWord || s.OnConflict != "" || p.is(tLParen) || p.isKw(kwSelect) || p.isKw(kwWith) ||
		p.isKw(kwTable) || p.isKw(kwValues) {
		s.Query = p.query()
	} else if s.Elements == nil {
		p.fail()
	}
	return s
}

// tableElements parses the columns, keys and checks of a table.
func (p *parser) tableElements() []TableElement {
	var list []TableElement
	for {
		list = append(list, p.tableElement())
		if !p.accept(tComma) {
			return list
		}
	}
}

// tableElement parses one column, key or check.
func (p *parser) tableElement() TableElement {
	if p.isIdent() {
		return p.columnDef()
	}
	if !p.startsKey() {
		p.fail()
	}
	if k, c := p.constraint(); k != nil {
		return k
	} else {
		return c
	}
}

// startsKey reports whether the current token begins a key or constraint.
func (p *parser) startsKey() bool {
	switch p.tok.kw {
	case kwConstraint, kwPrimary, kwUnique, kwIndex, kwKey, kwFulltext, kwSpatial, kwForeign, kwCheck:
		return true
	}
	return false
}

// constraint parses a key or a check; one of the results is nil.
func (p *parser) constraint() (*KeyDef, *CheckDef) {
	k := &KeyDef{Pos: p.pos()}
	if p.acceptKw(kwConstraint) {
		k.HasConstraint = true
		if p.isIdent() {
			k.Constraint = p.name()
		}
	}
	if p.isKw(kwCheck) {
		c := &CheckDef{Pos: k.Pos, HasConstraint: k.HasConstraint, Constraint: k.Constraint}
		p.checkBody(c)
		return nil, c
	}
	switch p.tok.kw {
	case kwPrimary:
		p.next()
		p.expectKw(kwKey)
		k.Kind = KeyPrimary
	case kwUnique:
		p.next()
		k.Kind, k.Word = KeyUnique, p.oneOf("INDEX", "KEY")
	case kwForeign:
		p.next()
		p.expectKw(kwKey)
		k.Kind = KeyForeign
	case kwFulltext:
		p.next()
		k.Kind, k.Word = KeyFulltext, p.oneOf("INDEX", "KEY")
	case kwSpatial:
		p.next()
		k.Kind, k.Word = KeySpatial, p.oneOf("INDEX", "KEY")
	default:
		if k.HasConstraint {
			p.fail()
		}
		k.Word = p.needOneOf("INDEX", "KEY")
	}
	p.keyRest(k)
	return k, nil
}

// keyRest parses the name, columns and options of a key.
func (p *parser) keyRest(k *KeyDef) {
	// A key may lack a name; USING and TYPE may then come first.
	if p.isIdent() && !(p.isWord("TYPE") && p.typeOfIndex()) {
		p.refuseEmpty(codeNoIndexName, "index")
		k.NamePos, k.Name = p.pos(), p.name()
	}
	p.keyType(k)
	k.Parts = p.keyParts()
	if k.Kind == KeyForeign {
		if !p.isKw(kwReferences) {
			p.fail()
		}
		k.Ref = p.references()
		return
	}
	k.Options = p.indexOptions()
}

// typeOfIndex reports whether TYPE, the current token, introduces an index type.
func (p *parser) typeOfIndex() bool {
	t := p.peek(1)
	return p.tokenIs(t, "BTREE") || p.tokenIs(t, "HASH") || p.tokenIs(t, "RTREE")
}

// keyType parses USING|TYPE BTREE before the columns.
func (p *parser) keyType(k *KeyDef) {
	if p.acceptKw(kwUsing) {
		k.UsingFirst = p.needOneOf("BTREE", "HASH", "RTREE")
	} else if p.isWord("TYPE") && p.typeOfIndex() {
		p.next()
		k.UsingFirst, k.TypeWord = p.needOneOf("BTREE", "HASH", "RTREE"), true
	}
}

// keyParts parses (column [(n)] [ASC|DESC], (expr), ...).
func (p *parser) keyParts() []KeyPart {
	p.expect(tLParen)
	var list []KeyPart
	for {
		k := KeyPart{Length: -1}
		if p.accept(tLParen) {
			k.Expr = p.expr()
			p.expect(tRParen)
		} else {
			k.Column = p.ident()
			if p.accept(tLParen) {
				k.Length = p.smallNumber()
				p.expect(tRParen)
			}
		}
		k.Order = p.direction()
		list = append(list, k)
		if !p.accept(tComma) {
			break
		}
	}
	p.expect(tRParen)
	return list
}

// indexOptions parses the options after an index's columns.
func (p *parser) indexOptions() []IndexOption {
	var list []IndexOption
	for {
		o := IndexOption{Kind: p.oneOf("USING", "KEY_BLOCK_SIZE", "WITH", "COMMENT", "VISIBLE", "INVISIBLE",
			"ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE", "CLUSTERED", "NONCLUSTERED", "GLOBAL")}
		if o.Kind == "" && p.isWord("TYPE") && p.typeOfIndex() {
			o.Kind = p.oneOf("TYPE")
		}
		switch o.Kind {
		case "":
			return list
		case "USING", "TYPE":
			o.Word = p.needOneOf("BTREE", "HASH", "RTREE")
		case "WITH":
			p.expectWord("PARSER")
			o.Kind, o.Word = "WITH PARSER", p.name()
		case "KEY_BLOCK_SIZE":
			o.Equals = p.accept(tEq)
			o.Value = p.wholeNumber(false)
		case "COMMENT":
			o.Value = p.stringLiteral()
		case "ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE":
			o.Equals = p.accept(tEq)
			o.Value = p.stringLiteral()
		}
		list = append(list, o)
	}
}

// createIndex parses CREATE [UNIQUE|FULLTEXT|SPATIAL] INDEX from the kind on.
func (p *parser) createIndex(pos Pos) Statement {
	s := &CreateIndex{Pos: pos}
	k := &s.Key
	k.Pos = p.pos()
	switch p.tok.kw {
	case kwUnique:
		k.Kind = KeyUnique
		p.next()
	case kwFulltext:
		k.Kind = KeyFulltext
		p.next()
	case kwSpatial:
		k.Kind = KeySpatial
		p.next()
	}
	p.expectKw(kwIndex)
	s.IfNotExists = p.ifNotExists()
	k.NamePos, k.Name = p.pos(), p.name()
	p.keyType(k)
	p.expectKw(kwOn)
	s.Table = p.objectName()
	k.Parts = p.keyParts()
	k.Options = p.indexOptions()
	s.Algorithm = p.onlineOptions()
	return s
}

// onlineOptions parses ALGORITHM and LOCK after CREATE and DROP INDEX.
func (p *parser) onlineOptions() []AlterSpec {
	var list []AlterSpec
	for p.isWord("ALGORITHM") || p.isKw(kwLock) {
		list = append(list, p.onlineOption())
	}
	return list
}

// onlineOption parses ALGORITHM [=] x or LOCK [=] x.
func (p *parser) onlineOption() AlterSpec {
	s := AlterSpec{Pos: p.pos(), Kind: AlterAlgorithm}
	if p.needOneOf("ALGORITHM", "LOCK") == "LOCK" {
		s.Kind = AlterLock
	}
	s.Equals = p.accept(tEq)
	if p.isKw(kwDefault) {
		s.Word = "DEFAULT"
		p.next()
	} else {
		pos, word := p.tok.pos, p.name()
		s.Word = toUpperASCII(word)
		switch {
		case s.Kind == AlterAlgorithm && !slices.Contains([]string{"INSTANT", "INPLACE", "COPY"}, s.Word):
			p.failWith(codeUnknownAlgorithm, pos, "Unknown ALGORITHM '"+word+"'")
		case s.Kind == AlterLock && !slices.Contains([]string{"NONE", "SHARED", "EXCLUSIVE"}, s.Word):
			p.failWith(codeUnknownLock, pos, "Unknown LOCK type '"+word+"'")
		}
	}
	return s
}

// dropIndex parses DROP INDEX; the current token is INDEX.
func (p *parser) dropIndex(pos Pos) Statement {
	p.next()
	s := &DropIndex{Pos: pos, IfExists: p.ifExists()}
	s.Name = p.indexName()
	p.expectKw(kwOn)
	s.Table = p.objectName()
	s.Algorithm = p.onlineOptions()
	return s
}

// dropTable parses DROP [TEMPORARY] TABLE; the current token is TABLE or TABLES.
func (p *parser) dropTable(pos Pos, temporary bool) Statement {
	s := &DropTable{Pos: pos, Temporary: temporary}
	s.Plural = p.needOneOf("TABLE", "TABLES") == "TABLES"
	s.IfExists = p.ifExists()
	s.Tables = p.objectNames()
	s.Behaviour = p.oneOf("RESTRICT", "CASCADE")
	return s
}

// truncate parses TRUNCATE [TABLE] t.
func (p *parser) truncate() Statement {
	s := &TruncateTable{Pos: Pos(p.next().pos), Word: p.acceptKw(kwTable)}
	s.Table = p.objectName()
	return s
}
