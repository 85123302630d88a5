package syntax

// priorityText is the spelling of statement priorities.
var priorityText = [...]string{
	PriorityDefault: "", PriorityLow: "LOW_PRIORITY", PriorityDelayed: "DELAYED", PriorityHigh: "HIGH_PRIORITY",
	PriorityConcurrent: "CONCURRENT",
}

// statement appends a statement.
func (p *printer) statement(s Statement) {
	switch s := s.(type) {
	case *Query:
		p.query(s)
	case *Insert:
		p.insert(s)
	case *Update:
		p.update(s)
	case *Delete:
		p.delete(s)
	case *LoadData:
		p.loadData(s)
	case *Call:
		p.k("CALL")
		p.object(s.Name)
		if s.Parens {
			p.parenExprs(s.Args)
		}
	case *Do:
		p.k("DO")
		p.items(s.Exprs)
	case *Loose:
		p.loose(s)
	case ProcStmt:
		p.procStatement(s)
	default:
		if !p.ddl(s) && !p.admin(s) && !p.user(s) {
			p.program(s)
		}
	}
}

// loose appends a statement kept as parts.
func (p *printer) loose(l *Loose) {
	for _, part := range l.Parts {
		switch part.Kind {
		case LooseWord:
			p.k(part.Text)
		case LoosePunct:
			if part.Text == "." {
				p.raw(".")
			} else {
				p.k(part.Text)
			}
		case LooseName:
			p.id(part.Text)
		case LooseExpr:
			p.expr(part.Expr)
		case LooseNode:
			p.node(part.Node)
		}
	}
}

// insert appends INSERT and REPLACE.
func (p *printer) insert(s *Insert) {
	if s.Replace {
		p.k("REPLACE")
	} else {
		p.k("INSERT")
	}
	p.hints(s.Hints)
	p.k(priorityText[s.Priority])
	p.when(s.Ignore, "IGNORE")
	p.when(!s.NoInto, "INTO")
	p.tableRef(&s.Table)
	if s.HasColumns {
		p.paren(len(s.Columns), func(i int) { p.column(&s.Columns[i]) })
	}
	switch {
	case s.Query != nil:
		p.query(s.Query)
	case s.Set != nil:
		p.k("SET")
		p.assignments(s.Set)
	default:
		if s.ValueWord {
			p.k("VALUE")
		} else {
			p.k("VALUES")
		}
		rows := s.Rows
		if s.Literals != nil {
			rows = s.Literals.Exprs()
		}
		p.list(len(rows), func(i int) { p.when(s.RowWord, "ROW"); p.parenExprs(rows[i]) })
	}
	if s.RowAlias != "" {
		p.alias(s.RowAlias)
		if s.ColAliases != nil {
			p.parenIdents(s.ColAliases)
		}
	}
	if s.OnDup != nil {
		p.k("ON DUPLICATE KEY UPDATE")
		p.assignments(s.OnDup)
	}
}

// assignments appends a = 1, b = 2.
func (p *printer) assignments(l []Assignment) {
	p.list(len(l), func(i int) {
		p.column(&l[i].Column)
		p.k("=")
		p.expr(l[i].Value)
	})
}

// update appends UPDATE.
func (p *printer) update(s *Update) {
	p.with(s.With)
	p.k("UPDATE")
	p.hints(s.Hints)
	p.k(priorityText[s.Priority])
	p.when(s.Ignore, "IGNORE")
	p.table(s.Tables)
	p.k("SET")
	p.assignments(s.Set)
	p.optExpr("WHERE", s.Where)
	p.orderBy(s.OrderBy)
	p.limit(s.Limit)
}

// delete appends DELETE.
func (p *printer) delete(s *Delete) {
	p.with(s.With)
	p.k("DELETE")
	p.hints(s.Hints)
	p.k(priorityText[s.Priority])
	p.when(s.Quick, "QUICK")
	p.when(s.Ignore, "IGNORE")
	if s.Targets == nil {
		p.k("FROM")
		// Unlike in FROM elsewhere, the alias precedes the partitions.
		if t, ok := s.From.(*TableRef); ok {
			p.object(ObjectName{Schema: t.Schema, Name: t.Name})
			p.alias(t.Alias)
			p.partitions(t.Partitions)
		}
	} else {
		p.when(s.Using, "FROM")
		p.list(len(s.Targets), func(i int) {
			p.object(s.Targets[i].Name)
			if s.Targets[i].Star {
				p.raw(".*")
			}
		})
		if s.Using {
			p.k("USING")
		} else {
			p.k("FROM")
		}
		p.table(s.From)
	}
	p.optExpr("WHERE", s.Where)
	p.orderBy(s.OrderBy)
	p.limit(s.Limit)
}

// loadData appends LOAD DATA and LOAD XML.
func (p *printer) loadData(s *LoadData) {
	if s.XML {
		p.k("LOAD XML")
	} else {
		p.k("LOAD DATA")
	}
	p.k(priorityText[s.Priority])
	p.when(s.Local, "LOCAL")
	p.k("INFILE")
	p.expr(s.File)
	p.k(s.OnDup, "INTO TABLE")
	p.object(s.Table)
	p.partitions(s.Partitions)
	p.fileCharset(s.Charset)
	p.optLit("ROWS IDENTIFIED BY", s.RowsBy)
	p.fileFormat(s.Format)
	if s.Skip != nil {
		p.optLit("IGNORE", s.Skip)
		if s.SkipRows {
			p.k("ROWS")
		} else {
			p.k("LINES")
		}
	}
	if s.HasColumns {
		p.k("(")
		p.targets(s.Columns)
		p.raw(")")
	}
	if s.Set != nil {
		p.k("SET")
		p.assignments(s.Set)
	}
}
