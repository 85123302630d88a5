package syntax

// definer parses [DEFINER = account].
func (p *parser) definer() *Account {
	if !p.isWord("DEFINER") || p.peek(1).kind != tEq {
		return nil
	}
	p.next()
	p.next()
	a := p.account()
	return &a
}

// createProgram parses CREATE and ALTER of views, triggers, routines and
// events, from their leading options on.
func (p *parser) createProgram(pos Pos, alter bool) Statement {
	v := &CreateView{Pos: pos, Alter: alter}
	if !alter {
		v.OrReplace = p.acceptWords("OR", "REPLACE")
	}
	if p.isWord("ALGORITHM") {
		p.next()
		p.expect(tEq)
		v.Algorithm = p.needOneOf("UNDEFINED", "MERGE", "TEMPTABLE")
	}
	v.Definer = p.definer()
	if p.acceptWords("SQL", "SECURITY") {
		v.Security = p.needOneOf("DEFINER", "INVOKER")
	}
	if v.OrReplace || v.Algorithm != "" || v.Security != "" || p.isWord("VIEW") {
		return p.createView(v)
	}
	switch {
	case p.isWord("EVENT"):
		return p.createEvent(pos, v.Definer, alter)
	case alter && v.Definer == nil && (p.isKw(kwProcedure) || p.isKw(kwFunction)):
		return p.alterRoutine(pos)
	case alter:
		p.fail()
	case p.isKw(kwTrigger):
		return p.createTrigger(pos, v.Definer)
	}
	return p.createRoutine(pos, v.Definer)
}

// createView parses VIEW name [(columns)] AS query [WITH CHECK OPTION].
func (p *parser) createView(v *CreateView) Statement {
	p.expectWord("VIEW")
	v.IfNotExists = p.ifNotExists()
	v.Name = p.objectName()
	if p.is(tLParen) {
		v.Columns = p.parenIdents()
	}
	p.expectKw(kwAs)
	v.QueryStart = p.pos()
	p.view = true
	v.Query = p.query()
	p.view = false
	v.QueryEnd = Pos(p.prevEnd)
	if p.acceptKw(kwWith) {
		if v.Check = p.oneOf("CASCADED", "LOCAL"); v.Check != "" {
			v.Check += " "
		}
		p.expectWord("CHECK", "OPTION")
		v.Check += "CHECK"
	}
	return v
}

// createTrigger parses from the word TRIGGER on.
func (p *parser) createTrigger(pos Pos, definer *Account) Statement {
	p.next()
	s := &CreateTrigger{Pos: pos, Definer: definer, IfNotExists: p.ifNotExists()}
	s.Name = p.objectName()
	s.Time = p.needOneOf("BEFORE", "AFTER")
	s.Event = p.needOneOf("INSERT", "UPDATE", "DELETE")
	p.expectKw(kwOn)
	s.Table = p.objectName()
	p.expectWord("FOR", "EACH", "ROW")
	if s.Order = p.oneOf("FOLLOWS", "PRECEDES"); s.Order != "" {
		s.Other = p.ident()
	}
	s.Body, s.BodyStart, s.BodyEnd = p.body()
	return s
}

// body parses the statement of a stored program and its span.
func (p *parser) body() (s Statement, start, end Pos) {
	start = p.pos()
	s = p.programStatement()
	return s, start, Pos(p.prevEnd)
}

// createRoutine parses [AGGREGATE] FUNCTION and PROCEDURE.
func (p *parser) createRoutine(pos Pos, definer *Account) Statement {
	s := &CreateRoutine{Pos: pos, Definer: definer, Aggregate: p.acceptWord("AGGREGATE")}
	s.Function = p.needOneOf("FUNCTION", "PROCEDURE") == "FUNCTION"
	s.IfNotExists = p.ifNotExists()
	s.Name = p.objectName()
	if s.Function && p.isWord("RETURNS") {
		p.next()
		s.ReturnsWord = p.needOneOf("STRING", "INTEGER", "INT", "REAL", "DECIMAL", "DEC")
		p.expectWord("SONAME")
		s.Soname = p.stringLiteral()
		return s
	}
	p.expect(tLParen)
	for more := !p.is(tRParen); more; more = p.accept(tComma) {
		var r RoutineParam
		if !s.Function {
			r.Mode = p.oneOf("INOUT", "IN", "OUT")
		}
		r.Name = p.ident()
		p.dataType(&r.Type)
		p.typeCollate(&r.Type)
		s.Params = append(s.Params, r)
	}
	p.expect(tRParen)
	if s.Function {
		p.expectWord("RETURNS")
		s.Returns = new(DataType)
		p.dataType(s.Returns)
		p.typeCollate(s.Returns)
	}
	s.Traits = p.routineTraits()
	s.Body, s.BodyStart, s.BodyEnd = p.body()
	return s
}

// typeCollate parses COLLATE after the type of a variable.
func (p *parser) typeCollate(d *DataType) {
	if p.acceptKw(kwCollate) {
		d.Collate = p.collation(p.nameOrString())
	}
}

// traitWords are the characteristics of routines that take no value.
var traitWords = [][]string{
	{"DETERMINISTIC"}, {"NOT", "DETERMINISTIC"}, {"CONTAINS", "SQL"}, {"NO", "SQL"},
	{"READS", "SQL", "DATA"}, {"MODIFIES", "SQL", "DATA"}, {"LANGUAGE", "SQL"},
	{"SQL", "SECURITY", "DEFINER"}, {"SQL", "SECURITY", "INVOKER"},
}

// routineTraits parses the characteristics of a routine.
func (p *parser) routineTraits() []RoutineTrait {
	var list []RoutineTrait
next:
	for {
		if p.acceptWord("COMMENT") {
			list = append(list, RoutineTrait{Kind: "COMMENT", Value: p.stringLiteral()})
			continue
		}
		for _, words := range traitWords {
			if p.acceptWords(words...) {
				list = append(list, RoutineTrait{Kind: joinWords(words)})
				continue next
			}
		}
		return list
	}
}

// joinWords joins words with spaces.
func joinWords(words []string) string {
	s := words[0]
	for _, w := range words[1:] {
		s += " " + w
	}
	return s
}

// alterRoutine parses ALTER PROCEDURE|FUNCTION name traits.
func (p *parser) alterRoutine(pos Pos) Statement {
	s := &AlterRoutine{Pos: pos, Function: p.next().kw == kwFunction, Name: p.objectName()}
	s.Traits = p.routineTraits()
	return s
}

// createEvent parses CREATE EVENT and ALTER EVENT from the word EVENT on.
func (p *parser) createEvent(pos Pos, definer *Account, alter bool) Statement {
	p.next()
	s := &CreateEvent{Pos: pos, Alter: alter, Definer: definer}
	if !alter {
		s.IfNotExists = p.ifNotExists()
	}
	s.Name = p.objectName()
	if !alter || p.isKw(kwOn) && p.tokenIs(p.peek(1), "SCHEDULE") {
		p.expectWord("ON", "SCHEDULE")
		s.Schedule = p.schedule()
	}
	switch {
	case p.acceptWords("ON", "COMPLETION", "PRESERVE"):
		s.Preserve = "PRESERVE"
	case p.acceptWords("ON", "COMPLETION", "NOT", "PRESERVE"):
		s.Preserve = "NOT PRESERVE"
	}
	if alter && p.acceptWords("RENAME", "TO") {
		name := p.objectName()
		s.RenameTo = &name
	}
	if s.Status = p.oneOf("ENABLE", "DISABLE"); s.Status == "DISABLE" && p.acceptKw(kwOn) {
		s.Status += " ON " + p.needOneOf("SLAVE", "REPLICA")
	}
	if p.acceptWord("COMMENT") {
		s.Comment = p.stringLiteral()
	}
	if !alter || p.isWord("DO") {
		p.expectWord("DO")
		s.Body, s.BodyStart, s.BodyEnd = p.body()
	}
	return s
}

// schedule parses AT time and EVERY n unit [STARTS t] [ENDS t].
func (p *parser) schedule() *EventSchedule {
	s := &EventSchedule{}
	if p.acceptWord("AT") {
		s.At = p.expr()
		return s
	}
	p.expectWord("EVERY")
	s.Every = p.expr()
	s.Unit = p.intervalUnit()
	if p.acceptWord("STARTS") {
		s.Starts = p.expr()
	}
	if p.acceptWord("ENDS") {
		s.Ends = p.expr()
	}
	return s
}

// dropObjects parses DROP of the objects of this file.
func (p *parser) dropObjects(pos Pos) Statement {
	s := &DropObjects{Pos: pos, Kind: p.needOneOf("VIEW", "TRIGGER", "PROCEDURE", "FUNCTION", "EVENT")}
	s.IfExists = p.ifExists()
	if s.Kind != "VIEW" {
		s.Names = []ObjectName{p.objectName()}
		return s
	}
	s.Names = p.objectNames()
	s.Behaviour = p.oneOf("RESTRICT", "CASCADE")
	return s
}
