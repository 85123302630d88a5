package syntax

// showPlain lists the kinds of SHOW that are words followed by LIKE or WHERE.
var showPlain = []ShowKind{
	"DATABASES", "SCHEMAS", "PROCESSLIST", "ENGINES", "CHARSET", "COLLATION", "PRIVILEGES", "PLUGINS",
	"PROFILES", "VARIABLES", "STATUS", "WARNINGS", "ERRORS",
}

// show parses SHOW.
func (p *parser) show() Statement {
	s := &Show{Pos: Pos(p.next().pos)}
	switch {
	case p.isKw(kwCreate):
		p.next()
		return p.showCreate(s)
	case p.isWord("COUNT") && p.peek(1).kind == tLParen:
		p.next()
		p.next()
		p.expect(tStar)
		p.expect(tRParen)
		s.Count = true
		s.Kind = ShowKind(p.needOneOf("WARNINGS", "ERRORS"))
		return s
	case p.isKw(kwGrant) || p.isWord("GRANTS"):
		p.expectWord("GRANTS")
		return p.showGrants(s)
	case p.isWord("PROFILE") || p.isWord("ENGINE"):
		return p.showEngine(s)
	case p.isWords("STORAGE", "ENGINES"):
		p.next()
		s.Storage = true
	}
	if !s.Storage {
		s.Extended = p.acceptWord("EXTENDED")
		s.Full = p.acceptWord("FULL")
	}
	if !s.Full && !s.Extended && !s.Storage {
		s.Scope = p.scopeWord()
	}
	if p.showObject(s) || p.showRoutine(s) {
		return s
	}
	kind := ""
	for _, k := range showPlain {
		if kind = p.oneOf(string(k)); kind != "" {
			break
		}
	}
	if kind == "" && p.acceptWords("CHARACTER", "SET") {
		kind = "CHARACTER SET"
	}
	if kind == "" && !s.Full && !s.Extended && s.Scope == ScopeDefault {
		return p.loose(s.Pos, "SHOW")
	}
	p.showPlainKind(s, kind)
	return s
}

// showPlainKind finishes a kind of showPlain.
func (p *parser) showPlainKind(s *Show, kind string) {
	s.Word, s.Kind = kind, ShowKind(kind)
	switch kind {
	case "":
		p.fail()
	case "SCHEMAS":
		s.Kind = ShowDatabases
	case "CHARSET":
		s.Kind = ShowCharset
	case "WARNINGS", "ERRORS":
		if p.isKw(kwLimit) {
			s.Limit = p.limit()
		}
		return
	case "PROCESSLIST", "ENGINES", "PRIVILEGES", "PLUGINS", "PROFILES":
		if kind == "PROFILES" {
			p.instead("SHOW PROFILES", "Performance Schema")
		}
		return
	}
	p.likeOrWhere(s)
}

// likeOrWhere parses the filter of SHOW.
func (p *parser) likeOrWhere(s *Show) {
	switch {
	case p.acceptKw(kwLike):
		s.Like = p.stringLiteral()
	case p.acceptKw(kwWhere):
		s.Where = p.expr()
	}
}

// fromSchema parses [FROM|IN schema].
func (p *parser) fromSchema(s *Show) {
	if w := p.oneOf("FROM", "IN"); w != "" {
		s.FromIn = w == "IN"
		s.From = p.name()
	}
}

// showObject parses the kinds that name a schema or a table, or returns false.
func (p *parser) showObject(s *Show) bool {
	switch {
	case p.isWords("TABLE", "STATUS"), p.isWords("OPEN", "TABLES"):
		s.Kind = ShowTableStatus
		if p.next().kw != kwTable {
			s.Kind = ShowOpenTables
		}
		p.next()
	case p.isWord("TABLES"), p.isWord("TRIGGERS"), p.isWord("EVENTS"):
		s.Kind = ShowKind(p.oneOf("TABLES", "TRIGGERS", "EVENTS"))
	case p.isWord("COLUMNS"), p.isWord("FIELDS"), p.isWord("INDEX"), p.isWord("INDEXES"), p.isWord("KEYS"):
		s.Word = p.oneOf("COLUMNS", "FIELDS", "INDEX", "INDEXES", "KEYS")
		s.Kind = ShowColumns
		if s.Word != "COLUMNS" && s.Word != "FIELDS" {
			s.Kind = ShowIndex
		}
		s.TableIn = p.needOneOf("FROM", "IN") == "IN"
		s.Table = p.objectName()
	default:
		return false
	}
	p.fromSchema(s)
	p.likeOrWhere(s)
	return true
}

// showRoutine parses PROCEDURE|FUNCTION STATUS|CODE, or returns false.
func (p *parser) showRoutine(s *Show) bool {
	if !p.isKw(kwProcedure) && !p.isKw(kwFunction) {
		return false
	}
	kind := p.oneOf("PROCEDURE", "FUNCTION")
	what := p.needOneOf("STATUS", "CODE")
	s.Kind = ShowKind(kind + " " + what)
	if what == "CODE" {
		s.Name = p.objectName()
	} else {
		p.likeOrWhere(s)
	}
	return true
}

// showCreate parses what follows SHOW CREATE.
func (p *parser) showCreate(s *Show) Statement {
	w := p.needOneOf("DATABASE", "SCHEMA", "TABLE", "VIEW", "PROCEDURE", "FUNCTION", "TRIGGER", "EVENT", "USER")
	s.Word = w
	s.Kind = ShowKind("CREATE " + w)
	switch w {
	case "DATABASE", "SCHEMA":
		s.Kind = ShowCreateDB
		s.IfNotExists = p.ifNotExists()
		s.Name = ObjectName{Pos: p.pos(), Name: p.name()}
	case "USER":
		a := p.account()
		s.User = &a
	default:
		s.Name = p.objectName()
	}
	return s
}

// showGrants parses what follows SHOW GRANTS.
func (p *parser) showGrants(s *Show) Statement {
	s.Kind = ShowGrants
	if p.acceptKw(kwFor) {
		a := p.account()
		s.User = &a
		if p.acceptKw(kwUsing) {
			s.Using = p.accounts()
		}
	}
	return s
}

// showEngine parses SHOW ENGINE name what, and SHOW PROFILE.
func (p *parser) showEngine(s *Show) Statement {
	if p.isWord("PROFILE") {
		s.Kind = ShowProfile
		p.instead("SHOW PROFILE", "Performance Schema")
		s.Rest = p.loose(p.pos(), "PROFILE")
		return s
	}
	p.next()
	s.Kind = ShowEngine
	s.Name = ObjectName{Pos: p.pos()}
	if p.isKw(kwAll) {
		s.Name.Name = p.text(p.next())
	} else {
		s.Name.Name = p.nameOrString()
	}
	s.What = p.needOneOf("STATUS", "MUTEX", "LOGS")
	return s
}

// explain parses EXPLAIN, DESCRIBE and DESC.
func (p *parser) explain() Statement {
	pos := p.pos()
	word := p.oneOf("EXPLAIN", "DESCRIBE", "DESC")
	e := &Explain{Pos: pos, Word: word}
	for {
		switch {
		case p.isWord("ANALYZE"):
			p.next()
			e.Analyze = true
			continue
		case p.isWord("EXTENDED") && !p.endsAfter():
			p.next()
			e.Extended = true
			continue
		case p.isWord("PARTITIONS") && !p.endsAfter():
			p.next()
			e.Partitions = true
			continue
		case p.isWord("FORMAT") && p.peek(1).kind == tEq:
			p.next()
			p.next()
			e.FormatStr = p.is(tString)
			e.Format = p.nameOrString()
			continue
		case p.isKw(kwInto):
			p.next()
			e.Into = userVarName(p.sql, p.expect(tUserVar), p.lex.escapes)
			continue
		}
		break
	}
	if p.isKw(kwFor) {
		p.next()
		if w := p.oneOf("SCHEMA", "DATABASE"); w != "" {
			e.Schema = p.name()
		} else {
			p.expectWord("CONNECTION")
			e.Connection = p.number()
			return e
		}
	}
	if p.isIdent() && !e.Analyze && e.Format == "" {
		return p.describe(pos, word)
	}
	e.Stmt = p.explainable()
	return e
}

// endsAfter reports whether the statement ends after the current token, which is
// then the name of a table.
func (p *parser) endsAfter() bool {
	k := p.peek(1).kind
	return k == tEOF || k == tSemi
}

// explainable parses the statements that EXPLAIN accepts.
func (p *parser) explainable() Statement {
	switch p.tok.kw {
	case kwSelect, kwWith, kwInsert, kwReplace, kwUpdate, kwDelete, kwTable, kwValues:
		return p.statement()
	}
	if p.is(tLParen) {
		return p.statement()
	}
	p.fail()
	return nil
}

// describe parses DESCRIBE table [column|'pattern'].
func (p *parser) describe(pos Pos, word string) Statement {
	d := &Describe{Pos: pos, Word: word, Table: p.objectName()}
	switch {
	case p.is(tString):
		d.Pattern = p.stringLiteral()
	case p.isIdent():
		d.Column = p.name()
	}
	return d
}
