package syntax

// databaseWord is DATABASE or SCHEMA.
func databaseWord(schema bool) string {
	if schema {
		return "SCHEMA"
	}
	return "DATABASE"
}

// tableWord is TABLE or TABLES.
func tableWord(plural bool) string {
	if plural {
		return "TABLES"
	}
	return "TABLE"
}

// ddl appends a statement that defines data, or returns false.
func (p *printer) ddl(s Statement) bool {
	switch s := s.(type) {
	case *CreateDatabase:
		p.k("CREATE", databaseWord(s.Schema))
		p.when(s.IfNotExists, "IF NOT EXISTS")
		p.id(s.Name.Name)
		p.databaseOptions(s.Options)
	case *AlterDatabase:
		p.k("ALTER", databaseWord(s.Schema))
		p.optID(s.Name.Name)
		p.databaseOptions(s.Options)
	case *DropDatabase:
		p.k("DROP", databaseWord(s.Schema))
		p.when(s.IfExists, "IF EXISTS")
		p.id(s.Name.Name)
	case *Use:
		p.k("USE")
		p.id(s.Name.Name)
	case *CreateTable:
		p.createTable(s)
	case *CreateIndex:
		p.k("CREATE", keyKindText[s.Key.Kind], "INDEX")
		p.when(s.IfNotExists, "IF NOT EXISTS")
		p.id(s.Key.Name)
		p.keyType(&s.Key)
		p.k("ON")
		p.object(s.Table)
		p.keyParts(s.Key.Parts)
		p.indexOptions(s.Key.Options)
		p.onlineOptions(s.Algorithm)
	case *DropIndex:
		p.k("DROP INDEX")
		p.when(s.IfExists, "IF EXISTS")
		p.id(s.Name.Name)
		p.k("ON")
		p.object(s.Table)
		p.onlineOptions(s.Algorithm)
	case *DropTable:
		p.k("DROP")
		p.when(s.Temporary, "TEMPORARY")
		p.k(tableWord(s.Plural))
		p.when(s.IfExists, "IF EXISTS")
		p.objects(s.Tables)
		p.k(s.Behaviour)
	case *TruncateTable:
		p.k("TRUNCATE")
		p.when(s.Word, "TABLE")
		p.object(s.Table)
	case *RenameTable:
		p.k("RENAME", tableWord(s.Plural))
		p.list(len(s.Pairs), func(i int) {
			p.object(s.Pairs[i].From)
			p.k("TO")
			p.object(s.Pairs[i].To)
		})
	case *AlterTable:
		p.alterTable(s)
	default:
		return false
	}
	return true
}

// databaseOptions appends the options of a database.
func (p *printer) databaseOptions(l []DatabaseOption) {
	for _, o := range l {
		p.when(o.Default, "DEFAULT")
		p.k(o.Kind)
		p.eq(o.Equals)
		switch {
		case o.IsStr:
			p.str(o.Value)
		case o.Kind == "READ ONLY":
			p.k(o.Value)
		default:
			p.charset(o.Value)
		}
	}
}

// createTable appends CREATE TABLE.
func (p *printer) createTable(s *CreateTable) {
	p.k("CREATE")
	p.when(s.Temporary, "TEMPORARY")
	p.k("TABLE")
	p.when(s.IfNotExists, "IF NOT EXISTS")
	p.object(s.Name)
	if s.Like != nil {
		p.when(s.LikeParen, "(")
		p.k("LIKE")
		p.object(*s.Like)
		if s.LikeParen {
			p.raw(")")
		}
		return
	}
	if s.Elements != nil {
		p.elements(s.Elements)
	}
	for i := range s.Options {
		p.tableOption(&s.Options[i])
	}
	if s.Partition != nil {
		p.partitionBy(s.Partition)
	}
	p.k(s.OnConflict)
	p.when(s.AsWord, "AS")
	if s.Query != nil {
		p.query(s.Query)
	}
}

// onlineOptions appends ALGORITHM and LOCK.
func (p *printer) onlineOptions(l []AlterSpec) {
	for i := range l {
		p.alterSpec(&l[i])
	}
}

// alterTable appends ALTER TABLE. MySQL takes no comma before a partition
// clause that follows options, and accepts one; none is printed.
func (p *printer) alterTable(s *AlterTable) {
	p.k("ALTER TABLE")
	p.object(s.Table)
	for i := range s.Specs {
		if i > 0 && s.Specs[i].Kind != AlterPartitionBy && s.Specs[i].Kind != AlterRemovePartitioning {
			p.raw(",")
		}
		p.alterSpec(&s.Specs[i])
	}
}

// alterSpec appends one action of ALTER TABLE.
func (p *printer) alterSpec(a *AlterSpec) {
	switch a.Kind {
	case AlterAddColumn:
		p.k("ADD")
		p.when(a.ColumnWord, "COLUMN")
		p.when(a.IfExists, "IF NOT EXISTS")
		if a.Paren {
			p.elements(a.Elements)
			return
		}
		p.columnDef(&a.Columns[0])
		p.columnPlace(a.Place)
	case AlterAddKey:
		p.k("ADD")
		p.key(a.Key)
	case AlterAddCheck:
		p.k("ADD")
		p.check(a.Check)
	case AlterModify, AlterChange:
		if a.Kind == AlterModify {
			p.k("MODIFY")
			p.when(a.ColumnWord, "COLUMN")
		} else {
			p.k("CHANGE")
			p.when(a.ColumnWord, "COLUMN")
			p.id(a.Name.Name)
		}
		p.columnDef(&a.Columns[0])
		p.columnPlace(a.Place)
	case AlterConvert:
		p.k("CONVERT TO", a.CharsetWord)
		p.charset(a.Charset)
		if a.Collate != "" {
			p.k("COLLATE")
			p.charset(a.Collate)
		}
	case AlterOptions:
		for i := range a.Options {
			p.tableOption(&a.Options[i])
		}
	case AlterOrderBy:
		p.orderBy(a.OrderBy)
	case AlterAlgorithm, AlterLock:
		p.k([...]string{AlterAlgorithm: "ALGORITHM", AlterLock: "LOCK"}[a.Kind])
		p.eq(a.Equals)
		p.k(a.Word)
	default:
		if !p.alterDropRename(a) {
			p.alterPartition(a)
		}
	}
}

// columnPlace appends FIRST and AFTER.
func (p *printer) columnPlace(c ColumnPlace) {
	p.when(c.First, "FIRST")
	if c.After != nil {
		p.k("AFTER")
		p.id(c.After.Name)
	}
}

// alterDropRename appends the actions that drop, rename and toggle, or returns
// false.
func (p *printer) alterDropRename(a *AlterSpec) bool {
	switch a.Kind {
	case AlterDropColumn:
		p.k("DROP")
		p.when(a.ColumnWord, "COLUMN")
		p.when(a.IfExists, "IF EXISTS")
		p.id(a.Name.Name)
		p.k(a.Word)
	case AlterDropKey:
		p.k("DROP", a.Word)
		p.keyName(a.Name.Name)
	case AlterDropCheck:
		p.k("DROP", a.Word)
		p.id(a.Name.Name)
	case AlterDropPrimary:
		p.k("DROP PRIMARY KEY")
	case AlterDropForeign:
		p.k("DROP FOREIGN KEY")
		p.id(a.Name.Name)
	case AlterRenameColumn, AlterRenameKey:
		p.k("RENAME", a.Word)
		p.when(a.Kind == AlterRenameColumn, "COLUMN")
		p.id(a.Name.Name)
		p.k("TO")
		p.id(a.NewName.Name)
	case AlterRenameTable:
		p.k("RENAME", a.Word)
		p.object(a.NewTable)
	case AlterColumnDefault, AlterColumnVisible:
		p.k("ALTER")
		p.when(a.ColumnWord, "COLUMN")
		p.id(a.Name.Name)
		switch {
		case a.Kind == AlterColumnVisible:
			p.k("SET", a.Word)
		case a.Expr == nil:
			p.k("DROP DEFAULT")
		default:
			p.optExpr("SET DEFAULT", a.Expr)
		}
	case AlterIndexVisible:
		p.k("ALTER INDEX")
		p.keyName(a.Name.Name)
		p.k(a.Word)
	case AlterEnforced:
		p.k("ALTER", a.Word)
		p.id(a.Name.Name)
		p.when(a.Not, "NOT")
		p.k("ENFORCED")
	case AlterKeys:
		p.k(a.Word, "KEYS")
	case AlterTablespace:
		p.k(a.Word, "TABLESPACE")
	case AlterForce:
		p.k("FORCE")
	case AlterValidation:
		p.k(a.Word, "VALIDATION")
	case AlterSecondary:
		p.k(a.Word)
	default:
		return false
	}
	return true
}

// alterPartition appends the actions on partitions.
func (p *printer) alterPartition(a *AlterSpec) {
	switch a.Kind {
	case AlterPartitionBy:
		p.partitionBy(a.Partition)
	case AlterRemovePartitioning:
		p.k("REMOVE PARTITIONING")
	case AlterAddPartition:
		p.k("ADD PARTITION", a.NoWrite)
		p.optLit("PARTITIONS", a.Number)
		if a.Defs != nil {
			p.partitionDefs("PARTITION", a.Defs)
		}
	case AlterDropPartition:
		p.k("DROP PARTITION")
		p.idents(a.Names)
	case AlterTruncatePartition:
		p.k("TRUNCATE PARTITION")
		p.when(a.All, "ALL")
		p.idents(a.Names)
	case AlterCoalesce:
		p.k("COALESCE PARTITION", a.NoWrite)
		p.expr(a.Number)
	case AlterReorganize:
		p.k("REORGANIZE PARTITION", a.NoWrite)
		if a.Names != nil {
			p.idents(a.Names)
			p.k("INTO")
			p.partitionDefs("PARTITION", a.Defs)
		}
	case AlterExchange:
		p.k("EXCHANGE PARTITION")
		p.id(a.Name.Name)
		p.k("WITH TABLE")
		p.object(a.NewTable)
		if a.Word != "" {
			p.k(a.Word, "VALIDATION")
		}
	case AlterPartitionOp:
		p.k(a.Word, "PARTITION", a.NoWrite)
		p.when(a.All, "ALL")
		p.idents(a.Names)
		p.k(a.Flags...)
	}
}
