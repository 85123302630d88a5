package plan

import (
	"math"
	"strconv"
	"strings"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

const (
	// erPartitionClause is ER_PARTITION_CLAUSE_ON_NONPARTITIONED.
	erPartitionClause = 1747
	// warnNonASCIISeparator is WARN_NON_ASCII_SEPARATOR_NOT_IMPLEMENTED.
	warnNonASCIISeparator = 1638
	// warnAmbiguousFieldEnd is ER_AMBIGUOUS_FIELD_TERM.
	warnAmbiguousFieldEnd = 1475
	// fixedBlobBytes is what a line without separators has for a column of the BLOB types, as in MySQL.
	fixedBlobBytes = 256
)

// loadData plans LOAD DATA: an Insert whose rows come from the lines of a file.
func (b *builder) loadData(stmt *syntax.LoadData) (err error) {
	switch {
	case stmt.XML:
		return unsupported("LOAD XML; use LOAD DATA")
	case len(stmt.Partitions) > 0:
		return types.NewError(erPartitionClause, "PARTITION () clause on non partitioned table")
	}
	b.private = true // its file is another one the next time, and user variables have other types
	load := &exec.Load{}
	if load.Format, err = b.fileFormat(stmt.Format); err != nil {
		return err
	}
	if load.Format.Charset, err = b.loadCharset(stmt.Charset); err != nil {
		return err
	}
	g, s, _, err := b.target(&syntax.TableRef{Schema: stmt.Table.Schema, Name: stmt.Table.Name}, "load", nil)
	if err != nil {
		return err
	}
	node := &exec.Insert{Table: g.table, View: b.updatable[g], Load: load}
	if node.Checks, err = b.rowChecks(g, nil); err != nil {
		return err
	}
	if node.Defaults, err = b.defaults(g.table); err != nil {
		return err
	}
	if node.Generated, err = b.generatedSet(g.table, 0, nil); err != nil {
		return err
	}
	markEarly(node)
	switch {
	case stmt.OnDup == "REPLACE":
		node.Mode = exec.InsertReplace
	case stmt.Local || stmt.OnDup == "IGNORE": // what a client sends can't be stopped in the middle
		node.Mode = exec.InsertIgnore
	}
	if err := b.loadTargets(node, stmt, g, s); err != nil {
		return err
	}
	if err := b.loadSet(node, stmt, g, s); err != nil {
		return err
	}
	if stmt.Skip != nil {
		if load.Skip, err = strconv.ParseUint(stmt.Skip.Value, 10, 64); err != nil {
			load.Skip = math.MaxUint64
		}
	}
	b.plan.Root = node
	return b.guardInsert(node)
}

// loadTargets resolves the list of columns and variables; without one all visible columns are meant.
func (b *builder) loadTargets(node *exec.Insert, stmt *syntax.LoadData, g *get, s *scope) error {
	load := node.Load
	for i := range stmt.Columns {
		v := &stmt.Columns[i]
		if !v.Local {
			load.Targets = append(load.Targets, exec.LoadTarget{Col: -1, Variable: v.Name})
			continue
		}
		ref := &syntax.ColumnRef{Column: v.Name}
		c, err := s.find(ref, fieldListClause)
		if c == nil {
			return firstError(err, unknownColumn(ref, fieldListClause))
		}
		load.Targets = append(load.Targets, exec.LoadTarget{Col: g.ordinal(c.id)})
	}
	if len(stmt.Columns) == 0 {
		for i := range s.columns {
			if !s.columns[i].hidden {
				load.Targets = append(load.Targets, exec.LoadTarget{Col: g.ordinal(s.columns[i].id)})
			}
		}
	}
	blobs := false
	for i := range load.Targets {
		target := &load.Targets[i]
		if target.Col < 0 {
			if load.Format.Fixed() {
				return types.Errorf(types.ErLoadFromFixedSizeRowsToVar)
			}
			continue
		}
		node.Cols = append(node.Cols, target.Col)
		t := &node.Table.Columns[target.Col].Type
		if t.IsBlob() || t.ID == types.TypeJSON {
			blobs = true
			target.Width = math.MaxInt
			load.Width += fixedBlobBytes
			continue
		}
		target.Width = fixedWidth(t)
		load.Width += target.Width
	}
	if blobs && load.Format.Fixed() && len(load.Format.LineEnd) == 0 {
		return types.Errorf(types.ErBlobsAndNoTerminated)
	}
	return nil
}

// fixedWidth is how many bytes a column has in a line without separators: what it is displayed in at most, in its own character set.
func fixedWidth(t *types.Type) int {
	if t.IsInteger() && t.Length > 0 {
		return int(t.Length)
	}
	return int(t.WireLength(t.Coll.Charset()))
}

// loadSet binds SET, in which a variable of the list is text and a column what the line has for it.
func (b *builder) loadSet(node *exec.Insert, stmt *syntax.LoadData, g *get, s *scope) error {
	texts := map[string]bool{}
	for i := range node.Load.Targets {
		if t := &node.Load.Targets[i]; t.Col < 0 {
			texts[strings.ToLower(t.Variable)] = true
		}
	}
	build := *b.env.Build
	text := types.Type{ID: types.TypeLongText, Length: -1, Scale: -1, Coll: node.Load.Format.Charset.Default}
	build.UserVarType = func(name string) types.Type {
		if texts[strings.ToLower(name)] || b.env.Build.UserVarType == nil {
			return text
		}
		return b.env.Build.UserVarType(name)
	}
	env := *b.env
	env.Build = &build
	b.aim("LOAD", g, g.alias)
	bind := &binder{env: &env, build: b, scope: s, clause: fieldListClause}
	b.rowClause = byRowValues
	set, err := b.assignments(bind, s, node.Table, stmt.Set, nil)
	b.rowClause = byRowNone
	if err != nil {
		return err
	}
	for i := range set {
		node.Cols = append(node.Cols, set[i].Col)
		if set[i].Expr != nil {
			expr.Columns(set[i].Expr, func(int) { node.Refers = true })
		}
	}
	node.Load.Set = set
	return b.localSet(set, g.ordinals())
}

// fileFormat reads the FIELDS and LINES clauses.
func (b *builder) fileFormat(clauses *syntax.FileFormat) (f exec.FileFormat, err error) {
	f = exec.FileFormat{FieldEnd: []byte("\t"), LineEnd: []byte("\n")}
	if !b.env.PlainBackslashes {
		f.Escape = []byte("\\")
	}
	if clauses == nil {
		return f, nil
	}
	ascii := true
	mark := func(c *syntax.FileFormatClause, max int) []byte {
		v := types.Null()
		if lit, ok := c.Value.(*syntax.Literal); ok && err == nil {
			v, err = b.env.literalValue(lit)
		}
		for _, x := range v.B {
			ascii = ascii && x < 0x80
		}
		if len(v.B) > max && err == nil {
			err = types.Errorf(types.ErWrongFieldTerminators)
		}
		return v.B
	}
	for i := range clauses.Fields {
		switch c := &clauses.Fields[i]; c.Kind {
		case "ENCLOSED", "OPTIONALLY ENCLOSED":
			f.Enclosed, f.Optionally = mark(c, 1), c.Kind != "ENCLOSED"
		case "ESCAPED":
			f.Escape = mark(c, 1)
		default:
			f.FieldEnd = mark(c, exec.MarkBytesMax)
		}
	}
	for i := range clauses.Lines {
		switch c := &clauses.Lines[i]; c.Kind {
		case "STARTING":
			f.LineStart = mark(c, exec.MarkBytesMax)
		default:
			f.LineEnd = mark(c, exec.MarkBytesMax)
		}
	}
	if !ascii {
		b.plan.Warnings = append(b.plan.Warnings, types.Warning{Level: types.LevelWarning, Number: warnNonASCIISeparator, Message: "Non-ASCII separator arguments are not fully supported"})
	}
	return f, err
}

// loadCharset is the character set of a file that is read.
func (b *builder) loadCharset(name string) (*types.Charset, error) {
	if name == "" {
		name = b.env.FileCharset
	}
	cs, err := types.LookupCharset(name)
	if err == nil && cs.MinLen > 1 {
		err = unsupported("LOAD DATA of a file in " + cs.Name + ", whose letters have no single bytes; convert it to utf8mb4")
	}
	return cs, err
}

// intoFile writes the rows of a query to a file.
func (b *builder) intoFile(into *syntax.Into, node exec.Node, columns []sqlapi.ColumnInfo) (err error) {
	n := &exec.IntoFile{Input: node, Path: into.File, Dump: into.Dump, Columns: columns}
	if n.Format, err = b.fileFormat(into.Format); err != nil {
		return err
	}
	if into.Charset != "" {
		if n.Format.Charset, err = types.LookupCharset(into.Charset); err != nil {
			return err
		}
		if n.Format.Charset.MinLen > 1 {
			return unsupported("INTO OUTFILE in " + n.Format.Charset.Name + ", whose letters have no single bytes; write utf8mb4")
		}
	}
	if n.Ambiguous() {
		b.plan.Warnings = append(b.plan.Warnings, types.Warning{Level: types.LevelWarning, Number: warnAmbiguousFieldEnd,
			Message: "First character of the FIELDS TERMINATED string is ambiguous; please use non-optional and non-empty FIELDS ENCLOSED BY"})
	}
	b.plan.Root = n
	return nil
}
