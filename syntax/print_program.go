package syntax

// definer appends DEFINER = account.
func (p *printer) definer(a *Account) {
	if a != nil {
		p.k("DEFINER =")
		p.account(*a)
	}
}

// program appends a statement that defines a view, trigger, routine or event.
func (p *printer) program(s Statement) {
	switch s := s.(type) {
	case *CreateView:
		p.createView(s)
	case *DropObjects:
		p.k("DROP", s.Kind)
		p.when(s.IfExists, "IF EXISTS")
		p.objects(s.Names)
		p.k(s.Behaviour)
	case *CreateTrigger:
		p.k("CREATE")
		p.definer(s.Definer)
		p.k("TRIGGER")
		p.when(s.IfNotExists, "IF NOT EXISTS")
		p.object(s.Name)
		p.k(s.Time, s.Event, "ON")
		p.object(s.Table)
		p.k("FOR EACH ROW", s.Order)
		p.optID(s.Other.Name)
		p.statement(s.Body)
	case *CreateRoutine:
		p.createRoutine(s)
	case *AlterRoutine:
		p.k("ALTER", routineWord(s.Function))
		p.object(s.Name)
		p.traits(s.Traits)
	case *CreateEvent:
		p.createEvent(s)
	}
}

// createView appends CREATE VIEW and ALTER VIEW.
func (p *printer) createView(s *CreateView) {
	if s.Alter {
		p.k("ALTER")
	} else {
		p.k("CREATE")
	}
	p.when(s.OrReplace, "OR REPLACE")
	if s.Algorithm != "" {
		p.k("ALGORITHM =", s.Algorithm)
	}
	p.definer(s.Definer)
	if s.Security != "" {
		p.k("SQL SECURITY", s.Security)
	}
	p.k("VIEW")
	p.when(s.IfNotExists, "IF NOT EXISTS")
	p.object(s.Name)
	if s.Columns != nil {
		p.parenIdents(s.Columns)
	}
	p.k("AS")
	p.query(s.Query)
	if s.Check != "" {
		p.k("WITH", s.Check, "OPTION")
	}
}

// routineWord is FUNCTION or PROCEDURE.
func routineWord(function bool) string {
	if function {
		return "FUNCTION"
	}
	return "PROCEDURE"
}

// createRoutine appends CREATE PROCEDURE and FUNCTION.
func (p *printer) createRoutine(s *CreateRoutine) {
	p.k("CREATE")
	p.definer(s.Definer)
	p.when(s.Aggregate, "AGGREGATE")
	p.k(routineWord(s.Function))
	p.when(s.IfNotExists, "IF NOT EXISTS")
	p.object(s.Name)
	if s.Soname != nil {
		p.k("RETURNS", s.ReturnsWord)
		p.optLit("SONAME", s.Soname)
		return
	}
	p.paren(len(s.Params), func(i int) {
		p.k(s.Params[i].Mode)
		p.id(s.Params[i].Name.Name)
		p.dataType(&s.Params[i].Type)
	})
	if s.Returns != nil {
		p.k("RETURNS")
		p.dataType(s.Returns)
	}
	p.traits(s.Traits)
	p.statement(s.Body)
}

// traits appends the characteristics of a routine.
func (p *printer) traits(l []RoutineTrait) {
	for _, t := range l {
		p.k(t.Kind)
		p.optLit("", t.Value)
	}
}

// createEvent appends CREATE EVENT and ALTER EVENT.
func (p *printer) createEvent(s *CreateEvent) {
	if s.Alter {
		p.k("ALTER")
	} else {
		p.k("CREATE")
	}
	p.definer(s.Definer)
	p.k("EVENT")
	p.when(s.IfNotExists, "IF NOT EXISTS")
	p.object(s.Name)
	if d := s.Schedule; d != nil {
		p.k("ON SCHEDULE")
		p.optExpr("AT", d.At)
		p.optExpr("EVERY", d.Every)
		p.k(d.Unit)
		p.optExpr("STARTS", d.Starts)
		p.optExpr("ENDS", d.Ends)
	}
	if s.Preserve != "" {
		p.k("ON COMPLETION", s.Preserve)
	}
	if s.RenameTo != nil {
		p.k("RENAME TO")
		p.object(*s.RenameTo)
	}
	p.k(s.Status)
	p.optLit("COMMENT", s.Comment)
	if s.Body != nil {
		p.k("DO")
		p.statement(s.Body)
	}
}

// statements appends statements, each with its semicolon.
func (p *printer) statements(l []Statement) {
	for _, s := range l {
		p.statement(s)
		p.raw(";")
	}
}

// label appends a label with its colon.
func (p *printer) label(name string) {
	if name != "" {
		p.id(name)
		p.raw(":")
	}
}

// procStatement appends a statement of stored programs.
func (p *printer) procStatement(s ProcStmt) {
	switch s := s.(type) {
	case *Block:
		p.label(s.Label)
		p.k("BEGIN")
		p.statements(s.Body)
		p.k("END")
		p.optID(s.EndLabel)
	case *DeclareVar:
		p.k("DECLARE")
		p.idents(s.Names)
		p.dataType(&s.Type)
		p.optExpr("DEFAULT", s.Default)
	case *DeclareCursor:
		p.k("DECLARE")
		p.id(s.Name.Name)
		p.k("CURSOR FOR")
		p.query(s.Query)
	case *DeclareCondition:
		p.k("DECLARE")
		p.id(s.Name.Name)
		p.k("CONDITION FOR")
		p.condition(&s.Value)
	case *DeclareHandler:
		p.k("DECLARE", s.Action, "HANDLER FOR")
		p.list(len(s.Conditions), func(i int) { p.condition(&s.Conditions[i]) })
		p.statement(s.Body)
	case *If:
		for i, b := range s.Branches {
			p.k([]string{"IF", "ELSEIF"}[min(i, 1)])
			p.condBody(&b)
		}
		p.elseBody(s.HasElse, s.Else)
		p.k("END IF")
	case *CaseStmt:
		p.k("CASE")
		p.optExpr("", s.Operand)
		for _, b := range s.Branches {
			p.k("WHEN")
			p.condBody(&b)
		}
		p.elseBody(s.HasElse, s.Else)
		p.k("END CASE")
	case *Loop:
		p.loop(s)
	case *Jump:
		if s.Iterate {
			p.k("ITERATE")
		} else {
			p.k("LEAVE")
		}
		p.id(s.Label.Name)
	case *Return:
		p.optExpr("RETURN", s.Value)
	case *CursorOp:
		p.k(s.Verb)
		p.when(s.Next, "NEXT")
		p.when(s.From, "FROM")
		p.id(s.Name.Name)
		p.when(s.Into != nil, "INTO")
		p.targets(s.Into)
	}
}

// condBody appends a condition, THEN and statements.
func (p *printer) condBody(b *CondBody) {
	p.expr(b.Cond)
	p.k("THEN")
	p.statements(b.Body)
}

// elseBody appends ELSE and statements.
func (p *printer) elseBody(has bool, l []Statement) {
	p.when(has, "ELSE")
	p.statements(l)
}

// loop appends LOOP, WHILE and REPEAT.
func (p *printer) loop(s *Loop) {
	p.label(s.Label)
	p.k(s.Kind)
	if s.Kind == "WHILE" {
		p.optExpr("", s.Cond)
		p.k("DO")
	}
	p.statements(s.Body)
	if s.Kind == "REPEAT" {
		p.optExpr("UNTIL", s.Cond)
	}
	p.k("END", s.Kind)
	p.optID(s.EndLabel)
}

// condition appends what a handler or condition names.
func (p *printer) condition(c *ConditionValue) {
	switch c.Kind {
	case "NAME":
		p.id(c.Name.Name)
	case "CODE":
		p.expr(c.Value)
	default:
		p.k(c.Kind)
		p.optLit("", c.Value)
	}
}
