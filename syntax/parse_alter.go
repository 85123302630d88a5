package syntax

// alterTable parses ALTER TABLE; the current token is TABLE.
func (p *parser) alterTable(pos Pos) Statement {
	p.next()
	s := &AlterTable{Pos: pos, Table: p.objectName()}
	for !p.is(tEOF) && !p.is(tSemi) {
		a := AlterSpec{Pos: p.pos()}
		p.alterSpec(&a)
		s.Specs = append(s.Specs, a)
		if p.accept(tComma) {
			if p.is(tEOF) || p.is(tSemi) {
				p.fail()
			}
			continue
		}
		if !p.isKw(kwPartition) && !p.isWord("REMOVE") {
			break // The partition clause needs no comma before it.
		}
	}
	return s
}

// orderByColumns parses ORDER BY of ALTER TABLE, which takes only column names.
func (p *parser) orderByColumns() []OrderItem {
	p.next()
	p.expectKw(kwBy)
	var items []OrderItem
	for {
		column := &ColumnRef{}
		p.columnRefInto(column)
		items = append(items, OrderItem{Expr: column, Order: p.direction()})
		if !p.accept(tComma) {
			return items
		}
	}
}

// alterSpec parses one action.
func (p *parser) alterSpec(a *AlterSpec) {
	switch p.tok.kw {
	case kwAdd:
		p.next()
		p.alterAdd(a)
		return
	case kwDrop:
		p.next()
		p.alterDrop(a)
		return
	case kwAlter:
		p.next()
		p.alterAlter(a)
		return
	case kwRename:
		p.next()
		p.alterRename(a)
		return
	case kwChange:
		p.next()
		a.Kind, a.ColumnWord = AlterChange, p.acceptKw(kwColumn)
		a.Name = p.ident()
		a.Columns = []ColumnDef{*p.columnDef()}
		a.Place = p.columnPlace()
		return
	case kwConvert:
		p.next()
		p.expectKw(kwTo)
		a.Kind, a.CharsetWord = AlterConvert, p.charsetWord()
		if a.CharsetWord == "" {
			p.fail()
		}
		a.Charset = p.charset(p.wordOrDefault())
		if p.acceptKw(kwCollate) {
			a.Collate = p.collation(p.nameOrString())
		}
		return
	case kwOrder:
		a.Kind, a.OrderBy = AlterOrderBy, p.orderByColumns()
		return
	case kwForce:
		p.next()
		a.Kind = AlterForce
		return
	case kwLock:
		*a = p.onlineOption()
		return
	case kwWith:
		p.next()
		a.Kind, a.Word = AlterValidation, "WITH"
		p.expectWord("VALIDATION")
		return
	case kwPartition:
		a.Kind, a.Partition = AlterPartitionBy, p.partitionBy()
		return
	case kwAnalyze, kwCheck, kwOptimize:
		p.alterPartitionOp(a)
		return
	}
	p.alterWordSpec(a)
}

// alterWordSpec parses the actions whose verbs are not reserved.
func (p *parser) alterWordSpec(a *AlterSpec) {
	switch {
	case p.acceptWord("MODIFY"):
		a.Kind, a.ColumnWord = AlterModify, p.acceptKw(kwColumn)
		a.Columns = []ColumnDef{*p.columnDef()}
		a.Place = p.columnPlace()
	case p.isWord("ENABLE"), p.isWord("DISABLE"):
		a.Kind, a.Word = AlterKeys, p.oneOf("ENABLE", "DISABLE")
		p.expectKw(kwKeys)
	case p.isWord("ALGORITHM"):
		*a = p.onlineOption()
	case p.acceptWord("WITHOUT"):
		a.Kind, a.Word = AlterValidation, "WITHOUT"
		p.expectWord("VALIDATION")
	case p.acceptWords("REMOVE", "PARTITIONING"):
		a.Kind = AlterRemovePartitioning
	case p.isWords("DISCARD", "TABLESPACE"), p.isWords("IMPORT", "TABLESPACE"):
		a.Kind, a.Word = AlterTablespace, p.oneOf("DISCARD", "IMPORT")
		p.next()
	case p.isWord("REBUILD"), p.isWord("REPAIR"), p.isWord("DISCARD"), p.isWord("IMPORT"):
		p.alterPartitionOp(a)
	case p.isWords("TRUNCATE", "PARTITION"):
		p.next()
		p.next()
		a.Kind = AlterTruncatePartition
		p.partitionNames(a)
	case p.isWords("COALESCE", "PARTITION"):
		p.next()
		p.next()
		a.Kind, a.NoWrite = AlterCoalesce, p.noWrite()
		a.Number = p.number()
	case p.isWords("REORGANIZE", "PARTITION"):
		p.next()
		p.next()
		a.Kind, a.NoWrite = AlterReorganize, p.noWrite()
		if p.isIdent() {
			a.Names = p.identList()
			p.expectKw(kwInto)
			a.Defs = p.partitionDefs("PARTITION")
		}
	case p.isWords("EXCHANGE", "PARTITION"):
		p.next()
		p.next()
		a.Kind, a.Name = AlterExchange, p.ident()
		p.expectWord("WITH", "TABLE")
		a.NewTable = p.objectName()
		if a.Word = p.oneOf("WITH", "WITHOUT"); a.Word != "" {
			p.expectWord("VALIDATION")
		}
	case p.isWord("SECONDARY_LOAD"), p.isWord("SECONDARY_UNLOAD"):
		a.Kind, a.Word = AlterSecondary, p.oneOf("SECONDARY_LOAD", "SECONDARY_UNLOAD")
	default:
		a.Kind, a.Options = AlterOptions, p.alterOptions()
	}
}

// alterOptions parses table options up to a comma that ends the action.
func (p *parser) alterOptions() []TableOption {
	var list []TableOption
	for {
		o := TableOption{Pos: p.pos()}
		if !p.tableOption(&o) {
			break
		}
		list = append(list, o)
	}
	if len(list) == 0 {
		p.fail()
	}
	return list
}

// noWrite parses NO_WRITE_TO_BINLOG and LOCAL.
func (p *parser) noWrite() string { return p.oneOf("NO_WRITE_TO_BINLOG", "LOCAL") }

// columnPlace parses FIRST and AFTER column.
func (p *parser) columnPlace() ColumnPlace {
	switch {
	case p.acceptWord("FIRST"):
		return ColumnPlace{First: true}
	case p.acceptWord("AFTER"):
		after := p.ident()
		return ColumnPlace{After: &after}
	}
	return ColumnPlace{}
}

// alterAdd parses what follows ADD.
func (p *parser) alterAdd(a *AlterSpec) {
	if p.startsKey() {
		a.Kind = AlterAddKey
		if a.Key, a.Check = p.constraint(); a.Check != nil {
			a.Kind = AlterAddCheck
		}
		return
	}
	if p.acceptKw(kwPartition) {
		a.Kind, a.NoWrite = AlterAddPartition, p.noWrite()
		if p.acceptWord("PARTITIONS") {
			a.Number = p.number()
		} else {
			a.Defs = p.partitionDefs("PARTITION")
		}
		return
	}
	a.Kind, a.ColumnWord = AlterAddColumn, p.acceptKw(kwColumn)
	if a.ColumnWord {
		a.IfExists = p.ifNotExists()
	}
	if p.accept(tLParen) {
		a.Paren = true
		a.Elements = p.tableElements()
		p.expect(tRParen)
		return
	}
	a.Columns = []ColumnDef{*p.columnDef()}
	a.Place = p.columnPlace()
}

// alterDrop parses what follows DROP.
func (p *parser) alterDrop(a *AlterSpec) {
	switch p.tok.kw {
	case kwPrimary:
		p.next()
		p.expectKw(kwKey)
		a.Kind = AlterDropPrimary
	case kwIndex, kwKey:
		a.Kind, a.Word = AlterDropKey, p.oneOf("INDEX", "KEY")
		a.Name = p.indexName()
	case kwForeign:
		p.next()
		p.expectKw(kwKey)
		a.Kind, a.Name = AlterDropForeign, p.ident()
	case kwCheck, kwConstraint:
		a.Kind, a.Word = AlterDropCheck, p.oneOf("CHECK", "CONSTRAINT")
		a.Name = p.ident()
	case kwPartition:
		p.next()
		a.Kind, a.Names = AlterDropPartition, p.identList()
	default:
		a.Kind, a.ColumnWord = AlterDropColumn, p.acceptKw(kwColumn)
		a.IfExists = a.ColumnWord && p.ifExists()
		a.Name = p.ident()
		a.Word = p.oneOf("RESTRICT", "CASCADE")
	}
}

// alterAlter parses ALTER [COLUMN] c ..., ALTER INDEX i ... and ALTER CHECK c ....
func (p *parser) alterAlter(a *AlterSpec) {
	switch p.tok.kw {
	case kwIndex:
		p.next()
		a.Kind, a.Name = AlterIndexVisible, p.indexName()
		a.Word = p.needOneOf("VISIBLE", "INVISIBLE")
		return
	case kwCheck, kwConstraint:
		a.Kind, a.Word = AlterEnforced, p.oneOf("CHECK", "CONSTRAINT")
		a.Name = p.ident()
		a.Not = p.acceptKw(kwNot)
		p.expectWord("ENFORCED")
		return
	}
	a.ColumnWord = p.acceptKw(kwColumn)
	a.Name = p.ident()
	a.Kind = AlterColumnDefault
	if p.acceptKw(kwDrop) {
		p.expectKw(kwDefault)
		return
	}
	p.expectKw(kwSet)
	if a.Word = p.oneOf("VISIBLE", "INVISIBLE"); a.Word != "" {
		a.Kind = AlterColumnVisible
		return
	}
	p.expectKw(kwDefault)
	a.Expr = p.defaultValue()
}

// alterRename parses what follows RENAME.
func (p *parser) alterRename(a *AlterSpec) {
	switch {
	case p.acceptKw(kwColumn):
		a.Kind, a.Name = AlterRenameColumn, p.ident()
		p.expectKw(kwTo)
		a.NewName = p.ident()
	case p.isKw(kwIndex) || p.isKw(kwKey):
		a.Kind, a.Word = AlterRenameKey, p.oneOf("INDEX", "KEY")
		a.Name = p.ident()
		p.expectKw(kwTo)
		a.NewName = p.ident()
	default:
		a.Kind = AlterRenameTable
		if p.accept(tEq) {
			a.Word = "="
		} else {
			a.Word = p.oneOf("TO", "AS")
		}
		a.NewTable = p.objectName()
	}
}

// alterPartitionOp parses ANALYZE PARTITION and the similar actions of AlterPartitionOp.
func (p *parser) alterPartitionOp(a *AlterSpec) {
	a.Kind = AlterPartitionOp
	a.Word = p.needOneOf("ANALYZE", "CHECK", "OPTIMIZE", "REBUILD", "REPAIR", "DISCARD", "IMPORT")
	p.expectKw(kwPartition)
	a.NoWrite = p.noWrite()
	p.partitionNames(a)
	if a.Word == "DISCARD" || a.Word == "IMPORT" {
		p.expectWord("TABLESPACE")
		a.Flags = []string{"TABLESPACE"}
		return
	}
	for {
		if p.isKw(kwFor) {
			p.expectWord("FOR", "UPGRADE")
			a.Flags = append(a.Flags, "FOR UPGRADE")
			continue
		}
		w := p.oneOf("QUICK", "FAST", "MEDIUM", "EXTENDED", "CHANGED", "USE_FRM")
		if w == "" {
			return
		}
		a.Flags = append(a.Flags, w)
	}
}

// partitionNames parses a list of partitions or ALL.
func (p *parser) partitionNames(a *AlterSpec) {
	if a.All = p.acceptKw(kwAll); !a.All {
		a.Names = p.identList()
	}
}
