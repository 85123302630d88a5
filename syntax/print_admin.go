package syntax

// admin appends a statement on transactions, variables and metadata, or
// returns false.
func (p *printer) admin(s Statement) bool {
	switch s := s.(type) {
	case *Begin:
		p.begin(s)
	case *Commit:
		p.k("COMMIT")
		p.when(s.Work, "WORK")
		p.k(s.End.Chain, s.End.Release)
	case *Rollback:
		p.k("ROLLBACK")
		p.when(s.Work, "WORK")
		if s.ToSavepoint {
			p.k("TO")
			p.when(s.SavepointWord, "SAVEPOINT")
			p.id(s.Savepoint.Name)
		}
		p.k(s.End.Chain, s.End.Release)
	case *Savepoint:
		p.k("SAVEPOINT")
		p.id(s.Name.Name)
	case *ReleaseSavepoint:
		p.k("RELEASE SAVEPOINT")
		p.id(s.Name.Name)
	case *Set:
		p.k("SET")
		p.list(len(s.Items), func(i int) { p.setItem(s.Items[i]) })
	case *SetTransaction:
		p.k("SET", scopeText[s.Scope], "TRANSACTION")
		p.list(len(s.Modes), func(i int) { p.k(s.Modes[i]) })
	case *Show:
		p.show(s)
	case *Explain:
		p.explain(s)
	case *Describe:
		p.k(s.Word)
		p.object(s.Table)
		p.optID(s.Column)
		p.optLit("", s.Pattern)
	case *TableMaintenance:
		p.maintenance(s)
	default:
		return p.sessionControl(s)
	}
	return true
}

// sessionControl appends the statements on connections, prepared statements
// and table locks, or returns false.
func (p *printer) sessionControl(s Statement) bool {
	switch s := s.(type) {
	case *Kill:
		p.k("KILL")
		p.when(s.TiDB, "TIDB")
		p.k(s.Word)
		p.expr(s.ID)
	case *Flush:
		p.flush(s)
	case *Prepare:
		p.k("PREPARE")
		p.id(s.Name.Name)
		p.optLit("FROM", s.Text)
		if s.Text == nil {
			p.k("FROM")
			p.userVar(s.Var)
		}
	case *Execute:
		p.k("EXECUTE")
		p.id(s.Name.Name)
		p.when(s.Using != nil, "USING")
		p.list(len(s.Using), func(i int) { p.userVar(s.Using[i]) })
	case *Deallocate:
		if s.Drop {
			p.k("DROP PREPARE")
		} else {
			p.k("DEALLOCATE PREPARE")
		}
		p.id(s.Name.Name)
	case *LockTables:
		p.k("LOCK", tableWord(s.Plural))
		p.list(len(s.Items), func(i int) {
			p.object(s.Items[i].Table)
			p.alias(s.Items[i].Alias)
			p.k(s.Items[i].Mode)
		})
	case *UnlockTables:
		p.k("UNLOCK", tableWord(s.Plural))
	default:
		return false
	}
	return true
}

// begin appends BEGIN and START TRANSACTION.
func (p *printer) begin(s *Begin) {
	if !s.Start {
		p.k("BEGIN")
		p.when(s.Work, "WORK")
		p.k(s.Modes...)
		return
	}
	p.k("START TRANSACTION")
	p.list(len(s.Modes), func(i int) { p.k(s.Modes[i]) })
}

// assign appends = or :=.
func (p *printer) assign(colon bool) {
	if colon {
		p.k(":=")
	} else {
		p.k("=")
	}
}

// setItem appends one assignment of SET.
func (p *printer) setItem(s SetItem) {
	switch s := s.(type) {
	case *SetVar:
		if s.AtAt {
			p.k("@@")
			if s.Scope != ScopeDefault {
				p.raw(scopeText[s.Scope])
				p.raw(".")
			}
			p.varName(s.Prefix, s.Name)
		} else {
			p.k(scopeText[s.Scope])
			p.varName(s.Prefix, s.Name)
		}
		p.assign(s.Assign)
		p.expr(s.Value)
	case *SetUserVar:
		p.userVar(s.Name)
		p.assign(s.Assign)
		p.expr(s.Value)
	case *SetNames:
		p.k("NAMES")
		p.when(s.Default, "DEFAULT")
		if s.Charset != "" {
			p.charset(s.Charset)
		}
		if s.Collate != "" {
			p.k("COLLATE")
			p.charset(s.Collate)
		}
	case *SetCharset:
		p.k(s.Word)
		if s.Default {
			p.k("DEFAULT")
		} else {
			p.charset(s.Charset)
		}
	}
}

// show appends SHOW.
func (p *printer) show(s *Show) {
	p.k("SHOW")
	p.when(s.Count, "COUNT(*)")
	p.when(s.Storage, "STORAGE")
	p.when(s.Extended, "EXTENDED")
	p.when(s.Full, "FULL")
	p.k(scopeText[s.Scope])
	switch {
	case s.Rest != nil:
		p.loose(s.Rest)
		return
	case s.Kind == ShowEngine:
		p.k("ENGINE")
		p.charsetOrAll(s.Name.Name)
		p.k(s.What)
		return
	case s.Kind == ShowCreateDB:
		p.k("CREATE", s.Word)
		p.when(s.IfNotExists, "IF NOT EXISTS")
		p.id(s.Name.Name)
		return
	case s.Word != "" && s.Name.Name == "" && s.User == nil:
		p.k(s.Word)
	default:
		p.k(string(s.Kind))
	}
	if s.Name.Name != "" {
		p.object(s.Name)
	}
	if s.User != nil {
		p.when(s.Kind == ShowGrants, "FOR")
		p.account(*s.User)
	}
	if s.Using != nil {
		p.k("USING")
		p.accounts(s.Using)
	}
	if s.Table.Name != "" {
		p.k(fromWord(s.TableIn))
		p.object(s.Table)
	}
	if s.From != "" {
		p.k(fromWord(s.FromIn))
		p.id(s.From)
	}
	p.limit(s.Limit)
	p.optLit("LIKE", s.Like)
	p.optExpr("WHERE", s.Where)
}

// charsetOrAll appends the name of an engine, or ALL.
func (p *printer) charsetOrAll(name string) {
	if foldEqual(name, "ALL") {
		p.k("ALL")
		return
	}
	p.id(name)
}

// fromWord is IN or FROM.
func fromWord(in bool) string {
	if in {
		return "IN"
	}
	return "FROM"
}

// explain appends EXPLAIN.
func (p *printer) explain(s *Explain) {
	p.k(s.Word)
	p.when(s.Analyze, "ANALYZE")
	p.when(s.Extended, "EXTENDED")
	p.when(s.Partitions, "PARTITIONS")
	if s.Format != "" {
		p.k("FORMAT =")
		if s.FormatStr {
			p.str(s.Format)
		} else {
			p.k(s.Format)
		}
	}
	if s.Into != "" {
		p.k("INTO")
		p.userVar(s.Into)
	}
	if s.Schema != "" {
		p.k("FOR SCHEMA")
		p.id(s.Schema)
	}
	p.optLit("FOR CONNECTION", s.Connection)
	if s.Stmt != nil {
		p.statement(s.Stmt)
	}
}

// maintenance appends ANALYZE, CHECK, OPTIMIZE, REPAIR and CHECKSUM TABLE.
func (p *printer) maintenance(s *TableMaintenance) {
	p.k(s.Verb, s.NoWrite, tableWord(s.Plural))
	p.objects(s.Tables)
	p.k(s.Options...)
	if s.Histogram != "" {
		p.k(s.Histogram, "HISTOGRAM ON")
		p.idents(s.Columns)
	}
	if s.Buckets != nil {
		p.optLit("WITH", s.Buckets)
		p.k("BUCKETS")
	}
	p.optLit("USING DATA", s.Data)
	p.k(s.AutoUpdate)
	if s.Partitions != nil {
		p.k("PARTITION")
		p.idents(s.Partitions)
	}
	p.when(s.Index, "INDEX")
	p.idents(s.Indexes)
}

// flush appends FLUSH.
func (p *printer) flush(s *Flush) {
	p.k("FLUSH", s.NoWrite)
	if s.IsTables {
		p.k(s.Word)
		p.objects(s.Tables)
		p.k(s.Lock)
		return
	}
	p.list(len(s.Items), func(i int) { p.k(s.Items[i]) })
	p.optLit("FOR CHANNEL", s.Channel)
}
