package syntax

// statement parses one statement by its first word.
func (p *parser) statement() Statement {
	switch p.tok.kw {
	case kwSelect, kwTable, kwValues:
		return p.query()
	case kwWith:
		return p.withStatement()
	case kwInsert, kwReplace:
		return p.insert()
	case kwUpdate:
		return p.update(nil)
	case kwDelete:
		return p.delete(nil)
	case kwSet:
		return p.set()
	case kwShow:
		return p.show()
	case kwCreate:
		return p.create()
	case kwAlter:
		return p.alter()
	case kwDrop:
		return p.drop()
	case kwNone:
		if p.tok.kind == tLParen {
			return p.query()
		}
		return p.wordStatement()
	}
	return p.keywordStatement()
}

// keywordStatement parses the rarer statements that begin with a reserved word.
func (p *parser) keywordStatement() Statement {
	switch p.tok.kw {
	case kwUse:
		pos := Pos(p.next().pos)
		return &Use{Pos: pos, Name: p.ident()}
	case kwExplain, kwDescribe, kwDesc:
		return p.explain()
	case kwRename:
		return p.rename()
	case kwAnalyze, kwCheck, kwOptimize:
		return p.maintenance()
	case kwKill:
		return p.kill()
	case kwLock:
		return p.lock()
	case kwUnlock:
		return p.unlock()
	case kwGrant, kwRevoke:
		return p.grant()
	case kwCall:
		return p.call()
	case kwRelease:
		pos := Pos(p.next().pos)
		p.expectWord("SAVEPOINT")
		return &ReleaseSavepoint{Pos: pos, Name: p.ident()}
	case kwLoad:
		if p.peek(1).kw == kwIndex {
			return p.loose(p.pos(), "LOAD INDEX")
		}
		return p.loadData()
	}
	return p.looseStatement()
}

// wordStatement parses the statements whose first word is not reserved.
func (p *parser) wordStatement() Statement {
	if p.tok.kind != tWord {
		p.fail()
	}
	pos := p.pos()
	switch {
	case p.isWord("BEGIN"):
		return p.begin()
	case p.isWord("COMMIT"):
		return p.commit()
	case p.isWord("ROLLBACK"):
		return p.rollback()
	case p.isWords("START", "TRANSACTION"):
		return p.startTransaction()
	case p.acceptWord("SAVEPOINT"):
		return &Savepoint{Pos: pos, Name: p.ident()}
	case p.isWord("TRUNCATE"):
		return p.truncate()
	case p.isWord("REPAIR"), p.isWord("CHECKSUM"):
		return p.maintenance()
	case p.isWord("FLUSH"):
		return p.flush()
	case p.isWord("PREPARE"):
		return p.prepare()
	case p.isWord("EXECUTE"):
		return p.execute()
	case p.acceptWord("DEALLOCATE"):
		return p.deallocate(pos, false)
	case p.isWord("DO"):
		return p.do()
	}
	return p.looseStatement()
}

// withStatement parses a statement that begins with WITH.
func (p *parser) withStatement() Statement {
	m := p.mark()
	p.enter()
	w := p.with()
	p.leave()
	switch p.tok.kw {
	case kwUpdate:
		return p.update(w)
	case kwDelete:
		return p.delete(w)
	}
	// A query: WITH is parsed a second time so that only the method query builds queries.
	p.reset(&m)
	return p.query()
}

// create parses what follows CREATE.
func (p *parser) create() Statement {
	pos := Pos(p.next().pos)
	switch p.tok.kw {
	case kwTable:
		return p.createTable(pos, false)
	case kwDatabase, kwSchema:
		return p.createDatabase(pos)
	case kwUnique, kwFulltext, kwIndex:
		return p.createIndex(pos)
	case kwSpatial:
		if p.peek(1).kw == kwIndex {
			return p.createIndex(pos)
		}
		return p.loose(pos, "CREATE")
	case kwUndo:
		return p.loose(pos, "CREATE")
	case kwOr:
		if p.tokenIs(p.peek(2), "SPATIAL") {
			return p.loose(pos, "CREATE")
		}
	case kwNone:
		switch {
		case p.isWords("TEMPORARY", "TABLE"):
			p.next()
			return p.createTable(pos, true)
		case p.isWord("USER"):
			return p.createUser(pos, false)
		case p.isWord("ROLE"):
			return p.createRole(pos)
		case looseHas("CREATE", p.text(p.tok)):
			return p.loose(pos, "CREATE")
		}
	}
	return p.createProgram(pos, false)
}

// alter parses what follows ALTER.
func (p *parser) alter() Statement {
	pos := Pos(p.next().pos)
	switch p.tok.kw {
	case kwTable:
		return p.alterTable(pos)
	case kwDatabase, kwSchema:
		return p.alterDatabase(pos)
	case kwUndo:
		return p.loose(pos, "ALTER")
	case kwNone:
		if p.isWord("USER") {
			return p.createUser(pos, true)
		}
		if looseHas("ALTER", p.text(p.tok)) {
			return p.loose(pos, "ALTER")
		}
	}
	return p.createProgram(pos, true)
}

// drop parses what follows DROP.
func (p *parser) drop() Statement {
	pos := Pos(p.next().pos)
	switch p.tok.kw {
	case kwTable:
		return p.dropTable(pos, false)
	case kwDatabase, kwSchema:
		return p.dropDatabase(pos)
	case kwIndex:
		return p.dropIndex(pos)
	case kwTrigger, kwProcedure, kwFunction:
		return p.dropObjects(pos)
	}
	switch {
	case p.isWord("TABLES"):
		return p.dropTable(pos, false)
	case p.acceptWord("TEMPORARY"):
		return p.dropTable(pos, true)
	case p.isWord("VIEW"), p.isWord("EVENT"):
		return p.dropObjects(pos)
	case p.isWord("USER"), p.isWord("ROLE"):
		return p.dropUser(pos)
	case p.isWord("PREPARE"):
		return p.deallocate(pos, true)
	}
	return p.loose(pos, "DROP")
}
