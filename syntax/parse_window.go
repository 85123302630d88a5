package syntax

// over parses OVER name and OVER (spec).
func (p *parser) over() *Over {
	p.expectKw(kwOver)
	if p.is(tLParen) {
		return &Over{Spec: p.windowSpec()}
	}
	return &Over{Name: p.name()}
}

// windowSpec parses ([base] [PARTITION BY] [ORDER BY] [frame]).
func (p *parser) windowSpec() *WindowSpec {
	p.expect(tLParen)
	p.enter()
	w := &WindowSpec{}
	if p.isIdent() {
		w.Base = p.name()
	}
	if p.acceptKw(kwPartition) {
		p.expectKw(kwBy)
		w.PartitionBy = p.exprList()
	}
	if p.isKw(kwOrder) {
		w.OrderBy = p.orderBy()
	}
	switch p.oneOf("ROWS", "RANGE", "GROUPS") {
	case "ROWS":
		w.Frame = p.frame(FrameRows)
	case "RANGE":
		w.Frame = p.frame(FrameRange)
	case "GROUPS":
		w.Frame = p.frame(FrameGroups)
	}
	p.leave()
	p.expect(tRParen)
	return w
}

// frame parses the bounds of a window frame.
func (p *parser) frame(unit FrameUnit) *Frame {
	f := &Frame{Unit: unit}
	if p.acceptKw(kwBetween) {
		f.Start = p.frameBound()
		p.expectKw(kwAnd)
		end := p.frameBound()
		f.End = &end
	} else {
		f.Start = p.frameBound()
	}
	if p.acceptWord("EXCLUDE") {
		switch {
		case p.acceptWords("CURRENT", "ROW"):
			f.Exclusion = "CURRENT ROW"
		case p.acceptWords("NO", "OTHERS"):
			f.Exclusion = "NO OTHERS"
		default:
			f.Exclusion = p.needOneOf("GROUP", "TIES")
		}
	}
	return f
}

// frameBound parses one end of a frame.
func (p *parser) frameBound() FrameBound {
	switch {
	case p.acceptWords("CURRENT", "ROW"):
		return FrameBound{Kind: CurrentRow}
	case p.acceptWords("UNBOUNDED", "PRECEDING"):
		return FrameBound{Kind: UnboundedPreceding}
	case p.acceptWords("UNBOUNDED", "FOLLOWING"):
		return FrameBound{Kind: UnboundedFollowing}
	}
	if p.intervalNext = p.isKw(kwInterval); !p.intervalNext && (p.is(tWord) || p.is(tQuoted) || p.is(tUserVar) || p.is(tAtAt) || p.is(tLParen)) {
		p.fail() // only a number or a placeholder may be a bound
	}
	b := FrameBound{Kind: ValuePreceding, Value: p.bits(0)}
	if p.needOneOf("PRECEDING", "FOLLOWING") == "FOLLOWING" {
		b.Kind = ValueFollowing
	}
	return b
}

// into parses INTO variables, OUTFILE or DUMPFILE.
func (p *parser) into(q *Query, at IntoPlace) {
	if q.Into != nil {
		p.fail()
	}
	i := &Into{Pos: Pos(p.next().pos)}
	q.Into, q.IntoPlace = i, at
	switch p.oneOf("OUTFILE", "DUMPFILE") {
	case "OUTFILE":
		i.IsFile, i.File = true, p.stringLiteral().Value
		i.Charset = p.charset(p.fileCharset())
		i.Format = p.fileFormat()
	case "DUMPFILE":
		i.IsFile, i.Dump, i.File = true, true, p.stringLiteral().Value
	default:
		i.Vars = p.varTargets()
	}
}

// varTargets parses a list of @variables and local names.
func (p *parser) varTargets() []VarTarget {
	var list []VarTarget
	for {
		v := VarTarget{Pos: p.pos()}
		if p.is(tUserVar) {
			v.Name = userVarName(p.sql, p.next(), p.lex.escapes)
		} else {
			v.Name, v.Local = p.name(), true
		}
		list = append(list, v)
		if !p.accept(tComma) {
			return list
		}
	}
}

// fileCharset parses CHARACTER SET name of file clauses.
func (p *parser) fileCharset() string {
	if p.acceptWords("CHARACTER", "SET") || p.acceptWord("CHARSET") {
		return p.nameOrString()
	}
	return ""
}

// fileFormat parses FIELDS ... LINES ..., or returns nil.
func (p *parser) fileFormat() *FileFormat {
	f := &FileFormat{}
	if w := p.oneOf("FIELDS", "COLUMNS"); w != "" {
		f.HasFields, f.FieldsWord = true, w
		for {
			kind := p.oneOf("TERMINATED", "ENCLOSED", "ESCAPED")
			if p.acceptKw(kwOptionally) {
				p.expectKw(kwEnclosed)
				kind = "OPTIONALLY ENCLOSED"
			}
			if kind == "" {
				break
			}
			p.expectKw(kwBy)
			f.Fields = append(f.Fields, FileFormatClause{kind, p.textLiteral()})
		}
		if len(f.Fields) == 0 {
			p.fail()
		}
	}
	if p.acceptKw(kwLines) {
		f.HasLinesTag = true
		for {
			kind := p.oneOf("TERMINATED", "STARTING")
			if kind == "" {
				break
			}
			p.expectKw(kwBy)
			f.Lines = append(f.Lines, FileFormatClause{kind, p.textLiteral()})
		}
		if len(f.Lines) == 0 {
			p.fail()
		}
	}
	if !f.HasFields && !f.HasLinesTag {
		return nil
	}
	return f
}
