package syntax

// dataType appends a type with its attributes.
func (p *printer) dataType(d *DataType) {
	p.k(d.Spelling)
	switch {
	case d.Elems != nil:
		p.paren(len(d.Elems), func(i int) { p.expr(d.Elems[i]) })
	case d.Scale >= 0:
		p.k("(")
		p.num(d.Length)
		p.raw(",")
		p.num(d.Scale)
		p.raw(")")
	case d.Length >= 0:
		p.k("(")
		p.num(d.Length)
		p.raw(")")
	}
	p.k(d.Attrs...)
	p.when(d.BinaryFirst, "BINARY")
	p.when(d.ASCII, "ASCII")
	p.when(d.Unicode, "UNICODE")
	p.when(d.Byte, "BYTE")
	if d.Charset != "" {
		p.k(d.CharsetWord)
		p.charset(d.Charset)
	}
	p.when(d.Binary && !d.BinaryFirst, "BINARY")
	if d.Collate != "" {
		p.k("COLLATE")
		p.charset(d.Collate)
	}
}

// columnDef appends a column with its attributes.
func (p *printer) columnDef(c *ColumnDef) {
	p.id(c.Name.Name)
	p.dataType(&c.Type)
	for i := range c.Options {
		p.columnOption(&c.Options[i])
	}
}

// columnOptionText is the leading words of the attributes that have fixed ones.
var columnOptionText = [...]string{
	ColNotNull: "NOT NULL", ColNull: "NULL", ColDefault: "DEFAULT", ColOnUpdate: "ON UPDATE",
	ColAutoIncrement: "AUTO_INCREMENT", ColComment: "COMMENT", ColCollate: "COLLATE",
	ColFormat: "COLUMN_FORMAT", ColStorage: "STORAGE", ColVisible: "VISIBLE", ColInvisible: "INVISIBLE",
	ColEngineAttr: "ENGINE_ATTRIBUTE", ColSecondaryAttr: "SECONDARY_ENGINE_ATTRIBUTE", ColSRID: "SRID",
	ColSerialDefault: "SERIAL DEFAULT VALUE", ColClustered: "CLUSTERED", ColNonclustered: "NONCLUSTERED",
	ColAutoRandom: "AUTO_RANDOM", ColNotSecondary: "NOT SECONDARY",
}

// columnOption appends one attribute of a column.
func (p *printer) columnOption(o *ColumnOption) {
	p.k(columnOptionText[o.Kind])
	switch o.Kind {
	case ColCollate:
		p.charset(o.Word)
	case ColUnique, ColPrimary, ColFormat, ColStorage:
		p.k(o.Word)
	case ColGenerated:
		p.when(o.Always, "GENERATED ALWAYS")
		p.k("AS (")
		p.expr(o.Expr)
		p.raw(")")
		p.k(o.Word)
	case ColCheck:
		p.check(o.Check)
	case ColReferences:
		p.references(o.Ref)
	case ColAutoRandom:
		if o.Expr != nil {
			p.k("(")
			p.expr(o.Expr)
			p.raw(")")
		}
	default:
		p.eq(o.Equals)
		p.optExpr("", o.Expr)
	}
}

// constraint appends CONSTRAINT [name].
func (p *printer) constraint(has bool, name string) {
	p.when(has, "CONSTRAINT")
	p.optID(name)
}

// check appends CHECK.
func (p *printer) check(c *CheckDef) {
	p.constraint(c.HasConstraint, c.Constraint)
	p.k("CHECK (")
	p.expr(c.Expr)
	p.raw(")")
	p.k(c.Enforced)
}

// references appends REFERENCES.
func (p *printer) references(r *References) {
	p.k("REFERENCES")
	p.object(r.Table)
	if r.Columns != nil {
		p.keyParts(r.Columns)
	}
	if r.Match != "" {
		p.k("MATCH", r.Match)
	}
	if r.UpdateFirst {
		p.k("ON UPDATE", r.OnUpdate)
	}
	if r.OnDelete != "" {
		p.k("ON DELETE", r.OnDelete)
	}
	if r.OnUpdate != "" && !r.UpdateFirst {
		p.k("ON UPDATE", r.OnUpdate)
	}
}

// keyParts appends the columns of a key.
func (p *printer) keyParts(l []KeyPart) {
	p.paren(len(l), func(i int) {
		if l[i].Expr != nil {
			p.k("(")
			p.expr(l[i].Expr)
			p.raw(")")
		} else {
			p.id(l[i].Column.Name)
			if l[i].Length >= 0 {
				p.k("(")
				p.num(l[i].Length)
				p.raw(")")
			}
		}
		p.k(directionText[l[i].Order])
	})
}

// keyKindText is the spelling of kinds of keys.
var keyKindText = [...]string{
	KeyIndex: "", KeyPrimary: "PRIMARY KEY", KeyUnique: "UNIQUE", KeyFulltext: "FULLTEXT", KeySpatial: "SPATIAL",
	KeyForeign: "FOREIGN KEY",
}

// key appends a key of CREATE or ALTER TABLE.
func (p *printer) key(k *KeyDef) {
	p.constraint(k.HasConstraint, k.Constraint)
	p.k(keyKindText[k.Kind], k.Word)
	p.optID(k.Name)
	p.keyType(k)
	p.keyParts(k.Parts)
	if k.Ref != nil {
		p.references(k.Ref)
	}
	p.indexOptions(k.Options)
}

// keyType appends USING BTREE written before the columns.
func (p *printer) keyType(k *KeyDef) {
	if k.UsingFirst == "" {
		return
	}
	if k.TypeWord {
		p.k("TYPE", k.UsingFirst)
	} else {
		p.k("USING", k.UsingFirst)
	}
}

// indexOptions appends the options of an index.
func (p *printer) indexOptions(l []IndexOption) {
	for _, o := range l {
		p.k(o.Kind)
		p.eq(o.Equals)
		if o.Kind == "WITH PARSER" {
			p.id(o.Word)
		} else {
			p.k(o.Word)
		}
		p.optExpr("", o.Value)
	}
}

// element appends a column, key or check.
func (p *printer) element(e TableElement) {
	switch e := e.(type) {
	case *ColumnDef:
		p.columnDef(e)
	case *KeyDef:
		p.key(e)
	case *CheckDef:
		p.check(e)
	}
}

// elements appends the elements of a table in parentheses.
func (p *printer) elements(l []TableElement) { p.paren(len(l), func(i int) { p.element(l[i]) }) }

// tableOption appends one option of a table or partition.
func (p *printer) tableOption(o *TableOption) {
	if o.Comma {
		p.raw(",")
	}
	p.when(o.Default, "DEFAULT")
	p.k(o.Kind)
	p.eq(o.Equals)
	switch {
	case o.Kind == "UNION":
		p.k("(")
		p.objects(o.Tables)
		p.raw(")")
	case o.Value != nil:
		p.expr(o.Value)
	case o.Word == "DEFAULT" || o.Word == "NULL" || o.Kind == "STORAGE":
		p.k(o.Word)
	case o.Word != "":
		p.charset(o.Word)
	case o.Kind != "START TRANSACTION":
		p.str("")
	}
	if o.Storage != "" {
		p.k("STORAGE", o.Storage)
	}
}

// partitionBy appends PARTITION BY.
func (p *printer) partitionBy(b *PartitionBy) {
	p.k("PARTITION BY")
	p.partitionMethod(&b.Method)
	p.optLit("PARTITIONS", b.Parts)
	if b.Sub != nil {
		p.k("SUBPARTITION BY")
		p.partitionMethod(b.Sub)
		p.optLit("SUBPARTITIONS", b.SubParts)
	}
	if b.HasDefs {
		p.partitionDefs("PARTITION", b.Defs)
	}
}

// partitionMethod appends HASH(expr) and the other partitioning methods.
func (p *printer) partitionMethod(m *PartitionMethod) {
	p.when(m.Linear, "LINEAR")
	p.k(m.Kind)
	p.optLit("ALGORITHM =", m.Algorithm)
	p.when(m.IsColumns, "COLUMNS")
	if m.Expr != nil {
		p.k("(")
		p.expr(m.Expr)
		p.raw(")")
		return
	}
	p.parenIdents(m.Columns)
}

// partitionDefs appends (PARTITION p ..., ...).
func (p *printer) partitionDefs(word string, l []PartitionDef) {
	p.paren(len(l), func(i int) {
		d := &l[i]
		p.k(word)
		p.id(d.Name.Name)
		switch {
		case d.MaxValue:
			p.k("VALUES LESS THAN MAXVALUE")
		case d.LessThan != nil:
			p.k("VALUES LESS THAN")
			p.parenExprs(d.LessThan)
		case d.InRows != nil:
			p.k("VALUES IN")
			p.parenExprs(d.InRows)
		}
		for j := range d.Options {
			p.tableOption(&d.Options[j])
		}
		if d.Subs != nil {
			p.partitionDefs("SUBPARTITION", d.Subs)
		}
	})
}
