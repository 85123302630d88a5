package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/types"
)

// alterTable turns ALTER TABLE's actions into those that ddl knows.
func (s *Session) alterTable(c *ddl.Call, stmt *syntax.AlterTable) (sqlapi.Result, error) {
	name, err := s.name(stmt.Table)
	if err != nil {
		return sqlapi.Result{}, err
	}
	t, err := s.node.Catalog.Current().Table(name.Schema, name.Table)
	if err != nil {
		return sqlapi.Result{}, err
	}
	if t.View != nil {
		return sqlapi.Result{}, types.Errorf(types.ErWrongObject, name.Schema, name.Table, "BASE TABLE")
	}
	validate, err := readValidation(stmt.Specs)
	if err != nil {
		return sqlapi.Result{}, err
	}
	actions, err := s.alterSpecs(t, stmt)
	if err != nil {
		return sqlapi.Result{}, err
	}
	readClauses(c, stmt.Specs)
	if validate {
		if err := validateByCopy(c); err != nil {
			return sqlapi.Result{}, err
		}
	}
	if c.Algorithm == "INSTANT" && slices.ContainsFunc(stmt.Specs, rebuilds) {
		return sqlapi.Result{}, types.Errorf(types.ErAlterOperationNotSupported, "ALGORITHM=INSTANT", "ALGORITHM=COPY/INPLACE")
	}
	result, err := s.alter(c, name, actions)
	if err != nil {
		return result, err
	}
	if !c.Copied && tellsNothing(stmt.Specs) {
		result.Info = ""
	}
	return result, s.dropRedefined(stmt, t)
}

// readClauses reads the ALGORITHM and LOCK clauses among specs.
func readClauses(c *ddl.Call, specs []syntax.AlterSpec) {
	for i := range specs {
		switch word := strings.ToUpper(specs[i].Word); specs[i].Kind {
		case syntax.AlterAlgorithm:
			c.Algorithm = word
		case syntax.AlterLock:
			c.Lock = word
		}
	}
}

// readValidation reports whether specs ask for WITH VALIDATION, which copies the table, so that every generated column of every row is computed and
// must fit. The last of several clauses counts; there must be an action on a column.
func readValidation(specs []syntax.AlterSpec) (with bool, err error) {
	given, columns := false, false
	for i := range specs {
		switch specs[i].Kind {
		case syntax.AlterValidation:
			given, with = true, specs[i].Word == "WITH"
		case syntax.AlterAddColumn, syntax.AlterModify, syntax.AlterChange, syntax.AlterRenameColumn:
			columns = true
		}
	}
	if given && !columns {
		return false, types.Errorf(types.ErWrongUsage, "ALTER", "WITH VALIDATION")
	}
	return with, nil
}

// validateByCopy makes the call one that copies, unless its clauses want another way.
func validateByCopy(c *ddl.Call) error {
	switch {
	case c.Algorithm == "INPLACE" || c.Algorithm == "INSTANT":
		return types.Errorf(types.ErAlterOperationNotSupported, "ALGORITHM="+c.Algorithm, "ALGORITHM=COPY")
	case c.Lock == "NONE":
		return types.Errorf(types.ErAlterOperationNotSupported, "LOCK=NONE", "LOCK=SHARED")
	}
	c.Algorithm = "COPY"
	return nil
}

// rebuilds reports whether an action is a rebuild in MySQL, whatever the table is like.
func rebuilds(spec syntax.AlterSpec) bool {
	return spec.Kind == syntax.AlterForce ||
		spec.Kind == syntax.AlterOptions && slices.ContainsFunc(spec.Options, func(o syntax.TableOption) bool { return o.Kind == "ENGINE" })
}

// alter runs the actions. Their conversions of rows are as strict as those of INSERT.
func (s *Session) alter(c *ddl.Call, name ddl.Name, actions []ddl.AlterSpec) (sqlapi.Result, error) {
	if t := s.node.Catalog.Current().Lookup(name.Schema, name.Table); t != nil {
		if err := s.keepsKeys(t, actions); err != nil {
			return sqlapi.Result{}, err
		}
		behindGeneratedKey(t, actions)
	}
	c.Context = s.context.Fork()
	c.Context.Strict = s.context.SQLMode&types.ModeStrict != 0
	err := s.node.DDL.AlterTable(c, name, actions)
	s.context.Absorb(c.Context)
	if err != nil {
		return sqlapi.Result{}, err
	}
	if c.Copied && c.Lock == "SHARED" {
		s.context.AddError(types.LevelWarning, types.NewError(types.ErNotSupportedYet, "SHARED has no effect: readers wait for a copy as well"))
	}
	return s.copied(c), nil
}

// tellsNothing reports whether specs at most give the table another name or switch its keys: MySQL counts no rows then.
func tellsNothing(specs []syntax.AlterSpec) bool {
	return !slices.ContainsFunc(specs, func(spec syntax.AlterSpec) bool {
		switch spec.Kind {
		case syntax.AlterRenameTable, syntax.AlterKeys, syntax.AlterAlgorithm, syntax.AlterLock:
			return false
		}
		return true
	})
}

// copied is the answer of an ALTER TABLE, which counts the rows that it has copied.
func (s *Session) copied(c *ddl.Call) sqlapi.Result {
	info := fmt.Sprintf("Records: %d  Duplicates: 0  Warnings: %d", c.Rows, s.context.WarningCount())
	return sqlapi.Result{AffectedRows: c.Rows, Info: info}
}

// oneCharset refuses CHARACTER SET and CONVERT TO CHARACTER SET of different character sets in one statement.
func (s *Session) oneCharset(specs []syntax.AlterSpec) error {
	clauses := charsetClauses{build: &s.build}
	for i := range specs {
		names := []string{specs[i].Charset}
		if specs[i].Kind != syntax.AlterConvert {
			names = nil
			for _, o := range specs[i].Options {
				switch strings.ToUpper(o.Kind) {
				case "CHARSET", "CHARACTER SET", "CHAR SET":
					names = append(names, optionText(o.Word, o.Value))
				}
			}
		}
		for _, name := range names {
			if strings.EqualFold(name, "DEFAULT") {
				continue
			}
			if err := clauses.charset(name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Session) alterSpecs(t *catalog.Table, stmt *syntax.AlterTable) ([]ddl.AlterSpec, error) {
	last := t.LastCheck()
	var options []syntax.TableOption // all together, as those of CREATE TABLE
	for i := range stmt.Specs {
		if spec := &stmt.Specs[i]; spec.Kind == syntax.AlterOptions {
			options = append(options, spec.Options...)
		}
	}
	if err := s.oneCharset(stmt.Specs); err != nil {
		return nil, err
	}
	set, t, err := s.alterOptions(t, options)
	if err != nil {
		return nil, err
	}
	var actions []ddl.AlterSpec
	for i := range stmt.Specs {
		if stmt.Specs[i].Kind == syntax.AlterOptions {
			continue
		}
		some, err := s.alterSpec(t, &stmt.Specs[i], &last)
		if err != nil {
			return nil, err
		}
		if stmt.Specs[i].Kind == syntax.AlterDropColumn {
			some = slices.DeleteFunc(some, func(a ddl.AlterSpec) bool { return dropsCheck(stmt.Specs, a) })
		}
		actions = append(actions, some...)
	}
	actions = append(actions, set...)
	// Last, because CONVERT leaves alone the columns that other actions change.
	for i := range stmt.Specs {
		switch spec := &stmt.Specs[i]; spec.Kind {
		case syntax.AlterConvert:
			some, err := s.convertSpecs(t, spec, actions)
			if err != nil {
				return nil, err
			}
			actions = append(actions, some...)
		case syntax.AlterOrderBy:
			columns, err := orderColumns(t, spec.OrderBy)
			if hasPrimaryKey(keysAfter(t, actions)) {
				columns, err = nil, nil
				s.context.Warn(types.LevelWarning, types.ErUnknownError, "ORDER BY ignored as there is a user-defined clustered index in the table '"+t.Name+"'")
			}
			if err != nil {
				return nil, err
			}
			actions = append(actions, ddl.SetOrder{Columns: columns})
		}
	}
	return actions, nil
}

// orderColumns reads ORDER BY, whose columns are those of the table as it is. The grammar lets it have nothing else.
func orderColumns(t *catalog.Table, by []syntax.OrderItem) ([]ddl.OrderColumn, error) {
	var columns []ddl.OrderColumn
	for i := range by {
		ref := by[i].Expr.(*syntax.ColumnRef)
		column := t.Column(ref.Column)
		if column == nil || ref.Table != "" && ref.Table != t.Name || ref.Schema != "" && ref.Schema != t.Schema {
			return nil, types.Errorf(types.ErBadField, strings.ReplaceAll(syntax.String(ref), "`", ""), "order clause")
		}
		columns = append(columns, ddl.OrderColumn{Name: column.Name, Desc: by[i].Order == syntax.OrderDesc})
	}
	return columns, nil
}

func notAltered(spec *syntax.AlterSpec) error {
	return types.Errorf(types.ErNotSupportedYet, "ALTER TABLE … "+syntax.BriefAction(spec)+"; create a new table and INSERT … SELECT into it")
}

// alterSpec reads one action. last is the number of the last automatic name of a CHECK.
func (s *Session) alterSpec(t *catalog.Table, spec *syntax.AlterSpec, last *uint64) ([]ddl.AlterSpec, error) {
	switch spec.Kind {
	case syntax.AlterAddColumn:
		return s.addColumns(t, spec, last)
	case syntax.AlterAddCheck:
		check, err := s.checkSpec(ddl.Name{Schema: t.Schema, Table: t.Name}, spec.Check, "", last)
		return []ddl.AlterSpec{ddl.AddCheck{Check: check}}, err
	case syntax.AlterDropCheck:
		return dropConstraint(t, spec)
	case syntax.AlterEnforced:
		return enforceConstraint(t, spec)
	case syntax.AlterDropForeign:
		return []ddl.AlterSpec{ddl.DropForeignKey{Name: spec.Name.Name}}, nil
	case syntax.AlterAddKey:
		if spec.Key.Kind == syntax.KeyForeign {
			return s.foreignActions(ddl.Name{Schema: t.Schema, Table: t.Name}, spec.Key)
		}
		index, err := s.indexSpec(spec.Key)
		return []ddl.AlterSpec{ddl.AddIndex{Index: index}}, err
	case syntax.AlterDropColumn:
		return dropColumn(t, spec.Name.Name)
	case syntax.AlterDropKey:
		return []ddl.AlterSpec{ddl.DropIndex{Name: spec.Name.Name}}, nil
	case syntax.AlterRenameColumn:
		return []ddl.AlterSpec{ddl.RenameColumn{From: spec.Name.Name, To: spec.NewName.Name}}, nil
	case syntax.AlterRenameKey:
		return []ddl.AlterSpec{ddl.RenameIndex{From: spec.Name.Name, To: spec.NewName.Name}}, nil
	case syntax.AlterRenameTable:
		to, err := s.name(spec.NewTable)
		return []ddl.AlterSpec{ddl.RenameTo{To: to}}, err
	case syntax.AlterColumnDefault:
		return s.setDefaultSpec(t, spec)
	case syntax.AlterColumnVisible:
		return []ddl.AlterSpec{ddl.ColumnVisibility{Name: spec.Name.Name, Visible: spec.Word == "VISIBLE"}}, nil
	case syntax.AlterIndexVisible:
		return []ddl.AlterSpec{ddl.IndexVisibility{Name: spec.Name.Name, Visible: spec.Word == "VISIBLE"}}, nil
	case syntax.AlterAlgorithm, syntax.AlterLock, syntax.AlterValidation:
		return nil, nil // read by alterTable
	case syntax.AlterModify:
		return s.modifyColumn(t, spec, spec.Columns[0].Name.Name, last)
	case syntax.AlterChange:
		return s.modifyColumn(t, spec, spec.Name.Name, last)
	case syntax.AlterDropPrimary:
		return []ddl.AlterSpec{ddl.DropIndex{Name: catalog.PrimaryName}}, nil
	case syntax.AlterConvert, syntax.AlterOrderBy:
		return nil, nil // read by alterSpecs
	case syntax.AlterForce: // as ENGINE=InnoDB: there is nothing that a rebuild would give back
		return nil, nil
	case syntax.AlterKeys:
		s.context.Warn(types.LevelNote, types.ErIllegalHA, t.Name)
		return nil, nil
	}
	return nil, notAltered(spec)
}

func (s *Session) addColumns(t *catalog.Table, spec *syntax.AlterSpec, last *uint64) ([]ddl.AlterSpec, error) {
	defs := make([]*syntax.ColumnDef, 0, len(spec.Columns)+len(spec.Elements))
	for i := range spec.Columns {
		defs = append(defs, &spec.Columns[i])
	}
	of := ddl.Name{Schema: t.Schema, Table: t.Name}
	var out []ddl.AlterSpec
	for _, element := range spec.Elements {
		switch element := element.(type) {
		case *syntax.ColumnDef:
			defs = append(defs, element)
		case *syntax.KeyDef:
			if element.Kind == syntax.KeyForeign {
				actions, err := s.foreignActions(of, element)
				if err != nil {
					return nil, err
				}
				out = append(out, actions...)
				continue
			}
			index, err := s.indexSpec(element)
			if err != nil {
				return nil, err
			}
			out = append(out, ddl.AddIndex{Index: index})
		case *syntax.CheckDef:
			check, err := s.checkSpec(of, element, "", last)
			if err != nil {
				return nil, err
			}
			out = append(out, ddl.AddCheck{Check: check})
		}
	}
	var columns []ddl.AlterSpec
	for _, def := range defs {
		column, rest, err := s.addColumn(t, spec, def, last)
		if err != nil {
			return nil, err
		}
		columns = append(columns, column)
		out = append(out, rest...)
	}
	return append(columns, out...), nil
}

// addColumn reads one column to add, and the constraints and keys in its definition.
func (s *Session) addColumn(t *catalog.Table, spec *syntax.AlterSpec, def *syntax.ColumnDef, last *uint64) (add ddl.AlterSpec, out []ddl.AlterSpec, err error) {
	of := ddl.Name{Schema: t.Schema, Table: t.Name}
	def, checks, err := s.columnChecks(of, def, last)
	if err != nil {
		return nil, nil, err
	}
	def, foreign := columnForeign(def)
	column, keys, err := s.columnSpec(of, def, t.Coll)
	if err != nil {
		return nil, nil, err
	}
	for _, check := range checks {
		out = append(out, ddl.AddCheck{Check: check})
	}
	column.First = spec.Place.First
	if spec.Place.After != nil {
		column.After = spec.Place.After.Name
	}
	if err := s.originalValue(&column); err != nil {
		return nil, nil, err
	}
	if err := s.refuseZeroDate(t, &column); err != nil {
		return nil, nil, err
	}
	for _, key := range keys {
		out = append(out, ddl.AddIndex{Index: key})
	}
	if foreign != nil {
		actions, err := s.foreignActions(of, foreign)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, actions...)
	}
	return ddl.AddColumn{Column: column}, out, nil
}

// originalValue evaluates what existing rows get in a new column whose default is not a literal, if it is the same in all of them.
func (s *Session) originalValue(column *ddl.ColumnSpec) error {
	if column.Default == nil {
		return nil
	}
	var v types.Value
	switch column.Default.Kind {
	case catalog.DefaultNow:
		v = types.Datetime(types.PackTime(s.context.CurrentTime()), types.MaxFsp)
	case catalog.DefaultExpr:
		tree, err := syntax.ParseExpr(column.Default.Expr, syntax.Options{})
		if err != nil {
			return parseError(err)
		}
		bound, err := plan.Scalar(s.planEnv("").Stored(), tree)
		var e *types.Error
		if errors.As(err, &e) && e.Number == types.ErBadField || err == nil && !expr.IsConstInStatement(bound) {
			column.PerRow = true
			return nil // what is wrong with it shows when the table is known
		}
		if v, err = s.scalarIn(s.planEnv("").Stored(), tree); err != nil {
			return err
		}
	default:
		return nil
	}
	converted, err := types.Convert(&s.context, v, column.Type, column.Name, 1)
	column.Original = converted.Clone()
	return err
}

// refuseZeroDate refuses a new date column that is NOT NULL without a default where sql_mode has NO_ZERO_DATE and the table has rows: they
// would all get the zero date. Outside of strict mode that is a warning.
func (s *Session) refuseZeroDate(t *catalog.Table, column *ddl.ColumnSpec) error {
	if !column.NotNull || column.Default != nil || column.Generated != nil || s.context.SQLMode&types.ModeNoZeroDate == 0 {
		return nil
	}
	var what, zero string
	switch column.Type.ID {
	case types.TypeDate:
		what, zero = "date", "0000-00-00"
	case types.TypeDatetime: // MySQL lets TIMESTAMP pass
		what, zero = "datetime", "0000-00-00 00:00:00"
	default:
		return nil
	}
	empty, err := table.Empty(s.node.Txns, t, &s.interrupt)
	if err != nil || empty {
		return err
	}
	e := types.NewError(types.ErTruncatedWrongValue, "Incorrect "+what+" value: '"+zero+"' for column '"+column.Name+"' at row 1")
	if s.context.SQLMode&types.ModeStrict != 0 {
		return e
	}
	s.context.AddError(types.LevelWarning, e)
	return nil
}

func (s *Session) setDefaultSpec(t *catalog.Table, spec *syntax.AlterSpec) ([]ddl.AlterSpec, error) {
	column := t.Column(spec.Name.Name)
	if column == nil {
		return nil, types.Errorf(types.ErBadField, spec.Name.Name, t.Name)
	}
	if spec.Expr == nil && column.Generated != nil {
		return nil, nil // it has none
	}
	if spec.Expr == nil {
		return []ddl.AlterSpec{ddl.SetDefault{Column: column.Name}}, nil
	}
	if column.Generated != nil {
		return nil, types.Errorf(types.ErWrongUsage, "DEFAULT", "generated column")
	}
	e := spec.Expr
	if spec.ExprParen {
		e = &syntax.Paren{X: e}
	}
	def, err := s.columnDefault(ddl.Name{Schema: t.Schema, Table: t.Name}, &ddl.ColumnSpec{Name: column.Name, Type: column.Type, NotNull: column.NotNull}, e)
	return []ddl.AlterSpec{ddl.SetDefault{Column: column.Name, Default: def}}, err
}

// alterOptions reads table options; ddl refuses those that would need a rewrite of the table. with is the table with their collation, which columns
// of the same statement take.
func (s *Session) alterOptions(t *catalog.Table, options []syntax.TableOption) (_ []ddl.AlterSpec, with *catalog.Table, err error) {
	read := &ddl.TableSpec{Name: ddl.Name{Schema: t.Schema, Table: t.Name}, Coll: t.Coll, Options: t.Options}
	if err := s.tableOptions(read, options); err != nil {
		return nil, nil, err
	}
	with = t
	var out []ddl.AlterSpec
	if read.AutoIncrement != 0 {
		out = append(out, ddl.SetAutoIncrement{Next: read.AutoIncrement})
	}
	if read.Coll != t.Coll {
		out = append(out, ddl.SetCollation{Coll: read.Coll})
		with = t.Clone()
		with.Coll = read.Coll
	}
	if read.Options != t.Options {
		out = append(out, ddl.SetOptions{Options: read.Options})
	}
	for i := range options {
		if options[i].Kind == "COMMENT" {
			out = append(out, ddl.SetComment{Comment: read.Comment})
		}
	}
	return out, with, nil
}

// modifyColumn reads MODIFY and CHANGE: the column called from gets another definition, and the keys written inside it.
func (s *Session) modifyColumn(t *catalog.Table, spec *syntax.AlterSpec, from string, last *uint64) ([]ddl.AlterSpec, error) {
	of := ddl.Name{Schema: t.Schema, Table: t.Name}
	def, checks, err := s.columnChecks(of, &spec.Columns[0], last)
	if err != nil {
		return nil, err
	}
	def, foreign := columnForeign(def)
	column, keys, err := s.columnSpec(of, def, t.Coll)
	if err != nil {
		return nil, err
	}
	column.First = spec.Place.First
	if spec.Place.After != nil {
		column.After = spec.Place.After.Name
	}
	out := []ddl.AlterSpec{ddl.ModifyColumn{From: from, Column: column}}
	for _, check := range checks {
		out = append(out, ddl.AddCheck{Check: check})
	}
	for _, key := range keys {
		out = append(out, ddl.AddIndex{Index: key})
	}
	if foreign == nil {
		return out, nil
	}
	actions, err := s.foreignActions(of, foreign)
	return append(out, actions...), err
}

// convertSpecs reads CONVERT TO CHARACTER SET: every column of text that others of the statement's actions leave alone changes.
func (s *Session) convertSpecs(t *catalog.Table, spec *syntax.AlterSpec, others []ddl.AlterSpec) ([]ddl.AlterSpec, error) {
	data := syntax.DataType{Charset: spec.Charset, Collate: spec.Collate}
	base := t.Coll
	if spec.Charset == "" || strings.EqualFold(spec.Charset, "DEFAULT") {
		data.Charset = ""
		if db := s.node.Catalog.Current().Database(t.Schema); db != nil {
			base = db.Coll
		}
	}
	data = plan.WithDefault(data, s.build.UTF8MB4)
	to, _, err := plan.ColumnCollation(&data, base)
	if err != nil {
		return nil, err
	}
	out := []ddl.AlterSpec{ddl.SetCollation{Coll: to}}
	for _, c := range t.Visible() {
		members := (c.Type.ID == types.TypeEnum || c.Type.ID == types.TypeSet) && c.Type.Coll != types.Binary
		if !c.Type.IsText() && !members || slices.ContainsFunc(others, func(a ddl.AlterSpec) bool { return changesColumn(a, c.Name) }) {
			continue
		}
		column, err := s.inCollation(c, to)
		if err != nil {
			return nil, err
		}
		out = append(out, ddl.ModifyColumn{From: c.Name, Column: column})
	}
	return out, nil
}

// changesColumn reports whether an action drops, renames or describes the column.
func changesColumn(a ddl.AlterSpec, column string) bool {
	name := ""
	switch a := a.(type) {
	case ddl.DropColumn:
		name = a.Name
	case ddl.ModifyColumn:
		name = a.From
	case ddl.RenameColumn:
		name = a.From
	}
	return strings.EqualFold(name, column)
}

// inCollation describes a column as CONVERT TO leaves it: a TEXT grows to the size that holds as many characters as before.
func (s *Session) inCollation(c *catalog.Column, to types.CollationID) (ddl.ColumnSpec, error) {
	spec := ddl.ColumnSpec{Name: c.Name, Type: c.Type, NotNull: c.NotNull, Default: c.Default, NoDefault: c.Default == nil, OnUpdateNow: c.OnUpdateNow,
		ExplicitCollation: c.ExplicitCollation, Invisible: c.Invisible, Comment: c.Comment, Generated: c.Generated}
	from := c.Type.Coll
	spec.Type.Coll = to
	if to == types.Binary {
		plan.BinaryTwin(&spec.Type)
	}
	if c.Type.IsBlob() && to.MaxCharLen() > from.MaxCharLen() && c.Type.ID != types.TypeLongText {
		spec.Type.ID++ // TINYTEXT, TEXT, MEDIUMTEXT, LONGTEXT follow each other
	}
	if to.Charset() != from.Charset() && len(c.Type.Elems) > 0 {
		spec.Type.Elems = make([]string, len(c.Type.Elems))
		for i, member := range c.Type.Elems {
			own, bad := types.ConvertCharset(nil, []byte(member), from.Charset(), to.Charset())
			if bad > 0 {
				return spec, types.Errorf(types.ErNotSupportedYet, "CONVERT TO a character set that lacks characters of the members of column "+c.Name)
			}
			spec.Type.Elems[i] = string(own)
		}
	}
	if d := c.Default; d != nil && d.Kind == catalog.DefaultLiteral {
		strict := types.Context{SQLMode: s.context.SQLMode, Strict: true}
		v, err := types.Convert(&strict, d.Value, spec.Type, c.Name, 1)
		if err != nil {
			return spec, types.Errorf(types.ErInvalidDefault, c.Name)
		}
		spec.Default = &catalog.Default{Kind: catalog.DefaultLiteral, Value: v.Clone()}
	}
	return spec, nil
}
