package syntax

// query appends a query expression.
func (p *printer) query(q *Query) {
	p.with(q.With)
	if s, ok := q.Body.(*Select); ok && q.IntoPlace == IntoBeforeFrom {
		p.selectBlock(s, q.Into)
	} else {
		p.body(q.Body)
	}
	p.orderBy(q.OrderBy)
	p.limit(q.Limit)
	if q.IntoPlace == IntoBeforeLock {
		p.into(q.Into)
	}
	for _, l := range q.Locks {
		p.lockClause(l)
	}
	if q.IntoPlace == IntoAtEnd {
		p.into(q.Into)
	}
}

// body appends an operand of a query expression.
func (p *printer) body(b QueryBody) {
	switch b := b.(type) {
	case *Select:
		p.selectBlock(b, nil)
	case *SetOp:
		p.body(b.Left)
		p.k([...]string{Union: "UNION", Intersect: "INTERSECT", Except: "EXCEPT"}[b.Op])
		p.k([...]string{DistinctDefault: "", DistinctAll: "ALL", Distinct: "DISTINCT"}[b.Quant])
		p.body(b.Right)
	case *ValuesRows:
		p.k("VALUES")
		p.list(len(b.Rows), func(i int) { p.k("ROW"); p.parenExprs(b.Rows[i]) })
	case *TableQuery:
		p.k("TABLE")
		p.object(b.Name)
	case *Query:
		p.k("(")
		p.query(b)
		p.raw(")")
	}
}

// with appends a WITH clause.
func (p *printer) with(w *With) {
	if w == nil {
		return
	}
	p.k("WITH")
	p.when(w.Recursive, "RECURSIVE")
	p.list(len(w.CTEs), func(i int) {
		c := &w.CTEs[i]
		p.id(c.Name.Name)
		if c.Columns != nil {
			p.parenIdents(c.Columns)
		}
		p.k("AS (")
		p.query(c.Query)
		p.raw(")")
	})
}

// hints appends an optimizer hint.
func (p *printer) hints(h string) {
	if h != "" {
		p.k("/*+" + h + "*/")
	}
}

// selectOptionText names the options of SELECT in the order they print.
var selectOptionText = []struct {
	bit  SelectOption
	text string
}{
	{SelectHighPriority, "HIGH_PRIORITY"}, {SelectStraightJoin, "STRAIGHT_JOIN"},
	{SelectSmallResult, "SQL_SMALL_RESULT"}, {SelectBigResult, "SQL_BIG_RESULT"},
	{SelectBufferResult, "SQL_BUFFER_RESULT"}, {SelectNoCache, "SQL_NO_CACHE"},
	{SelectCalcFoundRows, "SQL_CALC_FOUND_ROWS"},
}

// selectBlock appends one SELECT. into is the clause that stands before FROM.
func (p *printer) selectBlock(s *Select, into *Into) {
	p.k("SELECT")
	p.hints(s.Hints)
	p.when(s.Distinct == DistinctAll, "ALL")
	if s.Distinct == Distinct {
		if s.DistinctRow {
			p.k("DISTINCTROW")
		} else {
			p.k("DISTINCT")
		}
	}
	for _, o := range selectOptionText {
		p.when(s.Options&o.bit != 0, o.text)
	}
	p.items(s.Items)
	p.into(into)
	switch {
	case s.From != nil:
		p.k("FROM")
		p.table(s.From)
	case s.FromDual:
		p.k("FROM DUAL")
	}
	p.optExpr("WHERE", s.Where)
	if s.GroupBy != nil {
		p.k("GROUP BY")
		p.when(s.RollupFunc, "ROLLUP(")
		p.orderItems(s.GroupBy)
		if s.RollupFunc {
			p.raw(")")
		}
		p.when(s.WithRollup && !s.RollupFunc, "WITH ROLLUP")
	}
	p.optExpr("HAVING", s.Having)
	if s.Windows != nil {
		p.k("WINDOW")
		p.list(len(s.Windows), func(i int) {
			p.id(s.Windows[i].Name.Name)
			p.k("AS")
			p.windowSpec(&s.Windows[i].Spec)
		})
	}
}

// items appends a select list.
func (p *printer) items(l []SelectItem) {
	p.list(len(l), func(i int) {
		p.expr(l[i].Expr)
		if !l[i].HasAlias {
			return
		}
		p.k("AS")
		if l[i].Alias == "" {
			p.str("")
		} else {
			p.id(l[i].Alias)
		}
	})
}

// directionText is the spelling of sort directions.
var directionText = [...]string{OrderDefault: "", OrderAsc: "ASC", OrderDesc: "DESC"}

// orderItems appends sort keys.
func (p *printer) orderItems(l []OrderItem) {
	p.list(len(l), func(i int) { p.expr(l[i].Expr); p.k(directionText[l[i].Order]) })
}

// orderBy appends ORDER BY unless there are no keys.
func (p *printer) orderBy(l []OrderItem) {
	if l != nil {
		p.k("ORDER BY")
		p.orderItems(l)
	}
}

// limit appends LIMIT.
func (p *printer) limit(l *Limit) {
	if l == nil {
		return
	}
	p.k("LIMIT")
	if l.Comma {
		p.expr(l.Offset)
		p.raw(",")
		p.expr(l.Count)
		return
	}
	p.expr(l.Count)
	p.optExpr("OFFSET", l.Offset)
}

// lockClause appends a locking clause.
func (p *printer) lockClause(l LockClause) {
	switch l.Kind {
	case LockInShareMode:
		p.k("LOCK IN SHARE MODE")
	case LockForShare:
		p.k("FOR SHARE")
	default:
		p.k("FOR UPDATE")
	}
	if l.Of != nil {
		p.k("OF")
		p.objects(l.Of)
	}
	p.when(l.Wait == LockNoWait, "NOWAIT")
	p.when(l.Wait == LockSkipLocked, "SKIP LOCKED")
}

// into appends INTO.
func (p *printer) into(i *Into) {
	if i == nil {
		return
	}
	p.k("INTO")
	switch {
	case i.Dump:
		p.k("DUMPFILE")
		p.str(i.File)
	case i.IsFile:
		p.k("OUTFILE")
		p.str(i.File)
		p.fileCharset(i.Charset)
		p.fileFormat(i.Format)
	default:
		p.targets(i.Vars)
	}
}

// fileCharset appends CHARACTER SET name.
func (p *printer) fileCharset(name string) {
	if name != "" {
		p.k("CHARACTER SET")
		p.charset(name)
	}
}

// targets appends @variables and local names.
func (p *printer) targets(l []VarTarget) {
	p.list(len(l), func(i int) {
		if l[i].Local {
			p.id(l[i].Name)
		} else {
			p.userVar(l[i].Name)
		}
	})
}

// fileFormat appends FIELDS and LINES.
func (p *printer) fileFormat(f *FileFormat) {
	if f == nil {
		return
	}
	if f.HasFields {
		p.k(f.FieldsWord)
		for _, c := range f.Fields {
			p.k(c.Kind, "BY")
			p.expr(c.Value)
		}
	}
	if f.HasLinesTag {
		p.k("LINES")
		for _, c := range f.Lines {
			p.k(c.Kind, "BY")
			p.expr(c.Value)
		}
	}
}

// over appends OVER.
func (p *printer) over(o *Over) {
	if o == nil {
		return
	}
	p.k("OVER")
	if o.Spec == nil {
		p.id(o.Name)
		return
	}
	p.windowSpec(o.Spec)
}

// windowSpec appends a parenthesised window.
func (p *printer) windowSpec(w *WindowSpec) {
	p.k("(")
	p.optID(w.Base)
	if w.PartitionBy != nil {
		p.k("PARTITION BY")
		p.exprs(w.PartitionBy)
	}
	p.orderBy(w.OrderBy)
	if f := w.Frame; f != nil {
		p.k([...]string{FrameRows: "ROWS", FrameRange: "RANGE", FrameGroups: "GROUPS"}[f.Unit])
		p.when(f.End != nil, "BETWEEN")
		p.frameBound(&f.Start)
		if f.End != nil {
			p.k("AND")
			p.frameBound(f.End)
		}
		if f.Exclusion != "" {
			p.k("EXCLUDE", f.Exclusion)
		}
	}
	p.raw(")")
}

// frameBound appends one end of a frame.
func (p *printer) frameBound(b *FrameBound) {
	p.optExpr("", b.Value)
	p.k([...]string{
		CurrentRow: "CURRENT ROW", UnboundedPreceding: "UNBOUNDED PRECEDING",
		UnboundedFollowing: "UNBOUNDED FOLLOWING", ValuePreceding: "PRECEDING", ValueFollowing: "FOLLOWING",
	}[b.Kind])
}

// joinText is the spelling of joins, without OUTER.
var joinText = [...]string{
	JoinPlain: "JOIN", JoinInner: "INNER JOIN", JoinCross: "CROSS JOIN", JoinStraight: "STRAIGHT_JOIN",
	JoinLeft: "LEFT JOIN", JoinRight: "RIGHT JOIN", JoinNaturalPlain: "NATURAL JOIN",
	JoinNaturalInner: "NATURAL INNER JOIN", JoinNaturalLeft: "NATURAL LEFT JOIN",
	JoinNaturalRight: "NATURAL RIGHT JOIN",
}

// table appends a table expression.
func (p *printer) table(t TableExpr) {
	switch t := t.(type) {
	case *TableRef:
		p.tableRef(t)
	case *Join:
		p.join(t)
	case *DerivedTable:
		p.when(t.Lateral, "LATERAL")
		p.k("(")
		p.query(t.Query)
		p.raw(")")
		p.alias(t.Alias)
		if t.Columns != nil {
			p.parenIdents(t.Columns)
		}
	case *ParenTable:
		if t.ODBC {
			p.k("{ OJ")
			p.table(t.Inner)
			p.k("}")
			return
		}
		p.k("(")
		p.table(t.Inner)
		p.raw(")")
	case *JSONTable:
		p.k("JSON_TABLE(")
		p.expr(t.Doc)
		p.raw(",")
		p.expr(t.Path)
		p.jsonColumns(t.Columns)
		p.raw(")")
		p.alias(t.Alias)
	}
}

// alias appends AS alias unless it is empty.
func (p *printer) alias(name string) {
	if name != "" {
		p.k("AS")
		p.id(name)
	}
}

// join appends a join.
func (p *printer) join(j *Join) {
	p.table(j.Left)
	if j.Kind == JoinComma {
		p.raw(",")
		p.table(j.Right)
		return
	}
	text := joinText[j.Kind]
	if j.Outer {
		text = text[:len(text)-len("JOIN")] + "OUTER JOIN"
	}
	p.k(text)
	p.table(j.Right)
	p.optExpr("ON", j.On)
	if j.Using != nil {
		p.k("USING")
		p.parenIdents(j.Using)
	}
}

// tableRef appends a named table.
func (p *printer) tableRef(t *TableRef) {
	p.object(ObjectName{Schema: t.Schema, Name: t.Name})
	p.partitions(t.Partitions)
	p.optExpr("AS OF TIMESTAMP", t.AsOf)
	p.alias(t.Alias)
	for _, h := range t.Hints {
		p.k([...]string{UseIndex: "USE", ForceIndex: "FORCE", IgnoreIndex: "IGNORE"}[h.Kind])
		if h.Key {
			p.k("KEY")
		} else {
			p.k("INDEX")
		}
		p.k([...]string{HintForJoin: "FOR JOIN", HintForOrderBy: "FOR ORDER BY", HintForGroupBy: "FOR GROUP BY"}[h.For])
		p.paren(len(h.Names), func(i int) { p.keyName(h.Names[i].Name) })
	}
}

// keyName appends the name of an index; PRIMARY stands for itself.
func (p *printer) keyName(name string) {
	if foldEqual(name, "PRIMARY") {
		p.k("PRIMARY")
		return
	}
	p.id(name)
}

// partitions appends PARTITION (names).
func (p *printer) partitions(l []Ident) {
	if l != nil {
		p.k("PARTITION")
		p.parenIdents(l)
	}
}

// jsonColumns appends COLUMNS (...).
func (p *printer) jsonColumns(l []JSONTableColumn) {
	p.k("COLUMNS")
	p.paren(len(l), func(i int) { p.jsonColumn(&l[i]) })
}

// jsonColumn appends one column of JSON_TABLE.
func (p *printer) jsonColumn(c *JSONTableColumn) {
	if c.IsNested {
		p.k("NESTED")
		p.when(c.NestedWord, "PATH")
		p.expr(c.Path)
		p.jsonColumns(c.Nested)
		return
	}
	p.id(c.Name.Name)
	if c.Ordinality {
		p.k("FOR ORDINALITY")
		return
	}
	p.dataType(c.Type)
	p.when(c.Exists, "EXISTS")
	p.optExpr("PATH", c.Path)
	if c.ErrorFirst {
		p.jsonOn(c.OnError, "ERROR")
		p.jsonOn(c.OnEmpty, "EMPTY")
		return
	}
	p.jsonOn(c.OnEmpty, "EMPTY")
	p.jsonOn(c.OnError, "ERROR")
}
