package syntax

// createDatabase parses CREATE DATABASE; the current token is DATABASE or SCHEMA.
func (p *parser) createDatabase(pos Pos) Statement {
	s := &CreateDatabase{Pos: pos, Schema: p.next().kw == kwSchema}
	s.IfNotExists = p.ifNotExists()
	p.refuseEmpty(codeNoDatabaseName, "database")
	s.Name = p.ident()
	s.Options = p.databaseOptions()
	return s
}

// alterDatabase parses ALTER DATABASE; the current token is DATABASE or SCHEMA.
func (p *parser) alterDatabase(pos Pos) Statement {
	s := &AlterDatabase{Pos: pos, Schema: p.next().kw == kwSchema}
	if p.isIdent() && !p.isDatabaseOption() {
		s.Name = p.ident()
	}
	if s.Options = p.databaseOptions(); len(s.Options) == 0 {
		p.fail()
	}
	return s
}

// isDatabaseOption reports whether a word that could be a name begins an option.
func (p *parser) isDatabaseOption() bool {
	if !p.isWord("CHARSET") && !p.isWord("ENCRYPTION") {
		return false
	}
	k := p.peek(1)
	return k.kind == tEq || k.kind == tString || k.kind == tWord && k.kw == kwNone
}

// databaseOptions parses the options of CREATE and ALTER DATABASE.
func (p *parser) databaseOptions() []DatabaseOption {
	var list []DatabaseOption
	for {
		o := DatabaseOption{Default: p.acceptKw(kwDefault)}
		switch o.Kind = p.charsetWord(); {
		case o.Kind != "":
			o.Equals = p.accept(tEq)
			o.IsStr = p.is(tString)
			o.Value = p.charset(p.wordOrDefault())
		case p.acceptKw(kwCollate):
			o.Kind, o.Equals = "COLLATE", p.accept(tEq)
			o.IsStr = p.is(tString)
			o.Value = p.collation(p.wordOrDefault())
		case p.acceptWord("ENCRYPTION"):
			o.Kind, o.Equals, o.IsStr = "ENCRYPTION", p.accept(tEq), true
			o.Value = p.stringLiteral().Value
		case !o.Default && p.acceptWords("READ", "ONLY"):
			o.Kind, o.Equals = "READ ONLY", p.accept(tEq)
			if p.acceptKw(kwDefault) {
				o.Value = "DEFAULT"
			} else {
				o.Value = p.text(p.expect(tInt))
			}
		case o.Default:
			p.fail()
		default:
			return list
		}
		list = append(list, o)
	}
}

// dropDatabase parses DROP DATABASE; the current token is DATABASE or SCHEMA.
func (p *parser) dropDatabase(pos Pos) Statement {
	s := &DropDatabase{Pos: pos, Schema: p.next().kw == kwSchema}
	s.IfExists = p.ifExists()
	s.Name = p.ident()
	return s
}

// rename parses RENAME TABLE and RENAME USER.
func (p *parser) rename() Statement {
	pos := Pos(p.next().pos)
	if p.acceptWord("USER") {
		s := &RenameUser{Pos: pos}
		for {
			pair := AccountPair{From: p.account()}
			p.expectKw(kwTo)
			pair.To = p.account()
			s.Pairs = append(s.Pairs, pair)
			if !p.accept(tComma) {
				return s
			}
		}
	}
	s := &RenameTable{Pos: pos, Plural: p.needOneOf("TABLE", "TABLES") == "TABLES"}
	for {
		pair := RenamePair{From: p.objectName()}
		p.expectKw(kwTo)
		pair.To = p.objectName()
		s.Pairs = append(s.Pairs, pair)
		if !p.accept(tComma) {
			return s
		}
	}
}

// maintenance parses ANALYZE, CHECK, OPTIMIZE, REPAIR and CHECKSUM TABLE.
func (p *parser) maintenance() Statement {
	s := &TableMaintenance{Pos: p.pos()}
	s.Verb = p.needOneOf("ANALYZE", "CHECK", "OPTIMIZE", "REPAIR", "CHECKSUM")
	if s.Verb != "CHECK" && s.Verb != "CHECKSUM" {
		s.NoWrite = p.noWrite()
	}
	s.Plural = p.needOneOf("TABLE", "TABLES") == "TABLES"
	s.Tables = p.objectNames()
	if s.Verb == "ANALYZE" {
		p.analyzeRest(s)
		return s
	}
	for s.Verb != "OPTIMIZE" {
		if s.Verb == "CHECK" && p.acceptWords("FOR", "UPGRADE") {
			s.Options = append(s.Options, "FOR UPGRADE")
			continue
		}
		w := p.oneOf("QUICK", "FAST", "MEDIUM", "EXTENDED", "CHANGED", "USE_FRM")
		if w == "" {
			break
		}
		s.Options = append(s.Options, w)
	}
	return s
}

// analyzeRest parses the histogram clauses of MySQL and the partition and
// index clauses of TiDB.
func (p *parser) analyzeRest(s *TableMaintenance) {
	switch {
	case p.isKw(kwUpdate) || p.isKw(kwDrop):
		s.Histogram = p.oneOf("UPDATE", "DROP")
		p.expectWord("HISTOGRAM", "ON")
		s.Columns = p.identList()
		if s.Histogram == "DROP" {
			return
		}
		if p.acceptKw(kwWith) {
			s.Buckets = p.number()
			p.expectWord("BUCKETS")
		}
		if p.acceptKw(kwUsing) {
			p.expectWord("DATA")
			s.Data = p.stringLiteral()
		}
		if w := p.oneOf("AUTO", "MANUAL"); w != "" {
			p.expectKw(kwUpdate)
			s.AutoUpdate = w + " UPDATE"
		}
	case p.acceptKw(kwPartition):
		s.Partitions = p.identList()
	}
	if p.acceptKw(kwIndex) {
		s.Index = true
		if p.isIdent() {
			s.Indexes = p.identList()
		}
	}
}

// kill parses KILL [CONNECTION|QUERY] id.
func (p *parser) kill() Statement {
	s := &Kill{Pos: Pos(p.next().pos)}
	s.TiDB = p.acceptWord("TIDB")
	s.Word = p.oneOf("CONNECTION", "QUERY")
	s.ID = p.expr()
	return s
}

// flushItems are the words that FLUSH accepts beside TABLES, joined by spaces.
var flushItems = [][]string{
	{"BINARY", "LOGS"}, {"ENGINE", "LOGS"}, {"ERROR", "LOGS"}, {"GENERAL", "LOGS"}, {"SLOW", "LOGS"},
	{"RELAY", "LOGS"}, {"LOGS"}, {"HOSTS"}, {"PRIVILEGES"}, {"OPTIMIZER_COSTS"}, {"STATUS"},
	{"USER_RESOURCES"}, {"RESOURCES"}, {"QUERY", "CACHE"},
}

// flush parses FLUSH.
func (p *parser) flush() Statement {
	s := &Flush{Pos: Pos(p.next().pos), NoWrite: p.noWrite()}
	if s.Word = p.oneOf("TABLES", "TABLE"); s.Word != "" {
		s.IsTables = true
		if p.isIdent() {
			s.Tables = p.objectNames()
		}
		switch {
		case p.acceptWords("WITH", "READ", "LOCK"):
			s.Lock = "WITH READ LOCK"
		case p.isKw(kwFor) && s.Tables != nil:
			p.expectWord("FOR", "EXPORT")
			s.Lock = "FOR EXPORT"
		}
		return s
	}
	for {
		s.Items = append(s.Items, p.flushItem())
		if s.Items[len(s.Items)-1] == "RELAY LOGS" && p.acceptWords("FOR", "CHANNEL") {
			s.Channel = p.stringLiteral()
			return s
		}
		if !p.accept(tComma) {
			return s
		}
	}
}

// flushItem parses one word group of FLUSH.
func (p *parser) flushItem() string {
	for _, words := range flushItems {
		if p.acceptWords(words...) {
			if len(words) == 1 {
				return words[0]
			}
			return words[0] + " " + words[1]
		}
	}
	p.fail()
	return ""
}

// prepare parses PREPARE name FROM text.
func (p *parser) prepare() Statement {
	s := &Prepare{Pos: Pos(p.next().pos), Name: p.ident()}
	p.expectKw(kwFrom)
	if p.is(tUserVar) {
		s.Var = userVarName(p.sql, p.next(), p.lex.escapes)
	} else {
		s.Text = p.stringLiteral()
	}
	return s
}

// execute parses EXECUTE name [USING @a, @b].
func (p *parser) execute() Statement {
	s := &Execute{Pos: Pos(p.next().pos), Name: p.ident()}
	if p.acceptKw(kwUsing) {
		for {
			s.Using = append(s.Using, userVarName(p.sql, p.expect(tUserVar), p.lex.escapes))
			if !p.accept(tComma) {
				break
			}
		}
	}
	return s
}

// deallocate parses what follows DEALLOCATE or DROP, at PREPARE.
func (p *parser) deallocate(pos Pos, drop bool) Statement {
	p.expectWord("PREPARE")
	return &Deallocate{Pos: pos, Drop: drop, Name: p.ident()}
}

// lock parses LOCK TABLES and LOCK INSTANCE.
func (p *parser) lock() Statement {
	if p.tokenIs(p.peek(1), "INSTANCE") {
		return p.loose(p.pos(), "LOCK INSTANCE")
	}
	s := &LockTables{Pos: Pos(p.next().pos)}
	s.Plural = p.needOneOf("TABLE", "TABLES") == "TABLES"
	for {
		i := LockItem{Table: p.objectName()}
		i.As = p.isKw(kwAs)
		i.Alias = p.tableAlias()
		switch i.Mode = p.needOneOf("READ", "WRITE", "LOW_PRIORITY"); i.Mode {
		case "READ":
			if p.acceptWord("LOCAL") {
				i.Mode = "READ LOCAL"
			}
		case "LOW_PRIORITY":
			p.expectKw(kwWrite)
			i.Mode = "LOW_PRIORITY WRITE"
		}
		s.Items = append(s.Items, i)
		if !p.accept(tComma) {
			return s
		}
	}
}

// unlock parses UNLOCK TABLES and UNLOCK INSTANCE.
func (p *parser) unlock() Statement {
	if p.tokenIs(p.peek(1), "INSTANCE") {
		return p.loose(p.pos(), "UNLOCK INSTANCE")
	}
	s := &UnlockTables{Pos: Pos(p.next().pos)}
	s.Plural = p.needOneOf("TABLE", "TABLES") == "TABLES"
	return s
}
